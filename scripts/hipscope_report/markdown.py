"""Text, numbers and tables in GitHub's Markdown. Every text from a file goes through `text`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
SIGNIFICANT_DIGITS = 4
NOT_THERE = "-"

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def plain(value: str) -> str:
    """The text on one line, without control characters or those that turn the direction."""
    spaced = " ".join(value.split())
    return "".join(c for c in spaced if unicodedata.category(c)[0] != "C")


def text(value: str) -> str:
    """The text with nothing in it that Markdown or HTML would take for markup."""
    line = plain(value)
    line = re.sub(r"[\\`*\[\]|~$]", lambda match: "\\" + match[0], line)
    # Between letters and digits an underscore is no markup.
    line = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", line)
    line = re.sub("[&<>]", lambda match: _ENTITIES[match[0]], line)
    # At the start of a line these begin a heading, a list or a rule.
    line = re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", line)
    return re.sub(r"^(?=([#+-]+|[-=]+)(\s|$))", r"\\", line)


def number(value: float | None) -> str:
    """A number with four significant digits, but whole numbers in full."""
    if value is None:
        return NOT_THERE
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return significant(value)


def significant(value: float) -> str:
    """A number with four significant digits, whole or not: what a measured time has."""
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e7:
        rounded = float(f"{value:.{SIGNIFICANT_DIGITS}g}")
        digits = max(0, SIGNIFICANT_DIGITS - 1 - _exponent(rounded))
        return f"{rounded:.{digits}f}"
    return f"{value:.{SIGNIFICANT_DIGITS - 1}e}"


def _exponent(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


def time_unit(seconds: Sequence[float]) -> tuple[float, str]:
    """The unit, as its seconds and its name, in which the middle of the times reads best."""
    positive = sorted(value for value in seconds if value > 0)
    if not positive:
        return TIME_UNITS[0]
    middle = positive[len(positive) // 2]
    return next((unit for unit in TIME_UNITS if middle >= unit[0]), TIME_UNITS[-1])


def with_unit(value: float | None, unit: str) -> str:
    """A number and its unit, escaped."""
    return f"{number(value)} {text(unit)}".strip() if value is not None else NOT_THERE


def heading(name: str, unit: str) -> str:
    """A column's name with its unit, escaped."""
    return f"{text(name)} ({text(unit)})" if unit not in ("", name) else text(name)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], first_is_text: bool = True) -> str:
    """A table of escaped cells; all columns but a first of text are aligned to the right."""
    alignments = ["---:"] * len(header)
    if first_is_text:
        alignments[0] = "---"
    lines = [header, alignments, *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of escaped cells, all aligned to the left."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows])


def bullets(items: Sequence[str]) -> str:
    """A list of texts, which are escaped here."""
    return "\n".join(f"- {text(item)}" for item in items)
