"""What a comparison of two sides finds: every change with its verdict, and what only one side has."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

Json = dict[str, Any]

WORSE, BETTER, CHANGED, SAME = "worse", "better", "changed", "same"
# A time that changed with the clock while its cycles did not, and what two cards of one model may differ by.
CLOCK, CARD = "clock", "another card"


@dataclass(frozen=True)
class Change:
    """One thing that both runs have: `change` and `noise` are parts of the old value, not per cent.

    Of what is no number the texts stand in `old` and `new`, and there is no change; noise is None when
    it is not known. `cycles` is the change of a time's cycles, where both sides have a measured clock.
    """

    experiment: str
    sweep: str
    row: str
    what: str
    unit: str
    old: float | str | None
    new: float | str | None
    change: float | None = None
    noise: float | None = None
    verdict: str = SAME
    cycles: float | None = None

    @property
    def path(self) -> str:
        """What --only looks at."""
        return "/".join((self.experiment, self.sweep, self.row, self.what))


@dataclass(frozen=True)
class SweepChange:
    """The times of a sweep together: the median of its rows' changes, of times and of cycles."""

    experiment: str
    sweep: str
    rows: int
    change: float
    cycles: float | None
    verdict: str


@dataclass
class Comparison:
    """All that was compared, what only one side has, and what else differs between the sides."""

    changes: list[Change] = field(default_factory=list)
    sweeps: list[SweepChange] = field(default_factory=list)
    only_old: list[str] = field(default_factory=list)
    only_new: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)

    def as_json(self) -> Json:
        """All of it; what is no number, such as the part of zero that a change is, is null."""
        changes = [
            {
                name: None if isinstance(value, float) and not math.isfinite(value) else value
                for name, value in asdict(one).items()
            }
            for one in self.changes
        ]
        return {
            "conditions": self.conditions,
            "only_old": self.only_old,
            "only_new": self.only_new,
            "counts": self.counts(),
            "sweeps": [asdict(one) for one in self.sweeps],
            "changes": changes,
        }

    def counts(self) -> dict[str, int]:
        """How many changes have each verdict; those of clocks and cards only where there are any."""
        found = Counter(change.verdict for change in self.changes)
        return {
            verdict: found[verdict]
            for verdict in (WORSE, BETTER, CHANGED, SAME, CLOCK, CARD)
            if found[verdict] or verdict not in (CLOCK, CARD)
        }

    @property
    def is_worse(self) -> bool:
        return WORSE in {*(one.verdict for one in self.changes), *(one.verdict for one in self.sweeps)}
