"""What scripts/isa_report.py --predict said of a device's kernels, beside what was then measured of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from hipscope.compiled_code import kept_predictions, prediction_page
from hipscope.compiled_code.experiments import clang_major
from hipscope.compiled_code.kept_predictions import Entry
from hipscope.results import formats, markdown
from hipscope.results.records import Device, Result

HEADER = ["row", "predicted share", "decided by", "predicted", "predicted, in turn", "measured"]
HEADER += ["measured / predicted", "measured / in turn"]


@cache
def _read(folder: Path) -> list[Entry]:
    """What survives its test; once for all results of a folder: each entry is held against the schema and the model."""
    return prediction_page.survivors(kept_predictions.read(folder))


def _of(result: Result, folder: Path) -> list[Entry]:
    """Those of the experiment for the device's target, by the newest compiler that has any."""
    target = result.device.architecture.partition(":")[0]
    if not target.startswith("gfx"):
        return []
    found = [entry for entry in _read(folder) if (entry["target"], entry["experiment"]) == (target, result.name)]
    versions = [int(clang_major(entry["compiler"])) for entry in found]
    return [entry for entry, version in zip(found, versions) if version == max(versions)]


def _cores(device: Device, gpu: dict[str, Any]) -> float:
    """The device's cores over the GPU's of the prediction; HIP may count a pair of CUs as one or as two."""
    ratio = device.compute_units / gpu["cores"]
    return ratio / 2 if device.architecture.startswith("gfx1") and ratio > 1.5 else ratio


def predicted_value(entry: Entry, result: Result) -> float:
    """The bound on this device: of arithmetic by its CUs and clock, of memory as on the GPU of the prediction."""
    if entry["unit"] != "TFLOP/s":
        return float(entry["predicted"])
    device, gpu = result.device, entry["gpu"]
    clock = result.clock.shader_mhz or device.maximum_shader_mhz or gpu["clock_mhz"]
    cores = _cores(device, gpu) if device.compute_units else 1.0
    return float(entry["predicted"]) * cores * clock / gpu["clock_mhz"]


def _measured(result: Result, entry: Entry) -> float | None:
    for sweep in result.sweeps:
        for row in sweep.rows if sweep.name == entry["sweep"] else []:
            for value in row.values if row.label == entry["row"] else []:
                if (value.name, value.unit) == (entry["value"], entry["unit"]):
                    return value.value
    return None


def section(result: Result, folder: Path = kept_predictions.FOLDER) -> list[str]:
    """A table of the rows that something is predicted of, nothing where there is none; raises door.BadInput."""
    rows = []
    entries = _of(result, folder)
    for entry in entries:
        measured = _measured(result, entry)
        if measured is None:
            continue
        value = predicted_value(entry, result)
        in_turn = value * entry["share_in_turn"] / entry["predicted_share"]
        rows.append(
            [
                markdown.text(entry["row"]),
                f"{100 * entry['predicted_share']:.1f} % of {entry['peak']}",
                entry["bound"],
                *(f"{formats.significant(rate)} {entry['unit']}" for rate in (value, in_turn, measured)),
                f"{measured / value:.2f}",
                f"{measured / in_turn:.2f}",
            ]
        )
    if not rows:
        return []
    gpu = entries[0]["gpu"]
    return [
        "## Predicted, and measured",
        f"Predicted from what {markdown.text(entries[0]['compiler'])} made of the kernels, before anything ran "
        "(`scripts/isa_report.py --predict`): a bound, by the unit that decides, and the same with SIMDs and "
        "LDS in turn. Arithmetic is for this device's compute "
        f"units and clock, memory for that of {markdown.text(gpu['name'])}.",
        markdown.table(HEADER, rows),
    ]
