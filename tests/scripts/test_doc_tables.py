"""The tables of docs/ are of the results, and the README's figures are of docs/."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import doc_tables
import pytest
import synthetic
from conftest import call
from test_documents import anchors

ROOT = synthetic.REPOSITORY


run = partial(call, sys.executable, synthetic.SCRIPTS / "doc_tables.py")


def test_the_tables_have_what_was_measured() -> None:
    done = run("--check")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("page", "figure", "other"),
    [
        ("8-kernels.md", "946.1", "947.1"),
        ("8-kernels.md", "9.0e-7", "9.2e-7"),
        ("2-compute.md", "(1501)", "(1511)"),
        ("5-memory.md", "978", "977"),
        ("5-memory.md", "991, 992", "992, 991"),
    ],
)
def test_another_figure_is_found_and_mended(tmp_path: Path, page: str, figure: str, other: str) -> None:
    folder = tmp_path / "docs"
    (folder / "zh-CN").mkdir(parents=True)
    for name in (page, f"zh-CN/{page}"):
        shutil.copy(ROOT / "docs" / name, folder / name)
    good = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.md")}
    for path, text in good.items():
        path.write_text(re.sub(rf"^(\|.*){re.escape(figure)}", rf"\g<1>{other}", text, count=1, flags=re.MULTILINE))
    done = run("--check", str(folder))
    assert done.returncode == 1
    assert " is ".join(cell.strip("()").split(",")[0] for cell in (other, figure)) in done.stderr
    assert run(str(folder)).returncode == 0
    assert {path: path.read_text(encoding="utf-8") for path in good} == good


def test_a_place_without_a_result_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "zh-CN").mkdir()
    page = tmp_path / "5-memory.md"
    text = (ROOT / "docs" / page.name).read_text(encoding="utf-8")
    page.write_text(text.replace("| near half of", "|", 1))
    shutil.copy(ROOT / "docs" / "zh-CN" / page.name, tmp_path / "zh-CN")
    done = run("--check", str(tmp_path))
    assert done.returncode == 1 and done.stderr.startswith(f"{page}:") and done.stderr.count("\n") == 1
    assert "the results have no 'cache level 2 latency'" in done.stderr


def section(page: Path, anchor: str) -> str:
    """The text of a section with its heading's anchor, without comments."""
    text = re.sub("<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return next(part for part in re.split("^(?=## )", text, flags=re.MULTILINE) if anchor in anchors(part))


def rows_of_readme() -> Iterator[list[str]]:
    """Of each experiment in the README: its name, its section's page and anchor, and what it says of an H200."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for line in re.findall(r"^\| \[`\w+`\].*$", text, re.MULTILINE):
        name, _, figures = doc_tables.cells_of(line)
        yield [*re.split(r"[`\]()#]+", name)[1:4], figures]


@pytest.mark.parametrize("row", rows_of_readme(), ids=lambda row: row[0])
def test_the_readme_says_what_the_section_does(row: list[str]) -> None:
    _, page, anchor, figures = row
    said = [float(figure[0]) for figure in doc_tables.FIGURE.finditer(section(ROOT / page, anchor))]
    said += [one / 1000 for one in said]
    printed = doc_tables.FIGURE.finditer(figures)
    assert [one[0] for one in printed if not any(doc_tables.is_rounded(one, value) for value in said)] == []
