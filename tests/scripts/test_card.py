"""The hardware card that report.py makes, on synthetic results and on those in the repository."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import synthetic
from made_card import Json, add, add_full, all_parameters, make, make_by_report, parameter, rows
from synthetic import inference

from hipscope.report import card
from hipscope.results import door, load, shapes

HOSTILE = "../../x <script>alert(1)</script> | `code` **b** [a](javascript:b) $\\frac$\n# heading\n"


def test_full_card(tmp_path: Path) -> None:
    add_full(tmp_path)
    made, page = make(tmp_path)
    assert made["experiments_without_result"] == []
    # Everything that the table knows is told; what else the results have is not on the card.
    assert not [one["name"] for one in all_parameters(made) if one["status"] == "not measured"]
    assert not [one["name"] for one in all_parameters(made) if one["missing"]]
    names = [one["name"] for one in all_parameters(made)]
    assert "FP8 E4M3 matrix rate" in names
    assert not {"FP16 sparse matrix rate", "access granularity of stores to memory", "shuffle latency"} & set(names)
    for row in (
        "| memory latency | 702 cycles (400.0 ns) | 90 % | - | [memory_latency](memory_latency.md) |",
        "| memory read bandwidth | 4.680 TB/s | 90 % | - | [memory_bandwidth](memory_bandwidth.md) |",
        "| TLB level 2 reach | not found | 0 % | - | [memory_latency](memory_latency.md) |",
        "| compute units | 132 CUs | 90 % | 132 CUs | [cu_staircase](cu_staircase.md) |",
        # 1755 MHz is the clock of the synthetic results: 35.1 cycles are 20 ns.
        "| cache level 1 latency | 35.10 cycles (20.00 ns) | 90 % | - | [memory_latency](memory_latency.md) |",
        "| cache level 2 capacity | 31 MiB | 90 % | 60 MiB, **disagrees** | [memory_latency](memory_latency.md) |",
    ):
        assert row in page.splitlines()


def test_overview(tmp_path: Path) -> None:
    add(tmp_path, "wave_divergence", inference("wave size", 32.0, "lanes", driver=32.0))
    add(
        tmp_path,
        "cu_staircase",
        date="2025-02-03T04:05:06Z",
        hipscope={"version": "0.1.0", "git_revision": "fedcba"},
        clock={**synthetic.result()["clock"], "shader_mhz": 1980.0, "source": "given"},
    )
    made, page = make_by_report(tmp_path)
    assert (made, page) == make(tmp_path)
    for part in (
        "# Hardware card: Test GPU\n",
        "| Driver | 580.1 |",
        "| Measured on | 2025-01-02 ... 2025-02-03 |",
        "| hipscope | fedcba; abcdef012345 |",
        "| Shader clock | 1755 ... 1980 MHz (given, measured) |",
        "| Experiments | 2 with a result, 21 without |",
        "parameters: 1 found, 0 not found, ",
        "no disagreement.",
    ):
        assert part in page
    assert made["device"]["l2_bytes"] == 50 * 2**20
    assert "[Hardware card](card.md)" in (tmp_path / "README.md").read_text()


def test_every_number_is_in_a_result_file(tmp_path: Path) -> None:
    """The results that lie in the repository: each reading of their card is one of their inferences."""
    folder = synthetic.REPOSITORY / "results" / "nvidia-h200"
    results = load.load_folder(folder)
    made = card.make_card(results)
    assert made is not None
    door.check(tmp_path, made, shapes.named(load.CARD_SCHEMA))
    files = {result.name: load.document(result.path) for result in results}
    keys = ("name", "value", "unit", "confidence", "statement", "evidence", "driver", "interval")
    known = [
        (name, *(repr(one.get(key)) for key in keys)) for name, data in files.items() for one in data["inferences"]
    ]
    readings = [reading for one in all_parameters(made) for reading in one["readings"]]
    assert {key for data in files.values() for one in data["inferences"] for key in one} == set(keys)
    told = [
        (one["experiment"], *(repr(one.get({"name": "inference"}.get(key, key))) for key in keys)) for one in readings
    ]
    assert 50 < len(told) == len(set(told)) < 90 and set(told) <= set(known)
    # What is in the table and these results do not tell takes two GPUs.
    assert [one["name"] for one in all_parameters(made) if one["missing"]] == ["link bandwidth"]
    clocks = {name: data["clock"]["shader_mhz"] for name, data in files.items()}
    assert {one["name"]: one["shader_mhz"] for one in made["experiments"]} == clocks
    device = files[results[0].name]["device"]
    assert made["device"].items() <= device.items()
    # No other number is on the card but the tolerances and what the device record says.
    for one in all_parameters(made):
        rest = {key: value for key, value in one.items() if isinstance(value, (int, float))}
        rest = {key: value for key, value in rest.items() if not isinstance(value, bool)}
        assert rest.keys() <= {"tolerance", "driver"}
        assert one["driver"] in (None, *device.values())


def test_missing_experiments_are_not_measured(tmp_path: Path) -> None:
    add(tmp_path, "ilp_tlp", inference("FP32 FMA latency", 4.0))
    made, page = make(tmp_path)
    others = ("cache level N capacity", "TLB level N reach", "... matrix rate")
    for name in ("memory latency", "LDS banks", "launch latency", *others):
        one = parameter(made, name)
        assert (one["status"], one["readings"]) == ("not measured", [])
        assert [item["reason"] for item in one["missing"]] == ["no result"]
    assert rows(page, "LDS banks") == ["| LDS banks | not measured | - | - | lds_banks (no result) |"]
    # What the driver says stands there all the same.
    assert rows(page, "compute units") == ["| compute units | not measured | - | 132 | cu_staircase (no result) |"]
    assert parameter(made, "compute units")["driver"] == 132
    assert "memory_latency" in made["experiments_without_result"]
    # One of two sources: found, and the other one is named.
    assert parameter(made, "FP32 FMA latency")["status"] == "found"
    assert rows(page, "FP32 FMA latency")[1] == ("| FP32 FMA latency | not measured | - | - | fma_loop (no result) |")


@pytest.mark.parametrize("filtered, said", [("block|a*b", "its run left this out"), (None, "says nothing of it")])
def test_inference_that_a_run_does_not_tell_is_not_measured(tmp_path: Path, filtered: str | None, said: str) -> None:
    options = {**synthetic.result()["options"], "filter": filtered}
    add(tmp_path, "launch_latency", inference("launch latency", 8.0, "us"), options=options)
    made, page = make(tmp_path)
    assert parameter(made, "interval in a graph")["missing"] == [
        {"experiment": "launch_latency", "reason": "no such inference"}
    ]
    assert rows(page, "interval in a graph") == [
        f"| interval in a graph | not measured | - | - | launch_latency ({said}) |"
    ]


def test_levels_that_an_experiment_knows(tmp_path: Path) -> None:
    add(
        tmp_path,
        "memory_latency",
        inference("cache level 1 latency", 35.1),
        inference("cache level 10 latency", 300.0),
        inference("cache level 2 latency", None),
        {**inference("cache level 2 capacity", 2.0**20, "bytes"), "interval": [0.5 * 2**20, 1.5 * 2**20]},
    )
    made, page = make(tmp_path)
    assert parameter(made, "cache level 2 capacity")["readings"][0]["interval"] == [0.5 * 2**20, 1.5 * 2**20]
    assert "1 MiB (512 KiB to 1.500 MiB)" in page
    names = [one["name"] for one in made["caches"]]
    assert [name for name in names if re.fullmatch("cache level .* latency", name)] == [
        f"cache level {number} latency" for number in (1, 10, 2)
    ]
    assert "cache level N line" in names and "cache level N capacity" not in names


def test_not_found(tmp_path: Path) -> None:
    add(tmp_path, "ilp_tlp", inference("FP32 FMA latency", None, confidence=0.0))
    made, page = make(tmp_path)
    one = parameter(made, "FP32 FMA latency")
    assert (one["status"], one["disagreement"]) == ("not found", False)
    assert rows(page, "FP32 FMA latency")[0] == "| FP32 FMA latency | not found | 0 % | - | [ilp_tlp](ilp_tlp.md) |"
    assert "1 not found" in page
    # Another experiment finds it.
    add(tmp_path, "fma_loop", inference("FMA latency", 4.0))
    made, page = make(tmp_path)
    one = parameter(made, "FP32 FMA latency")
    assert (one["status"], one["disagreement"], len(one["readings"])) == ("found", False, 2)
    assert "0 not found" in page


@pytest.mark.parametrize(
    "experiment, name, value, driver, disagrees",
    [
        ("memory_latency", "memory latency", 104.9, [100.0], False),
        ("memory_latency", "memory latency", 95.1, [100.0], False),
        ("memory_latency", "memory latency", 105.1, [100.0], True),
        ("memory_latency", "memory latency", 94.9, [100.0], True),
        ("memory_latency", "memory latency", 0.0, [100.0], True),
        ("cu_staircase", "compute units", 131.0, [132.0], True),
        ("cu_staircase", "compute units", 132.0, [132.0], False),
        ("cache_line", "fetched by a cache level 2 miss", 126.0, [128.0], True),
        ("lds_banks", "LDS banks", 33.0, [32.0], True),
        # A driver that says nothing says 0, and the record of the device has the wave size.
        ("memory_latency", "memory latency", 100.0, [0.0], False),
        ("wave_divergence", "wave size", 64.0, [None], True),
        ("wave_divergence", "wave size", 32.0, [None], False),
        # With an interval, which may hold what the driver says.
        ("memory_latency", "cache level 2 capacity", 56, [60, 54, 60], False),
        ("memory_latency", "cache level 2 capacity", 56, [60, 54, 59.9], True),
        ("memory_latency", "cache level 2 capacity", 64, [60, 60.1, 66], True),
        ("cu_staircase", "compute units", 131, [132, 130, 132], True),
    ],
)
def test_disagreement_with_the_driver(
    tmp_path: Path, experiment: str, name: str, value: float, driver: list[float | None], disagrees: bool
) -> None:
    says, *interval = driver
    add(tmp_path, experiment, inference(name, value, driver=says, **({"interval": interval} if interval else {})))
    made, page = make(tmp_path)
    one = parameter(made, name)
    assert one["disagreement"] == disagrees and not one["sources_disagree"]
    assert one["readings"][0]["disagrees_with_driver"] == disagrees
    (row,) = [row for row in rows(page, name) if f"[{experiment}]" in row]
    assert (", **disagrees** |" in row) == disagrees
    assert (f"disagreements: {name}." in page) == disagrees


@pytest.mark.parametrize(
    "values, units, disagree",
    [
        ((4.0, 4.19), ("cycles", "cycles"), False),
        ((4.0, 4.21), ("cycles", "cycles"), True),
        ((4.21, 4.0), ("cycles", "cycles"), True),
        # In another unit it cannot be the same.
        ((4.0, 4.0), ("cycles", "ns"), True),
        ((4.0, None), ("cycles", "ns"), False),
    ],
)
def test_two_sources(
    tmp_path: Path, values: tuple[float | None, float | None], units: tuple[str, str], disagree: bool
) -> None:
    name, experiments = "FP32 FMA latency", ("fma_loop", "ilp_tlp")
    for experiment, value, unit in zip(experiments, values, units):
        add(tmp_path, experiment, inference("FMA latency" if experiment == "fma_loop" else name, value, unit))
    made, page = make(tmp_path)
    one = parameter(made, name)
    assert [reading["experiment"] for reading in one["readings"]] == list(experiments)
    assert one["missing"] == []
    assert (one["sources_disagree"], one["disagreement"]) == (disagree, disagree)
    found = rows(page, name)
    assert len(found) == 2
    for row in found:
        assert (", **disagrees** with another experiment |" in row) == disagree
    assert (f"disagreements: {name}." in page) == disagree


@pytest.mark.parametrize(
    "experiment, name",
    [
        ("copy_rate", "wave size"),  # which is another experiment's
        ("memory_latency", "cache level {n} capacity"),
        ("memory_latency", "cache level N capacity"),
        ("memory_latency", "cache level 01 capacity"),
        ("memory_latency", "cache level  capacity"),
        ("memory_latency", "cache level 1 capacity of it"),
        ("memory_latency", f"cache level {'1' * 30} capacity"),
        ("memory_latency", ""),
        ("memory_latency", "{what}"),
    ],
)
def test_names_that_only_look_like_the_tables(tmp_path: Path, experiment: str, name: str) -> None:
    add(tmp_path, experiment, inference(name, 1.0))
    made, _ = make(tmp_path)
    assert not [one for one in all_parameters(made) if one["readings"]]


def test_variants_stand_apart(tmp_path: Path) -> None:
    add(tmp_path, "ilp_tlp", inference("FP32 FMA latency", 4.0))
    add(tmp_path, "ilp_tlp.wave64", inference("FP32 FMA latency", 8.0))
    add(tmp_path, "fma_loop", inference("FMA latency", 4.0))
    add(tmp_path, "memory_latency.wave64", inference("memory latency", 600.0))
    made, page = make(tmp_path)
    assert parameter(made, "memory latency")["status"] == "not measured"
    assert parameter(made, "memory latency", "wave64")["status"] == "found"
    usual, wide = parameter(made, "FP32 FMA latency"), parameter(made, "FP32 FMA latency", "wave64")
    assert len(usual["readings"]) == 2 and not usual["disagreement"]
    assert [reading["experiment"] for reading in wide["readings"]] == ["ilp_tlp.wave64"]
    assert not wide["disagreement"]
    assert wide["missing"] == [{"experiment": "fma_loop", "reason": "no result"}]
    assert "| FP32 FMA latency (wave64) | 8 cycles (4.558 ns) | 90 % | - | [ilp_tlp (wave64)](ilp_tlp.wave64.md" in page


def test_failed_verification_is_said_and_without_a_clock_no_nanoseconds(tmp_path: Path) -> None:
    clock = {"shader_mhz": None, "highest_shader_mhz": None, "source": "none", "samples": 0, "throttled_samples": 0}
    verification = {"checks": 6, "failures": ["a wrong end of the chase"]}
    failed = {"status": "failed", "verification": verification}
    add(tmp_path, "memory_latency", inference("memory latency", 600.0), clock=clock, **failed)
    made, page = make(tmp_path)
    assert parameter(made, "memory latency")["readings"][0]["verified"] is False
    assert made["experiments"][0]["status"] == "failed"
    assert "| memory latency | 600 cycles | 90 %, **a verification FAILED** |" in page
    assert "| Shader clock | not known |" in page


@pytest.mark.parametrize(
    "value, unit, shown",
    [
        (1023.0, "bytes", "1023 bytes"),
        (1024.0, "bytes", "1 KiB"),
        (131120.0, "bytes", "128.0 KiB"),
        (1.5 * 2**20, "bytes", "1.500 MiB"),
        (80.0 * 2**30, "bytes", "80 GiB"),
        (999.0, "GB/s", "999 GB/s"),
        (4681.6, "GB/s", "4.682 TB/s"),
        (3.0, "GB", "3 GB"),
    ],
)
def test_units(tmp_path: Path, value: float, unit: str, shown: str) -> None:
    add(tmp_path, "memory_latency", inference("memory latency", value, unit))
    made, page = make(tmp_path)
    assert rows(page, "memory latency")[0].startswith(f"| memory latency | {shown} |")
    # The JSON keeps what the result file has.
    reading = parameter(made, "memory latency")["readings"][0]
    assert (reading["value"], reading["unit"]) == (value, unit)


def test_no_card_of_a_cpu(tmp_path: Path) -> None:
    add(tmp_path, "thread_rate", inference("wave size", 32.0, "lanes"))
    make_by_report(tmp_path)
    assert {"card.json", "card.md"} <= set(os.listdir(tmp_path))
    add(tmp_path, "thread_rate", backend="host", scaled=True)
    done = synthetic.run("report.py", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"report.py: no hardware card in {tmp_path}: nothing is inferred of a CPU.\n"
    assert sorted(os.listdir(tmp_path)) == ["README.md", "plots", "thread_rate.json", "thread_rate.md"]
    page = (tmp_path / "README.md").read_text()
    assert "there is no hardware card" in page and "card.md" not in page


def test_a_card_is_no_result(tmp_path: Path) -> None:
    add(tmp_path, "thread_rate", inference("wave size", 32.0, "lanes"))
    make_by_report(tmp_path)
    first = {name: (tmp_path / name).read_bytes() for name in ("README.md", "card.json", "card.md")}
    make_by_report(tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in first} == first
    (tmp_path / "thread_rate.json").unlink()
    assert "holds no result" in synthetic.run("report.py", tmp_path).stderr


def test_hostile_texts(tmp_path: Path) -> None:
    bad = inference(HOSTILE, 1.0, HOSTILE, statement=HOSTILE, evidence=[HOSTILE], driver=2.0)
    add(tmp_path, "thread_rate", bad, inference("block rate", 31.0, HOSTILE, statement=HOSTILE, evidence=[HOSTILE]))
    add(tmp_path, "ilp_tlp", inference("FP32 FMA peak", 1.0, HOSTILE), inference("\ud800 latency", 1.0))
    for path in tmp_path.glob("*.json"):
        data = json.loads(path.read_text())
        data["device"].update(name=HOSTILE, architecture=HOSTILE, driver=HOSTILE, runtime=HOSTILE)
        data["hipscope"]["git_revision"] = HOSTILE
        data["options"]["filter"] = HOSTILE
        data["build"].update(compiler=HOSTILE, flags=HOSTILE)
        path.write_text(json.dumps(data))
    _, page = make_by_report(tmp_path)
    assert "<script" not in page and "\n# heading" not in page
    assert not re.search(r"(?<!\\)`", page) and not re.search(r"(?<!\\)\]\(javascript", page)
    assert page.count("\n# ") == 0 and page.startswith("# Hardware card: ../../x")
    tables = [part.splitlines() for part in page.split("\n\n") if part.startswith("| ")]
    assert len(tables) > 8
    for lines in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    left = "README.md card.json card.md ilp_tlp.json ilp_tlp.md plots thread_rate.json thread_rate.md"
    assert sorted(os.listdir(tmp_path)) == left.split()


MISSING = [{"experiment": "memory_latency", "reason": "no result"}]
# What is done to a card, of whose first memory parameter and reading.
SPOILED: dict[str, Callable[[Json, Json, Json], object]] = {
    "no group": lambda card, one, reading: card.pop("matrix"),
    "no parameter": lambda card, one, reading: card.update(lds=[]),
    "extra": lambda card, one, reading: card.update(extra=1),
    "text value": lambda card, one, reading: reading.update(value="702"),
    "confidence": lambda card, one, reading: reading.update(confidence=1.5),
    "no evidence": lambda card, one, reading: reading.pop("evidence"),
    "found nothing": lambda card, one, reading: reading.update(value=None),
    "found without a reading": lambda card, one, reading: one.update(readings=[]),
    "not found with a value": lambda card, one, reading: one.update(status="not found"),
    "not measured with a reading": lambda card, one, reading: one.update(status="not measured", missing=MISSING),
    "not measured by none": lambda card, one, reading: one.update(status="not measured", readings=[]),
    "unmarked": lambda card, one, reading: reading.update(disagrees_with_driver=True),
    "unmarked sources": lambda card, one, reading: one.update(sources_disagree=True),
    "word for a boolean": lambda card, one, reading: one.update(disagreement="yes"),
    "tolerance": lambda card, one, reading: one.update(tolerance=0.5),
    "device": lambda card, one, reading: card["device"].update(l2_bytes="60 MiB"),
}


def test_schema(tmp_path: Path) -> None:
    add_full(tmp_path)
    made, _ = make(tmp_path)
    for spoil in SPOILED.values():
        card = copy.deepcopy(made)
        spoil(card, card["memory"][0], card["memory"][0]["readings"][0])
        with pytest.raises(door.BadInput, match="card.json does not follow the schema"):
            door.check(tmp_path / "card.json", card, shapes.named(load.CARD_SCHEMA))


def test_check_only_says_what_is_valid(tmp_path: Path) -> None:
    add_full(tmp_path)
    made, _ = make(tmp_path)
    (tmp_path / "card.json").write_text(json.dumps(made))
    count = len(list(tmp_path.iterdir()))
    assert synthetic.run("report.py", "--check", tmp_path).stdout == f"{count} valid, 0 invalid\n"
    (tmp_path / "card.json").write_text(json.dumps({**made, "extra": 1}))
    done = synthetic.run("report.py", "--check", tmp_path / "card.json", tmp_path / "cache_line.json")
    assert (done.returncode, done.stdout) == (1, "1 valid, 1 invalid\n")
    assert done.stderr.count("\n") == 1 and "card.json does not follow the schema" in done.stderr
    assert len(list(tmp_path.iterdir())) == count
