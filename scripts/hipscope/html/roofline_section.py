"""The rooflines of all devices in one picture, with their values in a table."""

from __future__ import annotations

from collections.abc import Sequence

from hipscope.report import ceilings
from hipscope.report.ceilings import GIGA, GREATEST_INTENSITY, LEAST_INTENSITY, TERA, Kernel, Roofline
from hipscope.results import formats
from hipscope.results.records import Axis, Sweep

from . import charts, html_text
from .lines import Line, Plot, Point
from .sources import Source, side_by_side

UNIT = "TFLOP/s"
# What a picture is of, as a sweep says it.
SWEEP = Sweep("", "", Axis("FLOPs per byte", "", "logarithmic"), "rate", [], [])
ARITHMETIC, MEMORY = "arithmetic", "memory"


def known(devices: Sequence[Source]) -> list[tuple[Source, Roofline]]:
    """The devices of which both arithmetic and memory are known."""
    found = [(device, ceilings.roofline_of(device.results)) for device in devices if not device.is_cpu]
    return [(device, one) for device, one in found if one.arithmetic and one.memory]


def _line(source: Source, name: str, points: Sequence[tuple[float, float]], kind: str = "") -> Line:
    return Line(
        source, f"{source.label}: {name}", [Point(x, rate / TERA, formats.number(x), 0) for x, rate in points], kind
    )


def _lines(source: Source, found: Roofline) -> list[Line]:
    """A roof of each kind of arithmetic from the fastest memory's line on, a slope of each memory up to the highest
    roof, and the whole kernels, a point each."""
    top = max(one.rate for one in found.arithmetic)
    fastest = max(one.rate for one in found.memory)
    lines = [
        _line(
            source,
            one.name,
            [(max(LEAST_INTENSITY, one.rate / fastest), one.rate), (GREATEST_INTENSITY, one.rate)],
            ARITHMETIC,
        )
        for one in found.arithmetic
    ]
    lines += [
        _line(source, one.name, [(LEAST_INTENSITY, one.rate * LEAST_INTENSITY), (top / one.rate, top)], MEMORY)
        for one in found.memory
    ]
    return lines + [_line(source, one.name, [(one.intensity, one.rate)]) for one in found.kernels]


def _rate(rate: float, unit: str) -> str:
    size, prefix = (TERA, "T") if rate >= TERA else (GIGA, "G")
    return html_text.with_unit(rate / size, f"{prefix}{unit}")


def _kernel(kernel: Kernel) -> str:
    return f"{_rate(kernel.rate, 'FLOP/s')} at {html_text.with_unit(kernel.intensity, 'FLOPs per byte')}"


def _table(found: Sequence[tuple[Source, Roofline]]) -> str:
    cells: dict[str, dict[str, str]] = {}
    for source, one in found:
        for ceiling in one.arithmetic:
            cells.setdefault(ceiling.name, {})[source.mark] = _rate(ceiling.rate, "FLOP/s")
        for ceiling in one.memory:
            cells.setdefault(ceiling.name, {})[source.mark] = _rate(ceiling.rate, "B/s")
        for kernel in one.kernels:
            cells.setdefault(kernel.name, {})[source.mark] = _kernel(kernel)
    marks = [source.mark for source, _ in found]
    rows = [
        [html_text.text(name), *(by_device.get(mark, formats.NOT_THERE) for mark in marks)]
        for name, by_device in cells.items()
    ]
    return side_by_side("", [source for source, _ in found], rows)


def content(devices: Sequence[Source]) -> str:
    """The section's; empty where no device has both kinds of ceilings."""
    found = known(devices)
    if not found:
        return ""
    plot = Plot(SWEEP, UNIT, False, [line for source, one in found for line in _lines(source, one)])
    drawn = charts.figure(plot)
    # What the kinds of lines are, the text says; whose they are, their colours.
    drawn["legend"] = False
    return (
        f"<p>{html_text.text(ceilings.EXPLANATION)}</p>\n<figure>{charts.place(plot, 'roofline', 0, drawn)}"
        + html_text.details("Table", _table(found))
        + f"</figure>{charts.data('roofline', [drawn])}"
    )
