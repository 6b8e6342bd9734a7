"""The result files of a folder, each through the door and named as it should be."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from . import door, expansion
from .door import BadInput
from .records import Json, Result, result_of

# The hardware card, next to the results that it is made of.
CARD_JSON, CARD_SCHEMA = "card.json", "card-schema.json"
# Other files among results, and the schema of each: hardware cards, and the files of a fleet's nodes and report.
OTHER_SCHEMAS = {
    CARD_JSON: CARD_SCHEMA,
    "fleet.json": "fleet-schema.json",
    "node.json": "node-schema.json",
    "confirm.json": "node-schema.json",
}
RESULT_SCHEMA = "schema.json"


def document(path: Path) -> Json:
    """What a result file of whatever name holds, with all that it leaves out; raises BadInput."""
    data = door.read_json(path, RESULT_SCHEMA)
    try:
        return expansion.expanded(data)
    except expansion.Inconsistent as error:
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
    """Raises BadInput when a result file, or another file among them, is not valid."""
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
