"""`cmake --install`: a tree that is moved, and runs with nothing of the build left to it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BACKEND, BUILD, EXPERIMENTS, LONGEST_RUN_S, SOURCE
from test_no_device import DEVICE_IS_THERE

# What every Linux with this C library has, or the kernel, or the GPU's driver.
OF_THE_MACHINE = re.compile(r"(ld-linux|linux-vdso|lib(c|m|dl|rt|pthread|util|resolv)\.so|libcuda\.so|libnvidia-)")


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs it from / with what a node's plain user has in the environment."""
    kept = {name: os.environ[name] for name in ("HOME", "HIPSCOPE_HOST_WAVE_SIZE") if name in os.environ}
    return subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", **kept},
        timeout=LONGEST_RUN_S,
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed tree, somewhere else than it was installed."""
    folder = tmp_path_factory.mktemp("install")
    made = subprocess.run(
        ["cmake", "--install", str(BUILD), "--prefix", str(folder / "hipscope")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return (folder / "hipscope").rename(folder / "moved here")


def test_has_every_binary(tree: Path) -> None:
    assert sorted(path.name for path in (tree / "bin").iterdir()) == sorted(["first_benchmark", *EXPERIMENTS])


def test_binaries_take_their_libraries_from_the_tree(tree: Path) -> None:
    for binary in (tree / "bin").iterdir():
        lines = run("ldd", binary).stdout.splitlines()
        assert lines
        for line in map(str.strip, lines):
            if not OF_THE_MACHINE.search(line):
                assert f"=> {tree}/lib/" in line or f"=> {tree}/bin/../lib/" in line, f"{binary.name}: {line}"


def test_licences_of_what_others_wrote_are_there(tree: Path) -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in (tree / "licences").glob("*/*"))
    for owner in ("Henry Schreiner", "Niels Lohmann", "Victor Zverovich", "Ben Strasser"):
        assert owner in texts
    if list((tree / "lib").glob("libstdc++.so*")):
        assert "GCC RUNTIME LIBRARY EXCEPTION" in texts.upper()


def test_the_front_command_is_the_trees(tree: Path) -> None:
    said = run(tree / "hipscope", "--version")
    assert re.fullmatch(r"hipscope \d+\.\d+\.\d+\n", said.stdout), said.stderr
    assert "needs the sources; this is an installed tree." in run(tree / "hipscope", "isa").stderr
    page = (tree / "share" / "man" / "man1" / "hipscope.1").read_text(encoding="utf-8")
    assert ".TH HIPSCOPE" in page and r"\-\-targets LIST" in page.partition('"HIPSCOPE ISA"')[2]
    completion = tree / "share" / "bash-completion" / "completions" / "hipscope"
    assert completion.read_text(encoding="utf-8") == run(tree / "hipscope", "completion").stdout


@pytest.mark.skipif(BACKEND != "amd", reason="AMD's runtime loads it when it is needed")
def test_amd_code_can_be_read(tree: Path) -> None:
    assert list((tree / "lib").glob("libamd_comgr.so.?"))


def test_nothing_of_the_build_folder_is_searched_for_libraries(tree: Path) -> None:
    for binary in (tree / "bin").iterdir():
        dynamic = run("readelf", "-d", binary).stdout
        (searched,) = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic)
        # After the tree's own folder hipcc names that of its runtime. No entry may be empty: that is the current
        # folder.
        first, *others = searched.split(":")
        assert first == "$ORIGIN/../lib", binary.name
        assert all(folder.startswith("/") and not Path(folder).is_relative_to(BUILD) for folder in others), binary.name


def test_run_all_runs_the_tree(tree: Path) -> None:
    done = run(tree / "scripts" / "run_all.sh", "--quick", "--only", "^launch_latency$")
    if BACKEND != "host" and not DEVICE_IS_THERE:
        assert (done.returncode, done.stdout) == (77, "")
        *reason, last = done.stderr.splitlines()
        assert last == f"run_all.sh: the binaries in {tree} find no device here."
        assert len(reason) == 1 and reason[0].startswith("launch_latency: no device: ")
        return
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Building" not in done.stdout
    results = list((tree / "results").glob("my-*/launch_latency.json"))
    assert len(results) == 1 and json.loads(results[0].read_text())["experiment"] == "launch_latency"
    # With the Python modules there the reports are made, else a sentence says which are missing.
    assert (results[0].parent / "README.md").exists() or "Report: skipped: no Python" in done.stdout


@pytest.mark.skipif(BACKEND != "host", reason="it takes a device")
def test_measures_a_node_of_a_fleet(tree: Path, tmp_path: Path) -> None:
    fleet = tree / "scripts" / "fleet.py"
    done = run(
        fleet, "run", "--out", tmp_path / "fleet", "--node", "n1", "--only", "^lds_latency$", "--made-up-gpus", "2"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(fleet, "report", tmp_path / "fleet")
    assert done.returncode == 0 and done.stdout.startswith("2 GPUs of 1 node: "), done.stdout + done.stderr
    assert (tmp_path / "fleet" / "fleet.html").exists()


def test_compares_with_other_devices_and_the_published_figures(tree: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(SOURCE / "results" / "nvidia-h100", tmp_path / "mine")
    done = run(tree / "hipscope", "normal", mine)
    assert done.returncode == 0 and "Compared with 1 other NVIDIA H100" in done.stdout, done.stderr
    done = run(tree / "hipscope", "page", "--others", mine)
    assert done.returncode == 0, done.stderr
    page = (mine / "report.html").read_text(encoding="utf-8")
    assert "NVIDIA H200" in page and "Instinct MI25 (published)" in page
    assert not list((tree / "results").glob("nvidia-*/plots")) and not (tree / "results" / "fleets").exists()
    assert not (tree / "scripts" / "setup.sh").exists(), "there is nothing to be set up"


@pytest.mark.skipif(BACKEND != "host", reason="one backend is packed, and it runs without a device")
def test_the_archive_runs_where_it_is_unpacked(tmp_path: Path) -> None:
    config = BUILD / "CPackConfig.cmake"
    made = subprocess.run(
        ["cpack", "-G", "TGZ", "--config", config, "-B", tmp_path], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr
    (archive,) = tmp_path.glob("hipscope-host-*.tar.gz")
    shutil.unpack_archive(archive, tmp_path / "elsewhere")
    (tree,) = (tmp_path / "elsewhere").iterdir()
    version = run(tree / "hipscope", "--version").stdout.strip()
    assert f"-{version.split()[1]}-" in archive.name
    assert run(tree / "bin" / "launch_latency", "--version").stdout.startswith(f"{version} (")
    done = run(tree / "bin" / "launch_latency", "--once")
    assert done.returncode == 0 and "host backend: kernels run on the CPU" in done.stdout, done.stderr
