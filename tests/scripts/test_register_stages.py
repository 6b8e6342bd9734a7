"""register_stages.py: on kernels that are made up, and on the results that are here."""

from __future__ import annotations

from typing import Any

import pytest
import synthetic

from hipscope.compiled_code import register_stages, results
from hipscope.results.door import BadInput

FOLDER = synthetic.SCRIPTS.parent / "results" / "isa"


def kernel(stage: str, vgprs: int) -> dict[str, Any]:
    """A stage's kernel as analysis.py describes it, as far as the table goes."""
    numbers = {key: 0 for _, key, _ in register_stages.COLUMNS}
    name = f"{register_stages.PREFIX}{register_stages.STAGES[stage]}::kernel<false>"
    return {"name": name, **numbers, "vgprs": vgprs}


def all_kernels() -> dict[str, dict[str, Any]]:
    return {stage: kernel(stage, 1) for stage in register_stages.STAGES}


def test_published_figures_stand_beside_the_stage_and_the_target_that_they_are_of() -> None:
    kernels = all_kernels() | {"loops": kernel("loops", 50), "baseline": kernel("baseline", 111)}
    found = {(target, "register_pressure"): {"kernels": list(kernels.values())} for target in ("gfx1030", "gfx90a")}
    tables = register_stages.text(found)
    assert tables.index("### gfx90a") < tables.index("### gfx1030")
    assert "| baseline | 111 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 102 | 98 | 0 | 0 | 4 |" in tables
    assert "| loops | 50 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |  |  |  |  |  |" in tables
    assert tables.count("published") == 5
    assert tables.endswith("| loops | 50 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |\n"
                           "| loops, array on the stack | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |")


@pytest.mark.parametrize("stage", register_stages.STAGES)
def test_a_stage_without_its_kernel_is_an_error(stage: str) -> None:
    kernels = all_kernels()
    kernels[stage]["name"] = kernels[stage]["name"].replace("kernel", "renamed")
    with pytest.raises(BadInput, match=f"gfx906: the stage '{stage}' of register_pressure has no kernel"):
        register_stages.text({("gfx906", "register_pressure"): {"kernels": list(kernels.values())}})


def test_of_other_experiments_there_is_no_table() -> None:
    assert register_stages.text({("gfx90a", "padding"): {"kernels": [kernel("baseline", 1)]}}) == ""


@pytest.mark.parametrize("target", ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx1030"])
def test_every_stage_has_its_kernel(target: str) -> None:
    result = results.read_result(FOLDER / f"{target}-clang15.json")["register_pressure"]
    found = [register_stages.kernel_of(result, stage) for stage in register_stages.STAGES]
    assert None not in found
    assert len({one["name"] for one in found}) == len(register_stages.STAGES)
    # What states no launch bound is compiled for 1024 threads: the source's stages.
    assert [stage for stage, one in zip(register_stages.STAGES, found) if one["threads_per_block"] == 1024] == [
        stage for stage in register_stages.STAGES if (stage, "gfx90a", "VGPRs") in register_stages.published()]


@pytest.mark.parametrize("folder, vgprs", [("gfx90a-clang15", [102, 100, 96, 96, 96]),
                                            ("gfx90a-clang22", [102, 100, 100, 94, 98])])
def test_the_first_steps_are_what_the_documents_say(folder: str, vgprs: list[int]) -> None:
    result = results.read_result(FOLDER / f"{folder}.json")["register_pressure"]
    stages = list(register_stages.STAGES)[:5]
    assert [register_stages.kernel_of(result, stage)["vgprs"] for stage in stages] == vgprs
    text = ", ".join(map(str, vgprs))
    assert text in (FOLDER.parent.parent / "docs" / "compiled-amd-code.md").read_text(encoding="utf-8")
