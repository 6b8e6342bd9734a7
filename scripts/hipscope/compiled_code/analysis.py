"""From a kernel's assembly to what the result files keep of it: registers, sizes, the hot loop's instructions."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from . import mca
from .assembly import CATEGORIES, Instruction, Kernel, category, count_fmas, read_kernels
from .experiments import Experiment
from .loops import Loop, find_loops
from .toolchain import FLAGS, Toolchain


def _mix(code: list[Instruction]) -> Counter[str]:
    return Counter(category(instruction.text) for instruction in code)


def _fmas(code: list[Instruction]) -> int:
    return sum(count_fmas(instruction.text) for instruction in code)


def fma_share(code: list[Instruction]) -> float:
    """FMAs over all instructions, a packed FMA counted as two on both sides."""
    fmas = _fmas(code)
    return round(fmas / (len(code) - _mix(code)["fma"] + fmas), 4)


def hot_loop(loops: list[Loop]) -> Loop | None:
    """The innermost loop with the most FMAs, matrix instructions before them; else the longest."""
    def weight(loop: Loop) -> tuple[int, int, int]:
        return _mix(loop.instructions)["matrix"], _fmas(loop.instructions), len(loop.instructions)

    innermost = [loop for loop in loops if loop.innermost]
    return max(innermost, key=weight) if innermost else None


def _described(kernel: Kernel, name: str, loops: int) -> dict[str, Any]:
    """What results.KERNEL_COLUMNS has of a kernel."""
    notes, function = kernel.notes, kernel.function
    return {
        "name": name, "vgprs": function.info["NumVgprs"],
        # Only the targets that have them mention accumulation registers.
        "agprs": notes.get(".agpr_count", 0), "sgprs": notes[".sgpr_count"],
        "vgpr_spills": notes[".vgpr_spill_count"], "sgpr_spills": notes[".sgpr_spill_count"],
        "scratch_bytes": notes[".private_segment_fixed_size"], "lds_bytes": notes[".group_segment_fixed_size"],
        "threads_per_block": notes[".max_flat_workgroup_size"], "waves_per_simd": function.info["Occupancy"],
        "code_bytes": function.size, "instructions": len(function.instructions), "loops": loops,
    }


def _described_loop(code: list[Instruction], mca_cycles: float | None) -> dict[str, Any]:
    """What results.LOOP_COLUMNS has of a kernel's hot loop."""
    mix = _mix(code)
    return {"loop_instructions": len(code), **{kind: mix[kind] for kind in CATEGORIES}, "fma_share": fma_share(code),
            "loop_bytes": sum(instruction.size for instruction in code), "mca_cycles": mca_cycles}


def _without_parameters(name: str) -> str:
    """A demangled function's name without return type and parameters."""
    name = name.replace("(anonymous namespace)::", "")
    depth = 0
    for place in range(len(name) - 1, -1, -1):
        depth += (name[place] == ")") - (name[place] == "(")
        if name[place] == "(" and depth == 0:
            name = name[:place]
            break
    outside = re.sub(r"<.*>", lambda match: "x" * len(match[0]), name)
    return name[outside.rfind(" ") + 1:]


def short_names(demangled: list[str]) -> list[str]:
    """Names without parameters, but for those that only their parameters tell apart."""
    short = [_without_parameters(name) for name in demangled]
    count = Counter(short)
    return [one if count[one] == 1 else whole for one, whole in zip(short, demangled)]


def analyse_text(text: str, tools: Toolchain | None, target: str) -> list[dict[str, Any]]:
    """The kernels of an encoded assembly; without tools names stay mangled, and cycles unknown."""
    kernels = read_kernels(text)
    symbols = [kernel.function.name for kernel in kernels]
    names = short_names(tools.demangle(symbols)) if tools else symbols
    loops = [find_loops(kernel.function) for kernel in kernels]
    rows = [_described(kernel, name, len(found)) for kernel, name, found in zip(kernels, names, loops)]
    hot = [(row, loop.instructions) for row, found in zip(rows, loops) if (loop := hot_loop(found))]
    regions = [[instruction.text for instruction in code] for _, code in hot]
    cycles = mca.cycles_of(tools, target, regions) if tools else [None] * len(hot)
    for (row, code), of_iteration in zip(hot, cycles):
        row.update(_described_loop(code, of_iteration))
    return rows


def analyse(tools: Toolchain, experiment: Experiment, target: str, scratch: Path) -> dict[str, Any]:
    text = tools.encoded(experiment, target, scratch)
    return {
        "experiment": experiment.name, "source": experiment.source, "target": target, "compiler": tools.version,
        "flags": " ".join(FLAGS), "kernels": analyse_text(text, tools, target),
    }
