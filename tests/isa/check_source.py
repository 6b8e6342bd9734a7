#!/usr/bin/env python3
"""Holds what AMD's compiler makes of a source to what is written beside it; the ISA tests call it.

The assembly is what a build with HIPSCOPE_KEEP_ASSEMBLY has left beside --object, or, where that is empty, what is
compiled here. Held against it are:

- compiled_code.check of the source's folder (of clang 22 compiled_code.rocm7.check where one file does not serve both,
  and every_kernel.check where there is none), by LLVM's FileCheck. Its lines speak of one target (GFX90A:), of a
  generation (GFX9:, GFX10:, GFX11:, GFX12:), of CDNA from its first on (CDNA1:) or from its second (CDNA2:), of one
  compiler (CLANG15:) or of all (CHECK:). Every kernel, also one that no line names, must use no scratch, spill nothing,
  call no function and state its launch bound: --bound threads is what the compiler takes for a kernel that states none,
  and no kernel states. Kernels that are to spill stand, with the reason, in compiled_code.scratch.
- what the host names by HIP_SYMBOL: the loader passes over local symbols, and hipMemcpyToSymbol then finds none.
- lds_waits.py: no wave comes to a barrier with stores to LDS in flight, but for loads to LDS in the kernels that the
  lines LDS-AHEAD of the check name, so many barriers later.
- hand_overs.py: the kernels that its line HAND-OVERS names hand over, to other devices those of DEVICE-HAND-OVERS. With
  --hand-overs that alone.

With --saved what the build has left is held against what is compiled here instead. Exit status: 0 good, 1 not, 77 there
is no FileCheck, and all else is good.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import subprocess
import sys
from itertools import islice
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FLAGS = ("-O3", "-DNDEBUG", "-std=c++20", "-DHIPSCOPE_BACKEND_AMD", "-I", ROOT / "include", "-I", ROOT / "src")
SKIPPED = 77
LONGEST_DIFFERENCE = 20  # lines
# A line of the list of kernels that spill. "scratch" is memory; "registers" are those of another kind: AGPRs, or lanes
# of a VGPR for SGPRs. gfx90a is what clang 15 makes for it, gfx90a22 what later compilers make.
LISTED = re.compile(r"([A-Za-z0-9_]+) +\| +([a-z0-9 ]+) +\| +(scratch|registers) +\| +[^ ]")


# --- The assembly -----------------------------------------------------------------------------------


def compiled(options: argparse.Namespace, output: Path) -> str:
    """The assembly that is compiled here; the target gfx1032w64 is gfx1032 with waves of 64 lanes."""
    architecture = options.target.removesuffix("w64")
    more = [f"--offload-arch={architecture}", f"--gpu-max-threads-per-block={options.bound}"]
    more += ["-mwavefrontsize64"] if architecture != options.target else []
    command = [options.hipcc, "-x", "hip", "--cuda-device-only", "-S", *FLAGS, *more, options.source, "-o", output]
    environment = {**os.environ, "HIP_PLATFORM": "amd", "HCC_AMDGPU_TARGET": architecture}
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{options.source} does not compile for {options.target}:\n{done.stderr}")
    return output.read_text(encoding="utf-8")


def saved(options: argparse.Namespace) -> str:
    """What the compiler has left when it made the object."""
    pattern = f"{options.source.stem}*-amdgcn-amd-amdhsa-{options.target.removesuffix('w64')}.s"
    found = list(Path(options.object).parent.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{Path(options.object).parent} holds {len(found)} files {pattern}, not one; build first")
    if options.source.stat().st_mtime >= found[0].stat().st_mtime:
        sys.exit(f"{found[0]} is older than {options.source}; build first")
    return without_block_names(found[0].read_text(encoding="utf-8"))


def without_block_names(text: str) -> str:
    """When its steps are saved, the compiler names the blocks that optimizations make, in comments after their labels.
    What it says there of loops then stands on the next line, from where it comes back."""
    label = r"(\n[^\n\t ]+:|\n; %bb\.[0-9]+:)"
    text = re.sub(rf"{label}( +); %[^\n]*\n +(; +(?:=>|in Loop|Parent Loop))", r"\1\2\3", text)
    return re.sub(rf"{label} +; %[^\n]*", r"\1", text)


# --- FileCheck --------------------------------------------------------------------------------------


def without_spills(text: str, kernel: str, kind: str) -> str:
    """The assembly with other words and underscores where the one kernel spills, which FileCheck does not look for."""
    named = re.search(rf"-- Begin function ([^\n]*{kernel}[^\n]*)", text)
    if not named:
        sys.exit(f"{kernel} is listed, and there is no such kernel")
    symbol = re.escape(named[1])
    code = re.search(rf"-- Begin function {symbol}\n(.*?)ScratchSize: (\d+)", text, re.DOTALL)
    notes = re.search(rf"\.name: +{symbol}\n.*?\.wavefront_size", text, re.DOTALL)
    if not code or not notes:
        sys.exit(f"the assembly has no code or no notes of {named[1]}")
    if kind == "scratch" and code[2] == "0":
        sys.exit(f"{named[1]} is listed for its scratch, and uses none")
    if kind == "registers" and code[2] != "0":
        sys.exit(f"{named[1]} is listed for spills to registers, and uses scratch")
    if kind == "registers" and not re.search(r"_spill_count: *[1-9]", notes[0]):
        sys.exit(f"{named[1]} is listed for its spills, and spills nothing")
    body = re.sub(r"(scratch|buffer)_(load|store)_", r"\1-\2-", code[1])
    text = text.replace(f"{code[1]}ScratchSize: ", f"{body}Listed scratch: ", 1)
    return text.replace(notes[0], notes[0].replace("_spill_count:", "-spill-count:"), 1)


def without_listed_spills(text: str, spills: str, target: str) -> str:
    """The assembly without those of the kernels that a list names; ends the program where one is listed in vain."""
    for line in spills.splitlines():
        if line and not line.startswith("#"):
            listed = LISTED.match(line)
            if not listed:
                sys.exit(f"not 'kernel | targets | scratch or registers | reason': {line}")
            if target in listed[2].split():
                text = without_spills(text, listed[1], listed[3])
    return text


def without_counts(checks: str) -> str:
    """Between the matches of a CHECK-COUNT, FileCheck does not look for what must not be there. So that many lines of
    their own stand in its place."""
    return re.sub(r"^([A-Z0-9]+)-COUNT-(\d+)(:.*)$",
                  lambda found: "\n".join([found[1] + found[3]] * int(found[2])), checks, flags=re.MULTILINE)


def prefixes(target: str, clang: int) -> list[str]:
    """What the lines of a check begin with that speak of this target and compiler."""
    name = target.upper()
    is_cdna_2 = re.fullmatch("GFX(90A|94[0-2]|950)", name) is not None
    cdna = ["CDNA1"] * (is_cdna_2 or name == "GFX908") + ["CDNA2"] * is_cdna_2
    return ["CHECK", name, re.sub("..(W64)?$", "", name), *cdna, f"CLANG{clang}"]


def file_check(options: argparse.Namespace, text: str, checks: Path, spills: str) -> None:
    """Ends the program where FileCheck finds that the assembly is not what is asked for."""
    if not os.access(options.filecheck, os.X_OK):
        print("LLVM's FileCheck is not there (Debian: package llvm-15-tools)")
        sys.exit(SKIPPED)
    target = "gfx90a22" if options.target == "gfx90a" and options.clang != 15 else options.target
    checked = options.folder / f"{options.source.stem}.{options.target}.checked.s"
    expanded = checked.with_suffix(".check")
    checked.write_text(without_listed_spills(text, spills, target), encoding="utf-8")
    expanded.write_text(without_counts(checks.read_text(encoding="utf-8")), encoding="utf-8")
    # What must not be there is looked for in all of the text: plain words, where words do, take no time.
    unwanted = ["ScratchSize: {{[1-9]}}", "_spill_count: {{ *[1-9]}}", "scratch_load_", "scratch_store_",
                "buffer_load_", "buffer_store_", f"max_flat_workgroup_size: {options.bound}{{{{$}}}}", "s_swappc_b64"]
    # RDNA 3's cycle counter has 20 bits, read as such; RDNA 4 has a wait for each kind of access.
    if options.target.startswith("gfx11"):
        unwanted.append("HW_REG_SHADER_CYCLES{{\\)|, ([^0]|0, ([^2]|2[^0]))}}")
    elif options.target.startswith("gfx12"):
        unwanted.append("s_waitcnt")
    said = ",".join(prefixes(options.target, options.clang))
    done = subprocess.run([options.filecheck, expanded, f"--input-file={checked}", "--dump-input=fail",
                           f"--check-prefixes={said}", "--allow-unused-prefixes",
                           *(f"--implicit-check-not={words}" for words in unwanted)], check=False)
    if done.returncode:
        sys.exit(f"the assembly, {checked}, is not what {checks} asks for")


# --- All of it --------------------------------------------------------------------------------------


def check_symbols(folder: Path, text: str) -> None:
    """Ends the program where a variable that a source of the folder names to the runtime is none that a loader sees."""
    sources = "".join(path.read_text(encoding="utf-8") for path in [*folder.glob("*.h"), *folder.glob("*.hip")])
    for name in re.findall(r"HIP_SYMBOL\((?:\w+::)*(\w+)\)", sources):
        # A name in a namespace is mangled: its length comes before it.
        symbol = rf"({name}|_Z\w*{len(name)}{name}E?[a-z0-9_.]*)"
        said = re.findall(rf"^\s*\.(globl|weak|hidden|internal)\s+{symbol}$", text, re.MULTILINE)
        if not said or not {seen for seen, _ in said} <= {"globl", "weak"}:
            sys.exit(f"the host names {name}, which the code object does not export")


def check_paths(assembly: Path, script: str, *words: str) -> None:
    """Runs a script of this folder, which follows all ways through the assembly; ends the program where it fails."""
    status = subprocess.run([sys.executable, HERE / script, *words, assembly], check=False).returncode
    if status:
        sys.exit(f"{script} {' '.join(words)} {assembly} ended with {status}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("target")
    parser.add_argument("--object", default="")
    parser.add_argument("--hipcc", required=True)
    parser.add_argument("--clang", type=int, required=True, help="its major version")
    parser.add_argument("--bound", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where to write")
    parser.add_argument("--filecheck", default="")
    parser.add_argument("--hand-overs", action="store_true")
    parser.add_argument("--saved", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    assembly = options.folder / f"{options.source.stem}.{options.target}.s"
    if options.saved:
        left, made = saved(options), compiled(options, assembly)
        if left != made:
            said = f"what the build has left is not what the compiler makes of {options.source}: {assembly}"
            lines = difflib.unified_diff(left.splitlines(), made.splitlines(), "left", "made", lineterm="")
            sys.exit("\n".join([said, *islice(lines, LONGEST_DIFFERENCE)]))
        return
    text = saved(options) if options.object else compiled(options, assembly)
    assembly.write_text(text, encoding="utf-8")
    beside = options.source.parent
    own, of_rocm_7 = beside / "compiled_code.check", beside / "compiled_code.rocm7.check"
    named = own.read_text(encoding="utf-8") if own.exists() else ""
    if not options.hand_overs:
        check_symbols(beside, text)
        ahead = re.findall(r"^LDS-AHEAD: (.*)$", named, re.MULTILINE)
        check_paths(assembly, "lds_waits.py", *(word for kernels in ahead for word in ("--ahead", kernels)))
    for kernels in re.findall(r"^HAND-OVERS: (.*)$", named, re.MULTILINE):
        check_paths(assembly, "hand_overs.py", kernels)
    for kernels in re.findall(r"^DEVICE-HAND-OVERS: (.*)$", named, re.MULTILINE):
        check_paths(assembly, "hand_overs.py", "--devices", kernels)
    if not options.hand_overs:
        checks = of_rocm_7 if options.clang != 15 and of_rocm_7.exists() else own
        spills = beside / "compiled_code.scratch"
        file_check(options, text, checks if checks.exists() else HERE / "every_kernel.check",
                   spills.read_text(encoding="utf-8") if spills.exists() else "")


if __name__ == "__main__":
    main()
