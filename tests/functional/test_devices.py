"""Several devices: a process, a label and a result for each. The host backend has as many, all the same, as
HIPSCOPE_HOST_DEVICES says."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess

import pytest
from conftest import BACKEND, LONGEST_RUN_S, Binary

pytestmark = pytest.mark.skipif(BACKEND != "host", reason="another backend has the devices that it has")

THREE = {"HIPSCOPE_HOST_DEVICES": "3"}
QUICK = ("--once",)


@pytest.fixture
def binary(tmp_path) -> Binary:
    """What is the harness's alone is asked of one binary."""
    return Binary("launch_latency", tmp_path)


def devices_of(binary) -> dict[str, int]:
    """The device of each result."""
    return {path.name: json.loads(path.read_text())["device"]["index"] for path in binary.folder.glob("*.json")}


def test_a_device_of_several_runs_by_itself(binary):
    result = binary.run("--device", "2", *QUICK, "--json", "result.json", environment=THREE)
    assert result.returncode == 0, result.stderr
    assert "device 2: host CPU" in result.stdout
    assert devices_of(binary) == {"result.json": 2}


@pytest.mark.parametrize("together", [[], ["--together"]], ids=["in turn", "together"])
@pytest.mark.parametrize("chosen, wanted", [("all", [0, 1, 2]), ("2,0", [2, 0])])
def test_each_device_has_its_result_and_its_label(binary, chosen, wanted, together):
    result = binary.run("--device", chosen, *together, *QUICK, "--json", "result.json", environment=THREE)
    assert result.returncode == 0 and result.stderr == ""
    assert devices_of(binary) == {f"result.{device}.json": device for device in wanted}
    lines = result.stdout.splitlines()
    labels = [line.partition("]")[0] + "]" for line in lines]
    assert sorted(set(labels)) == sorted(f"[{device}]" for device in wanted)
    if not together:
        assert list(dict.fromkeys(labels)) == [f"[{device}]" for device in wanted]
        assert labels == sorted(labels, key=lambda label: wanted.index(int(label[1:-1])))
    for device in wanted:
        mine = [line for line in lines if line.startswith(f"[{device}]")]
        assert any(f"device {device}: host CPU" in line for line in mine)
        assert any("checks passed" in line for line in mine)
        assert not any(line.endswith(" ") for line in mine)


@pytest.mark.parametrize("together", [[], ["--together"]], ids=["in turn", "together"])
def test_tables_as_csv_stay_whole(binary, together):
    result = binary.run("--device", "0,1", *together, *QUICK, "--csv", environment=THREE)
    alone = binary.run(*QUICK, "--csv")
    assert result.returncode == 0 and result.stderr == ""
    parts = result.stdout.split("# device ")
    assert parts[0] == "" and [part.partition("\n")[0].strip() for part in parts[1:]] == ["0", "1"]
    heads = [[line.split(",")[0] for line in part.splitlines()[1:]] for part in parts[1:]]
    assert heads == [[line.split(",")[0] for line in alone.stdout.splitlines()]] * 2


def test_each_file_is_looked_at_before_anything_runs(binary):
    (binary.folder / "result.1.json").mkdir()
    result = binary.run("--device", "all", *QUICK, "--json", "result.json", environment=THREE)
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr == f"{binary.prefix}--json: result.1.json is a folder\n"
    assert [path.name for path in binary.folder.iterdir()] == ["result.1.json"]


def test_what_a_device_says_on_stderr_is_labelled_and_the_status_is_its(binary):
    result = binary.run("--device", "0,1", "--blocks", "0", environment=THREE)
    assert result.returncode == 2 and result.stdout == "", "a wrong size is wrong on every device"
    full = binary.run(
        "--device",
        "0,1",
        *QUICK,
        "--json",
        "result.json",
        environment=THREE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    assert full.returncode == 3
    assert [line.partition(": cannot write")[0] for line in full.stderr.splitlines()] == [
        f"[{device}] {binary.name}" for device in (0, 1)
    ]


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--device", "3"], "there is no device 3, the last one is 2"),
        (["--device", "0,3"], "there is no device 3, the last one is 2"),
        (["--device", "1,1"], "device 1 is there twice"),
        (["--device", "0,"], "is neither an index"),
        (["--device", "some"], "is neither an index"),
        (["--together"], "--together requires --device"),
        (["--device", "all", "--json", "-"], "several need a file's name"),
    ],
)
def test_what_cannot_be_meant_is_refused(binary, arguments, sentence):
    result = binary.run(*arguments, environment=THREE)
    assert result.returncode == 2
    assert sentence in result.stderr and result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_all_of_them(binary, number, status):
    with subprocess.Popen(
        [binary.path, "--device", "all", "--together", "--min-time", "60", "--json", "result.json"],
        cwd=binary.folder,
        env={**os.environ, **THREE},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        seen = set()
        while len(seen) < 3:  # until each has begun
            seen.add(process.stdout.readline().partition("]")[0])
        process.send_signal(number)
        _, errors = process.communicate(timeout=LONGEST_RUN_S)
    assert process.returncode == status
    assert errors == f"{binary.prefix}interrupted\n", "once, for all of them"
    assert list(binary.folder.iterdir()) == [], "they were given the time to clear up"


def test_a_process_that_is_killed_is_an_error_of_that_device(binary):
    with subprocess.Popen(
        [binary.path, "--device", "0,1", "--together", "--min-time", "60"],
        cwd=binary.folder,
        env={**os.environ, **THREE},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        seen = set()
        while len(seen) < 2:
            seen.add(process.stdout.readline().partition("]")[0])
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(process.pid)], text=True, check=True, stdout=subprocess.PIPE
        ).stdout.split()
        assert len(children) == 2
        os.kill(int(children[0]), signal.SIGKILL)
        os.kill(int(children[1]), signal.SIGTERM)
        _, errors = process.communicate(timeout=LONGEST_RUN_S)
    assert process.returncode == 143
    assert "ended by signal 9" in errors


def test_the_energy_of_a_link_takes_two_devices(tmp_path):
    energy = Binary("energy", tmp_path)
    arguments = ("--filter", "^peer$", *QUICK, "--json", "result.json")
    alone = energy.run(*arguments)
    assert alone.returncode == 0 and "there is one device: a link between two was not measured" in alone.stdout
    for first in "0", "1":
        both = energy.run("--device", first, *arguments, environment={"HIPSCOPE_HOST_DEVICES": "2"})
        assert both.returncode == 0, both.stderr
        (sweep,) = json.loads((tmp_path / "result.json").read_text())["sweeps"]
        assert any(f"device {first} copies to device {1 - int(first)}" in note for note in sweep["notes"])
        assert [row["label"].rpartition(", ")[2] for row in sweep["rows"]] == 3 * ["zeros", "random bits"]
        # A check that found nothing wrong is the number of what it looked at.
        assert all(type(check) is int and check > 0 for row in sweep["rows"] for check in row["checks"])
