#!/usr/bin/env python3
"""Says whether a card is as others of its model, by the results that are stored.

Exit status: 0 good, 1 the check found something or the page cannot be written, 2 bad usage or input.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hipscope.compare import normal
from hipscope.html import sources
from hipscope.results import ending
from hipscope.results.door import BadInput
from hipscope.results.whole_file import write_whole

RESULTS = Path(__file__).resolve().parent.parent / "results"
FOUND, BAD = 1, 2


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Put each parameter of a card beside those of other cards of the same model, else of the nearest "
        "one, and say of each that is off what the results tell of the cause: clock, power cap, ECC, link, throttling."
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="the results of the card")
    parser.add_argument(
        "--against",
        metavar="DIR",
        type=Path,
        default=RESULTS,
        help="a folder of folders of results (default: results/)",
    )
    parser.add_argument("--out", metavar="FILE", type=Path, help="write the page here instead of printing it")
    parser.add_argument(
        "--check",
        action="store_true",
        help="only say what is implausible in results that are sent in: failed verifications, names of "
        "hosts and serial numbers, rates that cannot be, twice or half of what the model has",
    )
    return parser.parse_args(arguments)


@ending.in_a_sentence("normal.py", bad_input=BAD, not_written=FOUND)
def main(command_line: list[str] | None = None) -> int:
    arguments = parse_arguments(command_line)
    mine = normal.measured(arguments.folder)
    if not mine.readings:
        raise BadInput(f"{arguments.folder} has no parameter of a GPU.")
    folders = [one for one in sources.device_folders(arguments.against) if one.resolve() != arguments.folder.resolve()]
    others, is_same_model = normal.choose(mine, [normal.measured(folder) for folder in folders])
    if arguments.check:
        found = list(normal.implausible(mine, others, is_same_model))
        print("\n".join([*found, f"{arguments.folder}: {len(found)} implausible"]))
        return FOUND if found else 0
    if not others:
        raise BadInput(f"{arguments.against} has no results of another GPU.")
    page = normal.page(mine, others, is_same_model)
    if arguments.out:
        write_whole(arguments.out, page.encode("utf-8"))
    else:
        sys.stdout.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(ending.run("normal.py", main, output_failed=FOUND))
