"""Makes result files that follow the schema, for the tests of the scripts."""

from __future__ import annotations

import copy
import importlib
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SCRIPTS = REPOSITORY / "scripts"


def measurement(name: str, median: float, **changes: Any) -> dict[str, Any]:
    """A measurement of three samples around `median` seconds."""
    return {
        "name": name,
        "method": "device events",
        "unit": "s",
        "batch": 1,
        "stop": "quiet",
        **times([median * 0.99, median, median * 1.02]),
        "shader_mhz": 1500.0,
        "throttled": 0,
        **changes,
    }


ORDER = ("minimum", "first_quartile", "median", "third_quartile", "maximum")


def times(samples: Sequence[float]) -> dict[str, Any]:
    """What a measurement says of these samples, in seconds."""
    quartiles = statistics.quantiles(samples, n=4, method="inclusive") if len(samples) > 1 else [*samples] * 3
    spread = (quartiles[2] - quartiles[0]) / quartiles[1] if quartiles[1] else 0.0
    return {
        "samples": len(samples),
        **dict(zip(ORDER, (min(samples), *quartiles, max(samples)))),
        "relative_spread": spread,
    }


def scale_times(measured: dict[str, Any], factor: float) -> None:
    measured.update({key: factor * measured[key] for key in ORDER})


def members(row: dict[str, Any], what: str) -> list[Any]:
    """The measurements, values or checks of a file's row, by name or not."""
    found = row.get(what, [])
    return list(found if isinstance(found, list) else found.values())


def row(label: str, x: float, seconds: float, value: float | None, unit: str = "GB/s") -> dict[str, Any]:
    return {
        "label": label,
        "x": x,
        "measurements": [measurement("time", seconds)],
        "values": [{"name": "rate", "value": value, "unit": unit}],
        "checks": [{"what": "every element", "checked": 1024, "wrong": 0}],
        "published": [],
    }


def published(value: float, **changes: Any) -> dict[str, Any]:
    """A published figure of "rate"."""
    return {
        "gpu": "MI25",
        "metric": "rate",
        "value": value,
        "unit": "GB/s",
        "source": "somebody's page",
        "note": "",
        **changes,
    }


def sweep(name: str, rows: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """A sweep over "size" in bytes."""
    return {
        "name": name,
        "title": f"The sweep {name}",
        "headline": "rate",
        "notes": [],
        "rows": rows,
        "axis": {"name": "size", "unit": "B", "scale": "logarithmic"},
        **changes,
    }


def inference(name: str, value: float | None, unit: str = "cycles", **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "value": value,
        "unit": unit,
        "confidence": 0.9,
        "statement": f"This is {name}.",
        "evidence": [f"a step that tells {name}"],
        "driver": None,
        **changes,
    }


def result(experiment: str = "copy_rate", backend: str = "nvidia", **changes: Any) -> dict[str, Any]:
    """A whole, valid result, as scripts see it; compact() makes a file's of it."""
    rows = [row(f"{2**k} KiB", 2.0 ** (k + 10), 1e-5 * 2**k, 100.0 * (k + 1)) for k in range(6)]
    return {
        "schema_version": 4,
        "experiment": experiment,
        "question": "How fast is a copy?",
        "sources": ["a book, chapter 2"],
        "status": "passed",
        "hipscope": {"version": "0.1.0", "git_revision": "abcdef012345"},
        "build": {"backend": backend, "compiler": "gcc 12", "flags": "-O3", "targets": "sm_90"},
        "date": "2025-01-02T03:04:05Z",
        "duration_s": 1.5,
        "device": {
            "index": 0,
            "name": "Test GPU",
            "architecture": "sm_90",
            "compute_units": 132,
            "wave_size": 32,
            "maximum_shader_mhz": 1980.0,
            "memory_mhz": 3201.0,
            "memory_bus_bits": 5120,
            "memory_bytes": 2**37,
            "free_memory_bytes": 2**36,
            "l2_bytes": 50 * 2**20,
            "lds_bytes_per_block": 49152,
            "registers_per_block": 65536,
            "maximum_threads_per_block": 1024,
            "maximum_threads_per_compute_unit": 2048,
            "driver": "580.1",
            "runtime": "13.0",
        },
        "options": {
            "preset": "default",
            "minimum_seconds": 0.1,
            "noise": 0.01,
            "clock_mhz": None,
            "seed": 1,
            "filter": None,
            "sizes": {"--bytes": 1048576},
        },
        "scaled": False,
        "clock": {
            "shader_mhz": 1755.0,
            "highest_shader_mhz": 1980.0,
            "source": "measured",
            "samples": 120,
            "throttled_samples": 3,
        },
        "overheads": [{"name": "counter read", "value": 12.5, "unit": "ns"}],
        "sweeps": [sweep("sizes", rows)],
        "inferences": [
            inference("cache size", 50.0, "MiB", driver=50.0, evidence=["a step at 50 MiB"]),
            inference("line size", None, "B", confidence=0.0, evidence=[]),
        ],
        "verification": {"checks": 6, "failures": []},
        **changes,
    }


def compact(data: dict[str, Any]) -> dict[str, Any]:
    """The result as its file has it, with nothing left out that has a default."""

    def of_row(row: dict[str, Any]) -> dict[str, Any]:
        return {
            "label": row["label"],
            "x": row["x"],
            "measurements": {
                one["name"]: [
                    one["samples"],
                    *(one[key] * 1e9 for key in ORDER),
                    one["shader_mhz"],
                    {key: one[key] for key in ("method", "batch", "stop", "throttled")},
                ]
                for one in row["measurements"]
            },
            "values": {one["name"]: [one["value"], one["unit"]] for one in row["values"]},
            "checks": {one["what"]: [one["checked"], one["wrong"]] for one in row["checks"]},
            "published": row["published"],
        }

    def names(rows: list[dict[str, Any]], what: str) -> list[str]:
        return list(dict.fromkeys(name for row in rows for name in row[what]))

    sweeps = []
    for one in data["sweeps"]:
        rows = [of_row(row) for row in one["rows"]]
        units = {value["name"]: value["unit"] for row in one["rows"] for value in row["values"]}
        named = {"measurements": names(rows, "measurements"), "units": units, "checks": names(rows, "checks")}
        sweeps.append({**one, **named, "rows": rows})
    return {**data, "sweeps": sweeps}


IDENTITY = {
    "uuid": "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f",
    "pci_address": "0000:1b:00.0",
    "serial": "1652023000001",
    "vbios": "96.00.89.00.01",
    "partition": "MIG",
    "power_cap_w": 700,
    "ecc": "on",
    "link": {
        "generation": 5,
        "speed_gts": 32,
        "width": 16,
        "maximum_generation": 5,
        "maximum_speed_gts": 32,
        "maximum_width": 16,
    },
    "host": "node17",
}
TELEMETRY = {
    "source": "NVML 13.580",
    "before": {"power_w": 120.5, "temperature_c": 31, "ecc_corrected": 2},
    "during": {
        "samples": 3,
        "power_w": {"min": 300, "mean": 512.5, "max": 690.25},
        "shader_mhz": {"min": 1755, "mean": 1900, "max": 1980},
        "throttle_reasons": ["power cap"],
    },
    "after": {"power_w": 240, "temperature_c": 44, "ecc_corrected": 3, "throttle_reasons": ["thermal"]},
    "delta": {"ecc_corrected": 1},
}


def told(data: dict[str, Any]) -> dict[str, Any]:
    """A result where all is told: which device it is and what its sensors said."""
    sweeps = [{**one, "telemetry": copy.deepcopy(TELEMETRY)} for one in data["sweeps"]]
    return {
        **data,
        "device": {**data["device"], **copy.deepcopy(IDENTITY)},
        "sweeps": sweeps,
        "telemetry": {"source": "NVML 13.580", "why_not": None},
    }


def write(folder: Path, data: dict[str, Any], stem: str | None = None) -> Path:
    """Writes a result into a folder under its experiment's name."""
    sweeps = data["sweeps"]
    if isinstance(sweeps, list) and all(
        isinstance(one, dict) and {"rows"} == one.keys() & {"rows", "units"} for one in sweeps
    ):
        data = compact(data)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem or data['experiment']}.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def run(program: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program of scripts/ or tests/isa/ to its end; in nothing but this environment, where one is given.

    It runs in this process, which has its libraries loaded.
    """
    words = [program, *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    patched = mock.patch.dict(os.environ, environment, clear=bool(environment))
    with patched, mock.patch.object(sys, "argv", words), redirect_stdout(out), redirect_stderr(err):
        try:
            status = importlib.import_module(program.removesuffix(".py")).main()
        except SystemExit as ended:
            status = ended.code
    return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())


def copy_repository(root: Path) -> None:
    """The scripts, as they are compiled, with what they need of results/: schemas and published figures."""
    shutil.copytree(SCRIPTS, root / "scripts")
    (root / "results" / "published").mkdir(parents=True, exist_ok=True)
    for file in (*(REPOSITORY / "results").glob("*schema*.json"), REPOSITORY / "results/published/published.csv"):
        shutil.copy(file, root / file.relative_to(REPOSITORY))


def put_everywhere(value: Any, text: str) -> Any:
    """The JSON with every free text in it replaced."""
    if isinstance(value, dict):
        fixed = ("experiment", "backend", "date", "preset", "scale", "method", "stop", "status", "source")
        return {
            key: item if key in fixed or (key == "unit" and item == "s") else put_everywhere(item, text)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [put_everywhere(item, text) for item in value]
    return text if isinstance(value, str) else value
