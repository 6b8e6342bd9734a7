"""llvm-mca's estimate of a loop's cycles, by the scheduling model that LLVM has of the target."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from .toolchain import TRIPLE, Toolchain

# Enough for the first iteration's latency to weigh little.
ITERATIONS = 100
# Each attempt strips what llvm-mca refused in the one before.
ATTEMPTS = 5


@dataclass
class Estimate:
    """Cycles per iteration, and the instructions that llvm-mca refused."""

    cycles: float
    stripped: list[str] = field(default_factory=list)


def _input(regions: list[list[str]], refused: set[int]) -> tuple[str, list[tuple[int, str]]]:
    """The text for llvm-mca, and for each of its lines the region and the text that it comes from.

    A line that was refused is left empty, so that the others keep their numbers.
    """
    origins = [
        (number, line)
        for number, region in enumerate(regions)
        for line in [f"# LLVM-MCA-BEGIN {number}", *region, f"# LLVM-MCA-END {number}"]
    ]
    lines = ["" if place in refused else line for place, (_, line) in enumerate(origins)]
    return "\n".join(lines) + "\n", origins


def _cycles(output: str) -> dict[int, float]:
    """Per region; raises ValueError or LookupError when it is not llvm-mca's JSON."""
    regions = json.loads(output)["CodeRegions"]
    summaries = {int(region["Name"]): region["SummaryView"] for region in regions}
    return {number: view["TotalCycles"] / view["Iterations"] for number, view in summaries.items()}


def estimate(tools: Toolchain, target: str, regions: list[list[str]]) -> list[Estimate | None]:
    """An estimate per region, which is the texts of a loop's instructions; None where there is none."""
    nothing: list[Estimate | None] = [None] * len(regions)
    if not tools.mca or not regions:
        return nothing
    command = [tools.mca, f"-mtriple={TRIPLE}", f"-mcpu={target}", "-json", f"-iterations={ITERATIONS}",
               "-instruction-info=0", "-resource-pressure=0"]
    refused: set[int] = set()
    for _ in range(ATTEMPTS):
        text, origins = _input(regions, refused)
        done = tools.processes.run(command, text=text)
        wrong = {int(line) - 1 for line in re.findall(r"^<stdin>:(\d+):\d+: error:", done.stderr, re.MULTILINE)}
        if done.returncode == 0 or not wrong - refused:
            break
        refused |= wrong
    try:
        cycles = _cycles(done.stdout)
    except (ValueError, LookupError, TypeError):
        return nothing
    stripped = [origins[line] for line in sorted(refused)]
    return [
        Estimate(round(cycles[number], 1), [text for region, text in stripped if region == number])
        if number in cycles else None
        for number in range(len(regions))
    ]
