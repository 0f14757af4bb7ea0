"""Faults of a real Kafka and of workers beside it: see faults.py."""

import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.request

from base import ROOT, SHARED, Skipped, Wrong, need, run
from faults import fault, load, stream
from product import free_port, program, until
from stage import Stage, end

KAFKA = SHARED / "services/kafka/kafka"
TOXIPROXY = SHARED / "services/toxiproxy-server"


@contextlib.contextmanager
def broker(*lines, brokers=1, **environment):
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
        if all(is_free(port) for port in range(first, first + 10 * brokers)))
    with tempfile.TemporaryDirectory() as folder:
        of = ("-d", folder)
        words = [word for line in lines for word in ("-o", line.format(port=first, control=first + 1, other=first + 2))]
        # Its output goes to a file: the broker keeps it open.
        with open(f"{folder}.output", "w+") as said:
            try:
                done = subprocess.run(
                    ["bash", str(KAFKA), "start", "-n", str(brokers), "-p", str(first), *of, *words], stdout=said, stderr=said,
                    timeout=120, env=os.environ | environment)
                need(done.returncode == 0, f"Kafka did not start: see {said.name}")
                yield f"127.0.0.1:{first}", lambda *command: subprocess.run(
                    ["bash", str(KAFKA), *command, *of], stdout=said, stderr=said, timeout=120, check=True)
            finally:
                subprocess.run(["bash", str(KAFKA), "wipe", *of], stdout=said, stderr=said, timeout=120)
                os.unlink(said.name)


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
                lambda: tell("DELETE", "/proxies/way/toxics/narrow"),
                # The group counts on the killed worker for 10 s (kafka.timing.session), and its jobs are all done: until
                # then the page is fine. The new worker starts through the narrow way, which takes as long on a busy machine.
                within=40)


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


def mismatch(name, prefix, workers, inflict, heal):
    """A worker that meets another store than the log's rows are bound to."""
    with broker() as (address, _), Stage(workers=workers, broker=address, prefix=prefix) as stage:
        stage.start(0)
        stage.ready(0)
        stage.publish(20)
        until(lambda: stage.waiting() == 0, "the end of its jobs", 60)
        with load(stage):
            return stage.staged(
                name, "store-mismatch", "MezzotintStoreStopped", lambda: inflict(stage), lambda: heal(stage),
                is_fine_after=False, within=30, says=["store.mismatched"])


@fault("two stores")
def two_stores(name):
    return mismatch(
        name, "stores", 2, lambda stage: stage.start(1, f"store.directory={stage.folder}/other"), lambda stage: stage.kill(1))


@fault("store replaced")
def replaced(name):

    def swap(stage, old, new):
        """Moves the store away, and another one into its place."""
        stage.kill()
        (stage.folder / "store").rename(stage.folder / old)
        with contextlib.suppress(FileNotFoundError):
            (stage.folder / new).rename(stage.folder / "store")
        stage.start()

    return mismatch(
        name, "replaced", 1, lambda stage: swap(stage, "own", "another"), lambda stage: swap(stage, "another", "own"))


@fault("foreign member of the group")
def foreign(name):
    # A program is known to be no worker after 15 s, whatever the rules' spans are.
    with broker() as (address, _), Stage(broker=address, prefix="foreign", divisor=6) as stage:
        stage.start()
        stage.ready(0)
        command = [
            "java", "-Xmx64m", "-cp", f"{KAFKA.parent}/libs/*", "org.apache.kafka.tools.consumer.ConsoleConsumer",
            "--bootstrap-server", address, "--group", "foreign", "--topic", "foreign.jobs.fast", "--consumer-property",
            "client.id=stranger", "--consumer-property", "enable.auto.commit=false"]

        def join():
            stage.workers["stranger"] = stage.started(*command, name="stranger")

        with load(stage):
            return stage.staged(
                name, "foreign-member", "MezzotintForeignMember", join, lambda: stage.kill("stranger"), within=60,
                says=["(client id stranger, host 127.0.0.1)", "3 partitions (0, 1, 2)"])


@contextlib.contextmanager
def wrong_clock(seconds):
    """What makes the clock of a broker wrong by so many seconds, as its environment."""
    if not shutil.which("javac"):
        raise Skipped("javac is not here")
    with tempfile.TemporaryDirectory() as folder:
        run("javac", "-d", folder, ROOT / "ops/operations/checks/WrongBrokerClock.java")
        pathlib.Path(folder, "manifest").write_text("Premain-Class: WrongBrokerClock\n")
        run("jar", "--create", "--file", f"{folder}/clock.jar", "--manifest", f"{folder}/manifest", "-C", folder, ".")
        yield {"JAVA_TOOL_OPTIONS": f"-javaagent:{folder}/clock.jar={seconds * 1000}"}


@fault("brokers' clock an hour behind")
def clock(name):
    with wrong_clock(-3_600) as environment, broker(**environment) as (address, _), \
            Stage(workers=2, broker=address, prefix="clock") as stage:

        with stream(lambda: stage.publish(1)) as (publish, _):

            def start():
                for number in range(2):
                    stage.start(number)
                publish()

            seen = stage.staged(
                name, "clock-skewed", "MezzotintClockWrong", start, lambda: None, is_fine_after=False, ends=False,
                says=["The brokers' clock is", "behind the clocks of all 2 workers"])
            doctor = subprocess.run(
                [program("mezzotint"), "doctor", *stage.words()], stdout=subprocess.PIPE, text=True, timeout=60)
            need("s ahead of the brokers'" in doctor.stdout, doctor.stdout)
            return seen


@fault("partition leaders gone and back")
def leaders(name):
    with broker(brokers=3) as (address, command), \
            Stage(broker=address, prefix="leaders", create=["--replication", "1"]) as stage:
        stage.start()
        stage.ready(0)
        return stage.staged(
            name, "partitions-unreadable", "MezzotintPartitionsUnreadable", lambda: command("kill", "3"),
            lambda: command("revive", "3"))


@fault("retention shorter than the backlog")
def retention(name):
    with broker("log.retention.check.interval.ms=1000") as (address, _), \
            Stage(broker=address, prefix="lost") as stage:
        stage.start()
        stage.ready(0)
        stage.publish(30, "slow")
        until(lambda: stage.waiting() == 0, "the end of its jobs", 60)

        def keep(milliseconds):
            run(
                "bash", KAFKA, "configs", "--bootstrap-server", address, "--alter", "--entity-type", "topics", "--entity-name",
                "lost.jobs.slow", "--add-config", f"retention.ms={milliseconds},segment.ms={milliseconds}")

        def inflict():
            stage.kill()
            stage.publish(600, "slow")
            keep(1_000)

            def gone():
                # A segment ends with the record after its time.
                stage.publish(12, "slow")
                return "Lost within the last day" in stage.state()["sentence"]

            until(gone, "a backlog that retention took", 60)
            # A worker refuses to start on a topic that keeps records for less than a day.
            keep(1_209_600_000)
            stage.start()

        return stage.staged(
            name, "jobs-lost", "MezzotintJobsLost", inflict, lambda: None, is_fine_after=False, within=90, ends=False,
            says=["Retention removed at least", "jobs.slow"])
