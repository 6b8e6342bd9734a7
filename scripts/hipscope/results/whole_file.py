"""Writes a file whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import stat
import tempfile
from pathlib import Path

from .ending import SIGNALS


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file aside, in the same folder, and renames it; raises OSError, which names the file.

    A device or pipe (/dev/null, /dev/stdout) is written to as it is: renamed over, it would be gone for
    every program of the machine. A link keeps pointing to where it does; of a loop of links there is no
    file to write. Who may read the file is as the old one says, else as of any new file.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        with open(path, "wb") as special:
            special.write(content)
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        write_aside(target, content)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def mode_of(path: Path) -> int:
    """The permissions of the file that is there, else those of a new one."""
    try:
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def write_aside(path: Path, content: bytes) -> None:
    """Does what write_whole says for a file that is neither special nor a link, with nothing held back."""
    mode = mode_of(path)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".report-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # mkstemp makes files that only their owner may read.
        os.chmod(aside, mode)
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise
