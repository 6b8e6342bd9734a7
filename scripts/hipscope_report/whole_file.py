"""Writes a file whole or not at all."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

from .ending import SIGNALS


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file aside, in the same folder, and renames it; raises OSError, which names the file.

    A device or pipe (/dev/null, /dev/stdout) is written to as it is: renamed over, it would be gone for
    every program of the machine. A link keeps pointing to where it does.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        with open(path, "wb") as special:
            special.write(content)
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        write_aside(Path(os.path.realpath(path)), content)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def write_aside(path: Path, content: bytes) -> None:
    """Does what write_whole says for a file that is neither special nor a link, with nothing held back."""
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".report-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # mkstemp makes files that only their owner may read.
        os.chmod(aside, 0o644)
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise
