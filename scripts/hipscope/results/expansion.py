"""What a result file leaves out: defaults, and names that a sweep says once for its rows. Times become seconds."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

Json = dict[str, Any]

NANOSECONDS_PER_SECOND = 1e9
# What has a unit is measured, and nothing measured is beyond these: a bandwidth of 10^30 GB/s is none.
LARGEST, SMALLEST = 1e18, 1e-30


class Inconsistent(ValueError):
    """What a schema cannot say, and is wrong."""


def _measurement(name: str, written: list[Any]) -> Json:
    """A measurement with all its members, in seconds."""
    samples, *times, clock = written[:7]
    unusual = written[7] if len(written) > 7 else {}
    throttled = unusual.get("throttled", 0)
    if times != sorted(times) or throttled > samples:
        raise Inconsistent(f"{name!r} has quartiles in another order, or more throttled samples than samples")
    minimum, first_quartile, median, third_quartile, maximum = (one / NANOSECONDS_PER_SECOND for one in times)
    return {
        "name": name,
        "method": unusual.get("method", "device events"),
        "unit": "s",
        "batch": unusual.get("batch", 1),
        "stop": unusual.get("stop", "quiet"),
        "samples": samples,
        "minimum": minimum,
        "first_quartile": first_quartile,
        "median": median,
        "third_quartile": third_quartile,
        "maximum": maximum,
        "relative_spread": (third_quartile - first_quartile) / median if median else 0.0,
        "shader_mhz": clock,
        "throttled": throttled,
    }


def _value(name: str, written: Any, units: dict[str, str]) -> Json:
    value, unit = written if isinstance(written, list) else (written, units[name])
    return {"name": name, "value": value, "unit": unit}


def _check(what: str, written: int | list[int]) -> Json:
    checked, wrong = written if isinstance(written, list) else (written, 0)
    return {"what": what, "checked": checked, "wrong": wrong}


def _named(row: Json, what: str, names: Collection[str]) -> Iterable[tuple[str, Any]]:
    """A row's measurements, values or checks with their names, which are of the sweep's."""
    found = row.get(what, {})
    if len(found) != len(names) if isinstance(found, list) else not found.keys() <= set(names):
        raise Inconsistent(f"the row at {row['x']} has other {what} than the sweep")
    return zip(names, found) if isinstance(found, list) else found.items()


def _row(row: Json, sweep: Json) -> Json:
    return {
        "label": row.get("label", str(row["x"])),
        "x": row["x"],
        "measurements": [
            _measurement(name, one) for name, one in _named(row, "measurements", sweep["measurements"]) if one
        ],
        "values": [_value(*one, sweep["units"]) for one in _named(row, "values", sweep["units"])],
        "checks": [_check(name, one) for name, one in _named(row, "checks", sweep["checks"]) if one is not None],
        "published": row.get("published", []),
    }


def expanded(data: Json) -> Json:
    """A valid result with all that the file leaves out, in seconds, each value with its unit; raises Inconsistent."""
    sweeps = [
        {
            **{key: item for key, item in sweep.items() if key not in ("measurements", "units", "checks")},
            "rows": [_row(row, sweep) for row in sweep["rows"]],
        }
        for sweep in data["sweeps"]
    ]
    for row in (row for sweep in sweeps for row in sweep["rows"]):
        for one in row["measurements"]:
            if not max(one["maximum"], one["relative_spread"], abs(one["shader_mhz"] or 0)) <= LARGEST:
                raise Inconsistent(f"{row['label']}: {one['name']} is of times or clocks that nothing has")
        for value in row["values"]:
            if value["unit"] and value["value"] and not SMALLEST <= abs(value["value"]) <= LARGEST:
                raise Inconsistent(f"{row['label']}: {value['name']} is {value['value']} {value['unit']}")
    return {**data, "sweeps": sweeps}
