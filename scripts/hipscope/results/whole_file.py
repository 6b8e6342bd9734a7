"""Writes files whole or not at all, and those that belong together all or none."""

from __future__ import annotations

import errno
import os
import signal
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from .ending import SIGNALS


def write_whole(path: Path, content: bytes) -> None:
    """Does what write_together says with one file."""
    write_together({path: content})


def write_together(files: Mapping[Path, bytes | None]) -> None:
    """Writes all files aside, each in its folder, and renames them at the end; raises OSError, which names the file.

    A file of None goes. A device or pipe (/dev/null, /dev/stdout) is written to as it is: renamed over, it would be
    gone for every program of the machine. A link keeps pointing to where it does; of a loop of links there is no file
    to write. Who may read a file is as the old one says, else as of any new file.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    asides: dict[Path, Path] = {}
    path = Path()
    try:
        for path, content in files.items():
            target = _target_of(path)
            if content is not None and not _is_special(path):
                asides[target] = _aside(target, content)
                os.chmod(asides[target], mode_of(target))
        for path, content in files.items():
            if content is not None and _is_special(path):
                _write_special(path, content)
        for path, aside in asides.items():
            os.replace(aside, path)
        for path, content in files.items():
            if content is None:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        for aside in asides.values():
            aside.unlink(missing_ok=True)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _target_of(path: Path) -> Path:
    """The file that a path means."""
    target = Path(os.path.realpath(path))
    for wrong, number in ((target.is_symlink(), errno.ELOOP), (target.is_dir(), errno.EISDIR)):
        if wrong:
            raise OSError(number, os.strerror(number))
    return target


def _write_special(path: Path, content: bytes) -> None:
    # Of a pipe that nobody reads it is said at once; where somebody does, it may take its time.
    handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(handle, True)
    with os.fdopen(handle, "wb") as special:
        special.write(content)


def mode_of(path: Path) -> int:
    """The permissions of the file that is there, else those of a new one."""
    try:
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _aside(path: Path, content: bytes) -> Path:
    """The content in a file of its own beside this one."""
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".report-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except BaseException:
        os.unlink(aside)
        raise
    return Path(aside)
