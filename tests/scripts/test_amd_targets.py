"""cmake/amd_targets.cmake: which GPUs are compiled for, with a faked driver, tool and compiler."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import synthetic
from conftest import call, program

SCRIPT = """include({module})
hipscope_detect_amd_targets(found)
message(NOTICE "found: ${{found}}")
"""


class Machine:
    """One with a fake ROCm in a folder that is not on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "rocm" / "bin"
        (folder / "kfd").touch()
        (folder / "nodes").mkdir()
        self.compiler_knows("gfx*")

    def program(self, name: str, body: str) -> None:
        """A shell script among ROCm's programs."""
        program(self.bin / name, f"#!/bin/bash\n{body}\n")

    def compiler_knows(self, pattern: str) -> None:
        """Lets hipcc compile for the targets of a shell pattern."""
        self.program(
            "hipcc",
            f'for argument in "$@"; do [[ $argument != --offload-arch=* || '
            f"${{argument#*=}} == @({pattern}) ]] || exit 1; done",
        )

    def enumerator_says(self, *names: str) -> None:
        self.program("rocm_agent_enumerator", "printf '%s\\n' " + " ".join(f"'{name}'" for name in names))

    def node(self, number: int, version: int) -> None:
        """What the kernel's driver says of a CPU (0) or GPU."""
        (self.folder / "nodes" / str(number)).mkdir()
        (self.folder / "nodes" / str(number) / "properties").write_text(
            f"cpu_cores_count 16\nsimd_count 4\ngfx_target_version {version}\nlocation_id 0\n"
        )

    def detect(self, body: str = SCRIPT, **environment: str) -> subprocess.CompletedProcess[str]:
        script = self.folder / "detect.cmake"
        script.write_text(body.format(module=synthetic.REPOSITORY / "cmake" / "amd_targets.cmake"))
        driver = {"HIPSCOPE_KFD": str(self.folder / "kfd"), "HIPSCOPE_KFD_NODES": str(self.folder / "nodes")}
        return call(
            "cmake",
            f"-DCMAKE_CXX_COMPILER={self.bin}/hipcc",
            "-P",
            script,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], **driver, **environment},
        )

    def found(self, body: str = SCRIPT, **environment: str) -> str:
        done = self.detect(body, **environment)
        assert done.returncode == 0, done.stderr
        return done.stderr.rpartition("found: ")[2].strip()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(
    "said, found",
    [
        (["gfx000", "gfx90a"], "gfx90a"),
        (["gfx000", "gfx000", "gfx942", "gfx942", "gfx942"], "gfx942"),
        (["gfx000", "gfx1100", "gfx1036"], "gfx1100;gfx1036"),
        (["gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack+"], "gfx90a"),
        (["gfx1100", "gfx11-generic", "gfx942", "gfx9-4-generic"], "gfx1100;gfx942"),
    ],
)
def test_what_the_enumerator_says(machine: Machine, said: list[str], found: str) -> None:
    machine.enumerator_says(*said)
    assert machine.found() == found


@pytest.mark.parametrize("tool", ["exit 1", "exec no-such-python3", "echo gfx000"])
def test_the_driver_says_it_where_the_tool_does_not(machine: Machine, tool: str) -> None:
    machine.program("rocm_agent_enumerator", tool)
    for number, version in enumerate([0, 90402, 90010, 100306, 110501, 120001]):
        machine.node(number, version)
    assert machine.found() == "gfx942;gfx90a;gfx1036;gfx1151;gfx1201"


def test_no_gpu(machine: Machine) -> None:
    machine.enumerator_says("gfx000")
    machine.node(0, 0)
    assert machine.found() == ""
    machine.enumerator_says("gfx90a")
    (machine.folder / "kfd").unlink()
    assert machine.found() == ""


def test_graphics_that_the_compiler_does_not_know_are_left_out(machine: Machine) -> None:
    machine.enumerator_says("gfx000", "gfx1030", "gfx1036")
    machine.compiler_knows("gfx1030|gfx90a")
    done = machine.detect()
    assert done.stderr.endswith("found: gfx1030\n")
    assert f"{machine.bin}/hipcc does not compile for gfx1036, which is left out" in done.stdout


def test_a_gpu_that_the_compiler_does_not_know_is_said(machine: Machine) -> None:
    machine.enumerator_says("gfx000", "gfx1201")
    machine.compiler_knows("gfx90a")
    done = machine.detect()
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert "compiles for none of the GPUs that are here (gfx1201): it takes a newer ROCm" in said


@pytest.mark.parametrize(
    "override, found", [("10.3.0", "gfx1030"), ("9.0.10", "gfx90a"), ("nonsense", "gfx1036"), ("9.0.16", "gfx1036")]
)
def test_an_override_is_what_the_runtime_takes_the_gpu_for(machine: Machine, override: str, found: str) -> None:
    machine.enumerator_says("gfx000", "gfx1036")
    assert machine.found(HSA_OVERRIDE_GFX_VERSION=override) == found


WIDE_SCRIPT = """include({module})
set(hip_INCLUDE_DIRS /opt/rocm/include)
hipscope_find_wave64_targets(found "TARGETS")
message(NOTICE "found: ${{found}}")
"""


@pytest.mark.parametrize(
    "refused, targets, wide",
    [
        ("none", "gfx900;gfx90a:xnack-;gfx942", ""),
        ("none", "gfx90a;gfx1030;gfx1100;gfx1201", "gfx1030;gfx1100;gfx1201"),
        ("gfx1012|gfx1030", "gfx1030;gfx1032;gfx1036;gfx1032", "gfx1032;gfx1036"),
        ("gfx1030", "gfx1030", ""),
        ("gfx1250", "gfx1201;gfx1250", "gfx1201"),
    ],
)
def test_waves_of_64_are_for_the_targets_that_the_compiler_and_hip_allow_them_for(
    machine: Machine, refused: str, targets: str, wide: str
) -> None:
    machine.program(
        "hipcc",
        f"""[[ " $* " == *" -mwavefrontsize64 "* ]] || exit 2
[[ " $* " == *" -I/opt/rocm/include -include hip/hip_runtime.h "* ]] || exit 2
for argument in "$@"; do [[ $argument != --offload-arch=@({refused}) ]] || exit 1; done""",
    )
    assert machine.found(WIDE_SCRIPT.replace("TARGETS", targets)) == wide
