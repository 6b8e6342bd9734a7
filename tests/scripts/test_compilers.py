"""compilers.py: what two compilers make of the same kernels."""

from __future__ import annotations

from typing import Any

import pytest

from hipscope.compiled_code import compilers, experiments


def kernel(name: str, vgprs: int, waves: int = 8, **changes: Any) -> dict[str, Any]:
    """A kernel as the reports keep it, as far as the summary goes."""
    return {"name": name, "vgprs": vgprs, "agprs": 0, "scratch_bytes": 0, "waves_per_simd": waves, **changes}


def results_of(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """One experiment by two compilers, and one that only the older has."""
    def result(kernels: list[dict[str, Any]]) -> dict[str, Any]:
        return {"source": "src/2-b/first.hip", "compiler": "clang version 15.0.6", "kernels": kernels}

    return {("gfx90a-clang15", "first"): result(old), ("gfx90a-clang22", "first"): result(new),
            ("gfx90a-clang15", "second"): result(old), ("gfx900-clang15", "first"): result(old)}


PAIR = compilers.Pair("gfx90a", "gfx90a-clang15", "gfx90a-clang22")


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
    (kernel("k", 64, fma_share=0.9), kernel("k", 64, fma_share=0.8), [1, 0, 0, 0, 0, 0, 0, 1, 0]),
    (kernel("k", 64, fma_share=0.8), kernel("k", 64, fma_share=0.9), [1, 0, 0, 0, 0, 0, 0, 0, 1]),
    (kernel("k", 64, fma_share=0.8), kernel("k", 64), [1, 0, 0, 0, 0, 0, 0, 0, 0]),
    (kernel("k", 64), kernel("other", 32), [0, 0, 0, 0, 0, 0, 0, 0, 0]),
])
def test_changes_are_counted(old: dict[str, Any], new: dict[str, Any], counts: list[int]) -> None:
    results = results_of([old], [new])
    assert compilers.pairs(results) == [PAIR]
    assert compilers.count(compilers.same_kernels(results, PAIR, "first")) == counts
    assert compilers.same_kernels(results, PAIR, "second") == []


def test_folders_are_in_order() -> None:
    names = ["gfx1030-clang15", "gfx90a-clang22", "gfx900-clang15", "gfx90a-clang9", "gfx90a-clang15"]
    assert sorted(names, key=experiments.target_order) == [
        "gfx900-clang15", "gfx90a-clang9", "gfx90a-clang15", "gfx90a-clang22", "gfx1030-clang15"]
    assert experiments.made_by("gfx942", "AMD clang version 19.0.0git (x), HIP 6.4") == "gfx942-clang19"
    with pytest.raises(ValueError, match="names no version"):
        experiments.made_by("gfx942", "gcc 12")
