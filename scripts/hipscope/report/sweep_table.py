"""A sweep's rows as a table, in Markdown or in whatever else a markup writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from hipscope.results import formats, markdown
from hipscope.results.records import Check, Measurement, Row, Sweep, Value

from .series import curves_of

LONGEST_OPEN_TABLE = 40
# Of a longer one that a plot shows a page has a part: about so many rows at equal distances, and those on
# either side of so many of the largest steps.
LONGEST_WHOLE_TABLE = 100
ROWS_OF_A_PART = 40
STEPS_OF_A_PART = 10
THROTTLED_MARK = " †"

Column = tuple[str, list[str]]
Named = TypeVar("Named", Value, Measurement)


class Markup(Protocol):
    """How a kind of page writes texts that come from files; the module `markdown` is one."""

    def text(self, value: str) -> str:
        """The text, escaped."""

    def strong(self, escaped: str) -> str:
        """What must not be overlooked."""

    def heading(self, name: str, unit: str) -> str:
        """A column's name with its unit, escaped."""

    def with_unit(self, value: float | None, unit: str) -> str:
        """A number and its unit, escaped."""


def _names(items: Iterable[Value | Measurement]) -> list[str]:
    """Their names in the order of their first appearance."""
    return list(dict.fromkeys(item.name for item in items))


def _find(items: Iterable[Named], name: str) -> Named | None:
    return next((item for item in items if item.name == name), None)


def _measurement_columns(rows: Sequence[Row], markup: Markup) -> list[Column]:
    columns: list[Column] = []
    for name in _names(item for row in rows for item in row.measurements):
        found = [_find(row.measurements, name) for row in rows]
        scale, unit = formats.time_unit([item.median for item in found if item])
        medians, spreads = [], []
        for item in found:
            if item is None:
                medians.append(formats.NOT_THERE)
                spreads.append(formats.NOT_THERE)
                continue
            mark = THROTTLED_MARK if item.throttled else ""
            medians.append(formats.significant(item.median / scale) + mark)
            spreads.append(f"{100 * item.relative_spread:.1f}")
        columns.append((markup.heading(name, unit), medians))
        columns.append(("spread (%)", spreads))
    return columns


def _value_columns(rows: Sequence[Row], markup: Markup) -> list[Column]:
    columns: list[Column] = []
    for name in _names(item for row in rows for item in row.values):
        found = [_find(row.values, name) for row in rows]
        units = {item.unit for item in found if item}
        shared_unit = units.pop() if len(units) == 1 else None
        if shared_unit is not None:
            cells = [formats.number(item.value if item else None) for item in found]
            columns.append((markup.heading(name, shared_unit), cells))
        else:
            cells = [markup.with_unit(item.value, item.unit) if item else formats.NOT_THERE for item in found]
            columns.append((markup.text(name), cells))
    return columns


def _published_columns(sweep: Sweep, markup: Markup) -> list[Column]:
    rows = sweep.rows
    keys = dict.fromkeys((item.gpu, item.metric, item.unit) for row in rows for item in row.published)
    columns: list[Column] = []
    for gpu, metric, unit in keys:
        cells = []
        for row in rows:
            values = [item.value for item in row.published if (item.gpu, item.metric, item.unit) == (gpu, metric, unit)]
            cells.append(", ".join(formats.number(value) for value in values) or formats.NOT_THERE)
        what = unit if metric == sweep.headline else f"{metric}, {unit}"
        columns.append((f"{markup.text(gpu)} (published) ({markup.text(what)})", cells))
    return columns


def _checks_cell(checks: Sequence[Check], markup: Markup) -> str:
    if not checks:
        return formats.NOT_THERE
    # A check of nothing proves nothing, so it counts as failed.
    wrong = [check for check in checks if check.wrong or not check.checked]
    if not wrong:
        return f"ok ({sum(check.checked for check in checks)})"
    return "; ".join(
        f"{markup.strong('WRONG')} {markup.text(check.what)}: {check.wrong} of {check.checked}" for check in wrong
    )


def footnotes(sweep: Sweep, markup: Markup) -> list[str]:
    """What a reader of the table must know: throttled samples, and whose figures stand beside ours."""
    notes = []
    if any(item.throttled for row in sweep.rows for item in row.measurements):
        notes.append(f"{THROTTLED_MARK.strip()} Some samples ran at a clock more than 2 % under the highest seen.")
    sources: dict[tuple[str, str], list[str]] = {}
    for row in sweep.rows:
        for item in row.published:
            remarks = sources.setdefault((item.gpu, item.source), [])
            if item.note and item.note not in remarks:
                remarks.append(item.note)
    for (gpu, source), remarks in sources.items():
        remark = f" ({'; '.join(markup.text(item) for item in remarks)})" if remarks else ""
        notes.append(f"{markup.text(gpu)} (published): {markup.text(source)}{remark}.")
    return notes


def columns_of(sweep: Sweep, markup: Markup) -> list[Column]:
    """The table's columns: their headings and their cells, all escaped."""
    rows, axis = sweep.rows, sweep.axis
    checks = ("checks", [_checks_cell(row.checks, markup) for row in rows])
    return [
        (markup.heading(axis.name, axis.unit), [markup.text(row.label) for row in rows]),
        *_measurement_columns(rows, markup),
        *_value_columns(rows, markup),
        *_published_columns(sweep, markup),
        *([checks] if any(row.checks for row in rows) else []),
    ]


def _is_remarkable(row: Row) -> bool:
    """Whether its table must not leave the row out."""
    return (
        bool(row.published)
        or any(item.throttled for item in row.measurements)
        or any(check.wrong or not check.checked for check in row.checks)
    )


def _rows_on_page(sweep: Sweep) -> list[int]:
    """The rows of the table by their numbers: all, or of a long curve a part that tells its shape."""
    rows = sweep.rows
    found = curves_of(sweep) if len(rows) > LONGEST_WHOLE_TABLE else None
    if found is None or found.is_bars:
        return list(range(len(rows)))
    kept = {0, len(rows) - 1, *range(0, len(rows), -(-len(rows) // ROWS_OF_A_PART))}
    kept |= {index for index, row in enumerate(rows) if _is_remarkable(row)}
    points = sorted(found.points.items())
    steps = sorted(
        zip(points, points[1:]),
        reverse=True,
        key=lambda pair: abs(pair[1][1] - pair[0][1]) / (abs(pair[0][1]) + abs(pair[1][1]) or 1),
    )
    for before, after in steps[:STEPS_OF_A_PART]:
        kept |= {before[0], after[0]}
    return sorted(kept)


def sweep_table(sweep: Sweep) -> str:
    """The table in Markdown with its footnotes; folded when it is long, and of very many rows a part."""
    count, shown = len(sweep.rows), _rows_on_page(sweep)
    columns = columns_of(replace(sweep, rows=[sweep.rows[index] for index in shown]), markdown)
    header = [name for name, _ in columns]
    body = markdown.table(header, list(zip(*(cells for _, cells in columns))))
    if count > LONGEST_OPEN_TABLE:
        said = (
            f"The {count} rows"
            if len(shown) == count
            else f"{len(shown)} of the {count} rows, those at the largest steps among them; the result file has all"
        )
        body = f"<details><summary>{said}</summary>\n\n{body}\n\n</details>"
    return "\n\n".join([body, *footnotes(sweep, markdown)])


AXIS = "pair"
CORNER = "from, to"


@dataclass(frozen=True)
class Matrix:
    """The headline of all pairs that were measured; a device with itself is on the diagonal."""

    unit: str
    devices: list[int]
    values: dict[tuple[int, int], float]

    @property
    def links(self) -> list[float]:
        """The values between different devices."""
        return [value for (start, end), value in self.values.items() if start != end]


def matrix_of(sweep: Sweep) -> Matrix | None:
    """The matrix of a sweep whose rows are "0 -> 1"; None of one without two devices, or of other rows."""
    found = curves_of(sweep) if sweep.axis.name == AXIS else None
    if found is None or found.unit == "s":
        return None
    values = {}
    for index, value in found.points.items():
        pair = re.fullmatch(r"(\d{1,4}) -> (\d{1,4})", sweep.rows[index].label)
        if pair is None:
            return None
        values[int(pair[1]), int(pair[2])] = value
    matrix = Matrix(found.unit, sorted({device for pair in values for device in pair}), values)
    return matrix if matrix.links else None


def matrix_table(sweep: Sweep, matrix: Matrix) -> str:
    """The matrix in Markdown, under a line that says what it holds."""
    rows = [
        (f"**{start}**", *(formats.number(matrix.values.get((start, end))) for end in matrix.devices))
        for start in matrix.devices
    ]
    what = markdown.heading(sweep.headline, matrix.unit)
    header = [CORNER, *(str(device) for device in matrix.devices)]
    return f"{what}, from a device (row) to a device (column):\n\n{markdown.table(header, rows)}"
