"""How all pictures look, and a picture as SVG."""

from __future__ import annotations

import io
import re
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot

FIGURE_INCHES = (7.5, 4.2)
# Okabe and Ito's colours, which the colour-blind can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLE = {
    "svg.hashsalt": "hipscope",
    # Texts as such: they can be searched, and take a tenth of what their outlines do.
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 11,
    # So that a curve goes through each of its points, and marks them.
    "path.simplify": False,
    # Names come from files; a dollar sign in one is no formula.
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.edgecolor": "#555555",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.8,
}


def to_svg(figure: Any) -> bytes:
    """The figure, which is closed, as SVG; within STYLE the same figure gives the same bytes."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    pyplot.close(figure)
    return _smaller(stream.getvalue()).encode("utf-8")


def _smaller(svg: str) -> str:
    """The same picture in a quarter of the bytes: tenths of a point, no indentation, no group of a mere text, tick or
    frame, each style once, as a class, and numbers in place of hashes."""
    styles: dict[str, int] = {}
    hashes: dict[str, int] = {}
    groups: list[bool] = []

    def rounded(found: re.Match[str]) -> str:
        text = re.sub(r" ?\b([A-Za-z]) | (?=\"$)", lambda letter: letter[1] or "", " ".join(found[0].split()))
        return re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), text)

    def tag(found: re.Match[str]) -> str:
        text = found[0]
        if text.startswith(("<g ", "<g>")) and not text.endswith("/>"):
            groups.append(re.fullmatch(r'<g(?: id="(?:text|patch|[xy]tick|matplotlib)[^"]*")?>', text) is None)
            if not groups[-1]:
                return ""
        if text == "</g>" and not groups.pop():
            return ""
        text = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", text)
        text = re.sub(r'\b(?:d|x|y|width|height)="[^"]*"|rotate\([^)]*\)', rounded, text)
        return re.sub(r'style="([^"]*)"', lambda style: f'class="s{styles.setdefault(style[1], len(styles))}"', text)

    svg = re.sub(r"<[^>]*>", tag, re.sub(r">\s+<", "><", svg[svg.index("<svg") :]))
    svg = re.sub(r'(?<=["#])[mp][0-9a-f]{10}(?=[")])', lambda name: f"m{hashes.setdefault(name[0], len(hashes))}", svg)
    rules = "".join(f".s{number}{{{style}}}" for style, number in styles.items())
    return svg.replace("</style>", f"{rules}</style>", 1)
