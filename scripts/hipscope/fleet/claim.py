"""One run at a time measures a node into a folder: it holds a lock, which ends with its process, however that ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from hipscope.results import formats

from .layout import FleetError, now


@contextlib.contextmanager
def claimed(folder: Path, job: str | None) -> Iterator[None]:
    """Holds a node's folder, and says in a file who does so; raises FleetError where another run holds it."""
    path = folder / "running"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise FleetError(f"{path} cannot be written: {error.strerror}.", 3) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            other = formats.plain(os.read(handle, 200).decode(errors="replace"))
            raise FleetError(
                f"another run ({other}) measures this node into {folder}; wait for it, or take another --out."
            ) from error
        except OSError:  # a disk without locks: nothing is known of other runs
            pass
        if not path.exists() or not os.path.samestat(os.fstat(handle), path.stat()):
            raise FleetError(f"another run into {folder} has ended just now; start this one again.")
        with contextlib.suppress(OSError):  # on a full disk the node's own file says so
            os.ftruncate(handle, 0)
            os.write(handle, f"{f'job {job}, ' if job else ''}process {os.getpid()}, begun {now()}".encode())
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)
