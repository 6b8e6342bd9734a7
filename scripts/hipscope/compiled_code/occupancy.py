"""How many waves fit on a SIMD by their registers, by rules that the compiler must agree with.

A SIMD has a number of VGPRs for each lane, and gives them to waves in portions (granules). Waves that are
in place at once have their registers side by side, so there is room for file / portioned registers of
them, up to the number of waves that the SIMD can keep track of.

The rules are LLVM's (AMDGPUBaseInfo.cpp: getTotalNumVGPRs, getVGPRAllocGranule, getMaxWavesPerEU; the
kernel descriptor in its AMDGPU user guide). They are held against the compiler's own figure for a
series of kernels, each of which claims one register more than the one before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hipscope.results import formats, markdown

from .register_limits import Compiler, LimitsError
from .toolchain import Toolchain

# What an instruction can name: registers of each kind that a thread can have.
NAMED_REGISTERS = 256


@dataclass(frozen=True)
class Rule:
    """The registers of a SIMD per lane, in what portions waves get them, and the most waves.

    `agprs` says where accumulation registers are, on targets that have them: in the same file after
    the VGPRs, whose number is rounded up to four then, or in another one of the same size.
    """

    file: int
    granule: int
    most_waves: int
    agprs: str = "none"

    def waves(self, vgprs: int, agprs: int = 0) -> int:
        """How many waves fit with these registers of each kind per thread; 0 when none does."""
        same_file = agprs and self.agprs == "same file"
        taken = -(-vgprs // 4) * 4 + agprs if same_file else max(vgprs, agprs)
        portioned = max(self.granule, -(-taken // self.granule) * self.granule)
        return min(self.most_waves, self.file // portioned)

    def steps(self) -> list[tuple[int, int]]:
        """The most registers for each number of waves that fit, from the most waves to the fewest."""
        named = NAMED_REGISTERS * (2 if self.agprs == "same file" else 1)
        highest = [(min(named, self.file // waves // self.granule * self.granule), waves)
                   for waves in range(self.most_waves, 0, -1)]
        # Of several numbers of waves with as many registers the largest counts.
        return [step for step, before in zip(highest, [(0, 0), *highest]) if step[0] != before[0]]


VEGA = Rule(file=256, granule=4, most_waves=10)
CDNA = Rule(file=256, granule=4, most_waves=10, agprs="other file")
CDNA_2 = Rule(file=512, granule=8, most_waves=8, agprs="same file")
# CDNA 3 and 4 count as CDNA 2 does. The larger RDNA 3 and 4 have half as many registers again.
RDNA_3 = Rule(file=1536, granule=24, most_waves=16)
RDNA_2 = {32: Rule(file=1024, granule=16, most_waves=16), 64: Rule(file=512, granule=8, most_waves=16)}
# By target and lanes of a wave. HIP's headers refuse waves of 64 lanes on gfx1030, not on gfx1032.
RULES: dict[tuple[str, int], Rule] = {
    ("gfx900", 64): VEGA, ("gfx906", 64): VEGA, ("gfx908", 64): CDNA, ("gfx90a", 64): CDNA_2,
    ("gfx942", 64): CDNA_2, ("gfx950", 64): CDNA_2,
    ("gfx1030", 32): RDNA_2[32], ("gfx1032", 64): RDNA_2[64],
    ("gfx1100", 32): RDNA_3, ("gfx1151", 32): RDNA_3, ("gfx1201", 32): RDNA_3,
}


class OccupancyError(LimitsError):
    """The compiler's figures are not what the rules say."""


def series(rule: Rule) -> list[tuple[int, int]]:
    """The VGPRs and AGPRs of each kernel: every number of VGPRs, and AGPRs beside some of them."""
    alone = [(vgprs, 0) for vgprs in range(1, NAMED_REGISTERS + 1)]
    if rule.agprs == "none":
        return alone
    return alone + [(vgprs, agprs) for vgprs in (1, 30, 96, 256) for agprs in range(1, NAMED_REGISTERS + 1, 5)]


def kernel(number: int, vgprs: int, agprs: int) -> str:
    """A kernel that claims the highest register of each kind, and so all below it."""
    claims = f'"v{vgprs - 1}"' + (f', "a{agprs - 1}"' if agprs else "")
    return (f"__attribute__((global, amdgpu_flat_work_group_size(1, 64))) void claims_{number}() "
            f'{{ asm volatile("" ::: {claims}); }}\n')


def parse(assembly: str) -> dict[int, tuple[int, int, int]]:
    """By kernel its VGPRs, its AGPRs and its waves, as the compiler's comments say."""
    found = {}
    for match in re.finditer(r"^_Z\d+claims_(\d+)v:(.*?)^; Occupancy: (\d+)$", assembly,
                             re.MULTILINE | re.DOTALL):
        counts = dict(re.findall(r"^; (Num[VA]gprs): (\d+)$", match[2], re.MULTILINE))
        found[int(match[1])] = (int(counts["NumVgprs"]), int(counts.get("NumAgprs", 0)), int(match[3]))
    return found


def measure(tools: Toolchain, target: str, lanes: int) -> dict[str, Any]:
    """What the compiler says of the series, ready for JSON, once it agrees with the rule.

    Raises OccupancyError where it does not, LimitsError where it says nothing.
    """
    rule = RULES[target, lanes]
    wave = ("-mwavefrontsize64",) if lanes == 64 and target.startswith("gfx1") else ()
    claims = series(rule)
    kernels = "".join(kernel(number, *claim) for number, claim in enumerate(claims))
    found = parse(Compiler(tools, target, wave).assembly(kernels))
    for number, claim in enumerate(claims):
        vgprs, agprs, waves = found.get(number, (0, 0, 0))
        if (vgprs, agprs) != claim:
            raise LimitsError(f"{target}: a kernel that claims {claim[0]} VGPRs and {claim[1]} AGPRs is "
                              f"counted otherwise: {found.get(number)}")
        if rule.waves(vgprs, agprs) != waves:
            raise OccupancyError(f"{target}, waves of {lanes}: with {vgprs} VGPRs and {agprs} AGPRs the compiler "
                                 f"counts {waves} waves, the rule {rule.waves(vgprs, agprs)}")
    return {"target": target, "lanes": lanes, "compiler": tools.version, "kernels": len(claims)}


def check(result: Mapping[str, Any]) -> None:
    """Raises OccupancyError where there is no rule, or it was held against other kernels than its series."""
    rule = RULES.get((result["target"], result["lanes"]))
    if rule is None:
        raise OccupancyError(f"there is no rule for {result['target']} with waves of {result['lanes']}")
    if result["kernels"] != len(series(rule)):
        raise OccupancyError(f"{result['target']}, waves of {result['lanes']}: the {result['kernels']} kernels "
                             f"are not the {len(series(rule))} that the rule is held against")


def wanted(target: str) -> list[tuple[str, int]]:
    """The rules that are checked when a target is compiled for: RDNA's with waves of 64 lanes as well."""
    return [key for key in RULES if key[0] == target or (target, key) == ("gfx1030", ("gfx1032", 64))]


# --- Markdown --------------------------------------------------------------------------------------


def text(results: Sequence[Mapping[str, Any]]) -> str:
    """The rules, the steps that follow, and that the compiler agrees."""
    # The rules are the hardware's: every compiler is held to the same.
    keys = list(dict.fromkeys((result["target"], result["lanes"]) for result in results))
    names = [f"{target}, waves of {lanes}" for target, lanes in keys]
    agprs = {"none": "none", "same file": "in the same file", "other file": "in a file of their own"}
    rules = markdown.table(
        ["target", "VGPRs of a SIMD per lane", "granule", "most waves", "AGPRs"],
        [[name, str(rule.file), str(rule.granule), str(rule.most_waves), agprs[rule.agprs]]
         for name, rule in zip(names, (RULES[key] for key in keys))])
    columns = [{waves: registers for registers, waves in RULES[key].steps()} for key in keys]
    rows = sorted({waves for column in columns for waves in column}, reverse=True)
    steps = markdown.table(
        ["waves per SIMD", *names],
        [[str(waves), *(str(column.get(waves, formats.NOT_THERE)) for column in columns)] for waves in rows])
    kernels = sum(result["kernels"] for result in results)
    compilers = "; ".join(sorted({result["compiler"] for result in results}))
    return "\n\n".join([
        "A SIMD has so many registers for each lane, gives them to waves in portions, and keeps track of so "
        "many waves (LLVM, AMDGPUBaseInfo.cpp and AMDGPU user guide):",
        rules,
        "So these are the most registers of a thread with which so many waves fit, as far as registers decide; "
        "where a file holds VGPRs and AGPRs, both together:",
        steps,
        f"Checked against the compiler's own occupancy for {kernels} kernels, which claim 1, 2, 3 ... VGPRs "
        f"and, where there are any, AGPRs beside them: all agree ({compilers}).",
    ])
