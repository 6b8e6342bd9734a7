"""Decides which of the differences between two sides are changes, and which may be chance, the clock or the card."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hipscope.results.records import Measurement

from . import many
from .comparison import BETTER, CARD, CLOCK, SAME, WORSE, Comparison, SweepChange

# What a row and a whole sweep of two cards of one model may differ by. H200s of one model with the same code: their
# CUs lie otherwise, and single rows at the edge of a cache's near half differed by 17 %, whole sweeps by under 2 %.
CARD_ROW, CARD_SWEEP = 0.25, 0.05
# Of fewer rows a sweep has no verdict of its own.
FEWEST_ROWS = 4
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


def verdict_of(change: float, noise: float | None, threshold: float) -> str:
    """Of something of which less is better: by what part of the old value it is more, beside what noise explains."""
    if abs(change) <= max(threshold, noise or 0.0):
        return SAME
    return WORSE if change > 0 else BETTER


@dataclass
class Time:
    """A time that was compared, for what is decided when all are known: its place among the changes."""

    index: int
    place: many.Place
    sides: tuple[list[float], list[float]]


def _chance(difference: float, spread: tuple[float, float] | None) -> float:
    """How often what has not changed differs as much; 0 when nothing is known of it."""
    return 0.0 if spread is None else many.chance(difference / spread[0], spread[1])


class Judge:
    """Decides, when all times are known, which of them and of the sweeps have changed by more than chance."""

    def __init__(self, found: Comparison, times: Sequence[Time], threshold: float, another_card: bool) -> None:
        self.found, self.times, self.threshold, self.another_card = found, times, threshold, another_card
        self.several = any(len(side) > 1 for time in times for side in time.sides)
        self.near = many.Scatter()
        self.squares: dict[many.Place, list[float]] = {}
        for time in times:
            self.near.add(time.place, self.difference(time))
            total, freedom = many.within(time.sides)
            if freedom:
                self.squares.setdefault(time.place[:2], []).append(total / freedom)

    @staticmethod
    def difference(time: Time) -> float:
        """Of the logarithms of the medians; none of times that are no times."""
        before, after = (statistics.median(side) for side in time.sides)
        return math.log(after) - math.log(before) if before > 0 and after > 0 else 0.0

    def spread(self, time: Time) -> tuple[float, float] | None:
        """The standard deviation of such a difference, and its degrees of freedom; None if unknown."""
        total, freedom = many.within(time.sides)
        if freedom:
            usual = statistics.median(self.squares[time.place[:2]])
            variance = (total + many.SWEEP_FREEDOM * usual) / (freedom + many.SWEEP_FREEDOM)
            return many.of_medians(variance, time.sides), freedom + many.SWEEP_FREEDOM
        near = self.near.of(time.place)
        if near is None:
            return None
        own = (self.found.changes[time.index].noise or 0.0) / many.QUARTILES_TO_DEVIATION
        return max(math.hypot(near, own), many.LEAST_SPREAD), many.SINGLE_FREEDOM

    def rows(self) -> None:
        """Takes the verdict off what chance explains, and says what is the clock's or the card's."""
        spreads = {time.index: self.spread(time) for time in self.times}
        chances = {time.index: _chance(self.difference(time), spreads[time.index]) for time in self.times}
        threshold = many.threshold(chances.values())
        slower = self._by_cycles(spreads)
        for time in self.times:
            change = self.found.changes[time.index]
            if change.verdict in (WORSE, BETTER):
                verdict, spread = change.verdict, spreads[time.index]
                if spread is not None and chances[time.index] > threshold:
                    verdict = SAME
                elif slower.get(time.index, verdict) != verdict:
                    verdict = CLOCK
                elif self.another_card and change.change is not None and abs(change.change) <= CARD_ROW:
                    verdict = CARD
                self.found.changes[time.index] = replace(change, verdict=verdict)

    def _by_cycles(self, spreads: Mapping[int, tuple[float, float] | None]) -> dict[int, str]:
        """The verdicts that cycles would have, which vary from run to run as the times do."""
        changes = {
            time.index: change
            for time in self.times
            if (change := self.found.changes[time.index].cycles) is not None and change > -1
        }
        chances = {index: _chance(math.log1p(change), spreads[index]) for index, change in changes.items()}
        threshold = many.threshold(chances.values())
        return {
            index: verdict_of(change, None, self.threshold) if chances[index] <= threshold else SAME
            for index, change in changes.items()
        }

    def sweeps(self) -> None:
        """A verdict per sweep, by the median of its rows' changes."""
        members: dict[many.Place, list[Time]] = {}
        for time in self.times:
            members.setdefault(time.place[:2], []).append(time)
        members = {place: times for place, times in members.items() if len(times) >= FEWEST_ROWS}
        medians = {place: statistics.median(map(self.difference, times)) for place, times in members.items()}
        between = many.scatter(list(medians.values())) if len(medians) >= many.FEWEST else 0.0
        runs = {place: self._runs(times) for place, times in members.items()} if self.several else {}
        usual = statistics.median(many.variance(sides) for sides in runs.values()) if runs else 0.0
        chances = {
            place: self._chance_of_runs(medians[place], runs[place], usual)
            if runs
            else many.chance(medians[place] / self._error(times, between), many.SINGLE_FREEDOM)
            for place, times in members.items()
        }
        threshold = many.threshold(chances.values())
        for place, median in medians.items():
            cycles = [
                one
                for time in members[place]
                if (one := self.found.changes[time.index].cycles) is not None and math.isfinite(one)
            ]
            change, in_cycles = math.expm1(median), statistics.median(cycles) if cycles else None
            verdict = verdict_of(change, None, self.threshold) if chances[place] <= threshold else SAME
            if verdict != SAME and in_cycles is not None and verdict_of(in_cycles, None, self.threshold) != verdict:
                verdict = CLOCK
            elif verdict != SAME and self.another_card and abs(change) <= CARD_SWEEP:
                verdict = CARD
            experiment, sweep = place
            self.found.sweeps.append(SweepChange(experiment, sweep, len(members[place]), change, in_cycles, verdict))
        self.found.sweeps.sort(key=lambda one: -abs(one.change))

    @staticmethod
    def _runs(times: Sequence[Time]) -> tuple[list[float], list[float]]:
        """By what factor each run of both sides is slower, by the median of the rows that all of them have."""
        counts = [max(len(time.sides[side]) for time in times) for side in (0, 1)]
        logarithms = [
            [*map(math.log, (*time.sides[0], *time.sides[1]))]
            for time in times
            if [len(side) for side in time.sides] == counts
        ]
        off = [[one - statistics.fmean(row) for one in row] for row in logarithms]
        each = [math.exp(statistics.median(run)) for run in zip(*off)]
        return each[: counts[0]], each[counts[0] :]

    @staticmethod
    def _chance_of_runs(difference: float, sides: tuple[list[float], list[float]], usual: float) -> float:
        """How often a sweep that has not changed differs so, by what its runs, and those of others, differ by."""
        total, freedom = many.within(sides)
        variance = (total + many.SWEEP_FREEDOM * usual) / (freedom + many.SWEEP_FREEDOM)
        return many.chance(difference / many.of_medians(variance, sides), freedom + many.SWEEP_FREEDOM)

    def _error(self, times: Sequence[Time], between: float) -> float:
        """The error of a sweep's median: of its rows' scatter, and of what sweeps differ by as a whole."""
        scatter = many.scatter([self.difference(time) for time in times])
        return max(math.hypot(between, scatter / math.sqrt(len(times))), many.LEAST_SPREAD)
