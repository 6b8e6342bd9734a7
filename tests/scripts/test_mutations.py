"""mutations.py: each fault is one that it can put in."""

from __future__ import annotations

import mutations
import synthetic


def test_each_fault_changes_one_place() -> None:
    for mutation in mutations.MUTATIONS:
        text = (synthetic.REPOSITORY / mutation.file).read_text(encoding="utf-8")
        assert (text.count(mutation.old), mutation.old != mutation.new) == (1, True), mutation
