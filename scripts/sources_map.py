#!/usr/bin/env python3
"""Holds the map of the sources, docs/sources.md, against the results, and fills in its figures.

A line of the map names the row that does a variant's work by code: `experiment` `sweep` `row`, and for a
curve its last `row` too. What was published and what was measured stands in the two columns whose headings
are "published" and the device's name (in both languages the fifth and the sixth), made from the result files.

Exit status: 0 good, 1 the map and the results do not agree, 2 bad usage.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from hipscope.results import ending, load
from hipscope.results.formats import number, significant, time_unit

ROOT = Path(__file__).resolve().parent.parent
MAPS = (ROOT / "docs" / "sources.md", ROOT / "docs" / "zh-CN" / "sources.md")
RESULTS = ROOT / "results" / "nvidia-h200"
PUBLISHED = ROOT / "results" / "published" / "published.csv"
# The columns of a line of the map, from 0.
ROW, SHOWN, MEASURED, COLUMNS = 2, 4, 5, 7

Json = dict[str, Any]
Figure = dict[str, str]


def cells(line: str) -> list[str]:
    """The cells of a table's row; a bar within code is none of its own."""
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", inner)]


def references(line: str) -> list[str]:
    """Experiment, sweep and rows that a line of the map names; empty where it is none or names none."""
    row = cells(line) if line.startswith("|") else []
    named = re.findall(r"`([^`]+)`", row[ROW]) if len(row) == COLUMNS else []
    return [name.replace("\\|", "|") for name in named] if 3 <= len(named) <= 4 else []


def load_results(folder: Path) -> dict[str, Json]:
    """The results of a folder by experiment, in whichever version of the schema they are."""
    return {result.name: result.data for result in load.load_folder(folder)}


def find_rows(results: dict[str, Json], named: list[str]) -> tuple[Json, list[Json]]:
    """The sweep and the rows that a line names. Raises ValueError with a sentence when one is not there."""
    experiment, sweep_name, *labels = named
    if experiment not in results:
        raise ValueError(f"there is no result of {experiment}")
    sweep = next((one for one in results[experiment]["sweeps"] if one["name"] == sweep_name), None)
    if sweep is None:
        raise ValueError(f"{experiment} has no sweep '{sweep_name}'")
    by_label = {row["label"]: row for row in reversed(sweep["rows"])}
    for label in labels:
        if label not in by_label:
            raise ValueError(f"{experiment}, sweep {sweep_name}, has no row '{label}'")
    return sweep, [by_label[label] for label in labels]


def span(texts: list[str]) -> str:
    """One figure, or the first and the last of a curve."""
    return " ... ".join(texts)


def measured(sweep: Json, rows: list[Json]) -> str:
    """What the headline says of the rows, with its unit."""
    headline = sweep["headline"]
    values = [value for row in rows for value in row["values"] if value["name"] == headline]
    if len(values) == len(rows):
        return f"{span([number(value['value']) for value in values])} {values[0]['unit']}".strip()
    times = [next(one["median"] for one in row["measurements"] if one["name"] == headline) for row in rows]
    scale, unit = time_unit(times)
    return f"{span([significant(time / scale) for time in times])} {unit}"


def shown(rows: list[Json]) -> str:
    """The published figures of the rows, by GPU."""
    texts: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for figure in row["published"]:
            texts.setdefault((figure["gpu"], figure["unit"]), []).append(number(figure["value"]))
    return (
        "; ".join(
            f"{gpu.removeprefix('Radeon Instinct ').removeprefix('Instinct ')}: {span(values)} {unit}".strip()
            for (gpu, unit), values in texts.items()
        )
        or "-"
    )


def filled(text: str, results: dict[str, Json]) -> str:
    """The map with the figures of the results. Raises ValueError when it names what is not there."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        named = references(line)
        if named:
            sweep, rows = find_rows(results, named)
            row = cells(line)
            row[SHOWN], row[MEASURED] = shown(rows), measured(sweep, rows)
            lines[i] = "| " + " | ".join(row) + " |"
    return "\n".join(lines)


def unused(text: str) -> set[tuple[str, str]]:
    """Experiment and series of the published figures that the map says stand beside no row, with a reason."""
    found = re.findall(r"^\| `([^`|]+)` \| `([^`|]+)` \| ([^|]+) \|$", text, re.MULTILINE)
    return {(experiment, series) for experiment, series, reason in found if len(reason.split()) > 2}


def key(figure: Figure | Json) -> tuple[str, ...]:
    """What tells a published figure wherever it stands."""
    return (figure["gpu"], figure["metric"], str(float(figure["value"])), figure["unit"], figure["note"])


def wrong_figures(text: str, results: dict[str, Json], published: list[Figure]) -> list[str]:
    """Published figures that stand beside two rows, or beside none without a reason in the map."""
    wrong = []
    told = unused(text)
    sweeps = {tuple(references(line)[:2]) for line in text.split("\n") if references(line)}
    for experiment in sorted({figure["experiment"] for figure in published}):
        ours = [figure for figure in published if figure["experiment"] == experiment]
        beside: Counter[tuple[str, ...]] = Counter()
        for sweep in results.get(experiment, {"sweeps": []})["sweeps"]:
            figures = [key(figure) for row in sweep["rows"] for figure in row["published"]]
            beside.update(figures)
            if figures and (experiment, sweep["name"]) not in sweeps:
                wrong.append(
                    f"{experiment}, sweep {sweep['name']}, has published figures, and the map does not name it"
                )
        known = Counter(key(figure) for figure in ours)
        wrong += [
            f"{experiment}: a published figure stands beside {count} rows: {figure[0]}, {figure[1]} {figure[2]}"
            for figure, count in beside.items()
            if count > known[figure]
        ]
        for series in sorted({figure["series"] for figure in ours}):
            used = any(beside[key(figure)] for figure in ours if figure["series"] == series)
            if used == ((experiment, series) in told):
                wrong.append(
                    f"{experiment}, published series '{series}': "
                    + ("used, and listed as unused" if used else "beside no row, and the map gives no reason")
                )
    return wrong


def problems(text: str, results: dict[str, Json], published: list[Figure]) -> list[str]:
    """All that is wrong with a map."""
    wrong = []
    for line in text.split("\n"):
        named = references(line)
        if not named:
            continue
        try:
            if filled(line, results) != line:
                wrong.append(f"figures are not those of the results (run with --update): {line}")
        except ValueError as error:
            wrong.append(f"{error}: {line}")
    return wrong + wrong_figures(text, results, published)


def load_published(path: Path) -> list[Figure]:
    """The rows of published.csv."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main(command_line: list[str] | None = None) -> int:
    """Checks the maps, or fills them in."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--update", action="store_true", help="write the figures of the results into the map")
    arguments = parser.parse_args(command_line)
    results, published = load_results(RESULTS), load_published(PUBLISHED)
    status = 0
    for path in MAPS:
        text = path.read_text(encoding="utf-8")
        try:
            if arguments.update:
                text = filled(text, results)
                path.write_text(text, encoding="utf-8")
        except ValueError as error:
            print(f"sources_map.py: {path.name}: {error}.", file=sys.stderr)
            return 1
        for problem in problems(text, results, published):
            print(f"{path.relative_to(ROOT)}: {problem}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(ending.run("sources_map.py", main, output_failed=1))
