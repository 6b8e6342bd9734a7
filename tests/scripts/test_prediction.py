"""prediction.py and what belongs to it: loops made by hand in which each unit decides in turn, published figures."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import stages
import synthetic
from conftest import program
from test_isa_report import Workshop, function, one_sentence

from hipscope.compiled_code import (
    bank_conflicts,
    demand,
    kept_predictions,
    loops,
    page,
    prediction,
    prediction_cases,
    prediction_page,
    predictions,
    sass,
)
from hipscope.compiled_code.gpus import GPUS, Gpu, gpu_of
from hipscope.report import predicted
from hipscope.results import door, load, records, shapes

COMMITTED = synthetic.REPOSITORY / "results" / "isa"
FMA = "v_fmac_f32_e32 v1, v2, v3"
DUAL_FMA = "v_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5"
PACKED_FMA = "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[0:1]"
MFMA = "v_mfma_f32_32x32x2f32 a[0:15], v0, v1, a[0:15]"
LDS_READ = "ds_read_b128 v[0:3], v9"
LOAD = "global_load_dwordx4 v[0:3], v[4:5], off"
BLOCK = prediction.Block(threads=256, vgprs=64, agprs=0, lds_bytes=0)
NOTHING = prediction.Traffic(0, 0)


def gpu(target: str) -> Gpu:
    """One of the GPUs, which must be there."""
    found = gpu_of(target)
    assert found is not None
    return found


MI100, H200 = gpu("gfx908"), gpu("sm_90")
MACS = functools.partial(demand.lane_macs, gpu=MI100)


def says(code: list[str], block: prediction.Block = BLOCK, traffic: prediction.Traffic = NOTHING,
         useful: float = 1.0, of: Gpu = MI100) -> prediction.Prediction:
    return prediction.predict(demand.demand_of(code, of, of.l2_latency), block, traffic, useful, of)


# --- What instructions take ---------------------------------------------------------------------------


@pytest.mark.parametrize("name, count", [
    ("ds_read_b32", 4), ("ds_read2_b32", 8), ("ds_read2st64_b32", 8), ("ds_read_b128", 16), ("ds_read2_b64", 16),
    ("ds_read_b64_tr_b16", 8), ("ds_write_b64", 8), ("ds_read_u16", 2), ("ds_load_b128", 16),
    ("ds_load_2addr_b64", 16), ("ds_store_b32", 4), ("global_load_dword", 4), ("global_load_dwordx4", 16),
    ("global_load_b128", 16), ("global_store_dwordx2", 8), ("global_load_ushort", 2), ("buffer_load_dword", 4),
    ("ds_bpermute_b32", 4), ("global_atomic_add_u32", 4),
])
def test_bytes_of_an_access(name: str, count: int) -> None:
    assert demand.access_bytes(name) == count


@pytest.mark.parametrize("target, text, cycles", [
    ("gfx908", FMA, 4), ("gfx908", "v_fma_f64 v[0:1], v[2:3], v[4:5], v[0:1]", 8),
    ("gfx908", "v_rcp_f32_e32 v0, v1", 16), ("gfx908", "v_mul_lo_u32 v0, v1, v2", 16),
    ("gfx908", "v_accvgpr_write_b32 a0, v1", 8), ("gfx908", "v_accvgpr_read_b32 v1, a0", 4),
    ("gfx908", "v_lshlrev_b64 v[0:1], 2, v[2:3]", 8),
    ("gfx90a", PACKED_FMA, 4),
    ("gfx90a", "v_fma_f64 v[0:1], v[2:3], v[4:5], v[0:1]", 4),
    ("gfx1100", DUAL_FMA, 1),
    ("gfx1100", "v_fma_f64 v[0:1], v[2:3], v[4:5], v[0:1]", 16), ("gfx1100", "v_exp_f32_e32 v0, v1", 4),
])
def test_cycles_of_a_vector_instruction(target: str, text: str, cycles: int) -> None:
    assert demand.vector_cycles(text, gpu(target)) == cycles


@pytest.mark.parametrize("target, name, passes_of_four", [
    # As LLVM's scheduling model has them (SISchedule.td: 16, 8 and 4 passes of four cycles).
    ("gfx908", "v_mfma_f32_32x32x2f32", 16), ("gfx90a", "v_mfma_f32_32x32x2f32", 16),
    ("gfx90a", "v_mfma_f64_16x16x4f64", 8), ("gfx942", "v_mfma_f64_16x16x4_f64", 8),
    ("gfx90a", "v_mfma_f32_32x32x8f16", 16), ("gfx942", "v_mfma_f32_32x32x8_f16", 8),
    ("gfx950", "v_mfma_f32_32x32x16_f16", 8), ("gfx950", "v_mfma_f32_32x32x8_f16", 8),
    ("gfx950", "v_mfma_f64_16x16x4_f64", 16), ("gfx942", "v_mfma_f32_32x32x2_f32", 16),
    ("gfx1100", "v_wmma_f32_16x16x16_f16", 8),
    # Of floats of 8 bits gfx950 has its full rate in the one with scales alone.
    ("gfx942", "v_mfma_f32_32x32x16_fp8_fp8", 8), ("gfx950", "v_mfma_f32_32x32x16_fp8_fp8", 8),
    ("gfx950", "v_mfma_scale_f32_32x32x64_f8f6f4", 16),
    ("gfx1201", "v_wmma_f32_16x16x16_f16", 4), ("gfx1201", "v_wmma_f32_16x16x16_fp8_fp8", 2),
])
def test_the_vendors_peaks_are_llvms_passes(target: str, name: str, passes_of_four: int) -> None:
    assert demand.matrix_cycles(name, gpu(target)) == 4 * passes_of_four


def test_an_unknown_matrix_instruction_is_refused() -> None:
    with pytest.raises(demand.UnknownStep):
        demand.demand_of(["v_mfma_new_thing v0"], MI100, 300)


@pytest.mark.parametrize("text, macs", [
    (FMA, 1), (PACKED_FMA, 2),
    ("v_dual_fmac_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4", 1), ("v_dot2_f32_f16 v0, v1, v2, v0", 2),
    ("v_dual_dot2acc_f32_f16 v0, v1, v2 :: v_dual_dot2acc_f32_f16 v3, v4, v5", 4), ("v_add_u32_e32 v0, v1, v2", 0),
])
def test_multiply_adds(text: str, macs: int) -> None:
    assert demand.count_macs(text) == macs


# --- A wave by itself ---------------------------------------------------------------------------------


def wave_cycles(code: list[str], of: Gpu = MI100) -> float:
    """Of one wave through a step, with nothing left from the step before."""
    return sum(phase.wave for phase in demand.demand_of(code, of, 300).phases)


WAIT = "s_waitcnt vmcnt(0)"
FIRST, SECOND = "ds_read_b32 v0, v9", "ds_read_b128 v[4:7], v9"


@pytest.mark.parametrize("code, cycles", [
    # The load is issued in 4 cycles; its 64 x 16 bytes take the pipe of 64 bytes 16, and are there 300 later. The wait
    # itself takes 4 and looks then; FMAs between them hide 4 cycles each.
    ([LOAD, WAIT], 16 + 300), ([LOAD, *[FMA] * 50, WAIT], 16 + 300), ([LOAD, *[FMA] * 100, WAIT], 4 + 100 * 4 + 4),
    # LDS: 256 bytes of the first in 2 cycles, then 63; 1024 of the second in 8, after it.
    ([FIRST, SECOND, "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)"], 4 + 8 + 63),
    ([FIRST, "s_waitcnt lgkmcnt(0)", SECOND, "s_waitcnt lgkmcnt(0)"], 2 + 63 + 8 + 63),
    # Another counter's wait does not wait for them: they are on their way when the step begins again.
    ([FIRST, SECOND, WAIT], 3 * 4),
])
def test_a_wave_waits_for_the_oldest_as_long_as_nothing_hides_it(code: list[str], cycles: float) -> None:
    assert wave_cycles(code) == cycles


@pytest.mark.parametrize("wait, cycles", [(WAIT, 2), ("s_waitcnt_vscnt null, 0x0", 1 + 300)])
def test_stores_count_apart_on_rdna(wait: str, cycles: float) -> None:
    assert wave_cycles(["global_store_b32 v[0:1], v2, off", wait], gpu("gfx1100")) == cycles


def test_gfx12_has_a_wait_for_each_kind_of_access() -> None:
    def cycles(*waits: str) -> float:
        code = ["s_load_b32 s0, s[2:3], 0x0", "global_load_b32 v0, v[8:9], off", "global_load_b32 v1, v[8:9], off",
                "ds_load_b32 v2, v3", "ds_load_b32 v4, v3", *waits, "s_barrier_signal -1", "s_barrier_wait -1"]
        phases = demand.demand_of(code, gpu("gfx1201"), 1000).phases
        assert len(phases) == 2 and phases[1].wave == 0
        return phases[0].wave

    # The loads of 32 x 4 bytes are there after 1 or 2 cycles of their pipe (LDS: half a cycle) and the latency.
    assert cycles() == 7
    assert cycles("s_wait_kmcnt 0x0") == 320 + 2
    assert cycles("s_wait_loadcnt 0x1") == 1 + 1 + 1000 + 2
    assert cycles("s_wait_loadcnt 0x0") == 1 + 2 + 1000 + 2
    assert cycles("s_wait_dscnt 0x1") == 3 + 0.5 + 20 + 2
    assert cycles("s_wait_dscnt 0x0") == 4 + 0.5 + 20 + 2
    assert cycles("s_wait_loadcnt_dscnt 0x400") == 4 + 0.5 + 20 + 2  # two are of the turn before
    assert cycles("s_wait_loadcnt_dscnt 0x102") == 1 + 1 + 1000 + 2


def test_matrix_instructions_wait_for_each_other_and_not_for_the_rest() -> None:
    found = demand.demand_of([MFMA, MFMA, FMA], MI100, 300)
    assert [phase.matrix for phase in found.phases] == [128]
    assert found.flops == 2 * 4096 + 2 * 64
    # Both take their turn in the unit, the second time through after the last of the first.
    assert found.phases[0].wave == 128


# --- Each unit decides in turn ------------------------------------------------------------------------


@pytest.mark.parametrize("unit, code, more, time, share", [
    # 4 waves on 4 SIMDs: 100 FMAs of 4 cycles each. Of 128 lanes' worth of a peak all is useful.
    ("vector", [FMA] * 100, {"useful": 100 * 256 * 2 / 128}, 400, 1.0),
    # Half of the instructions are none: half of the share.
    ("vector", [FMA, "v_mov_b32_e32 v0, v1"] * 100, {"useful": 400}, 800, 0.5),
    ("matrix", [MFMA, *[FMA] * 10] * 4, {"useful": 4 * 4 * 4096 / 256}, 256, 1.0),
    # 4 waves x 1024 bytes in 128 a cycle, against 4 FMAs of 4 cycles.
    ("LDS", [LDS_READ, *[FMA] * 4], {"useful": 16}, 32, 0.5),
    ("L1", [LOAD, *[FMA] * 8], {"useful": 32, "block": dataclasses.replace(BLOCK, vgprs=24)}, 64, 0.5),
    # All 120 CUs share 32 x 64 bytes a cycle.
    ("L2", [FMA] * 10, {"useful": 40, "traffic": prediction.Traffic(l2=2048, memory=0)}, 120, 1 / 3),
    # 1228.8 GB/s at 1472 MHz are 834.78 bytes a cycle, 6.9565 for each CU.
    ("memory", [FMA] * 10, {"useful": 60, "traffic": prediction.Traffic(l2=0, memory=834.78)}, 120, 0.5),
])
def test_each_unit_decides(unit: str, code: list[str], more: dict[str, Any], time: float, share: float) -> None:
    found = says(code, **more)
    assert found.bound == unit
    assert (found.times[unit], found.share) == (pytest.approx(time, rel=1e-5), pytest.approx(share, rel=1e-5))


def test_other_blocks_fill_what_a_block_takes_alone() -> None:
    # Four waves on a SIMD by 64 registers: what a block takes alone counts a quarter.
    found = says([FMA] * 100)
    assert (found.resident, found.waves_per_simd, found.times["alone"]) == (4, 4, 100)


@pytest.mark.parametrize("code, target, share", [
    ([DUAL_FMA] * 100, "gfx1100", 1.0), ([FMA] * 200, "gfx1100", 0.5), ([PACKED_FMA] * 100, "gfx90a", 1.0)])
def test_dual_and_packed_instructions_reach_the_peak_alone(code: list[str], target: str, share: float) -> None:
    of = gpu(target)
    assert says(code, useful=2 * 2 * 256 * 100 / of.peaks["vector FP32"], of=of).share == share


def test_a_bank_gives_four_bytes_however_few_are_asked_for() -> None:
    assert says(["ds_read_u16 v0, v9"]).times["LDS"] == says(["ds_read_b32 v0, v9"]).times["LDS"] == 8


def test_conflicts_lengthen_loads_and_stores_each_by_their_own() -> None:
    code = [LDS_READ, "ds_write_b64 v9, v[0:1]"]
    found = demand.demand_of(code, MI100, 300, bank_conflicts.Conflicts(loads=1.5, stores=2))
    assert found.lds_bytes == 64 * (16 + 8)
    assert found.phases[0].lds == 1.5 * 8 + 2 * 4
    # A load takes its pipe longer, and what waits for it waits longer.
    waits = [LDS_READ, "s_waitcnt lgkmcnt(0)"]
    for loads in (1, 2):
        found = demand.demand_of(waits, MI100, 300, bank_conflicts.Conflicts(loads))
        assert found.phases[0].wave == loads * 8 + 63


def test_in_turn_the_simds_and_lds_are_added() -> None:
    found = says([LDS_READ, *[FMA] * 4], useful=16)
    assert (found.times["vector"], found.share_in_turn) == (16, 16 / (16 + 32))
    # What is not theirs is waited for all the same, and not added.
    far = says([LDS_READ, *[FMA] * 4], traffic=prediction.Traffic(2048, 0), useful=60)
    assert (far.share_in_turn, far.share) == (0.5, 0.5)
    assert says([FMA] * 100, useful=400).share_in_turn == 1.0


def test_latency_decides_until_other_waves_fill_it() -> None:
    code = [LOAD, "s_waitcnt vmcnt(0)", *[FMA] * 10]
    alone = 16 + 300 + 40
    few = says(code, useful=40, block=dataclasses.replace(BLOCK, vgprs=256))
    assert (few.bound, few.resident, few.times["alone"]) == ("alone", 1, alone)
    assert few.share == 40 / alone
    # Ten blocks: now it is L1, which 4 waves' 1024 bytes take for 64 cycles.
    many = says(code, useful=40, block=dataclasses.replace(BLOCK, vgprs=24))
    assert (many.bound, many.resident, many.times["alone"]) == ("L1", 10, alone / 10)


def test_a_barrier_parts_what_would_overlap() -> None:
    # Without it LDS (4 waves x 8 cycles x 50) hides behind the FMAs, or they behind it.
    reads, fmas = [LDS_READ] * 50, [FMA] * 400
    block = dataclasses.replace(BLOCK, vgprs=256)
    assert says([*reads, *fmas], block=block).times["alone"] == 50 * 4 + 400 * 4
    assert says([*reads, "s_barrier", *fmas], block=block).times["alone"] == 1600 + 400 * 4
    assert says([*reads, "s_barrier", *fmas], block=dataclasses.replace(BLOCK, vgprs=128)).times["alone"] == 1600


def test_halves_of_a_block_that_take_turns_hide_each_others_phases() -> None:
    code = [*[LDS_READ] * 50, "s_barrier", *[FMA] * 400, "s_barrier"]
    block = dataclasses.replace(BLOCK, threads=512, vgprs=256)
    assert says(code, block=block).times["alone"] == 3200 + 3200
    block = dataclasses.replace(block, takes_turns=True)
    assert says(code, block=block).times["alone"] == 2 * (1600 + 4)  # and a barrier's turn
    # What is after the loop's last barrier goes on with its begin.
    assert says([*code, *[FMA] * 800], block=block).times["alone"] == 2 * (400 + 800) * 4
    # Latency counts as far as the other half's phase is shorter.
    code = [LOAD, "s_waitcnt vmcnt(0)", "s_barrier", *[FMA] * 10, "s_barrier"]
    assert says(code, block=block).times["alone"] == 2 * (16 + 300 + 4)


@pytest.mark.parametrize("change, target, blocks", [
    ({"lds_bytes": 20 * 1024}, "gfx908", 3), ({"lds_bytes": 20 * 1024}, "gfx1100", 6),
    # Accumulation registers take room.
    ({"agprs": 128}, "gfx908", 2), ({"agprs": 64}, "gfx90a", 4)])
def test_lds_and_registers_leave_room_for_few_blocks(change: dict[str, int], target: str, blocks: int) -> None:
    assert dataclasses.replace(BLOCK, **change).resident(gpu(target)) == blocks


def test_the_last_round_is_partly_empty() -> None:
    # 121 blocks on 120 CUs take as long as 240.
    found = says([FMA] * 100, useful=400, block=dataclasses.replace(BLOCK, count=121))
    assert found.rounds == pytest.approx(240 / 121)
    assert found.share == pytest.approx(121 / 240)


def test_half_of_the_waves_multiply() -> None:
    block = dataclasses.replace(BLOCK, threads=512, active=0.5)
    assert says([FMA] * 100, block=block).times["vector"] == 400


def test_tiles_of_a_product_come_from_memory_once() -> None:
    # 32 tiles across: of 64 blocks the first 32 have one row of tiles, the others the next.
    traffic = prediction.product_traffic(128, 128, 8, 4, 4096, 64)
    assert traffic.l2 == 256 * 8 * 4
    assert traffic.memory == (32 * 128 + 2 * 128) * 8 * 4 / 64
    assert prediction.product_traffic(128, 128, 8, 4, 4096, 1).memory == traffic.l2


# --- Which code is a step -----------------------------------------------------------------------------


NESTED = function(["s_mov_b32 s0, 0", "outer:", LOAD, "copy:", "ds_write_b32 v0, v1", "s_cbranch_scc1 copy",
                   "s_barrier", "inner:", LDS_READ, *[FMA] * 16, "s_cbranch_scc1 inner", "s_barrier",
                   "s_cbranch_scc1 outer", "s_endpgm"])


def test_the_inner_loop_runs_as_often_as_the_multiply_adds_say() -> None:
    step = demand.product_step(NESTED, MACS, macs=64, copies=(3,))
    assert (step.label, step.trips, step.steps) == ("inner", 4, 1)
    counts = [step.code.count(text) for text in (FMA, LDS_READ, "ds_write_b32 v0, v1", LOAD, "s_barrier")]
    assert counts == [64, 4, 3, 1, 2]
    assert step.code.index("ds_write_b32 v0, v1") < step.code.index(FMA)
    assert len(demand.demand_of(step.code, MI100, 300).phases) == 3


def test_a_loop_of_two_steps_is_two_steps() -> None:
    step = demand.product_step(NESTED, MACS, macs=8)
    assert (step.label, step.trips, step.steps, step.code.count(FMA)) == ("inner", 1, 2, 16)


def test_a_turn_that_stands_beside_its_loop_is_one_and_what_would_remain_never_runs() -> None:
    turn = [LDS_READ, *[FMA] * 16]
    code = function(["outer:", LOAD, "s_barrier", *turn, "inner:", *turn, "s_cbranch_scc1 inner",
                     "s_cbranch_scc0 end", "v_mov_b32_e32 v0, v1", *[FMA] * 4, "end:", "s_cbranch_scc1 outer",
                     "s_endpgm"])
    step = demand.product_step(code, MACS, macs=64)
    assert (step.trips, [step.code.count(text) for text in (FMA, LDS_READ, LOAD)]) == (4, [64, 4, 1])
    assert "v_mov_b32_e32 v0, v1" not in step.code


@pytest.mark.parametrize("macs", [24, 40])
def test_a_step_that_does_not_come_out_even_is_refused(macs: int) -> None:
    with pytest.raises(demand.UnknownStep):
        demand.product_step(NESTED, MACS, macs)


def test_code_without_a_loop_is_no_product() -> None:
    with pytest.raises(demand.UnknownStep):
        demand.product_step(function([FMA, "s_endpgm"]), MACS, 1)
    with pytest.raises(demand.UnknownStep):
        demand.busiest_loop(function([LOAD, "s_endpgm"]))


def test_the_busiest_loop_moves_bytes() -> None:
    found = demand.busiest_loop(function(["a:", FMA, "s_cbranch_scc1 a", "b:", LOAD, "s_cbranch_scc1 b", "s_endpgm"]))
    assert found.label == "b"


# --- The cases and the file ---------------------------------------------------------------------------


def test_every_case_is_one_row_of_one_experiment() -> None:
    for of in GPUS:
        keys = [(case.experiment, case.sweep, case.row) for case in prediction_cases.CASES
                if not case.targets or of.target in case.targets]
        assert len(set(keys)) == len(keys)


def test_tiles_that_c_has_no_whole_number_of_are_useful_in_part() -> None:
    case = next(case for case in prediction_cases.HGEMM if case.rows == 224)
    assert case.tiles(4096) == 19 * 16
    assert case.useful(4096) == pytest.approx(4096 / (19 * 224))


def test_the_rows_are_those_of_the_results() -> None:
    amd_alone = ("matrix instructions", "MFMA", "WMMA", "through registers", "FP8 E4M3 FNUZ")
    for case in prediction_cases.CASES:
        data = json.loads((synthetic.REPOSITORY / "results" / "nvidia-h200" / f"{case.experiment}.json").read_text())
        sweep = next(sweep for sweep in data["sweeps"] if sweep["name"] == case.sweep)
        assert case.row.startswith(amd_alone) or case.row in [row["label"] for row in sweep["rows"]], case.row


def test_published_shares_are_those_of_the_sources() -> None:
    shares = prediction_page.published_shares()
    # 12.2719 TFLOP/s of 120 CUs x 128 operations x 1472 MHz; 22 Gpixel/s of 16 bytes of 484 GB/s.
    row = "7.4 two LDS buffers, early loads, padding 8"
    assert shares["gfx908", "sgemm", row] == pytest.approx(12.2719 / 22.61, rel=1e-4)
    assert shares["gfx900", "batchnorm", "14a three passes"] == pytest.approx(22 * 16 / 484)
    assert {target for target, _, _ in shares} == {"gfx900", "gfx908"}
    assert len(shares) > 20


@functools.cache
def committed() -> list[dict[str, Any]]:
    return kept_predictions.read(COMMITTED)


def test_the_page_is_what_the_model_says() -> None:
    entries = committed()
    targets = {entry["target"] for entry in entries}
    assert {of.target for of in GPUS} == targets
    text = (COMMITTED / prediction_page.PAGE).read_text(encoding="utf-8")
    assert text == prediction_page.page(entries, page.MADE_BY) and "None of this was measured" in text
    assert all("predicted share" in line for line in text.splitlines() if line.startswith("| row |"))
    there = {(entry["target"], entry["experiment"], entry["row"]) for entry in entries}
    missing = [(of.target, case.row) for of in GPUS for case in prediction_cases.CASES
               if of.target not in ("gfx900", "gfx908") and case in prediction_cases.cases_of(case.experiment, of)
               and (of.target, case.experiment, case.row) not in there]
    assert not missing


def test_conflicts_are_those_that_the_emulator_is_held_to() -> None:
    entries = committed()
    for entry in entries:
        case, of = prediction_cases.case_of(entry), gpu(entry["target"])
        assert case is not None
        known = kept_predictions.known_conflicts(case, of)
        # Otherwise: scripts/isa_report.py --predict
        assert entry["lds_conflicts"] == ([known.loads, known.stores] if known else None), entry["row"]
    counted = [entry for entry in entries if entry["lds_conflicts"]]
    assert {entry["target"] for entry in counted} == set(bank_conflicts.TARGETS)
    assert any(entry["lds_conflicts"] == [2, 2] for entry in counted)
    with pytest.raises(ValueError, match="has 0 lines about conflicts of none"):
        bank_conflicts.conflicts_of("sgemm", "none")


def test_no_published_figure_is_above_its_bound() -> None:
    for target, least in (("gfx908", 20), ("gfx900", 2)):
        pairs = prediction_page.calibration(committed(), target)
        assert len(pairs) > least
        assert max(prediction_page.ratios(pairs, "predicted_share")) < 1


def edited(folder: Path, entry: dict[str, Any], change: dict[str, Any]) -> Path:
    """A folder whose file of predictions has one entry, changed."""
    unknown = {key: value for key, value in change.items() if key not in (*kept_predictions.KEPT, "demand")}
    data = kept_predictions.written([{**entry, **change}]) | unknown
    (folder / kept_predictions.FILE).write_text(json.dumps(data))
    return folder


OF_MATRICES = next(entry for entry in committed() if entry["peak"].startswith("matrix"))
STREAM = next(entry for entry in committed() if entry["row"] == "14a three passes")
NOTHING_ASKED = {key: 0 for key in STREAM["demand"]} | {"phases": [[0] * 5]}


@pytest.mark.parametrize("entry, change, said", [
    *((committed()[0], change, "") for change in (
        {"predicted_share": 0.99}, {"vgprs": -1}, {"row": "none such"}, {"target": "gfx1030"}, {"experiment": "hgemm"},
        {"compiler": "gcc 12"})),
    # Instructions that the GPU does not have.
    (OF_MATRICES, {"target": "gfx900"}, "nothing is predicted of"),
    (STREAM, {"demand": NOTHING_ASKED}, "the model says nothing"),
])
def test_a_file_of_what_is_not_predicted_is_refused(tmp_path: Path, entry: dict[str, Any], change: dict[str, Any],
                                                    said: str) -> None:
    with pytest.raises(door.BadInput, match=said):
        kept_predictions.read(edited(tmp_path, entry, change))


def test_a_name_that_is_not_there_is_refused(tmp_path: Path) -> None:
    data = kept_predictions.written(committed()[:1])
    data["names"].pop()
    (tmp_path / kept_predictions.FILE).write_text(json.dumps(data))
    with pytest.raises(door.BadInput, match="there is no name"):
        kept_predictions.read(tmp_path)


def test_new_predictions_take_the_place_of_old_ones_of_the_same_folder_and_experiment(tmp_path: Path) -> None:
    entries = committed()
    (tmp_path / kept_predictions.FILE).write_text(json.dumps(kept_predictions.written(entries)))
    new = [entry for entry in entries if (entry["target"], entry["experiment"]) == ("gfx942", "sgemm")][:1]
    left = kept_predictions.with_kept(tmp_path, new, [("gfx942-clang22", "sgemm")])
    assert [entry for entry in left if (entry["target"], entry["experiment"]) == ("gfx942", "sgemm")] == new
    others = [entry for entry in entries if (entry["target"], entry["experiment"]) != ("gfx942", "sgemm")]
    assert len(left) == len(others) + 1


def test_in_turn_is_a_little_less_than_what_was_published() -> None:
    values = prediction_page.ratios(prediction_page.calibration(committed(), "gfx908"), "share_in_turn")
    lower, middle, upper = statistics.quantiles(values, n=4, method="inclusive")
    assert 1 < lower < middle < upper < 1.25


def test_a_step_must_load_its_tiles() -> None:
    case = prediction_cases.Product("sgemm", "k", "row", "vector FP32", 64, 64, 16)
    # 128 x 16 floats over 256 threads are 32 bytes of each, 2048 of a wave.
    found = demand.demand_of([LOAD, LOAD], MI100, 300)
    predictions.must_load_its_tiles(case, found, 1, MI100)
    with pytest.raises(demand.UnknownStep, match="loads 2048 bytes for a wave, not 4096"):
        predictions.must_load_its_tiles(case, found, 2, MI100)
    more = demand.demand_of([LOAD] * 3, MI100, 300)
    predictions.must_load_its_tiles(case, more, 1, MI100)
    with pytest.raises(demand.UnknownStep):
        predictions.must_load_its_tiles(dataclasses.replace(case, copies=(1,)), more, 1, MI100)


# --- NVIDIA's code ------------------------------------------------------------------------------------


def listed(name: str, code: list[tuple[str, int, int, int, int]]) -> str:
    """As cuobjdump lists it: each instruction with its stall, the scoreboards that it sets, and those it waits for."""
    lines = ["\tcode for sm_90", f"\t\tFunction : {name}"]
    for place, (text, stall, written, read, mask) in enumerate(code):
        high = (stall | 1 << 4 | written << 5 | read << 8 | mask << 11) << 41
        lines += [f"        /*{16 * place:04x}*/  {text} ;  /* 0x{place:016x} */", f"        /* 0x{high:016x} */"]
    return "\n".join(lines)


def plain(text: str, stall: int = 1, mask: int = 0) -> tuple[str, int, int, int, int]:
    """An instruction that sets no scoreboard."""
    return text, stall, 7, 7, mask


def of_warp(*code: tuple[str, int, int, int, int]) -> prediction.Demand:
    """What a step of these asks for."""
    only, = sass.read_functions(listed("one", list(code)))
    return sass.demand_of([one.text for one in only.instructions], H200, H200.l2_latency)


FFMA = "FFMA R0, R2, R3, RZ"


def test_a_listing_is_read_with_what_the_encoding_says() -> None:
    load = ("@!P0 LDG.E.128 R4, desc[UR4][R2.64]", 2, 3, 1, 0)
    found = sass.read_functions(listed("f", [plain("MOV R1, R2", 4), load, plain("@P1 BRA 0x10", 5, 8), plain("EXIT")]))
    assert [(one.name, one.labels) for one in found] == [("f", {"0x10": 1})]
    assert [one.text for one in found[0].instructions] == [
        "4 7 7 0 MOV R1, R2", "2 3 1 0 @!P0 LDG.E.128 R4, desc[UR4][R2.64]", "5 7 7 8 @P1 BRA 0x10", "1 7 7 0 EXIT"]
    usage = " Function f:\n  REG:121 STACK:0 SHARED:33792 LOCAL:0\n Function g:\n  REG:8 STACK:0 SHARED:0 LOCAL:0\n"
    assert sass.read_resources(usage) == {"f": (121, 33792), "g": (8, 0)}


def test_a_warp_waits_for_the_scoreboard_that_it_names() -> None:
    load = ("LDS.128 R4, [R8]", 1, 0, 7, 0)
    # 32 x 16 bytes of LDS in 4 cycles, and there 23 later; FMAs hide as many.
    assert of_warp(load, plain(FFMA, mask=1)).phases[0].wave == 4 + 23 + 1
    assert of_warp(load, *[plain(FFMA)] * 40, plain(FFMA, mask=1)).phases[0].wave == 42
    assert of_warp(load, plain(FFMA, mask=2)).phases[0].wave == 2
    assert of_warp(plain(FFMA, 4), plain("BAR.SYNC.DEFER_BLOCKING 0x0"), plain(FFMA)).phases[0].wave == 5


def test_asynchronous_copies_are_waited_for_by_their_marks() -> None:
    copy, mark = plain("LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64]"), ("LDGDEPBAR", 1, 0, 7, 0)
    # 512 bytes in 8 cycles of the way from L2, and there 281 later; of two marks one may be left.
    assert of_warp(copy, mark, plain("DEPBAR.LE SB0, 0x0")).phases[0].wave == 8 + 281 + 1
    assert of_warp(copy, mark, plain("DEPBAR.LE SB0, 0x1")).phases[0].wave < 290 - 3 + 3
    found = of_warp(copy, mark)
    assert (found.loaded_bytes, found.phases[0].lds, found.phases[0].l1) == (512, 4, 8)


@pytest.mark.parametrize("text, cycles", [
    (FFMA, 1), ("FFMA R0, R2, R3, R0", 2), ("FFMA R0, R2, R4, R6", 3), ("DFMA R0, R2, R4, R0", 2),
    ("IADD3 R0, R1, R2, RZ", 2), ("IMAD R0, R1, R2, RZ", 2), ("IMAD.MOV.U32 R0, RZ, RZ, R2", 1),
    ("MUFU.RCP R0, R1", 8), ("UIADD3 UR4, UR4, 0x1, URZ", 1),
])
def test_cycles_of_a_scheduler(text: str, cycles: int) -> None:
    assert of_warp(plain(text)).phases[0].vector == cycles


def test_an_operand_that_was_kept_is_not_read_again() -> None:
    # The second time through the last FMA has kept nothing.
    found = of_warp(plain("FFMA R0, R2.reuse, R4, R1"), plain("FFMA R0, R2, R4, R1"))
    assert found.phases[0].vector == 2 + 1


def test_matrices_of_a_warp_and_what_lds_gives() -> None:
    assert of_warp(plain("DMMA.16x8x8 R0, R2, R4, R0")).phases[0].matrix == 32
    assert of_warp(plain("HMMA.16816.F32 R0, R2, R4, R0")).phases[0].matrix == pytest.approx(6.28)
    for text, cycles in (("LDS.U16 R0, [R1]", 1), ("LDS R0, [R1]", 1), ("LDS.64 R0, [R1]", 2),
                         ("LDSM.16.M88.4 R0, [R1]", 4), ("STS.128 [R1], R4", 4)):
        assert of_warp(plain(text)).phases[0].lds == cycles


def test_products_of_four_warps_take_what_matrix_rate_measured_and_are_waited_for_by_group() -> None:
    # A warp has a quarter of it. LDS gives A's 64 rows and B's columns, or B's alone; of eight columns it decides.
    for text, matrix, lds in (("HGMMA.64x128x16.F32 R24, gdesc[UR8].tnspB, R24, UP0", 64, 12),
                              ("HGMMA.64x256x16.F32 R24, gdesc[UR8].tnspB, R24", 128, 20),
                              ("HGMMA.64x256x16.F32 R24, R4, gdesc[UR8], R24", 128, 16),
                              ("HGMMA.64x8x16.F32 R24, gdesc[UR8], R24", 4, 4.5)):
        found = of_warp(plain(text))
        assert (found.phases[0].matrix, found.phases[0].lds) == (matrix, lds), text
        assert found.flops * 4 == 2 * matrix * 2048
    group = [plain("HGMMA.64x128x16.F32 R24, gdesc[UR8], R24"), plain("HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0")]
    times = {left: of_warp(*group, plain(f"WARPGROUP.DEPBAR.LE gsb0, 0x{left}"), *[plain("MOV R1, R2")] * 9).phases[0]
             for left in (0, 1)}
    # Waiting for all of them what follows is not hidden behind products; waiting for the last group's it is.
    assert times[0].wave == 2 * 64 + 10 and times[1].wave <= 2 * 64
    with pytest.raises(demand.UnknownStep):
        of_warp(plain("HGMMA.64x128x32.F32.E4M3.E4M3 R24, gdesc[UR4], R24"))


def test_a_loop_that_only_tries_again_is_no_loop_of_the_product() -> None:
    code = [plain("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R3+URZ], R2"), plain("@!P0 BRA 0x50"),
            plain("HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0"), plain("@P1 BRA 0x0"), plain("EXIT"),
            plain("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R3+URZ], R2"), plain("@!P0 BRA 0x50"), plain("BRA 0x20")]
    function, = sass.read_functions(listed("f", code))
    found = loops.find_loops(function)
    assert [(len(loop.instructions), loop.innermost) for loop in found] == [(4, True)]


def test_the_bill_is_held_against_times_that_it_did_not_know() -> None:
    pairs = prediction_page.calibration(committed(), "sm_90")
    assert len({(entry["experiment"], entry["row"]) for entry, _ in pairs}) == len(pairs) >= 60
    assert prediction_page.median_error(pairs, "predicted_share") < 0.15
    # A bound: hardly any kernel is faster. Of one most FMAs read two registers of one bank, which four warps of a
    # SIMD hide better than the bill has it. With SIMDs and LDS in turn it says nothing of this GPU.
    above = [entry["row"] for entry, measured in pairs if measured > 1.1 * entry["predicted_share"]]
    assert above == ["8 x 8, tiles split along k"]
    assert prediction_page.median_error(pairs, "share_in_turn") > 0.4


def test_what_failed_on_the_h200_is_not_shown() -> None:
    entries = committed()
    tested = prediction_page.on_the_h200(entries)
    shown = prediction_page.survivors(entries)
    assert len(shown) < len(entries) and [entry for entry in shown if entry["target"] == "sm_90"] == [
        entry for entry in entries if entry["target"] == "sm_90"]
    # What MFMA and mma.sync multiply alike is one row.
    assert not prediction_page.holds(tested["hgemm", "operands from LDS", "matrix FP16"])
    text = prediction_page.page(entries, page.MADE_BY)
    of_amd = text[text.index("## gfx900-clang15"):text.index("## sm_90")]
    cells = [line.split(" | ") for line in of_amd.splitlines() if line.startswith("| ")]
    ratios = [row[-1].removesuffix(" |") for row in cells if len(row) == 14 and row[0] not in ("| row", "| ---")]
    assert len([entry for entry in shown if entry["target"] != "sm_90"]) == len(ratios)
    told = [ratio for ratio in ratios if ratio not in (prediction_page.UNTESTED, prediction_page.BY_UNIT)]
    assert len(told) > 100 and all(abs(1 / float(ratio) - 1) < 0.155 for ratio in told)


def test_fp16_has_not_survived_as_the_page_says() -> None:
    entries = committed()
    tested = prediction_page.on_the_h200(entries)
    of_kind = prediction_page.by_kind(prediction_page.calibration(entries, "sm_90"))
    errors = {kind: prediction_page.median_error(some, "predicted_share") for kind, some in of_kind.items()}
    assert errors["matrix FP16 by wgmma"] < prediction_page.HOLDS < 1 < errors["matrix FP16 by mma.sync"]
    persistent = [share / entry["predicted_share"] for entry, share in of_kind["matrix FP16 by wgmma"]
                  if prediction_cases.case_of(entry).stays]
    assert len(persistent) == 4 and min(persistent) > 0.9
    assert "**FP16 by matrix instructions has not survived**" in prediction_page.page(entries, page.MADE_BY)
    told = {entry["peak"]: prediction_page.of_h200_cell(tested, entry) for entry in prediction_page.survivors(entries)
            if entry["target"] == "gfx942" and entry["row"].startswith("MFMA")}
    assert told == {"matrix FP16": "untested", "matrix FP32": "untested", "matrix FP64": "by unit"}


def test_shares_without_conflicts_are_marked() -> None:
    for entry in committed():
        knows = entry["target"] in bank_conflicts.TARGETS or not entry["demand"]["lds_bytes"]
        if entry["peak"] != "memory":
            assert prediction_page.share_cell(entry).endswith("%" if knows else " †")


def stage_rows(document: str) -> list[dict[str, str]]:
    """Of the tables that stages.py makes, each row by its headings."""
    text = (synthetic.REPOSITORY / document).read_text(encoding="utf-8")
    lines = text[text.index(stages.BEGIN):text.index(stages.END)].splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    head = cells[0]
    return [dict(zip(head, row)) for row in cells if row != head and not row[0].startswith("---")]


@pytest.mark.parametrize("document", stages.DOCUMENTS)
def test_the_table_of_stages_says_why_a_gpu_has_none(document: str) -> None:
    rows = stage_rows(document)
    assert len(rows) > 90
    for row in rows:
        *cells, tested, checked, needs = list(row.values())[1:]
        assert needs or all(cells), row
        assert checked, row
        if re.fullmatch(r"0\.\d\d|1\.\d\d", tested) and not prediction_page.holds(float(tested)):
            assert not any("%" in cell for cell in cells[1:]), row


def test_a_row_is_several_stages_that_differ_by_their_instruction() -> None:
    found = stages.rows_of([
        {"stage": "tiles", "needs": "", "sm_90": "yes", "gfx90a": "yes"},
        {"stage": "MFMA, tiles", "needs": "MFMA", "sm_90": "no", "gfx90a": "yes"},
        {"stage": "WMMA of gfx11, tiles", "needs": "WMMA", "sm_90": "no", "gfx90a": "no", "gfx1100": "yes"},
        {"stage": "MFMA, loads", "needs": "MFMA; loads to LDS", "sm_90": "no", "gfx90a": "yes"},
        {"stage": "by size", "needs": "copies", "sm_90": "yes", "gfx90a": "no"},
        {"stage": "through registers, by size", "needs": "through registers", "sm_90": "no", "gfx90a": "yes"},
    ])
    assert [(row.name(), *map(row.word, ("sm_90", "gfx90a", "gfx1100")), row.needs) for row in found] == [
        ("tiles", "yes", "yes", "", []), ("tiles", "", "MFMA", "WMMA of gfx11", ["MFMA", "WMMA"]),
        ("MFMA, loads", "", "yes", "", ["MFMA, loads to LDS"]),
        ("by size", "yes", "through registers", "", ["copies"])]


def test_a_larger_product_is_predicted_from_the_same_code() -> None:
    of = {(entry["target"], entry["row"]): entry for entry in committed() if entry["experiment"] == "hgemm"}
    # 256 and 1024 tiles on 104 CUs: three and ten rounds.
    entry = of["gfx90a", "MFMA, waves take turns"]
    expected = entry["predicted_share"] * 3 / 256 * 1024 / 10
    assert kept_predictions.share_of_large(entry) == pytest.approx(expected, rel=1e-3)
    assert prediction_page.share_cell(entry) == "82.0 / 98.5 %"
    assert kept_predictions.share_of_large(of["gfx90a", "MFMA, tile rows by CUs"]) is None
    assert kept_predictions.share_of_large(of["gfx942", "MFMA, tile rows by CUs"]) is not None
    # Panels of eight rows ask memory for less than rows of tiles.
    by_rows = prediction.product_traffic(256, 128, 32, 2, 8192, 32)
    in_panels = prediction.product_traffic(256, 128, 32, 2, 8192, 32, 8)
    assert by_rows.memory == (32 * 128 + 256) * 64 / 32 and in_panels.memory == (4 * 128 + 8 * 256) * 64 / 32


# --- The program, with faked tools --------------------------------------------------------------------


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """An experiment whose recorded kernel bears the name of a case."""
    made = Workshop(tmp_path)
    made.name_experiments("src/8-kernels/batchnorm/batchnorm.hip", "src/1-a/first.hip")
    program(made.tools / "llvm-cxxfilt", "#!/bin/sh\nsed -E 's/.*busy_kernel.*/"
             "hipscope::batch_norm::one_pass_kernel<8u, 16u, 4u, hipscope::batch_norm::MeanFirst>(int)/'\n")
    shutil.copy(shapes.SCHEMAS / kept_predictions.SCHEMA, made.root / "results")
    shutil.copytree(prediction_page.PUBLISHED_PATH.parent, made.root / "results" / "published")
    return made


def test_the_program_predicts(workshop: Workshop) -> None:
    done = workshop.run("--predict", "--targets", "gfx900,gfx90a")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].split(", ")[0] == f"{workshop.out / 'predictions.md'}: 2 predictions"
    assert "Not predicted: batchnorm for gfx90a, resident: there is no kernel " in done.stdout
    assert workshop.calls() == ["batchnorm gfx900", "batchnorm gfx90a"]
    assert sorted(workshop.files()) == ["predictions.json", "predictions.md"]
    first, second = kept_predictions.read(workshop.out)
    assert [(first[key], second[key]) for key in ("target", "row", "compiler")] == [
        ("gfx900", "gfx90a"), ("over 8 threads, 16 bytes",) * 2, ("Fake clang version 99.1, HIP 9.9",) * 2]
    # The recorded kernel is 71 instructions, 22 of them FMAs.
    assert (first["demand"]["instructions"], first["demand"]["fmas"]) == (71, 22)
    assert workshop.run("--check").stdout == "1 valid, 0 invalid\n"


def test_a_report_keeps_the_predictions_and_names_them(workshop: Workshop) -> None:
    assert workshop.run("--predict", "--targets", "gfx90a").returncode == 0
    kept = (workshop.out / "predictions.json").read_bytes()
    assert workshop.run("--targets", "gfx900").returncode == 0
    assert (workshop.out / "predictions.json").read_bytes() == kept
    assert "(predictions.md), for gfx90a-clang99" in (workshop.out / "README.md").read_text()


def test_what_cannot_be_predicted_is_bad_usage(workshop: Workshop) -> None:
    one_sentence(workshop.run("--predict", "--only", "^first$"), 2, "of no experiment that matches '^first$'")
    one_sentence(workshop.run("--predict", "--targets", "gfx1030"), 2, "predictions are for gfx900, gfx908")
    assert not workshop.files()


# --- Beside a measurement -----------------------------------------------------------------------------


def measured_file(entry: dict[str, Any], value: float, **device: Any) -> dict[str, Any]:
    """A result of the GPU of a prediction, with one row that is measured."""
    row = {**synthetic.row(entry["row"], 1.0, 1e-3, None), "values": [
        {"name": entry["value"], "value": value, "unit": entry["unit"]}]}
    data = synthetic.result(entry["experiment"], backend="amd")
    data["device"] |= {"architecture": f"{entry['target']}:sramecc+:xnack-",
                       "compute_units": entry["gpu"]["cores"], **device}
    data["clock"]["shader_mhz"] = entry["gpu"]["clock_mhz"]
    data["sweeps"] = [synthetic.sweep(entry["sweep"], [row])]
    return data


def measured(entry: dict[str, Any], value: float, **device: Any) -> records.Result:
    return records.result_of(entry["experiment"], Path("no.json"), measured_file(entry, value, **device))


def an_entry(target: str, experiment: str, unit: str) -> dict[str, Any]:
    """The first prediction of its kind."""
    return next(entry for entry in prediction_page.survivors(committed())
                if (entry["target"], entry["experiment"], entry["unit"]) == (target, experiment, unit))


@pytest.mark.parametrize("target, experiment, unit", [
    ("gfx942", "sgemm", "TFLOP/s"), ("gfx1100", "hgemm", "TFLOP/s"), ("gfx90a", "memory_bandwidth", "GB/s"),
    ("gfx942", "batchnorm", "GB/s"),
])
def test_a_report_has_the_prediction_beside_what_was_measured(target: str, experiment: str, unit: str) -> None:
    entry = an_entry(target, experiment, unit)
    text = "\n\n".join(predicted.section(measured(entry, entry["predicted"] / 2)))
    assert "## Predicted, and measured" in text
    assert text.splitlines()[-1].endswith(f"| 0.50 | {entry['predicted_share'] / 2 / entry['share_in_turn']:.2f} |")
    assert f"{100 * entry['predicted_share']:.1f} % of {entry['peak']}" in text


def test_a_larger_card_of_the_same_target_is_predicted_more() -> None:
    entry = an_entry("gfx90a", "sgemm", "TFLOP/s")
    result = measured(entry, 1.0, compute_units=110)
    assert predicted.predicted_value(entry, result) == pytest.approx(entry["predicted"] * 110 / 104)
    # HIP may count the CUs of RDNA one by one.
    entry = an_entry("gfx1100", "sgemm", "TFLOP/s")
    result = measured(entry, 1.0, compute_units=96)
    assert predicted.predicted_value(entry, result) == pytest.approx(entry["predicted"])


def test_the_documents_say_what_the_predictions_do() -> None:
    entries = committed()
    written, stay = prediction_page.documents(entries), prediction_page.survivors(entries)
    pairs = prediction_page.calibration(entries, "sm_90")
    assert sorted(written) == sorted(prediction_page.DOCUMENTS)
    for name, text in written.items():
        # Otherwise: scripts/isa_report.py --pages
        assert text == (synthetic.REPOSITORY / name).read_text(encoding="utf-8"), name
        assert "| hipscope, H200, matrix FP16 |" in text
        # What they say of those that are left out, in words.
        prose = "".join(line for line in text.splitlines() if not line.startswith("|"))
        assert re.search(rf"\b{len(entries) - len(stay)} (?:predictions|个)", prose), name
        for unit, some in prediction_page.by_unit(pairs).items():
            error = f" {100 * prediction_page.median_error(some, 'predicted_share'):.1f} "
            assert error in prose or unit == "matrix FP16", (name, unit)


def test_others_have_no_such_section(tmp_path: Path) -> None:
    failed = next(entry for entry in committed() if (entry["target"], entry["row"]) == ("gfx942", "LDS staging"))
    assert predicted.section(measured(failed, 1.0)) == []
    entry = an_entry("gfx942", "sgemm", "TFLOP/s")
    assert predicted.section(measured(entry, 1.0, architecture="sm_90")) == []
    assert predicted.section(measured(entry, 1.0, architecture="gfx1030")) == []
    assert predicted.section(measured({**entry, "row": "something else"}, 1.0)) == []
    # Nor has any without predictions.
    assert predicted.section(measured(entry, 1.0), tmp_path) == []


def test_a_report_refuses_a_file_that_is_none(tmp_path: Path) -> None:
    entry = an_entry("gfx942", "sgemm", "TFLOP/s")
    assert predicted.section(measured(entry, 1.0), edited(tmp_path, entry, {}))
    folder = tmp_path / "edited"
    folder.mkdir()
    with pytest.raises(door.BadInput, match="is not known"):
        predicted.section(measured(entry, 1.0), edited(folder, entry, {"predicted_share": 0.99}))


def test_a_report_needs_no_reader_of_machine_code() -> None:
    # setup.sh installs none of what that needs where only results are measured and reported.
    program = "import sys; sys.modules['yaml'] = None; from hipscope.report import predicted; import html_report"
    subprocess.run([sys.executable, "-c", program], cwd=synthetic.SCRIPTS, check=True)


def test_the_page_of_a_made_result_has_it(tmp_path: Path) -> None:
    from hipscope.report import page as report_page

    entry = an_entry("gfx942", "sgemm", "TFLOP/s")
    synthetic.write(tmp_path, measured_file(entry, entry["predicted"]))
    made = report_page.make_page(load.load_folder(tmp_path))
    assert "| 1.00 | " in made.experiments["sgemm.md"].decode("utf-8").split("## Predicted, and measured")[1]


# What a step of dgemm's 64 x 64 tiles of 8 k loads and multiplies in a thread.
STAGING = [*[("LDG.E.128 R4, desc[UR4][R2.64]", 1, 0, 7, 0)] * 2, *[plain("DFMA R0, R2, R4, R0", mask=1)] * 128,
           plain("@P0 BRA 0x0", 5), plain("EXIT")]


def test_the_program_predicts_of_listings(workshop: Workshop) -> None:
    listings = workshop.root / "listings"
    listings.mkdir()
    name = "_ZN5dgemm18lds_staging_kernelEv"
    (listings / "dgemm.sass").write_text(listed(name, STAGING))
    (listings / "dgemm.usage").write_text(f" Function {name}:\n  REG:96 STACK:0 SHARED:9216 LOCAL:0\n")
    done = workshop.run("--predict-listed", listings)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "nvcc.txt" in done.stderr
    (listings / "nvcc.txt").write_text("Cuda compilation tools, release 13.0, V13.0.88\n")
    done = workshop.run("--predict-listed", listings)
    assert (done.returncode, done.stderr) == (0, "")
    entry, = kept_predictions.read(workshop.out)
    assert [entry[key] for key in ("target", "compiler", "row", "vgprs", "lds_bytes")] == [
        "sm_90", "nvcc 13.0.88", "LDS staging", 96, 9216]
    assert (entry["demand"]["fmas"], entry["demand"]["loaded_bytes"]) == (128, 1024)
    (listings / "dgemm.sass").write_bytes(b"\xff")
    assert workshop.run("--predict-listed", listings).returncode == 1
