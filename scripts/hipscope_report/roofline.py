"""The roofline of a device: what arithmetic and memory allow a kernel by its FLOPs per byte, and where the
whole kernels of chapter 8 lie under it. Everything in it is measured, and read from the result files."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib
from matplotlib import pyplot, ticker

from . import formats, plots
from .load import Result

FILE_NAME = "roofline.svg"
ALTERNATIVE = "FLOP/s over FLOPs per byte: ceilings and whole kernels"
EXPLANATION = (
    "Horizontal: what arithmetic reaches in each format, by matrix instructions where there are any. Slanted: what "
    "memory, caches and LDS give, times the FLOPs for each byte. A point is a whole kernel, at the FLOPs that its result "
    "takes over the bytes that it must read and write at least once: how far under the memory's line or its format's it "
    "lies is what it leaves."
)
FIGURE_INCHES = (7.5, 5.6)
# From one FLOP for 16 bytes to where every format is limited by arithmetic.
LEAST_INTENSITY, GREATEST_INTENSITY = 2.0**-4, 2.0**13
TERA, GIGA, MEGA = 1e12, 1e9, 1e6
# Vector formats that ilp_tlp's sweep peak has in rows of these names.
VECTOR_ROWS = ("FP32 FMA", "FP64 FMA", "FP16 packed FMA")
# Rows of a ladder that are no kernel of ours: libraries, and what is only read or copied.
REFERENCES = re.compile(r"(vendor )?library|cuDNN|MIOpen|read$|copy$")
# Lines nearer than this hide the names that stand between them.
CLOSE = 1.6
MATRIX_RATE = " matrix rate"
SPARSE = " sparse"
BYTES_OF_PRODUCT = {"sgemm": 4, "dgemm": 8, "hgemm": 2}
BYTES_OF_FP32 = 4
# Of a batch normalization by its definition, for each value, which is read and written once: one addition for
# the mean, three operations for the variance, four for (x - mean) x factor x gamma + beta.
FLOPS_OF_NORMALIZATION = 8

Json = dict[str, Any]


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


def _rows(data: Json, sweep: str) -> list[Json]:
    return next((one["rows"] for one in data["sweeps"] if one["name"] == sweep), [])


def _value(row: Json, name: str, unit: str) -> float | None:
    """A row's positive value in this unit."""
    found = next((one["value"] for one in row["values"] if one["name"] == name and one["unit"] == unit), None)
    return found if found is not None and found > 0 else None


def _best(data: Json, name: str, unit: str) -> float | None:
    """The largest value of the kernels in the sweep over the stages of a ladder."""
    values = [_value(row, name, unit) for row in _rows(data, "stages") if not REFERENCES.match(row["label"])]
    return max((value for value in values if value is not None), default=None)


def _vector_ceilings(data: Json) -> list[Ceiling]:
    peaks = {row["label"]: _value(row, "peak", "TFLOP/s or TOP/s") for row in _rows(data, "peak")}
    return [Ceiling(f"{name}, vector", TERA * peak) for name in VECTOR_ROWS if (peak := peaks.get(name))]


def _matrix_ceilings(data: Json) -> list[Ceiling]:
    """The fastest instruction of each format, dense: TOP/s of integers are no FLOP/s, and left out."""
    peaks: dict[str, float] = {}
    names = [one["name"].removesuffix(MATRIX_RATE) for one in data["inferences"] if one["name"].endswith(MATRIX_RATE)]
    for row in _rows(data, "peak"):
        peak = _value(row, "peak", "TFLOP/s or TOP/s")
        # The longest name that fits: "FP16, FP16 sums" begins as "FP16" does.
        fitting = [name for name in names if row["label"].startswith(f"{name} ")]
        name = max(fitting, key=len, default=None)
        if peak and name and not name.endswith(SPARSE) and not name.startswith("INT"):
            peaks[name] = max(peak, peaks.get(name, 0.0))
    return [Ceiling(f"{name}, matrix", TERA * peak) for name, peak in peaks.items()]


def _memory_ceilings(data: Json) -> list[Ceiling]:
    return [Ceiling(one["name"].removesuffix(" read bandwidth"), GIGA * one["value"]) for one in data["inferences"]
            if one["name"].endswith(" read bandwidth") and one["unit"] == "GB/s" and one["value"]]


def _lds_ceiling(data: Json) -> list[Ceiling]:
    clock, units = data["clock"]["shader_mhz"], data["device"]["compute_units"]
    return [Ceiling("LDS", one["value"] * units * clock * MEGA) for one in data["inferences"]
            if one["name"] == "LDS read bandwidth" and one["unit"] == "bytes/cycle/CU" and one["value"] and clock]


def _product(name: str, data: Json) -> list[Kernel]:
    sizes, rate = data["options"]["sizes"], _best(data, "rate", "TFLOP/s")
    if rate is None or not all(sizes.get(key) for key in "mnk"):
        return []
    m, n, k = (float(sizes[key]) for key in "mnk")
    least_bytes = BYTES_OF_PRODUCT[name] * (m * k + k * n + m * n)
    return [Kernel(f"{name}, {sizes['m']}", 2 * m * n * k / least_bytes, TERA * rate)]


def _kernels(name: str, data: Json) -> list[Kernel]:
    if name in BYTES_OF_PRODUCT:
        return _product(name, data)
    bandwidth = _best(data, "bandwidth", "GB/s") if name in ("reduction", "batchnorm") else None
    if bandwidth is None:
        return []
    intensity = 1 / BYTES_OF_FP32 if name == "reduction" else FLOPS_OF_NORMALIZATION / (2 * BYTES_OF_FP32)
    return [Kernel(name, intensity, GIGA * bandwidth * intensity)]


def roofline_of(results: Sequence[Result]) -> Roofline:
    """The ceilings and kernels of a folder's results, all of one device."""
    found = Roofline()
    readers = {"ilp_tlp": _vector_ceilings, "matrix_rate": _matrix_ceilings}
    for result in results:
        if result.data["build"]["backend"] == "host" or result.name != result.data["experiment"]:
            continue
        found.kernels += _kernels(result.name, result.data)
        if result.name in readers:
            found.arithmetic += readers[result.name](result.data)
        elif result.name == "memory_bandwidth":
            found.memory += _memory_ceilings(result.data)
        elif result.name == "lds_banks":
            found.memory += _lds_ceiling(result.data)
    return found


def _with_unit(rate: float, unit: str) -> str:
    return f"{rate / TERA:.4g} T{unit}" if rate >= TERA else f"{rate / GIGA:.4g} G{unit}"


def _draw_arithmetic(axes: Any, ceilings: list[Ceiling], fastest_memory: float) -> None:
    """Lines whose names stand one above the other where they are close together."""
    last = 0.0
    for number, ceiling in enumerate(sorted(ceilings, key=lambda one: one.rate)):
        colour = plots.COLOURS[number % len(plots.COLOURS)]
        begin = max(LEAST_INTENSITY, ceiling.rate / fastest_memory)
        axes.plot([begin, GREATEST_INTENSITY], [ceiling.rate] * 2, color=colour, linewidth=plots.LINE_WIDTH)
        last = max(ceiling.rate, last * 1.28)
        axes.annotate(f"{formats.short(ceiling.name)} {_with_unit(ceiling.rate, 'FLOP/s')}",
                      (GREATEST_INTENSITY, last), (5, 0), textcoords="offset points", va="center", fontsize=9,
                      color=colour, annotation_clip=False)


def _slope(axes: Any) -> float:
    """The angle at which lines of one rate rise in the picture, in degrees."""
    (x, y), (further, higher) = axes.transData.transform([(1.0, TERA), (2.0, 2 * TERA)])
    return math.degrees(math.atan2(higher - y, further - x))


def _draw_memory(axes: Any, ceilings: list[Ceiling], top: float) -> None:
    """Lines with their names above them, below where another one is close above."""
    angle = _slope(axes)
    above = math.inf
    for ceiling in sorted(ceilings, key=lambda one: -one.rate):
        end = top / ceiling.rate
        axes.plot([LEAST_INTENSITY, end], [ceiling.rate * LEAST_INTENSITY, top], color="#555555", linewidth=1.2)
        offset, alignment = ((10, -3), "top") if above / ceiling.rate < CLOSE else ((3, 3), "bottom")
        axes.annotate(f"{formats.short(ceiling.name)} {_with_unit(ceiling.rate, 'B/s')}",
                      (LEAST_INTENSITY, ceiling.rate * LEAST_INTENSITY), offset, textcoords="offset points",
                      rotation=angle, rotation_mode="anchor", va=alignment, fontsize=9, color="#555555")
        above = ceiling.rate


def _draw_kernels(axes: Any, kernels: list[Kernel]) -> None:
    for number, kernel in enumerate(sorted(kernels, key=lambda one: one.intensity)):
        axes.plot([kernel.intensity], [kernel.rate], linestyle="", marker=plots.MARKERS[number % len(plots.MARKERS)],
                  markersize=7, color="#000000", zorder=5)
        axes.annotate(formats.short(kernel.name), (kernel.intensity, kernel.rate), (6, -12 if number % 2 else -24),
                      textcoords="offset points", fontsize=9, zorder=5)


def plot(found: Roofline, device: str) -> bytes | None:
    """The picture as SVG; None unless both arithmetic and memory are known."""
    if not found.arithmetic or not found.memory:
        return None
    top = max(one.rate for one in found.arithmetic)
    rates = [one.rate * LEAST_INTENSITY for one in found.memory] + [one.rate for one in found.kernels]
    with matplotlib.rc_context(plots.STYLE):
        figure, axes = pyplot.subplots(figsize=FIGURE_INCHES, layout="constrained")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlim(LEAST_INTENSITY, GREATEST_INTENSITY)
        axes.set_ylim(10 ** math.floor(math.log10(min(rates))), 2 * top)
        axes.xaxis.set_major_locator(ticker.FixedLocator([2.0**exponent for exponent in range(-4, 14, 2)]))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
        axes.xaxis.set_major_formatter(lambda value, _: f"1/{1 / value:g}" if value < 1 else f"{value:g}")
        axes.yaxis.set_minor_locator(ticker.NullLocator())
        axes.yaxis.set_major_formatter(lambda value, _: _with_unit(value, ""))
        axes.set_xlabel("FLOPs per byte")
        axes.set_ylabel("FLOP/s")
        axes.grid(True)
        _draw_arithmetic(axes, found.arithmetic, max(one.rate for one in found.memory))
        _draw_kernels(axes, found.kernels)
        # The angle of the lines' names is known once the rest has its place.
        figure.canvas.draw()
        figure.set_layout_engine("none")
        _draw_memory(axes, found.memory, top)
        axes.set_title(f"Roofline: {formats.short(device)}", fontsize=12, loc="left")
        return plots.to_svg(figure)
