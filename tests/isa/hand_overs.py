#!/usr/bin/env python3
"""Holds assembly for AMD GPUs to this: what a block hands over to another one is there when that one looks.

Usage: hand_overs.py [--devices] REGEX FILE...

Looked at are the kernels whose names the regular expression matches; of each of its alternatives one must hand over,
where there is code of any. In memory a block hands over by a mark, which is an atomic, or a store that says for whom it
is. Where a wave comes to a mark, its own stores, and those of its block's waves up to the last barrier, must have
ended, and where each XCD has an L2 (gfx94x, gfx950) that must have been written back. After a look, an atomic that
returns or a load past the CU's cache, no plain load may come before that cache has been emptied. What a fence of agent
scope is on each generation: AMDGPUUsage, "Memory Model", and for gfx12, whose L2 all CUs share, LLVM's
SIMemoryLegalizer.cpp (global_wb is for the scope of the system alone).
With --devices another device looks for what a kernel has stored, and that itself is the mark: before the kernel looks
in its turn all its stores must have ended, and where an L2 may hold them back (gfx90a, gfx94x, gfx950) that must have
been written back for the system.
Followed are all ways through a kernel. Exit status: 0 good, 1 not, 2 bad usage.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from lds_waits import Function, followers, read_functions

# What became of stores, from good to bad.
THERE, ON_ITS_WAY, IN_ONE_L2, UNDER_WAY = range(4)


@dataclass(frozen=True)
class Generation:
    """How a generation writes what a hand-over is made of, as regular expressions."""

    returns: str  # of an atomic
    past_the_cache: str  # of a load
    for_others: str  # of a store
    wait: str  # for all stores
    write_back: str
    empty: tuple[str, ...]  # each cache that the CU does not share with all others


_NEVER = r"(?!)"
# Before gfx940, and on RDNA 2 and 3, no store says so: where note_places has said it, one is taken for a mark.
_TO_ONE_PLACE = r" to one place$"
_AT_OFFSET = re.compile(r"\w+_store_(?:dword|b32) v(\d+), v\d+, s\[")
_SETS = re.compile(r"(?:\t|:: )(v_\w+|\w+_(?:load|read)\w*) v(?:(\d+)|\[(\d+):(\d+)\])(?:, ([^,\s]+))?")
_ALL_LOADS = r"s_waitcnt\b.*\bvmcnt\((?:0|0x0)\)"
_FOR_DEVICE = r"scope:SCOPE_(?:DEV|SYS)"
_VEGA = Generation(returns=r"\bglc\b", past_the_cache=r"\bglc\b", for_others=_TO_ONE_PLACE, wait=_ALL_LOADS,
                   write_back=_NEVER, empty=(r"buffer_wbinvl1",))
_CDNA_3 = Generation(returns=r"\bsc0\b", past_the_cache=r"\bsc1\b", for_others=r"\bsc1\b", wait=_ALL_LOADS,
                     write_back=r"buffer_wbl2 .*\bsc1\b", empty=(r"buffer_inv .*\bsc1\b",))
_RDNA_2 = replace(_VEGA, wait=r"s_waitcnt_vscnt null, 0x0", empty=(r"buffer_gl0_inv", r"buffer_gl1_inv"))
_RDNA_4 = Generation(returns=r"TH_ATOMIC_RETURN", past_the_cache=_FOR_DEVICE, for_others=_FOR_DEVICE,
                     wait=r"s_wait_storecnt(?:_dscnt)? 0x0", write_back=_NEVER, empty=(rf"global_inv {_FOR_DEVICE}",))
GENERATIONS = {"gfx9": _VEGA, "gfx94": _CDNA_3, "gfx95": _CDNA_3, "gfx10": _RDNA_2, "gfx11": _RDNA_2, "gfx12": _RDNA_4}
# Where a fence for the system does more than one for the agent.
_WRITES_BACK_FOR_SYSTEM = {"gfx90a": r"buffer_wbl2\b", "gfx94": r"buffer_wbl2 .*\bsc0 sc1\b",
                           "gfx95": r"buffer_wbl2 .*\bsc0 sc1\b"}
_TARGET = re.compile(r'\.amdgcn_target "amdgcn-amd-amdhsa--(gfx\w+)')
_ATOMIC = re.compile(r"(?:global|flat|buffer)_atomic_")
_TAKES = re.compile(r"\w+_atomic_cmpswap")  # what another block has told: a look, no mark
_STORE = re.compile(r"(?:global|flat|buffer)_store_")
_LOAD = re.compile(r"(?:global|flat|buffer)_load_")
_HARDWARE_BARRIER = re.compile(r"ds_gws_barrier")  # among all blocks: a mark and a look
_BARRIER = re.compile(r"s_barrier(?:_wait\b|$|_signal\b)")


@dataclass(frozen=True)
class State:
    """Of a wave: what became of its stores and of its block's before the last barrier, and the caches that may be
    old."""

    own: int = THERE
    of_block: int = THERE
    old: frozenset[int] = frozenset()


class Flow:
    """What an instruction does to that, on one generation."""

    def __init__(self, generation: Generation, for_devices: bool = False) -> None:
        self.generation = generation
        self.for_devices = for_devices

    def is_mark(self, instruction: str) -> bool:
        """Whether it tells others."""
        is_atomic = _ATOMIC.match(instruction) and not _TAKES.match(instruction)
        return bool(is_atomic or _HARDWARE_BARRIER.match(instruction)
                    or (_STORE.match(instruction) and re.search(self.generation.for_others, instruction)))

    def is_look(self, instruction: str) -> bool:
        """Whether it may see what others told."""
        return bool((_ATOMIC.match(instruction) and re.search(self.generation.returns, instruction))
                    or _HARDWARE_BARRIER.match(instruction)
                    or (_LOAD.match(instruction) and re.search(self.generation.past_the_cache, instruction)))

    def fault(self, instruction: str, state: State) -> str:
        """What is wrong with coming to it like that."""
        if self.for_devices:
            waits = self.is_look(instruction) and state.own > THERE
            return "looks while its own stores may not be there yet" if waits else ""
        if self.is_mark(instruction) and max(state.own, state.of_block) > THERE:
            return "tells others of stores that may not be there yet"
        if _LOAD.match(instruction) and not self.is_look(instruction) and state.old:
            return "may load from a cache what was there before it looked"
        return ""

    def after(self, instruction: str, state: State) -> State:
        caches = self.generation.empty
        own, of_block, old = state.own, state.of_block, state.old
        if self.is_look(instruction):
            old = frozenset(range(len(caches)))
        elif _STORE.match(instruction) and (self.for_devices or not self.is_mark(instruction)):
            own = UNDER_WAY
        elif re.match(self.generation.write_back, instruction):
            own = min(own, ON_ITS_WAY)
            of_block = ON_ITS_WAY if of_block == IN_ONE_L2 else of_block
        elif re.search(self.generation.wait, instruction):
            has_one_l2 = self.generation.write_back == _NEVER
            ended = {ON_ITS_WAY: THERE, UNDER_WAY: THERE if has_one_l2 else IN_ONE_L2}
            own = ended.get(own, own)
            of_block = THERE if of_block == ON_ITS_WAY else of_block
        elif _BARRIER.match(instruction):
            of_block = IN_ONE_L2 if own == ON_ITS_WAY else own
        else:
            old = old - {i for i, empty in enumerate(caches) if re.match(empty, instruction)}
        return State(own, of_block, old)


def note_places(function: Function, text: str, generation: Generation) -> None:
    """Adds " to one place" to the stores of a dword at a scalar address and an offset that is alike for all lanes:
    whose register was last set, in the order of the text, by a move of a constant or a scalar. Where none looks for
    what a block has stored, neither a load nor a compare-and-swap, there is none."""
    if not any(_TAKES.match(one) or (_LOAD.match(one) and re.search(generation.past_the_cache, one))
               for one in function.code):
        return
    for i, instruction in enumerate(function.code):
        store = _AT_OFFSET.match(instruction)
        if not store:
            continue
        begin = text.rindex(f"\n{function.name}:", 0, function.places[i])
        moves_scalar = False
        for name, one, first, last, source in _SETS.findall(text, begin, function.places[i]):
            if int(one or first) <= int(store[1]) <= int(one or last):
                moves_scalar = "_mov_b32" in name and not source.startswith("v")
        if moves_scalar:
            function.code[i] += " to one place"


def faults(function: Function, flow: Flow) -> dict[int, str]:
    found: dict[int, str] = {}
    seen: set[tuple[int, State]] = set()
    waiting = [(0, State())]
    while waiting:
        place, state = waiting.pop()
        if (place, state) in seen:
            continue
        seen.add((place, state))
        fault = flow.fault(function.code[place], state)
        if fault:
            found[place] = fault
        after = flow.after(function.code[place], state)
        waiting.extend((following, after) for following in followers(function, place))
    return found


def main() -> int:
    for_devices = "--devices" in sys.argv[1:2]
    words = sys.argv[2 if for_devices else 1:]
    if len(words) < 2:
        print("hand_overs.py: a regular expression and assembly are to be named.", file=sys.stderr)
        return 2
    alternatives = words[0].split("|")
    bad = 0
    for file in map(Path, words[1:]):
        text = file.read_text(encoding="utf-8")
        target = _TARGET.search(text)
        names = [name for name in GENERATIONS if target and target[1].startswith(name)]
        if not names:
            print(f"hand_overs.py: {file}: of no generation that is known here", file=sys.stderr)
            return 2
        generation = GENERATIONS[max(names, key=len)]
        for name in _WRITES_BACK_FOR_SYSTEM if for_devices else ():
            if target and target[1].startswith(name):
                generation = replace(generation, write_back=_WRITES_BACK_FOR_SYSTEM[name])
        flow = Flow(generation, for_devices)
        handing_over: dict[str, bool] = {}
        for function in read_functions(text, with_memory=True, with_barrier=not for_devices):
            matching = [alternative for alternative in alternatives if re.search(alternative, function.name)]
            if not matching:
                continue
            note_places(function, text, generation)
            tells = _STORE.match if for_devices else flow.is_mark
            hands_over = any(map(tells, function.code)) and any(map(flow.is_look, function.code))
            handing_over |= {each: hands_over or handing_over.get(each, False) for each in matching}
            for place, fault in sorted(faults(function, flow).items()):
                line = text.count("\n", 0, function.places[place]) + 1
                print(f"{file}:{line}: {function.name} {fault}")
                bad += 1
        idle = [each for each, hands_over in handing_over.items() if not hands_over]
        # Those for devices of another kind are a trap, without a barrier.
        are_traps = "\ts_trap" in text and re.search(words[0], text)
        for name in idle if handing_over or are_traps else alternatives:
            print(f"{file}: no kernel like '{name}' hands anything over")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
