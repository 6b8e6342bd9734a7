"""scripts/ncu_report.py, on a small table as ncu prints it and with a fake ncu."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import synthetic
from test_tools import fake

PROFILE = Path(__file__).parent / "data" / "profile.csv"


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return synthetic.run(
        "ncu_report.py", *arguments, **{"PATH": "/usr/bin:/bin", "CUDA_PATH": "/nonexistent", **environment}
    )


def table(page: Path) -> list[list[str]]:
    lines = [line for line in page.read_text().splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_a_row_has_the_medians_of_a_kernels_launches(tmp_path: Path) -> None:
    done = run("--csv", PROFILE, "--out", tmp_path / "ncu.md")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "ncu.md").read_text().startswith("# Profile of profile\n")
    header, _, *rows = table(tmp_path / "ncu.md")
    # No kernel has a figure of the FP64 pipe, of the LDS pipe or of issue slots.
    figures = "launches | FMA pipe, % | bank conflicts, % of LDS passes | local memory read, GB"
    assert " | ".join(header) == f"kernel | {figures} | waves that wait, per issued instruction, for"
    assert rows == [
        ["`tile_kernel<2, 1>`", "2", "41.0", "25.0", "3", "memory 7.5, a barrier 0.3"],
        ["`empty_kernel`", "1", "0.0", "-", "-", "nothing"],
    ]


def test_the_experiment_runs_once_under_the_profiler(tmp_path: Path) -> None:
    fake(tmp_path, "ncu", f'echo "$@" >{tmp_path}/call; cat {PROFILE}')
    fake(tmp_path, "sgemm", "exit 1")
    options = ("--out", tmp_path / "ncu.md", "--kernels", "^tile_", "--launches", "7")
    done = run(*options, tmp_path / "sgemm", "--filter", "^stages$", PATH=f"{tmp_path}:/usr/bin:/bin")
    assert (done.returncode, done.stderr) == (0, "")
    call = (tmp_path / "call").read_text()
    assert call.startswith("--csv --clock-control none --kernel-name regex:^tile_ --launch-count 7 --metrics sm__")
    assert call.endswith(f" {tmp_path}/sgemm --once --filter ^stages$\n")
    assert (tmp_path / "ncu.md").read_text().startswith("# Profile of sgemm\n")
    assert len(table(tmp_path / "ncu.md")) == 4


def rewritten(folder: Path, old: str, new: str) -> Path:
    path = folder / "changed.csv"
    path.write_text(PROFILE.read_text().replace(old, new))
    return path


@pytest.mark.parametrize(
    "old, new, part",
    [
        ('"40.00"', '"n/a"', "has a row that is none of ncu --csv."),
        (',"40.00"', "", "has a row that is none of ncu --csv."),
        ('"Metric Value"', '"Value"', "has a row that is none of ncu --csv."),
        ('"ID","Process', '"Process', "has no table of ncu --csv; what ncu said of it: "),
        (PROFILE.read_text(), "==ERROR== No kernels\n", "what ncu said of it: ==ERROR== No kernels."),
        (PROFILE.read_text(), "", "what ncu said of it: nothing."),
        (PROFILE.read_text(), '"ID","Process ID","Kernel Name"\n', "has no kernel."),
    ],
)
def test_what_is_no_profile_is_one_sentence_and_no_page(tmp_path: Path, old: str, new: str, part: str) -> None:
    done = run("--csv", rewritten(tmp_path, old, new), "--out", tmp_path / "ncu.md")
    assert done.returncode == 1 and part in done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == ""
    assert not (tmp_path / "ncu.md").exists()


def test_what_is_missing_is_one_sentence(tmp_path: Path) -> None:
    page = tmp_path / "ncu.md"
    spoiled = tmp_path / "spoiled.csv"
    spoiled.write_bytes(b"\xff\xfe")
    with_ncu = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    for arguments, environment, status, part in (
        (("--csv", tmp_path / "none.csv"), {}, 1, "none.csv cannot be read: No such file or directory."),
        (("--csv", spoiled), {}, 1, "spoiled.csv is not a text file in UTF-8: "),
        ((tmp_path / "sgemm",), {}, 77, "there is no ncu"),
        ((tmp_path / "none",), with_ncu, 1, "none cannot be run."),
        (("--csv", PROFILE, "--out", tmp_path / "no" / "ncu.md"), {}, 3, "ncu.md cannot be written: No such file"),
    ):
        if environment:
            fake(tmp_path, "ncu", "exit 0")
        done = run("--out", page, *arguments, **environment)
        assert done.returncode == status and part in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1 and done.stdout == ""
        assert not page.exists()


@pytest.mark.parametrize(
    "arguments",
    [[], ["--out", "x"], ["--out", "x", "--csv", "y", "z"], ["--out", "x", "--launches", "0", "z"], ["--bogus"]],
)
def test_bad_usage_is_status_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2 and done.stdout == ""
