"""systemd's units, by systemd's own word."""

import pathlib
import tempfile

from base import DEPLOY, check, need, run, tool

UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


@check("units: systemd takes every line")
def verified():
    need(UNITS, "there is no unit")
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
