"""The hardware card that report.py makes, on synthetic results and on those in the repository."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
import synthetic
from made_card import add, add_full, all_parameters, inference, make, make_by_report, parameter, report, rows

sys.path.insert(0, str(synthetic.SCRIPTS))

# pylint: disable=wrong-import-position
from hipscope_report import card, load  # noqa: E402

HOSTILE = "../../x <script>alert(1)</script> | `code` **b** [a](javascript:b) $\\frac$\n# heading\n"


def test_full_card(tmp_path: Path) -> None:
    add_full(tmp_path)
    made, page = make(tmp_path)
    assert made["experiments_without_result"] == []
    assert [level["name"] for level in made["cache_levels"]] == [
        "cache level 1", "cache level 2", "constant cache level 1"]
    # Everything that the table knows is told, and there is no more in the results.
    assert not [one["name"] for one in all_parameters(made) if one["status"] == "not measured"]
    assert not [one["name"] for one in all_parameters(made) if one["missing"]]
    assert made["other"] == [] and "## Other" not in page
    # 1755 MHz is the clock of the synthetic results: 35.1 cycles are 20 ns.
    assert ("| cache level 1 | 192 KiB | 128 bytes | 32 bytes | 35.10 cycles (20.00 ns) | 31 TB/s |\n"
            "| cache level 2 | 31 MiB, **disagrees** | 128 bytes | 32 bytes | 262 cycles (149.3 ns) "
            "| 10.40 TB/s |\n"
            "| constant cache level 1 | 2 KiB | 64 bytes | 64 bytes | 25 cycles (14.25 ns) | - |\n") in page
    for row in (
        "| memory latency | 702 cycles (400.0 ns) | 90 % | - | [memory_latency](memory_latency.md) |",
        "| memory read bandwidth | 4.680 TB/s | 90 % | - | [memory_bandwidth](memory_bandwidth.md) |",
        "| TLB level 2 reach | not found | 0 % | - | [memory_latency](memory_latency.md) |",
        "| compute units | 132 CUs | 90 % | 132 CUs | [cu_staircase](cu_staircase.md) |",
        "| cache level 2 capacity | 31 MiB | 90 % | 60 MiB, **disagrees** "
        "| [memory_latency](memory_latency.md) |",
    ):
        assert row in page.splitlines()
    assert "- **LDS banks: 32 banks** (lds_banks): This is LDS banks.\n  - a step that tells LDS banks\n" in page


def test_overview(tmp_path: Path) -> None:
    add(tmp_path, "thread_rate", inference("wave size", 32.0, "lanes", driver=32.0))
    add(tmp_path, "cu_staircase", date="2025-02-03T04:05:06Z",
        hipscope={"version": "0.1.0", "git_revision": "fedcba"},
        clock={"shader_mhz": 1980.0, "highest_shader_mhz": 1980.0, "source": "given", "samples": 0,
               "throttled_samples": 0})
    made, page = make_by_report(tmp_path)
    assert (made, page) == make(tmp_path)
    for part in ("# Hardware card: Test GPU\n", "| Driver | 580.1 |", "| Measured on | 2025-01-02 ... 2025-02-03 |",
                 "| hipscope | fedcba; abcdef012345 |", "| Shader clock | 1755 ... 1980 MHz (given, measured) |",
                 "| Experiments | 2 with a result, 30 without |", "parameters: 1 found, 0 not found, ",
                 "no disagreement.", "| L2 cache | 50 MiB |"):
        assert part in page
    assert made["device"]["l2_bytes"] == 50 * 2**20
    assert "[Hardware card](card.md)" in (tmp_path / "README.md").read_text()


def test_every_number_is_in_a_result_file(tmp_path: Path) -> None:
    """The results that lie in the repository, whose every inference is on their card once."""
    folder = synthetic.REPOSITORY / "results" / "nvidia-h200"
    results = load.load_folder(folder, load.load_schema())
    made = card.make_card(results)
    assert made is not None
    load.check(tmp_path, made, load.load_card_schema())
    keys = ("name", "value", "unit", "confidence", "statement", "evidence", "driver", "interval")
    wanted = sorted((result.name, *(repr(one.get(key)) for key in keys)) for result in results
                    for one in result.data["inferences"])
    readings = [reading for one in all_parameters(made) for reading in one["readings"]]
    assert {key for result in results for one in result.data["inferences"] for key in one} == set(keys)
    assert sorted((one["experiment"], *(repr(one.get({"name": "inference"}.get(key, key))) for key in keys))
                  for one in readings) == wanted
    clocks = {result.name: result.data["clock"]["shader_mhz"] for result in results}
    assert {one["name"]: one["shader_mhz"] for one in made["experiments"]} == clocks
    assert made["device"].items() <= results[0].data["device"].items()
    # No other number is on the card but the tolerances and what the device record says.
    for one in all_parameters(made):
        rest = {key: value for key, value in one.items() if isinstance(value, (int, float))}
        rest = {key: value for key, value in rest.items() if not isinstance(value, bool)}
        assert rest.keys() <= {"tolerance", "driver"}
        assert one["driver"] in (None, *results[0].data["device"].values())


def test_missing_experiments_are_not_measured(tmp_path: Path) -> None:
    add(tmp_path, "thread_rate", inference("wave size", 32.0, "lanes", driver=32.0))
    made, page = make(tmp_path)
    for name in ("memory latency", "LDS banks", "launch latency", "cache level N capacity",
                 "resident blocks of N threads", "TLB level N reach", "... peak"):
        one = parameter(made, name)
        assert (one["status"], one["readings"]) == ("not measured", [])
        assert [item["reason"] for item in one["missing"]] == ["no result"]
    assert rows(page, "LDS banks") == ["| LDS banks | not measured | - | - | lds_banks (no result) |"]
    # What the driver says stands there all the same.
    assert rows(page, "compute units") == ["| compute units | not measured | - | 132 | cu_staircase (no result) |"]
    assert parameter(made, "compute units")["driver"] == 132
    assert rows(page, "cache level N")[0].count("not measured") == 5
    assert "memory_latency" in made["experiments_without_result"]
    assert rows(page, "memory_latency") == ["| memory_latency | not measured | - | - | - | - |"]
    # One of two sources: found, and the other one is named.
    assert parameter(made, "wave size")["status"] == "found"
    assert rows(page, "wave size")[1] == (
        "| wave size | not measured | - | 32 | wave_divergence (no result) |")


def test_inference_that_a_run_left_out_is_not_measured(tmp_path: Path) -> None:
    options = {**synthetic.result()["options"], "filter": "block|a*b"}
    add(tmp_path, "thread_rate", inference("block rate", 0.8, "blocks/cycle"), options=options)
    made, page = make(tmp_path)
    assert parameter(made, "thread rate")["missing"] == [
        {"experiment": "thread_rate", "reason": "no such inference"}]
    assert rows(page, "thread rate") == [
        "| thread rate | not measured | - | - | thread_rate (its run left this out) |"]
    assert "default, only sweeps that match block\\|a\\*b |" in page


def test_what_a_whole_run_does_not_tell_was_not_left_out(tmp_path: Path) -> None:
    add(tmp_path, "thread_rate", inference("block rate", 0.8, "blocks/cycle"))
    _, page = make(tmp_path)
    assert rows(page, "thread rate") == [
        "| thread rate | not measured | - | - | thread_rate (says nothing of it) |"]


def test_an_interval_stands_beside_its_value(tmp_path: Path) -> None:
    found = {**inference("cache level 2 capacity", 2.0**20, "bytes"), "interval": [0.5 * 2**20, 1.5 * 2**20]}
    add(tmp_path, "memory_latency", found)
    made, page = make(tmp_path)
    assert parameter(made, "cache level 2 capacity")["readings"][0]["interval"] == [0.5 * 2**20, 1.5 * 2**20]
    assert "1 MiB (512 KiB to 1.500 MiB)" in page


def test_levels_that_one_experiment_knows(tmp_path: Path) -> None:
    add(tmp_path, "memory_latency", inference("cache level 1 latency", 35.1),
        inference("cache level 10 latency", 300.0), inference("cache level 2 latency", None))
    add(tmp_path, "cache_line", inference("cache level 3 line", 64.0, "bytes"))
    add(tmp_path, "memory_bandwidth", *(inference(f"cache level {number} read bandwidth", 1.0, "GB/s")
                                        for number in (20, 7, 15)))
    made, page = make(tmp_path)
    assert [level["name"] for level in made["cache_levels"]] == [
        *(f"cache level {number}" for number in (1, 2, 3, 7, 10, 15, 20)), "constant cache level N"]
    assert rows(page, "cache level 2") == [
        "| cache level 2 | not measured | not measured | not measured | not found | not measured |"]
    assert parameter(made, "cache level 3 latency")["missing"] == [
        {"experiment": "memory_latency", "reason": "no such inference"}]
    assert parameter(made, "cache level 1 read bandwidth")["missing"] == [
        {"experiment": "memory_bandwidth", "reason": "no such inference"}]


def test_not_found(tmp_path: Path) -> None:
    add(tmp_path, "thread_rate", inference("wave size", None, "lanes", driver=32.0, confidence=0.0))
    made, page = make(tmp_path)
    one = parameter(made, "wave size")
    assert (one["status"], one["disagreement"]) == ("not found", False)
    assert rows(page, "wave size")[0] == (
        "| wave size | not found | 0 % | 32 lanes | [thread_rate](thread_rate.md) |")
    assert "- **wave size: not found** (thread_rate): This is wave size.\n" in page
    assert "1 not found" in page
    # Another experiment finds it.
    add(tmp_path, "wave_divergence", inference("wave size", 32.0, "lanes", driver=32.0))
    made, page = make(tmp_path)
    one = parameter(made, "wave size")
    assert (one["status"], one["disagreement"], len(one["readings"])) == ("found", False, 2)
    assert "0 not found" in page


@pytest.mark.parametrize("experiment, name, value, driver, disagrees", [
    ("memory_latency", "memory latency", 104.9, 100.0, False),
    ("memory_latency", "memory latency", 95.1, 100.0, False),
    ("memory_latency", "memory latency", 105.1, 100.0, True),
    ("memory_latency", "memory latency", 94.9, 100.0, True),
    ("memory_latency", "memory latency", 0.0, 100.0, True),
    ("cu_staircase", "compute units", 131.0, 132.0, True),
    ("cu_staircase", "compute units", 132.0, 132.0, False),
    ("cache_line", "cache level 1 line", 126.0, 128.0, True),
    ("lds_banks", "LDS banks", 33.0, 32.0, True),
    # A driver that says nothing says 0, and the record of the device has the wave size.
    ("memory_latency", "memory latency", 100.0, 0.0, False),
    ("thread_rate", "wave size", 64.0, None, True),
    ("thread_rate", "wave size", 32.0, None, False),
    # One that no entry of the table takes.
    ("copy_rate", "cache size", 100.0, 104.0, False),
    ("copy_rate", "cache size", 100.0, 106.0, True),
])
def test_disagreement_with_the_driver(tmp_path: Path, experiment: str, name: str, value: float,
                                      driver: float | None, disagrees: bool) -> None:
    add(tmp_path, experiment, inference(name, value, driver=driver))
    made, page = make(tmp_path)
    one = parameter(made, name)
    assert one["disagreement"] == disagrees and not one["sources_disagree"]
    assert one["readings"][0]["disagrees_with_driver"] == disagrees
    (row,) = [row for row in rows(page, name) if f"[{experiment}]" in row]
    assert (", **disagrees** |" in row) == disagrees
    assert (f"disagreements: {name}." in page) == disagrees


@pytest.mark.parametrize("name, experiments, values, units, disagree", [
    ("wave size", ("thread_rate", "wave_divergence"), (32.0, 32.0), ("lanes", "lanes"), False),
    ("wave size", ("thread_rate", "wave_divergence"), (32.0, 31.0), ("lanes", "lanes"), True),
    ("wave size", ("thread_rate", "wave_divergence"), (None, 32.0), ("lanes", "lanes"), False),
    ("FP32 FMA latency", ("fma_loop", "ilp_tlp"), (4.0, 4.19), ("cycles", "cycles"), False),
    ("FP32 FMA latency", ("fma_loop", "ilp_tlp"), (4.0, 4.21), ("cycles", "cycles"), True),
    ("FP32 FMA latency", ("fma_loop", "ilp_tlp"), (4.21, 4.0), ("cycles", "cycles"), True),
    # In another unit it cannot be the same.
    ("FP32 FMA latency", ("fma_loop", "ilp_tlp"), (4.0, 4.0), ("cycles", "ns"), True),
    ("FP32 FMA latency", ("fma_loop", "ilp_tlp"), (4.0, None), ("cycles", "ns"), False),
])
def test_two_sources(tmp_path: Path, name: str, experiments: tuple[str, str],
                     values: tuple[float | None, float | None], units: tuple[str, str],
                     disagree: bool) -> None:
    for experiment, value, unit in zip(experiments, values, units):
        add(tmp_path, experiment, inference("FMA latency" if experiment == "fma_loop" else name, value, unit))
    # The driver has no say in this.
    for path in tmp_path.glob("*.json"):
        data = json.loads(path.read_text())
        data["device"]["wave_size"] = 0
        path.write_text(json.dumps(data))
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


def test_other_group(tmp_path: Path) -> None:
    """What the table does not know is not lost, also under a name that another experiment has."""
    add(tmp_path, "copy_rate", inference("cache size", 50.0, "MiB"), inference("wave size", 7.0, "lanes"))
    add(tmp_path, "other_rate", inference("cache size", 90.0, "MiB"))
    made, page = make(tmp_path)
    assert [(one["name"], [reading["experiment"] for reading in one["readings"]], one["disagreement"])
            for one in made["other"]] == [
        ("cache size", ["copy_rate"], False), ("wave size", ["copy_rate"], False),
        ("cache size", ["other_rate"], False)]
    other = page[page.index("## Other"):]
    assert "| cache size | 50 MiB | 90 % | - | [copy_rate](copy_rate.md) |" in other
    # It is not the wave size that the table means.
    assert made["execution"][0]["status"] == "not measured"


@pytest.mark.parametrize("name", [
    "cache level {n} capacity", "cache level N capacity", "cache level 01 capacity", "cache level  capacity",
    "cache level 1 capacity of it", f"cache level {'1' * 30} capacity", "TLB level 1\nreach", "", "{what}",
])
def test_names_that_only_look_like_the_tables(tmp_path: Path, name: str) -> None:
    add(tmp_path, "memory_latency", inference(name, 1.0))
    made, _ = make(tmp_path)
    assert [one["name"] for one in made["other"]] == [name]
    assert [level["name"] for level in made["cache_levels"]] == ["cache level N", "constant cache level N"]


def test_variants_stand_apart(tmp_path: Path) -> None:
    add(tmp_path, "thread_rate", inference("wave size", 32.0, "lanes"))
    add(tmp_path, "thread_rate.wave64", inference("wave size", 64.0, "lanes", driver=64.0))
    add(tmp_path, "wave_divergence", inference("wave size", 32.0, "lanes"))
    made, page = make(tmp_path)
    usual, wide = parameter(made, "wave size"), parameter(made, "wave size", "wave64")
    assert len(usual["readings"]) == 2 and not usual["disagreement"]
    assert [reading["experiment"] for reading in wide["readings"]] == ["thread_rate.wave64"]
    assert not wide["disagreement"]
    assert wide["missing"] == [{"experiment": "wave_divergence", "reason": "no result"}]
    assert "| wave size (wave64) | 64 lanes | 90 % | 64 lanes | [thread_rate (wave64)](thread_rate.wave64.md" in page


def test_only_a_variant_ran(tmp_path: Path) -> None:
    add(tmp_path, "memory_latency.wave64", inference("cache level 1 latency", 30.0),
        inference("memory latency", 600.0))
    made, _ = make(tmp_path)
    assert parameter(made, "memory latency")["status"] == "not measured"
    assert parameter(made, "memory latency", "wave64")["status"] == "found"
    assert [(level["name"], level["variant"]) for level in made["cache_levels"]] == [
        ("cache level N", ""), ("cache level 1", "wave64"), ("constant cache level N", "")]


def test_failed_verification_is_said(tmp_path: Path) -> None:
    add(tmp_path, "memory_latency", inference("memory latency", 600.0), status="failed",
        verification={"checks": 6, "failures": ["a wrong end of the chase"]})
    made, page = make(tmp_path)
    assert parameter(made, "memory latency")["readings"][0]["verified"] is False
    assert "| 90 %, **a verification FAILED** |" in rows(page, "memory latency")[0]
    assert made["experiments"][0]["status"] == "failed"
    assert "| **FAILED** |" in page


def test_no_clock_no_nanoseconds(tmp_path: Path) -> None:
    clock = {"shader_mhz": None, "highest_shader_mhz": None, "source": "none", "samples": 0,
             "throttled_samples": 0}
    add(tmp_path, "memory_latency", inference("memory latency", 600.0), clock=clock)
    _, page = make(tmp_path)
    assert "| memory latency | 600 cycles | 90 % |" in page and "| Shader clock | not known |" in page


@pytest.mark.parametrize("value, unit, shown", [
    (1023.0, "bytes", "1023 bytes"), (1024.0, "bytes", "1 KiB"), (131120.0, "bytes", "128.0 KiB"),
    (1.5 * 2**20, "bytes", "1.500 MiB"), (80.0 * 2**30, "bytes", "80 GiB"), (999.0, "GB/s", "999 GB/s"),
    (4681.6, "GB/s", "4.682 TB/s"), (3.0, "GB", "3 GB"),
])
def test_units(tmp_path: Path, value: float, unit: str, shown: str) -> None:
    add(tmp_path, "copy_rate", inference("some", value, unit))
    made, page = make(tmp_path)
    assert rows(page, "some")[0].startswith(f"| some | {shown} |")
    # The JSON keeps what the result file has.
    reading = made["other"][0]["readings"][0]
    assert (reading["value"], reading["unit"]) == (value, unit)


def test_no_card_of_a_cpu(tmp_path: Path) -> None:
    add(tmp_path, "thread_rate", inference("wave size", 32.0, "lanes"))
    make_by_report(tmp_path)
    assert {"card.json", "card.md"} <= set(os.listdir(tmp_path))
    add(tmp_path, "thread_rate", backend="host", scaled=True)
    done = report(tmp_path)
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
    assert "holds no result" in report(tmp_path).stderr


def test_bad_file_leaves_the_card_as_it_was(tmp_path: Path) -> None:
    add(tmp_path, "thread_rate", inference("wave size", 32.0, "lanes"))
    make_by_report(tmp_path)
    before = (tmp_path / "card.json").read_bytes()
    add(tmp_path, "thread_rate", inference("wave size", 64.0, "lanes"))
    (tmp_path / "another.json").write_text("{}")
    assert report(tmp_path).returncode == 1
    assert (tmp_path / "card.json").read_bytes() == before


def test_hostile_texts(tmp_path: Path) -> None:
    bad = inference(HOSTILE, 1.0, HOSTILE, statement=HOSTILE, evidence=[HOSTILE], driver=2.0)
    add(tmp_path, "thread_rate", bad, inference("wave size", 31.0, HOSTILE, statement=HOSTILE),
        inference(f"time in place of a block of {HOSTILE}", 3.0))
    add(tmp_path, "ilp_tlp", inference(f"{HOSTILE.strip()} peak", 1.0), inference("\ud800 latency", 1.0))
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
    assert len(tables) > 9
    for lines in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    assert sorted(os.listdir(tmp_path)) == [
        "README.md", "card.json", "card.md", "ilp_tlp.json", "ilp_tlp.md", "plots", "thread_rate.json",
        "thread_rate.md"]
