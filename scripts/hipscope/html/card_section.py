"""The hardware cards of all devices side by side, and what each device's results come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hipscope.report import card, card_page, shared
from hipscope.results import formats

from . import html_text
from .sources import Source, side_by_side

Json = dict[str, Any]
OPEN_GROUPS = ("Compute", "Caches")


def _facts(source: Source) -> dict[str, str]:
    """What is known of a device and its results, by name."""
    results = source.results
    dates = sorted(result.date[:10] for result in results)
    good = sum(shared.verified(result) for result in results)
    verified = f"passed in all {good} experiments"
    if good < len(results):
        verified = html_text.strong(f"FAILED in {len(results) - good} of {len(results)} experiments")
    on_a_cpu = html_text.strong("checked on the CPU, not measured on a GPU")
    return {
        "Figures": on_a_cpu if source.is_cpu else "measured on this GPU",
        "Verification": verified,
        "Measured on": " ... ".join(dict.fromkeys((dates[0], dates[-1]))),
        **dict(shared.device_entries(results, html_text)),
    }


def devices_table(devices: Sequence[Source]) -> str:
    """What the driver says of each device, and what its results were made with."""
    facts = [_facts(device) for device in devices]
    names = dict.fromkeys(name for one in facts for name in one)
    rows = [[name, *(one.get(name, formats.NOT_THERE) for one in facts)] for name in names]
    return side_by_side("", devices, rows)


def _cell(parameter: Json | None, units: card_page.Units) -> str:
    if parameter is None or parameter["status"] == "not measured":
        return formats.NOT_THERE
    found = []
    for reading in parameter["readings"]:
        value = html_text.text("not found") if reading["value"] is None else card_page.found(reading, units)
        remark = f"{100 * reading['confidence']:.0f} %"
        if not reading["verified"]:
            remark += f", {html_text.strong('a verification FAILED')}"
        if reading["disagrees_with_driver"]:
            driver = parameter["driver"] if reading["driver"] is None else reading["driver"]
            remark += f", {html_text.strong('disagrees')}: the driver says {formats.number(driver)}"
        found.append(f"{value} <small>{remark}</small>")
    cell = "<br>".join(dict.fromkeys(found))
    return f"{cell}<br>{html_text.strong('disagree')}" if parameter["sources_disagree"] else cell


def cards(devices: Sequence[Source]) -> str:
    """A table per group of the hardware cards; a parameter that nobody measured has no row."""
    made = {device.mark: one for device in devices if (one := card.make_card(device.results))}
    if not made:
        return "<p>There is none: nothing of a GPU is inferred on a CPU.</p>"
    measured = [device for device in devices if device.mark in made]
    units = {mark: card_page.units_of(one, html_text) for mark, one in made.items()}
    groups: dict[str, dict[tuple[str, str], dict[str, Json]]] = {}
    for mark, one in made.items():
        for title, parameters in card_page.groups(one):
            for parameter in parameters:
                key = (parameter["name"], parameter["variant"])
                groups.setdefault(title, {}).setdefault(key, {})[mark] = parameter
    parts = [
        "<p>What the curves of each device say of it, with the confidence of the inference: how clearly a "
        "curve shows it. What nobody measured is left out.</p>"
    ]
    for title, named in groups.items():
        rows = []
        for (name, variant), by_device in named.items():
            cells = [_cell(by_device.get(device.mark), units[device.mark]) for device in measured]
            if any(cell != formats.NOT_THERE for cell in cells):
                label = html_text.text(name)
                rows.append([f"{label} ({html_text.text(variant)})" if variant else label, *cells])
        if rows:
            table = side_by_side("parameter", measured, rows)
            folded = html_text.details(f"{title} <small>{len(rows)} parameters</small>", table, "group")
            parts.append(folded.replace("<details", "<details open", 1) if title in OPEN_GROUPS else folded)
    return "\n".join(parts)
