"""Runs programs side by side, each with a hard time limit, so that one that hangs takes nothing with it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# After SIGTERM a program may end by itself; after SIGKILL the kernel has to get it out of a driver's call.
GRACE_S, LAST_S = 3.0, 5.0
PAUSE_S = 0.02


@dataclass(frozen=True)
class Command:
    """What to run, and the files that take what it prints: errors, and where wanted its output."""

    words: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    output: Path = Path(os.devnull)
    cpus: frozenset[int] = frozenset()  # where it may run; empty: anywhere


@dataclass
class Outcome:
    """How a program ended. `status` is None when it could not even be killed; it then goes on as `pid`."""

    status: int | None
    timed_out: bool
    seconds: float
    pid: int
    trouble: str = ""  # why it was not started


class _Child:
    def __init__(self, command: Command) -> None:
        self.began = self.since = time.monotonic()
        self.outcome: Outcome | None = None
        self.signals = [signal.SIGTERM, signal.SIGKILL]
        self.timed_out = False
        try:
            # Into a file and not a pipe: nobody waits for a pipe that a stuck process holds open.
            with open(command.log, "wb") as log, open(command.output, "wb") as output:
                self.process = subprocess.Popen(
                    list(command.words),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=log,
                    env=dict(command.environment),
                    start_new_session=True,
                    preexec_fn=(lambda: os.sched_setaffinity(0, command.cpus)) if command.cpus else None,
                )
        except (OSError, subprocess.SubprocessError) as error:
            self.outcome = Outcome(127, False, 0.0, 0, f"cannot be started: {getattr(error, 'strerror', error)}")

    def signal_group(self, number: int) -> None:
        """Sends a signal to the program and to all that it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def look(self, limit_s: float) -> None:
        """Notes the end, and brings it about by one signal after the other when the time is over."""
        at, status = time.monotonic(), self.process.poll()
        if status is not None:
            # Its leftover processes must not run during the next measurement.
            self.signal_group(signal.SIGKILL)
            self.outcome = Outcome(status, self.timed_out, at - self.began, self.process.pid)
        elif at - self.since > (LAST_S, GRACE_S, limit_s)[len(self.signals)]:
            if not self.signals:
                self.outcome = Outcome(None, True, at - self.began, self.process.pid)
                return
            self.timed_out, self.since = True, at
            self.signal_group(self.signals.pop(0))


def _wait(children: Sequence[_Child], limit_s: float) -> None:
    while left := [child for child in children if child.outcome is None]:
        for child in left:
            child.look(limit_s)
        time.sleep(PAUSE_S)


def run_all(commands: Sequence[Command], limit_s: float) -> list[Outcome]:
    """Runs all at once and returns how each ended; what still runs is ended when a signal raises."""
    children: list[_Child] = []
    try:
        for command in commands:
            children.append(_Child(command))
        _wait(children, limit_s)
    except BaseException:
        _wait(children, 0)
        raise
    return [child.outcome for child in children if child.outcome]
