"""The predictions of all kernels of prediction_cases, made from compiled code; kept_predictions.py has their file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from . import mca, sass
from .analysis import short_names
from .assembly import Function, Kernel, read_kernels
from .bank_conflicts import NO_CONFLICTS, Conflicts
from .demand import Step, UnknownStep, busiest_loop, demand_of, lane_macs, product_step, whole
from .experiments import Experiment
from .gpus import Gpu
from .kept_predictions import Entry, judged, known_conflicts, summary
from .prediction import Demand
from .prediction_cases import Product, Stream, cases_of
from .toolchain import Toolchain


def _step(case: Product | Stream, kernel: Kernel, gpu: Gpu) -> Step:
    if isinstance(case, Product):
        return product_step(kernel.function, partial(lane_macs, gpu=gpu), case.macs(), case.copies)
    return whole(kernel.function) if case.step == "all" else busiest_loop(kernel.function)


def must_load_its_tiles(case: Product, demand: Demand, steps: int, gpu: Gpu) -> None:
    """Raises UnknownStep where a step does not load what it multiplies: then a loop runs otherwise than was thought.

    More it may: of code of which each thread takes one of two ways, and of what was spilled.
    """
    threads = case.computing or case.threads
    wanted = steps * case.tile_bytes() / threads * gpu.lanes
    if demand.loaded_bytes < wanted or (case.copies and demand.loaded_bytes != wanted):
        raise UnknownStep(f"a step loads {demand.loaded_bytes} bytes for a wave, not {wanted:g}")


def _found(case: Product | Stream, step: Step, gpu: Gpu, compiler: str, registers: tuple[int, int], static_lds: int,
           demand: Demand, mca_cycles: float | None = None, conflicts: Conflicts | None = None) -> Entry:
    if isinstance(case, Product):
        must_load_its_tiles(case, demand, step.steps, gpu)
    dynamic = case.dynamic_lds_bytes if isinstance(case, Product) else 0
    return judged({
        "target": gpu.target, "compiler": compiler, "experiment": case.experiment, "sweep": case.sweep,
        "row": case.row, "kernel": case.kernel, "step": step.label, "trips": step.trips, "steps": step.steps,
        "vgprs": registers[0], "agprs": registers[1], "lds_bytes": static_lds + dynamic, "mca_cycles": mca_cycles,
        "lds_conflicts": [conflicts.loads, conflicts.stores] if conflicts else None, "demand": summary(demand),
    })


def _entry(case: Product | Stream, kernel: Kernel, gpu: Gpu, tools: Toolchain | None, compiler: str) -> Entry:
    step = _step(case, kernel, gpu)
    latency = gpu.l2_latency if isinstance(case, Product) else gpu.memory_latency
    notes = kernel.notes
    loop = step.code if step.trips == 1 else []
    conflicts = known_conflicts(case, gpu)
    cycles = mca.cycles_of(tools, gpu.target, [loop])[0] if tools and loop and step.label != "all" else None
    return _found(case, step, gpu, compiler, (kernel.function.info["NumVgprs"], notes.get(".agpr_count", 0)),
                  notes[".group_segment_fixed_size"], demand_of(step.code, gpu, latency, conflicts or NO_CONFLICTS),
                  cycles, conflicts)


def of_code(text: str, experiment: str, gpu: Gpu, tools: Toolchain | None, compiler: str
            ) -> tuple[list[Entry], list[str]]:
    """An entry for each case of an experiment's assembly, and why there is none of the others."""
    kernels = read_kernels(text)
    symbols = [kernel.function.name for kernel in kernels]
    named = dict(zip(short_names(tools.demangle(symbols)) if tools else symbols, kernels))
    return _of_cases(experiment, gpu, named, lambda case, kernel: _entry(case, kernel, gpu, tools, compiler))


def _of_cases(experiment: str, gpu: Gpu, named: Mapping[str, Any], entry_of: Callable[[Any, Any], Entry]
              ) -> tuple[list[Entry], list[str]]:
    entries, refused = [], []
    for case in cases_of(experiment, gpu):
        kernel = named.get(case.kernel)
        if kernel is None:
            refused.append(f"{case.row}: there is no kernel {case.kernel}")
            continue
        try:
            entries.append(entry_of(case, kernel))
        except ValueError as error:
            refused.append(f"{case.row}: {error}")
    return entries, refused


def of_listing(listing: str, usage: str, experiment: str, gpu: Gpu, compiler: str) -> tuple[list[Entry], list[str]]:
    """The same of NVIDIA's code, as cuobjdump -sass lists it, and -res-usage what it takes."""
    functions = sass.read_functions(listing)
    resources = sass.read_resources(usage)
    names = sass.demangled([function.name for function in functions])
    named = dict(zip((re.sub(r"> (?=>)", ">", name) for name in names), functions))

    def entry_of(case: Product, function: Function) -> Entry:
        step = product_step(function, sass.lane_macs, case.macs(), case.copies)
        registers, lds_bytes = resources[function.name]
        demand = sass.demand_of(step.code, gpu, gpu.l2_latency)
        if case.by_copy_engine:
            of_a_warp = step.steps * case.tile_bytes() * gpu.lanes // (case.computing or case.threads)
            demand.loaded_bytes += of_a_warp
            demand.lds_bytes += of_a_warp
            demand.phases[-1].lds += of_a_warp / gpu.lds_bytes
        return _found(case, step, gpu, compiler, (registers, 0), lds_bytes, demand)

    return _of_cases(experiment, gpu, named, entry_of)


def of_experiment(tools: Toolchain, experiment: Experiment, gpu: Gpu, scratch: Path) -> tuple[list[Entry], list[str]]:
    text = tools.encoded(experiment, gpu.target, scratch)
    entries, refused = of_code(text, experiment.name, gpu, tools, tools.version)
    return entries, [f"{experiment.name} for {gpu.target}, {sentence}" for sentence in refused]
