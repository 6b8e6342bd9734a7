"""The sizes that binaries take as options, each at its edges, on the host backend."""

from __future__ import annotations

import pytest
from conftest import Binary

# What these sizes are of in the matrix products, whose other sweeps take long.
OF_PRODUCTS = {size: "stages|against-library" for size in "mnk"} | {"largest": "sizes", "limit-k": "limit"}


def test_each_size_at_its_smallest(binary):
    sizes = binary.sizes()
    # Size largest-x is of sweep x alone, which has no other.
    own = {size: size.removeprefix("largest-") for size in sizes if size.startswith("largest-")}
    own = {size: sweep for size, sweep in own.items() if sweep in binary.sweeps()}
    for size in sizes:
        smallest = binary.smallest(size)
        wanted = own.get(size, f"(?!({'|'.join(own.values())})$).*" if own else ".*")
        if binary.name.endswith("gemm"):
            wanted = OF_PRODUCTS.get(size, wanted)
        result = binary.run("--once", f"--{size}", smallest, "--filter", f"^({wanted})$")
        assert result.returncode == 0, f"--{size} {smallest}: {result.stdout}{result.stderr}"


@pytest.mark.parametrize("largest, sizes", [("1", ["1"]), ("2", ["1"]), ("12", ["3", "11"]), ("13", ["3", "13"])])
def test_odd_sizes_differ_and_are_no_larger_than_asked_for(largest, sizes, tmp_path):
    result = Binary("sgemm", tmp_path).run("--once", "--csv", "--filter", "^odd$", "--largest-odd", largest)
    assert result.returncode == 0, result.stderr
    assert [line.split(",")[0] for line in result.stdout.splitlines()[2:]] == sizes


@pytest.mark.parametrize(
    "name, largest, count",
    [
        ("register_pressure", "1", 1),
        ("register_pressure", "4096", 6),
        ("padding", "257", 7),
        ("padding", "8191", 8),
        ("batchnorm", "255", 3),
        ("batchnorm", "2^15", 10),
    ],
)
def test_the_largest_awkward_size_is_the_last_that_runs(name, largest, count, tmp_path):
    result = Binary(name, tmp_path).run("--once", "--csv", "--filter", "awkward", "--largest-awkward", largest)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()[2:]) == count


@pytest.mark.parametrize("threads", ["1", "33", "1024"])
def test_threads_that_share_lds_are_whole_waves(threads, tmp_path):
    result = Binary("lds_banks", tmp_path).run("--once", "--threads", threads)
    assert result.returncode == 0, result.stdout + result.stderr
