#!/usr/bin/env python3
"""Compiles the experiments for AMD GPUs and reports on their machine code; no GPU is needed.

Exit status: 0 good, 1 a source does not compile or a result file is bad, 2 bad usage, 3 the report
cannot be written, 77 no compiler for AMD, 130 and 143 when interrupted. Whatever the reason, nothing
is written then.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from hipscope.results import interpreter

if not interpreter.is_complete("matplotlib", "yaml"):
    sys.exit(1)

from hipscope.compiled_code import (
    analysis,
    experiments,
    gpus,
    kept_predictions,
    occupancy,
    prediction_cases,
    prediction_page,
    predictions,
    processes,
    register_limits,
    register_stages,
    results,
    sass,
    toolchain,
)
from hipscope.compiled_code.experiments import BAD_USAGE
from hipscope.results import door, ending, load
from hipscope.results.door import BadInput

ROOT = Path(__file__).resolve().parent.parent


def committed_reports() -> Path:
    return ROOT / "results" / "isa"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Compile the experiments for AMD GPUs and report on their kernels: a JSON file and a "
        "page per target and compiler, and an index."
    )
    parser.add_argument("--out", metavar="DIR", type=Path, default=committed_reports(),
                        help="where to write (default: results/isa)")
    parser.add_argument("--targets", metavar="LIST", default=None,
                        help="such as gfx90a,gfx1030; all tries every target that is known, one takes gfx942 or "
                        "else gfx90a (default: gfx900, gfx906, gfx908, gfx90a, gfx1030, as far as the compiler "
                        "supports them)")
    parser.add_argument("--only", metavar="REGEX", default="",
                        help="only experiments whose name matches; what is there of the others stays")
    parser.add_argument("--jobs", metavar="N", type=int, default=len(os.sched_getaffinity(0)),
                        help="how many compilers run at once (default: one per CPU)")
    parser.add_argument("--changed", action="store_true",
                        help="only experiments whose sources are not those of the reports by this compiler, in DIR or "
                        "in results/isa; those reports are kept")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--check", action="store_true", help="only check the result files that are there")
    instead.add_argument("--predict", action="store_true",
                         help="compile the kernels of chapter 8 and predict which share of its peak each can reach on "
                         "gfx900, gfx908, gfx90a, gfx942, gfx950, gfx1100 and gfx1201, as far as the compiler supports "
                         "them, by what its code asks of each unit; nothing is run. Writes predictions.json and "
                         "predictions.md in DIR and nothing else; what is there by other compilers stays")
    instead.add_argument("--predict-listed", metavar="FOLDER", type=Path,
                         help="the same of NVIDIA's code for the H200, against whose times the predictions are held: "
                         "FOLDER has EXPERIMENT.sass and EXPERIMENT.usage, by cuobjdump -sass and -res-usage of what "
                         "nvcc -cubin made, and nvcc.txt, by nvcc --version")
    instead.add_argument("--pages", action="store_true",
                         help="compile nothing: only make the pages anew from the result files that are there")
    return parser.parse_args()


def bad_usage(sentence: str) -> NoReturn:
    raise BadInput(sentence, BAD_USAGE)


def check(folder: Path) -> int:
    """Checks every result file against the schema and says how many are good."""
    if not folder.is_dir():
        bad_usage(f"there is no folder {folder}.")
    readers: list[Callable[[], object]] = [partial(results.read_result, file) for file in results.result_files(folder)]
    others: dict[str, Callable[[Path], object]] = {
        results.LIMITS_FILE: results.read_limits, results.OCCUPANCY_FILE: results.read_occupancy,
        kept_predictions.FILE: kept_predictions.read}
    readers += [partial(read, folder) for name, read in others.items() if (folder / name).exists()]
    return load.count_valid("isa_report.py", readers)


def choose_experiments(only: str) -> list[Any]:
    try:
        pattern = re.compile(only)
    except re.error:
        bad_usage(f"--only '{only}' is not a valid regular expression.")
    chosen = [experiment for experiment in experiments.read_experiments() if pattern.search(experiment.name)]
    if not chosen:
        bad_usage(f"no experiment's name matches '{only}'.")
    return chosen


def asked_targets(text: str | None) -> list[str]:
    if text is None:
        return list(toolchain.DEFAULT_TARGETS)
    if text == "all":
        return list(toolchain.KNOWN_TARGETS)
    if text == "one":
        return ["gfx942", "gfx90a"]
    targets = list(dict.fromkeys(text.split(",")))
    for target in targets:
        if not experiments.is_target(target):
            bad_usage(f"--targets takes names such as gfx90a, parted by commas, not '{target}'.")
    return targets


def supported_targets(run: Any, tools: Any, text: str | None, scratch: Path) -> list[str]:
    """Those of the targets that the compiler supports; all must be, when they are asked for by name."""
    targets = asked_targets(text)
    good = dict(zip(targets, run(lambda target: tools.supports(target, scratch), targets)))
    refused = [target for target in targets if not good[target]]
    supported = [target for target in targets if good[target]]
    if text == "one" and supported:
        return supported[:1]
    if refused and (not supported or text not in (None, "all")):
        bad_usage(f"{tools.version}, does not compile for {', '.join(refused)}.")
    if refused:
        print(f"Not supported by {tools.version}: {' '.join(refused)}")
    return supported


@contextmanager
def compiling(jobs: int) -> Iterator[tuple[Any, toolchain.Toolchain, Path]]:
    """A pool of threads, the compiler and a scratch folder; when any work fails, or at an interrupt, no more begins."""
    running = processes.Processes()
    tools = toolchain.find_toolchain(running)
    with tempfile.TemporaryDirectory(prefix="hipscope-isa-") as scratch, ThreadPoolExecutor(jobs) as pool:
        try:
            yield pool, tools, Path(scratch)
        except BaseException:
            # What waits must not start, and what runs must not be waited for.
            running.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def make_each(pool: Any, make: Callable[[Any], Any], work: Sequence[Any], name_of: Callable[[Any], str]) -> list[Any]:
    """What `make` makes of each piece of work, in their order; says on a terminal how far it is."""
    all_made = []
    for piece, made in zip(work, pool.map(make, work)):
        all_made.append(made)
        if sys.stderr.isatty():
            print(f"\r\033[K[{len(all_made)}/{len(work)}] {name_of(piece)}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    return all_made


def kept_results(folder: Path, made: set[str], only: str) -> dict[tuple[str, str], Any]:
    """What is there already by other compilers and for other targets than those that are `made` now.

    When only some experiments are asked for, what is there of others too.
    """
    names = {experiment.name for experiment in experiments.read_experiments()}
    return {(path.stem, name): result for path in results.result_files(folder) if path.stem not in made or only
            for name, result in results.read_result(path).items() if path.stem not in made or name in names}


def asked_of_compiler(what: str, measure: Callable[..., Any], tools: toolchain.Toolchain, *of: Any) -> dict[str, Any]:
    """What the compiler says of registers; raises BadInput."""
    try:
        return measure(tools, *of)
    except register_limits.LimitsError as error:
        are = "are" if what.endswith("s") else "is"
        raise BadInput(f"the {what} of {of[0]} {are} not to be had: {error}") from error


def unchanged_results(folders: Sequence[Path], digests: dict[str, str], targets: Sequence[str], compiler: str
                      ) -> dict[tuple[str, str], Any]:
    """What is there in the folders, the first before the others, of the same sources, compiler and flags."""
    stored: dict[tuple[str, str], Any] = {}
    for folder in folders:
        for target in targets:
            path = folder / f"{experiments.made_by(target, compiler)}.json"
            for name, result in results.read_result(path).items() if path.exists() else ():
                if (result["compiler"] == compiler and result["flags"] == " ".join(toolchain.FLAGS)
                        and result["source_digest"] == digests.get(name)):
                    stored.setdefault((path.stem, name), result)
    return stored


def compile_all(arguments: argparse.Namespace
                ) -> tuple[dict[tuple[str, str], Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Compiles every chosen experiment for every target, several at once.

    Also returns the targets' register limits and their occupancy, when an experiment about them is chosen.
    """
    chosen = choose_experiments(arguments.only)
    asked_targets(arguments.targets)
    with compiling(arguments.jobs) as (pool, tools, scratch):
        targets = supported_targets(pool.map, tools, arguments.targets, scratch)
        folder = {target: experiments.made_by(target, tools.version) for target in targets}
        digests = {experiment.name: experiments.source_digest(experiment.source) for experiment in chosen}
        stored = {}
        if arguments.changed:
            stored = unchanged_results((arguments.out, committed_reports()), digests, targets, tools.version)
            print(f"Not compiled again, since sources and compiler are the same: {len(stored)} of "
                  f"{len(chosen) * len(targets)} reports")
        work = [(experiment, target) for experiment in chosen for target in targets
                if (folder[target], experiment.name) not in stored]
        made = make_each(pool, lambda pair: analysis.analyse(tools, pair[0], pair[1], scratch), work,
                         lambda pair: f"{pair[0].name} for {pair[1]}")
        names = {experiment.name for experiment in chosen}
        made_for = {target for _, target in work}

        def lacking(there: list[dict[str, Any]]) -> list[str]:
            """The targets that something was compiled for, or of which nothing is there by this compiler."""
            known = {experiments.made_by(entry["target"], entry["compiler"]) for entry in there}
            return [target for target in targets if target in made_for or folder[target] not in known]

        limited = lacking(results.read_limits(arguments.out)) if {"vgpr_limit", "sgpr_limit"} & names else []
        limits = list(pool.map(
            lambda target: asked_of_compiler("register limits", register_limits.measure, tools, target), limited))
        ruled = lacking(results.read_occupancy(arguments.out)) if "register_pressure" in names else []
        occupied = list(pool.map(
            lambda key: asked_of_compiler("occupancy table", occupancy.measure, tools, *key),
            [key for target in ruled for key in occupancy.wanted(target)]))
    new = {(folder[result["target"]], result["experiment"]):
           {**result, "source_digest": digests[result["experiment"]]} for result in made}
    return {**kept_results(arguments.out, set(folder.values()), arguments.only), **stored, **new}, limits, occupied


def write_documents(entries: list[Any]) -> None:
    for name, text in prediction_page.documents(entries).items():
        (ROOT / name).write_text(text, encoding="utf-8")


def report(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    new_limits: list[dict[str, Any]] = []
    new_occupancy: list[dict[str, Any]] = []
    results.make_folder(arguments.out)
    try:
        if arguments.pages:
            found = kept_results(arguments.out, set(), "")
        else:
            found, new_limits, new_occupancy = compile_all(arguments)
        if not found:
            bad_usage(f"there is no result file in {arguments.out}.")
        from hipscope.compiled_code import page  # with matplotlib, which takes a while

        limits = results.with_kept(results.read_limits(arguments.out), new_limits)
        occupied = results.with_kept(results.read_occupancy(arguments.out), new_occupancy)
        order = [experiment.name for experiment in experiments.read_experiments()]
        found = dict(sorted(found.items(), key=lambda item: order.index(item[0][1]) if item[0][1] in order else -1))
        stages = register_stages.text(found)
        sections = ["## The stages of register_pressure", stages] if stages else []
        sections += ["## Waves that fit with so many registers", occupancy.text(occupied)] if occupied else []
        sections += ["## Registers that a kernel may name", register_limits.markdown(limits)] if limits else []
        predicted = kept_predictions.read(arguments.out)
        sections += prediction_page.index_section(predicted)
        files = page.make_pages(found, sections)
        if predicted:
            files[prediction_page.PAGE] = prediction_page.page(predicted, page.MADE_BY).encode("utf-8")
        if limits:
            files[results.LIMITS_FILE] = f"{results.compact_json(limits)}\n".encode("utf-8")
        if occupied:
            files[results.OCCUPANCY_FILE] = f"{results.compact_json(occupied)}\n".encode("utf-8")
        files |= results.files_of(found, order)
        results.write_files(arguments.out, files, is_all=True)
        if arguments.out.resolve() == committed_reports():
            write_documents(predicted)
    finally:
        results.remove_if_empty(arguments.out)
    kernels = sum(len(result["kernels"]) for result in found.values())
    targets = {result["target"] for result in found.values()}
    print(f"{arguments.out / 'README.md'}: {kernels} kernels, {len(targets)} targets, "
          f"{time.monotonic() - began:.1f} s")
    return 0


def predict_all(arguments: argparse.Namespace) -> tuple[list[Any], set[tuple[str, str]]]:
    """The predictions of every chosen experiment for every target; also the folders and experiments of them."""
    named = prediction_cases.experiments()
    chosen = [experiment for experiment in choose_experiments(arguments.only) if experiment.name in named]
    if not chosen:
        bad_usage(f"of no experiment that matches '{arguments.only}' anything is predicted.")
    with compiling(arguments.jobs) as (pool, tools, scratch):
        known = [gpu.target for gpu in gpus.GPUS]
        targets = [target for target in supported_targets(pool.map, tools, arguments.targets or "all", scratch)
                   if target in known]
        if not targets:
            bad_usage(f"predictions are for {', '.join(known)}.")
        work = [(experiment, gpu) for experiment in chosen for target in targets
                if (gpu := gpus.gpu_of(target)) and prediction_cases.cases_of(experiment.name, gpu)]
        made = make_each(pool, lambda pair: predictions.of_experiment(tools, pair[0], pair[1], scratch), work,
                         lambda pair: f"{pair[0].name} for {pair[1].target}")
    for _, refused in made:
        for sentence in refused:
            print(f"Not predicted: {sentence}")
    done = {(experiments.made_by(gpu.target, tools.version), experiment.name) for experiment, gpu in work}
    return [entry for entries, _ in made for entry in entries], done


def predict_listed(folder: Path) -> tuple[list[Any], set[tuple[str, str]]]:
    """As predict_all, of the listings in a folder."""
    gpu = gpus.gpu_of("sm_90")
    assert gpu is not None
    version = re.search(r"V(\d[\d.]+)", door.read_text(folder / "nvcc.txt"))
    texts = {name: [door.read_text(folder / f"{name}.{kind}", sass.LONGEST_LISTING) for kind in ("sass", "usage")]
             for name in prediction_cases.experiments() if (folder / f"{name}.sass").exists()}
    if version is None or not texts:
        raise BadInput(f"{folder} has no listing of an experiment, or no version of nvcc.")
    compiler = f"nvcc {version[1]}"
    entries = []
    for name, (listing, usage) in texts.items():
        found, refused = predictions.of_listing(listing, usage, name, gpu, compiler)
        entries += found
        for sentence in refused:
            print(f"Not predicted: {name}, {sentence}")
    return entries, {(experiments.made_by(gpu.target, compiler), name) for name in texts}


def predict_shares(arguments: argparse.Namespace) -> int:
    from hipscope.compiled_code import page

    began = time.monotonic()
    results.make_folder(arguments.out)
    try:
        listed = arguments.predict_listed
        new, done = predict_listed(listed) if listed else predict_all(arguments)
        entries = kept_predictions.with_kept(arguments.out, new, done)
        results.write_files(arguments.out, {
            kept_predictions.FILE: kept_predictions.text(entries).encode("utf-8"),
            prediction_page.PAGE: prediction_page.page(entries, page.MADE_BY).encode("utf-8"),
        }, is_all=False)
        if arguments.out.resolve() == committed_reports():
            write_documents(entries)
    finally:
        results.remove_if_empty(arguments.out)
    print(f"{arguments.out / prediction_page.PAGE}: {len(entries)} predictions, {time.monotonic() - began:.1f} s")
    return 0


def interrupted(number: int, _: object) -> NoReturn:
    """A signal ends the program as an exception does, so that it cleans up."""
    print("isa_report.py: interrupted; what was there before stays.", file=sys.stderr)
    raise SystemExit(128 + number)


@ending.in_a_sentence("isa_report.py", bad_input=1, not_written=3)
def main() -> int:
    arguments = parse_arguments()
    ending.on_signals(interrupted)
    if arguments.check:
        return check(arguments.out)
    if arguments.jobs < 1:
        bad_usage("--jobs takes a number from 1 on.")
    return predict_shares(arguments) if arguments.predict or arguments.predict_listed else report(arguments)


if __name__ == "__main__":
    sys.exit(main())
