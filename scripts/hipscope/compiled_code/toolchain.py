"""AMD's compiler and the tools of the LLVM that it belongs to."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from hipscope.results.door import BadInput

from .experiments import NO_COMPILER, REPOSITORY, Experiment
from .processes import Processes

# One of each family that Debian 12's hipcc compiles for, as in cmake/toolchain.cmake.
DEFAULT_TARGETS = ("gfx900", "gfx906", "gfx908", "gfx90a", "gfx1030")
# What --targets all tries; which of them compile depends on the compiler and its device libraries.
KNOWN_TARGETS = ("gfx803", *DEFAULT_TARGETS[:-1], "gfx940", "gfx942", "gfx950", "gfx1010", "gfx1030",
                 "gfx1032", "gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201")
# What the build of type Release passes, for device code alone.
FLAGS = ("-O3", "-DNDEBUG", "-std=c++20", "-DHIPSCOPE_BACKEND_AMD")
TRIPLE = "amdgcn-amd-amdhsa"


@dataclass(frozen=True)
class Toolchain:
    """Paths of the programs; `mca` is empty where there is none."""

    processes: Processes
    hipcc: str
    version: str
    mc: str
    mca: str
    cxxfilt: str

    def compile(self, source: Path, target: str, assembly: Path, *options: str) -> None:
        """Compiles a source's device code to assembly; raises BadInput with the compiler's error."""
        command = [self.hipcc, "-x", "hip", "--cuda-device-only", "-S", *FLAGS, f"--offload-arch={target}",
                   *options, str(source), "-o", str(assembly)]
        done = self.processes.run(command, environment(target))
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error:" in line]
            reason = errors[0] if errors else f"the compiler ended with status {done.returncode}"
            raise BadInput(f"{source.name} does not compile for {target}: {reason.strip()}")

    def encode(self, assembly: Path, target: str) -> str:
        """The assembly with each instruction's encoding after it."""
        done = self.processes.run([self.mc, f"-triple={TRIPLE}", f"-mcpu={target}", "-show-encoding",
                                   "-preserve-comments", str(assembly)])
        if done.returncode:
            lines = done.stderr.splitlines() or ["no reason given"]
            raise BadInput(f"{self.mc} does not assemble {assembly.name}: {lines[0]}")
        return done.stdout

    def encoded(self, experiment: Experiment, target: str, scratch: Path) -> str:
        """An experiment's assembly, as encode gives it; raises BadInput."""
        assembly = scratch / f"{experiment.name}.{target}.s"
        folders = ("-I", str(REPOSITORY / "include"), "-I", str(REPOSITORY / "src"))
        self.compile(REPOSITORY / experiment.source, target, assembly, *folders)
        text = self.encode(assembly, target)
        assembly.unlink()
        return text

    def demangle(self, symbols: list[str]) -> list[str]:
        if not symbols:
            return []
        done = self.processes.run([self.cxxfilt], text="".join(f"{symbol}\n" for symbol in symbols))
        lines = done.stdout.splitlines()
        return lines if done.returncode == 0 and len(lines) == len(symbols) else symbols

    def supports(self, target: str, scratch: Path) -> bool:
        source, assembly = scratch / f"probe.{target}.hip", scratch / f"probe.{target}.s"
        source.write_text("__attribute__((global)) void probe() {}\n", encoding="utf-8")
        try:
            # HIP's headers take most of a second, and nothing of them is needed.
            self.compile(source, target, assembly, "-nogpuinc")
        except BadInput:
            return False
        return True


def environment(target: str) -> dict[str, str]:
    """Without these hipcc asks the machine which GPU it has, and complains where there is none."""
    return {"HIP_PLATFORM": "amd", "HCC_AMDGPU_TARGET": target}


def _find_hipcc() -> str:
    rocm = Path(os.environ.get("ROCM_PATH", "/opt/rocm"))
    found = shutil.which("hipcc") or shutil.which("hipcc", path=str(rocm / "bin"))
    if found is None:
        raise BadInput("there is no hipcc here (scripts/setup.sh installs it).", NO_COMPILER)
    return found


def _find_tool(name: str, major: str, installed: str) -> str:
    """A tool of the compiler's own LLVM; empty when there is none.

    Debian keeps the LLVM of each version in a folder, and links clang alone from the folder that the
    compiler names; the tools there without a version may belong to another LLVM.
    """
    rocm = Path(os.environ.get("ROCM_PATH", "/opt/rocm"))
    folders = [Path(f"/usr/lib/llvm-{major}/bin"), rocm / "llvm" / "bin", rocm / "lib" / "llvm" / "bin"]
    if Path(installed) != Path("/usr/bin"):
        folders.insert(0, Path(installed))
    found = shutil.which(name, path=os.pathsep.join(map(str, folders)))
    return found or shutil.which(f"{name}-{major}") or ""


def find_toolchain(processes: Processes) -> Toolchain:
    """The compiler and its tools; raises BadInput, of status 77, when there is none."""
    hipcc = _find_hipcc()
    try:
        said = processes.run([hipcc, "--version"], environment(DEFAULT_TARGETS[0])).stdout
    except OSError as error:
        raise BadInput(f"{hipcc} cannot be run: {error.strerror}.", NO_COMPILER) from error
    clang = re.search(r"^.*clang version (\d+)\S*", said, re.MULTILINE)
    if clang is None:
        raise BadInput(f"{hipcc} --version names no clang.", NO_COMPILER)
    hip = re.search(r"^HIP version: (\S+)", said, re.MULTILINE)
    installed = re.search(r"^InstalledDir: (.+)", said, re.MULTILINE)
    tools = {
        name: _find_tool(name, clang[1], installed[1].strip() if installed else "/usr/bin")
        for name in ("llvm-mc", "llvm-mca", "llvm-cxxfilt")
    }
    for name in ("llvm-mc", "llvm-cxxfilt"):
        if not tools[name]:
            raise BadInput(f"there is no {name} of LLVM {clang[1]} here (Debian: package llvm-{clang[1]}).",
                           NO_COMPILER)
    version = f"{clang[0].strip()}, HIP {hip[1]}" if hip else clang[0].strip()
    return Toolchain(processes, hipcc, version, tools["llvm-mc"], tools["llvm-mca"], tools["llvm-cxxfilt"])
