"""The built worker against promtool and a real collector."""

import contextlib
import hashlib
import http.server
import json
import pathlib
import re
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

from base import PLACE, ROOT, Skipped, check, families, need, run, tool


def program(name):
    path = ROOT / ".build/debug" / name
    if not path.exists():
        raise Skipped(f"{path} is not built: swift build")
    return path


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def until(condition, what, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    need(False, f"{what} did not come within {seconds} s")


@contextlib.contextmanager
def origin():
    """One picture, at any path but those that begin with /gone."""
    picture = (ROOT / "Tests/Imaging/PictureTests/References").rglob("*.png")
    body = next(picture).read_bytes()

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            is_gone = self.path.startswith("/gone")
            self.send_response(404 if is_gone else 200)
            self.send_header("Content-Type", "image/png")
            self.send_header("Content-Length", "0" if is_gone else str(len(body)))
            self.end_headers()
            if not is_gone:
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


@contextlib.contextmanager
def worker(*settings):
    """A worker on an embedded log of its own, and what it answers under a path."""
    with tempfile.TemporaryDirectory() as data, tempfile.TemporaryFile("w+") as log:
        port = free_port()
        words = ["--set", f"data={data}", "--set", "fetch.allow=127.0.0.0/8"]
        more = [word for setting in settings for word in ("--set", setting)]
        process = subprocess.Popen(
            [program("mezzotint-worker"), *words, *more, "--set", f"metrics.listen=127.0.0.1:{port}"],
            stdout=log, stderr=log)

        try:
            until(lambda: process.poll() is None and asked(port, "/readyz"), "a worker that takes jobs")
            yield words, lambda path: asked(port, path)
        finally:
            process.terminate()
            process.wait(60)


@contextlib.contextmanager
def lagwatch(words, *settings):
    """A lagwatch beside a worker: what it answers under a path, and its address."""
    with tempfile.TemporaryFile("w+") as log:
        port = free_port()
        more = [word for setting in settings for word in ("--set", setting)]
        process = subprocess.Popen(
            [program("mezzotint-lagwatch"), *words, *more, "--listen", f"127.0.0.1:{port}"], stdout=log, stderr=log)
        try:
            until(lambda: process.poll() is None and asked(port, "/healthz"), "a lagwatch that answers")
            yield lambda path: asked(port, path), f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait(20)


def asked(port, path):
    """What is answered with status 200, else nothing."""
    with contextlib.suppress(OSError):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.read().decode()


# Of hosts whose sources were known already, or could not be asked: no host is either here. The embedded log has no clock
# of its own that a worker's could differ from.
OF_OTHER_RUNS = {
    "mezzotint_origin_checks_total", "mezzotint_origin_stale_outcomes_total", "mezzotint_clock_skew_seconds",
}


def as_listed(page):
    """That promtool wants a page, and the reference lists its families, each with a sample."""
    run(tool("promtool"), "check", "metrics", input=page)
    told = {line.split()[2]: line.split()[3] for line in page.splitlines() if line.startswith("# TYPE")}
    listed = {name: kind for name, (kind, _) in families().items()}
    need(told.items() <= listed.items(), f"not as listed: {dict(told.items() - listed.items())}")
    silent = {name for name in told if not any(line.startswith(name) for line in page.splitlines())}
    silent -= OF_OTHER_RUNS
    need(not silent, f"without a sample: {silent}")
    return f"{len(told)} families, {len(page.splitlines())} lines"


def publish(words, *jobs):
    run(program("mezzotint"), "publish", *words, "-", input="".join(json.dumps(job) + "\n" for job in jobs))


def jobs_done(page):
    return sum(float(line.split()[-1]) for line in (page or "").splitlines() if line.startswith("mezzotint_jobs_total"))


@check("product: what a worker tells is as promtool wants it, and as the reference says")
def scrape():
    with origin() as site, worker() as (words, told):
        publish(
            words, {"url": f"{site}/a.png", "variants": ["32x32.webp", "16x16.png"]},
            {"url": f"{site}/gone", "variants": ["32x32.png"]})

        def whole():
            page = told("/metrics") or ""
            # What the log holds is asked every two seconds. The index knows the parked jobs before.
            return page if jobs_done(page) == 2 and "\nmezzotint_dead_letters{" in page else None

        page = until(whole, "two answers, and what waits")
    return as_listed(page)


@check("product: what lagwatch tells is as promtool wants it, with what the rules read of it")
def watched():
    with origin() as site, worker() as (words, _):
        publish(words, {"url": f"{site}/gone", "variants": ["32x32.png"]})
        with lagwatch(words, "lanes.slow.target=7m") as (told, _):

            def whole():
                page = told("/metrics") or ""
                return page if all(re.search(line, page, re.M) for line in RULED) else None

            page = until(whole, f"each of {RULED}")
    return as_listed(page)


# What recording and alerting rules take from lagwatch alone, or join by these labels.
RULED = [
    r'^mezzotint_lane_target_seconds\{lane="fast"\} 5$', r'^mezzotint_lane_target_seconds\{lane="slow"\} 420$',
    r'^mezzotint_consumer_lag_records\{topic="jobs.fast",partition="0"\} 0$',
    r'^mezzotint_consumer_lag_seconds\{topic="jobs.slow",partition="0"\} 0$', r'^mezzotint_partitions 8$',
    r'^mezzotint_dead_letters\{partition="0"\} 0$', r'^mezzotint_watch_workers_live 1$',
    r'^mezzotint_watch_partitions_owned 8$', r'^mezzotint_watch_log_connected 1$', r'^mezzotint_watch_blocked_hosts 0$',
    r'^mezzotint_watch_staleness_seconds \d', r'^mezzotint_watch_cause\{cause="fine"\} 1$',
]


@check("product: a real collector takes a job's spans")
def traced():
    agents = list((PLACE / "venv").glob("lib/*/site-packages/rotel/rotel-agent"))
    if not agents:
        raise Skipped("rotel is not installed")
    port = free_port()
    with tempfile.TemporaryFile("w+") as said:
        collector = subprocess.Popen(
            [agents[0], "start", "--otlp-http-endpoint", f"127.0.0.1:{port}", "--otlp-grpc-endpoint",
             f"127.0.0.1:{free_port()}", "--exporter", "blackhole", "--debug-log", "traces", "--debug-log-verbosity",
             "detailed"],
            stdout=said, stderr=said)

        def text():
            said.seek(0)
            return said.read()

        def reached():
            need(collector.poll() is None, f"rotel ended: {text()}")
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return True

        try:
            until(reached, "the collector")
            settings = (f"traces.endpoint=http://127.0.0.1:{port}/v1/traces", "traces.share=1")
            with origin() as site, worker(*settings) as (words, told):
                publish(words, {"id": "one", "url": f"{site}/a.png", "variants": ["32x32.webp"]})
                until(lambda: 'mezzotint_spans_total{result="sent"} 5\n' in (told("/metrics") or ""), "five spans")
                need('mezzotint_spans_total{result="dropped"} 0\n' in told("/metrics"), "spans were dropped")
            # Every try of a job is in the trace that its id makes.
            trace = hashlib.sha256(b"one").hexdigest()[:32]
            until(lambda: text().count(f": {trace}") == 5, "five spans of one trace", 10)
            for name in ("job", "fetch", "render", "store", "announce"):
                need(f"Name           : {name}\n" in text(), f"there is no span {name}: {text()}")
        finally:
            collector.terminate()
            collector.wait(20)
