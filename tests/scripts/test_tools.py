"""setup.sh, detect_backend.sh and find_python.sh with faked tools."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Done, call, program
from synthetic import SCRIPTS

# What the scripts themselves call; the rest of the system is hidden from them.
TOOLS = ("bash", "dirname", "sed", "head", "env", "timeout", "cat", "grep")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder that is the whole PATH."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    return folder


def fake(folder: Path, name: str, body: str = "") -> None:
    program(folder / name, f"#!/bin/bash\n{body}\n")


def run(script: str, path: Path | str, *arguments: str, status: int | None = None, **environment: str) -> Done:
    """Runs a script with this PATH, with no toolkit but those on it."""
    nowhere = {"ROCM_PATH": "/nonexistent", "CUDA_PATH": "/nonexistent", "HIPSCOPE_KFD": "/nonexistent"}
    env = {"PATH": str(path), **nowhere, **environment}
    return call(SCRIPTS / script, *arguments, status=status, env=env, stdin=subprocess.DEVNULL)


def backend(tools: Path, **environment: str) -> str:
    done = run("detect_backend.sh", tools, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


NO_GPU = "exit 9"
H200 = "[[ $1 == -L ]] && echo 'GPU 0: NVIDIA H200 (UUID: GPU-1)'"


@pytest.mark.parametrize(
    ("compilers", "has_kfd", "nvidia_smi", "found"),
    [
        ([], False, NO_GPU, "host"),
        ([], True, NO_GPU, "host"),
        (["tools/hipcc"], False, NO_GPU, "host"),
        (["tools/hipcc"], True, NO_GPU, "amd"),
        # Off the PATH.
        (["rocm/bin/hipcc"], True, NO_GPU, "amd"),
        ([], False, H200, "host"),
        (["cuda/bin/nvcc"], False, H200, "nvidia"),
        (["cuda/bin/nvcc"], False, "echo 'No devices were found'", "host"),
        (["cuda/bin/nvcc"], False, "echo 'GPU access blocked by the operating system'; exit 255", "host"),
    ],
)
def test_a_backend_needs_a_driver_and_a_compiler(
    tools: Path, tmp_path: Path, compilers: list[str], has_kfd: bool, nvidia_smi: str, found: str
) -> None:
    fake(tools, "nvidia-smi", nvidia_smi)
    for name in compilers:
        fake((tmp_path / name).parent, Path(name).name)
    if has_kfd:
        (tmp_path / "kfd").touch()
    folders = {"ROCM_PATH": str(tmp_path / "rocm"), "CUDA_PATH": str(tmp_path / "cuda")}
    assert backend(tools, HIPSCOPE_KFD=str(tmp_path / "kfd"), **folders) == found


def test_amd_whose_driver_this_user_may_not_open(tools: Path, tmp_path: Path) -> None:
    fake(tools, "nvidia-smi", NO_GPU)
    fake(tools, "hipcc")
    kfd = tmp_path / "kfd"
    kfd.mkdir()  # not even root can open one for writing
    assert backend(tools, HIPSCOPE_KFD=str(kfd)) == "host"
    said = run("detect_backend.sh", tools, "--explain", HIPSCOPE_KFD=str(kfd)).stdout
    assert said.startswith(f"an AMD GPU driver, but this user may not open {kfd}, as members of its group, render")


@pytest.mark.parametrize("simd_counts, found", [([0], "host"), ([0, 440], "amd"), ([0, 0, 8], "amd"), ([], "amd")])
def test_amd_whose_driver_has_a_gpu(tools: Path, tmp_path: Path, simd_counts: list[int], found: str) -> None:
    fake(tools, "nvidia-smi", NO_GPU)
    fake(tools, "hipcc")
    (tmp_path / "kfd").touch()
    for number, count in enumerate(simd_counts):
        node = tmp_path / "nodes" / str(number)
        node.mkdir(parents=True)
        (node / "properties").write_text(f"cpu_cores_count 16\nsimd_count {count}\nmem_banks_count 1\n")
    environment = {"HIPSCOPE_KFD": str(tmp_path / "kfd"), "HIPSCOPE_KFD_NODES": str(tmp_path / "nodes")}
    assert backend(tools, **environment) == found
    if found == "host":
        said = run("detect_backend.sh", tools, "--explain", **environment).stdout
        assert said.startswith("an AMD GPU driver but no GPU that it can compute on; ")


def test_detect_explains(tools: Path) -> None:
    fake(tools, "nvidia-smi", "echo 'GPU 0: NVIDIA H200'")
    said = run("detect_backend.sh", tools, "--explain").stdout
    assert said == "no AMD GPU driver (/nonexistent is not there); an NVIDIA GPU but no nvcc\n"
    assert run("detect_backend.sh", tools, "--bogus").returncode == 2


def test_find_python_takes_the_first_that_can(tools: Path) -> None:
    fake(tools, "python3", "exit 1")
    assert run("find_python.sh", tools, "json").stdout.strip() == "/usr/bin/python3"
    (tools / "python3").unlink()
    # A wrapper and no link: a virtual environment's interpreter must be called by its own path.
    fake(tools, "python3", f'exec "{sys.executable}" "$@"')
    assert run("find_python.sh", tools, "json", "os").stdout.strip() == str(tools / "python3")


def test_find_python_says_what_to_install(tools: Path) -> None:
    done = run("find_python.sh", tools, "no_such_module", "yaml")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "find_python.sh: no Python 3.9 or newer here can import no_such_module yaml: apt-get install "
        "python3-no_such_module python3-yaml, or without root: python3 -m pip install --user no_such_module PyYAML.\n"
    )


def test_a_script_takes_the_interpreter_that_has_its_modules(tools: Path) -> None:
    # One that has the modules says so; the script was started by one that has not.
    fake(tools, "python3", '[[ $1 != *isa_report.py ]] || echo "started again: ${*:2}"')
    done = call(sys.executable, "-S", SCRIPTS / "isa_report.py", "--check", env={"PATH": str(tools)})
    assert (done.returncode, done.stdout) == (0, "started again: --check\n"), done.stderr


def test_find_python_takes_modules_alone(tools: Path, tmp_path: Path) -> None:
    assert run("find_python.sh", tools, "os; print(1)").returncode == 2
    # A file of the current folder is none.
    (tmp_path / "no_such_module.py").touch()
    call(SCRIPTS / "find_python.sh", "no_such_module", cwd=tmp_path, env={"PATH": str(tools)}, status=1)


def debian(tools: Path, installed: str, unknown: str = "none") -> None:
    """Fakes Debian's tools: `installed` and `unknown` are shell patterns of package names."""
    fake(tools, "dpkg-query", f"case ${{!#}} in {installed}) printf installed ;; *) exit 1 ;; esac")
    fake(
        tools,
        "apt-cache",
        f"""case $1:$2 in
      policy:{unknown}) printf '%s:\\n  Candidate: (none)\\n' "$2" ;;
      policy:*) printf '%s:\\n  Candidate: 1.0\\n' "$2" ;;
      depends:hipcc) printf 'hipcc\\n  Depends: clang-17\\n  Depends: llvm-17\\n' ;;
    esac""",
    )
    fake(tools, "apt-get", 'printf "apt-get %s\\n" "$*" >>"${0%/*}/apt-get.calls"')
    fake(tools, "sudo", '[[ $1 != -n ]] || shift; "$@"')
    fake(tools, "id", "echo 1000")


def calls(tools: Path) -> str:
    log = tools / "apt-get.calls"
    return log.read_text() if log.exists() else ""


HIPCC_MISSING, ALL_BUT_THREE = "[!h]*", "[!hs]*"


@pytest.mark.parametrize(
    "installed, unknown, arguments, status, said, asked",
    [
        (HIPCC_MISSING, "none", ["--check"], 1, "missing: hipcc\n", ""),
        (HIPCC_MISSING, "none", ["--check"], 1, "already there: g++ cmake", ""),
        (HIPCC_MISSING, "none", ["--check"], 1, "llvm-17-tools", ""),
        ("*", "none", [], 0, "nothing to install\n", ""),
        ("*", "none", ["--check"], 0, "nothing to install\n", ""),
        (ALL_BUT_THREE, "none", [], 0, "installing: hipcc shellcheck slurm-wlm\n", "hipcc shellcheck slurm-wlm"),
        (ALL_BUT_THREE, "hipcc", [], 1, "has no package named: hipcc\n", "shellcheck slurm-wlm"),
        # No browser is wanted where there is none.
        ("[!c]*", "chromium*", [], 0, "installing: cmake clang-format clang-tidy\n", "cmake clang-format clang-tidy"),
    ],
)
def test_setup(
    tools: Path, installed: str, unknown: str, arguments: list[str], status: int, said: str, asked: str
) -> None:
    debian(tools, installed, unknown)
    done = run("setup.sh", tools, *arguments, status=status)
    text = done.stdout + done.stderr
    assert said in text and not (unknown == "chromium*" and "chromium" in text)
    if asked:
        assert calls(tools).splitlines()[-1].endswith(f"--no-install-recommends {asked}")
    else:
        assert calls(tools) == ""


def test_setup_for_one_backend(tools: Path) -> None:
    debian(tools, "nothing")
    missing = {
        purpose: run("setup.sh", tools, "--check", "--for", purpose).stdout
        for purpose in ("amd", "nvidia", "host", "tests")
    }
    for package, purposes in {
        "ninja-build": {"amd", "nvidia", "host", "tests"},
        "hipcc": {"amd", "host", "tests"},
        "libboost-context-dev": {"host", "tests"},
        "libgtest-dev": {"tests"},
        "python3-selenium": {"tests"},
        "mypy": {"tests"},
        "chromium-driver": {"tests"},
        "slurm-wlm": {"tests"},
        "python3-yaml": {"host", "tests"},
        "llvm-17 ": {"host", "tests"},
        "llvm-17-tools": {"tests"},
    }.items():
        assert {name for name, said in missing.items() if f" {package}" in said} == purposes
    assert missing["tests"] == run("setup.sh", tools, "--check").stdout


def test_setup_takes_rocm_for_the_hip_packages(tools: Path, tmp_path: Path) -> None:
    debian(tools, "[!hl]*")
    fake(tmp_path / "rocm" / "bin", "hipcc")
    done = run("setup.sh", tools, "--check", ROCM_PATH=str(tmp_path / "rocm"))
    assert "of a ROCm install" in done.stdout
    missing = next(line for line in done.stdout.splitlines() if line.startswith("missing:"))
    assert "hipcc" not in missing and "libamdhip64-dev" not in missing and "libfmt-dev" in missing


def test_setup_without_apt(tools: Path) -> None:
    done = run("setup.sh", tools, status=1)
    assert "Needed (by their Debian names): g++ cmake" in done.stdout
    assert "no apt-get" in done.stderr and done.stderr.count("\n") == 1
    assert "pip install --user cmake ninja -r requirements.txt" in done.stderr
    assert "Not here, and needed to build: a C++20 compiler, CMake 3.24, Ninja or make\n" in done.stdout


@pytest.mark.parametrize("sudo", [None, "echo 'sudo: a password is required' >&2; exit 1"])
def test_setup_as_a_plain_user_says_what_works_without(tools: Path, sudo: str | None) -> None:
    debian(tools, "[!h]*")
    (tools / "sudo").unlink()
    if sudo:
        fake(tools, "sudo", sudo)
    for name in ("g++", "cmake", "make"):
        fake(tools, name)
    done = run("setup.sh", tools, status=1)
    assert "missing: hipcc" in done.stdout and "needed to build" not in done.stdout
    assert (
        "setup.sh: installing needs root, and sudo does not give it here. Without that CMake downloads"
    ) in done.stderr
    assert done.stderr.count("\n") == 1
    assert calls(tools) == ""


def test_setup_when_apt_fails(tools: Path) -> None:
    debian(tools, "[!h]*")
    fake(tools, "apt-get", "[[ $1 == update ]] || exit 100")
    done = run("setup.sh", tools, status=1)
    assert "could not install" in done.stderr


def test_setup_calls_no_sudo_as_root(tools: Path) -> None:
    debian(tools, "[!h]*")
    fake(tools, "id", "echo 0")
    fake(tools, "sudo", "exit 1")
    assert run("setup.sh", tools).returncode == 0


def test_setup_usage(tools: Path) -> None:
    assert run("setup.sh", tools, "--bogus").returncode == 2
    for arguments in (["--for"], ["--for", "vulkan"]):
        done = run("setup.sh", tools, *arguments, status=2)
        assert done.stderr.count("\n") == 1 and "--for" in done.stderr


@pytest.mark.parametrize(
    "script, option", [("setup.sh", "--check"), ("rocm7.sh", "--targets LIST"), ("sanitize.sh", "--limit SECONDS")]
)
def test_help(tools: Path, script: str, option: str) -> None:
    assert f"  {option}  " in run(script, tools, "--help", status=0).stdout
