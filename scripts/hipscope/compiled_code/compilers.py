"""What two compilers make of the same kernels for the same target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hipscope.results import markdown

from .experiments import target_order
from .results import Results

# A kernel has changed when its registers have by more than this part and by a portion in which they are given to
# waves, or its hot loop's FMA share by more than this many hundredths.
REGISTERS_CHANGED = 0.1
REGISTERS_PORTION = 8
SHARE_CHANGED = 0.05

Kernel = Mapping[str, Any]


@dataclass(frozen=True)
class Pair:
    """A target and the folders of the oldest and the newest compiler that it was compiled by."""

    target: str
    old: str
    new: str


def pairs(results: Results) -> list[Pair]:
    """The targets of which there are results by several compilers."""
    folders: dict[str, list[str]] = {}
    for folder in sorted({folder for folder, _ in results}, key=target_order):
        folders.setdefault(folder.partition("-")[0], []).append(folder)
    return [Pair(target, found[0], found[-1]) for target, found in folders.items() if len(found) > 1]


def same_kernels(results: Results, pair: Pair, experiment: str) -> list[tuple[Kernel, Kernel]]:
    old, new = (results.get((folder, experiment)) for folder in (pair.old, pair.new))
    if old is None or new is None:
        return []
    of_new = {kernel["name"]: kernel for kernel in new["kernels"]}
    return [(kernel, of_new[kernel["name"]]) for kernel in old["kernels"] if kernel["name"] in of_new]


def registers(kernel: Kernel) -> int:
    """VGPRs and AGPRs, which share a file on the GPUs that are compared (gfx90a and later)."""
    return kernel["vgprs"] + kernel["agprs"]


def share(kernel: Kernel) -> float | None:
    return kernel.get("fma_share") or None


def _experiments(results: Results, pair: Pair) -> list[str]:
    """Those of both compilers, in the order of the chapters."""
    found = [(result["source"].partition("/")[2].partition("/")[0], name)
             for (folder, name), result in results.items() if folder == pair.old and (pair.new, name) in results]
    return [name for _, name in sorted(found)]


def count(kernels: Sequence[tuple[Kernel, Kernel]]) -> list[int]:
    """The kernels, and how many of them have changed in which way: the columns of the summary."""
    def fewer(value: Any, part: float, portion: int) -> list[int]:
        both = [(value(old), value(new)) for old, new in kernels]
        changed = [(old, new) for old, new in both if abs(new - old) > part * old and abs(new - old) >= portion]
        return [sum(new < old for old, new in changed), sum(new > old for old, new in changed)]

    shares = [(share(old), share(new)) for old, new in kernels]
    known = [(old, new) for old, new in shares if old is not None and new is not None]
    return [
        len(kernels), *fewer(registers, REGISTERS_CHANGED, REGISTERS_PORTION),
        *fewer(lambda kernel: kernel["waves_per_simd"], 0, 1),
        sum(old["scratch_bytes"] > 0 for old, _ in kernels), sum(new["scratch_bytes"] > 0 for _, new in kernels),
        sum(new < old - SHARE_CHANGED for old, new in known), sum(new > old + SHARE_CHANGED for old, new in known),
    ]


def summary(results: Results, pair: Pair) -> str:
    counts = {name: count(same_kernels(results, pair, name)) for name in _experiments(results, pair)}
    counts["together"] = [sum(column) for column in zip(*counts.values())]
    old, new = (folder.partition("-")[2] for folder in (pair.old, pair.new))
    header = ["experiment", "kernels", "fewer registers", "more registers", "fewer waves", "more waves",
              f"with scratch, {old}", f"with scratch, {new}", "lower FMA share", "higher FMA share"]
    return markdown.table(header, [[name, *map(str, row)] for name, row in counts.items()])


def explained(pair: Pair) -> str:
    old, new = (folder.partition("-")[2] for folder in (pair.old, pair.new))
    return (f"From {old} to {new}: kernels whose registers (VGPRs and AGPRs) change by more than "
            f"{100 * REGISTERS_CHANGED:.0f} % and at least {REGISTERS_PORTION}, the hot loop's FMA share by more than "
            f"{100 * SHARE_CHANGED:.0f} hundredths, waves by one.")
