"""What the page of a results folder and its hardware card have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import markdown
from .load import Result

MIB = 2**20


def is_host(results: Sequence[Result]) -> bool:
    """Whether a result is of the CPU, on which nothing of a GPU is measured or inferred."""
    return any(result.data["build"]["backend"] == "host" for result in results)


def verified(result: Result) -> bool:
    """Whether all that the kernels computed was right."""
    return result.data["status"] == "passed" and not result.data["verification"]["failures"]


def link(result: Result, page: str = "") -> str:
    """A link to the experiment's section of a page, by default the one that the link stands on."""
    anchor = re.sub(r"[^a-z0-9_ -]", "", result.title.lower()).replace(" ", "-")
    return f"[{result.title}]({page}#{anchor})"


def distinct(results: Sequence[Result], section: str, key: str) -> str:
    """All values that the results have there, escaped."""
    values = dict.fromkeys(str(result.data[section][key]) for result in results)
    return markdown.text("; ".join(value for value in values if value))


def _quantity(value: float, unit: str) -> str:
    """Empty when the driver reported nothing, which is a 0."""
    return markdown.with_unit(value, unit) if value else ""


def device_table(results: Sequence[Result]) -> str:
    """The device by its driver, and what the results were made with."""
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
        ("Driver", distinct(results, "device", "driver")),
        ("Runtime", distinct(results, "device", "runtime")),
        ("Compiler", distinct(results, "build", "compiler")),
        ("Flags", distinct(results, "build", "flags")),
        ("hipscope", distinct(results, "hipscope", "git_revision")),
    ]
    rows = [(name, value) for name, value in entries if value]
    return markdown.text_table(["as the driver reports it", ""], rows)
