#!/usr/bin/env python3
"""Says what changed between runs by more than their noise: for new compilers, drivers and kernels."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from hipscope.compare import changes, table
from hipscope.results import ending, load
from hipscope.results.door import BadInput
from hipscope.results.records import Result
from hipscope.results.whole_file import write_whole

WORSE, BAD = 1, 2
NOISE = """
A time has changed when the medians of the two sides' samples differ by more than the threshold, by more than
the noise of both (the root of the sum of the squares of the two interquartile ranges, of the two ranges where
a side has fewer than 12 samples), and by more than chance. That noise is of samples taken one after the
other. From run to run a time varies more: clocks, temperature, where buffers happen to lie.

Chance is told by several runs a side (--old A B C --new D E): what they differ by within a side, of the row and
of its sweep. Of one run a side it is told by the sweep: most of its rows have not changed, and one that has
stands out from how the others differ (from 12 rows on). Of thousands of rows some stand out by chance; what is
told holds the false discovery rate at 1 %. A sweep as a whole has changed when the median of its rows has.

Less time is better, if cycles say the same: a time that changed with the clock alone is told as that. What is
of another card of the same model (by its UUID, or by where its CUs lie) is told as another card's, unless a row
changed by more than 25 % or a whole sweep by more than 5 %.

Rates follow from times and are not compared. What a compiler or a driver decides (registers, scratch, resident
waves, a function's error in ulp) and inferred parameters are called changed, neither better nor worse, by the
first run of each side. Cycles that the device's own counter told, in rows without a time, are compared by the
threshold alone, since their noise is not in the file. A verification that fails is worse.

Exit status: 0 nothing got worse, 1 something did, 2 bad usage, input or output.
"""


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Say what changed between runs by more than their noise.",
        epilog=NOISE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "runs",
        metavar="OLD NEW",
        type=Path,
        nargs="*",
        help="two folders of results, or two result files: the second is judged",
    )
    parser.add_argument("--old", metavar="RUN", type=Path, nargs="+", default=[], help="several runs, in place of OLD")
    parser.add_argument("--new", metavar="RUN", type=Path, nargs="+", default=[], help="several runs, in place of NEW")
    parser.add_argument("--threshold", metavar="PERCENT", default="2", help="the least change that counts (default: 2)")
    parser.add_argument("--only", metavar="REGEX", default="", help="only what matches, of EXPERIMENT/SWEEP/ROW/WHAT")
    parser.add_argument("--all", action="store_true", help="list what has not changed, too")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write all that was compared to this file")
    return parser.parse_args(arguments)


def threshold_of(text: str) -> float:
    """The threshold as a part; raises BadInput."""
    try:
        percent = float(text)
    except ValueError:
        percent = math.nan
    if not 0 <= percent < math.inf:
        raise BadInput(f"--threshold takes a number of per cent that is not negative, not {text!r}.")
    return percent / 100


def pattern_of(text: str) -> re.Pattern[str]:
    """The expression of --only; raises BadInput."""
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadInput(f"--only {text!r} is not a valid regular expression.") from error


def sides_of(arguments: argparse.Namespace) -> tuple[list[Path], list[Path]]:
    if arguments.old and arguments.new and not arguments.runs:
        return arguments.old, arguments.new
    if len(arguments.runs) == 2 and not arguments.old and not arguments.new:
        return arguments.runs[:1], arguments.runs[1:]
    raise BadInput("give OLD and NEW, or --old and --new with one run or more each.")


def read(old: Sequence[Path], new: Sequence[Path]) -> list[list[list[Result]]]:
    """The results of both sides' runs, which are of one kind and have an experiment in common; raises BadInput."""
    for path in (*old, *new):
        if path.is_dir() != old[0].is_dir():
            raise BadInput(f"{old[0]} and {path} are not of one kind: give folders or files.")
    of = load.load_folder if old[0].is_dir() else lambda path: [load.load_any_name(path)]
    sides = [[of(path) for path in side] for side in (old, new)]
    names = [{result.name for run in side for result in run} for side in sides]
    if names[0].isdisjoint(names[1]):
        first, second = (", ".join(sorted(one)[:3]) for one in names)
        raise BadInput(f"{old[0]} and {new[0]} have no experiment in common: {first} against {second}.")
    return sides


@ending.in_a_sentence("compare.py", bad_input=BAD, not_written=BAD)
def main(command_line: list[str] | None = None) -> int:
    arguments = parse_arguments(command_line)
    threshold, pattern = threshold_of(arguments.threshold), pattern_of(arguments.only)
    old, new = read(*sides_of(arguments))
    found = changes.compare(old, new, threshold)
    found.changes = [change for change in found.changes if pattern.search(change.path)]
    found.sweeps = [one for one in found.sweeps if pattern.search(f"{one.experiment}/{one.sweep}")]
    found.only_old, found.only_new = (
        [name for name in names if pattern.search(name)] for names in (found.only_old, found.only_new)
    )
    if arguments.only and not found.changes:
        raise BadInput(f"nothing that both have matches --only {arguments.only!r}.")
    if arguments.json:
        told = json.dumps(found.as_json(), indent=1, allow_nan=False) + "\n"
        write_whole(arguments.json, told.encode("ascii"))
    sys.stdout.write(table.text(found, arguments.all))
    return WORSE if found.is_worse else 0


if __name__ == "__main__":
    sys.exit(ending.run("compare.py", main, output_failed=BAD))
