#!/usr/bin/env python3
"""Runs every experiment's AMD binary with --tiny in the emulator, or through any other launcher, and judges the runs.

A run is good when the binary ends with status 0, has checked something, no check failed, and the emulator reports
nothing but what the experiment's checkers.txt expects. The last line is the sum, "N passed, N failed, N skipped";
the exit status is 1 when a run was not good.

Lines of checkers.txt, beside the experiment's source (scripts/sanitize.sh reads those of racecheck):

  not in the emulator | the whole experiment | why
  shuffled            | sweeps (a regular expression) that alone are run shuffled | why
  free of conflicts   | kernels (a regular expression) that on gfx90a have none in LDS's banks | why
  conflicts: loads 1.00, stores 2.00 | kernels whose accesses take LDS so many times as long as without | why
  still timer         | sweeps that on gfx90a are run with one, too | why
  MISTAKE             | part of a kernel's symbol | why the emulator's report of that mistake is meant to be
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

SOURCES = HERE.parent.parent / "src"
# The runs of each experiment: a target, and how. What the compiler makes for one target differs from another's in
# instructions, registers and addresses, and not in what waves may do to each other. "shuffle" runs blocks and waves
# in short turns and random order, with stores that others see late and L1 lines that stay stale; "still-counter" has
# a cycle counter that does not advance, of which no kernel may know when to end.
WAYS = ("target=gfx90a", "target=gfx90a shuffle late-stores stale-l1", "target=gfx908 still-counter", "target=gfx906")

STILL_TIMER = "still timer"
FREE = "free of conflicts"
CONFLICTS = "conflicts: "
# Nothing takes nearly as long, however loaded the machine is.
LONGEST_RUN_S = 3000


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of a binary: `words` are for the emulator, and empty for another launcher."""

    experiment: str
    options: tuple[str, ...]
    words: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, [self.experiment, *self.options])) + (f" ({self.words})" if self.words else "")


@dataclasses.dataclass(frozen=True)
class Expected:
    """A report that is no mistake, with the reason."""

    experiment: str
    mistake: str
    kernel: str  # part of the symbol
    reason: str

    def fits(self, run: Run, mistake: str, kernel: str) -> bool:
        return (run.experiment, mistake) == (self.experiment, self.mistake) and self.kernel in kernel


@dataclasses.dataclass
class Outcome:
    """What became of a run: what is wrong with it, and the expected reports that it has made."""

    run: Run
    wrong: list[str]
    used: set[Expected]
    instructions: int
    seconds: float


def read_checkers(path: Path) -> list[list[str]]:
    """The lines of a checkers.txt, cut at " | "; none when there is no such file."""
    lines = path.read_text().splitlines() if path.exists() else []
    cut = [[field.strip() for field in line.split(" | ")] for line in lines if line and not line.startswith("#")]
    for parts in cut:
        if len(parts) != 3 or not all(parts):
            sys.exit(f"{path}: not 3 fields between '|': {' | '.join(parts)}")
    return cut


def read_experiments(sources: Path, in_emulator: bool) -> tuple[list[Run], list[Expected]]:
    """All runs, and the reports that are no mistakes. Through another launcher, which has its own target and order,
    each experiment runs once. The longest ones, whole kernels, stand near the end of the folders, and begin first."""
    runs, expected = [], []
    for folder in sorted(sources.glob("[0-9]-*/*/"), reverse=True):
        if not (folder / f"{folder.name}.hip").exists():
            continue
        lines = read_checkers(folder / "checkers.txt")
        topics = {topic: what for topic, what, _ in lines}
        expected += [
            Expected(folder.name, *line)
            for line in lines
            if line[0] not in ("not in the emulator", "shuffled", STILL_TIMER) and "racecheck" not in line[0]
        ]
        if "not in the emulator" in topics:
            continue
        for words in WAYS if in_emulator else ("",):
            filtered = ("--filter", topics["shuffled"]) if "shuffled" in topics and "shuffle" in words else ()
            counts = words == WAYS[0] and any(topic.startswith((FREE, CONFLICTS)) for topic in topics)
            runs.append(Run(folder.name, filtered, words + " conflicts" * counts))
        if in_emulator and STILL_TIMER in topics:
            runs.append(Run(folder.name, ("--filter", topics[STILL_TIMER]), "target=gfx90a still-timer"))
    return runs, expected


def demangled(symbols: list[str]) -> list[str]:
    """The names as C++ has them, without parameters."""
    done = subprocess.run(["c++filt", "-p"], input="\n".join(symbols), capture_output=True, text=True, check=True)
    return [
        re.sub(r">(?: >)+", lambda match: match[0].replace(" ", ""), line).replace("(anonymous namespace)::", "")
        for line in done.stdout.splitlines()
    ]


def judge_conflicts(run: Run, stderr: str, expected: list[Expected]) -> tuple[list[str], set[Expected]]:
    """What is wrong with what checkers.txt says of conflicts, and which of its lines speak of a kernel that ran."""
    wrong, used = [], set()
    lines = re.findall(r"^emulator: LDS of (\S+): \d+ instructions, (.+?) \((.*)\)$", stderr, flags=re.MULTILINE)
    for name, (_, told, each) in zip(demangled([line[0] for line in lines]), lines):
        cycles = {"loads": [0, 0], "stores": [0, 0]}
        for kind, taken, free in re.findall(r"(\w+): \d+ instructions, (\d+) cycles, (\d+) without conflicts", each):
            of_kind = cycles["stores" if re.search("write|store", kind) else "loads"]
            of_kind[0] += int(taken)
            of_kind[1] += int(free)
        counted = ", ".join(f"{kind} {taken / free if free else 1:.2f}" for kind, (taken, free) in cycles.items())
        is_free = all(taken == free for taken, free in cycles.values())
        for entry in expected:
            speaks_of_lds = entry.experiment == run.experiment and entry.mistake.startswith((FREE, CONFLICTS))
            if speaks_of_lds and re.search(entry.kernel, name):
                used.add(entry)
                if not is_free if entry.mistake == FREE else entry.mistake != CONFLICTS + counted:
                    wrong.append(f"not {entry.mistake}: {name}: {counted}; LDS takes {told}")
    return wrong, used


def judge(run: Run, status: int, stdout: str, stderr: str, expected: list[Expected]) -> Outcome:
    wrong, used, instructions = [], set(), 0
    if status != 0:
        wrong.append(f"ended with status {status}")
    checks = re.search(r"^verification: (\d+) of (\d+) checks passed$", stdout, flags=re.MULTILINE)
    if not checks:
        wrong.append("says nothing of its checks")
    elif checks[1] != checks[2] or checks[1] == "0":
        wrong.append(checks[0])
    for line in stderr.splitlines():
        if line.startswith("emulator: stopped: "):
            wrong.append(line)
        if report := re.fullmatch(r"emulator: ([^|]+) \| (\S+) \| (.+) \| \d+ times \| (.+)", line):
            fitting = [entry for entry in expected if entry.fits(run, report[1], report[2])]
            used.update(fitting)
            if not fitting:
                wrong.append(f"{report[1]}: {report[2]}: {report[3]}: {report[4]}")
        if summary := re.fullmatch(r"emulator: \S+, (\d+) wave instructions, \d+ reports", line):
            instructions = int(summary[1])
    wrong_of_lds, used_of_lds = judge_conflicts(run, stderr, expected)
    wrong += wrong_of_lds
    used |= used_of_lds
    if run.words and not instructions:
        wrong.append("did not run in the emulator")
    return Outcome(run, wrong, used, instructions, 0)


def execute(run: Run, build: Path, launcher: list[str], expected: list[Expected]) -> Outcome:
    environment = dict(os.environ)
    if run.words:
        environment |= {"LD_LIBRARY_PATH": str(build / "tests/emulator"), "HIPSCOPE_EMULATOR": run.words}
    command = [*launcher, str(build / "bin" / run.experiment), "--tiny", *run.options]
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST_RUN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        return Outcome(run, [str(failure)], set(), 0, time.monotonic() - began)
    outcome = judge(run, done.returncode, done.stdout, done.stderr, expected)
    outcome.seconds = time.monotonic() - began
    if outcome.wrong:
        outcome.wrong += done.stderr.splitlines()[-5:] if done.returncode else []
    return outcome


def needless(expected: list[Expected], outcomes: list[Outcome], listed: list[Run]) -> list[str]:
    """The expected reports that none of their experiment's runs has made, if all of them ran."""
    ran = {outcome.run for outcome in outcomes}
    complete = {run.experiment for run in listed} - {run.experiment for run in listed if run not in ran}
    used = set().union(*(outcome.used for outcome in outcomes))
    return [
        f"{entry.experiment}: {entry.mistake} in {entry.kernel} is expected, and is not reported"
        for entry in expected
        if entry.experiment in complete and entry not in used
    ]


def arguments(command_line: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/amd-test"), help="build folder (default %(default)s)")
    parser.add_argument("--launcher", help="in place of the emulator: run as CMD BINARY OPTIONS...", metavar="CMD")
    parser.add_argument("--only", default="", help="experiments whose names it matches", metavar="REGEX")
    parser.add_argument("--words", default="", help="runs in the emulator whose words it matches", metavar="REGEX")
    parser.add_argument("--list", action="store_true", help="only says what would be run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at once", metavar="N")
    parser.add_argument("--sources", type=Path, default=SOURCES, help=argparse.SUPPRESS)
    return parser.parse_args(command_line)


def main() -> int:
    options = arguments()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    launcher = shlex.split(options.launcher or "")
    listed, expected = read_experiments(options.sources, in_emulator=not launcher)
    runs = [run for run in listed if re.search(options.only, run.experiment) and re.search(options.words, run.words)]
    if options.list:
        print(*runs, sep="\n")
        return 0
    build = options.build.resolve()
    outcomes = []
    skipped = [run for run in runs if not (build / "bin" / run.experiment).exists()]
    for run in skipped:
        print(f"skipped: {run}: it is not built")
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        waiting = [pool.submit(execute, run, build, launcher, expected) for run in runs if run not in skipped]
        for future in concurrent.futures.as_completed(waiting):
            outcome = future.result()
            outcomes.append(outcome)
            print(
                f"{'FAILED' if outcome.wrong else 'good'}: {outcome.run}: {outcome.seconds:.1f} s, "
                f"{outcome.instructions} wave instructions",
                *outcome.wrong,
                sep="\n    ",
                flush=True,
            )
    unused = needless(expected, outcomes, listed) if not launcher else []
    print(*unused, sep="\n", end="\n" if unused else "")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"all took {used.ru_utime + used.ru_stime:.0f} s of CPU")
    failed = sum(bool(outcome.wrong) for outcome in outcomes) + len(unused)
    good = sum(not outcome.wrong for outcome in outcomes)
    print(f"{good} passed, {failed} failed, {len(skipped)} skipped")
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
