"""Every binary on the host backend: its results, its interface, and how it ends."""

from __future__ import annotations

import csv
import json
import os
import re
import resource
import signal
import stat
import time

import jsonschema
import pytest
from conftest import EXPERIMENTS, LONGEST_RUN_S, SOURCE, Binary, assert_one_sentence

SCHEMA = json.loads((SOURCE / "results" / "schema.json").read_text())
WAVE_SIZE = int(os.environ["HIPSCOPE_HOST_WAVE_SIZE"])

# A run of this long is still under way when a signal comes.
LONG_RUN = ("--min-time", "5")
SIGNAL_AFTER_S = 0.5
LONGEST_ENDING_S = 3


@pytest.fixture(scope="module", params=EXPERIMENTS)
def finished(request, tmp_path_factory):
    """One default run with its JSON, shared by the tests that only look at it."""
    binary = Binary(request.param, tmp_path_factory.mktemp(request.param))
    result = binary.run("--json", "result.json")
    assert result.returncode == 0, result.stdout + result.stderr
    result.document = json.loads((binary.folder / "result.json").read_text())
    result.binary = binary
    return result


def rows_of(document):
    return [row for sweep in document["sweeps"] for row in sweep["rows"]]


def without_times(document):
    """The document less what differs from run to run: dates, times and what is made from them."""
    kept = ("schema_version", "experiment", "question", "sources", "status", "hipscope", "build",
            "options", "scaled", "inferences")
    return {key: document[key] for key in kept} | {
        "device": {**document["device"], "free_memory_bytes": None},
        "overheads": [(entry["name"], entry["unit"]) for entry in document["overheads"]],
        "sweeps": [{**sweep, "rows": None} for sweep in document["sweeps"]],
    }


def row_without_times(row):
    return {
        **row,
        "measurements": [(entry["name"], entry["method"], entry["unit"])
                         for entry in row["measurements"]],
        "values": [(value["name"], value["unit"]) for value in row["values"]],
    }


# --- Results ---------------------------------------------------------------------------------------


def test_default_run_is_quiet_on_stderr(finished):
    assert finished.stderr == ""
    assert os.listdir(finished.binary.folder) == ["result.json"]


def test_json_follows_its_schema(finished):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(finished.document, SCHEMA, cls=jsonschema.Draft202012Validator)


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
    only_notes = [name for name in listed
                  if name not in ran and f"\n{name}: " in finished.stdout]
    assert ran == [name for name in listed if name not in only_notes]


def test_headlines_and_labels_name_something(finished):
    for sweep in finished.document["sweeps"]:
        names = {entry["name"] for row in sweep["rows"]
                 for entry in row["values"] + row["measurements"]}
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


def test_summaries_are_of_the_samples(finished):
    for row in rows_of(finished.document):
        for measurement in row["measurements"]:
            samples = measurement["samples"]
            assert measurement["minimum"] == min(samples)
            assert measurement["maximum"] == max(samples)
            assert min(samples) <= measurement["median"] <= max(samples)
            assert len(measurement["shader_mhz"]) == len(samples)


def test_a_second_run_differs_in_times_only(finished):
    again = finished.binary.run("--json", "again.json")
    assert again.returncode == 0
    document = json.loads((finished.binary.folder / "again.json").read_text())
    (finished.binary.folder / "again.json").unlink()
    assert without_times(document) == without_times(finished.document)
    for sweep, first in zip(document["sweeps"], finished.document["sweeps"]):
        # A sweep may end where its time has doubled, so one of the two may have more rows.
        for row, first_row in zip(sweep["rows"], first["rows"]):
            assert row_without_times(row) == row_without_times(first_row), sweep["name"]


def test_another_seed_gives_the_same_verdict(finished):
    other = finished.binary.run("--once", "--seed", "98765", "--json", "seed.json")
    assert other.returncode == 0, other.stdout
    document = json.loads((finished.binary.folder / "seed.json").read_text())
    (finished.binary.folder / "seed.json").unlink()
    jsonschema.validate(document, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert document["options"]["preset"] == "once"
    assert all(len(measurement["samples"]) == 1 for row in rows_of(document) for measurement in row["measurements"])
    assert document["options"]["seed"] == 98765
    assert document["status"] == finished.document["status"]
    assert document["verification"]["failures"] == finished.document["verification"]["failures"]


@pytest.mark.parametrize("largest, sizes", [("1", ["1"]), ("2", ["1"]), ("12", ["3", "11"]), ("13", ["3", "13"])])
def test_odd_sizes_differ_and_are_no_larger_than_asked_for(largest, sizes, tmp_path):
    result = Binary("sgemm", tmp_path).run("--once", "--csv", "--filter", "^odd$", "--largest-odd", largest)
    assert result.returncode == 0, result.stderr
    assert [line.split(",")[0] for line in result.stdout.splitlines()[2:]] == sizes


@pytest.mark.parametrize("name, largest, count", [
    ("register_pressure", "1", 1), ("register_pressure", "4096", 6), ("padding", "257", 7), ("padding", "8191", 8),
    ("batchnorm", "255", 3), ("batchnorm", "2^15", 10),
])
def test_the_largest_awkward_size_is_the_last_that_runs(name, largest, count, tmp_path):
    result = Binary(name, tmp_path).run("--once", "--csv", "--filter", "awkward", "--largest-awkward", largest)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()[2:]) == count


@pytest.mark.parametrize("threads", ["1", "33", "1024"])
def test_threads_that_share_lds_are_whole_waves(threads, tmp_path):
    result = Binary("lds_banks", tmp_path).run("--once", "--threads", threads)
    assert result.returncode == 0, result.stdout + result.stderr


# --- Interface -------------------------------------------------------------------------------------


def test_each_sweep_runs_alone(binary):
    for name in binary.sweeps():
        result = binary.run("--once", "--filter", f"^{re.escape(name)}$", "--json", "one.json")
        assert result.returncode == 0, result.stdout + result.stderr
        if f"\n{name}: " in result.stdout and not (binary.folder / "one.json").exists():
            pytest.fail(f"{name} left no JSON")
        document = json.loads((binary.folder / "one.json").read_text())
        assert [sweep["name"] for sweep in document["sweeps"]] in ([name], [])


def test_csv_has_as_many_columns_in_every_line(binary):
    result = binary.run("--once", "--csv")
    assert result.returncode == 0
    assert result.stderr == ""
    tables = re.split(r"^# ", result.stdout, flags=re.MULTILINE)
    assert tables[0] == ""
    names = []
    for table in tables[1:]:
        title, _, body = table.partition("\n")
        names.append(title.partition(":")[0])
        lines = list(csv.reader(body.splitlines(), strict=True))
        assert len(lines) >= 2, title
        assert len({len(line) for line in lines}) == 1, title
        assert len(set(lines[0])) == len(lines[0]), title
    assert names == [name for name in binary.sweeps() if name in names]
    assert names


def test_help_names_every_option_and_size(binary):
    result = binary.run("--help")
    assert result.returncode == 0
    assert result.stderr == ""
    for option in ("--device", "--devices", "--json", "--csv", "--quick", "--full", "--once", "--min-time",
                   "--noise", "--clock-mhz", "--seed", "--list", "--filter", "--version"):
        assert re.search(rf"{option}\b", result.stdout), option


def test_sizes_for_the_sanitizer_are_in_their_ranges(binary):
    table = (SOURCE / "scripts" / "sanitize.sh").read_text()
    sizes = re.search(rf'^  \[{binary.name.split(".")[0]}\]="(--[^"]+)"$', table, re.MULTILINE)
    assert sizes
    result = binary.run("--devices", *sizes[1].split())
    assert result.returncode == 0, result.stderr


def test_help_names_every_size_of_the_document(finished):
    text = finished.binary.run("--help").stdout
    for size, value in finished.document["options"]["sizes"].items():
        line = re.search(rf"--{size} N\s+(.*?)(?=\n\s*--|\n\n|\Z)", text, flags=re.DOTALL)
        assert line, size
        assert f"on the host backend {value})" in " ".join(line[1].split())


def test_version_is_one_line(binary):
    result = binary.run("--version")
    assert result.returncode == 0
    assert re.fullmatch(r"hipscope \d+\.\d+\.\d+ \(([0-9a-f]+(-dirty)?|unknown)\), backend host, .+\n",
                        result.stdout), result.stdout


def test_devices_lists_the_host(binary):
    result = binary.run("--devices")
    assert result.returncode == 0
    assert result.stdout.startswith("0\thost\t")


BAD_OPTIONS = [
    ["--bogus"], ["file"], ["--device", "-1"], ["--device", "99"], ["--device", "x"],
    ["--quick", "--full"], ["--noise", "0"], ["--noise", "nan"], ["--min-time", "soon"],
    ["--clock-mhz", "-5"], ["--seed", "x"], ["--seed", "-1"], ["--filter", "["],
    ["--filter", "no such sweep"], ["--filter", ""], ["--json", ""], ["--json"],
    ["--json", "/nonexistent/x.json"], ["--json", "."],
]
BAD_SIZES = ["0", "-1", "abc", "1.5", "", "2^70", "18446744073709551615"]


@pytest.mark.parametrize("arguments", BAD_OPTIONS, ids=" ".join)
def test_bad_option_is_status_2(binary, arguments):
    result = binary.run(*arguments)
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    assert_one_sentence(result, binary)


def test_bad_size_is_status_2(finished):
    for size in finished.document["options"]["sizes"]:
        for value in BAD_SIZES:
            result = finished.binary.run(f"--{size}", value)
            assert result.returncode == 2, f"--{size} {value}: {result.stderr}"
            assert result.stdout == ""
            assert f"--{size}" in result.stderr
            assert_one_sentence(result, finished.binary)


def test_smallest_size_works(finished):
    for size in finished.document["options"]["sizes"]:
        refused = finished.binary.run(f"--{size}", "0")
        smallest = re.search(r"is not in the range (\d+) to", refused.stderr)
        assert smallest, refused.stderr
        result = finished.binary.run(f"--{size}", smallest[1])
        assert result.returncode == 0, f"--{size} {smallest[1]}: {result.stdout}{result.stderr}"


# --- Endings ---------------------------------------------------------------------------------------


def test_no_device_is_status_77(binary):
    result = binary.run("--json", "result.json", environment={"HIPSCOPE_HOST_DEVICES": "0"})
    assert result.returncode == 77
    assert result.stdout == ""
    assert_one_sentence(result, binary)
    assert os.listdir(binary.folder) == []


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_leaves_nothing(binary, number, status):
    process = binary.start(*LONG_RUN, "--json", "result.json")
    time.sleep(SIGNAL_AFTER_S)
    assert process.poll() is None, "the run was over before the signal"
    process.send_signal(number)
    sent = time.monotonic()
    try:
        _, errors = process.communicate(timeout=LONGEST_RUN_S)
    finally:
        process.kill()
    assert process.returncode == status
    assert time.monotonic() - sent < LONGEST_ENDING_S
    assert errors == f"{binary.prefix}interrupted, nothing was written\n"
    assert os.listdir(binary.folder) == []


def full_device(folder):
    """A device like /dev/full to write results to. Whoever may write to /dev gets a node in the
    test's folder: a binary that took a device for a file would replace the machine's own."""
    original = os.stat("/dev/full")
    assert stat.S_ISCHR(original.st_mode), "/dev/full is no device here"
    if not os.access("/dev", os.W_OK):
        return "/dev/full"
    node = folder / "full"
    try:
        os.mknod(node, original.st_mode, original.st_rdev)
        with open(node, "w", encoding="ascii"):
            pass
    except PermissionError:
        pytest.skip("no device node can be made here")
    return str(node)


def test_full_disk_is_status_3(binary):
    result = binary.run("--json", full_device(binary.folder))
    assert result.returncode == 3
    assert_one_sentence(result, binary)
    assert "No space left on device" in result.stderr


def test_full_standard_output_is_status_3(binary):
    with open("/dev/full", "w", encoding="ascii") as full:
        result = binary.run(stdout=full)
    assert result.returncode == 3
    assert_one_sentence(result, binary)


def test_file_over_its_limit_is_status_3(binary):
    (binary.folder / "result.json").write_text("old")
    limit = 2048
    result = binary.run(
        "--json", "result.json",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert result.returncode == 3
    assert_one_sentence(result, binary)
    assert (binary.folder / "result.json").read_text() == "old"
    assert os.listdir(binary.folder) == ["result.json"]


def test_reader_that_goes_is_status_3(binary):
    process = binary.start()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(LONGEST_RUN_S) == 3
    assert errors.startswith(binary.prefix)
