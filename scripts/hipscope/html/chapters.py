"""The chapters and the order of their experiments, as the build lists them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# The build's own list, and what it leaves of it in an installed tree.
LISTS = (
    ("CMakeLists.txt", r"^hipscope_add_experiment\(src/(\d+-[^/\s]+)/([^\s)]+)"),
    ("experiments.txt", r"^(\d+-[^/\s]+)/(\S+)$"),
)
SPELLED = {"lds": "LDS"}
# Where an experiment stands that no list names.
OTHER = "Other experiments"


def listed(root: Path = ROOT) -> list[tuple[str, str]]:
    """Every experiment's chapter (5-memory) and name, in reading order; empty where there is no list."""
    path, pattern = next(((root / name, pattern) for name, pattern in LISTS if (root / name).is_file()), (None, ""))
    found = re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE) if path else []
    return [(chapter, Path(source).name.removesuffix(".hip")) for chapter, source in found]


def _title(chapter: str) -> str:
    """5 Memory, of 5-memory."""
    number, *words = chapter.split("-")
    first, *others = (SPELLED.get(word, word) for word in words)
    return " ".join([number, first[:1].upper() + first[1:], *others])


def in_chapters(names: Iterable[str], root: Path = ROOT) -> list[tuple[str, list[str]]]:
    """The chapters with the result names (thread_rate, thread_rate.wave64) that belong to each.

    A chapter without any is left out; variants follow their experiment.
    """
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        found.setdefault(name.partition(".")[0], []).append(name)
    chapters: dict[str, list[str]] = {}
    for chapter, experiment in listed(root):
        chapters.setdefault(_title(chapter), []).extend(found.pop(experiment, []))
    chapters[OTHER] = [name for members in found.values() for name in members]
    return [(title, members) for title, members in chapters.items() if members]
