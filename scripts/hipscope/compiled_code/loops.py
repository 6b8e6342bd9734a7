"""Finds loops in a function's code: natural loops, as compilers define them.

A back edge is a jump to a block that dominates it, that is, through which every path from the
function's begin leads; its loop is all blocks that reach the jump without passing that header.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .assembly import Function, Instruction

# A jump over more than 128 KiB: the address is computed, with the label in the text.
_LONG_JUMP = re.compile(r"s_add_u32 .*\((\.\w+)-\.Lpost_getpc\d+\)")


@dataclass
class Loop:
    """A loop: its header's label, the code in order, how deep it is nested."""

    label: str
    instructions: list[Instruction]
    depth: int
    innermost: bool


@dataclass
class _Block:
    begin: int
    end: int
    successors: list[int]


def _jump_label(function: Function, index: int) -> str | None:
    """Where the jump at `index` leads; None when the text does not say."""
    words = function.instructions[index].text.split()
    if "s_setpc_b64" not in words:
        return words[-1]
    for earlier in reversed(function.instructions[max(0, index - 3):index]):
        match = _LONG_JUMP.match(earlier.text)
        if match:
            return match[1]
    return None


# AMD's and NVIDIA's, whose instructions bear a condition (@!P0) and, as sass.py reads them, four numbers in front.
_JUMP = re.compile(r"s_branch|s_cbranch|s_setpc|[\d ]+(?:@\S+ )?BRA\b")
_END = re.compile(r"s_branch|s_setpc|s_endpgm|[\d ]+(?:BRA|EXIT|RET)\b")


def _is_jump(instruction: Instruction) -> bool:
    return _JUMP.match(instruction.text) is not None


def _ends_flow(instruction: Instruction) -> bool:
    """Whether nothing falls through to what comes next."""
    return _END.match(instruction.text) is not None


def _split(function: Function) -> list[_Block]:
    """The blocks with their successors; a jump to a computed address has none that is known."""
    code = function.instructions
    begins = {0, *function.labels.values()}
    begins.update(i for i, before in enumerate(code, 1) if _is_jump(before) or _ends_flow(before))
    starts = sorted(begin for begin in begins if begin < len(code))
    numbers = {begin: number for number, begin in enumerate(starts)}
    blocks = []
    for begin, end in zip(starts, [*starts[1:], len(code)]):
        successors = []
        last = code[end - 1]
        if not _ends_flow(last) and end in numbers:
            successors.append(numbers[end])
        if _is_jump(last):
            target = function.labels.get(_jump_label(function, end - 1) or "")
            if target in numbers:
                successors.append(numbers[target])
        blocks.append(_Block(begin, end, successors))
    return blocks


def straight_code(function: Function) -> list[list[Instruction]]:
    """The code in pieces, each of which runs as a whole or not at all."""
    return [function.instructions[block.begin:block.end] for block in _split(function)]


def _reverse_postorder(blocks: list[_Block]) -> list[int]:
    """The blocks that can be reached, each before its successors but for jumps back."""
    order: list[int] = []
    seen = {0}
    stack = [(0, iter(blocks[0].successors))]
    while stack:
        number, successors = stack[-1]
        following = next((block for block in successors if block not in seen), None)
        if following is None:
            order.append(number)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(blocks[following].successors)))
    return order[::-1]


def _dominators(order: list[int], predecessors: dict[int, list[int]]) -> dict[int, int]:
    """Per block the set of its dominators, as bits of an integer."""
    everything = (1 << (max(order) + 1)) - 1
    dominators = {number: everything for number in order}
    dominators[0] = 1
    changed = True
    while changed:
        changed = False
        for number in order[1:]:
            common = everything
            for predecessor in predecessors[number]:
                common &= dominators[predecessor]
            common |= 1 << number
            changed = changed or common != dominators[number]
            dominators[number] = common
    return dominators


def _body(header: int, latches: list[int], predecessors: dict[int, list[int]]) -> set[int]:
    body = {header}
    waiting = list(latches)
    while waiting:
        number = waiting.pop()
        if number not in body:
            body.add(number)
            waiting.extend(predecessors[number])
    return body


def find_loops(function: Function) -> list[Loop]:
    """All loops in the order of their headers."""
    blocks = _split(function)
    order = _reverse_postorder(blocks)
    predecessors: dict[int, list[int]] = {number: [] for number in order}
    for number in order:
        for successor in blocks[number].successors:
            predecessors[successor].append(number)
    dominators = _dominators(order, predecessors)
    latches: dict[int, list[int]] = {}
    for number in order:
        for successor in blocks[number].successors:
            if dominators[number] >> successor & 1:
                latches.setdefault(successor, []).append(number)
    bodies = {header: _body(header, ends, predecessors) for header, ends in latches.items()}
    names = {index: name for name, index in function.labels.items()}
    loops = []
    for header in sorted(bodies):
        code: list[Instruction] = []
        for number in sorted(bodies[header]):
            code.extend(function.instructions[blocks[number].begin:blocks[number].end])
        loops.append(Loop(
            label=names[blocks[header].begin],
            instructions=code,
            depth=sum(header in other for other in bodies.values()),
            innermost=not any(other != header and other in bodies[header] for other in bodies),
        ))
    return loops
