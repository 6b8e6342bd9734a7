"""A comparison as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hipscope.results import formats

from .comparison import SAME, Change, Comparison, SweepChange

HEADER = ("experiment", "sweep", "row", "what", "old", "new", "change", "cycles", "noise", "")
SWEEP_HEADER = ("whole sweeps", "", "times", "change", "cycles", "")
# The columns of numbers, which are aligned to the right.
NUMBERS = range(4, 9)
SWEEP_NUMBERS = range(2, 5)
LONGEST_NAME = 40
MOST_NAMES = 20


def _cell(value: float | str | None, unit: str) -> str:
    if isinstance(value, str):
        return value
    return "not found" if value is None else formats.with_unit(value, unit, str)


def _times(change: Change) -> list[str]:
    """Both times in the unit in which they read best."""
    times = [one for one in (change.old, change.new) if isinstance(one, (int, float))]
    scale, unit = formats.time_unit(times)
    return [f"{formats.significant(time / scale)} {unit}" for time in times]


def _per_cent(part: float | None, sign: str = "") -> str:
    if part is None:
        return formats.NOT_THERE
    return f"{100 * part:{sign}.1f} %" if math.isfinite(part) else "no number"


def _row(change: Change) -> list[str]:
    is_time = change.unit == "s" and None not in (change.old, change.new)
    values = _times(change) if is_time else [_cell(one, change.unit) for one in (change.old, change.new)]
    names = [formats.short(name, LONGEST_NAME) for name in (change.experiment, change.sweep, change.row, change.what)]
    size = "from 0" if change.old == 0 != change.new else _per_cent(change.change, "+")
    return [*names, *values, size, _per_cent(change.cycles, "+"), _per_cent(change.noise), change.verdict]


def _sweep_row(sweep: SweepChange) -> list[str]:
    names = [formats.short(name, LONGEST_NAME) for name in (sweep.experiment, sweep.sweep)]
    return [*names, str(sweep.rows), _per_cent(sweep.change, "+"), _per_cent(sweep.cycles, "+"), sweep.verdict]


def _table(rows: Sequence[Sequence[str]], numbers: range) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(
            cell.rjust(width) if number in numbers else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]


def _only(side: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    shown = [formats.short(name, 3 * LONGEST_NAME) for name in names[:MOST_NAMES]]
    more = [f"and {len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return [f"Only in {side}: {', '.join([*shown, *more])}"]


def text(found: Comparison, with_same: bool) -> str:
    """The differences in conditions, the table, what only one side has, and a summary as the last line."""
    lines = [one if one.startswith("WARNING") else f"Differs: {one}" for one in found.conditions]
    shown = [change for change in found.changes if with_same or change.verdict != SAME]
    sweeps = [one for one in found.sweeps if one.verdict != SAME]
    if sweeps:
        lines += ["", *_table([SWEEP_HEADER, *map(_sweep_row, sweeps)], SWEEP_NUMBERS)]
    if shown:
        lines += ["", *_table([HEADER, *map(_row, shown)], NUMBERS)]
    if shown or sweeps:
        lines.append("")
    lines += _only("OLD", found.only_old) + _only("NEW", found.only_new)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in found.counts().items())
    lines.append(f"{len(found.changes)} compared: {counts}.")
    return "\n".join(lines) + "\n"
