"""The hardware card: the parameters of a device that people look for, as the experiments of one folder infer them.

Every number in it stands in a result file, as it is there; nothing is computed here but whether two
numbers agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hipscope.results.records import Device, Inference, Link, Result

from . import shared

SCHEMA_VERSION = 2
# By what part of the other a value may differ before the two count as disagreeing: a measured
# quantity, and a number of things.
CONTINUOUS = 0.05
EXACT = 0.0
# What stands for a part of a name that varies, and what it matches.
PLACEHOLDERS = {
    "{n}": r"(?P<n>0|[1-9][0-9]{0,8})",
    "{type}": r"(?P<type>[A-Z][A-Z0-9 ]*)",
    "{bound}": r"(?P<bound>, at least|)",
}
# A generic name, when no inference has filled it in.
GENERIC = {"n": "N", "type": "...", "bound": ""}
# What a card does not have of a device: it is another one in each run.
LEFT_OUT = ("index", "free_memory_bytes")

Json = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Entry:
    """A parameter, and which inferences of which experiments tell it.

    `sources` are experiments whose inference has the parameter's name, or "experiment: inference".
    `driver` is what the driver says of it, where no inference repeats that.
    """

    parameter: str
    sources: tuple[str, ...]
    tolerance: float = CONTINUOUS
    driver: Callable[[Device], float] | None = None

    @property
    def inferences(self) -> list[tuple[str, str]]:
        """The experiments with the names of their inferences."""
        pairs = [source.partition(": ") for source in self.sources]
        return [(experiment, name or self.parameter) for experiment, _, name in pairs]

    def name_of(self, filled: dict[str, str]) -> str:
        """The parameter's name with its varying parts filled in."""
        return re.sub(r"\{(\w+)\}", lambda match: filled[match[1]], self.parameter)

    def match(self, experiment: str, inference: str) -> str | None:
        """The parameter that an inference tells, or None when it tells another one."""
        for source, name in self.inferences:
            pieces = re.split(r"(\{\w+\})", name)
            pattern = "".join(PLACEHOLDERS.get(piece) or re.escape(piece) for piece in pieces)
            found = re.fullmatch(pattern, inference) if source == experiment else None
            if found:
                return self.name_of(found.groupdict())
        return None


def _told_by(experiment: str, *parameters: str, tolerance: float = CONTINUOUS) -> tuple[Entry, ...]:
    return tuple(Entry(parameter, (experiment,), tolerance) for parameter in parameters)


# The parameters that people choose a GPU or a tile by, in the order in which they look for them. What else the
# experiments conclude stands on their pages.
GROUPS: dict[str, tuple[Entry, ...]] = {
    "compute": (
        Entry("compute units", ("cu_staircase",), EXACT, lambda device: device.compute_units),
        Entry("wave size", ("wave_divergence",), EXACT, lambda device: device.wave_size),
        *_told_by("vgpr_limit", "registers of a CU"),
        *_told_by("ilp_tlp", "FP32 FMA peak", "FP64 FMA peak"),
        Entry("FP32 FMA latency", ("ilp_tlp", "fma_loop: FMA latency")),
        *_told_by("ilp_tlp", "FP64 FMA latency"),
        *_told_by("sgemm", "SGEMM rate"),
        *_told_by("fma_loop", "instruction cache capacity"),
        *_told_by("thread_rate", "block rate"),
    ),
    "matrix": (
        *_told_by("matrix_rate", "{type} matrix rate"),
        *_told_by("dgemm", "DGEMM rate by matrix instructions"),
        *_told_by("hgemm", "HGEMM rate by matrix instructions"),
    ),
    "caches": (
        *_told_by(
            "memory_latency",
            "cache level {n} capacity",
            "near half of cache level {n} capacity",
            "cache level {n} latency",
            "near half of cache level {n} latency",
            "far half of cache level {n} latency",
        ),
        *_told_by("cache_line", "cache level {n} line", "cache level {n} sector", tolerance=EXACT),
        *_told_by(
            "memory_bandwidth",
            "cache level {n} read bandwidth",
            "cache level {n} write bandwidth",
            "bandwidth of a cache past L2",
        ),
        *_told_by("atomics", "additions at one word of L2"),
        *_told_by("memory_latency", "constant cache level {n} capacity{bound}", "constant cache level {n} latency"),
    ),
    "lds": (
        *_told_by("lds_latency", "LDS latency"),
        *_told_by("lds_banks", "LDS read bandwidth", "cycles per extra conflict way"),
        *_told_by("lds_banks", "LDS banks", tolerance=EXACT),
        *_told_by("atomics", "additions in LDS"),
        *_told_by("cache_sharing", "vector cache left beside the largest LDS"),
    ),
    "memory": (
        *_told_by("memory_latency", "memory latency"),
        *_told_by(
            "memory_bandwidth",
            "memory read bandwidth",
            "memory write bandwidth",
            "memory copy bandwidth",
            "bytes in flight per CU for 95 % of the read bandwidth",
        ),
        *_told_by("cache_line", "fetched by a cache level 2 miss", tolerance=EXACT),
        *_told_by("memory_channels", "channel interleave", tolerance=EXACT),
    ),
    "tlb": _told_by("memory_latency", "TLB level {n} reach", "TLB level {n} miss penalty"),
    "launch": (
        *_told_by("launch_latency", "launch latency", "interval in a stream", "interval in a graph"),
        *_told_by("grid_sync", "grid barrier, one block per CU"),
    ),
    "copies": (
        *_told_by(
            "host_copies",
            "host to device bandwidth",
            "host to device latency",
            "device to host bandwidth",
            "device to host latency",
        ),
        *_told_by("peer_copies", "link bandwidth"),
    ),
    "energy": _told_by(
        "energy",
        "idle power",
        "energy per FP32 vector FMA",
        "energy per FP16 matrix FMA",
        "energy per byte from LDS",
        "energy per byte from L2",
        "energy per byte from memory",
    ),
}


ENTRIES = [entry for entries in GROUPS.values() for entry in entries]
# The inferences of an entry, with their results: by the parameter's name and variant, in the order of the results.
Found = dict[tuple[str, str], list[tuple[Result, Inference]]]


def _variant(result: Result) -> str:
    return result.name.partition(".")[2]


def _collect(results: Sequence[Result]) -> dict[Entry, Found]:
    """The card's inferences by entry."""
    found: dict[Entry, Found] = {entry: {} for entry in ENTRIES}
    for result in results:
        for inference in result.inferences:
            for entry in ENTRIES:
                name = entry.match(result.experiment, inference.name)
                if name is not None:
                    found[entry].setdefault((name, _variant(result)), []).append((result, inference))
                    break
    return found


def _said(value: float | None) -> float | None:
    """What a driver says; it says nothing with a 0."""
    return value or None


def differs(value: float, reference: float, tolerance: float) -> bool:
    """Whether a value is farther from the other than this part of the other."""
    return abs(value - reference) > tolerance * abs(reference)


def _reading(result: Result, inference: Inference, tolerance: float, device_says: float | None) -> Json:
    value, driver = inference.value, _said(inference.driver)
    reference = device_says if driver is None else driver
    disagrees = value is not None and reference is not None and differs(value, reference, tolerance)
    # Of a measured quantity the interval may hold what the driver says.
    if inference.interval is not None and reference is not None and tolerance != EXACT:
        low, high = inference.interval
        disagrees = disagrees and not low <= reference <= high
    reading: Json = {
        "experiment": result.name,
        "inference": inference.name,
        "value": value,
        "unit": inference.unit,
        "confidence": inference.confidence,
        "verified": shared.verified(result),
        "driver": driver,
        "disagrees_with_driver": disagrees,
        "statement": inference.statement,
        "evidence": inference.evidence,
    }
    if inference.interval is not None:
        reading["interval"] = inference.interval
    return reading


def _sources_disagree(readings: list[Json], tolerance: float) -> bool:
    found = [reading for reading in readings if reading["value"] is not None]
    if len({reading["unit"] for reading in found}) > 1:
        return True
    values = sorted(reading["value"] for reading in found)
    return bool(values) and (differs(values[0], values[-1], tolerance) or differs(values[-1], values[0], tolerance))


def _parameter(
    entry: Entry, key: tuple[str, str], told: Sequence[tuple[Result, Inference]], results: Sequence[Result]
) -> Json:
    """One parameter, by its name and variant, with all that was read of it, and what its sources left out."""
    name, variant = key
    device_says = _said(entry.driver(results[0].device)) if entry.driver else None
    readings = [_reading(*pair, entry.tolerance, device_says) for pair in told]
    status = "not measured"
    if readings:
        status = "found" if any(item["value"] is not None for item in readings) else "not found"
    sources_disagree = _sources_disagree(readings, entry.tolerance)
    ran = {result.experiment for result in results if _variant(result) == variant}
    silent = [one for one, _ in entry.inferences if one not in {result.experiment for result, _ in told}]
    return {
        "name": name,
        "variant": variant,
        "status": status,
        "tolerance": entry.tolerance,
        "driver": device_says,
        "disagreement": sources_disagree or any(item["disagrees_with_driver"] for item in readings),
        "sources_disagree": sources_disagree,
        "readings": readings,
        "missing": [
            {"experiment": one, "reason": "no such inference" if one in ran else "no result"} for one in silent
        ],
    }


def _parameters(entry: Entry, found: Found, results: Sequence[Result]) -> list[Json]:
    """All parameters of an entry; the one that was not measured when there is none."""
    if all(variant for _, variant in found):
        found = {(entry.name_of(GENERIC), ""): [], **found}
    return [_parameter(entry, key, told, results) for key, told in found.items()]


def _experiment(result: Result) -> Json:
    return {
        "name": result.name,
        "file": result.path.name,
        "status": result.status,
        "date": result.date,
        "git_revision": result.revision,
        "preset": result.options.preset,
        "filter": result.options.filter,
        "shader_mhz": result.clock.shader_mhz,
        "clock_source": result.clock.source,
    }


def _device(device: Device) -> Json:
    """What the driver says of the device, and which it is, as far as that is told."""

    def told(record: Device | Link) -> Json:
        return {name: value for name, value in vars(record).items() if name not in LEFT_OUT and value is not None}

    return told(device) | ({"link": told(device.link)} if device.link else {})


def make_card(results: Sequence[Result]) -> Json | None:
    """The card as results/card-schema.json describes it; None on the CPU, of which nothing is inferred."""
    if shared.is_host(results):
        return None
    found = _collect(results)
    ran = {result.experiment for result in results}
    wanted = dict.fromkeys(experiment for entry in ENTRIES for experiment, _ in entry.inferences)
    return {
        "schema_version": SCHEMA_VERSION,
        "device": _device(results[0].device),
        "experiments": [_experiment(result) for result in results],
        "experiments_without_result": [name for name in wanted if name not in ran],
        **{
            group: [one for entry in entries for one in _parameters(entry, found[entry], results)]
            for group, entries in GROUPS.items()
        },
    }
