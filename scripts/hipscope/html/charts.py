"""Figures as charts.js draws them with Chart.js: a place in the page, and their values as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hipscope.report.series import BYTE_UNITS, joined, wants_decades

from . import html_text
from .lines import Plot

Json = dict[str, Any]
FOLDER = Path(__file__).resolve().parent
LIBRARY = "Chart.js 4.6.1 (MIT License)"
# What a chart shows of a number, and no file needs more of it.
DIGITS = 5
CURVES_HEIGHT, AXIS_HEIGHT, BAR_HEIGHT, LEGEND_HEIGHT = 290, 44, 20, 20


def chart_js() -> str:
    """Chart.js, which is in the tree for pages that need no network."""
    return (FOLDER / "chart.js" / "chart.umd.min.js").read_text(encoding="utf-8").partition("//# sourceMappingURL")[0]


def data(name: str, figures: Sequence[Json]) -> str:
    """An experiment's figures as JSON that HTML takes for text, whatever is in it; each name once."""
    names: dict[str, int] = {}
    for one in figures:
        one["lines"] = [
            [mark, kind, names.setdefault(label, len(names)), values] for mark, kind, label, values in one["lines"]
        ]
    value = {"names": list(names), "figures": figures}
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" data-name="{html_text.text(name)}">{text}</script>'


def figure(plot: Plot) -> Json:
    """A plot's rows once, and of each line its mark, its kind, its name and its values, None where it has none."""
    axis = plot.sweep.axis
    points = dict.fromkeys((one.label, one.row, one.x) for line in plot.lines for one in line.points)
    rows = {point: place for place, point in enumerate(points)}
    # Of one device, the names of what is beside it say whose they are.
    alone = len({line.source.mark for line in plot.lines if not line.source.is_published}) == 1
    lines = []
    for line in plot.lines:
        values: list[float | None] = [None] * len(rows)
        for point in line.points:
            values[rows[point.label, point.row, point.x]] = float(f"{point.y:.{DIGITS}g}")
        name = line.companion if alone and line.companion else line.name
        lines.append([line.source.mark, plot.kind(line), name, values])
    xs = [x for _, _, x in rows]
    by_x = {x: row for row, x in reversed(list(enumerate(xs)))}
    octaves = axis.scale == "logarithmic" and 0 < min(xs) < max(xs)
    # The names of several devices' places would cover each other's.
    marks = plot.marks if len({source.number for source, _ in plot.marks}) == 1 else []
    return {
        "unit": plot.unit,
        "bars": plot.is_bars,
        "rows": [label for label, _, _ in rows],
        "x": xs,
        "joined": [by_x[x] for x, _ in joined([(x, 0.0) for x in xs])],
        "across": {"log": 2 if octaves else 0, "unit": "B" if axis.unit in BYTE_UNITS else ""},
        "up": {"log": 10 if wants_decades(plot.sweep, plot.values) else 0},
        "lines": lines,
        "marks": [[source.mark, mark.name, mark.x] for source, mark in marks if min(xs) <= mark.x <= max(xs)],
    }


def place(plot: Plot, of: str, number: int, drawn: Json) -> str:
    """What stands in the page where a figure is drawn: its axes in words, and its place."""
    headline = html_text.heading(plot.sweep.headline, plot.unit)
    axis = plot.sweep.axis
    over = "" if plot.is_bars else f" over {html_text.heading(axis.name, axis.unit)}"
    names = ", ".join(dict.fromkeys(html_text.text(line.name) for line in plot.lines[:8]))
    height = CURVES_HEIGHT
    if plot.is_bars:
        height = AXIS_HEIGHT + BAR_HEIGHT * len(drawn["rows"]) * len({line[0] for line in drawn["lines"]})
    if drawn.get("legend", True) and all(line[1] != "each" for line in drawn["lines"]):
        height += LEGEND_HEIGHT * len(drawn["lines"] + drawn["marks"])
    scale = "<p class=note>The scale is logarithmic.</p>" if plot.is_bars and drawn["up"]["log"] else ""
    return (
        f"<p class=axes><b>{headline}</b>{over}</p>"
        f'<div class=drawn data-of="{html_text.text(of)}" data-number={number} data-height={height} '
        f'data-said="{headline}{over}: {names}. The values stand in the table below."></div>{scale}'
    )
