"""The pages of one results folder: an index, a page per experiment, the hardware card; and the plots."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hipscope.results import door, formats, markdown
from hipscope.results.load import CARD_JSON
from hipscope.results.records import Inference, Result, Sweep

from . import card, card_page, ceilings, plots, predicted, roofline, shared
from .series import best_row, inferred_marks
from .sweep_table import matrix_of, matrix_table, sweep_table

CARD_MARKDOWN = "card.md"
MADE_BY = "Made by scripts/report.py; do not edit."
CPU_TIMES = "> **These times are CPU times.** The kernels ran on the CPU by hipscope's host backend."
OTHER_PAGES = {"sass.md": "what the compiler made of the kernels", "ncu.md": "what a profiler counted"}
PICTURES_IN_A_ROW = 3
LONGEST_BEST = 60
LONGEST_FILE_NAME_PART = 60


@dataclass
class Page:
    """What a report writes: README.md, the experiments' pages and the files in plots/ by name, and the card.

    On the CPU, of which nothing is inferred, there is no card. With `shown`, of all plots only these are drawn and the
    first of each experiment; without pages of experiments, not the first either.
    """

    shown: frozenset[str] | None = None
    has_pages: bool = True
    markdown: str = ""
    experiments: dict[str, bytes] = field(default_factory=dict)
    plots: dict[str, bytes] = field(default_factory=dict)
    card: dict[str, bytes] = field(default_factory=dict)


def _status(result: Result) -> str:
    """How the verification ended."""
    verification = result.verification
    if shared.verified(result):
        return f"passed ({verification.checks} checks)"
    return f"**FAILED** ({len(verification.failures)} of {verification.checks} checks)"


def _best(sweeps: Sequence[Sweep]) -> str:
    """The best row of the first sweep whose headline has one."""
    for sweep in sweeps:
        found = best_row(sweep)
        if found is not None:
            row, value, unit = found
            if unit == "s":
                scale, unit = formats.time_unit([value])
                value /= scale
            label = formats.short(row.label, LONGEST_BEST)
            number = f"{formats.significant(value)} {markdown.text(unit)}"
            return f"{markdown.text(sweep.headline)} {number} ({markdown.text(label)})"
    return formats.NOT_THERE


def _contents(results: list[Result], has_pages: bool) -> str:
    rows = [
        (shared.link(result, has_pages), markdown.text(result.question), _best(result.sweeps), _status(result))
        for result in results
    ]
    return markdown.text_table(["experiment", "question", "best of its first sweep", "verification"], rows)


def _gallery(results: list[Result], pictures: dict[str, str]) -> list[str]:
    """The first plot of every experiment, each a link to its page."""
    cells = [
        f"[![{result.title}](plots/{pictures[result.name]})]({result.name}.md)"
        for result in results
        if result.name in pictures
    ]
    if not cells:
        return []
    cells += [""] * (-len(cells) % PICTURES_IN_A_ROW)
    rows = [cells[first : first + PICTURES_IN_A_ROW] for first in range(0, len(cells), PICTURES_IN_A_ROW)]
    return [
        "## Plots",
        "The first of each experiment; its page has the others.",
        markdown.text_table([""] * PICTURES_IN_A_ROW, rows),
    ]


def _found(inference: Inference) -> str:
    if inference.value is None:
        return "not found"
    found, *ends = (markdown.with_unit(one, inference.unit) for one in (inference.value, *(inference.interval or ())))
    return f"{found} ({' to '.join(ends)})" if ends else found


def _inferences(result: Result) -> list[str]:
    parts = []
    for inference in result.inferences:
        driver = markdown.with_unit(inference.driver, inference.unit)
        says = "" if inference.driver is None else f"; the driver says {driver}"
        parts.append(
            f"**{markdown.text(inference.name)}: {_found(inference)}** (confidence {100 * inference.confidence:.0f} %"
            f"{says}). {markdown.text(inference.statement)}"
        )
        if inference.evidence:
            parts.append(markdown.bullets(inference.evidence))
    return ["## Inferred", *parts] if parts else []


def _plot_file(result: Result, sweep: Sweep, taken: set[str]) -> str:
    """A file name that no text from a result file can lead out of the plots' folder."""
    part = re.sub(r"[^a-z0-9]+", "-", sweep.name.lower()).strip("-")[:LONGEST_FILE_NAME_PART]
    base = f"{result.name}-{part or 'sweep'}"
    name = f"{base}.svg"
    count = 1
    while name in taken:
        count += 1
        name = f"{base}-{count}.svg"
    return name


def _sweep(page: Page, result: Result, sweep: Sweep, taken: set[str]) -> list[str]:
    parts = [f"## {markdown.text(sweep.title or sweep.name)}"]
    if sweep.notes:
        parts.append(markdown.bullets(sweep.notes))
    name = _plot_file(result, sweep, taken)
    is_first = page.has_pages and taken.isdisjoint(page.plots)
    taken.add(name)
    picture = None
    if page.shown is None or is_first or name in page.shown:
        picture = plots.plot_sweep(sweep, result.device.name, inferred_marks(result, sweep))
    if picture is not None:
        page.plots[name] = picture
        alternative = markdown.text(f"{sweep.headline} over {sweep.axis.name}")
        parts.append(f"![{alternative}](plots/{name})")
    matrix = matrix_of(sweep)
    if matrix is not None:
        parts.append(matrix_table(sweep, matrix))
    parts.append(sweep_table(sweep))
    return parts


def _experiment(page: Page, result: Result) -> str:
    """The page of one experiment, whose plots become the page's."""
    device = markdown.text(result.device.name) or "all results"
    warning = "**A verification FAILED: do not trust these figures.**"
    parts = [
        f"# {result.title}",
        f"[{device}](README.md)",
        f"**{markdown.text(result.question)}**",
        *([] if shared.verified(result) else [warning, markdown.bullets(result.verification.failures)]),
        *([CPU_TIMES] if shared.is_host([result]) else []),
        shared.circumstances(result, markdown),
        shared.clock(result.clock),
        *shared.overheads(result, markdown),
        *_inferences(result),
    ]
    taken: set[str] = set()
    for sweep in result.sweeps:
        parts.extend(_sweep(page, result, sweep, taken))
    parts.extend(predicted.section(result))
    if result.sources:
        parts.extend(["## Sources", markdown.bullets(result.sources)])
    parts.append(f"Every sample: [{result.path.name}]({result.path.name}). {MADE_BY}")
    return "\n\n".join(parts) + "\n"


def make_page(results: list[Result], shown: frozenset[str] | None = None, has_pages: bool = True) -> Page:
    """The pages of results that are all of one device; `shown` and `has_pages` as Page says."""
    page = Page(shown, has_pages)
    pictures: dict[str, str] = {}
    for result in results:
        before = len(page.plots)
        made_page = _experiment(page, result).encode("utf-8")
        if has_pages:
            page.experiments[f"{result.name}.md"] = made_page
        if has_pages and len(page.plots) > before:
            pictures[result.name] = list(page.plots)[before]
    device = results[0].device
    parts = [f"# {markdown.text(device.name) or 'Results'}"]
    if shared.is_host(results):
        parts.append(
            f"{CPU_TIMES} It checks what they compute; nothing here was measured on a GPU, so there is no hardware "
            "card."
        )
    picture = roofline.plot(ceilings.roofline_of(results), device.name)
    roofline_part = []
    if picture is not None:
        page.plots[roofline.FILE_NAME] = picture
        roofline_part = ["## Roofline", f"![{roofline.ALTERNATIVE}](plots/{roofline.FILE_NAME})", ceilings.EXPLANATION]
    made = card.make_card(results)
    if made is not None:
        page.card = {
            CARD_JSON: (json.dumps(made, separators=(",", ":")) + "\n").encode("ascii"),
            CARD_MARKDOWN: card_page.make_card_page(made, results, roofline_part, has_pages).encode("utf-8"),
        }
        parts.append(
            f"**[Hardware card]({CARD_MARKDOWN})**: the device's parameters that people look for, on one page "
            f"(and [as JSON]({CARD_JSON}))."
        )
    folder = results[0].path.parent
    others = [f"[{meaning}]({name})" for name, meaning in OTHER_PAGES.items() if (folder / name).is_file()]
    parts.extend(
        [
            "## Experiments",
            _contents(results, has_pages),
            *([f"Besides: {', '.join(others)}."] if others else []),
            *roofline_part,
            *_gallery(results, pictures),
            "## Device",
            markdown.text_table(["as the driver reports it", ""], shared.device_entries(results, markdown)),
            MADE_BY,
        ]
    )
    page.markdown = "\n\n".join(parts) + "\n"
    return page


def _is_ours(page: Path) -> bool:
    """Whether an earlier report made this page."""
    try:
        return door.read_text(page).rstrip("\n").endswith(MADE_BY)
    except door.BadInput:
        return False


def files_of(folder: Path, page: Page) -> dict[Path, bytes | None]:
    """README.md, the experiments' pages, the plots and the card below `folder`; None for what is there and goes:

    plots and pages of earlier reports, and the tables as text that a page now has.
    """
    plots = folder / "plots"
    made = {folder / name: content for name, content in {**page.experiments, **page.card}.items()}
    made |= {plots / name: content for name, content in page.plots.items()}
    texts = [(folder / name).with_suffix(".txt") for name in page.experiments]
    cards = [folder / CARD_JSON, folder / CARD_MARKDOWN]
    old = [*texts, *cards, *plots.glob("*.svg"), *filter(_is_ours, folder.glob("*.md"))]
    return {**dict.fromkeys(old), **made, folder / "README.md": page.markdown.encode("utf-8")}
