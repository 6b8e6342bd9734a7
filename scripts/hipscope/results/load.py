"""Reads result files and refuses what does not follow the schema."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from . import formats, versions

SCHEMAS = Path(__file__).resolve().parents[3] / "results"
# The hardware card, which lies beside the results that it is made of.
CARD_JSON = "card.json"
# What else lies among results, and the schema of each: hardware cards, and what a fleet's nodes and report write.
OTHER_SCHEMAS = {
    CARD_JSON: "card-schema.json",
    "fleet.json": "fleet-schema.json",
    "node.json": "node-schema.json",
    "confirm.json": "node-schema.json",
}
LONGEST_REASON = 200
LARGEST_INTEGER = 2**64


class BadResult(Exception):
    """A file or folder that no report can be made of; the text is one sentence, on one line whatever the names."""

    def __init__(self, sentence: str) -> None:
        super().__init__(formats.plain(sentence))


@dataclass(frozen=True)
class Result:
    """One result file: `name` is its name without .json, safe as a part of a path."""

    name: str
    path: Path
    data: dict[str, Any]

    @property
    def title(self) -> str:
        """The experiment, with its variant when the file has one: thread_rate (wave64)."""
        experiment, _, variant = self.name.partition(".")
        return f"{experiment} ({variant})" if variant else experiment


def load_schema() -> dict[int, dict[str, Any]]:
    """The schemas of result files, by their version."""
    names = {1: "schema-1.json", 2: "schema-2.json", 3: "schema.json"}
    return {version: json.loads((SCHEMAS / name).read_text(encoding="utf-8")) for version, name in names.items()}


def load_card_schema() -> dict[str, Any]:
    """The schema of hardware cards."""
    return json.loads((SCHEMAS / "card-schema.json").read_text(encoding="utf-8"))


def load_other_schemas() -> dict[str, dict[str, Any]]:
    """The schemas of what is no result, by the file's name."""
    return {name: json.loads((SCHEMAS / schema).read_text(encoding="utf-8")) for name, schema in OTHER_SCHEMAS.items()}


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _bounded(text: str) -> int:
    if len(text) > 21 or abs(int(text)) > LARGEST_INTEGER:
        raise ValueError(f"the number {text[:40]} is too large")
    return int(text)


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def one_line(text: str) -> str:
    """The text on one line that a sentence has room for."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else line[:LONGEST_REASON] + " ..."


def read_json(path: Path) -> Any:
    """What a JSON file holds; raises BadResult."""
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text, parse_float=_finite, parse_int=_bounded, parse_constant=_no_constant)
    except OSError as error:
        raise BadResult(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise BadResult(f"{path} is not a whole JSON file: {one_line(str(error))}.") from error


def check(path: Path, data: Any, schema: dict[str, Any]) -> None:
    """Raises BadResult when what a file holds does not follow the schema."""
    validator = jsonschema.Draft202012Validator(schema)
    error = jsonschema.exceptions.best_match(validator.iter_errors(data))
    if error is not None:
        place = ".".join(str(part) for part in error.absolute_path) or "the file"
        raise BadResult(f"{path} does not follow the schema: {one_line(place)}: {one_line(error.message)}.")


def read_result(path: Path, schemas: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """What a result file of any version holds, as version 1 would; raises BadResult."""
    data = read_json(path)
    version = data.get("schema_version") if isinstance(data, dict) else None
    check(path, data, schemas[version if isinstance(version, int) and version in schemas else max(schemas)])
    try:
        return versions.expanded(data)
    except versions.Inconsistent as error:
        raise BadResult(f"{path} contradicts itself: {one_line(str(error))}.") from error


def load_any_name(path: Path, schemas: dict[int, dict[str, Any]]) -> Result:
    """The result in a file of whatever name, valid and named by its experiment; raises BadResult."""
    data = read_result(path, schemas)
    experiment = data["experiment"]
    # The schema's pattern lets a newline at the end through.
    if not re.fullmatch(r"[a-z][a-z0-9_]*", experiment):
        raise BadResult(f"{path} names no experiment: {one_line(repr(experiment))}.")
    return Result(experiment, path, data)


def load_result(path: Path, schema: dict[int, dict[str, Any]]) -> Result:
    """The result in a file that is named by its experiment, valid; raises BadResult."""
    found = load_any_name(path, schema)
    if not re.fullmatch(re.escape(found.name) + r"(\.[a-z0-9_]+)?", path.stem):
        raise BadResult(f"{path} holds the experiment {found.name}, which its name does not say.")
    return Result(path.stem, path, found.data)


def check_file(path: Path, schema: dict[int, dict[str, Any]], others: dict[str, dict[str, Any]]) -> None:
    """Raises BadResult when a result file, or one of those that lie among them, is not valid."""
    if path.name in others:
        check(path, read_json(path), others[path.name])
    else:
        load_result(path, schema)


def is_result(path: Path) -> bool:
    """Whether a JSON file of a results folder is one of a result."""
    return path.name not in OTHER_SCHEMAS and not path.name.startswith(".")


def device_of(result: Result) -> tuple[str, str, str]:
    """What all results of a folder have in common."""
    device = result.data["device"]
    return device["name"], device["architecture"], result.data["build"]["backend"]


def load_folder(folder: Path, schema: dict[int, dict[str, Any]]) -> list[Result]:
    """All results of a folder, by name; raises BadResult, also when they are of two devices or backends."""
    if not folder.is_dir():
        raise BadResult(f"there is no folder {folder}.")
    paths = sorted(path for path in folder.glob("*.json") if is_result(path))
    if not paths:
        raise BadResult(f"{folder} holds no result (*.json).")
    results = [load_result(path, schema) for path in paths]
    for result in results[1:]:
        if device_of(result) != device_of(results[0]):
            raise BadResult(f"{result.path} is of another device or backend than {results[0].path}.")
    return results


def count_valid(program: str, readers: Sequence[Callable[[], object]]) -> int:
    """Calls all readers of result files and says how many raise no BadResult; the exit status."""
    bad = 0
    for read in readers:
        try:
            read()
        except BadResult as error:
            print(f"{program}: {error}", file=sys.stderr)
            bad += 1
    print(f"{len(readers) - bad} valid, {bad} invalid")
    return 1 if bad else 0
