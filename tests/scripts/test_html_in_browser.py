"""The page of html_report.py in headless Chromium: switches, tooltips, both colour schemes, a phone's width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import html_report
import pytest
import synthetic

webdriver = pytest.importorskip("selenium.webdriver", reason="this Python has no selenium (python3-selenium)")
wait = pytest.importorskip("selenium.webdriver.support.wait")

pytestmark = pytest.mark.slow

DESKTOP, PHONE = (1280, 900), (360, 740)
# How many of a source's lines and bars, and columns of the first table, are shown.
SHOWN = """return [[...charts.values()].flatMap(chart => chart.data.datasets)
    .filter(one => one.line[0] === 'd{0}' && !one.hidden).length,
  [...document.querySelectorAll('#devices thead th.d{0}')].filter(one => one.getClientRects().length).length]"""
ALL = [2, 1]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of two devices and published figures, with curves, bars and long names."""
    folder = tmp_path_factory.mktemp("html")
    for name, factor in (("a", 1.0), ("b", 2.0)):
        data = synthetic.result("memory_latency")
        data["device"]["name"] = f"A GPU with a rather long name, {name.upper()} 9000 XT"
        rows = [synthetic.row(stage, x, 1.0, factor * (x + 1)) for x, stage in enumerate(("naive", "unbreakable" * 9))]
        data["sweeps"].append(synthetic.sweep("bars", rows, axis={"name": "stage", "unit": "", "scale": "linear"}))
        for row in data["sweeps"][0]["rows"]:
            row["values"][0]["value"] *= factor
            row["published"] = [synthetic.published(55.0)]
        synthetic.write(folder / name, data)
    out = folder / "report.html"
    assert html_report.main(["--out", str(out), str(folder / "a"), str(folder / "b")]) == 0
    return out


def show(browser: Any, page: Path, size: tuple[int, int], scheme: str) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get(page.as_uri())


def draw(browser: Any, number: int = 0) -> Any:
    """Scrolls to a figure, and waits until it is drawn; its place."""
    place = browser.find_elements("css selector", ".drawn")[number]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", place)
    wait.WebDriverWait(browser, 60).until(lambda _: place.find_elements("tag name", "canvas"))
    return place


def point_at(browser: Any, place: Any, dataset: int, index: int) -> None:
    """Moves the mouse to a point of a chart."""
    x, y = browser.execute_script(
        "const one = charts.get(arguments[0]).getDatasetMeta(arguments[1]).data[arguments[2]];return [one.x, one.y]",
        place,
        dataset,
        index,
    )
    canvas = place.find_element("tag name", "canvas")
    webdriver.ActionChains(browser).move_to_element_with_offset(
        canvas, int(x) - canvas.size["width"] // 2, int(y) - canvas.size["height"] // 2
    ).perform()
    browser.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 100))")


def tip(browser: Any, place: Any) -> list[str]:
    """What a chart says."""
    return browser.execute_script(
        "const {tooltip} = charts.get(arguments[0]);"
        "return tooltip.opacity ? [...tooltip.title, ...tooltip.body.flatMap(one => one.lines)] : []",
        place,
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_no_error_and_no_overflow(browser: Any, page: Path, size: tuple[int, int], scheme: str) -> None:
    show(browser, page, size, scheme)
    # With everything unfolded the page is as wide as it gets.
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    width, inner = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert inner == size[0] and width <= size[0]
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    requests = browser.execute_script("return performance.getEntriesByType('resource').length")
    assert requests == 0


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_device_is_switched_off_and_on(browser: Any, page: Path, size: tuple[int, int]) -> None:
    show(browser, page, size, "light")
    draw(browser)
    draw(browser, 1)
    assert [browser.execute_script(SHOWN.format(number)) for number in range(2)] == [ALL, ALL]
    switch = browser.find_element("id", "switch-d1")
    switch.click()
    assert [browser.execute_script(SHOWN.format(number)) for number in range(2)] == [ALL, [0, 0]]
    # By the keyboard, too.
    switch.send_keys(" ")
    assert [browser.execute_script(SHOWN.format(number)) for number in range(2)] == [ALL, ALL]
    number = browser.execute_script("return [...charts.values()][0].data.datasets[2].line[0]")[1:]
    assert browser.execute_script(SHOWN.format(number)) == [1, 0]
    browser.find_element("id", f"switch-d{number}").click()
    assert browser.execute_script(SHOWN.format(number)) == [0, 0]


def test_tooltip(browser: Any, page: Path) -> None:
    show(browser, page, DESKTOP, "light")
    place = draw(browser)
    names = [f"A GPU with a rather long name, {one} 9000 XT" for one in "AB"]
    point_at(browser, place, 0, 0)
    said = tip(browser, place)
    assert said[0] == "1 KiB"
    assert sorted(said[1:]) == [f"{names[0]}: 100 GB/s", f"{names[1]}: 200 GB/s", "MI25 (published): 55 GB/s"]
    browser.find_element("id", "switch-d1").click()
    place.find_element("tag name", "canvas").send_keys(webdriver.Keys.ARROW_RIGHT)
    assert any(names[0] in line for line in tip(browser, place))
    assert not any(names[1] in line for line in tip(browser, place))
    place.find_element("tag name", "canvas").send_keys(webdriver.Keys.ESCAPE)
    assert tip(browser, place) == []
    bars = draw(browser, 1)
    point_at(browser, bars, 0, 1)
    assert tip(browser, bars)[:2] == ["unbreakable" * 9, f"{names[0]}: 2 GB/s"]


def test_print_has_no_more_than_what_is_worth_the_paper(browser: Any, page: Path) -> None:
    show(browser, page, DESKTOP, "light")
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = browser.execute_script(
        "return ['.drawn', 'figure table', '.switches', '.contents', '.figures details'].map(which =>"
        "[...document.querySelectorAll(which)].filter(one => one.getClientRects().length).length)"
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert shown[0] > 0 and shown[1:] == [0] * 4


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 30 devices of two models, with curves and bars."""
    folder = tmp_path_factory.mktemp("many")
    for number in range(30):
        data = synthetic.result("memory_latency")
        data["device"]["name"] = f"Model {'AB'[number % 2]}"
        rows = [synthetic.row(stage, x, 1.0, x + 1.0 + 0.01 * number) for x, stage in enumerate(("naive", "better"))]
        data["sweeps"].append(synthetic.sweep("bars", rows, axis={"name": "stage", "unit": "", "scale": "linear"}))
        data["sweeps"] += [{**data["sweeps"][0], "name": f"more {more}"} for more in range(60)]
        for row in data["sweeps"][0]["rows"]:
            row["values"][0]["value"] *= 1 + 0.01 * number
            row["published"] = [synthetic.published(55.0)]
        synthetic.write(folder / f"node{number}", data)
    out = folder / "report.html"
    folders = sorted((str(one) for one in folder.iterdir()), reverse=True)
    assert html_report.main(["--out", str(out), "--no-isa", *folders]) == 0
    return out


def test_of_many_devices_what_is_in_view_is_drawn(browser: Any, fleet: Path) -> None:
    show(browser, fleet, DESKTOP, "light")
    first = draw(browser)
    assert 0 < browser.execute_script("return charts.size") < 62 == browser.execute_script("return places.length")
    assert browser.execute_script("return charts.get(arguments[0]).data.datasets.length", first) == 33
    draw(browser, -1)
    wait.WebDriverWait(browser, 60).until(lambda _: not first.find_elements("tag name", "canvas"))
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert browser.execute_script("return charts.size") == 62


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_many_devices_by_their_models(browser: Any, fleet: Path, size: tuple[int, int]) -> None:
    show(browser, fleet, size, "dark")
    place = draw(browser)
    shown = "return charts.get(arguments[0]).data.datasets.filter(one => one.line[1] === 'each' && !one.hidden).length"
    assert browser.execute_script(shown, place) == 30
    browser.execute_script("document.getElementById('switch-g1').click()")
    assert browser.execute_script(shown, place) == 15
    browser.execute_script("document.getElementById('switch-g1').click()")
    # By number: node 9 before node 10.
    options = browser.execute_script("return [...document.querySelectorAll('#chosen option')].map(one => one.text)")
    assert options == [
        "none marked",
        *(f"Model A, node{number}" for number in range(0, 30, 2)),
        *(f"Model B, node{number}" for number in range(1, 30, 2)),
    ]
    browser.execute_script(
        "const one = document.getElementById('chosen'); one.selectedIndex = 19;"
        "one.dispatchEvent(new Event('change', {bubbles: true}))"
    )
    assert browser.execute_script(
        "return charts.get(arguments[0]).data.datasets.filter(one => one.order === -1).map(one => one.label)", place
    ) == ["Model B, node7"]
    browser.execute_script("arguments[0].parentElement.querySelector('details').open = true", place)
    cells = browser.execute_script(
        "return [...arguments[0].parentElement.querySelectorAll('tbody tr:first-child > *')]"
        ".map(one => one.textContent.trim())",
        place,
    )
    of_models = (
        "114 | 100 | Model A, node0 | 128 | Model A, node28 | 115 | 101 | Model B, node1 | 129 | Model B, node29"
    )
    assert " | ".join(cells) == f"1 KiB | {of_models} | 55"
    width, inner = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert width <= inner == size[0]


def test_the_tooltip_of_many_devices(browser: Any, fleet: Path) -> None:
    show(browser, fleet, DESKTOP, "light")
    place = draw(browser)
    top = browser.execute_script(
        "return charts.get(arguments[0]).data.datasets.findIndex(one => one.label === 'Model B, node29')", place
    )
    point_at(browser, place, top, 0)
    said = tip(browser, place)
    assert said[:2] == ["1 KiB", "Model B, node29: 129 GB/s"]
    assert "Model B, median: 115 GB/s" in said and "   101 ... 129 GB/s" in said
