"""The page of many devices: the values once, as JSON, of which the page's own script draws what is in view.

Devices of one model are a group with one colour and one switch. Tables have a group's median, least and most
in place of a column per device, and each figure has a line per device.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hipscope.report import shared
from hipscope.results import formats
from hipscope.results.records import Result

from . import charts, frame, html_text
from .chapters import in_chapters
from .experiment_section import Content, figure_head, head, sweeps_of
from .lines import Line, Plot, Point, make_plots
from .sources import Source

Json = dict[str, Any]

# The devices that the other page's palette has colours for; nobody can tell more of them apart.
MOST_DEVICES = 8


@dataclass(frozen=True)
class Group:
    """Devices of one model, ordered as people count."""

    number: int
    name: str
    devices: tuple[Source, ...]

    @property
    def mark(self) -> str:
        """The class of everything that goes with its switch."""
        return f"g{self.number}"

    @property
    def label(self) -> str:
        """The model, and how many there are of it."""
        kind = " (CPU, checked only)" if self.devices[0].is_cpu else ""
        return f"{len(self.devices)} x {self.name}{kind}"


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
    return [
        Group(number, name, tuple(sorted(members, key=_place))) for number, ((name, _), members) in enumerate(ordered)
    ]


def _drawing(plot: Plot, groups: Sequence[Group]) -> Json:
    """A figure: a line per device, and the median of each group."""
    # A library beside a kernel is not another device's: its curve would be one more of each.
    lines = [line for line in plot.lines if not line.companion]
    theirs = [(line.source.mark, "published", line) for line in lines if line.source.is_published]
    drawn = []
    for group in groups:
        order = [device.number for device in group.devices]
        members = sorted(
            (line for line in lines if line.source.number in order), key=lambda line: order.index(line.source.number)
        )
        drawn += [(group.mark, "each", line) for line in members]
        values: dict[tuple[str, int, float], list[float]] = {}
        for line in members:
            for point in line.points:
                values.setdefault((point.label, point.row, point.x), []).append(point.y)
        middle = [Point(x, statistics.median(ys), label, row) for (label, row, x), ys in values.items()]
        if middle:
            drawn.append((group.mark, "middle", Line(members[0].source, f"{group.name}, median", middle)))
    return charts.figure(plot, [*drawn, *theirs])


def _table(figure: Json, groups: Sequence[Group], over: str) -> str:
    """A row per point: of each group its median, least and most, with the devices that have these."""
    header, classes, columns = [html_text.text(over)], [""], []
    for group in groups:
        lines = [line for line in figure["lines"] if line[:2] == [group.mark, "each"]]
        if not lines:
            continue
        header += [f"{html_text.text(group.name)}: median", "least", "of", "most", "of"]
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
    header = ["inferred", *(html_text.text(group.label) for group in groups)]
    return "<h4>What the curves show</h4>\n" + html_text.table(
        header, rows, "words", ["", *(group.mark for group in groups)]
    )


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


def _section(content: Content, groups: Sequence[Group], name: str) -> str:
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
            drawn = _drawing(plot, groups)
            places += charts.place(plot, name, len(data), drawn) + _table(
                drawn, groups, "row" if plot.is_bars else plot.sweep.axis.name
            )
            data.append(drawn)
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


def _devices(groups: Sequence[Group]) -> str:
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


def _switches(content: Content, groups: Sequence[Group]) -> str:
    find = (
        "<label class=find>Device <select id=chosen><option value=''>none marked</option>"
        + "".join(
            f'<option value="{html_text.text(f"{group.mark} {device.label}")}">{html_text.text(device.label)}</option>'
            for group in groups
            for device in group.devices
        )
        + "</select></label>"
    )
    return frame.switches(
        ("Models", [frame.switch(group.mark, html_text.text(group.label)) for group in groups]),
        (
            "Published",
            [frame.switch(one.mark, html_text.text(one.name), " hollow") for one in content.published.values()],
        ),
        more=find,
    )


def make_page(content: Content) -> str:
    groups = groups_of(content.devices)
    names = {result.name for device in content.devices for result in device.results}
    said = (
        "<p class=note>A line per device, in its model's colour; the median of a model is thick. Point at a line, "
        "or choose a device above.</p>"
    )
    marks = [*(group.mark for group in groups), *(source.mark for source in content.published.values())]
    return frame.whole(
        ", ".join(group.label for group in groups),
        f"GPU microbenchmarks, {len(content.devices)} devices",
        marks,
        _switches(content, groups),
        [("kinds", "", said), ("devices", "Devices", _devices(groups))],
        in_chapters(names),
        {name: _section(content, groups, name) for name in names},
    )
