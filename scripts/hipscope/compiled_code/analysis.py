"""From a kernel's assembly to what it consists of: registers, instructions by kind, loops."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from . import mca
from .assembly import CATEGORIES, Instruction, Kernel, category, count_fmas, read_kernels
from .experiments import Experiment
from .loops import Loop, find_loops
from .results import summary
from .toolchain import FLAGS, Toolchain


def _mix(code: list[Instruction]) -> dict[str, int]:
    """Instructions per category, of those that occur."""
    counts = Counter(category(instruction.text) for instruction in code)
    return {name: counts[name] for name in CATEGORIES if counts[name]}


def _work(code: list[Instruction]) -> dict[str, Any]:
    """The instruction mix and its share of FMAs, in which a packed FMA counts as two."""
    mix = _mix(code)
    fmas = sum(count_fmas(instruction.text) for instruction in code)
    slots = len(code) - mix.get("fma", 0) + fmas
    return {"instructions": len(code), "fmas": fmas,
            "fma_share": round(fmas / slots, 4) if slots else 0.0, "mix": mix}


def _hot(loops: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The innermost loop with the most FMAs, matrix instructions before them; else the longest."""
    def weight(loop: dict[str, Any]) -> tuple[int, int, int]:
        return loop["mix"].get("matrix", 0), loop["fmas"], loop["instructions"]

    innermost = [loop for loop in loops if loop["innermost"]]
    return max(innermost, key=weight) if innermost else None


def describe_loop(loop: Loop, estimate: mca.Estimate | None) -> dict[str, Any]:
    """A loop's entry; it is not marked as the hot one yet."""
    return {
        "label": loop.label, "hot": False, "innermost": loop.innermost, "depth": loop.depth,
        "offset": loop.offset, "bytes": sum(instruction.size for instruction in loop.instructions),
        **_work(loop.instructions),
        "mca": None if estimate is None else {"cycles": estimate.cycles, "stripped": estimate.stripped},
    }


def describe_kernel(kernel: Kernel, name: str, loops: list[dict[str, Any]], unknown_jumps: int
                    ) -> dict[str, Any]:
    notes, function = kernel.notes, kernel.function
    hot = _hot(loops)
    if hot is not None:
        hot["hot"] = True
    calls = sum(i.text.startswith(("s_swappc", "s_call")) for i in function.instructions)
    return {
        "name": name, "symbol": function.name,
        "vgprs": function.info["NumVgprs"], "sgprs": notes[".sgpr_count"],
        # Only the targets that have them mention accumulation registers.
        "agprs": notes.get(".agpr_count", 0),
        "scratch_bytes": notes[".private_segment_fixed_size"],
        "vgpr_spills": notes[".vgpr_spill_count"], "sgpr_spills": notes[".sgpr_spill_count"],
        "lds_bytes": notes[".group_segment_fixed_size"], "code_bytes": function.size,
        "waves_per_simd": function.info["Occupancy"], "wave_size": notes[".wavefront_size"],
        "threads_per_block": notes[".max_flat_workgroup_size"],
        "calls": calls, "unknown_jumps": unknown_jumps,
        **_work(function.instructions), "loops": loops,
    }


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
    found = [find_loops(kernel.function) for kernel in kernels]
    innermost = [loop for loops, _ in found for loop in loops if loop.innermost]
    regions = [[instruction.text for instruction in loop.instructions] for loop in innermost]
    estimates = dict(zip(map(id, innermost), mca.estimate(tools, target, regions) if tools else []))
    return [
        describe_kernel(kernel, name, [describe_loop(loop, estimates.get(id(loop))) for loop in loops], unknown)
        for kernel, name, (loops, unknown) in zip(kernels, names, found)
    ]


def analyse(tools: Toolchain, experiment: Experiment, target: str, scratch: Path) -> dict[str, Any]:
    text = tools.encoded(experiment, target, scratch)
    return {
        "experiment": experiment.name, "source": experiment.source, "target": target, "compiler": tools.version,
        "flags": " ".join(FLAGS), "kernels": [summary(kernel) for kernel in analyse_text(text, tools, target)],
    }
