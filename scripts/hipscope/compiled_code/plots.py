"""Plots on compiled code, in the style of the results' plots. The same results give the same bytes."""

from __future__ import annotations

import matplotlib
from hipscope.report.plots import COLOURS, FIGURE_INCHES, MARKERS, STYLE, to_svg
from matplotlib import pyplot, ticker

BESIDE = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0, "frameon": False,
          "fontsize": 10}


def _marks(number: int) -> dict[str, object]:
    # Of more than seven, none has both the marker and the colour of another.
    colour = COLOURS[(number + number // len(MARKERS)) % len(COLOURS)]
    return {"linestyle": "", "marker": MARKERS[number % len(MARKERS)], "color": colour}


def plot_registers(points: dict[str, list[tuple[int, int]]]) -> bytes:
    """Waves per SIMD over VGPRs per thread, a mark per kernel."""
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=FIGURE_INCHES, layout="constrained")
        for number, (target, pairs) in enumerate(points.items()):
            axes.plot([x for x, _ in pairs], [y for _, y in pairs], label=target, markersize=5, alpha=0.8,
                      **_marks(number))
        axes.set_xlim(left=-1)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(ticker.MaxNLocator(integer=True))
        axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, steps=[1, 2, 4, 8, 10]))
        axes.set_xlabel("VGPRs per thread")
        axes.set_ylabel("waves per SIMD")
        axes.grid(True)
        axes.set_title("Registers and waves", fontsize=12, loc="left")
        axes.legend(**BESIDE)
        return to_svg(figure)
