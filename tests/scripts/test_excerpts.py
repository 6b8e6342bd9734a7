"""Code in docs/ is the sources' own: what follows the language of a fence, ```cpp sgemm/stages.h, is the end of the
file's path, and the block's lines stand in that file one after the other; "..." leaves some out. Comments may differ,
since they are translated, and pragmas may be left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import synthetic

ROOT = synthetic.REPOSITORY
PAGES = sorted(ROOT.glob("docs/**/*.md"))


def code(lines: list[str]) -> list[str]:
    """Lines without indentation, comments and pragmas; none that is then empty."""
    bare = [re.sub(r"(^|\s)//(?! \.\.\.$).*", "", line).strip() for line in lines]
    return [line for line in bare if line and not line.startswith("#pragma")]


def parts(block: str) -> list[list[str]]:
    """The lines of a block between its elisions."""
    found: list[list[str]] = [[]]
    for line in code(block.split("\n")):
        if line in ("...", "// ..."):
            found.append([])
        else:
            found[-1].append(line)
    return [part for part in found if part]


def stands_in(block: str, source: str) -> bool:
    """Whether each part of a block is in a source, after the part before it."""
    lines, begin = code(source.split("\n")), 0
    for part in parts(block):
        places = range(begin, len(lines) - len(part) + 1)
        at = next((place for place in places if lines[place : place + len(part)] == part), None)
        if at is None:
            return False
        begin = at + len(part)
    return begin > 0


def sources(root: Path, name: str) -> list[Path]:
    folders = (root / "src", root / "include")
    return [path for folder in folders for path in folder.rglob(Path(name).name) if f"/{path}".endswith(f"/{name}")]


def wrong_blocks(text: str, root: Path) -> list[str]:
    """The blocks of C++ that name no single file, or that are not in it."""
    found = []
    for block in re.finditer(r"^```cpp(.*)\n((?:.*\n)*?)```$", text, re.MULTILINE):
        name = block[1].strip()
        files = sources(root, name) if name else []
        if len(files) != 1 or not stands_in(block[2], files[0].read_text(encoding="utf-8")):
            line = text.count("\n", 0, block.start()) + 1
            found.append(f"line {line}: {name or 'no name'}, {len(files)} files")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_excerpts_are_the_sources_own_lines(page: Path) -> None:
    assert wrong_blocks(page.read_text(encoding="utf-8"), ROOT) == []


def test_there_are_excerpts() -> None:
    assert sum(page.read_text(encoding="utf-8").count("```cpp") for page in PAGES) > 40


@pytest.mark.parametrize(
    ("fence", "block", "right"),
    [
        ("one.hip", "a = 1;\n  b = 2;  // said otherwise\n", True),
        ("src/one.hip", "a = 1;\n...\nc = 3;\n", True),
        ("one.hip", "b = 2;\n// ...\nd = 4;\n", True),
        ("one.hip", "a = 1;\nc = 3;\n", False),
        ("one.hip", "c = 3;\n...\na = 1;\n", False),
        ("one.hip", "a = 2;\n", False),
        ("one.hip", "...\n", False),
        ("ne.hip", "a = 1;\n", False),
        ("two.h", "a = 1;\n", False),
        ("", "a = 1;\n", False),
        ("first/two.h", "a = 1;\n", True),
    ],
)
def test_an_excerpt_that_is_not_the_sources_is_found(tmp_path: Path, fence: str, block: str, right: bool) -> None:
    for name in ("src/one.hip", "src/first/two.h", "include/two.h"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("  a = 1;\n  b = 2;  // why\n  // a line of its own\n\n  c = 3;\n  d = 4;\n")
    assert (wrong_blocks(f"# Page\n\n```cpp {fence}\n{block}```\n", tmp_path) == []) is right
