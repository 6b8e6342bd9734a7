"""Hardware cards of synthetic results, for the tests of what is on them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import synthetic

sys.path.insert(0, str(synthetic.SCRIPTS))

# pylint: disable=wrong-import-position
from hipscope_report import card, card_page, load  # noqa: E402

GROUPS = ("timing", "execution", "memory", "lds", "registers", "rates", "energy", "launch", "kernels", "other")

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
