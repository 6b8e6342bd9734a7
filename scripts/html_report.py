#!/usr/bin/env python3
"""Makes one self-contained HTML page that compares the results of any number of devices.

Exit status: 0 good, 1 a file is bad or the page cannot be written (an older one then stays as it is),
2 bad usage.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hipscope.compiled_code import results as isa
from hipscope.html import experiment_section, page, sources
from hipscope.report import shared
from hipscope.results import door, ending, load, published
from hipscope.results.records import Result
from hipscope.results.whole_file import write_whole

RESULTS = Path(__file__).resolve().parent.parent / "results"


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Make report.html: the curves of all devices in the same plots, the published figures "
        "beside them, tables, inferences and hardware cards. It needs no network and no server."
    )
    parser.add_argument(
        "--out", metavar="FILE", type=Path, help="the page (default: report.html in the first FOLDER, or in results/)"
    )
    parser.add_argument(
        "--others",
        action="store_true",
        help="also every other GPU that has results in results/; a bad one is said and left out",
    )
    parser.add_argument(
        "--published",
        metavar="FILE",
        type=Path,
        default=published.PATH,
        help="the published figures (default: results/published/published.csv)",
    )
    compiled = parser.add_mutually_exclusive_group()
    compiled.add_argument(
        "--isa", metavar="FOLDER", type=Path, help="reports on compiled code (default: results/isa, if it is there)"
    )
    compiled.add_argument("--no-isa", action="store_true", help="leave out what the compiled code shows")
    parser.add_argument(
        "folders",
        metavar="FOLDER",
        type=Path,
        nargs="*",
        help="results of one device (default: all in results/; a CPU's only when there are no others)",
    )
    return parser.parse_args(arguments)


def read_named(folders: list[Path]) -> list[tuple[Path, list[Result]]]:
    """The results of every folder, each once; raises BadInput."""
    unique = {folder.resolve(): folder for folder in reversed(folders)}
    return [(folder, load.load_folder(folder)) for folder in reversed(unique.values())]


def read_others(named: list[Path]) -> list[tuple[Path, list[Result]]]:
    """The other devices' results in results/, GPUs only; says which cannot be read."""
    there = {folder.resolve() for folder in named}
    found = []
    for folder in sources.device_folders(RESULTS):
        try:
            results = load.load_folder(folder) if folder.resolve() not in there else []
        except door.BadInput as error:
            print(f"html_report.py: left out: {error}", file=sys.stderr)
            continue
        if results and not shared.is_host(results):
            found.append((folder, results))
    return found


def read_all() -> list[tuple[Path, list[Result]]]:
    """All devices' results in results/; the CPU's only when there are no others; raises BadInput."""
    folders = read_named(sources.device_folders(RESULTS))
    if not folders:
        raise door.BadInput(f"{RESULTS} holds no results of any device.")
    return [one for one in folders if not shared.is_host(one[1])] or folders


@ending.in_a_sentence("html_report.py", bad_input=1, not_written=1)
def main(command_line: list[str] | None = None) -> int:
    """Reads everything, makes the page, and only then writes it."""
    arguments = parse_arguments(command_line)
    out = arguments.out or (arguments.folders[0] if arguments.folders else RESULTS) / "report.html"
    folders = read_named(arguments.folders) if arguments.folders else read_all()
    if arguments.others:
        folders += read_others([folder for folder, _ in folders])
    figures = published.read(arguments.published)
    isa_folder = arguments.isa or RESULTS / "isa"
    if arguments.isa and not isa_folder.is_dir():
        raise door.BadInput(f"there is no folder {isa_folder}.")
    compiled = {} if arguments.no_isa or not isa_folder.is_dir() else isa.read_folder(isa_folder)
    content = experiment_section.Content(sources.make_sources(folders, figures), figures, compiled)
    write_whole(out, page.make_page(content).encode("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(ending.run("html_report.py", main, output_failed=1))
