"""What is known of each GPU, in a database beside the raw results, so that a report reads only what is new.

Tables: gpu (node, slot and what metrics.of_results found, less the figures), figure (the metrics, a row for each),
curve and axis. `sqlite3 fleet.sqlite` can ask them.
"""

from __future__ import annotations

import array
import hashlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hipscope.results import door
from hipscope.results.door import BadInput

from . import curves, layout, metrics
from .curves import Axis, Curve
from .layout import FleetError
from .metrics import Gpu, Metric

FILE = "fleet.sqlite"
SCHEMA = """
create table meta (digest text);
create table gpu (id integer primary key, node text, slot integer, signature text, record text, unique (node, slot));
create table metric (id integer primary key, name text, kind text, better text, unit text, part text,
                     unique (name, kind, better, unit, part));
create table figure (gpu integer, metric integer, value real, noise real, primary key (gpu, metric)) without rowid;
create table axis (id integer primary key, text text unique);
create table curve (gpu integer, axis integer, points blob, primary key (gpu, axis)) without rowid;
create view figures as select node, slot, name, value, unit, noise from figure
  join gpu on gpu.id = figure.gpu join metric on metric.id = figure.metric;
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
    for table in ("gpu", "metric", "figure", "axis", "curve"):
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
        self.aside = path
        self.gpus: dict[tuple[str, int], Gpu] = {}
        try:
            handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".fleet-")
            os.close(handle)
            self.aside = Path(aside)
            self.base = self._open_copy() or self._open_new()
        except (OSError, sqlite3.Error) as error:
            if self.aside != path:
                self.aside.unlink(missing_ok=True)
            raise FleetError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}.", 3) from error
        self.metric_ids: dict[tuple[str, ...], int] = {
            tuple(row[1:]): row[0] for row in self.base.execute("select id, name, kind, better, unit, part from metric")
        }
        self.axis_ids: dict[Axis, int] = {
            _axis(text): each for each, text in self.base.execute("select id, text from axis")
        }

    def _open_copy(self) -> sqlite3.Connection | None:
        """What an earlier report of this code left, if it is whole and as it was."""
        base = None
        try:
            content = door.read_bytes(self.path, MOST_BYTES)
            self.aside.write_bytes(content)
            base = self._connect()
            if base.execute("pragma quick_check(1)").fetchone() == ("ok",) and base.execute(
                "select digest from meta"
            ).fetchone() == (_digest(base),):
                self.gpus = load_gpus(base)
                return base
        except (BadInput, sqlite3.Error):
            pass
        if base is not None:
            base.close()
        return None

    def _open_new(self) -> sqlite3.Connection:
        self.aside.write_bytes(b"")
        base = self._connect()
        base.executescript(SCHEMA)
        return base

    def _connect(self) -> sqlite3.Connection:
        base = sqlite3.connect(self.aside)
        try:
            # The file is nobody else's yet, and is thrown away when something fails.
            base.execute("pragma journal_mode = off")
            base.execute("pragma synchronous = off")
        except sqlite3.Error:
            base.close()
            raise
        return base

    def update(self, places: Sequence[Place], jobs: int) -> dict[tuple[str, int], str]:
        """Reads what is new, forgets what is gone, and says what cannot be read; raises FleetError."""
        try:
            return self._update(places, jobs)
        except sqlite3.Error as error:
            raise FleetError(f"{self.path} cannot be written: {error}.", 3) from error

    def _update(self, places: Sequence[Place], jobs: int) -> dict[tuple[str, int], str]:
        there = {(place.node, place.slot): place for place in places}
        known = {
            (node, slot): (number, signature)
            for number, node, slot, signature in self.base.execute("select id, node, slot, signature from gpu")
        }
        stale = [
            number
            for key, (number, signature) in known.items()
            if key not in there or there[key].signature != signature
        ]
        for table, column in (("figure", "gpu"), ("curve", "gpu"), ("gpu", "id")):
            self.base.executemany(f"delete from {table} where {column} = ?", [(number,) for number in stale])
        self.gpus = {key: gpu for key, gpu in self.gpus.items() if key in there and known[key][0] not in set(stale)}
        new = [place for key, place in there.items() if key not in known or known[key][1] != place.signature]
        troubles = {}
        for read in read_all(new, jobs):
            if read.gpu is None:
                troubles[(read.place.node, read.place.slot)] = read.trouble
            else:
                self._put(read.place, read.gpu, read.curves)
                self.gpus[read.place.node, read.place.slot] = read.gpu
        self.base.execute("delete from meta")
        self.base.execute("insert into meta values (?)", (_digest(self.base),))
        self.base.commit()
        return troubles

    def _metric_id(self, name: str, metric: Metric) -> int:
        key = (name, metric.kind, metric.better, metric.unit, metric.group)
        if key not in self.metric_ids:
            made = self.base.execute("insert into metric (name, kind, better, unit, part) values (?, ?, ?, ?, ?)", key)
            self.metric_ids[key] = made.lastrowid or 0
        return self.metric_ids[key]

    def _axis_id(self, axis: Axis) -> int:
        if axis not in self.axis_ids:
            made = self.base.execute("insert into axis (text) values (?)", (json.dumps(asdict(axis)),))
            self.axis_ids[axis] = made.lastrowid or 0
        return self.axis_ids[axis]

    def _put(self, place: Place, gpu: Gpu, found: Iterable[Curve]) -> None:
        record = json.dumps(asdict(replace(gpu, metrics={})))
        number = self.base.execute(
            "insert into gpu (node, slot, signature, record) values (?, ?, ?, ?)",
            (place.node, place.slot, place.signature, record),
        ).lastrowid
        self.base.executemany(
            "insert into figure values (?, ?, ?, ?)",
            [
                (number, self._metric_id(name, metric), metric.value, metric.noise)
                for name, metric in gpu.metrics.items()
            ],
        )
        self.base.executemany(
            "insert or replace into curve values (?, ?, ?)",
            [
                (
                    number,
                    self._axis_id(curve.axis),
                    array.array("f", [NOT_A_NUMBER if value is None else value for value in curve.values]).tobytes(),
                )
                for curve in found
            ],
        )

    def close(self) -> None:
        """Leaves nothing but what was put in its place."""
        self.base.close()
        self.aside.unlink(missing_ok=True)


def load_gpus(base: sqlite3.Connection) -> dict[tuple[str, int], Gpu]:
    """All GPUs of the database, by node and slot."""
    names = {row[0]: row[1:] for row in base.execute("select id, name, kind, better, unit, part from metric")}
    gpus: dict[int, Gpu] = {}
    keys: dict[int, tuple[str, int]] = {}
    for number, node, slot, record in base.execute("select id, node, slot, record from gpu order by node, slot"):
        gpus[number] = metrics.from_json(json.loads(record))
        keys[number] = (node, slot)
    for number, metric, value, noise in base.execute("select gpu, metric, value, noise from figure"):
        name, kind, better, unit, part = names[metric]
        gpus[number].metrics[name] = Metric(value, kind, better, noise, unit, part)
    return {keys[number]: gpu for number, gpu in gpus.items()}


def _axis(text: str) -> Axis:
    """The axis that the database holds as this text."""
    fields: dict[str, Any] = json.loads(text)
    fields["xs"] = tuple(fields["xs"])
    return Axis(**fields)


def load_curves(base: sqlite3.Connection) -> Iterator[tuple[Axis, list[tuple[str, int, array.array[float]]]]]:
    """The curves over each axis: node, slot and values."""
    for number, text in base.execute("select id, text from axis order by id").fetchall():
        axis = _axis(text)
        found = []
        for node, slot, points in base.execute(
            "select node, slot, points from curve join gpu on gpu.id = curve.gpu where axis = ? order by node, slot",
            (number,),
        ):
            values = array.array("f")
            values.frombytes(points)
            found.append((node, slot, values))
        if found:
            yield axis, found
