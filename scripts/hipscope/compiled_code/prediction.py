"""What share of a peak a kernel can reach by its compiled code: a bottleneck model. A prediction, never a measurement.

For a step of one block on a core (gpus.py) each unit has a time, in cycles, when the core is full of blocks:

    vector   cycles of the vector instructions of the block's waves, over the SIMDs
    matrix   the same of matrix instructions
    LDS      bytes of the block's accesses, over what LDS gives
    L1       bytes of its accesses to memory, over what the vector L1 gives
    L2       bytes that it asks L2 for, over the core's part of what L2 gives
    memory   bytes that come from memory, over the core's part of the bandwidth
    alone    what the block takes with the core to itself, over the blocks that a core has room for: for each phase
             between barriers the longest of a wave's own way through it, with all its waits, and of the units'
             times for the block. So latency counts as far as other waves do not fill it (Little). Where two halves
             of a block take turns, one is a barrier ahead of the other: a phase of one and the next of the other
             take place together.

The greatest decides. Blocks over cores, rounded up, is one more factor: the last round is partly empty. What the
model leaves out (demand.py says what) can only slow a kernel down: it predicts a bound.

A second prediction lets the SIMDs and LDS take turns: vector, matrix and LDS are added before the greatest is taken.
So did an MI100, by the figures that were published of it (prediction_page.py holds both against them).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field

from .gpus import Gpu

# The unit is named by what it is in a step's time.
UNITS = ("vector", "matrix", "LDS", "L1", "L2", "memory", "alone")


@dataclass
class Phase:
    """From one barrier to the next: cycles of the units for one wave, and of the wave when it has them alone."""

    wave: float = 0
    vector: float = 0
    matrix: float = 0
    lds: float = 0
    l1: float = 0


@dataclass
class Demand:
    """A step of one wave; bytes are of all its lanes."""

    instructions: int = 0
    vector_instructions: int = 0
    fmas: int = 0
    flops: float = 0
    waits: int = 0
    lds_bytes: int = 0
    loaded_bytes: int = 0
    stored_bytes: int = 0
    phases: list[Phase] = field(default_factory=list)


@dataclass(frozen=True)
class Block:
    """What a block takes of a core, and the number of blocks; None: too many for a last round to matter."""

    threads: int
    vgprs: int
    agprs: int
    lds_bytes: int
    count: int | None = None
    # The part of its waves that goes through a piece of code, where each has its own: half load, half multiply.
    active: float = 1.0
    takes_turns: bool = False

    def waves(self, gpu: Gpu) -> int:
        return -(-self.threads // gpu.lanes)

    def resident(self, gpu: Gpu) -> int:
        """How many blocks fit on a core, by registers and LDS; at least one, or it could not be launched."""
        by_registers = gpu.waves(self.vgprs, self.agprs) * gpu.simds // self.waves(gpu)
        by_lds = gpu.lds_kib * 1024 // self.lds_bytes if self.lds_bytes else by_registers
        return max(1, min(by_registers, by_lds))


@dataclass(frozen=True)
class Traffic:
    """Bytes of a block's step past L1: what L2 is asked for, and what comes from memory."""

    l2: float
    memory: float


@dataclass(frozen=True)
class Prediction:
    """A step's times by unit, the one that decides, and the share of the peak: as a bound, and with units in turn."""

    times: Mapping[str, float]
    bound: str
    share: float
    share_in_turn: float
    resident: int
    waves_per_simd: float
    rounds: float


def _in_turns(phases: list[Phase]) -> list[Phase]:
    """From barrier to barrier what a wave does on average if half of them are a phase behind. The loop's end goes on
    with its begin."""
    around = [Phase(*(last + first for last, first in zip(astuple(phases[-1]), astuple(phases[0])))), *phases[1:-1]]
    return [Phase(max(now.wave, before.wave), *((one + other) / 2 for one, other in
                                                zip(astuple(now)[1:], astuple(before)[1:])))
            for now, before in zip(around, [around[-1], *around])]


def _alone(phases: list[Phase], waves: float, simds: int) -> float:
    """A step of one block, with this many active waves, alone on the core."""
    on_a_simd = max(1.0, waves / simds)
    return sum(max(phase.wave, on_a_simd * phase.vector, on_a_simd * phase.matrix, waves * phase.lds, waves * phase.l1)
               for phase in phases)


def predict(demand: Demand, block: Block, traffic: Traffic, useful: float, gpu: Gpu) -> Prediction:
    """`useful` are the cycles that a core needs for the block's step at the peak that the share is of."""
    waves = block.waves(gpu) * block.active
    resident = block.resident(gpu)
    phases = demand.phases
    times = {
        "vector": waves / gpu.simds * sum(phase.vector for phase in phases),
        "matrix": waves / gpu.simds * sum(phase.matrix for phase in phases),
        "LDS": waves * sum(phase.lds for phase in phases),
        "L1": waves * sum(phase.l1 for phase in phases),
        "L2": traffic.l2 * gpu.cores / gpu.l2_bytes,
        "memory": traffic.memory / gpu.memory_bytes(),
        "alone": _alone(_in_turns(phases) if block.takes_turns else phases, waves, gpu.simds) / resident,
    }
    bound = max(UNITS, key=lambda unit: times[unit])
    of_a_core = block.count / gpu.cores if block.count else 1.0
    rounds = math.ceil(of_a_core) / of_a_core
    in_turn = max(times["vector"] + times["matrix"] + times["LDS"], times[bound])
    return Prediction(times, bound, useful / (times[bound] * rounds), useful / (in_turn * rounds), resident,
                      resident * block.waves(gpu) / gpu.simds, rounds)


def product_traffic(rows: int, columns: int, depth: int, value_bytes: int, size: int, at_once: int, panel_rows: int = 1,
                    sharing: int = 1) -> Traffic:
    """Of a product of `size` cubed by blocks with tiles, of which so many go on together.

    L2 is asked for both tiles of each. Neighbours have the same rows, others the same columns: blocks that go on
    together take a part of C that is as wide as C or as they are, or of panels as many rows of tiles high, and what
    they ask for in common memory gives once. Blocks that share B's tile ask L2 for it once.
    """
    asked = (rows + columns / sharing) * depth * value_bytes
    across = min(-(-at_once // panel_rows), max(1, size // columns))
    down = -(-at_once // across)
    given = (across * columns + down * rows) * depth * value_bytes / at_once
    return Traffic(asked, min(asked, given))
