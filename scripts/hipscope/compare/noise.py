"""How far apart two medians of samples may be and still be the same."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from hipscope.results.records import Measurement

# Of fewer samples the quartiles say too little, and their whole range counts. With these rules two runs of
# the same normally distributed time are told apart in under 4 % of cases with 3 samples and under 1 % from
# 4 on (test_compare.py counts them).
FEWEST_FOR_QUARTILES = 12


def spread(runs: Sequence[Measurement]) -> float:
    """The interquartile range of the samples, or their range when there are few; 0 of a single one.

    The minimum, quartiles and maximum of each run stand for its samples.
    """
    numbers = [
        number
        for run in runs
        for number in (run.minimum, run.first_quartile, run.median, run.third_quartile, run.maximum)
    ]
    if sum(run.samples for run in runs) < FEWEST_FOR_QUARTILES:
        return max(numbers) - min(numbers)
    first, _, third = statistics.quantiles(numbers, n=4, method="inclusive")
    return third - first


def relative_noise(old: Sequence[Measurement], new: Sequence[Measurement]) -> float | None:
    """The noise of the difference between two sides' medians, as a part of the old one; a side is of one run or more.

    None when it is not known: one sample has no spread, and nothing is a part of zero.
    """
    median = statistics.median(run.median for run in old)
    if median == 0 or min(sum(run.samples for run in side) for side in (old, new)) < 2:
        return None
    return math.hypot(spread(old), spread(new)) / abs(median)


def relative_change(old: float, new: float) -> float:
    """The change as a part of the old value; infinite when that is zero and the new one is not."""
    if old == new:
        return 0.0
    return (new - old) / abs(old) if old else math.copysign(math.inf, new)
