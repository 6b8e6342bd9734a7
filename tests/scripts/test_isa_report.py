"""isa_report.py: its parser on recorded assembly, and the whole of it with faked tools."""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock
from xml.etree import ElementTree

import isa_report
import pytest
import synthetic
from conftest import program, wait_for
from synthetic import REPOSITORY, SCRIPTS
from test_register_limits import HIPCC, fake_limits

from hipscope.compiled_code import (
    analysis,
    assembly,
    experiments,
    loops,
    mca,
    page,
    register_limits,
    results,
    toolchain,
)
from hipscope.compiled_code.experiments import Experiment, read_experiments, source_digest
from hipscope.compiled_code.processes import Processes
from hipscope.results.door import BadInput

DATA = Path(__file__).resolve().parent / "data"
STAIRCASE = (DATA / "cu_staircase.gfx900.s").read_text(encoding="utf-8")
THREAD_RATE = (DATA / "thread_rate.gfx1030.s").read_text(encoding="utf-8")


def kernel_of(text: str, name: str) -> dict[str, Any]:
    found = [kernel for kernel in analysis.analyse_text(text, None, "gfx900") if name in kernel["name"]]
    assert len(found) == 1
    return found[0]


def row(name: str, kernel: dict[str, int], loop: dict[str, Any]) -> dict[str, Any]:
    """A kernel's row; what is not given of it, and of its hot loop, is 0."""
    return {"name": name, **dict.fromkeys(results.KERNEL_COLUMNS[1:], 0), **kernel,
            **dict.fromkeys(results.LOOP_COLUMNS, 0), "mca_cycles": None, **loop}


# --- Recorded assembly, counted by hand ---------------------------------------------------------

def test_busy_kernel_of_cu_staircase_counted_by_hand() -> None:
    kernel = {
        # As the compiler's comments and notes say.
        "vgprs": 7, "sgprs": 11, "waves_per_simd": 10, "threads_per_block": 1024,
        # Before the first loop 32, 3 and 2 instructions, between the loops 3 and 1, after them 7.
        "instructions": 32 + 3 + 2 + 19 + 3 + 1 + 4 + 7, "loops": 2,
        # 404 bytes to the end of the second loop, then 4 + 8 + 4 + 4 + 4 + 8 + 4.
        "code_bytes": 440,
    }
    # .LBB0_3: 15 v_fma_f32, s_add_i32, s_cmp_eq_u32, v_fma_f32, s_cbranch_scc0. FMAs with a scalar
    # and a constant take 8 bytes each, the three scalar instructions 4. The other loop has one FMA.
    loop = {"loop_instructions": 19, "fma": 16, "salu": 2, "branch": 1, "fma_share": 0.8421,
            "loop_bytes": 16 * 8 + 3 * 4}
    assert kernel_of(STAIRCASE, "busy_kernel") == row("_ZN12_GLOBAL__N_111busy_kernelEPfj", kernel, loop)


def test_count_wrong_of_thread_rate_counted_by_hand() -> None:
    # The loop is entered at .LBB2_3, in its middle; its code begins at .LBB2_2. Bytes in brackets.
    # .LBB2_2: s_or (4), v_add_co (8), v_add_co_ci (4), v_add_co (8), v_add_co_ci (8), v_cmp (4), s_or
    #          (4), s_andn2 (4), s_cbranch (4): 48 bytes, 5 vector, 3 scalar, 1 jump.
    # .LBB2_3: global_load (8), s_waitcnt (4), v_xor (4), s_mov (4), v_and with a literal (8), s_waitcnt
    #          (4), v_cmpx (8), s_cbranch (4): 44 bytes, 3 vector, 1 scalar, 1 load, 2 waits, 1 jump.
    # %bb.4:   v_mov (4), v_mov (4), global_atomic (8), s_branch (4): 20 bytes, 2 vector, 1 atomic,
    #          1 jump.
    # The code before it has v_mad_u64_u32, which computes an address and is no FMA.
    loop = {"loop_instructions": 9 + 8 + 4, "valu": 5 + 3 + 2, "salu": 3 + 1, "vector_memory": 2, "wait": 2,
            "branch": 3, "loop_bytes": 48 + 44 + 20, "fma_share": 0.0}
    # The code before the loop ends at byte 276; .p2align 6 moves it to 320. After it s_inst_prefetch and s_endpgm.
    kernel = {"vgprs": 7, "sgprs": 17, "loops": 1, "code_bytes": 320 + 112 + 2 * 4}
    found = kernel_of(THREAD_RATE, "count_wrong")
    assert found == row(found["name"], {**found, **kernel}, loop)


@pytest.mark.parametrize("text, encoding, changed", [
    ("v_fma_f32 v9, v9, v9, v9", "1,2,3,4,5,6,7,8", {"fma": 17, "salu": 2, "branch": 1}),
    ("v_add_f32_e32 v9, v9, v9", "1,2,3,4", {"fma": 16, "valu": 1, "salu": 2, "branch": 1}),
    ("s_add_i32 s9, s9, 1", "1,2,3,4", {"fma": 16, "salu": 3, "branch": 1}),
    ("ds_read_b32 v9, v9", "1,2,3,4,5,6,7,8", {"fma": 16, "salu": 2, "lds": 1, "branch": 1}),
    ("s_waitcnt vmcnt(0)", "1,2,3,4", {"fma": 16, "salu": 2, "wait": 1, "branch": 1}),
])
def test_one_more_instruction_changes_the_counts(text: str, encoding: str, changed: dict[str, int]) -> None:
    """Put into the hot loop, right after its label."""
    more = re.sub(r"(?m)^(\.LBB0_3:.*)$", rf"\1\n\t{text}  ; encoding: [{encoding}]", STAIRCASE)
    before, after = (kernel_of(text, "busy_kernel") for text in (STAIRCASE, more))
    size = encoding.count(",") + 1
    share = round(changed["fma"] / 20, 4)
    loop = {**dict.fromkeys(assembly.CATEGORIES, 0), **changed, "loop_instructions": 20, "loop_bytes": 140 + size}
    assert after == {**before, **loop, "fma_share": share, "instructions": 72, "code_bytes": 440 + size}
    assert kernel_of(more, "waiting_kernel") == kernel_of(STAIRCASE, "waiting_kernel")


@pytest.mark.parametrize("old, new, part", [
    ("; encoding: [0x80,0x02,0x02,0x7e]", "", "without encoding: v_mov_b32_e32"),
    ("; NumVgprs: 7", "", "how many registers _ZN12_GLOBAL__N_111busy_kernelEPfj"),
    (".amdgpu_metadata", ".something_else", "no notes"),
    ("amdhsa.kernels:", "amdhsa.kernels: [", "not as expected"),
    (",@function", ",@object", "lacks the code"),
])
def test_assembly_that_is_not_whole(old: str, new: str, part: str) -> None:
    assert old in STAIRCASE
    with pytest.raises(BadInput, match=re.escape(part)):
        assembly.read_kernels(STAIRCASE.replace(old, new))


# --- Kinds of instructions ----------------------------------------------------------------------

@pytest.mark.parametrize("text, kind, fmas", [
    ("v_fma_f32 v0, v1, v2, v3", "fma", 1),
    ("v_fmac_f32_e32 v0, v1, v2", "fma", 1),
    ("v_fmaak_f32 v0, v1, v2, 0x1", "fma", 1),
    ("v_fmamk_f16 v0, v1, 0x1, v2", "fma", 1),
    ("v_mad_f32 v0, v1, v2, v3", "fma", 1),
    ("v_mac_f32_e32 v0, v1, v2", "fma", 1),
    ("v_madak_f32 v0, v1, v2, 0x1", "fma", 1),
    ("v_madmk_f32 v0, v1, 0x1, v2", "fma", 1),
    ("v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]", "fma", 1),
    ("v_fma_mixlo_f16 v0, v1, v2, v3", "fma", 1),
    ("v_fmac_f32_dpp v0, v1, v2 quad_perm:[0,1,2,3]", "fma", 1),
    ("v_mad_legacy_f32 v0, v1, v2, v3", "fma", 1),
    ("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", "fma", 2),
    ("v_pk_fma_f16 v0, v1, v2, v3", "fma", 2),
    ("v_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5", "fma", 2),
    ("v_dual_mul_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5", "fma", 1),
    ("v_dual_mul_f32 v0, v1, v2 :: v_dual_add_f32 v3, v4, v5", "valu", 0),
    ("v_mad_u64_u32 v[0:1], null, s0, s1, v[0:1]", "valu", 0),
    ("v_mad_u32_u24 v0, v1, v2, v3", "valu", 0),
    ("v_pk_mad_u16 v0, v1, v2, v3", "valu", 0),
    ("v_div_fmas_f32 v0, v1, v2, v3", "valu", 0),
    ("v_accvgpr_write_b32 a0, v0", "valu", 0),
    ("v_nop", "valu", 0),
    ("v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]", "matrix", 0),
    ("v_dot4_i32_i8 v0, v1, v2, v3", "matrix", 0),
    ("v_dot2c_f32_f16_e32 v0, v1, v2", "matrix", 0),
    ("v_wmma_f32_16x16x16_f16 v[0:7], v0, v1, v2", "matrix", 0),
    ("ds_read_b128 v[0:3], v4", "lds", 0),
    ("ds_bpermute_b32 v0, v1, v2", "lds", 0),
    ("global_load_dwordx4 v[0:3], v[4:5], off", "vector_memory", 0),
    ("flat_store_dword v[0:1], v2", "vector_memory", 0),
    ("buffer_store_dword v0, off, s[0:3], 0 offset:4", "vector_memory", 0),
    ("scratch_load_b32 v0, off, s0", "vector_memory", 0),
    ("buffer_gl0_inv", "other", 0),
    ("buffer_wbinvl1_vol", "other", 0),
    ("s_load_dwordx2 s[0:1], s[4:5], 0x0", "scalar_memory", 0),
    ("s_memtime s[0:1]", "scalar_memory", 0),
    ("s_buffer_load_dword s0, s[4:7], 0x0", "scalar_memory", 0),
    ("s_atomic_add s0, s[2:3], 0x0", "scalar_memory", 0),
    ("s_waitcnt vmcnt(0)", "wait", 0),
    ("s_waitcnt_vscnt null, 0x0", "wait", 0),
    ("s_nop 0", "wait", 0),
    ("s_barrier", "wait", 0),
    ("s_sleep 4", "wait", 0),
    ("s_delay_alu instid0(VALU_DEP_1)", "wait", 0),
    ("s_branch .L", "branch", 0),
    ("s_cbranch_execz .L", "branch", 0),
    ("s_setpc_b64 s[0:1]", "branch", 0),
    ("s_swappc_b64 s[30:31], s[4:5]", "branch", 0),
    ("s_and_saveexec_b64 s[0:1], vcc", "salu", 0),
    ("s_getpc_b64 s[0:1]", "salu", 0),
    ("s_mul_i32 s0, s1, s2", "salu", 0),
    ("s_endpgm", "other", 0),
    ("s_clause 0x1", "other", 0),
    ("s_setprio 1", "other", 0),
    ("exp mrt0 v0, v0, v0, v0", "other", 0),
])
def test_kinds(text: str, kind: str, fmas: int) -> None:
    assert (assembly.category(text), assembly.count_fmas(text)) == (kind, fmas)


# --- Loops ----------------------------------------------------------------------------------------

def function(lines: Iterable[str]) -> assembly.Function:
    """A function of these instructions, four bytes each, and labels."""
    made = assembly.Function("f")
    for line in filter(None, map(str.strip, lines)):
        if line.endswith(":"):
            made.labels[line[:-1]] = len(made.instructions)
        else:
            made.instructions.append(assembly.Instruction(line, 4, made.size))
            made.size += 4
    return made


LOOPS = {
    "straight code": ("v_nop\n s_cbranch_scc0 .A\n v_nop\n .A:\n s_endpgm", []),
    "nested": ("""
        s_nop 0
        .OUTER:
        s_nop 1
        .INNER:
        v_nop
        s_cbranch_scc0 .INNER
        .SECOND:
        s_cbranch_scc0 .SECOND
        s_cbranch_scc1 .OUTER
        s_endpgm""", [(".OUTER", 4, 1, False, 5), (".INNER", 8, 2, True, 2), (".SECOND", 16, 2, True, 1)]),
    "two jumps back to one label": (
        ".A:\n v_nop\n s_cbranch_vccnz .A\n v_nop\n s_cbranch_scc0 .A\n s_endpgm", [(".A", 0, 1, True, 4)]),
    # Its lowest instruction is that of .BODY.
    "an end that lies elsewhere": ("""
        s_branch .TEST
        .BODY:
        v_nop
        .TEST:
        s_cbranch_scc0 .FAR
        s_endpgm
        .FAR:
        s_nop 0
        s_branch .BODY""", [(".TEST", 4, 1, True, 4)]),
    "code that nothing reaches": ("s_endpgm\n .A:\n v_nop\n s_cbranch_scc0 .A\n s_endpgm", []),
    "a jump over a long distance": ("""
        .A:
        v_nop
        s_cbranch_scc0 .B
        s_getpc_b64 s[4:5]
        .Lpost_getpc1:
        s_add_u32 s4, s4, (.A-.Lpost_getpc1)&4294967295
        s_addc_u32 s5, s5, (.A-.Lpost_getpc1)>>32
        s_setpc_b64 s[4:5]
        .B:
        s_endpgm""", [(".A", 0, 1, True, 6)]),
    "a jump to a computed address": ("v_nop\n s_setpc_b64 s[30:31]", []),
    "a jump out of the function": ("v_nop\n s_cbranch_scc0 .ELSEWHERE\n s_endpgm", []),
    "two entries": ("s_cbranch_scc0 .B\n .A:\n v_nop\n .B:\n v_nop\n s_cbranch_scc0 .A\n s_endpgm", []),
}


@pytest.mark.parametrize("text, expected", LOOPS.values(), ids=LOOPS)
def test_loops(text: str, expected: list[tuple[str, int, int, bool, int]]) -> None:
    """Of each its label, its offset, its depth, whether it is innermost, and its number of instructions."""
    found = loops.find_loops(function(text.splitlines()))
    assert [(x.label, x.instructions[0].address, x.depth, x.innermost, len(x.instructions)) for x in found] == expected


FMA, ADD = "v_fma_f32 v0, v0, v0, v0\n", "v_add_f32 v0, v0, v0\n"


@pytest.mark.parametrize("bodies, label", [
    ((FMA, 2 * FMA, 5 * ADD), ".L1"), ((ADD, 3 * ADD), ".L1"),
    ((4 * FMA, "v_mfma_f32_4x4x1f32 a, b, c, d\n"), ".L1"), ((), ".OUTER"),
])
def test_the_hot_loop_is_the_innermost_with_the_most_fmas(bodies: tuple[str, ...], label: str) -> None:
    text = "".join(f".L{i}:\n{body}s_cbranch_scc0 .L{i}\n" for i, body in enumerate(bodies))
    found = loops.find_loops(function(f".OUTER:\n{9 * FMA}{text}s_cbranch_scc0 .OUTER\ns_endpgm".splitlines()))
    hot = analysis.hot_loop(found)
    assert hot is not None and hot.label == label


def test_a_packed_fma_counts_twice_in_the_share() -> None:
    assert analysis.fma_share(function(["v_pk_fma_f32 v0, v1, v2, v3", "s_nop 0", "s_endpgm"]).instructions) == 0.5


# --- Names, sources, files ------------------------------------------------------------------------

def test_names() -> None:
    assert analysis.short_names([
        "(anonymous namespace)::busy_kernel(float*, unsigned int)",
        "void (anonymous namespace)::copy<4, (hipscope::Layout)0>(unsigned int*, void (*)(int))",
        "void tile<std::pair<int, int> >(float)", "plain", "twice(int)", "twice(float)",
    ]) == ["busy_kernel", "copy<4, (hipscope::Layout)0>", "tile<std::pair<int, int> >", "plain", "twice(int)",
           "twice(float)"]


def test_experiments_are_those_of_the_build(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "# hipscope_add_experiment(src/0-old/gone.hip)\n"
        "hipscope_add_experiment(src/1-a/first.hip BOTH_WAVE_SIZES)\n"
        "  hipscope_add_experiment(\n    src/2-b/second.hip)\n", encoding="utf-8")
    assert read_experiments(tmp_path) == [Experiment("first", "src/1-a/first.hip"),
                                          Experiment("second", "src/2-b/second.hip")]
    (tmp_path / "CMakeLists.txt").write_text("project(x)\n", encoding="utf-8")
    with pytest.raises(BadInput, match="names no experiment"):
        read_experiments(tmp_path)
    with pytest.raises(BadInput, match="cannot be read"):
        read_experiments(tmp_path / "missing")


def test_compact_json_is_json() -> None:
    value = {"a": 1, "b": [], "c": {}, "d": "x" * 120, "e": ["ü" * 60, {"f": list(range(60)), "g": None}],
             **{f"key {i}": i for i in range(30)}}
    text = results.compact_json(value)
    assert json.loads(text) == value
    assert max(len(line) for line in text.splitlines() if "xxx" not in line) <= 101
    assert len(text.splitlines()) < 80


def result(**changes: Any) -> dict[str, Any]:
    return {"experiment": "cu_staircase", "source": "src/2-compute/cu_staircase/cu_staircase.hip",
            "source_digest": "0123456789abcdef", "target": "gfx900",
            "compiler": "Debian clang version 15.0.6", "flags": "-O3",
            "kernels": analysis.analyse_text(STAIRCASE, None, "gfx900"), **changes}


NAMES = results.names_of([result()])


def file_text(**changes: Any) -> str:
    return results.file_text({"cu_staircase": result(**changes)}, NAMES)


def read_back(folder: Path, text: str) -> dict[str, Any]:
    (folder / results.NAMES_FILE).write_text(json.dumps(NAMES), encoding="utf-8")
    path = folder / "gfx900-clang15.json"
    path.write_text(text, encoding="utf-8")
    return results.read_result(path)


def test_a_file_has_a_row_per_kernel(tmp_path: Path) -> None:
    text = file_text()
    assert len(NAMES["cu_staircase"]) == 2
    assert read_back(tmp_path, text) == {"cu_staircase": result()}
    busy, waiting = json.loads(text)["experiments"]["cu_staircase"]["kernels"]
    # The name's number, registers, spills, scratch, LDS, block, waves, bytes, instructions, loops; then the hot loop's.
    assert busy == [0, 7, 0, 11, 0, 0, 0, 0, 1024, 10, 440, 71, 2,
                    19, 16, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0.8421, 140, None]
    assert (waiting[0], len(waiting)) == (1, len(busy))
    kernel = {key: value for key, value in result()["kernels"][0].items() if key in results.KERNEL_COLUMNS}
    without_loop = [kernel | {"loops": 0}]
    assert read_back(tmp_path, file_text(kernels=without_loop)) == {"cu_staircase": result(kernels=without_loop)}


def test_a_file_is_by_one_compiler() -> None:
    with pytest.raises(BadInput, match="make all experiments again"):
        results.file_text({"first": result(), "second": result(compiler="clang version 15.0.7")}, {})


@pytest.mark.parametrize("change, part", [
    (lambda data: data.update(extra=1), "extra"), (lambda data: data.pop("flags"), "flags"),
    (lambda data: data["experiments"]["cu_staircase"]["kernels"][0].__setitem__(1, -1), "kernels.0.1"),
    (lambda data: data["experiments"]["cu_staircase"]["kernels"][0].append(1), "kernels.0"),
    (lambda data: data["experiments"]["cu_staircase"]["kernels"][0].__setitem__(0, 2), "kernels.json does not name"),
    (lambda data: data["experiments"].update(first=data["experiments"]["cu_staircase"]), "kernels.json does not name"),
    (lambda data: data["experiments"]["cu_staircase"]["kernels"][0].__setitem__(24, 1.5), "kernels.0.24"),
    (lambda data: data["columns"].reverse(), "other columns"),
    (lambda data: data.update(target="gfx906"), "for gfx906"),
    (lambda data: data.update(compiler="clang version 16.0.0"), "by clang version 16.0.0"),
    (lambda data: data.update(compiler="a compiler"), "names no version of clang"),
])
def test_results_that_do_not_follow_the_schema(tmp_path: Path, change: Any, part: str) -> None:
    data = json.loads(file_text())
    change(data)
    with pytest.raises(BadInput, match=re.escape(part)):
        read_back(tmp_path, json.dumps(data))


# --- llvm-mca -------------------------------------------------------------------------------------

# Refuses v_bad; takes one cycle for each other instruction, and 50 in the beginning.
FAKE_MCA = f"#!{sys.executable} -SE" """
import json, sys
regions, wrong = [], False
iterations = next(int(word.split("=")[1]) for word in sys.argv if word.startswith("-iterations="))
for number, line in enumerate(sys.stdin.read().split("\\n"), 1):
    if line.startswith("# LLVM-MCA-BEGIN"):
        regions.append({"Name": line.split()[-1], "SummaryView": {"TotalCycles": 50}})
    elif line.startswith("v_bad"):
        print(f"<stdin>:{number}:1: error: invalid instruction", file=sys.stderr)
        wrong = True
    elif line and not line.startswith("#"):
        regions[-1]["SummaryView"]["TotalCycles"] += iterations
if wrong:
    sys.exit(1)
print(json.dumps({"CodeRegions": regions}))
"""


def with_mca(folder: Path, text: str) -> toolchain.Toolchain:
    """A toolchain of which only llvm-mca can be called."""
    return toolchain.Toolchain(Processes(), "", "", "", str(program(folder / "llvm-mca", text)), "")


@pytest.mark.parametrize("regions, cycles", [
    ([["v_a", "v_b"], ["v_c"]], [2.0, 1.0]), ([], []),
    # It goes on without what it refuses.
    ([["v_a"], ["v_bad 1", "v_b", "v_bad 2", "v_c"]], [1.0, 2.0]),
])
def test_mca_estimates_each_loop(tmp_path: Path, regions: list[list[str]], cycles: list[float]) -> None:
    assert mca.cycles_of(with_mca(tmp_path, FAKE_MCA), "gfx900", regions) == cycles


@pytest.mark.parametrize("text", [
    "#!/bin/sh\nexit 1\n", "#!/bin/sh\necho 'not JSON'\n", "#!/bin/sh\necho '{}'\n",
    "#!/bin/sh\necho '<stdin>:1:1: error: never good' >&2; exit 1\n",
    "#!/usr/bin/env python3\nwhile True: pass\n",  # it is ended
])
def test_mca_that_fails_gives_no_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(mca, "LONGEST_S", 1)
    assert mca.cycles_of(with_mca(tmp_path, text), "gfx900", [["v_a"]]) == [None]


def test_no_mca_gives_no_estimate() -> None:
    tools = toolchain.Toolchain(Processes(), "", "", "", "", "")
    assert mca.cycles_of(tools, "gfx900", [["v_a"]]) == [None]


# --- The program ----------------------------------------------------------------------------------

FAKE_HIPCC = """#!/usr/bin/env bash
# Imitates hipcc: "compiles" every source to the recorded assembly.
here=$(dirname "$0") source= target= assembly=
[[ $1 != --version ]] || { cat "$here/version"; exit; }
while (($#)); do
  case $1 in
    *.hip) source=$1 ;;
    --offload-arch=*) target=${1#*=} ;;
    -o) assembly=$2; shift ;;
  esac
  shift
done
printf '%s %s\\n' "$(basename "$source" .hip)" "$target" >>"$here/calls"
[[ $target != gfx1100 ]] || { echo 'clang: error: cannot find the device library' >&2; exit 1; }
if [[ -e $here/hangs && $source != *probe* ]]; then
  touch "$here/started"
  sleep 600 &
  wait
fi
if [[ -e $here/breaks && $source == *second* ]]; then
  printf 'clang: warning: nothing\\n%s:7:1: error: no such thing\\nmore\\n' "$source" >&2
  exit 1
fi
cp "$here/recorded.s" "$assembly"
"""
VERSION = "HIP version: 9.9\nFake clang version 99.1\nInstalledDir: {folder}\n"


class Workshop:
    """A repository of two experiments, and a folder of faked tools."""

    def __init__(self, folder: Path) -> None:
        self.root, self.tools = folder / "repository", folder / "tools"
        (self.root / "results").mkdir(parents=True)
        self.name_experiments("src/1-a/first.hip", "src/2-b/second.hip")
        self.tools.mkdir()
        (self.tools / "version").write_text(VERSION.format(folder=self.tools), encoding="utf-8")
        self.record(STAIRCASE)
        program(self.tools / "hipcc", FAKE_HIPCC)
        program(self.tools / "llvm-mc", '#!/bin/sh\nfor last; do :; done\ncat "$last"\n')
        demangle = r"s/^_ZN12_GLOBAL__N_1[0-9]+([a-z_]+_kernel).*/\1(int)/"
        program(self.tools / "llvm-cxxfilt", f"#!/bin/sh\nsed -E '{demangle}'\n")
        program(self.tools / "llvm-mca", FAKE_MCA)

    def record(self, text: str) -> None:
        (self.tools / "recorded.s").write_text(text, encoding="utf-8")

    def name_experiments(self, *sources: str) -> None:
        """Writes the list of experiments, and their sources where there are none."""
        for source in sources:
            (self.root / source).parent.mkdir(parents=True, exist_ok=True)
            (self.root / source).touch()
        text = "".join(f"hipscope_add_experiment({source})\n" for source in sources)
        (self.root / "CMakeLists.txt").write_text(text, encoding="utf-8")

    @property
    def out(self) -> Path:
        """Where the report goes when not told otherwise."""
        return self.root / "results" / "isa"

    def environment(self, path: str | None = None) -> dict[str, str]:
        """Where these tools alone are found."""
        return {**os.environ, "PATH": path or f"{self.tools}:{os.environ['PATH']}", "ROCM_PATH": "/nonexistent"}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        synthetic.copy_repository(self.root)
        return subprocess.Popen(
            [sys.executable, str(self.root / "scripts" / "isa_report.py"), *arguments], env=self.environment(),
            cwd=self.root, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            # Tests started in the background inherit an ignored SIGINT.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))

    def run(self, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
        listed = functools.partial(read_experiments, self.root)
        digest = functools.partial(source_digest, repository=self.root)
        with mock.patch.object(isa_report, "ROOT", self.root), mock.patch.object(signal, "signal"), \
                mock.patch.object(isa_report.prediction_page, "REPOSITORY", self.root), \
                mock.patch.object(isa_report.experiments, "read_experiments", listed), \
                mock.patch.object(isa_report.experiments, "source_digest", digest):
            return synthetic.run("isa_report.py", *arguments, **self.environment(path))

    def files(self) -> dict[str, bytes]:
        files = [path for path in self.out.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.out)): path.read_bytes() for path in files}

    def calls(self) -> list[str]:
        """What was compiled, but for probes."""
        path = self.tools / "calls"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return sorted(line for line in lines if not line.startswith("probe"))


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def one_sentence(done: subprocess.CompletedProcess[str], status: int, *parts: str) -> None:
    """Whether it failed with one line that has these parts."""
    assert (done.returncode, done.stderr.count("\n")) == (status, 1), done.stderr
    assert done.stderr.startswith("isa_report.py: ")
    for part in parts:
        assert part in done.stderr


def test_report(workshop: Workshop) -> None:
    done = workshop.run("--targets", "gfx900,gfx90a")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r".*/results/isa/README.md: 8 kernels, 2 targets, \d+\.\d s\n", done.stdout)
    assert workshop.calls() == ["first gfx900", "first gfx90a", "second gfx900", "second gfx90a"]
    assert sorted(workshop.files()) == [
        "README.md", "gfx900-clang99.json", "gfx900-clang99.md", "gfx90a-clang99.json", "gfx90a-clang99.md",
        "kernels.json", "vgprs-waves.svg"]
    data = json.loads((workshop.out / "gfx90a-clang99.json").read_text())
    assert (data["target"], data["compiler"]) == ("gfx90a", "Fake clang version 99.1, HIP 9.9")
    assert list(data["experiments"]) == ["first", "second"]
    second = data["experiments"]["second"]
    assert second["source"] == "src/2-b/second.hip"
    assert [row[0] for row in second["kernels"]] == [0, 1]
    names = json.loads((workshop.out / "kernels.json").read_text())
    assert names == {"first": ["busy_kernel", "waiting_kernel"], "second": ["busy_kernel", "waiting_kernel"]}
    assert second["kernels"][0][-1] == 19.0  # by llvm-mca
    of_target = (workshop.out / "gfx900-clang99.md").read_text()
    assert "| [first](../../src/1-a/first.hip) | 2 | 7 | 0 | 0 | 10 | 84.2 % | busy_kernel |\n" in of_target
    index = (workshop.out / "README.md").read_text()
    assert "| [gfx900-clang99](gfx900-clang99.md) | 2 | 4 | 7 | 0 | Fake clang version 99.1, HIP 9.9 |\n" in index
    assert "No kernel uses scratch on any target." in index and "(vgprs-waves.svg)" in index
    ElementTree.fromstring((workshop.out / "vgprs-waves.svg").read_text())
    assert workshop.run("--check").stdout == "2 valid, 0 invalid\n"


def test_again_gives_the_same_bytes(workshop: Workshop) -> None:
    assert workshop.run("--targets", "gfx900,gfx1030", "--jobs", "3").returncode == 0
    before = workshop.files()
    assert workshop.run("--targets", "gfx1030,gfx900", "--jobs", "1").returncode == 0
    assert workshop.files() == before


def test_only_some_experiments_keep_the_others(workshop: Workshop) -> None:
    assert workshop.run("--targets", "gfx900,gfx1030").returncode == 0
    before = workshop.files()
    workshop.record(STAIRCASE.replace("; NumVgprs: 7", "; NumVgprs: 8"))
    assert workshop.run("--targets", "gfx900", "--only", "^sec").returncode == 0
    after = workshop.files()
    assert {name for name in after if after[name] != before[name]} == {
        "gfx900-clang99.json", "gfx900-clang99.md", "README.md", "vgprs-waves.svg"}
    first, second = (json.loads(files["gfx900-clang99.json"])["experiments"] for files in (before, after))
    assert first["first"] == second["first"] and first["second"] != second["second"]
    assert after.keys() == before.keys()


def test_what_has_not_changed_is_not_compiled_again(workshop: Workshop) -> None:
    header = workshop.root / "include" / "deep.h"
    header.parent.mkdir()
    header.write_text("int deep;\n", encoding="utf-8")
    (workshop.root / "src/1-a/near.h").write_text("#include <deep.h>\n", encoding="utf-8")
    (workshop.root / "src/1-a/first.hip").write_text("// One.\n#if 0\n #include \"near.h\"\n#endif\n", encoding="utf-8")
    everything = ("--targets", "gfx900,gfx90a", "--changed")

    def compiled() -> list[str]:
        (workshop.tools / "calls").unlink(missing_ok=True)
        done = workshop.run(*everything)
        assert done.returncode == 0, done.stderr
        calls = workshop.calls()
        assert f"the same: {4 - len(calls)} of 4 reports\n" in done.stdout
        return calls

    assert compiled() == ["first gfx900", "first gfx90a", "second gfx900", "second gfx90a"]
    before = workshop.files()
    assert compiled() == [] and workshop.files() == before
    source = "// Two.\n\n#if 0\n#include \"near.h\"\n#endif\n"
    (workshop.root / "src/1-a/first.hip").write_text(source, encoding="utf-8")
    assert compiled() == []
    header.write_text("int deeper;\n", encoding="utf-8")
    assert compiled() == ["first gfx900", "first gfx90a"]
    # What comes with the sources serves another folder, too; without --changed all is compiled.
    elsewhere = workshop.root / "elsewhere"
    everything += ("--out", str(elsewhere))
    assert compiled() == []
    assert (elsewhere / "gfx90a-clang99.json").read_bytes() == (workshop.out / "gfx90a-clang99.json").read_bytes()
    everything = ("--targets", "gfx900,gfx90a")
    (workshop.tools / "calls").unlink(missing_ok=True)
    assert workshop.run(*everything).returncode == 0 and len(workshop.calls()) == 4
    # Another compiler has made nothing yet.
    (workshop.tools / "version").write_text(
        VERSION.format(folder=workshop.tools).replace("99.1", "99.2"), encoding="utf-8")
    everything += ("--changed",)
    assert len(compiled()) == 4


def test_another_compiler_stands_beside(workshop: Workshop) -> None:
    assert workshop.run("--targets", "gfx900,gfx90a").returncode == 0
    before = workshop.files()
    (workshop.tools / "version").write_text(
        VERSION.format(folder=workshop.tools).replace("99.1", "100.2"), encoding="utf-8")
    workshop.record(STAIRCASE.replace("; NumVgprs: 7", "; NumVgprs: 17").replace("; Occupancy: 10", "; Occupancy: 9"))
    assert workshop.run("--targets", "gfx90a").returncode == 0
    after = workshop.files()
    assert {name for name in after if name not in before} == {"gfx90a-clang100.json", "gfx90a-clang100.md"}
    assert all(after[name] == before[name] for name in before if name.startswith("gfx"))
    text = after["README.md"].decode()
    assert text.count("\n### gfx90a\n") == 1 and "\n### gfx900\n" not in text
    assert "| first | 2 | 0 | 1 | 2 | 0 | 0 | 0 | 0 | 0 |\n" in text
    assert "| together | 4 | 0 | 2 | 4 | 0 | 0 | 0 | 0 | 0 |\n" in text


def test_pages_are_made_anew_from_what_is_there(workshop: Workshop) -> None:
    one_sentence(workshop.run("--pages"), 2, "there is no result file in ")
    assert workshop.run("--targets", "gfx900").returncode == 0
    before, calls = workshop.files(), workshop.calls()
    (workshop.out / "README.md").unlink()
    (workshop.out / "gfx900-clang99.md").write_text("old", encoding="utf-8")
    assert workshop.run("--pages").returncode == 0
    assert (workshop.files(), workshop.calls()) == (before, calls)


def test_what_is_no_experiment_any_more_goes(workshop: Workshop) -> None:
    assert workshop.run("--targets", "gfx900").returncode == 0
    workshop.name_experiments("src/1-a/first.hip", "src/3-c/third.hip")
    assert workshop.run("--targets", "gfx900").returncode == 0
    assert list(json.loads((workshop.out / "gfx900-clang99.json").read_text())["experiments"]) == ["first", "third"]


def test_scratch_is_named(workshop: Workshop) -> None:
    text = STAIRCASE.replace(".private_segment_fixed_size: 0", ".private_segment_fixed_size: 724", 1)
    workshop.record(text.replace(".vgpr_spill_count: 0", ".vgpr_spill_count: 81", 1))
    assert workshop.run("--targets", "gfx900", "--only", "first").returncode == 0
    assert "| first | 1, 724 B |" in (workshop.out / "README.md").read_text()
    assert "| 2 | 7 | 1 | 724 | 10 |" in (workshop.out / "gfx900-clang99.md").read_text()
    data = json.loads((workshop.out / "gfx900-clang99.json").read_text())
    assert data["experiments"]["first"]["kernels"][0][4:7] == [81, 0, 724]


def test_without_mca_nothing_is_said_of_cycles(workshop: Workshop) -> None:
    program(workshop.tools / "llvm-mca", "#!/bin/sh\nexit 1\n")
    assert workshop.run("--targets", "gfx900").returncode == 0
    data = json.loads((workshop.out / "gfx900-clang99.json").read_text())
    assert data["experiments"]["first"]["kernels"][0][-1] is None


@pytest.mark.parametrize("arguments, part", [
    (["--only", "("], "regular expression"), (["--only", "nothing_of_this_name"], "nothing_of_this_name"),
    (["--targets", "gfx900,sm_90"], "'sm_90'"), (["--targets", ""], "--targets"),
    (["--targets", "../x"], "'../x'"), (["--targets", "gfx900,gfx1100"], "does not compile for gfx1100."),
    (["--jobs", "0"], "--jobs"), (["--out", "/dev/null/folder"], "/dev/null/folder"),
    (["--check"], "there is no folder"),
])
def test_bad_usage(workshop: Workshop, arguments: list[str], part: str) -> None:
    one_sentence(workshop.run(*arguments), 2, part)
    assert not workshop.out.exists()


def test_all_targets_are_those_that_compile(workshop: Workshop) -> None:
    done = workshop.run("--targets", "all", "--only", "first")
    assert done.returncode == 0 and "Not supported by Fake clang version 99.1, HIP 9.9: gfx1100\n" in done.stdout
    expected = sorted(f"{target}-clang99" for target in set(toolchain.KNOWN_TARGETS) - {"gfx1100"})
    assert sorted(path.stem for path in workshop.out.glob("gfx*.json")) == expected


def test_no_compiler(workshop: Workshop) -> None:
    nowhere = workshop.root / "nothing"
    one_sentence(workshop.run(path=str(nowhere)), 77, "there is no hipcc")
    (workshop.tools / "llvm-mc").unlink()
    one_sentence(workshop.run(path=f"{workshop.tools}:/usr/bin:/bin"), 77, "there is no llvm-mc of LLVM 99",
                 "package llvm-99")
    (workshop.tools / "version").write_text("no version\n", encoding="utf-8")
    one_sentence(workshop.run(), 77, "names no clang")
    assert not workshop.out.exists()


@pytest.mark.parametrize("file, content, parts", [
    ("breaks", b"", ["second.hip does not compile for gfx", "second.hip:7:1: error: no such thing"]),
    ("recorded.s", b"\xff\xfe\n", ["no notes"]),
])
def test_a_source_that_does_not_compile(workshop: Workshop, file: str, content: bytes, parts: list[str]) -> None:
    assert workshop.run("--targets", "gfx900").returncode == 0
    before = workshop.files()
    (workshop.tools / file).write_bytes(content)
    one_sentence(workshop.run("--targets", "gfx900,gfx1030"), 1, *parts)
    assert workshop.files() == before


def test_a_bad_result_file(workshop: Workshop) -> None:
    assert workshop.run("--targets", "gfx900").returncode == 0
    path = workshop.out / "gfx900-clang99.json"
    path.write_text(path.read_text().replace('[0,7,', '[0,-7,', 1), encoding="utf-8")
    before = workshop.files()
    done = workshop.run("--check")
    one_sentence(done, 1, "gfx900-clang99.json does not follow the schema: experiments.first.kernels.0.1")
    assert done.stdout == "0 valid, 1 invalid\n"
    # Its other experiment would stay.
    one_sentence(workshop.run("--targets", "gfx900", "--only", "first"), 1, "gfx900-clang99.json", "kernels.0.1")
    assert workshop.files() == before
    assert workshop.run("--targets", "gfx900").returncode == 0


@pytest.mark.parametrize("number, status", [
    (signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow),
    pytest.param(signal.SIGHUP, 129, marks=pytest.mark.slow),
])
def test_interrupt(workshop: Workshop, number: signal.Signals, status: int) -> None:
    assert workshop.run("--targets", "gfx900").returncode == 0
    before = workshop.files()
    (workshop.tools / "hangs").touch()
    process = workshop.start("--targets", "gfx900,gfx1030", "--jobs", "2")
    wait_for(workshop.tools / "started")
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    assert process.returncode == status
    assert err in ("", "isa_report.py: interrupted; what was there before stays.\n")
    assert workshop.files() == before
    assert [path.name for path in workshop.out.iterdir() if path.name.startswith(".")] == []
    running = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in running if str(workshop.tools).encode() in line]


def test_register_limits_are_kept_and_checked(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take a real compiler half a minute: test_register_limits.py."""
    workshop.name_experiments("src/2-compute/sgpr_limit/sgpr_limit.hip")
    of_target = {
        target: {**fake_limits({"v": 256, "s": sgprs, "a": 0}, 65536), "target": target,
                 "compiler": "Fake clang version 99.1"}
        for target, sgprs in (("gfx1030", 106), ("gfx900", 102))
    }
    monkeypatch.setattr(register_limits, "measure", lambda _, target: of_target[target])
    for target in of_target:
        assert workshop.run("--targets", target).returncode == 0
    limits = results.read_limits(workshop.out)
    assert [(limit["target"], limit["assembler"]["s"]["highest"]) for limit in limits] == [
        ("gfx900", 101), ("gfx1030", 105)]
    assert "| gfx900-clang99 | v255 | v255 | s101 | s101 | - |" in (workshop.out / "README.md").read_text()
    (workshop.out / results.LIMITS_FILE).write_text("[{}]\n", encoding="utf-8")
    checked = workshop.run("--check")
    assert (checked.returncode, checked.stdout) == (1, "2 valid, 1 invalid\n")


def test_names_cannot_break_the_page() -> None:
    kernels = [kernel_of(STAIRCASE, "busy_kernel")]
    kernels[0]["name"] = "a|b<script>alert(1)</script> `c` **d**"
    files = page.make_pages({("gfx900-clang15", "cu_staircase"): result(kernels=kernels)}, ["## A further section"])
    assert "\n## A further section\n" in files["README.md"].decode()
    text = files["gfx900-clang15.md"].decode()
    assert "<script" not in text and "a\\|b" in text


# --- The real compiler ----------------------------------------------------------------------------


def remarks(target: str, folder: Path) -> dict[str, dict[str, int]]:
    """What the compiler itself reports of each kernel of cu_staircase."""
    done = subprocess.run(
        [str(HIPCC), "-x", "hip", "--cuda-device-only", "-S", *toolchain.FLAGS, f"--offload-arch={target}",
         "-Rpass-analysis=kernel-resource-usage", "-I", str(REPOSITORY / "include"),
         "-I", str(REPOSITORY / "src"),
         str(REPOSITORY / "src" / "2-compute" / "cu_staircase" / "cu_staircase.hip"), "-o", str(folder / "remarks.s")],
        env={**os.environ, "HIP_PLATFORM": "amd", "HCC_AMDGPU_TARGET": target}, capture_output=True, text=True,
        check=True)
    said: dict[str, dict[str, int]] = {}
    symbol = ""
    for name, value in re.findall(r"remark: +([^:\[]+?)(?: \[[^]]*\])?: (\S+)", done.stderr):
        if name == "Function Name":
            symbol = value
        else:
            said.setdefault(symbol, {})[name] = int(value)
    return said


@pytest.mark.slow
@pytest.mark.skipif(HIPCC is None, reason="there is no hipcc")
def test_the_real_compiler(tmp_path: Path) -> None:
    out = tmp_path / "isa"
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "isa_report.py"), "--out", str(out), "--targets", "gfx90a", "--only",
         "^cu_staircase$"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    version = toolchain.find_toolchain(Processes()).version
    made = results.read_result(out / f"{experiments.made_by('gfx90a', version)}.json")
    kernels = made["cu_staircase"]["kernels"]
    said = {re.findall(r"\d([a-z_]+)E", symbol)[-1]: of for symbol, of in remarks("gfx90a", tmp_path).items()}
    assert len(kernels) == len(said) >= 2
    for kernel in kernels:
        assert {
            "VGPRs": kernel["vgprs"], "SGPRs": kernel["sgprs"], "AGPRs": kernel["agprs"],
            "ScratchSize": kernel["scratch_bytes"], "Occupancy": kernel["waves_per_simd"],
            "SGPRs Spill": kernel["sgpr_spills"], "VGPRs Spill": kernel["vgpr_spills"],
            "LDS Size": kernel["lds_bytes"],
        } == said[kernel["name"].rpartition("::")[2]]
    busy = next(kernel for kernel in kernels if kernel["name"] == "busy_kernel")
    assert busy["fma"] == 16 and 0.8 < busy["fma_share"] < 0.9
    assert busy["mca_cycles"] >= 16


@pytest.mark.parametrize("known, taken", [({"gfx90a"}, ["gfx90a"]), ({"gfx90a", "gfx942"}, ["gfx942"]), (set(), None)])
def test_one_target_is_the_newest_that_the_compiler_knows(known: set[str], taken: list[str] | None, tmp_path: Path
                                                          ) -> None:
    tools = SimpleNamespace(version="a compiler", supports=lambda target, _: target in known)
    if taken:
        assert isa_report.supported_targets(map, tools, "one", tmp_path) == taken
    else:
        with pytest.raises(BadInput, match="does not compile for gfx942, gfx90a"):
            isa_report.supported_targets(map, tools, "one", tmp_path)
