"""html_report.py on synthetic results; test_html_in_browser.py opens its page."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import html_report
import pytest
import synthetic
from pages import Page

from hipscope.html import chapters
from hipscope.html import page as html_page
from hipscope.results import published

HOSTILE = '<script>alert(1)</script> </style>]]> " \' &lt; --> \u202e ../../x `a` \n onload=alert(1) x="y 1²1'
NO_ISA = ("--no-isa",)


def make(*folders: Path) -> Page:
    """The page of these folders, made without a complaint."""
    assert html_report.main([*NO_ISA, *map(str, folders)]) == 0
    return Page((folders[0] / "report.html").read_text(encoding="utf-8"))


def device(folder: Path, name: str, *results: dict[str, Any]) -> Path:
    for data in results or [synthetic.result()]:
        data["device"]["name"] = name
        synthetic.write(folder, data)
    return folder


def figures(page: Page) -> list[dict[str, Any]]:
    """All that the page's script draws."""
    found = []
    for one in page.all("script"):
        if one.attributes.get("type"):
            data = json.loads(one.text)
            for figure in data["figures"]:
                lines = [[mark, kind, data["names"][name], values] for mark, kind, name, values in figure["lines"]]
                found.append({**figure, "lines": lines})
    return found


def said(figure: dict[str, Any]) -> dict[str, dict[str, float]]:
    return {
        name: {row: value for row, value in zip(figure["rows"], values) if value is not None}
        for _, _, name, values in figure["lines"]
    }


def test_page_of_one_device(tmp_path: Path) -> None:
    page = make(device(tmp_path, "Test GPU"))
    assert page.all("title")[0].text == "hipscope: Test GPU"
    (figure,) = figures(page)
    assert said(figure) == {"Test GPU": {f"{2**k} KiB": 100.0 * (k + 1) for k in range(6)}}
    assert (figure["unit"], figure["x"], figure["joined"]) == ("GB/s", [1024.0 * 2**k for k in range(6)], [*range(6)])
    (place,) = page.all("div", "drawn")
    assert place.attributes["data-said"] == (
        "rate (GB/s) over size (B): Test GPU. The values stand in the table below."
    )
    assert (place.attributes["data-of"], place.attributes["data-number"]) == ("copy_rate", "0")
    section = page.one("experiment-copy_rate").text
    for part in (
        "How fast is a copy?",
        "passed (6 checks)",
        "cache size",
        "50 MiB",
        "not found",
        "a step at 50 MiB",
        "1755 MHz",
        "abcdef012345",
        "gcc 12 -O3",
        "a book, chapter 2",
        "counter read 12.50 ns",
    ):
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
    assert [
        one.tag
        for one in page.elements
        if {"src", "srcset", "data", "action", "style"} & set(one.attributes)
        or any(name.startswith("on") for name in one.attributes)
        or one.tag in ("link", "iframe", "base")
    ] == []
    policy = next(one.attributes["content"] or "" for one in page.all("meta") if "http-equiv" in one.attributes)
    assert policy.startswith("default-src 'none'; ")
    for kind in ("style", "script"):
        (element,) = [one for one in page.all(kind) if "type" not in one.attributes]
        digest = base64.b64encode(hashlib.sha256(element.text.encode("utf-8")).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    # Whose library it is stands in its comments.
    assert set(re.findall(r"https?:[^ \n]+", page.source)) == {
        "https://www.chartjs.org",
        "https://github.com/kurkle/color#readme",
    }
    assert "Chart.js v4" in page.source and "Released under the MIT License" in page.source


def test_devices_share_a_plot(tmp_path: Path) -> None:
    first, second = synthetic.result(), synthetic.result()
    first["sweeps"][0]["rows"][1]["published"] = [synthetic.published(50.0)]
    second["sweeps"][0]["rows"][1]["published"] = [synthetic.published(50.0)]
    second["sweeps"][0]["rows"][2]["published"] = [synthetic.published(60.0)]
    del second["sweeps"][0]["rows"][0]
    second["sweeps"].append(synthetic.sweep("more", second["sweeps"][0]["rows"]))
    page = make(device(tmp_path / "a", "A", first), device(tmp_path / "b", "B", second))
    first_figure, second_figure = figures(page)
    assert [line[:3] for line in first_figure["lines"]] == [
        ["d0", "", "A"],
        ["d1", "", "B"],
        ["d9", "published", "MI25 (published)"],
    ]
    assert list(said(second_figure)) == ["B", "MI25 (published)"]
    curves = said(first_figure)
    assert curves["MI25 (published)"] == {"2 KiB": 50.0, "4 KiB": 60.0}
    assert len(curves["A"]) == 6 and len(curves["B"]) == 5
    # Everything of a device goes with its switch: its curves, columns, tables and lines of text.
    switches = [one.attributes["id"] for one in page.all("input")]
    assert switches[:2] == ["switch-d0", "switch-d1"]
    kinds = {one.tag for one in page.all(kind="d1")}
    assert {"label", "li", "th", "td", "div"} <= kinds
    style = page.all("style")[0].text
    assert ":root:has(#switch-d1:not(:checked)) main .d1{display:none}" in style


def test_sizes_that_differ_are_named(tmp_path: Path) -> None:
    other = synthetic.result()
    other["options"]["sizes"] = {"--bytes": 4096}
    folders = device(tmp_path / "a", "A"), device(tmp_path / "b", "B"), device(tmp_path / "c", "C", other)
    assert "Sizes differ" not in make(*folders[:2]).one("experiment-copy_rate").text
    said = make(*folders).one("experiment-copy_rate").text
    assert "Sizes differ: --bytes 1048576 (A), 1048576 (B), 4096 (C)." in said


def test_axes_that_differ_make_two_plots(tmp_path: Path) -> None:
    other = synthetic.result()
    for row in other["sweeps"][0]["rows"]:
        row["values"][0]["unit"] = "FLOP/s"
    page = make(device(tmp_path / "a", "A"), device(tmp_path / "b", "B", other))
    assert [figure["unit"] for figure in figures(page)] == ["GB/s", "FLOP/s"]
    assert len(page.all("figure")) == 1


def test_times_are_in_one_unit(tmp_path: Path) -> None:
    data = synthetic.result()
    data["sweeps"][0]["headline"] = "time"
    data["sweeps"][0]["rows"][0]["published"] = [synthetic.published(2.0, metric="time", unit="ms")]
    page = make(device(tmp_path, "A", data))
    (figure,) = figures(page)
    assert figure["unit"] == "us" and said(figure) == {
        "MI25 (published)": {"1 KiB": 2000.0},
        "A": {f"{2**k} KiB": 10.0 * 2**k for k in range(6)},
    }


def test_companions_and_bars(tmp_path: Path) -> None:
    data = synthetic.result()
    for row in data["sweeps"][0]["rows"]:
        row["values"].append({"name": "library rate", "value": 70.0, "unit": "GB/s"})
    rows = [synthetic.row(name, x, 1.0, value) for x, (name, value) in enumerate((("exp", 30.0), ("sin", 60.0)))]
    data["sweeps"].append(synthetic.sweep("bars", rows, axis={"name": "stage", "unit": "", "scale": "linear"}))
    page = make(device(tmp_path, "A", data))
    curves, bars = figures(page)
    assert [line[1:3] for line in curves["lines"]] == [["", "A"], ["companion k0", "library"]]
    assert (curves["bars"], bars["bars"]) == (False, True)
    assert said(bars) == {"A": {"exp": 30.0, "sin": 60.0}}


def test_what_is_joined(tmp_path: Path) -> None:
    data = synthetic.result()
    axis = {"name": "x", "unit": "", "scale": "logarithmic"}
    rows = [synthetic.row(str(x), x, 1.0, y) for x, y in ((4, 9.0), (2, 5.0), (2, 6.0), (8, 100.0))]
    same = [synthetic.row(str(y), 1, 1.0, y) for y in (3.0, 4.0, 5.0)]
    data["sweeps"] = [synthetic.sweep("one", rows, axis=axis), synthetic.sweep("two", same, axis=axis)]
    one, two = figures(make(device(tmp_path, "A", data)))
    # Of two rows at one x the line goes through the first; of rows at a single x there is none.
    assert one["joined"] == [1, 0, 3] and one["across"]["log"] == 2 and one["up"]["log"] == 10
    assert two["joined"] == [] and two["across"]["log"] == two["up"]["log"] == 0


def test_a_cpu_has_no_curve(tmp_path: Path) -> None:
    cpu = device(tmp_path / "host", "this CPU", synthetic.result(backend="host", scaled=True))
    page = make(cpu)
    assert figures(page) == [] and page.all("div", "drawn") == []
    assert "Measured on a GPUnothing." in page.all("dl", "kinds")[0].text
    assert "Only checked on the CPUthis CPU." in page.all("dl", "kinds")[0].text
    assert "CPU times, not a GPU's" in page.all("figure")[0].text
    assert "nothing of a GPU is inferred on a CPU" in page.one("card").text
    page = make(cpu, device(tmp_path / "gpu", "A"))
    assert list(said(figures(page)[0])) == ["A"]
    assert "checked on the CPU, not measured on a GPU" in page.one("devices").text
    assert "this CPU" not in page.one("card").text


def test_card_side_by_side(tmp_path: Path) -> None:
    results = []
    for value in (132.0, 66.0):
        data = synthetic.result("cu_staircase")
        data["inferences"] = [synthetic.inference("compute units", value, "CUs", driver=132.0)]
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


def test_every_experiment_has_a_chapter(tmp_path: Path) -> None:
    listed = chapters.listed()
    source = synthetic.REPOSITORY / "src"
    assert len(listed) > 20 and all((source / chapter).is_dir() for chapter, _ in listed)
    # An installed tree has the list that the build makes.
    (tmp_path / "experiments.txt").write_text("".join(f"{chapter}/{name}\n" for chapter, name in listed))
    assert chapters.listed(tmp_path) == listed
    names = ["x", "lds_banks", "launch_latency", "thread_rate.wave64", "thread_rate"]
    assert chapters.in_chapters(names, tmp_path) == [
        ("1 Threads", ["thread_rate", "thread_rate.wave64", "launch_latency"]),
        ("6 LDS", ["lds_banks"]),
        (chapters.OTHER, ["x"]),
    ]
    assert chapters.listed(tmp_path / "none") == []


def test_published_figures_stand_in_tables(tmp_path: Path) -> None:
    page = make(device(tmp_path, "A", synthetic.result("thread_rate")))
    rows = [row for row in published.read() if row["experiment"] == "thread_rate"]
    section = page.one("experiment-thread_rate")
    table = next(one for one in page.all("details") if section in one.around and "All published" in one.text)
    assert f"All published figures {len(rows)}, not measured by this code" in table.text
    for row in rows:
        assert f"{row['value']} {row['unit']}" in table.text
    # Of these there are no results here.
    assert "None of these devices has a result." in page.one("experiment-dgemm").text
    assert "16.62 GFLOP/s" in page.one("experiment-dgemm").text


def test_compiled_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = device(tmp_path / "a", "A", synthetic.result("cu_staircase"))
    isa = tmp_path / "isa"
    assert html_report.main(["--isa", str(isa), str(folder)]) == 1
    assert capsys.readouterr().err == f"html_report.py: there is no folder {isa}.\n"
    assert not (folder / "report.html").exists()
    isa.mkdir()
    for name in ("gfx90a-clang15.json", "kernels.json"):
        shutil.copy(synthetic.REPOSITORY / "results" / "isa" / name, isa)
    assert html_report.main(["--isa", str(isa), str(folder)]) == 0
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert "Read from compiled code, not rungfx90a-clang15." in page.all("dl", "kinds")[0].text
    assert re.search(r"busy_kernel\d+ VGPRs, \d+ waves", page.one("experiment-cu_staircase").text)


def test_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    made = []
    for place in ("x", "y"):
        first, second = device(tmp_path / place / "a", "A"), device(tmp_path / place / "b", "B")
        make(first, second)
        made.append((first / "report.html").read_bytes())
    make(first, second)
    assert made[0] == made[1] == (first / "report.html").read_bytes()


def fleet(folder: Path, count: int) -> Page:
    for number in range(count):
        device(folder / f"node{number}", "A", synthetic.result(), synthetic.result("thread_rate"))
    return make(*(folder / f"node{number}" for number in range(count)))


def test_many_devices_are_data_and_not_elements(tmp_path: Path) -> None:
    pages = [fleet(tmp_path / str(count), count) for count in (20, 40)]
    assert pages[0].all("title")[0].text == "hipscope: 20 x A"
    # A device more is a row of one table and an entry of one list.
    grown = len(pages[1].elements) - len(pages[0].elements)
    assert grown <= 20 * 12
    figure = next(one for one in figures(pages[0]) if one["rows"] == [f"{2**k} KiB" for k in range(6)])
    assert [line[1] for line in figure["lines"]] == ["each"] * 20 + ["middle"]
    assert figure["lines"][3] == ["g0", "each", "A, node3", [100.0 * (k + 1) for k in range(6)]]
    assert figure["lines"][20][3] == [100.0 * (k + 1) for k in range(6)]
    table = next(one for one in pages[0].all("table") if "least" in one.text)
    assert "1 KiB100100A, node0100A, node0" in table.text.replace("\n", "")


def test_eight_devices_have_a_column_each(tmp_path: Path) -> None:
    page = fleet(tmp_path, 8)
    assert [len(figure["lines"]) for figure in figures(page)] == [8, 8]


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


def test_hostile_published_figures(tmp_path: Path) -> None:
    folder = device(tmp_path / "a", "A")
    path = tmp_path / "published.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(published.COLUMNS)
        rows.writerow([HOSTILE] * len(published.COLUMNS))
    assert html_report.main(["--published", str(path), *NO_ISA, str(folder)]) == 0
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert len(page.all("script")) == 2 and not page.all("x")
    assert not [one for one in page.elements if "onload" in one.attributes]


def luminance(colour: str) -> float:
    """The relative luminance of #rrggbb, as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette, ground", [(html_page.LIGHT, "#ffffff"), (html_page.DARK, "#14171b")])
def test_colours_stand_out(palette: tuple[str, ...], ground: str) -> None:
    assert ground[:4] in (html_page.FOLDER / "report.css").read_text(encoding="utf-8")
    for colour in palette:
        low, high = sorted((luminance(colour), luminance(ground)))
        # What WCAG 2 asks of graphics.
        assert (high + 0.05) / (low + 0.05) >= 3, colour
    assert len(set(palette)) == 8


def test_default_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_report, "RESULTS", tmp_path / "results")
    (tmp_path / "results" / "isa").mkdir(parents=True)
    (tmp_path / "results" / "isa" / "register_limits.json").write_text("[]")
    for name, backend in (("b", "amd"), ("a", "nvidia"), ("host", "host")):
        device(tmp_path / "results" / name, f"the {name}", synthetic.result(backend=backend))

    def title(*arguments: str | Path, page: str = "report.html") -> str:
        done = synthetic.run("html_report.py", *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return Page((tmp_path / "results" / page).read_text(encoding="utf-8")).all("title")[0].text

    assert title() == "hipscope: the a, the b"
    assert title(tmp_path / "results" / "host", page="host/report.html") == "hipscope: the host"
    assert title("--others", tmp_path / "results" / "b", page="b/report.html") == "hipscope: the b, the a"
    assert title("--others", tmp_path / "results" / "host", page="host/report.html") == (
        "hipscope: the host, the a, the b"
    )
    for name in "ab":
        shutil.rmtree(tmp_path / "results" / name)
    assert title() == "hipscope: the host"
    shutil.rmtree(tmp_path / "results" / "host")
    done = synthetic.run("html_report.py")
    assert done.returncode == 1 and "holds no results of any device" in done.stderr
