"""The figures that tell of one GPU, from its results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import synthetic

from hipscope.fleet import gather, metrics, nodes
from hipscope.results import load

Json = dict[str, Any]


def stream(bandwidth: float = 4000.0, **changes: Any) -> Json:
    """A result of memory_bandwidth with the row that counts, and another."""
    rows = [synthetic.row(label, place, 1e-3, None) for place, label in enumerate(("read", "dot"))]
    for row in rows:
        row["values"] = [{"name": "bandwidth", "value": bandwidth, "unit": "GB/s"}]
    return synthetic.result("memory_bandwidth", sweeps=[synthetic.sweep("stream", rows)], **changes)


def peak() -> Json:
    """A result of ilp_tlp, whose time has a clock."""
    return synthetic.result("ilp_tlp", sweeps=[synthetic.sweep("peak", [synthetic.row("FP32 FMA", 0, 1e-3, 1.0)])])


def gpu_of(*results: Json, alone: Sequence[Json] = (), again: Sequence[metrics.Results] = ()) -> metrics.Gpu:
    """The GPU of results as synthetic.py makes them."""
    return metrics.of_results("node7/gpu-0", "node7", metrics.Results([*results], [*alone]), again)


def test_metrics() -> None:
    gpu = gpu_of(stream(), peak())
    assert gpu.metrics["memory read"].value == 4000.0 and gpu.metrics["memory read"].better == metrics.HIGHER
    assert gpu.metrics["FP32 FMA"].value == pytest.approx(1e-3 * 1500e6)
    assert gpu.metrics["FP32 FMA, clock"].value == 1500.0
    assert set(gpu.metrics) == {"memory read", "FP32 FMA", "FP32 FMA, clock"}
    assert gpu.identity.model == "Test GPU" and not gpu.failures
    assert gpu.telemetry.throttled_samples == 6


def test_without_a_clock_the_time_counts() -> None:
    data = peak()
    data["sweeps"][0]["rows"][0]["measurements"][0]["shader_mhz"] = None
    (metric,) = gpu_of(data).metrics.values()
    assert (metric.value, metric.unit, metric.kind) == (1e-3, "s", metrics.CYCLES)


def test_a_folder_of_a_fleet(tmp_path: Path) -> None:
    for folder, bandwidth in (("", 4000.0), ("again-1", 4050.0), ("again-2", 4060.0)):
        failed = {"status": "failed", "verification": {"checks": 2, "failures": ["read: 1 of 4 is wrong"]}}
        synthetic.write(tmp_path / folder / "together", stream(bandwidth))
        synthetic.write(tmp_path / folder / "alone", stream(bandwidth + 100, **(failed if bandwidth == 4060.0 else {})))
    gpu = gather.read_gpu(nodes.Place("node7", 0, tmp_path)).gpu
    assert gpu and gpu.key == "node7/gpu-0"
    values = {name: one.value for name, one in gpu.metrics.items()}
    assert values == {"memory read": 4000.0, "memory read, alone": 4100.0}
    assert [one["memory read, alone"].value for one in gpu.again] == [4150.0, 4160.0]
    assert gpu.failures == ["memory_bandwidth: read: 1 of 4 is wrong"]


def test_identity() -> None:
    data = stream()
    data["device"].update(
        uuid="GPU-1",
        pci_address="0000:17:00.0",
        vbios="96.00",
        power_cap_w=700.0,
        serial="17",
        link={"width": 8, "speed_gts": 32.0, "maximum_width": 16},
    )
    one = gpu_of(data).identity
    assert (one.uuid, one.host, one.slot, one.firmware) == ("GPU-1", "node7", "0000:17:00.0", "96.00")
    assert (one.power_cap, one.link, one.serial) == ("700", "x8 of x16", "17")


def test_telemetry() -> None:
    data = stream()
    assert metrics.telemetry_of([data]) == metrics.Telemetry(throttled_samples=3)
    data["sweeps"][0]["telemetry"] = {
        "source": "NVML",
        "before": {"temperature_c": 40, "throttle_reasons": ["power cap"]},
        "during": {"samples": 3, "temperature_c": {"min": 50, "mean": 60, "max": 88}, "throttle_reasons": ["thermal"]},
        "after": {"temperature_c": 80, "power_w": 650.5},
        "delta": {"ecc_corrected": 2, "rows_remapped": 1},
    }
    found = gpu_of(data).telemetry
    assert found.throttle_reasons == ("thermal", "power cap")
    assert (found.ecc_errors, found.remapped_rows) == (2, 1)


def test_soak() -> None:
    rows = [synthetic.row(str(second), second, 1e-3 * (1.1 if second >= 30 else 1.0), None) for second in range(40)]
    data = synthetic.result("soak", sweeps=[synthetic.sweep("GEMM", rows)])
    ((name, metric),) = gpu_of(data).metrics.items()
    assert name == "soak, GEMM: late over early" and metric.value == pytest.approx(1.1)
    # By its rate, where it has one and no time.
    for row in rows:
        row["measurements"] = []
        row["values"][0]["value"] = 90.0 if row["x"] >= 30 else 100.0
    (metric,) = gpu_of(data).metrics.values()
    assert metric.value == pytest.approx(1 / 0.9)


def test_every_source_is_in_the_results_of_a_gpu() -> None:
    """A row that was renamed would be a metric less, and nothing would say so."""
    stored = load.result_paths(synthetic.REPOSITORY / "results/nvidia-h200")
    found = gpu_of(*map(load.document, stored)).metrics
    assert {source.name for source in metrics.SOURCES} <= set(found)
