"""The one door for what others wrote: results, nodes' files, tables, lists. What comes through it is to be trusted.

A file is a regular one of limited size; a JSON file follows its schema, its numbers are finite and its
texts stand on one line without characters that a terminal or a page would obey. All else is refused in a sentence.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import formats, shapes

MIB = 2**20
# A result of 100 000 rows has 20 MiB, the fleet.json of 10 000 GPUs as many; the rest has far less.
MOST_JSON, MOST_TEXT = 64 * MIB, 8 * MIB
LARGEST_INTEGER = 2**64
LONGEST_INTEGER = 21  # digits; longer ones take Python for ever
# What no number without is too large by.
LONG_NUMBER = re.compile(r"\d{19}|[eE]\+?\d{3}")


class BadInput(Exception):
    """What cannot be read, as one sentence on one line, whatever the names; its status, if the program's is another."""

    def __init__(self, sentence: str, status: int | None = None) -> None:
        super().__init__(formats.plain(sentence))
        if status is not None:
            self.status = status


def one_line(text: str) -> str:
    """The text on one line that a sentence has room for."""
    return formats.short(text, shapes.LONGEST_REASON)


def read_bytes(path: Path, most: int) -> bytes:
    """A regular file of no more than `most` bytes; raises BadInput.

    A pipe, which may be silent for ever, is none, but for one that a shell has made for this call: <(git show ...).
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            told = os.fstat(handle)
            if stat.S_ISFIFO(told.st_mode) and str(path).startswith("/dev/fd/"):
                os.set_blocking(handle, True)
            elif not stat.S_ISREG(told.st_mode):
                raise BadInput(f"{path} cannot be read: it is no regular file.")
            content = file.read(most + 1) if told.st_size <= most else b""
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    if told.st_size > most or len(content) > most:
        raise BadInput(f"{path} cannot be read: it has more than {most // MIB} MiB.")
    return content


def read_text(path: Path, most: int = MOST_TEXT) -> str:
    """A text in UTF-8; raises BadInput."""
    try:
        return read_bytes(path, most).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not a text file in UTF-8: {one_line(str(error))}.") from error


def read_csv(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a CSV file with these columns; raises BadInput."""
    try:
        reader = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True)
        rows = list(reader)
    except csv.Error as error:
        raise BadInput(f"{path} is not a CSV file: {one_line(str(error))}.") from error
    if tuple(reader.fieldnames or ()) != tuple(columns):
        raise BadInput(f"{path} does not begin with the columns {', '.join(columns)}.")
    for number, row in enumerate(rows, 1):
        if None in row or None in row.values():
            raise BadInput(f"{path} does not have {len(columns)} columns in its row {number}.")
    return [{name: formats.plain(cell) for name, cell in row.items()} for row in rows]


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _bounded(text: str) -> int:
    if len(text) > LONGEST_INTEGER or abs(int(text)) > LARGEST_INTEGER:
        raise ValueError(f"the number {text[:40]} is too large")
    return int(text)


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def _clean(value: Any) -> Any:
    """The same with every text on one line."""
    if isinstance(value, str):
        return value if value.isprintable() else formats.plain(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value


def checked_json(path: Path, content: bytes, follows: shapes.Check) -> Any:
    """What the JSON of a file says that follows a schema; raises BadInput."""
    try:
        text = content.decode("utf-8")
        hooks: dict[str, Any] = {"parse_float": _finite, "parse_int": _bounded} if LONG_NUMBER.search(text) else {}
        data = json.loads(text, parse_constant=_no_constant, **hooks)
    except RecursionError as error:
        raise BadInput(f"{path} is not a whole JSON file: it is nested too deep.") from error
    except ValueError as error:
        raise BadInput(f"{path} is not a whole JSON file: {one_line(str(error))}.") from error
    check(path, data, follows)
    return data if text.isascii() and "\\" not in text else _clean(data)


def check(path: Path, data: Any, follows: shapes.Check) -> None:
    """Raises BadInput where what a file holds does not follow the schema."""
    try:
        follows(data)
    except shapes.Wrong as wrong:
        raise BadInput(f"{path} does not follow the schema: {one_line(str(wrong))}.") from wrong


def read_json(path: Path, schema: str) -> Any:
    """A JSON file that follows a schema of results/; raises BadInput."""
    return checked_json(path, read_bytes(path, MOST_JSON), shapes.named(schema))


def entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The contents of a folder, by name; raises BadInput."""
    try:
        with os.scandir(folder) as found:
            yield from sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        raise BadInput(f"{folder} cannot be read: {error.strerror}.") from error
