"""The predictions as pages show them, with what was published of the same kernels beside them."""

from __future__ import annotations

import csv
import itertools
import re
import statistics
from collections.abc import Sequence
from pathlib import Path

from hipscope.results import formats, markdown

from .experiments import REPOSITORY, target_order
from .gpus import GPUS, gpu_of
from .kept_predictions import Entry, key_of
from .prediction import UNITS
from .prediction_cases import CASES, PRODUCT_SIZE, Product, Stream, case_of

PAGE = "predictions.md"
PUBLISHED_PATH = REPOSITORY / "results" / "published" / "published.csv"
# Where a part of the predictions stands in the documents, and what the words of its tables are in Chinese.
DOCUMENTS = ("docs/compiled-amd-code.md", "docs/zh-CN/compiled-amd-code.md")
BEGIN, END = "<!-- isa_report.py: predictions -->", "<!-- isa_report.py: end of predictions -->"
CHINESE = {
    "kernel": "内核", "predicted as": "预测方式", "bound": "上界", "in turn": "轮流", "kernels": "内核数",
    "published by": "公布者", "published / predicted, median": "公布值除以预测值，中位数",
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


def calibration(entries: Sequence[Entry], is_product: bool) -> list[tuple[Entry, float]]:
    """Each prediction of a kernel whose work is the source's, with the share that was published of it."""
    known = published_shares()
    keys = [(entry["target"], entry["experiment"], entry["row"]) for entry in entries]
    return [(entry, known[key]) for entry, key in zip(entries, keys)
            if key in known and isinstance(case_of(entry), Product) == is_product]


# What is predicted: a bound, and a share with SIMDs and LDS in turn.
KEYS = ("predicted_share", "share_in_turn")


def ratios(pairs: Sequence[tuple[Entry, float]], key: str) -> list[float]:
    """Published over predicted."""
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
SHOWN_TARGETS = ("gfx90a", "gfx942", "gfx1100")


def _shown(case: Product | Stream) -> bool:
    if set(case.targets) & {"gfx900"}:
        return False
    return case.experiment != "sgemm" or case.row in SHOWN_OF_SGEMM


def _share_cell(entries: Sequence[Entry]) -> str:
    """As a bound, in turn where that is less, and what decides; of the newest compiler, which is the last."""
    if not entries:
        return "no such instruction"
    bound, in_turn = (_percent(entries[-1][key]) for key in KEYS)
    return f"{bound}, {entries[-1]['bound']}" if bound == in_turn else f"{in_turn} ... {bound}, {entries[-1]['bound']}"


def document_tables(entries: Sequence[Entry]) -> str:
    """The shares of the newest compilers for three targets, and how far published figures are from the model's."""
    rows = []
    for case in filter(_shown, CASES):
        of_case = [entry for entry in entries
                   if (entry["experiment"], entry["sweep"], entry["row"]) == (case.experiment, case.sweep, case.row)]
        of_targets = [[entry for entry in of_case if entry["target"] == target] for target in SHOWN_TARGETS]
        rows.append([f"`{case.experiment}` {markdown.text(case.row)}", *map(_share_cell, of_targets)])
    gpus = [f"{target}, {gpu.name}" for target in SHOWN_TARGETS if (gpu := gpu_of(target))]
    held = []
    for is_product, source in ((True, "fileaccent, MI100"), (False, "fsword73, MI25")):
        pairs = calibration(entries, is_product)
        if len(pairs) > 1:
            for key, kind in zip(KEYS, ("bound", "in turn")):
                values = ratios(pairs, key)
                lower, middle, upper = quartiles(values)
                held.append([source, kind, str(len(pairs)), f"{middle:.2f}", f"{lower:.2f} ... {upper:.2f}",
                             f"{min(values):.2f} ... {max(values):.2f}"])
    parts = [markdown.table(["kernel", *gpus], rows)]
    if held:
        parts.append(markdown.table(["published by", "predicted as", "kernels", "published / predicted, median",
                                     "half of them", "all"], held))
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
        f"{entry['lds_bytes']}", f"{entry['waves_per_simd']:g}", str(demand["waits"]),
        formats.NOT_THERE if entry["mca_cycles"] is None else f"{entry['mca_cycles']:.0f}",
    ]


CODE_HEADER = ["FMA share", "LDS bytes/FMA", "memory bytes/FMA", "VGPRs + AGPRs", "LDS bytes", "waves per SIMD",
               "waits", "llvm-mca"]


def _code_table(entries: Sequence[Entry]) -> str:
    rows = [[entry["experiment"], markdown.text(entry["row"]), *_code_cells(entry)] for entry in entries]
    return markdown.table(["experiment", "row", *CODE_HEADER], rows)


def _time_table(entries: Sequence[Entry]) -> str:
    rows = [[markdown.text(entry["row"]), *(f"{entry['times'][unit]:.0f}" for unit in UNITS), entry["bound"],
             entry["peak"], *(_percent(entry[key]) for key in KEYS),
             f"{formats.significant(entry['predicted'])} {entry['unit']}"] for entry in entries]
    return markdown.table(["row", *UNITS, "decided by", "of the peak of", "predicted share", "predicted, in turn",
                           "predicted rate"], rows)


def calibration_table(pairs: Sequence[tuple[Entry, float]]) -> str:
    """Predicted beside published."""
    rows = [[markdown.text(entry["row"]), entry["bound"], _percent(share),
             *(part for key in KEYS for part in (_percent(entry[key]), f"{share / entry[key]:.2f}"))]
            for entry, share in pairs]
    return markdown.table(["kernel", "decided by", "published", "predicted", "published / predicted",
                           "predicted, in turn", "published / predicted, in turn"], rows)


def _spread(values: Sequence[float]) -> str:
    lower, middle, upper = quartiles(values)
    return (f"median {middle:.2f}, half of them from {lower:.2f} to {upper:.2f}, all from {min(values):.2f} to "
            f"{max(values):.2f}")


def _calibration_part(entries: Sequence[Entry]) -> list[str]:
    """The tables, where there are enough entries for one."""
    parts = []
    for is_product, sentence in (
            (True, "fileaccent published the rates of his kernels on an MI100 (gfx908, products of "
                   f"{PRODUCT_SIZE}, at 1472 MHz). Of those that stand here with the same work, compiled by clang 15, "
                   "as shares of the vector peak:"),
            (False, "fsword73 published rates of kernels that move bytes, on an MI25 (gfx900). As shares of the "
                    "memory's peak:")):
        pairs = calibration(entries, is_product)
        if len(pairs) > 1:
            bound, in_turn = (_spread(ratios(pairs, key)) for key in KEYS)
            parts += [sentence, calibration_table(pairs), f"Published over predicted: {bound}. In turn: {in_turn}."]
    if not parts:
        return []
    return ["## The only thing to hold it against", *parts,
            "What was published stays under the bound everywhere. With SIMDs and LDS in turn the model comes near the "
            "MI100. No number in it was fitted, but that the two are added was chosen in sight of these figures: "
            "whether it holds elsewhere, a measurement will tell. Of what memory keeps of its peak the model knows "
            "nothing, and of matrix instructions nothing was published of a kernel that is here."]


def index_section(entries: Sequence[Entry]) -> list[str]:
    """What the index says of the predictions, where there are any."""
    if not entries:
        return []
    targets = ", ".join(dict.fromkeys(key_of(entry)[0] for entry in entries))
    return ["## Predicted shares of peak",
            f"[{len(entries)} kernels of chapter 8 and their kin]({PAGE}), for {targets}: which share of its peak "
            "each can reach by what its code asks of each unit. Predicted, not measured."]


def page(entries: Sequence[Entry], made_by_line: str) -> str:
    """All predictions, why, and the calibration."""
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
            parts += [f"## {folder}: {gpu.name}", f"Compiler: {markdown.text(found[0]['compiler'])}.",
                      "The code, a step of one wave:", _code_table(found),
                      "Cycles of a core for a block's step, and what follows:", _time_table(found)]
    return "\n\n".join([*parts, made_by_line]) + "\n"
