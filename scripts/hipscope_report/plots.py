"""A sweep's headline over its axis, as SVG. The same rows give the same bytes."""

from __future__ import annotations

import io
import math
import re
from dataclasses import dataclass
from typing import Any

import matplotlib

matplotlib.use("Agg")

# pylint: disable=wrong-import-position
from matplotlib import pyplot, ticker  # noqa: E402

from . import markdown  # noqa: E402

FIGURE_INCHES = (7.5, 4.2)
# Okabe and Ito's colours, which the colour-blind can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Over a smaller range a logarithmic axis has hardly a tick with a number.
SMALLEST_LOGARITHMIC_RANGE = 8
BARS_AT_MOST = 48
MOST_TICKS = 11
LINE_WIDTH = 1.8
LONGEST_LABEL = 32
LONGEST_TITLE = 80
BINARY_PREFIXES = ((2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))
BYTE_UNITS = ("B", "byte", "bytes")
STYLE = {
    "svg.hashsalt": "hipscope",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 11,
    # Names come from files; a dollar sign in one is no formula.
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.edgecolor": "#555555",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.8,
}


@dataclass(frozen=True)
class Mark:
    """A place on the x axis that an inference found, and its name."""

    x: float
    name: str


@dataclass
class Series:
    """One curve: its name in the legend and its points, by row index."""

    name: str
    points: dict[int, float]


def _headline(sweep: dict[str, Any]) -> tuple[dict[int, float], str] | None:
    """The headline's number per row index, and its unit (seconds for a measurement)."""
    name, rows = sweep["headline"], sweep["rows"]
    points: dict[int, float] = {}
    units = set()
    for index, row in enumerate(rows):
        value = next((item for item in row["values"] if item["name"] == name), None)
        if value is not None and value["value"] is not None:
            points[index] = value["value"]
            units.add(value["unit"])
    if not points:
        for index, row in enumerate(rows):
            time = next((item for item in row["measurements"] if item["name"] == name), None)
            if time is not None:
                points[index] = time["median"]
                units.add(time["unit"])
    if len(points) < 2 or len(units) != 1:
        return None
    return points, units.pop()


def _companions(sweep: dict[str, Any], unit: str) -> list[Series]:
    """What is measured of others at the same points: values named "NAME HEADLINE", in its unit."""
    ending = f" {sweep['headline']}"
    series: dict[str, Series] = {}
    for index, row in enumerate(sweep["rows"]):
        for item in row["values"]:
            if item["name"].endswith(ending) and item["unit"] == unit and item["value"] is not None:
                name = item["name"].removesuffix(ending)
                series.setdefault(name, Series(_short(name), {})).points[index] = item["value"]
    return list(series.values())


def _published(sweep: dict[str, Any], unit: str) -> list[Series]:
    """Published figures of the headline in its own unit; times in any unit of time, as seconds."""
    scales = {name: scale for scale, name in markdown.TIME_UNITS} if unit == "s" else {unit: 1.0}
    series: dict[str, Series] = {}
    for index, row in enumerate(sweep["rows"]):
        for item in row["published"]:
            if item["metric"] == sweep["headline"] and item["unit"] in scales:
                one = series.setdefault(item["gpu"], Series(f"{_short(item['gpu'])} (published)", {}))
                one.points[index] = item["value"] * scales[item["unit"]]
    return list(series.values())


def _is_categorical(sweep: dict[str, Any]) -> bool:
    """Whether the rows are things with names (stages, instructions), not points on an axis."""
    if sweep["axis"]["name"] == "stage":  # whatever number its name begins with
        return True
    numbers = sum(bool(re.match(r"\s*[-+.]?\d", row["label"])) for row in sweep["rows"])
    return not sweep["axis"]["unit"] and 2 * numbers < len(sweep["rows"])


def _short(text: str, longest: int = LONGEST_LABEL) -> str:
    line = markdown.plain(text)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _label(name: str, unit: str) -> str:
    line = markdown.plain(name)
    return f"{line} ({markdown.plain(unit)})" if unit not in ("", name) else line


def _tick(value: float) -> str:
    return f"{value:g}" if abs(value) < 1e5 else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")


def binary_number(value: float, unit: str) -> str:
    """A number with a binary prefix, "27.25 MiB"."""
    smallest = 2**10 if unit else 2**14
    if abs(value) >= smallest:
        for scale, prefix in BINARY_PREFIXES:
            if abs(value) >= scale:
                return f"{value / scale:g} {prefix}{unit}"
    return f"{value:g} {unit}".strip()


def _scale_x(axes: Any, axis: dict[str, Any], positions: list[float]) -> None:
    in_bytes = axis["unit"] in BYTE_UNITS
    axes.set_xlabel(_label(axis["name"], "" if in_bytes else axis["unit"]))
    if axis["scale"] == "logarithmic" and min(positions) > 0 and max(positions) > min(positions):
        axes.set_xscale("log", base=2)
        octaves = math.log2(max(positions) / min(positions))
        first, step = math.ceil(math.log2(min(positions))), math.ceil(octaves / MOST_TICKS) or 1
        exponents = range(first, math.floor(math.log2(max(positions))) + 1, step)
        axes.xaxis.set_major_locator(ticker.FixedLocator([2.0**exponent for exponent in exponents]))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
        axes.xaxis.set_major_formatter(lambda value, _: binary_number(value, "B" if in_bytes else ""))
    elif in_bytes:
        axes.xaxis.set_major_formatter(lambda value, _: binary_number(value, "B"))


def _wants_decades(sweep: dict[str, Any], values: list[float]) -> bool:
    """Whether the values of a sweep of logarithmic scale span enough for a logarithmic axis."""
    low, high = min(values), max(values)
    return sweep["axis"]["scale"] == "logarithmic" and low > 0 and high / low >= SMALLEST_LOGARITHMIC_RANGE


def _scale_y(axes: Any, sweep: dict[str, Any], values: list[float]) -> None:
    low, high = min(values), max(values)
    if _wants_decades(sweep, values):
        axes.set_yscale("log")
        subdivisions = (1, 2, 5) if high / low < 1e3 else (1,)
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=subdivisions))
        axes.yaxis.set_minor_locator(ticker.NullLocator())
        axes.yaxis.set_major_formatter(lambda value, _: _tick(value))
    elif low >= 0:
        axes.set_ylim(0, high * 1.08 if high > 0 else 1)


def _curve(sweep: dict[str, Any], series: Series) -> list[tuple[float, float]]:
    """The points that a line joins: of rows with one x the first, which the others vary.

    None at all when most rows share their x, since their order then says nothing.
    """
    first: dict[float, float] = {}
    for index, y in series.points.items():
        first.setdefault(sweep["rows"][index]["x"], y)
    return sorted(first.items()) if 2 * len(first) > len(series.points) else []


def _draw_curves(axes: Any, sweep: dict[str, Any], series: list[Series], y_label: str) -> None:
    rows = sweep["rows"]
    drawn_x: list[float] = []
    drawn_y: list[float] = []
    for number, one in enumerate(series):
        points = sorted((rows[index]["x"], y) for index, y in one.points.items())
        xs, ys = [x for x, _ in points], [y for _, y in points]
        style = {"color": COLOURS[number % len(COLOURS)], "zorder": 3 - 0.1 * number}
        curve = _curve(sweep, one)
        marker_size = 5 if len(xs) <= 60 else 2.5
        axes.plot(xs, ys, linestyle="-" if curve == points else "", marker=MARKERS[number % len(MARKERS)],
                  markersize=marker_size, linewidth=LINE_WIDTH, label=one.name, **style)
        if curve and curve != points:
            axes.plot(*zip(*curve), linewidth=LINE_WIDTH, **style)
            for index, y in one.points.items():
                if (rows[index]["x"], y) not in curve:
                    axes.annotate(_short(rows[index]["label"]), (rows[index]["x"], y), (-6, 0),
                                  textcoords="offset points", ha="right", va="center", fontsize=9)
        drawn_x += xs
        drawn_y += ys
    _scale_x(axes, sweep["axis"], drawn_x)
    _scale_y(axes, sweep, drawn_y)
    axes.set_ylabel(y_label)
    axes.grid(True)


def _draw_marks(axes: Any, marks: list[Mark]) -> None:
    for mark in marks:
        line = axes.axvline(mark.x, color="#777777", linewidth=1, linestyle="--", zorder=1)
        line.set_gid(f"inferred-{mark.x:.0f}")
        axes.annotate(_short(mark.name), (mark.x, 0), (3, 4), xycoords=("data", "axes fraction"),
                      textcoords="offset points", rotation=90, ha="left", va="bottom", fontsize=9,
                      color="#555555")


def _draw_bars(axes: Any, sweep: dict[str, Any], series: list[Series], x_label: str) -> None:
    """One bar per row, the first row on top, so that long names can be read."""
    rows = sweep["rows"]
    height = 0.8 / len(series)
    for number, one in enumerate(series):
        places = [index + number * height for index in one.points]
        bars = axes.barh(places, list(one.points.values()), height, label=one.name,
                         color=COLOURS[number % len(COLOURS)])
        texts = [markdown.number(value) for value in one.points.values()]
        axes.bar_label(bars, texts, padding=3, fontsize=9)
    if _wants_decades(sweep, [value for one in series for value in one.points.values()]):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: _tick(value))
    middle = height * (len(series) - 1) / 2
    axes.set_yticks([index + middle for index in range(len(rows))], [_short(row["label"]) for row in rows])
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel(x_label)
    axes.grid(True, axis="x")


def to_svg(figure: Any) -> bytes:
    """The figure, which is closed, as SVG; within STYLE the same figure gives the same bytes."""
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": "hipscope"})
    pyplot.close(figure)
    return stream.getvalue()


def plot_sweep(sweep: dict[str, Any], device: str, marks: list[Mark]) -> bytes | None:
    """The plot as SVG, or None when there is no curve: fewer than two points, or mixed units.

    Of `marks` a curve shows those within its range.
    """
    found = _headline(sweep)
    if found is None:
        return None
    points, unit = found
    bars = _is_categorical(sweep) and len(sweep["rows"]) <= BARS_AT_MOST
    others = _published(sweep, unit) + ([] if bars else _companions(sweep, unit))
    if sweep["axis"]["scale"] == "logarithmic" and min(points.values()) > 0:
        # A figure that was published as 0, rounded, has no place on a logarithmic axis.
        for one in others:
            one.points = {index: y for index, y in one.points.items() if y > 0}
    series = [Series(_short(device), points), *(one for one in others if one.points)]
    if unit == "s":
        scale, unit = markdown.time_unit([y for one in series for y in one.points.values()])
        series = [Series(one.name, {i: y / scale for i, y in one.points.items()}) for one in series]
    label = _label(sweep["headline"], unit)
    size = FIGURE_INCHES
    if bars:
        size = (FIGURE_INCHES[0], 1.4 + 0.36 * len(sweep["rows"]) * max(1, 0.7 * len(series)))
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=size, layout="constrained")
        (_draw_bars if bars else _draw_curves)(axes, sweep, series, label)
        if not bars:
            xs = [sweep["rows"][index]["x"] for index in points]
            _draw_marks(axes, [mark for mark in marks if min(xs) <= mark.x <= max(xs)])
        axes.set_title(_short(sweep["title"] or sweep["name"], LONGEST_TITLE), fontsize=12, loc="left")
        if len(series) > 1:
            axes.legend(frameon=True, framealpha=0.9, edgecolor="none", fontsize=10)
        return to_svg(figure)
