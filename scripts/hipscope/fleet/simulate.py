"""Fleets that were never built, to see how often the slow GPU is found and a good one accused.

A good GPU differs from the others in its clock and, less, in each metric's cycles or bytes; a run differs
from the next by noise. Some GPUs have a fault in one metric. Beside the verdicts of this folder stand two
rules in use, which look at rates from one run: under 90 % of the best, and under 95 % of the mean.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

from . import cohorts, verdicts
from .metrics import CLOCK, CLOCK_OF, CYCLES, HIGHER, LEAST_NOISE, LOWER, SOURCES, Gpu, Identity, Metric

SIZES = (8, 16, 32, 128, 1000, 10000)
SPREADS = (0.002, 0.005, 0.01, 0.02, 0.03)
DEFICITS = (0.01, 0.02, 0.03, 0.05, 0.1)
# Of the variance of a rate that is bound by the clock, the clock's part. Ten runs on H200s of one model, on two
# days and several cards, had clocks that differed by 0.2 to 0.4 % and cycles by 0.1 %: nine tenths.
CLOCK_PART = 0.9
FAULTY = 0.01
GPUS_PER_NODE = 8
SEED = 20261122
# The GPUs of a cell: fleets are made until there are as many.
GPUS_PER_CELL = 5000
BASELINE_GPUS = 128
# What is bound by the clock gives cycles and a clock; the rest is as it is whatever the clock.
CLOCKED = ("FP32 FMA", "matrix FP16", "LDS latency", "memory latency")
NAMES = (*CLOCKED, "memory read", "memory write", "copy to the device")


@dataclass(frozen=True)
class Fault:
    """A metric (or CLOCK) that is worse by a part."""

    metric: str
    deficit: float


@dataclass(frozen=True)
class World:
    """What the GPUs of a simulated fleet are like.

    `disturbed` is how often a measurement of one metric is slower by chance, by up to 10 %; `gradient` is by how
    much the clock of a node's last slot is under that of its first; `missing` is the part of nodes without a
    result; `tails` are Student's degrees of freedom of how GPUs differ, which is normal where None.
    """

    spread: float
    clock_part: float = CLOCK_PART
    disturbed: float = 0.0
    gradient: float = 0.0
    missing: float = 0.0
    tails: int | None = None

    def draw(self, numbers: random.Random) -> float:
        """A value of a variance of 1."""
        if self.tails is None:
            return numbers.gauss(0, 1)
        return numbers.gauss(0, 1) / (numbers.gammavariate(self.tails / 2, 2 / (self.tails - 2))) ** 0.5


class Card:
    """A GPU as it was made, which can be measured more than once."""

    def __init__(self, world: World, numbers: random.Random, fault: Fault | None, slot: int) -> None:
        self.world, self.numbers = world, numbers
        clock = world.draw(numbers) * world.spread * world.clock_part**0.5
        own = world.spread * (1 - world.clock_part) ** 0.5
        self.clock = 1 + clock - world.gradient * slot / (GPUS_PER_NODE - 1)
        # Memory and link have clocks of their own, which nobody measures: all of their spread is their own.
        self.rates = {name: 1 + world.draw(numbers) * (own if name in CLOCKED else world.spread) for name in NAMES}
        if fault and fault.metric == CLOCK:
            self.clock *= 1 - fault.deficit
        elif fault:
            self.rates[fault.metric] *= 1 - fault.deficit

    def run(self) -> dict[str, Metric]:
        """One measurement of all metrics."""
        gauss, found = self.numbers.gauss, {}
        for name, group, kind in ((one.name, one.group, one.kind) for one in SOURCES if one.name in NAMES):
            rate, noise = self.rates[name] * self._luck(), LEAST_NOISE[kind]
            if kind == CYCLES:
                clock = self.clock * (1 + gauss(0, LEAST_NOISE[CLOCK]))
                found[name] = Metric(1e6 / rate * (1 + gauss(0, noise)), kind, LOWER, noise, "cycles", group)
                found[name + CLOCK_OF] = Metric(1980 * clock, CLOCK, HIGHER, LEAST_NOISE[CLOCK], "MHz", group)
            else:
                found[name] = Metric(4600 * (rate * (1 + gauss(0, noise))), kind, HIGHER, noise, "GB/s", group)
        return found

    def _luck(self) -> float:
        """What is left of a rate when something else ran beside it."""
        if self.world.disturbed and self.numbers.random() < self.world.disturbed:
            return 1 - self.numbers.uniform(0.02, 0.1)
        return 1.0


@dataclass
class Fleet:
    """GPUs, the cards that they are, and which have a fault."""

    gpus: list[Gpu]
    cards: dict[str, Card]
    faulty: set[str]


def make(count: int, world: World, numbers: random.Random, fault: Callable[[], Fault] | None) -> Fleet:
    """A fleet of `count` GPUs, a hundredth of them with a fault: at least one, where there is one to have."""
    chosen = set(numbers.sample(range(count), max(1, round(FAULTY * count)))) if fault else set()
    gone = {node for node in range(count // GPUS_PER_NODE) if numbers.random() < world.missing}
    fleet = Fleet([], {}, set())
    for index in range(count):
        node, slot = divmod(index, GPUS_PER_NODE)
        if node in gone:
            continue
        key = f"node{node}:{slot}"
        card = Card(world, numbers, fault() if fault and index in chosen else None, slot)
        identity = Identity(key, host=f"node{node}", slot=str(slot), model="simulated", backend="none")
        fleet.gpus.append(Gpu(identity, card.run()))
        fleet.cards[key] = card
        if index in chosen:
            fleet.faulty.add(key)
    return fleet


def _under(gpus: Sequence[Gpu], floor: Callable[[Iterable[float]], float]) -> set[str]:
    """The GPUs that a tool which measures times sees under a floor."""
    accused: set[str] = set()
    for name in NAMES:
        rates = {gpu.key: gpu.metrics[name].value for gpu in gpus}
        if name in CLOCKED:
            rates = {gpu.key: gpu.metrics[name + CLOCK_OF].value / rates[gpu.key] for gpu in gpus}
        least = floor(rates.values())
        accused.update(key for key, rate in rates.items() if rate < least)
    return accused


def failed(fleet: Fleet, baseline: dict[str, object] | None) -> set[str]:
    """The GPUs that fail, after suspects and controls were measured again."""
    first = verdicts.judge(fleet.gpus, baseline)
    again = set(verdicts.to_measure_again(first))
    if not again:
        return set()
    for gpu in fleet.gpus:
        if gpu.key in again:
            gpu.again = [fleet.cards[gpu.key].run() for _ in range(verdicts.TIMES_AGAIN)]
    return {one.key for one in verdicts.judge(fleet.gpus, baseline) if one.status == verdicts.FAIL}


@dataclass(frozen=True)
class Count:
    """What a rule did: of the faulty found, of the good accused."""

    faulty: int = 0
    good: int = 0
    found: int = 0
    accused: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(*map(sum, zip(astuple(self), astuple(other))))

    @property
    def found_part(self) -> float:
        """Of the faulty, the part that was found."""
        return self.found / self.faulty if self.faulty else 0.0

    @property
    def accused_part(self) -> float:
        """Of the good, the part that was accused."""
        return self.accused / self.good if self.good else 0.0


OURS, BEST, MEAN = "hipscope", "90 % of the best", "95 % of the mean"
RULES: dict[str, Callable[[Sequence[Gpu]], set[str]]] = {
    BEST: lambda gpus: _under(gpus, lambda values: 0.9 * max(values)),
    MEAN: lambda gpus: _under(gpus, lambda values: 0.95 * statistics.fmean(values)),
}
# A rule that accuses more good GPUs than this is of no use, whatever it finds.
MOST_ACCUSED = 0.001


def any_metric(deficit: float) -> Callable[[random.Random], Fault]:
    """A fault in a metric taken at random."""
    return lambda numbers: Fault(numbers.choice(NAMES), deficit)


def cell(size: int, world: World, fault: Callable[[random.Random], Fault], gpus: int, seed: int) -> dict[str, Count]:
    """What each rule does in fleets of one size, spread and fault; small fleets have a baseline."""
    numbers = random.Random(seed)
    baseline = None
    if size < cohorts.ENOUGH:
        quiet = World(world.spread, world.clock_part, tails=world.tails)
        baseline = cohorts.baseline_of(make(BASELINE_GPUS, quiet, numbers, None).gpus)
    counts = {rule: Count() for rule in (OURS, *RULES)}
    for _ in range(max(1, gpus // size)):
        fleet = make(size, world, numbers, lambda: fault(numbers))
        if not fleet.gpus:
            continue
        accused = {name: rule(fleet.gpus) for name, rule in RULES.items()} | {OURS: failed(fleet, baseline)}
        for name, keys in accused.items():
            bad, good = len(fleet.faulty), len(fleet.gpus) - len(fleet.faulty)
            counts[name] += Count(bad, good, len(keys & fleet.faulty), len(keys - fleet.faulty))
    return counts


def total(counts: Sequence[Mapping[str, Count]], rule: str) -> Count:
    """What a rule did in several cells."""
    return sum((one[rule] for one in counts), Count())


def is_better(counts: Mapping[str, Count], row: Sequence[Mapping[str, Count]]) -> bool:
    """Whether in this cell no rule that may be used finds more.

    It may be used when it accuses no more than 1 of 1000 good GPUs, in all cells of that size and spread.
    """
    if total(row, OURS).accused_part > MOST_ACCUSED:
        return False
    usable = [rule for rule in RULES if total(row, rule).accused_part <= MOST_ACCUSED]
    return all(counts[OURS].found_part >= counts[rule].found_part for rule in usable)


def _three(values: Iterable[float], form: str) -> str:
    return " / ".join(format(value, form) for value in values)


def _cells(row: Sequence[Mapping[str, Count]]) -> list[str]:
    """Per cent found in each cell, and of 1000 good ones accused in all of them."""
    found = [_three((100 * counts[rule].found_part for rule in (OURS, *RULES)), ".0f") for counts in row]
    return [*found, _three((1000 * total(row, rule).accused_part for rule in (OURS, *RULES)), ".2f")]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def grid(sizes: Sequence[int], gpus: int) -> Iterator[str]:
    """The table of fleets by size, spread and deficit, in Markdown, and the sum of it."""
    yield _line(["GPUs", "spread", *(f"{100 * deficit:g} % slow" for deficit in DEFICITS), "accused of 1000"])
    yield _line(["---:"] * (len(DEFICITS) + 3))
    better, cells = 0, 0
    for size in sizes:
        for spread in SPREADS:
            row = [
                cell(size, World(spread), any_metric(deficit), gpus, SEED + place)
                for place, deficit in enumerate(DEFICITS)
            ]
            better += sum(is_better(counts, row) for counts in row)
            cells += len(row)
            yield _line([str(size), f"{100 * spread:g} %", *_cells(row)])
    yield ""
    yield f"{better} of {cells} cells: hipscope accuses under 1 in 1000, and no rule that does so too finds more."


CONDITIONS_SIZE = 128
CONDITIONS: dict[str, tuple[World, Callable[[random.Random], Fault]]] = {
    "as in the table": (World(0.01), any_metric(0.05)),
    "clock falls by 3 % from the first slot to the last": (World(0.01, gradient=0.03), any_metric(0.05)),
    "one node in ten is missing": (World(0.01, missing=0.1), any_metric(0.05)),
    "one measurement in 100 is disturbed, by 2 to 10 %": (World(0.01, disturbed=0.01), any_metric(0.05)),
    "GPUs differ with Student's tails, 5 degrees": (World(0.01, tails=5), any_metric(0.05)),
    "clock 7 % too low": (World(0.01), lambda _: Fault(CLOCK, 0.07)),
    "clock 15 % too low": (World(0.01), lambda _: Fault(CLOCK, 0.15)),
    "all of the spread is each metric's own": (World(0.01, clock_part=0.0), any_metric(0.05)),
}


def conditions(size: int, gpus: int) -> Iterator[str]:
    """The table of what else may be with a fleet, in Markdown."""
    yield _line([f"{size} GPUs, spread 1 %", "found", "accused of 1000"])
    yield _line(["---", "---:", "---:"])
    for name, (world, fault) in CONDITIONS.items():
        yield _line([name, *_cells([cell(size, world, fault, gpus, SEED)])])


def run(sizes: Sequence[int] = SIZES, gpus: int = GPUS_PER_CELL) -> Iterator[str]:
    """Both tables, line by line as they are made."""
    yield f"Found, per cent: {OURS} / {' / '.join(RULES)}. Seed {SEED}, {gpus} GPUs or more in each cell, 1 % faulty."
    yield ""
    yield from grid(sizes, gpus)
    yield ""
    yield from conditions(CONDITIONS_SIZE if CONDITIONS_SIZE in sizes else sizes[-1], gpus)
