"""What the tests of the binaries share.

ctest says by environment variables what to test: HIPSCOPE_BUILD, the build folder with bin/ and
experiments.txt; HIPSCOPE_SOURCE, the repository; HIPSCOPE_BACKEND; and to the host backend itself
HIPSCOPE_HOST_WAVE_SIZE, the lanes of a wave. HIPSCOPE_TIER=short, which scripts/test.sh sets, leaves out what is
asked of every binary and seldom differs between them, and runs everything once; anything else is all tests.
"""

from __future__ import annotations

import functools
import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

# What is ignored here, as under nohup, would be in every process that a test starts.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

BUILD = Path(os.environ["HIPSCOPE_BUILD"]).resolve()
SOURCE = Path(os.environ["HIPSCOPE_SOURCE"]).resolve()
BACKEND = os.environ["HIPSCOPE_BACKEND"]
IS_FULL = os.environ.get("HIPSCOPE_TIER") != "short"
EXPERIMENTS = [Path(line).name for line in (BUILD / "experiments.txt").read_text().split()]

# No single run of a scaled-down experiment takes nearly as long, even under a sanitizer.
LONGEST_RUN_S = 300


@functools.cache
def asked(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run that only tells of the binary, once for all tests that ask the same."""
    return subprocess.run([path, *arguments], capture_output=True, text=True, check=False, timeout=LONGEST_RUN_S)


@dataclass(frozen=True)
class Binary:
    """An experiment's binary, to be run in a folder of the test's own."""

    name: str
    folder: Path

    @property
    def path(self) -> Path:
        return BUILD / "bin" / self.name

    @property
    def prefix(self) -> str:
        """What its sentences on stderr begin with: the wave64 variants keep the plain name."""
        return self.name.split(".")[0] + ": "

    def run(self, *arguments: str, **options) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **options.pop("environment", {})}
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": LONGEST_RUN_S, **options}
        return subprocess.run(
            [self.path, *arguments], cwd=self.folder, env=environment, text=True, check=False, **settings
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.path, *arguments], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def sweeps(self) -> list[str]:
        return [line.split()[0] for line in asked(self.path, "--list").stdout.splitlines()]

    def sizes(self) -> list[str]:
        """The names of the sizes that it takes as options."""
        text = asked(self.path, "--help").stdout.partition("\nSizes (")[2]
        return re.findall(r"^ +--([a-z0-9-]+) N\b", text, flags=re.MULTILINE)

    def smallest(self, size: str) -> str:
        """The smallest value of a size, as the binary says when it refuses 0."""
        refused = asked(self.path, f"--{size}", "0").stderr
        found = re.search(r"is not in the range (\d+) to", refused)
        assert found, refused
        return found[1]


# What the harness does for all binaries alike is asked of one of few sweeps, one of many sizes and one of several
# files.
FEW = [name for name in EXPERIMENTS if name in ("launch_latency", "memory_bandwidth", "sgemm")]

only_full = pytest.mark.skipif(not IS_FULL, reason="left to scripts/test.sh --full")


@pytest.fixture(params=EXPERIMENTS if IS_FULL else FEW)
def binary(request, tmp_path) -> Binary:
    return Binary(request.param, tmp_path)


@pytest.fixture(params=FEW)
def one_of_few(request, tmp_path) -> Binary:
    """For what the harness does with no word from the experiment."""
    return Binary(request.param, tmp_path)


def assert_one_sentence(result: subprocess.CompletedProcess[str], binary: Binary) -> None:
    """stderr is one line that begins with the experiment's name."""
    assert result.stderr.startswith(binary.prefix), result.stderr
    assert result.stderr.endswith("\n")
    assert len(result.stderr.splitlines()) == 1, result.stderr
