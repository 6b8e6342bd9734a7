"""What a roofline is made of: the ceilings of a device, and its whole kernels. Everything is measured, and read
from the result files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from hipscope.results.records import Result, Row

EXPLANATION = (
    "Horizontal: what arithmetic reaches in each format, by matrix instructions where there are any. Slanted: what "
    "memory, caches and LDS give, times the FLOPs for each byte. A point is a whole kernel, at the FLOPs that its "
    "result takes over the bytes that it must read and write at least once: how far under the memory's line or its "
    "format's it lies is what it leaves."
)
# From one FLOP for 16 bytes to where every format is limited by arithmetic.
LEAST_INTENSITY, GREATEST_INTENSITY = 2.0**-4, 2.0**13
TERA, GIGA, MEGA = 1e12, 1e9, 1e6
# Vector formats that ilp_tlp's sweep peak has in rows of these names: "FP32 FMA", "FP32 FMA, 3 registers".
VECTOR_ROWS = ("FP32 FMA", "FP64 FMA", "FP16 packed FMA")
# Rows of a ladder that are no kernel of ours: libraries, and what is only read or copied.
REFERENCES = re.compile(r"(vendor )?library|cuDNN|MIOpen|read$|copy$")
MATRIX_RATE = " matrix rate"
SPARSE = " sparse"
BYTES_OF_PRODUCT = {"sgemm": 4, "dgemm": 8, "hgemm": 2}
BYTES_OF_FP32 = 4
# Of a batch normalization by its definition, for each value, which is read and written once: one addition for
# the mean, three operations for the variance, four for (x - mean) x factor x gamma + beta.
FLOPS_OF_NORMALIZATION = 8


@dataclass(frozen=True)
class Ceiling:
    """A rate that nothing exceeds: FLOP/s, or bytes per second."""

    name: str
    rate: float


@dataclass(frozen=True)
class Kernel:
    """A whole kernel: FLOPs for each byte, and FLOP/s."""

    name: str
    intensity: float
    rate: float


@dataclass
class Roofline:
    """What is known of one device."""

    arithmetic: list[Ceiling] = field(default_factory=list)
    memory: list[Ceiling] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)


def _rows(result: Result, sweep: str) -> Sequence[Row]:
    return next((one.rows for one in result.sweeps if one.name == sweep), [])


def _value(row: Row, name: str, unit: str) -> float | None:
    """A row's positive value in this unit."""
    found = next((one.value for one in row.values if one.name == name and one.unit == unit), None)
    return found if found is not None and found > 0 else None


def _best(result: Result, name: str, unit: str) -> float | None:
    """The largest value of the kernels in the sweep over the stages of a ladder."""
    values = [_value(row, name, unit) for row in _rows(result, "stages") if not REFERENCES.match(row.label)]
    return max((value for value in values if value is not None), default=None)


def _vector_ceilings(result: Result) -> list[Ceiling]:
    peaks: dict[str, float] = {}
    for row in _rows(result, "peak"):
        name, peak = row.label.split(",")[0], _value(row, "peak", "TFLOP/s or TOP/s")
        peaks[name] = max(peak or 0.0, peaks.get(name, 0.0))
    return [Ceiling(f"{name}, vector", TERA * peak) for name in VECTOR_ROWS if (peak := peaks.get(name))]


def _matrix_ceilings(result: Result) -> list[Ceiling]:
    """The fastest instruction of each format, dense: TOP/s of integers are no FLOP/s, and left out."""
    peaks: dict[str, float] = {}
    names = [one.name.removesuffix(MATRIX_RATE) for one in result.inferences if one.name.endswith(MATRIX_RATE)]
    for row in _rows(result, "peak"):
        peak = _value(row, "peak", "TFLOP/s or TOP/s")
        # The longest name that fits: "FP16, FP16 sums" begins as "FP16" does.
        fitting = [name for name in names if row.label.startswith(f"{name} ")]
        name = max(fitting, key=len, default=None)
        if peak and name and not name.endswith(SPARSE) and not name.startswith("INT"):
            peaks[name] = max(peak, peaks.get(name, 0.0))
    return [Ceiling(f"{name}, matrix", TERA * peak) for name, peak in peaks.items()]


def _memory_ceilings(result: Result) -> list[Ceiling]:
    return [
        Ceiling(one.name.removesuffix(" read bandwidth"), GIGA * one.value)
        for one in result.inferences
        if one.name.endswith(" read bandwidth") and one.unit == "GB/s" and one.value
    ]


def _lds_ceiling(result: Result) -> list[Ceiling]:
    clock, units = result.clock.shader_mhz, result.device.compute_units
    return [
        Ceiling("LDS", one.value * units * clock * MEGA)
        for one in result.inferences
        if one.name == "LDS read bandwidth" and one.unit == "bytes/cycle/CU" and one.value and clock
    ]


def _product(result: Result) -> list[Kernel]:
    sizes, rate = result.options.sizes, _best(result, "rate", "TFLOP/s")
    if rate is None or not all(sizes.get(key) for key in "mnk"):
        return []
    m, n, k = (float(sizes[key]) for key in "mnk")
    least_bytes = BYTES_OF_PRODUCT[result.name] * (m * k + k * n + m * n)
    return [Kernel(f"{result.name}, {sizes['m']}", 2 * m * n * k / least_bytes, TERA * rate)]


def _kernels(result: Result) -> list[Kernel]:
    name = result.name
    if name in BYTES_OF_PRODUCT:
        return _product(result)
    bandwidth = _best(result, "bandwidth", "GB/s") if name in ("reduction", "batchnorm") else None
    if bandwidth is None:
        return []
    intensity = 1 / BYTES_OF_FP32 if name == "reduction" else FLOPS_OF_NORMALIZATION / (2 * BYTES_OF_FP32)
    return [Kernel(name, intensity, GIGA * bandwidth * intensity)]


def roofline_of(results: Sequence[Result]) -> Roofline:
    """The ceilings and kernels of a folder's results, all of one device."""
    found = Roofline()
    readers = {"ilp_tlp": _vector_ceilings, "matrix_rate": _matrix_ceilings}
    for result in results:
        if result.build.backend == "host" or result.name != result.experiment:
            continue
        found.kernels += _kernels(result)
        if result.name in readers:
            found.arithmetic += readers[result.name](result)
        elif result.name == "memory_bandwidth":
            found.memory += _memory_ceilings(result)
        elif result.name == "lds_banks":
            found.memory += _lds_ceiling(result)
    return found
