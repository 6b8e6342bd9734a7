"""The result files: read, checked against the schema, and written all together."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hipscope_report import load

from . import occupancy
from .analysis import SCHEMA_VERSION
from .errors import IsaError
from .experiments import REPOSITORY
from .folders import made_by, target_order

SCHEMA_PATH = REPOSITORY / "results" / "isa-schema.json"
# What hipscope_isa.register_limits measures, of all targets.
LIMITS_FILE = "register_limits.json"
LIMITS_SCHEMA_PATH = REPOSITORY / "results" / "isa-limits-schema.json"
# What hipscope_isa.occupancy measures, of all targets.
OCCUPANCY_FILE = "occupancy.json"
OCCUPANCY_SCHEMA_PATH = REPOSITORY / "results" / "isa-occupancy-schema.json"
LINE_WIDTH = 100


def load_schema() -> dict[str, Any]:
    """The schema of result files."""
    return json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))


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


def _filled(data: dict[str, Any], rules: dict[str, Any]) -> dict[str, Any]:
    """An object with what it leaves out, in the order of the schema's properties."""
    return {key: data[key] if key in data else rule["default"] for key, rule in rules.items()
            if key in data or "default" in rule}


def _shortened(data: dict[str, Any], rules: dict[str, Any]) -> dict[str, Any]:
    """An object without what the schema says of it anyway."""
    return {key: value for key, value in data.items()
            if "default" not in rules[key] or value != rules[key]["default"]}


def _with_each(change: Any, result: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """A result with its kernels, their loops and what llvm-mca says of these changed, each by its rules."""
    rules = {name: schema["$defs"][name]["properties"] for name in ("kernel", "loop")}
    of_mca = rules["loop"]["mca"]["oneOf"][1]["properties"]

    def changed(loop: dict[str, Any]) -> dict[str, Any]:
        mca = {"mca": change(loop["mca"], of_mca)} if loop.get("mca") else {}
        return change({**loop, **mca}, rules["loop"])

    kernels = [change({**kernel, "loops": [changed(loop) for loop in kernel.get("loops", [])]}, rules["kernel"])
               for kernel in result["kernels"]]
    return {**result, "kernels": kernels}


def file_text(result: dict[str, Any], schema: dict[str, Any]) -> str:
    """A result as its file holds it: without what is nearly always the same."""
    return f"{compact_json(_with_each(_shortened, {**result, 'schema_version': SCHEMA_VERSION}, schema))}\n"


def read_result(path: Path, schema: dict[str, Any]) -> dict[str, Any]:
    """A valid result file's content; raises load.BadResult."""
    data = load.read_json(path)
    load.check(path, data, schema)
    try:
        folder = made_by(data["target"], data["compiler"])
    except ValueError as error:
        raise load.BadResult(f"{path}: {error}.") from error
    if (folder, data["experiment"]) != (path.parent.name, path.stem):
        raise load.BadResult(f"{path} holds {data['experiment']} for {data['target']}, by {data['compiler']}.")
    return _with_each(_filled, data, schema)


def result_files(folder: Path) -> list[Path]:
    """All result files below a folder: <target>-clang<version>/<experiment>.json."""
    files = [path for path in folder.glob("gfx*/*.json") if not path.name.startswith(".")]
    return sorted(files, key=lambda path: (target_order(path.parent.name), path.name))


def read_folder(folder: Path, schema: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """All results below a folder, by their folder and experiment; raises load.BadResult."""
    return {(path.parent.name, path.stem): read_result(path, schema) for path in result_files(folder)}


def _read_list(path: Path, schema: Path) -> list[dict[str, Any]]:
    """A file's entries, none when there is no file; raises load.BadResult."""
    if not path.exists():
        return []
    entries = load.read_json(path)
    load.check(path, entries, json.loads(schema.read_text(encoding="utf-8")))
    return entries


def read_limits(folder: Path) -> list[dict[str, Any]]:
    """The register limits that are there, none when there is no file; raises load.BadResult."""
    return _read_list(folder / LIMITS_FILE, LIMITS_SCHEMA_PATH)


def with_kept_limits(folder: Path, new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """New register limits, with those that are there already of other targets and compilers.

    Raises load.BadResult.
    """
    limits = {made_by(limit["target"], limit["compiler"]): limit for limit in [*read_limits(folder), *new]}
    return [limits[key] for key in sorted(limits, key=target_order)]


def read_occupancy(folder: Path) -> list[dict[str, Any]]:
    """The occupancies that are there and as the rules say; raises load.BadResult."""
    path = folder / OCCUPANCY_FILE
    found = _read_list(path, OCCUPANCY_SCHEMA_PATH)
    for entry in found:
        try:
            occupancy.check(entry)
        except occupancy.OccupancyError as error:
            raise load.BadResult(f"{path}: {error}.") from error
    return found


def with_kept_occupancy(folder: Path, new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """New occupancies, with those that are there already of other targets and compilers.

    Raises load.BadResult.
    """
    entries = {(made_by(entry["target"], entry["compiler"]), entry["lanes"]): entry
               for entry in [*read_occupancy(folder), *new]}
    return [entries[key] for key in sorted(entries, key=lambda key: (target_order(key[0]), key[1]))]


def make_folder(folder: Path) -> Path:
    """Makes the folder, and one inside it to write to first; raises IsaError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=folder, prefix=".isa-report-"))
    except OSError as error:
        raise IsaError(f"the folder {folder} cannot be written to: {error.strerror}.", 2) from error


def replace_files(folder: Path, aside: Path, files: Mapping[str, bytes]) -> None:
    """Writes all files, by their path below `folder`, or none; raises IsaError."""
    try:
        for name, content in files.items():
            path = aside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(aside / name, folder / name)
    except OSError as error:
        raise _cannot_be_written(error, folder) from error


def _cannot_be_written(error: OSError, folder: Path) -> IsaError:
    return IsaError(f"{error.filename or folder} cannot be written: {error.strerror}.", 3)


def write_files(folder: Path, aside: Path, files: Mapping[str, bytes]) -> None:
    """As replace_files; plots, pages and results that are there but no longer among the files go."""
    replace_files(folder, aside, files)
    try:
        for old in [*result_files(folder), *folder.glob("plots/*.svg"), *folder.glob("gfx*/*.md")]:
            if str(old.relative_to(folder)) not in files:
                old.unlink()
    except OSError as error:
        raise _cannot_be_written(error, folder) from error


def remove_folder(aside: Path) -> None:
    """Removes the folder that was written to first, and the one around it when that is empty."""
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.parent.rmdir()
    except OSError:
        pass
