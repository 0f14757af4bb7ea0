"""Lagwatch's page in a real browser, where there is one: see ops/page."""

import re
import subprocess

from base import PLACE, ROOT, Skipped, check, need
from product import lagwatch, origin, publish, until, worker


@check("page: a browser finds nothing wrong with it, wide and narrow, light and dark, by keyboard alone")
def looked():
    with origin() as site, worker() as (words, _):
        # What strangers may write.
        evil = '"><script>alert(1)</script>\u202e'
        publish(
            words,
            {"id": evil, "url": f"{site}/gone/{'f' * 1_500}?X-Amz-Signature=77", "variants": ["32x32.png"]},
            {"url": f"{site}/a.png", "variants": ["32x32.png"], "lane": "slow"})
        with lagwatch(words) as (told, address):
            until(lambda: "fetch.not-found" in (told("/") or ""), "the failure on the page")
            link = re.search(r'href="(/source[?][^"]*)"', told("/"))[1]
            source = told(link)
            need("Its last job ended as failed: fetch.not-found" in source, f"{link} leads to another source", source)
            seen = [looked_at(address, "page"), looked_at(address.rstrip("/") + link, "source")]
    return "; ".join(seen)


def looked_at(address, name):
    done = subprocess.run(
        [ROOT / "ops/page", address, PLACE / name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if done.returncode == 77:
        raise Skipped(done.stdout.strip())
    need(done.returncode == 0, done.stdout)
    return done.stdout.strip()
