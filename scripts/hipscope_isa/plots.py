"""Plots on compiled code, in the style of the results' plots. The same results give the same bytes."""

from __future__ import annotations

import matplotlib
from hipscope_report import formats
from hipscope_report.plots import COLOURS, FIGURE_INCHES, MARKERS, STYLE, to_svg
from matplotlib import pyplot, ticker

# More rows than this cannot be read; the table has them all.
MOST_ROWS = 40
LONGEST_NAME = 40
ROW_INCHES = 0.36
# Targets with the same value lie beside each other, within this part of a row.
SPREAD = 0.5
BESIDE = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0, "frameon": False,
          "fontsize": 10}


def _name(text: str) -> str:
    line = formats.plain(text)
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"


def _marks(number: int) -> dict[str, object]:
    # Of more than seven, none has both the marker and the colour of another.
    colour = COLOURS[(number + number // len(MARKERS)) % len(COLOURS)]
    return {"linestyle": "", "marker": MARKERS[number % len(MARKERS)], "color": colour}


def plot_shares(title: str, shares: dict[str, dict[str, float]], targets: list[str]) -> bytes:
    """The FMA share of each kernel's hot loop, a mark per target."""
    names = list(shares)[:MOST_ROWS]
    with matplotlib.rc_context(STYLE):
        height = 1.6 + ROW_INCHES * max(len(names), 2)
        figure, axes = pyplot.subplots(figsize=(FIGURE_INCHES[0], height), layout="constrained")
        for number, target in enumerate(targets):
            offset = SPREAD * (number / max(len(targets) - 1, 1) - 0.5)
            found = [(100 * shares[name][target], place) for place, name in enumerate(names)
                     if target in shares[name]]
            axes.plot([x for x, _ in found], [place + offset for _, place in found], label=target,
                      markersize=5, **_marks(number))
        axes.set_yticks(range(len(names)), [_name(name) for name in names])
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(0, 102)
        axes.xaxis.set_major_formatter(ticker.PercentFormatter(decimals=0))
        axes.set_xlabel("FMAs of all instructions in the hot loop")
        axes.grid(True, axis="x")
        of_all = f" (the first {len(names)} of {len(shares)} kernels)" if len(names) < len(shares) else ""
        axes.set_title(title + of_all, fontsize=12, loc="left")
        axes.legend(**BESIDE)
        return to_svg(figure)


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
