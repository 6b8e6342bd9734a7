"""What the nodes of a fleet say of themselves, and which of them say nothing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from hipscope.results import door, formats
from hipscope.results.door import BadInput

from . import layout
from .node import GOOD
from .verdicts import FAIL, PASS, SUSPECT, worst

NEVER = "never"

Json = dict[str, Any]


class Place(NamedTuple):
    """A GPU's node, its index there, and the folder of its results."""

    node: str
    slot: int
    folder: Path


@dataclass
class Node:
    """A node: its file and that of the run which confirms, and the state that the report gives it, with its reasons."""

    name: str
    record: Json | None = None
    confirm: Json | None = None
    state: str = PASS
    reasons: list[str] = field(default_factory=list)
    is_expected: bool = True

    def worsen(self, state: str, reason: str) -> None:
        """Gives the node this state unless it has a worse one, and a reason."""
        self.state = worst(self.state, state)
        self.reasons.append(reason)

    @property
    def status(self) -> str:
        return self.record["status"] if self.record else NEVER

    @property
    def slots(self) -> list[int]:
        return [gpu["index"] for gpu in self.record["gpus"]] if self.record else []


def read_record(path: Path) -> Json:
    """A node's file; raises BadInput."""
    record: Json = door.read_json(path, layout.NODE_SCHEMA)
    if len({gpu["index"] for gpu in record["gpus"]}) < len(record["gpus"]):
        raise BadInput(f"{path} lists a GPU twice.")
    return record


def _read(folder: Path, name: str) -> Node:
    node = Node(name)
    try:
        node.record = read_record(folder / layout.NODE_FILE)
        if os.path.lexists(folder / layout.CONFIRM_FILE):
            node.confirm = read_record(folder / layout.CONFIRM_FILE)
    except BadInput as error:
        node.worsen(FAIL, str(error))
    return node


def read_nodes(folder: Path, expected: Mapping[str, int | None] | None) -> dict[str, Node]:
    """All nodes that are expected or have reported, by name; raises BadInput."""
    place = layout.nodes_folder(folder)
    try:
        names = [one.name for one in door.entries(place) if one.is_dir() and layout.NODE_NAME.fullmatch(one.name)]
    except BadInput as error:
        if expected is None or not folder.is_dir():
            raise BadInput(f"{error} Name the folder that `fleet.py run --out` had.") from error
        names = []
    if not names and expected is None:
        raise BadInput(f"{place} holds no node's results.")
    nodes = {name: _read(place / name, name) for name in names}
    # A list may have a node's short name, and the node its long one.
    short = {name.partition(".")[0]: name for name in names}
    for name in expected or ():
        there = name if name in nodes else short.get(name) if "." not in name else None
        if there is None:
            nodes[name] = Node(name)
            nodes[name].worsen(FAIL, "never reported")
    if expected is not None:
        known = set(expected) | {name.partition(".")[0] for name in expected}
        for name, node in nodes.items():
            node.is_expected = name in known or name.partition(".")[0] in expected
    for node in nodes.values():
        _judge(node, (expected or {}).get(node.name, (expected or {}).get(node.name.partition(".")[0])))
    _compare_counts(nodes.values(), expected or {})
    return dict(sorted(nodes.items(), key=lambda pair: formats.by_number(pair[0])))


def _judge(node: Node, count: int | None) -> None:
    """What the node's own file says of its run."""
    record = node.record
    if record is None:
        return
    if node.status == layout.STARTED:
        last = [f"{run['phase']} {run['experiment']}" for gpu in record["gpus"] for run in gpu["runs"][-1:]]
        behind = f", last heard of after {last[-1]}" if last else ""
        node.worsen(FAIL, f"began at {record['began']} and did not end{behind}")
    elif node.status == layout.FAILED:
        node.worsen(FAIL, record["message"] or "its run failed")
    if count is not None and len(node.slots) != count:
        node.worsen(FAIL, f"has {layout.counted(len(node.slots), 'GPU')}, and {count} are expected")
    if record["interruptions"]:
        node.reasons.append(f"was interrupted {layout.counted(record['interruptions'], 'time')} and went on")


def _compare_counts(nodes: Iterable[Node], expected: Mapping[str, int | None]) -> None:
    """A node with fewer GPUs than most has lost one."""
    finished = [node for node in nodes if node.status == layout.FINISHED]
    for usual, often in Counter(len(node.slots) for node in finished).most_common(1):
        for node in finished if 2 * often > len(finished) else ():
            if len(node.slots) < usual and expected.get(node.name) is None:
                has = layout.counted(len(node.slots), "GPU")
                node.worsen(SUSPECT, f"has {has}, and {often} of {len(finished)} nodes have {usual}")


def places(folder: Path, nodes: Mapping[str, Node]) -> Iterator[Place]:
    """The GPUs that have results; a node whose folder cannot be read fails."""
    for node in nodes.values():
        try:
            for index, gpu in layout.gpu_folders(layout.node_folder(folder, node.name)) if node.record else ():
                yield Place(node.name, index, gpu)
        except BadInput as error:
            node.worsen(FAIL, str(error))


def trouble_of(node: Node, slot: int) -> str:
    """What went wrong when a GPU was measured; empty if nothing did."""
    for record in filter(None, (node.record, node.confirm)):
        for gpu in record["gpus"]:
            if gpu["index"] == slot and gpu["state"] != GOOD:
                return f"{gpu['state']}: {gpu['message'] or 'nothing more is told'}"
    return ""
