"""One run at a time measures a node into a folder: who does so says it in a file, and touches it while it lives."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import time
import uuid
from pathlib import Path
from typing import Any

from hipscope.results import door, shapes
from hipscope.results.door import BadInput

from .layout import FleetError, now

# A run that has not touched its file for so long has ended, by the clock of the disk it lies on.
LONGEST_SILENCE_S = 60.0
TOUCH_EVERY_S = 5.0
CLAIM = shapes.compiled({"type": "object", "properties": {"pid": {"type": "integer", "minimum": 1, "maximum": 2**31}}})


def _read(path: Path) -> str:
    try:
        return door.read_text(path).strip()
    except BadInput:
        return ""


def _machine() -> str:
    """What tells whether a process id of another run means anything here."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{socket.gethostname()} {_read(Path('/proc/sys/kernel/random/boot_id'))} {space}"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


class Claim:
    """That this process measures a node into a folder; raises FleetError where another one does."""

    def __init__(self, folder: Path, job: str | None) -> None:
        self.path = folder / "running"
        self.text = json.dumps(
            {"token": uuid.uuid4().hex, "machine": _machine(), "pid": os.getpid(), "job": job, "began": now()}
        )
        self.touched = 0.0
        for _ in range(2):
            if self._create():
                return
            self._set_aside_if_dead()
        raise FleetError(f"another run has just begun to measure this node into {folder}.")

    def _create(self) -> bool:
        """Makes the file; False where there is one."""
        try:
            with open(self.path, "x", encoding="utf-8") as file:
                file.write(self.text)
        except FileExistsError:
            return False
        except OSError as error:
            with contextlib.suppress(OSError):
                self.path.unlink()
            raise FleetError(f"{self.path} cannot be written: {error.strerror}.", 3) from error
        return True

    def _set_aside_if_dead(self) -> None:
        """Makes room where the run whose file this is has ended; raises FleetError where it lives."""
        text = _read(self.path)
        try:
            other: dict[str, Any] = door.checked_json(self.path, text.encode(), CLAIM)
        except BadInput:
            other = {}
        pid = other.get("pid")
        if other.get("machine") == _machine() and pid:
            ended = not _is_alive(pid)
        else:
            ended = self._silence_s() > LONGEST_SILENCE_S
        if not ended:
            job = f"job {other['job']}, " if other.get("job") else ""
            raise FleetError(
                f"another run ({job}process {pid}, begun {other.get('began')}) measures this node into "
                f"{self.path.parent}; wait for it, or take another --out."
            )
        aside = self.path.with_name(f"running.{uuid.uuid4().hex}")
        try:
            os.rename(self.path, aside)
        except OSError as error:
            if error.errno == errno.ENOENT:  # a third run was faster
                return
            raise FleetError(f"{self.path} cannot be replaced: {error.strerror}.", 3) from error
        if _read(aside) != text:
            os.rename(aside, self.path)
        else:
            aside.unlink(missing_ok=True)

    def _silence_s(self) -> float:
        """For how long the file was not touched, by the disk's own clock."""
        probe = self.path.with_name(f"running.{uuid.uuid4().hex}")
        try:
            probe.touch()
            silence = probe.stat().st_mtime - self.path.stat().st_mtime
            probe.unlink()
        except OSError:
            return 0.0
        return silence

    def touch(self) -> None:
        """Says, every few seconds, that this run lives."""
        if time.monotonic() - self.touched > TOUCH_EVERY_S:
            self.touched = time.monotonic()
            with contextlib.suppress(OSError):  # what it measures is still worth to be written
                os.utime(self.path)

    def release(self) -> None:
        """Ends the claim, if the file is still this run's."""
        if _read(self.path) == self.text:
            self.path.unlink(missing_ok=True)
