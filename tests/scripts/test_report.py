"""report.py on synthetic results."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import synthetic

from hipscope.report import plots

Json = dict[str, Any]
STAGES = {"name": "stage", "unit": "", "scale": "linear"}


report = partial(synthetic.run, "report.py")


def page_of(folder: Path) -> str:
    """The index and the experiments' pages, made without a complaint."""
    done = report(folder)
    assert (done.returncode, done.stderr) == (0, "")
    made = sorted(path.with_suffix(".md") for path in folder.glob("*.json") if path.name != "card.json")
    return "\n".join(page.read_text(encoding="utf-8") for page in (folder / "README.md", *made))


def page_with(folder: Path, *sweeps: Json, **changes: Any) -> str:
    """The same of a result with these sweeps, or its usual ones."""
    synthetic.write(folder, synthetic.result(**({"sweeps": list(sweeps)} if sweeps else {}), **changes))
    return page_of(folder)


def one_sentence(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Whether it failed with one line that has these parts."""
    assert done.returncode == 1
    assert done.stderr.startswith("report.py: ") and done.stderr.count("\n") == 1
    for part in parts:
        assert part in done.stderr


def test_capacities_are_marked_in_curves_of_latency(tmp_path: Path) -> None:
    rows = [synthetic.row(str(2**k), 2.0**k, 1e-5, 30.0 * k, "cycles") for k in range(10, 20)]
    axis = {"name": "footprint", "unit": "bytes", "scale": "logarithmic"}
    for row in rows:
        row["values"][0]["name"] = "latency"
    capacities = {"cache level 1": 2.0**14, "cache level 2": 2.0**30, "constant cache level 1": 2.0**11}
    inferences = [synthetic.inference(f"{cache} capacity", size, "bytes") for cache, size in capacities.items()]
    sweeps = [synthetic.sweep(name, rows, axis=axis, headline="latency") for name in ("footprint", "constant")]
    sweeps.append(synthetic.sweep("time", rows, axis=axis, headline="time"))
    page_with(tmp_path, *sweeps, inferences=inferences)
    marks = {
        path.stem: re.findall(r'id="inferred-(\d+)"', path.read_text(encoding="utf-8"))
        for path in (tmp_path / "plots").iterdir()
    }
    assert marks == {"copy_rate-footprint": ["16384"], "copy_rate-constant": ["2048"], "copy_rate-time": []}


def test_table(tmp_path: Path) -> None:
    rows = [
        synthetic.row("1 KiB", 1024, 12.3e-6, 100.0),
        synthetic.row("2 KiB", 2048, 1.5e-3, None),
        synthetic.row("4 KiB", 4096, 200e-6, 0.12341),
    ]
    rows[0]["published"] = [synthetic.published(50.5), synthetic.published(7.0, metric="time", unit="ms")]
    rows[1]["checks"][0]["wrong"] = 3
    rows[2]["measurements"][0]["throttled"] = 1
    page = page_with(tmp_path, synthetic.sweep("sizes", rows))
    assert (
        "| size (B) | time (us) | spread (%) | rate (GB/s) | MI25 (published) (GB/s) "
        "| MI25 (published) (time, ms) | checks |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| 1 KiB | 12.30 | 1.5 | 100 | 50.50 | 7 | ok (1024) |\n"
        "| 2 KiB | 1500 | 1.5 | - | - | - | **WRONG** every element: 3 of 1024 |\n"
        "| 4 KiB | 200.0 † | 1.5 | 0.1234 | - | - | ok (1024) |\n"
    ) in page
    assert "MI25 (published): somebody's page." in page
    assert "† Some samples ran at a clock more than 2 % under the highest seen." in page


@pytest.mark.parametrize(
    "seconds, unit, shown",
    [(2e-9, "ns", "2.000"), (3.456e-6, "us", "3.456"), (0.0125, "ms", "12.50"), (2.5, "s", "2.500"), (0.0, "s", "0")],
)
def test_time_units(tmp_path: Path, seconds: float, unit: str, shown: str) -> None:
    page = page_with(tmp_path, synthetic.sweep("s", [synthetic.row("a", 1, seconds, 1.0)]))
    assert f"| time ({unit}) |" in page and f"| a | {shown} |" in page
    # One row has no plot.
    assert "![" not in page and os.listdir(tmp_path / "plots") == []


def test_page(tmp_path: Path) -> None:
    page = page_with(tmp_path)
    for part in (
        "# Test GPU\n",
        "| Compute units (SMs) | 132 |",
        "| Memory | 131072 MiB |",
        "| L2 cache | 50 MiB |",
        "**How fast is a copy?**",
        "3 of 120 samples throttled",
        "Clock: 1755 MHz, measured",
        "counter read 12.50 ns",
        "**cache size: 50 MiB** (confidence 90 %; the driver says 50 MiB).",
        "- a step at 50 MiB",
        "**line size: not found** (confidence 0 %).",
        "- a book, chapter 2",
        "![rate over size](plots/copy_rate-sizes.svg)",
        "| [copy_rate](copy_rate.md) |",
        "passed (6 checks)",
    ):
        assert part in page
    assert "CPU times" not in page and "FAILED" not in page and "<details>" not in page


def test_a_plot_has_its_texts_as_they_were(tmp_path: Path) -> None:
    names = ("1.23456 x  2", 'a "b" & <c> 5.000', "M 1.00 L 2.00 z", 'naïve \'style="x"\' id="y"')
    rows = [synthetic.row(name, x, 1.0, 5.0) for x, name in enumerate(names)]
    page_with(tmp_path, synthetic.sweep("bars", rows, axis=STAGES))
    text = (tmp_path / "plots" / "copy_rate-bars.svg").read_text(encoding="utf-8")
    said = ["".join(node.itertext()) for node in ElementTree.fromstring(text).iter() if node.tag.endswith("}text")]
    assert [name for name in names if " ".join(name.split()) not in said] == []


def test_what_is_measured_of_others_is_drawn_beside_the_headline(tmp_path: Path) -> None:
    rows = [synthetic.row(str(x), x, 1.0, 2.0 * x) for x in (1, 2, 4)]
    for number, row in enumerate(rows):
        row["values"] += [
            {"name": "library rate", "value": 3.0 if number else None, "unit": "GB/s"},
            {"name": "other rate", "value": 3.0, "unit": "FLOP/s"},
            {"name": "rate of others", "value": 3.0, "unit": "GB/s"},
        ]
    bars = [{**row, "label": f"{row['label']} kernel"} for row in rows]
    page_with(tmp_path, synthetic.sweep("s", rows), synthetic.sweep("bars", bars, axis=STAGES))
    text = (tmp_path / "plots" / "copy_rate-s.svg").read_text()
    assert ">library</text>" in text and ">other</text>" not in text and "of others" not in text
    # Stages are bars, whatever their names begin with, and have the headline alone.
    text = (tmp_path / "plots" / "copy_rate-bars.svg").read_text()
    assert ">4 kernel</text>" in text and ">library</text>" not in text


def pairs(count: int, rate: Callable[[int, int], float | None]) -> dict[str, object]:
    rows = [
        synthetic.row(f"{start} -> {end}", count * start + end, 1e-3, rate(start, end))
        for start in range(count)
        for end in range(count)
    ]
    return synthetic.sweep("engine", rows, axis={"name": "pair", "unit": "", "scale": "linear"})


def fields_of(folder: Path) -> list[str]:
    """The colours of a heat map's fields, row by row."""
    text = (folder / "plots" / "copy_rate-engine.svg").read_text()
    ElementTree.fromstring(text)
    colours = dict(re.findall(r"\.(s\d+)\{fill: (#[0-9a-f]{6}); stroke: #ffffff", text))
    paths = re.findall(r'<path d="M ?([0-9.]+) ([0-9.]+)[^"]*"[^>]*class="(s\d+)"', text)
    fields = [(x, y, colours[style]) for x, y, style in paths if style in colours]
    return [colour for _, _, colour in sorted(fields, key=lambda field: (float(field[1]), float(field[0])))]


def test_pairs_of_devices_are_a_matrix_and_a_heat_map(tmp_path: Path) -> None:
    sweep = pairs(4, lambda start, end: 2000.0 if start == end else 310.5 if (start, end) == (2, 1) else 400.0)
    page = page_with(tmp_path, sweep)
    assert "| from, to | 0 | 1 | 2 | 3 |" in page and "| **2** | 400 | 310.5 | 2000 | 400 |" in page
    fields = fields_of(tmp_path)
    assert len(fields) == 16
    # A device's own memory is no link; the slow link stands out of the others, which are alike.
    assert [fields[5 * device] for device in range(4)] == 4 * ["#eeeeee"]
    assert fields.count(fields[9]) == 1 and fields.count(fields[1]) == 11
    # A pair that was not measured has no field, one device no matrix, and links that hardly differ one colour.
    sweep = pairs(3, lambda start, end: None if (start, end) == (0, 2) else 400.0)
    assert "| **0** | 400 | 400 | - |" in page_with(tmp_path, sweep) and len(fields_of(tmp_path)) == 8
    assert "from, to" not in page_with(tmp_path / "one", pairs(1, lambda start, end: 400.0))
    page_with(tmp_path, pairs(2, lambda start, end: 400.0 + start))
    red = [int(field[1:3], 16) for field in fields_of(tmp_path)[1:3]]
    assert abs(red[0] - red[1]) < 16


def test_more_companions_than_colours_are_a_map(tmp_path: Path) -> None:
    for companions, is_map in ((7, False), (8, True)):
        rows = [synthetic.row(str(unit), unit, 1e-3, 300.0) for unit in range(20)]
        for unit, row in enumerate(rows):
            row["values"] += [
                {"name": f"line {line} rate", "value": 300.0 + (unit ^ line) % 2, "unit": "GB/s"}
                for line in range(companions)
                if (unit, line) != (3, 5)  # one that was not measured
            ]
        folder = tmp_path / str(companions)
        page_with(folder, synthetic.sweep("map", rows))
        text = (folder / "plots" / "copy_rate-map.svg").read_text()
        ElementTree.fromstring(text)
        assert ("<image" in text) == is_map
        assert ">line 6</text>" in text


def with_rows(*rows: tuple[str, float, float | None], **changes: Any) -> Json:
    return synthetic.sweep("s", [synthetic.row(label, x, 1.0, rate) for label, x, rate in rows], **changes)


def beside(*figures: float, **changes: Any) -> Json:
    """A logarithmic curve beside published figures, of which one may be 0, rounded."""
    sweep = with_rows(("1", 1, 3.0), ("10", 10, 30.0), ("100", 100, 300.0))
    for row, figure in zip(sweep["rows"], figures):
        row["published"] = [synthetic.published(figure, **changes)]
    return sweep


def functions(scale: str) -> Json:
    rows = (("exp", 1, 30.0), ("sin", 2, 40.0), ("large sin", 3, 4000.0))
    return with_rows(*rows, axis={"name": "function", "unit": "", "scale": scale})


@pytest.mark.parametrize(
    "sweep, there, absent",
    [
        (synthetic.result()["sweeps"][0] | {"headline": "time"}, [">time (us)<"], []),
        (
            with_rows(("copy", 1, 1.0), ("fold", 2, None), ("last", 3, 3.0), axis=STAGES),
            [">copy<", ">last<"],
            [">fold<"],  # without the headline it has no bar
        ),
        # A second row at one x is named beside the curve.
        (with_rows(("1", 1, 2.0), ("2", 2, 4.0), ("8", 8, 16.0), ("8 in rows", 8, 5.0)), [">8 in rows<"], []),
        # The ticks of decades, and those of a linear axis from 0 on.
        (functions("logarithmic"), [">large sin<", ">100<"], [">0<"]),
        (functions("linear"), [">large sin<", ">0<", ">2000<"], []),
        (beside(0.0, 20.0), ["#d55e00", "legend_1", ">5<"], [">250<"]),
        (beside(50.0, 20.0), ["#d55e00", "legend_1", ">5<"], [">250<"]),
        # Another unit is no series of the same plot, and one series needs no legend.
        (beside(50.0, 20.0, unit="FLOP/s"), [">5<"], ["#d55e00", "legend_1"]),
    ],
)
def test_what_a_plot_says(tmp_path: Path, sweep: Json, there: list[str], absent: list[str]) -> None:
    page_with(tmp_path, {**sweep, "name": "s"})
    text = (tmp_path / "plots" / "copy_rate-s.svg").read_text()
    ElementTree.fromstring(text)
    assert [part for part in there if part not in text] == [part for part in absent if part in text] == []


def test_awkward_numbers_make_a_plot(tmp_path: Path) -> None:
    sweeps = [
        synthetic.sweep("zero", [synthetic.row(str(x), x, 0.0, 0.0) for x in (0, 1, 2)]),
        synthetic.sweep("negative", [synthetic.row(str(x), x, 1.0, -x) for x in (-3, 1, 2)]),
        synthetic.sweep("one x twice", [synthetic.row(str(x), x, 1.0, 2 * x) for x in (1, 2, 4, 8, 4)]),
        synthetic.sweep("same x", [synthetic.row(f"{x}x1", 64, 1.0, x) for x in range(1, 5)]),
        synthetic.sweep("huge", [synthetic.row(str(x), 2.0**x, 1e9 * x, 1e16 * x) for x in (1, 40)]),
        synthetic.sweep("names", [synthetic.row(name, 1, 1.0, 2.0) for name in ("naive", "2-D", "tiled")], axis=STAGES),
    ]
    page_with(tmp_path, *sweeps)
    assert len(os.listdir(tmp_path / "plots")) == 6


def test_numbers_that_no_axis_reaches_stand_in_the_table_alone(tmp_path: Path) -> None:
    sweeps = [
        synthetic.sweep(f"s {y}", [synthetic.row(str(x), x, 1.0, y) for x in (1, 2)])
        for y in (1e101, -1e308, 1e-101, 5e-324)
    ]
    rows = [synthetic.row(str(x), x, 1.0, y) for x, y in ((1, 10.0), (2, 1e308), (4, 40.0))]
    rows[0]["published"] = [synthetic.published(1e308, unit="")]
    sweeps.append(synthetic.sweep("one of three", rows))
    for row in (row for sweep in sweeps for row in sweep["rows"]):
        row["values"][0]["unit"] = ""  # of what has one the door takes no such number
    assert "| 1e308 |" in page_with(tmp_path, *sweeps).replace("1.000e+308", "1e308")
    assert os.listdir(tmp_path / "plots") == ["copy_rate-one-of-three.svg"]
    assert "#d55e00" not in (tmp_path / "plots" / "copy_rate-one-of-three.svg").read_text()


def test_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        synthetic.write(tmp_path / name, synthetic.result())
    first = report(tmp_path / "a", tmp_path / "b")
    assert first.returncode == 0
    for file in ("README.md", "copy_rate.md", "plots/copy_rate-sizes.svg"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    before = (tmp_path / "a" / "plots" / "copy_rate-sizes.svg").read_bytes()
    page_of(tmp_path / "a")
    assert (tmp_path / "a" / "plots" / "copy_rate-sizes.svg").read_bytes() == before


def test_the_index_is_a_few_screens_and_each_experiment_has_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "plot_sweep", lambda *_: b"<svg/>")
    rows = [synthetic.row(str(x), x, 1e-3 / x, float(x)) for x in range(1, 400)]
    names = [f"copy_{letter}" for letter in "abcdefghijklmnopqrstuvw"]
    for name in names:
        synthetic.write(tmp_path, synthetic.result(name, sweeps=[synthetic.sweep("s", rows)]))
    (tmp_path / "ncu.md").write_text("counted")
    assert report(tmp_path).returncode == 0
    index = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert len(index.splitlines()) < 90 and len(index) < 20000
    assert "[what a profiler counted](ncu.md)" in index and "sass.md" not in index
    for name in names:
        assert f"| [{name}]({name}.md) | How fast is a copy? | rate 399.0 GB/s (399) | passed" in index
        assert f"[![{name}](plots/{name}-s.svg)]({name}.md)" in index
        page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {name}\n\n[Test GPU](README.md)\n") and f"({name}.json)" in page
        assert "| 399 |" in page and "| 399 |" not in index


@pytest.mark.parametrize(
    "unit, headline, best",
    [
        ("GB/s", "rate", "rate 600.0 GB/s (32 KiB)"),
        ("cycles", "rate", "rate 100.0 cycles (1 KiB)"),
        ("ns/row", "rate", "rate 100.0 ns/row (1 KiB)"),
        ("waves/CU", "rate", "-"),
        ("%", "rate", "-"),
        ("GB/s", "time", "time 10.00 us (1 KiB)"),
        ("GB/s", "none", "-"),
    ],
)
def test_the_best_row_is_the_largest_rate_or_the_shortest_time(
    tmp_path: Path, unit: str, headline: str, best: str
) -> None:
    (sweep,) = synthetic.result()["sweeps"]
    for row in sweep["rows"]:
        row["values"][0]["unit"] = unit
    page = page_with(tmp_path, {**sweep, "headline": headline})
    assert f"| How fast is a copy? | {best} | passed" in page


def test_old_pages_tables_and_plots_go_and_others_stay(tmp_path: Path) -> None:
    synthetic.write(tmp_path, synthetic.result())
    (tmp_path / "removed.md").write_text("# removed\n\nMade by scripts/report.py; do not edit.\n")
    for name in ("notes.md", "notes.txt", "copy_rate.txt"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "latin.md").write_bytes(b"\xff")
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "copy_rate-renamed.svg").touch()
    page_of(tmp_path)
    assert os.listdir(tmp_path / "plots") == ["copy_rate-sizes.svg"]
    left = "README.md card.json card.md copy_rate.json copy_rate.md latin.md notes.md notes.txt plots"
    assert sorted(os.listdir(tmp_path)) == left.split()


def test_only_the_plots_that_documents_show_and_each_first(tmp_path: Path) -> None:
    folder, documents = tmp_path / "results", tmp_path / "docs"
    rows = [synthetic.row(str(x), x, 1e-3 / x, float(x)) for x in range(1, 5)]
    for name in ("copy_a", "copy_b"):
        synthetic.write(folder, synthetic.result(name, sweeps=[synthetic.sweep(part, rows) for part in "xyz"]))
    documents.mkdir()
    (documents / "chapter.md").write_text("![rate](../results/plots/copy_b-z.svg)\n", encoding="utf-8")
    assert report("--plots-of", documents, folder).returncode == 0
    assert sorted(os.listdir(folder / "plots")) == ["copy_a-x.svg", "copy_b-x.svg", "copy_b-z.svg"]
    page = (folder / "copy_b.md").read_text(encoding="utf-8")
    assert page.count("](plots/") == 2 and all(f"\n## The sweep {part}\n" in page for part in "xyz")
    # Without pages the result files are what is linked, and no other plot is there.
    assert report("--without-pages", "--plots-of", documents, folder).returncode == 0
    assert os.listdir(folder / "plots") == ["copy_b-z.svg"]
    assert not list(folder.glob("copy_*.md"))
    for name in ("README.md", "card.md"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "(copy_a.json)" in text or name == "card.md"
        assert ".md)" not in text.replace("(card.md)", "").replace("(README.md)", "")
    assert report("--without-pages", folder).returncode == 0
    assert os.listdir(folder / "plots") == []


def test_long_tables_are_folded(tmp_path: Path) -> None:
    rows = [synthetic.row(str(x), x, 1e-3, float(x)) for x in range(1, 42)]
    assert "<details><summary>The 41 rows</summary>\n\n| size" in page_with(tmp_path, synthetic.sweep("s", rows))


def test_of_a_very_long_curve_a_page_has_the_rows_that_tell_its_shape(tmp_path: Path) -> None:
    rows = [synthetic.row(str(x), x, 1e-3, 1.0 if x <= 153 else 2.0) for x in range(1, 301)]
    rows[96]["checks"][0]["wrong"] = 1
    rows[97]["published"] = [synthetic.published(77.0)]
    page = page_with(tmp_path, synthetic.sweep("s", rows))
    shown = [int(x) for x in re.findall(r"^\| (\d+) \|", page, flags=re.MULTILINE)]
    assert {1, 97, 98, 153, 154, 300} <= set(shown) and 40 <= len(shown) <= 70
    part = f"{len(shown)} of the 300 rows, those at the largest steps among them; the result file has all"
    assert f"<summary>{part}<" in page


def test_host_times_and_failed_verifications_are_said(tmp_path: Path) -> None:
    verification = {"checks": 6, "failures": ["sizes, 1 KiB: 3 of 1024 wrong"]}
    page = page_with(tmp_path, backend="host", scaled=True, status="failed", verification=verification)
    assert page.index("These times are CPU times") < page.index("| Architecture |")
    for part in (
        "scaled down",
        "**FAILED** (1 of 6 checks)",
        "A verification FAILED",
        "- sizes, 1 KiB: 3 of 1024 wrong",
    ):
        assert part in page


def test_a_bad_folder_leaves_the_good_one_as_it_was(tmp_path: Path) -> None:
    good, bad = synthetic.write(tmp_path / "good", synthetic.result()), tmp_path / "bad"
    synthetic.write(bad, synthetic.result())
    another = synthetic.result("other")
    another["device"]["name"] = "Another GPU"
    for other in (synthetic.result("other", backend="host"), another):
        synthetic.write(bad, other)
        one_sentence(report(good.parent, bad), "other.json is of another device or backend than")
    one_sentence(report(good.parent, tmp_path), "holds no result")
    one_sentence(report(good.parent, tmp_path / "missing"), "there is no folder")
    assert os.listdir(good.parent) == ["copy_rate.json"] and len(os.listdir(bad)) == 2
