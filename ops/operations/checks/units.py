"""systemd's units, by systemd's own word, and booted."""

import os
import pathlib
import re
import subprocess
import tempfile

from base import DEPLOY, Skipped, check, need, run, tool
from product import program

UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


@check("units: systemd takes every line")
def verified():
    need(len(UNITS) == 2, f"there are {len(UNITS)} units")
    with tempfile.TemporaryDirectory() as folder:
        for unit in UNITS:
            # Whether the program is there is asked, too: one that is stands in.
            text = "".join(
                "ExecStart=/bin/true " + line.split(" ", 1)[1] if line.startswith("ExecStart=") else line
                for line in unit.read_text().splitlines(keepends=True))
            copy = pathlib.Path(folder, unit.name)
            copy.write_text(text.replace("User=mezzotint", "User=daemon").replace("Group=mezzotint", "Group=daemon"))
            # Without the option unknown keys are told of, and pass.
            said = run(tool("systemd-analyze"), "verify", "--recursive-errors=yes", "--man=no", copy)
            need(unit.name not in said, said)


@check("units: little is left to take away")
def hardened():
    for unit in UNITS:
        # Of 100; a unit without a line of it has 96.
        run(tool("systemd-analyze"), "security", "--offline=true", "--threshold=30", unit)


# Waits until the worker takes jobs and lagwatch answers, stops both, and tells how they ended. It only wants them: what
# requires a unit is stopped with it.
LOOK = r"""[Unit]
Wants=mezzotint-worker.service mezzotint-lagwatch.service
After=mezzotint-worker.service mezzotint-lagwatch.service
[Service]
Type=oneshot
StandardOutput=file:/look
StandardError=file:/look
ExecStart=/bin/bash /look.sh
ExecStopPost=/bin/systemctl poweroff --force
"""
SCRIPT = r"""
asked() { # PORT PATH: until it answers with status 200
    for _ in {1..100}; do
        if exec 3<>/dev/tcp/127.0.0.1/$1; then
            printf 'GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n' $2 >&3
            read -r line <&3 && [[ $line == *" 200 "* ]] && echo "$2 answers" && return
        fi 2>/dev/null
        sleep 0.1
    done
}
asked 9464 /readyz
asked 9465 /healthz
for _ in {1..100}; do # until lagwatch has the worker's metrics
    exec 3<>/dev/tcp/127.0.0.1/9465 && printf 'GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3
    grep -qx 'mezzotint_watch_workers_live 1' <&3 && echo "lagwatch has the worker's metrics" && break
    sleep 0.1
done
stat -c '%a %U:%G' /etc/mezzotint/config.yaml
units="mezzotint-worker mezzotint-lagwatch"
systemctl stop $units
systemctl show -p Id -p Result -p ExecMainStatus -p NRestarts $units
journalctl --no-pager -o cat -n 40 $(printf -- '-u %s ' $units)
"""
# This machine's own system, with what is given laid over it in memory: nothing of it is written.
BOOT = """
mount -t tmpfs none "$1/over" && cp -a "$1/given" "$1/over/upper" && mkdir "$1/over/work" "$1/over/root" &&
    mount -t overlay overlay -o "lowerdir=/,upperdir=$1/over/upper,workdir=$1/over/work" "$1/over/root" || exit 77
timeout 60 systemd-nspawn --register=no --keep-unit --private-network --link-journal=no --console=pipe -q \
    -D "$1/over/root" -b systemd.unit=look.service </dev/null
cat "$1/over/root/look" || exit 77
"""


@check("units: they boot, work and stop in a systemd of their own")
def booted():
    if os.geteuid() != 0 or not os.path.exists("/lib/systemd/systemd"):
        raise Skipped("needs root, and Debian's systemd")
    tool("systemd-nspawn")
    with tempfile.TemporaryDirectory() as folder:
        given = pathlib.Path(folder, "given")
        os.chmod(folder, 0o755)
        pathlib.Path(folder, "over").mkdir()
        # As an operator does it: what is shipped, and nothing of this check's.
        run(DEPLOY / "systemd/install", program("mezzotint-worker").parent, given)
        run(given / "usr/local/bin/mezzotint", "config", "check", "--config", given / "etc/mezzotint/config.yaml")
        for unit in UNITS:
            for page in re.findall(r"^Documentation=(.*)", unit.read_text(), re.M):
                need((given / page.removeprefix("file:///")).is_file(), f"{unit.name}: {page} is not installed")
        for page in (given / "usr/local/share/doc/mezzotint").rglob("*.md"):
            for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
                need((page.parent / link).exists(), f"{page.relative_to(given)}: {link} is not installed")
        for name, text in {"etc/systemd/system/look.service": LOOK, "look.sh": SCRIPT}.items():
            (given / name).write_text(text)
        done = subprocess.run(
            ["unshare", "-m", "bash", "-c", BOOT, "boot", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=120)
    if done.returncode == 77:
        raise Skipped(f"no systemd boots here: {done.stdout[-500:]}")
    # The configuration may name keys and passwords.
    for words in (
        "/readyz answers", "/healthz answers", "lagwatch has the worker's metrics", "640 root:mezzotint"):
        need(words in done.stdout, f"'{words}' is not said:", done.stdout)
    need(done.stdout.count("Result=success") == 2 and done.stdout.count("ExecMainStatus=0") == 2, done.stdout)
    need(done.stdout.count("NRestarts=0") == 2, "a unit was started again:", done.stdout)
    need("thread priority" not in done.stdout, "libdispatch writes beside the programs' lines:", done.stdout)
