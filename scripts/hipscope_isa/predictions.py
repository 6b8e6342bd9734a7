"""The predictions of all kernels of prediction_cases: made from compiled code, kept in a file, and checked.

The file has what was counted in the code (its demand) beside what the model says of it, so that anybody can see
why; what is kept must be what the model says now, or the file is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hipscope_report import load

from . import mca
from .analysis import short_names
from .assembly import Kernel, read_kernels
from .demand import Demand, Phase, Step, UnknownStep, busiest_loop, demand_of, product_step, summary, whole
from .experiments import REPOSITORY, Experiment
from .folders import made_by, target_order
from .gpus import Gpu, gpu_of
from .prediction import Block, Prediction, Traffic, predict, product_traffic
from .prediction_cases import CASES, PRODUCT_SIZE, Product, Stream
from .toolchain import Toolchain

FILE = "predictions.json"
SCHEMA_PATH = REPOSITORY / "results" / "isa-predictions-schema.json"
PLACES = 4

Entry = dict[str, Any]


# --- From code to an entry ----------------------------------------------------------------------------


def _step(case: Product | Stream, kernel: Kernel, gpu: Gpu) -> Step:
    if isinstance(case, Product):
        return product_step(kernel.function, gpu, case.macs(), case.copies)
    return whole(kernel.function) if case.step == "all" else busiest_loop(kernel.function)


def _block(case: Product | Stream, entry: Entry) -> Block:
    of_product = isinstance(case, Product)
    count = PRODUCT_SIZE // case.rows * (PRODUCT_SIZE // case.columns) if of_product else None
    active = case.computing / case.threads if of_product and case.computing else 1.0
    return Block(case.threads, entry["vgprs"], entry["agprs"], entry["lds_bytes"], count, active)


def _demand(kept: Mapping[str, Any]) -> Demand:
    phases = [Phase(*phase) for phase in kept["phases"]]
    return Demand(**{**kept, "phases": phases})


def _judge(case: Product | Stream, entry: Entry, gpu: Gpu) -> Prediction:
    """What the model says of a demand."""
    block, demand = _block(case, entry), _demand(entry["demand"])
    if isinstance(case, Product):
        at_once = block.resident(gpu) * gpu.cores
        traffic = product_traffic(case.rows, case.columns, case.depth, case.value_bytes, PRODUCT_SIZE, at_once)
        steps = entry["steps"]
        useful = steps * 2.0 * case.rows * case.columns * case.depth / gpu.peaks[case.peak]
        return predict(demand, block, Traffic(traffic.l2 * steps, traffic.memory * steps), useful, gpu)
    moved = case.bytes_per_thread
    per_wave = demand.loaded_bytes + demand.stored_bytes if moved is None else moved * gpu.lanes
    total = per_wave * block.waves(gpu)
    return predict(demand, block, Traffic(total, total), total / gpu.memory_bytes(), gpu)


def _judged(case: Product | Stream, entry: Entry, gpu: Gpu) -> Entry:
    said = _judge(case, entry, gpu)
    of_memory = isinstance(case, Stream)
    peak = gpu.memory_gbs if of_memory else gpu.peak_tflops(case.peak)
    return {**entry, "gpu": {"name": gpu.name, "cores": gpu.cores, "clock_mhz": gpu.clock_mhz},
            "value": case.value, "unit": "GB/s" if of_memory else "TFLOP/s",
            "peak": "memory" if of_memory else case.peak, "predicted": round(said.share * peak, 3),
            "times": {unit: round(time, 1) for unit, time in said.times.items()}, "bound": said.bound,
            "predicted_share": round(said.share, PLACES), "share_in_turn": round(said.share_in_turn, PLACES),
            "blocks_per_core": said.resident,
            "waves_per_simd": round(said.waves_per_simd, 2), "rounds": round(said.rounds, PLACES)}


def must_load_its_tiles(case: Product, demand: Demand, steps: int, gpu: Gpu) -> None:
    """Raises UnknownStep where a step does not load what it multiplies: then a loop runs otherwise than was thought.

    More it may: of code of which each thread takes one of two ways, and of what was spilled.
    """
    threads = case.computing or case.threads
    wanted = steps * (case.rows + case.columns) * case.depth * case.value_bytes / threads * gpu.lanes
    if demand.loaded_bytes < wanted or (case.copies and demand.loaded_bytes != wanted):
        raise UnknownStep(f"a step loads {demand.loaded_bytes} bytes for a wave, not {wanted:g}")


def _entry(case: Product | Stream, kernel: Kernel, gpu: Gpu, tools: Toolchain | None, compiler: str) -> Entry:
    step = _step(case, kernel, gpu)
    latency = gpu.l2_latency if isinstance(case, Product) else gpu.memory_latency
    demand = demand_of(step.code, gpu, latency)
    if isinstance(case, Product):
        must_load_its_tiles(case, demand, step.steps, gpu)
    notes = kernel.notes
    dynamic = case.dynamic_lds_bytes if isinstance(case, Product) else 0
    loop = step.code if step.trips == 1 else []
    estimate = mca.estimate(tools, gpu.target, [loop])[0] if tools and loop and step.label != "all" else None
    return _judged(case, {
        "target": gpu.target, "compiler": compiler, "experiment": case.experiment, "sweep": case.sweep,
        "row": case.row, "kernel": case.kernel, "step": step.label, "trips": step.trips, "steps": step.steps,
        "vgprs": kernel.function.info["NumVgprs"], "agprs": notes.get(".agpr_count", 0),
        "lds_bytes": notes[".group_segment_fixed_size"] + dynamic,
        "mca_cycles": None if estimate is None else estimate.cycles,
        "demand": summary(demand),
    }, gpu)


def of_code(text: str, experiment: str, gpu: Gpu, tools: Toolchain | None, compiler: str
            ) -> tuple[list[Entry], list[str]]:
    """An entry for each case of an experiment's assembly, and why there is none of the others."""
    kernels = read_kernels(text)
    symbols = [kernel.function.name for kernel in kernels]
    named = dict(zip(short_names(tools.demangle(symbols)) if tools else symbols, kernels))
    entries, refused = [], []
    for case in cases_of(experiment, gpu):
        kernel = named.get(case.kernel)
        if kernel is None:
            refused.append(f"{case.row}: there is no kernel {case.kernel}")
            continue
        try:
            entries.append(_entry(case, kernel, gpu, tools, compiler))
        except UnknownStep as error:
            refused.append(f"{case.row}: {error}")
    return entries, refused


def cases_of(experiment: str, gpu: Gpu) -> list[Product | Stream]:
    """Those that the GPU has the instructions for."""
    return [case for case in CASES if case.experiment == experiment
            and (not case.targets or gpu.target in case.targets)
            and (isinstance(case, Stream) or case.peak in gpu.peaks)]


def of_experiment(tools: Toolchain, experiment: Experiment, gpu: Gpu, scratch: Path) -> tuple[list[Entry], list[str]]:
    """Compiles an experiment, and predicts."""
    assembly = scratch / f"{experiment.name}.{gpu.target}.s"
    tools.compile(REPOSITORY / experiment.source, gpu.target, assembly, "-I", str(REPOSITORY / "include"))
    text = tools.encode(assembly, gpu.target)
    assembly.unlink()
    entries, refused = of_code(text, experiment.name, gpu, tools, tools.version)
    return entries, [f"{experiment.name} for {gpu.target}, {sentence}" for sentence in refused]


# --- The file -----------------------------------------------------------------------------------------


def case_of(entry: Mapping[str, Any]) -> Product | Stream | None:
    return next((case for case in CASES if (case.experiment, case.sweep, case.row) == (
        entry["experiment"], entry["sweep"], entry["row"])), None)


def check(entry: Entry) -> None:
    """Raises ValueError where the model does not say what is kept."""
    gpu, case = gpu_of(entry["target"]), case_of(entry)
    if gpu is None or case is None:
        raise ValueError(f"nothing is predicted of {entry['row']} for {entry['target']}")
    now = _judged(case, entry, gpu)
    if now != entry:
        differs = next(key for key in now if now[key] != entry[key])
        raise ValueError(f"{entry['row']} for {entry['target']}: the model says {differs} {now[differs]}, "
                         f"the file {entry[differs]}")


def read(folder: Path) -> list[Entry]:
    """The predictions that are there, none when there is no file; raises load.BadResult."""
    path = folder / FILE
    if not path.exists():
        return []
    entries = load.read_json(path)
    load.check(path, entries, json.loads(SCHEMA_PATH.read_text(encoding="utf-8")))
    for entry in entries:
        try:
            check(entry)
        except ValueError as error:
            raise load.BadResult(f"{path}: {error}.") from error
    return entries


def key_of(entry: Mapping[str, Any]) -> tuple[str, str]:
    return made_by(entry["target"], entry["compiler"]), entry["experiment"]


def with_kept(folder: Path, new: Sequence[Entry], made: Iterable[tuple[str, str]]) -> list[Entry]:
    """New predictions, with what is there of other compilers, targets and experiments; raises load.BadResult."""
    done = set(made)
    kept = [entry for entry in read(folder) if key_of(entry) not in done]
    order = {(case.experiment, case.sweep, case.row): place for place, case in enumerate(CASES)}
    return sorted([*kept, *new], key=lambda entry: (
        target_order(key_of(entry)[0]), order[entry["experiment"], entry["sweep"], entry["row"]]))
