"""Whether two sides were measured on different cards of one model.

A result names its card by a UUID. One that does not may be told by where its CUs lie: each card of a model
has others switched off, so that each CU's way to the same line of memory has a length of its own. Of six
runs on H200s, two of one card had latencies within 0.3 % of each other, of all 132 CUs, and two of different
cards at least four CUs that were 1 to 4 % apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hipscope.results.records import Result

EXPERIMENT, SWEEP, VALUE = "memory_latency", "units", "latency"
# How far apart a CU's latencies must be to count, and how many CUs must be.
APART, FEWEST = 0.01, 2
# A UUID's first characters, which are enough for a reader.
SHOWN = 16


def _ways(result: Result) -> dict[str, float]:
    return {
        row.label: value.value
        for sweep in result.sweeps
        if sweep.name == SWEEP
        for row in sweep.rows
        for value in row.values
        if value.name == VALUE and value.value
    }


def _moved(old: Result, new: Result) -> int:
    before, after = _ways(old), _ways(new)
    return sum(abs(after[label] / way - 1) > APART for label, way in before.items() if label in after)


def another(old: Mapping[str, Sequence[Result]], new: Mapping[str, Sequence[Result]]) -> str | None:
    """By what the sides have no card in common, in words; None when they have one, nothing tells, or models differ."""
    sides = [[result.device for results in runs.values() for result in results] for runs in (old, new)]
    if len({device.name for side in sides for device in side}) > 1:
        return None
    before, after = ({device.uuid or "" for device in side} for side in sides)
    if "" not in before | after:
        if before & after:
            return None
        names = (", ".join(sorted(one[:SHOWN] for one in side)) for side in (before, after))
        return " -> ".join(names)
    counts = [_moved(one, other) for one in old.get(EXPERIMENT, ()) for other in new.get(EXPERIMENT, ())]
    if counts and min(counts) >= FEWEST:
        return f"{min(counts)} CUs or more lie otherwise, by {EXPERIMENT}/{SWEEP}"
    return None
