"""The GPUs of a node, as the binaries see them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from .layout import FleetError
from .processes import Command, run_all

NO_DEVICE = 77
LISTING_LIMIT_S = 60.0
# By backend, the variable that hides GPUs from a program.
VISIBLE = {"nvidia": "CUDA_VISIBLE_DEVICES", "amd": "HIP_VISIBLE_DEVICES"}
# Others that also hide GPUs on AMD; where one is set, no index of ours is sure.
ALSO_VISIBLE = {"amd": ("CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")}


@dataclass(frozen=True)
class Device:
    """A GPU: its index among the node's, what the binaries call it, and how one is told to take it."""

    index: int
    description: str
    options: tuple[str, ...]
    environment: dict[str, str]


def _ask(binary: Path, option: str, scratch: Path) -> tuple[int, str]:
    """The exit status of a binary and what it prints; raises FleetError."""
    output, log = scratch / "asked.txt", scratch / "asked.err"
    outcome = run_all([Command([str(binary), option], log, dict(os.environ), output)], LISTING_LIMIT_S)[0]
    if outcome.timed_out:
        raise FleetError(
            f"{binary} {option} did not answer within {LISTING_LIMIT_S:g} s; a GPU or its driver hangs.", 3
        )
    if outcome.trouble:
        raise FleetError(f"{binary} {outcome.trouble}.")
    if outcome.status not in (0, NO_DEVICE):
        said = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-200:]
        raise FleetError(f"{binary} {option} ended with status {outcome.status}: {said or 'it says nothing'}.", 3)
    return outcome.status, output.read_text(encoding="utf-8", errors="replace")


def version_of(binary: Path, scratch: Path) -> tuple[str, str]:
    """What a binary says of its version, and its backend; raises FleetError."""
    _, said = _ask(binary, "--version", scratch)
    match = re.search(r"\bbackend (amd|nvidia|host)\b", said)
    if not match:
        raise FleetError(f"{binary} --version names no backend.")
    return said.strip(), match[1]


def _hidden(backend: str, index: int, count: int) -> tuple[tuple[str, ...], dict[str, str]]:
    """How a program sees one GPU only: one that hangs must not keep it from opening its own."""
    variable = VISIBLE.get(backend)
    if variable is None or any(other in os.environ for other in ALSO_VISIBLE.get(backend, ())):
        return ("--device", str(index)), {}
    names = os.environ[variable].split(",") if os.environ.get(variable) else [str(each) for each in range(count)]
    if len(names) != count:
        return ("--device", str(index)), {}
    return ("--device", "0"), {variable: names[index].strip()}


def find_devices(binary: Path, backend: str, made_up: int | None, scratch: Path) -> list[Device]:
    """All GPUs of the node; on the host backend as many made-up ones as asked for; raises FleetError."""
    status, said = _ask(binary, "--devices", scratch)
    lines = [line.split("\t") for line in said.splitlines() if line.strip()]
    if status == NO_DEVICE or not lines:
        raise FleetError("the binaries find no GPU on this node.", NO_DEVICE)
    if any(len(line) < 3 or not line[0].isdigit() for line in lines):
        raise FleetError(f"{binary} --devices does not list devices by index, name and description.")
    if made_up is not None:
        if backend != "host":
            raise FleetError("--made-up-gpus is for binaries of the host backend.")
        return [Device(index, lines[0][2], (), {}) for index in range(made_up)]
    return [Device(index, line[2], *_hidden(backend, index, len(lines))) for index, line in enumerate(lines)]


def near_cpus(pci_address: str, pci: Path = Path("/sys/bus/pci/devices")) -> frozenset[int]:
    """The CPUs that are near a GPU, of those this process may use; empty where that is not told."""
    if not re.fullmatch(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(\.[0-7])?", pci_address):
        return frozenset()
    domain, bus, rest = pci_address.lower().split(":")
    card = f"{domain[-4:]}:{bus}:{rest[:2]}.0"
    # A partition of an AMD card has a function of its own, which PCI does not know.
    folders = [pci / name for name in (f"{domain[-4:]}:{bus}:{rest}", card) if (pci / name).exists()]
    try:
        text = (folders[0] / "local_cpulist").read_text(encoding="ascii") if folders else ""
    except OSError:
        return frozenset()
    cpus: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus & os.sched_getaffinity(0))
