"""What is known of each GPU, in a database beside the raw results, so that a report reads only what is new.

Tables: gpu (node, slot and, as JSON, what metrics.of_results found), curve and axis; the view figures has a row for
each metric. `sqlite3 fleet.sqlite` can ask them.
"""

from __future__ import annotations

import array
import functools
import hashlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hipscope.results import door
from hipscope.results.door import BadInput

from . import curves, layout, metrics
from .curves import Axis, Curve
from .layout import FleetError
from .metrics import Gpu

FILE = "fleet.sqlite"
SCHEMA = """
create table meta (digest text);
create table gpu (id integer primary key, node text, slot integer, signature text, record text, unique (node, slot));
create table axis (id integer primary key, text text unique);
create table curve (gpu integer, axis integer, points blob, primary key (gpu, axis)) without rowid;
create view figures as select node, slot, key as name, json_extract(value, '$.value') as value,
  json_extract(value, '$.unit') as unit, json_extract(value, '$.noise') as noise
  from gpu, json_each(record, '$.metrics');
"""
NOT_A_NUMBER = float("nan")
CHUNK = 16
# That of 10 000 GPUs has 200 MiB.
MOST_BYTES = 1024 * door.MIB


@dataclass(frozen=True)
class Place:
    """A GPU's folder, and what changes when there is something new in it."""

    node: str
    slot: int
    folder: Path
    signature: str


@dataclass(frozen=True)
class Read:
    """What a GPU's folder holds, or why it cannot be read."""

    place: Place
    gpu: Gpu | None
    curves: tuple[Curve, ...] = ()
    trouble: str = ""


def _digest(base: sqlite3.Connection) -> str:
    """Changes when what is read from a result does, and with every row that somebody else has touched."""
    files = [Path(module.__file__ or "") for module in (metrics, curves)]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files))
    for table in ("gpu", "axis", "curve"):
        for row in base.execute(f"select * from {table} order by 1, 2"):
            digest.update(repr(row).encode())
    return digest.hexdigest()


def read_gpu(place: Place) -> Read:
    try:
        results = metrics.read(place.folder)
        gpu = metrics.of_results(results)
        # On a node a GPU is known by its slot; a UUID may be told twice, or not at all.
        gpu.identity = replace(gpu.identity, key=f"{place.node}/{layout.gpu_name(place.slot)}", host=place.node)
        return Read(place, gpu, tuple(curves.collect(results)))
    except BadInput as error:
        return Read(place, None, (), f"its results cannot be read: {error}")


def read_all(places: Sequence[Place], jobs: int) -> Iterator[Read]:
    """Reads the results of many GPUs, in several processes."""
    if jobs == 1 or len(places) <= CHUNK:
        yield from map(read_gpu, places)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(read_gpu, places, chunksize=CHUNK)


class Store:
    """The database, changed in a copy that takes its place with the report's other files; `gpus` are those in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.gpus: dict[tuple[str, int], Gpu] = {}
        self.aside = path
        self.base = sqlite3.connect(":memory:")
        try:
            handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".fleet-")
            os.close(handle)
            self.aside = Path(aside)
            if not self._is_as_it_was():
                self._open(b"")
                self.base.executescript(SCHEMA)
        except (OSError, sqlite3.Error) as error:
            if self.aside != path:
                self.aside.unlink(missing_ok=True)
            raise FleetError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}.", 3) from error

    def _open(self, content: bytes) -> None:
        self.base.close()
        self.aside.write_bytes(content)
        self.base = sqlite3.connect(self.aside)
        # The file is nobody else's yet, and is thrown away when something fails.
        self.base.execute("pragma journal_mode = off")
        self.base.execute("pragma synchronous = off")

    def _is_as_it_was(self) -> bool:
        """Opens what an earlier report of this code left; whether it is whole."""
        try:
            self._open(door.read_bytes(self.path, MOST_BYTES))
            asked = [self.base.execute(one).fetchone() for one in ("pragma quick_check(1)", "select digest from meta")]
            if asked != [("ok",), (_digest(self.base),)]:
                return False
            records = self.base.execute("select node, slot, record from gpu order by node, slot")
            self.gpus = {(node, slot): metrics.from_json(json.loads(record)) for node, slot, record in records}
        except (BadInput, sqlite3.Error):
            return False
        return True

    def update(self, places: Sequence[Place], jobs: int) -> dict[tuple[str, int], str]:
        """Reads what is new, forgets what is gone, and says what cannot be read; raises FleetError."""
        try:
            return self._update(places, jobs)
        except sqlite3.Error as error:
            raise FleetError(f"{self.path} cannot be written: {error}.", 3) from error

    def _update(self, places: Sequence[Place], jobs: int) -> dict[tuple[str, int], str]:
        there = {(place.node, place.slot): place for place in places}
        for number, node, slot, signature in self.base.execute("select id, node, slot, signature from gpu").fetchall():
            if (node, slot) not in there or there[node, slot].signature != signature:
                del self.gpus[node, slot]
                self.base.execute("delete from curve where gpu = ?", (number,))
                self.base.execute("delete from gpu where id = ?", (number,))
        troubles = {}
        for read in read_all([place for key, place in there.items() if key not in self.gpus], jobs):
            if read.gpu is None:
                troubles[read.place.node, read.place.slot] = read.trouble
            else:
                self._put(read.place, read.gpu, read.curves)
        self.base.execute("delete from meta")
        self.base.execute("insert into meta values (?)", (_digest(self.base),))
        self.base.commit()
        return troubles

    def _put(self, place: Place, gpu: Gpu, found: Sequence[Curve]) -> None:
        self.gpus[place.node, place.slot] = gpu
        number = self.base.execute(
            "insert into gpu (node, slot, signature, record) values (?, ?, ?, ?)",
            (place.node, place.slot, place.signature, json.dumps(asdict(gpu))),
        ).lastrowid
        self.base.executemany("insert or ignore into axis (text) values (?)", [(_text(one.axis),) for one in found])
        self.base.executemany(
            "insert or replace into curve select ?, id, ? from axis where text = ?",
            [
                (
                    number,
                    array.array("f", [NOT_A_NUMBER if value is None else value for value in curve.values]).tobytes(),
                    _text(curve.axis),
                )
                for curve in found
            ],
        )

    def close(self) -> None:
        """Leaves nothing but what was put in its place."""
        self.base.close()
        self.aside.unlink(missing_ok=True)


@functools.cache
def _text(axis: Axis) -> str:
    """The axis as the database holds it."""
    return json.dumps(asdict(axis))


def load_curves(base: sqlite3.Connection) -> Iterator[tuple[Axis, list[tuple[str, int, array.array[float]]]]]:
    """The curves over each axis: node, slot and values."""
    for number, text in base.execute("select id, text from axis order by id").fetchall():
        axis: dict[str, Any] = json.loads(text)
        axis["xs"] = tuple(axis["xs"])
        of_axis = (
            "select node, slot, points from curve join gpu on gpu.id = curve.gpu where axis = ? order by node, slot"
        )
        found = [(node, slot, array.array("f", points)) for node, slot, points in base.execute(of_axis, (number,))]
        if found:
            yield Axis(**axis), found
