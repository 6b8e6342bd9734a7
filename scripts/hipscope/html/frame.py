"""What every page of curves has around its sections: one HTML file that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import charts, html_text
from .experiment_section import anchor

FOLDER = Path(__file__).resolve().parent
# Okabe and Ito's hues, which the colour-blind can tell apart, darkened on light ground and lightened on
# dark until each stands out at least 3 to 1; past these, markers tell sources apart.
LIGHT = ("#0072b2", "#c44601", "#00795a", "#a3447f", "#8a6100", "#4d4fbf", "#5b5b5b", "#8c1d40")
DARK = ("#5ab4ec", "#ff8f4d", "#35c79c", "#e79bca", "#e3b341", "#a5a8ff", "#bdbdbd", "#ff8fa3")


def _styles(marks: Sequence[str]) -> str:
    """The style sheet with the rules of everything that has a switch: its colour, and what the switch hides."""

    def colours(palette: Sequence[str]) -> str:
        return "".join(f"--c{number}:{palette[number % len(palette)]};" for number in range(len(marks)))

    rules = [
        (FOLDER / "report.css").read_text(encoding="utf-8"),
        f":root{{{colours(LIGHT)}}}",
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{colours(DARK)}}}}}",
        f":root[data-theme=dark]{{{colours(DARK)}}}",
    ]
    for number, mark in enumerate(marks):
        rules.append(
            f".{mark}{{--c:var(--c{number})}}:root:has(#switch-{mark}:not(:checked)) main .{mark}{{display:none}}"
        )
    return "\n".join(rules)


def switch(mark: str, label: str, kind: str = "") -> str:
    """What shows or hides all that has this mark; the label is escaped."""
    return (
        f'<label class="{mark}"><input type=checkbox checked id="switch-{mark}">'
        f'<span class="dot{kind}"></span>{label}</label>'
    )


def switches(*fieldsets: tuple[str, Sequence[str]]) -> str:
    """The bar above the page."""
    parts = "".join(
        f"<fieldset><legend>{title}</legend>{''.join(labels)}</fieldset>" for title, labels in fieldsets if labels
    )
    return f'<div class=switches role=group aria-label="Show or hide">{parts}</div>'


def _contents(first: Sequence[tuple[str, str]], chapters: Sequence[tuple[str, list[str]]]) -> str:
    items = [f'<li><a href="#{place}">{title}</a>' for place, title in first]
    for number, (title, names) in enumerate(chapters):
        inner = "".join(f'<li><a href="#{html_text.text(anchor(name))}">{html_text.text(name)}</a>' for name in names)
        items.append(f'<li><a href="#chapter-{number}">{html_text.text(title)}</a><ul>{inner}</ul>')
    return (
        f"<nav class=contents aria-label=Contents><details open><summary>Contents</summary>"
        f"<ul>{''.join(items)}</ul></details></nav>"
    )


def whole(
    title: str,
    heading: str,
    marks: Sequence[str],
    bar: str,
    first: Sequence[tuple[str, str, str]],
    chapters: Sequence[tuple[str, list[str]]],
    sections: dict[str, str],
) -> str:
    """The file: nothing is loaded, and nothing runs or is styled but what stands here.

    `first` are the sections before the chapters, as id, title and content; of an empty title there is no heading.
    """
    style, script = _styles(marks), charts.script()
    parts = [
        f"<section id={place}><h2>{name}</h2>{content}</section>" if name else content for place, name, content in first
    ]
    for number, (chapter, members) in enumerate(chapters):
        parts.append(f'<section id="chapter-{number}"><h2>{html_text.text(chapter)}</h2>')
        parts += [sections[name] for name in members]
        parts.append("</section>")
    content = "\n".join(parts)
    return f"""{html_text.head(title, style, script)}
<header class=top><div><p class=brand>hipscope</p><h1>{heading}</h1></div>
<button type=button id=theme hidden>Dark</button></header>
{bar}
<div class=page>{_contents([(place, name) for place, name, _ in first if name], chapters)}
<main>
<noscript><p class=bad>Without JavaScript there are no curves on this page, only tables.</p></noscript>
{content}
<footer><p>Made by hipscope's scripts/html_report.py of result files (JSON) and published figures (CSV) alone.
Curves by {charts.LIBRARY}.</p></footer></main></div>
<script>{script}</script>
</body>
</html>
"""
