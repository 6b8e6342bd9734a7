"""The experiments and their sources, as CMakeLists.txt names them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .errors import IsaError

REPOSITORY = Path(__file__).resolve().parents[3]


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
        raise IsaError(f"{path}, which lists the experiments, cannot be read.") from error
    without_comments = re.sub(r"#.*", "", text)
    sources = re.findall(r"^\s*hipscope_add_experiment\(\s*(\S+?\.hip)\b", without_comments, re.MULTILINE)
    if not sources:
        raise IsaError(f"{path} names no experiment.")
    return [Experiment(Path(source).stem, source) for source in sources]
