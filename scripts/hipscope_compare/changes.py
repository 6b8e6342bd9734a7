"""Matches two runs' results and finds what differs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from hipscope_report.load import Result

from .noise import relative_change, relative_noise

Json = dict[str, Any]
Item = TypeVar("Item")

WORSE, BETTER, CHANGED, SAME = "worse", "better", "changed", "same"
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


@dataclass(frozen=True)
class Change:
    """One thing that both runs have: `change` and `noise` are parts of the old value, not per cent.

    Of what is no number the texts stand in `old` and `new`, and there is no change; noise is None when
    it is not known.
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

    @property
    def path(self) -> str:
        """What --only looks at."""
        return "/".join((self.experiment, self.sweep, self.row, self.what))


@dataclass
class Comparison:
    """All that was compared, what only one run has, and what else differs between the runs."""

    changes: list[Change] = field(default_factory=list)
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
                "counts": {verdict: self.count(verdict) for verdict in (WORSE, BETTER, CHANGED, SAME)},
                "changes": changes}


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


class _Comparer:
    """Compares two results of one experiment."""

    def __init__(self, experiment: str, threshold: float, into: Comparison) -> None:
        self.experiment, self.threshold, self.into = experiment, threshold, into

    def pairs(self, place: str, old: Mapping[tuple[Any, ...], Item], new: Mapping[tuple[Any, ...], Item]
              ) -> Iterator[tuple[Item, Item]]:
        """What both have; notes what only one has, by the first part of its key."""
        for key, item in old.items():
            if key in new:
                yield item, new[key]
        for missing, there, into in ((new, old, self.into.only_old), (old, new, self.into.only_new)):
            into.extend(f"{self.experiment}/{place}{key[0]}" for key in there if key not in missing)

    def add(self, place: tuple[str, str, str], unit: str, old: Any, new: Any, change: float | None,
            noise: float | None, verdict: str) -> None:
        """Notes a comparison of `place`: sweep, row and what of it."""
        self.into.changes.append(
            Change(self.experiment, *place, unit, old, new, change, noise, verdict))

    def measurement(self, sweep: str, row: str, old: Json, new: Json) -> None:
        """A time: the medians of all samples against the noise of both runs."""
        before, after = statistics.median(old["samples"]), statistics.median(new["samples"])
        change, noise = relative_change(before, after), relative_noise(old["samples"], new["samples"])
        self.add((sweep, row, old["name"]), old["unit"], before, after, change, noise,
                 _verdict(change, noise, self.threshold))

    def value(self, sweep: str, row: str, old: Json, new: Json, is_alone: bool) -> None:
        """What is counted, and durations that stand alone; the rest follows from the times."""
        before, after, unit = old["value"], new["value"], new["unit"]
        place = (sweep, row, old["name"])
        if (before is None) != (after is None) or old["unit"] != unit:
            self.add(place, unit, before, after, None, None, CHANGED)
        elif before is not None and unit in COUNTED:
            self.add(place, unit, before, after, relative_change(before, after), None,
                     SAME if before == after else CHANGED)
        elif before is not None and unit in DURATIONS and is_alone:
            change = relative_change(before, after)
            self.add(place, unit, before, after, change, None, _verdict(change, None, self.threshold))

    def row(self, sweep: str, old: Json, new: Json) -> None:
        """A row's measurements and values."""
        label = old["label"]
        place = f"{sweep}/{label}/"
        for before, after in self.pairs(place, *(_keyed(one["measurements"], "name") for one in (old, new))):
            self.measurement(sweep, label, before, after)
        alone = not old["measurements"] and not new["measurements"]
        for before, after in self.pairs(place, *(_keyed(one["values"], "name") for one in (old, new))):
            self.value(sweep, label, before, after, alone)

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
        for before, after in self.pairs("", *(_keyed(one["sweeps"], "name") for one in (old, new))):
            name = before["name"]
            for row, other in self.pairs(f"{name}/", *(_keyed(one["rows"], "label", "x") for one in (before, after))):
                self.row(name, row, other)
        for before, after in self.pairs("inferred/", *(_keyed(one["inferences"], "name") for one in (old, new))):
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


def compare(old: Sequence[Result], new: Sequence[Result], threshold: float) -> Comparison:
    """Compares all experiments that both have; `threshold` is the least change, as a part of the old value."""
    found = Comparison()
    before, after = ({result.name: result.data for result in results} for results in (old, new))
    found.only_old = [name for name in before if name not in after]
    found.only_new = [name for name in after if name not in before]
    conditions: dict[str, list[str]] = {}
    for name in before:
        if name in after:
            _Comparer(name, threshold, found).result(before[name], after[name])
            for sentence in _differences(before[name], after[name]):
                conditions.setdefault(sentence, []).append(name)
    shared = sum(name in after for name in before)
    found.conditions = [sentence if len(names) == shared else f"{sentence} ({', '.join(names)})"
                        for sentence, names in conditions.items()]
    found.changes.sort(key=lambda one: -abs(one.change) if one.change is not None else -float("inf"))
    return found
