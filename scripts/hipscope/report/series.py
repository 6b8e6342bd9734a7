"""What of a sweep is drawn: its headline over its axis, and what is beside it. Nothing is drawn here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hipscope.results import formats
from hipscope.results.records import Result, Row, Sweep

BYTE_UNITS = ("B", "byte", "bytes")
BARS_AT_MOST = 48
# More companions than colours can tell apart are a map.
CURVES_AT_MOST = 7
# Units of which less is better, with or without what it is divided by; what is counted per something is no rate.
TIMES = frozenset({"s", "ms", "us", "ns", "cycles"})
COUNTS = frozenset({"blocks", "bytes", "waves"})
# What is computed of numbers between these is still a number; no axis needs others.
SMALLEST_DRAWN, LARGEST_DRAWN = 1e-100, 1e100
# Over a smaller range a logarithmic axis has hardly a tick with a number.
SMALLEST_LOGARITHMIC_RANGE = 8


@dataclass(frozen=True)
class Mark:
    """A place on the x axis that an inference found, and its name."""

    x: float
    name: str


@dataclass
class Series:
    """One curve: its name in the legend and its points, by row index.

    `gpu` is whose figures these are, as it was published; empty of what was measured.
    """

    name: str
    points: dict[int, float]
    gpu: str = ""


@dataclass
class Curves:
    """What there is to draw of a sweep; `points` are the headline's, by row index.

    `companions` are what was measured of others at the same points, `is_bars` says whether the rows
    are things with names, each of which has a bar.
    """

    unit: str
    is_bars: bool
    points: dict[int, float]
    published: list[Series]
    companions: list[Series]

    @property
    def is_map(self) -> bool:
        """Whether it is drawn as a field for each point and companion."""
        return len(self.companions) > CURVES_AT_MOST


def _is_drawable(x: float, y: float) -> bool:
    return all(value == 0 or SMALLEST_DRAWN <= abs(value) <= LARGEST_DRAWN for value in (x, y))


def _headline(sweep: Sweep) -> tuple[dict[int, float], str] | None:
    """The headline's number per row index, and its unit (seconds for a measurement)."""
    name, rows = sweep.headline, sweep.rows
    points: dict[int, float] = {}
    units = set()
    for index, row in enumerate(rows):
        value = next((item for item in row.values if item.name == name), None)
        if value is not None and value.value is not None:
            points[index] = float(value.value)
            units.add(value.unit)
    if not points:
        for index, row in enumerate(rows):
            time = next((item for item in row.measurements if item.name == name), None)
            if time is not None:
                points[index] = float(time.median)
                units.add(time.unit)
    points = {index: y for index, y in points.items() if _is_drawable(rows[index].x, y)}
    if len(points) < 2 or len(units) != 1:
        return None
    return points, units.pop()


def _companions(sweep: Sweep, unit: str) -> list[Series]:
    """What is measured of others at the same points: values named "NAME HEADLINE", in its unit."""
    ending = f" {sweep.headline}"
    series: dict[str, Series] = {}
    for index, row in enumerate(sweep.rows):
        for item in row.values:
            if item.name.endswith(ending) and item.unit == unit and item.value is not None:
                name = item.name.removesuffix(ending)
                series.setdefault(name, Series(formats.short(name), {})).points[index] = float(item.value)
    return list(series.values())


def _published(sweep: Sweep, unit: str) -> list[Series]:
    """Published figures of the headline in its own unit; times in any unit of time, as seconds."""
    scales = {name: scale for scale, name in formats.TIME_UNITS} if unit == "s" else {unit: 1.0}
    series: dict[str, Series] = {}
    for index, row in enumerate(sweep.rows):
        for item in row.published:
            if item.metric == sweep.headline and item.unit in scales:
                name = f"{formats.short(item.gpu)} (published)"
                one = series.setdefault(item.gpu, Series(name, {}, item.gpu))
                one.points[index] = item.value * scales[item.unit]
    return list(series.values())


def is_categorical(sweep: Sweep) -> bool:
    """Whether the rows are things with names (stages, instructions), not points on an axis."""
    if sweep.axis.name == "stage":  # whatever number its name begins with
        return True
    numbers = sum(bool(re.match(r"\s*[-+.]?\d", row.label)) for row in sweep.rows)
    return not sweep.axis.unit and 2 * numbers < len(sweep.rows)


def curves_of(sweep: Sweep) -> Curves | None:
    """What there is to draw, or None when there is no curve: fewer than two points, or mixed units.

    Points so far out that no axis reaches them are left out.
    """
    found = _headline(sweep)
    if found is None:
        return None
    points, unit = found
    published, companions = _published(sweep, unit), _companions(sweep, unit)
    rows = sweep.rows
    for one in (*published, *companions):
        one.points = {index: y for index, y in one.points.items() if _is_drawable(rows[index].x, y)}
    if sweep.axis.scale == "logarithmic" and min(points.values()) > 0:
        # A figure that was published as 0, rounded, has no place on a logarithmic axis.
        for one in (*published, *companions):
            one.points = {index: y for index, y in one.points.items() if y > 0}
    return Curves(
        unit,
        is_categorical(sweep) and len(sweep.rows) <= BARS_AT_MOST,
        points,
        [one for one in published if one.points],
        [one for one in companions if one.points],
    )


def best_row(sweep: Sweep) -> tuple[Row, float, str] | None:
    """The row with the best headline, its value and unit; None where more is neither better nor worse."""
    found = _headline(sweep)
    if found is None:
        return None
    points, unit = found
    if unit.partition("/")[0] in TIMES:
        best = min(points, key=points.__getitem__)
    elif "/" in unit and unit.partition("/")[0] not in COUNTS:
        best = max(points, key=points.__getitem__)
    else:
        return None
    return sweep.rows[best], points[best], unit


def wants_decades(sweep: Sweep, values: list[float]) -> bool:
    """Whether the values of a sweep of logarithmic scale span enough for a logarithmic axis."""
    low, high = min(values), max(values)
    return sweep.axis.scale == "logarithmic" and low > 0 and high / low >= SMALLEST_LOGARITHMIC_RANGE


def joined(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points that a line joins: of rows with one x the first, which the others vary.

    None at all when most rows share their x, since their order then says nothing.
    """
    first: dict[float, float] = {}
    for x, y in points:
        first.setdefault(x, y)
    return sorted(first.items()) if 2 * len(first) > len(points) else []


def inferred_marks(result: Result, sweep: Sweep) -> list[Mark]:
    """Inferred capacities, for a curve of latency over footprint."""
    if sweep.axis.unit != "bytes" or sweep.headline != "latency":
        return []
    own = sweep.name in ("constant", "texture", "scalar")
    cache = f"{sweep.name} cache" if own else "cache"
    return [
        Mark(inference.value, f"{match[1]}: {formats.binary_number(inference.value, 'B')}")
        for inference in result.inferences
        if inference.value is not None and (match := re.fullmatch(rf"({cache} level \d+) capacity", inference.name))
    ]
