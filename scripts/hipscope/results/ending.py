"""How a program of this folder ends: by bad input, interrupted, or when nobody takes what it prints or writes."""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from . import formats
from .door import BadInput

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

    on_signals(end)


def on_signals(end: Callable[[int, Any], None]) -> None:
    """Has this called by each signal that is to end a program, but for those that are ignored, as nohup asks for."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)


Main = Callable[..., int]


def in_a_sentence(program: str, bad_input: int, not_written: int) -> Callable[[Main], Main]:
    """Of a program's main: what cannot be read, or written, is told in a sentence; these are the statuses then."""

    def wrap(main: Main) -> Main:
        @functools.wraps(main)
        def told(*arguments: Any) -> int:
            try:
                return main(*arguments)
            except BadInput as error:
                said, status = str(error), getattr(error, "status", bad_input)
            except OSError as error:
                if error.filename is None:  # standard output, of which run tells
                    raise
                said, status = f"{formats.plain(str(error.filename))} cannot be written: {error.strerror}.", not_written
            print(f"{program}: {said}", file=sys.stderr)
            return status

        return told

    return wrap


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
