"""The section of one experiment: its question, plots, tables and inferences, of all devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hipscope.report import shared
from hipscope.report.card_page import Units
from hipscope.report.sweep_table import columns_of, footnotes
from hipscope.results import formats
from hipscope.results.published import Figure
from hipscope.results.records import Inference, Result, Sweep

from . import charts, html_text
from .lines import Plot, make_plots
from .sources import Source, side_by_side

Json = dict[str, Any]


@dataclass
class Content:
    """All that the page is made of: `compiled` is what was read from compiled code, by target."""

    sources: list[Source]
    figures: list[Figure]
    compiled: dict[tuple[str, str], Json]

    @property
    def devices(self) -> list[Source]:
        """Those with results."""
        return [source for source in self.sources if not source.is_published]

    @property
    def published(self) -> dict[str, Source]:
        """The published GPUs by name."""
        return {source.name: source for source in self.sources if source.is_published}


def anchor(name: str) -> str:
    """The id of a result's section; a result's name has letters, digits, points and underscores."""
    return f"experiment-{name}"


def _of(source: Source, body: str, kind: str = "") -> str:
    """What belongs to one device alone, under its name."""
    return f'<div class="{source.mark}"><h5>{html_text.text(source.label)} {kind}</h5>\n{body}</div>'


def _table(source: Source, sweep: Sweep) -> str:
    columns = columns_of(sweep, html_text)
    table = html_text.table([name for name, _ in columns], list(zip(*(cells for _, cells in columns))))
    notes = "".join(f"<p class=note>{note}</p>" for note in footnotes(sweep, html_text))
    return _of(source, table + notes, html_text.strong("CPU times, not a GPU's") if source.is_cpu else "")


def head(name: str, results: Sequence[tuple[Source, Result]]) -> list[str]:
    """A section's begin: the experiment, with its variant, and its question."""
    experiment, _, variant = name.partition(".")
    return [
        f'<section class=experiment id="{html_text.text(anchor(name))}">',
        f"<h3>{html_text.text(f'{experiment} ({variant})' if variant else experiment)}</h3>",
        *(f"<p class=question>{html_text.text(one)}</p>" for one in dict.fromkeys(one.question for _, one in results)),
    ]


def figure_head(measured: Sequence[tuple[Source, Result, Sweep]], plots: Sequence[Plot]) -> str:
    """A figure's begin: the sweep's title and notes."""
    first = measured[0][2]
    wide = " class=wide" if any(plot.is_bars for plot in plots) else ""
    notes = html_text.bullets(list(dict.fromkeys(note for _, _, sweep in measured for note in sweep.notes)))
    return f"<figure{wide}><figcaption><h4>{html_text.text(first.title or first.name)}</h4>{notes}</figcaption>"


def _sweep(content: Content, name: str, measured: Sequence[tuple[Source, Result, Sweep]], drawn: list[Json]) -> str:
    """A sweep's plots above the tables of all devices that have it; adds to what is drawn of the experiment."""
    plots = make_plots(measured, content.published)
    places = []
    for plot in plots:
        made = charts.figure(plot)
        places.append(charts.place(plot, name, len(drawn), made))
        drawn.append(made)
    rows = max(len(sweep.rows) for _, _, sweep in measured)
    tables = "\n".join(_table(source, sweep) for source, _, sweep in measured)
    return "\n".join(
        [
            figure_head(measured, plots),
            *places,
            html_text.details(f"Table <small>{rows} row{'s' if rows > 1 else ''}</small>", tables),
            "</figure>",
        ]
    )


def sweeps_of(results: Sequence[tuple[Source, Result]]) -> list[list[tuple[Source, Result, Sweep]]]:
    """All sweeps in the order of the first device, then those that only others have; of each all that measured it."""
    found: dict[tuple[str, int], list[tuple[Source, Result, Sweep]]] = {}
    for source, result in results:
        seen: dict[str, int] = {}
        for sweep in result.sweeps:
            number = seen[sweep.name] = seen.get(sweep.name, 0) + 1
            found.setdefault((sweep.name, number), []).append((source, result, sweep))
    return list(found.values())


def _verification(results: Sequence[tuple[Source, Result]]) -> str:
    items = []
    for source, result in results:
        checks, failures = result.verification.checks, result.verification.failures
        said = f"passed ({checks} checks)"
        if not shared.verified(result):
            said = html_text.strong(f"FAILED ({len(failures)} of {checks} checks): do not trust these figures")
            said += html_text.bullets(failures)
        items.append(f'<li class="{source.mark}"><span class=dot></span>{html_text.text(source.label)}: {said}')
    return f"<ul class=verification>{''.join(items)}</ul>"


def _unequal_sizes(results: Sequence[tuple[Source, Result]]) -> str:
    """A note that names the sizes that are not the same in all results, which therefore did not do the same work."""
    said = []
    for size in dict.fromkeys(size for _, result in results for size in result.options.sizes):
        values = {source.label: result.options.sizes.get(size) for source, result in results}
        if len(set(values.values())) > 1:
            of_each = ", ".join(f"{formats.NOT_THERE if v is None else v} ({label})" for label, v in values.items())
            said.append(f"{size} {of_each}")
    if not said:
        return ""
    return f"<p class=note>{html_text.strong('Sizes differ')}: {html_text.text('; '.join(said))}.</p>"


def _run(source: Source, result: Result) -> str:
    parts = [
        shared.circumstances(result, html_text),
        shared.clock(result.clock),
        *shared.overheads(result, html_text),
        f"Revision {html_text.text(result.revision)}, "
        f"{html_text.text(result.build.compiler)} {html_text.text(result.build.flags)}, "
        f"driver {html_text.text(result.device.driver)}.",
    ]
    return _of(source, f"<p>{'<br>'.join(parts)}</p>")


def _inferred_cell(inference: Inference | None, result: Result) -> str:
    if inference is None:
        return formats.NOT_THERE
    units = Units({result.name: result.clock.shader_mhz}, html_text)
    found = units.found(inference.value, inference.unit, inference.interval, result.name)
    driver = units.human(inference.driver, inference.unit, result.name)
    says = "" if inference.driver is None else f", driver says {driver}"
    return f"{found} <small>{100 * inference.confidence:.0f} %{says}</small>"


def _evidence(source: Source, result: Result) -> str:
    items = [
        f"<li><b>{html_text.text(one.name)}</b>: {html_text.text(one.statement)}{html_text.bullets(one.evidence)}"
        for one in result.inferences
    ]
    return _of(source, f"<ul>{''.join(items)}</ul>") if items else ""


def _inferences(results: Sequence[tuple[Source, Result]]) -> str:
    """What the curves say, device by device, with the evidence folded below."""
    by_name: dict[str, dict[str, Inference]] = {}
    for source, result in results:
        for inference in result.inferences:
            by_name.setdefault(inference.name, {}).setdefault(source.mark, inference)
    if not by_name:
        return ""
    rows = [
        [html_text.text(name), *(_inferred_cell(found.get(source.mark), result) for source, result in results)]
        for name, found in by_name.items()
    ]
    table = side_by_side("inferred", [source for source, _ in results], rows)
    evidence = "\n".join(_evidence(source, result) for source, result in results)
    return f"<h4>What the curves show</h4>\n{table}\n{html_text.details('Evidence', evidence)}"


def _published(content: Content, experiment: str) -> str:
    figures = [figure for figure in content.figures if figure["experiment"] == experiment]
    if not figures:
        return ""
    rows = []
    for one in figures:
        at, value = f"{one['x']} {one['x_unit']}", f"{one['value']} {one['unit']}"
        cells = (one["gpu"], one["series"], at, one["metric"], value, one["source"], one["note"])
        rows.append([html_text.text(cell) for cell in cells])
    header = ["GPU", "series", "at", "what", "value", "source", "note"]
    return html_text.details(
        f"All published figures <small>{len(rows)}, not measured by this code</small>",
        html_text.table(header, rows, "words", (), [content.published[one["gpu"]].mark for one in figures]),
    )


def _compiled(content: Content, experiment: str) -> str:
    """Registers, scratch and occupancy of every kernel, target by target."""
    targets = {target: data for (target, name), data in content.compiled.items() if name == experiment}
    kernels: dict[str, dict[str, str]] = {}
    for target, data in targets.items():
        for kernel in data["kernels"]:
            said = f"{kernel['vgprs']} VGPRs, {kernel['waves_per_simd']} waves"
            if kernel["scratch_bytes"]:
                said += f", {html_text.strong(str(kernel['scratch_bytes']) + ' B scratch')}"
            kernels.setdefault(kernel["name"], {}).setdefault(target, said)
    if not kernels:
        return ""
    rows = [
        [html_text.text(name), *(said.get(target, formats.NOT_THERE) for target in targets)]
        for name, said in kernels.items()
    ]
    return html_text.details(
        f"Compiled for AMD, not run <small>{len(rows)} kernels</small>",
        "<p class=note>Registers and scratch per lane, waves per SIMD, as the compiler reports them.</p>"
        + html_text.table(["kernel", *map(html_text.text, targets)], rows, "words"),
    )


def section(content: Content, name: str) -> str:
    """The section of a result's name; one without any result has published figures or compiled code."""
    results = [(device, result) for device in content.devices if (result := device.result(name)) is not None]
    parts = head(name, results)
    if results:
        drawn: list[Json] = []
        sweeps = "\n".join(_sweep(content, name, measured, drawn) for measured in sweeps_of(results))
        parts += [
            _verification(results),
            _unequal_sizes(results),
            _inferences(results),
            f"<div class=figures>\n{sweeps}\n</div>",
            charts.data(name, drawn),
        ]
        sources = dict.fromkeys(source for _, result in results for source in result.sources)
        run = "\n".join(_run(source, result) for source, result in results)
        if sources:
            run += f"<h5>After</h5>{html_text.bullets(list(sources))}"
        parts.append(html_text.details("How it was run", run))
    else:
        parts.append("<p class=note>None of these devices has a result.</p>")
    if "." not in name:
        parts += [_compiled(content, name), _published(content, name)]
    parts.append("</section>")
    return "\n".join(part for part in parts if part)
