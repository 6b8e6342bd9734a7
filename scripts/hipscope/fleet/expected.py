"""Lists of nodes: those that must report, and the GPUs that are to be measured again."""

from __future__ import annotations

import re
from pathlib import Path

from hipscope.results import door
from hipscope.results.door import BadInput

from .layout import NODE_NAME

MOST_NODES = 100_000


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """The words of each line, with its number; what is after a # is a comment."""
    text = door.read_text(path)
    words = [(number, line.partition("#")[0].split()) for number, line in enumerate(text.splitlines(), 1)]
    return [(number, each) for number, each in words if each]


def expand(name: str) -> list[str]:
    """The nodes that a name in brackets stands for: node[01-03,7] is node01, node02, node03, node7."""
    match = re.fullmatch(r"([^\[\],]*)\[([0-9,-]+)\]([^\[\],]*)", name)
    if not match:
        return [name]
    names = []
    for part in match[2].split(","):
        ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
        if not ends:
            raise ValueError(name)
        first, last = ends[1], ends[2] or ends[1]
        if int(last) < int(first) or int(last) - int(first) >= MOST_NODES:
            raise ValueError(name)
        names += [f"{match[1]}{number:0{len(first)}d}{match[3]}" for number in range(int(first), int(last) + 1)]
        if len(names) > MOST_NODES:
            raise ValueError(name)
    return names


def read_expected(path: Path) -> dict[str, int | None]:
    """The nodes that must report and, where the file tells it, their numbers of GPUs; raises BadInput."""
    nodes: dict[str, int | None] = {}
    for number, words in _lines(path):
        try:
            names = expand(words[0])
        except ValueError as error:
            raise BadInput(f"{path}, line {number}: '{words[0][:100]}' is no range of nodes.") from error
        if len(words) > 2 or (len(words) == 2 and not re.fullmatch(r"[0-9]{1,4}", words[1])):
            raise BadInput(f"{path}, line {number}: a line is a node's name and, after it, its number of GPUs.")
        for name in names:
            if not NODE_NAME.fullmatch(name):
                raise BadInput(f"{path}, line {number}: '{name[:100]}' is no node's name.")
            nodes[name] = int(words[1]) if len(words) == 2 else None
        if len(nodes) > MOST_NODES:
            raise BadInput(f"{path} names more than {MOST_NODES} nodes.")
    if not nodes:
        raise BadInput(f"{path} names no node.")
    return nodes


def to_confirm(path: Path, node: str) -> frozenset[int]:
    """The indices of this node's GPUs in a file of lines "node GPU"; raises BadInput."""
    found = set()
    for number, words in _lines(path):
        if len(words) != 2 or not re.fullmatch(r"[0-9]{1,4}", words[1]):
            raise BadInput(f"{path}, line {number}: a line is a node's name and the index of a GPU.")
        if words[0] == node:
            found.add(int(words[1]))
    return frozenset(found)
