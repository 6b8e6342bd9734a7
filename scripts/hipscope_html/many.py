"""The page of many devices: the values once, as JSON, of which the page's own script draws what is in view.

Devices of one model are a group with one colour and one switch. Tables have a group's median, least and most
in place of a column per device, and each figure has a line per device.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hipscope_report import formats, load, shared
from hipscope_report.load import Result
from hipscope_report.series import BYTE_UNITS, wants_decades

from . import html_text, scales
from .chapters import in_chapters
from .experiment_section import Content, anchor, sweeps_of
from .lines import Plot, make_plots
from .scales import Scale
from .sources import Source

Json = dict[str, Any]
FOLDER = Path(__file__).resolve().parent

# So many devices the palette of the other page has; more of them nobody can tell apart by colours.
MOST_DEVICES = 8
# What a figure shows of a number, and no file needs more of it.
DIGITS = 5


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


def _counted(text: str) -> list[Any]:
    """A key by which node 9 comes before node 10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d{1,18})", text)]


def _place(device: Source) -> list[Any]:
    told = device.results[0].data["device"]
    return [_counted(str(told.get("host") or "")), _counted(str(told.get("pci_address") or "")),
            _counted(device.name)]


def groups_of(devices: Sequence[Source]) -> list[Group]:
    """The devices by model, the models by name."""
    found: dict[tuple[str, bool], list[Source]] = {}
    for device in devices:
        name = formats.plain(device.results[0].data["device"]["name"]) or device.name
        found.setdefault((name, device.is_cpu), []).append(device)
    ordered = sorted(found.items(), key=lambda one: (one[0][1], _counted(one[0][0])))
    return [Group(number, name, tuple(sorted(members, key=_place)))
            for number, ((name, _), members) in enumerate(ordered)]


def title(groups: Sequence[Group]) -> str:
    """The page's title."""
    return ", ".join(group.label for group in groups)


def styles(base: str, count: int, light: Sequence[str], dark: Sequence[str]) -> str:
    """The style sheet with the rules of every group: its colour and its switch."""
    def colours(palette: Sequence[str]) -> str:
        return "".join(f"--c{number}:{palette[number % len(palette)]};" for number in range(count))

    rules = [base, (FOLDER / "many.css").read_text(encoding="utf-8"), f":root{{{colours(light)}}}",
             f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{colours(dark)}}}}}",
             f":root[data-theme=dark]{{{colours(dark)}}}"]
    for number in range(count):
        rules.append(f".g{number}{{--c:var(--c{number})}}"
                     f":root:has(#switch-g{number}:not(:checked)) main .g{number}{{display:none}}")
    return "\n".join(rules)


def _json(value: Any) -> str:
    """JSON that HTML takes for text, whatever is in it."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _axis(scale: Scale, values: Sequence[float], is_logarithmic: bool) -> Json:
    """An axis with its ends and its ticks."""
    low = 0.0 if scale.begins_with_zero else min(values)
    return {"low": _rounded(low), "high": _rounded(max(*values, low)), "log": is_logarithmic,
            "ticks": [[_rounded(tick), name] for tick, name in scale.ticks]}


def _axes(plot: Plot) -> tuple[Json, Json]:
    axis = plot.sweep["axis"]
    positions = [point.x for line in plot.lines for point in line.points]
    octaves = axis["scale"] == "logarithmic" and 0 < min(positions) < max(positions)
    across = scales.octaves(positions, "B" if axis["unit"] in BYTE_UNITS else "") if octaves else (
        scales.linear(positions, from_zero=False))
    decades = wants_decades(plot.sweep, plot.values)
    up = scales.decades(plot.values) if decades else scales.linear(plot.values, from_zero=True)
    return _axis(across, positions, octaves), _axis(up, plot.values, decades)


def _drawing(plot: Plot, groups: Sequence[Group], number_of: dict[int, tuple[int, int]]) -> Json:
    """A figure's values: rows once, and of each device a list with null where it has none."""
    # A library beside a kernel is not another device's: its curve would be one more of each.
    lines = [line for line in plot.lines if not line.companion]
    rows: dict[tuple[str, int, float], int] = {}
    for line in lines:
        for point in line.points:
            rows.setdefault((point.label, point.row, point.x), len(rows))
    drawn, published = [], []
    for line in lines:
        values: list[float | None] = [None] * len(rows)
        for point in line.points:
            values[rows[(point.label, point.row, point.x)]] = _rounded(point.y)
        if line.source.is_published:
            published.append([line.name, values])
        else:
            drawn.append([*number_of[line.source.number], values])
    drawn.sort(key=lambda one: (one[0], one[1]))
    across, up = _axes(plot)
    axis = plot.sweep["axis"]
    return {"what": formats.heading(plot.sweep["headline"], plot.unit, formats.plain), "unit": plot.unit,
            "over": "" if plot.is_bars else formats.heading(axis["name"], axis["unit"], formats.plain),
            "bars": plot.is_bars, "labels": [label for label, _, _ in rows], "x": [_rounded(x) for _, _, x in rows],
            "across": across, "up": up, "lines": drawn, "published": published}


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
            for one in results[device.number].data["inferences"] if device.number in results else ():
                found.setdefault((one["name"], one["unit"]), {}).setdefault(group.number, []).append(one["value"])
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
        header, rows, "words", ["", *(group.mark for group in groups)])


def _verification(results: Sequence[tuple[Source, Result]]) -> str:
    """On how many devices all was right, and on which it was not."""
    failed = [(source, result) for source, result in results if not shared.verified(result)]
    if not failed:
        return f"<p>Verification passed on all {len(results)} devices that ran it.</p>"
    items = ""
    for source, result in failed:
        failures = result.data["verification"]["failures"]
        said = html_text.strong(f"FAILED ({len(failures)} checks)")
        items += f"<li>{html_text.text(source.label)}: {said}{html_text.bullets(failures)}"
    return (f"<p>{html_text.strong(f'Verification FAILED on {len(failed)} of {len(results)} devices')}: do not trust "
            f"their figures.</p><ul>{items}</ul>")


def _section(content: Content, groups: Sequence[Group], name: str, number_of: dict[int, tuple[int, int]]) -> str:
    """An experiment: what is said of all devices, and for each sweep the place where it is drawn."""
    results = [(device, result) for group in groups for device in group.devices
               if (result := device.result(name)) is not None]
    data, figures = [], []
    for measured in sweeps_of(results):
        first = measured[0][2]
        plots = [_drawing(plot, groups, number_of) for plot in make_plots(measured, content.published)]
        heading = html_text.text(first["title"] or first["name"])
        notes = html_text.bullets(list(dict.fromkeys(note for _, _, sweep in measured for note in sweep["notes"])))
        wide = " class=wide" if any(plot["bars"] for plot in plots) else ""
        places = "".join(f'<div class="drawn{" rows" if plot["bars"] else ""}" data-of="{html_text.text(name)}" '
                         f"data-number={len(data) + number}></div>" for number, plot in enumerate(plots))
        data += plots
        figures.append(f"<figure{wide}><figcaption><h4>{heading}</h4>{notes}</figcaption>{places}</figure>")
    questions = dict.fromkeys(result.data["question"] for _, result in results)
    experiment, _, variant = name.partition(".")
    parts = [f'<section class=experiment id="{html_text.text(anchor(name))}">',
             f"<h3>{html_text.text(f'{experiment} ({variant})' if variant else experiment)}</h3>",
             *(f"<p class=question>{html_text.text(question)}</p>" for question in questions),
             _verification(results), _inferences(groups, {source.number: result for source, result in results}),
             f"<div class=figures>{''.join(figures)}</div>",
             f'<script type="application/json" data-name="{html_text.text(name)}">{_json(data)}</script></section>']
    return "\n".join(parts)


def _devices(groups: Sequence[Group]) -> str:
    """A row per device."""
    rows = []
    for group in groups:
        for device in group.devices:
            told = device.results[0].data["device"]
            bad = [result.name for result in device.results if not shared.verified(result)]
            dates = sorted(result.data["date"][:10] for result in device.results)
            facts = [str(told.get(key) or formats.NOT_THERE) for key in ("host", "pci_address", "uuid")]
            verified = html_text.strong(f"FAILED: {html_text.text(', '.join(bad))}") if bad else "passed"
            revisions = ", ".join(dict.fromkeys(one.data["hipscope"]["git_revision"] for one in device.results))
            cells = [*facts, told["driver"], revisions, " ... ".join(dict.fromkeys((dates[0], dates[-1])))]
            rows.append(f'<tr class="{group.mark}"><th scope=row><span class=dot></span>{html_text.text(device.label)}'
                        + "".join(f"<td>{html_text.text(cell)}" for cell in cells) + f"<td>{verified}")
    header = "".join(f"<th scope=col>{name}" for name in (
        "device", "host", "PCI address", "UUID", "driver", "hipscope", "measured on", "verification"))
    return (f"{html_text.SCROLLING}<table class=words><thead><tr>{header}</thead><tbody>\n"
            + "\n".join(rows) + "\n</tbody></table></div>")


def _switches(groups: Sequence[Group]) -> str:
    labels = "".join(f'<label class="{group.mark}"><input type=checkbox checked id="switch-{group.mark}">'
                     f"<span class=dot></span>{html_text.text(group.label)}</label>" for group in groups)
    find = ("<label class=find>Device <select id=chosen><option value=''>none marked</option>" + "".join(
        f'<option value="{group.number}.{place}">{html_text.text(device.label)}</option>'
        for group in groups for place, device in enumerate(group.devices)) + "</select></label>")
    return (f'<div class=switches role=group aria-label="Show or hide"><fieldset><legend>Models</legend>{labels}'
            f"</fieldset>{find}</div>")


def _contents(chapters: Sequence[tuple[str, list[str]]]) -> Iterator[str]:
    yield ("<nav class=contents aria-label=Contents><details open><summary>Contents</summary><ul>"
           '<li><a href="#devices">Devices</a>')
    for number, (heading, names) in enumerate(chapters):
        inner = "".join(f'<li><a href="#{html_text.text(anchor(name))}">{html_text.text(name)}</a>' for name in names)
        yield f'<li><a href="#chapter-{number}">{html_text.text(heading)}</a><ul>{inner}</ul>'
    yield "</ul></details></nav>"


def body(content: Content, groups: Sequence[Group]) -> str:
    """Everything in the page but its head and its script."""
    chapters = in_chapters({result.name for device in content.devices for result in device.results})
    number_of = {device.number: (group.number, place)
                 for group in groups for place, device in enumerate(group.devices)}
    names = [{"name": group.name, "devices": [load.one_line(formats.plain(device.label)) for device in group.devices]}
             for group in groups]
    parts = [
        "<header class=top><div><p class=brand>hipscope</p><h1>GPU microbenchmarks, "
        f"{sum(len(group.devices) for group in groups)} devices</h1></div>"
        "<button type=button id=theme hidden>Dark</button></header>", _switches(groups),
        "<div class=page>", *_contents(chapters), "<main>",
        "<p class=note>A line per device, in its model's colour; the median of a model is thick. Point at a line, or "
        "choose a device above. Figures are drawn when they come into view, by the page's own script.</p>"
        "<noscript><p class=bad>Without JavaScript there are no figures on this page.</p></noscript>",
        f"<section id=devices><h2>Devices</h2>{_devices(groups)}</section>",
        f'<script type="application/json" data-name="">{_json(names)}</script>',
    ]
    for number, (heading, members) in enumerate(chapters):
        parts.append(f'<section id="chapter-{number}"><h2>{html_text.text(heading)}</h2>')
        parts += [_section(content, groups, name, number_of) for name in members]
        parts.append("</section>")
    parts.append("<footer><p>Made by hipscope's scripts/html_report.py of result files (JSON) and published figures "
                 "(CSV) alone.</p></footer></main></div>")
    return "\n".join(parts)
