"""A sweep over pairs of devices as a matrix: from which device (rows) to which (columns)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hipscope.results import formats, markdown
from hipscope.results.records import Sweep

from .series import curves_of

AXIS = "pair"
CORNER = "from, to"


@dataclass(frozen=True)
class Matrix:
    """The headline of all pairs that were measured; a device with itself is on the diagonal."""

    unit: str
    devices: list[int]
    values: dict[tuple[int, int], float]

    @property
    def links(self) -> list[float]:
        """The values between different devices."""
        return [value for (start, end), value in self.values.items() if start != end]


def matrix_of(sweep: Sweep) -> Matrix | None:
    """The matrix of a sweep whose rows are "0 -> 1"; None of one without two devices, or of other rows."""
    found = curves_of(sweep) if sweep.axis.name == AXIS else None
    if found is None or found.unit == "s":
        return None
    values = {}
    for index, value in found.points.items():
        pair = re.fullmatch(r"(\d{1,4}) -> (\d{1,4})", sweep.rows[index].label)
        if pair is None:
            return None
        values[int(pair[1]), int(pair[2])] = value
    matrix = Matrix(found.unit, sorted({device for pair in values for device in pair}), values)
    return matrix if matrix.links else None


def matrix_table(sweep: Sweep, matrix: Matrix) -> str:
    """The matrix in Markdown, under a line that says what it holds."""
    rows = [
        (f"**{start}**", *(formats.number(matrix.values.get((start, end))) for end in matrix.devices))
        for start in matrix.devices
    ]
    what = markdown.heading(sweep.headline, matrix.unit)
    header = [CORNER, *(str(device) for device in matrix.devices)]
    return f"{what}, from a device (row) to a device (column):\n\n{markdown.table(header, rows)}"
