"""fleet.md: the fleet in words and tables."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from hipscope.results import formats

from .gather import WORDS, Card, Fleet
from .nodes import STATES

# Of more, fleet.json and the page tell; a text of thousands of lines is read by nobody.
MOST_ROWS = 200


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;") or "-"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        lines.append(f"\n{len(rows) - MOST_ROWS} more rows are in fleet.json.")
    return [*lines, ""]


def _of_gpus(cards: Sequence[Card]) -> list[str]:
    rows = [
        [
            card.node,
            str(card.slot),
            card.gpu.identity.uuid or card.gpu.identity.slot if card.gpu else "",
            card.cause,
            "; ".join(card.sentences[:4]),
        ]
        for card in cards
    ]
    return _table(["Node", "GPU", "UUID", "Cause", "What is seen"], rows)


def _of_metrics(fleet: Fleet) -> list[str]:
    rows = []
    for name in fleet.metric_names:
        found = [card.gpu.metrics[name] for card in fleet.cards if card.gpu and name in card.gpu.metrics]
        values = sorted(metric.value for metric in found)
        rows.append(
            [
                name,
                found[0].unit,
                found[0].better,
                str(len(values)),
                *(formats.significant(value) for value in (values[0], statistics.median(values), values[-1])),
            ]
        )
    return _table(["Metric", "Unit", "Better", "GPUs", "Smallest", "Median", "Largest"], rows)


def make(fleet: Fleet) -> str:
    """The page's text."""
    lines = ["# Fleet", "", f"Made {fleet.made} by `scripts/fleet.py report`.", ""]
    lines += _table(
        ["", *STATES],
        [
            ["GPUs", *(str(fleet.count(state)) for state in STATES)],
            ["Nodes", *(str(len(fleet.nodes_that(state))) for state in STATES)],
        ],
    )
    for state, of_nodes, cards in fleet.bad():
        if of_nodes:
            lines += [f"## {WORDS[state]}", ""]
            lines += _table(["Node", "Why"], [[node.name, "; ".join(node.reasons[:8])] for node in of_nodes])
        if cards:
            lines += _of_gpus(cards)
    drifting = [[card.node, str(card.slot), settings] for card, settings in fleet.drifting()]
    if drifting:
        lines += ["## Settings of a minority", ""]
        lines += _table(["Node", "GPU", "Setting"], drifting)
    if fleet.notes:
        lines += ["## Notes", "", *(f"- {_cell(note)}" for note in fleet.notes[:MOST_ROWS]), ""]
    lines += ["## Cohorts", ""]
    lines += _table(["Cohort", "GPUs"], [[name, str(count)] for name, count in fleet.cohorts.items()])
    lines += ["## Metrics", "", *_of_metrics(fleet)]
    return "\n".join(lines)
