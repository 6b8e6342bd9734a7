"""hipscope.prom, for the textfile collector of Prometheus' node exporter."""

from __future__ import annotations

import calendar
import math
import time

from hipscope.results.text_metrics import group, line

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


def make(fleet: Fleet) -> str:
    """The file's text."""
    made = calendar.timegm(time.strptime(fleet.made, "%Y-%m-%dT%H:%M:%SZ"))
    told = [
        (card, one) for card in fleet.cards if card.verdict and card.state != "pass" for one in card.verdict.findings
    ]
    groups = {
        "hipscope_fleet_gpus": (line("hipscope_fleet_gpus", fleet.count(state), state=state) for state in STATES),
        "hipscope_fleet_nodes": (
            line("hipscope_fleet_nodes", len(fleet.nodes_that(state)), state=state) for state in STATES
        ),
        "hipscope_fleet_made_seconds": [line("hipscope_fleet_made_seconds", made)],
        "hipscope_node_state": (
            line("hipscope_node_state", STATES.index(node.state), node=node.name) for node in fleet.nodes.values()
        ),
        "hipscope_gpu_state": (
            line(
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
            line("hipscope_gpu_deficit_ratio", one.deficit, node=card.node, gpu=card.slot, metric=one.metric)
            for card, one in told
        ),
        "hipscope_gpu_robust_z": (
            line("hipscope_gpu_robust_z", one.z, node=card.node, gpu=card.slot, metric=one.metric)
            for card, one in told
            if math.isfinite(one.z)
        ),
    }
    return "".join(group(name, HELP[name], lines) for name, lines in groups.items())
