"""fleet.md: the fleet in words and tables."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from hipscope.results import formats

from .gather import Fleet
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


def _of_metrics(fleet: Fleet) -> list[str]:
    rows = []
    for name in fleet.metric_names:
        found, first = fleet.column(name)
        values = sorted(metric.value for metric in found if metric)
        rows.append(
            [
                name,
                first.unit,
                first.better,
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
    for title, header, rows in fleet.first_tables():
        if rows:
            lines += [f"## {title}", ""] if title else []
            lines += _table([name[:1].upper() + name[1:] for name in header], rows)
    if fleet.notes:
        lines += ["## Notes", "", *(f"- {_cell(note)}" for note in fleet.notes[:MOST_ROWS]), ""]
    lines += ["## Cohorts", ""]
    lines += _table(["Cohort", "GPUs"], [[name, str(count)] for name, count in fleet.cohorts.items()])
    lines += ["## Metrics", "", *_of_metrics(fleet)]
    return "\n".join(lines)
