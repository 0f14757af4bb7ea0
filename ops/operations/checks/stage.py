"""A stage for one fault: a log, workers, lagwatch and a real Prometheus, all of its own.

Prometheus has the rules of ops/monitoring/rules with every span of time divided (`scaled`), so that a fault lasts seconds
and not minutes. The rules' unit tests hold the true times.
"""

import contextlib
import http.server
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request
import zlib

import yaml
from base import MONITORING, PLACE, ROOT, Wrong, need, run, tool
from product import asked, free_port, program, until

OUT = PLACE / "faults"
CHROMIUM = "/usr/bin/chromium-headless-shell"
# The page's first sentence names a fault within so many seconds.
NAMED = 15
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(span):
    return int(span[:-1]) * UNITS[span[-1]]


def scaled(divisor):
    """The rules with every span divided. A second is the least: so often Prometheus scrapes here."""

    def divided(span):
        return f"{max(1 if seconds(span) else 0, round(seconds(span) / divisor))}s"

    groups = []
    for path in sorted(MONITORING.glob("rules/*.yml")):
        for group in yaml.safe_load(path.read_text())["groups"]:
            group["interval"] = "1s"
            for rule in group["rules"]:
                # A range of less than two samples has no increase.
                rule["expr"] = re.sub(
                    r"\[(\d+[smhd])\]", lambda span: f"[{max(4, seconds(divided(span[1])))}s]", rule["expr"])
                rule |= {key: divided(rule[key]) for key in ("for", "keep_firing_for") if key in rule}
            groups.append(group)
    return {"groups": groups}


def picture(width, height):
    """A PNG of noise, each row the same: few bytes, and as hard to encode as its pixels are many."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = (b"\0" + random.randbytes(3 * width)) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Site:
    """An origin whose manners change: `manner(path)` gives a status, or what is to be waited for before the picture."""

    def __init__(self, size):
        body = picture(*size)
        site = self
        self.manner = lambda path: 200
        self.asked = 0

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                site.asked += 1
                manner = site.manner(self.path)
                if callable(manner):
                    manner()
                status = manner if isinstance(manner, int) else 200
                content = body if status == 200 else b""
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("Content-Type", "image/png")
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


class Stage:
    """One fault's own log, workers, lagwatch and Prometheus."""

    def __init__(self, settings=(), workers=1, divisor=12, broker=None, prefix="", way=None, size=(64, 48), create=()):
        self.stack = contextlib.ExitStack()
        self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.site = Site(size)
        self.stack.callback(self.site.server.shutdown)
        # What a host may be asked is not what most of these faults are of.
        self.settings = ["fetch.allow=127.0.0.0/8", "origins.concurrency=64", "render.processes=1", *settings]
        # By which address workers reach the broker, where it is another.
        self.worker_settings = [f"kafka.bootstrap={way}"] if way else []
        if broker:
            self.settings += [
                f"kafka.bootstrap={broker}", f"kafka.prefix={prefix}.", f"kafka.group={prefix}", "kafka.partitions=6",
                "kafka.timing.session=6s", f"store.directory={self.folder}/store"]
            run(program("mezzotint"), "topics", "create", *create, *self.words())
        else:
            self.settings.append(f"data={self.folder}/data")
        self.is_shared = broker is not None
        self.ports = [free_port() for _ in range(workers)]
        self.workers = {}
        self.ids = itertools.count()
        self.divisor = divisor

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for process in self.workers.values():
            end(process)
        if kind:
            for log in self.folder.glob("*.log"):
                shutil.copy2(log, OUT)
        self.stack.close()

    def words(self, *more):
        return [word for setting in (*self.settings, *more) for word in ("--set", setting)]

    def started(self, *command, name):
        said = open(self.folder / f"{name}.log", "a")
        self.stack.callback(said.close)
        return subprocess.Popen([str(word) for word in command], stdout=said, stderr=said)

    def start(self, number=0, *more, command=None):
        """Starts a worker, or what `command` makes of one's, and waits until it takes jobs."""
        port = self.ports[number]
        own = [f"data={self.folder}/data{number}", f"kafka.client=worker{number}"] if self.is_shared else []
        words = [
            str(program("mezzotint-worker")),
            *self.words(f"metrics.listen=127.0.0.1:{port}", *own, *self.worker_settings, *more)]
        self.workers[number] = self.started(*(command(words) if command else words), name=f"worker{number}")

    def ready(self, *numbers):
        for number in numbers:
            until(lambda: asked(self.ports[number], "/readyz"), f"worker {number} takes jobs")

    def kill(self, number=0):
        end(self.workers.pop(number))

    def publish(self, count, lane="fast", variant="32x32.webp", site=None, path="p", **more):
        """`site`: where the sources are, or a list of places that are taken in turn. `more`: further fields of each job."""
        sites = site if isinstance(site, list) else [site or self.site.url]
        jobs = [
            {"url": f"{sites[number % len(sites)]}/{path}{next(self.ids)}.png", "variants": [variant], "lane": lane, **more}
            for number in range(count)]
        run(program("mezzotint"), "publish", *self.words(), "-", input="".join(json.dumps(job) + "\n" for job in jobs))

    def waiting(self):
        return sum(row["records"] for row in json.loads(run(program("mezzotint"), "lag", "--json", *self.words())))

    def watch(self):
        """Starts lagwatch and Prometheus."""
        self.page = free_port()
        targets = [f"127.0.0.1:{port}" for port in self.ports]
        watcher = self.started(
            program("mezzotint-lagwatch"), *self.words(f"watch.workers=[{','.join(targets)}]"), "--listen",
            f"127.0.0.1:{self.page}", name="lagwatch")
        self.stack.callback(end, watcher)
        rules = self.folder / "rules.yml"
        rules.write_text(yaml.safe_dump(scaled(self.divisor)))
        told = self.folder / "prometheus.yml"
        told.write_text(yaml.safe_dump({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(rules)],
            "scrape_configs": [
                {"job_name": "mezzotint", "static_configs": [{"targets": targets}]},
                {"job_name": "mezzotint-lagwatch", "static_configs": [{"targets": [f"127.0.0.1:{self.page}"]}]},
            ]}))
        self.prometheus = free_port()
        server = self.started(
            tool("prometheus"), f"--config.file={told}", f"--storage.tsdb.path={self.folder}/tsdb",
            f"--web.listen-address=127.0.0.1:{self.prometheus}", name="prometheus")
        self.stack.callback(end, server)
        until(lambda: self.cause() in ("fine", "idle"), "a page that says that all is well")
        until(lambda: self.query("count(mezzotint_partitions)"), "a Prometheus that scraped")
        # Series need two samples before anything can be seen to grow.
        until(lambda: self.query("count(count_over_time(mezzotint_partitions[10s]) >= 3)"), "three scrapes")
        need(not self.firing(), f"alerts before the fault: {self.firing()}")

    def state(self):
        return json.loads(asked(self.page, "/api/v1/state") or "{}")

    def cause(self):
        return self.state().get("cause")

    def query(self, expression):
        words = urllib.parse.urlencode({"query": expression})
        found = asked(self.prometheus, f"/api/v1/query?{words}")
        return json.loads(found)["data"]["result"] if found else []

    def firing(self):
        """Alerts that fire now, with their severity."""
        found = json.loads(asked(self.prometheus, "/api/v1/alerts") or '{"data": {"alerts": []}}')
        return {
            alert["labels"]["alertname"]: alert["labels"]["severity"]
            for alert in found["data"]["alerts"] if alert["state"] == "firing"}

    def screenshot(self, name):
        if not os.path.exists(CHROMIUM):
            return "none: chromium-headless-shell is not installed"
        picture = OUT / f"{name}.png"
        run(CHROMIUM, "--no-sandbox", "--disable-gpu", "--window-size=1280,1000", f"--screenshot={picture}",
            f"http://127.0.0.1:{self.page}/")
        return picture.name

    def causes(self, over):
        """A list that grows with each change of the page's cause, until `over` is set."""
        seen = []

        def look():
            while not over.wait(0.5):
                cause = self.cause()
                if cause and (not seen or seen[-1] != cause):
                    seen.append(cause)

        threading.Thread(target=look, daemon=True).start()
        return seen

    def staged(self, name, cause, alert, inflict, heal, is_fine_after=True, within=NAMED, ends=True, says=()):
        """Inflicts a fault: its cause is named and its alert fires, both in time, and no other alert that pages.

        `says`: words of the sentence. `ends`: whether the alert is over soon after the fault."""
        self.watch()
        over = threading.Event()
        self.stack.callback(over.set)
        causes = self.causes(over)
        begun = time.monotonic()
        inflict()
        try:
            state = until(
                lambda: (lambda state: state if state.get("cause") == cause else None)(self.state()),
                f"{name}: the cause {cause}", within)
        except Wrong as wrong:
            raise Wrong(f"{wrong}; it showed {causes}: {self.state().get('sentence')}") from None
        for words in says:
            until(lambda: words in self.state()["sentence"], f"{name}: {words!r} in {state['sentence']!r}", within)
        named = time.monotonic() - begun
        need(state["action"], f"{name}: no action")
        sentence = state["sentence"].split(". ")[0]
        # Its figures may change from one question to the next.
        until(
            lambda: first_sentence(asked(self.page, "/")).startswith(self.state()["sentence"].split(". ")[0][:60]),
            f"{name}: a page that says what the JSON does")
        picture = self.screenshot(name)
        fired_all, limit = {}, time.monotonic() + 90
        while alert not in (firing := self.firing()):
            fired_all |= firing
            need(time.monotonic() < limit, f"{name}: {alert} does not fire; what does: {firing}")
            time.sleep(0.3)
        fired = time.monotonic() - begun
        # Others have as long to page as the slowest rule that pages may take.
        settled = time.monotonic() + seconds("3m") / self.divisor + 3
        while time.monotonic() < settled:
            fired_all |= self.firing()
            time.sleep(0.3)
        pages = {fired for fired, severity in fired_all.items() if severity == "page"}
        need(pages <= {alert}, f"{name}: {pages - {alert}} page, too")
        over.set()
        # Calm before the fault, the first signs of it, and what it is.
        need(len(causes) <= 4, f"{name}: the page flips: {causes}")
        heal()
        healed = time.monotonic()
        if ends:
            until(lambda: alert not in self.firing(), f"{name}: {alert} is over", 120)
        resolved = time.monotonic() - healed
        if is_fine_after:
            until(lambda: self.cause() == "fine", f"{name}: the page says that all is well, not {self.state()}", 120)
        return {
            "fault": name, "cause": cause, "named after": f"{named:.1f} s", "first sentence": sentence,
            "action": state["action"], "alert": alert, "fired after": f"{fired:.0f} s",
            "all alerts": ", ".join(sorted(fired_all)), "pages": str(len(pages)), "causes shown": ", ".join(causes),
            "over after": f"{resolved:.0f} s" if ends else "a day", "screenshot": picture}


def first_sentence(page):
    found = re.search(r"<h1[^>]*>(.*?)</h1>|<p[^>]*sentence[^>]*>(.*?)</p>", page or "", re.S)
    need(found, "the page has no sentence")
    text = re.sub(r"<[^>]+>", "", found[1] or found[2])
    return re.sub(r"\s+", " ", text).strip().replace("&#39;", "'").replace("&amp;", "&").replace("&quot;", '"')


def end(process):
    """By its own signal, and for good."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGCONT)
        process.kill()
    process.wait(20)
