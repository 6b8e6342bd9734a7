"""What kind of work an instruction is, by its name in AMD's instruction set manuals."""

from __future__ import annotations

import re

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
    """One of CATEGORIES."""
    if count_fmas(text):
        return "fma"
    name = _names(text)[0]
    return next((kind for kind, pattern in _PATTERNS if pattern.fullmatch(name)), "other")
