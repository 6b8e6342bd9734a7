#!/usr/bin/env python3
"""Holds the map of the sources, docs/sources.md, against the results, and fills in its figures.

A line of the map names the rows that do a variant's work by code: `experiment` `sweep` `row` .... What was
published and what was measured stands in the two columns whose headings are "published" and the device's name
(in both languages the fifth and the sixth), made from the result files; a published figure that stands beside no
row is named by (`experiment` `series` ...) and made from published.csv. The last column says what the rows show:
each of its figures must be one of theirs, or of the variants and rows that it names by code.

Exit status: 0 good, 1 the map and the results do not agree, 2 bad usage.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hipscope.results import ending, load
from hipscope.results import published as others
from hipscope.results.formats import number, significant, time_unit
from hipscope.results.published import Figure

ROOT = Path(__file__).resolve().parent.parent
MAPS = (ROOT / "docs" / "sources.md", ROOT / "docs" / "zh-CN" / "sources.md")
RESULTS = ROOT / "results" / "nvidia-h200"
# The columns of a line of the map, from 0.
VARIANT, ROW, SHOWN, MEASURED, SAYS, COLUMNS = 0, 2, 4, 5, 6, 7

# A figure of a text: no part of a name such as gfx90a or FP64.
FIGURE = re.compile(r"(?<![A-Za-z0-9_.])(\d+(?:\.\d+)?)(?![A-Za-z0-9_]|\.\d)")

Json = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A line of the map, or any other, which has no cells."""

    text: str

    @cached_property
    def cells(self) -> list[str]:
        """A bar within code is none of a cell's own."""
        inner = self.text.strip().removeprefix("|").removesuffix("|")
        found = [cell.strip() for cell in re.split(r"(?<!\\)\|", inner)] if self.text.startswith("|") else []
        return found if len(found) == COLUMNS else []

    def codes(self, column: int) -> list[str]:
        """What a cell has in code style."""
        found = re.findall(r"`([^`]+)`", self.cells[column]) if self.cells else []
        return [name.replace("\\|", "|") for name in found]

    @property
    def rows(self) -> list[str]:
        """Experiment, sweep and rows that it names; empty where it names none."""
        named = self.codes(ROW)
        return named if len(named) >= 3 else []

    @property
    def series(self) -> list[str]:
        """Experiment and series of the published figures that stand beside no row."""
        return self.codes(SHOWN)


def lines_of(text: str) -> list[Line]:
    return [Line(line) for line in text.split("\n")]


def load_results(folder: Path) -> dict[str, Json]:
    """The results of a folder by experiment, in whichever version of the schema they are."""
    return {path.stem: load.document(path) for path in load.result_paths(folder)}


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


def measured(sweep: Json, rows: list[Json]) -> str:
    """What the headline says of the rows, with its unit."""
    headline = sweep["headline"]
    values = [value for row in rows for value in row["values"] if value["name"] == headline]
    if len(values) == len(rows):
        return f"{' ... '.join(number(value['value']) for value in values)} {values[0]['unit']}".strip()
    times = [next(one["median"] for one in row["measurements"] if one["name"] == headline) for row in rows]
    scale, unit = time_unit(times)
    return f"{' ... '.join(significant(time / scale) for time in times)} {unit}"


def shown(rows: list[Json], heading: str, unit: str) -> str:
    """The published figures of the rows, by GPU: those of the heading's, where it names one."""
    texts: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        for figure in row["published"]:
            texts.setdefault((figure["gpu"], figure["unit"]), []).append(figure["value"])
    named = {key: values for key, values in texts.items() if key[0] in heading} or texts
    parts = []
    for (gpu, published_unit), values in named.items():
        part = f"{short(gpu)}: {' ... '.join(map(brief, values))} {published_unit}".strip()
        if (published_unit, unit) == ("GiB/s", "GB/s"):
            part += f" ({' ... '.join(brief(value * 2**30 / 1e9) for value in values)} {unit})"
        parts.append(part)
    return "; ".join(parts) or "-"


def short(gpu: str) -> str:
    """A GPU's name without its family's."""
    return gpu.removeprefix("Radeon ").removeprefix("Instinct ")


def brief(value: float) -> str:
    """A figure with no digit that it does not have, four at the most."""
    return f"{value:.4g}" if abs(value) < 1e4 else number(value)


def of_series(named: list[str], published: list[Figure]) -> list[Figure]:
    """The published figures of an experiment's series. Raises ValueError when a series has none."""
    experiment, *series = named
    for one in series:
        if not any((figure["experiment"], figure["series"]) == (experiment, one) for figure in published):
            raise ValueError(f"published.csv has no series '{one}' of {experiment}")
    return [figure for figure in published if figure["experiment"] == experiment and figure["series"] in series]


def shown_series(named: list[str], published: list[Figure]) -> str:
    """The published figures of series that stand beside no row, and the series."""
    figures = of_series(named, published)
    texts = [f"{figure['metric']} {figure['value']} {figure['unit']}".removesuffix(" index") for figure in figures]
    return f"{short(figures[0]['gpu'])}: {', '.join(texts)} ({' '.join(f'`{name}`' for name in named)})"


def filled(text: str, results: dict[str, Json], published: list[Figure]) -> str:
    """The map with the figures of the results. Raises ValueError when it names what is not there."""
    made, heading = [], ""
    for line in lines_of(text):
        heading = line.text if line.text.startswith("## ") else heading
        cells = list(line.cells)
        if line.rows:
            sweep, rows = find_rows(results, line.rows)
            cells[MEASURED] = measured(sweep, rows)
            cells[SHOWN] = shown(rows, heading, cells[MEASURED].split()[-1])
        if line.series:
            cells[SHOWN] = shown_series(line.series, published)
        made.append(f"| {' | '.join(cells)} |" if line.rows or line.series else line.text)
    return "\n".join(made)


def known_figures(rows: list[Json], headline: str, series: list[Figure]) -> dict[str, list[float]]:
    """By the unit that follows a figure in a text ("" stands for any other): all that rows and figures say."""
    values = [value for row in rows for value in row["values"] if value["value"] is not None]
    times = [one for row in rows for one in row["measurements"]]
    published = [figure for row in rows for figure in row["published"]]
    groups: dict[str, list[float]] = {}  # of which one over another makes sense
    for one in [*values, *times]:
        if one["name"] in (headline, "time"):
            groups.setdefault(one["name"], []).append(one.get("value", one.get("median")))
    for one in published:
        groups.setdefault(f"{one['gpu']} {one['metric']}", []).append(one["value"])
    ratios = [a / b for group in groups.values() for a, b in itertools.permutations(group, 2) if b]
    labels = [float(text) for row in rows for text in re.findall(r"\d+(?:\.\d+)?", row["label"])]
    return {
        "": [float(one["value"]) for one in [*values, *published, *series]] + ratios + labels,
        "%": [one["value"] for one in values if one["unit"] == "%"] + [100 * abs(ratio - 1) for ratio in ratios],
        "us": [1e6 * one["median"] for one in times],
        "ms": [1e3 * one["median"] for one in times],
    }


def wrong_sentences(text: str, results: dict[str, Json], published: list[Figure]) -> list[str]:
    wrong = []
    lines = [line for line in lines_of(text) if line.cells]
    variants = {line.cells[VARIANT]: line.rows for line in lines if line.rows}
    for line in lines:
        named, says = line.codes(SAYS), line.cells[SAYS]
        found = [find_rows(results, group) for group in (line.rows, *map(variants.get, named)) if group]
        rows = [one for _, some in found for one in some]
        rows += [one for sweep, _ in found[:1] for one in sweep["rows"] if one["label"] in named]
        series = of_series(line.series, published) if line.series else []
        known = known_figures(rows, found[0][0]["headline"] if found else "", series)
        for text_found in re.finditer(rf"{FIGURE.pattern} ?(%|us|ms)?", re.sub(r"`[^`]*`", "", says)):
            figure, unit = text_found.groups()
            digits = len(figure.partition(".")[2])
            if not any(f"{value:.{digits}f}" == figure for value in known[unit or ""]):
                wrong.append(f"{line.cells[VARIANT]}: no row has the figure {text_found.group().strip()}: {says}")
    return wrong


def unused(text: str) -> set[tuple[str, str]]:
    """Experiment and series of the published figures beside no row: in a line of the map, or with a reason."""
    found = re.findall(r"^\| `([^`|]+)` \| `([^`|]+)` \| ([^|]+) \|$", text, re.MULTILINE)
    told = {(experiment, series) for experiment, series, reason in found if len(reason.split()) > 2}
    for line in lines_of(text):
        told.update((line.series[0], name) for name in line.series[1:])
    return told


def key(figure: Figure | Json) -> tuple[str, ...]:
    """What tells a published figure wherever it stands."""
    return (figure["gpu"], figure["metric"], str(float(figure["value"])), figure["unit"], figure["note"])


def wrong_figures(text: str, results: dict[str, Json], published: list[Figure]) -> list[str]:
    """Published figures that stand beside two rows, or beside none without a reason in the map."""
    wrong = []
    told = unused(text)
    sweeps = {tuple(line.rows[:2]) for line in lines_of(text)}
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
    try:
        made = filled(text, results, published).split("\n")
    except ValueError as error:
        return [str(error), *wrong_figures(text, results, published)]
    wrong = [
        f"figures are not those of the results (run with --update): {line}"
        for line, right in zip(text.split("\n"), made, strict=True)
        if line != right
    ]
    return wrong + wrong_sentences(text, results, published) + wrong_figures(text, results, published)


def main(command_line: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--update", action="store_true", help="write the figures of the results into the map")
    arguments = parser.parse_args(command_line)
    results, published = load_results(RESULTS), others.read()
    status = 0
    for path in MAPS:
        text = path.read_text(encoding="utf-8")
        try:
            if arguments.update:
                text = filled(text, results, published)
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
