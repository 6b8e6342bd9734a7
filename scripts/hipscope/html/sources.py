"""Whose figures the page compares: devices with results, and published figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hipscope.report import shared
from hipscope.results import formats, load
from hipscope.results.published import Figure
from hipscope.results.records import Result

from . import html_text

# Folders beside those of devices that hold other files.
NOT_DEVICES = ("isa", "published")


@dataclass(frozen=True)
class Source:
    """A device with results, or a GPU with published figures (`results` is empty then)."""

    number: int
    name: str
    results: tuple[Result, ...] = ()

    @property
    def mark(self) -> str:
        """The class of everything on the page that goes with its switch."""
        return f"d{self.number}"

    @property
    def is_published(self) -> bool:
        """Whether its figures are somebody else's."""
        return not self.results

    @property
    def is_cpu(self) -> bool:
        """Whether its times are a CPU's, which are never drawn beside a GPU's."""
        return bool(self.results) and shared.is_host(self.results)

    @property
    def label(self) -> str:
        """The name that says what kind of figures these are; not escaped."""
        if self.is_published:
            return f"{self.name} (published)"
        return f"{self.name} (CPU, checked only)" if self.is_cpu else self.name

    def result(self, name: str) -> Result | None:
        """Its result of this name, if it has one."""
        return next((one for one in self.results if one.name == name), None)


def side_by_side(first: str, sources: Sequence[Source], rows: Sequence[Sequence[str]]) -> str:
    """A table of escaped cells with a column for each source, after one of this name."""
    header = [first, *(html_text.text(source.label) for source in sources)]
    return html_text.table(header, rows, "words", ["", *(source.mark for source in sources)])


def device_folders(results: Path) -> list[Path]:
    """The folders of results/ that hold results of a device."""
    return [
        folder
        for folder in sorted(results.glob("*"))
        if folder.is_dir()
        and folder.name not in NOT_DEVICES
        and not folder.name.startswith(".")
        and load.result_paths(folder)
    ]


def make_sources(folders: Sequence[tuple[Path, Sequence[Result]]], figures: Sequence[Figure]) -> list[Source]:
    """Devices in the order of their folders, then the published GPUs by their first appearance.

    Devices of one name are told apart by their folders, or where these are alike by a number.
    """
    names = [results[0].device.name or formats.plain(folder.name) for folder, results in folders]
    often = Counter(names)
    unique: list[str] = []
    for name, (folder, _) in zip(names, folders):
        wanted = f"{name}, {formats.plain(folder.resolve().name)}" if often[name] > 1 else name
        count = sum(one == wanted or one.startswith(f"{wanted} #") for one in unique)
        unique.append(f"{wanted} #{count + 1}" if count else wanted)
    devices = [Source(number, name, tuple(results)) for number, (name, (_, results)) in enumerate(zip(unique, folders))]
    rows = (row for _, results in folders for result in results for sweep in result.sweeps for row in sweep.rows)
    gpus = dict.fromkeys(
        [*(figure["gpu"] for figure in figures), *(item.gpu for row in rows for item in row.published)]
    )
    return [*devices, *(Source(number, gpu) for number, gpu in enumerate(gpus, len(devices)))]
