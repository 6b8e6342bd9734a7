"""Writes the pages and plots of a folder, each file whole or not at all."""

from __future__ import annotations

from pathlib import Path

from hipscope.results.load import CARD_JSON
from hipscope.results.whole_file import write_whole

from .page import CARD_MARKDOWN, MADE_BY, Page


def _is_ours(page: Path) -> bool:
    """Whether an earlier report made this page."""
    try:
        return page.read_text(encoding="utf-8").rstrip("\n").endswith(MADE_BY)
    except (OSError, UnicodeDecodeError):
        return False


def write_page(folder: Path, page: Page) -> None:
    """Writes README.md, the experiments' pages, the plots and the card below `folder`.

    Plots and pages of earlier reports go, and the tables as text that a page now has.
    """
    plots = folder / "plots"
    plots.mkdir(exist_ok=True)
    for name, content in page.plots.items():
        write_whole(plots / name, content)
    for name, content in page.experiments.items():
        write_whole(folder / name, content)
        (folder / name).with_suffix(".txt").unlink(missing_ok=True)
    for name in (CARD_JSON, CARD_MARKDOWN):
        if name in page.card:
            write_whole(folder / name, page.card[name])
        else:
            (folder / name).unlink(missing_ok=True)
    write_whole(folder / "README.md", page.markdown.encode("utf-8"))
    for old in plots.glob("*.svg"):
        if old.name not in page.plots:
            old.unlink()
    for old in folder.glob("*.md"):
        if old.name not in (*page.experiments, "README.md", CARD_MARKDOWN) and _is_ours(old):
            old.unlink()
