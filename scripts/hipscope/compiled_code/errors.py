"""Why there is no report."""

from __future__ import annotations

BAD_USAGE = 2
NO_COMPILER = 77


class IsaError(Exception):
    """The text is one sentence; `status` is what the program returns."""

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(text)
        self.status = status
