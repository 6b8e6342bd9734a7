#!/usr/bin/env python3
"""Asks NVIDIA's profiler what bounds the kernels of a built experiment: is the FMA pipe busy, if not which
other pipe is, and if none is, what do waves wait for?

Runs the experiment once under ncu, of Nsight Compute, or reads what ncu has written. Exit status: 0 good, 1
the profile cannot be made or read, 2 bad usage, 3 the page cannot be written, 77 there is no ncu.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from hipscope.results import door, ending
from hipscope.results.door import BadInput
from hipscope.results.whole_file import write_whole

FMA_PIPE = "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"
FP64_PIPE = "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active"
LDS_PIPE = "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed"
LDS_PASSES = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
LDS_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
ISSUE_SLOTS = "smsp__issue_active.avg.pct_of_peak_sustained_active"
LOCAL_MEMORY = "l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"
# What a wave waits for, by ncu's name for it (Nsight Compute's Kernel Profiling Guide).
REASONS = {
    "barrier": "a barrier",
    "dispatch_stall": "registers",
    "lg_throttle": "room in the queue of memory",
    "long_scoreboard": "memory",
    "math_pipe_throttle": "the pipe",
    "mio_throttle": "room in the queue of LDS",
    "not_selected": "another wave's turn",
    "short_scoreboard": "LDS",
    "wait": "a fixed time",
}
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
METRICS = [FMA_PIPE, FP64_PIPE, LDS_PIPE, LDS_PASSES, LDS_CONFLICTS, ISSUE_SLOTS, LOCAL_MEMORY]
METRICS += [STALL.format(reason) for reason in REASONS]
# How many reasons a row names, and from how many waves per issued instruction on.
MOST_REASONS = 3
FEWEST_WAITING = 0.25
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12}
LONGEST = 2**30  # bytes of what ncu has written
Kernels = dict[str, dict[str, list[float]]]


def short(name: str) -> str:
    """A kernel's name without its arguments and what else does not tell it apart."""
    name = name.replace("(anonymous namespace)::", "").replace("<unnamed>::", "").removeprefix("void ")
    return re.sub(r"\((?:unsigned )?(?:int|bool|[a-z_:]+)\)(?=[\w-])", "", name).partition("(")[0]


def parse(text: str, source: Path) -> Kernels:
    """The values of each metric of each kernel, one per launch, in the order of the launches; raises BadInput."""
    begin = text.find('"ID","Process ID"')
    if begin < 0:
        said = (text.strip().splitlines() or ["nothing"])[-1]
        raise BadInput(f"the profile of {source} has no table of ncu --csv; what ncu said of it: {said}.")
    kernels: Kernels = {}
    for row in csv.DictReader(text[begin:].splitlines()):
        try:
            value = float(row["Metric Value"].replace(",", "")) * UNITS.get(row["Metric Unit"], 1)
            kernels.setdefault(short(row["Kernel Name"]), {}).setdefault(row["Metric Name"], []).append(value)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise BadInput(f"the profile of {source} has a row that is none of ncu --csv.") from None
    if not kernels:
        raise BadInput(f"the profile of {source} has no kernel.")
    return kernels


def waiting_for(median: dict[str, float]) -> str:
    waits = sorted(((median.get(STALL.format(reason), 0), text) for reason, text in REASONS.items()), reverse=True)
    named = [f"{text} {waves:.1f}" for waves, text in waits[:MOST_REASONS] if waves >= FEWEST_WAITING]
    return ", ".join(named) or "nothing"


def cells_of(values: dict[str, list[float]]) -> dict[str, str]:
    """A kernel's cells by their columns: medians of its launches; empty where there is no figure."""
    median = {metric: statistics.median(launches) for metric, launches in values.items()}

    def cell(metric: str, digits: int = 1, scale: float = 1.0) -> str:
        return f"{median[metric] * scale:.{digits}f}" if metric in median else ""

    passes = median.get(LDS_PASSES, 0)
    return {
        "launches": str(max(len(each) for each in values.values())),
        "FMA pipe, %": cell(FMA_PIPE),
        "FP64 pipe, %": cell(FP64_PIPE),
        "LDS pipe, %": cell(LDS_PIPE),
        "bank conflicts, % of LDS passes": f"{100 * median.get(LDS_CONFLICTS, 0) / passes:.1f}" if passes else "",
        "issue slots, %": cell(ISSUE_SLOTS),
        "local memory read, GB": cell(LOCAL_MEMORY, 0, 1e-9),
        "waves that wait, per issued instruction, for": waiting_for(median),
    }


def page_of(title: str, kernels: Kernels) -> str:
    """The page as Markdown, without the columns that no kernel has a figure for."""
    rows = {name: cells_of(values) for name, values in kernels.items()}
    columns = [column for column in next(iter(rows.values())) if any(cells[column] for cells in rows.values())]
    return "\n".join(
        [
            f"# Profile of {title}",
            "",
            "By ncu, medians of each kernel's launches. A pipe's % are of the most that it can do; where one is near "
            "100 it bounds the kernel. Where none is, look at what waves wait for.",
            "",
            f"| {' | '.join(['kernel', *columns])} |",
            "| --- |" + " ---: |" * (len(columns) - 1) + " --- |",
            *(
                f"| `{name}` | {' | '.join(cells[column] or '-' for column in columns)} |"
                for name, cells in rows.items()
            ),
            "",
        ]
    )


def profile(command: list[str], kernels: str, launches: int) -> str:
    """What ncu writes of a run of `command`; raises BadInput."""
    toolkit = os.environ.get("CUDA_PATH", "/usr/local/cuda")
    tool = shutil.which("ncu") or shutil.which("ncu", path=f"{toolkit}/bin")
    if tool is None:
        raise BadInput("there is no ncu; Nsight Compute, of the CUDA toolkit, has it.", 77)
    if shutil.which(command[0]) is None:
        raise BadInput(f"{command[0]} cannot be run.")
    which = ["--kernel-name", f"regex:{kernels}", "--launch-count", str(launches), "--metrics", ",".join(METRICS)]
    words = [tool, "--csv", "--clock-control", "none", *which, command[0], "--once", *command[1:]]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def count(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,4}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 to 99999")
    return int(text)


@ending.in_a_sentence("ncu_report.py", bad_input=1, not_written=3)
def main() -> int:
    parser = argparse.ArgumentParser(
        description="Profile a built experiment with ncu: which pipe is busy, and what do waves wait for?",
        epilog="Example: ncu_report.py --out ncu.md --kernels '^tile_' build/nvidia/bin/sgemm --filter '^stages$'",
    )
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the page to write")
    parser.add_argument("--csv", metavar="FILE", type=Path, help="read what ncu --csv wrote, and run nothing")
    parser.add_argument(
        "--kernels",
        metavar="REGEX",
        default=".",
        help="only kernels whose name, less template arguments, matches (default: all)",
    )
    parser.add_argument(
        "--launches", metavar="N", type=count, default=100, help="profile at most N launches (default: 100)"
    )
    parser.add_argument(
        "command",
        metavar="BINARY [OPTION...]",
        nargs=argparse.REMAINDER,
        help="a built experiment with its options; it gets --once as well",
    )
    arguments = parser.parse_args()
    if bool(arguments.csv) == bool(arguments.command):
        parser.error("give either a binary or --csv FILE")
    text = (
        door.read_text(arguments.csv, LONGEST)
        if arguments.csv
        else profile(arguments.command, arguments.kernels, arguments.launches)
    )
    source = arguments.csv or Path(arguments.command[0])
    write_whole(arguments.out, page_of(source.stem, parse(text, source)).encode("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(ending.run("ncu_report.py", main, output_failed=3))
