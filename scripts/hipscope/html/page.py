"""The page that compares devices: one HTML file that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import card_section, charts, html_text, many, roofline_section
from .chapters import in_chapters
from .experiment_section import Content, anchor, section
from .sources import Source

FOLDER = Path(__file__).resolve().parent
# Okabe and Ito's hues, which the colour-blind can tell apart, darkened on light ground and lightened on
# dark until each stands out at least 3 to 1; past these, markers tell sources apart.
LIGHT = ("#0072b2", "#c44601", "#00795a", "#a3447f", "#8a6100", "#4d4fbf", "#5b5b5b", "#8c1d40")
DARK = ("#5ab4ec", "#ff8f4d", "#35c79c", "#e79bca", "#e3b341", "#a5a8ff", "#bdbdbd", "#ff8fa3")

# With more devices than colours the page is of models: many.py.
MOST_DEVICES = len(LIGHT)


def _styles(sources: Sequence[Source]) -> str:
    """The style sheet with the rules of everything that has a switch: its colour, and what the switch hides."""

    def colours(palette: Sequence[str]) -> str:
        return "".join(f"--c-{one.mark}:{palette[number % len(palette)]};" for number, one in enumerate(sources))

    rules = [
        (FOLDER / "report.css").read_text(encoding="utf-8"),
        f":root{{{colours(LIGHT)}}}",
        f"@media screen and (prefers-color-scheme:dark){{:root{{{colours(DARK)}}}}}",
    ]
    for mark in (source.mark for source in sources):
        rules.append(
            f".{mark}{{--c:var(--c-{mark})}}:root:has(#switch-{mark}:not(:checked)) main .{mark}{{display:none}}"
        )
    return "\n".join(rules)


def _switches(title: str, sources: Sequence[Source]) -> str:
    """A switch for each source, which shows or hides all that has its mark."""
    labels = []
    for one in sources:
        dot = "dot hollow" if one.is_published else "dot"
        kind = " <small>CPU</small>" if one.is_cpu else ""
        labels.append(
            f'<label class="{one.mark}"><input type=checkbox checked id="switch-{one.mark}">'
            f'<span class="{dot}"></span>{html_text.text(one.name)}{kind}</label>'
        )
    return f"<fieldset><legend>{title}</legend>{''.join(labels)}</fieldset>" if labels else ""


def _named(sources: Sequence[Source]) -> str:
    return ", ".join(html_text.text(source.name) for source in sources) or "nothing"


def _what_is_what(content: Content) -> str:
    """Which figures are measured on a GPU, which are not, and whose the others are."""
    cpus = [device for device in content.devices if device.is_cpu]
    targets = dict.fromkeys(target for target, _ in content.compiled)
    marked = ". Its times are a CPU's: they stand in tables, marked, and in no plot" if cpus else ""
    entries = {
        "Measured on a GPU": _named([device for device in content.devices if not device.is_cpu]),
        "Only checked on the CPU": _named(cpus) + marked,
        "Read from compiled code, not run": ", ".join(map(html_text.text, targets)) or "nothing",
        "Published by others": _named(list(content.published.values())),
    }
    items = "".join(f"<div><dt>{name}<dd>{said}.</div>" for name, said in entries.items())
    return f"<dl class=kinds>{items}</dl>"


def make_page(content: Content) -> str:
    """The page; the same content gives the same text."""
    names = {result.name for device in content.devices for result in device.results}
    published = list(content.published.values())
    if len(content.devices) > MOST_DEVICES:
        groups = many.groups_of(content.devices)
        return _whole(
            f"GPU microbenchmarks, {len(content.devices)} devices",
            [*groups, *published],
            _switches("Models", groups) + _switches("Published", published) + many.finder(groups),
            many.NOTE,
            [("devices", "Devices", many.devices_table(groups))],
            {name: many.section(content, groups, name) for name in names},
        )
    names |= {figure["experiment"] for figure in content.figures}
    overview = [
        ("devices", "Devices", card_section.devices_table(content.devices)),
        ("card", "Hardware cards", card_section.cards(content.devices)),
        ("roofline", "Roofline", roofline_section.content(content.devices)),
    ]
    return _whole(
        "GPU microbenchmarks, device by device",
        content.sources,
        _switches("Devices", content.devices) + _switches("Published", published),
        _what_is_what(content),
        overview,
        {name: section(content, name) for name in names},
    )


def _whole(
    headline: str,
    sources: Sequence[Source],
    switches: str,
    introduction: str,
    overview: Sequence[tuple[str, str, str]],
    experiments: dict[str, str],
) -> str:
    """The file, which loads nothing, and in which nothing runs or is styled but what stands here.

    `sources` are those that have a switch, `overview` the id, title and content of the sections before those of the
    experiments.
    """
    contents, sections = "", ""
    for place, title, body in overview:
        if body:
            contents += f'<li><a href="#{place}">{title}</a>'
            sections += f"<section id={place}><h2>{title}</h2>{body}</section>\n"
    for number, (chapter, members) in enumerate(in_chapters(experiments)):
        title = html_text.text(chapter)
        links = "".join(f'<li><a href="#{html_text.text(anchor(name))}">{html_text.text(name)}</a>' for name in members)
        contents += f'<li><a href="#chapter-{number}">{title}</a><ul>{links}</ul>'
        bodies = "\n".join(experiments[name] for name in members)
        sections += f'<section id="chapter-{number}"><h2>{title}</h2>\n{bodies}\n</section>\n'
    title = ", ".join(source.name for source in sources if not source.is_published)
    style, script = _styles(sources), charts.chart_js() + (FOLDER / "charts.js").read_text(encoding="utf-8")
    return f"""{html_text.head(title, style, script)}
<header class=top><p class=brand>hipscope</p><h1>{headline}</h1></header>
<div class=switches role=group aria-label="Show or hide">{switches}</div>
<div class=page><nav class=contents aria-label=Contents><details open><summary>Contents</summary>
<ul>{contents}</ul></details></nav>
<main>
<noscript><p class=bad>Without JavaScript there are no curves on this page, only tables.</p></noscript>
{introduction}
{sections}<footer><p>Made by hipscope's scripts/html_report.py of result files (JSON) and published figures (CSV) alone.
Curves by {charts.LIBRARY}.</p></footer></main></div>
<script>{script}</script>
</body>
</html>
"""
