"""What a result file leaves out, and what contradicts itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import html_report
import pytest
import report
import synthetic

from hipscope.results import door, load, shapes

Json = dict[str, Any]


def whole() -> Json:
    """A result in which nothing has its default."""
    rows = [synthetic.row(f"{2**k} KiB", 2.0 ** (k + 10), 1e-3 * 2**k, 100.0 * (k + 1)) for k in range(3)]
    rows[1]["measurements"] = [
        synthetic.measurement("time", 1e-3, method="host clock", batch=4, stop="steady", throttled=[0, 2])
    ]
    rows[1]["values"][0]["value"] = None
    rows[2]["checks"].append({"what": "every element", "checked": 7, "wrong": 1})
    rows[2]["published"] = [synthetic.published(50.0)]
    return synthetic.result(sweeps=[synthetic.sweep("sizes", rows)])


def read(folder: Path, data: Json) -> Json:
    """What the loader makes of it."""
    return load.document(synthetic.write(folder, data))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    wanted, got = whole(), read(tmp_path, whole())
    assert {**got, "sweeps": None} == {**wanted, "sweeps": None}
    for row, other in zip(got["sweeps"][0]["rows"], wanted["sweeps"][0]["rows"], strict=True):
        for one, same in zip(row["measurements"], other["measurements"], strict=True):
            assert one.pop("samples") == pytest.approx(same.pop("samples"), rel=1e-15)
            assert one.pop("median") == pytest.approx(same.pop("median"), rel=1e-15)
            for derived in ("minimum", "maximum", "first_quartile", "third_quartile"):
                same.pop(derived, None)
        assert row == other


def test_what_the_device_tells_is_kept(tmp_path: Path) -> None:
    without, told = read(tmp_path / "old", whole()), read(tmp_path / "new", synthetic.told(whole()))
    assert told["device"].items() > without["device"].items()
    assert told["device"]["uuid"] == synthetic.IDENTITY["uuid"]
    assert told["sweeps"][0]["telemetry"] == synthetic.TELEMETRY


def test_version_2_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, {**whole(), "schema_version": 2})["device"] == whole()["device"]


@pytest.mark.parametrize(
    "place, value",
    [
        (("device", "pci_address"), "1b:00"),
        (("device", "ecc"), True),
        (("device", "link"), {}),
        (("device", "slot"), "7"),
        (("sweeps", 0, "telemetry", "during", "samples"), 0),
        (("sweeps", 0, "telemetry", "before", "power_w"), "700 W"),
        (("sweeps", 0, "telemetry", "during", "power_w"), {"min": 1.0}),
        (("telemetry",), {"source": "NVML 1"}),
    ],
)
def test_wrong_telemetry_is_refused(tmp_path: Path, place: tuple[Any, ...], value: Any) -> None:
    data = synthetic.told(whole())
    inner: Any = data
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(door.BadInput, match="does not follow the schema"):
        read(tmp_path, data)


def test_pages_and_card_name_the_device(tmp_path: Path) -> None:
    folder = tmp_path / "gpu"
    synthetic.write(folder, synthetic.told(whole()))
    assert report.main([str(folder)]) == 0
    assert html_report.main(["--no-isa", str(folder)]) == 0
    for name in ("README.md", "report.html"):
        text = (folder / name).read_text(encoding="utf-8")
        for shown in ("0000:1b:00.0", "96.00.89.00.01", "1652023000001", "700 W", "x16", "node17"):
            assert shown in text, (name, shown)
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    assert card["device"].items() >= synthetic.IDENTITY.items()


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    data = synthetic.compact(synthetic.result())
    row = data["sweeps"][0]["rows"][0]
    time = row["measurements"]["time"]
    for key in ("method", "batch", "stop", "shader_mhz", "throttled"):
        del time[key]
    row["values"]["rate"] = 5.0
    data["sweeps"][0]["units"]["rate"] = "GB/s"
    data["sweeps"][0]["rows"][1] = {"label": "nothing", "x": 1.0}
    data["sweeps"][0]["rows"][2]["measurements"]["time"]["shader_mhz"] = 1500
    rows = read(tmp_path, data)["sweeps"][0]["rows"]
    made = rows[0]["measurements"][0]
    assert [made[key] for key in ("method", "batch", "stop", "throttled")] == ["device events", 1, "quiet", []]
    assert made["shader_mhz"] == [None] * 3
    assert rows[0]["values"] == [{"name": "rate", "value": 5.0, "unit": "GB/s"}]
    assert rows[1] == {"label": "nothing", "x": 1.0, "measurements": [], "values": [], "checks": [], "published": []}
    assert rows[2]["measurements"][0]["shader_mhz"] == [1500] * 3
    text = (shapes.SCHEMAS / "schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)["$defs"]["row"]["properties"]
    defaults = {
        key: item["default"]
        for key, item in schema["measurements"]["additionalProperties"]["properties"].items()
        if "default" in item
    }
    assert defaults == {"method": "device events", "batch": 1, "stop": "quiet", "throttled": [], "shader_mhz": None}


def test_values_without_their_names_are_those_of_the_units(tmp_path: Path) -> None:
    data = synthetic.compact(synthetic.result())
    data["sweeps"][0]["units"] = {"rate": "GB/s", "cost": "us"}
    data["sweeps"][0]["rows"][0]["values"] = [5.0, [None, "ms"]]
    rows = read(tmp_path, data)["sweeps"][0]["rows"]
    assert rows[0]["values"] == [
        {"name": "rate", "value": 5.0, "unit": "GB/s"},
        {"name": "cost", "value": None, "unit": "ms"},
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"checks": [[1, 5, 0]]},  # it has no name
        {"values": {"rate": 5.0}},  # it has no unit
        {"values": [5.0]},  # more than there are units
        {"throttled": [3]},  # no such sample
        {"shader_mhz": [1500]},  # fewer than samples
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path: Path, change: Json) -> None:
    data = synthetic.compact(synthetic.result())
    row = data["sweeps"][0]["rows"][0]
    (row if change.keys() <= row.keys() else row["measurements"]["time"]).update(change)
    with pytest.raises(door.BadInput, match="contradicts itself"):
        read(tmp_path, data)


@pytest.mark.parametrize("version", [0, 1, 4, "2", None, True, 1.5])
def test_an_unknown_version_is_refused(tmp_path: Path, version: Any) -> None:
    with pytest.raises(door.BadInput, match="does not follow the schema"):
        read(tmp_path, {**whole(), "schema_version": version})
