"""The experiments as CMakeLists.txt names them, the folders of what compilers make of them, and why there is no report.

What one compiler made for one target has a folder of its own: gfx90a-clang15.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from hipscope.results.door import BadInput

REPOSITORY = Path(__file__).resolve().parents[3]
BAD_USAGE = 2
NO_COMPILER = 77


@dataclass(frozen=True)
class Experiment:
    """An experiment's name and its source, relative to the repository."""

    name: str
    source: str


def read_experiments(repository: Path = REPOSITORY) -> list[Experiment]:
    """All experiments in reading order: hipscope_add_experiment(src/<n>-<chapter>/<name>.hip ...)."""
    path = repository / "CMakeLists.txt"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}, which lists the experiments, cannot be read.") from error
    without_comments = re.sub(r"#.*", "", text)
    sources = re.findall(r"^\s*hipscope_add_experiment\(\s*(\S+?\.hip)\b", without_comments, re.MULTILINE)
    if not sources:
        raise BadInput(f"{path} names no experiment.")
    return [Experiment(Path(source).stem, source) for source in sources]


def source_files(source: str, repository: Path = REPOSITORY) -> list[Path]:
    """A source and all that it includes of the repository, whatever the conditions, sorted."""
    found: set[Path] = set()
    waiting = [repository / source]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        for name in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', file.read_text(encoding="utf-8"), re.MULTILINE):
            places = (folder / name for folder in (file.parent, repository / "include", repository / "src"))
            waiting += [place.resolve() for place in places if place.is_file()][:1]
    return sorted(found)


def source_digest(source: str, repository: Path = REPOSITORY) -> str:
    """16 hexadecimal digits of what a source and its headers say to the compiler: comments, indents and blank lines
    do not change them; raises BadInput."""
    said = hashlib.sha256()
    try:
        for file in source_files(source, repository):
            lines = (re.sub(r"//.*", "", line).strip() for line in file.read_text(encoding="utf-8").splitlines())
            text = "\n".join([str(file.relative_to(repository)), *filter(None, lines)])
            said.update(f"{text}\0".encode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{repository / source} and what it includes cannot be read.") from error
    return said.hexdigest()[:16]


def is_target(name: str) -> bool:
    """Whether it has the form of a target's name."""
    return re.fullmatch(r"gfx[0-9a-f]{3,5}", name) is not None


def clang_major(compiler: str) -> str:
    """The first number of clang's version in a compiler's line; raises ValueError where there is none."""
    found = re.search(r"clang version (\d+)", compiler)
    if found is None:
        raise ValueError(f"'{compiler}' names no version of clang")
    return found[1]


def made_by(target: str, compiler: str) -> str:
    """The folder of what this compiler made for this target: gfx90a-clang15, sm_90-nvcc13."""
    nvcc = re.match(r"nvcc (\d+)", compiler)
    return f"{target}-nvcc{nvcc[1]}" if nvcc else f"{target}-clang{clang_major(compiler)}"


def target_order(folder: str) -> tuple[int, str, int]:
    """Sorts gfx900 before gfx90a before gfx1030; a target alone before a folder of it, clang 9 before clang 15."""
    target, _, major = folder.partition("-clang")
    return len(target), target, int(major or 0)
