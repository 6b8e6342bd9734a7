"""Which GPU of a fleet is the slow one, how sure that is, and why it is slow.

A GPU is suspect when one of its metrics is worse than its cohort's by more than that kind may differ
(LIMITS) and by more than chance: the false discovery rate over all GPUs and metrics is held (Benjamini and
Hochberg, J. R. Statist. Soc. B 57, 1995), and the chance that a good GPU is suspected for any of its
metrics. Suspects are measured again, with as many controls taken at random, and fail when the median of
three measurements says the same, with what the controls moved by taken off.
"""

from __future__ import annotations

import dataclasses
import math
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hipscope.compare import many

from . import cohorts
from .cohorts import Cohort
from .metrics import BYTES, CLOCK, COOLING, COPY, CYCLES, LINK, LOWER, MEMORY, SOAK, Gpu, Metric

# The status of a GPU, from good to bad. Unjudged: its cohort is too small to tell, and there is no baseline.
PASS, UNJUDGED, SUSPECT, FAIL = STATES = ("pass", "unjudged", "suspect", "fail")

# By how much a GPU may be worse than its cohort, by what bounds the metric: a part.
LIMITS = {CYCLES: 0.01, BYTES: 0.01, COPY: 0.01, CLOCK: 0.05, SOAK: 0.05}
# The false discovery rate over all GPUs and metrics, which also bounds how often a fleet of good GPUs has any
# suspect; and the chance that one good GPU is suspected, whatever else is found.
DISCOVERY_RATE = 0.003
CHANCE_PER_GPU = 0.0003
# How often a suspect is measured again, and the chance of a good GPU to look as bad then, too.
TIMES_AGAIN = 3
CHANCE_AGAIN = 0.001
# A GPU is as a whole slow when this part of the groups of metrics, and no fewer than three, are.
EVERYTHING = 0.5
FEWEST_GROUPS = 3
# If this share of a cohort has a metric, all should have it.
EXPECTED = 0.9


@dataclass(frozen=True)
class Finding:
    """A metric of one GPU that is worse than its cohort's: `deficit` is the part by which it is.

    `z` is the deficit in standard deviations, `p` how often a good GPU is as far off by chance. `again` is
    the deficit of the median when it was measured again, less what the controls moved by.
    """

    metric: str
    deficit: float
    z: float
    p: float
    value: float
    median: float
    unit: str
    kind: str = ""
    group: str = ""
    again: float | None = None
    confirmed: bool | None = None


@dataclass
class Verdict:
    """What is said of one GPU: `cause` is in a word or two, `sentences` are for a reader."""

    key: str
    status: str
    cohort: str
    cause: str = ""
    findings: list[Finding] = field(default_factory=list)
    # Settings in which this GPU differs from most of its model: "power cap 500 where 120 of 128 have 700".
    drift: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)


def worst(*states: str) -> str:
    return max(states, key=STATES.index)


def _part(deficit: float, better: str) -> float:
    """A deficit as a part: of more cycles, of fewer bytes per second."""
    return math.expm1(deficit) if better == LOWER else -math.expm1(-deficit)


def _candidates(cohort: Cohort) -> Iterator[tuple[Gpu, Finding]]:
    """What is over its limit, however likely by chance."""
    for gpu in cohort.members:
        for name, metric in gpu.metrics.items():
            if name not in cohort.normal or metric.value <= 0:
                continue
            deficit = cohort.deficit(gpu, name, metric)
            if _part(deficit, metric.better) <= LIMITS[metric.kind]:
                continue
            normal = cohort.normal[name]
            yield (
                gpu,
                Finding(
                    name,
                    _part(deficit, metric.better),
                    normal.deviations(deficit, metric.noise),
                    normal.chance(deficit, metric.noise),
                    metric.value,
                    math.exp(normal.centre if metric.better == LOWER else -normal.centre),
                    metric.unit,
                    metric.kind,
                    metric.group,
                ),
            )


def _discoveries(found: Sequence[Cohort]) -> dict[str, list[Finding]]:
    """By GPU: what is over its limit and not by chance."""
    candidates = [pair for cohort in found for pair in _candidates(cohort)]
    tests = sum(name in cohort.normal for cohort in found for gpu in cohort.members for name in gpu.metrics)
    threshold = many.threshold([finding.p for _, finding in candidates], DISCOVERY_RATE, tests)
    discovered: dict[str, list[Finding]] = {}
    for gpu, finding in candidates:
        if finding.p <= min(threshold, CHANCE_PER_GPU / len(gpu.metrics)):
            discovered.setdefault(gpu.key, []).append(finding)
    for findings in discovered.values():
        findings.sort(key=lambda one: -one.z)
    return discovered


def _median_again(gpu: Gpu, name: str) -> Metric | None:
    """The metric as it was when measured again, by the median of its values; None until that is done."""
    again = [one[name] for one in gpu.again if name in one and one[name].value > 0]
    if len(again) < TIMES_AGAIN:
        return None
    return dataclasses.replace(
        again[0],
        value=statistics.median(one.value for one in again),
        noise=statistics.median(one.noise for one in again),
    )


def _moved(controls: Sequence[Gpu], name: str) -> float:
    """By how much the controls became worse when measured again: what changed for all."""
    moved = []
    for gpu in controls:
        later = _median_again(gpu, name)
        if later is not None and name in gpu.metrics:
            moved.append(cohorts.badness(later) - cohorts.badness(gpu.metrics[name]))
    return statistics.median(moved) if moved else 0.0


def _confirm(cohort: Cohort, gpu: Gpu, finding: Finding, controls: Sequence[Gpu]) -> Finding:
    """The finding with what later measurements say of it, where there are enough of them."""
    later = _median_again(gpu, finding.metric)
    if later is None:
        return finding
    deficit = cohort.deficit(gpu, finding.metric, later) - _moved(controls, finding.metric)
    part = _part(deficit, later.better)
    chance = cohort.normal[finding.metric].chance(deficit, later.noise)
    confirmed = part > LIMITS[later.kind] and chance <= CHANCE_AGAIN
    return dataclasses.replace(finding, again=part, confirmed=confirmed)


def _clock_cause(gpu: Gpu, drift: Sequence[str]) -> str:
    reasons = ", ".join(gpu.telemetry.throttle_reasons)
    capped = [one for one in drift if one.startswith(cohorts.SETTINGS["power_cap"])]
    why = f"throttled: {reasons}" if reasons else capped[0] if capped else "no throttle reason told"
    return f"low clock ({why})"


def cause_of(gpu: Gpu, findings: Sequence[Finding], groups: int, drift: Sequence[str]) -> str:
    """Why it is slow, by what of it is and what is not; `groups` is how many groups of metrics there are."""
    causes = []
    slow = {one.group for one in findings if one.kind not in (CLOCK, SOAK)}
    if len(slow) >= max(FEWEST_GROUPS, EVERYTHING * groups):
        causes.append("everything takes more cycles")
    elif slow == {MEMORY}:
        seen = ((gpu.telemetry.ecc_errors, "ECC errors"), (gpu.telemetry.remapped_rows, "rows remapped"))
        memory = ", ".join(f"{count} {what}" for count, what in seen if count)
        causes.append("memory path" + (f" ({memory})" if memory else ""))
    elif slow == {LINK}:
        width = [one for one in drift if one.startswith(cohorts.ALSO_DRIFT["link"])]
        causes.append("link, copies only" + (f" ({width[0]})" if width else ""))
    elif slow:
        causes.append(" and ".join(sorted(slow)))
    if any(one.kind == CLOCK for one in findings):
        causes.append(_clock_cause(gpu, drift))
    if any(one.group == COOLING for one in findings):
        causes.append("cooling, late in the soak" + ("" if causes else " only"))
    return "; ".join(causes)


def _sentence(finding: Finding) -> str:
    worse = "more" if finding.kind == CYCLES else "worse" if finding.kind == SOAK else "less"
    value = f"{finding.value:.5g} {finding.unit}".rstrip()
    text = (
        f"{finding.metric}: {value}, {100 * finding.deficit:.1f} % {worse} than the median "
        f"{finding.median:.5g}; {finding.z:.1f} standard deviations"
    )
    if finding.again is None:
        return text
    return f"{text}; measured again {100 * finding.again:+.1f} %, {'' if finding.confirmed else 'not '}confirmed"


def _status(findings: Sequence[Finding]) -> str:
    """By what later measurements say; suspect as long as there are not enough of them."""
    if any(one.confirmed for one in findings):
        return FAIL
    return SUSPECT if any(one.confirmed is None for one in findings) else PASS


def _missing(cohort: Cohort) -> dict[str, list[str]]:
    """By GPU: the metrics that it lacks and nearly all others have."""
    expected = [
        name
        for name in cohort.normal
        if sum(name in gpu.metrics for gpu in cohort.members) >= EXPECTED * len(cohort.members)
    ]
    return {
        gpu.key: lacking
        for gpu in cohort.members
        if (lacking := [name for name in expected if name not in gpu.metrics])
    }


def _of_cohort(cohort: Cohort, discovered: dict[str, list[Finding]], drift: dict[str, list[str]]) -> Iterator[Verdict]:
    controls = [gpu for gpu in cohort.members if gpu.again and gpu.key not in discovered]
    groups = len({metric.group for gpu in cohort.members[:1] for metric in gpu.metrics.values()})
    missing = _missing(cohort)
    for gpu in cohort.members:
        verdict = Verdict(gpu.key, PASS, cohort.name, drift=drift.get(gpu.key, []))
        verdict.findings = [_confirm(cohort, gpu, one, controls) for one in discovered.get(gpu.key, ())]
        verdict.sentences = [_sentence(one) for one in verdict.findings]
        if not cohort.normal:
            verdict.status = UNJUDGED
            verdict.sentences.append(
                f"{len(cohort.members)} of this cohort are too few to tell what is normal: "
                f"{cohorts.FEWEST} are needed, or a baseline"
            )
        elif verdict.findings:
            verdict.status = _status(verdict.findings)
            told = [one for one in verdict.findings if one.confirmed is not False] or verdict.findings
            verdict.cause = cause_of(gpu, told, groups, verdict.drift)
            if verdict.status == PASS:
                verdict.cause = f"not confirmed: {verdict.cause}"
        if gpu.key in missing:
            verdict.status = worst(verdict.status, SUSPECT)
            verdict.cause = verdict.cause or "not all was measured"
            verdict.sentences.append(f"not measured: {', '.join(missing[gpu.key])}")
        if gpu.failures:
            verdict.status, verdict.cause = FAIL, "wrong values"
            verdict.sentences = [*gpu.failures, *verdict.sentences]
        yield verdict


def judge(gpus: Sequence[Gpu], baseline: dict[str, Any] | None = None) -> list[Verdict]:
    """A verdict on each GPU, in their order; `baseline` is what cohorts.baseline_of made of another fleet."""
    found = cohorts.form(gpus, baseline)
    discovered, drift = _discoveries(found), cohorts.drift(gpus)
    verdicts = {verdict.key: verdict for cohort in found for verdict in _of_cohort(cohort, discovered, drift)}
    return [verdicts[gpu.key] for gpu in gpus]


def to_measure_again(verdicts: Sequence[Verdict]) -> list[str]:
    """The suspects, and as many controls taken at random from those that pass: their keys, mixed."""
    numbers = random.Random(1)
    suspects = [one.key for one in verdicts if one.status == SUSPECT]
    good = [one.key for one in verdicts if one.status == PASS]
    chosen = suspects + numbers.sample(good, min(len(suspects), len(good)))
    numbers.shuffle(chosen)
    return chosen
