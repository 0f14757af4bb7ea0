"""The texts of pages, comments and messages, by the patterns of the style sheet."""

from base import ROOT, check, run


@check("prose: as many findings as the baseline allows")
def counted():
    return run(ROOT / "ops/prose", "--check").strip() or None
