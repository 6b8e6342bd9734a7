"""The page of fleet.py report in headless Chromium: strips, tooltips, both colour schemes, a phone's width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_fleet
import pytest
from test_fleet_report import report
from test_html_in_browser import DESKTOP, PHONE, draw, show

pytestmark = pytest.mark.slow

# Where a strip has drawn the GPU of a number.
PLACE = """const chart = charts.get(arguments[0]), box = chart.canvas.getBoundingClientRect();
const place = chart.data.datasets[0].data.findIndex(one => one.gpu === arguments[1]);
const dot = chart.getDatasetMeta(0).data[place];
return [box.left + dot.x, box.top + dot.y]"""
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


def move(browser: Any, kind: str, x: float, y: float) -> None:
    browser.execute_cdp_cmd(
        "Input.dispatchMouseEvent",
        {"type": kind, "x": x, "y": y, "button": "none" if kind == "mouseMoved" else "left", "clickCount": 1},
    )


def test_a_dot_tells_its_gpu_and_is_marked(browser: Any, page: Path) -> None:
    show(browser, page, DESKTOP, "light")
    x, y = browser.execute_script(PLACE, draw(browser), 5)
    move(browser, "mouseMoved", x, y)
    browser.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 100))")
    said = browser.find_element("id", "tip").text.split("\n")
    assert said[0] == "node0003, GPU 1: suspect" and said[1].startswith("GPU-node0003-1, ")
    assert said[-1].startswith("FMA loop: ") and said[-1].endswith(" % of the median)")
    for kind in ("mousePressed", "mouseReleased"):
        move(browser, kind, x, y)
    assert browser.execute_script("return [...marked]") == [5]
    browser.find_element("id", "search").send_keys("node0002")
    assert browser.execute_script("return [2, 3, 4, 5].map(isMarked)") == [True, True, False, True]
    browser.find_element("id", "relative").click()
