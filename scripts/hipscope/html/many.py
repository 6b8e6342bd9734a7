"""What the page has of many devices, of which nobody can tell all by colour, or read a column each.

Devices of one model are a group with one colour and one switch. Tables have a group's median, least and most
in place of a column per device, and each figure has a line per device.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hipscope.report import shared
from hipscope.results import formats
from hipscope.results.records import Result

from . import charts, html_text
from .experiment_section import Content, figure_head, head, sweeps_of
from .lines import Line, Plot, Point, make_plots
from .sources import Source, side_by_side

Json = dict[str, Any]

NOTE = (
    "<p class=note>A line per device, in its model's colour; the median of a model is thick. Point at a line, "
    "or choose a device above.</p>"
)


@dataclass(frozen=True)
class Group(Source):
    """Devices of one model, ordered as people count; `results` are those of all."""

    model: str = ""
    devices: tuple[Source, ...] = ()

    @property
    def mark(self) -> str:
        return f"g{self.number}"


def _place(device: Source) -> list[Any]:
    told = device.results[0].device
    return [
        formats.by_number(told.host or ""),
        formats.by_number(told.pci_address or ""),
        formats.by_number(device.name),
    ]


def groups_of(devices: Sequence[Source]) -> list[Group]:
    """The devices by model, the models by name."""
    found: dict[tuple[str, bool], list[Source]] = {}
    for device in devices:
        name = device.results[0].device.name or device.name
        found.setdefault((name, device.is_cpu), []).append(device)
    ordered = sorted(found.items(), key=lambda one: (one[0][1], formats.by_number(one[0][0])))
    groups = []
    for number, ((model, _), members) in enumerate(ordered):
        results = tuple(result for device in members for result in device.results)
        groups.append(Group(number, f"{len(members)} x {model}", results, model, tuple(sorted(members, key=_place))))
    return groups


def _by_model(plot: Plot, groups: Sequence[Group]) -> Plot:
    """The plot with a line per device in its group's colour, and the median of each group."""
    # A library beside a kernel is not another device's: its curve would be one more of each.
    lines = [line for line in plot.lines if not line.companion]
    drawn = []
    for group in groups:
        of_device = {line.source.number: line for line in lines}
        members = [of_device[device.number] for device in group.devices if device.number in of_device]
        drawn += [replace(line, source=group, of_many="each") for line in members]
        values: dict[tuple[str, int, float], list[float]] = {}
        for point in (point for line in members for point in line.points):
            values.setdefault((point.label, point.row, point.x), []).append(point.y)
        middle = [Point(x, statistics.median(ys), label, row) for (label, row, x), ys in values.items()]
        if middle:
            drawn.append(Line(group, f"{group.model}, median", middle, of_many="middle"))
    return Plot(plot.sweep, plot.unit, plot.is_bars, [*drawn, *(line for line in lines if line.source.is_published)])


def _table(figure: Json, groups: Sequence[Group], over: str) -> str:
    """A row per point: of each group its median, least and most, with the devices that have these."""
    header, classes, columns = [html_text.text(over)], [""], []
    for group in groups:
        lines = [line for line in figure["lines"] if line[:2] == [group.mark, "each"]]
        if not lines:
            continue
        header += [f"{html_text.text(group.model)}: median", "least", "of", "most", "of"]
        classes += [group.mark] * 5
        columns.append(lines)
    published = [line for line in figure["lines"] if line[1] == "published"]
    rows = []
    for number, label in enumerate(figure["rows"]):
        cells = [html_text.text(label)]
        for lines in columns:
            there = [(line[3][number], line[2]) for line in lines if line[3][number] is not None]
            if there:
                least, most = min(there, key=lambda one: one[0]), max(there, key=lambda one: one[0])
                cells += [
                    formats.number(statistics.median(value for value, _ in there)),
                    *(cell for value, name in (least, most) for cell in (formats.number(value), html_text.text(name))),
                ]
            else:
                cells += [formats.NOT_THERE, "", "", "", ""]
        cells += [formats.number(line[3][number]) for line in published]
        rows.append(cells)
    header += [html_text.text(line[2]) for line in published]
    table = html_text.table(header, rows, classes=[*classes, *(line[0] for line in published)])
    return html_text.details(f"Table <small>{len(rows)} rows</small>", table)


def _middle(values: Sequence[float], unit: str) -> str:
    """The median of a group, with the least and the most where they differ."""
    said = html_text.with_unit(statistics.median(values), unit)
    if min(values) == max(values):
        return said
    return f"{said} <small>{formats.number(min(values))} ... {formats.number(max(values))}</small>"


def _inferences(groups: Sequence[Group], results: dict[int, Result]) -> str:
    """What the curves say, group by group."""
    found: dict[tuple[str, str], dict[int, list[float | None]]] = {}
    for group in groups:
        for device in group.devices:
            for one in results[device.number].inferences if device.number in results else ():
                found.setdefault((one.name, one.unit), {}).setdefault(group.number, []).append(one.value)
    if not found:
        return ""
    rows = []
    for (name, unit), by_group in found.items():
        cells = []
        for group in groups:
            values = by_group.get(group.number, [])
            known = [value for value in values if value is not None]
            missing = f" <small>not found on {len(values) - len(known)}</small>" if len(known) < len(values) else ""
            cells.append((_middle(known, unit) if known else "") + missing or formats.NOT_THERE)
        rows.append([html_text.text(name), *cells])
    return f"<h4>What the curves show</h4>\n{side_by_side('inferred', groups, rows)}"


def _verification(results: Sequence[tuple[Source, Result]]) -> str:
    """On how many devices all was right, and on which it was not."""
    failed = [(source, result) for source, result in results if not shared.verified(result)]
    if not failed:
        return f"<p>Verification passed on all {len(results)} devices that ran it.</p>"
    items = ""
    for source, result in failed:
        failures = result.verification.failures
        said = html_text.strong(f"FAILED ({len(failures)} checks)")
        items += f"<li>{html_text.text(source.label)}: {said}{html_text.bullets(failures)}"
    return (
        f"<p>{html_text.strong(f'Verification FAILED on {len(failed)} of {len(results)} devices')}: do not trust "
        f"their figures.</p><ul>{items}</ul>"
    )


def section(content: Content, groups: Sequence[Group], name: str) -> str:
    """An experiment: what is said of all devices, and for each sweep the place where it is drawn."""
    results = [
        (device, result) for group in groups for device in group.devices if (result := device.result(name)) is not None
    ]
    data: list[Json] = []
    figures = []
    for measured in sweeps_of(results):
        plots = make_plots(measured, content.published)
        places = ""
        for plot in plots:
            drawn = _by_model(plot, groups)
            figure = charts.figure(drawn)
            over = "row" if plot.is_bars else plot.sweep.axis.name
            places += charts.place(drawn, name, len(data), figure) + _table(figure, groups, over)
            data.append(figure)
        figures.append(f"{figure_head(measured, plots)}{places}</figure>")
    parts = [
        *head(name, results),
        _verification(results),
        _inferences(groups, {source.number: result for source, result in results}),
        f"<div class=figures>{''.join(figures)}</div>",
        charts.data(name, data),
        "</section>",
    ]
    return "\n".join(parts)


def devices_table(groups: Sequence[Group]) -> str:
    """A row per device."""
    rows, marks = [], []
    for group in groups:
        for device in group.devices:
            told = device.results[0].device
            bad = [result.name for result in device.results if not shared.verified(result)]
            dates = sorted(result.date[:10] for result in device.results)
            facts = [one or formats.NOT_THERE for one in (told.host, told.pci_address, told.uuid)]
            verified = html_text.strong(f"FAILED: {html_text.text(', '.join(bad))}") if bad else "passed"
            revisions = ", ".join(dict.fromkeys(one.revision for one in device.results))
            cells = [*facts, told.driver, revisions, " ... ".join(dict.fromkeys((dates[0], dates[-1])))]
            label = f"<span class=dot></span>{html_text.text(device.label)}"
            rows.append([label, *map(html_text.text, cells), verified])
            marks.append(group.mark)
    header = ["device", "host", "PCI address", "UUID", "driver", "hipscope", "measured on", "verification"]
    return html_text.table(header, rows, "words", (), marks)


def finder(groups: Sequence[Group]) -> str:
    """The list of devices from which one is marked in all figures; charts.js knows its lines by the option's value."""
    options = [
        f'<option value="{html_text.text(f"{group.mark} {device.label}")}">{html_text.text(device.label)}</option>'
        for group in groups
        for device in group.devices
    ]
    return (
        "<label class=find>Device <select id=chosen><option value=''>none marked</option>"
        f"{''.join(options)}</select></label>"
    )
