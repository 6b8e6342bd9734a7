"""register_limits.py: on a compiler that is made up, and on the one that is here."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hipscope.compiled_code import register_limits
from hipscope.compiled_code.processes import Processes
from hipscope.compiled_code.toolchain import Toolchain, find_toolchain

HIPCC = shutil.which("hipcc") or shutil.which("/opt/rocm/bin/hipcc")


def tools_of(run: Callable[..., subprocess.CompletedProcess[str]]) -> Toolchain:
    """A toolchain of which only the compiler can be called, whose place this takes."""
    processes: Any = SimpleNamespace(run=run)
    return Toolchain(processes, "hipcc", "fake clang version 1.2", "", "", "")


# What hipcc 5.2.3 (clang 15.0.6) said; the source's text under each message is left out.
CLAIM_MESSAGES = """\
clang: warning: -lgcc_s: 'linker' input unused [-Wunused-command-line-argument]
/tmp/x/kernels.hip:33:93: warning: inline asm clobber list contains reserved registers: s32 [-Winline-asm]
/tmp/x/kernels.hip:33:93: note: Reserved registers on the clobber list may not be preserved across the asm \
statement, and clobbering them may lead to undefined behaviour.
error: addressable scalar registers (103) exceeds limit (102) in function '_Z9claim_102v'
/tmp/x/kernels.hip:103:94: warning: inline asm clobber list contains reserved registers: s102 [-Winline-asm]
/tmp/x/kernels.hip:103:94: error: register not available on this GPU
<inline asm>:1:12: note: instantiated into assembly here
2 errors generated when compiling for gfx900.
"""


def test_of_two_messages_about_a_line_the_first_counts() -> None:
    found = register_limits.parse_messages(CLAIM_MESSAGES)
    assert sorted(found) == [32, 102]
    assert found[102].endswith("reserved registers: s102 [-Winline-asm]")


@pytest.mark.parametrize("comment", ["NumSgprs", "TotalNumSgprs"])  # clang 15's and clang 22's
def test_counts_go_with_their_kernels(comment: str) -> None:
    assembly = "".join(f"_Z{len(name)}{name}v:  ; @{name}\n\tv_mov_b32 v63, 0\n; {comment}: 27\n; NumVgprs: {vgprs}\n"
                       for name, vgprs in (("declared", 64), ("undeclared", 0)))
    counts = {letter: register_limits.parse_counts(assembly, name)
              for letter, name in register_limits.COUNT_NAMES.items()}
    assert counts == {"v": {"declared": 64, "undeclared": 0}, "s": {"declared": 27, "undeclared": 27}}


@pytest.mark.parametrize("messages", [{}, {1: "no", 3: "no"}], ids=["none refused", "a hole"])
def test_messages_that_show_no_limit_are_refused(messages: dict[int, str]) -> None:
    with pytest.raises(register_limits.LimitsError):
        register_limits.split_at_first_message(messages, 4)


# --- A compiler that is made up --------------------------------------------------------------------

STATEMENT = re.compile(r'asm volatile\("\w+ ([vsa])(\d+), 0"( :::)?')
HEAD = re.compile(r"size\(1, (\d+)\)\)\) void (\w+)\(\)")


class FakeCompiler:
    """Lets kernels name `names` registers of each file and claim `registers` over their threads."""

    def __init__(self, names: dict[str, int], registers: int) -> None:
        self.names = names
        self.registers = registers

    def __call__(self, command: Sequence[str], environment: Mapping[str, str]
                 ) -> subprocess.CompletedProcess[str]:
        assert environment["HIP_PLATFORM"] == "amd"
        source = Path(next(word for word in command if word.endswith("kernels.hip")))
        errors, assembly, threads, name = "", "", 0, ""
        for number, line in enumerate(source.read_text().splitlines(), start=1):
            if head := HEAD.search(line):
                threads, name = int(head[1]), head[2]
            letter, index, declared = STATEMENT.search(line).groups()
            if int(index) >= self.names[letter]:
                errors += f"/x/kernels.hip:{number}:9: error: there is no {letter}{index}\n"
            elif declared and letter == "v" and int(index) >= self.registers // threads:
                errors += f"/x/kernels.hip:{number}:9: warning: {letter}{index} is mine\n"
            used = {letter: int(index) + 1} if declared else {}
            assembly += (f"_Z{len(name)}{name}v:\n; NumSgprs: {used.get('s', 0)}\n"
                         f"; NumVgprs: {used.get('v', 0)}\n")
        if "-S" in command:
            Path(command[-1]).write_text(assembly)
        return subprocess.CompletedProcess(command, int("error:" in errors), "", errors)


def fake_limits(names: dict[str, int], registers: int) -> dict[str, Any]:
    return register_limits.measure(tools_of(FakeCompiler(names, registers)), "gfx1")


def vgpr_limits(limits: dict[str, Any]) -> list[int]:
    """The highest VGPR under each launch bound."""
    return [entry["highest"] for entry in limits["kernel"] if entry["file"] == "v"]


@pytest.mark.parametrize("vgprs, sgprs, registers", [(256, 102, 65536), (512, 106, 131072), (100, 16, 4096)])
def test_limits_are_the_compilers(vgprs: int, sgprs: int, registers: int) -> None:
    """Nothing is known in advance: another compiler has other limits."""
    limits = fake_limits({"v": vgprs, "s": sgprs, "a": 0}, registers)
    assert limits["compiler"] == "fake clang version 1.2"
    assert {letter: entry["highest"] for letter, entry in limits["assembler"].items()} == {
        "v": vgprs - 1, "s": sgprs - 1, "a": None}
    assert limits["assembler"]["v"]["message"] == f"there is no v{vgprs}"
    assert vgpr_limits(limits) == [min(vgprs, registers // threads) - 1 for threads in (256, 512, 1024)]
    highest = vgpr_limits(limits)[-1]
    assert limits["counts"][0] == {"register": f"v{highest}", "threads": 1024, "declared": highest + 1,
                                   "undeclared": 0}


def test_a_compiler_that_takes_everything_has_no_limit() -> None:
    with pytest.raises(register_limits.LimitsError, match="taken"):
        fake_limits({"v": 10**6, "s": 10**6, "a": 10**6}, 10**9)


def test_a_compiler_that_fails_otherwise_is_no_limit() -> None:
    def fails(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        del environment
        return subprocess.CompletedProcess(command, 1, "", "error: unknown target\n")

    with pytest.raises(register_limits.LimitsError, match="unknown target"):
        register_limits.measure(tools_of(fails), "gfx0")


# --- Markdown --------------------------------------------------------------------------------------


def test_markdown_has_the_published_limits_beside_ours() -> None:
    limits = {**fake_limits({"v": 256, "s": 102, "a": 256}, 65536), "target": "gfx900"}
    text = register_limits.markdown([limits])
    assert "Compiler: fake clang version 1.2." in text
    assert "\n| gfx900-clang1 | v255 | v255 | s101 | s101 | a255 |\n" in text
    assert "\n| gfx900-clang1 | v255 | v127 | v63 | v63 | s101 |\n" in text
    assert "\n| gfx900-clang1 | v63 | 64 | 0 |\n" in text
    assert "- `there is no ...`: gfx900-clang1 v256, gfx900-clang1 s102, gfx900-clang1 a256" in text

    # The published limits stay when ours are others.
    limits = {**fake_limits({"v": 128, "s": 96, "a": 0}, 32768), "target": "gfx900"}
    text = register_limits.markdown([limits])
    assert "\n| gfx900-clang1 | v127 | v255 | s95 | s101 | - |\n" in text
    assert "\n| gfx900-clang1 | v127 | v63 | v31 | v63 | s95 |\n" in text


# --- The compiler that is here ---------------------------------------------------------------------

# Highest VGPR and SGPR that assemble, and VGPR that a kernel of 1024 threads may claim. A CU of the
# first two has 4 x 64 lanes x 256 VGPRs for 1024 threads, one of the others twice as many.
EXPECTED = {
    "gfx900": (255, 101, 63),
    "gfx908": (255, 101, 63),
    "gfx90a": (255, 101, 127),
    "gfx1030": (255, 105, 127),
}


@pytest.fixture(scope="module", params=[
    pytest.param(target, marks=[] if target == "gfx90a" else pytest.mark.slow) for target in EXPECTED])
def measured(request: pytest.FixtureRequest) -> dict[str, Any]:
    if HIPCC is None:
        pytest.skip("there is no hipcc")
    return register_limits.measure(find_toolchain(Processes()), request.param)


@pytest.mark.slow
def test_limits_of_the_target(measured: dict[str, Any]) -> None:
    highest = [measured["assembler"][letter]["highest"] for letter in "vs"]
    assert (*highest, vgpr_limits(measured)[-1]) == EXPECTED[measured["target"]]
    assert "clang version" in measured["compiler"]
    assert measured["assembler"]["v"]["next"] == "v256"
    assert all(entry["message"] for entry in measured["assembler"].values())


def test_a_smaller_block_may_claim_more_and_what_is_not_declared_does_not_count(measured: dict[str, Any]) -> None:
    limits = vgpr_limits(measured)
    assert limits[0] == 255
    assert limits == sorted(limits, reverse=True)
    for count in measured["counts"]:
        assert (count["declared"], count["undeclared"]) == (int(count["register"][1:]) + 1, 0)
