#!/usr/bin/env python3
"""Writes what a folder of results holds as other programs read it: a table, metrics, a roofline's ceilings.

Exit status: 0 good, 1 it cannot be written, 2 bad usage or input.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hipscope.report import exports
from hipscope.results import ending, load
from hipscope.results.whole_file import write_whole

FAILED, BAD = 1, 2


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Write the results of a folder for other programs. csv: a line per number of every sweep, median, "
        "spread and derived values, in the units of the tables. prometheus: each parameter of the hardware card, for "
        "the textfile collector of Prometheus' node exporter. roofline: ceilings in FLOP/s and bytes/s and whole "
        "kernels, as JSON."
    )
    parser.add_argument("format", choices=sorted(exports.FORMATS), help="what to write")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="the results of a device")
    parser.add_argument("--out", metavar="FILE", type=Path, help="write it here instead of printing it")
    return parser.parse_args(arguments)


@ending.in_a_sentence("export.py", bad_input=BAD, not_written=FAILED)
def main(arguments: list[str] | None = None) -> int:
    parsed = parse_arguments(arguments)
    text = exports.FORMATS[parsed.format](load.load_folder(parsed.folder))
    if parsed.out:
        write_whole(parsed.out, text.encode("utf-8"))
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(ending.run("export.py", main, output_failed=FAILED))
