"""Which GPUs of a fleet may be compared with each other, and what is normal among them.

A cohort is of one model, driver, firmware, power cap and mode. What is normal is the median of a cohort
and the spread about it, of each metric, as logarithms: a deficit of 0.03 is 3 % more cycles or 3 % fewer
bytes per second. A cohort of under 16 takes the spread from its model's largest one, else from a baseline; one of
under 64 adds a baseline's, where there is one, to its own.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hipscope.compare.many import DEVIATIONS_PER_MAD, chance

from .metrics import CLOCK, COPY, LOWER, SOAK, Gpu, Identity, Metric

Json = dict[str, Any]

BASELINE_VERSION = 1
# Of fewer GPUs the spread is not told by their own values.
FEWEST = 16
# Up to this many GPUs a baseline's values count as well as their own.
ENOUGH = 64
# A spread that is by so much over the baseline's is another: of 16 values from it, 1 in 100 is.
CONTRADICTS = 1.5
# Of fewer GPUs not even the median is: one bad card of four moves it.
FEWEST_FOR_MEDIAN = 5
# A slot with at least this many GPUs has its own median taken off.
FEWEST_IN_SLOT = 12
# What depends on where in a node a GPU sits: the air that reaches it, and its way to the host.
BY_SLOT = frozenset({CLOCK, COPY, SOAK})
# What stands further apart than this, in deviations by the MAD, is not asked what the spread is. The MAD of few
# values may be small by chance, and then too much stands apart: with the degrees of freedom taken as this part of
# what they are, a chance of 4 in 100 000 is one in 16 to 1000 normal values as well (test_fleet_verdicts.py counts).
APART, FREEDOM_LEFT = 4.0, 0.8
# By how much more the mean's variance a median of normal values varies.
MEDIAN_VARIANCE = math.pi / 2
# A slot or a cohort that is as far off as this is told of.
NOTABLE = 0.01

# What a cohort has in common, with the words for it.
SETTINGS = {"driver": "driver", "firmware": "firmware", "power_cap": "power cap", "partition": "partition"}
# What only is reported where a minority has another.
ALSO_DRIFT = {"ecc": "ECC", "link": "link", "revision": "revision"}


@dataclass(frozen=True)
class Normal:
    """What a metric is among good GPUs: centre and spread are of deficits, as logarithms.

    `freedom` is how many independent values the spread is known by, and `of` how many the centre.
    """

    centre: float
    spread: float
    freedom: float
    of: int

    def deviations(self, deficit: float, noise: float) -> float:
        """How many standard deviations a deficit is, with the uncertainty of the centre; `noise` is of the run."""
        spread = max(self.spread, noise)
        return deficit / (spread * math.sqrt(1 + MEDIAN_VARIANCE / self.of))

    def chance(self, deficit: float, noise: float) -> float:
        """How often a good GPU is as bad or worse, by Student's distribution."""
        return upper_tail(self.deviations(deficit, noise), self.freedom)


@dataclass
class Cohort:
    """GPUs that may be compared; `normal` holds each metric's, and is empty where nothing is known."""

    name: str
    identity: Identity
    members: list[Gpu]
    normal: dict[str, Normal] = field(default_factory=dict)
    # By metric and slot: by how much that slot is worse than the cohort.
    slots: dict[str, dict[str, float]] = field(default_factory=dict)
    # Where the spread comes from, in words.
    origin: str = ""

    def deficit(self, gpu: Gpu, name: str, metric: Metric) -> float:
        """By what part (as a logarithm) the metric is worse than normal, its slot taken into account."""
        slot = self.slots.get(name, {}).get(gpu.identity.slot, 0.0)
        return badness(metric) - self.normal[name].centre - slot


def upper_tail(z: float, freedom: float) -> float:
    """The part of Student's distribution above z > 0."""
    return chance(z, freedom) / 2 if z > 0 else 1.0


def badness(metric: Metric) -> float:
    """The logarithm of a value, with the sign that makes more of it worse."""
    size = math.log(metric.value)
    return size if metric.better == LOWER else -size


def _model(identity: Identity) -> tuple[str, str]:
    return identity.model, identity.backend


def _name(identity: Identity) -> str:
    settings = [f"{words} {getattr(identity, name)}" for name, words in SETTINGS.items() if getattr(identity, name)]
    return ", ".join([identity.model, *settings])


def drift(gpus: Sequence[Gpu]) -> dict[str, list[str]]:
    """By GPU: the settings in which it is not as most of its model are."""
    models: dict[tuple[str, str], list[Gpu]] = defaultdict(list)
    for gpu in gpus:
        models[_model(gpu.identity)].append(gpu)
    found: dict[str, list[str]] = {}
    for members in models.values():
        for setting, words in (SETTINGS | ALSO_DRIFT).items():
            counts = Counter(getattr(gpu.identity, setting) for gpu in members)
            usual, count = counts.most_common(1)[0]
            if 2 * count <= len(members):
                continue
            for gpu in members:
                value = getattr(gpu.identity, setting)
                if value != usual:
                    sentence = f"{words} {value or 'not told'} where {count} of {len(members)} have {usual or 'none'}"
                    found.setdefault(gpu.key, []).append(sentence)
    return found


def spread_of(deviations: Sequence[float], least: float) -> tuple[float, float]:
    """The standard deviation of what does not stand apart, and its degrees of freedom.

    What stands apart is told by the median absolute deviation, which half of the values may not move; the
    spread of the others then rests on all of them, and not on the middle one. Never less than `least`.
    """
    by_median = max(DEVIATIONS_PER_MAD * statistics.median([abs(one) for one in deviations]), least)
    kept = [one for one in deviations if abs(one) <= APART * by_median]
    count = max(len(kept) - 1, 1)
    spread = math.sqrt(math.fsum(one * one for one in kept) / count)
    return max(spread, least), FREEDOM_LEFT * count


def _by_slot(members: Sequence[Gpu], name: str, centre: float) -> dict[str, float]:
    """By how much each slot with enough GPUs in it is worse than the cohort."""
    slots: dict[str, list[float]] = defaultdict(list)
    for gpu in members:
        if name in gpu.metrics:
            slots[gpu.identity.slot].append(badness(gpu.metrics[name]))
    if len(slots) < 2:
        return {}
    return {slot: statistics.median(values) - centre for slot, values in slots.items() if len(values) >= FEWEST_IN_SLOT}


def _learn(cohort: Cohort) -> None:
    """What is normal in a cohort that is large enough to tell."""
    by_name: dict[str, list[tuple[Gpu, Metric]]] = defaultdict(list)
    for gpu in cohort.members:
        for name, metric in gpu.metrics.items():
            if metric.value > 0:
                by_name[name].append((gpu, metric))
    for name, pairs in by_name.items():
        if len(pairs) < FEWEST:
            continue
        values = [badness(metric) for _, metric in pairs]
        centre = statistics.median(values)
        slots = _by_slot(cohort.members, name, centre) if pairs[0][1].kind in BY_SLOT else {}
        cohort.slots[name] = slots
        deviations = [value - centre - slots.get(gpu.identity.slot, 0.0) for (gpu, _), value in zip(pairs, values)]
        least = statistics.median(metric.noise for _, metric in pairs)
        cohort.normal[name] = Normal(centre, *spread_of(deviations, least), len(pairs))
    cohort.origin = f"{len(cohort.members)} GPUs of this cohort"


def _borrow(cohort: Cohort, normal: Mapping[str, Normal], origin: str) -> None:
    """What is normal elsewhere, about this cohort's own median where that can be told."""
    for name, other in normal.items():
        found = [gpu.metrics[name] for gpu in cohort.members if name in gpu.metrics]
        values = [badness(metric) for metric in found if metric.value > 0]
        if len(values) >= FEWEST_FOR_MEDIAN:
            cohort.normal[name] = Normal(statistics.median(values), other.spread, other.freedom, len(values))
        elif values:
            cohort.normal[name] = other
    if cohort.normal:
        cohort.origin = origin


def _pool(cohort: Cohort, normal: Mapping[str, Normal], origin: str) -> None:
    """The spread by the cohort's own values and by those of the baseline together, unless they contradict it."""
    for name, other in normal.items():
        own = cohort.normal.get(name)
        if own and own.spread <= CONTRADICTS * other.spread:
            freedom = own.freedom + other.freedom
            spread = math.sqrt((own.freedom * own.spread**2 + other.freedom * other.spread**2) / freedom)
            cohort.normal[name] = Normal(own.centre, spread, freedom, own.of)
    if normal:
        cohort.origin += f" and {origin}"


def _stored(baseline: Json | None, identity: Identity) -> tuple[dict[str, Normal], str]:
    """What a baseline says of this model: of the entry with most of the settings."""
    entries = [one for one in (baseline or {}).get("cohorts", ()) if (one["model"], one["backend"]) == _model(identity)]
    if not entries:
        return {}, ""
    best = max(entries, key=lambda one: (sum(one[name] == getattr(identity, name) for name in SETTINGS), one["count"]))
    normal = {name: Normal(**one) for name, one in best["metrics"].items()}
    return normal, f"a baseline of {best['count']} GPUs"


def form(gpus: Sequence[Gpu], baseline: Json | None = None) -> list[Cohort]:
    """All cohorts, the largest first, with what is normal in each."""
    groups: dict[tuple[Any, ...], list[Gpu]] = defaultdict(list)
    for gpu in gpus:
        groups[(_model(gpu.identity), *(getattr(gpu.identity, name) for name in SETTINGS))].append(gpu)
    found = [Cohort(_name(members[0].identity), members[0].identity, members) for members in groups.values()]
    found.sort(key=lambda one: (-len(one.members), one.name))
    largest: dict[tuple[str, str], Cohort] = {}
    for cohort in found:
        if len(cohort.members) >= FEWEST:
            _learn(cohort)
            if len(cohort.members) < ENOUGH:
                _pool(cohort, *_stored(baseline, cohort.identity))
            largest.setdefault(_model(cohort.identity), cohort)
            continue
        of_model = largest.get(_model(cohort.identity))
        if of_model:
            _borrow(cohort, of_model.normal, f"{len(of_model.members)} GPUs of this model with other settings")
        else:
            _borrow(cohort, *_stored(baseline, cohort.identity))
    return found


def baseline_of(gpus: Sequence[Gpu]) -> Json:
    """What is normal among these GPUs, for fleets that are too small to tell; without cohorts that are so too."""
    cohorts = []
    for cohort in form(gpus):
        if len(cohort.members) >= FEWEST:
            identity = cohort.identity
            cohorts.append(
                {
                    "model": identity.model,
                    "backend": identity.backend,
                    **{name: getattr(identity, name) for name in SETTINGS},
                    "count": len(cohort.members),
                    "metrics": {name: asdict(one) for name, one in cohort.normal.items()},
                }
            )
    return {"version": BASELINE_VERSION, "cohorts": cohorts}


def notes(found: Sequence[Cohort], baseline: Json | None = None) -> Iterator[str]:
    """What is to be said of no GPU alone: slots that are worse than others, cohorts that are off the baseline."""
    for cohort in found:
        for name, slots in cohort.slots.items():
            for slot, deficit in sorted(slots.items()):
                if deficit > NOTABLE:
                    yield f"{cohort.name}: {name} is {100 * deficit:.1f} % worse in slot {slot} of every node"
        stored, origin = _stored(baseline, cohort.identity)
        for name, normal in cohort.normal.items():
            if name in stored and normal.centre - stored[name].centre > NOTABLE:
                yield (
                    f"{cohort.name}: {name} is {100 * (normal.centre - stored[name].centre):.1f} % worse "
                    f"than in {origin}, in the middle of {len(cohort.members)} GPUs"
                )
