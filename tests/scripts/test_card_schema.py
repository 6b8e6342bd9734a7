"""What the schema of the hardware card refuses."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from made_card import Json, add_full, make
from synthetic import run

from hipscope.results import door, load, shapes

MISSING = [{"experiment": "memory_latency", "reason": "no result"}]
# What is done to a card, of whose first memory parameter and reading.
SPOILED: dict[str, Callable[[Json, Json, Json], object]] = {
    "no group": lambda card, one, reading: card.pop("matrix"),
    "no parameter": lambda card, one, reading: card.update(lds=[]),
    "extra": lambda card, one, reading: card.update(extra=1),
    "text value": lambda card, one, reading: reading.update(value="702"),
    "confidence": lambda card, one, reading: reading.update(confidence=1.5),
    "no evidence": lambda card, one, reading: reading.pop("evidence"),
    "found nothing": lambda card, one, reading: reading.update(value=None),
    "found without a reading": lambda card, one, reading: one.update(readings=[]),
    "not found with a value": lambda card, one, reading: one.update(status="not found"),
    "not measured with a reading": lambda card, one, reading: one.update(status="not measured", missing=MISSING),
    "not measured by none": lambda card, one, reading: one.update(status="not measured", readings=[]),
    "unmarked": lambda card, one, reading: reading.update(disagrees_with_driver=True),
    "unmarked sources": lambda card, one, reading: one.update(sources_disagree=True),
    "word for a boolean": lambda card, one, reading: one.update(disagreement="yes"),
    "tolerance": lambda card, one, reading: one.update(tolerance=0.5),
    "device": lambda card, one, reading: card["device"].update(l2_bytes="60 MiB"),
}


def test_schema(tmp_path: Path) -> None:
    add_full(tmp_path)
    made, _ = make(tmp_path)
    for spoil in SPOILED.values():
        card = copy.deepcopy(made)
        spoil(card, card["memory"][0], card["memory"][0]["readings"][0])
        with pytest.raises(door.BadInput, match="card.json does not follow the schema"):
            door.check(tmp_path / "card.json", card, shapes.named(load.CARD_SCHEMA))


def test_check(tmp_path: Path) -> None:
    add_full(tmp_path)
    made, _ = make(tmp_path)
    (tmp_path / "card.json").write_text(json.dumps(made))
    count = len(list(tmp_path.glob("*.json")))
    assert run("report.py", "--check", tmp_path).stdout == f"{count} valid, 0 invalid\n"
    (tmp_path / "card.json").write_text(json.dumps({**made, "extra": 1}))
    done = run("report.py", "--check", tmp_path / "card.json", tmp_path / "cache_line.json")
    assert (done.returncode, done.stdout) == (1, "1 valid, 1 invalid\n")
    assert done.stderr.count("\n") == 1 and "card.json does not follow the schema" in done.stderr
