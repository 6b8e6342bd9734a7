"""hipscope.prom, for the textfile collector of Prometheus' node exporter."""

from __future__ import annotations

import calendar
import math
import time
from collections.abc import Iterable

from .gather import Fleet
from .nodes import STATES

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


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _line(name: str, value: float, **labels: str | int) -> str:
    inside = ",".join(f'{label}="{_escaped(str(said))}"' for label, said in labels.items())
    return f"{name}{{{inside}}} {value:g}" if inside else f"{name} {value:.0f}"


def _group(name: str, lines: Iterable[str]) -> Iterable[str]:
    yield f"# HELP {name} {HELP[name]}"
    yield f"# TYPE {name} gauge"
    yield from lines


def make(fleet: Fleet) -> str:
    """The file's text."""
    made = calendar.timegm(time.strptime(fleet.made, "%Y-%m-%dT%H:%M:%SZ"))
    told = [
        (card, one) for card in fleet.cards if card.verdict and card.state != "pass" for one in card.verdict.findings
    ]
    groups = {
        "hipscope_fleet_gpus": (_line("hipscope_fleet_gpus", fleet.count(state), state=state) for state in STATES),
        "hipscope_fleet_nodes": (
            _line("hipscope_fleet_nodes", len(fleet.nodes_that(state)), state=state) for state in STATES
        ),
        "hipscope_fleet_made_seconds": [_line("hipscope_fleet_made_seconds", made)],
        "hipscope_node_state": (
            _line("hipscope_node_state", STATES.index(node.state), node=node.name) for node in fleet.nodes.values()
        ),
        "hipscope_gpu_state": (
            _line(
                "hipscope_gpu_state",
                STATES.index(card.state),
                node=card.node,
                gpu=card.slot,
                uuid=card.uuid,
                model=card.gpu.identity.model if card.gpu else "",
            )
            for card in fleet.cards
        ),
        "hipscope_gpu_deficit_ratio": (
            _line("hipscope_gpu_deficit_ratio", one.deficit, node=card.node, gpu=card.slot, metric=one.metric)
            for card, one in told
        ),
        "hipscope_gpu_robust_z": (
            _line("hipscope_gpu_robust_z", one.z, node=card.node, gpu=card.slot, metric=one.metric)
            for card, one in told
            if math.isfinite(one.z)
        ),
    }
    return "\n".join(line for name, lines in groups.items() for line in _group(name, lines)) + "\n"
