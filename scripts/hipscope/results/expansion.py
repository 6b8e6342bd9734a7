"""What a result file leaves out: defaults, the units and checks that a sweep names once. Times become seconds."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

NANOSECONDS_PER_SECOND = 1e9
# What has a unit is measured, and nothing measured is beyond these: a bandwidth of 10^30 GB/s is none.
LARGEST, SMALLEST = 1e18, 1e-30


class Inconsistent(ValueError):
    """What a schema cannot say, and is wrong."""


def _measurement(name: str, written: Json) -> Json:
    """A measurement with all its members, in seconds."""
    samples = written["samples"]
    clocks = written.get("shader_mhz")
    clocks = clocks if isinstance(clocks, list) else [clocks] * len(samples)
    throttled = written.get("throttled", [])
    if len(clocks) != len(samples) or any(index >= len(samples) for index in throttled):
        raise Inconsistent(f"{name!r} has clocks of other samples than it has")
    return {
        "name": name,
        "method": written.get("method", "device events"),
        "unit": "s",
        "batch": written.get("batch", 1),
        "stop": written.get("stop", "quiet"),
        "median": written["median"] / NANOSECONDS_PER_SECOND,
        "relative_spread": written["relative_spread"],
        "samples": [sample / NANOSECONDS_PER_SECOND for sample in samples],
        "shader_mhz": clocks,
        "throttled": throttled,
    }


def _value(name: str, written: Any, units: dict[str, str]) -> Json:
    """A value with its unit."""
    if isinstance(written, list):
        value, unit = written
    elif name in units:
        value, unit = written, units[name]
    else:
        raise Inconsistent(f"{name!r} has no unit")
    return {"name": name, "value": value, "unit": unit}


def _check(written: list[int], names: list[str]) -> Json:
    """A check with what it looked at."""
    place, checked, wrong = written
    if place >= len(names):
        raise Inconsistent(f"check {place} has no name")
    return {"what": names[place], "checked": checked, "wrong": wrong}


def _row(row: Json, sweep: Json) -> Json:
    values = row.get("values", {})
    if isinstance(values, list):
        if len(values) != len(sweep["units"]):
            raise Inconsistent(f"row {row['label']!r} has not as many values as the sweep has units")
        values = dict(zip(sweep["units"], values))
    return {
        "label": row["label"],
        "x": row["x"],
        "measurements": [_measurement(name, one) for name, one in row.get("measurements", {}).items()],
        "values": [_value(name, one, sweep["units"]) for name, one in values.items()],
        "checks": [_check(one, sweep["checks"]) for one in row.get("checks", [])],
        "published": row.get("published", []),
    }


def expanded(data: Json) -> Json:
    """A valid result with all that the file leaves out, times in seconds, and each value with its unit.

    Raises Inconsistent.
    """
    sweeps = [
        {
            **{key: item for key, item in sweep.items() if key not in ("units", "checks")},
            "rows": [_row(row, sweep) for row in sweep["rows"]],
        }
        for sweep in data["sweeps"]
    ]
    for row in (row for sweep in sweeps for row in sweep["rows"]):
        for one in row["measurements"]:
            clocks = [clock for clock in one["shader_mhz"] if clock]
            if not max(*one["samples"], abs(one["relative_spread"]), abs(one["median"]), *map(abs, clocks)) <= LARGEST:
                raise Inconsistent(f"{row['label']}: {one['name']} is of times or clocks that nothing has")
        for value in row["values"]:
            if value["unit"] and value["value"] and not SMALLEST <= abs(value["value"]) <= LARGEST:
                raise Inconsistent(f"{row['label']}: {value['name']} is {value['value']} {value['unit']}")
    return {**data, "sweeps": sweeps}
