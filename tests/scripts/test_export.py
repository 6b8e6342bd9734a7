"""export.py: results as other programs read them."""

from __future__ import annotations

import csv
import io
import json
import re
from functools import partial
from pathlib import Path

import pytest
from synthetic import REPOSITORY, inference, result, row, run, sweep, write

STORED = REPOSITORY / "results" / "nvidia-h200"


export = partial(run, "export.py")


def test_csv_has_every_number_of_every_row(tmp_path: Path) -> None:
    write(tmp_path, result("lds_banks", sweeps=[sweep("strides", [row('odd, "1"', 1.0, 2e-6, 7.5, "GB/s")])]))
    rows = list(csv.DictReader(io.StringIO(export("csv", tmp_path).stdout)))
    assert {(one["experiment"], one["sweep"], one["row"], one["x"]) for one in rows} == {
        ("lds_banks", "strides", 'odd, "1"', "1")
    }
    assert {(float(one["number"]), one["unit"]) for one in rows} == {(2e-6, "s"), (7.5, "GB/s")}


def test_prometheus_has_the_parameters_and_the_checks(tmp_path: Path) -> None:
    found = inference("LDS latency", 23.0, "cycles")
    lost = inference("LDS banks", None, "banks")
    for name, one in (("lds_latency", found), ("lds_banks", lost)):
        data = result(name, inferences=[one])
        data["device"]["name"] = 'a "GPU" \\ b'
        write(tmp_path, data)
    told = export("prometheus", tmp_path).stdout
    assert re.search(r'^hipscope_parameter\{parameter="LDS latency",unit="cycles",.*\} 23$', told, re.MULTILINE)
    assert 'model="a \\"GPU\\" \\\\ b"}' in told
    assert "LDS banks" not in told and 'hipscope_checks_failed{experiment="lds_banks"} 0\n' in told


def test_prometheus_tells_no_sample_twice() -> None:
    lines = export("prometheus", STORED).stdout.splitlines()
    samples = [one.rpartition(" ")[0] for one in lines if not one.startswith("#")]
    assert len(samples) == len(set(samples)) > 100
    assert all(re.fullmatch(r'[a-z_]+\{([a-z]+="[^"]*",?)+\} [0-9.e+-]+', one) for one in lines if one[0] != "#")


def test_roofline_has_ceilings_in_base_units() -> None:
    told = json.loads(export("roofline", STORED).stdout)
    rates = {one["name"]: one["rate"] for one in told["arithmetic"] + told["memory"]}
    assert 60e12 < rates["FP32 FMA, vector"] < 70e12 and 4e12 < rates["memory"] < 5e12
    assert {one["name"] for one in told["kernels"]} > {"reduction", "batchnorm"}


def test_it_is_written_whole_to_a_file(tmp_path: Path) -> None:
    assert export("csv", STORED, "--out", tmp_path / "all.csv").returncode == 0
    assert (tmp_path / "all.csv").read_text(encoding="utf-8") == export("csv", STORED).stdout


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (("csv", "nothing"), 2, "there is no folder nothing."),
        (("prometheus", "{host}"), 2, "nothing is inferred of a CPU, so there is no parameter to export."),
        (("roofline", "{host}"), 2, "no result tells a ceiling: "),
        (("csv", "{host}", "--out", "/nowhere/all.csv"), 1, "/nowhere/all.csv cannot be written: "),
    ],
)
def test_what_cannot_be_is_one_sentence(tmp_path: Path, arguments: tuple[str, ...], status: int, sentence: str) -> None:
    host = result("lds_banks")
    host["build"]["backend"] = "host"
    write(tmp_path, host)
    done = export(*(one.format(host=tmp_path) for one in arguments))
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith(f"export.py: {sentence}") and done.stderr.count("\n") == 1
