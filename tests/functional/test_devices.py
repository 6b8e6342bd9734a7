"""Several devices: the host backend has as many, all the same, as HIPSCOPE_HOST_DEVICES says."""

from __future__ import annotations

import json

import pytest
from conftest import BACKEND, Binary

pytestmark = pytest.mark.skipif(BACKEND != "host", reason="another backend has the devices that it has")

THREE = {"HIPSCOPE_HOST_DEVICES": "3"}


def test_a_device_of_several_runs_by_itself(tmp_path):
    binary = Binary("launch_latency", tmp_path)
    result = binary.run("--device", "2", "--once", "--json", "result.json", environment=THREE)
    assert result.returncode == 0, result.stderr
    assert "device 2: host CPU" in result.stdout
    assert json.loads((tmp_path / "result.json").read_text())["device"]["index"] == 2
    refused = binary.run("--device", "3", environment=THREE)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == f"{binary.prefix}--device: there is no device 3, the last one is 2\n"


def test_the_energy_of_a_link_takes_two_devices(tmp_path):
    energy = Binary("energy", tmp_path)
    arguments = ("--filter", "^peer$", "--once", "--json", "result.json")
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
