#!/usr/bin/env python3
"""Reports on the NVIDIA machine code of built experiments: the loop with the most FMAs of each kernel,
and how many of them find an operand that was kept for them.

Needs cuobjdump, of the CUDA toolkit, or a listing that it has made. Exit status: 0 good, 1 a binary or
listing cannot be read, 2 bad usage, 3 the page cannot be written, 77 there is no cuobjdump.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from hipscope.compiled_code import sass
from hipscope.compiled_code.assembly import Function
from hipscope.compiled_code.demand import UnknownStep
from hipscope.compiled_code.loops import find_loops
from hipscope.results import door, ending, markdown
from hipscope.results.door import BadInput
from hipscope.results.whole_file import write_whole

FMAS = ("FFMA", "DFMA", "HFMA2")
MATRIX = ("DMMA", "HMMA", "HGMMA")  # of FP64; of 16-bit types, TF32
# Columns of the page, by the beginning of an instruction's name.
COLUMNS = {
    "loads from LDS": ("LDS", "LDSM"), "stores to LDS": ("STS",), "copies to LDS": ("LDGSTS", "UBLKCP"),
    "loads from memory": ("LDG",), "stores to memory": ("STG",), "local memory": ("LDL", "STL"),
    "barriers": ("BAR",),
}
HEADER = ["kernel", "instructions", "FMAs", "share", "fed", "one parity", "clashes", "matrix", *COLUMNS]
INTRODUCTION = (
    "Of each kernel the loop with the most FMAs or matrix instructions, as cuobjdump lists them. A share is of the "
    "loop's instructions. FMAs are fed that follow one with an operand that is kept for the next (`.reuse`). FP32 FMAs "
    "are of one parity that read several registers, all even or all odd; they clash that read two even or two odd "
    "ones, kept operands apart."
)

# An instruction's name without modifiers, and its operands.
Parts = tuple[str, str]


def multiplications(code: list[Parts]) -> int:
    """How many instructions of `code` are FMAs or of matrices."""
    return sum(operation in FMAS + MATRIX for operation, _ in code)


def is_of_one_parity(operands: str) -> bool:
    """Whether an FMA reads registers that are different and all even or all odd."""
    sources = {int(name) for name in re.findall(r"\bR(\d+)", operands.partition(",")[2])}
    return len(sources) > 1 and len({name % 2 for name in sources}) == 1


def hot_loop(function: Function) -> list[Parts]:
    loops = [[sass.parts_of(one.text) for one in loop.instructions] for loop in find_loops(function) if loop.innermost]
    return max(loops, key=multiplications, default=[])


def rows_of(listing: str) -> list[list[str]]:
    """A row of the table per kernel that has a loop with FMAs or matrix instructions, by name."""
    functions = sass.read_functions(listing)
    rows = []
    for name, function in zip(sass.demangled([one.name for one in functions]), functions):
        loop = hot_loop(function)
        if multiplications(loop):
            counts = Counter(operation for operation, _ in loop)
            fmas = [operands for operation, operands in loop if operation in FMAS]
            of_fp32 = [operands for operation, operands in loop if operation == "FFMA"]
            reuse = sass.Reuse()
            numbers = [
                len(loop), len(fmas), f"{100 * len(fmas) / len(loop):.1f} %",
                sum(".reuse" in operands for operands in fmas), sum(map(is_of_one_parity, of_fp32)),
                sum(reuse.clashes(operands) > 0 for operands in of_fp32),
                *(sum(counts[operation] for operation in column) for column in (MATRIX, *COLUMNS.values())),
            ]
            rows.append([f"`{name}`", *map(str, numbers)])
    return sorted(rows)


def read(path: Path) -> str:
    """The listing of a binary, or the listing that a file is; raises BadInput."""
    if path.suffix == ".sass":
        return door.read_text(path, sass.LONGEST_LISTING)
    try:
        path.open("rb").close()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    toolkit = os.environ.get("CUDA_PATH", "/usr/local/cuda")
    tool = shutil.which("cuobjdump") or shutil.which("cuobjdump", path=f"{toolkit}/bin")
    if tool is None:
        raise BadInput("there is no cuobjdump; the CUDA toolkit has it.", 77)
    done = subprocess.run([tool, "-sass", str(path)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = done.stderr or f"it ended with status {done.returncode}"
        raise BadInput(f"cuobjdump cannot read {path}: {door.one_line(reason)}.")
    return done.stdout


@ending.in_a_sentence("sass_report.py", bad_input=1, not_written=3)
def main() -> int:
    parser = argparse.ArgumentParser(
        description="Report on the NVIDIA machine code of built experiments, as a Markdown page.")
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the page to write")
    parser.add_argument("binaries", metavar="BINARY", type=Path, nargs="+",
                        help="built experiments, or listings by cuobjdump -sass (*.sass)")
    arguments = parser.parse_args()
    page = ["# Machine code", "", INTRODUCTION, ""]
    for path in arguments.binaries:
        try:
            rows = rows_of(read(path))
        except UnknownStep as error:
            raise BadInput(f"{path} is no listing by cuobjdump -sass: {error}.") from error
        if rows:
            page += [f"## {path.stem}", "", markdown.table(HEADER, rows), ""]
    write_whole(arguments.out, "\n".join(page).encode("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(ending.run("sass_report.py", main, output_failed=3))
