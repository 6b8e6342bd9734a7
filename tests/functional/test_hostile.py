"""Every binary on the host backend under hostile options, interrupts at any moment, and without memory.

HIPSCOPE_FUZZ_SEED and HIPSCOPE_FUZZ_ROUNDS change the command lines that are tried and how many there
are for each binary.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import signal
import time
from pathlib import Path

import pytest
from conftest import BUILD, EXPERIMENTS, Binary, assert_one_sentence

SEED = os.environ.get("HIPSCOPE_FUZZ_SEED", "20260101")
ROUNDS = int(os.environ.get("HIPSCOPE_FUZZ_ROUNDS", "12"))
IS_SANITIZED = "HIPSCOPE_SANITIZE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text()

# Whatever is asked for, no such run takes nearly as long, even under a sanitizer and on a loaded machine.
LONGEST_S = 300

# --- Options ---------------------------------------------------------------------------------------

ANY_VALUES = [
    "",
    " ",
    "-",
    "--",
    "0",
    "-0",
    "-1",
    "1e309",
    "nan",
    "inf",
    "-inf",
    "0x10",
    "1e-400",
    "1_000",
    "٣",
    "½",
    "ü漢🙂",
    "two\nlines",
    "\t",
    "\x1b[31m",
    "%s%n",
    "$(id)",
    "'\"",
    "\\",
    "1,2",
    "=",
    "a" * 5000,
    "9" * 100000,
    "18446744073709551616",
    "--json",
    "--help=no",
]
SIZES = ["1", "2", "2^64", "2^63", "2^", "^2", "64Ki", "64K", "17179869184Gi", "0^0", "1^18446744073709551616", "+1"]
NUMBERS = ["1", "0.001", "100", "1e3", "1e-6", ".5", "1.", "1.0.0"]
EXPRESSIONS = [
    ".",
    "^.",
    "[",
    "(",
    ")",
    "*",
    "a{2,1}",
    "a{",
    r"\8",
    r"(.)\1",
    "[z-a]",
    "[[:no:]]",
    "(?<=a)",
    "(" * 400 + ")" * 400,
    "(" * 50000 + ")" * 50000,
    "a?" * 20000,
    "(.?){9000}",
    "((.{0,30}){0,30}){0,30}",
    "((((.*)*)*)*)*q",
    "(.*)*(.*)*(.*)*(.*)*q",
    "(.|.)*" * 100 + "q",
    "|" * 900,
    "\n",
    "ü+",
]
PATHS = [
    "result.json",
    "old.json",
    "ü 漢🙂.json",
    "two\nlines.json",
    "./-",
    "folder",
    "folder/",
    "folder/../new.json",
    "none/new.json",
    "old.json/new.json",
    "link_to_nothing",
    "link_to_itself",
    "a" * 250,
    "b/" * 3000,
    "/",
    ".",
    "..",
]
FLAGS = [
    "--csv",
    "--quick",
    "--full",
    "--once",
    "--list",
    "--devices",
    "--version",
    "--help",
    "--bogus",
    "-x",
    "file",
    "-j",
]


def options_of(binary: Binary) -> dict[str, list[str]]:
    """Each option that takes a value, with values of its kind."""
    text = binary.run("--help").stdout
    special = {"--json": PATHS, "--filter": EXPRESSIONS, "--device": ["0", "1", "2147483648"], "--seed": ["0"]}
    kinds = {"REGEX": EXPRESSIONS, "FILE": PATHS, "N": SIZES}
    found = re.findall(r"^ +(--[a-z0-9-]+) ([A-Z]+)", text, flags=re.MULTILINE)
    assert len(found) >= 8, text
    return {name: special.get(name, kinds.get(kind, NUMBERS)) for name, kind in found}


def make_arguments(chance: random.Random, options: dict[str, list[str]]) -> list[str]:
    """A command line of one to five options, some of them twice."""
    arguments = []
    for _ in range(chance.randint(1, 5)):
        if chance.random() < 0.25:
            arguments.append(chance.choice(FLAGS))
            continue
        name = chance.choice(list(options))
        value = chance.choice(options[name] if chance.random() < 0.7 else ANY_VALUES)
        # No program is ever given a null character, or more than 128 KiB at once.
        arguments += chance.choice([[name, value], [f"{name}={value}"], [name]])
    return arguments


def make_folder(top: Path) -> Path:
    """A folder in which a path may lead to all sorts of things."""
    folder = top / "below" / "here"
    (folder / "folder").mkdir(parents=True)
    (folder / "old.json").write_text("old")
    (folder / "link_to_nothing").symlink_to(folder / "none" / "file")
    (folder / "link_to_itself").symlink_to("link_to_itself")
    return folder


def contents(top: Path) -> dict[str, str]:
    """Every file below `top`."""
    return {str(path.relative_to(top)): path.read_text() for path in top.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_any_command_line_ends_as_documented(name, tmp_path):
    binary = Binary(name, make_folder(tmp_path))
    options = options_of(binary)
    chance = random.Random(f"{SEED} {name}")
    for _ in range(ROUNDS):
        before = contents(tmp_path)
        arguments = make_arguments(chance, options)
        # With no device every command line ends, however much work it asks for.
        result = binary.run(*arguments, environment={"HIPSCOPE_HOST_DEVICES": "0"}, timeout=LONGEST_S)
        shown = [one if len(one) < 80 else f"{one[:60]}... ({len(one)} characters)" for one in arguments]
        said = f"{shown!r}: status {result.returncode}, {result.stderr!r}"
        assert result.returncode in (0, 2, 77), said
        assert len(result.stderr) < 1100, said
        assert contents(tmp_path) == before, said
        if result.returncode == 0:
            assert result.stdout and result.stderr == "", said
        else:
            assert result.stdout == "", said
            assert_one_sentence(result, binary)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: repr(path)[:20])
def test_a_result_is_written_where_it_was_asked_for_or_nowhere(path, tmp_path):
    binary = Binary("launch_latency", make_folder(tmp_path))
    before = contents(tmp_path)
    result = binary.run("--filter", "single", "--json", path, timeout=LONGEST_S)
    after = contents(tmp_path)
    if result.returncode == 0:
        written = str((binary.folder / path).resolve().relative_to(tmp_path))
        assert json.loads(after.pop(written))["status"] == "passed"
        before.pop(written, None)
    else:
        assert result.returncode == 2
        assert_one_sentence(result, binary)
    assert after == before


def test_json_on_standard_output_has_it_for_itself(tmp_path):
    binary = Binary("launch_latency", tmp_path)
    result = binary.run("--filter", "single", "--json", "-", timeout=LONGEST_S)
    assert result.returncode == 0
    assert json.loads(result.stdout)["status"] == "passed"
    assert "\nsingle: " in result.stderr and "\nverification: " in result.stderr
    assert list(tmp_path.iterdir()) == []
    with open("/dev/full", "w", encoding="ascii") as full:
        failed = binary.run("--filter", "single", "--json", "-", stdout=full, timeout=LONGEST_S)
    assert failed.returncode == 3
    assert failed.stderr.endswith("launch_latency: cannot write to standard output\n")


# --- Interrupts ------------------------------------------------------------------------------------

INTERRUPTED_AT = 12
STATUSES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def status_in_a_shell(status: int) -> int:
    """A process that a signal has ended has no status of its own."""
    return 128 - status if status < 0 else status


@pytest.mark.parametrize("name", ["launch_latency", "nchw_index"])
def test_an_interrupt_at_any_moment(name, tmp_path):
    binary = Binary(name, tmp_path)
    arguments = ("--json", "result.json")
    began = time.monotonic()
    assert binary.run(*arguments).returncode == 0
    length = time.monotonic() - began
    chance = random.Random(f"{SEED} {name}")
    for _ in range(INTERRUPTED_AT):
        (tmp_path / "result.json").write_text("old")
        number = chance.choice(list(STATUSES))
        moment = chance.uniform(0, 1.2 * length)
        process = binary.start(*arguments)
        time.sleep(moment)
        process.send_signal(number)
        _, errors = process.communicate(timeout=LONGEST_S)
        said = f"{number.name} after {moment:.3f} s: status {process.returncode}, {errors!r}"
        assert os.listdir(tmp_path) == ["result.json"], said
        result = (tmp_path / "result.json").read_text()
        status = status_in_a_shell(process.returncode)
        if status == 0:
            assert json.loads(result)["status"] == "passed" and errors == "", said
            continue
        assert status == STATUSES[number], said
        # Until it has begun and after it has written, a signal just ends the process; while the tables are
        # written, the file is the old one or whole.
        if errors == f"{binary.prefix}interrupted, nothing was written\n":
            assert result == "old", said
        else:
            assert errors in ("", f"{binary.prefix}interrupted while its output was written\n"), said
            assert result == "old" or json.loads(result)["status"] == "passed", said


# --- Memory ----------------------------------------------------------------------------------------

# Sizes that are in their range and need more than the 4 GiB of the host backend.
TOO_LARGE = {
    "thread_rate": "--work-threads 2000000000",
    "cache_line": "--span 2048",
    "store_divergence": "--footprint 4Gi",
    "memory_bandwidth": "--array 8Gi",
    "reduction": "--values 2^34",
    "batchnorm": "--channels 2^20",
    "sgemm": "--largest 32768",
    "dgemm": "--largest 32768",
}


@pytest.mark.parametrize(
    "name, size",
    [
        *TOO_LARGE.items(),
        ("store_divergence", "--l2-footprint 4Gi"),
        ("reduction", "--largest 2^34"),
        ("sgemm", "--largest-odd 32768"),
        ("sgemm", "--largest-awkward 32768"),
    ],
)
def test_more_memory_than_there_is_is_status_2(name, size, tmp_path):
    binary = Binary(name, tmp_path)
    option = size.split()[0]
    sweeps = {"--largest": "sizes", "--l2-footprint": "l2", "--largest-odd": "odd", "--largest-awkward": "awkward"}.get(
        option, "."
    )
    result = binary.run(*size.split(), "--filter", sweeps, "--json", "result.json", timeout=LONGEST_S)
    assert result.returncode == 2, result.stderr
    assert_one_sentence(result, binary)
    # Where several sizes make one tensor the first of them is named.
    named = "--images" if name == "batchnorm" else option
    assert re.search(
        rf": {named} needs [0-9.]+ GiB of device memory, more than the [0-9.]+ GiB that is free$", result.stderr
    ), result.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["padding", "batchnorm"])
def test_an_awkward_size_that_does_not_fit_is_left_out(name, tmp_path):
    result = Binary(name, tmp_path).run("--once", "--largest-awkward", "2^30", "--filter", "awkward", timeout=LONGEST_S)
    assert result.returncode == 0, result.stderr
    assert "does not fit into this device's memory\n" in result.stdout


@pytest.mark.parametrize("name, size", [("thread_rate", "--work-threads 2^28"), ("memory_bandwidth", "--array 512Mi")])
def test_less_memory_than_the_device_promises_is_status_3(name, size, tmp_path):
    binary = Binary(name, tmp_path)
    megabyte = 1 << 20
    limits = {}
    if IS_SANITIZED:  # a sanitizer's own memory is beyond every limit
        options = os.environ.get("ASAN_OPTIONS", "")
        limits["environment"] = {"ASAN_OPTIONS": options + ":max_allocation_size_mb=64:allocator_may_return_null=1"}
    else:
        limits["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_AS, (256 * megabyte, 256 * megabyte))
    result = binary.run(*size.split(), "--filter", "store|stream", "--json", "result.json", timeout=LONGEST_S, **limits)
    assert result.returncode == 3, result.stderr
    # The sanitizer warns of what it refuses.
    result.stderr = "".join(line for line in result.stderr.splitlines(True) if "AddressSanitizer" not in line)
    assert_one_sentence(result, binary)
    assert "out of memory" in result.stderr or "out of host memory" in result.stderr
    assert os.listdir(tmp_path) == []
