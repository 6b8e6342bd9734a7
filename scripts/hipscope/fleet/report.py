"""Writes what is to be known of a fleet: for people, for programs and for the site's own engine."""

from __future__ import annotations

import calendar
import json
import math
import statistics
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hipscope.results import formats, markdown

from . import expected, layout, nodes, page, verdicts
from .gather import Card, Fleet, gather, read_all, read_baseline
from .verdicts import FAIL, PASS, STATES, SUSPECT, UNJUDGED

CONFIRM_LIST = "confirm.txt"
DIGITS = 6


def rounded(value: float) -> float | None:
    """A number with six significant digits."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def as_json(fleet: Fleet) -> dict[str, Any]:
    """What fleet.json holds."""
    gpus = []
    for card in fleet.cards:
        entry: dict[str, Any] = {
            "node": card.node,
            "slot": card.slot,
            "state": card.state,
            "cause": card.verdict.cause,
            "sentences": card.verdict.sentences,
        }
        if card.gpu:
            entry["identity"] = {key: value for key, value in asdict(card.gpu.identity).items() if value != ""}
            entry["cohort"] = card.verdict.cohort
            entry["drift"] = card.verdict.drift
            entry["findings"] = [
                {
                    name: rounded(value) if isinstance(value, float) else value
                    for name, value in asdict(one).items()
                    if name not in ("kind", "group")
                }
                for one in card.verdict.findings
            ]
        gpus.append(entry)
    return {
        "schema_version": layout.VERSION,
        "made": fleet.made,
        "counts": {
            "gpus": {state: fleet.count(state) for state in STATES},
            "nodes": {state: len(fleet.nodes_that(state)) for state in STATES},
        },
        "notes": fleet.notes,
        "cohorts": [{"name": name, "gpus": count} for name, count in fleet.cohorts.items()],
        "nodes": [
            {
                "name": node.name,
                "state": node.state,
                "status": node.status,
                "tier": node.record["tier"] if node.record else None,
                "expected": node.is_expected,
                "reasons": node.reasons,
            }
            for node in fleet.nodes.values()
        ],
        "gpus": gpus,
        "metrics": [
            {
                "name": name,
                "unit": first.unit,
                "kind": first.kind,
                "better": first.better,
                "values": [rounded(metric.value) if metric else None for metric in found],
            }
            for name, first, found in fleet.columns()
        ],
        "baseline": fleet.baseline,
    }


def files_of(fleet: Fleet) -> dict[str, bytes | None]:
    """What every file holds, by its name; None: there is none."""
    files: dict[str, bytes | None] = {}
    for state in STATES:
        names = fleet.nodes_that(state)
        files[f"{state}.txt"] = _lines(names) if names or state != UNJUDGED else None
    again = verdicts.to_measure_again([card.verdict for card in fleet.cards])
    lines = sorted(
        (key.rpartition("/gpu-") for key in again), key=lambda parts: (formats.by_number(parts[0]), int(parts[2]))
    )
    files[CONFIRM_LIST] = _lines(f"{node} {slot}" for node, _, slot in lines)
    files["hipscope.prom"] = as_prometheus(fleet).encode()
    files["fleet.md"] = as_markdown(fleet).encode()
    files["fleet.json"] = (json.dumps(as_json(fleet), separators=(",", ":")) + "\n").encode()
    files["fleet.html"] = page.make(fleet).encode()
    return files


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def report(folder: Path, out: Path, expect: Path | None, baseline: Path | None, jobs: int) -> int:
    """Reads, judges and, at the end, writes all files or none; the exit status. Raises BadInput."""
    normal = read_baseline(baseline)
    wanted = expected.read_expected(expect) if expect else None
    known = nodes.read_nodes(folder, wanted)
    layout.make_folder(out)
    fleet = gather(known, read_all(nodes.places(folder, known), jobs), normal)
    layout.write_files({out / name: content for name, content in files_of(fleet).items()})
    print(_said(fleet, out))
    return 1 if fleet.count(FAIL) or fleet.nodes_that(FAIL) else 0


def _said(fleet: Fleet, out: Path) -> str:
    """The report in a few lines, the nodes that fail by name."""
    counts = Counter(card.state for card in fleet.cards)
    lines = [
        f"{layout.counted(len(fleet.cards), 'GPU')} of {layout.counted(len(fleet.nodes), 'node')}: "
        + ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state] or state in (PASS, FAIL))
    ]
    for state in (FAIL, SUSPECT):
        for name in fleet.nodes_that(state)[:20]:
            lines.append(f"{state}: {name}: {'; '.join(fleet.nodes[name].reasons[:4])}")
        if len(fleet.nodes_that(state)) > 20:
            lines.append(f"{state}: {len(fleet.nodes_that(state)) - 20} more nodes, in {out / f'{state}.txt'}")
    lines.append(f"page: {out / 'fleet.html'}")
    return "\n".join(lines)


# Of more, fleet.json and the page tell; a text of thousands of lines is read by nobody.
MOST_ROWS = 200


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [[markdown.text(cell) or "-" for cell in row] for row in rows[:MOST_ROWS]]
    more = [f"\n{len(rows) - MOST_ROWS} more rows are in fleet.json."] if len(rows) > MOST_ROWS else []
    return [markdown.text_table(header, cells), *more, ""]


def _of_metrics(fleet: Fleet) -> list[str]:
    rows = []
    for name, first, found in fleet.columns():
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


def as_markdown(fleet: Fleet) -> str:
    """fleet.md: the fleet in words and tables."""
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
        lines += ["## Notes", "", markdown.bullets(fleet.notes[:MOST_ROWS]), ""]
    lines += ["## Cohorts", ""]
    lines += _table(["Cohort", "GPUs"], [[name, str(count)] for name, count in fleet.cohorts.items()])
    lines += ["## Metrics", "", *_of_metrics(fleet)]
    return "\n".join(lines)


# Values are told of GPUs that do not pass only: those of all would be hundreds of thousands of series.
HELP = {
    "hipscope_fleet_gpus": "GPUs of the fleet, by state",
    "hipscope_fleet_nodes": "nodes of the fleet, by state",
    "hipscope_fleet_made_seconds": "when the report was made, in seconds since 1970",
    "hipscope_gpu_state": "state of a GPU: 0 pass, 1 unjudged, 2 suspect, 3 fail",
    "hipscope_node_state": "state of a node: 0 pass, 1 unjudged, 2 suspect, 3 fail",
    "hipscope_gpu_deficit_ratio": "by what part a metric is worse than its cohort's median, of GPUs that do not pass",
    "hipscope_gpu_robust_z": "the same in standard deviations",
}


def as_prometheus(fleet: Fleet) -> str:
    """hipscope.prom, for the textfile collector of Prometheus' node exporter."""
    made = calendar.timegm(time.strptime(fleet.made, "%Y-%m-%dT%H:%M:%SZ"))
    told = [(card, one) for card in fleet.cards if card.state != PASS for one in card.verdict.findings]
    models = [card.gpu.identity.model if card.gpu else "" for card in fleet.cards]
    samples: dict[str, list[tuple[float, Mapping[str, object]]]] = {
        "hipscope_fleet_gpus": [(fleet.count(state), {"state": state}) for state in STATES],
        "hipscope_fleet_nodes": [(len(fleet.nodes_that(state)), {"state": state}) for state in STATES],
        "hipscope_fleet_made_seconds": [(made, {})],
        "hipscope_node_state": [(STATES.index(node.state), {"node": node.name}) for node in fleet.nodes.values()],
        "hipscope_gpu_state": [
            (STATES.index(card.state), {**_place(card), "uuid": card.uuid, "model": model})
            for card, model in zip(fleet.cards, models)
        ],
        "hipscope_gpu_deficit_ratio": [(one.deficit, {**_place(card), "metric": one.metric}) for card, one in told],
        "hipscope_gpu_robust_z": [
            (one.z, {**_place(card), "metric": one.metric}) for card, one in told if math.isfinite(one.z)
        ],
    }
    return "".join(formats.gauge(name, HELP[name], found) for name, found in samples.items())


def _place(card: Card) -> dict[str, object]:
    return {"node": card.node, "gpu": card.slot}
