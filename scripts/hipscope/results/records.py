"""A result as records: what pages and comparisons take of a result file, of whatever version it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Value:
    """A number with its unit; None where there is none."""

    name: str
    value: float | None
    unit: str


@dataclass(frozen=True)
class Measurement:
    """The time of one execution, the number of samples, and, where known, the clock that makes cycles of it."""

    name: str
    unit: str
    samples: int
    minimum: float
    first_quartile: float
    median: float
    third_quartile: float
    maximum: float
    relative_spread: float
    shader_mhz: float | None
    throttled: int


@dataclass(frozen=True)
class Check:
    """How many values were looked at, and how many were wrong."""

    what: str
    checked: int
    wrong: int


@dataclass(frozen=True)
class Published:
    """A figure that somebody else published of the row."""

    gpu: str
    metric: str
    value: float
    unit: str
    source: str
    note: str


@dataclass(frozen=True)
class Row:
    label: str
    x: float
    measurements: Sequence[Measurement]
    values: Sequence[Value]
    checks: Sequence[Check]
    published: Sequence[Published]


@dataclass(frozen=True)
class Axis:
    name: str
    unit: str
    scale: str


@dataclass(frozen=True)
class Sweep:
    """A curve or a table: `headline` is the value that is plotted over x."""

    name: str
    title: str
    axis: Axis
    headline: str
    notes: Sequence[str]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Inference:
    """What the curves say; of None they do not show it. `driver` is what the driver says."""

    name: str
    value: float | None
    unit: str
    confidence: float
    statement: str
    evidence: Sequence[str]
    driver: float | None
    interval: Sequence[float] | None = None


@dataclass(frozen=True)
class Link:
    """PCI Express to the host, as far as it is told."""

    generation: int | None = None
    speed_gts: float | None = None
    width: int | None = None
    maximum_generation: int | None = None
    maximum_speed_gts: float | None = None
    maximum_width: int | None = None


@dataclass(frozen=True)
class Device:
    """What the driver reports; which of several equal devices it is, where that is told."""

    index: int
    name: str
    architecture: str
    compute_units: int
    wave_size: int
    maximum_shader_mhz: float
    memory_mhz: float
    memory_bus_bits: int
    memory_bytes: int
    free_memory_bytes: int
    l2_bytes: int
    lds_bytes_per_block: int
    registers_per_block: int
    maximum_threads_per_block: int
    maximum_threads_per_compute_unit: int
    driver: str
    runtime: str
    uuid: str | None = None
    pci_address: str | None = None
    serial: str | None = None
    vbios: str | None = None
    partition: str | None = None
    power_cap_w: float | None = None
    ecc: str | None = None
    link: Link | None = None
    host: str | None = None


@dataclass(frozen=True)
class Build:
    backend: str
    compiler: str
    flags: str
    targets: str


@dataclass(frozen=True)
class Options:
    preset: str
    minimum_seconds: float
    noise: float
    clock_mhz: float | None
    seed: int
    filter: str | None
    sizes: Mapping[str, int]
    cold: bool = False
    retry_throttled: int | None = None


@dataclass(frozen=True)
class Clock:
    shader_mhz: float | None
    highest_shader_mhz: float | None
    source: str
    samples: int
    throttled_samples: int
    retaken_samples: int = 0


@dataclass(frozen=True)
class Verification:
    checks: int
    failures: Sequence[str]


@dataclass(frozen=True)
class Result:
    """One result file: `name` is its name without .json, safe as a part of a path."""

    name: str
    path: Path
    experiment: str
    question: str
    sources: Sequence[str]
    status: str
    revision: str
    build: Build
    date: str
    duration_s: float
    device: Device
    options: Options
    scaled: bool
    clock: Clock
    overheads: Sequence[Value]
    sweeps: Sequence[Sweep]
    inferences: Sequence[Inference]
    verification: Verification

    @property
    def title(self) -> str:
        """The experiment, with its variant when the file has one: thread_rate (wave64)."""
        experiment, _, variant = self.name.partition(".")
        return f"{experiment} ({variant})" if variant else experiment


# What is taken of a measurement, of which files tell more.
MEASURED = [one.name for one in fields(Measurement)]


def _row(told: Json) -> Row:
    return Row(
        told["label"],
        told["x"],
        [Measurement(*(one[name] for name in MEASURED)) for one in told["measurements"]],
        [Value(**one) for one in told["values"]],
        [Check(**one) for one in told["checks"]],
        [Published(**one) for one in told["published"]],
    )


def _sweep(told: Json) -> Sweep:
    rows = [_row(row) for row in told["rows"]]
    return Sweep(told["name"], told["title"], Axis(**told["axis"]), told["headline"], told["notes"], rows)


def result_of(name: str, path: Path, told: Json) -> Result:
    """The result that a file tells, as load.document has it."""
    as_told = ("experiment", "question", "sources", "status", "date", "duration_s", "scaled")
    link: Json = {"link": Link(**told["device"]["link"])} if "link" in told["device"] else {}
    return Result(
        name=name,
        path=path,
        revision=told["hipscope"]["git_revision"],
        build=Build(**told["build"]),
        device=Device(**told["device"] | link),
        options=Options(**told["options"]),
        clock=Clock(**told["clock"]),
        overheads=[Value(**one) for one in told["overheads"]],
        sweeps=[_sweep(sweep) for sweep in told["sweeps"]],
        inferences=[Inference(**one) for one in told["inferences"]],
        verification=Verification(**told["verification"]),
        **{key: told[key] for key in as_told},
    )
