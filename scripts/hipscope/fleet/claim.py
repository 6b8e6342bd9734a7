"""One run at a time measures a node into a folder: it holds a lock, which ends with its process, however that ends."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from hipscope.results import formats

from .layout import FleetError, now


def _locked(path: Path) -> io.FileIO:
    """The file, open, which no other run has locked; raises FleetError."""
    while True:
        try:
            file = open(path, "a+b", buffering=0)  # noqa: SIM115 (the caller closes it)
        except OSError as error:
            raise FleetError(f"{path} cannot be written: {error.strerror}.", 3) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            with file:
                file.seek(0)
                other = formats.plain(file.read(200).decode(errors="replace"))
            raise FleetError(
                f"another run ({other}) measures this node into {path.parent}; wait for it, or take another --out."
            ) from error
        except OSError as error:  # a disk without locks
            said = f"{path} cannot be locked ({error.strerror}): another run into this folder would not be noticed."
            print(f"fleet.py: {said}", file=sys.stderr)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        file.close()  # a run that has ended just now took it away


@contextlib.contextmanager
def claimed(folder: Path, job: str | None) -> Iterator[None]:
    """Holds a node's folder, and says in a file who does so; raises FleetError where another run holds it."""
    path = folder / "running"
    with _locked(path) as file:
        with contextlib.suppress(OSError):  # on a full disk the node's own file says so
            file.truncate(0)
            file.write(f"{f'job {job}, ' if job else ''}process {os.getpid()}, begun {now()}".encode())
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
