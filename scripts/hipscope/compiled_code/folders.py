"""What one compiler made for one target has a folder of its own: gfx90a-clang15."""

from __future__ import annotations

import re


def is_target(name: str) -> bool:
    """Whether it has the form of a target's name."""
    return re.fullmatch(r"gfx[0-9a-f]{3,5}", name) is not None


def clang_major(compiler: str) -> str:
    """The first number of clang's version in a compiler's line; raises ValueError where there is none."""
    found = re.search(r"clang version (\d+)", compiler)
    if found is None:
        raise ValueError(f"'{compiler}' names no version of clang")
    return found[1]


def made_by(target: str, compiler: str) -> str:
    """The folder of what this compiler made for this target: gfx90a-clang15."""
    return f"{target}-clang{clang_major(compiler)}"


def target_order(folder: str) -> tuple[int, str, int]:
    """Sorts gfx900 before gfx90a before gfx1030; a target alone before a folder of it, clang 9 before clang 15."""
    target, _, major = folder.partition("-clang")
    return len(target), target, int(major or 0)
