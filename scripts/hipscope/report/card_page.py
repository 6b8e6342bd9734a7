"""The hardware card as a page in Markdown."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from hipscope.results import formats, markdown
from hipscope.results.records import Result

from . import shared
from .card import CONTINUOUS
from .sweep_table import Markup

Json = dict[str, Any]

TITLES = {
    "compute": "Compute",
    "matrix": "Matrix units",
    "caches": "Caches",
    "lds": "LDS (shared memory)",
    "memory": "Memory",
    "tlb": "TLB",
    "launch": "Launches and waits",
    "copies": "Copies",
    "energy": "Energy",
}
BINARY_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
MEGAHERTZ_NANOSECONDS = 1000.0
DISAGREES = "**disagrees**"
LEGEND = (
    "What people choose a GPU or a tile by; what else the experiments conclude, with the evidence of all, stands on "
    'their pages. The confidence is that of the experiment\'s inference. "disagrees" marks a value more than '
    f"{100 * CONTINUOUS:.0f} % off what the driver says, which its interval does not hold, where things "
    "are counted (lanes, CUs, banks, the bytes of a line) one that is off at all; and experiments that tell "
    "different values of one parameter. "
    '"Not found": measured, but the curves do not show it. "Not measured": there is no result of the '
    "experiment, its run left this out, or it says nothing of it. Nanoseconds are at the shader clock of the "
    "experiment's run."
)


class Units:
    """Values in the units that people use, with the clocks of the experiments."""

    def __init__(self, megahertz: Mapping[str, float | None], markup: Markup = markdown) -> None:
        self.markup, self.megahertz = markup, megahertz

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

    def found(self, value: float | None, unit: str, interval: Sequence[float] | None, experiment: str) -> str:
        if value is None:
            return "not found"
        said = self.human(value, unit, experiment)
        ends = [self.human(end, unit, experiment) for end in interval or ()]
        return f"{said} ({' to '.join(ends)})" if ends else said


def units_of(card: Json, markup: Markup = markdown) -> Units:
    return Units({one["name"]: one["shader_mhz"] for one in card["experiments"]}, markup)


def found(reading: Json, units: Units) -> str:
    return units.found(reading["value"], reading["unit"], reading.get("interval"), reading["experiment"])


def _name(parameter: Json) -> str:
    """The name of a parameter, with its variant."""
    name = markdown.text(parameter["name"])
    return f"{name} ({markdown.text(parameter['variant'])})" if parameter["variant"] else name


def _reading_row(parameter: Json, reading: Json, units: Units, links: dict[str, str]) -> list[str]:
    value = found(reading, units)
    if parameter["sources_disagree"] and reading["value"] is not None:
        value += f", {DISAGREES} with another experiment"
    driver = parameter["driver"] if reading["driver"] is None else reading["driver"]
    says = units.human(driver, reading["unit"], reading["experiment"])
    if reading["disagrees_with_driver"]:
        says += f", {DISAGREES}"
    sure = f"{100 * reading['confidence']:.0f} %" + ("" if reading["verified"] else ", **a verification FAILED**")
    return [_name(parameter), value, sure, says, links[reading["experiment"]]]


def _missing_row(parameter: Json, missing: Json, filtered: Container[str]) -> list[str]:
    left_out = missing["experiment"] in filtered
    reason = {
        "no result": "no result",
        "no such inference": "its run left this out" if left_out else "says nothing of it",
    }[missing["reason"]]
    return [
        _name(parameter),
        "not measured",
        formats.NOT_THERE,
        formats.number(parameter["driver"]),
        f"{missing['experiment']} ({reason})",
    ]


def _table(parameters: Iterable[Json], units: Units, links: dict[str, str], filtered: Container[str]) -> str:
    rows: list[Any] = []
    for parameter in parameters:
        rows.extend(_reading_row(parameter, reading, units, links) for reading in parameter["readings"])
        rows.extend(_missing_row(parameter, missing, filtered) for missing in parameter["missing"])
    header = ["parameter", "found", "confidence", "driver says", "experiment"]
    return markdown.text_table(header, rows)


def groups(card: Json) -> list[tuple[str, list[Json]]]:
    """The groups in the order of the page, with their titles."""
    return [(title, card[group]) for group, title in TITLES.items()]


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
    return markdown.text_table(
        ["device", markdown.text(card["device"]["name"])],
        [
            ["Architecture", markdown.text(card["device"]["architecture"])],
            ["Driver", shared.distinct(one.device.driver for one in results)],
            ["Runtime", shared.distinct(one.device.runtime for one in results)],
            ["Shader clock", _clocks(card)],
            ["Measured on", " ... ".join(dict.fromkeys((dates[0], dates[-1])))],
            ["hipscope", shared.distinct(one.revision for one in results)],
            ["Experiments", f"{len(card['experiments'])} with a result, {missing} without"],
        ],
    )


def _summary(parameters: list[Json]) -> list[str]:
    counts = [
        f"{sum(one['status'] == status for one in parameters)} {status}"
        for status in ("found", "not found", "not measured")
    ]
    disagreeing = [_name(one) for one in parameters if one["disagreement"]]
    says = f"disagreements: {', '.join(disagreeing)}" if disagreeing else "no disagreement"
    return [f"{len(parameters)} parameters: {', '.join(counts)}; {says}."]


def make_card_page(card: Json, results: Sequence[Result], roofline: Sequence[str] = (), has_pages: bool = True) -> str:
    """The page of a card; `results` are those that it was made of, `roofline` the parts of its section, if any.

    `has_pages`: each result has a page, to which this one links.
    """
    units = units_of(card)
    filtered = {result.experiment for result in results if result.options.filter is not None}
    links = {result.name: shared.link(result, has_pages) for result in results}
    titled = groups(card)
    page = [
        f"# Hardware card: {markdown.text(card['device']['name']) or 'no name'}",
        _overview(card, results),
        *_summary([one for _, group in titled for one in group]),
        LEGEND,
    ]
    for title, parameters in titled:
        page.extend([f"## {title}", _table(parameters, units, links, filtered)])
    page.extend(roofline)
    page.append("Made by scripts/report.py of the result files beside it; do not edit.")
    return "\n\n".join(page) + "\n"
