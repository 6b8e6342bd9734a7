"""No line is so long that it does not fit beside another one on a screen."""

from __future__ import annotations

from pathlib import Path

import synthetic

ROOT = synthetic.REPOSITORY
FOLDERS = (".ci", "backends", "cmake", "include", "scripts", "src", "tests")
# What clang-format lays out, and what nothing does. Style sheets and the pages' scripts are written short instead:
# each is a part of every page.
ENDINGS = (".cmake", ".cpp", ".h", ".hip", ".py", ".sh")
LONGEST = 120


def sources(root: Path) -> list[Path]:
    return [
        path
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in ENDINGS or path.name in ("CMakeLists.txt", "run")
    ]


def lines_of(path: Path) -> list[str]:
    """A file's lines, those of tables left empty: their rows may be wider than a page, one row a line."""
    kept, in_table = [], False
    for line in path.read_text(encoding="utf-8").splitlines():
        in_table = line.strip() == "// clang-format off" or (in_table and line.strip() != "// clang-format on")
        kept.append("" if in_table else line)
    return kept


def too_long(root: Path) -> list[str]:
    """The lines with more than LONGEST characters: scripts/test.sh:126."""
    return [
        f"{path.relative_to(root)}:{number}"
        for path in sources(root)
        for number, line in enumerate(lines_of(path), 1)
        if len(line) > LONGEST
    ]


def test_lines_are_short_enough() -> None:
    assert len(sources(ROOT)) > 500
    assert too_long(ROOT) == []


def test_a_line_that_is_too_long_is_found(tmp_path: Path) -> None:
    for name in ("scripts/one.sh", "src/two.hip", "src/CMakeLists.txt", "scripts/page.css"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{'ü' * LONGEST}\n{'x' * (LONGEST + 1)}\n", encoding="utf-8")
    assert too_long(tmp_path) == ["scripts/one.sh:2", "src/CMakeLists.txt:2", "src/two.hip:2"]
