"""What a figure shows: the curves of one sweep, of every device that measured it and of what was published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hipscope.report.series import Curves, Mark, curves_of, inferred_marks
from hipscope.results import formats
from hipscope.results.records import Result, Sweep

from .sources import Source

# The patterns of dashes that report.css has for companions.
COMPANION_KINDS = 5


@dataclass(frozen=True)
class Point:
    """A row's value: `row` tells rows of one label apart."""

    x: float
    y: float
    label: str
    row: int


@dataclass
class Line:
    """One curve; a `companion` is what a device measured of others, such as a vendor's library, by name.

    In a plot of many devices `of_many` says whether it is that of each device or the middle one of a model.
    """

    source: Source
    name: str
    points: list[Point]
    companion: str = ""
    of_many: str = ""


@dataclass
class Plot:
    """Curves with the same axes; `sweep` is the first of them, from which the axes' names are."""

    sweep: Sweep
    unit: str
    is_bars: bool
    lines: list[Line] = field(default_factory=list)
    marks: list[tuple[Source, Mark]] = field(default_factory=list)

    def kind(self, line: Line) -> str:
        """The class that says how a line is drawn; of a companion the same for every device."""
        if not line.companion:
            return "published" if line.source.is_published else line.of_many
        names = list(dict.fromkeys(one.companion for one in self.lines if one.companion))
        return f"companion k{names.index(line.companion) % COMPANION_KINDS}"

    @property
    def values(self) -> list[float]:
        """All that is on the y axis."""
        return [point.y for line in self.lines for point in line.points]

    def use_unit_of_time(self) -> None:
        """Turns seconds into the unit of time in which the values read best."""
        if self.unit != "s":
            return
        scale, self.unit = formats.time_unit(self.values)
        for line in self.lines:
            line.points = [Point(one.x, one.y / scale, one.label, one.row) for one in line.points]


def _points(sweep: Sweep, values: dict[int, float]) -> list[Point]:
    rows = sweep.rows
    seen: dict[str, int] = {}
    numbers = []
    for row in rows:
        numbers.append(seen.get(row.label, 0))
        seen[row.label] = numbers[-1] + 1
    return [Point(float(rows[index].x), y, rows[index].label, numbers[index]) for index, y in values.items()]


def _add_published(plot: Plot, sweep: Sweep, curves: Curves, published: dict[str, Source]) -> None:
    """Adds the figures that stand in this device's rows; each once, whoever's rows it stands in."""
    for series in curves.published:
        source = published[series.gpu]
        line = next((one for one in plot.lines if one.source is source), None)
        if line is None:
            line = Line(source, source.label, [])
            plot.lines.append(line)
        there = {(one.label, one.row) for one in line.points}
        line.points += [one for one in _points(sweep, series.points) if (one.label, one.row) not in there]


def make_plots(measured: Sequence[tuple[Source, Result, Sweep]], published: dict[str, Source]) -> list[Plot]:
    """The plots of one sweep, of (device, its result, its sweep); more than one where axes differ.

    `published` are the published GPUs by name. A CPU has no curve.
    """
    plots: dict[tuple[Any, ...], Plot] = {}
    for source, result, sweep in measured:
        curves = None if source.is_cpu else curves_of(sweep)
        if curves is None:
            continue
        axis = sweep.axis
        key = (axis.name, axis.unit, axis.scale, sweep.headline, curves.unit, curves.is_bars)
        plot = plots.setdefault(key, Plot(sweep, curves.unit, curves.is_bars))
        plot.lines.append(Line(source, source.label, _points(sweep, curves.points)))
        plot.lines += [
            Line(source, f"{source.label}: {one.name}", _points(sweep, one.points), one.name)
            for one in curves.companions
            if not (curves.is_bars or curves.is_map)
        ]
        _add_published(plot, sweep, curves, published)
        plot.marks += [(source, mark) for mark in inferred_marks(result, sweep)]
    for plot in plots.values():
        # The published ones come last, whichever device's rows they stood in.
        plot.lines.sort(key=lambda line: line.source.number)
        plot.use_unit_of_time()
    return list(plots.values())
