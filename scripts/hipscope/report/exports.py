"""A folder of results as others read it: CSV, Prometheus' text format, a roofline as JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from hipscope.results import formats
from hipscope.results.door import BadInput
from hipscope.results.records import Result

from .card import GROUPS, make_card
from .ceilings import roofline_of

COLUMNS = ("experiment", "sweep", "row", "x", "value", "number", "unit", "relative_spread")
PARAMETER, CONFIDENCE = "hipscope_parameter", "hipscope_parameter_confidence"
CHECKS, FAILURES = "hipscope_checks", "hipscope_checks_failed"
HELP = {
    PARAMETER: "a parameter of the hardware card, in the unit that its label says",
    CONFIDENCE: "how sure that parameter is, from 0 to 1",
    CHECKS: "checks of what the kernels of an experiment computed",
    FAILURES: "those of them that failed",
}


def _numbers(result: Result) -> Iterator[tuple[object, ...]]:
    for sweep in result.sweeps:
        for row in sweep.rows:
            place = (result.name, sweep.name, row.label, f"{row.x:.12g}")
            for one in row.measurements:
                yield (*place, one.name, f"{one.median:.12g}", one.unit, f"{one.relative_spread:.4g}")
            for value in row.values:
                if value.value is not None:
                    yield (*place, value.name, f"{value.value:.12g}", value.unit, "")


def as_csv(results: Sequence[Result]) -> str:
    """A line per number of every row: medians with their relative spread, and what was derived from them."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in results:
        writer.writerows(_numbers(result))
    return text.getvalue()


def as_prometheus(results: Sequence[Result]) -> str:
    """The card's parameters that were found, and how many checks passed; raises BadInput of a CPU's results."""
    card = make_card(results)
    if not card:
        raise BadInput("nothing is inferred of a CPU, so there is no parameter to export.")
    model = results[0].device.name
    found = [
        (parameter, reading)
        for name in GROUPS
        for parameter in card[name]
        for reading in parameter["readings"]
        if reading["value"] is not None
    ]

    labels = [
        {"parameter": parameter["name"], "unit": one["unit"], "experiment": one["experiment"], "model": model}
        for parameter, one in found
    ]
    names = [{"experiment": one.name} for one in results]
    samples: dict[str, Iterable[tuple[float, Mapping[str, object]]]] = {
        PARAMETER: zip((one["value"] for _, one in found), labels),
        CONFIDENCE: zip((one["confidence"] for _, one in found), labels),
        CHECKS: zip((one.verification.checks for one in results), names),
        FAILURES: zip((len(one.verification.failures) for one in results), names),
    }
    return "".join(formats.gauge(name, HELP[name], of) for name, of in samples.items())


def as_roofline(results: Sequence[Result]) -> str:
    """Ceilings and kernels; raises BadInput where neither arithmetic nor memory was measured."""
    found = asdict(roofline_of(results))
    if not found["arithmetic"] and not found["memory"]:
        raise BadInput("no result tells a ceiling: it takes those of a GPU's ilp_tlp, matrix_rate or memory_bandwidth.")
    units = {"arithmetic": "FLOP/s", "memory": "bytes/s", "kernels": "FLOP/s at FLOPs per byte"}
    return json.dumps({"device": results[0].device.name, "units": units, **found}, indent=1) + "\n"


FORMATS: dict[str, Callable[[Sequence[Result]], str]] = {
    "csv": as_csv,
    "prometheus": as_prometheus,
    "roofline": as_roofline,
}
