"""What every check has: its name, places, tools, and the two ways not to pass."""

import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLACE = ROOT / ".build/operations"
TOOLS = PLACE / "root/usr/bin"
MONITORING = ROOT / "ops/monitoring"
DEPLOY = ROOT / "ops/deploy"
SHARED = pathlib.Path(os.environ.get("MEZZOTINT_SHARED", ROOT / "../shared"))

CHECKS = []


class Skipped(Exception):
    """Something that the check needs is not here."""


class Wrong(Exception):
    """What was checked does not hold."""


def check(name):
    def register(function):
        CHECKS.append((name, function))
        return function

    return register


def tool(name):
    """The path of a tool that ops/operations/install puts here."""
    for folder in (TOOLS, PLACE / "venv/bin"):
        if (folder / name).exists():
            return str(folder / name)
    found = shutil.which(name)
    if found is None:
        raise Skipped(f"{name} is not installed")
    return found


def run(*command, **options):
    """What a command wrote; a status other than 0 is wrong."""
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=options.pop("timeout", 120), **options)
    if done.returncode:
        raise Wrong(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def need(condition, *problems):
    if not condition:
        raise Wrong("\n".join(map(str, problems)))


def none_of(problems):
    problems = list(problems)
    need(not problems, *problems)
