"""The file of predictions: what was counted in each kernel's code, its demand. What follows from it the model says.

Nothing here reads machine code: a report of measured results, which shows predictions beside them, needs no more than
this.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, fields, replace
from pathlib import Path
from typing import Any

from hipscope.results import door

from .bank_conflicts import TARGETS, Conflicts, conflicts_of
from .experiments import REPOSITORY, made_by, target_order
from .gpus import Gpu, gpu_of
from .prediction import Block, Demand, Phase, Prediction, Traffic, predict, product_traffic
from .prediction_cases import CASES, LARGE_SIZE, PRODUCT_SIZE, Product, Stream, case_of, cases_of

FOLDER = REPOSITORY / "results" / "isa"
FILE = "predictions.json"
SCHEMA = "isa-predictions-schema.json"
# What the file says of a prediction, and of its demand; the rest follows.
KEPT = ("target", "compiler", "experiment", "sweep", "row", "kernel", "step", "trips", "steps", "vgprs", "agprs",
        "lds_bytes", "mca_cycles", "lds_conflicts")
NAMED = KEPT[:7]
DEMAND = tuple(field.name for field in fields(Demand))
PLACES = 4

Entry = dict[str, Any]


def summary(demand: Demand) -> dict[str, Any]:
    """As the file of predictions holds it."""
    return {**asdict(demand), "phases": [list(astuple(phase)) for phase in demand.phases]}


def known_conflicts(case: Product | Stream, gpu: Gpu) -> Conflicts | None:
    """Of a product's kernel; None where nobody has counted. Raises ValueError."""
    return conflicts_of(case.experiment, case.kernel) if isinstance(case, Product) and gpu.target in TARGETS else None


def _block(case: Product | Stream, entry: Entry, size: int) -> Block:
    takes = (case.threads, entry["vgprs"], entry["agprs"], entry["lds_bytes"])
    if isinstance(case, Stream):
        return Block(*takes)
    return Block(*takes, None if case.splits_tiles else case.tiles(size),
                 case.computing / case.threads if case.computing else 1.0, case.takes_turns)


def _judge(case: Product | Stream, entry: Entry, gpu: Gpu, size: int) -> Prediction:
    """What the model says of a demand, and of products of this size."""
    block, counted = _block(case, entry, size), entry["demand"]
    demand = replace(Demand(**counted), phases=[Phase(*phase) for phase in counted["phases"]])
    if isinstance(case, Product):
        at_once = block.resident(gpu) * gpu.cores
        traffic = product_traffic(case.rows, case.columns, case.depth, case.value_bytes, size, at_once,
                                  case.panel_rows(), case.sharing)
        steps = entry["steps"]
        useful = steps * 2.0 * case.rows * case.columns * case.depth * case.useful(size) / gpu.peaks[case.peak]
        return predict(demand, block, Traffic(traffic.l2 * steps, traffic.memory * steps), useful, gpu)
    moved = case.bytes_per_thread
    per_wave = demand.loaded_bytes + demand.stored_bytes if moved is None else moved * gpu.lanes
    total = per_wave * block.waves(gpu)
    return predict(demand, block, Traffic(total, total), total / gpu.memory_bytes(), gpu)


def judged(entry: Entry) -> Entry:
    """An entry of the file with what the model says of its demand; raises ValueError where it says nothing."""
    gpu, case = gpu_of(entry["target"]), case_of(entry)
    if gpu is None or case is None or case not in cases_of(case.experiment, gpu):
        raise ValueError(f"nothing is predicted of {entry['row']} for {entry['target']}")
    try:
        said = _judge(case, entry, gpu, PRODUCT_SIZE)
    except ArithmeticError as error:
        raise ValueError(f"{entry['row']} for {entry['target']}: the model says nothing of such a demand") from error
    of, unit, peak = (("memory", "GB/s", gpu.memory_gbs) if isinstance(case, Stream)
                      else (case.peak, "TFLOP/s", gpu.peak_tflops(case.peak)))
    return {**entry, "gpu": {"name": gpu.name, "cores": gpu.cores, "clock_mhz": gpu.clock_mhz},
            "value": case.value, "unit": unit, "peak": of, "predicted": round(said.share * peak, 3),
            "times": {unit: round(time, 1) for unit, time in said.times.items()}, "bound": said.bound,
            "predicted_share": round(said.share, PLACES), "share_in_turn": round(said.share_in_turn, PLACES),
            "blocks_per_core": said.resident,
            "waves_per_simd": round(said.waves_per_simd, 2), "rounds": round(said.rounds, PLACES)}


def share_of_large(entry: Entry) -> float | None:
    """The share that is predicted of products of LARGE_SIZE; None where the stage has another kernel for them."""
    gpu, case = gpu_of(entry["target"]), case_of(entry)
    if gpu is None or not isinstance(case, Product) or case.is_for_one_size:
        return None
    return _judge(case, entry, gpu, LARGE_SIZE).share


def written(entries: Iterable[Entry]) -> dict[str, Any]:
    """As the file has them: a row for each, and of a text the number of its name."""
    names: dict[str, int] = {}
    rows = [[names.setdefault(cell, len(names)) if isinstance(cell, str) else cell
             for cell in (*(entry[key] for key in KEPT), *(entry["demand"][key] for key in DEMAND))]
            for entry in entries]
    return {"columns": [*KEPT, *(f"demand.{name}" for name in DEMAND)], "names": list(names), "predictions": rows}


def text(entries: Iterable[Entry]) -> str:
    """The file, a line for each prediction."""
    data = written(entries)
    lines = ",\n".join(json.dumps(row) for row in data["predictions"])
    names = ",\n".join(json.dumps(name) for name in data["names"])
    return f'{{"columns": {json.dumps(data["columns"])},\n"names": [\n{names}],\n"predictions": [\n{lines}]}}\n'


def _entry(row: Sequence[Any], names: Sequence[str]) -> Entry:
    """Of a row of the file; raises ValueError."""
    entry = dict(zip(KEPT, row))
    for key in NAMED:
        if entry[key] >= len(names):
            raise ValueError(f"there is no name {entry[key]}")
        entry[key] = names[entry[key]]
    return {**entry, "demand": dict(zip(DEMAND, row[len(KEPT):]))}


def read(folder: Path) -> list[Entry]:
    """The predictions that are there, none when there is no file; raises door.BadInput."""
    path = folder / FILE
    if not path.exists():
        return []
    data = door.read_json(path, SCHEMA)
    try:
        entries = [judged(_entry(row, data["names"])) for row in data["predictions"]]
        for entry in entries:
            key_of(entry)  # knows the compilers
        return entries
    except ValueError as error:
        raise door.BadInput(f"{path}: {error}.") from error


def key_of(entry: Mapping[str, Any]) -> tuple[str, str]:
    """What is predicted anew together: the folder of target and compiler, and the experiment."""
    return made_by(entry["target"], entry["compiler"]), entry["experiment"]


def with_kept(folder: Path, new: Sequence[Entry], made: Iterable[tuple[str, str]]) -> list[Entry]:
    """New predictions, with what is there of other compilers, targets and experiments; raises door.BadInput."""
    done = set(made)
    old = [entry for entry in read(folder) if key_of(entry) not in done]
    order = {(case.experiment, case.sweep, case.row): place for place, case in enumerate(CASES)}
    return sorted([*old, *new], key=lambda entry: (
        target_order(key_of(entry)[0]), order[entry["experiment"], entry["sweep"], entry["row"]]))
