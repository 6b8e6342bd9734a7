"""Writes a page and its plots, each file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .load import CARD_JSON
from .page import CARD_MARKDOWN, Page


def _write_whole(path: Path, content: bytes) -> None:
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".report-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # mkstemp makes files that only their owner may read.
        os.chmod(aside, 0o644)
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise


def write_page(folder: Path, page: Page) -> None:
    """Writes README.md, the plots and the card below `folder`; removes those of earlier reports."""
    plots = folder / "plots"
    plots.mkdir(exist_ok=True)
    for name, content in page.plots.items():
        _write_whole(plots / name, content)
    for old in plots.glob("*.svg"):
        if old.name not in page.plots:
            old.unlink()
    for name in (CARD_JSON, CARD_MARKDOWN):
        if name in page.card:
            _write_whole(folder / name, page.card[name])
        else:
            (folder / name).unlink(missing_ok=True)
    _write_whole(folder / "README.md", page.markdown.encode("utf-8"))
