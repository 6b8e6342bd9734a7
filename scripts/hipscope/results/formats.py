"""How numbers and names are written, whatever the page is made of. What comes out is not escaped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
BINARY_PREFIXES = ((2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))
SIGNIFICANT_DIGITS = 4
LONGEST_LABEL = 32
NOT_THERE = "-"
LABEL_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})

Escape = Callable[[str], str]


def plain(value: str) -> str:
    """The text on one line, without control characters or those that turn the direction."""
    spaced = " ".join(value.split())
    if spaced.isprintable():  # as nearly all are
        return spaced
    return "".join(c for c in spaced if unicodedata.category(c)[0] != "C")


def short(text: str, longest: int = LONGEST_LABEL) -> str:
    """The text on one line, cut where it is longer than this."""
    line = plain(text)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def by_number(name: str) -> list[tuple[bool, int, str]]:
    """A key by which node9 comes before node10."""
    parts = re.split(r"(\d{1,18})", name)
    return [(False, int(one), "") if one.isdecimal() else (True, 0, one) for one in parts if one]


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
        exponent = int(f"{rounded:e}".partition("e")[2])
        digits = max(0, SIGNIFICANT_DIGITS - 1 - exponent)
        return f"{rounded:.{digits}f}"
    return f"{value:.{SIGNIFICANT_DIGITS - 1}e}"


def time_unit(seconds: Sequence[float]) -> tuple[float, str]:
    """The unit, as its seconds and its name, in which the middle of the times reads best."""
    positive = sorted(value for value in seconds if value > 0)
    if not positive:
        return TIME_UNITS[0]
    middle = positive[len(positive) // 2]
    return next((unit for unit in TIME_UNITS if middle >= unit[0]), TIME_UNITS[-1])


def binary_number(value: float, unit: str) -> str:
    """A number with a binary prefix, "27.25 MiB"."""
    smallest = 2**10 if unit else 2**14
    if abs(value) >= smallest:
        for scale, prefix in BINARY_PREFIXES:
            if abs(value) >= scale:
                return f"{value / scale:g} {prefix}{unit}"
    return f"{value:g} {unit}".strip()


def tick(value: float) -> str:
    """A number beside an axis."""
    return f"{value:g}" if abs(value) < 1e5 else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")


def with_unit(value: float | None, unit: str, escape: Escape) -> str:
    """A number and its unit, escaped."""
    return f"{number(value)} {escape(unit)}".strip() if value is not None else NOT_THERE


def heading(name: str, unit: str, escape: Escape) -> str:
    """A column's or an axis's name with its unit, escaped."""
    return f"{escape(name)} ({escape(unit)})" if unit not in ("", name) else escape(name)


def gauge(name: str, meaning: str, samples: Iterable[tuple[float, Mapping[str, object]]]) -> str:
    """All samples of a gauge, each a value with its labels, in Prometheus' text format."""
    lines = []
    for value, labels in samples:
        inside = ",".join(f'{label}="{str(said).translate(LABEL_ESCAPES)}"' for label, said in labels.items())
        lines.append(f"{name}{{{inside}}} {value:.10g}" if inside else f"{name} {value:.10g}")
    return "\n".join((f"# HELP {name} {meaning}", f"# TYPE {name} gauge", *lines, ""))
