"""Writes a page and its plots, each file whole or not at all."""

from __future__ import annotations

from pathlib import Path

from .load import CARD_JSON
from .page import CARD_MARKDOWN, Page
from .whole_file import write_whole


def write_page(folder: Path, page: Page) -> None:
    """Writes README.md, the plots and the card below `folder`; removes those of earlier reports."""
    plots = folder / "plots"
    plots.mkdir(exist_ok=True)
    for name, content in page.plots.items():
        write_whole(plots / name, content)
    for old in plots.glob("*.svg"):
        if old.name not in page.plots:
            old.unlink()
    for name in (CARD_JSON, CARD_MARKDOWN):
        if name in page.card:
            write_whole(folder / name, page.card[name])
        else:
            (folder / name).unlink(missing_ok=True)
    write_whole(folder / "README.md", page.markdown.encode("utf-8"))
