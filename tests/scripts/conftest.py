"""Shared by the tests of the scripts: a copy of the repository's scripts to run them in."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import synthetic

from hipscope.results import load

# What is ignored here, as under nohup, would be in every process that a test starts.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    """Makes the mark known that scripts/test.sh leaves out without --full."""
    config.addinivalue_line(
        "markers",
        "slow: takes ten seconds of a core or more, or its file a minute, or is another "
        "test once more with another number; left to test.sh --full",
    )
    # The tests of a file share what takes long to make: with -n they go to one process.
    if getattr(config.option, "dist", "no") == "load":
        config.option.dist = "loadfile"


FAKE_BINARY = """#!/usr/bin/env bash
# Imitates an experiment: what it does is said by files beside it.
here=$(dirname "$0") name=$(basename "$0") json=
printf '%s\\n' "$*" >>"$here/$name.calls"
while (($#)); do
  case $1 in
    --devices) cat "$here/devices"; exit "$(cat "$here/devices.status")" ;;
    --json) json=$2; shift ;;
  esac
  shift
done
printf 'the table of %s\\n' "$name"
if [[ -e $here/$name.hangs ]]; then
  printf '{"half' >"$json"
  # Ended by force it would not say so.
  trap 'touch "$here/$name.terminated"; exit 143' TERM
  touch "$here/$name.started"
  sleep 600 &
  wait
fi
if [[ -e $here/$name.crashes ]]; then
  printf '{"half' >"$json"
  kill -SEGV $$
fi
[[ ! -e $here/$name.json ]] || cp "$here/$name.json" "$json"
[[ ! -e $here/$name.says ]] || cat "$here/$name.says" >&2
exit "$(cat "$here/$name.status")"
"""

# What takes the place of find_python.sh, and of what makes the pages: seconds of a core, and most tests need none.
FAKE_PAGES = {
    "find_python.sh": "#!/bin/sh\necho /bin/sh\n",
    "report.py": 'echo "pages $2" >"$1/README.md"; echo card >"$1/card.md"\n',
    "html_report.py": 'while [ "$1" != --out ]; do shift; done; echo page >"$2"\n',
}

# However loaded the machine is; what takes longer hangs.
LONGEST_S = 300


def start(*command: object, **more: Any) -> subprocess.Popen[str]:
    """Starts a program. Tests started in the background inherit an ignored SIGINT, which bash cannot trap."""
    piped = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    usual = {"text": True, "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    return subprocess.Popen([*map(str, command)], **{"stdin": subprocess.DEVNULL, **piped, **usual, **more})


Done = subprocess.CompletedProcess[str]


def ended(done: Done, status: int | None) -> Done:
    """The end of a program, of which this is the status, where one is told."""
    assert status in (None, done.returncode), (done.returncode, done.stdout, done.stderr)
    return done


def end_of(process: subprocess.Popen[str], status: int | None = None) -> Done:
    """What a program has said when it ends."""
    out, err = process.communicate(timeout=LONGEST_S)
    return ended(subprocess.CompletedProcess(process.args, process.returncode, out, err), status)


def call(*command: object, status: int | None = None, **more: Any) -> Done:
    words = [*map(str, command)]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=LONGEST_S, **more)
    return ended(done, status)


def program(path: Path, text: str) -> Path:
    """Makes a program of a script, and the folder that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    assert not path.is_symlink(), "it would write to the system's own program"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + LONGEST_S
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.05)


@dataclass
class Sandbox:
    """A repository of its own, with a build folder of fake binaries."""

    root: Path

    @property
    def build(self) -> Path:
        return self.root / "build" / "nvidia"

    @property
    def bin(self) -> Path:
        return self.build / "bin"

    @property
    def results(self) -> Path:
        """Where run_all.sh writes when not told otherwise."""
        return self.root / "results" / "fake-gpu"

    def add(self, name: str, status: int = 0) -> None:
        """Adds an experiment that ends with `status`."""
        program(self.bin / name, FAKE_BINARY)
        with open(self.build / "experiments.txt", "a", encoding="utf-8") as file:
            file.write(f"5-memory/{name}\n")
        (self.bin / f"{name}.status").write_text(f"{status}\n", encoding="utf-8")
        if status in (0, 1):
            synthetic.write(self.bin, synthetic.result(name.partition(".")[0]), name)

    def set_devices(self, text: str, status: int = 0) -> None:
        (self.bin / "devices").write_text(text, encoding="utf-8")
        (self.bin / "devices.status").write_text(f"{status}\n", encoding="utf-8")

    def start(self, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
        script = self.root / "scripts" / "run_all.sh"
        return start(script, *arguments, cwd=self.root, env={**os.environ, **(environment or {})})

    def run_all(self, *arguments: str, status: int | None = None, environment: dict[str, str] | None = None) -> Done:
        return end_of(self.start(*arguments, environment=environment), status)

    def run(self, *arguments: str, status: int | None = None) -> Done:
        """Runs the fake binaries as they are."""
        return self.run_all("--no-build", "--build-dir", str(self.build), *arguments, status=status)


@pytest.fixture
def whole_sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    """Three experiments that pass on a fake GPU, and the scripts that make pages of their results."""
    synthetic.copy_repository(tmp_path / "repository")
    yield from with_experiments(tmp_path / "repository")


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    """The same with pages that say nothing."""
    scripts = tmp_path / "repository" / "scripts"
    shutil.copytree(synthetic.SCRIPTS, scripts, ignore=shutil.ignore_patterns("*.py", "hipscope", "__pycache__"))
    for name, text in FAKE_PAGES.items():
        (scripts / name).write_text(text, encoding="utf-8")
    yield from with_experiments(tmp_path / "repository")


def with_experiments(root: Path) -> Iterator[Sandbox]:
    """A sandbox with three experiments and two GPUs, whose results must have no half of a file at the end."""
    made = Sandbox(root)
    (root / "results").mkdir(exist_ok=True)
    for name in ("copy_rate", "load_latency", "wave_rate"):
        made.add(name)
    made.set_devices("0\tfake-gpu\tFake GPU, 8 CUs\n1\tother-gpu\tOther GPU\n")
    yield made
    assert [path for path in (root / "results").rglob("*") if path.name.startswith(".")] == []


@pytest.fixture(scope="session", autouse=True)
def _stored_results_are_read_once() -> Iterator[None]:
    """Of a folder of results/ that many tests look at; it takes more than a second."""
    read = load.load_folder
    kept = functools.cache(read)
    stored = synthetic.REPOSITORY / "results"
    with mock.patch.object(load, "load_folder", lambda path: (kept if path.parent == stored else read)(path)):
        yield


@pytest.fixture
def browser(started_browser: Any) -> Iterator[Any]:
    """Chromium, whose console must have no error or warning when the test ends."""
    yield started_browser
    assert [entry["message"] for entry in started_browser.get_log("browser")] == []


@pytest.fixture(scope="session")
def started_browser() -> Iterator[Any]:
    """Chromium without a window, or a skip."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="this Python has no selenium (python3-selenium)")
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
    if not driver or not chromium:
        pytest.skip("there is no chromium with chromedriver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.chrome.service.Service(driver))
    yield started
    started.quit()
