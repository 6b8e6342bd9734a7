"""What a result file leaves out, and what contradicts itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import html_report
import pytest
import report
import synthetic
from test_door import at

from hipscope.results import door, load, shapes

Json = dict[str, Any]


def whole() -> Json:
    """A result in which nothing has its default."""
    rows = [synthetic.row(f"{2**k} KiB", 2.0 ** (k + 10), 1e-3 * 2**k, 100.0 * (k + 1)) for k in range(3)]
    rows[1]["measurements"] = [
        synthetic.measurement("time", 1e-3, method="host clock", batch=4, stop="steady", throttled=2)
    ]
    rows[1]["values"][0]["value"] = None
    rows[2]["checks"].append({"what": "every other element", "checked": 7, "wrong": 1})
    rows[2]["published"] = [synthetic.published(50.0)]
    return synthetic.result(sweeps=[synthetic.sweep("sizes", rows)])


def read(folder: Path, data: Json) -> Json:
    return load.document(synthetic.write(folder, data))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    wanted, got = whole(), read(tmp_path, whole())
    assert {**got, "sweeps": None} == {**wanted, "sweeps": None}
    for row, other in zip(got["sweeps"][0]["rows"], wanted["sweeps"][0]["rows"], strict=True):
        for one, same in zip(row["measurements"], other["measurements"], strict=True):
            for key in (*synthetic.ORDER, "relative_spread"):
                assert one.pop(key) == pytest.approx(same.pop(key), rel=1e-12)
        assert row == other


def test_what_the_device_tells_is_kept(tmp_path: Path) -> None:
    without, told = read(tmp_path / "old", whole()), read(tmp_path / "new", synthetic.told(whole()))
    assert told["device"].items() > without["device"].items()
    assert told["device"]["uuid"] == synthetic.IDENTITY["uuid"]
    assert told["sweeps"][0]["telemetry"] == synthetic.TELEMETRY


FIRST_ROW = ("sweeps", 0, "rows", 0)
WRONG = [
    *((("schema_version",), version, "does not follow the schema") for version in (0, 1, 3, 5, "4", None, True, 1.5)),
    (("device", "pci_address"), "1b:00", "does not follow the schema"),
    (("device", "ecc"), True, "does not follow the schema"),
    (("device", "link"), {}, "does not follow the schema"),
    (("device", "slot"), "7", "does not follow the schema"),
    (("sweeps", 0, "telemetry", "during", "samples"), 0, "does not follow the schema"),
    (("sweeps", 0, "telemetry", "before", "power_w"), "700 W", "does not follow the schema"),
    (("sweeps", 0, "telemetry", "during", "power_w"), {"min": 1.0}, "does not follow the schema"),
    (("telemetry",), {"source": "NVML 1"}, "does not follow the schema"),
    # What the sweep does not name, and more than it names.
    ((*FIRST_ROW, "measurements"), {"other": [1, 2, 2, 2, 2, 2, None]}, "contradicts itself"),
    ((*FIRST_ROW, "checks"), {"other": 5}, "contradicts itself"),
    ((*FIRST_ROW, "values"), {"other": 5.0}, "contradicts itself"),
    ((*FIRST_ROW, "values"), [5.0, 6.0], "contradicts itself"),
    # The minimum is more than the first quartile; more throttled samples than there are.
    ((*FIRST_ROW, "measurements"), {"time": [2, 3, 2, 4, 5, 6, None]}, "contradicts itself"),
    ((*FIRST_ROW, "measurements"), {"time": [2, 2, 3, 4, 5, 6, None, {"throttled": 3}]}, "contradicts itself"),
]


@pytest.mark.parametrize("place, value, said", WRONG)
def test_what_is_wrong_is_refused(tmp_path: Path, place: tuple[Any, ...], value: Any, said: str) -> None:
    data = synthetic.compact(synthetic.told(whole()))
    at(data, place[:-1])[place[-1]] = value
    with pytest.raises(door.BadInput, match=said):
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
    del row["measurements"]["time"][7]
    row["values"]["rate"] = 5.0
    row["checks"]["every element"] = 9
    data["sweeps"][0]["rows"][1] = {"x": 7}
    rows = read(tmp_path, data)["sweeps"][0]["rows"]
    made = rows[0]["measurements"][0]
    assert [made[key] for key in ("method", "batch", "stop", "throttled")] == ["device events", 1, "quiet", 0]
    assert rows[0]["values"] == [{"name": "rate", "value": 5.0, "unit": "GB/s"}]
    assert rows[0]["checks"] == [{"what": "every element", "checked": 9, "wrong": 0}]
    assert rows[1] == {"label": "7", "x": 7, "measurements": [], "values": [], "checks": [], "published": []}
    text = (shapes.SCHEMAS / "schema.json").read_text(encoding="utf-8")
    unusual = json.loads(text)["$defs"]["measurement"]["prefixItems"][7]["properties"]
    defaults = {key: item["default"] for key, item in unusual.items()}
    assert defaults == {"method": "device events", "batch": 1, "stop": "quiet", "throttled": 0}


def test_what_has_no_names_has_those_of_the_sweep(tmp_path: Path) -> None:
    data = synthetic.compact(synthetic.result())
    sweep = data["sweeps"][0]
    sweep.update(measurements=["time", "again"], units={"rate": "GB/s", "cost": "us"}, checks=["one", "every element"])
    time = [3, 1e6, 2e6, 4e6, 5e6, 6e6, None]
    sweep["rows"][0].update(measurements=[time, time], values=[5.0, [None, "ms"]], checks=[4, [5, 1]])
    row = read(tmp_path, data)["sweeps"][0]["rows"][0]
    assert [one["name"] for one in row["measurements"]] == ["time", "again"]
    assert [row["measurements"][0][key] for key in synthetic.ORDER] == [1e-3, 2e-3, 4e-3, 5e-3, 6e-3]
    assert row["measurements"][0]["relative_spread"] == pytest.approx(0.75)
    assert row["values"] == [
        {"name": "rate", "value": 5.0, "unit": "GB/s"},
        {"name": "cost", "value": None, "unit": "ms"},
    ]
    assert row["checks"] == [
        {"what": "one", "checked": 4, "wrong": 0},
        {"what": "every element", "checked": 5, "wrong": 1},
    ]
