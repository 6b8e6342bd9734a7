"""The result files of a folder, each through the door and named as it should be."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import door, shapes, versions
from .door import BadInput
from .records import Json, Result, result_of

# The hardware card, which lies beside the results that it is made of.
CARD_JSON, CARD_SCHEMA = "card.json", "card-schema.json"
# What else lies among results, and the schema of each: hardware cards, and what a fleet's nodes and report write.
OTHER_SCHEMAS = {
    CARD_JSON: CARD_SCHEMA,
    "fleet.json": "fleet-schema.json",
    "node.json": "node-schema.json",
    "confirm.json": "node-schema.json",
}
# By version; a file of an unknown one is held to the newest.
RESULT_SCHEMAS = {1: "schema-1.json", 2: "schema-2.json", 3: "schema.json"}


def _schema_of(data: Any) -> shapes.Check:
    version = data.get("schema_version") if isinstance(data, dict) else None
    newest = RESULT_SCHEMAS[max(RESULT_SCHEMAS)]
    return shapes.named(RESULT_SCHEMAS.get(version, newest) if isinstance(version, int) else newest)


def document(path: Path) -> Json:
    """What a result file of any version and whatever name holds, as version 1 would have it; raises BadInput."""
    data = door.checked_json(path, door.read_bytes(path, door.MOST_JSON), _schema_of)
    try:
        return versions.expanded(data)
    except versions.Inconsistent as error:
        raise BadInput(f"{path} contradicts itself: {door.one_line(str(error))}.") from error


def load_any_name(path: Path) -> Result:
    """The result in a file of whatever name; raises BadInput."""
    told = document(path)
    return result_of(told["experiment"], path, told)


def load_result(path: Path) -> Result:
    """The result in a file that is named by its experiment; raises BadInput."""
    found = load_any_name(path)
    if not re.fullmatch(re.escape(found.name) + r"(\.[a-z0-9_]+)?", path.stem):
        raise BadInput(f"{path} holds the experiment {found.name}, which its name does not say.")
    return replace(found, name=path.stem)


def check_file(path: Path) -> None:
    """Raises BadInput when a result file, or one of those that lie among them, is not valid."""
    if path.name in OTHER_SCHEMAS:
        door.read_json(path, OTHER_SCHEMAS[path.name])
    else:
        load_result(path)


def result_paths(folder: Path) -> list[Path]:
    """The JSON files of a folder that are to be results, by name."""
    return sorted(
        path for path in folder.glob("*.json") if path.name not in OTHER_SCHEMAS and not path.name.startswith(".")
    )


def device_of(result: Result) -> tuple[str, str, str]:
    """What all results of a folder have in common."""
    return result.device.name, result.device.architecture, result.build.backend


def load_folder(folder: Path) -> list[Result]:
    """All results of a folder, by name; raises BadInput, also when they are of two devices or backends."""
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder}.")
    results = [load_result(path) for path in result_paths(folder)]
    if not results:
        raise BadInput(f"{folder} holds no result (*.json).")
    for result in results[1:]:
        if device_of(result) != device_of(results[0]):
            raise BadInput(f"{result.path} is of another device or backend than {results[0].path}.")
    return results


def count_valid(program: str, readers: Sequence[Callable[[], object]]) -> int:
    """Calls all readers of result files and says how many raise no BadInput; the exit status."""
    bad = 0
    for read in readers:
        try:
            read()
        except BadInput as error:
            print(f"{program}: {error}", file=sys.stderr)
            bad += 1
    print(f"{len(readers) - bad} valid, {bad} invalid")
    return 1 if bad else 0
