#!/usr/bin/env python3
"""Makes a fleet's results as `fleet.py run` leaves them, of an H200's own results with a spread over the GPUs.

By hand, to see what a report of many takes: made_fleet.py FOLDER NODES GPUS_PER_NODE
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY / "scripts"))

import synthetic  # noqa: E402

from hipscope.fleet import layout  # noqa: E402
from hipscope.fleet.tiers import SMOKE, Step  # noqa: E402

RESULTS = REPOSITORY / "results" / "nvidia-h200"
SPREAD = 0.003
# Experiments whose times a slow memory makes longer.
OF_MEMORY = ("memory_bandwidth", "memory_latency")


def template(step: Step) -> dict[str, Any]:
    """What a step would have measured on the H200: the sweeps that it asks for."""
    import re

    data = json.loads((RESULTS / f"{step.experiment}.json").read_text(encoding="utf-8"))
    wanted = step.options[step.options.index("--filter") + 1]
    data["sweeps"] = [sweep for sweep in data["sweeps"] if re.search(wanted, sweep["name"])]
    data["inferences"] = []
    for sweep in data["sweeps"]:
        for row in sweep["rows"]:
            row.pop("published", None)
    return data


TEMPLATES = {
    (phase, step.experiment): json.dumps(template(step))
    for phase, steps in ((layout.TOGETHER, SMOKE.together), (layout.ALONE, SMOKE.alone))
    for step in steps
}


def _scale(sweep: dict[str, Any], factor: float) -> None:
    """Makes all times of a sweep longer, and its values worse."""
    for row in sweep["rows"]:
        for one in synthetic.members(row, "measurements"):
            one[1:6] = [round(time * factor, 3) for time in one[1:6]]
        values = row.get("values", {})
        names = list(sweep["units"]) if isinstance(values, list) else list(values)
        for place, name in enumerate(names):
            key = place if isinstance(values, list) else name
            if isinstance(values[key], float) and sweep["units"].get(name):
                is_time = sweep["units"][name] in ("cycles", "ns", "us")
                values[key] = float(f"{values[key] * (factor if is_time else 1 / factor):.6g}")


def result(phase: str, experiment: str, numbers: random.Random, node: str, slot: int, slow: float) -> str:
    """One result of one GPU: `slow` is by what part its memory is slower."""
    data = json.loads(TEMPLATES[phase, experiment])
    for sweep in data["sweeps"]:
        _scale(sweep, numbers.gauss(1, SPREAD) * (1 + slow if experiment in OF_MEMORY else 1))
    data["device"]["index"] = 0
    # What the stored results leave out.
    data["device"].update(uuid=f"GPU-{node}-{slot}", pci_address=f"00000000:{16 * slot + 1:02x}:00.0", host=node)
    return json.dumps(data)


def record(node: str, gpus: int) -> dict[str, Any]:
    """The file of a node that has measured all."""
    runs = [
        {"phase": phase, "experiment": experiment, "status": "good", "exit": 0, "seconds": 1.0, "message": ""}
        for phase, experiment in TEMPLATES
    ]
    return {
        "schema_version": layout.VERSION,
        "node": node,
        "tier": "smoke",
        "only": "",
        "began": "2026-01-01T00:00:00Z",
        "interruptions": 0,
        "status": layout.FINISHED,
        "ended": "2026-01-01T00:00:30Z",
        "message": "",
        "job": "1",
        "backend": "nvidia",
        "gpus": [
            {
                "index": slot,
                "folder": layout.gpu_name(slot),
                "description": "NVIDIA H200",
                "state": "good",
                "message": "",
                "runs": runs,
            }
            for slot in range(gpus)
        ],
    }


def write_gpu(folder: Path, node: str, slot: int, numbers: random.Random, slow: float = 0.0, again: int = 0) -> None:
    """The results of one GPU; with `again` those of one more time, so that it can be confirmed."""
    place = layout.node_folder(folder, node) / layout.gpu_name(slot)
    if again:
        place = place / f"{layout.AGAIN}{again}"
    for phase, experiment in TEMPLATES:
        (place / phase).mkdir(parents=True, exist_ok=True)
        (place / phase / f"{experiment}.json").write_text(result(phase, experiment, numbers, node, slot, slow))


def write_fleet(folder: Path, nodes: int, gpus: int, slow: dict[tuple[str, int], float] | None = None) -> None:
    """A fleet node0001 ... in which the GPUs of `slow` have a memory slower by a part."""
    numbers = random.Random(1)
    for number in range(1, nodes + 1):
        node = f"node{number:04d}"
        for slot in range(gpus):
            write_gpu(folder, node, slot, numbers, (slow or {}).get((node, slot), 0.0))
        layout.write_json(layout.node_folder(folder, node) / layout.NODE_FILE, record(node, gpus))


if __name__ == "__main__":
    count = int(sys.argv[2])
    write_fleet(
        Path(sys.argv[1]),
        count,
        int(sys.argv[3]),
        {("node0001", 1): 0.03, (f"node{count:04d}", 0): 0.05, (f"node{count // 2 + 1:04d}", 2): 0.02},
    )
    Path(sys.argv[1], "nodes.txt").write_text(f"node[0001-{count:04d}]\n")
