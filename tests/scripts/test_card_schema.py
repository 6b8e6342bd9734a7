"""What the schema of the hardware card refuses."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from made_card import Json, add_full, make, report

from hipscope.results import door, load, shapes


def spoiled(made: Json, change: str) -> Json:
    """A card with something wrong."""
    data = copy.deepcopy(made)
    missing = [{"experiment": "memory_latency", "reason": "no result"}]
    one = data["memory"][0]
    reading = one["readings"][0]
    if change == "no group":
        del data["matrix"]
    elif change == "no parameter":
        data["lds"] = []
    elif change == "extra":
        data["extra"] = 1
    elif change == "text value":
        reading["value"] = "702"
    elif change == "confidence":
        reading["confidence"] = 1.5
    elif change == "no evidence":
        del reading["evidence"]
    elif change == "found nothing":
        reading["value"] = None
    elif change == "found without a reading":
        one["readings"] = []
    elif change == "not found with a value":
        one["status"] = "not found"
    elif change == "not measured with a reading":
        one.update(status="not measured", missing=missing)
    elif change == "not measured by none":
        one.update(status="not measured", readings=[])
    elif change == "unmarked":
        reading["disagrees_with_driver"] = True
    elif change == "unmarked sources":
        one["sources_disagree"] = True
    elif change == "word for a boolean":
        one["disagreement"] = "yes"
    elif change == "tolerance":
        one["tolerance"] = 0.5
    elif change == "device":
        data["device"]["l2_bytes"] = "60 MiB"
    return data


@pytest.mark.parametrize(
    "change",
    [
        "no group",
        "no parameter",
        "extra",
        "text value",
        "confidence",
        "no evidence",
        "found nothing",
        "found without a reading",
        "not found with a value",
        "not measured with a reading",
        "not measured by none",
        "unmarked",
        "unmarked sources",
        "word for a boolean",
        "tolerance",
        "device",
    ],
)
def test_schema(tmp_path: Path, change: str) -> None:
    add_full(tmp_path)
    made, _ = make(tmp_path)
    with pytest.raises(door.BadInput, match="card.json does not follow the schema"):
        door.check(tmp_path / "card.json", spoiled(made, change), shapes.named(load.CARD_SCHEMA))


def test_check(tmp_path: Path) -> None:
    add_full(tmp_path)
    made, _ = make(tmp_path)
    (tmp_path / "card.json").write_text(json.dumps(made))
    count = len(list(tmp_path.glob("*.json")))
    assert report("--check", tmp_path).stdout == f"{count} valid, 0 invalid\n"
    (tmp_path / "card.json").write_text(json.dumps(spoiled(made, "extra")))
    done = report("--check", tmp_path / "card.json", tmp_path / "cache_line.json")
    assert (done.returncode, done.stdout) == (1, "1 valid, 1 invalid\n")
    assert done.stderr.count("\n") == 1 and "card.json does not follow the schema" in done.stderr


def test_unchanged_card_is_valid(tmp_path: Path) -> None:
    """Without its change `spoiled` spoils nothing."""
    add_full(tmp_path)
    made, _ = make(tmp_path)
    assert spoiled(made, "nothing") == made
