"""Child processes that several threads start, and that one interrupt ends."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence


class Stopped(Exception):
    """A thread that wants to start a program after the interrupt gets this."""


class Processes:
    """Runs programs; each has a process group of its own, since hipcc starts further ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(self, command: Sequence[str], environment: Mapping[str, str] | None = None,
            text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a program to its end, with `text` as its input; raises OSError when there is none."""
        with self._lock:
            if self._stopped:
                raise Stopped
            process = subprocess.Popen(
                command, env={**os.environ, **(environment or {})}, text=True, errors="replace",
                stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            )
            self._running.add(process)
        try:
            out, err = process.communicate(text)
        finally:
            with self._lock:
                self._running.discard(process)
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def stop(self) -> None:
        """Ends what runs, and lets nothing start any more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
