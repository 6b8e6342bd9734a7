"""run_experiments.py and test.sh --launcher: which runs they make, and how they judge."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic import SCRIPTS

ROOT = SCRIPTS.parent
RUNNER = ROOT / "tests" / "emulator" / "run_experiments.py"
SPENT = "emulator: gfx90a, 1234 wave instructions, {} reports"
RACE = "emulator: LDS race | _Z12store_kernelPj | ds_write_b32 v0, v1 | 7 times | store to LDS 0 (at 0x10)"


def make_binary(build: Path, name: str, checks: str = "3 of 3", stderr: str = "", status: int = 0) -> None:
    """An experiment that says this of its checks, and then this on stderr."""
    path = build / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n"
                    'echo "$0 $* $HIPSCOPE_EMULATOR" >>"$(dirname "$0")/calls"\n'
                    f"echo 'verification: {checks} checks passed'\n"
                    f"cat >&2 <<'END'\n{stderr}\nEND\nexit {status}\n", encoding="utf-8")
    path.chmod(0o755)


def calls(build: Path) -> list[str]:
    path = build / "bin" / "calls"
    return sorted(line.replace(f"{build}/bin/", "").strip() for line in path.read_text().splitlines())


@pytest.fixture(name="lists")
def made_lists(tmp_path: Path) -> list[str]:
    """Two experiments, one of which reports what is expected."""
    experiments = tmp_path / "experiments.txt"
    experiments.write_text("# a comment\nfirst | gfx90a gfx906 | plain shuffled | --size 3\n"
                           "second | gfx90a | still |\n", encoding="utf-8")
    expected = tmp_path / "expected.txt"
    expected.write_text("first | LDS race | store_kernel | all waves store, and none loads\n", encoding="utf-8")
    return ["--experiments", str(experiments), "--expected", str(expected)]


def run(build: Path, lists: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(RUNNER), "--build", str(build), "--jobs", "1", *lists, *arguments],
                          capture_output=True, text=True, check=False, timeout=60)


def test_every_way_runs_on_the_first_target_and_the_plain_one_on_the_others(tmp_path: Path, lists: list[str]) -> None:
    make_binary(tmp_path, "first", stderr=RACE + "\n" + SPENT.format(1))
    make_binary(tmp_path, "second", stderr=SPENT.format(0))
    done = run(tmp_path, lists)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "4 passed, 0 failed, 0 skipped"
    assert calls(tmp_path) == [
        "first --once --size 3 target=gfx906",
        "first --once --size 3 target=gfx90a",
        "first --once --size 3 target=gfx90a shuffle late-stores stale-l1",
        "second --once target=gfx90a still-counter",
    ]


@pytest.mark.parametrize("binary, said", [
    ({"checks": "2 of 3"}, "verification: 2 of 3 checks passed"),
    ({"checks": "0 of 0"}, "verification: 0 of 0 checks passed"),
    ({"status": 3}, "ended with status 3"),
    ({"stderr": ""}, "did not run in the emulator"),
    ({"stderr": RACE.replace("store_kernel", "other_kernel") + "\n" + SPENT.format(1)}, "LDS race: _Z12other_kernelPj"),
    ({"stderr": RACE.replace("LDS race", "hazard") + "\n" + SPENT.format(1)}, "hazard: _Z12store_kernelPj"),
    ({"stderr": "emulator: stopped: unknown instruction: v_x", "status": 99}, "stopped: unknown instruction: v_x"),
], ids=str)
def test_what_is_wrong_with_a_run_is_said(binary: dict, said: str, tmp_path: Path, lists: list[str]) -> None:
    make_binary(tmp_path, "second", **{"stderr": SPENT.format(0), **binary})
    done = run(tmp_path, lists, "--only", "second")
    assert done.returncode == 1
    assert said in done.stdout
    assert done.stdout.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


def test_a_needless_expectation_fails(tmp_path: Path, lists: list[str]) -> None:
    make_binary(tmp_path, "first", stderr=SPENT.format(0))
    make_binary(tmp_path, "second", stderr=SPENT.format(0))
    done = run(tmp_path, lists)
    assert done.returncode == 1
    assert "first: LDS race in store_kernel is expected, and is not reported" in done.stdout
    assert done.stdout.splitlines()[-1] == "4 passed, 1 failed, 0 skipped"
    # Where not all of its runs were made, nothing is known of it.
    assert run(tmp_path, lists, "--words", "gfx906$").returncode == 0


def test_what_is_not_built_is_skipped(tmp_path: Path, lists: list[str]) -> None:
    make_binary(tmp_path, "second", stderr=SPENT.format(0))
    done = run(tmp_path, lists)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "1 passed, 0 failed, 3 skipped"


def test_another_launcher_runs_each_line_once(tmp_path: Path, lists: list[str]) -> None:
    make_binary(tmp_path, "first")
    make_binary(tmp_path, "second", checks="1 of 2")
    done = run(tmp_path, lists, "--launcher", "env MARK=1")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"
    assert calls(tmp_path) == ["first --once --size 3", "second --once"]


def test_a_launcher_that_is_not_there_is_told(tmp_path: Path, lists: list[str]) -> None:
    make_binary(tmp_path, "second")
    done = run(tmp_path, lists, "--only", "second", "--launcher", "no-such-launcher")
    assert done.returncode == 1
    assert "no-such-launcher" in done.stdout


def test_wrong_lists_are_told(tmp_path: Path, lists: list[str]) -> None:
    (tmp_path / "experiments.txt").write_text("first | gfx90a | sideways | --size 3\n", encoding="utf-8")
    done = run(tmp_path, lists)
    assert done.returncode == 1
    assert done.stderr == "experiments.txt: 'sideways' is no way to run: plain, shuffled, still\n"
    (tmp_path / "experiments.txt").write_text("first | gfx90a\n", encoding="utf-8")
    assert "not 4 fields" in run(tmp_path, lists).stderr


def listed(*arguments: str) -> set[str]:
    done = subprocess.run([sys.executable, str(RUNNER), "--list", *arguments], capture_output=True, text=True,
                          check=True, timeout=60)
    return set(done.stdout.splitlines())


def test_every_experiment_runs_on_gfx90a_in_both_orders_and_on_the_older_targets() -> None:
    named = re.findall(r"^hipscope_add_experiment\(src/\S+/(\w+)\.hip", (ROOT / "CMakeLists.txt").read_text(),
                       flags=re.MULTILINE)
    runs = listed()
    entries = [line.split(" | ") for line in (RUNNER.parent / "experiments.txt").read_text().splitlines()
               if not line.startswith("#")]
    left_out = {entry[0] for entry in entries if entry[1] == "none"}
    assert {entry[0] for entry in entries} == set(named)
    for name in set(named) - left_out:
        own = [line for line in runs if line.split()[0] == name]
        assert any(line.endswith("(target=gfx90a)") for line in own), name
        assert any(line.endswith("(target=gfx90a shuffle late-stores stale-l1)") for line in own), name
        for target in ("gfx906", "gfx908"):
            assert any(line.endswith(f"(target={target})") for line in own), (name, target)
    assert {line.split()[0] for line in runs} == set(named) - left_out


def test_what_the_shell_says_of_launchers() -> None:
    """test.sh's own words about --launcher."""
    def shell(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(SCRIPTS / "test.sh"), *words], capture_output=True, text=True, check=False,
                              timeout=60)
    assert "--launcher CMD" in shell("--help").stdout
    for words, said in [(["--launcher"], "--launcher needs a value"),
                        (["--build", "/tmp"], "--build is for --launcher"),
                        (["--launcher", "env", "--build", "/nowhere"], "there are no binaries in /nowhere/bin.")]:
        done = shell(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr and len(done.stderr.splitlines()) == 1


def test_shell_runs_the_list_through_the_launcher(tmp_path: Path) -> None:
    make_binary(tmp_path, "nchw_index")
    make_binary(tmp_path, "lds_latency", checks="4 of 5")
    done = subprocess.run([str(SCRIPTS / "test.sh"), "--launcher", "env A=b", "--build", str(tmp_path)],
                          capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "experiments, run by env A=b" in done.stdout
    assert "verification: 4 of 5 checks passed" in done.stdout
    assert re.fullmatch(r"\d+ passed, \d+ failed, \d+ skipped", done.stdout.splitlines()[-1])
    assert all(line.startswith(("nchw_index --once", "lds_latency --once")) for line in calls(tmp_path))
