"""Matches the results of two sides, of one run or several each, and finds what differs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from hipscope_report.load import Result

from . import cards, many
from .noise import relative_change, relative_noise

Json = dict[str, Any]
Item = TypeVar("Item")

WORSE, BETTER, CHANGED, SAME = "worse", "better", "changed", "same"
# A time that changed with the clock while its cycles did not, and what two cards of one model may differ by.
CLOCK, CARD = "clock", "another card"
# Units of what a compiler, a library or a driver decides and no clock measures: any change of these is one.
# Errors in eps are left out: they are of random inputs, and verification has a bound for them.
COUNTED = frozenset({
    "FMAs", "blocks", "blocks/CU", "bytes", "bytes per thread", "bytes/thread", "dwords", "per access",
    "per block", "per launch", "per sum", "per thread", "planes", "registers", "stages", "ulp", "verified",
    "waves/CU",
})
# Units of what the device's own counter measured, of which lower is better. Beside a measurement they say
# what that says; alone they are all there is, and their noise is not known.
DURATIONS = frozenset({"cycles", "cycles x CUs", "ns", "us", "ms", "s"})
# By what part the clocks of two runs may differ without a word.
CLOCK_TOLERANCE = 0.02
# What a row and a whole sweep of two cards of one model may differ by. H200s of one model with the same code: their
# CUs lie otherwise, and single rows at the edge of a cache's near half differed by 17 %, whole sweeps by under 2 %.
CARD_ROW, CARD_SWEEP = 0.25, 0.05
# Of fewer rows a sweep has no verdict of its own.
FEWEST_ROWS = 4


@dataclass(frozen=True)
class Change:
    """One thing that both runs have: `change` and `noise` are parts of the old value, not per cent.

    Of what is no number the texts stand in `old` and `new`, and there is no change; noise is None when
    it is not known. `cycles` is the change of a time's cycles, where both sides have a measured clock.
    """

    experiment: str
    sweep: str
    row: str
    what: str
    unit: str
    old: float | str | None
    new: float | str | None
    change: float | None
    noise: float | None
    verdict: str
    cycles: float | None = None

    @property
    def path(self) -> str:
        """What --only looks at."""
        return "/".join((self.experiment, self.sweep, self.row, self.what))


@dataclass(frozen=True)
class SweepChange:
    """The times of a sweep together: the median of its rows' changes, of times and of cycles."""

    experiment: str
    sweep: str
    rows: int
    change: float
    cycles: float | None
    verdict: str


@dataclass
class Comparison:
    """All that was compared, what only one side has, and what else differs between the sides."""

    changes: list[Change] = field(default_factory=list)
    sweeps: list[SweepChange] = field(default_factory=list)
    only_old: list[str] = field(default_factory=list)
    only_new: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)

    def count(self, verdict: str) -> int:
        """How many changes have this verdict."""
        return sum(change.verdict == verdict for change in self.changes)

    def as_json(self) -> Json:
        """All of it; what is no number, such as the part of zero that a change is, is null."""
        changes = [{name: None if isinstance(value, float) and not math.isfinite(value) else value
                    for name, value in asdict(one).items()} for one in self.changes]
        return {"conditions": self.conditions, "only_old": self.only_old, "only_new": self.only_new,
                "counts": self.counts(), "sweeps": [asdict(one) for one in self.sweeps], "changes": changes}

    def counts(self) -> dict[str, int]:
        """How many changes have each verdict; those of clocks and cards only where there are any."""
        counts = {verdict: self.count(verdict) for verdict in (WORSE, BETTER, CHANGED, SAME, CLOCK, CARD)}
        return {verdict: count for verdict, count in counts.items() if count or verdict not in (CLOCK, CARD)}

    @property
    def is_worse(self) -> bool:
        """Whether anything got worse: a row, or a sweep as a whole."""
        return any(one.verdict == WORSE for one in (*self.changes, *self.sweeps))


def _keyed(items: Iterable[Item], *names: str) -> dict[tuple[Any, ...], Item]:
    """The items by these members; the second of one key has the number 2 in its own, and so on."""
    found: dict[tuple[Any, ...], Item] = {}
    seen: dict[tuple[Any, ...], int] = {}
    for item in items:
        key = tuple(item[name] for name in names)  # type: ignore[index]
        seen[key] = seen.get(key, 0) + 1
        found[(*key, seen[key])] = item
    return found


def _verdict(change: float, noise: float | None, threshold: float) -> str:
    """Of something of which less is better."""
    if abs(change) <= max(threshold, noise or 0.0):
        return SAME
    return WORSE if change > 0 else BETTER


def _rows(sweep: Json) -> dict[tuple[Any, ...], Json]:
    return _keyed(sweep["rows"], "label", "x")


def _measurements(run: Json) -> dict[tuple[Any, ...], Json]:
    """All measurements of a run: by sweep, row and name."""
    return {(sweep["name"], *key, *name): measurement
            for sweep in run["sweeps"] for key, row in _rows(sweep).items()
            for name, measurement in _keyed(row["measurements"], "name").items()}


def _values(run: Json) -> dict[tuple[Any, ...], float | None]:
    """All values of a run, by the same."""
    return {(sweep["name"], *key, *name): value["value"]
            for sweep in run["sweeps"] for key, row in _rows(sweep).items()
            for name, value in _keyed(row["values"], "name").items()}


def _cycles(measurement: Json) -> float | None:
    """The median of the samples in cycles; None where a clock was not measured."""
    cycles = [sample * clock for sample, clock in zip(measurement["samples"], measurement["shader_mhz"]) if clock]
    return statistics.median(cycles) if cycles else None


def _median_change(old: Sequence[Json], new: Sequence[Json], of: Callable[[Json], float | None]
                   ) -> tuple[float | None, float | None]:
    """The median over a side's runs, of both sides; None where a run has none."""
    sides = [[of(one) for one in side] for side in (old, new)]
    medians = [None if None in side else statistics.median(one for one in side if one is not None) for side in sides]
    return medians[0], medians[1]


def _samples(runs: Sequence[Json]) -> list[float]:
    return [sample for run in runs for sample in run["samples"]]


@dataclass
class _Time:
    """A time that was compared, for what is decided when all are known: its place among the changes."""

    index: int
    place: many.Place
    sides: tuple[list[float], list[float]]


class _Comparer:
    """Compares the results of one experiment: of the first run of each side, and the times of all runs."""

    def __init__(self, experiment: str, threshold: float, into: Comparison, times: list[_Time],
                 runs: tuple[Sequence[Json], Sequence[Json]]) -> None:
        self.experiment, self.threshold, self.into, self.times = experiment, threshold, into, times
        self.runs = [[_measurements(run) for run in side] for side in runs]
        self.values = [[_values(run) for run in side] for side in runs]

    def pairs(self, place: str, old: Mapping[tuple[Any, ...], Item], new: Mapping[tuple[Any, ...], Item]
              ) -> Iterator[tuple[tuple[Any, ...], Item, Item]]:
        """What both have, with its key; notes what only one has, by the first part of its key."""
        for key, item in old.items():
            if key in new:
                yield key, item, new[key]
        for missing, there, into in ((new, old, self.into.only_old), (old, new, self.into.only_new)):
            into.extend(f"{self.experiment}/{place}{key[0]}" for key in there if key not in missing)

    def add(self, place: tuple[str, str, str], unit: str, old: Any, new: Any, change: float | None,
            noise: float | None, verdict: str, cycles: float | None = None) -> None:
        """Notes a comparison of `place`: sweep, row and what of it."""
        self.into.changes.append(
            Change(self.experiment, *place, unit, old, new, change, noise, verdict, cycles))

    def measurement(self, key: tuple[Any, ...], label: str) -> None:
        """A time: the medians of all samples, or of the runs' medians, against the noise of both sides."""
        old, new = ([run[key] for run in side if key in run] for side in self.runs)
        medians = [[statistics.median(one["samples"]) for one in side] for side in (old, new)]
        before, after = map(statistics.median, medians)
        change, noise = relative_change(before, after), relative_noise(_samples(old), _samples(new))
        cycles = _median_change(old, new, _cycles)
        sweep, name = key[0], old[0]["name"]
        self.add((sweep, label, name), old[0]["unit"], before, after, change, noise,
                 _verdict(change, noise, self.threshold),
                 None if None in cycles else relative_change(*cycles))  # type: ignore[arg-type]
        self.note((self.experiment, sweep, name), medians[0], medians[1])

    def note(self, place: many.Place, old: list[float], new: list[float]) -> None:
        """Keeps the durations of the change that was just added, one of each run."""
        if min(*old, *new) > 0:
            self.times.append(_Time(len(self.into.changes) - 1, place, (old, new)))

    def duration(self, key: tuple[Any, ...], row: str, unit: str) -> None:
        """A duration that stands alone: the medians of the runs' values."""
        old, new = ([run[key] for run in side if run.get(key) is not None] for side in self.values)
        before, after = statistics.median(old), statistics.median(new)
        change = relative_change(before, after)
        self.add((key[0], row, key[-2]), unit, before, after, change, None, _verdict(change, None, self.threshold))
        self.note((self.experiment, key[0], key[-2]), old, new)

    def value(self, key: tuple[Any, ...], row: str, old: Json, new: Json, is_alone: bool) -> None:
        """What is counted, and durations that stand alone; the rest follows from the times."""
        before, after, unit = old["value"], new["value"], new["unit"]
        place = (key[0], row, old["name"])
        if (before is None) != (after is None) or old["unit"] != unit:
            self.add(place, unit, before, after, None, None, CHANGED)
        elif before is not None and unit in COUNTED:
            self.add(place, unit, before, after, relative_change(before, after), None,
                     SAME if before == after else CHANGED)
        elif before is not None and unit in DURATIONS and is_alone:
            self.duration(key, row, unit)

    def row(self, sweep: str, key: tuple[Any, ...], old: Json, new: Json) -> None:
        """A row's measurements and values."""
        label = old["label"]
        place = f"{sweep}/{label}/"
        for name, _, _ in self.pairs(place, *(_keyed(one["measurements"], "name") for one in (old, new))):
            self.measurement((sweep, *key, *name), label)
        alone = not old["measurements"] and not new["measurements"]
        for name, before, after in self.pairs(place, *(_keyed(one["values"], "name") for one in (old, new))):
            self.value((sweep, *key, *name), label, before, after, alone)

    def inference(self, old: Json, new: Json) -> None:
        """An inferred parameter: changed beyond the threshold, or found by one run alone."""
        before, after = old["value"], new["value"]
        place = ("inferred", "", old["name"])
        if before is None or after is None:
            verdict = SAME if before is after else CHANGED
            self.add(place, new["unit"], before, after, None, None, verdict)
            return
        change = relative_change(before, after)
        verdict = CHANGED if abs(change) > self.threshold or old["unit"] != new["unit"] else SAME
        self.add(place, new["unit"], before, after, change, None, verdict)

    def verification(self, old: Json, new: Json) -> None:
        """Whether all that the kernels computed was right."""
        before, after = ("failed" if one["status"] == "failed" or one["verification"]["failures"] else "passed"
                         for one in (old, new))
        verdict = SAME if before == after else WORSE if after == "failed" else BETTER
        self.add(("verification", "", "status"), "", before, after, None, None, verdict)

    def result(self, old: Json, new: Json) -> None:
        """All of an experiment."""
        self.verification(old, new)
        for _, before, after in self.pairs("", *(_keyed(one["sweeps"], "name") for one in (old, new))):
            name = before["name"]
            for key, row, other in self.pairs(f"{name}/", *map(_rows, (before, after))):
                self.row(name, key, row, other)
        for _, before, after in self.pairs("inferred/", *(_keyed(one["inferences"], "name") for one in (old, new))):
            self.inference(before, after)


def _conditions(old: Json, new: Json) -> Iterator[tuple[str, Any, Any]]:
    """What both runs were made with, as name, old and new."""
    device = ("name", "architecture", "compute_units", "wave_size", "driver", "runtime")
    yield from ((f"device {name}", old["device"][name], new["device"][name]) for name in device)
    yield from ((name, old["build"][name], new["build"][name]) for name in ("backend", "compiler", "flags", "targets"))
    yield "revision", old["hipscope"]["git_revision"], new["hipscope"]["git_revision"]
    options = {**old["options"], **new["options"]}
    yield from ((f"option {name}", old["options"].get(name), new["options"].get(name)) for name in options
                if name != "sizes")
    sizes = {**old["options"]["sizes"], **new["options"]["sizes"]}
    yield from ((f"size {name}", old["options"]["sizes"].get(name), new["options"]["sizes"].get(name))
                for name in sizes)


# What makes two runs' times no comparison of like with like, by the beginning of its name.
INCOMPARABLE = ("device name", "device architecture", "backend", "size ")


def _differences(old: Json, new: Json) -> Iterator[str]:
    """A sentence for each difference in conditions."""
    for name, before, after in _conditions(old, new):
        if before != after:
            warning = "WARNING: " if name.startswith(INCOMPARABLE) else ""
            yield f"{warning}{name}: {before} -> {after}"
    if "once" in (old["options"]["preset"], new["options"]["preset"]):
        yield "WARNING: --once takes one sample, of which no noise is known"
    clocks = [one["clock"]["shader_mhz"] for one in (old, new)]
    if None not in clocks and abs(relative_change(*clocks)) > CLOCK_TOLERANCE:
        yield f"WARNING: shader clock: {clocks[0]:.0f} MHz -> {clocks[1]:.0f} MHz"


def _chance(difference: float, spread: tuple[float, float] | None) -> float:
    """How often what has not changed differs as much; 0 when nothing is known of it."""
    return 0.0 if spread is None else many.chance(difference / spread[0], spread[1])


class _Judge:
    """Decides, when all times are known, which of them and of the sweeps have changed by more than chance."""

    def __init__(self, found: Comparison, times: Sequence[_Time], threshold: float, another_card: bool) -> None:
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
    def difference(time: _Time) -> float:
        """Of the logarithms of the medians; none of times that are no times."""
        before, after = map(statistics.median, time.sides)
        return math.log(after) - math.log(before) if before > 0 and after > 0 else 0.0

    def spread(self, time: _Time) -> tuple[float, float] | None:
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
        changes = {time.index: change for time in self.times
                   if (change := self.found.changes[time.index].cycles) is not None and change > -1}
        chances = {index: _chance(math.log1p(change), spreads[index]) for index, change in changes.items()}
        threshold = many.threshold(chances.values())
        return {index: _verdict(change, None, self.threshold) if chances[index] <= threshold else SAME
                for index, change in changes.items()}

    def sweeps(self) -> None:
        """A verdict per sweep, by the median of its rows' changes."""
        members: dict[many.Place, list[_Time]] = {}
        for time in self.times:
            members.setdefault(time.place[:2], []).append(time)
        members = {place: times for place, times in members.items() if len(times) >= FEWEST_ROWS}
        medians = {place: statistics.median(map(self.difference, times)) for place, times in members.items()}
        between = many.scatter(list(medians.values())) if len(medians) >= many.FEWEST else 0.0
        runs = {place: self._runs(times) for place, times in members.items()} if self.several else {}
        usual = statistics.median(many.variance(sides) for sides in runs.values()) if runs else 0.0
        chances = {place: self._chance_of_runs(medians[place], runs[place], usual) if runs else
                   many.chance(medians[place] / self._error(times, between), many.SINGLE_FREEDOM)
                   for place, times in members.items()}
        threshold = many.threshold(chances.values())
        for place, median in medians.items():
            cycles = [one for time in members[place]
                      if (one := self.found.changes[time.index].cycles) is not None and math.isfinite(one)]
            change, in_cycles = math.expm1(median), statistics.median(cycles) if cycles else None
            verdict = _verdict(change, None, self.threshold) if chances[place] <= threshold else SAME
            if verdict != SAME and in_cycles is not None and _verdict(in_cycles, None, self.threshold) != verdict:
                verdict = CLOCK
            elif verdict != SAME and self.another_card and abs(change) <= CARD_SWEEP:
                verdict = CARD
            self.found.sweeps.append(SweepChange(*place, len(members[place]), change, in_cycles, verdict))
        self.found.sweeps.sort(key=lambda one: -abs(one.change))

    @staticmethod
    def _runs(times: Sequence[_Time]) -> tuple[list[float], list[float]]:
        """By what factor each run of both sides is slower, by the median of the rows that all of them have."""
        counts = [max(len(time.sides[side]) for time in times) for side in (0, 1)]
        logarithms = [[*map(math.log, (*time.sides[0], *time.sides[1]))] for time in times
                      if [len(side) for side in time.sides] == counts]
        off = [[one - statistics.fmean(row) for one in row] for row in logarithms]
        each = [math.exp(statistics.median(run)) for run in zip(*off)]
        return each[:counts[0]], each[counts[0]:]

    @staticmethod
    def _chance_of_runs(difference: float, sides: tuple[list[float], list[float]], usual: float) -> float:
        """How often a sweep that has not changed differs so, by what its runs, and those of others, differ by."""
        total, freedom = many.within(sides)
        variance = (total + many.SWEEP_FREEDOM * usual) / (freedom + many.SWEEP_FREEDOM)
        return many.chance(difference / many.of_medians(variance, sides), freedom + many.SWEEP_FREEDOM)

    def _error(self, times: Sequence[_Time], between: float) -> float:
        """The error of a sweep's median: of its rows' scatter, and of what sweeps differ by as a whole."""
        scatter = many.scatter([self.difference(time) for time in times])
        return max(math.hypot(between, scatter / math.sqrt(len(times))), many.LEAST_SPREAD)


def _by_name(runs: Sequence[Sequence[Result]]) -> dict[str, list[Json]]:
    """A side's results by experiment: one for each run that has it."""
    found: dict[str, list[Json]] = {}
    for run in runs:
        for result in run:
            found.setdefault(result.name, []).append(result.data)
    return found


def compare(old: Sequence[Sequence[Result]], new: Sequence[Sequence[Result]], threshold: float) -> Comparison:
    """Compares all experiments that both sides have, each side of one run or several.

    `threshold` is the least change, as a part of the old value.
    """
    found, times = Comparison(), list[_Time]()
    before, after = _by_name(old), _by_name(new)
    found.only_old = [name for name in before if name not in after]
    found.only_new = [name for name in after if name not in before]
    conditions: dict[str, list[str]] = {}
    shared = [name for name in before if name in after]
    for name in shared:
        runs = (before[name], after[name])
        _Comparer(name, threshold, found, times, runs).result(runs[0][0], runs[1][0])
        for sentence in dict.fromkeys(sentence for one in runs[0] for other in runs[1]
                                      for sentence in _differences(one, other)):
            conditions.setdefault(sentence, []).append(name)
    told = cards.another(before, after)
    judge = _Judge(found, times, threshold, told is not None)
    judge.rows()
    judge.sweeps()
    found.conditions = [sentence if len(names) == len(shared) else f"{sentence} ({', '.join(names)})"
                        for sentence, names in conditions.items()]
    if told:
        found.conditions.insert(0, f"WARNING: another card: {told}")
    found.changes.sort(key=lambda one: -abs(one.change) if one.change is not None else -float("inf"))
    return found
