"""html_report.py on synthetic results; test_html_in_browser.py opens its page."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import synthetic
from pages import Page

sys.path.insert(0, str(synthetic.SCRIPTS))

import html_report  # noqa: E402  # pylint: disable=wrong-import-position
from hipscope_html import chapters, scales, sources  # noqa: E402  # pylint: disable=wrong-import-position
from hipscope_html import page as colours  # noqa: E402  # pylint: disable=wrong-import-position

HOSTILE = "<script>alert(1)</script> </style>]]> \" ' &lt; --> \u202e ../../x `a` \n onload=alert(1) x=\"y"
NO_ISA = ("--no-isa",)


def make(*folders: Path, status: int = 0) -> Page:
    """The page of these folders, made without a complaint."""
    assert html_report.main([*NO_ISA, *map(str, folders)]) == status
    return Page((folders[0] / "report.html").read_text(encoding="utf-8"))


def device(folder: Path, name: str, *results: dict[str, Any]) -> Path:
    """A folder of results of a device with this name."""
    for data in results or [synthetic.result()]:
        data["device"]["name"] = name
        synthetic.write(folder, data)
    return folder


def said(page: Page) -> list[tuple[str, list[str]]]:
    """Every curve's name, with what its points say."""
    return [(one.attributes["data-name"] or "", (one.attributes["data-said"] or "").split("\n"))
            for one in page.all("g", "curve")]


def test_page_of_one_device(tmp_path: Path) -> None:
    page = make(device(tmp_path, "Test GPU"))
    assert page.all("title")[0].text == "hipscope: Test GPU"
    # Points lie from left to right, with the values that the file has.
    assert said(page) == [("Test GPU", [f"{2**k} KiB\t{100 * (k + 1)}" for k in range(6)])]
    plot = page.all("svg", "plot")[0]
    assert plot.attributes["aria-label"] == (
        "rate (GB/s) over size: Test GPU. The values stand in the table below.")
    assert plot.attributes["tabindex"] == "0" and plot.attributes["role"] == "img"
    section = page.one("experiment-copy_rate").text
    for part in ("How fast is a copy?", "passed (6 checks)", "cache size", "50 MiB", "not found", "a step at 50 MiB",
                 "1755 MHz", "abcdef012345", "gcc 12 -O3", "a book, chapter 2", "counter read 12.50 ns"):
        assert part in section, part
    assert "Measured on a GPUTest GPU." in page.all("dl", "kinds")[0].text
    assert "Only checked on the CPUnothing." in page.all("dl", "kinds")[0].text


def test_everything_is_in_the_page_itself(tmp_path: Path) -> None:
    page = make(device(tmp_path, "Test GPU"))
    identifiers = [one.attributes["id"] for one in page.elements if "id" in one.attributes]
    assert len(set(identifiers)) == len(identifiers)
    links = [one.attributes["href"] or "" for one in page.elements if "href" in one.attributes]
    assert len(links) > 10
    assert [link for link in links if link[0] != "#" or link[1:] not in identifiers] == []
    assert [one.tag for one in page.elements if {"src", "srcset", "data", "action", "style"} & set(one.attributes)
            or any(name.startswith("on") for name in one.attributes) or one.tag in ("link", "iframe", "base")] == []
    policy = next(one.attributes["content"] or "" for one in page.all("meta") if "http-equiv" in one.attributes)
    assert policy.startswith("default-src 'none'; ")
    for kind in ("style", "script"):
        element, = page.all(kind)
        digest = base64.b64encode(hashlib.sha256(element.text.encode("utf-8")).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    code = page.all("script")[0].text + page.all("style")[0].text
    assert "http" not in code.replace("http://www.w3.org/2000/svg", "")


def test_devices_share_a_plot(tmp_path: Path) -> None:
    first, second = synthetic.result(), synthetic.result()
    first["sweeps"][0]["rows"][1]["published"] = [synthetic.published(50.0)]
    second["sweeps"][0]["rows"][1]["published"] = [synthetic.published(50.0)]
    second["sweeps"][0]["rows"][2]["published"] = [synthetic.published(60.0)]
    del second["sweeps"][0]["rows"][0]
    second["sweeps"].append(synthetic.sweep("more", second["sweeps"][0]["rows"]))
    page = make(device(tmp_path / "a", "A"), device(tmp_path / "b", "B", second))
    page = make(device(tmp_path / "a", "A", first), tmp_path / "b")
    plots = page.all("svg", "plot")
    assert len(plots) == 2
    by_plot = [[one.attributes["data-name"] for one in page.all("g", "curve") if plot in one.around] for plot in plots]
    # The last drawn lies on top, so the first device is.
    assert by_plot == [["MI25 (published)", "B", "A"], ["MI25 (published)", "B"]]
    curves = dict(said(page)[:3])
    assert curves["MI25 (published)"] == ["2 KiB\t50", "4 KiB\t60"]
    assert len(curves["A"]) == 6 and len(curves["B"]) == 5
    # Everything of a device goes with its switch: its curves, columns, tables and lines of text.
    switches = [one.attributes["id"] for one in page.all("input")]
    assert switches[:2] == ["switch-d0", "switch-d1"]
    kinds = {one.tag for one in page.all(kind="d1")}
    assert {"g", "li", "th", "td", "div"} <= kinds
    style = page.all("style")[0].text
    assert ":root:has(#switch-d1:not(:checked)) .d1{display:none}" in style


def test_axes_that_differ_make_two_plots(tmp_path: Path) -> None:
    other = synthetic.result()
    for row in other["sweeps"][0]["rows"]:
        row["values"][0]["unit"] = "FLOP/s"
    page = make(device(tmp_path / "a", "A"), device(tmp_path / "b", "B", other))
    assert [one.attributes["data-unit"] for one in page.all("svg", "plot")] == ["GB/s", "FLOP/s"]
    assert len(page.all("figure")) == 1


def test_times_are_in_one_unit(tmp_path: Path) -> None:
    data = synthetic.result()
    data["sweeps"][0]["headline"] = "time"
    data["sweeps"][0]["rows"][0]["published"] = [synthetic.published(2.0, metric="time", unit="ms")]
    page = make(device(tmp_path, "A", data))
    assert page.all("svg", "plot")[0].attributes["data-unit"] == "us"
    assert dict(said(page)) == {"MI25 (published)": ["1 KiB\t2000"],
                                "A": ["1 KiB\t10.00", "2 KiB\t20.00", "4 KiB\t40.00", "8 KiB\t80.00",
                                      "16 KiB\t160.0", "32 KiB\t320.0"]}


def test_companions_and_bars(tmp_path: Path) -> None:
    data = synthetic.result()
    for row in data["sweeps"][0]["rows"]:
        row["values"].append({"name": "library rate", "value": 70.0, "unit": "GB/s"})
    rows = [synthetic.row(name, x, 1.0, value) for x, (name, value) in enumerate((("exp", 30.0), ("sin", 60.0)))]
    data["sweeps"].append(synthetic.sweep("bars", rows, axis={"name": "stage", "unit": "", "scale": "linear"}))
    page = make(device(tmp_path, "A", data))
    assert [name for name, _ in said(page)] == ["A: library", "A"]
    bars = page.all("div", "bar")
    assert [one.attributes["title"] for one in bars] == ["A: 30 GB/s", "A: 60 GB/s"]
    lengths = [one.attributes["width"] for one in page.all("rect") if any(bar in one.around for bar in bars)]
    assert lengths == ["50.0%", "100.0%"]


def test_points_stand_where_their_values_are(tmp_path: Path) -> None:
    data = synthetic.result()
    data["sweeps"][0]["axis"]["scale"] = "linear"
    data["sweeps"][0]["rows"] = [synthetic.row(str(x), x, 1.0, y) for x, y in ((0, 0.0), (5, 50.0), (10, 100.0))]
    page = make(device(tmp_path, "A", data))
    path = next(one for one in page.all("path") if any("curve" in around.classes for around in one.around))
    numbers = [float(one) for one in re.findall(r"[\d.]+", path.attributes["d"] or "")]
    (left, low), (middle, half), (right, high) = zip(numbers[::2], numbers[1::2])
    assert left < middle < right and middle == (left + right) / 2
    assert low > half > high and half == pytest.approx((low + high) / 2)
    ticks = {one.text: float(one.attributes["y"] or "") for one in page.all("text", "ty")}
    assert ticks["0"] == low and ticks["100"] == high


def test_a_cpu_has_no_curve(tmp_path: Path) -> None:
    cpu = device(tmp_path / "host", "this CPU", synthetic.result(backend="host", scaled=True))
    page = make(cpu)
    assert said(page) == [] and page.all("svg", "plot") == []
    assert "Measured on a GPUnothing." in page.all("dl", "kinds")[0].text
    assert "Only checked on the CPUthis CPU." in page.all("dl", "kinds")[0].text
    assert "CPU times, not a GPU's" in page.all("figure")[0].text
    assert "nothing of a GPU is inferred on a CPU" in page.one("card").text
    page = make(cpu, device(tmp_path / "gpu", "A"))
    assert [name for name, _ in said(page)] == ["A"]
    assert "checked on the CPU, not measured on a GPU" in page.one("devices").text
    assert "this CPU" not in page.one("card").text


def test_card_side_by_side(tmp_path: Path) -> None:
    results = []
    for value in (132.0, 66.0):
        data = synthetic.result("cu_staircase")
        data["inferences"] = [{"name": "compute units", "value": value, "unit": "CUs", "confidence": 0.9,
                               "statement": "It has those.", "evidence": [], "driver": 132.0}]
        results.append(data)
    page = make(*(device(tmp_path / name, name.upper(), data) for name, data in zip("ab", results)))
    text = page.one("card").text
    assert re.search(r"compute units\s*132 CUs 90 %\s*66 CUs 90 %, disagrees: the driver says 132", text)


def test_failed_verification_is_said(tmp_path: Path) -> None:
    verification = {"checks": 6, "failures": ["sizes, 1 KiB: 3 of 1024 wrong"]}
    page = make(device(tmp_path, "A", synthetic.result(status="failed", verification=verification)))
    assert "FAILED in 1 of 1 experiments" in page.one("devices").text
    section = page.one("experiment-copy_rate").text
    assert "FAILED (1 of 6 checks): do not trust these figures" in section
    assert "sizes, 1 KiB: 3 of 1024 wrong" in section


def test_chapters_are_in_the_project_s_order(tmp_path: Path) -> None:
    names = ["sgemm", "copy_rate", "thread_rate", "launch_latency", "memory_latency"]
    for name in names:
        synthetic.write(tmp_path, synthetic.result(name))
    synthetic.write(tmp_path, synthetic.result("thread_rate"), "thread_rate.wave64")
    page = make(tmp_path)
    measured = [one.attributes["id"] or "" for one in page.all("section", "experiment")]
    wanted = ["thread_rate", "thread_rate.wave64", "launch_latency", "memory_latency", "sgemm", "copy_rate"]
    assert [one for one in measured if one.removeprefix("experiment-") in wanted] == [
        f"experiment-{one}" for one in wanted]


def test_every_experiment_has_a_chapter() -> None:
    source = synthetic.REPOSITORY / "src"
    known = {name for _, names in chapters.CHAPTERS for name in names}
    found = {path.stem for path in source.glob("[0-9]-*/*.hip")}
    found |= {path.parent.name for path in source.glob("[0-9]-*/*/*.hip") if path.stem == path.parent.name}
    examples = {"first_benchmark"}  # no experiment: hipscope_add_example in CMakeLists.txt
    assert len(found) > 20 and found - examples <= known


def test_published_figures_stand_in_tables(tmp_path: Path) -> None:
    page = make(device(tmp_path, "A", synthetic.result("thread_rate")))
    with open(synthetic.REPOSITORY / "results" / "published" / "published.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["experiment"] == "thread_rate"]
    section = page.one("experiment-thread_rate")
    table = next(one for one in page.all("details") if section in one.around and "All published" in one.text)
    assert f"All published figures {len(rows)}, not measured by this code" in table.text
    for row in rows:
        assert f"{row['value']} {row['unit']}" in table.text
    # Of these there are no results here.
    assert "None of these devices has a result." in page.one("experiment-dgemm").text
    assert "16.62 GFLOP/s" in page.one("experiment-dgemm").text


def test_compiled_code(tmp_path: Path) -> None:
    folder = device(tmp_path / "a", "A", synthetic.result("cu_staircase"))
    isa = tmp_path / "isa" / "gfx90a-clang15"
    isa.mkdir(parents=True)
    shutil.copy(synthetic.REPOSITORY / "results" / "isa" / "gfx90a-clang15" / "cu_staircase.json", isa)
    assert html_report.main(["--isa", str(isa.parent), str(folder)]) == 0
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert "Read from compiled code, not rungfx90a-clang15." in page.all("dl", "kinds")[0].text
    assert re.search(r"busy_kernel\d+ VGPRs, \d+ waves", page.one("experiment-cu_staircase").text)


def test_a_folder_of_compiled_code_that_is_not_there_is_refused(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = device(tmp_path / "a", "A")
    assert html_report.main(["--isa", str(tmp_path / "typo"), str(folder)]) == 1
    assert capsys.readouterr().err == f"html_report.py: there is no folder {tmp_path}/typo.\n"
    assert not (folder / "report.html").exists()


def test_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    made = []
    for place in ("x", "y"):
        first, second = device(tmp_path / place / "a", "A"), device(tmp_path / place / "b", "B")
        make(first, second)
        made.append((first / "report.html").read_bytes())
    make(first, second)
    assert made[0] == made[1] == (first / "report.html").read_bytes()


def fleet(folder: Path, count: int) -> Page:
    """The page of as many devices of one model."""
    return make(*(device(folder / f"node{number}", "A", synthetic.result(), synthetic.result("thread_rate"))
                  for number in range(count)))


def test_many_devices_are_data_and_not_elements(tmp_path: Path) -> None:
    pages = [fleet(tmp_path / str(count), count) for count in (20, 40)]
    assert pages[0].all("title")[0].text == "hipscope: 20 x A" and not pages[0].all("path")
    # A device more is a row of one table and an entry of one list.
    grown = len(pages[1].elements) - len(pages[0].elements)
    assert grown <= 20 * 12
    data = [json.loads(one.text) for one in pages[0].all("script") if one.attributes.get("data-name") == "copy_rate"]
    figure, = data[0]
    assert figure["labels"] == [f"{2**k} KiB" for k in range(6)] and len(figure["lines"]) == 20
    assert figure["lines"][3] == [0, 3, [100.0 * (k + 1) for k in range(6)]]
    script, = [one for one in pages[0].all("script") if "type" not in one.attributes]
    digest = base64.b64encode(hashlib.sha256(script.text.encode("utf-8")).digest()).decode()
    policy = next(one.attributes["content"] or "" for one in pages[0].all("meta") if "http-equiv" in one.attributes)
    assert f"script-src 'sha256-{digest}'" in policy


def test_eight_devices_are_as_they_were(tmp_path: Path) -> None:
    page = fleet(tmp_path, 8)
    assert len(page.all("g", "curve")) == 16 and [one.attributes for one in page.all("script")] == [{}]


def test_failed_verification_among_many_is_said(tmp_path: Path) -> None:
    fleet(tmp_path, 9)
    verification = {"checks": 6, "failures": ["sizes, 1 KiB: 3 of 1024 wrong"]}
    device(tmp_path / "node4", "A", synthetic.result(status="failed", verification=verification))
    page = make(*(tmp_path / f"node{number}" for number in range(9)))
    section = page.one("experiment-copy_rate").text
    assert "Verification FAILED on 1 of 9 devices" in section and "A, node4: FAILED (1 checks)" in section
    assert "FAILED: copy_rate" in page.one("devices").text
    assert "Verification passed on all 9 devices" in page.one("experiment-thread_rate").text


def test_hostile_texts_among_many(tmp_path: Path) -> None:
    tame = fleet(tmp_path / "tame", 9)
    for number in range(9):
        data = synthetic.put_everywhere(synthetic.result(), HOSTILE)
        synthetic.write(tmp_path / "hostile" / f"node{number}", data)
        other = synthetic.put_everywhere(synthetic.result("thread_rate"), HOSTILE)
        synthetic.write(tmp_path / "hostile" / f"node{number}", other)
    page = make(*(tmp_path / "hostile" / f"node{number}" for number in range(9)))
    assert {one.tag for one in page.elements} <= {one.tag for one in tame.elements} | {"ul", "li"}
    attributes = [{name for one in made.elements for name in one.attributes} for made in (page, tame)]
    assert attributes[0] <= attributes[1]
    assert len(page.all("script")) == len(tame.all("script"))


def test_devices_of_one_name_are_told_apart(tmp_path: Path) -> None:
    page = make(*(device(tmp_path / place, "A") for place in ("old", "new", "more/new")))
    assert page.all("title")[0].text == "hipscope: A, old, A, new, A, new #2"
    # The same folder twice is one device.
    page = make(tmp_path / "old", tmp_path / "more" / ".." / "old")
    assert page.all("title")[0].text == "hipscope: A"


def test_hostile_texts(tmp_path: Path) -> None:
    data = synthetic.put_everywhere(synthetic.result(), HOSTILE)
    data["sweeps"][0]["rows"][0]["published"] = [synthetic.published(
        1.0, gpu=HOSTILE, note=HOSTILE, source=HOSTILE, metric=HOSTILE, unit=HOSTILE)]
    data["sweeps"].append(data["sweeps"][0])
    data["options"]["sizes"] = {HOSTILE: 1}
    data["verification"]["failures"] = [HOSTILE]
    folder = tmp_path / "<script>alert(2)<" / '"><b>'
    other = device(tmp_path / "b", HOSTILE, synthetic.result())
    synthetic.write(folder, data)
    page = make(folder, other)
    # Nothing but what a page of tame texts has.
    data = synthetic.result(verification={"checks": 6, "failures": ["one"]})
    data["sweeps"][0]["rows"][0]["published"] = [synthetic.published(1.0)]
    tame = make(device(tmp_path / "c", "A"), device(tmp_path / "d", "B", data))
    assert {one.tag for one in page.elements} == {one.tag for one in tame.elements}
    attributes = [{name for one in made.elements for name in one.attributes} for made in (page, tame)]
    assert attributes[0] == attributes[1]
    assert len(page.all("script")) == 1 and "alert" not in page.all("script")[0].text
    assert "alert" not in page.all("style")[0].text
    assert "\u202e" not in page.source and "<script>alert(1)</script>" in page.one("experiment-copy_rate").text
    assert sorted(os.listdir(folder)) == ["copy_rate.json", "report.html"]


@pytest.mark.parametrize("text, part", [
    ("", "begin with the columns"), ("a,b\n1,2\n", "begin with the columns"),
    (",".join(sources.COLUMNS) + "\n1,2\n", "row 1"),
    (",".join(sources.COLUMNS) + '\n"open', "not a CSV file"), ("\0", "columns"), (None, "cannot be read"),
    (b"\xff", "not a CSV file"), (",".join(sources.COLUMNS) + "\n" + ",".join("1" * 13) + "\n", "row 1"),
])
def test_bad_published_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | bytes | None,
                               part: str) -> None:
    folder = device(tmp_path / "a", "A")
    path = tmp_path / "published.csv"
    if text is not None:
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert html_report.main(["--published", str(path), *NO_ISA, str(folder)]) == 1
    err = capsys.readouterr().err
    assert err.startswith("html_report.py: ") and err.count("\n") == 1 and "published.csv" in err and part in err
    assert os.listdir(folder) == ["copy_rate.json"]


def test_hostile_published_figures(tmp_path: Path) -> None:
    folder = device(tmp_path / "a", "A")
    path = tmp_path / "published.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(sources.COLUMNS)
        rows.writerow([HOSTILE] * len(sources.COLUMNS))
    assert html_report.main(["--published", str(path), *NO_ISA, str(folder)]) == 0
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert len(page.all("script")) == 1 and not page.all("x")
    assert not [one for one in page.elements if "onload" in one.attributes]


def test_bad_results_leave_the_page_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, other = device(tmp_path / "a", "A"), device(tmp_path / "b", "B")
    (folder / "report.html").write_text("before")
    (other / "another.json").write_text("{")
    assert html_report.main([*NO_ISA, str(folder), str(other)]) == 1
    err = capsys.readouterr().err
    assert "another.json is not a whole JSON file" in err and err.count("\n") == 1
    assert (folder / "report.html").read_text() == "before"
    assert html_report.main([*NO_ISA, "--out", str(tmp_path / "no" / "x.html"), str(folder)]) == 1
    assert f"{tmp_path}/no/x.html cannot be written" in capsys.readouterr().err
    assert sorted(os.listdir(folder)) == ["copy_rate.json", "report.html"]


def luminance(colour: str) -> float:
    """The relative luminance of #rrggbb, as WCAG 2 defines it."""
    parts = [int(colour[place:place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette, ground", [(colours.LIGHT, "#ffffff"), (colours.DARK, "#14171b")])
def test_colours_stand_out(palette: tuple[str, ...], ground: str) -> None:
    assert ground[:4] in (colours.FOLDER / "report.css").read_text(encoding="utf-8")
    for colour in palette:
        low, high = sorted((luminance(colour), luminance(ground)))
        # What WCAG 2 asks of graphics.
        assert (high + 0.05) / (low + 0.05) >= 3, colour
    assert len(set(palette)) == 8


def test_a_full_disk_leaves_the_page_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    folder = device(tmp_path / "a", "A")
    (folder / "report.html").write_text("before")

    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    assert html_report.main([*NO_ISA, str(folder)]) == 1
    assert capsys.readouterr().err == (
        f"html_report.py: {folder}/report.html cannot be written: No space left on device.\n")
    assert (folder / "report.html").read_text() == "before"
    assert sorted(os.listdir(folder)) == ["copy_rate.json", "report.html"]


def repository(folder: Path) -> Path:
    """A copy of the scripts, with results/ of two GPUs and a CPU; the script."""
    shutil.copytree(synthetic.SCRIPTS, folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    results = folder / "results"
    for name in ("schema.json", "schema-2.json", "schema-1.json", "card-schema.json", "isa-schema.json",
                 "published/published.csv"):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(synthetic.REPOSITORY / "results" / name, results / name)
    (results / "isa").mkdir()
    (results / "isa" / "register_limits.json").write_text("[]")
    for name, backend in (("b", "amd"), ("a", "nvidia"), ("host", "host")):
        device(results / name, f"the {name}", synthetic.result(backend=backend))
    return folder / "scripts" / "html_report.py"


def test_default_folders(tmp_path: Path) -> None:
    script = repository(tmp_path)

    def title(*arguments: str | Path, page: str = "report.html") -> str:
        done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return Page((tmp_path / "results" / page).read_text(encoding="utf-8")).all("title")[0].text

    assert title() == "hipscope: the a, the b"
    assert title(tmp_path / "results" / "host", page="host/report.html") == "hipscope: the host"
    assert title("--others", tmp_path / "results" / "b", page="b/report.html") == "hipscope: the b, the a"
    assert title("--others", tmp_path / "results" / "host", page="host/report.html") == (
        "hipscope: the host, the a, the b")
    for name in "ab":
        shutil.rmtree(tmp_path / "results" / name)
    assert title() == "hipscope: the host"
    shutil.rmtree(tmp_path / "results" / "host")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "holds no results of any device" in done.stderr


def test_usage() -> None:
    for arguments, status in ((["--frobnicate"], 2), (["--out"], 2), (["--help"], 0)):
        with pytest.raises(SystemExit) as ended:
            html_report.main(arguments)
        assert ended.value.code == status


@pytest.mark.parametrize("values", [
    (0.0, 0.0), (1e99, 1e100), (-1e100, 1e100), (1e-100, 2e-100), (1e-100, 1e100), (-3.0, -1.0), (1.0, 1.0),
    (2**64, 2**64 + 1), (0.1, 0.3), (1.0, 1.0000000000000002), (-1e100, 1e-100), (3e15, 3e15 + 1),
])
def test_scales_take_every_number(values: tuple[float, float]) -> None:
    made = [scales.linear(values, True), scales.linear(values, False)]
    if min(values) > 0:
        made += [scales.octaves(values, "B"), scales.decades(values)]
    for scale in made:
        places = [scale.place(value) for value in (*values, *(tick for tick, _ in scale.ticks))]
        assert all(math.isfinite(place) and -1e-9 <= place <= 1 + 1e-9 for place in places), (values, places)
        assert len(scale.ticks) <= 2 * scales.MOST_TICKS
