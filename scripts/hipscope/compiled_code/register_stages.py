"""The stages of register_pressure as the compiler made them, beside the published figures of AMD's lab note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hipscope.results import markdown
from hipscope.results import published as others
from hipscope.results.door import BadInput

from .experiments import target_order

EXPERIMENT = "register_pressure"
# Each stage's name, as the binary and L have it, and the namespace of its kernel.
STAGES = {
    "baseline": "baseline",
    "no pow": "no_pow",
    "definitions moved": "definitions_moved",
    "restrict on g14": "restrict_on_g14",
    "restrict on g14 and g7": "restrict_on_g14_and_g7",
    "launch bound of 256": "launch_bound",
    "bound, restrict on all": "restrict_on_all",
    "bound, more waves": "more_waves",
    "bound, more waves, LDS": "more_waves_lds",
    "bound, LDS": "parked_in_lds",
    "arguments in one object": "one_object",
    "arguments in constant memory": "constant_memory",
    "loops, unrolled": "loops_unrolled",
    "loops": "loops",
    "loops, array on the stack": "array_on_the_stack",
}
PREFIX = "hipscope::register_pressure::"
# A column's name, what it shows of a kernel, and the published metric.
COLUMNS = (
    ("VGPRs", "vgprs", "VGPRs"), ("AGPRs", "agprs", None), ("SGPRs", "sgprs", "SGPRs"),
    ("VGPR spills", "vgpr_spills", "spills"), ("SGPR spills", "sgpr_spills", None),
    ("scratch bytes", "scratch_bytes", "scratch"), ("LDS bytes", "lds_bytes", None),
    ("waves", "waves_per_simd", "occupancy"),
)

Result = Mapping[str, Any]


def published() -> dict[tuple[str, str, str], str]:
    """The published values by (stage, target, metric)."""
    return {(row["series"], row["arch"], row["metric"]): row["value"] for row in others.read()
            if row["experiment"] == EXPERIMENT}


def kernel_of(result: Result, stage: str) -> Mapping[str, Any] | None:
    begin = f"{PREFIX}{STAGES[stage]}::kernel<false"
    return next((kernel for kernel in result["kernels"] if kernel["name"].startswith(begin)), None)


def _table(folder: str, result: Result) -> str:
    known = published()
    target = folder.partition("-")[0]
    shown = [column for column in COLUMNS if any((stage, target, column[2]) in known for stage in STAGES)]
    rows = []
    for stage in STAGES:
        kernel = kernel_of(result, stage)
        if kernel is None:
            raise BadInput(f"{folder}: the stage '{stage}' of {EXPERIMENT} has no kernel "
                           f"{PREFIX}{STAGES[stage]}::kernel<false>.")
        rows.append([stage, *(str(kernel[key]) for _, key, _ in COLUMNS),
                     *(known.get((stage, target, str(metric)), "") for _, _, metric in shown)])
    header = ["stage", *(name for name, _, _ in COLUMNS), *(f"{name}, published" for name, _, _ in shown)]
    return markdown.table(header, rows)


def text(results: Mapping[tuple[str, str], Result]) -> str:
    """A table per target and compiler of which there is a result; raises BadInput where that lacks a stage's kernel."""
    folders = sorted((folder for folder, name in results if name == EXPERIMENT), key=target_order)
    return "\n\n".join(f"### {folder}\n\n{_table(folder, results[folder, EXPERIMENT])}" for folder in folders)
