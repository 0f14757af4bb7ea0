"""What every check has: its name, places, tools, and the two ways not to pass."""

import os
import pathlib
import re
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


def families():
    """The product's metrics as its reference page lists them: name, type, labels."""
    page = (ROOT / "config/reference.md").read_text()
    rows = re.findall(r"^\| `((?:mezzotint|process)_\w+)` \| (\w+) \| (.*?) \|", page, re.M)
    need(rows, "config/reference.md lists no metrics")
    return {name: (kind, re.findall(r"`(\w+)`", labels)) for name, kind, labels in rows}


def series():
    """Names that may stand in an expression: the product's, its histograms' parts, and what rules record."""
    import yaml

    names = {"up", "ALERTS"}
    for name, (kind, _) in families().items():
        names |= {name + part for part in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    for path in (MONITORING / "rules").glob("*.yml"):
        for group in yaml.safe_load(path.read_text())["groups"]:
            names |= {rule["record"] for rule in group["rules"] if "record" in rule}
    return names
