"""Faults, staged on the built programs beside a real Prometheus: for each what the page says first, which alert fires,
that no other alert pages, and that all of it is over afterwards. `ops/test operations faults` runs them, in about
half an hour. Screenshots and the table of what was seen: .build/operations/faults.
"""

import contextlib
import functools
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import urllib.request

from base import SHARED, Skipped, Wrong, check, need, run
from product import free_port, program, until
from stage import OUT, Stage

KAFKA = SHARED / "services/kafka/kafka"
TOXIPROXY = SHARED / "services/toxiproxy-server"


def fault(name):
    """A check that keeps what it saw for the table."""

    def register(function):
        @check(f"faults: {name}")
        @functools.wraps(function)
        def staged():
            OUT.mkdir(parents=True, exist_ok=True)
            seen = function(name)
            (OUT / f"{name}.json").write_text(json.dumps(seen))
            table()
            return f"{seen['cause']} after {seen['named after']}, {seen['alert']} after {seen['fired after']}"

        return staged

    return register


def table():
    """What was seen, of all faults that were staged here."""
    rows = [json.loads(path.read_text()) for path in sorted(OUT.glob("*.json"))]
    columns = list(rows[0])
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(row[column].replace("|", "/") for column in columns) + " |" for row in rows]
    (OUT / "table.md").write_text("\n".join(lines) + "\n")


@contextlib.contextmanager
def broker(*lines):
    """A Kafka of this fault's own: its bootstrap address, and its script's commands for it. `lines` of server.properties
    may name its own port, its controller's and one more that is free."""
    if not KAFKA.exists() or not shutil.which("java"):
        raise Skipped("../shared/services/kafka, or Java 17, is not here")

    def is_free(port):
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return True

    first = next(
        first for first in iter(lambda: random.randrange(20_000, 31_000), None)
        if all(is_free(port) for port in range(first, first + 10)))
    with tempfile.TemporaryDirectory() as folder:
        of = ("-d", folder)
        words = [word for line in lines for word in ("-o", line.format(port=first, control=first + 1, other=first + 2))]
        # Its output goes to a file: the broker keeps it open.
        with open(f"{folder}.output", "w+") as said:
            try:
                done = subprocess.run(
                    ["bash", str(KAFKA), "start", "-p", str(first), *of, *words], stdout=said, stderr=said, timeout=120)
                need(done.returncode == 0, f"Kafka did not start: see {said.name}")
                yield f"127.0.0.1:{first}", lambda *command: subprocess.run(
                    ["bash", str(KAFKA), *command, *of], stdout=said, stderr=said, timeout=120, check=True)
            finally:
                subprocess.run(["bash", str(KAFKA), "wipe", *of], stdout=said, stderr=said, timeout=120)
                os.unlink(said.name)


@contextlib.contextmanager
def load(stage, lane="fast"):
    """A job a second."""
    over = threading.Event()

    def publish():
        while not over.wait(1):
            # A log that is the fault takes none.
            with contextlib.suppress(Wrong, subprocess.TimeoutExpired):
                stage.publish(1, lane)

    thread = threading.Thread(target=publish, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@fault("all workers dead")
def dead(name):
    with broker() as (address, _), Stage(workers=2, broker=address, prefix="dead") as stage:

        def start():
            for number in range(2):
                stage.start(number)
            stage.ready(0, 1)

        start()
        with load(stage):
            return stage.staged(
                name, "no-worker", "MezzotintNoWorker", lambda: [stage.kill(number) for number in range(2)], start)


@fault("one worker stopped")
def stopped(name):
    with broker() as (address, _), Stage(workers=2, broker=address, prefix="stopped") as stage:
        for number in range(2):
            stage.start(number)
        stage.ready(0, 1)
        with load(stage):
            return stage.staged(
                name, "worker-silent", "MezzotintWorkerDown", lambda: stage.workers[0].send_signal(signal.SIGSTOP),
                lambda: stage.workers[0].send_signal(signal.SIGCONT))


@fault("broker gone")
def gone(name):
    with broker() as (address, command), Stage(workers=2, broker=address, prefix="gone") as stage:
        for number in range(2):
            stage.start(number)
        stage.ready(0, 1)
        return stage.staged(
            name, "log-unreachable", "MezzotintLogUnreachable", lambda: command("kill", "1"),
            lambda: command("revive", "1"))


@contextlib.contextmanager
def toxiproxy():
    """A proxy's own commands: a method, a path, a body."""
    if not TOXIPROXY.exists():
        raise Skipped("../shared/services/toxiproxy-server is not here")
    control = free_port()

    def tell(method, path, **body):
        request = urllib.request.Request(
            f"http://127.0.0.1:{control}{path}", json.dumps(body).encode() if body else None, method=method)
        urllib.request.urlopen(request, timeout=10).close()

    def answers():
        with contextlib.suppress(OSError):
            tell("GET", "/version")
            return True

    server = subprocess.Popen(
        [TOXIPROXY, "-host", "127.0.0.1", "-port", str(control)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(answers, "toxiproxy", 10)
        yield tell
    finally:
        server.kill()
        server.wait()


@fault("restore that stands still")
def restore(name):
    """A worker that lost its disk; its way to the broker is so narrow that no answer with rows comes through."""
    way = free_port()
    lines = (
        "listeners=PLAINTEXT://127.0.0.1:{port},WAY://127.0.0.1:{other},CONTROLLER://127.0.0.1:{control}",
        f"advertised.listeners=PLAINTEXT://127.0.0.1:{{port}},WAY://127.0.0.1:{way}",
        "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,WAY:PLAINTEXT",
    )
    with toxiproxy() as tell, broker(*lines) as (address, _):
        host, port = address.split(":")
        tell("POST", "/proxies", name="way", listen=f"127.0.0.1:{way}", upstream=f"{host}:{int(port) + 2}", enabled=True)
        with Stage(broker=address, prefix="restore", way=f"127.0.0.1:{way}") as stage:
            stage.start()
            stage.ready(0)
            stage.publish(4_000, variant="8x8.png")
            until(lambda: stage.waiting() == 0, "the end of its jobs", 300)

            def inflict():
                stage.kill()
                shutil.rmtree(stage.folder / "data0")
                tell("POST", "/proxies/way/toxics", name="narrow", type="bandwidth", attributes={"rate": 8})
                stage.start()

            return stage.staged(
                name, "restoring", "MezzotintRestoreStalled", inflict,
                lambda: tell("DELETE", "/proxies/way/toxics/narrow"))


@fault("store full")
def full(name):
    with Stage() as stage:
        store = stage.folder / "store"
        script = """
            mkdir -p "$0" && mount -t tmpfs -o size=72m none "$0" || exit 97
            while kill -0 $$ 2>/dev/null; do
                if [ -e "$0.fill" ]; then dd if=/dev/zero of="$0/filler" bs=4k 2>/dev/null; rm "$0.fill"; fi
                if [ -e "$0.room" ]; then rm -f "$0/filler" "$0.room"; fi
                sleep 0.1
            done &
            exec "$@"
            """
        stage.settings.append(f"store.directory={store}")
        if os.geteuid() != 0:
            raise Skipped("a small disk is mounted by root alone")
        stage.start(0, command=lambda words: ["unshare", "-m", "--kill-child", "--fork", "/bin/sh", "-c", script, store, *words])
        stage.ready(0)

        def ask(what):
            file = stage.folder / f"store.{what}"
            file.touch()
            until(lambda: not file.exists(), f"the disk's {what}", 20)

        with load(stage):
            return stage.staged(
                name, "store-halted", "MezzotintStoreStopped", lambda: ask("fill"), lambda: ask("room"))


@fault("renderer missing")
def renderer(name):
    with Stage() as stage:
        programs = stage.folder / "programs"
        programs.mkdir()
        for one in ("mezzotint-renderer", "mezzotint-inspector"):
            shutil.copy2(program(one), programs / one)
        stage.start(0, f"render.program={programs}/mezzotint-renderer")
        stage.ready(0)

        def inflict():
            (programs / "mezzotint-renderer").rename(programs / "gone")
            for line in run("ps", "-eo", "pid=,args=").splitlines():
                number, _, words = line.strip().partition(" ")
                if words.startswith(f"{programs}/"):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(number), signal.SIGKILL)

        with load(stage):
            return stage.staged(
                name, "renderer-halted", "MezzotintRenderersStopped", inflict,
                lambda: (programs / "gone").rename(programs / "mezzotint-renderer"))


def one_host(name, status, alert):
    with Stage() as stage:
        stage.start()
        stage.ready(0)

        def inflict():
            stage.site.manner = lambda path: status
            stage.publish(20)

        def heal():
            stage.site.manner = lambda path: 200
            run(program("mezzotint"), "origins", "unblock", stage.site.url, *stage.words())

        return stage.staged(name, "host-blocked", alert, inflict, heal)


@fault("one host 429")
def refused(name):
    return one_host(name, 429, "MezzotintHostLimits")


@fault("one host 503")
def down(name):
    return one_host(name, 503, "MezzotintHostBlocked")


@fault("one host slow")
def slow(name):
    with Stage(settings=["lanes.fast.target=2s"], divisor=30) as stage:
        stage.start()
        stage.ready(0)
        over = threading.Event()

        def inflict():
            stage.site.manner = lambda path: lambda: over.wait(7)
            stage.publish(400)

        return stage.staged(name, "host-slow", "MezzotintHostsSlow", inflict, over.set)


@fault("poison job")
def poison(name):
    # A job that killed workers within the last hour is told of for that hour.
    with Stage(divisor=60) as stage:
        stage.start()
        stage.ready(0)
        over = threading.Event()

        def inflict():
            stage.site.manner = lambda path: over.wait if path.startswith("/killer") else 200
            stage.publish(1, path="killer")
            for death in range(3):
                until(lambda: stage.site.asked > death, f"fetch {death}")
                stage.kill()
                stage.start()

        def heal():
            over.set()
            until(lambda: stage.state()["failures"], "a dead letter")
            run(program("mezzotint"), "dead", "discard", "--all", *stage.words())

        return stage.staged(name, "killer-job", "MezzotintPoisonJob", inflict, heal, is_fine_after=False)


@fault("fast overload")
def overload(name):
    with Stage(settings=["lanes.fast.target=2s"], size=(1600, 1200)) as stage:
        stage.start()
        stage.ready(0)
        return stage.staged(
            name, "saturated", "MezzotintFastLate", lambda: stage.publish(200, variant="1200x900.avif"), lambda: None)


@contextlib.contextmanager
def stream(publish, pause=1.0):
    """Calls `publish` again and again."""
    over = threading.Event()

    def work():
        while not over.is_set():
            with contextlib.suppress(Wrong, subprocess.TimeoutExpired):
                publish()
            over.wait(pause)

    thread = threading.Thread(target=work, daemon=True)
    begin = thread.start
    try:
        yield begin, over.set
    finally:
        over.set()
        if thread.ident:
            thread.join()


def all_fail(name, manner, says, **job):
    """Every job ends badly, twenty a second."""
    with Stage(divisor=20) as stage:
        stage.start()
        stage.ready(0)
        stage.site.manner = lambda path: manner
        with stream(lambda: stage.publish(20, **job)) as (begin, end):
            return stage.staged(
                name, "jobs-expire" if "expires" in job else "jobs-fail", "MezzotintMostJobsFail", begin, end, is_fine_after=False,
                says=says)


@fault("every job 404")
def not_found(name):
    return all_fail(name, 404, ["fetch.not-found at http://127.0.0.1", "Example: job"])


@fault("every job 403")
def forbidden(name):
    return all_fail(name, 403, ["fetch.forbidden at http://127.0.0.1", "Example: job"])


@fault("every job expires")
def expired(name):
    return all_fail(name, 200, ["expired before they were begun"], expires=1_577_836_800_000)


@fault("only invalid jobs")
def invalid(name):
    with broker() as (address, _), Stage(broker=address, prefix="invalid", divisor=20) as stage:
        stage.start()
        stage.ready(0)
        # A producer that writes anything.
        return stage.staged(
            name, "dead-letters", "MezzotintMostJobsFail",
            lambda: run(
                "bash", KAFKA, "perf-producer", "--topic", "invalid.jobs.fast", "--num-records", "875", "--throughput", "-1", "--record-size",
                "40", "--bootstrap-server", address),
            lambda: run(program("mezzotint"), "dead", "discard", "--all", *stage.words()),
            is_fine_after=False, within=30, says=["are dead letters", "Example: job"])


@fault("egress cut")
def egress(name):
    with Stage(divisor=20) as stage:
        stage.start()
        stage.ready(0)
        # Addresses of this machine where nothing listens.
        port = free_port()
        hosts = [f"http://127.9.0.{number}:{port}" for number in range(1, 61)]
        with stream(lambda: stage.publish(60, site=hosts)) as (begin, end):
            return stage.staged(
                name, "egress", "MezzotintEgress", begin, end, is_fine_after=False, ends=False,
                says=["60 hosts cannot be reached at once (fetch.connection", "Fast is late"])


@fault("crash loop")
def crash_loop(name):
    with Stage(workers=2, divisor=12) as stage:
        stage.ports = stage.ports[:1]
        stage.start()
        stage.ready(0)
        over = threading.Event()

        def loop():
            while not over.wait(5):
                stage.kill()
                stage.start()

        thread = threading.Thread(target=loop, daemon=True)

        def heal():
            over.set()
            thread.join()

        with load(stage):
            try:
                return stage.staged(
                    name, "crash-loop", "MezzotintWorkerRestarts", thread.start, heal, is_fine_after=False, within=30,
                    ends=False, says=["was started"])
            finally:
                over.set()


@fault("two stores")
def two_stores(name):
    with broker() as (address, _), Stage(workers=2, broker=address, prefix="stores") as stage:
        stage.start(0)
        stage.ready(0)
        stage.publish(20)
        until(lambda: stage.waiting() == 0, "the end of its jobs", 60)
        with load(stage):
            return stage.staged(
                name, "store-mismatch", "MezzotintStoreStopped",
                lambda: stage.start(1, f"store.directory={stage.folder}/other"), lambda: stage.kill(1),
                is_fine_after=False, within=30, says=["store.foreign"])


@fault("retention shorter than the backlog")
def retention(name):
    with broker("log.retention.check.interval.ms=1000") as (address, _), \
            Stage(broker=address, prefix="lost") as stage:
        stage.start()
        stage.ready(0)
        stage.publish(30, "slow")
        until(lambda: stage.waiting() == 0, "the end of its jobs", 60)

        def inflict():
            stage.kill()
            stage.publish(600, "slow")
            run(
                "bash", KAFKA, "configs", "--bootstrap-server", address, "--alter", "--entity-type", "topics", "--entity-name",
                "lost.jobs.slow", "--add-config", "retention.ms=1000,segment.ms=1000")

            def gone():
                # A segment ends with the record after its time.
                stage.publish(12, "slow")
                return "Lost within the last day" in stage.state()["sentence"]

            until(gone, "a backlog that retention took", 60)
            stage.start()

        return stage.staged(
            name, "jobs-lost", "MezzotintJobsLost", inflict, lambda: None, is_fine_after=False, within=90, ends=False,
            says=["Retention removed at least", "jobs.slow"])


@fault("more fast jobs of one healthy host than renderers can do")
def healthy(name):
    with Stage(settings=["lanes.fast.target=2s"], size=(1600, 1200)) as stage:
        stage.start()
        stage.ready(0)
        stage.site.manner = lambda path: lambda: threading.Event().wait(0.04)
        return stage.staged(
            name, "saturated", "MezzotintFastLate", lambda: stage.publish(1_500, variant="1200x900.avif"), lambda: None,
            is_fine_after=False, ends=False)


@fault("lagwatch with a folder that is not its machine's")
def stranger(name):
    with Stage() as stage:
        folder = stage.folder / "data/log"
        stage.start()
        stage.ready(0)

        def inflict():
            stage.kill()
            folder.rename(stage.folder / "own")
            folder.mkdir()
            (folder / "log.sqlite").write_bytes(b"of another machine" * 1_000)

        def heal():
            shutil.rmtree(folder)
            (stage.folder / "own").rename(folder)
            stage.start()

        return stage.staged(name, "log-unreachable", "MezzotintLogUnreachable", inflict, heal)
