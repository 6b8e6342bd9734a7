#!/usr/bin/env python3
"""Makes README.md, a page per experiment, plots/*.svg and the hardware card from the result files of a folder.

Exit status: 0 good, 1 a result file is bad (and then nothing is written), 2 bad usage.
"""

from __future__ import annotations

import argparse
import re
import sys
from functools import partial
from pathlib import Path

from hipscope.results import door, ending, formats, interpreter, load
from hipscope.results.whole_file import write_together


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Make README.md, a page per experiment (<experiment>.md), plots/*.svg and the hardware "
        "card (card.md and card.json) from the result files of a folder; older pages and plots in it are "
        "removed, and <experiment>.txt, whose tables the page has. Nothing is inferred of a CPU, so of its "
        "results there is no card, and an older one is removed."
    )
    parser.add_argument("--check", action="store_true", help="only check result files and cards (or folders of them)")
    parser.add_argument(
        "--plots-of",
        metavar="FOLDER",
        type=Path,
        help="draw only the plots of RESULTS_DIR that the Markdown files below this folder show, and the first of each "
        "experiment",
    )
    parser.add_argument(
        "--without-pages",
        action="store_true",
        help="no page per experiment and no plot but those of --plots-of: README.md and the card link to the result "
        "files",
    )
    parser.add_argument("paths", metavar="RESULTS_DIR", type=Path, nargs="+")
    return parser.parse_args(arguments)


def check(paths: list[Path]) -> int:
    """Checks every file against its schema and says how many are good."""
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    return load.count_valid("report.py", [partial(load.check_file, file) for file in files])


def shown_in(folder: Path, results: Path) -> frozenset[str]:
    """The names of the plots in a folder of results that the Markdown files below another folder show."""
    texts = [door.read_text(path) for path in folder.rglob("*.md")]
    plots = rf"/{re.escape(results.resolve().name)}/plots/([\w.-]+\.svg)"
    return frozenset(name for text in texts for name in re.findall(plots, text))


@ending.in_a_sentence("report.py", bad_input=1, not_written=1)
def main(command_line: list[str] | None = None) -> int:
    """Reads all folders, makes all pages, and only then writes any."""
    arguments = parse_arguments(command_line)
    if arguments.check:
        return check(arguments.paths)
    if not interpreter.is_complete("matplotlib"):
        return 1
    from hipscope.report import page

    folders, plots_of, has_pages = arguments.paths, arguments.plots_of, not arguments.without_pages
    all_plots = None if has_pages else frozenset[str]()
    shown = [shown_in(plots_of, folder) if plots_of else all_plots for folder in folders]
    pages = [(folder, page.make_page(load.load_folder(folder), of, has_pages)) for folder, of in zip(folders, shown)]
    for folder, _ in pages:
        (folder / "plots").mkdir(exist_ok=True)
    write_together({path: file for folder, made in pages for path, file in page.files_of(folder, made).items()})
    for folder, made in pages:
        if not made.card:
            print(f"report.py: no hardware card in {formats.plain(str(folder))}: nothing is inferred of a CPU.")
    return 0


if __name__ == "__main__":
    sys.exit(ending.run("report.py", main, output_failed=1))
