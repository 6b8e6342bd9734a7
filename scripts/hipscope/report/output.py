"""What a report leaves in a folder: its pages and plots, and no older ones."""

from __future__ import annotations

from pathlib import Path

from hipscope.results import door
from hipscope.results.load import CARD_JSON

from .page import CARD_MARKDOWN, MADE_BY, Page


def _is_ours(page: Path) -> bool:
    """Whether an earlier report made this page."""
    try:
        return door.read_text(page).rstrip("\n").endswith(MADE_BY)
    except door.BadInput:
        return False


def files_of(folder: Path, page: Page) -> dict[Path, bytes | Path | None]:
    """README.md, the experiments' pages, the plots and the card below `folder`; None for what is there and goes:

    plots and pages of earlier reports, and the tables as text that a page now has.
    """
    plots = folder / "plots"
    made = {folder / name: content for name, content in {**page.experiments, **page.card}.items()}
    made |= {plots / name: content for name, content in page.plots.items()}
    texts = [(folder / name).with_suffix(".txt") for name in page.experiments]
    cards = [folder / CARD_JSON, folder / CARD_MARKDOWN]
    old = [*texts, *cards, *plots.glob("*.svg"), *filter(_is_ours, folder.glob("*.md"))]
    return {**dict.fromkeys(old), **made, folder / "README.md": page.markdown.encode("utf-8")}
