"""Faults, staged on the built programs beside a real Prometheus: for each what the page says first, which alert fires,
that no other alert pages, and that all of it is over afterwards. `ops/test operations faults` runs them, in about
half an hour. Screenshots and the table of what was seen: .build/operations/faults.
"""

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading

from base import Skipped, Wrong, check, run
from product import free_port, program, until
from stage import OUT, Stage


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


def own_disk(stage, make, **acts):
    """Starts a worker whose store is a disk of its own, and returns what does one of `acts` to that disk."""
    if os.geteuid() != 0:
        raise Skipped("a disk is mounted by root alone")
    store = stage.folder / "store"
    doing = "".join(f'[ ! -e "$0.{act}" ] || {{ {command}; rm "$0.{act}"; }}; ' for act, command in acts.items())
    # The last act ends the fault: a worker that hangs in a call cannot end before it.
    last = list(acts.values())[-1]
    script = f"""
        mkdir -p "$0" && {make} || exit 97
        (while kill -0 $PPID; do {doing} sleep 0.1; done; {last}) 2>/dev/null &
        exec "$@"
        """
    stage.settings.append(f"store.directory={store}")
    stage.start(0, command=lambda words: ["unshare", "-m", "--kill-child", "--fork", "/bin/sh", "-c", script, store, *words])
    stage.ready(0)

    def ask(act):
        file = stage.folder / f"store.{act}"
        file.touch()
        until(lambda: not file.exists(), f"the disk's {act}", 20)

    return ask


@fault("store full")
def full(name):
    with Stage() as stage:
        ask = own_disk(
            stage, 'mount -t tmpfs -o size=72m none "$0"', fill='dd if=/dev/zero of="$0/filler" bs=4k', room='rm -f "$0/filler"')
        with load(stage):
            return stage.staged(
                name, "store-halted", "MezzotintStoreStopped", lambda: ask("fill"), lambda: ask("room"), says=["store.full"])


@fault("store hangs")
def hangs(name):
    """As a share whose server is away: calls neither end nor fail."""
    with Stage(divisor=6) as stage:
        ask = own_disk(
            stage, 'truncate -s 2g "$0.disk" && mkfs.ext4 -q "$0.disk" && mount -o loop "$0.disk" "$0"',
            hang='fsfreeze -f "$0"', back='fsfreeze -u "$0"')
        with load(stage):
            return stage.staged(
                name, "store-halted", "MezzotintStoreHangs", lambda: ask("hang"), lambda: ask("back"), within=30,
                says=["The store does not respond"])


# Runs a program on a kernel that lets it have no filter of its own for system calls.
UNFILTERED = """
import ctypes, os, platform, struct, sys
seccomp, prctl = {"x86_64": (317, 157), "aarch64": (277, 167)}[platform.machine()]
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, seccomp), (0x06, 0, 0, 0x50026), (0x15, 0, 3, prctl), (0x20, 0, 0, 16),
    (0x15, 0, 1, 22), (0x06, 0, 0, 0x50016), (0x06, 0, 0, 0x7fff0000)]
class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("rules", ctypes.c_char_p)]
program = Program(len(rules), b"".join(struct.pack("HBBI", *rule) for rule in rules))
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
    sys.exit(99)
os.execv(sys.argv[1], sys.argv[1:])
"""


@fault("sandbox impossible")
def unfiltered(name):
    with Stage() as stage:
        stage.start()
        stage.ready(0)

        def inflict():
            stage.kill()
            stage.start(command=lambda words: [sys.executable, "-c", UNFILTERED, *words])
            until(lambda: stage.workers[0].poll() is not None, "the end of a worker without a sandbox")

        with load(stage):
            return stage.staged(name, "no-worker", "MezzotintNoWorker", inflict, stage.start)


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

        return stage.staged(name, "poison-job", "MezzotintPoisonJob", inflict, heal, is_fine_after=False)


@fault("fast overload")
def overload(name):
    with Stage(settings=["lanes.fast.target=2s"], size=(1600, 1200)) as stage:
        stage.start()
        stage.ready(0)
        return stage.staged(
            name, "saturated", "MezzotintFastLate", lambda: stage.publish(200, variant="1200x900.avif"),
            # As long as this machine takes.
            lambda: until(lambda: stage.waiting() == 0, "the end of its jobs", 400))


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
    return all_fail(name, 200, ["of the jobs that ended in the last half minute expired"], expires=1_577_836_800_000)


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
                    ends=False, says=["was started", "The log of the process before ended with: "])
            finally:
                over.set()


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
