"""A sweep's headline over its axis, as SVG. The same rows give the same bytes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import matplotlib
from matplotlib import patches, pyplot, ticker

from hipscope.results import formats
from hipscope.results.figures import COLOURS, FIGURE_INCHES, MARKERS, STYLE, to_svg
from hipscope.results.records import Axis, Sweep

from .series import BYTE_UNITS, Curves, Mark, Series, curves_of, joined, wants_decades
from .sweep_table import Matrix, matrix_of

# The most points of a line that each have a mark.
MOST_MARKED = 40
MOST_TICKS = 11
LINE_WIDTH = 1.8
LONGEST_TITLE = 80
LONGEST_BAR_LABEL = 48
CELL_INCHES = 0.62
# Links that differ by less than this are of one colour's kin.
LEAST_SPAN = 0.1


def _scale_x(axes: Any, axis: Axis, positions: list[float]) -> None:
    in_bytes = axis.unit in BYTE_UNITS
    axes.set_xlabel(formats.heading(axis.name, "" if in_bytes else axis.unit, str))
    if axis.scale == "logarithmic" and min(positions) > 0 and max(positions) > min(positions):
        axes.set_xscale("log", base=2)
        octaves = math.log2(max(positions) / min(positions))
        first, step = math.ceil(math.log2(min(positions))), math.ceil(octaves / MOST_TICKS) or 1
        exponents = range(first, math.floor(math.log2(max(positions))) + 1, step)
        axes.xaxis.set_major_locator(ticker.FixedLocator([2.0**exponent for exponent in exponents]))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
        axes.xaxis.set_major_formatter(lambda value, _: formats.binary_number(value, "B" if in_bytes else ""))
    elif in_bytes:
        axes.xaxis.set_major_formatter(lambda value, _: formats.binary_number(value, "B"))


def _scale_y(axes: Any, sweep: Sweep, values: list[float]) -> None:
    low, high = min(values), max(values)
    if wants_decades(sweep, values):
        axes.set_yscale("log")
        subdivisions = (1, 2, 5) if high / low < 1e3 else (1,)
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=subdivisions))
        axes.yaxis.set_minor_locator(ticker.NullLocator())
        axes.yaxis.set_major_formatter(lambda value, _: formats.tick(value))
    elif low >= 0:
        axes.set_ylim(0, high * 1.08 if high > 0 else 1)


def _draw_curves(axes: Any, sweep: Sweep, series: list[Series], y_label: str) -> None:
    rows = sweep.rows
    drawn_x: list[float] = []
    drawn_y: list[float] = []
    for number, one in enumerate(series):
        points = sorted((float(rows[index].x), y) for index, y in one.points.items())
        xs, ys = [x for x, _ in points], [y for _, y in points]
        style = {"color": COLOURS[number % len(COLOURS)], "zorder": 3 - 0.1 * number}
        curve = joined([(float(rows[index].x), y) for index, y in one.points.items()])
        axes.plot(
            xs,
            ys,
            linestyle="-" if curve == points else "",
            # Marks of many points would be a smear of the line, and most of the file.
            marker=MARKERS[number % len(MARKERS)] if len(xs) <= MOST_MARKED or curve != points else None,
            markersize=5,
            linewidth=LINE_WIDTH,
            label=one.name,
            **style,
        )
        if curve and curve != points:
            axes.plot(*zip(*curve), linewidth=LINE_WIDTH, **style)
            for index, y in one.points.items():
                if (rows[index].x, y) not in curve:
                    label = formats.short(rows[index].label)
                    note(axes, label, (rows[index].x, y), (-6, 0), ha="right", va="center")
        drawn_x += xs
        drawn_y += ys
    _scale_x(axes, sweep.axis, drawn_x)
    _scale_y(axes, sweep, drawn_y)
    axes.set_ylabel(y_label)
    axes.grid(True)


def note(axes: Any, text: str, place: tuple[float, float], offset: tuple[float, float], **style: Any) -> None:
    """A text beside a place of a plot, so many points from it."""
    axes.annotate(text, place, offset, textcoords="offset points", fontsize=9, **style)


def _draw_marks(axes: Any, marks: list[Mark]) -> None:
    for mark in marks:
        line = axes.axvline(mark.x, color="#777777", linewidth=1, linestyle="--", zorder=1)
        line.set_gid(f"inferred-{mark.x:.0f}")
        style = {"rotation": 90, "ha": "left", "va": "bottom", "color": "#555555"}
        note(axes, formats.short(mark.name), (mark.x, 0), (3, 4), xycoords=("data", "axes fraction"), **style)


def _rows_with_bars(series: list[Series]) -> list[int]:
    """The rows that some series has a point of, in order."""
    return sorted({index for one in series for index in one.points})


def _draw_bars(axes: Any, sweep: Sweep, series: list[Series], x_label: str) -> None:
    """One bar per row, the first row on top, so that long names can be read."""
    place_of = {index: place for place, index in enumerate(_rows_with_bars(series))}
    labels = [formats.short(sweep.rows[index].label, LONGEST_BAR_LABEL) for index in place_of]
    height = 0.8 / len(series)
    for number, one in enumerate(series):
        places = [place_of[index] + number * height for index in one.points]
        bars = axes.barh(
            places, list(one.points.values()), height, label=one.name, color=COLOURS[number % len(COLOURS)]
        )
        texts = [formats.number(value) for value in one.points.values()]
        axes.bar_label(bars, texts, padding=3, fontsize=9)
    if wants_decades(sweep, [value for one in series for value in one.points.values()]):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: formats.tick(value))
    middle = height * (len(series) - 1) / 2
    axes.set_yticks([place + middle for place in place_of.values()], labels)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel(x_label)
    axes.grid(True, axis="x")


def _draw_matrix(axes: Any, matrix: Matrix) -> None:
    """A field for each pair, with its number: coloured by the links alone, beside which a device's own memory
    is of another kind."""
    devices = matrix.devices
    low, high = min(matrix.links), max(matrix.links)
    span = max(high - low, LEAST_SPAN * abs(high))
    colours = matplotlib.colormaps["cividis"]
    for (start, end), value in matrix.values.items():
        share = (value - (high - span)) / span
        column, line = devices.index(end), devices.index(start)
        colour = colours(share) if start != end else "#eeeeee"
        axes.add_patch(patches.Rectangle((column, line), 1, 1, facecolor=colour, edgecolor="white"))
        axes.text(
            column + 0.5,
            line + 0.5,
            formats.number(value),
            ha="center",
            va="center",
            fontsize=9,
            color="white" if start != end and share < 0.5 else "black",
        )
    places = [place + 0.5 for place in range(len(devices))]
    axes.set(xlim=(0, len(devices)), ylim=(len(devices), 0), aspect="equal", xlabel="to device", ylabel="from device")
    axes.set_xticks(places, [str(device) for device in devices])
    axes.set_yticks(places, [str(device) for device in devices])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _draw_map(axes: Any, sweep: Sweep, curves: Curves) -> None:
    """A field for each companion (a line) at each point (a column), side by side whatever their x."""
    columns = list(curves.points)
    fields = [[one.points.get(index, math.nan) for index in columns] for one in curves.companions]
    image = axes.imshow(fields, cmap="cividis", aspect="auto", interpolation="none")
    step = math.ceil(len(columns) / MOST_TICKS)
    axes.set_xticks(range(0, len(columns), step), [sweep.rows[index].label for index in columns[::step]])
    step = math.ceil(len(fields) / MOST_TICKS)
    axes.set_yticks(range(0, len(fields), step), [one.name for one in curves.companions[::step]])
    axes.set_xlabel(formats.heading(sweep.axis.name, sweep.axis.unit, str))
    axes.figure.colorbar(image, ax=axes, label=formats.heading(sweep.headline, curves.unit, str))


def _plot(size: tuple[float, float], title: str, draw: Callable[[Any], None]) -> bytes:
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=size, layout="constrained")
        draw(axes)
        axes.set_title(formats.short(title, LONGEST_TITLE), fontsize=12, loc="left")
        return to_svg(figure)


def plot_sweep(sweep: Sweep, device: str, marks: list[Mark]) -> bytes | None:
    """The plot as SVG, or None when there is no curve: fewer than two points, or mixed units.

    Of `marks` a curve shows those within its range. Of pairs of devices it is a heat map, and of many companions.
    """
    matrix = matrix_of(sweep)
    if matrix is not None:
        side = 1.6 + CELL_INCHES * len(matrix.devices)
        size, heading = (max(side, FIGURE_INCHES[0] / 2), side), formats.heading(sweep.headline, matrix.unit, str)
        return _plot(size, heading, partial(_draw_matrix, matrix=matrix))
    found, title = curves_of(sweep), sweep.title or sweep.name
    if found is None:
        return None
    if found.is_map:
        return _plot(FIGURE_INCHES, title, partial(_draw_map, sweep=sweep, curves=found))
    unit, bars = found.unit, found.is_bars
    others = found.published + ([] if bars else found.companions)
    series = [Series(formats.short(device), found.points), *others]
    if unit == "s":
        scale, unit = formats.time_unit([y for one in series for y in one.points.values()])
        series = [Series(one.name, {i: y / scale for i, y in one.points.items()}) for one in series]
    label = formats.heading(sweep.headline, unit, str)
    size = FIGURE_INCHES
    if bars:
        size = (FIGURE_INCHES[0], 1.4 + 0.36 * len(_rows_with_bars(series)) * max(1, 0.7 * len(series)))
    xs = [sweep.rows[index].x for index in found.points]

    def draw(axes: Any) -> None:
        (_draw_bars if bars else _draw_curves)(axes, sweep, series, label)
        if not bars:
            _draw_marks(axes, [mark for mark in marks if min(xs) <= mark.x <= max(xs)])
        if len(series) > 1:
            axes.legend(frameon=True, framealpha=0.9, edgecolor="none", fontsize=10)

    return _plot(size, title, draw)
