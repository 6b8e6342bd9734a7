#!/usr/bin/env python3
"""Puts one fault at a time into code of AMD's newer targets, and says which test sees it: a test of the tests.

Usage: mutations.py [--only REGEX] [--folder DIR]

Each is put into a copy of the sources, in DIR. A fault counts as seen when the test that stands beside it passes
without it, and with it still compiles and fails: a unit test on this machine, or an experiment's ISA test by ROCm 7
(rocm7.sh --device), by what stands beside that. Exit status: 0 all seen so, 1 not, or there is no ROCm 7.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77


@dataclass(frozen=True)
class Mutation:
    """In `file` the only `old` becomes `new`; `test` is Suite.Test of host_backend_tests, or else an experiment, and
    `isa_test` what of its ISA test sees that."""

    what: str
    target: str
    test: str
    file: str
    old: str
    new: str
    isa_test: str = "FileCheck"

    def row(self) -> str:
        return f"| {self.what} | {self.target} | `{self.test}` |"

    def seen_by(self) -> str:
        return "unit test" if "." in self.test else self.isa_test


LAYOUTS = "AmdManuals.EveryMatrixInstructionHasThePublishedLayout"
WMMA = "include/hipscope/matrix/wmma.h"
MFMA = "include/hipscope/matrix/mfma.h"
FORMATS = "include/hipscope/matrix/format.h"
UNIT = "include/hipscope/compute_unit.h"
COUNTER = "include/hipscope/cycle_counter.h"
LDS_LOADS = "src/8-kernels/hgemm/07.5-loads-to-lds.h"
TURNS = "src/8-kernels/hgemm/07.8-waves-take-turns.h"
SPLIT = "src/8-kernels/sgemm/19-split-along-k.h"
ORDER = "src/9-transfers-and-sync/grid_sync/memory_order.h"
BARRIERS = "src/9-transfers-and-sync/grid_sync/barriers.h"
RELEASE = ("  __threadfence();\n  __syncthreads();\n  if (threadIdx", "  __syncthreads();\n  if (threadIdx")
ACQUIRE = ("  __threadfence();\n  __syncthreads();\n#pragma", "  __syncthreads();\n#pragma")
RELEASE_OF_GRID = ("  release();\n  __syncthreads();", "  __syncthreads();")
ACQUIRE_OF_GRID = ("    meet();\n    acquire();", "    meet();")

MUTATIONS = (
    Mutation("rows of WMMA's sums as on gfx12", "gfx1100", LAYOUTS, WMMA,
             "? 2 * element + lane / 16 :", "? 8 * (lane / 16) + element :"),
    Mutation("rows of WMMA's sums as on gfx11", "gfx1201", LAYOUTS, WMMA,
             "lane / 16 : 8 * (lane / 16) + element,", "lane / 16 : 2 * element + lane / 16,"),
    Mutation("k of A's half of a wave", "gfx1201", LAYOUTS, WMMA,
             "{lane % 16, is_doubled ? element : 8 *", "{lane % 16, is_doubled ? element : 4 *"),
    Mutation("bias of FNUZ E4M3: OCP's", "gfx942", "AmdManuals.FormatsHaveThePublishedValues", FORMATS,
             "8, 4, 3, 8, true", "8, 4, 3, 7, true"),
    Mutation("E4M3 of FNUZ has a zero with a sign", "gfx942", "AmdManuals.FormatsHaveThePublishedValues", FORMATS,
             "8, 4, 3, 8, true", "8, 4, 3, 8"),
    Mutation("scale of FP4, FP6 and FP8: 2", "gfx950", "AmdManuals.ScalesOfBlocksAreOne", FORMATS,
             "e8m0_bias = 127", "e8m0_bias = 128"),
    Mutation("format's code of E2M3: E3M2's", "gfx950", "AmdManuals.ScalesOfBlocksAreOne", FORMATS,
             "code_of_e2m3 = 2", "code_of_e2m3 = 3"),
    Mutation("BLGP: E4M3 whatever B's format", "gfx950", "matrix_rate", MFMA,
             "code_of_##factor, code_of_##factor, 0,", "code_of_##factor, 0, 0,               "),
    Mutation("XCC_ID from bit 4 on", "gfx942", "AmdManuals.RegisterFieldsAreThePublishedOnes", UNIT,
             ".number = 20, .first_bit = 0", ".number = 20, .first_bit = 4"),
    Mutation("XCC_ID over a bit of HW_ID", "gfx942", "memory_map", UNIT,
             "<< unit_of_gfx9.bits", "<< (unit_of_gfx9.bits - 1)"),
    Mutation("cycle counter of 24 bits, for the host", "gfx1100", "CycleCounter.IsAsWideAsTheArchitectureHasIt",
             COUNTER, '("gfx11") ? 20', '("gfx11") ? 24'),
    Mutation("cycle counter of 19 bits, in kernels", "gfx1100", "timing", COUNTER,
             "native_counter_bits = 20", "native_counter_bits = 19"),
    Mutation("vmcnt of hgemm 07.6 too large by a tile", "gfx950", "hgemm", LDS_LOADS,
             "wait_for_loads<(ahead - 1) * OfA::loads>", "wait_for_loads<ahead * OfA::loads>"),
    Mutation("16-byte loads to LDS overlap", "gfx950", "hgemm", LDS_LOADS,
             "load_of_wave(to + i * load_bytes,", "load_of_wave(to + i * load_bytes / 2,"),
    Mutation("s_setprio of hgemm 07.8 the wrong way round", "gfx950", "hgemm", TURNS,
             "      set_priority<1>();\n", "      set_priority<0>();\n"),
    Mutation("sched_group_barrier: two MFMA in a row", "gfx950", "hgemm", "include/hipscope/scheduling_barrier.h",
             "sched_group_barrier(matrix, 1, 0)", "sched_group_barrier(matrix, 2, 0)"),
    Mutation("no release in grid_sync's barriers", "gfx942", "grid_sync", ORDER, *RELEASE_OF_GRID),
    Mutation("no acquire in grid_sync's barriers", "gfx950", "grid_sync", BARRIERS, *ACQUIRE_OF_GRID, "hand_overs"),
    Mutation("no acquire in grid_sync's barriers", "gfx1100", "grid_sync", BARRIERS, *ACQUIRE_OF_GRID, "hand_overs"),
    Mutation("no acquire in grid_sync's barriers", "gfx1201", "grid_sync", BARRIERS, *ACQUIRE_OF_GRID, "hand_overs"),
    Mutation("no release in sgemm 19's hand-over", "gfx942", "sgemm", SPLIT, *RELEASE, "hand_overs"),
    Mutation("no acquire in sgemm 19's hand-over", "gfx942", "sgemm", SPLIT, *ACQUIRE, "hand_overs"),
    Mutation("no fence after peer_copies' flag", "gfx942", "peer_copies",
             "src/9-transfers-and-sync/peer_copies/peer_latency.h", "  __threadfence_system();\n", "", "hand_overs"),
)


def copy_sources(folder: Path) -> None:
    """Into `folder` what git knows of; what is there alike keeps its time, so that a build there goes on."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        source, copy = ROOT / name, folder / name
        if source.is_file() and not (copy.is_file() and source.read_bytes() == copy.read_bytes()):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
            os.utime(copy)


def build_and_run_unit_test(folder: Path, test: str) -> tuple[str, str]:
    build = folder / "build/host"
    steps = (
        ["cmake", "--preset", "host", "-B", build, "-DHIPSCOPE_TESTS=ON"],
        ["cmake", "--build", build, "-j", "1", "--target", "host_backend_tests"],
        [build / "bin/host_backend_tests", f"--gtest_filter={test}"],
    )
    for step in steps:
        done = subprocess.run(step, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            break
    log = done.stdout + done.stderr
    if done.returncode == 0 and "[  PASSED  ] 1 test." in log:
        return "", log
    return ("unit test" if f"[  FAILED  ] {test}" in log else "?"), log


def run_isa_test(folder: Path, build: Path, experiment: str, target: str) -> tuple[str, str]:
    script = folder / "scripts/rocm7.sh"
    command = [script, "--device", "--only", f"^{experiment}$", "--targets", target, "--build", build]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    log = done.stdout + done.stderr
    if done.returncode == SKIPPED:
        sys.exit(log)
    if done.returncode == 0 and log.endswith("1 passed, 0 failed, 0 skipped\n"):
        return "", log
    seen_by = re.search(r"the assembly, \S+ is not what|(\w+)[.]py .* ended with 1\b", " ".join(log.split()))
    return (seen_by[1] or "FileCheck" if seen_by else "?"), log


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="those whose row it matches", metavar="REGEX")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutations", metavar="DIR")
    options = parser.parse_args()
    folder = options.folder.resolve() / "source"

    def what_fails(mutation: Mutation) -> tuple[str, str]:
        """What of the test fails, nothing if it passes, "?" if it cannot be told; and all that it says."""
        if "." in mutation.test:
            return build_and_run_unit_test(folder, mutation.test)
        return run_isa_test(folder, options.folder.resolve() / "rocm7", mutation.test, mutation.target)

    passes: dict[tuple[str, str], tuple[str, str]] = {}
    unseen = 0
    copy_sources(folder)
    print("| fault | target | test | seen by |\n|---|---|---|---|", flush=True)
    for mutation in MUTATIONS:
        if not re.search(options.only, mutation.row()):
            continue
        key = mutation.test, "" if "." in mutation.test else mutation.target
        if key not in passes:
            passes[key] = what_fails(mutation)
        found, log = passes[key]
        if not found:
            text = (folder / mutation.file).read_text(encoding="utf-8")
            (folder / mutation.file).write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
            found, log = what_fails(mutation)
            (folder / mutation.file).write_text(text, encoding="utf-8")
        else:
            found, log = "?", "without the fault:\n" + log
        print(mutation.row(), f"{found or 'nothing'} |", flush=True)
        if found != mutation.seen_by():
            unseen += 1
            print(log[-4000:], file=sys.stderr)
    return 1 if unseen else 0


if __name__ == "__main__":
    sys.exit(main())
