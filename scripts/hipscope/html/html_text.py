"""Text and tables in HTML. Every text from a file goes through `text`; the module is a Markup."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Sequence
from functools import partial

from hipscope.results import formats


def text(value: str) -> str:
    """The text with nothing in it that HTML would take for markup, in an attribute too."""
    return html.escape(formats.plain(value), quote=True)


def strong(escaped: str) -> str:
    """What must not be overlooked."""
    return f"<strong class=bad>{escaped}</strong>"


# A number with its unit, and a column's name with its unit, escaped.
with_unit = partial(formats.with_unit, escape=text)
heading = partial(formats.heading, escape=text)


# A box that scrolls can be reached by the keyboard, which takes a name.
SCROLLING = "<div class=scroll tabindex=0 role=group aria-label=Table>"


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    kind: str = "",
    classes: Sequence[str] = (),
    row_classes: Sequence[str] = (),
) -> str:
    """A table of escaped cells in a box of its own, in which it scrolls.

    `kind` is a class of the table; `classes` has one class per column and `row_classes` one per row, which hides it
    with its device, or is empty.
    """
    marks, row_marks = (
        [f' class="{one}"' if one else "" for one in (said or [""] * len(of))]
        for said, of in ((classes, header), (row_classes, rows))
    )
    head = "".join(f"<th scope=col{mark}>{cell}" for mark, cell in zip(marks, header))
    lines = [
        f"<tr{row_mark}><th scope=row{marks[0]}>{cells[0]}"
        + "".join(f"<td{mark}>{cell}" for mark, cell in zip(marks[1:], cells[1:]))
        for row_mark, cells in zip(row_marks, rows)
    ]
    body = "\n".join(lines)
    mark = f' class="{kind}"' if kind else ""
    return f"{SCROLLING}<table{mark}>\n<thead><tr>{head}</thead>\n<tbody>\n{body}\n</tbody></table></div>"


def bullets(items: Sequence[str]) -> str:
    """A list of texts, which are escaped here; empty without any."""
    return "<ul>" + "".join(f"<li>{text(item)}" for item in items) + "</ul>" if items else ""


def details(summary: str, body: str, kind: str = "") -> str:
    """Something folded below an escaped line."""
    mark = f' class="{kind}"' if kind else ""
    return f"<details{mark}><summary>{summary}</summary>\n{body}\n</details>"


def _hash(content: str) -> str:
    """The content's hash, as a Content-Security-Policy takes it."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii") + "'"


def head(title: str, style: str, script: str) -> str:
    """A page's begin: it loads nothing and has one style sheet and one script, these."""
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    return f"""<!DOCTYPE html>
<html lang=en>
<head>
<meta charset=utf-8>
<meta http-equiv=Content-Security-Policy content="{policy}">
<meta name=viewport content="width=device-width, initial-scale=1">
<meta name=color-scheme content="light dark">
<title>hipscope: {text(title)}</title>
<style>{style}</style>
</head>
<body>"""
