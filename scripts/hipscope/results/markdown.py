"""Text and tables in GitHub's Markdown. Every text from a file goes through `text`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from . import formats

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def text(value: str) -> str:
    """The text with nothing in it that Markdown or HTML would take for markup."""
    line = formats.plain(value)
    line = re.sub(r"[\\`*\[\]|~$]", lambda match: "\\" + match[0], line)
    # Between letters and digits an underscore is no markup.
    line = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", line)
    line = re.sub("[&<>]", lambda match: _ENTITIES[match[0]], line)
    # At the start of a line these begin a heading, a list or a rule.
    line = re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", line)
    return re.sub(r"^(?=([#+-]+|[-=]+)(\s|$))", r"\\", line)


def strong(escaped: str) -> str:
    """What must not be overlooked."""
    return f"**{escaped}**"


# A number with its unit, and a column's name with its unit, escaped.
with_unit = partial(formats.with_unit, escape=text)
heading = partial(formats.heading, escape=text)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], others: str = "---:") -> str:
    """A table of escaped cells; all columns but the first are aligned to the right."""
    lines = [header, ["---", *[others] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of escaped cells, all aligned to the left."""
    return table(header, rows, "---")


def bullets(items: Sequence[str]) -> str:
    """A list of texts, which are escaped here."""
    return "\n".join(f"- {text(item)}" for item in items)
