"""fleet.html: one page that needs nothing beside it, with every GPU as a dot in a strip per metric.

The data is in the page once, as columns of numbers; the script draws the strips that are in view.
"""

from __future__ import annotations

import array
import base64
import json
import math
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hipscope.html import charts, html_text
from hipscope.html.html_text import table, text

from . import layout
from .curves import Axis
from .gather import Card, Fleet
from .verdicts import FAIL, PASS, STATES, SUSPECT

FOLDER = Path(__file__).resolve().parent
MOST_ROWS = 500
# More curves than this become a band, with only this many drawn besides, first those of GPUs that do not pass.
MOST_CURVES = 120
BANDS = (0.01, 0.25, 0.5, 0.75, 0.99)

# The values of curves over one axis, each with the number of its GPU.
Found = list[tuple[int, "array.array[float]"]]


def _packed(kind: str, values: Iterable[float]) -> str:
    """Numbers as the script reads them: little-endian, in base64."""
    packed = array.array(kind, values)
    if sys.byteorder == "big":
        packed.byteswap()
    return base64.b64encode(packed.tobytes()).decode("ascii")


def _quantiles(found: Found, length: int) -> list[str]:
    """The bands of many curves, one column per quantile."""
    bands: list[list[float]] = [[] for _ in BANDS]
    for index in range(length):
        values = sorted(value for _, curve in found if not math.isnan(value := curve[index]))
        for band, part in zip(bands, BANDS):
            band.append(values[round(part * (len(values) - 1))] if values else math.nan)
    return [_packed("f", band) for band in bands]


def _chosen(found: Found, cards: Sequence[Card]) -> Found:
    """Those of many curves that are drawn one by one."""
    if len(found) <= MOST_CURVES:
        return found
    bad = [one for one in found if cards[one[0]].state in (FAIL, SUSPECT)][: MOST_CURVES // 2]
    good = [one for one in found if cards[one[0]].state not in (FAIL, SUSPECT)]
    return [*good[:: max(1, len(good) // (MOST_CURVES - len(bad)))], *bad]


def _curves(fleet: Fleet) -> list[dict[str, Any]]:
    by_axis: dict[Axis, Found] = {}
    for number, card in enumerate(fleet.cards):
        for curve in card.curves:
            by_axis.setdefault(curve.axis, []).append((number, curve.values))
    return [
        {
            "name": axis.name,
            "unit": axis.unit,
            "x": axis.x_name,
            "xUnit": axis.x_unit,
            "log": axis.logarithmic,
            "count": len(found),
            "xs": axis.xs,
            "bands": _quantiles(found, len(axis.xs)) if len(found) > MOST_CURVES else [],
            "lines": [[number, _packed("f", values)] for number, values in _chosen(found, fleet.cards)],
        }
        for axis, found in by_axis.items()
    ]


def _data(fleet: Fleet, curves: Sequence[dict[str, Any]]) -> str:
    """Everything that the script draws, in columns."""
    nodes = {name: number for number, name in enumerate(fleet.nodes)}
    groups = {name: number for number, name in enumerate(fleet.cohorts)}
    data = {
        "states": STATES,
        "nodes": list(nodes),
        "node": _packed("I", (nodes[card.node] for card in fleet.cards)),
        "slot": _packed("H", (card.slot for card in fleet.cards)),
        "state": _packed("B", (STATES.index(card.state) for card in fleet.cards)),
        "cohort": _packed("H", (groups.get(card.verdict.cohort, 0) for card in fleet.cards)),
        "uuid": [card.uuid for card in fleet.cards],
        "pci": [card.gpu.identity.slot if card.gpu else "" for card in fleet.cards],
        "cause": {str(number): one.verdict.cause for number, one in enumerate(fleet.cards) if one.verdict.cause},
        "metrics": [
            {
                "name": name,
                "unit": first.unit,
                "values": _packed("f", (metric.value if metric else math.nan for metric in found)),
            }
            for name, first, found in fleet.columns()
        ],
        "curves": curves,
    }
    # What would end the element, whatever a node's file holds.
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _counts(fleet: Fleet) -> str:
    boxes = []
    for state in STATES:
        gpus, names = fleet.count(state), len(fleet.nodes_that(state))
        if gpus or names or state in (PASS, FAIL):
            boxes.append(
                f'<div class="{state}"><dt>{state}<dd><b>{gpus}</b> GPUs, {layout.counted(names, "node")}</div>'
            )
    return f"<dl class=counts>{''.join(boxes)}</dl>"


def _bad(fleet: Fleet) -> str:
    parts = []
    for title, header, rows in fleet.first_tables():
        if rows:
            heading = f"<h2>{title}</h2>" if title else ""
            left = len(rows) - MOST_ROWS
            more = f"<p class=note>{left} more rows are in fleet.json.</p>" if left > 0 else ""
            parts.append(heading + table(header, [[text(cell) for cell in row] for row in rows[:MOST_ROWS]]) + more)
    if fleet.notes:
        parts.append("<h2>Notes</h2><ul>" + "".join(f"<li>{text(note)}" for note in fleet.notes[:MOST_ROWS]) + "</ul>")
    return "\n".join(parts)


def _figure(kind: str, number: int, name: str, said: str) -> str:
    """The place of a strip or of curves, with what it shows in words."""
    return (
        f"<figure class={kind}><figcaption><b>{text(name)}</b> <small>{text(said)}</small></figcaption>"
        f'<div class=drawn data-{kind}={number} data-said="{text(f"{name}: {said}")}"></div></figure>'
    )


def _strips(fleet: Fleet) -> str:
    parts = []
    for number, (name, first, found) in enumerate(fleet.columns()):
        values = [metric.value for metric in found if metric]
        said = f"{len(values)} GPUs, median {statistics.median(values):.5g} {first.unit}, {first.better} is better"
        parts.append(_figure("metric", number, name, said))
    return "".join(parts)


def _plots(curves: Sequence[dict[str, Any]]) -> str:
    parts = []
    for number, one in enumerate(curves):
        lines = (
            f", {len(one['lines'])} of them as lines, all in bands of 1 to 99 and 25 to 75 %" if one["bands"] else ""
        )
        parts.append(_figure("curves", number, one["name"], f"{one['count']} GPUs, over {one['x']}{lines}"))
    return "".join(parts)


def make(fleet: Fleet) -> str:
    style = (FOLDER / "fleet.css").read_text(encoding="utf-8")
    script = charts.chart_js() + (FOLDER / "fleet.js").read_text(encoding="utf-8")
    curves = _curves(fleet)
    options = "".join(
        f"<option value={number}>{text(name)} ({count})" for number, (name, count) in enumerate(fleet.cohorts.items())
    )
    gpus, nodes = layout.counted(len(fleet.cards), "GPU"), layout.counted(len(fleet.nodes), "node")
    return f"""{html_text.head(f"fleet of {gpus}", style, script)}
<header><p class=brand>hipscope</p><h1>Fleet of {gpus} in {nodes}</h1>
<p class=note>made {text(fleet.made)}</p></header>
<main>
{_counts(fleet)}
{_bad(fleet)}
<h2>Every GPU</h2>
<form class=choice><label>Cohort <select id=cohort><option value=-1>all ({len(fleet.cards)}){options}</select></label>
<label>Node <input id=search type=search placeholder="part of a name" autocomplete=off></label>
<span class=note>A dot is a GPU. Point at one for its node and slot; a click keeps it marked everywhere.</span></form>
{_strips(fleet)}
<h2>Curves</h2>
<p class=note><label><input id=relative type=checkbox> as difference from the median</label></p>
{_plots(curves)}
</main>
<div id=tip role=status hidden></div>
<script type="application/json" id=data>{_data(fleet, curves)}</script>
<script>{script}</script>
</body>
</html>
"""
