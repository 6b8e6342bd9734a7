"""How a program of this folder ends when it is interrupted, or when nobody takes what it prints."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

# Held back while a file is written: it is then whole, and no other is left beside it.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_on_signals(program: str) -> None:
    """Ends the program with status 130, 143 or 129 and a sentence when it is interrupted."""

    def end(number: int, _: Any) -> None:
        # At once, and no exception, which a library that is just at work might swallow.
        try:
            os.write(sys.stderr.fileno(), f"{program}: interrupted; every file is as it was or whole.\n".encode())
        finally:
            os._exit(128 + number)

    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup asks for
            signal.signal(number, end)


def run(program: str, main: Callable[[], int], output_failed: int) -> int:
    """Runs the program; `output_failed` is its status when standard output cannot be written."""
    end_on_signals(program)
    try:
        status = main()
        sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:
            raise
        # What is still buffered would fail once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"{program}: standard output cannot be written: {error.strerror}.", file=sys.stderr)
        return output_failed
    return status
