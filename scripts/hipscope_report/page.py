"""The page of one results folder: its Markdown and its plots."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from . import markdown, plots
from .load import Result
from .sweep_table import sweep_table

LONGEST_FILE_NAME_PART = 60
MIB = 2**20


@dataclass
class Page:
    """What a report writes: README.md and the files in plots/, by name."""

    markdown: str = ""
    plots: dict[str, bytes] = field(default_factory=dict)


def _distinct(results: list[Result], section: str, key: str) -> str:
    values = dict.fromkeys(str(result.data[section][key]) for result in results)
    return markdown.text("; ".join(value for value in values if value))


def _quantity(value: float, unit: str) -> str:
    """Empty when the driver reported nothing, which is a 0."""
    return markdown.with_unit(value, unit) if value else ""


def _device_table(results: list[Result]) -> str:
    device = results[0].data["device"]
    entries = [
        ("Architecture", markdown.text(device["architecture"])),
        ("Compute units (SMs)", _quantity(device["compute_units"], "")),
        ("Wave (warp) size", _quantity(device["wave_size"], "lanes")),
        ("Highest shader clock", _quantity(device["maximum_shader_mhz"], "MHz")),
        ("Memory", _quantity(round(device["memory_bytes"] / MIB), "MiB")),
        ("Memory clock", _quantity(device["memory_mhz"], "MHz")),
        ("Memory bus", _quantity(device["memory_bus_bits"], "bits")),
        ("L2 cache", _quantity(device["l2_bytes"] / MIB, "MiB")),
        ("LDS (shared memory) per block", _quantity(device["lds_bytes_per_block"] / 1024, "KiB")),
        ("Registers per block", _quantity(device["registers_per_block"], "")),
        ("Threads per block", _quantity(device["maximum_threads_per_block"], "")),
        ("Threads per compute unit", _quantity(device["maximum_threads_per_compute_unit"], "")),
        ("Driver", _distinct(results, "device", "driver")),
        ("Runtime", _distinct(results, "device", "runtime")),
        ("Compiler", _distinct(results, "build", "compiler")),
        ("Flags", _distinct(results, "build", "flags")),
        ("hipscope", _distinct(results, "hipscope", "git_revision")),
    ]
    rows = [(name, value) for name, value in entries if value]
    return markdown.text_table(["as the driver reports it", ""], rows)


def _link(result: Result) -> str:
    anchor = re.sub(r"[^a-z0-9_ -]", "", result.title.lower()).replace(" ", "-")
    return f"[{result.title}](#{anchor})"


def _contents(results: list[Result]) -> str:
    rows = []
    for result in results:
        data = result.data
        verification = data["verification"]
        status = f"passed ({verification['checks']} checks)"
        if data["status"] != "passed" or verification["failures"]:
            status = f"**FAILED** ({len(verification['failures'])} of {verification['checks']} checks)"
        rows.append((_link(result), markdown.text(data["question"]), status))
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
        (*_inference_cells(inference), _link(result))
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


def _clock(clock: dict[str, Any]) -> str:
    if clock["shader_mhz"] is None:
        return "Clock: not known."
    origin = {"measured": "measured", "given": "as given by --clock-mhz", "driver": "as the driver says"}
    line = f"Clock: {clock['shader_mhz']:.0f} MHz, {origin.get(clock['source'], 'source unknown')}"
    if clock["highest_shader_mhz"] is not None:
        line += f", highest {clock['highest_shader_mhz']:.0f} MHz"
    return (
        f"{line}; {clock['throttled_samples']} of {clock['samples']} samples throttled "
        "(more than 2 % under the highest)."
    )


def _circumstances(data: dict[str, Any]) -> str:
    options = data["options"]
    sizes = ", ".join(f"{markdown.text(name)} {size}" for name, size in options["sizes"].items())
    parts = [f"preset {options['preset']}", f"seed {options['seed']}"]
    if sizes:
        parts.append(sizes)
    if options["filter"] is not None:
        parts.append(f"only sweeps that match {markdown.text(options['filter'])}")
    line = f"Run on {data['date'][:10]} in {data['duration_s']:.1f} s: {'; '.join(parts)}."
    if data["scaled"]:
        line += " The sizes are scaled down for the CPU."
    return line


def _overheads(data: dict[str, Any]) -> list[str]:
    items = [
        f"{markdown.text(item['name'])} {markdown.with_unit(item['value'], item['unit'])}"
        for item in data["overheads"]
    ]
    return [f"Overheads of measuring: {', '.join(items)}."] if items else []


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
    picture = plots.plot_sweep(sweep, result.data["device"]["name"])
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
        _circumstances(data),
        _clock(data["clock"]),
        *_overheads(data),
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
    if any(result.data["build"]["backend"] == "host" for result in results):
        parts.append(
            "> **These times are CPU times.** The kernels ran on the CPU by hipscope's host backend, "
            "which checks what they compute; nothing here was measured on a GPU."
        )
    parts.extend([_device_table(results), *_all_inferences(results), "## Experiments", _contents(results)])
    for result in results:
        parts.extend(_experiment(page, result))
    parts.append("Made by scripts/report.py; do not edit.")
    page.markdown = "\n\n".join(parts) + "\n"
    return page
