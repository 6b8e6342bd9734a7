"""fleet.py under Slurm, as Debian packages it: one controller and two nodes on this machine, and faults.

The binaries are the host backend's; a wrapper around each does to its result, or to its process, what a fault of a
GPU would. The faults: memory 3 % slow, one that hangs, a wrong value, a node that dies, a node that never reports,
a full shared disk, and two jobs into one folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import BUILD, LONGEST_RUN_S, SOURCE, only_full

pytestmark = only_full

FLEET = (sys.executable, "-S", str(SOURCE / "scripts" / "fleet.py"))
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
EXPERIMENTS = ("lds_latency", "memory_bandwidth")
ONLY = "^(lds_latency|memory_bandwidth)$"
# Of fewer than 16 of a kind nothing is told by their own values.
GPUS_PER_NODE = 9
# Ends what hangs. All others take a second, on a loaded machine some.
HANG_LIMIT_S = 30
WRAPPER = """#!/usr/bin/env -S python3 -S
import json, os, random, subprocess, sys, time
here, name, words = os.path.dirname(sys.argv[0]), os.path.basename(sys.argv[0]), sys.argv[1:]
real = os.path.join(open(here + "/real").read(), name)
if "--json" not in words:
    os.execv(real, [real, *words])
gpu = os.environ["HIPSCOPE_FLEET_NODE"] + "-" + os.environ["HIPSCOPE_FLEET_GPU"]
fault = json.load(open(here + "/faults.json")).get(gpu + " " + name)
if fault == "hangs":
    open(here + "/hangs-" + gpu, "w").close()
    time.sleep(1000)
status = subprocess.run([real, *words]).returncode
result = words[words.index("--json") + 1]
data = json.load(open(result))
# A CPU's times say nothing of a GPU: all GPUs have the same, but for two in a thousand, and the slow one.
numbers = random.Random(gpu + name)
for sweep in data["sweeps"]:
    factor = numbers.gauss(1, 0.002) * (1.03 if fault == "slow" else 1)
    for place, row in enumerate(sweep["rows"]):
        times = row.get("measurements", [])
        for one in times if isinstance(times, list) else times.values():
            median = 1000.0 * (place + 1) * factor
            one[1:6] = [0.9995 * median, 0.9995 * median, median, 1.0005 * median, 1.0005 * median]
        values, names = row.get("values", {}), list(sweep["units"])
        for key in range(len(values)) if isinstance(values, list) else list(values):
            unit = sweep["units"].get(names[key] if isinstance(key, int) else key)
            values[key] = 100.0 * (factor if unit in ("cycles", "ns") else 1 / factor)
if fault == "errs":
    data["status"], data["verification"]["failures"], status = "failed", ["stream: 1 of 4096 wrong"], 1
with open(result, "w") as file:
    json.dump(data, file)
sys.exit(status)
"""
CONFIGURATION = """
ClusterName=hipscope
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES State=UP
"""


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Waits for what other processes bring about."""
    deadline = time.monotonic() + LONGEST_RUN_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come about"
        time.sleep(0.1)


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens at."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """Slurm's daemons in a folder of their own, and the binaries that its nodes run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin = folder, folder / "bin"
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        self.jobs: list[subprocess.Popen[str]] = []
        (folder / "state").mkdir()
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o400)
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(ports=free_ports(3), folder=folder, host=socket.gethostname()), encoding="utf-8"
        )
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        self.bin.mkdir()
        (self.bin / "real").write_text(str(BUILD / "bin"))
        self.set_faults({})
        for name in EXPERIMENTS:
            (self.bin / name).write_text(WRAPPER, encoding="utf-8")
            (self.bin / name).chmod(0o755)

    def set_faults(self, faults: dict[str, str]) -> None:
        """What the wrappers do: by node, GPU and experiment."""
        (self.bin / "faults.json").write_text(json.dumps(faults), encoding="utf-8")

    def start_daemon(self, name: str, *command: str) -> None:
        """Starts a daemon that stays this process's child."""
        with open(self.folder / f"{name}.log", "wb") as log:
            self.daemons[name] = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment
            )

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)

    def start(self) -> None:
        """Starts all and waits until the nodes are idle."""
        place = self.folder
        files = [f"--{what}-file={place}/munge.{what}" for what in ("key", "pid", "log", "seed")]
        self.start_daemon("munged", "munged", "--force", "--foreground", f"--socket={place}/munge.socket", *files)
        wait_until((place / "munge.socket").exists, "munged's socket")
        self.start_daemon("slurmctld", "slurmctld", "-D")
        for node in ("n1", "n2"):
            self.start_daemon(node, "slurmd", "-D", "-N", node)
        wait_until(lambda: self.run("sinfo", "-h", "-o", "%T %D").stdout == "idle 2\n", "two idle nodes")

    def srun(self, nodes: str, out: Path, *arguments: str, options: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """Starts fleet.py on nodes, as docs/fleet.md says."""
        count = str(nodes.count(",") + 1)
        command = ["srun", "-N", count, "-w", nodes, "--ntasks-per-node=1", *options, *FLEET, "run", "--out", str(out)]
        job = subprocess.Popen(
            [*command, "--bin", str(self.bin), "--only", ONLY, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.jobs.append(job)
        return job

    def kill_node(self, node: str, out: Path) -> None:
        """Ends everything of a node at once, as a power cut does."""
        pid = int(re.search(r"process (\d+)", (out / "nodes" / node / "running").read_text())[1])
        # Of the step's daemon, which is the parent, nobody is to hear any more.
        victims = [self.daemons[node].pid, int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])]
        for victim in [*victims, *descendants(pid), pid]:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def stop(self) -> None:
        """Ends everything that was started."""
        for process in [*self.jobs, *reversed(self.daemons.values())]:
            if process.poll() is None:
                process.terminate()
        for process in [*self.jobs, *self.daemons.values()]:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def descendants(pid: int) -> list[int]:
    """All processes that a process has started, and those that they have."""
    found = []
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except (FileNotFoundError, ProcessLookupError):
        return []  # it has ended meanwhile
    for child in children:
        found += [*descendants(int(child)), int(child)]
    return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two idle nodes, or a skip."""
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        pytest.skip(f"there is no {', '.join(missing)} (Debian: slurm-wlm, munge; scripts/setup.sh installs them)")
    if os.geteuid() != 0:
        pytest.skip("Slurm's daemons are started as root only")
    # A socket's path may have 107 characters.
    folder = tmp_path_factory.mktemp("slurm")
    started = Cluster(folder)
    try:
        started.start()
        yield started
    finally:
        started.stop()


def test_faults_are_found_by_name(cluster: Cluster) -> None:
    shared = cluster.folder / "shared"
    cluster.set_faults({"n1-3 memory_bandwidth": "slow", "n2-1 lds_latency": "hangs", "n2-4 memory_bandwidth": "errs"})
    first = cluster.srun("n1,n2", shared, "--made-up-gpus", str(GPUS_PER_NODE), "--timeout", str(HANG_LIMIT_S))
    wait_until((cluster.bin / "hangs-n2-1").exists, "a GPU that hangs")

    # A second job into the same folder, while the first is at work.
    second = cluster.srun("n2", shared, "--made-up-gpus", str(GPUS_PER_NODE))
    out, err = second.communicate(timeout=LONGEST_RUN_S)
    assert second.returncode == 2 and not out
    assert "fleet.py: another run (job 1, process " in err and "measures this node into" in err

    out, err = first.communicate(timeout=LONGEST_RUN_S)
    assert first.returncode == 1, out + err
    assert "gpu 1 hung" in out and "gpu 4 wrong" in out
    assert "n1: done in " in out and "all checks passed" in out

    (cluster.folder / "nodes.txt").write_text("n[1-3]\n")
    done = cluster.run(*FLEET, "report", str(shared), "--expect", str(cluster.folder / "nodes.txt"))
    assert done.returncode == 1 and not done.stderr, done.stderr
    data = json.loads((shared / "fleet.json").read_text())
    bad = {(gpu["node"], gpu["slot"]): (gpu["state"], gpu["cause"]) for gpu in data["gpus"] if gpu["state"] != "pass"}
    assert bad == {
        ("n1", 3): ("suspect", "memory path"),
        ("n2", 1): ("fail", bad["n2", 1][1]),
        ("n2", 4): ("fail", "wrong values"),
    }
    assert bad["n2", 1][1].startswith("hung")
    slow = next(gpu for gpu in data["gpus"] if (gpu["node"], gpu["slot"]) == ("n1", 3))
    assert all(0.02 < finding["deficit"] < 0.04 for finding in slow["findings"])
    assert (shared / "fail.txt").read_text() == "n2\nn3\n" and (shared / "suspect.txt").read_text() == "n1\n"
    assert "fail: n3: never reported" in done.stdout


def test_a_node_that_dies_fails_by_name(cluster: Cluster) -> None:
    shared = cluster.folder / "dies"
    cluster.set_faults({"n2-0 memory_bandwidth": "hangs"})
    job = cluster.srun("n1,n2", shared, "--made-up-gpus", "2", options=("--no-kill", "--kill-on-bad-exit=0"))
    wait_until((cluster.bin / "hangs-n2-0").exists, "a node at work")
    cluster.kill_node("n2", shared)
    record = shared / "nodes" / "n1" / "node.json"
    wait_until(lambda: record.exists() and json.loads(record.read_text())["status"] == "finished", "the end of n1")
    job.terminate()
    done = cluster.run(*FLEET, "report", str(shared))
    assert done.returncode == 1
    said = next(line for line in done.stdout.splitlines() if line.startswith("fail: "))
    assert said.startswith("fail: n2: began at ") and "did not end, last heard of after together lds_latency" in said
    assert (shared / "fail.txt").read_text() == "n2\n"


def test_a_full_shared_disk_is_one_sentence(cluster: Cluster) -> None:
    shared = cluster.folder / "full"
    shared.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(shared)], check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        cluster.set_faults({})
        job = cluster.srun("n1", shared, "--made-up-gpus", "4")
        _, err = job.communicate(timeout=LONGEST_RUN_S)
        assert job.returncode == 3
        said = [line for line in err.splitlines() if not line.startswith("srun: ")]
        assert len(said) == 1 and said[0].startswith(f"fleet.py: {shared}/"), err
        assert said[0].endswith("cannot be written: No space left on device.")
    finally:
        subprocess.run(["umount", str(shared)], check=True)
