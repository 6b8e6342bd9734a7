"""A plot of things with names (stages, functions) as one bar per thing and device, in HTML."""

from __future__ import annotations

import math

from hipscope_report import formats
from hipscope_report.series import wants_decades

from . import html_text
from .lines import Plot, Point

# Of a logarithmic axis the shortest bar is seen, too.
SHORTEST_BAR = 4.0


def _lengths(plot: Plot, is_logarithmic: bool) -> dict[float, float]:
    """The length of each value's bar, in per cent."""
    values = plot.values
    largest = max(values)
    if is_logarithmic:
        low = math.log(min(values))
        span = math.log(largest) - low
        return {value: SHORTEST_BAR + (100 - SHORTEST_BAR) * (math.log(value) - low) / span for value in values}
    return {value: 100 * max(0.0, value / largest) if largest > 0 else 0.0 for value in values}


def draw(plot: Plot) -> str:
    """The bars, row by row in the order of the first device, then what only others have."""
    is_logarithmic = wants_decades(plot.sweep, plot.values)
    lengths = _lengths(plot, is_logarithmic)
    by_row: dict[tuple[str, int], list[tuple[int, Point]]] = {}
    for number, line in enumerate(plot.lines):
        for point in line.points:
            by_row.setdefault((point.label, point.row), []).append((number, point))
    rows = []
    for (label, _), found in by_row.items():
        bars = []
        for number, point in found:
            line = plot.lines[number]
            said = html_text.text(f"{line.name}: {formats.number(point.y)} {plot.unit}".strip())
            kind = " published" if line.source.is_published else ""
            bars.append(f'<div class="bar {line.source.mark}{kind}" title="{said}"><svg aria-hidden=true>'
                        f'<rect width="{lengths[point.y]:.1f}%" height="100%"/></svg>'
                        f"<span>{formats.number(point.y)}</span></div>")
        rows.append(f"<div class=row><div class=name>{html_text.text(label)}</div><div>{''.join(bars)}</div></div>")
    note = "<p class=note>The bars' scale is logarithmic.</p>" if is_logarithmic else ""
    return f"<div class=bars>{''.join(rows)}</div>{note}"
