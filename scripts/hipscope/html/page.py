"""The page that compares devices, each with its own colour, columns and tables."""

from __future__ import annotations

from collections.abc import Sequence

from . import card_section, frame, html_text, roofline_section
from .chapters import in_chapters
from .experiment_section import Content, section
from .sources import Source


def _switches(content: Content) -> str:
    def of(sources: Sequence[Source], kind: str = "") -> list[str]:
        names = [html_text.text(one.name) + (" <small>CPU</small>" if one.is_cpu else "") for one in sources]
        return [frame.switch(source.mark, name, kind) for source, name in zip(sources, names)]

    return frame.switches(
        ("Devices", of(content.devices)), ("Published", of(list(content.published.values()), " hollow"))
    )


def _named(sources: Sequence[Source]) -> str:
    return ", ".join(html_text.text(source.name) for source in sources) or "nothing"


def _what_is_what(content: Content) -> str:
    """Which figures are measured on a GPU, which are not, and whose the others are."""
    gpus = [device for device in content.devices if not device.is_cpu]
    cpus = [device for device in content.devices if device.is_cpu]
    targets = dict.fromkeys(target for target, _ in content.compiled)
    entries = [
        ("Measured on a GPU", _named(gpus)),
        (
            "Only checked on the CPU",
            f"{_named(cpus)}. Its times are a CPU's: they stand in tables, marked, and in no plot"
            if cpus
            else "nothing",
        ),
        ("Read from compiled code, not run", ", ".join(map(html_text.text, targets)) or "nothing"),
        ("Published by others", _named(list(content.published.values()))),
    ]
    items = "".join(f"<div><dt>{name}<dd>{said}.</div>" for name, said in entries)
    return f"<dl class=kinds>{items}</dl>"


def make_page(content: Content) -> str:
    """The page; the same content gives the same text."""
    names = {result.name for device in content.devices for result in device.results}
    names |= {figure["experiment"] for figure in content.figures}
    first = [
        ("kinds", "", _what_is_what(content)),
        ("devices", "Devices", card_section.devices_table(content.devices)),
        ("card", "Hardware cards", card_section.cards(content.devices)),
        ("roofline", "Roofline", roofline_section.content(content.devices)),
    ]
    return frame.whole(
        ", ".join(device.name for device in content.devices),
        "GPU microbenchmarks, device by device",
        [source.mark for source in content.sources],
        _switches(content),
        [one for one in first if one[2]],
        in_chapters(names),
        {name: section(content, name) for name in names},
    )
