"""fleet.py run on one node, with binaries that imitate experiments and GPUs."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema
import made_fleet
import pytest
import synthetic
from conftest import LONGEST_S, Done, call, end_of, program, start, wait_for

from hipscope.fleet import claim, devices, layout
from hipscope.fleet.tiers import TIERS

FLEET = synthetic.SCRIPTS / "fleet.py"
# What it does to the GPU of an index is said by a file experiment.index beside it.
BINARY = """#!/usr/bin/env bash
here=$(dirname "$0") name=$(basename "$0") json=
printf '%s %s %s\\n' "$HIPSCOPE_FLEET_GPU" "$CUDA_VISIBLE_DEVICES" "$name $*" >>"$here/calls"
while (($#)); do
  case $1 in
    --version) cat "$here/version"; exit ;;
    --devices) cat "$here/devices"; exit "$(cat "$here/status")" ;;
    --json) json=$2; shift ;;
  esac
  shift
done
what=$(cat "$here/$name.$HIPSCOPE_FLEET_GPU" 2>/dev/null)
case $what in
  hangs | resists)
    [[ $what == hangs ]] || trap '' TERM
    sleep 1000 &
    echo "$!" >"$here/sleeper"
    touch "$here/started"
    wait ;;
  breaks) echo "device error: out of memory" >&2; exit 3 ;;
  crashes) kill -SEGV $$ ;;
  says-nothing) exit 0 ;;
esac
cp "$here/$name.json" "$json"
if [[ $what == errs ]]; then
  sed -i 's/"status": *"passed"/"status": "failed"/
          s/"failures": *\\[\\]/"failures": ["sizes: 3 of 1024 wrong"]/' "$json"
  exit 1
fi
"""


class Site:
    """A folder of imitated binaries of a backend, and the folder that all nodes see."""

    def __init__(self, root: Path) -> None:
        self.bin, self.out = root / "bin", root / "shared"
        for step in TIERS["standard"].together + TIERS["smoke"].together:
            program(self.bin / step.experiment, BINARY)
            synthetic.write(self.bin, synthetic.result(step.experiment))
        self.tell("version", "hipscope 0.1.0 (abcdef), backend nvidia, nvcc 13\n")
        self.set_gpus(2)

    def tell(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text, encoding="utf-8")

    def set_gpus(self, count: int) -> None:
        self.tell("devices", "".join(f"{index}\tfake\tFake GPU, 8 CUs\n" for index in range(count)))
        self.tell("status", "0\n" if count else "77\n")

    def start(self, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """Starts fleet.py run without any packages beside the standard library."""
        clean = {key: value for key, value in os.environ.items() if not key.endswith("VISIBLE_DEVICES")}
        command = (sys.executable, "-S", FLEET, "run", "--bin", self.bin, *arguments)
        return start(*command, cwd=self.bin.parent, env={**clean, **(environment or {})})

    def run(self, *arguments: str, status: int | None = None, environment: dict[str, str] | None = None) -> Done:
        return end_of(self.start(*arguments, environment=environment), status)

    def measure(self, *arguments: str, status: int | None = None) -> Done:
        """Measures node n1 with one experiment together, one alone."""
        only = "^memory_bandwidth$|^fma_loop$"
        return self.run("--out", "shared", "--node", "n1", "--only", only, *arguments, status=status)

    def record(self, name: str = layout.NODE_FILE) -> dict[str, Any]:
        data: dict[str, Any] = json.loads((self.out / "nodes" / "n1" / name).read_text(encoding="utf-8"))
        jsonschema.validate(data, json.loads((synthetic.REPOSITORY / "results/node-schema.json").read_text()))
        return data

    def results(self) -> list[str]:
        place = self.out / "nodes" / "n1"
        return sorted(str(path.relative_to(place)) for path in place.glob("gpu-*/**/*.json"))

    def calls(self) -> list[str]:
        """The measurements that were started: GPU, what it sees, and the command."""
        lines = (self.bin / "calls").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if "--json" in line]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def gone(pid_file: Path) -> bool:
    """Whether a process of ours has ended."""
    pid = int(pid_file.read_text())
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_measures_together_and_alone(site: Site) -> None:
    done = site.measure(status=0)
    assert site.results() == [
        f"gpu-{gpu}/{phase}.json"
        for gpu in (0, 1)
        for phase in ("alone/memory_bandwidth", "together/fma_loop", "together/memory_bandwidth")
    ]
    record = site.record()
    assert record["status"] == "finished" and [gpu["state"] for gpu in record["gpus"]] == ["good", "good"]
    assert not list(site.out.glob("nodes/n1/running*")) and not list(site.out.glob("nodes/n1/**/.report-*"))
    assert re.search(r"^n1: together fma_loop, 2 GPUs: [0-9.]+ s ok$", done.stdout, re.M)
    assert done.stdout.splitlines()[-1].endswith("all checks passed") and not done.stderr


def test_a_program_sees_its_own_gpu_only(site: Site) -> None:
    site.measure()
    assert {line[:3] for line in site.calls()} == {"0 0", "1 1"} and all("--device 0" in line for line in site.calls())
    site.run("--out", "others", "--only", "^fma_loop$", environment={"CUDA_VISIBLE_DEVICES": "3,GPU-5"})
    assert [line.split()[:2] for line in sorted(site.calls()[-2:])] == [["0", "3"], ["1", "GPU-5"]]
    # Names that are not one per GPU say nothing.
    site.run("--out", "more", "--only", "^fma_loop$", environment={"CUDA_VISIBLE_DEVICES": "0,1,2"})
    assert all("0,1,2" in line for line in site.calls()[-2:]) and "--device 1" in "".join(site.calls()[-2:])


@pytest.mark.parametrize("how", ["hangs", pytest.param("resists", marks=pytest.mark.slow)])
def test_a_gpu_that_hangs_takes_nothing_with_it(site: Site, how: str) -> None:
    site.tell("fma_loop.1", how)
    site.measure("--timeout", "1", status=1)
    good, hung = site.record()["gpus"]
    assert (good["state"], hung["state"]) == ("good", "hung")
    assert hung["message"] == "fma_loop did not end within 1 s and was killed"
    # Nothing more runs on it.
    assert len(good["runs"]) == 3 and len(hung["runs"]) == 1
    assert gone(site.bin / "sleeper")


@pytest.mark.parametrize(
    ("how", "state", "message"),
    [
        ("errs", "wrong", "fma_loop: sizes: 3 of 1024 wrong"),
        ("breaks", "broken", "fma_loop ended with status 3: device error: out of memory"),
        ("crashes", "broken", "fma_loop was ended by signal 11"),
        ("says-nothing", "broken", "fma_loop ended with status 0 and without a whole result"),
    ],
)
def test_what_goes_wrong_is_told(site: Site, how: str, state: str, message: str) -> None:
    site.tell("fma_loop.1", how)
    assert site.measure().returncode == 1
    gpu = site.record()["gpus"][1]
    assert (gpu["state"], gpu["message"]) == (state, message)
    assert [run["status"] for run in gpu["runs"]] == [state, "good", "good"]
    assert ("gpu-1/together/fma_loop.json" in site.results()) == (how == "errs")


def test_refuses_a_node_that_has_results(site: Site) -> None:
    site.measure()
    before = site.record()
    again = site.measure(status=2)
    assert len(again.stderr.splitlines()) == 1
    assert "has the results of this node already" in again.stderr and site.record() == before


def test_two_runs_at_once(site: Site) -> None:
    site.tell("fma_loop.1", "hangs")
    first = site.start("--out", "shared", "--node", "n1", "--only", "fma_loop")
    wait_for(site.bin / "started")
    second = site.measure(status=2)
    assert len(second.stderr.splitlines()) == 1
    assert f"another run (process {first.pid}, begun " in second.stderr
    first.terminate()
    assert first.wait(LONGEST_S) == 143


def test_a_disk_without_locks_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    monkeypatch.setattr(fcntl, "flock", mock.Mock(side_effect=error))
    with claim.claimed(tmp_path, None):
        assert (tmp_path / "running").read_text().startswith(f"process {os.getpid()}, begun ")
    said = "cannot be locked (Function not implemented): another run into this folder would not be noticed."
    assert capsys.readouterr().err == f"fleet.py: {tmp_path}/running {said}\n"


def test_a_run_that_ends_while_another_begins_leaves_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running, another = tmp_path / "running", tmp_path / "another"
    another.touch()
    ends = [running.unlink, lambda: another.replace(running)]

    def flock(*_: Any) -> None:
        if ends:
            ends.pop(0)()

    monkeypatch.setattr(fcntl, "flock", flock)
    with claim.claimed(tmp_path, "7"):
        assert running.read_text().startswith("job 7, process ")
    assert not list(tmp_path.iterdir())


def test_goes_on_after_an_interruption(site: Site) -> None:
    site.tell("memory_bandwidth.1", "hangs")
    first = site.start("--out", "shared", "--node", "n1", "--only", "^memory_bandwidth$|^fma_loop$")
    wait_for(site.bin / "started")
    first.terminate()
    err = end_of(first).stderr
    assert (first.returncode, err) == (143, "fleet.py: interrupted; what was measured by then is kept.\n")
    assert gone(site.bin / "sleeper")
    assert (site.record()["status"], site.record()["message"]) == ("failed", "interrupted")
    (site.bin / "memory_bandwidth.1").unlink()
    refused = site.measure("--tier", "standard", status=2)
    assert "a run of tier smoke that did not end" in refused.stderr
    assert site.measure().returncode == 0
    assert site.record()["interruptions"] == 1 and site.record()["status"] == "finished"
    assert sum("fma_loop" in line for line in site.calls()) == 2 and len(site.results()) == 6


def test_a_run_that_died_leaves_room(site: Site) -> None:
    site.tell("fma_loop.1", "hangs")
    first = site.start("--out", "shared", "--node", "n1", "--only", "^memory_bandwidth$|^fma_loop$")
    wait_for(site.bin / "started")
    first.kill()
    end_of(first)
    os.kill(int((site.bin / "sleeper").read_text()), signal.SIGKILL)
    assert site.record()["status"] == "started"
    (site.bin / "fma_loop.1").unlink()
    assert site.measure().returncode == 0


def test_a_full_disk_is_one_sentence(site: Site) -> None:
    site.out.mkdir()
    mounted = ("unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size=24k tmpfs {site.out} && exec "$@"', "sh")
    if not shutil.which("unshare") or call(*mounted, "true").returncode:
        pytest.skip("a small file system cannot be mounted here, which takes root")
    options = ("--bin", site.bin, "--out", site.out, "--node", "n1", "--only", "fma_loop|lds|latency|copies")
    done = call(*mounted, sys.executable, "-S", FLEET, "run", *options, status=3)
    assert len(done.stderr.splitlines()) == 1
    assert re.fullmatch(rf"fleet.py: {site.out}/\S+ cannot be written: No space left on device\.\n", done.stderr)


def test_prolog_says_one_line(site: Site, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {"TMPDIR": str(scratch)}
    good = site.run("--prolog", environment=environment)
    assert (good.returncode, good.stdout, good.stderr) == (0, "hipscope smoke: 2 GPUs pass\n", "")
    site.tell("lds_latency.0", "errs")
    bad = site.run("--prolog", environment=environment)
    assert (bad.returncode, bad.stderr) == (1, "")
    assert bad.stdout == "hipscope smoke: FAIL: gpu 0: lds_latency: sizes: 3 of 1024 wrong\n"
    site.set_gpus(0)
    none = site.run("--prolog", environment=environment)
    assert (none.returncode, none.stdout) == (
        77,
        "hipscope smoke: cannot be measured: the binaries find no GPU on this node.\n",
    )
    assert not list(scratch.iterdir()) and not site.out.exists()


def test_prolog_judges_by_a_baseline(site: Site, tmp_path: Path) -> None:
    good = tmp_path / "good"
    made_fleet.write_fleet(good, 8, 2)
    assert synthetic.run("fleet.py", "report", good).returncode == 0
    for slow, status, said in ((0.0, 0, "2 GPUs pass"), (0.06, 1, "FAIL: gpu-0: memory path; gpu-1: memory path")):
        for step in TIERS["smoke"].together:
            worse = slow if step.experiment == "memory_bandwidth" else 0.0
            made = made_fleet.result(layout.TOGETHER, step.experiment, random.Random(3), "n1", 0, worse)
            site.tell(f"{step.experiment}.json", made)
        done = site.run("--prolog", "--baseline", str(good / "fleet.json"))
        assert (done.returncode, done.stdout, done.stderr) == (status, f"hipscope smoke: {said}\n", "")
    # A baseline that cannot be read is told before anything is measured.
    site.tell("calls", "")
    wrong = site.run("--prolog", "--baseline", str(site.bin / "devices"), status=2)
    assert wrong.stdout.startswith("hipscope smoke: cannot be measured: ")
    assert not site.calls()


def test_measures_again_what_is_listed(site: Site) -> None:
    site.measure()
    site.tell("confirm.txt", "n1 1  # a suspect\nn2 0\n")
    site.measure("--confirm", str(site.bin / "confirm.txt"), status=0)
    again = [result for result in site.results() if "again" in result]
    assert again == [
        f"gpu-1/again-{time}/{phase}.json"
        for time in (1, 2, 3)
        for phase in ("alone/memory_bandwidth", "together/fma_loop", "together/memory_bandwidth")
    ]
    assert site.record("confirm.json")["status"] == "finished"
    assert "again" not in json.dumps(site.record())
    none = site.run("--out", "shared", "--node", "n3", "--confirm", str(site.bin / "confirm.txt"))
    assert (none.returncode, none.stdout) == (0, "n3: nothing of this node is to be measured again\n")
    site.tell("confirm.txt", "n1 7\n")
    (site.out / "nodes/n1/confirm.json").unlink()
    assert "is not there: this node has 2." in site.measure("--confirm", str(site.bin / "confirm.txt")).stderr


def test_made_up_gpus_are_for_the_host_backend(site: Site) -> None:
    refused = site.measure("--made-up-gpus", "3", status=2)
    assert "is for binaries of the host backend" in refused.stderr
    shutil.rmtree(site.out)
    site.tell("version", "hipscope 0.1.0, backend host, GNU 12\n")
    assert site.measure("--made-up-gpus", "3").returncode == 0
    assert len(site.record()["gpus"]) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "run needs --out DIR, the folder that all nodes see"),
        (["--out", "x", "--tier", "huge"], "invalid choice: 'huge'"),
        (["--out", "x", "--timeout", "0"], "'0' is no number of seconds above 0"),
        (["--out", "x", "--timeout", "nan"], "'nan' is no number of seconds above 0"),
        (["--out", "x", "--only", "("], "'(' is not a valid regular expression"),
        (["--out", "x", "--only", "nothing"], "--only nothing leaves nothing of the tier smoke"),
        (["--out", "x", "--node", "../y"], "'../y' is no node's name"),
        (["--out", "x", "--made-up-gpus", "0"], "'0' is no number from 1 to 128"),
        (["--out", "x", "--baseline", "y"], "--baseline is for report, or for run with --prolog"),
        (["--out", "bin/version"], "the folder bin/version/nodes/"),
        (["--out", "x", "--bin", "nowhere"], "there is no folder of binaries nowhere"),
        (["--out", "x", "--bin", "."], "there is no binary "),
        (["--out", "x", "--confirm", "nowhere"], "nowhere cannot be read: No such file or directory"),
        (["--out", "x", "--confirm", "bin/devices"], "a line is a node's name and the index of a GPU"),
    ],
)
def test_bad_usage_is_one_sentence(site: Site, arguments: list[str], said: str) -> None:
    done = site.run(*arguments, status=2)
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("fleet.py: ") and said in done.stderr and not done.stdout
    assert not list(site.bin.parent.glob("x/nodes/*/gpu-*"))


def test_a_driver_that_hangs_is_told(site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(devices, "LISTING_LIMIT_S", 0.3)
    stuck = program(site.bin / "stuck", "#!/bin/sh\nexec sleep 1000\n")
    with pytest.raises(layout.FleetError, match="did not answer within 0.3 s; a GPU or its driver hangs"):
        devices.version_of(stuck, tmp_path)


def test_the_cpus_near_a_gpu_are_those_near_its_card(tmp_path: Path) -> None:
    card = tmp_path / "0000:1b:00.0"
    card.mkdir()
    first = min(os.sched_getaffinity(0))
    (card / "local_cpulist").write_text(f"{first}\n", encoding="ascii")
    # A partition is near what its card is near.
    assert devices.near_cpus("0000:1b:00.0", tmp_path) == devices.near_cpus("0000:1b:00.3", tmp_path) == {first}
    for other in ("0000:1c:00.3", "", "../../etc", "ffff:ff:1f.7"):
        assert devices.near_cpus(other, tmp_path) == frozenset()
