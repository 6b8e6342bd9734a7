#!/usr/bin/env python3
"""Holds assembly for AMD GPUs to this: no wave comes to a barrier while its stores to LDS are in flight.

Usage: lds_waits.py [--ahead "N REGEX"]... FILE...

The barrier lets the other waves load what was stored, so the compiler has to wait before it. clang 22.1.8 leaves out
the wait where a loop begins with the barrier, loads from LDS, and ends with the stores: what it takes for needless at
the first turn it drops for all (mended by https://github.com/llvm/llvm-project/pull/220357). Followed are all ways
through a function; where two meet, the stores of either are in flight. A load from memory whose data go to LDS is
such a store, too, for which no compiler waits: it is written as assembly. In the kernels that --ahead names such
loads may come N barriers later, for a tile that nobody reads before. Exit status: 0 good, 1 not, 2 bad usage.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

_FUNCTION = re.compile(r"\n[ \t]*\.type[ \t]+([\w.$]+),@function")
_END_OF_FUNCTION = re.compile(r"\n[ \t]*\.(?:section|size|amdhsa_kernel)")
# Labels, and the instructions that this is about: a tenth of all, of which none else changes what is in flight.
_OF_INTEREST = re.compile(r"\n(?:([\w.$@]+):|[ \t]+((?:ds_|lds_|s_wait|s_barrier|s_branch|s_cbranch|s_endpgm|s_setpc|"
                          r"s_add_\w*u32 .*\.Lpost_getpc)[^;\n]*))")
# In a function with loads to LDS, accesses to memory beside these.
_OF_INTEREST_OR_MEMORY = re.compile(
    _OF_INTEREST.pattern.replace("(?:ds_|", "(?:ds_|global_|flat_|buffer_|scratch_|", 1))
_NUMBER = r"(0x[0-9a-f]+|\d+)"


@dataclass(frozen=True)
class Way:
    """One to store to LDS: its instructions, all that its counter counts, in order, and the waits for that."""

    stores: re.Pattern[str]
    counted: re.Pattern[str]
    wait: re.Pattern[str]


WAYS = (
    # Atomics too: other waves see what they leave. (ds_bpermute and its like touch no memory.)
    Way(re.compile(r"ds_(?:write|store|add|sub|rsub|inc|dec|min|max|and|or|xor|mskor|cmpst|cmpstore|wrxchg|storexchg|"
                   r"wrap|append|consume|pk_add|condxchg)\w*"),
        re.compile(r"(?:ds|lds)_\w+"),
        re.compile(rf"s_waitcnt\b.*\blgkmcnt\({_NUMBER}\)|s_wait_(?:loadcnt_|storecnt_)?dscnt {_NUMBER}")),
    # Of what the counter of loads counts, loads alone are: whether stores are, depends on the GPU.
    Way(re.compile(r"(?:global|buffer)_load_(?:lds_\w+|\w+ .* lds$)"),
        re.compile(r"(?:global|flat|buffer|scratch)_load_\w+"),
        re.compile(rf"s_waitcnt\b.*\bvmcnt\({_NUMBER}\)")),
)
_BARRIER = re.compile(r"s_barrier(?:_signal\w*)?(?: .*)?")
_LOAD_TO_LDS = re.compile(r"_load_(?:lds_|\w+ [^;\n]* lds\b)")
_LONG_JUMP = re.compile(r"s_add_\w*u32 .*\((\.\w+)-\.Lpost_getpc\d+\)")

# How many accesses have begun since the last store that may be in flight; NONE when none is.
NONE = 64  # no counter counts this far
# The same of the stores after the last barrier, of those ahead of it, of those ahead of the one before, and so on.
Since = tuple[int, ...]


@dataclass
class Function:
    """A function's instructions of interest, where they stand in the text, and before which labels stand."""

    name: str
    code: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


def read_functions(text: str, with_memory: bool = False, with_barrier: bool = True) -> list[Function]:
    """The functions (with a barrier) of a compiler's assembly; `with_memory`: with all accesses to memory."""
    functions: list[Function] = []
    for name in _FUNCTION.findall("\n" + text):
        begin = text.find(f"\n{name}:")
        if begin < 0:
            continue
        begin += len(name) + 2
        end = _END_OF_FUNCTION.search(text, begin)
        stop = end.start() if end else len(text)
        if with_barrier and text.find("s_barrier", begin, stop) < 0:
            continue
        function = Function(name)
        with_memory_too = with_memory or _LOAD_TO_LDS.search(text, begin, stop)
        of_interest = _OF_INTEREST_OR_MEMORY if with_memory_too else _OF_INTEREST
        for found in of_interest.finditer(text, begin, stop):
            if found[1]:
                function.labels[found[1]] = len(function.code)
            else:
                function.code.append(" ".join(found[2].split()))
                function.places.append(found.start(2))
        functions.append(function)
    return functions


def after(instruction: str, since: Since, way: Way) -> Since:
    """What `since` is after an instruction: what one counter counts ends in order."""
    if _BARRIER.fullmatch(instruction):
        return NONE, *since[:-2], min(since[-2:])
    if way.stores.match(instruction) or way.counted.match(instruction):
        newest, *older = (min(each + 1, NONE) for each in since)
        return 0 if way.stores.match(instruction) else newest, *older
    if wait := way.wait.search(instruction):
        left = int(next(filter(None, wait.groups())), 0)
        return tuple(each if each < left else NONE for each in since)
    return since


def _least(one: Since, other: Since) -> Since:
    return tuple(map(min, one, other))


def followers(function: Function, place: int) -> list[int]:
    code = function.code
    name, _, target = code[place].partition(" ")
    following = [] if name in ("s_branch", "s_endpgm", "s_setpc_b64") else [place + 1]
    if name == "s_setpc_b64":
        jump = _LONG_JUMP.match(code[place - 1]) if place else None
        target = jump[1] if jump else ""
    if name.startswith(("s_branch", "s_cbranch", "s_setpc")) and target in function.labels:
        following.append(function.labels[target])
    return [next_place for next_place in following if next_place < len(code)]


def barriers_with_stores(function: Function, way: Way, ahead: int) -> list[int]:
    """The places of the barriers to which a wave may come with such stores to LDS in flight, `ahead` barriers after the
    first to which it came with them."""
    if not any(map(way.stores.match, function.code)):
        return []
    least: dict[int, Since] = {}
    waiting: list[tuple[int, Since]] = [(0, (NONE,) * (ahead + 2))]
    while waiting:
        place, since = waiting.pop()
        while (since := _least(since, least.get(place, since))) != least.get(place):
            least[place] = since
            since = after(function.code[place], since, way)
            first, *others = [*followers(function, place), -1]
            waiting.extend((other, since) for other in others if other >= 0)
            if first < 0:
                break
            place = first
    return sorted(place for place, since in least.items()
                  if min(since[ahead:]) < NONE and _BARRIER.fullmatch(function.code[place]))


def main() -> int:
    arguments = sys.argv[1:]
    ahead: list[tuple[int, str]] = []
    while len(arguments) > 1 and arguments[0] == "--ahead":
        barriers, regex = arguments[1].split(maxsplit=1)
        ahead.append((int(barriers), regex))
        del arguments[:2]
    files = [Path(name) for name in arguments]
    if not files:
        print("lds_waits.py: no assembly is named.", file=sys.stderr)
        return 2
    bad = 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        for function in read_functions(text):
            later = max((barriers for barriers, regex in ahead if re.search(regex, function.name)), default=0)
            for place in sorted({place for way in WAYS for place in barriers_with_stores(
                    function, way, 0 if way is WAYS[0] else later)}):
                line = text.count("\n", 0, function.places[place]) + 1
                print(f"{file}:{line}: {function.name} comes to the barrier with stores to LDS in flight")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
