"""How far apart two medians of samples may be and still be the same."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

# Of fewer samples the quartiles say too little, and their whole range counts. With these rules two runs of
# the same normally distributed time are told apart in under 4 % of cases with 3 samples and under 1 % from
# 4 on (test_compare.py counts them).
FEWEST_FOR_QUARTILES = 12


def spread(samples: Sequence[float]) -> float:
    """The interquartile range of the samples, or their range when there are few; 0 of a single one."""
    if len(samples) < FEWEST_FOR_QUARTILES:
        return max(samples) - min(samples)
    first, _, third = statistics.quantiles(samples, n=4, method="inclusive")
    return third - first


def relative_noise(old: Sequence[float], new: Sequence[float]) -> float | None:
    """The noise of the difference between two runs' medians, as a part of the old one.

    None when it is not known: one sample has no spread, and nothing is a part of zero.
    """
    median = statistics.median(old)
    if median == 0 or len(old) < 2 or len(new) < 2:
        return None
    return math.hypot(spread(old), spread(new)) / abs(median)


def relative_change(old: float, new: float) -> float:
    """The change as a part of the old value; infinite when that is zero and the new one is not."""
    if old == new:
        return 0.0
    return (new - old) / abs(old) if old else math.copysign(math.inf, new)
