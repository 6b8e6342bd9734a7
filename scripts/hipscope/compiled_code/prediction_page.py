"""The predictions as pages show them, with what was published of the same kernels beside them."""

from __future__ import annotations

import csv
import itertools
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from hipscope.results import formats, load, markdown

from .experiments import REPOSITORY, target_order
from .gpus import GPUS
from .kept_predictions import Entry, key_of, share_of_large
from .prediction import UNITS
from .prediction_cases import CASES, PRODUCT_SIZE, Product, case_of

PAGE = "predictions.md"
MEASURED_FOLDER = REPOSITORY / "results" / "nvidia-h200"
PUBLISHED_PATH = REPOSITORY / "results" / "published" / "published.csv"
# Where a part of the predictions stands in the documents, and what the words of its tables are in Chinese.
DOCUMENTS = ("docs/compiled-amd-code.md", "docs/zh-CN/compiled-amd-code.md")
BEGIN, END = "<!-- isa_report.py: predictions -->", "<!-- isa_report.py: end of predictions -->"
CHINESE = {
    "predicted as": "预测方式", "bound": "上界", "in turn": "轮流", "kernels": "内核数", "measured by": "测量者",
    "measured / predicted, median": "实测值除以预测值，中位数", "error, median": "误差中位数",
    "half of them": "其中一半", "all": "全部",
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


# Experiment, row and peak.
Stage = tuple[str, str, str]
_INSTRUCTION = re.compile(r"(?:mma\.sync|MFMA|WMMA)(?: of gfx\d+)?, ")
# A prediction holds whose kernel came so near to its bound on the H200.
HOLDS = 0.15


def holds(ratio: float) -> bool:
    """Whether the bound was near what was measured."""
    return abs(1 / ratio - 1) <= HOLDS


def stage_of(entry: Entry) -> Stage:
    """What GPUs have in common, each with its own matrix instruction."""
    return entry["experiment"], _INSTRUCTION.sub("", entry["row"], count=1), entry["peak"]


def on_the_h200(entries: Sequence[Entry]) -> dict[Stage, float]:
    """By stage what was measured on the H200 over what was predicted as its bound."""
    return {stage_of(entry): share / entry["predicted_share"] for entry, share in calibration(entries, "sm_90")}


def survivors(entries: Sequence[Entry]) -> list[Entry]:
    """The H200's, and of AMD's GPUs those whose stage holds there, or is not tested."""
    tested = on_the_h200(entries)
    return [entry for entry in entries if entry["target"] == "sm_90" or holds(tested.get(stage_of(entry), 1.0))]


def by_unit(pairs: Sequence[tuple[Entry, float]]) -> dict[str, list[tuple[Entry, float]]]:
    """The same by the peak that they are shares of."""
    peaks = dict.fromkeys(entry["peak"] for entry, _ in pairs)
    return {peak: [pair for pair in pairs if pair[0]["peak"] == peak] for peak in peaks}


def by_kind(pairs: Sequence[tuple[Entry, float]]) -> dict[str, list[tuple[Entry, float]]]:
    """Those of FP16 by matrix instructions, by how: products of one warp, and of four, whose tiles a copy engine
    brings."""
    found: dict[str, list[tuple[Entry, float]]] = {}
    for entry, share in pairs:
        case = case_of(entry)
        if entry["peak"] == "matrix FP16" and isinstance(case, Product):
            kind = "wgmma" if case.by_copy_engine else "mma.sync"
            found.setdefault(f"matrix FP16 by {kind}", []).append((entry, share))
    return found


def median_error(pairs: Sequence[tuple[Entry, float]], key: str) -> float:
    """Of predictions, as parts of what was measured."""
    return statistics.median(abs(entry[key] / share - 1) for entry, share in pairs)


# What is predicted: a bound, and a share with SIMDs and LDS in turn.
KEYS = ("predicted_share", "share_in_turn")


def ratios(pairs: Sequence[tuple[Entry, float]], key: str) -> list[float]:
    """Measured over predicted."""
    return [share / entry[key] for entry, share in pairs]


# --- The documents ------------------------------------------------------------------------------------

ON_THE_H200 = "H200, measured / predicted"
UNTESTED = "untested"
# The H200 has not this stage, but others by the same unit, whose median error is small enough.
BY_UNIT = "by unit"
# At a share whose kernel's conflicts in LDS's banks nobody has counted.
NO_CONFLICTS_SIGN = "†"
NO_CONFLICTS_SENTENCE = (f"{NO_CONFLICTS_SIGN}: without conflicts in LDS's banks, which nobody has counted there; the "
                         "share may be less.")


def of_h200_cell(tested: Mapping[Stage, float], entry: Entry) -> str:
    """How near the stage came to its bound on the H200, if it has it; else what its unit's stages say there."""
    ratio = tested.get(stage_of(entry))
    if ratio is not None:
        return f"{ratio:.2f}"
    of_unit = [abs(1 / ratio - 1) for stage, ratio in tested.items() if stage[2] == entry["peak"]]
    return BY_UNIT if of_unit and statistics.median(of_unit) <= HOLDS else UNTESTED


def sign_of(entry: Entry) -> str:
    """What stands at a share that knows no conflicts."""
    return f" {NO_CONFLICTS_SIGN}" if entry["demand"]["lds_bytes"] and entry["lds_conflicts"] is None else ""


def share_cell(entry: Entry) -> str:
    """The bound for products of both sizes; of the larger one where it differs and is known."""
    small, large = (None if share is None else _percent(share)[:-2]
                    for share in (entry["predicted_share"], share_of_large(entry)))
    return f"{small}{'' if large in (None, small) else f' / {large}'} %{sign_of(entry)}"


def document_tables(entries: Sequence[Entry]) -> str:
    """How far measured figures are from the model's; the bound on the H200 by unit, too."""
    held = []
    for target, source in SOURCES.items():
        pairs = calibration(entries, target)
        of_units = [(f"{source}, {unit}", some) for unit, some in (by_unit(pairs) | by_kind(pairs)).items()
                    if target == "sm_90"]
        for name, some, keys in [(source, pairs, KEYS), *((name, some, KEYS[:1]) for name, some in of_units)]:
            for key, kind in zip(keys, ("bound", "in turn")) if len(some) > 1 else ():
                values = ratios(some, key)
                lower, middle, upper = statistics.quantiles(values, n=4, method="inclusive")
                held.append([name, kind, str(len(some)), f"{middle:.2f}", f"{lower:.2f} ... {upper:.2f}",
                             f"{min(values):.2f} ... {max(values):.2f}", _percent(median_error(some, key))])
    return markdown.table(["measured by", "predicted as", "kernels", "measured / predicted, median",
                           "half of them", "all", "error, median"], held) if held else ""


def in_chinese(tables: str) -> str:
    for english, chinese in CHINESE.items():
        tables = re.sub(rf"(?<=\| ){re.escape(english)}(?= \|)", chinese, tables)
    return tables


def documents(entries: Sequence[Entry]) -> dict[str, str]:
    """The documents that are there, by their path in the repository, with these tables between their comments."""
    texts = {}
    for name in DOCUMENTS if entries else ():
        path = REPOSITORY / name
        if path.exists():
            tables = document_tables(entries)
            wanted = in_chinese(tables) if "zh-CN" in name else tables
            section = f"{BEGIN}\n\n{wanted}\n\n{END}"
            before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
            texts[name] = f"{before}{section}{rest.partition(END)[2]}"
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


def _time_table(entries: Sequence[Entry], tested: Mapping[Stage, float]) -> str:
    rows = [[markdown.text(entry["row"]), *(f"{entry['times'][unit]:.0f}" for unit in UNITS), entry["bound"],
             entry["peak"], *(_percent(entry[key]) + sign_of(entry) for key in KEYS),
             f"{formats.significant(entry['predicted'])} {entry['unit']}",
             of_h200_cell(tested, entry)] for entry in entries]
    return markdown.table(["row", *UNITS, "decided by", "of the peak of", "predicted share", "predicted, in turn",
                           "predicted rate", ON_THE_H200], rows)


def calibration_table(pairs: Sequence[tuple[Entry, float]]) -> str:
    rows = [[entry["experiment"], markdown.text(entry["row"]), entry["bound"], _percent(share),
             *(part for key in KEYS for part in (_percent(entry[key]), f"{share / entry[key]:.2f}"))]
            for entry, share in pairs]
    return markdown.table(["experiment", "kernel", "decided by", "measured", "predicted", "measured / predicted",
                           "predicted, in turn", "measured / predicted, in turn"], rows)


def _spread(values: Sequence[float]) -> str:
    lower, middle, upper = statistics.quantiles(values, n=4, method="inclusive")
    return (f"median {middle:.2f}, half of them from {lower:.2f} to {upper:.2f}, all from {min(values):.2f} to "
            f"{max(values):.2f}")


def _left_out(entries: Sequence[Entry]) -> str:
    """How many predictions survive the test, and the stages of those that do not."""
    tested = on_the_h200(entries)
    of_amd = [entry for entry in entries if entry["target"] != "sm_90"]
    left = [entry for entry in survivors(entries) if entry["target"] != "sm_90"]
    told = Counter(of_h200_cell(tested, entry) for entry in left)
    of_a_unit, untested = told[BY_UNIT], told[UNTESTED]
    failed = dict.fromkeys(stage for stage in map(stage_of, of_amd) if not holds(tested.get(stage, 1.0)))
    names: dict[str, list[str]] = {}
    for experiment, row, _ in failed:
        names.setdefault(experiment, []).append(markdown.text(row))
    names_of = "; ".join(f"`{experiment}`: {', '.join(rows)}" for experiment, rows in names.items())
    return (
        f"Of {len(of_amd)} predictions for AMD's GPUs {len(left) - untested - of_a_unit} are of stages that are within "
        f"{100 * HOLDS:.0f} % of their bound on the H200, which the last column of their tables has. "
        f"{len(of_amd) - len(left)} are of {len(failed)} stages that are not, mostly for conflicts in LDS's banks and "
        f"for scratch; they are left out here ({names_of}). {of_a_unit} hold {BY_UNIT}: the H200 lacks the stage, but "
        f"the median error of those that it has by the same unit is no more than {100 * HOLDS:.0f} %. The other "
        f"{untested} are {UNTESTED}: of units that the H200 has not, too, or whose stages fail.")


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
    of_h200 = calibration(entries, "sm_90")
    return ["## What it is held against", *parts,
            "No number in the model was fitted to any of these. That SIMDs and LDS take turns was thought of in sight "
            "of the MI100's figures; the H200's times refute it for that GPU, and confirm the bound. So of AMD's GPUs "
            "the bound is what a kernel's code allows, and the MI100 says that older code, by another compiler, had "
            "0.6 of it. Of what memory keeps of its peak the model knows nothing.",
            "By unit the median errors on the H200 are: " + ", ".join(
                f"{unit} {_percent(median_error(some, KEYS[0]))} of {len(some)}"
                for unit, some in (by_unit(of_h200) | by_kind(of_h200)).items())
            + ". **FP16 by matrix instructions has not survived**: by wgmma, blocks that take tile after tile are "
            "within 10 % of their bounds, but those that begin anew for each tile are not, and by mma.sync none is. "
            "AMD's kernels are like the latter: waves load operands from LDS, a block has one tile. So their shares "
            "of matrix FP16, and of FP8, are untested.",
            _left_out(entries)]


def index_section(entries: Sequence[Entry]) -> list[str]:
    if not entries:
        return []
    targets = ", ".join(dict.fromkeys(key_of(entry)[0] for entry in entries))
    return ["## Predicted shares of peak",
            f"[{len(survivors(entries))} kernels of chapter 8 and their kin]({PAGE}), for {targets}: which share of "
            "its peak each can reach by what its code asks of each unit. Predicted, not measured."]


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
        "partly empty round of blocks. llvm-mca is its estimate for one wave, where the step is one loop. "
        + NO_CONFLICTS_SENTENCE,
        *_calibration_part(entries),
    ]
    shown, tested = survivors(entries), on_the_h200(entries)
    for gpu in GPUS:
        folders = {key_of(entry)[0] for entry in shown if entry["target"] == gpu.target}
        for folder in sorted(folders, key=target_order):
            found = [entry for entry in shown if key_of(entry)[0] == folder]
            code = [[entry["experiment"], markdown.text(entry["row"]), *_code_cells(entry)] for entry in found]
            parts += [f"## {folder}: {gpu.name}", f"Compiler: {markdown.text(found[0]['compiler'])}.",
                      "The code, a step of one wave:", markdown.table(CODE_HEADER, code),
                      "Cycles of a core for a block's step, and what follows:",
                      _time_table(found, tested)]
    return "\n\n".join([*parts, made_by_line]) + "\n"
