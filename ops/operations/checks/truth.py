"""The comparison that `ops/campaign --truth` prints."""

import json
import pathlib
import subprocess
import tempfile

from base import ROOT, Skipped, check, need, run

DRAW = """import sys; from PIL import Image
for name, level in (("same", 90), ("paler", 130), ("whole", 90)):
    Image.new("RGB", (60, 40), (90, 90, 90)).save(sys.argv[1] + "/" + name, "PNG")
    Image.new("RGB", (60, 40), (level, level, level)).save(sys.argv[1] + "/" + name + ".png")"""


@check("truth: a different file, and a whole one that is called damaged, are printed")
def compared():
    if subprocess.run([ROOT / "ops/truth/install"]).returncode:
        raise Skipped("Pillow is not installed")
    python = ROOT / ".build/truth/venv/bin/python"
    rows = [{"file": "same"}, {"file": "paler"}, {"file": "whole", "refusal": "Replace it at its origin."}]
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-c", DRAW, folder)
        pathlib.Path(folder, "results.jsonl").write_text("\n".join(map(json.dumps, rows)))
        printed = run(python, ROOT / "ops/truth/truth.py", "compare", folder, folder)
    for line in ("DIFFERS paler (png RGB): 40.0 from Pillow", "| png RGB | 3 | 2 |", "NOT DAMAGED (png RGB) whole: Repl"):
        need(line in printed, f"{line} is missing:", printed)
    need("DIFFERS same" not in printed, printed)
