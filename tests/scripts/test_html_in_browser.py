"""The page of html_report.py in headless Chromium: switches, tooltips, both colour schemes, a phone's width."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import synthetic

webdriver = pytest.importorskip("selenium.webdriver", reason="this Python has no selenium (python3-selenium)")
pytest.importorskip("selenium.webdriver.support.wait")

sys.path.insert(0, str(synthetic.SCRIPTS))

import html_report  # noqa: E402  # pylint: disable=wrong-import-position

pytestmark = pytest.mark.slow

DESKTOP, PHONE = (1280, 900), (360, 740)
SIDEWAYS = (667, 240)
# How many of a source's curves, bars, legend entries and columns of the first table are shown.
SHOWN = """return ['.curve', '.bar', '.legend li', '#devices thead th'].map(kind =>
  [...document.querySelectorAll(kind + '.d{0}')].filter(one => one.getClientRects().length).length)"""
ALL = [1, 2, 2, 1]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window, or a skip."""
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
    if not driver or not chromium:
        pytest.skip("there is no chromium with chromedriver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.chrome.service.Service(driver))
    yield started
    started.quit()


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
    """Opens the page from disk in a window of this size."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.get(page.as_uri())


def complaints(browser: Any) -> list[str]:
    """What the console has of errors and warnings."""
    return [entry["message"] for entry in browser.get_log("browser")]


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
    assert complaints(browser) == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_device_is_switched_off_and_on(browser: Any, page: Path, size: tuple[int, int]) -> None:
    show(browser, page, size, "light")
    assert [browser.execute_script(SHOWN.format(number)) for number in range(2)] == [ALL, ALL]
    switch = browser.find_element("id", "switch-d1")
    switch.click()
    assert [browser.execute_script(SHOWN.format(number)) for number in range(2)] == [ALL, [0, 0, 0, 0]]
    # By the keyboard, too.
    switch.send_keys(" ")
    assert [browser.execute_script(SHOWN.format(number)) for number in range(2)] == [ALL, ALL]
    assert complaints(browser) == []


def test_published_figures_are_switched_off(browser: Any, page: Path) -> None:
    show(browser, page, DESKTOP, "light")
    number = browser.execute_script(
        "return [...document.querySelector('.curve.published').classList].find(one => /^d[0-9]+$/.test(one)).slice(1)")
    assert browser.execute_script(SHOWN.format(number)) == [1, 0, 1, 0]
    browser.find_element("id", f"switch-d{number}").click()
    assert browser.execute_script(SHOWN.format(number)) == [0, 0, 0, 0]
    assert browser.execute_script(SHOWN.format(0)) == ALL


def test_tooltip(browser: Any, page: Path) -> None:
    show(browser, page, DESKTOP, "light")
    plot = browser.find_element("css selector", ".plot")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", plot)
    webdriver.ActionChains(browser).move_to_element_with_offset(plot, -plot.size["width"] // 2 + 60, 0).perform()
    tip = browser.find_element("id", "tip")
    assert tip.is_displayed()
    said = tip.text.split("\n")
    assert said[0] == "1 KiB" and sorted(said[2::2]) == ["100 GB/s", "200 GB/s", "55 GB/s"]
    browser.find_element("id", "switch-d1").click()
    plot.send_keys(webdriver.Keys.ARROW_RIGHT)
    assert "B 9000 XT" not in tip.text and "A 9000 XT" in tip.text
    plot.send_keys(webdriver.Keys.ESCAPE)
    assert not tip.is_displayed()
    assert complaints(browser) == []


def test_theme_button(browser: Any, page: Path) -> None:
    show(browser, page, DESKTOP, "dark")
    button = browser.find_element("id", "theme")
    grounds = []
    for _ in range(3):
        grounds.append(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
        assert button.text == ("Dark" if grounds[-1] == "rgb(255, 255, 255)" else "Light")
        button.click()
    assert grounds == [grounds[0], "rgb(255, 255, 255)", grounds[0]] and grounds[0] != grounds[1]
    assert complaints(browser) == []


def test_a_tooltip_is_whole_on_a_phone_held_sideways(browser: Any, page: Path) -> None:
    show(browser, page, SIDEWAYS, "light")
    plot = browser.find_element("css selector", ".plot")
    for block in ("start", "center", "end"):
        browser.execute_script("arguments[0].scrollIntoView({block: arguments[1]})", plot, block)
        for _ in range(3):
            plot.send_keys(webdriver.Keys.ARROW_RIGHT)
            top, bottom, left, right = browser.execute_script(
                "const tip = document.getElementById('tip'); const place = tip.getBoundingClientRect();"
                "return [place.top, place.bottom, place.left, place.right]")
            assert 0 <= top < bottom <= SIDEWAYS[1] and 0 <= left < right <= SIDEWAYS[0], (block, top, bottom)


def test_print_has_no_more_than_what_is_worth_the_paper(browser: Any, page: Path) -> None:
    show(browser, page, DESKTOP, "light")
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = browser.execute_script(
        "return ['.plot', 'figure table', '.switches', '#theme', '.contents', '.figures details'].map(which =>"
        "[...document.querySelectorAll(which)].filter(one => one.getClientRects().length).length)")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert shown[0] > 0 and shown[1:] == [0] * 5


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


DRAWN = "return [...document.querySelectorAll('.drawn')].map(one => one.querySelectorAll('svg').length)"


def test_of_many_devices_what_is_in_view_is_drawn(browser: Any, fleet: Path) -> None:
    show(browser, fleet, DESKTOP, "light")
    first = browser.find_element("css selector", ".drawn")
    browser.execute_script("arguments[0].scrollIntoView()", first)
    wait = webdriver.support.wait.WebDriverWait(browser, 60)
    wait.until(lambda _: first.find_elements("tag name", "svg"))
    drawn = browser.execute_script(DRAWN)
    assert len(drawn) == 62 and 0 < sum(drawn) < 62
    assert browser.execute_script("return arguments[0].querySelectorAll('.each').length", first) == 30
    last = browser.find_elements("css selector", ".drawn")[-1]
    browser.execute_script("arguments[0].scrollIntoView()", last)
    wait.until(lambda _: last.find_elements("tag name", "svg") and not first.find_elements("tag name", "svg"))
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert complaints(browser) == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_many_devices_by_their_models(browser: Any, fleet: Path, size: tuple[int, int]) -> None:
    show(browser, fleet, size, "dark")
    place = browser.find_element("css selector", ".drawn")
    browser.execute_script("arguments[0].scrollIntoView()", place)
    webdriver.support.wait.WebDriverWait(browser, 60).until(lambda _: place.find_elements("tag name", "svg"))
    shown = "return [...arguments[0].querySelectorAll('.each')].filter(one => one.getClientRects().length).length"
    assert browser.execute_script(shown, place) == 30
    browser.execute_script("document.getElementById('switch-g1').click()")
    assert browser.execute_script(shown, place) == 15
    browser.execute_script("document.getElementById('switch-g1').click()")
    # By number: node 9 before node 10.
    options = browser.execute_script("return [...document.querySelectorAll('#chosen option')].map(one => one.text)")
    assert options == ["none marked", *(f"Model A, node{number}" for number in range(0, 30, 2)),
                       *(f"Model B, node{number}" for number in range(1, 30, 2))]
    browser.execute_script("const one = document.getElementById('chosen'); one.value = '1.3';"
                           "one.dispatchEvent(new Event('change'))")
    place = browser.find_element("css selector", ".drawn")
    assert len(place.find_elements("css selector", ".marked")) == 1
    browser.execute_script("arguments[0].querySelector('details').open = true", place)
    webdriver.support.wait.WebDriverWait(browser, 60).until(lambda _: place.find_elements("tag name", "table"))
    cells = browser.execute_script(
        "return [...arguments[0].querySelectorAll('tbody tr:first-child > *')].map(one => one.textContent)", place)
    assert cells == ["1 KiB", "114", "100", "Model A, node0", "128", "Model A, node28",
                     "115", "101", "Model B, node1", "129", "Model B, node29", "55"]
    width, inner = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert width <= inner == size[0]
    assert complaints(browser) == []


def test_the_tooltip_of_many_devices(browser: Any, fleet: Path) -> None:
    show(browser, fleet, DESKTOP, "light")
    place = browser.find_element("css selector", ".drawn")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", place)
    webdriver.support.wait.WebDriverWait(browser, 60).until(lambda _: place.find_elements("tag name", "svg"))
    plot = place.find_element("tag name", "svg")
    webdriver.ActionChains(browser).move_to_element_with_offset(plot, -plot.size["width"] // 2 + 60, 0).perform()
    said = browser.find_element("id", "tip").text.split("\n")
    assert said[0] == "1 KiB" and said[1] == "Model B, node29" and said[2] == "129 GB/s"
    assert said[3:7] == ["median", "115 GB/s", "least ... most", "101 ... 129 GB/s"]
    assert complaints(browser) == []


def test_all_of_many_devices_is_printed(browser: Any, fleet: Path) -> None:
    show(browser, fleet, DESKTOP, "light")
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert browser.execute_script(DRAWN) == [1] * 62
