"""The predictions as pages show them, with what was published of the same kernels beside them."""

from __future__ import annotations

import csv
import itertools
import re
import statistics
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from hipscope.results import formats, load, markdown

from .experiments import REPOSITORY, target_order
from .gpus import GPUS, gpu_of
from .kept_predictions import Entry, key_of
from .prediction import UNITS
from .prediction_cases import CASES, PRODUCT_SIZE, Product, Stream

PAGE = "predictions.md"
MEASURED_FOLDER = REPOSITORY / "results" / "nvidia-h200"
PUBLISHED_PATH = REPOSITORY / "results" / "published" / "published.csv"
# Where a part of the predictions stands in the documents, and what the words of its tables are in Chinese.
DOCUMENTS = ("docs/compiled-amd-code.md", "docs/zh-CN/compiled-amd-code.md")
BEGIN, END = "<!-- isa_report.py: predictions -->", "<!-- isa_report.py: end of predictions -->"
CHINESE = {
    "kernel": "内核", "predicted as": "预测方式", "bound": "上界", "in turn": "轮流", "kernels": "内核数",
    "measured by": "测量者", "measured / predicted, median": "实测值除以预测值，中位数", "error, median": "误差中位数",
    "H200, measured / predicted": "H200，实测值除以预测值",
    "half of them": "其中一半", "all": "全部", "vector": "向量", "matrix": "矩阵", "memory": "内存", "alone": "独占",
    "no such instruction": "无此指令",
}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


# --- What was published -------------------------------------------------------------------------------


def published_shares(path: Path = PUBLISHED_PATH) -> dict[tuple[str, str, str], float]:
    """What was published of a case's own work, by target, experiment and row, as a share of its peak."""
    with path.open(encoding="utf-8", newline="") as file:
        known = {(row["experiment"], row["gpu"], row["series"], row["metric"]): row["value"]
                 for row in csv.DictReader(file)}
    shares = {}
    for gpu, case in itertools.product(GPUS, CASES):
        if isinstance(case, Product):
            series, metric, peak = f"kernel {case.source}", "rate", gpu.peak_tflops(case.peak) if case.source else 0.0
        else:
            series, metric, unit = case.published or ("", "", 1.0)
            peak = gpu.memory_gbs / unit
        value = known.get((case.experiment, gpu.name, series, metric))
        if value is not None:
            shares[gpu.target, case.experiment, case.row] = float(value) / peak
    return shares


@cache
def measured_shares() -> dict[tuple[str, str, str], float]:
    """What was measured on the H200 of the stages of products, likewise; nothing where the results are not there."""
    shares = {}
    names = dict.fromkeys(case.experiment for case in CASES if isinstance(case, Product))
    for name in names if MEASURED_FOLDER.is_dir() else ():
        result = load.load_result(MEASURED_FOLDER / f"{name}.json")
        for row in next(sweep.rows for sweep in result.sweeps if sweep.name == "stages"):
            share = next((value.value for value in row.values if value.name == "share of peak"), None)
            if share is not None:
                shares["sm_90", name, row.label] = share / 100
    return shares


# Against what the predictions for a target are held.
SOURCES = {"gfx908": "fileaccent, MI100", "gfx900": "fsword73, MI25", "sm_90": "hipscope, H200"}


def calibration(entries: Sequence[Entry], target: str) -> list[tuple[Entry, float]]:
    """Each prediction for a target of a kernel whose work is the source's, with the share that it had."""
    known = published_shares() | measured_shares()
    keys = [(entry["target"], entry["experiment"], entry["row"]) for entry in entries]
    return [(entry, known[key]) for entry, key in zip(entries, keys) if key in known and key[0] == target]


def on_the_h200(entries: Sequence[Entry]) -> dict[tuple[str, str], float]:
    """By experiment and row what was measured on the H200 over what was predicted as its bound."""
    return {(entry["experiment"], entry["row"]): share / entry["predicted_share"]
            for entry, share in calibration(entries, "sm_90")}


def median_error(pairs: Sequence[tuple[Entry, float]], key: str) -> float:
    """Of predictions, as parts of what was measured."""
    return statistics.median(abs(entry[key] / share - 1) for entry, share in pairs)


# What is predicted: a bound, and a share with SIMDs and LDS in turn.
KEYS = ("predicted_share", "share_in_turn")


def ratios(pairs: Sequence[tuple[Entry, float]], key: str) -> list[float]:
    """Measured over predicted."""
    return [share / entry[key] for entry, share in pairs]


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The lower one, the median and the upper one."""
    lower, middle, upper = statistics.quantiles(values, n=4, method="inclusive")
    return lower, middle, upper


# --- The documents ------------------------------------------------------------------------------------

# Of the ladder of sgemm these; of the others all.
SHOWN_OF_SGEMM = (
    "3.2 8 x 8 per thread", "5 4 x 4 values of A and B in registers",
    "7.4 two LDS buffers, early loads, padding 8", "8 x 8 in halves, two LDS buffers, launch bounds",
    "LDS loads in assembly", "register tile of 8 x 8", "register tile of 8 x 16", "tiles split along k",
    "matrix instructions",
)
SHOWN_TARGETS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")


def _shown(case: Product | Stream) -> bool:
    if set(case.targets) & {"gfx900"} or case.targets == ("sm_90",):
        return False
    return case.experiment != "sgemm" or case.row in SHOWN_OF_SGEMM


ON_THE_H200 = "H200, measured / predicted"


def _of_h200_cell(tested: Mapping[tuple[str, str], float], experiment: str, row: str) -> str:
    return f"{tested[experiment, row]:.2f}" if (experiment, row) in tested else formats.NOT_THERE


def _share_cell(entries: Sequence[Entry]) -> str:
    """As a bound, in turn where that is less, and what decides; of the newest compiler, which is the last."""
    if not entries:
        return "no such instruction"
    bound, in_turn = (_percent(entries[-1][key]) for key in KEYS)
    return f"{bound}, {entries[-1]['bound']}" if bound == in_turn else f"{in_turn} ... {bound}, {entries[-1]['bound']}"


def document_tables(entries: Sequence[Entry]) -> str:
    """The shares of the newest compilers for three targets, and how far published figures are from the model's."""
    rows = []
    tested = on_the_h200(entries)
    for key in dict.fromkeys((case.experiment, case.sweep, case.row) for case in filter(_shown, CASES)):
        experiment, _, row = key
        of_case = [entry for entry in entries if (entry["experiment"], entry["sweep"], entry["row"]) == key]
        of_targets = [[entry for entry in of_case if entry["target"] == target] for target in SHOWN_TARGETS]
        rows.append([f"`{experiment}` {markdown.text(row)}", *map(_share_cell, of_targets),
                     _of_h200_cell(tested, experiment, row)])
    gpus = [f"{target}, {gpu.name}" for target in SHOWN_TARGETS if (gpu := gpu_of(target))]
    held = []
    for target, source in SOURCES.items():
        pairs = calibration(entries, target)
        if len(pairs) > 1:
            for key, kind in zip(KEYS, ("bound", "in turn")):
                values = ratios(pairs, key)
                lower, middle, upper = quartiles(values)
                held.append([source, kind, str(len(pairs)), f"{middle:.2f}", f"{lower:.2f} ... {upper:.2f}",
                             f"{min(values):.2f} ... {max(values):.2f}", _percent(median_error(pairs, key))])
    parts = [markdown.table(["kernel", *gpus, ON_THE_H200], rows)]
    if held:
        parts.append(markdown.table(["measured by", "predicted as", "kernels", "measured / predicted, median",
                                     "half of them", "all", "error, median"], held))
    return "\n\n".join(parts)


def in_chinese(tables: str) -> str:
    """The tables with Chinese headings and units."""
    for english, chinese in sorted(CHINESE.items(), key=lambda item: -len(item[0])):
        tables = re.sub(rf"(?<=\| ){re.escape(english)}(?= \|)|(?<=%, ){english}(?= \|)", chinese, tables)
    return tables.replace(" %, ", " %，")


def documents(entries: Sequence[Entry]) -> dict[str, str]:
    """The documents that are there, by their path in the repository, with these tables between their comments."""
    texts = {}
    for name in DOCUMENTS if entries else ():
        path = REPOSITORY / name
        if path.exists():
            tables = document_tables(entries)
            wanted = in_chinese(tables) if "zh-CN" in name else tables
            section = f"{BEGIN}\n\n{wanted}\n\n{END}"
            texts[name] = re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _, section=section: section,
                                 path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return texts


# --- The page -----------------------------------------------------------------------------------------


def _code_cells(entry: Entry) -> list[str]:
    demand = entry["demand"]
    fmas = demand["flops"] / 2
    moved = demand["loaded_bytes"] + demand["stored_bytes"]
    share = demand["fmas"] / demand["vector_instructions"] if demand["vector_instructions"] else 0.0
    return [
        _percent(share) if fmas else formats.NOT_THERE,
        f"{demand['lds_bytes'] / fmas:.2f}" if fmas else formats.NOT_THERE,
        f"{moved / fmas:.3f}" if fmas else formats.NOT_THERE,
        f"{entry['vgprs']}" + (f" + {entry['agprs']}" if entry["agprs"] else ""),
        " / ".join(f"{times:.2f}" for times in entry["lds_conflicts"] or ()) or formats.NOT_THERE,
        f"{entry['lds_bytes']}", f"{entry['waves_per_simd']:g}", str(demand["waits"]),
        formats.NOT_THERE if entry["mca_cycles"] is None else f"{entry['mca_cycles']:.0f}",
    ]


CODE_HEADER = ["experiment", "row", "FMA share", "LDS bytes/FMA", "memory bytes/FMA", "VGPRs + AGPRs", "conflicts",
               "LDS bytes", "waves per SIMD", "waits", "llvm-mca"]


def _time_table(entries: Sequence[Entry], tested: Mapping[tuple[str, str], float]) -> str:
    rows = [[markdown.text(entry["row"]), *(f"{entry['times'][unit]:.0f}" for unit in UNITS), entry["bound"],
             entry["peak"], *(_percent(entry[key]) for key in KEYS),
             f"{formats.significant(entry['predicted'])} {entry['unit']}",
             _of_h200_cell(tested, entry["experiment"], entry["row"])] for entry in entries]
    return markdown.table(["row", *UNITS, "decided by", "of the peak of", "predicted share", "predicted, in turn",
                           "predicted rate", ON_THE_H200], rows)


def calibration_table(pairs: Sequence[tuple[Entry, float]]) -> str:
    rows = [[entry["experiment"], markdown.text(entry["row"]), entry["bound"], _percent(share),
             *(part for key in KEYS for part in (_percent(entry[key]), f"{share / entry[key]:.2f}"))]
            for entry, share in pairs]
    return markdown.table(["experiment", "kernel", "decided by", "measured", "predicted", "measured / predicted",
                           "predicted, in turn", "measured / predicted, in turn"], rows)


def _spread(values: Sequence[float]) -> str:
    lower, middle, upper = quartiles(values)
    return (f"median {middle:.2f}, half of them from {lower:.2f} to {upper:.2f}, all from {min(values):.2f} to "
            f"{max(values):.2f}")


# A prediction holds whose kernel came so near to its bound on the H200.
HOLDS = 0.15


def held_on_the_h200(entries: Sequence[Entry]) -> tuple[int, int, int]:
    """Of the predictions for AMD's GPUs: whose row holds on the H200, whose row does not, and whose it has not."""
    tested = on_the_h200(entries)
    ratios_of_amd = [tested.get((entry["experiment"], entry["row"])) for entry in entries if entry["target"] != "sm_90"]
    found = [ratio for ratio in ratios_of_amd if ratio is not None]
    holds = sum(abs(1 / ratio - 1) <= HOLDS for ratio in found)
    return holds, len(found) - holds, len(ratios_of_amd) - len(found)


def _calibration_part(entries: Sequence[Entry]) -> list[str]:
    """The tables, where there are enough entries for one."""
    parts = []
    for target, sentence in (
            ("sm_90", f"The stages of `sgemm`, `dgemm` and `hgemm` on an H200 (products of {PRODUCT_SIZE}), whose "
                      "machine code is counted by the same rules (scripts/hipscope/compiled_code/sass.py), as shares "
                      "of the peak of their instructions:"),
            ("gfx908", "fileaccent published the rates of his kernels on an MI100 (gfx908, products of "
                       f"{PRODUCT_SIZE}, at 1472 MHz). Of those that stand here with the same work, compiled by clang "
                       "15, as shares of the vector peak:"),
            ("gfx900", "fsword73 published rates of kernels that move bytes, on an MI25 (gfx900). As shares of the "
                       "memory's peak:")):
        pairs = calibration(entries, target)
        if len(pairs) > 1:
            bound, in_turn = (f"{_spread(ratios(pairs, key))}, median error {_percent(median_error(pairs, key))}"
                              for key in KEYS)
            parts += [sentence, calibration_table(pairs), f"Measured over predicted: {bound}. In turn: {in_turn}."]
    if not parts:
        return []
    holds, fails, untested = held_on_the_h200(entries)
    return ["## What it is held against", *parts,
            "No number in the model was fitted to any of these. That SIMDs and LDS take turns was thought of in sight "
            "of the MI100's figures; the H200's times refute it for that GPU, and confirm the bound. So of AMD's GPUs "
            "the bound is what a kernel's code allows, and the MI100 says that older code, by another compiler, had "
            "0.6 of it. Of what memory keeps of its peak the model knows nothing.",
            "The tables of AMD's GPUs have in the last column how near the same kernel came to its bound on the H200. "
            f"Of their {holds + fails + untested} predictions {holds} are of rows that are within {100 * HOLDS:.0f} % "
            f"there, {fails} of rows that are not, mostly for conflicts in LDS's banks, which the model "
            f"counts in AMD's code alone, and for scratch; {untested} are of rows that the H200 has not, or "
            "that nothing could be said of."]


def index_section(entries: Sequence[Entry]) -> list[str]:
    if not entries:
        return []
    targets = ", ".join(dict.fromkeys(key_of(entry)[0] for entry in entries))
    return ["## Predicted shares of peak",
            f"[{len(entries)} kernels of chapter 8 and their kin]({PAGE}), for {targets}: which share of its peak "
            "each can reach by what its code asks of each unit. Predicted, not measured."]


def page(entries: Sequence[Entry], made_by_line: str) -> str:
    parts = [
        "# Predicted shares of peak",
        "[What the compiled AMD code says](README.md). **None of this was measured**: nothing ran on an AMD GPU. What "
        "a kernel's compiled code asks of each unit, over what the vendor says that the unit gives, predicts a bound "
        "on its share of the peak (scripts/hipscope/compiled_code/prediction.py, with the sources in gpus.py), to be "
        "held against a measurement when there is one: `scripts/report.py` puts the prediction beside the results of "
        "such a card.",
        "A step is one iteration of the main loop for a block. The times are a core's cycles for it: what the "
        "instructions take on the SIMDs and on the matrix unit, the bytes through LDS, L1, L2 and memory, and "
        "**alone**, what a block takes by itself with its latencies and barriers, over the blocks that fit. The "
        "greatest decides; **in turn**, vector, matrix and LDS are added first. The share also counts the last, "
        "partly empty round of blocks. llvm-mca is its estimate for one wave, where the step is one loop.",
        *_calibration_part(entries),
    ]
    for gpu in GPUS:
        folders = {key_of(entry)[0] for entry in entries if entry["target"] == gpu.target}
        for folder in sorted(folders, key=target_order):
            found = [entry for entry in entries if key_of(entry)[0] == folder]
            code = [[entry["experiment"], markdown.text(entry["row"]), *_code_cells(entry)] for entry in found]
            parts += [f"## {folder}: {gpu.name}", f"Compiler: {markdown.text(found[0]['compiler'])}.",
                      "The code, a step of one wave:", markdown.table(CODE_HEADER, code),
                      "Cycles of a core for a block's step, and what follows:",
                      _time_table(found, on_the_h200(entries))]
    return "\n\n".join([*parts, made_by_line]) + "\n"
