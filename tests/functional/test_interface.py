"""Every binary on the host backend: its interface, and how it ends."""

from __future__ import annotations

import os
import re
import resource
import signal
import stat

import pytest
from conftest import LONGEST_RUN_S, Binary, asked, assert_one_sentence

# Each point of such a run takes an hour, so it still runs when a signal comes.
LONG_RUN = ("--min-time", "3600")


def short_run(binary: Binary) -> list[str]:
    """Options for a run of one sweep."""
    return ["--once", "--filter", f"^{re.escape(binary.sweeps()[0])}$"]


# --- Interface -------------------------------------------------------------------------------------


def test_tiny_sizes_are_in_their_ranges(binary):
    text = " ".join(binary.run("--help").stdout.split())
    sizes = re.findall(r"\((\d+) to (\d+); default \d+; --quick \d+; on the host backend \d+; --tiny (\d+)\)", text)
    assert len(sizes) == len(binary.sizes())
    assert all(int(least) <= int(tiny) <= int(most) for least, most, tiny in sizes), sizes


def test_version_is_one_line(one_of_few):
    result = one_of_few.run("--version")
    assert result.returncode == 0
    assert re.fullmatch(
        r"hipscope \d+\.\d+\.\d+ \(([0-9a-f]+(-dirty)?|unknown)\), backend host, .+\n", result.stdout
    ), result.stdout


def test_devices_lists_the_host(one_of_few):
    result = one_of_few.run("--devices")
    assert result.returncode == 0
    assert result.stdout.startswith("0\thost\t")


def test_help_shows_the_bounds_of_every_number(binary):
    text = " ".join(asked(binary.path, "--help").stdout.split())
    for size in binary.sizes():
        refused = binary.run("--list", f"--{size}", "0")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert_one_sentence(refused, binary)
        lowest, highest = re.search(rf"--{size}.* range (\d+) to (\d+)", refused.stderr).groups()
        assert re.search(rf"--{size} N [^()]*(\([^()]*\)[^()]*)*\({lowest} to {highest}; default ", text), size
    for option, bounds in (
        ("--min-time", "1e-06 to 3600"),
        ("--noise", "0.001 to 100"),
        ("--clock-mhz", "1 to 100000"),
    ):
        assert re.search(rf"{option} [A-Z]+ [^()]*\({bounds}", text), option


# --- Endings ---------------------------------------------------------------------------------------


def test_no_device_is_status_77(one_of_few):
    result = one_of_few.run("--json", "result.json", environment={"HIPSCOPE_HOST_DEVICES": "0"})
    assert result.returncode == 77
    assert result.stdout == ""
    assert_one_sentence(result, one_of_few)
    assert os.listdir(one_of_few.folder) == []


def check_signal_leaves_nothing(binary, number, status):
    process = binary.start(*LONG_RUN, "--json", "result.json")
    # It catches signals once it has printed its heading. What is left takes far longer than the test waits: so a
    # run that ends was ended.
    assert process.stdout.readline()
    process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=LONGEST_RUN_S)
    finally:
        process.kill()
    assert process.returncode == status
    # The heading has several lines, and the signal may come before the last of them.
    assert errors in (
        f"{binary.prefix}interrupted, nothing was written\n",
        f"{binary.prefix}interrupted while its output was written\n",
    )
    assert os.listdir(binary.folder) == []


def test_interrupt_leaves_nothing(binary):
    check_signal_leaves_nothing(binary, signal.SIGINT, 130)


def test_termination_leaves_nothing(one_of_few):
    check_signal_leaves_nothing(one_of_few, signal.SIGTERM, 143)


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


def test_full_disk_is_status_3(one_of_few):
    full = full_device(one_of_few.folder)
    result = one_of_few.run(*short_run(one_of_few), "--json", full)
    assert result.returncode == 3
    assert stat.S_ISCHR(os.stat(full).st_mode), "it stays a device"
    assert_one_sentence(result, one_of_few)
    assert "No space left on device" in result.stderr


def test_file_over_its_limit_is_status_3(one_of_few):
    (one_of_few.folder / "result.json").write_text("old")
    limit = 1024  # the least JSON of all is of 2047 bytes, that of peer_copies
    result = one_of_few.run(
        *short_run(one_of_few),
        "--json",
        "result.json",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert result.returncode == 3
    assert_one_sentence(result, one_of_few)
    assert (one_of_few.folder / "result.json").read_text() == "old"
    assert os.listdir(one_of_few.folder) == ["result.json"]


def test_reader_that_goes_is_status_3(one_of_few):
    process = one_of_few.start()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(LONGEST_RUN_S) == 3
    assert errors.startswith(one_of_few.prefix)
