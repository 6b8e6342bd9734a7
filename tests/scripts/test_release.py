"""What names a version names the same one, and a commit's subject is short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import call
from synthetic import REPOSITORY, SCRIPTS


def versions(root: Path) -> dict[str, str]:
    """The version as each file has it; the changelog's is its newest release."""
    patterns = {
        "CMakeLists.txt": r"^project\(\w+ VERSION (\S+)",
        "CHANGELOG.md": r"^## \[(\d\S*)\] - \d{4}-\d\d-\d\d$",
        "CITATION.cff": r"^version: (\S+)$",
        "packaging/spack/packages/hipscope/package.py": r'^    version\("(\S+)"\)$',
    }
    found = {
        name: re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        for name, pattern in patterns.items()
    }
    return {name: match[1] if match else "none" for name, match in found.items()}


def test_all_files_name_one_version() -> None:
    named = versions(REPOSITORY)
    assert len(set(named.values())) == 1, named
    assert re.fullmatch(r"\d+\.\d+\.\d+", named["CMakeLists.txt"])
    assert call(REPOSITORY / "hipscope", "--version", status=0).stdout == f"hipscope {named['CMakeLists.txt']}\n"
    recipe = (REPOSITORY / "packaging/spack/packages/hipscope/package.py").read_text(encoding="utf-8")
    assert set(re.findall(r"hipscope@(\S+)", recipe)) == {named["CMakeLists.txt"]}


def test_the_date_of_the_release_is_that_of_the_citation() -> None:
    changelog = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    date = re.search(r"^date-released: (\S+)$", citation, re.MULTILINE)
    assert date and f"] - {date[1]}\n" in changelog


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("One thing\n", 0),
        ("x" * 72 + "\n\nWhy.\n", 0),
        ("# said by git\nOne thing\n", 0),
        ("x" * 73 + "\n", 1),
        ("", 1),
        ("\nOne thing\n", 1),
        ("One thing\nand another\n", 1),
    ],
)
def test_the_subject_of_a_commit(tmp_path: Path, message: str, status: int) -> None:
    file = tmp_path / "message"
    file.write_text(message, encoding="utf-8")
    done = call(SCRIPTS / "commit_message.sh", file, status=status)
    assert len(done.stderr.splitlines()) == status
