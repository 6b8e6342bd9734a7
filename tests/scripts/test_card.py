"""The hardware card that report.py makes, on synthetic results and on those in the repository."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import synthetic

sys.path.insert(0, str(synthetic.SCRIPTS))

# pylint: disable=wrong-import-position
from hipscope_report import card, card_page, load  # noqa: E402

GROUPS = ("timing", "execution", "memory", "lds", "registers", "rates", "energy", "launch", "kernels", "other")
HOSTILE = "../../x <script>alert(1)</script> | `code` **b** [a](javascript:b) $\\frac$\n# heading\n"

Json = dict[str, Any]


def inference(name: str, value: float | None, unit: str = "cycles", **changes: Any) -> Json:
    """An inference with one line of evidence."""
    return {"name": name, "value": value, "unit": unit, "confidence": 0.9, "statement": f"This is {name}.",
            "evidence": [f"a step that tells {name}"], "driver": None, **changes}


def add(folder: Path, experiment: str, *inferences: Json, **changes: Any) -> None:
    """Writes a result with these inferences; "thread_rate.wave64" is a variant."""
    data = synthetic.result(experiment.partition(".")[0], inferences=list(inferences), **changes)
    synthetic.write(folder, data, experiment)


def report(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs report.py."""
    return subprocess.run([sys.executable, synthetic.SCRIPTS / "report.py", *arguments],
                          capture_output=True, text=True, check=False)


def make(folder: Path) -> tuple[Json, str]:
    """The card of a folder's results, valid, and its page; without the plots that report.py makes."""
    results = load.load_folder(folder, load.load_schema())
    made = card.make_card(results)
    assert made is not None
    load.check(folder / "card.json", made, load.load_card_schema())
    return made, card_page.make_card_page(made, results)


def make_by_report(folder: Path) -> tuple[Json, str]:
    """The card that report.py leaves in a folder."""
    done = report(folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return json.loads((folder / "card.json").read_text()), (folder / "card.md").read_text()


def all_parameters(made: Json) -> list[Json]:
    """The parameters of all groups and of the cache levels."""
    return [one for group in GROUPS for one in made[group]] + card_page.level_parameters(made)


def parameter(made: Json, name: str, variant: str = "") -> Json:
    """The one parameter of this name."""
    found = [one for one in all_parameters(made) if (one["name"], one["variant"]) == (name, variant)]
    assert len(found) == 1, name
    return found[0]


def rows(page: str, name: str) -> list[str]:
    """The rows of the page's tables that begin with a name."""
    return [line for line in page.splitlines() if line.startswith(f"| {name} |")]


def add_full(folder: Path) -> None:
    """Results of every experiment that the table of the card names, with two levels and a constant one."""
    add(folder, "memory_latency",
        inference("cache level 1 capacity", 196608.0, "bytes"),
        inference("cache level 1 latency", 35.1),
        inference("cache level 2 capacity", 31.0 * 2**20, "bytes", driver=60.0 * 2**20),
        inference("cache level 2 latency", 262.0),
        inference("constant cache level 1 capacity", 2048.0, "bytes"),
        inference("constant cache level 1 latency", 25.0),
        inference("cache level 1 miss penalty", 226.9), inference("cache level 2 miss penalty", 440.0),
        inference("constant cache level 1 miss penalty", 70.0),
        inference("cache level 2 latency spread", 40.0),
        inference("memory latency", 702.0), inference("memory latency spread", 130.0),
        inference("memory latency with a cold TLB", 834.0),
        inference("TLB level 1 entries", 16.0, "entries"),
        inference("TLB level 1 entry", 2.0 * 2**20, "bytes"),
        inference("TLB level 1 miss penalty", 120.0),
        inference("TLB level 1 reach", 32.0 * 2**20, "bytes"),
        inference("TLB level 2 reach", None, "bytes", confidence=0.0),
        inference("store-to-load latency", 60.0), inference("L2 latency spread over CUs", 200.0),
        inference("near half of cache level 2 capacity", 30e6, "bytes"),
        inference("far half of cache level 2 latency", 500.0),
        inference("texture cache level 1 capacity", 196608.0, "bytes"),
        inference("texture cache level 1 latency", 88.7),
        inference("latency of texture loads over plain loads", 2.77, "x"))
    add(folder, "cache_line",
        inference("cache level 1 line", 128.0, "bytes"), inference("cache level 1 sector", 32.0, "bytes"),
        inference("cache level 2 line", 128.0, "bytes"), inference("cache level 2 sector", 32.0, "bytes"),
        inference("fetched by a cache level 2 miss", 64.0, "bytes"))
    add(folder, "cache_sharing",
        inference("constant cache level 1 line", 64.0, "bytes"),
        inference("constant cache level 1 sector", 64.0, "bytes"),
        inference("first cache of vector loads, latency", 35.0),
        inference("cache shared by vector and texture", 100.0, "% evicted"),
        inference("vector cache left beside the largest LDS", 28672.0, "bytes"),
        inference("CUs that share a cache of constant loads", 1.0, "CUs"),
        inference("parts of L2 by distance", 2.0, "parts"),
        inference("CUs that find in L2 what one CU has read", 132.0, "CUs"))
    add(folder, "memory_bandwidth",
        inference("cache level 1 read bandwidth", 31000.0, "GB/s"),
        inference("cache level 2 read bandwidth", 10400.0, "GB/s"),
        inference("cache level 2 write bandwidth", 5000.0, "GB/s"),
        inference("fetched by a cache level 2 miss", 64.0, "bytes"),
        inference("bandwidth of a cache behind L2", None, "GB/s", confidence=0.0),
        *[inference(f"memory {kind} bandwidth", 4680.0, "GB/s")
          for kind in ("read", "write", "copy", "triad")],
        inference("bytes in flight per CU for 95 % of the read bandwidth", 32768.0, "bytes"))
    add(folder, "memory_channels",
        inference("channel interleave", 4096.0, "bytes"), inference("worst stride factor", 3.5, "x"),
        inference("worst stride factor within L2", 2.5, "x"), inference("gain by padding, column loads", 2.0))
    add(folder, "store_divergence",
        inference("access granularity of loads", 32.0, "bytes"),
        inference("cost of a scattered lane, stores", 2.0), inference("cost of misalignment, loads", 1.1))
    add(folder, "nchw_index", inference("cost of the index", 1.05, "times"))
    add(folder, "atomics", inference("additions at one word of L2", 1.37, "G/s"),
        inference("additions in LDS", 31.7, "lanes/cycle"),
        inference("FP32 addition in LDS over INT32's", 3.12, "times"))
    add(folder, "lds_latency", inference("LDS latency", 23.0), inference("LDS latency by index", 29.0),
        inference("shuffle latency", 24.0))
    add(folder, "lds_banks",
        inference("LDS banks", 32.0, "banks"), inference("LDS bank width", 4.0, "bytes"),
        inference("cycles per extra conflict way", 2.0),
        inference("LDS read bandwidth", 128.0, "bytes/cycle/CU"))
    add(folder, "thread_rate",
        inference("wave size", 32.0, "lanes", driver=32.0), inference("block rate", 0.84, "blocks/cycle"),
        inference("thread rate", None, "threads/cycle", confidence=0.0),
        inference("smallest full-rate block", 64.0, "threads"),
        inference("time in place of a block of 1024", 355.0))
    add(folder, "cu_staircase",
        inference("compute units", 132.0, "CUs", driver=132.0),
        inference("resident blocks of 256 threads", 8.0, "blocks/CU", driver=8.0))
    add(folder, "fma_loop",
        inference("FMA latency", 4.02), inference("best FMA rate of one block", 125.0, "FMA/cycle"),
        inference("cost of an iteration's end", 5.0),
        inference("instruction cache capacity", 131072.0, "bytes"),
        inference("largest loop at full speed, 64 threads", 131120.0, "bytes"),
        inference("effect of the loop's place, alignment-16", 2.7, "%"),
        inference("nested 100 x 10000 over unroll 100", 1.0, "x"))
    add(folder, "ilp_tlp",
        inference("FP32 FMA latency", 4.03), inference("FP64 FMA latency", 8.03),
        inference("FP32 FMA rate", 3.99, "instructions/cycle/CU"), inference("FP32 FMA peak", 66.5, "TFLOP/s"))
    add(folder, "matrix_rate",
        inference("FP16 matrix rate", 2042.0, "FMAs/cycle/CU"), inference("FP16 matrix latency", 17.0),
        inference("cost of random operands", 9.3, "%"), inference("width of sums, FP16 wgmma", 25.0, "bits"))
    add(folder, "energy",
        inference("idle power", 75.0, "W"), inference("launch power", 140.0, "W"),
        inference("energy per launch", 30.0, "uJ"), inference("energy per byte from L2", 9.0, "pJ"),
        inference("energy per FP32 vector FMA", 20.0, "pJ"),
        inference("deviation of the sum of energies", 4.0, "%"))
    add(folder, "soak",
        inference("time to steady state, stream", 0.0, "s"),
        inference("loss to the steady state, stream", None, "%", confidence=0.0))
    add(folder, "vgpr_limit",
        inference("registers of a CU", 65536.0, "registers", driver=65536.0),
        inference("register budget per thread, blocks of 256", 254.0, "registers"),
        inference("rate past the budget, blocks of 256", 6.3, "%"))
    add(folder, "sgpr_limit",
        inference("registers of a thread per uniform value", 1.0, "registers"),
        inference("uniform values at full rate", None, "values", confidence=0.0))
    add(folder, "register_pressure",
        inference("gain by moved definitions", 1.1, "times the rate"),
        inference("best step over copy", 90.0, "% of the copy's bandwidth"),
        inference("waves per CU for 95 % of the rate, loops", 16.0, "waves"))
    add(folder, "wave_divergence",
        inference("wave size", 32.0, "lanes", driver=32.0),
        inference("cost of one lane on another path", 2.0, "times"),
        inference("two paths of a wave that is alone", 1.99, "times"),
        inference("branch pays, no lane in it", 8.0, "FMAs"))
    add(folder, "math_functions",
        inference("cost of a sine in FP64", 2.06, "times"), inference("gain of the rewrites", 5.0, "times"))
    add(folder, "timing",
        inference("resolution of events", 32.0, "ns"), inference("time that events add", 1.3, "us"),
        inference("time that the host's clock adds", 8.0, "us"), inference("first launch", 500.0, "us"),
        inference("samples of a steady median", 8.0, "samples"),
        inference("time until the clock is steady", 4.0, "ms"))
    add(folder, "launch_latency",
        inference("launch latency", 7.4, "us"), inference("interval in a stream", 2.5, "us"),
        inference("interval in a graph", 0.48, "us"),
        inference("largest grid at the cost of one block", 256.0, "blocks"))
    add(folder, "streams",
        inference("kernels at once", 128.0, "kernels"), inference("hardware queues", 8.0, "queues", driver=8.0),
        inference("small kernel beside a large one begins at", 87.6, "% of the large one"),
        inference("small kernel of high priority begins at", 12.5, "% of the large one"),
        inference("copy under a kernel", 99.9, "% of the shorter"),
        inference("wait for another stream's event", None, "us", confidence=0.0),
        inference("launches by one thread of the host", 250000.0, "1/s"))
    add(folder, "grid_sync",
        inference("grid barrier, one block per CU", 950.0, "ns"),
        inference("grid barrier, all resident blocks", 2100.0, "ns"),
        inference("grid barrier, fixed part", 600.0, "ns"), inference("grid barrier, per block", 2.5, "ns"),
        inference("grid barriers in the time of a launch", 1.5, "barriers"))
    add(folder, "reduction",
        inference("8 values per step over 4", 1.1, "times as fast"),
        inference("barriers in the gain of 4 values per step", 40.0, "% of the time gained"),
        inference("best reduction over read bandwidth", 99.5, "%"),
        inference("best reduction over vendor library", 101.3, "%"),
        inference("reduction over vendor library, worst of all sizes", 100.7, "%"))
    add(folder, "async_copies",
        inference("bytes from which a copy past the registers is faster, L2", 1024, "bytes"),
        inference("rate to LDS past the registers over through them, L2", 0.98, "times the rate"),
        inference("bytes in flight per CU to LDS, memory", 32768, "bytes"))
    add(folder, "padding",
        inference("4 channels per thread against 16, compile-time count", 0.96, "times the time"),
        inference("cost of an array that is indexed at run time", 1.5, "times the time"),
        inference("padding over copy", 97.4, "% of the copy's bandwidth"))
    add(folder, "batchnorm",
        inference("what one pass gains on three", 2.0, "times the rate"),
        inference("batchnorm spatial over copy bandwidth", 80.0, "%"))
    add(folder, "sgemm",
        inference("SGEMM rate", 53.7, "TFLOP/s"),
        inference("SGEMM over the vendor's library", 1.05, "times its rate"),
        inference("SGEMM over the vendor's library at odd sizes", 1.03, "times its rate"),
        inference("SGEMM over the vendor's library at small sizes", 1.03, "times its rate"),
        inference("FP32 FMAs whose operands are all new", 66.0, "%"),
        inference("SGEMM's loop with its copies from memory", 79.0, "%"),
        inference("SGEMM gain by launch bounds", 4.0, "times the rate"))
    add(folder, "dgemm",
        inference("DGEMM rate", 25.6, "TFLOP/s"),
        inference("DGEMM rate by matrix instructions", 58.3, "TFLOP/s"),
        inference("DGEMM over the vendor's library", 1.0, "times its rate"),
        inference("DGEMM over the vendor's library at odd sizes", 1.2, "times its rate"),
        inference("DGEMM over the vendor's library at small sizes", 1.2, "times its rate"),
        inference("DGEMM of one block, from the source's first stage to its last", 27.0, "times the rate"),
        inference("a block's load from LDS for each lane more at a bank", 16.0, "cycles"),
        inference("FP64 FMAs whose operands are all new", 0.77, "times the rate"))


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


def spoiled(made: Json, change: str) -> Json:
    """A card with something wrong."""
    data = copy.deepcopy(made)
    missing = [{"experiment": "memory_latency", "reason": "no result"}]
    one = data["memory"][0]
    reading = one["readings"][0]
    if change == "no group":
        del data["rates"]
    elif change == "no parameter":
        data["lds"] = []
    elif change == "no level":
        data["cache_levels"] = []
    elif change == "extra":
        data["extra"] = 1
    elif change == "text value":
        reading["value"] = "702"
    elif change == "confidence":
        reading["confidence"] = 1.5
    elif change == "no evidence":
        del reading["evidence"]
    elif change == "found nothing":
        reading["value"] = None
    elif change == "found without a reading":
        one["readings"] = []
    elif change == "not found with a value":
        one["status"] = "not found"
    elif change == "not measured with a reading":
        one.update(status="not measured", missing=missing)
    elif change == "not measured by none":
        one.update(status="not measured", readings=[])
    elif change == "unmarked":
        reading["disagrees_with_driver"] = True
    elif change == "unmarked sources":
        one["sources_disagree"] = True
    elif change == "word for a boolean":
        one["disagreement"] = "yes"
    elif change == "tolerance":
        one["tolerance"] = 0.5
    elif change == "level name":
        data["cache_levels"][0]["name"] = "L1"
    elif change == "device":
        data["device"]["l2_bytes"] = "60 MiB"
    return data


@pytest.mark.parametrize("change", [
    "no group", "no parameter", "no level", "extra", "text value", "confidence", "no evidence",
    "found nothing", "found without a reading", "not found with a value", "not measured with a reading",
    "not measured by none", "unmarked", "unmarked sources", "word for a boolean", "tolerance", "level name",
    "device",
])
def test_schema(tmp_path: Path, change: str) -> None:
    add_full(tmp_path)
    made, _ = make(tmp_path)
    with pytest.raises(load.BadResult, match="card.json does not follow the schema"):
        load.check(tmp_path / "card.json", spoiled(made, change), load.load_card_schema())


def test_check(tmp_path: Path) -> None:
    add_full(tmp_path)
    made, _ = make(tmp_path)
    (tmp_path / "card.json").write_text(json.dumps(made))
    count = len(list(tmp_path.glob("*.json")))
    assert report("--check", tmp_path).stdout == f"{count} valid, 0 invalid\n"
    (tmp_path / "card.json").write_text(json.dumps(spoiled(made, "extra")))
    done = report("--check", tmp_path / "card.json", tmp_path / "cache_line.json")
    assert (done.returncode, done.stdout) == (1, "1 valid, 1 invalid\n")
    assert done.stderr.count("\n") == 1 and "card.json does not follow the schema" in done.stderr


def test_unchanged_card_is_valid(tmp_path: Path) -> None:
    """Without its change `spoiled` spoils nothing."""
    add_full(tmp_path)
    made, _ = make(tmp_path)
    assert spoiled(made, "nothing") == made
