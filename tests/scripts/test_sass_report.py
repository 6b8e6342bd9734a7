"""scripts/sass_report.py, on a small listing as cuobjdump prints it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import synthetic
from conftest import program

LISTING = Path(__file__).parent / "data" / "loops.sass"


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return synthetic.run("sass_report.py", *arguments, **{"PATH": "/usr/bin:/bin", **environment})


def test_the_innermost_loop_is_counted(tmp_path: Path) -> None:
    page = tmp_path / "sass.md"
    done = run("--out", page, LISTING)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    rows = [line for line in page.read_text().splitlines() if line.startswith("| `")]
    # Five instructions from 0x20 to 0x60, two of them FMAs, of which one keeps an operand, and the other reads
    # even registers alone; both read two of one parity. A kernel without FMAs and matrix instructions has no row.
    # In `kept` the second FMA's even factor was kept by the first, so that its even sum has nothing to clash with.
    assert rows == ["| `a::kernel<3>` | 5 | 2 | 40.0 % | 1 | 1 | 2 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 1 |",
                    "| `kept` | 3 | 2 | 66.7 % | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |",
                    "| `matrix` | 2 | 0 | 0.0 % | 0 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |"]


def test_the_same_listing_gives_the_same_page(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        assert run("--out", tmp_path / name, LISTING, LISTING).returncode == 0
    assert (tmp_path / "a.md").read_bytes() == (tmp_path / "b.md").read_bytes()
    assert (tmp_path / "a.md").read_text().count("## loops") == 2


def test_what_cannot_be_read_is_one_sentence_and_no_page(tmp_path: Path) -> None:
    binary = tmp_path / "reduction"
    binary.write_bytes(b"\x7fELF")
    spoiled = tmp_path / "spoiled.sass"
    spoiled.write_bytes(b"\xff\xfe")
    half = tmp_path / "half.sass"
    code = "/*0000*/ FFMA R1, R2, R3, R4 ;\n/*0010*/ @P0 BRA 0x0 ;\n/* 0x000fe20000000800 */\n"
    half.write_text(f"Function : f\n{code}", encoding="utf-8")
    for arguments, status, part in (
        ((tmp_path / "none.sass",), 1, "none.sass cannot be read: No such file or directory."),
        ((spoiled,), 1, "spoiled.sass is not a text file in UTF-8: "),
        ((half,), 1, "half.sass is no listing by cuobjdump -sass: 'FFMA R1, R2, R3, R4' is no instruction."),
        ((binary,), 77, "there is no cuobjdump"),
        ((tmp_path / "none",), 1, "none cannot be read: No such file or directory."),
        (("--out", tmp_path / "no" / "sass.md", LISTING), 3, "sass.md cannot be written: No such file or directory."),
    ):
        done = run("--out", tmp_path / "sass.md", *arguments, CUDA_PATH=str(tmp_path))
        assert done.returncode == status and part in done.stderr
        assert done.stderr.count("\n") == 1 and done.stdout == ""
        assert not (tmp_path / "sass.md").exists()
    program(tmp_path / "bin" / "cuobjdump", "#!/bin/sh\necho 'cuobjdump fatal : it is cut off' >&2\nexit 255\n")
    done = run("--out", tmp_path / "sass.md", binary, CUDA_PATH=str(tmp_path))
    said = f"cuobjdump cannot read {binary}: cuobjdump fatal : it is cut off."
    assert (done.returncode, done.stderr) == (1, f"sass_report.py: {said}\n")
