"""How many registers AMD's assembler and compiler let a kernel name, per GPU target.

Three questions, each asked of the real compiler:

1. Which is the highest register that assembles? Inline assembly that names v0, v1, v2 ... in turn is
   accepted up to the last one that the instruction's encoding has room for.
2. Which is the highest one that a kernel may declare as clobbered, when its launch bounds say how
   many of its threads must fit on one compute unit? The compiler warns of those that it cannot give.
3. What does the compiler count for such a kernel, with the register declared and not? Assembly that
   declares nothing counts nothing: the hardware then gives the wave too few registers, and nobody
   says so.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hipscope.results import formats
from hipscope.results import markdown as pages
from hipscope.results import published as others

from .experiments import made_by
from .toolchain import Toolchain, environment

# The launch bounds under which kernels claim registers; the last is what the sources publish.
THREADS = (256, 512, 1024)
# Comments that the compiler writes after each kernel, as regular expressions. clang 15 says NumSgprs,
# clang 22 TotalNumSgprs; both with what the hardware adds to those that the kernel names.
COUNT_NAMES = {"v": "NumVgprs", "s": "(?:Total)?NumSgprs"}


@dataclass(frozen=True)
class RegisterFile:
    """A kind of register: its letter, its name, an instruction that writes one, and how many to try."""

    letter: str
    name: str
    instruction: str
    tried: int

    def write(self, index: int) -> str:
        return f"{self.instruction} {self.letter}{index}, 0"


# More than any GPU has of each, so that the end of each file is seen.
FILES = (
    RegisterFile("v", "VGPR", "v_mov_b32", 1280),
    RegisterFile("s", "SGPR", "s_mov_b32", 160),
    RegisterFile("a", "AGPR", "v_accvgpr_write_b32", 320),
)


class LimitsError(Exception):
    """The compiler did not answer the question; the text says what it did."""


def measure(tools: Toolchain, target: str) -> dict[str, Any]:
    """The limits of one target, ready for JSON; raises LimitsError.

    `assembler` has, per letter of a register file, the `highest` index that assembles (None when not
    even the first does), the `next` register and the assembler's `message` about it. `kernel` has, per
    file and launch bound, the highest index that may be clobbered, and those under it that are
    `reserved`. `counts` has what the compiler counts for the highest one, declared and undeclared.
    """
    compiler = Compiler(tools, target)
    assembler = {file.letter: _assembler_limit(compiler, file) for file in FILES}
    kernel = []
    counts = []
    for file in FILES[:2]:
        highest = assembler[file.letter]["highest"]
        if highest is None:
            raise LimitsError(f"{target}: {file.write(0)} does not assemble")
        bounds = THREADS if file.letter == "v" else THREADS[-1:]
        kernel += [_kernel_limit(compiler, file, threads, highest) for threads in bounds]
        counts.append(_count(compiler, file, kernel[-1]))
    return {"target": target, "compiler": tools.version, "assembler": assembler, "kernel": kernel,
            "counts": counts}


@dataclass(frozen=True)
class Compiler:
    """Compiles kernels for one target, without HIP's headers, which would take most of the time."""

    tools: Toolchain
    target: str
    options: tuple[str, ...] = ()

    def messages(self, kernels: str) -> dict[int, str]:
        """What the compiler says, on the way to machine code, of each line."""
        return parse_messages(self._compile(kernels, "-c", "/dev/null").stderr)

    def assembly(self, kernels: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernels.s"
            done = self._compile(kernels, "-S", str(path))
            if done.returncode:
                raise LimitsError(f"{self.target}: {done.stderr.strip()}")
            return path.read_text(encoding="utf-8")

    def _compile(self, kernels: str, kind: str, output: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "kernels.hip"
            source.write_text(kernels, encoding="utf-8")
            done = self.tools.processes.run(
                [self.tools.hipcc, "-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-O1",
                 "-ferror-limit=0", f"--offload-arch={self.target}", *self.options, kind, str(source), "-o", output],
                environment(self.target))
        # Errors that name no line are not about a register.
        if done.returncode and not parse_messages(done.stderr):
            raise LimitsError(f"{self.target}: {done.stderr.strip() or 'no reason given'}")
        return done


def kernel_source(name: str, threads: int, statements: Sequence[str]) -> str:
    """A kernel of up to `threads` threads that has as many lines as statements."""
    body = "\n".join(statements)
    return (f"__attribute__((global, amdgpu_flat_work_group_size(1, {threads}))) void {name}() "
            f"{{ {body} }}\n")


def assembly_statement(file: RegisterFile, index: int, declared: bool) -> str:
    """Inline assembly that writes one register, which it declares as clobbered or not."""
    clobbers = f' ::: "{file.letter}{index}"' if declared else ""
    return f'asm volatile("{file.write(index)}"{clobbers});'


def parse_messages(text: str) -> dict[int, str]:
    """The first error or warning about each line of a source, counted from 0, without its place."""
    messages: dict[int, str] = {}
    for found in re.finditer(r"^\S*kernels\.hip:(\d+):\d+: (?:error|warning): (.*)$", text, re.MULTILINE):
        messages.setdefault(int(found[1]) - 1, found[2].strip())
    return messages


def parse_counts(assembly: str, name: str) -> dict[str, int]:
    """The registers of each kernel as the compiler's comments count them."""
    return {found[1]: int(found[2]) for found in
            re.finditer(rf"^_Z\d+(\w+?)v:.*?^; {name}: (\d+)$", assembly, re.MULTILINE | re.DOTALL)}


def split_at_first_message(messages: Mapping[int, str], tried: int) -> tuple[int | None, str]:
    """The last index before the first message, and that message; all after it must have one too."""
    if not messages:
        raise LimitsError(f"all of the {tried} registers that were tried are taken")
    first = min(messages)
    silent = [index for index in range(first, tried) if index not in messages]
    if silent:
        raise LimitsError(f"register {first} is refused but {silent[0]} is not")
    return (first - 1 if first else None), messages[first]


def _assembler_limit(compiler: Compiler, file: RegisterFile) -> dict[str, Any]:
    statements = [assembly_statement(file, index, declared=False) for index in range(file.tried)]
    messages = compiler.messages(kernel_source("names", THREADS[0], statements))
    highest, message = split_at_first_message(messages, file.tried)
    following = 0 if highest is None else highest + 1
    return {"highest": highest, "next": f"{file.letter}{following}", "message": message}


def _kernel_limit(compiler: Compiler, file: RegisterFile, threads: int, assembles: int) -> dict[str, Any]:
    """The highest register that is claimed in silence: some under it are the compiler's own."""
    # A kernel for each, since a register that one claims may cost it another (v63 on gfx908).
    kernels = [kernel_source(f"claims_{index}", threads, [assembly_statement(file, index, declared=True)])
               for index in range(assembles + 1)]
    messages = compiler.messages("".join(kernels))
    free = [index for index in range(assembles + 1) if index not in messages]
    if not free:
        raise LimitsError(f"no {file.name} can be claimed")
    highest = max(free)
    refused = highest + 1 if highest < assembles else None
    return {
        "file": file.letter, "threads": threads, "highest": highest,
        "next": f"{file.letter}{refused}" if refused is not None else None,
        "message": messages[refused] if refused is not None else None,
        "reserved": sorted(index for index in messages if index < highest),
    }


def _count(compiler: Compiler, file: RegisterFile, limit: Mapping[str, Any]) -> dict[str, Any]:
    kernels = "".join(
        kernel_source(name, limit["threads"], [assembly_statement(file, limit["highest"], declared)])
        for name, declared in (("declared", True), ("undeclared", False)))
    counts = parse_counts(compiler.assembly(kernels), COUNT_NAMES[file.letter])
    if set(counts) != {"declared", "undeclared"}:
        raise LimitsError(f"the compiler counts no {file.name}s")
    return {"register": f"{file.letter}{limit['highest']}", "threads": limit["threads"], **counts}


# --- Markdown --------------------------------------------------------------------------------------


def markdown(limits: Sequence[Mapping[str, Any]]) -> str:
    """Tables of the limits with the published ones beside them, and the compiler's messages."""
    published = {(row["experiment"], row["series"], row["arch"]): int(row["value"])
                 for row in others.read() if row["experiment"] in ("vgpr_limit", "sgpr_limit")}
    compilers = sorted({limit["compiler"] for limit in limits})
    parts = [f"Compiler: {'; '.join(compilers)}.", _assembler_table(limits, published),
             _kernel_table(limits, published), _count_table(limits), _messages(limits)]
    return "\n\n".join(parts) + "\n"


def _name(letter: str, index: int | None) -> str:
    return formats.NOT_THERE if index is None else f"{letter}{index}"


def _assembler_table(limits: Sequence[Mapping[str, Any]], published: Mapping[Any, int]) -> str:
    rows = []
    for limit in limits:
        target, assembler = limit["target"], limit["assembler"]
        rows.append([
            made_by(target, limit["compiler"]),
            _name("v", assembler["v"]["highest"]),
            _name("v", published.get(("vgpr_limit", "assembler", target))),
            _name("s", assembler["s"]["highest"]),
            _name("s", published.get(("sgpr_limit", "assembler", target))),
            _name("a", assembler["a"]["highest"]),
        ])
    return "The highest register that assembles:\n\n" + pages.table(
        ["target", "VGPR", "VGPR, published", "SGPR", "SGPR, published", "AGPR"], rows)


def _kernel_table(limits: Sequence[Mapping[str, Any]], published: Mapping[Any, int]) -> str:
    rows = []
    for limit in limits:
        claimed = {(entry["file"], entry["threads"]): entry for entry in limit["kernel"]}
        scalar = claimed["s", THREADS[-1]]
        reserved = ", ".join(f"s{index}" for index in scalar["reserved"])
        rows.append([
            made_by(limit["target"], limit["compiler"]),
            *(_name("v", claimed["v", threads]["highest"]) for threads in THREADS),
            _name("v", published.get(("vgpr_limit", f"{THREADS[-1]}-thread block", limit["target"]))),
            _name("s", scalar["highest"]) + (f" (but {reserved})" if reserved else ""),
        ])
    bounds = [f"VGPR, {threads} threads" for threads in THREADS]
    return "The highest register that a kernel of so many threads may declare as clobbered:\n\n" + pages.table(
        ["target", *bounds, f"{THREADS[-1]} threads, published", f"SGPR, {THREADS[-1]} threads"], rows)


def _count_table(limits: Sequence[Mapping[str, Any]]) -> str:
    rows = [[made_by(limit["target"], limit["compiler"]), count["register"], str(count["declared"]),
             str(count["undeclared"])]
            for limit in limits for count in limit["counts"]]
    return ("What the compiler counts for a kernel whose assembly writes one register:\n\n" +
            pages.table(["target", "writes", "declared", "undeclared"], rows))


def _messages(limits: Sequence[Mapping[str, Any]]) -> str:
    """Each message once, with who gave it for what."""
    who: dict[str, list[str]] = {}
    for limit in limits:
        refusals = [*limit["assembler"].values(), *limit["kernel"]]
        for refusal in refusals:
            if refusal["message"] is None:
                continue
            bound = f" ({refusal['threads']} threads)" if "threads" in refusal else ""
            register = f"{refusal['next']}{bound}"
            # The register's own name in a message would make each a different one.
            message = re.sub(rf"\b{refusal['next']}\b", "...", refusal["message"])
            who.setdefault(message, []).append(f"{made_by(limit['target'], limit['compiler'])} {register}")
    return "The compiler's messages:\n\n" + "\n".join(
        f"- `{message}`: {', '.join(places)}" for message, places in who.items())
