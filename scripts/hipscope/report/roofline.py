"""The picture of a device's roofline: what arithmetic and memory allow a kernel by its FLOPs per byte, and where
the whole kernels of chapter 8 lie under it."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
from matplotlib import pyplot, ticker

from hipscope.results import figures, formats

from . import plots
from .ceilings import GIGA, GREATEST_INTENSITY, LEAST_INTENSITY, TERA, Ceiling, Kernel, Roofline

FILE_NAME = "roofline.svg"
ALTERNATIVE = "FLOP/s over FLOPs per byte: ceilings and whole kernels"
FIGURE_INCHES = (7.5, 5.6)
# Lines nearer than this hide the names that stand between them.
CLOSE = 1.6


def _with_unit(rate: float, unit: str) -> str:
    return f"{rate / TERA:.4g} T{unit}" if rate >= TERA else f"{rate / GIGA:.4g} G{unit}"


def _draw_arithmetic(axes: Any, ceilings: list[Ceiling], fastest_memory: float) -> None:
    """Lines whose names stand one above the other where they are close together."""
    last = 0.0
    for number, ceiling in enumerate(sorted(ceilings, key=lambda one: one.rate)):
        colour = figures.COLOURS[number % len(figures.COLOURS)]
        begin = max(LEAST_INTENSITY, ceiling.rate / fastest_memory)
        axes.plot([begin, GREATEST_INTENSITY], [ceiling.rate] * 2, color=colour, linewidth=plots.LINE_WIDTH)
        last = max(ceiling.rate, last * 1.28)
        text = f"{formats.short(ceiling.name)} {_with_unit(ceiling.rate, 'FLOP/s')}"
        plots.note(axes, text, (GREATEST_INTENSITY, last), (5, 0), va="center", color=colour, annotation_clip=False)


def _draw_memory(axes: Any, ceilings: list[Ceiling], top: float) -> None:
    """Lines with their names above them, below where another one is close above."""
    (x, y), (further, higher) = axes.transData.transform([(1.0, TERA), (2.0, 2 * TERA)])
    angle = math.degrees(math.atan2(higher - y, further - x))
    above = math.inf
    for ceiling in sorted(ceilings, key=lambda one: -one.rate):
        end = top / ceiling.rate
        axes.plot([LEAST_INTENSITY, end], [ceiling.rate * LEAST_INTENSITY, top], color="#555555", linewidth=1.2)
        offset, alignment = ((10, -3), "top") if above / ceiling.rate < CLOSE else ((3, 3), "bottom")
        text = f"{formats.short(ceiling.name)} {_with_unit(ceiling.rate, 'B/s')}"
        style = {"rotation": angle, "rotation_mode": "anchor", "va": alignment, "color": "#555555"}
        plots.note(axes, text, (LEAST_INTENSITY, ceiling.rate * LEAST_INTENSITY), offset, **style)
        above = ceiling.rate


def _draw_kernels(axes: Any, kernels: list[Kernel]) -> None:
    for number, kernel in enumerate(sorted(kernels, key=lambda one: one.intensity)):
        axes.plot(
            [kernel.intensity],
            [kernel.rate],
            linestyle="",
            marker=figures.MARKERS[number % len(figures.MARKERS)],
            markersize=7,
            color="#000000",
            zorder=5,
        )
        offset = (6, -12 if number % 2 else -24)
        plots.note(axes, formats.short(kernel.name), (kernel.intensity, kernel.rate), offset, zorder=5)


def plot(found: Roofline, device: str) -> bytes | None:
    """The picture as SVG; None unless both arithmetic and memory are known."""
    if not found.arithmetic or not found.memory:
        return None
    top = max(one.rate for one in found.arithmetic)
    rates = [one.rate * LEAST_INTENSITY for one in found.memory] + [one.rate for one in found.kernels]
    with matplotlib.rc_context(figures.STYLE):
        figure, axes = pyplot.subplots(figsize=FIGURE_INCHES, layout="constrained")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlim(LEAST_INTENSITY, GREATEST_INTENSITY)
        axes.set_ylim(10 ** math.floor(math.log10(min(rates))), 2 * top)
        axes.xaxis.set_major_locator(ticker.FixedLocator([2.0**exponent for exponent in range(-4, 14, 2)]))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
        axes.xaxis.set_major_formatter(lambda value, _: f"1/{1 / value:g}" if value < 1 else f"{value:g}")
        axes.yaxis.set_minor_locator(ticker.NullLocator())
        axes.yaxis.set_major_formatter(lambda value, _: _with_unit(value, ""))
        axes.set_xlabel("FLOPs per byte")
        axes.set_ylabel("FLOP/s")
        axes.grid(True)
        _draw_arithmetic(axes, found.arithmetic, max(one.rate for one in found.memory))
        _draw_kernels(axes, found.kernels)
        # The angle of the lines' names is known once the rest has its place.
        figure.canvas.draw()
        figure.set_layout_engine("none")
        _draw_memory(axes, found.memory, top)
        axes.set_title(f"Roofline: {formats.short(device)}", fontsize=12, loc="left")
        return figures.to_svg(figure)
