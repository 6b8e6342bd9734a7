"""What a step of a kernel asks of the units of a core, and how long it takes a wave that has them to itself.

A step is what the kernel repeats: an iteration of its main loop with the loops inside unrolled by how often they
run, or the whole code of a kernel without one. Its instructions go by once, in order, as one wave executes them:

- every instruction takes the wave's issue distance, a vector instruction the cycles of its kind on the SIMD,
  a matrix instruction those of the matrix unit, after the one before;
- accesses to LDS and to memory go through their pipes in order, at the pipe's width, and are there a latency later;
- s_waitcnt waits for those that it names, oldest first; a barrier ends a *phase*, since after it nobody goes on
  before all have come.

Conflicts in LDS's banks lengthen its accesses as bank_conflicts.py says.

Not in it: misses of the instruction cache, what a vector instruction waits for the result of the
one before (four cycles hide it on CDNA, other waves do on RDNA), branches not taken (all code counts, but what
product_step says).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass

from .assembly import Function, category, count_fmas
from .bank_conflicts import NO_CONFLICTS, Conflicts
from .gpus import Gpu
from .loops import Loop, find_loops, straight_code
from .prediction import Demand, Phase

VECTOR_KINDS = (
    ("to_agpr", r"v_accvgpr_write\w*"),
    # Transcendental functions and products of whole 32-bit numbers.
    ("quarter", r"v_(?:rcp|rsq|sqrt|log|exp|sin|cos)_\w+|v_mul_(?:lo|hi)_[iu]32\w*|v_mad_[iu]64_[iu]32\w*"),
    ("double", r"v_\w*_f64(?:_\w+)?"),
    ("wide", r"v_(?:lshl|lshr|ashr)\w*_[bi]64\w*|v_lshl_add_u64\w*"),
    ("full", r"v_\w+"),
)
_KINDS = tuple((kind, re.compile(pattern)) for kind, pattern in VECTOR_KINDS)
_WIDTHS = {"b8": 1, "u8": 1, "i8": 1, "ubyte": 1, "sbyte": 1, "byte": 1, "b16": 2, "u16": 2, "i16": 2, "ushort": 2,
           "sshort": 2, "short": 2, "f16": 2, "b32": 4, "u32": 4, "i32": 4, "f32": 4, "dword": 4, "b64": 8,
           "u64": 8, "f64": 8, "dwordx2": 8, "b96": 12, "dwordx3": 12, "b128": 16, "dwordx4": 16}
_WIDTH = re.compile("_(" + "|".join(sorted(_WIDTHS, key=len, reverse=True)) + r")(?:_|$)")
_MATRIX = re.compile(r"v_(?:mfma|wmma)_\w*?_(\d+)x(\d+)x(\d+)_?(f16|bf16|f32|f64|xf32|i8|fp8|f8f6f4)")
# Products of two halves each, added in FP32: two FMAs.
_DOT = re.compile(r"v_(?:dual_)?dot2c?(?:acc)?_f32_f16(?:_\w+)?")
_MOST_LEFT = {"vmcnt": 63, "lgkmcnt": 63, "vscnt": 63, "kmcnt": 31}
# What gfx12 has in place of s_waitcnt, each with its counter; a wait for two counts has the second in the lower byte.
_WAITS_OF_GFX12 = {"loadcnt": "vmcnt", "dscnt": "lgkmcnt", "storecnt": "vscnt", "kmcnt": "kmcnt"}
_WAIT_OF_GFX12 = re.compile(rf"s_wait_({'|'.join(_WAITS_OF_GFX12)})(?:_(dscnt))? (\w+)")


class UnknownStep(ValueError):
    """The code is not what the case says of it."""


def access_bytes(name: str) -> int:
    """Of a lane's access: two places where the name says so."""
    match = _WIDTH.search(name)
    width = _WIDTHS[match[1]] if match else 4
    return width * (2 if re.match(r"ds_\w*2(?:st64)?_b\d+|ds_\w*2addr\w*", name) else 1)


def vector_cycles(text: str, gpu: Gpu) -> int:
    """Of a SIMD for a vector instruction; the slower half of one of two halves counts."""
    names = [half.split()[0] for half in text.split("::")]
    return max(gpu.vector_cycles[next(kind for kind, pattern in _KINDS if pattern.fullmatch(name))]
               for name in names)


def count_macs(text: str) -> int:
    """Multiply-adds of a lane by a vector instruction: FMAs, and products of two halves."""
    return count_fmas(text) + 2 * sum(bool(_DOT.fullmatch(half.split()[0])) for half in text.split("::"))


def matrix_flops(name: str) -> tuple[int, str]:
    """Operations of a matrix instruction for a wave, and the format that its peak is of (f8f6f4's: of FP8)."""
    match = _MATRIX.match(name)
    if match is None:
        raise UnknownStep(f"{name} is not a matrix instruction that is known")
    rows, columns, depth = (int(match[number]) for number in (1, 2, 3))
    blocks = 2 if (rows, depth, match[4]) == (32, 1, "f32") else 1
    formats = {"f64": "FP64", "f32": "FP32", "xf32": "FP32", "fp8": "FP8", "f8f6f4": "FP8"}
    return 2 * rows * columns * depth * blocks, formats.get(match[4], "FP16")


def matrix_cycles(name: str, gpu: Gpu) -> float:
    """Of a SIMD's matrix unit, by the vendor's peak; gfx950 takes as long for half of its k (LLVM, SISchedule.td)."""
    flops, values = matrix_flops(name)
    is_old = gpu.target == "gfx950" and re.search(r"_(?:32x32x8|16x16x16)_?f16|_32x32x16_fp8", name)
    return flops * gpu.simds / gpu.peaks[f"matrix {values}"] * (2 if is_old else 1)


def _left(text: str, counter: str) -> int:
    """How many of a counter's accesses may still be in flight after this wait."""
    if re.fullmatch(r"s_waitcnt 0", text):
        return 0
    if newer := _WAIT_OF_GFX12.match(text):
        left = int(newer[3], 0)
        counts = {newer[1]: left >> 8, newer[2]: left & 0xFF} if newer[2] else {newer[1]: left}
        return next((count for name, count in counts.items() if _WAITS_OF_GFX12[name] == counter), _MOST_LEFT[counter])
    match = re.search(rf"\b{counter}\((\d+)\)", text) or re.match(rf"s_waitcnt_{counter} \w+, (\w+)", text)
    return int(match[1], 0) if match else _MOST_LEFT[counter]


def _waits(text: str) -> bool:
    return text.startswith("s_waitcnt") or _WAIT_OF_GFX12.match(text) is not None


class Wave:
    """A wave that goes through a step; what an instruction does, says the class of a vendor's."""

    def __init__(self, gpu: Gpu, latency: int) -> None:
        self._gpu, self._latency = gpu, latency
        self._now = self._began = 0.0
        self._free = {"matrix": 0.0, "lds": 0.0, "l1": 0.0}
        self._phase = Phase()

    def go_twice(self, code: Sequence[str]) -> Demand:
        """What the step asks for the second time, with the loads of the first one still in flight."""
        self._go(code)
        return self._go(code)

    def _go(self, code: Iterable[str]) -> Demand:
        demand = Demand()
        self._began = self._now
        for text in code:
            demand.instructions += 1
            self._execute(text, demand)
        self._end_phase(demand)
        return demand

    def _end_phase(self, demand: Demand) -> None:
        self._phase.wave = self._now - self._began
        demand.phases.append(self._phase)
        self._phase, self._began = Phase(), self._now

    def _in_matrix_unit(self, cycles: float, flops: float, demand: Demand) -> float:
        """When an instruction of matrices begins, after the one before."""
        demand.vector_instructions += 1
        demand.fmas += 1
        demand.flops += flops
        self._phase.matrix += cycles
        begin = max(self._now, self._free["matrix"])
        self._free["matrix"] = begin + cycles
        return begin

    def _through(self, pipe: str, cycles: float) -> float:
        """When an access is through its pipe, after those before."""
        setattr(self._phase, pipe, getattr(self._phase, pipe) + cycles)
        self._free[pipe] = max(self._free[pipe], self._now) + cycles
        return self._free[pipe]

    def _execute(self, text: str, demand: Demand) -> None:
        raise NotImplementedError


class _AmdWave(Wave):
    def __init__(self, gpu: Gpu, latency: int, conflicts: Conflicts) -> None:
        super().__init__(gpu, latency)
        self._conflicts = conflicts
        # When the accesses in flight will be there, oldest first.
        self._in_flight = {counter: deque[float]() for counter in _MOST_LEFT}
        self._has_vscnt = gpu.target.startswith("gfx1")
        self._of_scalars = "kmcnt" if gpu.target.startswith("gfx12") else "lgkmcnt"

    def _execute(self, text: str, demand: Demand) -> None:
        name, kind, issue = text.split()[0], category(text), self._gpu.issue_cycles
        macs = count_macs(text)
        if macs or kind == "valu":
            cycles = vector_cycles(text, self._gpu)
            self._phase.vector += cycles
            demand.vector_instructions += 1
            demand.fmas += macs > 0
            demand.flops += 2.0 * macs * self._gpu.lanes
            self._now += max(cycles, issue)
        elif kind == "matrix":
            self._now = issue + self._in_matrix_unit(matrix_cycles(name, self._gpu), matrix_flops(name)[0], demand)
        elif kind in ("lds", "vector_memory"):
            self._access(name, kind, demand)
        elif kind == "scalar_memory":
            self._in_flight[self._of_scalars].append(self._now + self._gpu.l2_latency)
            self._now += issue
        else:
            demand.waits += _waits(text)
            self._now += issue
            self._wait(text)
            if name in ("s_barrier", "s_barrier_wait"):
                self._end_phase(demand)

    def _access(self, name: str, kind: str, demand: Demand) -> None:
        count = access_bytes(name) * self._gpu.lanes
        stores = "store" in name or "write" in name
        if kind == "lds":
            # A bank gives 4 bytes, however few of them are asked for.
            count = max(count, 4 * self._gpu.lanes)
            pipe, latency, counter = "lds", self._gpu.lds_latency, "lgkmcnt"
            cycles = count / self._gpu.lds_bytes * (self._conflicts.stores if stores else self._conflicts.loads)
            demand.lds_bytes += count
        else:
            pipe, latency, cycles = "l1", self._latency, count / self._gpu.l1_bytes
            counter = "vscnt" if stores and self._has_vscnt else "vmcnt"
            demand.stored_bytes += count if stores else 0
            demand.loaded_bytes += 0 if stores else count
        self._in_flight[counter].append(self._through(pipe, cycles) + latency)
        self._now += self._gpu.issue_cycles

    def _wait(self, text: str) -> None:
        if not _waits(text):
            return
        for counter, in_flight in self._in_flight.items():
            while len(in_flight) > _left(text, counter):
                self._now = max(self._now, in_flight.popleft())


def demand_of(code: Sequence[str], gpu: Gpu, latency: int, conflicts: Conflicts = NO_CONFLICTS) -> Demand:
    """Of a step's instructions, when a load takes so long."""
    return _AmdWave(gpu, latency, conflicts).go_twice(code)


# --- Which instructions a step consists of ----------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """The instructions, in order, what they were found as, how often the hot loop runs in it, and the steps in it."""

    code: list[str]
    label: str
    trips: int = 1
    steps: int = 1


def busiest_loop(function: Function) -> Step:
    """The loop with the most accesses to memory, those inside it once; raises UnknownStep where there is none."""
    def accesses(loop: Loop) -> int:
        return sum(category(instruction.text) == "vector_memory" for instruction in loop.instructions)

    found = max((loop for loop in find_loops(function) if loop.innermost), key=accesses, default=None)
    if found is None or not accesses(found):
        raise UnknownStep("there is no loop that loads or stores")
    return Step([instruction.text for instruction in found.instructions], found.label)


def lane_macs(text: str, gpu: Gpu) -> float:
    """Multiply-adds of a lane by an instruction; of one of matrices its part."""
    macs = count_macs(text)
    if not macs and category(text) == "matrix":
        return matrix_flops(text.split()[0])[0] / 2 / gpu.lanes
    return macs


def _macs(loop: Loop, of: Callable[[str], float]) -> float:
    return sum(of(instruction.text) for instruction in loop.instructions)


def _inside(outer: Loop, inner: Loop) -> bool:
    return inner is not outer and inner.depth > outer.depth and (
        outer.instructions[0].address <= inner.instructions[0].address <= outer.instructions[-1].address)


def whole(function: Function) -> Step:
    return Step([instruction.text for instruction in function.instructions], "all")


def product_step(function: Function, macs_of: Callable[[str], float], macs: float, copies: Sequence[int] = ()
                 ) -> Step:
    """The step of a matrix product in which each thread does `macs` multiply-adds.

    It is the hot loop when one iteration, or several, are a step; else the loop around it, in which it runs as
    often as the multiply-adds say, by `macs_of` each instruction. `copies` is how often the other loops inside run,
    in their order (default: once). Straight code beside the hot loop with as many multiply-adds is a turn of it.
    Other code that multiplies is for what the hot loop leaves of a depth, which here is nothing: it never runs.
    Raises UnknownStep where that does not come out even.
    """
    loops = find_loops(function)
    hot = max((loop for loop in loops if loop.innermost), key=lambda loop: _macs(loop, macs_of), default=None)
    if hot is None or not _macs(hot, macs_of):
        raise UnknownStep("there is no loop that multiplies and adds")
    trips = macs / _macs(hot, macs_of)
    if (1 / trips).is_integer():
        return Step([instruction.text for instruction in hot.instructions], hot.label, steps=round(1 / trips))
    around = max((loop for loop in loops if _inside(loop, hot)), key=lambda loop: loop.depth, default=None)
    if not trips.is_integer() or around is None:
        raise UnknownStep(f"the hot loop has {_macs(hot, macs_of):g} multiply-adds, a step {macs:g}")
    inner = [loop for loop in loops if _inside(around, loop)]
    if any(not loop.innermost for loop in inner):
        raise UnknownStep("the loops are nested three deep")
    others = [loop for loop in inner if loop is not hot]
    runs = copies or [int(not _macs(loop, macs_of)) for loop in others]
    counts = {loop.label: 1 for loop in others} | dict(zip((loop.label for loop in others), runs))
    own = ({one.address for one in around.instructions}
           - {one.address for loop in inner for one in loop.instructions})
    pieces = [(piece, sum(macs_of(one.text) for one in piece)) for piece in straight_code(function)
              if piece[0].address in own]
    peeled = sum(found == _macs(hot, macs_of) for _, found in pieces)
    skipped = {one.address for piece, found in pieces if 0 < found != _macs(hot, macs_of) for one in piece}
    counts[hot.label] = int(trips) - peeled
    return Step(_repeat(around, [(loop, counts[loop.label]) for loop in inner], skipped), hot.label, int(trips))


def _repeat(outer: Loop, inner: Sequence[tuple[Loop, int]], skipped: Set[int]) -> list[str]:
    """The outer loop's code in order, with each inner loop's in its place as often as it runs; of its own code not
    what is skipped."""
    owner = {id(instruction): number for number, (loop, _) in enumerate(inner) for instruction in loop.instructions}
    code: list[str] = []
    done: set[int] = set()
    for instruction in outer.instructions:
        number = owner.get(id(instruction))
        if number is None and instruction.address not in skipped:
            code.append(instruction.text)
        elif number is not None and number not in done:
            done.add(number)
            loop, times = inner[number]
            code.extend([one.text for one in loop.instructions] * times)
    return code
