"""One GPU of a fleet: who it is, and the few figures of its results that tell a slow one from a good one.

Only the standard library: this also runs on a node of which nothing else is known.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hipscope.compare.many import QUARTILES_TO_DEVIATION
from hipscope.results import load

from .layout import ALONE, TOGETHER

Json = dict[str, Any]

# What a metric is bound by, which decides how much slower is too slow (verdicts.LIMITS).
CYCLES, BYTES, CLOCK, COPY, SOAK = "cycles", "bytes", "clock", "copy", "soak"
LOWER, HIGHER = "lower", "higher"
# The parts of a GPU that metrics are of.
COMPUTE, MATRIX, LDS, CACHE, MEMORY, LINK, COOLING = ("compute", "matrix", "lds", "cache", "memory", "link", "cooling")
# The name of a metric's clock is its own and this.
CLOCK_OF = ", clock"

# The same measured with the node's other GPUs idle.
ALONE_OF = ", alone"
# The least relative noise from run to run of one card, by kind: the median of a run's samples says less of
# the next run than their spread does. docs/fleet.md says of which runs of an H200 these are.
LEAST_NOISE = {CYCLES: 0.001, BYTES: 0.002, CLOCK: 0.002, COPY: 0.003, SOAK: 0.003}
# What holds the clock of every GPU that works hard, and says little of one.
USUAL_REASON = "power cap"
# The last part of a soak, in which a GPU that is not cooled has reached its temperature.
LATE = 0.25


@dataclass(frozen=True)
class Metric:
    """One figure: `noise` is what one run differs from the next by, as a part of the value (a standard deviation)."""

    value: float
    kind: str
    better: str
    noise: float
    unit: str = ""
    group: str = ""


@dataclass(frozen=True)
class Identity:
    """Which GPU it is, and what it is set to; "" where it is not told.

    `key` is unlike any other's: its node and its index there, since a UUID may be told twice, or not at all. `slot` is
    the PCI address, else the index.
    """

    key: str
    uuid: str = ""
    host: str = ""
    slot: str = ""
    model: str = ""
    driver: str = ""
    firmware: str = ""
    power_cap: str = ""
    partition: str = ""
    ecc: str = ""
    link: str = ""
    backend: str = ""
    revision: str = ""
    serial: str = ""


@dataclass(frozen=True)
class Telemetry:
    """What the sensors said over all sweeps: nothing where there are none."""

    throttle_reasons: tuple[str, ...] = ()
    # Errors that appeared while the experiments ran.
    ecc_errors: int = 0
    remapped_rows: int = 0
    throttled_samples: int = 0


@dataclass
class Gpu:
    """One GPU: `again` holds its metrics when it was measured again, one dictionary per time."""

    identity: Identity
    metrics: dict[str, Metric] = field(default_factory=dict)
    telemetry: Telemetry = field(default_factory=Telemetry)
    failures: list[str] = field(default_factory=list)
    again: list[dict[str, Metric]] = field(default_factory=list)

    @property
    def key(self) -> str:
        """What no other GPU of the fleet is called."""
        return self.identity.key


@dataclass(frozen=True)
class Source:
    """Where a metric stands in the results: the last row that matches, and of it a measurement or a value.

    A measurement that is bound by cycles gives two metrics: its cycles and the clock that it ran at.
    """

    name: str
    group: str
    kind: str
    experiment: str
    sweep: str
    row: str
    what: str


SOURCES = (
    Source("FP32 FMA", COMPUTE, CYCLES, "ilp_tlp", "peak", "FP32 FMA$", "time"),
    Source("FP64 FMA", COMPUTE, CYCLES, "ilp_tlp", "peak", "FP64 FMA$", "time"),
    Source("FMA loop", COMPUTE, CYCLES, "fma_loop", "rolled", "1x1024$", "time"),
    Source("matrix FP64", MATRIX, CYCLES, "matrix_rate", "peak", "FP64 ", "time"),
    Source("matrix FP16", MATRIX, CYCLES, "matrix_rate", "peak", "FP16 (?!sparse|packed)", "time"),
    Source("matrix INT8", MATRIX, CYCLES, "matrix_rate", "peak", "INT8 (?!sparse|packed)", "time"),
    Source("library FP16, zeros", MATRIX, CYCLES, "matrix_rate", "library", "FP16, zeros$", "time"),
    Source("library FP16, random bits", MATRIX, CYCLES, "matrix_rate", "library", "FP16, random bits$", "time"),
    Source("SGEMM", COMPUTE, CYCLES, "sgemm", "stages", "library, standard math$", "time"),
    Source("HGEMM", MATRIX, CYCLES, "hgemm", "stages", "library, standard math$", "time"),
    Source("LDS latency", LDS, CYCLES, "lds_latency", "chase", "net, 4 bytes$", "latency"),
    Source("LDS loads", LDS, CYCLES, "lds_banks", "width", "4$", "time"),
    Source("L1 latency", CACHE, CYCLES, "memory_latency", "footprint", "4096$", "latency"),
    Source("memory latency", MEMORY, CYCLES, "memory_latency", "footprint", ".", "latency"),
    Source("memory read", MEMORY, BYTES, "memory_bandwidth", "stream", "read$", "bandwidth"),
    Source("memory write", MEMORY, BYTES, "memory_bandwidth", "stream", "write$", "bandwidth"),
    Source("memory copy", MEMORY, BYTES, "memory_bandwidth", "stream", "copy$", "bandwidth"),
    Source("memory triad", MEMORY, BYTES, "memory_bandwidth", "stream", "triad$", "bandwidth"),
    Source("copy to the device", LINK, COPY, "host_copies", "to-device", ".", "pinned"),
    Source("copy to the host", LINK, COPY, "host_copies", "to-host", ".", "pinned"),
)
# The experiment that runs for minutes, and its curves over time.
SOAK_EXPERIMENT = "soak"


def _of_row(source: Source, row: Json) -> dict[str, Metric]:
    """A value, whose noise is that of the time it follows from (its own where there is one of its name), else a
    measurement, in cycles where its clock is known; and the clock. The noise is by the interquartile range of the run's
    samples, and not less than runs of one card differ by.
    """
    times = {one["name"]: one for one in row["measurements"]}
    clocks = [one["shader_mhz"] for one in row["measurements"] if one["shader_mhz"]]
    told = next((one for one in row["values"] if one["name"] == source.what and one["value"]), None)
    if told:
        value, unit = told["value"], told["unit"]
        time = times.get(f"{source.what} time", times.get("time", {"relative_spread": 0.0}))
    elif source.what in times:
        time = times[source.what]
        value, unit, clocks = time["median"], "s", [time["shader_mhz"]] if time["shader_mhz"] else []
        if clocks:
            value, unit = 1e6 * value * clocks[0], "cycles"
    else:
        return {}
    better = LOWER if unit in ("cycles", "ns", "us", "ms", "s") else HIGHER
    noise = max(LEAST_NOISE[source.kind], time["relative_spread"] / QUARTILES_TO_DEVIATION)
    found = {source.name: Metric(value, source.kind, better, noise, unit, source.group)}
    if source.kind == CYCLES and clocks:
        clock = statistics.median(clocks)
        found[source.name + CLOCK_OF] = Metric(clock, CLOCK, HIGHER, LEAST_NOISE[CLOCK], "MHz", source.group)
    return found


def _row(data: Json, source: Source) -> Json | None:
    """The last row of the source's sweep that matches."""
    rows = [row for sweep in data["sweeps"] if sweep["name"] == source.sweep for row in sweep["rows"]]
    return next((row for row in reversed(rows) if re.match(source.row, row["label"])), None)


def _pace(row: Json) -> float | None:
    """How long a row of a soak took, on whatever scale: by its rate, else by its first time."""
    rates = [one["value"] for one in row["values"] if one["name"] == "rate" and one["value"]]
    if rates:
        return 1 / rates[0]
    return row["measurements"][0]["median"] if row["measurements"] else None


def _soak(data: Json) -> Iterator[tuple[str, Metric]]:
    """Of each curve over time: how much slower its last quarter is than its first, whatever it began with."""
    for sweep in data["sweeps"]:
        rows = sorted(sweep["rows"], key=lambda row: row["x"])
        paces = [pace for row in rows if (pace := _pace(row)) is not None]
        count = int(len(paces) * LATE)
        if count:
            early, late = statistics.median(paces[:count]), statistics.median(paces[-count:])
            slower = Metric(late / early if early else 0.0, SOAK, LOWER, LEAST_NOISE[SOAK], "", COOLING)
            yield f"soak, {sweep['name']}: late over early", slower


def metrics_of(data: Json) -> dict[str, Metric]:
    if data["experiment"] == SOAK_EXPERIMENT:
        return dict(_soak(data))
    found: dict[str, Metric] = {}
    for source in SOURCES:
        row = _row(data, source) if source.experiment == data["experiment"] else None
        if row is not None:
            found.update(_of_row(source, row))
    return found


def identity_of(data: Json, key: str, node: str) -> Identity:
    device = data["device"]
    cap = device.get("power_cap_w")
    return Identity(
        key,
        uuid=device.get("uuid", ""),
        host=node,
        slot=device.get("pci_address", str(device["index"])),
        model=device["name"],
        driver=device["driver"],
        firmware=device.get("vbios", ""),
        power_cap="" if cap is None else f"{cap:g}",
        partition=device.get("partition", ""),
        ecc=device.get("ecc", ""),
        link=_link(device.get("link", {})),
        backend=data["build"]["backend"],
        revision=data["hipscope"]["git_revision"],
        serial=device.get("serial", ""),
    )


def wrong_values(data: Json) -> list[str]:
    failures = [f"{data['experiment']}: {one}" for one in data["verification"]["failures"]]
    if data["status"] == "failed" and not failures:
        failures.append(f"{data['experiment']}: a verification failed")
    return failures


def telemetry_of(results: Sequence[Json]) -> Telemetry:
    """The worst that was seen, of all sweeps together."""
    told = [sweep["telemetry"] for one in results for sweep in one["sweeps"] if "telemetry" in sweep]
    grown = [one.get("delta", {}) for one in told]
    moments = [one.get(when, {}) for one in told for when in ("before", "during", "after")]
    reasons = {reason for moment in moments for reason in moment.get("throttle_reasons", ())}
    return Telemetry(
        # What stands alone where heat or the board holds it back is told before what every GPU at work has.
        tuple(sorted(reasons, key=lambda reason: (reason == USUAL_REASON, reason))),
        int(sum(one.get("ecc_corrected", 0) + one.get("ecc_uncorrected", 0) for one in grown)),
        int(sum(one.get("rows_remapped", 0) for one in grown)),
        sum(one["clock"]["throttled_samples"] for one in results),
    )


def _link(link: Json) -> str:
    """The link as it is whatever power is saved: its width, and what it can do at most."""
    parts = [
        f"x{link['width']}" if "width" in link else "",
        f"of x{link['maximum_width']}" if "maximum_width" in link else "",
        f"generation {link['maximum_generation']}" if "maximum_generation" in link else "",
    ]
    return " ".join(part for part in parts if part)


@dataclass(frozen=True)
class Results:
    """The results of a GPU, each parsed once: with the node's others at work, and alone."""

    together: list[Json]
    alone: list[Json]

    @property
    def all(self) -> list[Json]:
        return [*self.together, *self.alone]


def read(folder: Path) -> Results:
    """The results in a folder as layout.py has it; raises BadInput."""
    return Results(*([load.document(path) for path in load.result_paths(folder / one)] for one in (TOGETHER, ALONE)))


def _metrics(results: Results) -> dict[str, Metric]:
    together = {name: metric for data in results.together for name, metric in metrics_of(data).items()}
    alone = {name + ALONE_OF: metric for data in results.alone for name, metric in metrics_of(data).items()}
    return together | alone


def of_results(key: str, node: str, first: Results, again: Sequence[Results] = ()) -> Gpu:
    """The GPU that these results are of, and those of when it was measured again."""
    return Gpu(
        identity_of(first.all[0], key, node),
        _metrics(first),
        telemetry_of(first.all),
        [failure for one in (first, *again) for data in one.all for failure in wrong_values(data)],
        [_metrics(one) for one in again],
    )
