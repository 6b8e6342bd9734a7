"""What two compilers make of the same kernels for the same target."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hipscope_report import formats, markdown

from .experiments import REPOSITORY
from .folders import target_order

PAGE = "compilers.md"
# A kernel has changed when its registers have by more than this part and by a portion in which they are given to
# waves, or its hot loop's FMA share by more than so many hundredths.
REGISTERS_CHANGED = 0.1
REGISTERS_PORTION = 8
SHARE_CHANGED = 0.05
LONGEST_OPEN_TABLE = 40
# Where the summary stands besides, between two comments, and its headings there.
DOCUMENTS = ("docs/compiled-amd-code.md", "docs/zh-CN/compiled-amd-code.md")
BEGIN, END = "<!-- isa_report.py: compilers -->", "<!-- isa_report.py: end -->"
CHINESE = {
    "experiment": "实验", "kernels": "内核", "fewer registers": "寄存器变少", "more registers": "寄存器变多",
    "fewer waves": "波前变少", "more waves": "波前变多", "with scratch": "有 scratch", "lower FMA share": "FMA 占比变低",
    "higher FMA share": "FMA 占比变高", "together": "合计",
}

Kernel = Mapping[str, Any]
Results = Mapping[tuple[str, str], Mapping[str, Any]]


@dataclass(frozen=True)
class Pair:
    """A target and the folders of the oldest and the newest compiler that it was compiled by."""

    target: str
    old: str
    new: str


def pairs(results: Results) -> list[Pair]:
    """The targets of which there are results by several compilers."""
    folders: dict[str, list[str]] = {}
    for folder in sorted({folder for folder, _ in results}, key=target_order):
        folders.setdefault(folder.partition("-")[0], []).append(folder)
    return [Pair(target, found[0], found[-1]) for target, found in folders.items() if len(found) > 1]


def same_kernels(results: Results, pair: Pair, experiment: str) -> list[tuple[Kernel, Kernel]]:
    """The kernels of an experiment that both compilers have made."""
    old, new = (results.get((folder, experiment)) for folder in (pair.old, pair.new))
    if old is None or new is None:
        return []
    of_new = {kernel["symbol"]: kernel for kernel in new["kernels"]}
    return [(kernel, of_new[kernel["symbol"]]) for kernel in old["kernels"] if kernel["symbol"] in of_new]


def registers(kernel: Kernel) -> int:
    """VGPRs and AGPRs, which share a file on the GPUs that are compared (gfx90a and later)."""
    return kernel["vgprs"] + kernel["agprs"]


def share(kernel: Kernel) -> float | None:
    """The FMA share of the hot loop, where it has FMAs."""
    loop = next((loop for loop in kernel["loops"] if loop["hot"]), None)
    return loop["fma_share"] if loop and loop["fmas"] else None


def _experiments(results: Results, pair: Pair) -> list[str]:
    """Those of both compilers, in the order of the chapters."""
    found = [(result["source"].partition("/")[2].partition("/")[0], name)
             for (folder, name), result in results.items() if folder == pair.old and (pair.new, name) in results]
    return [name for _, name in sorted(found)]


def count(kernels: Sequence[tuple[Kernel, Kernel]]) -> list[int]:
    """The kernels, and how many of them have changed in which way: the columns of the summary."""
    def fewer(value: Any, part: float, portion: int) -> list[int]:
        both = [(value(old), value(new)) for old, new in kernels]
        changed = [(old, new) for old, new in both if abs(new - old) > part * old and abs(new - old) >= portion]
        return [sum(new < old for old, new in changed), sum(new > old for old, new in changed)]

    shares = [(share(old), share(new)) for old, new in kernels]
    known = [(old, new) for old, new in shares if old is not None and new is not None]
    return [
        len(kernels), *fewer(registers, REGISTERS_CHANGED, REGISTERS_PORTION),
        *fewer(lambda kernel: kernel["waves_per_simd"], 0, 1),
        sum(old["scratch_bytes"] > 0 for old, _ in kernels), sum(new["scratch_bytes"] > 0 for _, new in kernels),
        sum(new < old - SHARE_CHANGED for old, new in known), sum(new > old + SHARE_CHANGED for old, new in known),
    ]


def summary(results: Results, pair: Pair) -> str:
    """A row per experiment."""
    counts = {name: count(same_kernels(results, pair, name)) for name in _experiments(results, pair)}
    counts["together"] = [sum(column) for column in zip(*counts.values())]
    old, new = (folder.partition("-")[2] for folder in (pair.old, pair.new))
    header = ["experiment", "kernels", "fewer registers", "more registers", "fewer waves", "more waves",
              f"with scratch, {old}", f"with scratch, {new}", "lower FMA share", "higher FMA share"]
    return markdown.table(header, [[name, *map(str, row)] for name, row in counts.items()])


def _share_cell(kernel: Kernel) -> str:
    value = share(kernel)
    return formats.NOT_THERE if value is None else f"{100 * value:.1f} %"


# A column of the table of kernels: its name, and what it says of a kernel.
COLUMNS = (
    ("VGPRs", lambda kernel: str(kernel["vgprs"])), ("AGPRs", lambda kernel: str(kernel["agprs"])),
    ("SGPRs", lambda kernel: str(kernel["sgprs"])), ("scratch", lambda kernel: str(kernel["scratch_bytes"])),
    ("waves", lambda kernel: str(kernel["waves_per_simd"])),
    ("instructions", lambda kernel: str(kernel["instructions"])), ("FMA share", _share_cell),
)


def _cell(old: str, new: str) -> str:
    return old if old == new else f"{old} → {new}"


def kernel_table(kernels: Sequence[tuple[Kernel, Kernel]]) -> str:
    """A row per kernel; what has changed has an arrow."""
    rows = [[markdown.text(old["name"]), *(_cell(of(old), of(new)) for _, of in COLUMNS)] for old, new in kernels]
    kept = [0, *(place for place in range(1, len(COLUMNS) + 1) if any(row[place] != "0" for row in rows))]
    header = ["kernel", *(name for name, _ in COLUMNS)]
    table = markdown.table([header[place] for place in kept], [[row[place] for place in kept] for row in rows])
    if len(rows) <= LONGEST_OPEN_TABLE:
        return table
    return f"<details><summary>The {len(rows)} rows</summary>\n\n{table}\n\n</details>"


def _compilers(results: Results, folder: str) -> str:
    return markdown.text("; ".join(sorted({result["compiler"] for (name, _), result in results.items()
                                           if name == folder})))


def page(results: Results, made_by: str) -> str:
    """All kernels by both compilers; nothing where no target was compiled by two."""
    parts = ["# The same kernels by two compilers", "[What the compiled AMD code says](README.md)"]
    found = pairs(results)
    for pair in found:
        parts += [
            f"## {pair.target}",
            f"{pair.old}: {_compilers(results, pair.old)}. {pair.new}: {_compilers(results, pair.new)}. "
            f"Registers (VGPRs and AGPRs) count as changed by more than {100 * REGISTERS_CHANGED:.0f} % and at least "
            f"{REGISTERS_PORTION}, the hot loop's FMA share by more than {100 * SHARE_CHANGED:.0f} hundredths, waves "
            "by one.",
            summary(results, pair), "What has changed has an arrow, from the older compiler to the newer one.",
        ]
        for name in _experiments(results, pair):
            parts += [f"### {name}", kernel_table(same_kernels(results, pair, name))]
    return "\n\n".join([*parts, made_by]) + "\n" if found else ""


def in_chinese(table: str) -> str:
    """The summary with Chinese headings."""
    for english, chinese in CHINESE.items():
        table = re.sub(rf"(?<=\| ){english}(?=[ ,|])", chinese, table)
    return table


def filled(document: str, table: str) -> str:
    """The document with the table between its two comments; as it was where it has none."""
    return re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: f"{BEGIN}\n\n{table}\n\n{END}", document,
                  flags=re.DOTALL)


def documents(results: Results) -> dict[str, str]:
    """The documents that are there, by their path in the repository, with the summary of the first pair."""
    found = pairs(results)
    if not found:
        return {}
    table = summary(results, found[0])
    texts = {}
    for name in DOCUMENTS:
        path = REPOSITORY / name
        if path.exists():
            wanted = in_chinese(table) if "zh-CN" in name else table
            texts[name] = filled(path.read_text(encoding="utf-8"), wanted)
    return texts
