#!/usr/bin/env python3
"""Leaves out one instruction of a kernel at a time, and says which omissions nothing notices: a test of the tests.

Usage: mutate.py [--build DIR] [--most N] [--seed N] [--words WORDS] BINARY KERNEL INSTRUCTION OPTIONS...

KERNEL is a part of the symbol, INSTRUCTION what the instruction begins with, with underscores for blanks:
s_barrier, s_waitcnt, s_waitcnt_vmcnt(0). The options are the binary's. An omission is noticed when the emulator
reports something that it does not without it, when a check fails, or when the run ends otherwise.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
from pathlib import Path

LONGEST_RUN_S = 600


def run(options: argparse.Namespace, index: int) -> subprocess.CompletedProcess[str]:
    words = f"{options.words} drop={options.kernel}:{options.instruction}:{index}"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(options.build / "tests/emulator"), "HIPSCOPE_EMULATOR": words}
    return subprocess.run(
        [options.build / "bin" / options.binary, "--once", *options.rest],
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LONGEST_RUN_S,
        check=False,
    )


def reports(result: subprocess.CompletedProcess[str]) -> set[str]:
    return set(re.findall(r"^emulator: ([^|]+ \| \S+ \| [^|]+) \|", result.stderr, flags=re.MULTILINE))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/amd-test"))
    parser.add_argument("--most", type=int, default=20, help="omissions that are tried, chosen at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--words", default="", help="for the emulator")
    parser.add_argument("binary")
    parser.add_argument("kernel")
    parser.add_argument("instruction")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    whole = run(options, -1)
    counts = [int(count) for count in re.findall(r"^emulator: (\d+) to drop in", whole.stderr, flags=re.MULTILINE)]
    if whole.returncode != 0 or not counts or max(counts) == 0:
        print(whole.stderr, end="")
        print(f"mutate.py: {options.binary} does not run, or has no such instruction.", file=sys.stderr)
        return 2
    indices = random.Random(options.seed).sample(range(max(counts)), min(options.most, max(counts)))
    noticed = 0
    for index in sorted(indices):
        try:
            result = run(options, index)
        except subprocess.TimeoutExpired:
            noticed += 1
            continue
        if result.returncode != 0 or reports(result) - reports(whole):
            noticed += 1
        else:
            dropped = re.findall(r"^emulator: dropped (.*)$", result.stderr, flags=re.MULTILINE)
            print(f"not noticed: {index}: {'; '.join(dropped)}")
    print(f"{options.binary}, {options.kernel}: {noticed} of {len(indices)} omissions of {options.instruction} noticed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
