"""How the scripts end: interrupted at any moment, or with nobody who takes what they print."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable

import pytest
import synthetic
from conftest import Sandbox, call, end_of
from conftest import start as start_program
from synthetic import SCRIPTS

pytestmark = pytest.mark.slow

SEED = os.environ.get("HIPSCOPE_FUZZ_SEED", "20260101")
STATUSES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
DATA = Path(__file__).parent / "data"
PUBLISHED = synthetic.REPOSITORY / "results" / "published" / "published.csv"


def is_in_python(errors: str) -> bool:
    """Whether the interpreter says that it was interrupted before it had begun with the program: it names no line."""
    return "init_import_site" in errors or errors == "KeyboardInterrupt\n"


def shell_status(status: int) -> int:
    """A process that a signal has ended has no status of its own."""
    return 128 - status if status < 0 else status


def start(program: str, *arguments: object, **streams: Any) -> subprocess.Popen[str]:
    """Starts a program that can be interrupted, and whose output is buffered as it is for a user."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return start_program(sys.executable, SCRIPTS / program, *arguments, env=environment, **streams)


def results(folder: Path) -> Path:
    folder.mkdir()
    for name in ("copy_rate", "load_latency"):
        synthetic.write(folder, synthetic.result(name))
    return folder


def commands(folder: Path) -> dict[str, list[object]]:
    """What each program is called with, and writes into the folder."""
    return {
        "report.py": [folder],
        "html_report.py": [folder, "--published", PUBLISHED, "--no-isa"],
        "compare.py": [folder, folder, "--all", "--json", folder / "compared"],
    }


def interrupted(process: subprocess.Popen[str], chance: random.Random, moment: float) -> tuple[str, str]:
    """What a program says that is interrupted at a moment, and what to say of it: it has ended so, or by itself."""
    number = chance.choice(list(STATUSES))
    time.sleep(moment)
    process.send_signal(number)
    errors = end_of(process).stderr
    said = f"{number.name} after {moment:.3f} s: status {process.returncode}, {errors!r}"
    if not is_in_python(errors):
        assert shell_status(process.returncode) in (STATUSES[number], 0), said
    return errors, said


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("program", ["report.py", "html_report.py", "compare.py"])
def test_an_interrupt_at_any_moment_leaves_whole_files(tmp_path: Path, program: str) -> None:
    folder = results(tmp_path / "results")
    arguments = commands(folder)[program]
    before = snapshot(folder)
    began = time.monotonic()
    assert start(program, *arguments).wait() == 0
    length = time.monotonic() - began
    whole = snapshot(folder)
    chance = random.Random(f"{SEED} {program}")
    for _ in range(4):
        for name in snapshot(folder).keys() - before.keys():
            (folder / name).unlink()
        process = start(program, *arguments)
        errors, said = interrupted(process, chance, chance.uniform(0.2, 1.1) * length)
        after = snapshot(folder)
        assert {name: whole.get(name) for name in after} == after, said
        assert before.items() <= after.items(), said
        if process.returncode == 0:
            assert after == whole, said
        elif process.returncode > 0 and not is_in_python(errors):
            assert errors == f"{program}: interrupted; every file is as it was or whole.\n", said


WRITES_FOR_LONG = """
import os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from hipscope.results import ending, whole_file
replace = os.replace
def slow(old, new):
    os.kill(os.getpid(), int(sys.argv[3]))
    replace(old, new)
os.replace = slow
def main():
    whole_file.write_whole(Path(sys.argv[2]), b"new")
    return 0
sys.exit(ending.run("program", main, 1))
"""


@pytest.mark.parametrize("number", STATUSES)
def test_an_interrupt_waits_until_the_file_is_whole(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "file").write_text("old")
    done = end_of(start_program(sys.executable, "-c", WRITES_FOR_LONG, SCRIPTS, tmp_path / "file", int(number)))
    said = "program: interrupted; every file is as it was or whole.\n"
    assert (done.returncode, done.stderr) == (STATUSES[number], said)
    assert snapshot(tmp_path) == {"file": b"new"}


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    # It stands for /dev/null, which a failing test that runs as root would take from the machine.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    folder = results(tmp_path / "results")
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        try:
            assert start("compare.py", folder, folder, "--json", pipe).wait(60) == 0
            assert pipe.is_fifo()
            assert json.loads(end_of(reader).stdout)["counts"]["worse"] == 0
        finally:
            reader.kill()  # a pipe that nobody wrote to never ends
    assert {one.name for one in tmp_path.iterdir()} == {"pipe", "results"}


def test_a_link_keeps_pointing_to_its_file(tmp_path: Path) -> None:
    folder = results(tmp_path / "results")
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "link"
    link.symlink_to(Path("elsewhere") / "compared")
    for _ in range(2):  # to a file that does not exist yet, and to one that does
        assert start("compare.py", folder, folder, "--json", link).wait(60) == 0
        assert link.is_symlink() and json.loads((tmp_path / "elsewhere" / "compared").read_text())["changes"]


def test_what_nohup_ignores_stays_ignored(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    command = (sys.executable, "-c", WRITES_FOR_LONG, SCRIPTS, tmp_path / "file", int(signal.SIGHUP))
    assert call(*command, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)).returncode == 0


def full_disk() -> Any:
    """Standard output on a full disk."""
    return open("/dev/full", "w", encoding="ascii")


def no_reader() -> Any:
    """Standard output into a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    return os.fdopen(writing, "w")


@pytest.mark.parametrize("make, reason", [(full_disk, "No space left on device"), (no_reader, "Broken pipe")])
@pytest.mark.parametrize(
    "program, arguments, status",
    [
        ("compare.py", lambda folder: [folder, folder, "--all"], 2),
        ("report.py", lambda folder: ["--check", folder], 1),
        # These print nothing.
        ("sass_report.py", lambda folder: ["--out", folder / "page", DATA / "loops.sass"], 0),
        ("ncu_report.py", lambda folder: ["--out", folder / "page", "--csv", DATA / "profile.csv"], 0),
    ],
)
def test_output_that_nobody_takes_is_one_sentence(
    tmp_path: Path,
    make: Callable[[], Any],
    reason: str,
    program: str,
    arguments: Callable[[Path], list[object]],
    status: int,
) -> None:
    folder = results(tmp_path / "results")
    with make() as output:
        done = end_of(start(program, *arguments(folder), stdout=output))
    said = f"{program}: standard output cannot be written: {reason}.\n" if status else ""
    assert (done.returncode, done.stderr) == (status, said)


def test_a_full_disk_keeps_the_old_page(tmp_path: Path) -> None:
    folder = results(tmp_path / "results")
    (folder / "report.html").write_text("old")
    before = snapshot(folder)
    limit = 2048  # bytes of a file
    done = call(
        sys.executable,
        SCRIPTS / "html_report.py",
        *commands(folder)["html_report.py"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 1
    assert done.stderr == f"html_report.py: {folder}/report.html cannot be written: File too large.\n"
    assert snapshot(folder) == before


def test_run_all_interrupted_at_any_moment(whole_sandbox: Sandbox) -> None:
    began = time.monotonic()
    whole_sandbox.run(status=0)
    length = time.monotonic() - began
    chance = random.Random(f"{SEED} run_all.sh")
    for _ in range(4):
        process = whole_sandbox.start("--no-build", "--build-dir", str(whole_sandbox.build))
        errors, said = interrupted(process, chance, chance.uniform(0.02, 1) * length)
        if process.returncode > 0:
            assert "run_all.sh: interrupted; the results that were whole by then are kept." in errors, said
        for path in whole_sandbox.results.rglob("*"):
            assert not path.name.startswith("."), said
            if path.suffix == ".json":
                json.loads(path.read_text())
            elif path.suffix == ".svg":
                assert path.read_text().endswith("</svg>\n"), said
            elif path.suffix == ".html":
                assert path.read_text().rstrip().endswith("</html>"), said


def test_run_all_without_a_reader_leaves_nothing_behind(whole_sandbox: Sandbox) -> None:
    process = whole_sandbox.start("--no-build", "--build-dir", str(whole_sandbox.build))
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(60) not in (0, 77), errors
