"""The pages on compiled code: one per target and compiler, and an index of all.

A 'target' here is what one compiler made for one target, such as gfx90a-clang15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib import pyplot, ticker

from hipscope.results import formats, markdown
from hipscope.results.figures import COLOURS, FIGURE_INCHES, MARKERS, STYLE, to_svg

from . import compilers
from .experiments import target_order
from .results import Result, Results

MADE_BY = "Made by scripts/isa_report.py; do not edit."
WAVES_PLOT = "vgprs-waves.svg"

HOW_TO_READ = (
    "**VGPRs** (with AGPRs, where a kernel has any) and **scratch** bytes are the most that a kernel of the experiment "
    "takes per thread; **waves** the fewest that registers and LDS leave room for on a SIMD, by the compiler.",
    "The **hot loop** is a kernel's innermost one with the most matrix instructions, else FMAs, else instructions; its "
    "**FMA share** is FMAs over all instructions as they stand in the code, a packed FMA counted as two on both sides. "
    "The row names the kernel whose share is the highest.",
    "The JSON file beside this page has a row per kernel: registers, spills, scratch, LDS, the largest block that it "
    "is compiled for, waves, code size, and the hot loop's instructions by kind, its bytes, and its cycles per "
    "iteration by llvm-mca, which knows of one wave alone: no caches, no other waves and no instruction fetch.",
)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def registers(kernel: dict[str, Any]) -> str:
    """VGPRs and AGPRs as a table says them."""
    return f"{kernel['vgprs']}" + (f" + {kernel['agprs']}" if kernel["agprs"] else "")


def _experiment_row(result: Result) -> list[str]:
    kernels = result["kernels"]
    with_fmas = [kernel for kernel in kernels if kernel.get("fma_share")]
    best = max(with_fmas, key=lambda kernel: kernel["fma_share"], default=None)
    return [
        f"[{result['experiment']}](../../{result['source']})", str(len(kernels)),
        registers(max(kernels, key=lambda kernel: kernel["vgprs"] + kernel["agprs"])),
        str(sum(kernel["scratch_bytes"] > 0 for kernel in kernels)),
        str(max(kernel["scratch_bytes"] for kernel in kernels)),
        str(min(kernel["waves_per_simd"] for kernel in kernels)),
        *([_percent(best["fma_share"]), markdown.text(best["name"])] if best else [formats.NOT_THERE, ""]),
    ]


def target_page(target: str, results: Sequence[Result]) -> str:
    header = ["experiment", "kernels", "VGPRs", "with scratch", "scratch", "waves", "FMA share", "in the hot loop of"]
    return "\n\n".join([
        f"# {target}: what the compiler made of the experiments",
        f"Target: {results[0]['target']}. Compiler: {markdown.text(results[0]['compiler'])}. Flags: "
        f"{markdown.text(results[0]['flags'])}. Nothing was run. Every kernel: [{target}.json]({target}.json).",
        markdown.table(header, [_experiment_row(result) for result in results]),
        markdown.bullets(HOW_TO_READ), MADE_BY,
    ]) + "\n"


def _targets(results: Results) -> list[str]:
    return sorted({target for target, _ in results}, key=target_order)


def _of_target(results: Results, target: str) -> list[Result]:
    return [result for (of, _), result in results.items() if of == target]


def _target_table(results: Results) -> str:
    rows = []
    for target in _targets(results):
        found = _of_target(results, target)
        kernels = [kernel for result in found for kernel in result["kernels"]]
        rows.append([f"[{target}]({target}.md)", str(len(found)), str(len(kernels)),
                     str(max(kernel["vgprs"] for kernel in kernels)),
                     str(sum(kernel["scratch_bytes"] > 0 for kernel in kernels)), markdown.text(found[0]["compiler"])])
    return markdown.table(["target", "experiments", "kernels", "most VGPRs", "kernels with scratch", "compiler"], rows)


def _scratch_section(results: Results) -> str:
    """Kernels with scratch by experiment and target, and the most bytes that one of them takes."""
    targets = _targets(results)
    cells: dict[str, dict[str, str]] = {}
    for (target, name), result in results.items():
        found = [kernel["scratch_bytes"] for kernel in result["kernels"] if kernel["scratch_bytes"]]
        if found:
            cells.setdefault(name, {})[target] = f"{len(found)}, {max(found)} B"
    if not cells:
        return "No kernel uses scratch on any target."
    rows = [[name, *(of.get(target, formats.NOT_THERE) for target in targets)] for name, of in cells.items()]
    return "Kernels, and the most bytes per thread:\n\n" + markdown.table(["experiment", *targets], rows)


def register_points(results: Results) -> dict[str, list[tuple[int, int]]]:
    """Per target each pair of registers and waves that some kernel has.

    From gfx90a on CDNA has one file for VGPRs and AGPRs; before, each has its own.
    """
    points: dict[str, set[tuple[int, int]]] = {}
    for (target, _), result in results.items():
        one_file = target.startswith(("gfx90a", "gfx94", "gfx95"))
        for kernel in result["kernels"]:
            both = (kernel["vgprs"], kernel["agprs"])
            count = sum(both) if one_file else max(both)
            points.setdefault(target, set()).add((count, kernel["waves_per_simd"]))
    return {target: sorted(points[target]) for target in sorted(points, key=target_order)}


def _index_page(results: Results, sections: Sequence[str]) -> str:
    of_both = [part for pair in compilers.pairs(results)
               for part in (f"### {pair.target}", compilers.explained(pair), compilers.summary(results, pair))]
    parts = [
        "# What the compiled AMD code says",
        "AMD machine code needs no AMD GPU to be read. Every experiment compiled for each target: the page of a target "
        "has a row per experiment, the JSON file beside it one per kernel. Nothing here was run.",
        _target_table(results),
        *(["## The same kernels by two compilers", *of_both] if of_both else []),
        "## Registers and waves",
        "Each point is a kernel: more registers per thread leave room for fewer waves on a SIMD. A point under "
        "its target's stairs is held back by LDS or SGPRs.",
        f"![waves per SIMD over VGPRs]({WAVES_PLOT})",
        "## Kernels that use scratch",
        _scratch_section(results),
        *sections,
        MADE_BY,
    ]
    return "\n\n".join(parts) + "\n"


def make_pages(results: Results, sections: Sequence[str] = ()) -> dict[str, bytes]:
    """All pages and the plot by their names; `sections` are further parts of the index, in Markdown."""
    files = {f"{target}.md": target_page(target, _of_target(results, target)).encode("utf-8")
             for target in _targets(results)}
    files[WAVES_PLOT] = plot_registers(register_points(results))
    files["README.md"] = _index_page(results, sections).encode("utf-8")
    return files


BESIDE = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0, "frameon": False,
          "fontsize": 10}


def _marks(number: int) -> dict[str, object]:
    # Of more than seven, none has both the marker and the colour of another.
    colour = COLOURS[(number + number // len(MARKERS)) % len(COLOURS)]
    return {"linestyle": "", "marker": MARKERS[number % len(MARKERS)], "color": colour}


def plot_registers(points: dict[str, list[tuple[int, int]]]) -> bytes:
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=FIGURE_INCHES, layout="constrained")
        for number, (target, pairs) in enumerate(points.items()):
            axes.plot([x for x, _ in pairs], [y for _, y in pairs], label=target, markersize=5, alpha=0.8,
                      **_marks(number))
        axes.set_xlim(left=-1)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(ticker.MaxNLocator(integer=True))
        axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, steps=[1, 2, 4, 8, 10]))
        axes.set_xlabel("VGPRs per thread")
        axes.set_ylabel("waves per SIMD")
        axes.grid(True)
        axes.set_title("Registers and waves", fontsize=12, loc="left")
        axes.legend(**BESIDE)
        return to_svg(figure)
