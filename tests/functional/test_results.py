"""Every binary on the host backend: what it computes and writes, at one wave size."""

from __future__ import annotations

import csv
import json
import os
import re

import jsonschema
import pytest
from conftest import EXPERIMENTS, IS_FULL, SOURCE, Binary, only_full

from hipscope.results import expansion

SCHEMA = json.loads((SOURCE / "results" / "schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(SCHEMA)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
WAVE_SIZE = int(os.environ["HIPSCOPE_HOST_WAVE_SIZE"])
SEED = 1 if WAVE_SIZE == 32 else 98765
IS_DEFAULT = IS_FULL and WAVE_SIZE == 32

# Of a matrix product: no size makes them smaller, and they take longest.
FIXED_OF_PRODUCTS = ("awkward", "mfma-tiles")

not_of_waves = pytest.mark.skipif(WAVE_SIZE != 32, reason="one wave size is enough: this does not depend on it")


@pytest.fixture(scope="module", params=EXPERIMENTS)
def finished(request, tmp_path_factory):
    """One run with its JSON, shared by the tests that only look at it: the default one; in the short tier, and at
    waves of 64 lanes with another seed, everything once."""
    binary = Binary(request.param, tmp_path_factory.mktemp(request.param))
    result = binary.run(*([] if IS_DEFAULT else ["--once", "--seed", str(SEED)]), "--json", "result.json")
    assert result.returncode == 0, result.stdout + result.stderr
    result.written = json.loads((binary.folder / "result.json").read_text())
    result.document = expansion.expanded(result.written)
    result.binary = binary
    return result


@pytest.fixture(scope="module")
def alone(finished, tmp_path_factory):
    """Each sweep in a run of its own, everything once, and the tables as CSV: its name and its run."""
    binary = Binary(finished.binary.name, tmp_path_factory.mktemp("alone"))
    runs = {}
    for name in binary.sweeps():
        if binary.name.endswith("gemm") and name in FIXED_OF_PRODUCTS:
            continue
        path = f"{name}.json"
        result = binary.run("--once", "--csv", "--filter", f"^{re.escape(name)}$", "--json", path)
        assert result.returncode == 0, result.stdout + result.stderr
        result.written = json.loads((binary.folder / path).read_text())
        result.document = expansion.expanded(result.written)
        runs[name] = result
    return runs


def check_csv(text):
    """Each table has a title and as many columns in every line; returns the names in the titles."""
    begin, *tables = re.split(r"^# ", text, flags=re.MULTILINE)
    assert begin == ""
    for table in tables:
        title, _, body = table.partition("\n")
        lines = list(csv.reader(body.splitlines(), strict=True))
        assert len(lines) >= 2, title
        assert len({len(line) for line in lines}) == 1, title
        assert len(set(lines[0])) == len(lines[0]), title
    return [table.partition(":")[0] for table in tables]


def members(row, what):
    """Those of a row that it has."""
    found = row.get(what, [])
    return [one for one in (found if isinstance(found, list) else found.values()) if one is not None]


def rows_of(document):
    return [row for sweep in document["sweeps"] for row in sweep["rows"]]


def without_times(document):
    """What is the same in every run: the document less its preset, its filter, its sweeps, and what is made from
    times."""
    kept = (
        "schema_version",
        "experiment",
        "question",
        "sources",
        "status",
        "hipscope",
        "build",
        "scaled",
        "inferences",
    )
    return {key: document[key] for key in kept} | {
        "options": {**document["options"], "preset": None, "filter": None},
        "device": {**document["device"], "free_memory_bytes": None},
        "overheads": [(entry["name"], entry["unit"]) for entry in document["overheads"]],
    }


def row_without_times(row):
    return {
        **row,
        # A body whose first execution is long enough for a sample is not recorded in a graph.
        "measurements": [
            (entry["name"], entry["method"].replace("graph", "device events"), entry["unit"])
            for entry in row["measurements"]
        ],
        "values": [(value["name"], value["unit"]) for value in row["values"]],
        # One time per sample.
        "checks": [
            {**check, "checked": None} if check["what"].startswith("times of all waves") else check
            for check in row["checks"]
        ],
    }


def test_default_run_is_quiet_on_stderr(finished):
    assert finished.stderr == ""
    assert os.listdir(finished.binary.folder) == ["result.json"]


def test_json_follows_its_schema(finished):
    VALIDATOR.validate(finished.written)


def test_every_check_passed_and_there_is_one(finished):
    checks = [check for row in rows_of(finished.document) for check in row["checks"]]
    assert checks
    assert all(check["checked"] > 0 and check["wrong"] == 0 for check in checks)
    assert finished.document["verification"] == {"checks": len(checks), "failures": []}
    assert finished.document["status"] == "passed"
    assert f"verification: {len(checks)} of {len(checks)} checks passed\n" in finished.stdout


def test_document_says_that_the_host_ran(finished):
    document = finished.document
    assert document["experiment"] == finished.binary.name
    assert document["build"]["backend"] == "host"
    assert document["device"]["wave_size"] == WAVE_SIZE
    assert document["options"]["seed"] == SEED
    assert document["scaled"] is True
    assert document["inferences"] == []
    assert document["clock"]["source"] == "none"
    assert "host backend: " in finished.stdout
    assert "inferred" not in finished.stdout.replace("nothing is inferred", "")


def test_every_sweep_ran_once_in_order(finished):
    ran = [sweep["name"] for sweep in finished.document["sweeps"]]
    listed = finished.binary.sweeps()
    assert len(set(listed)) == len(listed)
    # A sweep that is not for this device shows a note in place of its table.
    only_notes = [name for name in listed if name not in ran and f"\n{name}: " in finished.stdout]
    assert ran == [name for name in listed if name not in only_notes]


def test_headlines_and_labels_name_something(finished):
    for sweep in finished.document["sweeps"]:
        names = {entry["name"] for row in sweep["rows"] for entry in row["values"] + row["measurements"]}
        assert sweep["headline"] in names, sweep["name"]
        assert sweep["axis"]["name"], sweep["name"]
        labels = [row["label"] for row in sweep["rows"]]
        assert len(set(labels)) == len(labels), sweep["name"]
        for row in sweep["rows"]:
            assert sweep["axis"]["scale"] == "linear" or row["x"] > 0, row["label"]


@pytest.mark.parametrize("finished", ["register_pressure"], indirect=True)
def test_stages_begin_with_the_headline_and_claim_no_share_of_the_copy(finished):
    stages = finished.document["sweeps"][0]["rows"]
    assert stages[0]["label"] == "copy of as many bytes"
    for row in stages[:-1]:  # the fold has no values
        assert [value["name"] for value in row["values"]][:3] == ["updates", "bandwidth", "share of copy"]
        # The host's times tell nothing of a GPU's memory.
        assert row["values"][2]["value"] is None


def test_numbers_have_the_digits_that_the_schema_says(finished):
    for sweep in finished.written["sweeps"]:
        for row in sweep["rows"]:
            numbers = [time for one in members(row, "measurements") for time in one[1:6]]
            numbers += [value for value in members(row, "values") if isinstance(value, float)]
            assert [number for number in numbers if float(f"{number:.6g}") != number] == []


def test_a_row_is_a_line(finished):
    text = (finished.binary.folder / "result.json").read_text()
    rows = sum(len(sweep["rows"]) for sweep in finished.written["sweeps"])
    assert sum(line.startswith('    {"x":') for line in text.splitlines()) == rows


@only_full
@not_of_waves
def test_a_sweep_alone_differs_in_times_only(finished, alone):
    for name, result in alone.items():
        document = result.document
        together = [sweep for sweep in finished.document["sweeps"] if sweep["name"] == name]
        assert len(document["sweeps"]) == len(together), name
        assert without_times(document) == without_times(finished.document)
        for sweep, first in zip(document["sweeps"], together):
            assert {**sweep, "rows": None} == {**first, "rows": None}
            # A sweep may end where its time has doubled, so one of the two may have more rows.
            pairs = list(zip(sweep["rows"], first["rows"]))
            if (finished.binary.name, name) == ("timing", "drift"):
                # Its rows are octaves of time, and in some of them a process that is held up launches nothing.
                others = {row["label"]: row for row in first["rows"]}
                pairs = [(row, others[row["label"]]) for row in sweep["rows"] if row["label"] in others]
            for row, first_row in pairs:
                assert row_without_times(row) == row_without_times(first_row), name


@only_full
@not_of_waves
def test_once_is_one_sample_each(alone):
    for result in alone.values():
        if result.document["sweeps"]:  # one that is not for this device shows a note alone
            VALIDATOR.validate(result.written)
        assert result.document["options"]["preset"] == "once"
        assert all(
            measurement["samples"] == 1 for row in rows_of(result.document) for measurement in row["measurements"]
        )


@only_full
@not_of_waves
def test_csv_has_as_many_columns_in_every_line(alone):
    for name, result in alone.items():
        assert result.stderr == ""
        assert check_csv(result.stdout) == [name] * len(result.document["sweeps"])
    assert any(result.document["sweeps"] for result in alone.values())


def test_help_names_every_size_of_the_document(finished):
    text = finished.binary.run("--help").stdout
    assert set(finished.binary.sizes()) == set(finished.document["options"]["sizes"])
    for size, value in finished.document["options"]["sizes"].items():
        # Newer CLI11 breaks the text into lines, which are indented further than options are.
        line = re.search(rf"--{size} N\s+(.*?)(?=\n {{,15}}--|\n\n|\Z)", text, flags=re.DOTALL)
        assert line, size
        assert f"on the host backend {value};" in " ".join(line[1].split())


@only_full
@pytest.mark.skipif(WAVE_SIZE == 32, reason="the smallest sizes are the more under a wave the larger that is")
def test_all_sizes_at_their_smallest(finished):
    sizes = finished.binary.sizes()
    smallest = [word for size in sizes for word in (f"--{size}", finished.binary.smallest(size))]
    if finished.binary.name.endswith("gemm"):
        smallest += ["--filter", f"^(?!({'|'.join(FIXED_OF_PRODUCTS)})$)"]
    elif len(sizes) == 1:
        pytest.skip("one size alone is test_sizes.py's")
    result = finished.binary.run("--once", "--csv", *smallest)
    assert result.returncode == 0, f"{smallest}: {result.stdout}{result.stderr}"
    assert result.stderr == ""
    names = check_csv(result.stdout)
    assert names
    assert names == [name for name in finished.binary.sweeps() if name in names]
