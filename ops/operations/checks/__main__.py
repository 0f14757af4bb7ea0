"""Runs the checks, one after the other, and counts them."""

import importlib
import sys
import time
import traceback

from base import CHECKS, Skipped, Wrong

for name in ("prose", "truth", "monitoring", "dashboards", "kubernetes", "units", "product", "page", "containers", "faults", "faults_kafka"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as missing:
        # A library of PyPI that could not be installed: what needs it is not run.
        CHECKS.append((name, lambda missing=missing: (_ for _ in ()).throw(Skipped(f"{missing.name} is not installed"))))

wanted = sys.argv[1:]


def is_named(name, word):
    """A module that could not be imported stands for all its checks, whose names begin with its own."""
    return name.startswith(word) or word.startswith(name)


unknown = [word for word in wanted if not any(is_named(name, word) for name, _ in CHECKS)]
if unknown:
    print(f"ops/test operations: no check begins with {unknown[0]}. The checks are:", *(name for name, _ in CHECKS), sep="\n  ", file=sys.stderr)
    sys.exit(2)
passed = failed = skipped = 0
for name, check in CHECKS:
    if wanted and not any(is_named(name, word) for word in wanted):
        continue
    begun = time.monotonic()
    try:
        said = check()
        passed += 1
        print(f"passed   {name} ({time.monotonic() - begun:.1f} s)" + (f": {said}" if said else ""), flush=True)
    except Skipped as reason:
        skipped += 1
        print(f"NOT RUN  {name}: {reason}", file=sys.stderr, flush=True)
    except Wrong as wrong:
        failed += 1
        print(f"FAILED   {name}:\n{wrong}", flush=True)
    except Exception:
        failed += 1
        print(f"FAILED   {name}:\n{traceback.format_exc()}", flush=True)

print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed else 0)
