"""mutations.py: each fault is one that it can put in, and the README tells who sees it."""

from __future__ import annotations

import mutations
import synthetic

README = (synthetic.REPOSITORY / "tests/isa/README.md").read_text(encoding="utf-8")


def test_each_fault_changes_one_place() -> None:
    for mutation in mutations.MUTATIONS:
        text = (synthetic.REPOSITORY / mutation.file).read_text(encoding="utf-8")
        assert (text.count(mutation.old), mutation.old != mutation.new) == (1, True), mutation


def test_the_readme_tells_who_sees_each() -> None:
    rows = [line.rsplit(" | ", 1) for line in README.splitlines() if line.startswith("| ")][1:]
    assert [row[0] for row in rows] == [mutation.row().removesuffix(" |") for mutation in mutations.MUTATIONS]
    assert {row[1] for row in rows} <= {"unit test |", "FileCheck |", "hand_overs |", "lds_waits |"}
