"""The page of one results folder: its Markdown and its plots."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from . import card, card_page, markdown, plots, shared
from .load import CARD_JSON, Result
from .series import inferred_marks
from .sweep_table import sweep_table

CARD_MARKDOWN = "card.md"
LONGEST_FILE_NAME_PART = 60


@dataclass
class Page:
    """What a report writes: README.md, the files in plots/ by name, and those of the hardware card.

    On the CPU, of which nothing is inferred, there is no card.
    """

    markdown: str = ""
    plots: dict[str, bytes] = field(default_factory=dict)
    card: dict[str, bytes] = field(default_factory=dict)


def _contents(results: list[Result]) -> str:
    rows = []
    for result in results:
        data = result.data
        verification = data["verification"]
        status = f"passed ({verification['checks']} checks)"
        if not shared.verified(result):
            status = f"**FAILED** ({len(verification['failures'])} of {verification['checks']} checks)"
        rows.append((shared.link(result), markdown.text(data["question"]), status))
    return markdown.text_table(["experiment", "question", "verification"], rows)


def _found(inference: dict[str, Any]) -> str:
    if inference["value"] is None:
        return "not found"
    return markdown.with_unit(inference["value"], inference["unit"])


def _inference_cells(inference: dict[str, Any]) -> tuple[str, str, str, str]:
    return (
        markdown.text(inference["name"]),
        _found(inference),
        markdown.with_unit(inference["driver"], inference["unit"]),
        f"{100 * inference['confidence']:.0f} %",
    )


def _all_inferences(results: list[Result]) -> list[str]:
    rows = [
        (*_inference_cells(inference), shared.link(result))
        for result in results
        for inference in result.data["inferences"]
    ]
    if not rows:
        return []
    header = ["parameter", "found", "driver says", "confidence", "experiment"]
    return ["## What the measurements say", markdown.text_table(header, rows)]


def _inferences(data: dict[str, Any]) -> list[str]:
    parts = []
    for inference in data["inferences"]:
        name, found, driver, confidence = _inference_cells(inference)
        says = "" if inference["driver"] is None else f"; the driver says {driver}"
        parts.append(f"**{name}: {found}** (confidence {confidence}{says}). {markdown.text(inference['statement'])}")
        if inference["evidence"]:
            parts.append(markdown.bullets(inference["evidence"]))
    return ["### Inferred", *parts] if parts else []


def _failures(data: dict[str, Any]) -> list[str]:
    failures = data["verification"]["failures"]
    if data["status"] == "passed" and not failures:
        return []
    return ["**A verification FAILED: do not trust these figures.**", markdown.bullets(failures)]


def _plot_file(result: Result, sweep: dict[str, Any], taken: dict[str, bytes]) -> str:
    """A file name that no text from a result file can lead out of the plots' folder."""
    part = re.sub(r"[^a-z0-9]+", "-", sweep["name"].lower()).strip("-")[:LONGEST_FILE_NAME_PART]
    base = f"{result.name}-{part or 'sweep'}"
    name = f"{base}.svg"
    count = 1
    while name in taken:
        count += 1
        name = f"{base}-{count}.svg"
    return name


def _sweep(page: Page, result: Result, sweep: dict[str, Any]) -> list[str]:
    parts = [f"### {markdown.text(sweep['title'] or sweep['name'])}"]
    if sweep["notes"]:
        parts.append(markdown.bullets(sweep["notes"]))
    picture = plots.plot_sweep(sweep, result.data["device"]["name"], inferred_marks(result.data, sweep))
    if picture is not None:
        name = _plot_file(result, sweep, page.plots)
        page.plots[name] = picture
        alternative = markdown.text(f"{sweep['headline']} over {sweep['axis']['name']}")
        parts.append(f"![{alternative}](plots/{name})")
    parts.append(sweep_table(sweep))
    return parts


def _experiment(page: Page, result: Result) -> list[str]:
    data = result.data
    parts = [
        f"## {result.title}",
        f"**{markdown.text(data['question'])}**",
        *_failures(data),
        shared.circumstances(data, markdown),
        shared.clock(data["clock"]),
        *shared.overheads(data, markdown),
    ]
    for sweep in data["sweeps"]:
        parts.extend(_sweep(page, result, sweep))
    parts.extend(_inferences(data))
    if data["sources"]:
        parts.extend(["### Sources", markdown.bullets(data["sources"])])
    return parts


def make_page(results: list[Result]) -> Page:
    """The page of results that are all of one device."""
    page = Page()
    device = results[0].data["device"]
    parts = [f"# {markdown.text(device['name']) or 'Results'}"]
    if shared.is_host(results):
        parts.append(
            "> **These times are CPU times.** The kernels ran on the CPU by hipscope's host backend, "
            "which checks what they compute; nothing here was measured on a GPU, so there is no hardware "
            "card."
        )
    made = card.make_card(results)
    if made is not None:
        page.card = {
            CARD_JSON: (json.dumps(made, indent=1) + "\n").encode("ascii"),
            CARD_MARKDOWN: card_page.make_card_page(made, results).encode("utf-8"),
        }
        parts.append(
            f"**[Hardware card]({CARD_MARKDOWN})**: all that these results say of the device's parameters, "
            f"with the evidence (and [as JSON]({CARD_JSON}))."
        )
    parts.extend([shared.device_table(results), *_all_inferences(results), "## Experiments", _contents(results)])
    for result in results:
        parts.extend(_experiment(page, result))
    parts.append("Made by scripts/report.py; do not edit.")
    page.markdown = "\n\n".join(parts) + "\n"
    return page
