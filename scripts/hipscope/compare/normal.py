"""Whether a card is like others of its model: each parameter among theirs, and why one is off."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hipscope.report import card, shared
from hipscope.report.card_page import Units
from hipscope.results import load, markdown
from hipscope.results.records import Device, Result

# A clock that is lower by this part, or this part of the samples throttled, may be a cause.
SLOWER, OFTEN = 0.02, 0.05
# By what factor a parameter may differ from the same model's before a result is refused.
IMPLAUSIBLE = 2.0
# Both edges of the memory's clock carry data; what a clock's rounding adds.
EDGES, ROUNDING = 2, 1.02
SAY_NOTHING = "the results do not say why: run it again with nothing else on the GPU and with locked clocks"


@dataclass(frozen=True)
class Reading:
    """A parameter of one card as the first of its experiments tells it."""

    group: str
    name: str
    value: float
    unit: str
    tolerance: float
    experiment: str


@dataclass(frozen=True)
class Measured:
    results: Sequence[Result]

    @property
    def device(self) -> Device:
        return self.results[0].device

    def result(self, name: str) -> Result:
        """The result of an experiment that has a reading."""
        return next(one for one in self.results if one.name == name)

    @cached_property
    def readings(self) -> dict[str, Reading]:
        """Its parameters by name, without the variants."""
        made: dict[str, Any] = card.make_card(self.results) or {}
        return {
            one["name"]: Reading(
                group, one["name"], told[0]["value"], told[0]["unit"], one["tolerance"], told[0]["experiment"]
            )
            for group in card.GROUPS
            for one in made.get(group, ())
            if not one["variant"] and (told := [each for each in one["readings"] if each["value"] is not None])
        }


@dataclass(frozen=True)
class Place:
    """A parameter and the others' values; `off` is the share by which it is outside of them, or 0."""

    reading: Reading
    others: Sequence[float]
    off: float


def measured(folder: Path) -> Measured:
    return Measured(load.load_folder(folder))


def _distance(one: Device, other: Device) -> float:
    """How unlike two models are, by what a driver always tells."""
    pairs = (
        (one.compute_units, other.compute_units),
        (one.maximum_shader_mhz, other.maximum_shader_mhz),
        (one.memory_bytes, other.memory_bytes),
    )
    return sum(abs(math.log(first / second)) for first, second in pairs if first and second)


def choose(mine: Measured, others: Sequence[Measured]) -> tuple[list[Measured], bool]:
    """The others of the same model and True; without any, the nearest model's and False."""
    gpus = [one for one in others if not shared.is_host(one.results) and one.readings]
    name = mine.device.name
    if all(one.device.name != name for one in gpus) and gpus:
        name = min(gpus, key=lambda one: _distance(mine.device, one.device)).device.name
    return [one for one in gpus if one.device.name == name], name == mine.device.name


def places(mine: Measured, others: Sequence[Measured]) -> list[Place]:
    found = []
    for reading in mine.readings.values():
        told = (one.readings.get(reading.name) for one in others)
        values = sorted(one.value for one in told if one and one.unit == reading.unit)
        if values:
            low, high = values[0], values[-1]
            beyond = min(reading.value - low, 0.0) / low if reading.value < low else (reading.value - high) / high
            is_off = (reading.value < low or reading.value > high) and abs(beyond) > reading.tolerance
            found.append(Place(reading, values, beyond if is_off else 0.0))
    return found


def _link_causes(mine: Device, other: Device) -> Iterator[str]:
    if mine.link and mine.link.width and mine.link.maximum_width and mine.link.width < mine.link.maximum_width:
        yield f"the link to the host is x{mine.link.width} of x{mine.link.maximum_width}"
    speed, usual = (one.link.speed_gts if one.link else None for one in (mine, other))
    if speed and usual and speed < usual:
        yield f"the link runs at {speed:g} GT/s, not {usual:g}"


def _memory_causes(mine: Device, other: Device) -> Iterator[str]:
    if mine.ecc != other.ecc and mine.ecc and other.ecc:
        yield f"ECC is {mine.ecc}, not {other.ecc}"
    if mine.memory_mhz and abs(mine.memory_mhz / (other.memory_mhz or mine.memory_mhz) - 1) > SLOWER:
        yield f"the memory's clock is {mine.memory_mhz:g} MHz, not {other.memory_mhz:g} MHz"


def _clock_causes(mine: Result, other: Result) -> Iterator[str]:
    if mine.clock.throttled_samples > OFTEN * mine.clock.samples:
        yield f"{mine.clock.throttled_samples} of {mine.clock.samples} samples were throttled"
    cap, usual = mine.device.power_cap_w, other.device.power_cap_w
    if cap and usual and cap < usual:
        yield f"the power cap is {cap:g} W, not {usual:g} W"
    clock, usual = mine.clock.shader_mhz, other.clock.shader_mhz
    if clock and usual and abs(clock / usual - 1) > SLOWER:
        yield f"the shader clock was {clock:.0f} MHz, not {usual:.0f} MHz"


def cause(reading: Reading, mine: Result, other: Result) -> str:
    """What the results tell that may be why a parameter is off; cycles follow no clock."""
    found: list[str] = []
    if reading.group == "copies":
        found += _link_causes(mine.device, other.device)
    if "memory" in reading.name:
        found += _memory_causes(mine.device, other.device)
    if "cycle" not in reading.unit or reading.group == "memory":
        found += _clock_causes(mine, other)
    if not found and mine.device.driver != other.device.driver:
        found.append(f"perhaps the driver, {mine.device.driver}, not {other.device.driver}")
    return "; ".join(found) or SAY_NOTHING


def _is_of_other_sizes(place: Place, mine: Measured, others: Sequence[Measured]) -> bool:
    """Whether it is off, but its experiment ran with other sizes, as --quick and --card take: that decides nothing."""
    own, other = mine.result(place.reading.experiment), _nearest(place.reading, others)
    return bool(place.off) and own.options.sizes != other.options.sizes


def _where(place: Place, is_same_model: bool, is_of_other_sizes: bool = False) -> str:
    if not is_same_model:
        return f"{place.reading.value / place.others[-1]:.3g} times" if place.others[-1] else ""
    if is_of_other_sizes:
        return f"{100 * place.off:+.1f} %, of other sizes"
    if place.off:
        return markdown.strong(f"{100 * abs(place.off):.1f} % {'below' if place.off < 0 else 'above'}")
    return "as theirs"


def page(mine: Measured, others: Sequence[Measured], is_same_model: bool) -> str:
    units = Units({one.name: one.clock.shader_mhz for one in mine.results})
    found = places(mine, others)
    unlike = [one for one in found if _is_of_other_sizes(one, mine, others)] if is_same_model else []
    off = [one for one in found if one.off and one not in unlike] if is_same_model else []
    model = markdown.text(others[0].device.name)

    def human(value: float, reading: Reading) -> str:
        return units.human(value, reading.unit, "")

    rows = [
        [
            markdown.text(one.reading.name),
            human(one.reading.value, one.reading),
            " ... ".join(dict.fromkeys(human(value, one.reading) for value in (one.others[0], one.others[-1]))),
            _where(one, is_same_model, one in unlike),
            markdown.text(one.reading.experiment),
        ]
        for one in found
    ]
    compared = f"There are no results of this model; the nearest is {model}. Nothing is judged: the two may differ."
    if is_same_model:
        alike = len(found) - len(off) - len(unlike)
        compared = f"Compared with {len(others)} other {model}: {alike} of {len(found)} parameters are as theirs."
    if unlike:
        compared += f" Off, but measured with other sizes (--quick, --card), which decides nothing: {len(unlike)}."
    outliers = [
        f"{markdown.text(one.reading.name)}: {human(one.reading.value, one.reading)}, {_where(one, True)} "
        f"{human(one.others[0 if one.off < 0 else -1], one.reading)}. Likely cause: "
        + markdown.text(cause(one.reading, mine.result(one.reading.experiment), _nearest(one.reading, others)))
        + "."
        for one in off
    ]
    parts = [f"# Is it normal? {markdown.text(mine.device.name)}", compared]
    if outliers:
        parts += ["## Off", "\n".join(f"- {one}" for one in outliers)]
    table = markdown.text_table(["parameter", "here", "there", "", "experiment"], rows)
    return "\n\n".join([*parts, "## All parameters", table]) + "\n"


def _nearest(reading: Reading, others: Sequence[Measured]) -> Result:
    """The result of another card that tells the parameter."""
    one = next(one for one in others if reading.name in one.readings)
    return one.result(one.readings[reading.name].experiment)


def implausible(mine: Measured, others: Sequence[Measured], is_same_model: bool) -> Iterator[str]:
    """What is wrong with results that somebody sends in, one sentence each."""
    for result in mine.results:
        if not shared.verified(result):
            yield f"{result.name}: a verification failed, or it did not pass"
        named = {"host": result.device.host, "serial": result.device.serial, "uuid": result.device.uuid}
        for what in (name for name, value in named.items() if value):
            yield f"{result.name}: it names the device's {what}: run it without --identity"
    device = mine.device
    most = EDGES * 1e6 * device.memory_mhz * device.memory_bus_bits / 8 / 1e9 * ROUNDING
    for name in ("memory read bandwidth", "memory write bandwidth", "memory copy bandwidth"):
        reading = mine.readings.get(name)
        if reading and most and reading.value > most:
            yield f"{name}: {reading.value:.4g} GB/s, which clock and bus do not carry ({most:.4g} GB/s)"
    for place in places(mine, others) if is_same_model else ():
        value, low, high = place.reading.value, place.others[0], place.others[-1]
        if value > IMPLAUSIBLE * high or value < low / IMPLAUSIBLE:
            yield f"{place.reading.name}: {value:.4g} {place.reading.unit}, others of the model {low:.4g} to {high:.4g}"
