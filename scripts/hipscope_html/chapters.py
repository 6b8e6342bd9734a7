"""The project's chapters and the order of their experiments, as the README and docs/ have them."""

from __future__ import annotations

from collections.abc import Iterable

CHAPTERS = (
    ("Timing", ("timing",)),
    ("Threads and blocks", ("thread_rate", "launch_latency")),
    ("Compute resources", ("fma_loop", "cu_staircase", "ilp_tlp", "matrix_rate", "energy", "soak")),
    ("Registers", ("vgpr_limit", "sgpr_limit", "register_pressure")),
    ("Divergence", ("wave_divergence",)),
    ("Memory", ("memory_latency", "cache_line", "cache_sharing", "store_divergence", "nchw_index",
                "memory_channels", "memory_bandwidth", "atomics")),
    ("LDS (shared memory)", ("lds_latency", "lds_banks", "async_copies")),
    ("Math", ("math_functions",)),
    ("Whole kernels", ("reduction", "padding", "batchnorm", "sgemm", "dgemm", "hgemm")),
    ("Between host, devices and blocks", ("host_copies", "peer_copies", "grid_sync", "streams")),
)
# Where an experiment stands that no chapter names.
OTHER = "Other experiments"


def in_chapters(names: Iterable[str]) -> list[tuple[str, list[str]]]:
    """The chapters with the result names (thread_rate, thread_rate.wave64) that belong to each.

    A chapter without any is left out; variants follow their experiment.
    """
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        found.setdefault(name.partition(".")[0], []).append(name)
    chapters = [(f"{number} {title}", [name for one in experiments for name in found.pop(one, [])])
                for number, (title, experiments) in enumerate(CHAPTERS)]
    chapters.append((OTHER, [name for one in found.values() for name in one]))
    return [(title, members) for title, members in chapters if members]
