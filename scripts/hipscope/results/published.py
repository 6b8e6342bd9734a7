"""The figures that others published of the experiments, as results/published/published.csv has them."""

from __future__ import annotations

from pathlib import Path

from . import door

PATH = Path(__file__).resolve().parents[3] / "results" / "published" / "published.csv"
COLUMNS = tuple("experiment series gpu arch clock_mhz x x_unit metric value unit source note".split())

Figure = dict[str, str]


def read(path: Path = PATH) -> list[Figure]:
    """The rows of the file, by column; raises door.BadInput."""
    return door.read_csv(path, COLUMNS)
