"""Which GPU is the slow one: made fleets, and simulated ones in numbers."""

from __future__ import annotations

import dataclasses
import json
import random
from typing import Any

import fleet as fleet_script
import pytest

from hipscope.fleet import cohorts, metrics, simulate, verdicts
from hipscope.fleet.metrics import Gpu, Identity, Metric, Telemetry

GROUPS = {"FP32 FMA": "compute", "matrix FP16": "matrix", "LDS latency": "lds", "memory latency": "memory"}


def gpu(index: int, numbers: random.Random, **worse: float) -> Gpu:
    """A GPU; `worse` are parts by which a metric is worse: cycles, clock, memory, link, late."""

    def about(value: float, part: str, sign: int = 1) -> float:
        return value * (1 + sign * worse.get(part, 0.0)) * (1 + numbers.gauss(0, 0.001))

    made: dict[str, Metric] = {}
    for name, group in GROUPS.items():
        part = "memory" if group == "memory" else "cycles"
        made[name] = Metric(about(1e6, part), "cycles", "lower", 0.001, "cycles", group)
        made[name + ", clock"] = Metric(about(1980, "clock", -1), "clock", "higher", 0.002, "MHz", group)
    made["memory read"] = Metric(about(4600, "memory", -1), "bytes", "higher", 0.002, "GB/s", "memory")
    made["copy to the device"] = Metric(about(55, "link", -1), "copy", "higher", 0.003, "GB/s", "link")
    made["soak, GEMM: late over early"] = Metric(about(1, "late"), "soak", "lower", 0.003, "", "cooling")
    return Gpu(
        Identity(
            f"GPU-{index}",
            host=f"node{index // 8}",
            slot=str(index % 8),
            model="Test GPU",
            driver="580",
            power_cap="700",
        ),
        made,
    )


def fleet(count: int = 64, **worse: float) -> list[Gpu]:
    numbers = random.Random(count)
    return [gpu(index, numbers, **(worse if index == 5 else {})) for index in range(count)]


def measured_again(gpus: list[Gpu], keys: list[str], **worse: float) -> None:
    """Three more measurements of these, of which GPU-5 is as told and the others are good."""
    numbers = random.Random(99)
    for one in gpus:
        if one.key in keys:
            one.again = [gpu(0, numbers, **(worse if one.key == "GPU-5" else {})).metrics for _ in range(3)]


def changed(one: Gpu, **settings: str) -> Gpu:
    return dataclasses.replace(one, identity=dataclasses.replace(one.identity, **settings))


def statuses(gpus: list[Gpu], **more: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for verdict in verdicts.judge(gpus, **more):
        found.setdefault(verdict.status, []).append(verdict.key)
    return found


def test_good_ones_pass() -> None:
    assert statuses(fleet()) == {"pass": [f"GPU-{index}" for index in range(64)]}


@pytest.mark.parametrize(
    "worse, cause",
    [
        ({"memory": 0.03}, "memory path"),
        ({"link": 0.5}, "link, copies only"),
        ({"clock": 0.2}, "low clock (no throttle"),
        ({"cycles": 0.03, "memory": 0.03, "link": 0.03}, "everything"),
        ({"late": 0.2}, "cooling, late in the soak only"),
        ({"clock": 0.1, "memory": 0.05}, "memory path; low clock"),
    ],
)
def test_the_slow_one_and_why(worse: dict[str, float], cause: str) -> None:
    gpus = fleet(**worse)
    found = verdicts.judge(gpus)
    assert [one.key for one in found if one.status == "suspect"] == ["GPU-5"]
    again = verdicts.to_measure_again(found)
    assert len(again) == 2 and "GPU-5" in again
    measured_again(gpus, again, **worse)
    verdict = verdicts.judge(gpus)[5]
    assert verdict.status == "fail" and verdict.cause.startswith(cause)
    assert "confirmed" in verdict.sentences[0] and verdict.findings[0].confirmed


@pytest.mark.parametrize(
    "worse",
    [
        {"memory": 0.007},
        {"clock": 0.03},
        {"late": 0.03},  # far beyond chance, and yet within what they may differ by
        dict.fromkeys(("memory", "cycles", "clock", "link", "late"), -0.2),  # better is not worse
    ],
)
def test_small_differences_are_none(worse: dict[str, float]) -> None:
    assert set(statuses(fleet(**worse))) == {"pass"}


def test_what_is_not_confirmed_passes() -> None:
    gpus = fleet(memory=0.05)
    measured_again(gpus, ["GPU-5", "GPU-7"])
    verdict = verdicts.judge(gpus)[5]
    assert verdict.status == "pass" and verdict.cause == "not confirmed: memory path"
    assert "not confirmed" in verdict.sentences[0]
    gpus[5].again.pop()
    assert verdicts.judge(gpus)[5].status == "suspect"


def test_what_became_worse_for_the_controls_too_confirms_nothing() -> None:
    gpus = fleet(memory=0.05)
    numbers = random.Random(3)
    for index in (5, 7, 9):
        gpus[index].again = [gpu(0, numbers, memory=0.05).metrics for _ in range(3)]
    assert verdicts.judge(gpus)[5].status == "pass"


def test_throttle_reason_and_cap() -> None:
    gpus = fleet(clock=0.2)
    gpus[5].telemetry = Telemetry(throttle_reasons=("hardware thermal slowdown",))
    assert verdicts.judge(gpus)[5].cause == "low clock (throttled: hardware thermal slowdown)"
    gpus[5] = changed(dataclasses.replace(gpus[5], telemetry=Telemetry()), power_cap="500")
    verdict = verdicts.judge(gpus)[5]
    assert verdict.status == "suspect" and verdict.cause == "low clock (power cap 500 where 63 of 64 have 700)"


def test_memory_errors_are_told_with_the_memory() -> None:
    gpus = fleet(memory=0.05)
    gpus[5].telemetry = Telemetry(ecc_errors=3, remapped_rows=1)
    assert verdicts.judge(gpus)[5].cause == "memory path (3 ECC errors, 1 rows remapped)"


def test_drift() -> None:
    gpus = [changed(one, driver="570", link="width 8") if index in (3, 4) else one for index, one in enumerate(fleet())]
    found = verdicts.judge(gpus)
    assert found[3].drift == ["driver 570 where 62 of 64 have 580", "link width 8 where 62 of 64 have none"]
    assert found[3].status == "pass" and found[3].cohort != found[5].cohort and not found[5].drift


def test_cohorts_are_not_mixed() -> None:
    """A slower model among a faster one is not the slow one."""
    numbers = random.Random(1)
    gpus = fleet() + [changed(gpu(index, numbers, cycles=0.3, clock=0.3), model="Other GPU") for index in range(64, 96)]
    assert set(statuses(gpus)) == {"pass"}


def test_a_wrong_value_fails_at_once() -> None:
    for count in (64, 2):
        gpus = fleet(count)
        gpus[1].failures.append("sgemm: 1 of 4096 is wrong")
        verdict = verdicts.judge(gpus)[1]
        assert (verdict.status, verdict.cause) == ("fail", "wrong values") and "4096" in verdict.sentences[0]


def test_what_was_not_measured() -> None:
    gpus = fleet()
    del gpus[5].metrics["memory read"]
    verdict = verdicts.judge(gpus)[5]
    assert (verdict.status, verdict.sentences) == ("suspect", ["not measured: memory read"])


def test_few_need_a_baseline() -> None:
    gpus = fleet(8, memory=0.05)
    assert set(statuses(gpus)) == {"unjudged"}
    baseline = json.loads(json.dumps(cohorts.baseline_of(fleet(64))))
    assert statuses(gpus, baseline=baseline)["suspect"] == ["GPU-5"]
    # Of four the median is the baseline's, too.
    four = [fleet(8, memory=0.05)[index] for index in (5, 0, 1, 2)]
    assert statuses(four, baseline=baseline) == {"suspect": ["GPU-5"], "pass": ["GPU-0", "GPU-1", "GPU-2"]}
    others = {"version": 1, "cohorts": [{**baseline["cohorts"][0], "model": "Other GPU"}]}
    assert set(statuses(gpus, baseline=others)) == {"unjudged"}


def test_a_baseline_that_the_fleet_contradicts() -> None:
    """What is normal here is not what is normal there: nobody is accused of differing as all of them do."""
    baseline = cohorts.baseline_of(fleet(512))
    numbers = random.Random(12)
    gpus = [gpu(index, numbers, memory=numbers.gauss(0, 0.02)) for index in range(24)]
    assert set(statuses(gpus, baseline=baseline)) == {"pass"}


def test_slots_are_no_fault_of_a_card() -> None:
    numbers = random.Random(4)
    gpus = [gpu(index, numbers, clock=0.08 if index % 8 == 7 else 0.0) for index in range(128)]
    assert set(statuses(gpus)) == {"pass"}
    notes = list(cohorts.notes(cohorts.form(gpus)))
    assert notes and all("in slot 7 of every node" in note for note in notes)


def test_slots_that_differ_hide_nothing() -> None:
    """Each slot is 1 % warmer and slower than the one before: what is normal is told within a slot."""
    numbers = random.Random(5)
    gpus = [gpu(index, numbers, clock=0.01 * (index % 8) + (0.06 if index == 8 else 0.0)) for index in range(128)]
    assert statuses(gpus)["suspect"] == ["GPU-8"]


def test_a_fleet_that_is_off_its_baseline() -> None:
    baseline = cohorts.baseline_of(fleet(64))
    numbers = random.Random(6)
    gpus = [gpu(index, numbers, memory=0.05) for index in range(32)]
    notes = list(cohorts.notes(cohorts.form(gpus, baseline), baseline))
    assert len(notes) == 2 and "memory read" in "".join(notes) and "5.1 % worse" in "".join(notes)


@pytest.mark.parametrize("count", [16, 24, 64, 200])
def test_chance_is_what_it_says(count: int) -> None:
    """Of normal values one in a thousand is under a chance of one in a thousand, however few they are."""
    numbers, under, fleets = random.Random(count), 0, 60000 // count
    for _ in range(fleets):
        values = sorted(numbers.gauss(0, 1) for _ in range(count))
        centre = (values[(count - 1) // 2] + values[count // 2]) / 2
        normal = cohorts.Normal(0, *cohorts.spread_of([one - centre for one in values], 1e-9), count)
        under += sum(normal.chance(one - centre, 0) <= 1e-3 for one in values[-5:])
    assert under <= 1.3 * 60


def test_upper_tail() -> None:
    # Values of Student's distribution from any table.
    for freedom, z, chance in ((5, 4.032, 0.005), (10, 3.169, 0.005), (30, 2.750, 0.005), (1e6, 2.576, 0.005)):
        assert cohorts.upper_tail(z, freedom) == pytest.approx(chance, rel=0.04)
    assert cohorts.upper_tail(-1, 5) == 1.0


@pytest.mark.parametrize(
    "size, spread, deficit, least",
    [(8, 0.005, 0.05, 0.95), (32, 0.002, 0.03, 0.95), (128, 0.01, 0.1, 0.95), (1000, 0.002, 0.02, 0.95)],
)
def test_simulated_fleets(size: int, spread: float, deficit: float, least: float) -> None:
    counts = simulate.cell(size, simulate.World(spread), simulate.any_metric(deficit), 1000, simulate.SEED)
    assert counts[simulate.OURS].found_part >= least and counts[simulate.OURS].accused_part <= 0.001
    assert simulate.is_better(counts, [counts])


@pytest.mark.parametrize(
    "world",
    [
        simulate.World(0.03),
        simulate.World(0.01, gradient=0.03),
        simulate.World(0.01, disturbed=0.01),
        simulate.World(0.01, missing=0.3),
    ],
)
def test_good_simulated_fleets(world: simulate.World) -> None:
    """Whatever is with a fleet, good GPUs are not accused."""
    numbers, accused = random.Random(8), 0
    for _ in range(15):
        accused += len(simulate.failed(simulate.make(128, world, numbers, None), None))
    assert accused <= 1


def test_ten_thousand() -> None:
    """One pass over the largest fleet: all of the faulty, and hardly a good one."""
    numbers = random.Random(2)
    made = simulate.make(10000, simulate.World(0.002), numbers, lambda: simulate.Fault("memory read", 0.05))
    accused = simulate.failed(made, None)
    assert made.faulty <= accused and len(accused - made.faulty) <= 2


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert fleet_script.main(["simulate", "--sizes", "16", "--gpus", "16"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Found, per cent: hipscope / 90 % of the best / 95 % of the mean")
    assert sum(line.startswith("| 16 |") for line in lines) == len(simulate.SPREADS)


@pytest.mark.parametrize("arguments", [["--sizes", "0"], ["--gpus", "many"], ["--sizes"]])
def test_the_table_of_nothing(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        fleet_script.main(["simulate", *arguments])
    assert ended.value.code == 2 and capsys.readouterr().err.count("\n") == 1


def test_limits_are_of_all_kinds() -> None:
    kinds: set[str] = {source.kind for source in metrics.SOURCES} | {metrics.CLOCK, metrics.SOAK}
    assert kinds <= set(verdicts.LIMITS) and kinds <= set(metrics.LEAST_NOISE)
