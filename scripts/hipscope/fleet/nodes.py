"""What the nodes of a fleet say of themselves, and which of them say nothing."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import layout
from .layout import FleetError
from .node import GOOD
from .store import Place
from .verdicts import FAIL, PASS, SUSPECT

# From good to bad, with what is between: too few GPUs to tell, no trouble seen.
UNJUDGED = "unjudged"
STATES = (PASS, UNJUDGED, SUSPECT, FAIL)
NEVER = "never"


def worst(states: Sequence[str]) -> str:
    """The worst of these states; pass without any."""
    return max(states, key=STATES.index, default=PASS)


@dataclass
class Node:
    """A node: how its run stands, and the state that the report gives it, with its reasons."""

    name: str
    status: str
    record: dict[str, Any] = field(default_factory=dict)
    confirm: dict[str, Any] = field(default_factory=dict)
    state: str = PASS
    reasons: list[str] = field(default_factory=list)
    is_expected: bool = True

    def worsen(self, state: str, reason: str) -> None:
        """Gives the node this state unless it has a worse one, and a reason."""
        self.state = worst([self.state, state])
        self.reasons.append(reason)

    @property
    def slots(self) -> list[int]:
        """The indices of the GPUs that the node has listed."""
        return [gpu["index"] for gpu in self.record.get("gpus", ())]


def by_number(name: str) -> tuple[tuple[int, int, str], ...]:
    """Orders node9 before node10."""
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name) if part)


def _checked(path: Path) -> dict[str, Any]:
    """A node's file, whose entries are what they are to be; raises FleetError."""
    record = layout.read_object(path)
    gpus = record.get("gpus")
    good = record.get("status") in (layout.STARTED, layout.FINISHED, layout.FAILED) and isinstance(gpus, list)
    if not good or any(
        not isinstance(gpu, dict) or not isinstance(gpu.get("index"), int) or not isinstance(gpu.get("state"), str)
        for gpu in gpus or ()
    ):
        raise FleetError(f"{path} is no file of a node.")
    return record


def _read(folder: Path, name: str) -> Node:
    node = Node(name, NEVER)
    try:
        node.record = _checked(folder / layout.NODE_FILE)
        node.status = node.record["status"]
        if (folder / layout.CONFIRM_FILE).exists():
            node.confirm = _checked(folder / layout.CONFIRM_FILE)
    except FleetError as error:
        node.worsen(FAIL, str(error))
    return node


def _short(name: str) -> str:
    return name.partition(".")[0]


def read_nodes(folder: Path, expected: Mapping[str, int | None] | None) -> dict[str, Node]:
    """All nodes that are expected or have reported, by name; raises FleetError."""
    place = layout.nodes_folder(folder)
    try:
        names = [entry.name for entry in os.scandir(place) if entry.is_dir() and layout.NODE_NAME.fullmatch(entry.name)]
    except OSError as error:
        if expected is None or not folder.is_dir():
            raise FleetError(
                f"{place} cannot be read: {error.strerror}; name the folder that `fleet.py run --out` had."
            ) from error
        names = []
    if not names and expected is None:
        raise FleetError(f"{place} holds no node's results.")
    nodes = {name: _read(place / name, name) for name in names}
    # A list may have a node's short name, and the node its long one.
    short = {_short(name): name for name in names}
    for name in expected or ():
        there = name if name in nodes else short.get(name) if "." not in name else None
        if there is None:
            nodes[name] = Node(name, NEVER)
            nodes[name].worsen(FAIL, "never reported")
    if expected is not None:
        known = set(expected) | {_short(name) for name in expected}
        for name, node in nodes.items():
            node.is_expected = name in known or _short(name) in expected
    for node in nodes.values():
        _judge(node, (expected or {}).get(node.name, (expected or {}).get(_short(node.name))))
    _compare_counts(nodes.values(), expected or {})
    return dict(sorted(nodes.items(), key=lambda pair: by_number(pair[0])))


def _judge(node: Node, count: int | None) -> None:
    """What the node's own file says of its run."""
    record = node.record
    if node.status == layout.STARTED:
        last = [f"{run['phase']} {run['experiment']}" for gpu in record["gpus"] for run in gpu.get("runs", ())[-1:]]
        behind = f", last heard of after {last[-1]}" if last else ""
        node.worsen(FAIL, f"began at {record.get('began')} and did not end{behind}")
    elif node.status == layout.FAILED:
        node.worsen(FAIL, str(record.get("message") or "its run failed"))
    if count is not None and record and len(node.slots) != count:
        node.worsen(FAIL, f"has {layout.counted(len(node.slots), 'GPU')}, and {count} are expected")
    if record.get("interruptions"):
        node.reasons.append(f"was interrupted {layout.counted(record['interruptions'], 'time')} and went on")


def _compare_counts(nodes: Sequence[Node] | Any, expected: Mapping[str, int | None]) -> None:
    """A node with fewer GPUs than most has lost one."""
    finished = [node for node in nodes if node.status == layout.FINISHED]
    if not finished:
        return
    usual, often = Counter(len(node.slots) for node in finished).most_common(1)[0]
    if 2 * often <= len(finished):
        return
    for node in finished:
        if len(node.slots) < usual and expected.get(node.name) is None:
            node.worsen(
                SUSPECT,
                f"has {layout.counted(len(node.slots), 'GPU')}, and {often} of {len(finished)} nodes have {usual}",
            )


def places(folder: Path, nodes: Mapping[str, Node]) -> Iterator[Place]:
    """The GPUs that have results."""
    for node in nodes.values():
        if not node.record:
            continue
        place = layout.node_folder(folder, node.name)
        stats = [path.stat() for path in (place / layout.NODE_FILE, place / layout.CONFIRM_FILE) if path.exists()]
        signature = " ".join(f"{stat.st_mtime_ns} {stat.st_size}" for stat in stats)
        for gpu in layout.gpu_folders(place):
            yield Place(node.name, layout.gpu_index(gpu.name) or 0, gpu, signature)


def trouble_of(node: Node, slot: int) -> str:
    """What went wrong when a GPU was measured; empty if nothing did."""
    for record in (node.record, node.confirm):
        for gpu in record.get("gpus", ()):
            if gpu["index"] == slot and gpu["state"] != GOOD:
                return f"{gpu['state']}: {gpu.get('message') or 'nothing more is told'}"
    return ""
