"""Matches the results of two sides, of one run or several each, and finds what differs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from hipscope.results.records import Inference, Measurement, Result, Row, Sweep, Value

from . import cards, many
from .comparison import BETTER, CHANGED, SAME, WORSE, Change, Comparison
from .verdicts import Judge, Time, relative_change, relative_noise, verdict_of

Item = TypeVar("Item")
Key = tuple[Any, ...]
NamedItem = TypeVar("NamedItem", bound="Measurement | Value | Sweep | Inference")

# Units of what a compiler, a library or a driver decides and no clock measures: any change of these is one.
# Errors in eps are left out: they are of random inputs, and verification has a bound for them.
COUNTED = frozenset(
    "FMAs, blocks, blocks/CU, bytes, bytes per thread, bytes/thread, dwords, per access, per block, per launch, "
    "per sum, per thread, planes, registers, stages, ulp, verified, waves/CU".split(", ")
)
# Units of what the device's own counter measured, of which lower is better. Beside a measurement they say
# what that says; alone they are all there is, and their noise is not known.
DURATIONS = frozenset({"cycles", "cycles x CUs", "ns", "us", "ms", "s"})
# By what part the clocks of two runs may differ without a word.
CLOCK_TOLERANCE = 0.02


def _keyed(items: Iterable[Item], key_of: Callable[[Item], Key]) -> dict[Key, Item]:
    """The items by their keys; the second of one key has the number 2 in its own, and so on."""
    found: dict[Key, Item] = {}
    seen: dict[Key, int] = {}
    for item in items:
        key = key_of(item)
        seen[key] = seen.get(key, 0) + 1
        found[(*key, seen[key])] = item
    return found


def _named(items: Iterable[NamedItem]) -> dict[Key, NamedItem]:
    return _keyed(items, lambda item: (item.name,))


def _rows(sweep: Sweep) -> dict[Key, Row]:
    return _keyed(sweep.rows, lambda row: (row.label, row.x))


def _items(run: Result, of: Callable[[Row], Sequence[NamedItem]]) -> dict[Key, NamedItem]:
    """All measurements or values of a run: by sweep, row and name."""
    return {
        (sweep.name, *key, *name): item
        for sweep in run.sweeps
        for key, row in _rows(sweep).items()
        for name, item in _named(of(row)).items()
    }


def _median_cycles(runs: Sequence[Measurement]) -> float | None:
    """The median over a side's runs; None where one has measured no clock."""
    cycles = [one.median * one.shader_mhz for one in runs if one.shader_mhz]
    return statistics.median(cycles) if len(cycles) == len(runs) else None


class _Comparer:
    """Compares the results of one experiment: of the first run of each side, and the times of all runs."""

    def __init__(
        self, threshold: float, into: Comparison, times: list[Time], runs: tuple[Sequence[Result], Sequence[Result]]
    ) -> None:
        self.experiment, self.threshold, self.into, self.times = runs[0][0].name, threshold, into, times
        self.runs = [[_items(run, lambda row: row.measurements) for run in side] for side in runs]
        self.values = [[_items(run, lambda row: row.values) for run in side] for side in runs]

    def pairs(self, place: str, old: Mapping[Key, Item], new: Mapping[Key, Item]) -> Iterator[tuple[Key, Item, Item]]:
        """What both have, with its key; notes what only one has, by the first part of its key."""
        for key, item in old.items():
            if key in new:
                yield key, item, new[key]
        for missing, there, into in ((new, old, self.into.only_old), (old, new, self.into.only_new)):
            into.extend(f"{self.experiment}/{place}{key[0]}" for key in there if key not in missing)

    def add(self, place: tuple[str, str, str], unit: str, old: Any, new: Any, verdict: str, **more: Any) -> None:
        """Notes a comparison of `place`: sweep, row and what of it."""
        self.into.changes.append(Change(self.experiment, *place, unit, old, new, verdict=verdict, **more))

    def measurement(self, key: Key, label: str) -> None:
        """A time: the medians of the samples, or of the runs' medians, against the noise of both sides."""
        old, new = ([run[key] for run in side if key in run] for side in self.runs)
        medians = [[one.median for one in side] for side in (old, new)]
        before, after = (statistics.median(side) for side in medians)
        change, noise = relative_change(before, after), relative_noise(old, new)
        old_cycles, new_cycles = map(_median_cycles, (old, new))
        cycles = None if old_cycles is None or new_cycles is None else relative_change(old_cycles, new_cycles)
        sweep, name, verdict = key[0], old[0].name, verdict_of(change, noise, self.threshold)
        more = {"change": change, "noise": noise, "cycles": cycles}
        self.add((sweep, label, name), old[0].unit, before, after, verdict, **more)
        self.note((self.experiment, sweep, name), medians[0], medians[1])

    def note(self, place: many.Place, old: list[float], new: list[float]) -> None:
        """Keeps the durations of the change that was just added, one of each run."""
        if min(*old, *new) > 0:
            self.times.append(Time(len(self.into.changes) - 1, place, (old, new)))

    def duration(self, key: Key, row: str, unit: str) -> None:
        """A duration that stands alone: the medians of the runs' values."""
        found = [[run[key].value for run in side if key in run] for side in self.values]
        old, new = ([one for one in side if one is not None] for side in found)
        before, after = statistics.median(old), statistics.median(new)
        change = relative_change(before, after)
        verdict = verdict_of(change, None, self.threshold)
        self.add((key[0], row, key[-2]), unit, before, after, verdict, change=change)
        self.note((self.experiment, key[0], key[-2]), old, new)

    def value(self, key: Key, row: str, old: Value, new: Value, is_alone: bool) -> None:
        """What is counted, and durations that stand alone; the rest follows from the times."""
        before, after, unit = old.value, new.value, new.unit
        place = (key[0], row, old.name)
        if (before is None) != (after is None) or old.unit != unit:
            self.add(place, unit, before, after, CHANGED)
        elif before is None or after is None:
            return
        elif unit in COUNTED:
            verdict = SAME if before == after else CHANGED
            self.add(place, unit, before, after, verdict, change=relative_change(before, after))
        elif unit in DURATIONS and is_alone:
            self.duration(key, row, unit)

    def row(self, sweep: str, key: Key, old: Row, new: Row) -> None:
        label = old.label
        place = f"{sweep}/{label}/"
        for name, _, _ in self.pairs(place, *(_named(one.measurements) for one in (old, new))):
            self.measurement((sweep, *key, *name), label)
        alone = not old.measurements and not new.measurements
        for name, before, after in self.pairs(place, *(_named(one.values) for one in (old, new))):
            self.value((sweep, *key, *name), label, before, after, alone)

    def inference(self, old: Inference, new: Inference) -> None:
        """An inferred parameter: changed beyond the threshold, or found by one run alone."""
        before, after = old.value, new.value
        change, is_same = None, before is after
        if before is not None and after is not None:
            change = relative_change(before, after)
            is_same = abs(change) <= self.threshold and old.unit == new.unit
        self.add(("inferred", "", old.name), new.unit, before, after, SAME if is_same else CHANGED, change=change)

    def verification(self, old: Result, new: Result) -> None:
        """Whether all that the kernels computed was right."""
        before, after = (
            "failed" if one.status == "failed" or one.verification.failures else "passed" for one in (old, new)
        )
        verdict = SAME if before == after else WORSE if after == "failed" else BETTER
        self.add(("verification", "", "status"), "", before, after, verdict)

    def result(self, old: Result, new: Result) -> None:
        self.verification(old, new)
        for _, before, after in self.pairs("", *(_named(one.sweeps) for one in (old, new))):
            name = before.name
            for key, row, other in self.pairs(f"{name}/", *map(_rows, (before, after))):
                self.row(name, key, row, other)
        for _, said, says in self.pairs("inferred/", *(_named(one.inferences) for one in (old, new))):
            self.inference(said, says)


def _conditions(run: Result) -> dict[str, Any]:
    device, build = run.device, run.build
    return {
        "device name": device.name,
        "device architecture": device.architecture,
        "device compute_units": device.compute_units,
        "device wave_size": device.wave_size,
        "device driver": device.driver,
        "device runtime": device.runtime,
        "backend": build.backend,
        "compiler": build.compiler,
        "flags": build.flags,
        "targets": build.targets,
        "revision": run.revision,
        **{f"option {name}": value for name, value in vars(run.options).items() if name != "sizes"},
        **{f"size {name}": size for name, size in run.options.sizes.items()},
    }


# What makes two runs' times no comparison of like with like, by the beginning of its name.
INCOMPARABLE = ("device name", "device architecture", "backend", "size ")


def _differences(old: Result, new: Result) -> Iterator[str]:
    before, after = _conditions(old), _conditions(new)
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            warning = "WARNING: " if name.startswith(INCOMPARABLE) else ""
            yield f"{warning}{name}: {before.get(name)} -> {after.get(name)}"
    if "once" in (old.options.preset, new.options.preset):
        yield "WARNING: --once takes one sample, of which no noise is known"
    clock, now = old.clock.shader_mhz, new.clock.shader_mhz
    if clock is not None and now is not None and abs(relative_change(clock, now)) > CLOCK_TOLERANCE:
        yield f"WARNING: shader clock: {clock:.0f} MHz -> {now:.0f} MHz"


def _by_name(runs: Sequence[Sequence[Result]]) -> dict[str, list[Result]]:
    """A side's results by experiment: one for each run that has it."""
    found: dict[str, list[Result]] = {}
    for run in runs:
        for result in run:
            found.setdefault(result.name, []).append(result)
    return found


def compare(old: Sequence[Sequence[Result]], new: Sequence[Sequence[Result]], threshold: float) -> Comparison:
    """All experiments that both sides have, each of one run or several; `threshold` is a part of the old value."""
    found, times = Comparison(), list[Time]()
    before, after = _by_name(old), _by_name(new)
    found.only_old = [name for name in before if name not in after]
    found.only_new = [name for name in after if name not in before]
    conditions: dict[str, list[str]] = {}
    shared = [name for name in before if name in after]
    for name in shared:
        runs = (before[name], after[name])
        _Comparer(threshold, found, times, runs).result(runs[0][0], runs[1][0])
        for sentence in dict.fromkeys(
            sentence for one in runs[0] for other in runs[1] for sentence in _differences(one, other)
        ):
            conditions.setdefault(sentence, []).append(name)
    told = cards.another(before, after)
    judge = Judge(found, times, threshold, told is not None)
    judge.rows()
    judge.sweeps()
    found.conditions = [
        sentence if len(names) == len(shared) else f"{sentence} ({', '.join(names)})"
        for sentence, names in conditions.items()
    ]
    if told:
        found.conditions.insert(0, f"WARNING: another card: {told}")
    found.changes.sort(key=lambda one: -abs(one.change) if one.change is not None else -float("inf"))
    return found
