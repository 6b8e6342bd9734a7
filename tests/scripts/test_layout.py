"""No line is so long that it does not fit beside another one on a screen, and no lesson so long that nobody reads
it."""

from __future__ import annotations

from pathlib import Path

import synthetic

ROOT = synthetic.REPOSITORY
FOLDERS = (".ci", "backends", "cmake", "include", "scripts", "src", "tests")
# What clang-format lays out, and what nothing does. Style sheets and the pages' scripts are written short instead:
# each is a part of every page.
ENDINGS = (".cmake", ".cpp", ".h", ".hip", ".py", ".sh")
LONGEST = 120
# Of a lesson, src/<n>-<chapter>/[<folder>/]<name>.hip: in all, and, two screens, up to its first kernel.
LONGEST_LESSON = 400
LONGEST_INTRODUCTION = 110


def sources(root: Path) -> list[Path]:
    """The files of a tree that are held to it."""
    return [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))
            if path.suffix in ENDINGS or path.name in ("CMakeLists.txt", "run")]


def too_long(root: Path) -> list[str]:
    """The lines with more than LONGEST characters: scripts/test.sh:126."""
    return [f"{path.relative_to(root)}:{number}" for path in sources(root)
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if len(line) > LONGEST]


def test_lines_are_short_enough() -> None:
    assert len(sources(ROOT)) > 500
    assert too_long(ROOT) == []


def test_a_line_that_is_too_long_is_found(tmp_path: Path) -> None:
    for name in ("scripts/one.sh", "src/two.hip", "src/CMakeLists.txt", "scripts/page.css"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{'ü' * LONGEST}\n{'x' * (LONGEST + 1)}\n", encoding="utf-8")
    assert too_long(tmp_path) == ["scripts/one.sh:2", "src/CMakeLists.txt:2", "src/two.hip:2"]


def lessons(root: Path) -> list[Path]:
    """The sources of the experiments."""
    return sorted((root / "src").glob("[0-9]-*/**/*.hip"))


def hard_to_read(root: Path) -> list[str]:
    """The lessons that are too long, or that keep a reader waiting for their first kernel."""
    found = []
    for path in lessons(root):
        lines = path.read_text(encoding="utf-8").splitlines()
        first = next((number for number, line in enumerate(lines, 1) if "__global__" in line), 0)
        if len(lines) > LONGEST_LESSON or first > LONGEST_INTRODUCTION:
            found.append(f"{path.relative_to(root)}: {len(lines)} lines, the first kernel in line {first}")
    return found


def test_lessons_are_short_and_begin_with_kernels() -> None:
    assert len(lessons(ROOT)) > 35
    assert hard_to_read(ROOT) == []


def test_a_lesson_that_is_hard_to_read_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "src" / "1-threads" / "one"
    folder.mkdir(parents=True)
    kernel = "__global__ void kernel();\n"
    (folder / "good.hip").write_text("\n" * 109 + kernel + "\n" * 290, encoding="utf-8")
    (folder / "ladder.hip").write_text("\n" * 400, encoding="utf-8")  # its kernels have files of their own
    (folder / "late.hip").write_text("\n" * 110 + kernel, encoding="utf-8")
    (folder / "long.hip").write_text(kernel + "\n" * 400, encoding="utf-8")
    assert hard_to_read(tmp_path) == ["src/1-threads/one/late.hip: 111 lines, the first kernel in line 111",
                                      "src/1-threads/one/long.hip: 401 lines, the first kernel in line 1"]
