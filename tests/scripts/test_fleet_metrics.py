"""The figures that tell of one GPU, from its results."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import synthetic

from hipscope.fleet import metrics

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


def collect(folder: Path) -> metrics.Gpu:
    """The GPU whose results lie in a folder."""
    return metrics.of_results(metrics.read(folder))


def test_metrics(tmp_path: Path) -> None:
    synthetic.write(tmp_path, stream())
    synthetic.write(tmp_path, peak())
    gpu = collect(tmp_path)
    assert gpu.metrics["memory read"].value == 4000.0 and gpu.metrics["memory read"].better == metrics.HIGHER
    assert gpu.metrics["FP32 FMA"].value == pytest.approx(1e-3 * 1500e6)
    assert gpu.metrics["FP32 FMA, clock"].value == 1500.0
    assert set(gpu.metrics) == {"memory read", "FP32 FMA", "FP32 FMA, clock"}
    assert gpu.identity.model == "Test GPU" and gpu.key == tmp_path.name and not gpu.failures
    assert gpu.telemetry.throttled_samples == 6


def test_without_a_clock_the_time_counts(tmp_path: Path) -> None:
    data = peak()
    data["sweeps"][0]["rows"][0]["measurements"][0]["shader_mhz"] = None
    synthetic.write(tmp_path, data)
    (metric,) = collect(tmp_path).metrics.values()
    assert (metric.value, metric.unit, metric.kind) == (1e-3, "s", metrics.CYCLES)


def test_a_fleets_folder(tmp_path: Path) -> None:
    synthetic.write(tmp_path / "together", stream())
    synthetic.write(tmp_path / "alone", stream(4100.0))
    synthetic.write(tmp_path / "again-1", stream(4050.0))
    wrong = stream(4060.0, status="failed", verification={"checks": 2, "failures": ["read: 1 of 4 is wrong"]})
    synthetic.write(tmp_path / "again-2", wrong)
    gpu = collect(tmp_path)
    values = {name: one.value for name, one in gpu.metrics.items()}
    assert values == {"memory read": 4000.0, "memory read, alone": 4100.0}
    assert [one["memory read, alone"].value for one in gpu.again] == [4050.0, 4060.0]
    assert gpu.failures == ["memory_bandwidth: read: 1 of 4 is wrong"]
    assert metrics.from_json(json.loads(json.dumps(dataclasses.asdict(gpu)))) == gpu


def test_identity(tmp_path: Path) -> None:
    data = synthetic.compact(stream())
    data["device"].update(
        uuid="GPU-1",
        pci_address="0000:17:00.0",
        vbios="96.00",
        partition="MIG off",
        power_cap_w=700.0,
        ecc="on",
        host="node7",
        serial="17",
        link={"width": 8, "speed_gts": 32.0, "maximum_width": 16},
    )
    synthetic.write(tmp_path, data)
    one = collect(tmp_path).identity
    assert (one.key, one.host, one.slot, one.firmware) == ("GPU-1", "node7", "0000:17:00.0", "96.00")
    assert (one.power_cap, one.link, one.serial) == ("700", "x8 of x16", "17")
    del data["device"]["uuid"]
    synthetic.write(tmp_path, data)
    assert collect(tmp_path).key == "node7:0000:17:00.0"


def test_telemetry(tmp_path: Path) -> None:
    data = synthetic.compact(stream())
    assert metrics.telemetry_of([data]) == metrics.Telemetry(throttled_samples=3)
    data["sweeps"][0]["telemetry"] = {
        "source": "NVML",
        "before": {"temperature_c": 40, "throttle_reasons": ["power cap"]},
        "during": {"samples": 3, "temperature_c": {"min": 50, "mean": 60, "max": 88}, "throttle_reasons": ["thermal"]},
        "after": {"temperature_c": 80, "power_w": 650.5},
        "delta": {"ecc_corrected": 2, "rows_remapped": 1},
    }
    synthetic.write(tmp_path, data)
    found = collect(tmp_path).telemetry
    assert found.throttle_reasons == ("thermal", "power cap")
    assert (found.ecc_errors, found.remapped_rows) == (2, 1)


def test_soak(tmp_path: Path) -> None:
    rows = [synthetic.row(str(second), second, 1e-3 * (1.1 if second >= 30 else 1.0), None) for second in range(40)]
    synthetic.write(tmp_path, synthetic.result("soak", sweeps=[synthetic.sweep("GEMM", rows)]))
    ((name, metric),) = collect(tmp_path).metrics.items()
    assert name == "soak, GEMM: late over early" and metric.value == pytest.approx(1.1)
    # By its rate, where it has one and no time.
    for row in rows:
        row["measurements"] = []
        row["values"][0]["value"] = 90.0 if row["x"] >= 30 else 100.0
    synthetic.write(tmp_path, synthetic.result("soak", sweeps=[synthetic.sweep("GEMM", rows)]))
    (metric,) = collect(tmp_path).metrics.values()
    assert metric.value == pytest.approx(1 / 0.9)


def test_every_source_is_in_the_results_of_a_gpu() -> None:
    """A row that was renamed would be a metric less, and nothing would say so."""
    folder = synthetic.REPOSITORY / "results/nvidia-h200"
    found = collect(folder).metrics
    assert {source.name for source in metrics.SOURCES} <= set(found)
