#!/usr/bin/env python3
"""Holds the tables of docs/ to the results that they are of, cell by cell, and fills in what is another figure.

Usage: doc_tables.py [--check] [FOLDER]

FOLDER is docs/ where not told. A comment above a table names its source, a file of results/, and of each column that is
measured (or row, with `row`) by its number where its figures are:

    <!-- results: nvidia-h200/reduction
    1: stages / time * 1e6
    2: stages / time @ read : stages / time -->

`sweep / value @ label` is a value, or the median of a measurement in seconds, of the row with that label. What the
experiment concludes is the sweep `findings`, with `value`, `least`, `most`, `confidence`, `driver`, and `figure 1`, the
first of its evidence. `{}` is the key of the cell: what the table's first column (or head) has, or what `keys:` above
has instead, one for each cell; at `-` nothing is looked up. Where no label is given it is the key, and what follows its
last comma, colon or bracket is left out where there is no such row. ` : ` divides and ` - ` subtracts; a cell of
several figures has several places, separated by `;`. `from:` changes the source, and where a cell says H100 it is that
GPU's. A cell has to be what is there, rounded to the digits that are printed, in the translation too.

Exit status: 0 good, 1: the results have no such place, or with --check a table says something else, 2 bad usage.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from hipscope.results import load

ROOT = Path(__file__).resolve().parent.parent
COMMENT = re.compile(r"^<!-- results: (.*?) -->\n", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^(?:\|.*\n)+", re.MULTILINE)
BAR = re.compile(r"(?<!\\)\|")
FIGURE = re.compile(r"(?<![A-Za-z0-9_.])-?\d+(?:\.(\d+))?(?:e([+-]?\d+))?")
# Results have six digits.
PRECISION = 1e-5


@dataclass(frozen=True)
class Change:
    """A figure that is another one than at its place: where in the table, and what it is and should be."""

    line: int
    column: int
    number: int  # in the cell
    printed: str
    found: str
    place: str


@functools.cache
def sweeps_of(source: str) -> dict[str, dict[str, dict[str, float]]]:
    """The values of a result file by sweep, label and name."""
    told = load.document(ROOT / "results" / f"{source}.json")
    found = {
        sweep["name"]: {
            row["label"]: {one["name"]: one["median"] for one in row["measurements"]}
            | {one["name"]: one["value"] for one in row["values"]}
            for row in sweep["rows"]
        }
        for sweep in told["sweeps"]
    }
    found["findings"] = {
        one["name"]: one
        | dict(zip(("least", "most"), one.get("interval") or ()))
        | {f"figure {n}": float(figure[0]) for n, figure in enumerate(FIGURE.finditer(" ".join(one["evidence"])), 1)}
        for one in told["inferences"]
    }
    return found


def found_at(source: str, place: str, key: str) -> float:
    """The figure at a place, for a key; raises KeyError."""
    operation = re.search(" [:-] ", place)
    if operation:
        first, second = (found_at(source, one, key) for one in re.split(" [:-] ", place))
        return first / second if operation[0] == " : " else first - second
    place, _, factor = place.partition(" * ")
    name, _, label = place.partition(" @ ")
    sweep, value = name.replace("{}", key).split(" / ")
    rows, label = sweeps_of(source)[sweep], (label or "{}").replace("{}", key)
    while label not in rows and re.search("[:(,]", label):
        label = re.sub(r"\s*[:(,][^:(,]*$", "", label)
    return rows[label][value] * float(Fraction(factor or 1))


def is_rounded(figure: re.Match[str], value: float) -> bool:
    """Whether a value is printed so with as many digits."""
    half = 0.5 * 10.0 ** (int(figure[2] or 0) - len(figure[1] or ""))
    return abs(float(figure[0]) - value) <= half + PRECISION * abs(value)


def cells_of(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in BAR.split(line)[1:-1]]


def changes(told: str, table: str) -> Iterator[Change]:
    """What the cells of a table say that is not at the places that are told; raises KeyError and ValueError."""
    head, _, *rows = [cells_of(line) for line in table.splitlines()]
    source, *lines = told.split("\n")
    keys: list[str] = []
    for what, places in (line.split(": ", 1) for line in lines):
        if what == "keys":
            keys = places.split(" | ")
        elif what == "from":
            source = places
        else:
            is_row, number = what.startswith("row "), int(what.removeprefix("row "))
            cells = rows[number - 1][1:] if is_row else [row[number] for row in rows]
            named = head[1:] if is_row else [row[0] for row in rows]
            for n, (key, cell) in enumerate(zip(keys or [name.replace("`", "") for name in named], cells, strict=True)):
                of = source.replace("h200", "h100") if "H100" in cell else source
                figures = zip(places.split(" ; "), FIGURE.finditer(cell)) if key != "-" else ()
                for count, (place, figure) in enumerate(figures):
                    value = found_at(of, place, key)
                    if not is_rounded(figure, value):
                        new = f"{value:.{len(figure[1] or '')}{'e' if figure[2] else 'f'}}"
                        new = re.sub("e([+-])0*", lambda sign: "e" + sign[1].replace("+", ""), new)
                        line, column = (number + 1, n + 1) if is_row else (n + 2, number)
                        yield Change(line, column, count, figure[0], new, f"{key}: {place}")


def mended(text: str, table: int, change: Change) -> str:
    """A document with a figure of one of its tables changed."""
    span = list(TABLE.finditer(text))[table]
    lines = span[0].split("\n")
    cells = re.split(r"(?<!\\)(\|)", lines[change.line])
    cell = 2 * (change.column + 1)
    figure = list(FIGURE.finditer(cells[cell]))[change.number]
    cells[cell] = cells[cell][: figure.start()] + change.found + cells[cell][figure.end() :]
    lines[change.line] = "".join(cells)
    return text[: span.start()] + "\n".join(lines) + text[span.end() :]


def check(document: Path, writes: bool) -> int:
    """Of a document and its translation the figures that are others, which are told; writes them if asked to."""
    texts = {path: path.read_text(encoding="utf-8") for path in (document, document.parent / "zh-CN" / document.name)}
    tables = list(TABLE.finditer(texts[document]))
    starts = [table.start() for table in tables]
    wrong = 0
    for comment in COMMENT.finditer(texts[document]):
        table = starts.index(comment.end())
        try:
            found = list(changes(comment[1], tables[table][0]))
        except KeyError as error:
            line = texts[document].count("\n", 0, comment.start()) + 1
            sys.exit(f"{document}:{line}: the results have no {error.args[0]!r}.")
        for change in found:
            print(f"{document.name}: {change.printed} is {change.found}, {change.place}", file=sys.stderr)
            texts = {path: mended(text, table, change) for path, text in texts.items()} if writes else texts
            wrong += 1
    for path, text in texts.items() if writes and wrong else ():
        path.write_text(text, encoding="utf-8")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", default=ROOT / "docs")
    arguments = parser.parse_args()
    wrong = sum(check(document, not arguments.check) for document in sorted(arguments.folder.glob("*.md")))
    return 1 if wrong and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
