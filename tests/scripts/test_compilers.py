"""compilers.py: what two compilers make of the same kernels, and that the documents say what the reports do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import synthetic

sys.path.insert(0, str(synthetic.SCRIPTS))
from hipscope_isa import compilers, folders  # noqa: E402
from hipscope_isa import results as report_files  # noqa: E402

ROOT = synthetic.SCRIPTS.parent
FOLDER = ROOT / "results" / "isa"


def kernel(symbol: str, vgprs: int, waves: int = 8, **changes: Any) -> dict[str, Any]:
    """A kernel as analysis.py describes it, as far as the tables go."""
    return {"name": symbol, "symbol": symbol, "vgprs": vgprs, "agprs": 0, "sgprs": 10, "scratch_bytes": 0,
            "waves_per_simd": waves, "instructions": 100, "loops": [], **changes}


def results_of(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """One experiment by two compilers, and one that only the older has."""
    def result(kernels: list[dict[str, Any]]) -> dict[str, Any]:
        return {"source": "src/2-b/first.hip", "compiler": "clang version 15.0.6", "kernels": kernels}

    return {("gfx90a-clang15", "first"): result(old), ("gfx90a-clang22", "first"): result(new),
            ("gfx90a-clang15", "second"): result(old), ("gfx900-clang15", "first"): result(old)}


PAIR = compilers.Pair("gfx90a", "gfx90a-clang15", "gfx90a-clang22")


def loop(share: float) -> list[dict[str, Any]]:
    """A hot loop with this share of FMAs."""
    return [{"hot": True, "fmas": 1, "fma_share": share}]


@pytest.mark.parametrize(("old", "new", "counts"), [
    (kernel("k", 64), kernel("k", 64), [1, 0, 0, 0, 0, 0, 0, 0, 0]),
    (kernel("k", 64), kernel("k", 56), [1, 1, 0, 0, 0, 0, 0, 0, 0]),
    (kernel("k", 64), kernel("k", 72), [1, 0, 1, 0, 0, 0, 0, 0, 0]),
    (kernel("k", 64), kernel("k", 71), [1, 0, 0, 0, 0, 0, 0, 0, 0]),  # less than a portion
    (kernel("k", 200), kernel("k", 216), [1, 0, 0, 0, 0, 0, 0, 0, 0]),  # less than a tenth
    (kernel("k", 64), kernel("k", 32, agprs=32), [1, 0, 0, 0, 0, 0, 0, 0, 0]),
    (kernel("k", 64, 8), kernel("k", 64, 7), [1, 0, 0, 1, 0, 0, 0, 0, 0]),
    (kernel("k", 64, 7), kernel("k", 64, 8), [1, 0, 0, 0, 1, 0, 0, 0, 0]),
    (kernel("k", 64, scratch_bytes=4), kernel("k", 64), [1, 0, 0, 0, 0, 1, 0, 0, 0]),
    (kernel("k", 64), kernel("k", 64, scratch_bytes=4), [1, 0, 0, 0, 0, 0, 1, 0, 0]),
    (kernel("k", 64, loops=loop(0.9)), kernel("k", 64, loops=loop(0.8)), [1, 0, 0, 0, 0, 0, 0, 1, 0]),
    (kernel("k", 64, loops=loop(0.8)), kernel("k", 64, loops=loop(0.9)), [1, 0, 0, 0, 0, 0, 0, 0, 1]),
    (kernel("k", 64, loops=loop(0.8)), kernel("k", 64), [1, 0, 0, 0, 0, 0, 0, 0, 0]),
    (kernel("k", 64), kernel("other", 32), [0, 0, 0, 0, 0, 0, 0, 0, 0]),
])
def test_changes_are_counted(old: dict[str, Any], new: dict[str, Any], counts: list[int]) -> None:
    results = results_of([old], [new])
    assert compilers.pairs(results) == [PAIR]
    assert compilers.count(compilers.same_kernels(results, PAIR, "first")) == counts
    assert compilers.same_kernels(results, PAIR, "second") == []


def test_folders_are_in_order() -> None:
    names = ["gfx1030-clang15", "gfx90a-clang22", "gfx900-clang15", "gfx90a-clang9", "gfx90a-clang15"]
    assert sorted(names, key=folders.target_order) == [
        "gfx900-clang15", "gfx90a-clang9", "gfx90a-clang15", "gfx90a-clang22", "gfx1030-clang15"]
    assert folders.made_by("gfx942", "AMD clang version 19.0.0git (x), HIP 6.4") == "gfx942-clang19"
    with pytest.raises(ValueError, match="names no version"):
        folders.made_by("gfx942", "gcc 12")


def test_a_document_is_filled_between_its_comments_alone() -> None:
    text = f"before\n\n{compilers.BEGIN}\n| old |\n\n{compilers.END}\nafter\n"
    assert compilers.filled(text, "| new |") == f"before\n\n{compilers.BEGIN}\n\n| new |\n\n{compilers.END}\nafter\n"
    assert compilers.filled("nothing\n", "| new |") == "nothing\n"


def read(folder: Path) -> dict[tuple[str, str], Any]:
    """The reports of gfx90a."""
    schema = report_files.load_schema()
    return {(path.parent.name, path.stem): report_files.read_result(path, schema)
            for path in folder.glob("gfx90a-clang*/*.json")}


def test_the_documents_say_what_the_reports_do() -> None:
    written = compilers.documents(read(FOLDER))
    assert sorted(written) == sorted(compilers.DOCUMENTS)
    for name, text in written.items():
        # Otherwise: scripts/isa_report.py --pages
        assert text == (ROOT / name).read_text(encoding="utf-8"), name
        assert text.count("\n| ") > 30
