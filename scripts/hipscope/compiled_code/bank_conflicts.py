"""What conflicts in LDS's banks make of a kernel's loads and stores: how many times as long as without.

An experiment's checkers.txt says it, and run_experiments.py holds it to what the emulator counts (tests/emulator, the
word `conflicts`): of clang 15's code for gfx90a, by the lanes that an MI300X serves together. What gfx950 and RDNA
serve together nobody counts there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .experiments import REPOSITORY

TARGETS = ("gfx900", "gfx908", "gfx90a", "gfx942")
_LINE = re.compile(r"(?:free of conflicts|conflicts: loads (?P<loads>\d\.\d\d), stores (?P<stores>\d\.\d\d))"
                   r" \| (?P<kernels>.+) \| .+")


@dataclass(frozen=True)
class Conflicts:
    """Cycles of LDS over those without conflicts."""

    loads: float = 1.0
    stores: float = 1.0


NO_CONFLICTS = Conflicts()


def conflicts_of(experiment: str, kernel: str) -> Conflicts:
    """What checkers.txt says of a kernel, by its name; raises ValueError where that is not one line."""
    said = [Conflicts(float(line["loads"] or 1), float(line["stores"] or 1))
            for path in REPOSITORY.glob(f"src/*/{experiment}/checkers.txt")
            for text in path.read_text(encoding="utf-8").splitlines()
            if (line := _LINE.fullmatch(text)) and re.search(line["kernels"], kernel)]
    if len(said) != 1:
        raise ValueError(f"checkers.txt of {experiment} has {len(said)} lines about conflicts of {kernel}")
    return said[0]
