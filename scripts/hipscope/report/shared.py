"""What the pages of a results folder have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hipscope.results import markdown
from hipscope.results.records import Result

from .sweep_table import Markup

MIB = 2**20


def is_host(results: Sequence[Result]) -> bool:
    """Whether a result is of the CPU, on which nothing of a GPU is measured or inferred."""
    return any(result.data["build"]["backend"] == "host" for result in results)


def verified(result: Result) -> bool:
    """Whether all that the kernels computed was right."""
    return result.data["status"] == "passed" and not result.data["verification"]["failures"]


def link(result: Result) -> str:
    """A link to the experiment's page."""
    return f"[{result.title}]({result.name}.md)"


def distinct(results: Sequence[Result], section: str, key: str, markup: Markup = markdown) -> str:
    """All values that the results have there, escaped."""
    values = dict.fromkeys(str(result.data[section][key]) for result in results)
    return markup.text("; ".join(value for value in values if value))


def _told(results: Sequence[Result], key: str) -> list[Any]:
    """All different values that the results tell of their device."""
    values: list[Any] = []
    for result in results:
        value = result.data["device"].get(key)
        if value is not None and value not in values:
            values.append(value)
    return values


def _link_text(told: dict[str, Any]) -> str:
    """PCI Express generation 5, 32 GT/s, x16."""
    parts = []
    for prefix in ("", "maximum_"):
        generation, speed, width = (told.get(prefix + key) for key in ("generation", "speed_gts", "width"))
        words = [
            f"generation {generation}" if generation else "",
            f"{speed:g} GT/s" if speed else "",
            f"x{width}" if width else "",
        ]
        parts.append(", ".join(word for word in words if word))
    now, most = parts
    if not most or now == most:
        return now
    return f"{now} (at most {most})" if now else f"at most {most}"


def identity_entries(results: Sequence[Result], markup: Markup) -> list[tuple[str, str]]:
    """Which device it is, as far as that is told."""

    def text(key: str) -> str:
        return markup.text("; ".join(str(value) for value in _told(results, key)))

    caps = "; ".join(f"{cap:g} W" for cap in _told(results, "power_cap_w"))
    links = dict.fromkeys(_link_text(link) for link in _told(results, "link"))
    entries = [
        ("UUID", text("uuid")),
        ("PCI address", text("pci_address")),
        ("Serial number", text("serial")),
        ("VBIOS", text("vbios")),
        ("Partition", text("partition")),
        ("Power cap", caps),
        ("ECC", text("ecc")),
        ("Link to the host", "; ".join(links)),
        ("Host", text("host")),
    ]
    return [(name, value) for name, value in entries if value]


def device_entries(results: Sequence[Result], markup: Markup) -> list[tuple[str, str]]:
    """The device by its driver, and what the results were made with; what is not known is left out."""
    device = results[0].data["device"]

    def quantity(value: float, unit: str) -> str:
        return markup.with_unit(value, unit) if value else ""

    entries = [
        ("Architecture", markup.text(device["architecture"])),
        ("Compute units (SMs)", quantity(device["compute_units"], "")),
        ("Wave (warp) size", quantity(device["wave_size"], "lanes")),
        ("Highest shader clock", quantity(device["maximum_shader_mhz"], "MHz")),
        ("Memory", quantity(round(device["memory_bytes"] / MIB), "MiB")),
        ("Memory clock", quantity(device["memory_mhz"], "MHz")),
        ("Memory bus", quantity(device["memory_bus_bits"], "bits")),
        ("L2 cache", quantity(device["l2_bytes"] / MIB, "MiB")),
        ("LDS (shared memory) per block", quantity(device["lds_bytes_per_block"] / 1024, "KiB")),
        ("Registers per block", quantity(device["registers_per_block"], "")),
        ("Threads per block", quantity(device["maximum_threads_per_block"], "")),
        ("Threads per compute unit", quantity(device["maximum_threads_per_compute_unit"], "")),
        *identity_entries(results, markup),
        ("Driver", distinct(results, "device", "driver", markup)),
        ("Runtime", distinct(results, "device", "runtime", markup)),
        ("Compiler", distinct(results, "build", "compiler", markup)),
        ("Flags", distinct(results, "build", "flags", markup)),
        ("hipscope", distinct(results, "hipscope", "git_revision", markup)),
    ]
    return [(name, value) for name, value in entries if value]


def device_table(results: Sequence[Result]) -> str:
    """What device_entries says, as a table in Markdown."""
    return markdown.text_table(["as the driver reports it", ""], device_entries(results, markdown))


def clock(found: dict[str, Any]) -> str:
    """The shader clock of a run, and how it is known."""
    if found["shader_mhz"] is None:
        return "Clock: not known."
    origin = {"measured": "measured", "given": "as given by --clock-mhz", "driver": "as the driver says"}
    line = f"Clock: {found['shader_mhz']:.0f} MHz, {origin.get(found['source'], 'source unknown')}"
    if found["highest_shader_mhz"] is not None:
        line += f", highest {found['highest_shader_mhz']:.0f} MHz"
    return (
        f"{line}; {found['throttled_samples']} of {found['samples']} samples throttled "
        "(more than 2 % under the highest)."
    )


def circumstances(data: dict[str, Any], markup: Markup) -> str:
    """When, how long and with which options an experiment ran."""
    options = data["options"]
    sizes = ", ".join(f"{markup.text(name)} {size}" for name, size in options["sizes"].items())
    parts = [f"preset {options['preset']}", f"seed {options['seed']}"]
    if sizes:
        parts.append(sizes)
    if options["filter"] is not None:
        parts.append(f"only sweeps that match {markup.text(options['filter'])}")
    line = f"Run on {data['date'][:10]} in {data['duration_s']:.1f} s: {'; '.join(parts)}."
    if data["scaled"]:
        line += " The sizes are scaled down for the CPU."
    return line


def overheads(data: dict[str, Any], markup: Markup) -> list[str]:
    """What measuring itself cost, as a sentence, if that was measured."""
    items = [
        f"{markup.text(item['name'])} {markup.with_unit(item['value'], item['unit'])}" for item in data["overheads"]
    ]
    return [f"Overheads of measuring: {', '.join(items)}."] if items else []
