"""The hardware card: what the experiments of one folder infer of its device, parameter by parameter.

Every number in it stands in a result file, as it is there; nothing is computed here but whether two
numbers agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import shared
from .load import Result

SCHEMA_VERSION = 1
# By what part of the other a value may differ before the two count as disagreeing: a measured
# quantity, and a number of things.
CONTINUOUS = 0.05
EXACT = 0.0
# What stands for a part of a name that varies, and what it matches.
PLACEHOLDERS = {"{n}": r"(?P<n>0|[1-9][0-9]{0,8})", "{what}": r"(?P<what>.+)"}
# A generic name, when no inference has filled it in.
GENERIC = {"n": "N", "what": "..."}
DEVICE_FIELDS = ("name", "architecture", "compute_units", "wave_size", "maximum_shader_mhz", "memory_mhz",
                 "memory_bus_bits", "memory_bytes", "l2_bytes", "lds_bytes_per_block",
                 "registers_per_block", "maximum_threads_per_block", "maximum_threads_per_compute_unit",
                 "driver", "runtime")
# What tells one of several equal devices, where a result has it.
IDENTITY_FIELDS = ("uuid", "pci_address", "serial", "vbios", "partition", "power_cap_w", "ecc", "link", "host")

Json = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Entry:
    """A parameter, and which inferences of which experiments tell it.

    `sources` are experiments whose inference has the parameter's name, or "experiment: inference".
    `driver` is the field of the device in which the driver says it, where no inference repeats it.
    """

    parameter: str
    sources: tuple[str, ...]
    tolerance: float = CONTINUOUS
    driver: str | None = None

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
            found = re.fullmatch(_pattern(name), inference) if source == experiment else None
            if found:
                return self.name_of(found.groupdict())
        return None


def _pattern(name: str) -> str:
    pieces = re.split(r"(\{\w+\})", name)
    return "".join(PLACEHOLDERS.get(piece) or re.escape(piece) for piece in pieces)


def _told_by(experiment: str, *parameters: str, tolerance: float = CONTINUOUS) -> tuple[Entry, ...]:
    return tuple(Entry(parameter, (experiment,), tolerance) for parameter in parameters)


# The levels of the card's table of caches: a row per kind and number, with these columns.
CACHE_KINDS: dict[str, dict[str, Entry]] = {
    "cache level {n}": {
        "capacity": Entry("cache level {n} capacity", ("memory_latency",)),
        "line": Entry("cache level {n} line", ("cache_line",), EXACT),
        "sector": Entry("cache level {n} sector", ("cache_line",), EXACT),
        "latency": Entry("cache level {n} latency", ("memory_latency",)),
        "read_bandwidth": Entry("cache level {n} read bandwidth", ("memory_bandwidth",)),
    },
    "constant cache level {n}": {
        "capacity": Entry("constant cache level {n} capacity", ("memory_latency",)),
        "line": Entry("constant cache level {n} line", ("cache_sharing",), EXACT),
        "sector": Entry("constant cache level {n} sector", ("cache_sharing",), EXACT),
        "latency": Entry("constant cache level {n} latency", ("memory_latency",)),
    },
}

# The other groups. The first entry that matches an inference takes it.
GROUPS: dict[str, tuple[Entry, ...]] = {
    "timing": _told_by("timing", "resolution of events", "time that events add",
                       "time that the host's clock adds", "first launch",
                       "samples of a steady median", "time until the clock is steady"),
    "execution": (
        Entry("wave size", ("thread_rate", "wave_divergence"), EXACT, "wave_size"),
        Entry("compute units", ("cu_staircase",), EXACT, "compute_units"),
        *_told_by("cu_staircase", "resident blocks of {n} threads", tolerance=EXACT),
        *_told_by("thread_rate", "block rate", "thread rate", "smallest full-rate block",
                  "time in place of a block of {n}"),
        *_told_by("fma_loop", "instruction cache capacity", "largest loop at full speed, {n} threads",
                  "cost of an iteration's end",
                  "effect of the loop's place, {what}", "nested {n} x 10000 over unroll 100"),
        *_told_by("wave_divergence", "cost of one lane on another path",
                  "two paths of a wave that is alone", "branch pays, {what}"),
    ),
    "memory": (
        *_told_by("memory_latency", "memory latency", "memory latency with a cold TLB",
                  "memory latency spread", "cache level {n} miss penalty",
                  "cache level {n} latency spread", "TLB level {n} reach", "TLB level {n} entries",
                  "TLB level {n} entry", "TLB level {n} miss penalty", "store-to-load latency",
                  "L2 latency spread over {what}", "near half of cache level {n} capacity",
                  "far half of cache level {n} latency",
                  "{what} cache level {n} miss penalty", "{what} cache level {n} capacity",
                  "{what} cache level {n} latency", "latency of {what} loads over plain loads"),
        *_told_by("memory_bandwidth", "memory read bandwidth", "memory write bandwidth",
                  "memory copy bandwidth", "memory triad bandwidth", "cache level {n} write bandwidth",
                  "bandwidth of a cache behind L2",
                  "bytes in flight per CU for 95 % of the read bandwidth"),
        *_told_by("memory_channels", "channel interleave", tolerance=EXACT),
        *_told_by("memory_channels", "worst stride factor", "worst stride factor within L2",
                  "gain by padding, {what}"),
        Entry("fetched by a cache level 2 miss", ("cache_line", "memory_bandwidth"), EXACT),
        *_told_by("cache_sharing", "first cache of {what} loads, latency"),
        *_told_by("cache_sharing", "cache shared by {what}", "vector cache left beside the largest LDS"),
        *_told_by("cache_sharing", "CUs that share a cache of {what} loads", "parts of L2 by distance",
                  "CUs that find in L2 what one CU has read", tolerance=EXACT),
        *_told_by("store_divergence", "access granularity of {what}", tolerance=EXACT),
        *_told_by("store_divergence", "cost of a scattered lane, {what}", "cost of misalignment, {what}"),
        *_told_by("nchw_index", "cost of the index"),
        *_told_by("atomics", "additions at one word of L2"),
    ),
    "lds": (
        *_told_by("lds_banks", "LDS banks", "LDS bank width", tolerance=EXACT),
        *_told_by("lds_banks", "cycles per extra conflict way", "LDS read bandwidth"),
        *_told_by("lds_latency", "LDS latency", "LDS latency by index", "shuffle latency"),
        *_told_by("async_copies", "bytes from which a copy past the registers is faster, {what}",
                  "rate to LDS past the registers over through them, {what}",
                  "bytes in flight per CU to LDS, {what}"),
        *_told_by("atomics", "additions in LDS", "FP32 addition in LDS over INT32's"),
    ),
    "registers": (
        *_told_by("vgpr_limit", "registers of a CU", "register budget per thread, blocks of {n}",
                  "rate past the budget, blocks of {n}"),
        *_told_by("sgpr_limit", "registers of a thread per uniform value", "uniform values at full rate"),
        *_told_by("register_pressure", "gain by {what}", "best step over copy",
                  "waves per CU for 95 % of the rate, {what}"),
    ),
    "rates": (
        Entry("FP32 FMA latency", ("ilp_tlp", "fma_loop: FMA latency")),
        *_told_by("ilp_tlp", "{what} latency", "{what} rate", "{what} peak"),
        *_told_by("matrix_rate", "{what} matrix rate", "{what} matrix latency", "cost of random operands"),
        *_told_by("matrix_rate", "width of sums, {what}", tolerance=EXACT),
        *_told_by("fma_loop", "best FMA rate of one block"),
        *_told_by("math_functions", "cost of {what}", "gain of {what}"),
    ),
    "energy": (
        *_told_by("energy", "idle power", "launch power", "energy per launch", "energy per byte from {what}",
                  "energy per {what}", "deviation of the sum of energies"),
        *_told_by("soak", "time to steady state, {what}", "loss to the steady state, {what}"),
    ),
    "launch": (
        *_told_by("launch_latency", "launch latency", "interval in a stream", "interval in a graph",
                  "largest grid at the cost of one block"),
        *_told_by("streams", "kernels at once", "hardware queues", tolerance=EXACT),
        *_told_by("streams", "small kernel beside a large one begins at",
                  "small kernel of high priority begins at", "copy under a kernel", "wait for another stream's event",
                  "launches by one thread of the host"),
        *_told_by("grid_sync", "grid barrier, {what}", "grid barriers in the time of a launch"),
    ),
    "kernels": (
        *_told_by("reduction", "8 values per step over 4", "barriers in the gain of 4 values per step",
                  "best reduction over read bandwidth", "best reduction over vendor library",
                  "reduction over vendor library, worst of all sizes"),
        *_told_by("padding", "4 channels per thread against 16, compile-time count",
                  "cost of an array that is indexed at run time", "padding over copy"),
        *_told_by("batchnorm", "what one pass gains on three", "batchnorm {what}"),
        *_told_by("sgemm", "SGEMM rate", "SGEMM over the vendor's library",
                  "SGEMM over the vendor's library at odd sizes", "SGEMM over the vendor's library at small sizes",
                  "SGEMM gain by launch bounds",
                  "FP32 FMAs whose operands are all new", "SGEMM's loop with its copies from memory"),
        *_told_by("dgemm", "DGEMM rate", "DGEMM rate by matrix instructions", "DGEMM over the vendor's library",
                  "DGEMM over the vendor's library at odd sizes", "DGEMM over the vendor's library at small sizes",
                  "DGEMM of one block, from the source's first stage to its last",
                  "a block's load from LDS for each lane more at a bank",
                  "FP64 FMAs whose operands are all new"),
    ),
}
# What no entry takes, so that nothing is lost.
OTHER = "other"


@dataclass
class _Found:
    """The inferences of one parameter, from results of one variant, in the order of the results."""

    name: str
    variant: str
    entry: Entry | None
    inferences: list[tuple[Result, Json]] = field(default_factory=list)


def _entries() -> Iterable[Entry]:
    for columns in CACHE_KINDS.values():
        yield from columns.values()
    for entries in GROUPS.values():
        yield from entries


def _claim(experiment: str, inference: str) -> tuple[Entry | None, str]:
    """The entry that takes an inference, None for the group of the others, and the parameter's name."""
    for entry in _entries():
        name = entry.match(experiment, inference)
        if name is not None:
            return entry, name
    return None, inference


def _variant(result: Result) -> str:
    return result.name.partition(".")[2]


def _collect(results: Sequence[Result]) -> list[_Found]:
    """All inferences by parameter and variant, in the order of their first appearance."""
    found: dict[tuple[Any, str, str], _Found] = {}
    for result in results:
        experiment = result.data["experiment"]
        for inference in result.data["inferences"]:
            entry, name = _claim(experiment, inference["name"])
            # Nothing says that two experiments mean the same by a name that the table does not know.
            key = (entry or experiment, name, _variant(result))
            one = found.setdefault(key, _Found(name, _variant(result), entry))
            one.inferences.append((result, inference))
    return list(found.values())


def _said(value: float | None) -> float | None:
    """What a driver says; it says nothing with a 0."""
    return value or None


def differs(value: float, reference: float, tolerance: float) -> bool:
    """Whether a value is farther from the other than this part of the other."""
    return abs(value - reference) > tolerance * abs(reference)


def _reading(result: Result, inference: Json, tolerance: float, device_says: float | None) -> Json:
    value, driver = inference["value"], _said(inference["driver"])
    reference = device_says if driver is None else driver
    reading = {
        "experiment": result.name, "inference": inference["name"], "value": value,
        "unit": inference["unit"], "confidence": inference["confidence"],
        "verified": shared.verified(result), "driver": driver,
        "disagrees_with_driver":
            value is not None and reference is not None and differs(value, reference, tolerance),
        "statement": inference["statement"], "evidence": inference["evidence"],
    }
    if "interval" in inference:
        reading["interval"] = inference["interval"]
    return reading


def _sources_disagree(readings: list[Json], tolerance: float) -> bool:
    found = [reading for reading in readings if reading["value"] is not None]
    if len({reading["unit"] for reading in found}) > 1:
        return True
    values = sorted(reading["value"] for reading in found)
    return bool(values) and (differs(values[0], values[-1], tolerance)
                             or differs(values[-1], values[0], tolerance))


class _Card:
    """Makes a card's parts of the results of one folder."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = results
        self.found = _collect(results)
        self.ran = {(result.data["experiment"], _variant(result)) for result in results}

    def parameter(self, one: _Found) -> Json:
        """One parameter with all that was read of it, and what its sources left out."""
        entry = one.entry or Entry(one.name, ())
        device_says = _said(self.results[0].data["device"][entry.driver]) if entry.driver else None
        readings = [_reading(*pair, entry.tolerance, device_says) for pair in one.inferences]
        told = {result.data["experiment"] for result, _ in one.inferences}
        status = "not measured"
        if readings:
            status = "found" if any(item["value"] is not None for item in readings) else "not found"
        sources_disagree = _sources_disagree(readings, entry.tolerance)
        return {
            "name": one.name, "variant": one.variant, "status": status,
            "tolerance": entry.tolerance, "driver": device_says,
            "disagreement": sources_disagree or any(item["disagrees_with_driver"] for item in readings),
            "sources_disagree": sources_disagree, "readings": readings,
            "missing": [
                {"experiment": experiment,
                 "reason": "no such inference" if (experiment, one.variant) in self.ran else "no result"}
                for experiment, _ in entry.inferences if experiment not in told
            ],
        }

    def of_entry(self, entry: Entry) -> list[Json]:
        """All parameters of an entry; the one that was not measured when there is none."""
        found = [one for one in self.found if one.entry is entry]
        if all(one.variant for one in found):
            found = [_Found(entry.name_of(GENERIC), "", entry), *found]
        return [self.parameter(one) for one in found]

    def cache_levels(self) -> list[Json]:
        """A row per level of which an inference speaks; all of its columns, measured or not."""
        levels = []
        for kind, columns in CACHE_KINDS.items():
            found = {(one.name, one.variant): one for one in self.found if one.entry in columns.values()}
            numbers = {(variant, int(re.search("[0-9]+", name)[0])) for name, variant in found}
            rows = [(variant, str(number)) for variant, number in sorted(numbers)]
            if all(variant for variant, _ in rows):
                rows.insert(0, ("", GENERIC["n"]))
            for variant, number in rows:
                level: Json = {"name": kind.replace("{n}", number), "variant": variant}
                for column, entry in columns.items():
                    name = entry.name_of({"n": number})
                    level[column] = self.parameter(
                        found.get((name, variant), _Found(name, variant, entry)))
                levels.append(level)
        return levels

    def other(self) -> list[Json]:
        """The parameters that no entry takes."""
        return [self.parameter(one) for one in self.found if one.entry is None]


def _experiment(result: Result) -> Json:
    data = result.data
    return {
        "name": result.name, "file": result.path.name, "status": data["status"],
        "date": data["date"], "git_revision": data["hipscope"]["git_revision"],
        "preset": data["options"]["preset"], "filter": data["options"]["filter"],
        "shader_mhz": data["clock"]["shader_mhz"], "clock_source": data["clock"]["source"],
    }


def make_card(results: Sequence[Result]) -> Json | None:
    """The card as results/card-schema.json describes it; None on the CPU, of which nothing is inferred."""
    if shared.is_host(results):
        return None
    card = _Card(results)
    device = results[0].data["device"]
    ran = {result.data["experiment"] for result in results}
    wanted = dict.fromkeys(experiment for entry in _entries() for experiment, _ in entry.inferences)
    return {
        "schema_version": SCHEMA_VERSION,
        "device": {key: device[key] for key in DEVICE_FIELDS}
                  | {key: device[key] for key in IDENTITY_FIELDS if key in device},
        "experiments": [_experiment(result) for result in results],
        "experiments_without_result": [name for name in wanted if name not in ran],
        "cache_levels": card.cache_levels(),
        **{group: [one for entry in entries for one in card.of_entry(entry)]
           for group, entries in GROUPS.items()},
        OTHER: card.other(),
    }
