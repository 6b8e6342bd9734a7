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
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from hipscope.results import markdown
from hipscope.results.whole_file import write_whole

# /*0010*/  @!P0 FFMA.FTZ R0, R1, R2, R3 ;
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)([^;]*);")
FUNCTION = re.compile(r"^\s*Function : (\S+)")
JUMP_TARGET = re.compile(r"(0x[0-9a-f]+)\s*$")
FMAS = ("FFMA", "DFMA", "HFMA2")
MATRIX = ("DMMA", "HMMA", "HGMMA")  # of FP64; of 16-bit types, TF32
# Columns of the page, by the beginning of an instruction's name.
COLUMNS = {
    "loads from LDS": ("LDS", "LDSM"), "stores to LDS": ("STS",), "copies to LDS": ("LDGSTS", "UBLKCP"),
    "loads from memory": ("LDG",), "stores to memory": ("STG",), "local memory": ("LDL", "STL"),
    "barriers": ("BAR",),
}


@dataclass(frozen=True)
class Instruction:
    """An instruction: its address, its name with modifiers, its operands."""

    address: int
    name: str
    operands: str

    @property
    def operation(self) -> str:
        return self.name.partition(".")[0]


def parse(listing: str) -> dict[str, list[Instruction]]:
    """The instructions of each function of a listing by cuobjdump -sass."""
    functions: dict[str, list[Instruction]] = {}
    code: list[Instruction] = []
    for line in listing.splitlines():
        begin = FUNCTION.match(line)
        found = INSTRUCTION.match(line)
        if begin:
            code = functions.setdefault(begin[1], [])
        elif found:
            code.append(Instruction(int(found[1], 16), found[2], found[3].strip()))
    return functions


def fmas(code: list[Instruction]) -> int:
    return sum(one.operation in FMAS for one in code)


def multiplications(code: list[Instruction]) -> int:
    """How many instructions of `code` are FMAs or of matrices."""
    return sum(one.operation in FMAS + MATRIX for one in code)


def fed_fmas(code: list[Instruction]) -> int:
    """How many FMAs of a loop keep an operand for the next one (`.reuse`)."""
    return sum(one.operation in FMAS and ".reuse" in one.operands for one in code)


def one_parity_fmas(code: list[Instruction]) -> int:
    """How many FP32 FMAs of a loop read registers that are different and all even or all odd."""
    found = 0
    for one in code:
        sources = {int(name) for name in re.findall(r"\bR(\d+)", one.operands.partition(",")[2])}
        found += one.operation == "FFMA" and len(sources) > 1 and len({name % 2 for name in sources}) == 1
    return found


def clashing_fmas(code: list[Instruction]) -> int:
    """How many FP32 FMAs of a loop read two registers of one parity. What the FMA before has kept in the same
    place (`.reuse`) is not read again, and a register that stands twice is read once."""
    found = 0
    kept: dict[int, int] = {}
    for one in code:
        if one.operation == "FFMA":
            sources = [re.search(r"\bR(\d+)(\.reuse)?", part) for part in one.operands.split(",")[1:]]
            registers = {place: int(source[1]) for place, source in enumerate(sources) if source}
            read = {name for place, name in registers.items() if kept.get(place) != name}
            found += len({name % 2 for name in read}) < len(read)
            kept = {place: int(source[1]) for place, source in enumerate(sources) if source and source[2]}
    return found


def hot_loop(code: list[Instruction]) -> list[Instruction]:
    """The innermost loop with the most FMAs or matrix instructions: from the target of a jump back to the
    jump."""
    places = {one.address: index for index, one in enumerate(code)}
    loops = set()
    for index, one in enumerate(code):
        target = JUMP_TARGET.search(one.operands) if one.operation == "BRA" else None
        begin = places.get(int(target[1], 16)) if target else None
        if begin is not None and begin <= index:
            loops.add((begin, index))
    innermost = [one for one in loops
                 if not any(one != other and one[0] <= other[0] and other[1] <= one[1] for other in loops)]
    bodies = [code[begin:end + 1] for begin, end in sorted(innermost)]
    return max(bodies, key=multiplications, default=[])


def demangled(names: list[str]) -> list[str]:
    """The names as C++ has them, as far as there is c++filt; without what does not tell them apart."""
    if shutil.which("c++filt"):
        names = subprocess.run(["c++filt", "-p"], input="\n".join(names), capture_output=True, text=True,
                               check=True).stdout.splitlines()
    return [name.replace("(anonymous namespace)::", "").removeprefix("void ") for name in names]


def rows_of(listing: str) -> list[list[str]]:
    """A row of the table per kernel that has a loop with FMAs or matrix instructions, by name."""
    functions = parse(listing)
    rows = []
    for name, code in zip(demangled(list(functions)), functions.values()):
        loop = hot_loop(code)
        if multiplications(loop):
            counts = Counter(one.operation for one in loop)
            cells = [sum(counts[operation] for operation in column) for column in COLUMNS.values()]
            share = f"{100 * fmas(loop) / len(loop):.1f} %"
            matrix = sum(counts[operation] for operation in MATRIX)
            numbers = [len(loop), fmas(loop), share, fed_fmas(loop), one_parity_fmas(loop), clashing_fmas(loop), matrix]
            rows.append([f"`{name}`", *map(str, numbers + cells)])
    return sorted(rows)


def fail(status: int, sentence: str) -> NoReturn:
    print(f"sass_report.py: {sentence}", file=sys.stderr)
    sys.exit(status)


def read(path: Path) -> str:
    """The listing of a binary, or the listing that a file is."""
    try:
        if path.suffix == ".sass":
            return path.read_text(encoding="utf-8")
        path.open("rb").close()
    except (OSError, UnicodeDecodeError) as error:
        fail(1, f"{path} cannot be read: {getattr(error, 'strerror', 'it is no text')}.")
    toolkit = os.environ.get("CUDA_PATH", "/usr/local/cuda")
    tool = shutil.which("cuobjdump") or shutil.which("cuobjdump", path=f"{toolkit}/bin")
    if tool is None:
        fail(77, "there is no cuobjdump; the CUDA toolkit has it.")
    done = subprocess.run([tool, "-sass", str(path)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(1, f"cuobjdump cannot read {path}.")
    return done.stdout


def main() -> int:
    """Reads all, then writes the page."""
    parser = argparse.ArgumentParser(
        description="Report on the NVIDIA machine code of built experiments, as a Markdown page.")
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the page to write")
    parser.add_argument("binaries", metavar="BINARY", type=Path, nargs="+",
                        help="built experiments, or listings by cuobjdump -sass (*.sass)")
    arguments = parser.parse_args()
    header = ["kernel", "instructions", "FMAs", "share", "fed", "one parity", "clashes", "matrix",
              *COLUMNS]
    page = ["# Machine code", "", "Of each kernel the loop with the most FMAs or matrix instructions, as "
            "cuobjdump lists them. A share is of the loop's instructions. FMAs are fed that follow one with an "
            "operand that is kept for the next (`.reuse`). FP32 FMAs are of one parity that read several "
            "registers, all even or all odd; they clash that read two even or two odd ones, kept operands apart.", ""]
    for path in arguments.binaries:
        rows = rows_of(read(path))
        if rows:
            page += [f"## {path.stem}", "", markdown.table(header, rows), ""]
    try:
        write_whole(arguments.out, "\n".join(page).encode("utf-8"))
    except OSError as error:
        fail(3, f"{arguments.out} cannot be written: {error.strerror}.")
    return 0


if __name__ == "__main__":
    from hipscope.results import ending

    sys.exit(ending.run("sass_report.py", main, output_failed=3))
