"""The whole page: one HTML file that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import card_section, html_text, many, roofline_section
from .chapters import in_chapters
from .content_policy import content_policy
from .experiment_section import Content, anchor, section
from .sources import Source

FOLDER = Path(__file__).resolve().parent
# Okabe and Ito's hues, which the colour-blind can tell apart, darkened on light ground and lightened on
# dark until each stands out at least 3 to 1; past these, markers tell sources apart.
LIGHT = ("#0072b2", "#c44601", "#00795a", "#a3447f", "#8a6100", "#4d4fbf", "#5b5b5b", "#8c1d40")
DARK = ("#5ab4ec", "#ff8f4d", "#35c79c", "#e79bca", "#e3b341", "#a5a8ff", "#bdbdbd", "#ff8fa3")
# Within a box from -5 to 5.
MARKERS = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "M-3.5-3.5h7v7h-7z", "M0-4.6L4.4 3.4h-8.8z", "M0-5L5 0L0 5L-5 0z",
           "M0 4.6L4.4-3.4h-8.8z")
SMALL = 0.55


def _colours(sources: Sequence[Source], palette: Sequence[str]) -> str:
    return "".join(f"--c{source.number}:{palette[source.number % len(palette)]};" for source in sources)


def _styles(sources: Sequence[Source]) -> str:
    """The style sheet with the rules of every source: its colour, its marker and its switch."""
    rules = [(FOLDER / "report.css").read_text(encoding="utf-8"),
             f":root{{{_colours(sources, LIGHT)}}}",
             f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light])"
             f"{{{_colours(sources, DARK)}}}}}",
             f":root[data-theme=dark]{{{_colours(sources, DARK)}}}"]
    for source in sources:
        mark = source.mark
        rules.append(f".{mark},.key-{mark}{{--c:var(--c{source.number})}}"
                     f".{mark} .p,.key-{mark} .p{{marker:url(#m{mark})}}.{mark} .small{{marker:url(#s{mark})}}"
                     f":root:has(#switch-{mark}:not(:checked)) .{mark}{{display:none}}")
    return "\n".join(rules)


def _markers(sources: Sequence[Source]) -> str:
    drawn = []
    for source in sources:
        # The shapes change with every round of the colours, so that no two sources look alike.
        shape = MARKERS[(source.number + source.number // len(LIGHT)) % len(MARKERS)]
        kind = "hollow" if source.is_published else "full"
        for prefix, size in (("m", 9.0), ("s", 9.0 * SMALL)):
            drawn.append(f'<marker id="{prefix}{source.mark}" viewBox="-6 -6 12 12" markerUnits=userSpaceOnUse '
                         f'markerWidth={size:g} markerHeight={size:g}><path class="shape {kind}" '
                         f'fill="var(--c{source.number})" stroke="var(--c{source.number})" d="{shape}"/></marker>')
    return f"<svg class=defs width=0 height=0 aria-hidden=true><defs>{''.join(drawn)}</defs></svg>"


def _switches(content: Content) -> str:
    parts = []
    for title, sources in (("Devices", content.devices), ("Published", list(content.published.values()))):
        labels = "".join(
            f'<label><input type=checkbox checked id="switch-{source.mark}">'
            f'<svg class=key viewBox="0 0 28 10" aria-hidden=true><g class="key-{source.mark}'
            f'{" published" if source.is_published else ""}"><path class="l p" d="M1 5L14 5L27 5"/></g></svg>'
            f"{html_text.text(source.name)}{' <small>CPU</small>' if source.is_cpu else ''}</label>"
            for source in sources)
        if labels:
            parts.append(f"<fieldset><legend>{title}</legend>{labels}</fieldset>")
    return f'<div class=switches role=group aria-label="Show or hide">{"".join(parts)}</div>'


def _contents(chapters: Sequence[tuple[str, list[str]]], has_roofline: bool) -> str:
    items = ['<li><a href="#devices">Devices</a>', '<li><a href="#card">Hardware cards</a>']
    if has_roofline:
        items.append('<li><a href="#roofline">Roofline</a>')
    for number, (title, names) in enumerate(chapters):
        inner = "".join(f'<li><a href="#{html_text.text(anchor(name))}">{html_text.text(name)}</a>' for name in names)
        items.append(f'<li><a href="#chapter-{number}">{html_text.text(title)}</a><ul>{inner}</ul>')
    return (f"<nav class=contents aria-label=Contents><details open><summary>Contents</summary>"
            f"<ul>{''.join(items)}</ul></details></nav>")


def _named(sources: Sequence[Source]) -> str:
    return ", ".join(html_text.text(source.name) for source in sources) or "nothing"


def _what_is_what(content: Content) -> str:
    """Which figures are measured on a GPU, which are not, and whose the others are."""
    gpus = [device for device in content.devices if not device.is_cpu]
    cpus = [device for device in content.devices if device.is_cpu]
    targets = dict.fromkeys(target for target, _ in content.compiled)
    entries = [
        ("Measured on a GPU", _named(gpus)),
        ("Only checked on the CPU", f"{_named(cpus)}. Its times are a CPU's: they stand in tables, marked, and in no "
                                    "plot" if cpus else "nothing"),
        ("Read from compiled code, not run", ", ".join(map(html_text.text, targets)) or "nothing"),
        ("Published by others", _named(list(content.published.values()))),
    ]
    items = "".join(f"<div><dt>{name}<dd>{said}.</div>" for name, said in entries)
    return f"<dl class=kinds>{items}</dl>"


def _body(content: Content) -> str:
    names = {result.name for device in content.devices for result in device.results}
    names |= {figure.experiment for figure in content.figures}
    chapters = in_chapters(names)
    roofline = roofline_section.section(content.devices)
    parts = [
        "<header class=top><div><p class=brand>hipscope</p><h1>GPU microbenchmarks, device by device</h1></div>"
        '<button type=button id=theme hidden>Dark</button></header>', _switches(content),
        f"<div class=page>{_contents(chapters, bool(roofline))}\n<main>", _what_is_what(content),
        '<section id=devices><h2>Devices</h2>', card_section.devices_table(content.devices), "</section>",
        '<section id=card><h2>Hardware cards</h2>', card_section.cards(content.devices), "</section>",
        roofline,
    ]
    for number, (title, members) in enumerate(chapters):
        parts.append(f'<section id="chapter-{number}"><h2>{html_text.text(title)}</h2>')
        parts += [section(content, name) for name in members]
        parts.append("</section>")
    parts.append("<footer><p>Made by hipscope's scripts/html_report.py of result files (JSON) and published figures "
                 "(CSV) alone.</p></footer></main></div>")
    return "\n".join(parts)


def _whole(title: str, style: str, script: str, body: str) -> str:
    """The file: nothing is loaded, and nothing runs or is styled but what stands here."""
    return f"""<!DOCTYPE html>
<html lang=en>
<head>
<meta charset=utf-8>
<meta http-equiv=Content-Security-Policy content="{content_policy(style, script)}">
<meta name=viewport content="width=device-width, initial-scale=1">
<meta name=color-scheme content="light dark">
<title>hipscope: {html_text.text(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
<div id=tip role=status hidden></div>
<script>{script}</script>
</body>
</html>
"""


def _scripts(*names: str) -> str:
    return "".join((FOLDER / name).read_text(encoding="utf-8") for name in names)


def make_page(content: Content) -> str:
    """The page; the same content gives the same text. Of many devices its own script draws what is in view."""
    if len(content.devices) > many.MOST_DEVICES:
        groups = many.groups_of(content.devices)
        style = many.styles((FOLDER / "report.css").read_text(encoding="utf-8"), len(groups), LIGHT, DARK)
        return _whole(many.title(groups), style, _scripts("many.js", "theme.js"), many.body(content, groups))
    title = ", ".join(device.name for device in content.devices)
    body = f"{_markers(content.sources)}\n{_body(content)}"
    return _whole(title, _styles(content.sources), _scripts("report.js", "theme.js"), body)
