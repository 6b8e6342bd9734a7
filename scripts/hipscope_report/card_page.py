"""The hardware card as a page in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from . import formats, markdown, shared
from .card import CACHE_KINDS, CONTINUOUS, GROUPS, OTHER
from .load import Result
from .sweep_table import Markup

Json = dict[str, Any]

TITLES = {
    "timing": "Timing", "execution": "Execution", "memory": "Memory", "lds": "LDS (shared memory)",
    "registers": "Registers", "rates": "Arithmetic: rates and latencies", "energy": "Energy and power",
    "launch": "Launch", "kernels": "Whole kernels", OTHER: "Other",
}
COLUMNS = {
    "capacity": "capacity", "line": "line", "sector": "sector", "latency": "latency",
    "read_bandwidth": "read bandwidth",
}
BINARY_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
MEGAHERTZ_NANOSECONDS = 1000.0
DISAGREES = "**disagrees**"
LEGEND = (
    "The confidence is that of the experiment's inference. \"disagrees\" marks a value more than "
    f"{100 * CONTINUOUS:.0f} % off what the driver says, where things are counted (lanes, CUs, banks, the "
    "bytes of a line) one that is off at all; and experiments that tell different values of one parameter. "
    '"Not found": measured, but the curves do not show it. "Not measured": there is no result of the '
    "experiment, its run left this out, or it says nothing of it. Nanoseconds are at the shader clock of the "
    "experiment's run."
)


class Units:
    """Values in the units that people use, with the clocks of the experiments."""

    def __init__(self, card: Json, markup: Markup = markdown) -> None:
        self.markup = markup
        self.megahertz = {one["name"]: one["shader_mhz"] for one in card["experiments"]}
        self.filtered = {one["name"].partition(".")[0] for one in card["experiments"]
                         if one.get("filter") is not None}

    def human(self, value: float | None, unit: str, experiment: str) -> str:
        """The value with its unit, escaped."""
        if value is not None and unit in ("bytes", "B"):
            for size, name in BINARY_UNITS:
                if abs(value) >= size:
                    return self.markup.with_unit(value / size, name)
        if value is not None and unit == "GB/s" and abs(value) >= 1000:
            return self.markup.with_unit(value / 1000, "TB/s")
        text = self.markup.with_unit(value, unit)
        megahertz = self.megahertz.get(experiment)
        if value is not None and unit == "cycles" and megahertz:
            text += f" ({formats.significant(value * MEGAHERTZ_NANOSECONDS / megahertz)} ns)"
        return text

    def found(self, reading: Json) -> str:
        """What was found, or that it was not."""
        if reading["value"] is None:
            return "not found"
        value = self.human(reading["value"], reading["unit"], reading["experiment"])
        ends = [self.human(end, reading["unit"], reading["experiment"])
                for end in reading.get("interval", [])]
        return f"{value} ({' to '.join(ends)})" if ends else value


def _name(parameter: Json) -> str:
    """The name of a parameter or of a cache level, with its variant."""
    name = markdown.text(parameter["name"])
    return f"{name} ({markdown.text(parameter['variant'])})" if parameter["variant"] else name


def _confidence(reading: Json) -> str:
    text = f"{100 * reading['confidence']:.0f} %"
    return text if reading["verified"] else f"{text}, **a verification FAILED**"


def _reading_row(parameter: Json, reading: Json, units: Units, links: dict[str, str]) -> list[str]:
    found = units.found(reading)
    if parameter["sources_disagree"] and reading["value"] is not None:
        found += f", {DISAGREES} with another experiment"
    driver = parameter["driver"] if reading["driver"] is None else reading["driver"]
    says = units.human(driver, reading["unit"], reading["experiment"])
    if reading["disagrees_with_driver"]:
        says += f", {DISAGREES}"
    return [_name(parameter), found, _confidence(reading), says, links[reading["experiment"]]]


def _missing_row(parameter: Json, missing: Json, units: Units) -> list[str]:
    left_out = missing["experiment"] in units.filtered
    reason = {"no result": "no result",
              "no such inference": "its run left this out" if left_out else "says nothing of it"}[missing["reason"]]
    return [_name(parameter), "not measured", formats.NOT_THERE, formats.number(parameter["driver"]),
            f"{missing['experiment']} ({reason})"]


def _table(parameters: Iterable[Json], units: Units, links: dict[str, str]) -> str:
    rows = []
    for parameter in parameters:
        rows.extend(_reading_row(parameter, reading, units, links) for reading in parameter["readings"])
        rows.extend(_missing_row(parameter, missing, units) for missing in parameter["missing"])
    header = ["parameter", "found", "confidence", "driver says", "experiment"]
    return markdown.text_table(header, rows)


def _level_cell(level: Json, column: str, units: Units) -> str:
    if column not in level:
        return formats.NOT_THERE
    parameter = level[column]
    readings = parameter["readings"]
    cell = " or ".join(dict.fromkeys(units.found(reading) for reading in readings)) or "not measured"
    return f"{cell}, {DISAGREES}" if parameter["disagreement"] else cell


def _levels(card: Json, units: Units) -> str:
    rows = [[_name(level), *(_level_cell(level, column, units) for column in COLUMNS)]
            for level in card["cache_levels"]]
    return markdown.text_table(["level", *COLUMNS.values()], rows)


def level_parameters(card: Json) -> list[Json]:
    """The parameters of all cache levels, row by row."""
    columns = dict.fromkeys(column for kind in CACHE_KINDS.values() for column in kind)
    return [level[column] for level in card["cache_levels"] for column in columns if column in level]


def groups(card: Json) -> list[tuple[str, list[Json]]]:
    """The groups in the order of the page, with their titles."""
    found = [(TITLES[group], card[group]) for group in (*GROUPS, OTHER)]
    found.insert(1, ("Cache levels", level_parameters(card)))
    return [(title, parameters) for title, parameters in found if parameters]


def _clocks(card: Json) -> str:
    clocks = [one["shader_mhz"] for one in card["experiments"] if one["shader_mhz"] is not None]
    if not clocks:
        return "not known"
    ends = dict.fromkeys(f"{clock:.0f}" for clock in (min(clocks), max(clocks)))
    sources = dict.fromkeys(one["clock_source"] for one in card["experiments"])
    return f"{' ... '.join(ends)} MHz ({', '.join(sources)})"


def _overview(card: Json, results: Sequence[Result]) -> str:
    dates = sorted(one["date"][:10] for one in card["experiments"])
    missing = len(card["experiments_without_result"])
    return markdown.text_table(["device", markdown.text(card["device"]["name"])], [
        ["Architecture", markdown.text(card["device"]["architecture"])],
        ["Driver", shared.distinct(results, "device", "driver")],
        ["Runtime", shared.distinct(results, "device", "runtime")],
        ["Shader clock", _clocks(card)],
        ["Measured on", " ... ".join(dict.fromkeys((dates[0], dates[-1])))],
        ["hipscope", shared.distinct(results, "hipscope", "git_revision")],
        ["Experiments", f"{len(card['experiments'])} with a result, {missing} without"],
    ])


def _summary(parameters: list[Json]) -> list[str]:
    counts = [f"{sum(one['status'] == status for one in parameters)} {status}"
              for status in ("found", "not found", "not measured")]
    disagreeing = [_name(one) for one in parameters if one["disagreement"]]
    says = f"disagreements: {', '.join(disagreeing)}" if disagreeing else "no disagreement"
    return [f"{len(parameters)} parameters: {', '.join(counts)}; {says}."]


def _evidence(parameters: list[Json], units: Units) -> str:
    lines = []
    for parameter in parameters:
        for reading in parameter["readings"]:
            lines.append(f"- **{_name(parameter)}: {units.found(reading)}** ({reading['experiment']}): "
                         f"{markdown.text(reading['statement'])}")
            lines.extend(f"  - {markdown.text(item)}" for item in reading["evidence"])
    return "\n".join(lines)


def _experiments(card: Json, links: dict[str, str]) -> str:
    rows = []
    for one in card["experiments"]:
        options = one["preset"]
        if one["filter"] is not None:
            options += f", only sweeps that match {markdown.text(one['filter'])}"
        clock = formats.NOT_THERE if one["shader_mhz"] is None else f"{one['shader_mhz']:.0f} MHz"
        rows.append([links[one["name"]], one["date"], markdown.text(one["git_revision"]), options, clock,
                     one["status"] if one["status"] == "passed" else "**FAILED**"])
    rows.extend([name, "not measured", *[formats.NOT_THERE] * 4]
                for name in card["experiments_without_result"])
    return markdown.text_table(["experiment", "date", "revision", "options", "shader clock", "verification"],
                               rows)


def make_card_page(card: Json, results: Sequence[Result], roofline: Sequence[str] = ()) -> str:
    """The page of a card; `results` are those that it was made of, `roofline` the parts of its section, if any."""
    units = Units(card)
    links = {result.name: shared.link(result) for result in results}
    found = groups(card)
    page = [f"# Hardware card: {markdown.text(card['device']['name']) or 'no name'}",
            _overview(card, results), *_summary([one for _, group in found for one in group]), LEGEND]
    for title, parameters in found:
        page.append(f"## {title}")
        if title == "Cache levels":
            page.append(_levels(card, units))
        page.append(_table(parameters, units, links))
    page.extend(roofline)
    page.extend(["## What the driver reports", shared.device_table(results)])
    page.extend(["## Experiments", _experiments(card, links), "## Evidence"])
    for title, parameters in found:
        lines = _evidence(parameters, units)
        if lines:
            page.extend([f"### {title}", lines])
    page.append("Made by scripts/report.py of the result files beside it; do not edit.")
    return "\n\n".join(page) + "\n"
