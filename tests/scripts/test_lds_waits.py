"""What lds_waits.py takes for a barrier to which a wave comes with its stores to LDS in flight."""

from __future__ import annotations

import subprocess
from pathlib import Path

import lds_waits
import pytest
import synthetic


def kernel(code: str, name: str = "tile") -> str:
    """A kernel as the compiler writes it, with what stands around its code."""
    lines = "\n".join(line if line.startswith(".L") else f"\t{line}" for line in code.strip().splitlines())
    return (f"\t.type\t{name},@function\n{name}:                    ; @{name}\n; %bb.0:\n{lines}\n\ts_endpgm\n"
            f"\t.section\t.rodata,\"a\",@progbits\n\t.amdhsa_kernel {name}\n\t.end_amdhsa_kernel\n")


def check(tmp_path: Path, text: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "kernels.s"
    path.write_text(text, encoding="utf-8")
    return synthetic.run("lds_waits.py", path)


# What clang 22.1.8 makes for gfx90a of a loop that begins with __syncthreads() and ends with stores: it waits
# before the loop alone.
FORGOTTEN = """
ds_write_b32 v1, v2
s_waitcnt lgkmcnt(0)
s_branch .LBB0_2
.LBB0_1:                                ;   in Loop: Header=BB0_2 Depth=1
s_andn2_b64 vcc, exec, s[2:3]
s_cbranch_vccz .LBB0_4
.LBB0_2:                                ; =>This Loop Header: Depth=1
{wait}
s_barrier
ds_read_b32 v3, v1
s_waitcnt lgkmcnt(0)
s_cbranch_scc0 .LBB0_1
; %bb.3:
ds_write_b32 v1, v3
s_branch .LBB0_1
.LBB0_4:
"""


def test_the_wait_that_a_loop_forgets(tmp_path: Path) -> None:
    done = check(tmp_path, kernel(FORGOTTEN.format(wait="s_waitcnt vmcnt(0)")))
    assert done.returncode == 1
    assert done.stdout.splitlines() == [f"{tmp_path / 'kernels.s'}:12: tile comes to the barrier with stores to LDS "
                                        "in flight"]
    done = check(tmp_path, kernel(FORGOTTEN.format(wait="s_waitcnt vmcnt(0) lgkmcnt(0)")))
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("code", [
    "ds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\ns_barrier",
    "ds_write_b32 v1, v2\nds_read_b32 v3, v4\ns_waitcnt lgkmcnt(1)\ns_barrier",  # they end in order
    "ds_write_b32 v1, v2\nds_read_b32 v3, v4\nds_read_b32 v5, v6\ns_waitcnt lgkmcnt(1)\ns_barrier",
    "ds_store_b32 v1, v2\ns_wait_dscnt 0x0\ns_barrier_signal -1\ns_barrier_wait -1",
    "ds_store_b32 v1, v2\ns_wait_loadcnt_dscnt 0x0\ns_barrier_signal -1\ns_barrier_wait -1",
    "ds_read_b32 v1, v2\ns_barrier",  # of a load nobody else learns
    "ds_bpermute_b32 v1, v2, v3\ns_barrier",  # touches no memory
    "s_barrier\nds_write_b32 v1, v2",
    "s_cbranch_scc0 .LBB0_1\nds_write_b32 v1, v2\ns_endpgm\n.LBB0_1:\ns_barrier",
    "global_load_dword v3, v[1:2], off\nbuffer_load_dword v4, v1, s[0:3], 0 offen\ns_barrier",  # to registers
    "global_load_dword v[1:2], off lds\ns_waitcnt vmcnt(0)\ns_barrier",
    "global_load_lds_dword v[1:2], off offset:256\nglobal_load_dword v3, v[1:2], off\ns_waitcnt vmcnt(1)\ns_barrier",
])
def test_what_is_waited_for(tmp_path: Path, code: str) -> None:
    done = check(tmp_path, kernel(code))
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("code", [
    "ds_write_b32 v1, v2\ns_barrier",
    "ds_write2_b32 v1, v2, v3 offset1:1\ns_waitcnt vmcnt(0)\ns_barrier",
    "ds_read_b32 v3, v4\nds_write_b32 v1, v2\ns_waitcnt lgkmcnt(1)\ns_barrier",
    "ds_add_u32 v1, v2\ns_barrier",
    "ds_store_b64 v1, v[2:3]\ns_wait_loadcnt 0x0\ns_barrier_signal -1\ns_barrier_wait -1",
    "ds_store_b32 v1, v2\ns_wait_dscnt 0x1\ns_barrier_signal -1\ns_barrier_wait -1",
    "s_cbranch_scc0 .LBB0_1\nds_write_b32 v1, v2\n.LBB0_1:\ns_barrier",
    # Loads from memory to LDS.
    "global_load_lds_dword v[1:2], off\ns_barrier",
    "global_load_dword v[1:2], off offset:256 lds\ns_waitcnt lgkmcnt(0)\ns_barrier",
    "buffer_load_dword v1, s[0:3], 0 offen lds\ns_waitcnt vmcnt(1)\ns_barrier",
    "global_load_lds_dwordx4 v[1:2], off\nglobal_store_dword v[1:2], v3, off\ns_waitcnt vmcnt(1)\ns_barrier",
    # By a jump over more than 128 KiB.
    "ds_write_b32 v1, v2\ns_getpc_b64 s[0:1]\n.Lpost_getpc0:\ns_add_u32 s0, s0, (.LBB0_1-.Lpost_getpc0)&4294967295\n"
    "s_addc_u32 s1, s1, (.LBB0_1-.Lpost_getpc0)>>32\ns_setpc_b64 s[0:1]\ns_endpgm\n.LBB0_1:\ns_barrier",
])
def test_what_is_not(tmp_path: Path, code: str) -> None:
    done = check(tmp_path, kernel("s_nop 0") + kernel(code, "second"))
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 1 and "second" in done.stdout


# The loads of a turn are for the tile after the next: at its barrier those of the turn before must have come.
AHEAD = """
global_load_dword v[1:2], off lds
.LBB0_1:
global_load_dword v[1:2], off lds
global_load_dword v[1:2], off offset:256 lds
s_waitcnt vmcnt({left})
s_barrier
ds_read_b32 v3, v4
s_cbranch_scc0 .LBB0_1
"""


@pytest.mark.parametrize("left, name, is_good", [(2, "ahead", True), (3, "ahead", False), (2, "other", False)])
def test_loads_that_may_come_a_barrier_later(tmp_path: Path, left: int, name: str, is_good: bool) -> None:
    path = tmp_path / "kernels.s"
    path.write_text(kernel(AHEAD.format(left=left), name), encoding="utf-8")
    done = synthetic.run("lds_waits.py", "--ahead", "1 ^ahead$", path)
    assert (done.returncode == 0) == is_good, done.stdout
    # What a wave stores itself must be there at the next barrier in any case.
    path.write_text(kernel("ds_write_b32 v1, v2\ns_barrier", "ahead"), encoding="utf-8")
    assert synthetic.run("lds_waits.py", "--ahead", "1 ^ahead$", path).returncode == 1


@pytest.mark.parametrize("barriers, is_good", [(1, True), (2, True), (3, False)])
def test_loads_that_may_come_two_barriers_later(tmp_path: Path, barriers: int, is_good: bool) -> None:
    path = tmp_path / "kernels.s"
    path.write_text(kernel("global_load_lds_dword v[1:2], off\n" + "s_barrier\n" * barriers +
                           "s_waitcnt vmcnt(0)\ns_barrier", "ahead"), encoding="utf-8")
    arguments = ("--ahead", "1 other", "--ahead", "2 ^ahead$", path)
    assert (synthetic.run("lds_waits.py", *arguments).returncode == 0) == is_good


def test_all_that_matters_of_a_function_is_read() -> None:
    functions = lds_waits.read_functions(
        kernel("s_nop 0\n.LBB0_1:\ns_barrier") + kernel("s_nop 1", "without") +
        kernel("ds_write_b32 v1, v2 ; a comment\n  v_nop\ns_cbranch_scc0   .LBB2_1\ns_barrier", "last"))
    assert [(function.name, function.code) for function in functions] == [
        ("tile", ["s_barrier", "s_endpgm"]),
        ("last", ["ds_write_b32 v1, v2", "s_cbranch_scc0 .LBB2_1", "s_barrier", "s_endpgm"])]
    assert functions[0].labels == {".LBB0_1": 0}


def test_bad_usage() -> None:
    done = synthetic.run("lds_waits.py")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
