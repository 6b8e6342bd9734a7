"""cmake/cuda_architectures.cmake: which GPUs a build is for, with a faked compiler and a faked tool of the driver."""

from __future__ import annotations

from pathlib import Path

import pytest
import synthetic
from conftest import call, program

SCRIPT = """include({module})
set(CMAKE_CUDA_ARCHITECTURES "{architectures}")
set(CMAKE_CUDA_COMPILER {compiler})
set(HIPSCOPE_NVIDIA_SMI {tool})
hipscope_name_cuda_architectures(named)
message(NOTICE "named: ${{named}}")
"""
KNOWN = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_103", "sm_120")


def says(path: Path, *lines: str) -> Path:
    return program(path, "#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines))


@pytest.mark.parametrize(
    ("architectures", "named"),
    [
        ("90", "90"),
        ("80;90", "80;90"),
        ("90a-real", "90a-real"),
        ("native", "80;90"),
        ("all", "75;80;86;89;90;100;103;120"),
        ("all-major", "75;80;90;100;120"),
    ],
)
def test_architectures(tmp_path: Path, architectures: str, named: str) -> None:
    script = tmp_path / "script.cmake"
    script.write_text(
        SCRIPT.format(
            module=synthetic.REPOSITORY / "cmake" / "cuda_architectures.cmake",
            architectures=architectures,
            compiler=says(tmp_path / "nvcc", *KNOWN),
            tool=says(tmp_path / "nvidia-smi", "8.0", "9.0", "8.0"),
        ),
        encoding="utf-8",
    )
    done = call("cmake", "-P", script, status=0)
    assert f"named: {named}\n" in done.stderr
