"""Hardware cards of synthetic results, for the tests of what is on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import synthetic
from synthetic import inference

from hipscope.report import card, card_page
from hipscope.results import door, load, shapes

GROUPS = tuple(card.GROUPS)

Json = dict[str, Any]


def add(folder: Path, experiment: str, *inferences: Json, **changes: Any) -> None:
    """Writes a result with these inferences; "thread_rate.wave64" is a variant."""
    data = synthetic.result(experiment.partition(".")[0], inferences=list(inferences), **changes)
    synthetic.write(folder, data, experiment)


def make(folder: Path) -> tuple[Json, str]:
    """The card of a folder's results, valid, and its page; without the plots that report.py makes."""
    results = load.load_folder(folder)
    made = card.make_card(results)
    assert made is not None
    door.check(folder / "card.json", made, shapes.named(load.CARD_SCHEMA))
    return made, card_page.make_card_page(made, results)


def make_by_report(folder: Path) -> tuple[Json, str]:
    """The card that report.py leaves in a folder."""
    done = synthetic.run("report.py", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return json.loads((folder / "card.json").read_text()), (folder / "card.md").read_text()


def all_parameters(made: Json) -> list[Json]:
    return [one for group in GROUPS for one in made[group]]


def parameter(made: Json, name: str, variant: str = "") -> Json:
    found = [one for one in all_parameters(made) if (one["name"], one["variant"]) == (name, variant)]
    assert len(found) == 1, name
    return found[0]


def rows(page: str, name: str) -> list[str]:
    """The rows of the page's tables that begin with a name."""
    return [line for line in page.splitlines() if line.startswith(f"| {name} |")]


def add_full(folder: Path) -> None:
    """Results of every experiment that the table of the card names, with two levels and a constant one."""
    add(
        folder,
        "memory_latency",
        inference("cache level 1 capacity", 196608.0, "bytes"),
        inference("cache level 1 latency", 35.1),
        inference("cache level 2 capacity", 31.0 * 2**20, "bytes", driver=60.0 * 2**20),
        inference("cache level 2 latency", 262.0),
        inference("near half of cache level 2 capacity", 30e6, "bytes"),
        inference("near half of cache level 2 latency", 262.0),
        inference("far half of cache level 2 latency", 500.0),
        inference("constant cache level 1 capacity", 2048.0, "bytes"),
        inference("constant cache level 1 latency", 25.0),
        inference("constant cache level 2 capacity, at least", 65536.0, "bytes"),
        inference("memory latency", 702.0),
        inference("TLB level 1 miss penalty", 120.0),
        inference("TLB level 1 reach", 32.0 * 2**20, "bytes"),
        inference("TLB level 2 reach", None, "bytes", confidence=0.0),
        inference("access granularity of stores to memory", 60.0),
    )
    add(
        folder,
        "cache_line",
        inference("cache level 1 line", 128.0, "bytes"),
        inference("cache level 1 sector", 32.0, "bytes"),
        inference("cache level 2 line", 128.0, "bytes"),
        inference("cache level 2 sector", 32.0, "bytes"),
        inference("fetched by a cache level 2 miss", 64.0, "bytes"),
    )
    add(folder, "cache_sharing", inference("vector cache left beside the largest LDS", 28672.0, "bytes"))
    add(
        folder,
        "memory_bandwidth",
        inference("cache level 1 read bandwidth", 31000.0, "GB/s"),
        inference("cache level 2 read bandwidth", 10400.0, "GB/s"),
        inference("cache level 2 write bandwidth", 5000.0, "GB/s"),
        inference("bandwidth of a cache past L2", None, "GB/s", confidence=0.0),
        *[inference(f"memory {kind} bandwidth", 4680.0, "GB/s") for kind in ("read", "write", "copy")],
        inference("bytes in flight per CU for 95 % of the read bandwidth", 32768.0, "bytes"),
    )
    for experiment, names in {
        "memory_channels": ["channel interleave"],
        "atomics": ["additions at one word of L2", "additions in LDS", "FP32 addition in LDS over INT32's"],
        "lds_latency": ["LDS latency", "shuffle latency"],
        "thread_rate": ["block rate"],
        "fma_loop": ["FMA latency", "instruction cache capacity"],
        "ilp_tlp": ["FP32 FMA latency", "FP64 FMA latency", "FP32 FMA peak", "FP64 FMA peak"],
        "matrix_rate": ["FP16 matrix rate", "FP8 E4M3 matrix rate", "FP16 sparse matrix rate"],
        "sgemm": ["SGEMM rate"],
        "dgemm": ["DGEMM rate by matrix instructions"],
        "hgemm": ["HGEMM rate by matrix instructions"],
        "launch_latency": ["launch latency", "interval in a stream", "interval in a graph"],
        "grid_sync": ["grid barrier, one block per CU"],
        "host_copies": [
            f"{way} {what}" for way in ("host to device", "device to host") for what in ("bandwidth", "latency")
        ],
        "peer_copies": ["link bandwidth"],
        "energy": [
            "idle power",
            "energy per FP32 vector FMA",
            "energy per FP16 matrix FMA",
            *(f"energy per byte from {where}" for where in ("LDS", "L2", "memory")),
        ],
    }.items():
        add(folder, experiment, *(inference(name, 4.0) for name in names))
    add(
        folder,
        "lds_banks",
        inference("LDS banks", 32.0, "banks"),
        inference("cycles per extra conflict way", 2.0),
        inference("LDS read bandwidth", 128.0, "bytes/cycle/CU"),
    )
    add(folder, "cu_staircase", inference("compute units", 132.0, "CUs", driver=132.0))
    add(folder, "vgpr_limit", inference("registers of a CU", 65536.0, "registers", driver=65536.0))
    add(folder, "wave_divergence", inference("wave size", 32.0, "lanes", driver=32.0))
