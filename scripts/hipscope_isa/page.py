"""The pages on compiled code: one per target and compiler, and an index of all.

A 'target' here is the folder of what one compiler made for one target, such as gfx90a-clang15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hipscope_report import formats, markdown

from . import compilers, plots
from .folders import target_order

MADE_BY = "Made by scripts/isa_report.py; do not edit."
SHARES_PAGE = "fma-shares.md"
LONGEST_OPEN_TABLE = 40
NOT_THERE = formats.NOT_THERE

# A result file's content, and all of them by folder and experiment.
Result = dict[str, Any]
Results = dict[tuple[str, str], Result]

HOW_TO_READ = (
    "**waves**: how many waves the registers and the LDS leave room for on a SIMD, by the compiler; "
    "**block**: the largest that the kernel is compiled for (its launch bound, or 1024); **scratch** is per "
    "thread. A column that would be all 0 is left out.",
    "The **hot loop** is the innermost one with the most matrix instructions, else FMAs, else instructions; "
    "all loops of all kernels, with their mixes of instructions, are in the JSON files beside this page. "
    "A loop's instructions are counted as they stand in the code, once each. **FMA** are floating-point "
    "multiply-adds, **matrix** v_mfma, v_wmma and v_dot; **FMA share** is FMAs over all instructions, a "
    "packed FMA counted as two on both sides.",
    "**bytes** are the instructions' encodings, **at** is the loop's offset from the kernel's begin, which "
    "is aligned to 256 bytes.",
    "**llvm-mca**: cycles per iteration of one wave alone, by LLVM's scheduling model, which knows no "
    "caches, no other waves and no instruction fetch: issue slots of four clocks on gfx8 and gfx9, clocks "
    "from gfx10 on. It stands for the loop's instructions in a row, without its labels.",
)


def hot_loop(kernel: dict[str, Any]) -> dict[str, Any] | None:
    """The kernel's hot loop, when it has a loop."""
    return next((loop for loop in kernel["loops"] if loop["hot"]), None)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _folded(table: str, rows: int) -> str:
    if rows <= LONGEST_OPEN_TABLE:
        return table
    return f"<details><summary>The {rows} rows</summary>\n\n{table}\n\n</details>"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], may_be_left_out: Sequence[str] = ()) -> str:
    """A table without those of the columns named that are all 0."""
    kept = [place for place, name in enumerate(header)
            if name not in may_be_left_out or any(row[place] != "0" for row in rows)]
    cells = [[row[place] for place in kept] for row in rows]
    return _folded(markdown.table([header[place] for place in kept], cells), len(rows))


# A column's name, and what it shows of a kernel.
KERNEL_COLUMNS = (
    ("VGPRs", "vgprs"), ("AGPRs", "agprs"), ("SGPRs", "sgprs"), ("VGPR spills", "vgpr_spills"),
    ("SGPR spills", "sgpr_spills"), ("scratch bytes", "scratch_bytes"), ("LDS bytes", "lds_bytes"),
    ("block", "threads_per_block"), ("waves", "waves_per_simd"), ("code bytes", "code_bytes"),
    ("instructions", "instructions"), ("FMAs", "fmas"),
)
# Of the hot loop: a column's name, and a kind of instruction.
LOOP_COLUMNS = (("FMA", "fma"), ("matrix", "matrix"), ("LDS", "lds"), ("vector memory", "vector_memory"))
RARE = ("AGPRs", "VGPR spills", "SGPR spills", "LDS bytes", "FMAs", "loops", "matrix", "LDS", "vector memory")


def _mca_cell(loop: dict[str, Any]) -> str:
    if loop["mca"] is None:
        return "not available" if loop["innermost"] else NOT_THERE
    stripped = len(loop["mca"]["stripped"])
    return f"{loop['mca']['cycles']:.1f}" + (f" (without {stripped})" if stripped else "")


def _loop_cells(kernel: dict[str, Any]) -> list[str]:
    """What the table says of a kernel's hot loop."""
    loop = hot_loop(kernel)
    if loop is None:
        return [NOT_THERE, *("0" for _ in LOOP_COLUMNS), *(NOT_THERE for _ in range(4))]
    return [str(loop["instructions"]), *(str(loop["mix"].get(key, 0)) for _, key in LOOP_COLUMNS),
            _percent(loop["fma_share"]) if loop["fmas"] else NOT_THERE,
            str(loop["bytes"]), str(loop["offset"]), _mca_cell(loop)]


def _kernel_table(kernels: list[dict[str, Any]]) -> str:
    header = ["kernel", *(name for name, _ in KERNEL_COLUMNS), "loops"]
    rows = [[markdown.text(kernel["name"]), *(str(kernel[key]) for _, key in KERNEL_COLUMNS),
             str(len(kernel["loops"]))] for kernel in kernels]
    if any(kernel["loops"] for kernel in kernels):
        header += ["hot loop: instructions", *(name for name, _ in LOOP_COLUMNS), "FMA share", "bytes", "at",
                   "llvm-mca"]
        rows = [[*row, *_loop_cells(kernel)] for row, kernel in zip(rows, kernels)]
    return _table(header, rows, RARE)


def _remarks(kernels: list[dict[str, Any]]) -> list[str]:
    """What the tables cannot show."""
    remarks = []
    for kernel in kernels:
        if kernel["calls"]:
            remarks.append(f"{kernel['name']} calls functions ({kernel['calls']} calls), whose code is not "
                           "counted.")
        if kernel["unknown_jumps"]:
            remarks.append(f"{kernel['name']} has {kernel['unknown_jumps']} jumps that the search for loops "
                           "could not follow.")
        for loop in kernel["loops"]:
            if loop["mca"] and loop["mca"]["stripped"]:
                stripped = ", ".join(dict.fromkeys(loop["mca"]["stripped"]))
                remarks.append(f"{kernel['name']}, {loop['label']}: llvm-mca refused {stripped}.")
    return [markdown.bullets(remarks)] if remarks else []


def _distinct(results: list[Result], key: str) -> str:
    return markdown.text("; ".join(dict.fromkeys(result[key] for result in results)))


def _experiment_section(result: Result) -> list[str]:
    """What the page of a target says of one experiment."""
    return [f"## {result['experiment']}", f"[{result['source']}](../../../{result['source']})",
            _kernel_table(result["kernels"]), *_remarks(result["kernels"])]


def _no_model(results: list[Result]) -> list[str]:
    """A sentence where llvm-mca says nothing of any loop."""
    loops = [loop for result in results for kernel in result["kernels"] for loop in kernel["loops"]
             if loop["innermost"]]
    if not loops or any(loop["mca"] for loop in loops):
        return []
    return ["llvm-mca says nothing here: it is not there, or it has no scheduling model of this target."]


# Of several kernels together, as _total_cells has them.
TOTAL_COLUMNS = ("kernels", "loops", "most VGPRs", "kernels with scratch", "highest FMA share")


def _total_cells(kernels: list[dict[str, Any]]) -> list[str]:
    """What a row says of several kernels together."""
    hot = [loop for kernel in kernels if (loop := hot_loop(kernel)) and loop["fmas"]]
    return [str(len(kernels)), str(sum(len(kernel["loops"]) for kernel in kernels)),
            str(max((kernel["vgprs"] for kernel in kernels), default=0)),
            str(sum(kernel["scratch_bytes"] > 0 for kernel in kernels)),
            _percent(max(loop["fma_share"] for loop in hot)) if hot else NOT_THERE]


def target_page(folder: str, results: list[Result]) -> str:
    """All that one compiler made for one target."""
    rows = []
    for result in results:
        rows.append([f"[{result['experiment']}](#{result['experiment']})", *_total_cells(result["kernels"])])
    parts = [
        f"# {folder}: what the compiler made of the experiments",
        f"Target: {_distinct(results, 'target')}. Compiler: {_distinct(results, 'compiler')}. "
        f"Flags: {_distinct(results, 'flags')}. Nothing was run.",
        markdown.table(["experiment", *TOTAL_COLUMNS], rows),
        *_no_model(results),
        "## How to read the tables",
        "\n".join(f"- {line}" for line in HOW_TO_READ),
        *(part for result in results for part in _experiment_section(result)),
        MADE_BY,
    ]
    return "\n\n".join(parts) + "\n"


def _targets(results: Results) -> list[str]:
    return sorted({target for target, _ in results}, key=target_order)


def _of_target(results: Results, target: str) -> list[Result]:
    """In the order of the chapters."""
    found = [result for (name, _), result in results.items() if name == target]
    return sorted(found, key=lambda result: (result["source"].partition("/")[2].partition("/")[0],
                                             result["experiment"]))


def _target_table(results: Results) -> str:
    rows = []
    for target in _targets(results):
        found = _of_target(results, target)
        kernels = [kernel for result in found for kernel in result["kernels"]]
        rows.append([f"[{target}]({target}/README.md)", str(len(found)), *_total_cells(kernels),
                     _distinct(found, "compiler")])
    return markdown.table(["target", "experiments", *TOTAL_COLUMNS, "compiler"], rows)


def fma_shares(results: Results, experiment: str) -> dict[str, dict[str, float]]:
    """Per kernel and target the hot loop's FMA share, for kernels that have one with FMAs."""
    shares: dict[str, dict[str, float]] = {}
    for target in _targets(results):
        result = results.get((target, experiment))
        for kernel in result["kernels"] if result else []:
            loop = hot_loop(kernel)
            if loop and loop["fmas"]:
                shares.setdefault(kernel["name"], {})[target] = loop["fma_share"]
    return shares


def _share_section(results: Results, experiment: str, files: dict[str, bytes]) -> list[str]:
    shares = fma_shares(results, experiment)
    if not shares:
        return []
    targets = _targets(results)
    rows = [
        [markdown.text(kernel), *(_percent(of[target]) if target in of else NOT_THERE for target in targets)]
        for kernel, of in shares.items()
    ]
    name = f"plots/{experiment}-fma-share.svg"
    files[name] = plots.plot_shares(experiment, shares, targets)
    return [f"## {experiment}", f"![FMA share of the hot loops]({name})",
            _table(["FMA share of the hot loop", *targets], rows)]


def register_points(results: Results) -> dict[str, list[tuple[int, int]]]:
    """Per target each pair of registers and waves that some kernel has.

    From gfx90a on CDNA has one file for VGPRs and AGPRs; before, each has its own.
    """
    points: dict[str, set[tuple[int, int]]] = {}
    for (target, _), result in results.items():
        one_file = target.startswith(("gfx90a", "gfx94", "gfx95"))
        for kernel in result["kernels"]:
            both = (kernel["vgprs"], kernel["agprs"])
            registers = sum(both) if one_file else max(both)
            points.setdefault(target, set()).add((registers, kernel["waves_per_simd"]))
    return {target: sorted(points[target]) for target in sorted(points, key=target_order)}


def _scratch_section(results: Results) -> list[str]:
    rows = []
    for target in _targets(results):
        for result in _of_target(results, target):
            rows.extend(
                [result["experiment"], markdown.text(kernel["name"]), target, str(kernel["scratch_bytes"]),
                 str(kernel["vgpr_spills"]), str(kernel["threads_per_block"])]
                for kernel in result["kernels"] if kernel["scratch_bytes"]
            )
    if not rows:
        return ["No kernel uses scratch on any target."]
    rows.sort(key=lambda row: (row[0], row[1], target_order(row[2])))
    return [_folded(markdown.text_table(
        ["experiment", "kernel", "target", "bytes per thread", "VGPR spills", "block"], rows), len(rows))]


def _index_page(results: Results, sections: Sequence[str], files: dict[str, bytes]) -> str:
    experiments = list(dict.fromkeys(
        result["experiment"] for target in _targets(results) for result in _of_target(results, target)
    ))
    shares = [part for name in experiments for part in _share_section(results, name, files)]
    both = compilers.pairs(results)
    if both:
        files[compilers.PAGE] = compilers.page(results, MADE_BY).encode("utf-8")
    files["plots/vgprs-waves.svg"] = plots.plot_registers(register_points(results))
    if shares:
        files[SHARES_PAGE] = "\n\n".join([
            "# FMA share of the hot loops", "[What the compiled AMD code says](README.md)", *shares, MADE_BY, "",
        ]).encode("utf-8")
    parts = [
        "# What the compiled AMD code says",
        "AMD machine code needs no AMD GPU to be read. Every experiment compiled for each target, and what "
        "its kernels and loops consist of; a target's own page says how to read them and leads to all kernels "
        "and all loops. Nothing here was run.",
        _target_table(results),
        *(["## FMA share of the hot loops",
           f"[All kernels, by target]({SHARES_PAGE}): of what a loop executes, how much is what it is for."]
          if shares else []),
        *(["## The same kernels by two compilers",
           f"[{', '.join(pair.target for pair in both)}]({compilers.PAGE}): registers, scratch, waves and FMA shares "
           "side by side."] if both else []),
        "## Registers and waves",
        "Each point is a kernel: more registers per thread leave room for fewer waves on a SIMD. A point under "
        "its target's stairs is held back by LDS or SGPRs.",
        "![waves per SIMD over VGPRs](plots/vgprs-waves.svg)",
        "## Kernels that use scratch",
        *_scratch_section(results),
        *sections,
        MADE_BY,
    ]
    return "\n\n".join(parts) + "\n"


def make_pages(results: Results, sections: Sequence[str] = ()) -> dict[str, bytes]:
    """All pages and plots by their path; `sections` are further parts of the index, in Markdown."""
    files: dict[str, bytes] = {}
    for target in _targets(results):
        found = _of_target(results, target)
        files[f"{target}/README.md"] = target_page(target, found).encode("utf-8")
    files["README.md"] = _index_page(results, sections, files).encode("utf-8")
    return files
