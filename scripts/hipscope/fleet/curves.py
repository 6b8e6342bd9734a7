"""The curves of a GPU that the fleet's page lays over those of the others."""

from __future__ import annotations

import array
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .metrics import SOAK_EXPERIMENT, Results


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
    """The values over an axis; NaN where there is none."""

    axis: Axis
    values: array.array[float]


# Experiment and sweep, with the value that is drawn.
SOURCES = {
    "memory_latency": (("footprint", "latency"), ("units", "latency")),
    "memory_bandwidth": (("footprint-read", "bandwidth"),),
    "host_copies": (("to-device", "pinned"), ("to-host", "pinned")),
}
# Curves over time have points where each GPU's steps happened to end; they are laid over each other at the
# multiples of one of these, in seconds, of no more than so many.
TIME_STEPS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
MOST_POINTS = 600
MOST_TIMES = 200


def _wanted(data: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    if data["experiment"] == SOAK_EXPERIMENT:
        for sweep in data["sweeps"]:
            if sweep["axis"]["unit"] == "s":
                yield from ((sweep, value["name"]) for value in sweep["rows"][0]["values"])
        return
    for sweep_name, value in SOURCES.get(data["experiment"], ()):
        yield from ((sweep, value) for sweep in data["sweeps"] if sweep["name"] == sweep_name)


def _at_equal_times(points: list[tuple[float, float | None, str]]) -> list[tuple[float, float | None, str]]:
    """A curve over time at the multiples of a step, between its points by straight lines."""
    known = sorted((x, value) for x, value, _ in points if value is not None)
    if len(known) < 2 or known[-1][0] <= 0:
        return points
    end, unit = known[-1][0], points[0][2]
    step = next((each for each in TIME_STEPS_S if end / each < MOST_TIMES + 0.5), end / MOST_TIMES)
    found: list[tuple[float, float | None, str]] = []
    place = 1
    for number in range(1, round(end / step) + 1):
        x = number * step
        while place < len(known) - 1 and known[place][0] < x:
            place += 1
        (before, low), (after, high) = known[place - 1], known[place]
        part = min(1.0, max(0.0, (x - before) / (after - before))) if after > before else 1.0
        found.append((round(x, 6), low + part * (high - low), unit))
    return found


def curves_of(data: dict[str, Any]) -> Iterator[Curve]:
    for sweep, name in _wanted(data):
        points = [
            (row["x"], value["value"], value["unit"])
            for row in sweep["rows"][:MOST_POINTS]
            for value in row["values"]
            if value["name"] == name
        ]
        if sweep["axis"]["unit"] == "s":
            points = _at_equal_times(points)
        if len(points) > 1:
            axis = sweep["axis"]
            yield Curve(
                Axis(
                    f"{data['experiment']}, {sweep['name']}: {name}",
                    points[0][2],
                    axis["name"],
                    axis["unit"],
                    axis["scale"] == "logarithmic",
                    tuple(point[0] for point in points),
                ),
                array.array("f", [math.nan if value is None else value for _, value, _ in points]),
            )


def collect(results: Results) -> list[Curve]:
    """The curves of a GPU, measured with the node's others at work if they were so."""
    by_name = {data["experiment"]: data for data in (*results.alone, *results.together)}
    return [curve for name in (*SOURCES, SOAK_EXPERIMENT) if name in by_name for curve in curves_of(by_name[name])]
