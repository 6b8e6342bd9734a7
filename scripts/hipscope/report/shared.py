"""What the pages of a results folder have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hipscope.results import markdown
from hipscope.results.records import Clock, Link, Result

from .sweep_table import Markup

MIB = 2**20


def is_host(results: Sequence[Result]) -> bool:
    """Whether a result is of the CPU, on which nothing of a GPU is measured or inferred."""
    return any(result.build.backend == "host" for result in results)


def verified(result: Result) -> bool:
    """Whether all that the kernels computed was right."""
    return result.status == "passed" and not result.verification.failures


def link(result: Result, has_pages: bool) -> str:
    """A link to the experiment's page, or else to its result file."""
    return f"[{result.title}]({f'{result.name}.md' if has_pages else result.path.name})"


def distinct(values: Iterable[str | None], markup: Markup = markdown) -> str:
    """All different texts of these, escaped."""
    return markup.text("; ".join(value for value in dict.fromkeys(values) if value))


def _lanes_text(generation: int | None, speed: float | None, width: int | None) -> str:
    words = [
        f"generation {generation}" if generation else "",
        f"{speed:g} GT/s" if speed else "",
        f"x{width}" if width else "",
    ]
    return ", ".join(word for word in words if word)


def _link_text(link: Link) -> str:
    """PCI Express generation 5, 32 GT/s, x16."""
    now = _lanes_text(link.generation, link.speed_gts, link.width)
    most = _lanes_text(link.maximum_generation, link.maximum_speed_gts, link.maximum_width)
    if not most or now == most:
        return now
    return f"{now} (at most {most})" if now else f"at most {most}"


def device_entries(results: Sequence[Result], markup: Markup) -> list[tuple[str, str]]:
    """The device by its driver, which it is, and what the results were made with; what is not known is left out."""
    devices = [result.device for result in results]
    device = devices[0]
    caps = (f"{one.power_cap_w:g} W" for one in devices if one.power_cap_w is not None)
    links = (_link_text(one.link) for one in devices if one.link is not None)

    def quantity(value: float, unit: str) -> str:
        return markup.with_unit(value, unit) if value else ""

    entries = [
        ("Architecture", markup.text(device.architecture)),
        ("Compute units (SMs)", quantity(device.compute_units, "")),
        ("Wave (warp) size", quantity(device.wave_size, "lanes")),
        ("Highest shader clock", quantity(device.maximum_shader_mhz, "MHz")),
        ("Memory", quantity(round(device.memory_bytes / MIB), "MiB")),
        ("Memory clock", quantity(device.memory_mhz, "MHz")),
        ("Memory bus", quantity(device.memory_bus_bits, "bits")),
        ("L2 cache", quantity(device.l2_bytes / MIB, "MiB")),
        ("LDS (shared memory) per block", quantity(device.lds_bytes_per_block / 1024, "KiB")),
        ("Registers per block", quantity(device.registers_per_block, "")),
        ("Threads per block", quantity(device.maximum_threads_per_block, "")),
        ("Threads per compute unit", quantity(device.maximum_threads_per_compute_unit, "")),
        ("UUID", distinct((one.uuid for one in devices), markup)),
        ("PCI address", distinct((one.pci_address for one in devices), markup)),
        ("Serial number", distinct((one.serial for one in devices), markup)),
        ("VBIOS", distinct((one.vbios for one in devices), markup)),
        ("Partition", distinct((one.partition for one in devices), markup)),
        ("Power cap", "; ".join(dict.fromkeys(caps))),
        ("ECC", distinct((one.ecc for one in devices), markup)),
        ("Link to the host", "; ".join(dict.fromkeys(links))),
        ("Host", distinct((one.host for one in devices), markup)),
        ("Driver", distinct((one.device.driver for one in results), markup)),
        ("Runtime", distinct((one.device.runtime for one in results), markup)),
        ("Compiler", distinct((one.build.compiler for one in results), markup)),
        ("Flags", distinct((one.build.flags for one in results), markup)),
        ("hipscope", distinct((one.revision for one in results), markup)),
    ]
    return [(name, value) for name, value in entries if value]


def clock(found: Clock) -> str:
    """The shader clock of a run, and how it is known."""
    if found.shader_mhz is None:
        return "Clock: not known."
    origin = {"measured": "measured", "given": "as given by --clock-mhz", "driver": "as the driver says"}
    line = f"Clock: {found.shader_mhz:.0f} MHz, {origin.get(found.source, 'source unknown')}"
    if found.highest_shader_mhz is not None:
        line += f", highest {found.highest_shader_mhz:.0f} MHz"
    return f"{line}; {found.throttled_samples} of {found.samples} samples throttled (more than 2 % under the highest)."


def circumstances(result: Result, markup: Markup) -> str:
    """When, how long and with which options an experiment ran."""
    options = result.options
    sizes = ", ".join(f"{markup.text(name)} {size}" for name, size in options.sizes.items())
    parts = [f"preset {options.preset}", f"seed {options.seed}"]
    if sizes:
        parts.append(sizes)
    if options.filter is not None:
        parts.append(f"only sweeps that match {markup.text(options.filter)}")
    line = f"Run on {result.date[:10]} in {result.duration_s:.1f} s: {'; '.join(parts)}."
    if result.scaled:
        line += " The sizes are scaled down for the CPU."
    return line


def overheads(result: Result, markup: Markup) -> list[str]:
    """What measuring itself cost, as a sentence, if that was measured."""
    items = [f"{markup.text(item.name)} {markup.with_unit(item.value, item.unit)}" for item in result.overheads]
    return [f"Overheads of measuring: {', '.join(items)}."] if items else []
