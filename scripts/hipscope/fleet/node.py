"""Measures the GPUs of one node: all at once, then one by one, each in a process of its own."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hipscope.results import door, formats, load
from hipscope.results.door import BadInput

from . import devices, layout, verdicts
from .claim import claimed
from .devices import Device
from .layout import FleetError
from .processes import Command, Outcome, run_all
from .tiers import TIERS, Step, Tier

GOOD, WRONG, BROKEN, HUNG, STUCK = "good", "wrong", "broken", "hung", "stuck"
# From bad to worse: a GPU is as bad as its worst run.
SEVERITY = (GOOD, BROKEN, WRONG, HUNG, STUCK)
LONGEST_MESSAGE = 300


@dataclass(frozen=True)
class Job:
    """What one call of `fleet.py run` is to do."""

    binaries: Path
    out: Path
    node: str
    tier: str
    limit_s: float | None = None
    only: str = ""
    made_up: int | None = None
    again: frozenset[int] | None = None  # the GPUs that are measured again; None: this is the first time
    is_prolog: bool = False  # only what all GPUs do together, and without a word


def site_job() -> str | None:
    """The number that the site's own engine gave this job."""
    names = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_COMPLETION_INDEX")
    return next(filter(None, map(os.environ.get, names)), None)


def chosen_steps(job: Job) -> Tier:
    """The tier's steps, less those that --only leaves out; raises FleetError."""
    tier = TIERS[job.tier]
    together, alone = (
        tuple(step for step in steps if re.search(job.only, step.experiment))
        for steps in (tier.together, () if job.is_prolog else tier.alone)
    )
    if not together and not alone:
        raise FleetError(
            f"--only {job.only} leaves nothing of the tier {job.tier}, which has "
            f"{', '.join(dict.fromkeys(step.experiment for step in tier.together))}."
        )
    for step in (*together, *alone):
        if not os.access(job.binaries / step.experiment, os.X_OK):
            raise FleetError(
                f"there is no binary {job.binaries / step.experiment}; build it, or name the folder of "
                "the binaries by --bin."
            )
    return Tier(together, alone, tier.limit_s)


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder on the node's own disk, which goes at the end; raises FleetError."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="hipscope-fleet-"))
    except OSError as error:
        raise FleetError(f"no temporary folder can be made on this node: {error.strerror}.", 3) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class NodeRun:
    """The run on this node; what it finds out stands in `record`, which node.json holds."""

    def __init__(self, job: Job, tier: Tier, folder: Path, scratch: Path) -> None:
        """Writes the node's file, or goes on with that of a run that did not end; raises FleetError."""
        self.job, self.tier, self.folder, self.scratch = job, tier, folder, scratch
        self.path = folder / (layout.NODE_FILE if job.again is None else layout.CONFIRM_FILE)
        if self.path.exists():
            self.record: dict[str, Any] = door.read_json(self.path, layout.NODE_SCHEMA)
            if self.record["status"] == layout.FINISHED:
                raise FleetError(
                    f"{self.folder} has the results of this node already, of {self.record['ended']}; "
                    "take another --out, or remove that folder."
                )
            if (self.record["tier"], self.record["only"]) != (job.tier, job.only):
                raise FleetError(
                    f"{self.folder} has a run of tier {self.record['tier']} that did not end; go on "
                    "with that tier and the same --only, take another --out, or remove that folder."
                )
            self.record["interruptions"] += 1
        else:
            self.record = {
                "schema_version": layout.VERSION,
                "node": job.node,
                "tier": job.tier,
                "only": job.only,
                "began": layout.now(),
                "interruptions": 0,
                "gpus": [],
            }
        self.record["job"] = site_job()
        self.write(layout.STARTED)

    def write(self, status: str, message: str = "") -> None:
        """Says how the node stands; raises FleetError."""
        ended = None if status == layout.STARTED else layout.now()
        self.record.update(status=status, ended=ended, message=message)
        layout.write_json(self.path, self.record)

    def say(self, text: str) -> None:
        """Tells the user on one line, unless nothing is to be told."""
        if not self.job.is_prolog:
            print(f"{self.job.node}: {text}", flush=True)

    # The GPUs.

    def _find_gpus(self) -> list[Device]:
        first = self.job.binaries / (*self.tier.together, *self.tier.alone)[0].experiment
        version, backend = devices.version_of(first, self.scratch)
        if self.record.setdefault("version", version) != version:
            raise FleetError(
                f"{self.folder} has a run of other binaries ({self.record['version']}) that did not end; "
                "take another --out, or remove that folder."
            )
        self.record["backend"] = backend
        found = devices.find_devices(first, backend, self.job.made_up, self.scratch)
        if self.job.again is not None and not self.job.again <= {device.index for device in found}:
            raise FleetError(f"a GPU that is to be measured again is not there: this node has {len(found)}.", 1)
        known = {gpu["index"]: gpu for gpu in self.record["gpus"]}
        self.record["gpus"] = [
            known.get(device.index)
            or {
                "index": device.index,
                "folder": layout.gpu_name(device.index),
                "description": device.description,
                "state": GOOD,
                "message": "",
                "runs": [],
            }
            for device in found
        ]
        self.write(layout.STARTED)
        return found

    def _gpu(self, device: Device) -> dict[str, Any]:
        return next(gpu for gpu in self.record["gpus"] if gpu["index"] == device.index)

    def _can_run(self, device: Device) -> bool:
        return self._gpu(device)["state"] not in (HUNG, STUCK)

    def _is_done(self, device: Device, phase: str, step: Step) -> bool:
        """Whether an earlier run that did not end has measured this."""
        return any(run["phase"] == phase and run["experiment"] == step.experiment for run in self._gpu(device)["runs"])

    # The steps.

    def measure(self) -> None:
        """Runs all steps; raises FleetError."""
        found = self._find_gpus()
        self.say(f"{layout.counted(len(found), 'GPU')} ({found[0].description}), tier {self.job.tier}")
        if self.job.again is None:
            self._measure_once(found, found, "")
        else:
            kept = [device for device in found if device.index in self.job.again]
            for time_of in range(1, verdicts.TIMES_AGAIN + 1):
                self._measure_once(found, kept, f"{layout.AGAIN}{time_of}/")

    def _measure_once(self, found: Sequence[Device], kept: Sequence[Device], prefix: str) -> None:
        """All steps once: together on all GPUs, as at first, but only what `kept` measure is filed."""
        for step in self.tier.together:
            left = [device for device in kept if self._can_run(device)]
            if not all(self._is_done(device, prefix + layout.TOGETHER, step) for device in left):
                self._step(found, kept, prefix + layout.TOGETHER, step)
        for step in self.tier.alone:
            for device in kept:
                if not self._is_done(device, prefix + layout.ALONE, step):
                    self._step([device], [device], prefix + layout.ALONE, step)

    def _step(self, all_devices: Sequence[Device], kept: Sequence[Device], phase: str, step: Step) -> None:
        running = [device for device in all_devices if self._can_run(device)]
        if not running:
            return
        limit_s = self.job.limit_s or step.limit_s or self.tier.limit_s
        outcomes = run_all([self._command(device, step) for device in running], limit_s)
        for device, outcome in zip(running, outcomes):
            if device in kept or outcome.timed_out:
                self._file(device, phase, step, outcome, limit_s)
        self.write(layout.STARTED)
        bad = [
            f"gpu {gpu['index']} {gpu['runs'][-1]['status']}"
            for gpu in map(self._gpu, running)
            if gpu["runs"] and gpu["runs"][-1]["status"] != GOOD
        ]
        which = f"{len(running)} GPUs" if len(all_devices) > 1 else f"gpu {running[0].index}"
        self.say(
            f"{phase} {step.experiment}, {which}: {max(each.seconds for each in outcomes):.1f} s "
            f"{', '.join(bad) or 'ok'}"
        )

    def _command(self, device: Device, step: Step) -> Command:
        json_file = self.scratch / f"{device.index}.json"
        json_file.unlink(missing_ok=True)
        words = [str(self.job.binaries / step.experiment), *step.options, "--identity", "--json", str(json_file)]
        words += device.options
        # The test's wrapper and the user's own prolog can tell which GPU it is.
        environment = {
            **os.environ,
            **device.environment,
            "HIPSCOPE_FLEET_GPU": str(device.index),
            "HIPSCOPE_FLEET_NODE": self.job.node,
        }
        return Command(
            words,
            self.scratch / f"{device.index}.err",
            environment,
            cpus=devices.near_cpus(self._gpu(device).get("pci_address", "")),
        )

    def _file(self, device: Device, phase: str, step: Step, outcome: Outcome, limit_s: float) -> None:
        """Copies a result to its place and notes how its run ended."""
        gpu = self._gpu(device)
        status, message = self._judge(device, step, outcome, limit_s)
        if status in (GOOD, WRONG):
            content = (self.scratch / f"{device.index}.json").read_bytes()
            place = self.folder / gpu["folder"] / phase
            layout.make_folder(place)
            layout.write_files({place / f"{step.experiment}.json": content})
        gpu["runs"] = [run for run in gpu["runs"] if (run["phase"], run["experiment"]) != (phase, step.experiment)]
        gpu["runs"].append(
            {
                "phase": phase,
                "experiment": step.experiment,
                "status": status,
                "exit": outcome.status,
                "seconds": round(outcome.seconds, 3),
                "message": message,
            }
        )
        if SEVERITY.index(status) > SEVERITY.index(gpu["state"]):
            gpu.update(state=status, message=message)

    def _judge(self, device: Device, step: Step, outcome: Outcome, limit_s: float) -> tuple[str, str]:
        """How a run ended, and a sentence where it ended badly."""
        name = step.experiment
        if outcome.status is None:
            return STUCK, (
                f"{name} did not end within {limit_s:g} s and cannot be killed; process {outcome.pid} is "
                "left behind, in the driver"
            )
        if outcome.timed_out:
            return HUNG, f"{name} did not end within {limit_s:g} s and was killed"
        if outcome.trouble:
            return BROKEN, f"{name} {outcome.trouble}"
        if outcome.status not in (0, 1):
            said = (self.scratch / f"{device.index}.err").read_text(encoding="utf-8", errors="replace")
            ended = (
                f"was ended by signal {-outcome.status}"
                if outcome.status < 0
                else f"ended with status {outcome.status}"
            )
            return BROKEN, f"{name} {ended}" + (f": {formats.plain(said)[-LONGEST_MESSAGE:]}" if said.strip() else "")
        try:
            data = load.document(self.scratch / f"{device.index}.json")
        except BadInput:
            return BROKEN, f"{name} ended with status {outcome.status} and without a whole result"
        address = data["device"].get("pci_address")
        if address:
            self._gpu(device).setdefault("pci_address", address)
        if outcome.status == 0:
            return GOOD, ""
        failures = data["verification"]["failures"] or ["a verification failed"]
        return WRONG, f"{name}: {failures[0]}"[-LONGEST_MESSAGE:]


def run(job: Job) -> tuple[int, dict[str, Any]]:
    """Measures this node; returns the exit status and what node.json says. Raises FleetError."""
    began = time.monotonic()
    tier, folder = chosen_steps(job), layout.node_folder(job.out, job.node)
    layout.make_folder(folder)
    with claimed(folder, site_job()), scratch_folder() as scratch:
        node = NodeRun(job, tier, folder, scratch)
        try:
            node.measure()
            node.write(layout.FINISHED)
        except BaseException as error:
            with contextlib.suppress(FleetError):  # if that can still be said
                node.write(layout.FAILED, str(error) if isinstance(error, FleetError) else "interrupted")
            raise
    gpus = node.record["gpus"]
    bad = sum(gpu["state"] != GOOD for gpu in gpus)
    ended = f"{bad} of {len(gpus)} GPUs failed" if bad else "all checks passed"
    node.say(f"done in {time.monotonic() - began:.1f} s, {ended}")
    return int(bad > 0), node.record


def summary(record: dict[str, Any]) -> str:
    """The node's state on one line, for a prolog."""
    bad = [f"gpu {gpu['index']}: {gpu['message']}" for gpu in record["gpus"] if gpu["state"] != GOOD]
    count = len(record["gpus"])
    return "FAIL: " + "; ".join(bad) if bad else f"{count} {'GPU passes' if count == 1 else 'GPUs pass'}"
