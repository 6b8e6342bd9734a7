"""llvm-mca's estimate of a loop's cycles, by the scheduling model that LLVM has of the target."""

from __future__ import annotations

import json
import re
import subprocess

from .toolchain import TRIPLE, Toolchain

# The difference of two runs is what an iteration takes once the first has filled the pipeline.
FEW_ITERATIONS = 10
MORE_ITERATIONS = 20
# Each attempt strips what llvm-mca refused in the one before.
ATTEMPTS = 5
# Seconds of a core after which it is ended: LLVM 22's never ends with dgemm's matrix instructions for gfx90a.
LONGEST_S = 60


def _input(regions: list[list[str]], refused: set[int]) -> str:
    """The text for llvm-mca. A line that was refused is left empty, so that the others keep their numbers."""
    lines = [line for number, region in enumerate(regions)
             for line in (f"# LLVM-MCA-BEGIN {number}", *region, f"# LLVM-MCA-END {number}")]
    return "".join(f"{'' if place in refused else line}\n" for place, line in enumerate(lines))


def _cycles(output: str) -> dict[int, int]:
    """Of all iterations, per region; raises ValueError or LookupError when it is not llvm-mca's JSON."""
    return {int(region["Name"]): region["SummaryView"]["TotalCycles"]
            for region in json.loads(output)["CodeRegions"]}


def _run(tools: Toolchain, target: str, iterations: int, text: str) -> subprocess.CompletedProcess[str]:
    limited = ["sh", "-c", 'ulimit -t "$0" && exec "$@"', str(LONGEST_S)]
    command = [*limited, tools.mca, f"-mtriple={TRIPLE}", f"-mcpu={target}", "-json", f"-iterations={iterations}",
               "-instruction-info=0", "-resource-pressure=0"]
    return tools.processes.run(command, text=text)


def cycles_of(tools: Toolchain, target: str, regions: list[list[str]]) -> list[float | None]:
    """The cycles of an iteration per region, which is the texts of a loop's instructions; None where there are none.

    What llvm-mca refuses of a region takes no time.
    """
    nothing: list[float | None] = [None] * len(regions)
    if not tools.mca or not regions:
        return nothing
    refused: set[int] = set()
    for _ in range(ATTEMPTS):
        text = _input(regions, refused)
        few = _run(tools, target, FEW_ITERATIONS, text)
        wrong = {int(line) - 1 for line in re.findall(r"^<stdin>:(\d+):\d+: error:", few.stderr, re.MULTILINE)}
        if few.returncode == 0 or not wrong - refused:
            break
        refused |= wrong
    try:
        less = _cycles(few.stdout)
        more = _cycles(_run(tools, target, MORE_ITERATIONS, text).stdout)
    except (ValueError, LookupError, TypeError):
        return nothing
    return [(more[number] - less[number]) / (MORE_ITERATIONS - FEW_ITERATIONS)
            if number in less and number in more else None for number in range(len(regions))]
