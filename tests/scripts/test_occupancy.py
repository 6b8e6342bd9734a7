"""occupancy.py: its rules on numbers worked out by hand, on compilers that are made up, and on the real one."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from test_register_limits import HIPCC, tools_of

from hipscope.compiled_code import occupancy, results
from hipscope.compiled_code.processes import Processes
from hipscope.compiled_code.toolchain import find_toolchain
from hipscope.results import door

KEYS = sorted(occupancy.RULES)


def fake_compiler(waves: Callable[[int, int], int]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A compiler that gives kernels what they claim, and counts their waves so."""

    def run(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        del environment
        source = Path(next(word for word in command if word.endswith("kernels.hip")))
        assembly = ""
        for line in source.read_text(encoding="utf-8").splitlines():
            name = re.search(r"void (\w+)\(\)", line)[1]
            claims = dict(re.findall(r'"([va])(\d+)"', line))
            vgprs, agprs = int(claims["v"]) + 1, int(claims.get("a", -1)) + 1
            assembly += (f"_Z{len(name)}{name}v:\n; NumVgprs: {vgprs}\n; NumAgprs: {agprs}\n"
                         f"; Occupancy: {waves(vgprs, agprs)}\n")
        Path(command[-1]).write_text(assembly, encoding="utf-8")
        return subprocess.CompletedProcess(command, 0, "", "")

    return run


# --- Rules -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key, claims, waves", [
    (("gfx90a", 64), (0, 1, 64, 65, 72, 73, 96, 97, 102, 128, 129, 256), [8, 8, 8, 7, 7, 6, 5, 4, 4, 4, 3, 2]),
    # One file for both kinds: 30 VGPRs are rounded up to 32, and 32 + 33 to 72; 256 + 256 fill it.
    (("gfx90a", 64), ((30, 32), (30, 33), (256, 256)), [8, 7, 1]),
    # Another file of the same size.
    (("gfx908", 64), (64, (64, 64), (64, 65), (8, 128)), [4, 4, 3, 2]),
    # By four.
    (("gfx900", 64), (24, 25, 28, 29, 84, 85, 128, 129), [10, 9, 9, 8, 3, 2, 2, 1]),
    # Half as many registers for a lane of wide waves.
    (("gfx1030", 32), (64, 65, 80, 81, 96, 103, 256), [16, 12, 12, 10, 10, 9, 4]),
    (("gfx1032", 64), (32, 33, 40, 41, 48, 103, 256), [16, 12, 12, 10, 10, 4, 2]),
])
def test_waves_that_fit(key: tuple[str, int], claims: Sequence[Any], waves: list[int]) -> None:
    rule = occupancy.RULES[key]
    assert [rule.waves(*(claim if isinstance(claim, tuple) else (claim,))) for claim in claims] == waves


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_steps_are_where_the_rule_changes(key: tuple[str, int]) -> None:
    rule = occupancy.RULES[key]
    steps = rule.steps()
    assert steps[0][1] == rule.most_waves
    assert [step[0] for step in steps] == sorted({step[0] for step in steps})
    for registers, waves in steps:
        vgprs, agprs = min(registers, 256), max(0, registers - 256)
        assert rule.waves(vgprs, agprs) == waves
        if registers < 256:
            assert rule.waves(registers + 1) < waves


# --- Held against a compiler -----------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_compiler_that_agrees(key: tuple[str, int]) -> None:
    rule = occupancy.RULES[key]
    result = occupancy.measure(tools_of(fake_compiler(rule.waves)), *key)
    assert result["kernels"] == len(occupancy.series(rule)) >= 256


CHANGES = [(key, change) for key in KEYS for change in ({"granule": 32}, {"file": 2048}, {"most_waves": 7})]


@pytest.mark.parametrize("key, change", [*CHANGES, (("gfx90a", 64), {"agprs": "other file"})], ids=str)
def test_a_compiler_with_another_rule_is_noticed(key: tuple[str, int], change: dict[str, Any]) -> None:
    other = dataclasses.replace(occupancy.RULES[key], **change)
    with pytest.raises(occupancy.OccupancyError, match=f"{key[0]}.*AGPRs the compiler counts"):
        occupancy.measure(tools_of(fake_compiler(other.waves)), *key)


def test_a_kernel_that_is_counted_otherwise_is_noticed() -> None:
    def hides_one(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        done = fake_compiler(occupancy.VEGA.waves)(command, environment)
        if "-S" in command:
            path = Path(command[-1])
            path.write_text(path.read_text(encoding="utf-8").replace("NumVgprs: 77\n", "NumVgprs: 0\n"),
                            encoding="utf-8")
        return done

    with pytest.raises(occupancy.LimitsError, match="77 VGPRs .* counted otherwise"):
        occupancy.measure(tools_of(hides_one), "gfx900", 64)


# --- Kept ------------------------------------------------------------------------------------------


def entry(target: str, lanes: int, compiler: str = "clang version 1.2") -> dict[str, Any]:
    rule = occupancy.RULES[target, lanes]
    return {"target": target, "lanes": lanes, "compiler": compiler,
            "kernels": len(occupancy.series(rule))}


def test_other_targets_are_kept(tmp_path: Path) -> None:
    old = [entry("gfx900", 64), entry("gfx1030", 32)]
    (tmp_path / results.OCCUPANCY_FILE).write_text(json.dumps(old), encoding="utf-8")
    new = entry("gfx900", 64, "clang version 1.3")
    assert results.with_kept(results.read_occupancy(tmp_path), [new]) == [new, old[1]]


GOOD = entry("gfx90a", 64)
REFUSED = {
    "no rule": ({"lanes": 32}, "no rule for gfx90a with waves of 32"),
    "one kernel": ({"kernels": 1}, "the 1 kernels are not the 464 "),
    "without AGPRs": ({"kernels": 256}, "the 256 kernels are not the 464 "),
    "none": ({"kernels": 0}, "less than 1"),
}


@pytest.mark.parametrize("change, reason", REFUSED.values(), ids=REFUSED)
def test_a_file_that_no_rule_bears_out_is_refused(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    (tmp_path / results.OCCUPANCY_FILE).write_text(json.dumps([GOOD | change]), encoding="utf-8")
    with pytest.raises(door.BadInput, match=reason):
        results.read_occupancy(tmp_path)


def test_the_page_has_the_steps_side_by_side() -> None:
    text = occupancy.text([entry("gfx900", 64), entry("gfx90a", 64)])
    assert "\n| waves per SIMD | gfx900, waves of 64 | gfx90a, waves of 64 |\n" in text
    assert "\n| 10 | 24 | - |\n" in text
    assert "\n| 5 | 48 | 96 |\n" in text
    assert "for 720 kernels" in text


# --- The compiler that is here ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(HIPCC is None, reason="there is no hipcc")
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_the_real_compiler_agrees(key: tuple[str, int]) -> None:
    tools = find_toolchain(Processes())
    try:
        result = occupancy.measure(tools, *key)
    except occupancy.LimitsError as error:
        if "invalid target" in str(error):
            pytest.skip(f"this compiler does not know {key[0]}")
        # With it 65 VGPRs leave 12 waves, as of gfx1030's 1024 registers; gfx1100 has 1536.
        if key[0] == "gfx1100" and "clang version 15." in tools.version:
            pytest.skip("clang 15 counts gfx1100's registers as gfx1030's")
        raise
    assert result == entry(*key, result["compiler"])
