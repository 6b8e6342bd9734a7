"""Where a fleet's results lie, and the file in which a node says how it stands.

FOLDER/nodes/NODE/node.json                          how the node stands, written first and last
FOLDER/nodes/NODE/gpu-0/together/EXPERIMENT.json     measured with all GPUs of the node at work
FOLDER/nodes/NODE/gpu-0/alone/EXPERIMENT.json        measured with the others idle
FOLDER/nodes/NODE/confirm.json                       the same as node.json, of the measurements below
FOLDER/nodes/NODE/gpu-0/again-1/together/...         both once more, of a suspect or of a control (1, 2, 3)
FOLDER/fleet.json, fleet.md, fleet.html, ...         what `fleet.py report` makes
"""

from __future__ import annotations

import errno
import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hipscope.results import door
from hipscope.results.door import BadInput
from hipscope.results.whole_file import write_together

VERSION = 1
NODE_SCHEMA, FLEET_SCHEMA = "node-schema.json", "fleet-schema.json"
TOGETHER, ALONE, AGAIN = "together", "alone", "again-"
NODE_FILE, CONFIRM_FILE = "node.json", "confirm.json"
STARTED, FINISHED, FAILED = "started", "finished", "failed"
NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")


class FleetError(BadInput):
    """Why a run or report cannot go on."""


def now() -> str:
    """The date and time, as in a result."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def counted(count: int, what: str) -> str:
    """A number of something: 1 GPU, 2 GPUs."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def nodes_folder(folder: Path) -> Path:
    return folder / "nodes"


def node_folder(folder: Path, node: str) -> Path:
    return nodes_folder(folder) / node


def gpu_name(index: int) -> str:
    """A GPU's folder in that of its node, by its index there."""
    return f"gpu-{index}"


def gpu_folders(node: Path) -> list[tuple[int, Path]]:
    """The GPUs' folders in that of a node, with their indices and by them; raises BadInput."""
    folders = [Path(entry.path) for entry in door.entries(node) if entry.is_dir()]
    return sorted((int(match[1]), path) for path in folders if (match := re.fullmatch(r"gpu-(\d{1,4})", path.name)))


def _status(error: OSError) -> int:
    """The program's status when it cannot write: bad usage, unless the disk fails or is full."""
    return 3 if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE) else 2


def write_json(path: Path, data: Any) -> None:
    """Writes a JSON file whole or not at all; raises FleetError, also when the disk is full."""
    write_files({path: (json.dumps(data, indent=1) + "\n").encode("utf-8")})


def write_files(files: Mapping[Path, bytes | None]) -> None:
    """Does what write_together says; raises FleetError."""
    try:
        write_together(files)
    except OSError as error:
        raise FleetError(f"{error.filename} cannot be written: {error.strerror}.", _status(error)) from error


def make_folder(path: Path) -> None:
    """Makes a folder and those above it; raises FleetError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FleetError(f"the folder {path} cannot be made: {error.strerror}.", _status(error)) from error
