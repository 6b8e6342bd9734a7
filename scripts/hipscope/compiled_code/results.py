"""The result files: read, checked against the schema, and written all together.

One file per target and compiler, <target>-clang<version>.json, holds a row per kernel of every experiment: what the
compiler gave it, and the instructions of its hot loop. A row begins with the number of its kernel's name in
kernels.json, which has the names of all targets by experiment.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hipscope.results import door
from hipscope.results.door import BadInput
from hipscope.results.whole_file import write_together

from . import occupancy
from .assembly import CATEGORIES
from .experiments import made_by, target_order

SCHEMA_VERSION = 5
SCHEMA = "isa-schema.json"
NAMES_FILE = "kernels.json"
NAMES_SCHEMA = "isa-kernels-schema.json"
# What a row says of a kernel; and of its hot loop, if it has a loop.
KERNEL_COLUMNS = ("name", "vgprs", "agprs", "sgprs", "vgpr_spills", "sgpr_spills", "scratch_bytes", "lds_bytes",
                  "threads_per_block", "waves_per_simd", "code_bytes", "instructions", "loops")
LOOP_COLUMNS = ("loop_instructions", *CATEGORIES, "fma_share", "loop_bytes", "mca_cycles")
# What hipscope.compiled_code.register_limits measures, of all targets.
LIMITS_FILE = "register_limits.json"
LIMITS_SCHEMA = "isa-limits-schema.json"
# What hipscope.compiled_code.occupancy measures, of all targets.
OCCUPANCY_FILE = "occupancy.json"
OCCUPANCY_SCHEMA = "isa-occupancy-schema.json"
LINE_WIDTH = 100

# What was made of one experiment for one target: its source and that one's digest, compiler, flags and kernels.
Result = dict[str, Any]
# By <target>-clang<version> and experiment.
Results = dict[tuple[str, str], Result]
# The names of kernels by experiment.
Names = dict[str, list[str]]


def compact_json(value: Any, indent: int = 0) -> str:
    """JSON with one line for what fits on one, so that a file is small and its changes readable."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + len(line) <= LINE_WIDTH or not isinstance(value, (dict, list)) or not value:
        return line
    inner = " " * (indent + 1)
    if isinstance(value, list):
        parts = [compact_json(item, indent + 1) for item in value]
        return "[\n" + ",\n".join(inner + part for part in parts) + "\n" + " " * indent + "]"
    parts = [f"{json.dumps(key)}: {compact_json(item, indent + 1)}" for key, item in value.items()]
    return "{" + _fill(parts, indent) + "}"


def _fill(parts: list[str], indent: int) -> str:
    """The parts of an object, as many on a line as fit."""
    lines = [""]
    for number, part in enumerate(parts):
        text = part + ("," if number + 1 < len(parts) else "")
        if lines[-1] and ("\n" in part or indent + 2 + len(lines[-1]) + len(text) > LINE_WIDTH):
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + text
        if "\n" in part:
            lines.append("")
    return ("\n" + " " * (indent + 1)).join(line for line in lines if line)


def names_of(results: Iterable[Result]) -> Names:
    """The names of all kernels, each once, by experiment."""
    names: dict[str, dict[str, None]] = {}
    for result in results:
        names.setdefault(result["experiment"], {}).update(dict.fromkeys(one["name"] for one in result["kernels"]))
    return {experiment: list(found) for experiment, found in names.items()}


def file_text(results: Mapping[str, Result], names: Names) -> str:
    """The file of a target and a compiler, by experiment, with a row per kernel; raises BadInput."""
    compilers = {result["compiler"] for result in results.values()}
    flags = {result["flags"] for result in results.values()}
    if len(compilers) != 1 or len(flags) != 1:
        raise BadInput(f"a file is by one compiler and its flags, not by {'; '.join(sorted(compilers | flags))}: make "
                       "all experiments again, without --only.")
    head = {"schema_version": SCHEMA_VERSION, "target": next(iter(results.values()))["target"],
            "compiler": compilers.pop(), "flags": flags.pop(), "columns": [*KERNEL_COLUMNS, *LOOP_COLUMNS]}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    parts = []
    for name, result in results.items():
        numbers = {found: number for number, found in enumerate(names[name])}
        rows = [json.dumps([numbers[kernel["name"]], *(kernel[key] for key in head["columns"][1:] if key in kernel)],
                           separators=(",", ":")) for kernel in result["kernels"]]
        parts.append(f'{json.dumps(name)}: {{"source": {json.dumps(result["source"])}, '
                     f'"source_digest": {json.dumps(result["source_digest"])}, "kernels": [\n'
                     + ",\n".join(rows) + "\n]}")
    return "{" + ",\n".join(lines) + ',\n"experiments": {\n' + ",\n".join(parts) + "\n}}\n"


def read_result(path: Path) -> dict[str, Result]:
    """A valid file's results, by experiment; raises BadInput."""
    data = door.read_json(path, SCHEMA)
    try:
        name = made_by(data["target"], data["compiler"])
    except ValueError as error:
        raise BadInput(f"{path}: {error}.") from error
    if name != path.stem:
        raise BadInput(f"{path} is for {data['target']}, by {data['compiler']}.")
    if data["columns"] != [*KERNEL_COLUMNS, *LOOP_COLUMNS]:
        raise BadInput(f"{path} has other columns than {', '.join(KERNEL_COLUMNS + LOOP_COLUMNS)}.")
    names = door.read_json(path.parent / NAMES_FILE, NAMES_SCHEMA)
    try:
        return {
            experiment: {"experiment": experiment, "source": found["source"],
                         "source_digest": found["source_digest"], "target": data["target"],
                         "compiler": data["compiler"], "flags": data["flags"],
                         "kernels": [dict(zip(data["columns"], row)) | {"name": names[experiment][row[0]]}
                                     for row in found["kernels"]]}
            for experiment, found in data["experiments"].items()
        }
    except LookupError as error:
        raise BadInput(f"{path} has kernels that {NAMES_FILE} does not name.") from error


def result_files(folder: Path) -> list[Path]:
    """All result files in a folder: <target>-clang<version>.json."""
    return sorted(folder.glob("gfx*.json"), key=lambda path: target_order(path.stem))


def read_folder(folder: Path) -> Results:
    return {(path.stem, experiment): result for path in result_files(folder)
            for experiment, result in read_result(path).items()}


def files_of(results: Results, order: Iterable[str]) -> dict[str, bytes]:
    """The files that hold these results, by their names, with the experiments in this order; raises BadInput."""
    places = {name: place for place, name in enumerate(order)}
    names = names_of(results.values())
    files = {NAMES_FILE: f"{compact_json(names)}\n".encode("utf-8")}
    for target in sorted({target for target, _ in results}, key=target_order):
        found = {name: result for (of, name), result in results.items() if of == target}
        ordered = dict(sorted(found.items(), key=lambda item: places.get(item[0], len(places))))
        files[f"{target}.json"] = file_text(ordered, names).encode("utf-8")
    return files


def _read_list(path: Path, schema: str) -> list[dict[str, Any]]:
    """A file's entries, none when there is no file; raises BadInput."""
    return door.read_json(path, schema) if path.exists() else []


def read_limits(folder: Path) -> list[dict[str, Any]]:
    """The register limits that are there, none when there is no file; raises BadInput."""
    return _read_list(folder / LIMITS_FILE, LIMITS_SCHEMA)


def read_occupancy(folder: Path) -> list[dict[str, Any]]:
    """The occupancies that are there and as the rules say; raises BadInput."""
    path = folder / OCCUPANCY_FILE
    found = _read_list(path, OCCUPANCY_SCHEMA)
    for entry in found:
        try:
            occupancy.check(entry)
        except occupancy.OccupancyError as error:
            raise BadInput(f"{path}: {error}.") from error
    return found


def with_kept(kept: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """New register limits or occupancies, with those that are there already of other targets and compilers."""
    entries = {(made_by(entry["target"], entry["compiler"]), entry.get("lanes", 0)): entry for entry in [*kept, *new]}
    return [entries[key] for key in sorted(entries, key=lambda key: (target_order(key[0]), key[1]))]


def make_folder(folder: Path) -> None:
    """Makes the folder before anything is compiled for it; raises BadInput."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise BadInput(f"the folder {folder} cannot be written to: {error.strerror}.", 2) from error


def write_files(folder: Path, files: Mapping[str, bytes], is_all: bool) -> None:
    """Writes all files, by their path below `folder`, or none; where these are all, older pages and results go.

    Raises BadInput.
    """
    old = [*result_files(folder), *folder.glob("gfx*.md")] if is_all else []
    try:
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_together({**dict.fromkeys(old), **{folder / name: content for name, content in files.items()}})
    except OSError as error:
        raise BadInput(f"{error.filename or folder} cannot be written: {error.strerror}.", 3) from error


def remove_if_empty(folder: Path) -> None:
    """Leaves no folder where nothing was written."""
    try:
        folder.rmdir()
    except OSError:
        pass
