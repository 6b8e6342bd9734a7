"""What of many differences is more than chance: a correction for thousands of rows, and a verdict per sweep.

Of one run a side nobody knows what the next would have said, and the samples of a run say too little of it.
Most rows of a comparison have not changed, and how they differ tells what runs differ by: a row has changed
when it stands out from its sweep's, by Student's distribution with few degrees of freedom, since what
happens between runs has long tails. Of several runs a side the differences within a side say it.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence

# The false discovery rate over all times of a comparison (Benjamini and Hochberg 1995).
DISCOVERY_RATE = 0.01
# Fewer differences give no scatter; this many of one name in a sweep can show that theirs is larger than around them.
FEWEST, FEWEST_FOR_MORE = 12, 8
# Student's degrees of freedom of what two single runs differ by.
SINGLE_FREEDOM = 3.0
# How many differences within a side a row's sweep counts for, beside the row's own.
SWEEP_FREEDOM = 4.0
DEVIATIONS_PER_MAD = 1.4826
# Of a normal distribution, the interquartile range in standard deviations.
QUARTILES_TO_DEVIATION = 1.349
# A timer's step and a clock's: no run is told apart from the next by less.
LEAST_SPREAD = 0.002

Place = tuple[str, ...]


def chance(deviations: float, freedom: float) -> float:
    """How often something that has not changed is as far off, either way; Wallace's form of Student's distribution."""
    z = abs(deviations)
    normal = (8 * freedom + 1) / (8 * freedom + 3) * math.sqrt(freedom * math.log1p(z * z / freedom))
    return math.erfc(normal / math.sqrt(2))


def threshold(chances: Iterable[float], rate: float = DISCOVERY_RATE, tests: int = 0) -> float:
    """The largest chance that is a discovery among all tests; 0 when none is."""
    ordered = sorted(chances)
    passed = [one for rank, one in enumerate(ordered, start=1) if one <= rate * rank / (tests or len(ordered))]
    return passed[-1] if passed else 0.0


def scatter(values: Sequence[float]) -> float:
    """The spread about the median, by the median absolute deviation."""
    middle = statistics.median(values)
    return DEVIATIONS_PER_MAD * statistics.median(abs(one - middle) for one in values)


class Scatter:
    """The scatter of differences near a place: of its sweep and name, else of its sweep, its experiment, of all."""

    def __init__(self) -> None:
        self.values: dict[Place, list[float]] = defaultdict(list)
        self.known: dict[Place, float | None] = {}

    def add(self, place: Place, difference: float) -> None:
        """Notes a difference of logarithms."""
        for length in range(len(place) + 1):
            self.values[place[:length]].append(difference)

    def of(self, place: Place) -> float | None:
        """None when there are too few everywhere."""
        if place not in self.known:
            self.known[place] = self._of(place)
        return self.known[place]

    def _of(self, place: Place) -> float | None:
        least = 0.0
        for length in range(len(place), -1, -1):
            values = self.values[place[:length]]
            if len(values) >= FEWEST:
                return max(least, scatter(values))
            if length == len(place) and len(values) >= FEWEST_FOR_MORE:
                least = scatter(values)
        return None


def within(sides: Sequence[Sequence[float]]) -> tuple[float, int]:
    """The sum of squares of logarithms within sides, and its degrees of freedom."""
    total, freedom = 0.0, 0
    for side in sides:
        logarithms = [math.log(one) for one in side]
        middle = statistics.fmean(logarithms)
        total += math.fsum((one - middle) ** 2 for one in logarithms)
        freedom += len(side) - 1
    return total, freedom


def variance(sides: Sequence[Sequence[float]]) -> float:
    """What runs differ by within sides, of which one has several."""
    total, freedom = within(sides)
    return total / freedom if freedom else 0.0


def of_medians(of_run: float, sides: Sequence[Sequence[float]]) -> float:
    """The standard deviation of what the sides' medians differ by, of a run's variance."""
    runs = sum(1 / len(side) for side in sides)
    return max(math.sqrt(of_run * runs), LEAST_SPREAD * math.sqrt(runs / 2))
