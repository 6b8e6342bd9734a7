"""Reads the compiler's assembly, with the encodings that llvm-mc writes after each instruction."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from hipscope.results.door import BadInput

_LABEL = re.compile(r"([\w.$@]+):")
_ENCODING = re.compile(r"; encoding: \[([^]]*)\]")
_ALIGNMENT = re.compile(r"\.p2align[wl]?\s+(\d+)")
_INFO = re.compile(r"; (NumVgprs|Occupancy): (\d+)")


@dataclass
class Instruction:
    """One instruction: its text without comments, its size, and its place in the function."""

    text: str
    size: int
    address: int


@dataclass
class Function:
    """A function's code; `labels` are indices into `instructions`, maybe one past their end."""

    name: str
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    size: int = 0
    info: dict[str, int] = field(default_factory=dict)

    def _read_code(self, line: str) -> None:
        stripped = line.strip()
        encoding = _ENCODING.search(line)
        label = _LABEL.match(line)
        alignment = _ALIGNMENT.match(stripped)
        if label:
            self.labels[label[1]] = len(self.instructions)
        elif encoding and not stripped.startswith(";"):
            text, size = line.partition(";")[0], encoding[1].count(",") + 1
            self.instructions.append(Instruction(" ".join(text.split()), size, self.size))
            self.size += size
        elif alignment:
            self.size = -(-self.size // 2 ** int(alignment[1])) * 2 ** int(alignment[1])
        elif stripped and stripped[0] not in ".;":
            raise BadInput(f"the assembly of {self.name} has an instruction without encoding: {stripped}")


@dataclass
class Kernel:
    """A kernel's code and what the code object's notes say of it."""

    function: Function
    notes: dict[str, Any]


def _read_functions(text: str) -> dict[str, Function]:
    functions: dict[str, Function] = {}
    names = set(re.findall(r"^\s*\.type\s+([\w.$]+),@function", text, re.MULTILINE))
    last: Function | None = None
    in_code = False
    for line in text.splitlines():
        label = _LABEL.match(line)
        if label and label[1] in names:
            last = functions[label[1]] = Function(label[1])
            in_code = True
        elif last is not None and in_code and line.lstrip().startswith((".section", ".size")):
            in_code = False
        elif last is not None and in_code:
            last._read_code(line)
        elif last is not None:
            info = _INFO.match(line.strip())
            if info:
                last.info[info[1]] = int(info[2])
    return functions


def _read_notes(text: str) -> list[dict[str, Any]]:
    import yaml  # which a machine that only reads reports may lack

    notes = re.search(r"^\s*\.amdgpu_metadata\n(.*?)^\s*\.end_amdgpu_metadata", text,
                      re.MULTILINE | re.DOTALL)
    if notes is None:
        raise BadInput("the assembly has no notes on its kernels.")
    try:
        return yaml.load(notes[1], getattr(yaml, "CSafeLoader", yaml.SafeLoader)).get("amdhsa.kernels") or []
    except (yaml.YAMLError, AttributeError) as error:
        raise BadInput("the assembly's notes on its kernels are not as expected.") from error


def read_kernels(text: str) -> list[Kernel]:
    """All kernels in the order of the source; raises BadInput when the text is not whole."""
    functions = _read_functions(text)
    kernels = []
    for notes in _read_notes(text):
        function = functions.get(notes[".name"])
        if function is None or not function.instructions:
            raise BadInput(f"the assembly lacks the code of {notes['.name']}.")
        if set(function.info) != {"NumVgprs", "Occupancy"}:
            raise BadInput(f"the assembly does not say how many registers {notes['.name']} uses.")
        kernels.append(Kernel(function, notes))
    return kernels


# In the order of the report's columns.
CATEGORIES = ("fma", "matrix", "valu", "salu", "lds", "vector_memory", "scalar_memory", "wait", "branch",
              "other")

# Of floating point alone: v_mad_u64_u32 and its kin compute addresses. v_div_fmas is a step of a
# division.
_FMA = re.compile(
    r"v_(?P<packed>pk_)?(?:dual_)?(?:fma|fmac|fmaak|fmamk|mad|mac|madak|madmk)"
    r"(?:_legacy|_mix|_mixlo|_mixhi)?_b?f(?:16|32|64)(?:_\w+)?"
)
# The first that matches decides.
_KINDS = (
    ("matrix", r"v_(?:mfma|smfmac|wmma|swmmac|dot\d+c?)_\w+"),
    ("valu", r"v_\w+"),
    ("lds", r"(?:ds|lds)_\w+"),
    # These move no data: they write back or invalidate caches.
    ("other", r"buffer_(?:wb|inv|gl[01]_inv)\w*|global_(?:wb|inv)\w*"),
    ("vector_memory", r"(?:global|flat|buffer|tbuffer|image|scratch)_\w+"),
    # The clocks are read by way of the scalar memory.
    ("scalar_memory", r"s_(?:buffer_|scratch_)?(?:load|store|atomic)_\w+|s_mem(?:real)?time"),
    ("wait", r"s_(?:wait|nop|sleep|barrier|delay_alu)\w*"),
    ("branch", r"s_(?:branch|cbranch|setpc|swappc|call|rfe|subvector)\w*"),
    ("other", r"s_(?:endpgm|sendmsg|inst_prefetch|set_inst_prefetch|clause|setprio|sethalt|setkill|trap|"
              r"icache|dcache|setreg|getreg|ttrace|code_end|set_gpr_idx|denorm_mode|round_mode|version|"
              r"incperf|decperf)\w*"),
    ("salu", r"s_\w+"),
)
_PATTERNS = tuple((category, re.compile(pattern)) for category, pattern in _KINDS)


def _names(text: str) -> list[str]:
    """The instruction's name; RDNA 3 has instructions of two halves, parted by two colons."""
    return [half.split()[0] for half in text.split("::")]


def count_fmas(text: str) -> int:
    """FMAs per lane: one, two when packed."""
    matches = [_FMA.fullmatch(name) for name in _names(text)]
    return sum(2 if match["packed"] else 1 for match in matches if match)


def category(text: str) -> str:
    if count_fmas(text):
        return "fma"
    name = _names(text)[0]
    return next((kind for kind, pattern in _PATTERNS if pattern.fullmatch(name)), "other")
