"""check_source.py on recorded assembly: kernels that may spill, counts, the target's lines, symbols, and all of it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

import check_source
import pytest
from conftest import Done, call, program

FILECHECK = shutil.which("FileCheck") or next(map(str, Path("/usr/lib").glob("llvm-*/bin/FileCheck")), None)


def kernel(name: str, code: str, scratch: int) -> str:
    symbol = f"_Z{len(name)}{name}v"
    return (
        f"\t.globl\t{symbol}  ; -- Begin function {symbol}\n{symbol}:\n\t{code}\n\ts_endpgm\n; -- End function\n"
        f"; ScratchSize: {scratch}\n"
    )


def notes(name: str, sgpr_spills: int, vgpr_spills: int) -> str:
    return (
        f"  - .args:           []\n    .name:           _Z{len(name)}{name}v\n    .sgpr_spill_count: {sgpr_spills}\n"
        f"    .vgpr_spill_count: {vgpr_spills}\n    .wavefront_size: 64\n"
    )


IN_SCRATCH = "buffer_store_dword v0, off, s[0:3], 0\n\tscratch_load_dword v0, off, s32"
ASSEMBLY = "".join(
    [
        *(
            kernel("small", "s_nop 0", 0),
            kernel("large", IN_SCRATCH, 12),
            kernel("lanes", "v_writelane_b32 v0, s0, 0", 0),
        ),
        "\t.amdgpu_metadata\namdhsa.kernels:\n",
        *(notes("small", 0, 0), notes("large", 0, 2), notes("lanes", 3, 0)),
    ]
)
# The count must hide no spill.
CHECKS = "CHECK: _Z5smallv:\nCHECK: amdhsa.kernels\nCHECK-COUNT-3: .wavefront_size\n"
LARGE, LANES = "5large | gfx900 gfx906 | scratch | it is large\n", "5lanes | gfx900 | registers | it has many scalars\n"
SMALL = "5small | gfx900 | {} | it is not large\n"


@pytest.mark.skipif(FILECHECK is None, reason="there is no FileCheck")
@pytest.mark.parametrize(
    ("target", "spills", "said"),
    [
        ("gfx900", f"# a comment\n\n{LARGE}{LANES}", ""),
        ("gfx900", LANES, "is not what"),
        ("gfx900", LARGE, "is not what"),
        ("gfx906", LARGE + LANES, "is not what"),
        ("gfx900", SMALL.format("scratch") + LARGE + LANES, "_Z5smallv is listed for its scratch, and uses none"),
        ("gfx900", SMALL.format("registers") + LARGE + LANES, "is listed for its spills, and spills nothing"),
        ("gfx900", LARGE.replace("scratch", "registers"), "is listed for spills to registers, and uses scratch"),
        ("gfx900", LARGE.replace("5large", "6larger"), "6larger is listed, and there is no such kernel"),
        ("gfx900", "5large | gfx900 | scratch |\n", "not 'kernel | targets | scratch or registers | reason'"),
    ],
)
def test_kernels_spill_where_they_are_listed(tmp_path: Path, target: str, spills: str, said: str) -> None:
    checks = tmp_path / "kernels.check"
    checks.write_text(CHECKS, encoding="utf-8")
    options = argparse.Namespace(
        filecheck=FILECHECK, target=target, clang=15, bound=960, folder=tmp_path, source=Path("kernels.hip")
    )
    if said:
        with pytest.raises(SystemExit) as ended:
            check_source.file_check(options, ASSEMBLY, checks, spills)
        assert said in str(ended.value)
    else:
        check_source.file_check(options, ASSEMBLY, checks, spills)


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("gfx906", "GFX906 GFX9"),
        ("gfx908", "GFX908 GFX9 CDNA1"),
        ("gfx90a", "GFX90A GFX9 CDNA1 CDNA2"),
        ("gfx950", "GFX950 GFX9 CDNA1 CDNA2"),
        ("gfx1032w64", "GFX1032W64 GFX10"),
        ("gfx1201", "GFX1201 GFX12"),
    ],
)
def test_lines_that_speak_of_a_target(target: str, names: str) -> None:
    assert check_source.prefixes(target, 22) == ["CHECK", *names.split(), "CLANG22"]


NODES = "\t.protected\t_ZN1aL5nodesE\n\t.globl\t_ZN1aL5nodesE\n_ZN1aL5nodesE:\n"


@pytest.mark.parametrize(
    ("text", "is_good"),
    [
        (NODES, True),
        (NODES.replace("globl", "weak"), True),
        (NODES.replace(".globl", ".local"), False),
        (NODES.replace("protected", "hidden"), False),
        (NODES.replace("nodes", "codes"), False),
    ],
)
def test_what_the_host_names_is_seen_by_the_loader(tmp_path: Path, text: str, is_good: bool) -> None:
    (tmp_path / "one.h").write_text("hipMemcpyToSymbol(HIP_SYMBOL(a::nodes), 0, 4);\n", encoding="utf-8")
    if is_good:
        check_source.check_symbols(tmp_path, text)
    else:
        with pytest.raises(SystemExit, match="the host names nodes"):
            check_source.check_symbols(tmp_path, text)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source of which a faked compiler makes the assembly above."""
    (tmp_path / "made.s").write_text(ASSEMBLY, encoding="utf-8")
    program(tmp_path / "hipcc", '#!/bin/sh\nfor last; do :; done\ncp "$(dirname "$0")/made.s" "$last"\n')
    path = tmp_path / "source" / "kernels.hip"
    path.parent.mkdir()
    path.touch()
    return path


def check(source: Path, *options: str) -> Done:
    """Without FileCheck."""
    folder = source.parents[1]
    given = (f"--hipcc={folder / 'hipcc'}", "--clang=15", "--bound=960", f"--folder={folder / 'out'}")
    return call(sys.executable, check_source.__file__, source, "gfx900", *given, *options)


@pytest.mark.parametrize(
    ("named", "status", "said"),
    [
        ("", 77, "LLVM's FileCheck is not there"),
        ("HIP_SYMBOL(nodes)", 1, "the host names nodes, which the code object does not export"),
        ("HAND-OVERS: 5other", 1, "hand_overs.py 5other"),
    ],
)
def test_what_needs_no_filecheck_comes_first(source: Path, named: str, status: int, said: str) -> None:
    source.write_text(named, encoding="utf-8")
    (source.parent / "compiled_code.check").write_text(named, encoding="utf-8")
    done = check(source)
    assert (done.returncode, said in done.stdout + done.stderr) == (status, True), done


def test_how_the_saved_assembly_differs_is_shown(source: Path) -> None:
    left = source.parent / "kernels-hip-amdgcn-amd-amdhsa-gfx900.s"
    for text, status, said in (
        (ASSEMBLY, 0, ""),
        (ASSEMBLY.replace("s_nop 0", "s_nop 1"), 1, "-\ts_nop 1\n+\ts_nop 0\n"),
    ):
        left.write_text(text, encoding="utf-8")
        os.utime(source, (0, 0))
        done = check(source, "--saved", f"--object={source.parent / 'kernels.o'}")
        assert (done.returncode, said in done.stderr) == (status, True), done
