"""run_experiments.py and test.sh --launcher: which runs they make, and how they judge."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from conftest import Done, call, program
from synthetic import SCRIPTS

ROOT = SCRIPTS.parent
RUNNER = ROOT / "tests" / "emulator" / "run_experiments.py"
SPENT = "emulator: gfx90a, 1234 wave instructions, {} reports"
RACE = "emulator: LDS race | _Z12store_kernelPj | ds_write_b32 v0, v1 | 7 times | store to LDS 0 (at 0x10)"


def make_binary(build: Path, name: str, checks: str = "3 of 3", stderr: str = "", status: int = 0) -> None:
    """An experiment that says this of its checks, and then this on stderr."""
    program(
        build / "bin" / name,
        "#!/bin/sh\n"
        'echo "$0 $* $HIPSCOPE_EMULATOR" >>"$(dirname "$0")/calls"\n'
        f"echo 'verification: {checks} checks passed'\n"
        f"cat >&2 <<'END'\n{stderr}\nEND\nexit {status}\n",
    )


def calls(build: Path) -> list[str]:
    path = build / "bin" / "calls"
    return sorted(line.replace(f"{build}/bin/", "").strip() for line in path.read_text().splitlines())


@pytest.fixture(name="sources")
def made_sources(tmp_path: Path) -> list[str]:
    """Two experiments, one of which reports what is expected, and one that is not run."""
    for name, lines in [
        (
            "first",
            "LDS race | store_kernel | all waves store, and none loads\n"
            "shuffled | ^few$ | time\nstill timer | ^one$ | dashes\nwaits under racecheck | kernel | they wait\n",
        ),
        ("second", ""),
        ("third", "not in the emulator | the whole experiment | it needs two\n"),
    ]:
        folder = tmp_path / "src" / "1-a" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.hip").touch()
        (folder / "checkers.txt").write_text("# a comment\n" + lines, encoding="utf-8")
    return ["--sources", str(tmp_path / "src")]


def run(build: Path, sources: list[str], *arguments: str, status: int | None = None) -> Done:
    return call(sys.executable, RUNNER, "--build", build, "--jobs", "1", *sources, *arguments, status=status)


def test_every_experiment_runs_in_all_ways(tmp_path: Path, sources: list[str]) -> None:
    make_binary(tmp_path, "first", stderr=RACE + "\n" + SPENT.format(1))
    make_binary(tmp_path, "second", stderr=SPENT.format(0))
    done = run(tmp_path, sources, status=0)
    assert done.stdout.splitlines()[-1] == "9 passed, 0 failed, 0 skipped"
    assert calls(tmp_path) == sorted(
        [f"first --tiny target={words}" for words in ("gfx90a", "gfx908 still-counter", "gfx906")]
        + ["first --tiny --filter ^few$ target=gfx90a shuffle late-stores stale-l1"]
        + ["first --tiny --filter ^one$ target=gfx90a still-timer"]
        + [
            f"second --tiny target={words}"
            for words in ("gfx90a", "gfx90a shuffle late-stores stale-l1", "gfx908 still-counter", "gfx906")
        ]
    )


@pytest.mark.parametrize(
    "binary, said",
    [
        ({"checks": "2 of 3"}, "verification: 2 of 3 checks passed"),
        ({"checks": "0 of 0"}, "verification: 0 of 0 checks passed"),
        ({"status": 3}, "ended with status 3"),
        ({"stderr": ""}, "did not run in the emulator"),
        (
            {"stderr": RACE.replace("store_kernel", "other_kernel") + "\n" + SPENT.format(1)},
            "LDS race: _Z12other_kernelPj",
        ),
        ({"stderr": RACE.replace("LDS race", "hazard") + "\n" + SPENT.format(1)}, "hazard: _Z12store_kernelPj"),
        ({"stderr": "emulator: stopped: unknown instruction: v_x", "status": 99}, "stopped: unknown instruction: v_x"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_run_is_said(binary: dict, said: str, tmp_path: Path, sources: list[str]) -> None:
    make_binary(tmp_path, "second", **{"stderr": SPENT.format(0), **binary})
    done = run(tmp_path, sources, "--only", "second", status=1)
    assert said in done.stdout
    assert done.stdout.splitlines()[-1] == "0 passed, 4 failed, 0 skipped"


def test_a_needless_expectation_fails(tmp_path: Path, sources: list[str]) -> None:
    make_binary(tmp_path, "first", stderr=SPENT.format(0))
    make_binary(tmp_path, "second", stderr=SPENT.format(0))
    done = run(tmp_path, sources, status=1)
    assert "first: LDS race in store_kernel is expected, and is not reported" in done.stdout
    assert done.stdout.splitlines()[-1] == "9 passed, 1 failed, 0 skipped"
    # Where not all of its runs were made, nothing is known of it.
    assert run(tmp_path, sources, "--words", "gfx906$").returncode == 0


@pytest.mark.parametrize(
    "cycles, stores, said",
    [
        (8, 6, ""),
        (9, 6, "not free of conflicts: swizzled: loads 1.12, stores 1.00; LDS takes 9 cycles, 8 without conflicts"),
        (8, 8, "not conflicts: loads 1.00, stores 1.50: tile::plain<2>: loads 1.00, stores 2.00; LDS takes 16 cycles"),
    ],
)
def test_conflicts_are_those_that_are_said(tmp_path: Path, cycles: int, stores: int, said: str) -> None:
    folder = tmp_path / "src" / "1-a" / "tile"
    folder.mkdir(parents=True)
    (folder / "tile.hip").touch()
    lines = "free of conflicts | swizzled | as told\nconflicts: loads 1.00, stores 1.50 | plain<(2|3)> | as told\n"
    (folder / "checkers.txt").write_text(lines, encoding="utf-8")

    def told(symbol: str, **kinds: tuple[int, int]) -> str:
        def work(taken: int, free: int) -> str:
            return f"1 instructions, {taken} cycles, {free} without conflicts"

        each = "; ".join(f"{name}: {work(*pair)}" for name, pair in kinds.items())
        return f"emulator: LDS of {symbol}: {work(*map(sum, zip(*kinds.values())))} ({each})"

    stderr = [
        told("swizzled", ds_read_b128=(cycles, 8)),
        told("_ZN4tile5plainILi2EEEvPf", ds_read2_b64=(8, 8), ds_write_b64=(stores, 4)),
        told("other", ds_read_b32=(64, 2)),
        SPENT.format(0),
    ]
    make_binary(tmp_path, "tile", stderr="\n".join(stderr))
    done = run(tmp_path, ["--sources", str(tmp_path / "src")], "--words", "conflicts")
    assert done.returncode == (1 if said else 0), done.stdout
    assert said in done.stdout
    assert calls(tmp_path) == ["tile --tiny target=gfx90a conflicts"]
    # Each line must speak of a kernel.
    (folder / "checkers.txt").write_text(lines + "free of conflicts | none | as told\n", encoding="utf-8")
    assert "free of conflicts in none is expected" in run(tmp_path, ["--sources", str(tmp_path / "src")]).stdout


def test_what_is_not_built_is_skipped(tmp_path: Path, sources: list[str]) -> None:
    make_binary(tmp_path, "second", stderr=SPENT.format(0))
    done = run(tmp_path, sources, status=0)
    assert done.stdout.splitlines()[-1] == "4 passed, 0 failed, 5 skipped"


def test_another_launcher_runs_each_line_once(tmp_path: Path, sources: list[str]) -> None:
    make_binary(tmp_path, "first")
    make_binary(tmp_path, "second", checks="1 of 2")
    done = run(tmp_path, sources, "--launcher", "env MARK=1", status=1)
    assert done.stdout.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"
    assert calls(tmp_path) == ["first --tiny", "second --tiny"]


def test_a_launcher_that_is_not_there_is_told(tmp_path: Path, sources: list[str]) -> None:
    make_binary(tmp_path, "second")
    done = run(tmp_path, sources, "--only", "second", "--launcher", "no-such-launcher", status=1)
    assert "no-such-launcher" in done.stdout


def test_wrong_lines_are_told(tmp_path: Path, sources: list[str]) -> None:
    (tmp_path / "src/1-a/first/checkers.txt").write_text("LDS race | store_kernel\n", encoding="utf-8")
    assert "not 3 fields" in run(tmp_path, sources).stderr


def test_every_experiment_of_the_build_is_run_but_those_that_cannot_be() -> None:
    named = re.findall(
        r"^hipscope_add_experiment\(src/\S+/(\w+)\.hip", (ROOT / "CMakeLists.txt").read_text(), flags=re.MULTILINE
    )
    listed = call(sys.executable, RUNNER, "--list", status=0).stdout.splitlines()
    assert {line.split()[0] for line in listed} == set(named) - {"peer_copies"}


def test_what_the_shell_says_of_launchers() -> None:
    """test.sh's own words about --launcher."""
    assert "--launcher CMD" in call(SCRIPTS / "test.sh", "--help").stdout
    for words, said in [
        (["--launcher"], "--launcher needs a value"),
        (["--build", "/tmp"], "--build is for --launcher"),
        (["--launcher", "env", "--build", "/nowhere"], "there are no binaries in /nowhere/bin."),
    ]:
        done = call(SCRIPTS / "test.sh", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr and len(done.stderr.splitlines()) == 1


def test_shell_runs_the_list_through_the_launcher(tmp_path: Path) -> None:
    make_binary(tmp_path, "nchw_index")
    make_binary(tmp_path, "lds_latency", checks="4 of 5")
    done = call(SCRIPTS / "test.sh", "--launcher", "env A=b", "--build", tmp_path, status=1)
    assert "experiments, run by env A=b" in done.stdout
    assert "verification: 4 of 5 checks passed" in done.stdout
    assert re.fullmatch(r"\d+ passed, \d+ failed, \d+ skipped", done.stdout.splitlines()[-1])
    assert all(line.startswith(("nchw_index --tiny", "lds_latency --tiny")) for line in calls(tmp_path))
