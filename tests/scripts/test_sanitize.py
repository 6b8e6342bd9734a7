"""sanitize.sh with a fake compute-sanitizer over a build folder of fake binaries."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import synthetic
from conftest import Done, end_of, wait_for
from conftest import start as start_program
from test_run_all import running
from test_tools import fake

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
EXPERIMENTS = ("fma_loop", "sgemm")

# Notes how it was called; says and does what files beside it say for an experiment and a tool.
FAKE_SANITIZER = r"""
here=$(dirname "$0") tool= log= part=main call="$*"
while (($#)); do
  case $1 in
    --tool) tool=$2; shift ;;
    --log-file) log=$2; shift ;;
    --kernel-name) part=waiting; shift ;;
    --kernel-name-exclude | --print-limit | --padding | --check-api-memory-access) shift ;;
    *) break ;;
  esac
  shift
done
key=$(basename "$1").$tool.$part
echo "poison=${HIPSCOPE_POISON-} libraries=${HIPSCOPE_LIBRARIES-} $call" >"$here/$key.call"
if [[ -e $here/$key.hangs ]]; then
  trap 'touch "$here/$key.terminated"; exit 143' TERM
  touch "$here/$key.started"
  sleep 600 &
  wait
fi
"$@"
status=$?
if [[ -e $here/$key.no_log ]]; then
  :
elif [[ -e $here/$key.log ]]; then
  cat "$here/$key.log" >"$log"
elif [[ $tool == racecheck ]]; then
  echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)" >"$log"
else
  echo "========= ERROR SUMMARY: 0 errors" >"$log"
fi
[[ ! -e $here/$key.status ]] || status=$(cat "$here/$key.status")
exit "$status"
"""
FAKE_BINARY = r"""
# SplitAlongK, PartELb0ELb1E: names of kernels
here=$(dirname "$0")
[[ $1 != --devices ]] || exit "$(cat "$here/devices.status")"
[[ " $* " == *" --tiny "* ]] || exit 2
"""


@dataclass
class Bench:
    """A build folder of fake binaries and a PATH with a fake compute-sanitizer."""

    build: Path
    tools: Path

    def start(self, *arguments: str, no_build: bool = True, **environment: str) -> subprocess.Popen[str]:
        options = [*(["--no-build"] if no_build else []), "--build-dir", self.build, *arguments]
        nowhere = {"CUDA_PATH": "/nonexistent", "HIPSCOPE_KFD": "/nonexistent"}
        path = {"PATH": f"{self.tools}:{os.environ['PATH']}"}
        script = synthetic.SCRIPTS / "sanitize.sh"
        return start_program(script, *options, env={**os.environ, **path, **nowhere, **environment})

    def run(self, *arguments: str, status: int | None = None, no_build: bool = True, **environment: str) -> Done:
        return end_of(self.start(*arguments, no_build=no_build, **environment), status)

    def says(self, run: str, log: str, status: int = 0) -> None:
        """What the tool writes and returns for <experiment>.<tool>.<main or waiting>."""
        (self.tools / f"{run}.log").write_text(log)
        (self.tools / f"{run}.status").write_text(str(status))

    def call(self, run: str) -> str:
        return (self.tools / f"{run}.call").read_text()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Two experiments; the kernels of one of them have blocks that wait."""
    made = Bench(tmp_path / "build", tmp_path / "tools")
    fake(made.tools, "compute-sanitizer", FAKE_SANITIZER)
    for name in EXPERIMENTS:
        fake_binary(made, name)
    (made.build / "bin" / "devices.status").write_text("0")
    return made


def fake_binary(bench: Bench, name: str) -> None:
    (bench.build / "bin").mkdir(parents=True, exist_ok=True)
    fake(bench.build / "bin", name, FAKE_BINARY)
    with open(bench.build / "experiments.txt", "a", encoding="utf-8") as file:
        file.write(f"{name}\n")


def table(text: str) -> dict[str, list[str]]:
    _, _, rest = text.partition("\nexperiment ")
    rows = [re.split(r" {2,}", line) for line in rest.splitlines()[1:]]
    return {row[0]: row[1:] for row in rows if len(row) == 1 + len(TOOLS)}


def test_all_clean(bench: Bench) -> None:
    done = bench.run(status=0)
    assert table(done.stdout) == {name: ["clean"] * 4 for name in EXPERIMENTS}
    assert "\nAll clean.\n" in done.stdout and done.stderr == ""
    for name in EXPERIMENTS:
        for tool in TOOLS:
            assert f"--tool {tool} " in bench.call(f"{name}.{tool}.main")
            assert (bench.build / "sanitize" / f"{name}.{tool}.log").exists()


def test_options_of_the_tools(bench: Bench) -> None:
    bench.run("--device", "1", status=0)
    assert "--padding " in bench.call("fma_loop.memcheck.main")
    assert bench.call("fma_loop.initcheck.main").startswith("poison=no libraries=no ")
    assert "--check-api-memory-access no " in bench.call("fma_loop.initcheck.main")
    assert bench.call("fma_loop.memcheck.main").startswith("poison= libraries=no ")
    assert bench.call("fma_loop.memcheck.main").endswith(" --device 1\n")


def test_kernels_whose_blocks_wait_have_a_run_of_their_own(bench: Bench) -> None:
    bench.run("--tools", "race")
    kernel = "kernel_substring=SplitAlongK"
    assert f" --kernel-name-exclude {kernel} " in bench.call("sgemm.racecheck.main")
    assert f" --kernel-name {kernel} " in bench.call("sgemm.racecheck.waiting")
    assert "kernel-name" not in bench.call("fma_loop.racecheck.main")
    assert " --filter ^(?!(awkward|tiles)$)\n" in bench.call("sgemm.racecheck.main")
    assert "--filter" not in bench.call("fma_loop.racecheck.main")
    assert not (bench.tools / "fma_loop.racecheck.waiting.call").exists()


def test_waiting_for_ever_is_said_and_is_no_failure(bench: Bench) -> None:
    (bench.tools / "sgemm.racecheck.waiting.hangs").touch()
    done = bench.run("--limit", "2", "--only", "sgemm", "--tools", "race", status=0)
    assert (
        "racecheck of the kernels of sgemm whose blocks wait (SplitAlongK), which its column leaves out: "
        "not finished\n" in done.stdout
    )


def test_a_tool_that_fails_counts_but_for_blocks_that_wait(bench: Bench) -> None:
    log = (
        "========= Internal Sanitizer Error: The Sanitizer failed to handle a hardware exception.\n"
        "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"
    )
    bench.says("sgemm.racecheck.waiting", log, status=3)
    done = bench.run(status=0)
    assert "which its column leaves out: the tool failed\n" in done.stdout
    bench.says("sgemm.racecheck.main", log, status=3)
    done = bench.run(status=1)
    assert table(done.stdout)["sgemm"] == ["clean", "the tool failed", "clean", "clean"]


def test_a_hazard_between_blocks_that_wait_is_a_failure(bench: Bench) -> None:
    bench.says("sgemm.racecheck.waiting", "========= RACECHECK SUMMARY: 2 hazards displayed (0 errors, 2 warnings)\n")
    done = bench.run(status=1)
    assert table(done.stdout)["sgemm"] == ["clean"] * 4
    assert "which its column leaves out: 2 errors\n" in done.stdout and "1 of 9 runs were not clean." in done.stdout


NOT_BEGUN = "Target application terminated before first instrumented"
HAZARDS = "RACECHECK SUMMARY: {} displayed ({}, {} warnings)"


@pytest.mark.parametrize(
    "tool, lines, status, cell",
    [
        ("memcheck", ["Invalid __global__ write", "ERROR SUMMARY: 3 errors"], 0, "3 errors"),
        ("memcheck", ["ERROR SUMMARY: 1 error"], 0, "1 errors"),
        ("memcheck", ["ERROR SUMMARY: 12 errors"], 3, "12 errors"),
        ("racecheck", [HAZARDS.format("5 hazards", "0 errors", 5)], 0, "5 errors"),
        ("racecheck", ["Error: Race reported between Write", HAZARDS.format("1 hazard", "1 error", 0)], 0, "1 errors"),
        (
            "racecheck",
            ["Error: it didn't terminate", HAZARDS.format("0 hazards", "0 errors", 0)],
            9,
            "FAILED (status 9)",
        ),
        ("synccheck", ["ERROR SUMMARY: 0 errors"], 1, "wrong result"),
        ("synccheck", ["ERROR SUMMARY: 0 errors"], 3, "FAILED (status 3)"),
        ("synccheck", [], 0, "FAILED (status 0)"),
        ("synccheck", ["Error: Device not supported", "ERROR SUMMARY: 0 errors"], 0, "FAILED (status 0)"),
        ("memcheck", [f"{NOT_BEGUN} API call", "ERROR SUMMARY: 0 errors"], 0, "FAILED (status 0)"),
        (
            "initcheck",
            ["Uninitialized __global__ memory read of size 4 bytes", "ERROR SUMMARY: 1 error"],
            0,
            "1 errors",
        ),
        # With more errors than it prints a tool says how many it left out, in a line that begins alike.
        (
            "memcheck",
            ["ERROR SUMMARY: 15120 errors", "ERROR SUMMARY: 5120 errors were not printed."],
            0,
            "15120 errors",
        ),
    ],
)
def test_what_is_not_clean(bench: Bench, tool: str, lines: list[str], status: int, cell: str) -> None:
    bench.says(f"fma_loop.{tool}.main", "".join(f"========= {line}\n" for line in lines), status)
    done = bench.run(status=1)
    expected = ["clean"] * 4
    expected[TOOLS.index(tool)] = cell
    assert table(done.stdout) == {"fma_loop": expected, "sgemm": ["clean"] * 4}
    assert "1 of 9 runs were not clean." in done.stdout


def test_a_tool_that_leaves_no_log(bench: Bench) -> None:
    (bench.tools / "fma_loop.memcheck.main.no_log").touch()
    done = bench.run(status=1)
    assert table(done.stdout)["fma_loop"] == ["FAILED (status 0)", "clean", "clean", "clean"]
    assert done.stderr == ""


def test_initcheck_leaves_the_missing_poison_alone(bench: Bench) -> None:
    bench.says("fma_loop.initcheck.main", "========= ERROR SUMMARY: 0 errors\n", status=1)
    bench.run(status=0)


def test_a_run_that_does_not_end(bench: Bench) -> None:
    (bench.tools / "fma_loop.synccheck.main.hangs").touch()
    done = bench.run("--limit", "1", status=1)
    assert table(done.stdout)["fma_loop"] == ["clean"] * 3 + ["not finished"]
    assert not [line for line in running() if str(bench.build) in line]


def test_an_older_log_does_not_count(bench: Bench) -> None:
    bench.run(status=0)
    (bench.tools / "compute-sanitizer").write_text("#!/bin/sh\nexit 0\n")
    done = bench.run(status=1)
    assert table(done.stdout)["fma_loop"] == ["FAILED (status 0)"] * 4


def test_some_tools_and_experiments(bench: Bench) -> None:
    done = bench.run("--tools", "^(mem|sync)", "--only", "fma", "-j", "1", status=0)
    assert table(done.stdout) == {"fma_loop": ["clean", "not run", "not run", "clean"]}


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["--frobnicate"], "--frobnicate"),
        (["--tools", "valgrind"], "there are memcheck racecheck"),
        (["--tools", "("], "regular expression"),
        (["--only", "("], "regular expression"),
        (["--only", "nothing_of_this_name"], "nothing_of_this_name"),
        (["--only"], "--only needs a value"),
        (["--limit", "0"], "--limit"),
        (["-j", "many"], "-j takes"),
        (["--device", "-1"], "--device"),
        (["--build-dir", "/nonexistent/folder"], "/nonexistent/folder"),
    ],
)
def test_bad_usage(bench: Bench, arguments: list[str], part: str) -> None:
    done = bench.run(*arguments, status=2)
    assert done.stderr.startswith("sanitize.sh: ") and part in done.stderr and done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_no_sanitizer(bench: Bench) -> None:
    (bench.tools / "compute-sanitizer").unlink()
    for name in ("bash", "dirname", "sed", "grep", "env"):
        (bench.tools / name).symlink_to(shutil.which(name) or "")
    done = bench.run(PATH=str(bench.tools), status=77)
    assert done.stderr == "sanitize.sh: there is no compute-sanitizer here; the CUDA toolkit has it.\n"


def test_no_device(bench: Bench) -> None:
    (bench.build / "bin" / "devices.status").write_text("77")
    done = bench.run(status=77)
    assert "no NVIDIA GPU" in done.stderr and done.stderr.count("\n") == 1


def test_no_gpu_no_build(bench: Bench) -> None:
    fake(bench.tools, "nvidia-smi", "exit 9")
    done = bench.run(no_build=False, status=77)
    assert "nvidia-smi lists none" in done.stderr and "Building" not in done.stdout


def test_a_waiting_kernel_that_is_called_otherwise(bench: Bench) -> None:
    fake(bench.build / "bin", "sgemm", FAKE_BINARY.replace("SplitAlongK", "Split"))
    done = bench.run(status=2)
    assert "no kernel of sgemm has 'SplitAlongK'" in done.stderr


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_interrupt(bench: Bench, number: signal.Signals, status: int) -> None:
    for name in EXPERIMENTS:
        (bench.tools / f"{name}.memcheck.main.hangs").touch()
    process = bench.start("-j", "2")
    for name in EXPERIMENTS:
        wait_for(bench.tools / f"{name}.memcheck.main.started")
    process.send_signal(number)
    err = end_of(process).stderr
    assert process.returncode == status
    assert all((bench.tools / f"{name}.memcheck.main.terminated").exists() for name in EXPERIMENTS)
    assert "sanitize.sh: interrupted" in err
    assert not [line for line in running() if str(bench.build) in line]
