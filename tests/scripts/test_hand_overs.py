"""What hand_overs.py takes for a hand-over between blocks without what orders it, on each generation."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import synthetic

from hipscope.compiled_code import experiments

ROOT = synthetic.REPOSITORY


def check(
    tmp_path: Path, target: str, code: str, regex: str = "tile", more: str = "", options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    lines = "\n".join(line if line.startswith(".L") else f"\t{line}" for line in code.strip().splitlines())
    path = tmp_path / "kernels.s"
    path.write_text(
        f'\t.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n\t.type\ttile,@function\ntile:\n{lines}\n'
        f"\ts_endpgm\n\t.section\t.rodata\n{more}",
        encoding="utf-8",
    )
    return synthetic.run("hand_overs.py", *options, regex, path)


# What all waves do: store, wait, meet; one tells another block, waits for the next one, and all load what that stored.
HAND_OVER = """
{store}
{release}
{barrier}
s_cbranch_execz .LBB0_3
{mark}
.LBB0_2:
{look}
s_cbranch_execnz .LBB0_2
{acquire}
.LBB0_3:
{barrier}
{load}
"""
GFX9 = {
    "store": "global_store_dword v[0:1], v2, off",
    "release": "s_waitcnt vmcnt(0) lgkmcnt(0)",
    "barrier": "s_barrier",
    "mark": "global_atomic_swap v2, v3, s[0:1]",
    "look": "global_load_dword v4, v2, s[2:3] glc\ns_waitcnt vmcnt(0)",
    "acquire": "buffer_wbinvl1_vol",
    "load": "global_load_dword v5, v[6:7], off",
}
GFX94 = {
    **GFX9,
    "release": "buffer_wbl2 sc1\ns_waitcnt vmcnt(0) lgkmcnt(0)",
    "mark": "global_store_dword v2, v3, s[0:1] sc1",
    "acquire": "buffer_inv sc1",
    "look": "global_load_dword v4, v2, s[2:3] sc1\ns_waitcnt vmcnt(0)",
}
GFX10 = {
    **GFX9,
    "release": "s_waitcnt lgkmcnt(0)\ns_waitcnt_vscnt null, 0x0",
    "acquire": "buffer_gl0_inv\nbuffer_gl1_inv",
}
GFX11 = {
    **GFX10,
    "store": "global_store_b32 v[0:1], v2, off",
    "mark": "global_atomic_swap_b32 v2, v3, s[0:1]",
    "look": "global_load_b32 v4, v2, s[2:3] glc\ns_waitcnt vmcnt(0)",
    "load": "global_load_b32 v5, v[6:7], off",
}
GFX12 = {
    "store": "global_store_b32 v[0:1], v2, off",
    "release": "s_wait_storecnt 0x0",
    "barrier": "s_barrier_signal -1\ns_barrier_wait -1",
    "mark": "global_atomic_add_u32 v2, v3, s[0:1] scope:SCOPE_DEV",
    "look": "global_load_b32 v4, v2, s[2:3] scope:SCOPE_DEV\ns_wait_loadcnt 0x0",
    "acquire": "global_inv scope:SCOPE_DEV",
    "load": "global_load_b32 v5, v[6:7], off",
}
TARGETS = {
    "gfx900": GFX9,
    "gfx90a": GFX9,
    "gfx942": GFX94,
    "gfx950": GFX94,
    "gfx1030": GFX10,
    "gfx1100": GFX11,
    "gfx1151": GFX11,
    "gfx1201": GFX12,
}
NOT_THERE = "tells others of stores that may not be there yet"
OLD = "may load from a cache what was there before it looked"


@pytest.mark.parametrize("target", TARGETS)
def test_a_hand_over_has_a_release_and_an_acquire(tmp_path: Path, target: str) -> None:
    parts = TARGETS[target]
    assert check(tmp_path, target, HAND_OVER.format(**parts)).returncode == 0
    for left_out, fault in (("release", NOT_THERE), ("acquire", OLD)):
        done = check(tmp_path, target, HAND_OVER.format(**{**parts, left_out: "s_nop 0"}))
        assert (done.returncode, done.stdout.count(fault)) == (1, 1), left_out
    lines = HAND_OVER.format(**parts).splitlines()
    for part in (*parts["release"].splitlines(), *parts["acquire"].splitlines()):
        if "lgkmcnt" not in part or "vmcnt" in part:
            assert check(tmp_path, target, "\n".join(lines).replace(part, "s_nop 0")).returncode == 1, part


def test_other_waves_stores_must_be_there_at_the_barrier(tmp_path: Path) -> None:
    late = HAND_OVER.replace("{mark}", "{release}\n{mark}").replace("{release}\n{barrier}", "{barrier}", 1)
    assert check(tmp_path, "gfx90a", late.format(**GFX9)).stdout.count(NOT_THERE) == 1
    assert check(tmp_path, "gfx942", late.format(**GFX94)).stdout.count(NOT_THERE) == 1
    # But what is in the L2 one wave writes back for all.
    waited = late.replace("{store}", "{store}\ns_waitcnt vmcnt(0)", 1)
    assert check(tmp_path, "gfx942", waited.format(**GFX94)).returncode == 0
    assert check(tmp_path, "gfx942", waited.replace("{release}", "s_waitcnt vmcnt(0)").format(**GFX94)).returncode == 1


def test_stores_of_an_earlier_turn_may_be_in_flight_at_its_barriers(tmp_path: Path) -> None:
    assert check(tmp_path, "gfx90a", f"{GFX9['store']}\ns_barrier\n" + HAND_OVER.format(**GFX9)).returncode == 0


@pytest.mark.parametrize("target", ["gfx900", "gfx90a", "gfx1030", "gfx1100"])
def test_a_store_that_does_not_say_for_whom_it_is(tmp_path: Path, target: str) -> None:
    parts = TARGETS[target]
    store = parts["store"].split()[0] + " v8, v3, s[0:1]"
    to_one_place, to_many = f"v_mov_b32_e32 v8, 0\n{store}", f"v_lshlrev_b32_e32 v8, 2, v9\n{store}"
    # Where loads look for it, it is a mark if all lanes store to one place.
    for mark, hands_over in ((to_one_place, True), (f"v_mov_b32_e32 v8, s4\n{store}", True), (to_many, False)):
        for release in ("release", "store"):
            code = HAND_OVER.format(**{**parts, "mark": mark, "release": parts[release]})
            expected = int(hands_over and release == "store")
            assert check(tmp_path, target, code).stdout.count(NOT_THERE) == expected, (mark, release)
    # The register's last value counts, whatever sets it.
    for again in ("global_load_dwordx2 v[7:8], v[0:1], off", "v_dual_mov_b32 v1, 0 :: v_dual_mov_b32 v8, v5"):
        mark = to_one_place.replace("\n", f"\n{again}\n")
        code = HAND_OVER.format(**{**parts, "mark": mark, "release": parts["store"]})
        assert NOT_THERE not in check(tmp_path, target, code).stdout, again
    # So it is where a compare-and-swap looks, as the tiles that are split along k do.
    loads, swaps = ("load_dword v4", "atomic_cmpswap v4"), ("load_b32 v4", "atomic_cmpswap_b32 v4")
    look = parts["look"].replace(*loads).replace(*swaps)
    for release, expected in (("release", 0), ("store", 1)):
        code = HAND_OVER.format(**{**parts, "mark": to_one_place, "look": look, "release": parts[release]})
        done = check(tmp_path, target, code)
        assert (done.returncode, done.stdout.count(NOT_THERE)) == (expected, expected)
    # Where other atomics do, it is what the mark tells of.
    atomic = parts["mark"].replace(" ", " v4, ", 1) + " glc"
    for release, status in ((parts["release"], 0), ("s_nop 0", 1)):
        code = f"{to_one_place}\n{release}\n{atomic}\n{parts['acquire']}\ns_barrier"
        assert check(tmp_path, target, code).returncode == status


def test_the_hardwares_barrier_of_all_blocks_is_both(tmp_path: Path) -> None:
    code = "{store}\n{release}\ns_barrier\nds_gws_barrier v0 gds\n{acquire}\n{load}"
    assert check(tmp_path, "gfx90a", code.format(**GFX9)).returncode == 0
    assert OLD in check(tmp_path, "gfx90a", code.format(**{**GFX9, "acquire": "s_nop 0"})).stdout
    assert NOT_THERE in check(tmp_path, "gfx90a", code.format(**{**GFX9, "release": "s_nop 0"})).stdout


FENCE_FOR_DEVICES = {
    "gfx900": "s_waitcnt vmcnt(0)",
    "gfx90a": "buffer_wbl2\ns_waitcnt vmcnt(0)",
    "gfx942": "buffer_wbl2 sc0 sc1\ns_waitcnt vmcnt(0)",
    "gfx1030": "s_waitcnt_vscnt null, 0x0",
    "gfx1201": "s_wait_storecnt 0x0",
}


@pytest.mark.parametrize("target", FENCE_FOR_DEVICES)
def test_a_flag_for_another_device_has_left_before_a_kernel_looks_at_its_own(tmp_path: Path, target: str) -> None:
    parts = TARGETS[target]
    code = ".LBB0_1:\n{look}\ns_cbranch_execnz .LBB0_1\n{mark}\n{fence}\ns_cbranch_execnz .LBB0_1\n{mark}"
    store = parts["mark"] if "_store_" in parts["mark"] else parts["store"]
    fence = FENCE_FOR_DEVICES[target]

    def checked(fence: str, code: str = code) -> tuple[int, int]:
        text = code.format(look=parts["look"], mark=store, fence=fence)
        done = check(tmp_path, target, text, options=("--devices",))
        return done.returncode, done.stdout.count("looks while its own stores may not be there yet")

    assert checked(fence) == (0, 0)
    for part in fence.splitlines():
        assert checked(fence.replace(part, "s_nop 0")) == (1, 1), part
    assert checked(fence, "{mark}\n{fence}")[0] == 1  # it looks at nothing


def test_what_is_named_must_hand_something_over(tmp_path: Path) -> None:
    done = check(tmp_path, "gfx90a", f"s_barrier\n{GFX9['store']}")
    assert (done.returncode, "hands anything over" in done.stdout) == (1, True)
    assert check(tmp_path, "gfx90a", HAND_OVER.format(**GFX9), "other").returncode == 1
    assert check(tmp_path, "gfx700", HAND_OVER.format(**GFX9)).returncode == 2
    assert synthetic.run("hand_overs.py", "tile").returncode == 2


def test_a_trap_for_a_device_of_another_kind_hands_nothing_over(tmp_path: Path) -> None:
    assert check(tmp_path, "gfx900", "s_trap 2").returncode == 0
    assert check(tmp_path, "gfx900", "s_nop 0").returncode == 1
    assert check(tmp_path, "gfx900", "s_trap 2", "other").returncode == 1
    assert check(tmp_path, "gfx900", "s_trap 2\ns_barrier").returncode == 1


def test_of_each_alternative_one_must_hand_over(tmp_path: Path) -> None:
    code, idle = HAND_OVER.format(**GFX9), "\t.type\tidle,@function\nidle:\n\ts_barrier\n\ts_endpgm\n\t.section\n"
    assert check(tmp_path, "gfx90a", code, "tile|idle").returncode == 0  # no code of it
    assert check(tmp_path, "gfx90a", code, "tile|le", idle).returncode == 0
    done = check(tmp_path, "gfx90a", code, "tile|idle", idle)
    assert (done.returncode, done.stdout.split(": ")[1]) == (1, "no kernel like 'idle' hands anything over\n")


FENCE = re.compile(r"\b(?:__threadfence|hand_over)\(")
# Experiments that are not held to a line HAND-OVERS.
EXCEPTIONS = {"block_placement": "its blocks meet by grid_sync's barriers, which are checked there"}


def code_of(source: Path) -> str:
    """The text of a source and of what it includes, without comments."""
    files = experiments.source_files(str(source.relative_to(ROOT)))
    return "\n".join(re.sub(r"//.*", "", each.read_text(encoding="utf-8")) for each in files)


def test_every_experiment_with_a_fence_names_the_kernels_that_hand_over() -> None:
    fenced, named = set(), set()
    for source in ROOT.glob("src/[0-9]-*/*/*.hip"):
        code = code_of(source)
        checks = source.parent / "compiled_code.check"
        lines = re.findall(r"^HAND-OVERS: (.+)$", checks.read_text() if checks.exists() else "", re.MULTILINE)
        fenced |= {source.stem} if FENCE.search(code) else set()
        named |= {source.stem} if lines else set()
        for part in re.split(r"[|]|[.][*]", "|".join(lines)):  # of kernels that there are
            assert not part or re.search(rf"\b{part}", code, re.IGNORECASE), part
    assert fenced == named | set(EXCEPTIONS) and not named & set(EXCEPTIONS)
