"""Which GPU of a fleet is the slow one, how sure that is, and why it is slow."""

from __future__ import annotations

from dataclasses import dataclass, field

# The status of a GPU. Unjudged: its cohort is too small to tell what is normal, and there is no baseline.
PASS, SUSPECT, FAIL, UNJUDGED = "pass", "suspect", "fail", "unjudged"


@dataclass(frozen=True)
class Finding:
    """A metric of one GPU that is worse than its cohort's: `deficit` is the part by which it is.

    `z` is the deficit in standard deviations, `p` how often a good GPU is as far off by chance.
    """

    metric: str
    deficit: float
    z: float
    p: float
    value: float
    median: float
    unit: str


@dataclass
class Verdict:
    """What is said of one GPU: `cause` is in a word or two, `sentences` are for a reader."""

    key: str
    status: str
    cohort: str
    cause: str = ""
    findings: list[Finding] = field(default_factory=list)
    # Settings in which this GPU differs from most of its model: "power cap 500 where 120 of 128 have 700".
    drift: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
