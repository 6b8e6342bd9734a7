"""The roofline: which figures of the results become ceilings and kernels, and that there is none without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from synthetic import inference, result, row, sweep, write
from test_html_report import figures
from test_html_report import make as html_of

from hipscope.report import ceilings, page
from hipscope.results import load


def with_value(label: str, name: str, value: float, unit: str) -> dict[str, Any]:
    one = row(label, 1.0, 1.0, value, unit)
    one["values"][0]["name"] = name
    return one


def peaks(*rows: tuple[str, float]) -> list[dict[str, Any]]:
    unit = "TFLOP/s or TOP/s"
    return [sweep("peak", [with_value(label, "peak", value, unit) for label, value in rows], headline="peak")]


def ladder(name: str, value: str, unit: str, **rows: float) -> list[dict[str, Any]]:
    made = [with_value(label.replace("_", " "), value, number, unit) for label, number in rows.items()]
    return [sweep("stages", made, headline=value, axis={"name": name, "unit": "", "scale": "linear"})]


def put(folder: Path, experiment: str, **changes: Any) -> None:
    """Writes a result without inferences, of a device that is named by its folder."""
    data = result(experiment, **{"inferences": [], **changes})
    data["device"]["name"] = folder.name
    write(folder, data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put_all(tmp_path)
    return tmp_path


def put_all(folder: Path) -> None:
    """Results with all that a roofline is made of."""
    put(folder, "ilp_tlp", sweeps=peaks(("FP32 FMA", 50.0), ("FP32 FMA, 3 registers", 60.0), ("FP32 ADD", 30.0)))
    put(
        folder,
        "matrix_rate",
        sweeps=peaks(
            ("FP16 mma.sync m16n8k16", 600.0),
            ("FP16 wgmma m64n256k16", 900.0),
            ("FP16, FP16 sums wgmma m64n256k16", 910.0),
            ("FP16 sparse wgmma.sp", 1800.0),
            ("INT8 wgmma", 1900.0),
            ("FP16 packed FMA of pairs", 100.0),
        ),
        inferences=[
            inference(f"{name} matrix rate", 1.0, "FMAs/cycle/CU")
            for name in ("FP16", "FP16, FP16 sums", "FP16 sparse", "INT8")
        ],
    )
    put(
        folder,
        "memory_bandwidth",
        inferences=[
            inference("memory read bandwidth", 4000.0, "GB/s"),
            inference("cache level 1 read bandwidth", None, "GB/s"),
            inference("memory copy bandwidth", 3800.0, "GB/s"),
        ],
    )
    put(folder, "lds_banks", inferences=[inference("LDS read bandwidth", 128.0, "bytes/cycle/CU")])
    sizes = result()["options"] | {"sizes": {"m": 4096, "n": 4096, "k": 4096}}
    put(
        folder,
        "sgemm",
        options=sizes,
        sweeps=ladder("stage", "rate", "TFLOP/s", library=55.0, naive=4.0, register_tile=50.0),
    )
    put(folder, "reduction", sweeps=ladder("stage", "bandwidth", "GB/s", read=4000.0, vector_load=3900.0))


def roofline_of(folder: Path) -> ceilings.Roofline:
    return ceilings.roofline_of(load.load_folder(folder))


def test_ceilings_are_the_best_of_each_dense_format(folder: Path) -> None:
    found = roofline_of(folder)
    assert {one.name: one.rate for one in found.arithmetic} == {
        "FP32 FMA, vector": 60e12,
        "FP16, matrix": 900e12,
        "FP16, FP16 sums, matrix": 910e12,
    }
    clock = result()["clock"]["shader_mhz"]
    assert {one.name: one.rate for one in found.memory} == {"memory": 4e12, "LDS": 128 * 132 * clock * 1e6}


def test_kernels_are_the_best_of_ours_at_their_least_bytes(folder: Path) -> None:
    kernels = {one.name: one for one in roofline_of(folder).kernels}
    assert set(kernels) == {"sgemm, 4096", "reduction"}
    assert kernels["sgemm, 4096"].rate == 50e12
    assert kernels["sgemm, 4096"].intensity == pytest.approx(4096 / 6)
    assert kernels["reduction"].intensity == 0.25
    assert kernels["reduction"].rate == pytest.approx(3900e9 / 4)


def test_the_pages_have_the_picture(folder: Path) -> None:
    made = page.make_page(load.load_folder(folder))
    ElementTree.fromstring(made.plots["roofline.svg"])
    for text in (made.markdown, made.card["card.md"].decode("utf-8")):
        assert "](plots/roofline.svg)" in text
    assert b"FP16, matrix 900 TFLOP/s" in made.plots["roofline.svg"]


@pytest.mark.parametrize("missing", [("ilp_tlp", "matrix_rate"), ("memory_bandwidth", "lds_banks")])
def test_without_arithmetic_or_memory_there_is_none(folder: Path, missing: tuple[str, ...]) -> None:
    for name in missing:
        (folder / f"{name}.json").unlink()
    made = page.make_page(load.load_folder(folder))
    assert "roofline.svg" not in made.plots
    assert "Roofline" not in made.markdown


def test_of_a_cpu_there_is_none(tmp_path: Path) -> None:
    put(tmp_path, "ilp_tlp", backend="host", sweeps=peaks(("FP32 FMA", 60.0)))
    assert roofline_of(tmp_path) == ceilings.Roofline()


def test_devices_share_the_page_s_roofline(tmp_path: Path) -> None:
    for name in "AB":
        put_all(tmp_path / name)
    put(tmp_path / "C", "memory_bandwidth", inferences=[inference("memory read bandwidth", 100.0, "GB/s")])
    page_of_all = html_of(*(tmp_path / name for name in "ABC"))
    figure = next(one for one in figures(page_of_all) if one["unit"] == "TFLOP/s")
    # Every line and point of a device goes with its switch.
    assert {"d0", "d1"} == {mark for mark, *_ in figure["lines"]}
    drawn = {
        name: {figure["x"][row]: value for row, value in enumerate(values) if value is not None}
        for _, _, name, values in figure["lines"]
    }
    assert "A: FP16, matrix" in drawn and "B: memory" in drawn
    # The memory's line ends where the fastest arithmetic is, at 910 / 4 FLOPs per byte.
    assert drawn["A: memory"] == {0.0625: 0.25, 227.5: 910.0}
    assert {round(x, 1): y for x, y in drawn["A: sgemm, 4096"].items()} == {682.7: 50.0}
    table = page_of_all.one("roofline").text
    for text in ("FP16, matrix", "900 TFLOP/s", "4 TB/s", "50 TFLOP/s at 682.7 FLOPs per byte"):
        assert text in table, text
    assert "C" not in {name[0] for name in drawn}


def test_a_page_without_a_roofline_has_no_section(tmp_path: Path) -> None:
    put(tmp_path, "memory_bandwidth", inferences=[inference("memory read bandwidth", 100.0, "GB/s")])
    assert "roofline" not in [one.attributes.get("id") for one in html_of(tmp_path).elements]
