"""What a tier measures: experiments, their options, and how long one may take before it is ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One experiment, started once on each GPU."""

    experiment: str
    options: tuple[str, ...] = ()
    limit_s: float | None = None  # where it takes longer than its tier's others


@dataclass(frozen=True)
class Tier:
    """Steps with all GPUs of the node at work, and steps on one GPU after the other."""

    together: tuple[Step, ...]
    alone: tuple[Step, ...]
    limit_s: float


def _sweeps(experiment: str, *sweeps: str, options: tuple[str, ...] = ()) -> Step:
    return Step(experiment, (*options, "--filter", f"^({'|'.join(sweeps)})$"))


QUICK = ("--quick",)
# Of each of its two kinds of work: until a GPU's temperature stands still takes minutes.
SOAK_MILLISECONDS = "150000"

# Cycles of the arithmetic, of LDS and caches, of memory by latency and by rate, and the way to the host: a few
# seconds each, since with that many GPUs it matters most that all are measured in the same way.
SMOKE = Tier(
    together=(
        _sweeps("fma_loop", "rolled", options=QUICK),
        _sweeps("lds_latency", "chase", options=QUICK),
        _sweeps("memory_latency", "footprint", options=QUICK),
        _sweeps("memory_bandwidth", "stream", "l2", options=QUICK),
        _sweeps("matrix_rate", "peak", options=QUICK),
        _sweeps("host_copies", "to-device", "to-host", options=QUICK),
    ),
    alone=(
        _sweeps("memory_bandwidth", "stream", options=QUICK),
        _sweeps("host_copies", "to-device", "to-host", options=QUICK),
    ),
    limit_s=60,
)

STANDARD = Tier(
    together=(
        _sweeps("fma_loop", "rolled", "one-register"),
        _sweeps("ilp_tlp", "peak"),
        _sweeps("lds_latency", "chase", "atomics", "lanes", "barrier"),
        _sweeps("lds_banks", "width"),
        _sweeps("memory_latency", "footprint", "units"),
        _sweeps("memory_bandwidth", "stream", "l2", "footprint-read"),
        _sweeps("matrix_rate", "peak", "library"),
        _sweeps("hgemm", "stages"),
        _sweeps("sgemm", "stages"),
        _sweeps("reduction", "stages"),
        _sweeps("host_copies", "to-device", "to-host", "both", "latency"),
    ),
    alone=(
        _sweeps("memory_bandwidth", "stream"),
        _sweeps("matrix_rate", "peak", options=QUICK),
        _sweeps("host_copies", "to-device", "to-host", options=QUICK),
    ),
    limit_s=180,
)

SOAK = Tier(
    together=(*STANDARD.together, Step("soak", ("--milliseconds", SOAK_MILLISECONDS), limit_s=1800)),
    alone=STANDARD.alone,
    limit_s=STANDARD.limit_s,
)

TIERS = {"smoke": SMOKE, "standard": STANDARD, "soak": SOAK}
