"""Axes: where a value stands, and which ticks read well."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hipscope_report import formats

MOST_TICKS = 7
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
FIRST_WITH_PREFIX, LAST_WITH_PREFIX = 1e4, 1e12


def _name(tick: float) -> str:
    """A tick's number: 5, 50k, 2.5M."""
    if FIRST_WITH_PREFIX <= abs(tick) < LAST_WITH_PREFIX:
        size, prefix = next(one for one in PREFIXES if abs(tick) >= one[0])
        return f"{tick / size:g}{prefix}"
    return formats.tick(tick)


@dataclass(frozen=True)
class Scale:
    """An axis: `place` gives 0 at its beginning and 1 at its end."""

    place: Callable[[float], float]
    ticks: list[tuple[float, str]]
    begins_with_zero: bool = False


def _linear_place(low: float, high: float) -> Callable[[float], float]:
    if low == high:
        return lambda value: 0.5
    return lambda value: (value - low) / (high - low)


def _logarithmic_place(low: float, high: float) -> Callable[[float], float]:
    first, last = math.log(low), math.log(high)
    if first == last:
        return lambda value: 0.5
    return lambda value: (math.log(value) - first) / (last - first)


def _linear_ticks(low: float, high: float) -> list[float]:
    step = (high - low) / 5
    if low + step == low:
        return [low]
    magnitude = 10.0 ** math.floor(math.log10(step))
    step = next(factor for factor in STEPS if factor * magnitude >= step * 0.999) * magnitude
    # A value on a tick may be a rounding error off it.
    counts = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [min(max(count * step, low), high) for count in counts]


def linear(values: Sequence[float], from_zero: bool) -> Scale:
    """A linear axis for these values; from zero on when that is asked for and none is below it."""
    low, high = float(min(values)), float(max(values))
    if from_zero and low >= 0:
        low, high = 0.0, high or 1.0
    return Scale(_linear_place(low, high), [(tick, _name(tick)) for tick in _linear_ticks(low, high)], low == 0)


def octaves(values: Sequence[float], unit: str) -> Scale:
    """A logarithmic axis for positive values, with ticks at powers of two in this unit."""
    low, high = min(values), max(values)
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    step = max(1, math.ceil((last - first) / (MOST_TICKS - 1)))
    ticks = [2.0**exponent for exponent in range(first, last + 1, step)]
    return Scale(_logarithmic_place(low, high), [(tick, formats.binary_number(tick, unit)) for tick in ticks])


def decades(values: Sequence[float]) -> Scale:
    """A logarithmic axis for positive values, with ticks at powers of ten and between them."""
    low, high = min(values), max(values)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    parts = (1, 2, 5) if math.log10(high) - math.log10(low) < 2 else (1,)
    ticks = [part * 10.0**exponent for exponent in range(first, last + 1) for part in parts]
    ticks = [tick for tick in ticks if low <= tick <= high]
    step = max(1, math.ceil(len(ticks) / MOST_TICKS))
    return Scale(_logarithmic_place(low, high), [(tick, _name(tick)) for tick in ticks[::step]])
