"""NVIDIA's machine code, as cuobjdump -sass lists it, and what a step of it asks of a multiprocessor.

So that the model of prediction.py can be held against a GPU whose times are known. An instruction's text begins with
what its encoding says beside it: after how many cycles the warp may issue the next one, the scoreboards that are set
until its result is there and until its operands are read (7: none), and those that it waits for, as a mask. (NVIDIA
documents none of this; Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, 2018.)
"""

from __future__ import annotations

import re
import subprocess
from collections import deque
from collections.abc import Sequence

from .assembly import Function, Instruction
from .demand import UnknownStep, Wave
from .gpus import Gpu
from .prediction import Demand

LONGEST_LISTING = 2**30  # bytes
# /*0010*/  @!P0 FFMA.FTZ R0, R1, R2, R3 ;  /* the low half of the encoding */, and the high half in a line of its own.
_FUNCTION = re.compile(r"\s*Function : (\S+)")
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+([^;]*?)\s*;")
_HIGH_HALF = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/")
_JUMP = re.compile(r"\bBRA\b.* (0x[0-9a-f]+)$")
_PARTS = re.compile(r"(\d+) (\d+) (\d+) (\d+) (?:@!?U?P\w+ )?((\w+)[\w.]*) ?(.*)")
_MATRIX = re.compile(r"[DH]MMA\.(16)x?(8)x?(4|8|16)\b")
# Of four warps at once (wgmma), of which each has a quarter of the rows; A and B, of 16 bits, come from LDS, where a
# descriptor (gdesc) says, or A from registers. They take the longer of what the unit does at its peak and of what LDS
# gives at 128 bytes a cycle: so it is in docs/2-compute.md, matrix_rate (m64n8k16 with A in LDS 18.02 cycles for 2304
# bytes, n64 to n256 32.02 to 128.0 on an H200).
_OF_FOUR_WARPS = re.compile(r"HGMMA\.(64)x(\d+)x(16)\b")
# The peak is that of products of four warps; those of one take longer (docs/2-compute.md, matrix_rate: 6.28 cycles, not
# 4, on an H200).
_OF_A_WARP = 6.28 / 4
# Cycles of a scheduler's 32 lanes for a warp, by pipe: a multiprocessor does 64 of these in a cycle, 16 of those (CUDA
# C++ Programming Guide, throughput of native arithmetic instructions, 9.0). All others are of full rate.
_PIPES = (
    ("fp64", 2, re.compile(r"D(?:FMA|ADD|MUL|SETP)\b")),
    ("transcendental", 8, re.compile(r"(?:MUFU|F2F|F2I|I2F)\b")),
    ("fma", 2, re.compile(r"IMAD\b(?!\.MOV)")),
    ("fma", 1, re.compile(r"(?:FFMA|FADD|FMUL|HFMA2|HADD2|HMUL2|IMAD\.MOV)\b")),
    ("integer", 2, re.compile(r"(?:IADD3|LEA|LOP3|SHF|ISETP|IABS|IMNMX|SEL|PRMT|F2FP|FSETP|FSEL|FMNMX)\b")),
)


def read_functions(listing: str) -> list[Function]:
    """All functions of a listing in its order, by their mangled names; the labels are the places that jumps name."""
    functions: list[Function] = []
    for line in listing.splitlines():
        if name := _FUNCTION.match(line):
            functions.append(Function(name[1]))
        elif functions and (found := _INSTRUCTION.match(line)):
            functions[-1].instructions.append(Instruction(found[2], 16, int(found[1], 16)))
        elif functions and functions[-1].instructions and (found := _HIGH_HALF.match(line)):
            control = int(found[1], 16) >> 41
            last = functions[-1].instructions[-1]
            last.text = f"{control & 15} {control >> 5 & 7} {control >> 8 & 7} {control >> 11 & 63} {last.text}"
    for function in functions:
        places = {one.address: index for index, one in enumerate(function.instructions)}
        _without_spins(function.instructions, places)
        targets = [int(jump[1], 16) for one in function.instructions if (jump := _JUMP.search(one.text))]
        function.labels = {hex(target): places[target] for target in targets if target in places}
    return functions


def _without_spins(code: list[Instruction], places: dict[int, int]) -> None:
    """A wait for a barrier in LDS tries once; where that fails, it jumps ahead to a loop that tries again. That loop is
    left out: how long it waits no code says."""
    for one in code:
        jump = _JUMP.search(one.text)
        target = int(jump[1], 16) if jump else 0
        if target > one.address and target in places:
            following = code[places[target]:places[target] + 6]
            back = next((found for each in following if (found := _JUMP.search(each.text))), None)
            if back and int(back[1], 16) >= target and any("TRYWAIT" in each.text for each in following):
                one.text = f"{' '.join(one.text.split()[:4])} NOP"


def read_resources(usage: str) -> dict[str, tuple[int, int]]:
    """By function its registers and its bytes of LDS, the kibibyte that every block takes with it; of a listing by
    cuobjdump -res-usage."""
    return {match[1]: (int(match[2]), int(match[3]))
            for match in re.finditer(r"Function (\S+):\n\s*REG:(\d+) \S+ SHARED:(\d+)", usage)}


def demangled(names: Sequence[str]) -> list[str]:
    """The names as C++ has them, without parameters and what does not tell them apart."""
    done = subprocess.run(["c++filt", "-p"], input="\n".join(names), capture_output=True, text=True, check=True)
    return [line.replace("(anonymous namespace)::", "").removeprefix("void ") for line in done.stdout.splitlines()]


def _bytes(name: str) -> int:
    """Of a lane's access."""
    if name.startswith("LDSM"):
        return 4 * int(name[-1])
    widths = re.findall(r"\.[US]?(8|16|64|128)\b", name)
    return int(widths[-1]) // 8 if widths else 4


def _parts(text: str) -> tuple[str, ...]:
    """Of an instruction: the four numbers, the name with modifiers and without, the operands."""
    found = _PARTS.match(text)
    if found is None:
        raise UnknownStep(f"'{text}' is no instruction")
    return found.groups()


def parts_of(text: str) -> tuple[str, str]:
    """An instruction's name without modifiers, and its operands."""
    _, operation, operands = _parts(text)[4:]
    return operation, operands


def lane_macs(text: str) -> float:
    """Multiply-adds of a lane by an instruction; of one of matrices its part."""
    name, operation, _ = _parts(text)[4:]
    if matrix := _MATRIX.match(name) or _OF_FOUR_WARPS.match(name):
        warps = 4 if operation == "HGMMA" else 1
        return int(matrix[1]) * int(matrix[2]) * int(matrix[3]) / 32 / warps
    if operation == "HFMA2" and ".MMA" not in name:
        return 2
    return float(operation in ("FFMA", "DFMA"))


class Reuse:
    """What FMAs keep of their operands for the next one (`.reuse`)."""

    def __init__(self) -> None:
        self._kept: dict[int, int] = {}

    def clashes(self, operands: str) -> int:
        """Registers that an FMA reads beyond one of each bank, even and odd; what was kept for it is not read."""
        sources = [re.search(r"\bR(\d+)(\.reuse)?", part) for part in operands.split(",")[1:]]
        registers = {place: int(source[1]) for place, source in enumerate(sources) if source}
        banks = [number % 2 for number in {number for place, number in registers.items()
                                           if self._kept.get(place) != number}]
        self._kept = {place: int(source[1]) for place, source in enumerate(sources) if source and source[2]}
        return max(0, max(banks.count(0), banks.count(1)) - 1)


class _Warp(Wave):
    def __init__(self, gpu: Gpu, latency: int) -> None:
        super().__init__(gpu, latency)
        self._scoreboards = [0.0] * 8
        # When the asynchronous copies since the last mark, and those of each mark before, will be there.
        self._copies, self._marks = 0.0, deque[float]()
        # When the asynchronous products of each group in flight will be there.
        self._products = deque[float]()
        self._pipes = {"issue": 0.0}
        self._reuse = Reuse()

    def _end_phase(self, demand: Demand) -> None:
        self._phase.vector, self._pipes = max(self._pipes.values()), {"issue": 0.0}
        super()._end_phase(demand)

    def _execute(self, text: str, demand: Demand) -> None:
        *numbers, name, operation, operands = _parts(text)
        stall, written, read, mask = map(int, numbers)
        waited = [self._scoreboards[number] for number in range(6) if mask >> number & 1]
        demand.waits += bool(waited)
        self._now = max(self._now, *waited) if waited else self._now
        clashes = self._reuse.clashes(operands) if operation == "FFMA" else 0
        self._pipes["issue"] += 1 + clashes
        begun, there = self._now, self._now + 20
        if operation in ("LDS", "STS", "LDSM", "LDG", "STG", "LDL", "STL", "LDGSTS"):
            begun, there = self._access(name, operation, demand)
        elif operation in ("DMMA", "HMMA"):
            self._matrix(text, name, demand)
        elif operation == "HGMMA":
            self._asynchronous_products(text, name, operands, demand)
        else:
            self._arithmetic(text, name, demand)
        self._scoreboards[written] = max(self._scoreboards[written], there)
        self._scoreboards[read] = max(self._scoreboards[read], begun)
        if operation == "LDGDEPBAR":
            self._marks.append(self._copies)
        elif operation == "DEPBAR" and (left := re.search(r"0x([0-9a-f]+)$", operands)):
            while len(self._marks) > int(left[1], 16):
                self._now = max(self._now, self._marks.popleft())
        elif name.startswith("WARPGROUP.DEPBAR") and (left := re.search(r"0x([0-9a-f]+)$", operands)):
            while len(self._products) > int(left[1], 16):
                self._now = max(self._now, self._products.popleft())
        self._now += max(stall, 1) + clashes
        if operation == "BAR":
            self._end_phase(demand)

    def _arithmetic(self, text: str, name: str, demand: Demand) -> None:
        pipe = next(((pipe, cycles) for pipe, cycles, pattern in _PIPES if pattern.match(name)), None)
        if pipe is not None:
            macs = lane_macs(text)
            demand.vector_instructions += 1
            demand.fmas += macs > 0
            demand.flops += 2.0 * macs * self._gpu.lanes
            self._pipes[pipe[0]] = self._pipes.get(pipe[0], 0.0) + pipe[1]

    def _matrix(self, text: str, name: str, demand: Demand) -> None:
        flops = 2.0 * lane_macs(text) * self._gpu.lanes
        cycles = flops * self._gpu.simds / self._gpu.peaks["matrix FP64" if name[0] == "D" else "matrix FP16"]
        if name[0] == "H":
            cycles *= _OF_A_WARP
        self._now = self._in_matrix_unit(cycles, flops, demand)

    def _asynchronous_products(self, text: str, name: str, operands: str, demand: Demand) -> None:
        """The warp goes on; the last products of a group (gsb0) end it."""
        shape = _OF_FOUR_WARPS.match(name)
        if shape is None:
            raise UnknownStep(f"{name} is not of 16 bits")
        rows, columns, depth = map(int, shape.groups())
        from_lds = (rows * operands.split(", ")[1].startswith("gdesc") + columns) * depth * 2 // 4
        demand.lds_bytes += from_lds
        read = self._through("lds", from_lds / self._gpu.lds_bytes)
        flops = 2.0 * lane_macs(text) * self._gpu.lanes
        self._in_matrix_unit(flops * self._gpu.simds / self._gpu.peaks["matrix FP16"], flops, demand)
        if operands.endswith("gsb0"):
            self._products.append(max(read, self._free["matrix"]))

    def _access(self, name: str, operation: str, demand: Demand) -> tuple[float, float]:
        """When the operands will be read, and when the result will be there."""
        count = _bytes(name) * self._gpu.lanes
        pipe, width, latency = "l1", self._gpu.l1_bytes, self._latency
        if operation in ("LDS", "STS", "LDSM"):
            # A bank gives 4 bytes, however few of them are asked for.
            count = max(count, 4 * self._gpu.lanes)
            pipe, width, latency = "lds", self._gpu.lds_bytes, self._gpu.lds_latency
            demand.lds_bytes += count
        elif operation in ("STG", "STL"):
            demand.stored_bytes += count
        else:
            demand.loaded_bytes += count
        begun = self._through(pipe, count / width)
        if operation == "LDGSTS":
            self._phase.lds += count / self._gpu.lds_bytes
            self._copies = begun + latency
        return begun, begun + latency


def demand_of(code: Sequence[str], gpu: Gpu, latency: int) -> Demand:
    """Of a step's instructions, when a load takes so long."""
    return _Warp(gpu, latency).go_twice(code)
