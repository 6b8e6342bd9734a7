"""The binaries for GPUs: what they do where there is none, and a short run where there is one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BACKEND, assert_one_sentence


def device_is_there() -> bool:
    if BACKEND == "amd":
        return Path("/dev/kfd").exists()
    nvidia_smi = shutil.which("nvidia-smi") or "/usr/local/nvidia/bin/nvidia-smi"
    if not Path(nvidia_smi).exists():
        return False
    listing = subprocess.run([nvidia_smi, "-L"], capture_output=True, text=True, check=False)
    return "GPU" in listing.stdout


DEVICE_IS_THERE = device_is_there()


@pytest.mark.parametrize("option, said", [("--help", "--json"), ("--version", f"backend {BACKEND}"), ("--list", " ")])
def test_what_a_binary_says_of_itself_needs_no_device(binary, option, said):
    result = binary.run(option)
    assert (result.returncode, result.stderr) == (0, "")
    assert said in result.stdout


def test_bad_option_is_status_2(binary):
    result = binary.run("--bogus")
    assert result.returncode == 2
    assert_one_sentence(result, binary)


@pytest.mark.skipif(DEVICE_IS_THERE, reason="there is a device")
@pytest.mark.parametrize("arguments", [["--json", "result.json"], ["--quick"], ["--devices"]], ids=" ".join)
def test_without_a_device_the_status_is_77(binary, arguments):
    result = binary.run(*arguments)
    assert result.returncode == 77
    if BACKEND == "amd":
        assert "there is no /dev/kfd: the driver amdgpu is not loaded" in result.stderr
    assert result.stdout == ""
    assert_one_sentence(result, binary)
    assert list(binary.folder.iterdir()) == []


@pytest.mark.skipif(not DEVICE_IS_THERE, reason="there is no device")
def test_with_a_device_a_quick_run_passes(binary):
    result = binary.run("--quick", "--json", "result.json")
    assert result.returncode == 0, result.stdout + result.stderr
    document = json.loads((binary.folder / "result.json").read_text())
    assert document["status"] == "passed"
    assert document["scaled"] is False
    assert document["build"]["backend"] == BACKEND
