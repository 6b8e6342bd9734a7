"""rocm7.sh without a system to build in: what it says then."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import call, program
from synthetic import SCRIPTS

SKIPPED, BAD_USAGE = 77, 2


def rocm7(*arguments: str, programs: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs it; `programs` come before those of the system."""
    path = f"{programs}:{os.environ['PATH']}" if programs else os.environ["PATH"]
    return call(SCRIPTS / "rocm7.sh", *arguments, env={**os.environ, "PATH": path})


@pytest.mark.parametrize("arguments", [["--targets"], ["--only"], ["--fast"], ["gfx942"]], ids=str)
def test_bad_usage(arguments: list[str]) -> None:
    done = rocm7(*arguments)
    assert (done.returncode, done.stdout) == (BAD_USAGE, "")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may make a system")
def test_others_than_root_are_told() -> None:
    done = rocm7()
    assert done.returncode == SKIPPED
    assert done.stdout.startswith("skipped: ") and "root" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone gets so far")
@pytest.mark.parametrize("mounts, said", [(1, "mounts"), (0, "could not be made")])
def test_why_no_system_can_be_made_is_told(tmp_path: Path, mounts: int, said: str) -> None:
    program(tmp_path / "bin" / "unshare", f"#!/bin/sh\nexit {mounts}\n")
    program(tmp_path / "bin" / "debootstrap", "#!/bin/sh\nexit 1\n")
    done = rocm7("--chroot", str(tmp_path / "system"), "--build", str(tmp_path / "build"), programs=tmp_path / "bin")
    assert done.returncode == SKIPPED
    assert done.stdout.splitlines()[-1].startswith("skipped: ") and said in done.stdout
    assert not (tmp_path / "system").exists()
