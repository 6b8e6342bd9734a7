"""The page of fleet.py report in headless Chromium: strips, tooltips, both colour schemes, a phone's width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_fleet
import pytest
from test_fleet_report import report
from test_html_in_browser import DESKTOP, PHONE, draw, point_at, show, webdriver

pytestmark = pytest.mark.slow

# Where in a strip the GPU of a number is.
PLACE = "return charts.get(arguments[0]).data.datasets[0].data.findIndex(one => one.gpu === arguments[1])"
PAINTED = """const {canvas} = charts.get(arguments[0]);
return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(one => one > 0)"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 20 GPUs, one of which is slow, and of a node that has never reported."""
    folder = tmp_path_factory.mktemp("fleet")
    made_fleet.write_fleet(folder, 10, 2, {("node0003", 1): 0.04})
    (folder / "nodes.txt").write_text("node[0001-0011]\n")
    done = report(folder, "--expect", str(folder / "nodes.txt"))
    assert done.returncode == 1 and "19 pass, 1 suspect" in done.stdout
    return folder / "fleet.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_no_error_and_no_overflow(browser: Any, page: Path, size: tuple[int, int], scheme: str) -> None:
    show(browser, page, size, scheme)
    width, inner = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert inner == size[0] and width <= size[0]
    for number in (0, -1):
        assert browser.execute_script(PAINTED, draw(browser, number))
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_a_dot_tells_its_gpu_and_is_marked(browser: Any, page: Path) -> None:
    show(browser, page, DESKTOP, "light")
    strip = draw(browser)
    point_at(browser, strip, 0, browser.execute_script(PLACE, strip, 5))
    said = browser.find_element("id", "tip").text.split("\n")
    assert said[0] == "node0003, GPU 1: suspect" and said[1].startswith("GPU-node0003-1, ")
    assert said[-1].startswith("FMA loop: ") and said[-1].endswith(" % of the median)")
    webdriver.ActionChains(browser).click().perform()
    assert browser.execute_script("return [...marked]") == [5]
    browser.find_element("id", "search").send_keys("node0002")
    assert browser.execute_script("return [2, 3, 4, 5].map(isMarked)") == [True, True, False, True]
    browser.find_element("id", "relative").click()
