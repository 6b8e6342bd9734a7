"""The curves of a GPU that the fleet's page lays over those of the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hipscope_report import versions

from .layout import ALONE, TOGETHER
from .metrics import SOAK_EXPERIMENT


@dataclass(frozen=True)
class Axis:
    """What a curve is of: GPUs whose curves have equal axes are comparable."""

    name: str
    unit: str
    x_name: str
    x_unit: str
    logarithmic: bool
    xs: tuple[float, ...]


@dataclass(frozen=True)
class Curve:
    """The values over an axis; None where there is none."""

    axis: Axis
    values: tuple[float | None, ...]


# Experiment and sweep, with the value that is drawn.
SOURCES = {
    "memory_latency": (("footprint", "latency"), ("units", "latency")),
    "memory_bandwidth": (("footprint-read", "bandwidth"),),
    "host_copies": (("to-device", "pinned"), ("to-host", "pinned")),
}
# A soak's curves have a point every few seconds.
MOST_POINTS = 600


def _wanted(data: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    if data["experiment"] == SOAK_EXPERIMENT:
        for sweep in data["sweeps"]:
            if sweep["axis"]["unit"] == "s":
                for unit_of in _names(sweep):
                    yield sweep, unit_of
        return
    for sweep_name, value in SOURCES.get(data["experiment"], ()):
        yield from ((sweep, value) for sweep in data["sweeps"] if sweep["name"] == sweep_name)


def _names(sweep: dict[str, Any]) -> list[str]:
    """What a row of the sweep has."""
    rows = versions.expanded({"schema_version": 2, "sweeps": [{**sweep, "rows": sweep["rows"][:1]}]})
    return [value["name"] for value in rows["sweeps"][0]["rows"][0]["values"]]


def curves_of(data: dict[str, Any]) -> Iterator[Curve]:
    """The curves of one result."""
    for sweep, name in _wanted(data):
        rows = versions.expanded({**data, "sweeps": [sweep]})["sweeps"][0]["rows"][:MOST_POINTS]
        points = [(row["x"], value["value"], value["unit"]) for row in rows for value in row["values"]
                  if value["name"] == name]
        if len(points) > 1:
            axis = sweep["axis"]
            yield Curve(Axis(f"{data['experiment']}, {sweep['name']}: {name}", points[0][2], axis["name"], axis["unit"],
                             axis["scale"] == "logarithmic", tuple(point[0] for point in points)),
                        tuple(point[1] for point in points))


def collect(folder: Path) -> list[Curve]:
    """The curves of the GPU whose results lie in a folder, measured with the node's others at work if they were so."""
    found = []
    for experiment in (*SOURCES, SOAK_EXPERIMENT):
        path = folder / TOGETHER / f"{experiment}.json"
        if not path.exists():
            path = folder / ALONE / f"{experiment}.json"
        if path.exists():
            found += list(curves_of(json.loads(path.read_text(encoding="utf-8"))))
    return found
