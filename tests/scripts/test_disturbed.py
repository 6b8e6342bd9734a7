"""disturbed.sh: run_all.sh beside bursts of another process."""

from __future__ import annotations

import re

import pytest
from conftest import Done, Sandbox, call, program

DISTURBER = """#!/bin/bash
case "$*" in
  --devices) printf '0\\tfake-gpu\\tFake GPU, 8 CUs\\n' ;;
  "--quick --filter ^footprint-read$") printf 'burst\\n' >>"{log}"; exit {status} ;;
  *) exit 2 ;;
esac
"""


def run(sandbox: Sandbox, *arguments: str, status: int) -> Done:
    return call(sandbox.root / "scripts" / "disturbed.sh", *arguments, status=status, cwd=sandbox.root)


def add_disturber(sandbox: Sandbox, status: int = 0) -> None:
    """A memory_bandwidth that notes its bursts."""
    program(sandbox.bin / "memory_bandwidth", DISTURBER.format(log=sandbox.root / "bursts", status=status))


def usual(sandbox: Sandbox) -> list[str]:
    folders = ["--build-dir", str(sandbox.build), "--out", str(sandbox.root / "beside")]
    return [*folders, "--backend", "nvidia", "--only", "^copy_rate$"]


def test_bursts_lie_beside_the_experiments(sandbox: Sandbox) -> None:
    add_disturber(sandbox)
    done = run(sandbox, *usual(sandbox), status=0)
    assert (sandbox.root / "beside" / "copy_rate.json").exists()
    said = re.search(r"^Disturbed by (\d+) bursts in \d+ s\.$", done.stdout, re.MULTILINE)
    assert said
    bursts = (sandbox.root / "bursts").read_text().count("burst")
    assert 1 <= int(said[1]) <= bursts


@pytest.mark.slow
@pytest.mark.parametrize(
    "of_burst, of_run, said", [(3, 0, "Disturbed by 0 bursts"), (0, 1, "copy_rate: FAILED (verification)")]
)
def test_no_burst_is_a_failure_and_that_of_run_all_is_passed_on(
    sandbox: Sandbox, of_burst: int, of_run: int, said: str
) -> None:
    add_disturber(sandbox, of_burst)
    (sandbox.bin / "copy_rate.status").write_text(f"{of_run}\n")
    done = run(sandbox, *usual(sandbox), status=1)
    assert said in done.stdout


@pytest.mark.parametrize(
    "arguments, said",
    [
        ([], "disturbed.sh: it needs --build-dir and --out; see --help.\n"),
        (["--out", "x"], "disturbed.sh: it needs --build-dir and --out; see --help.\n"),
        (["--out"], "disturbed.sh: --out needs a value; see --help.\n"),
        (["--out", "x", "--build-dir", "nowhere"], "disturbed.sh: there is no nowhere/bin/memory_bandwidth.\n"),
    ],
)
def test_bad_usage(sandbox: Sandbox, arguments: list[str], said: str) -> None:
    done = run(sandbox, *arguments, status=2)
    assert done.stderr == said
    assert not (sandbox.root / "x").exists()
