"""normal.py: a card beside those of its model, and results that are sent in."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import made_card
import pytest
import synthetic
from test_door import put

from hipscope.compare import normal

LINK = synthetic.IDENTITY["link"]


def add(folder: Path, experiment: str, parameter: str, value: float, unit: str, **device: Any) -> None:
    """A result with one parameter, of a device with these properties; `clock` is the run's."""
    clock = device.pop("clock", {})
    data = synthetic.compact(synthetic.result(experiment, inferences=[made_card.inference(parameter, value, unit)]))
    data["device"] |= device
    data["clock"] |= clock
    synthetic.write(folder, data)


run = partial(synthetic.run, "normal.py")


PEAK, SLOW = ("ilp_tlp", "FP32 FMA peak", "TFLOP/s"), {"clock": {"shader_mhz": 1200.0}}
COPY, READ = ("host_copies", "host to device bandwidth", "GB/s"), ("memory_bandwidth", "memory read bandwidth", "GB/s")
CASES = [
    (COPY, {"link": {**LINK, "width": 8}}, {"link": LINK}, "the link to the host is x8 of x16"),
    (READ, {"ecc": "on"}, {"ecc": "off"}, "ECC is on, not off"),
    (PEAK, {"power_cap_w": 500}, {"power_cap_w": 700}, "the power cap is 500 W"),
    (PEAK, SLOW, {}, "the shader clock was 1200 MHz, not 1755 MHz"),
    (PEAK, {"clock": {"throttled_samples": 60}}, {}, "60 of 120 samples were throttled"),
    # Cycles follow no clock.
    (("lds_latency", "LDS latency", "cycles"), SLOW, {}, normal.SAY_NOTHING),
]


@pytest.mark.parametrize("of, here, there, why", CASES)
def test_what_is_off_has_a_cause(
    tmp_path: Path, of: tuple[str, str, str], here: dict[str, Any], there: dict[str, Any], why: str
) -> None:
    experiment, name, unit = of
    add(tmp_path / "mine", experiment, name, 60.0, unit, **here)
    add(tmp_path / "all" / "other", experiment, name, 100.0, unit, **there)
    page = run(tmp_path / "mine", "--against", tmp_path / "all").stdout
    assert "0 of 1 parameters are as theirs" in page
    off = next(line for line in page.splitlines() if line.startswith(f"- {name}: "))
    assert "**40.0 % below**" in off and f"Likely cause: {why}" in off


def test_what_other_sizes_gave_is_not_judged(tmp_path: Path) -> None:
    for folder, value, sizes in (("mine", 60.0, {"largest": 1}), ("all/other", 100.0, {"largest": 2})):
        add(tmp_path / folder, "ilp_tlp", "FP32 FMA peak", value, "TFLOP/s")
        put(tmp_path / folder / "ilp_tlp.json", ("options", "sizes"), sizes)
    page = run(tmp_path / "mine", "--against", tmp_path / "all").stdout
    assert "0 of 1 parameters are as theirs. Off, but measured with other sizes (" in page and ": 1.\n" in page
    assert "| -40.0 %, of other sizes |" in page and "## Off" not in page


def test_what_lies_among_others_is_normal(tmp_path: Path) -> None:
    for folder, value in (("mine", 98.0), ("all/a", 100.0), ("all/b", 103.0)):
        add(tmp_path / folder, "ilp_tlp", "FP32 FMA peak", value, "TFLOP/s", clock={"throttled_samples": 60})
    done = run(tmp_path / "mine", "--against", tmp_path / "all")
    assert done.returncode == 0, done.stderr
    assert "Compared with 2 other Test GPU: 1 of 1 parameters are as theirs." in done.stdout
    assert "## Off" not in done.stdout and "100 TFLOP/s ... 103 TFLOP/s | as theirs" in done.stdout


def test_another_model_is_not_judged_by(tmp_path: Path) -> None:
    add(tmp_path / "mine", "ilp_tlp", "FP32 FMA peak", 60.0, "TFLOP/s")
    add(tmp_path / "all" / "near", "ilp_tlp", "FP32 FMA peak", 120.0, "TFLOP/s", name="Near", compute_units=140)
    add(tmp_path / "all" / "far", "ilp_tlp", "FP32 FMA peak", 10.0, "TFLOP/s", name="Far", compute_units=20)
    page = run(tmp_path / "mine", "--against", tmp_path / "all").stdout
    assert "the nearest is Near." in page and "| 0.5 times |" in page and "## Off" not in page


def test_results_that_are_sent_in_are_plausible(tmp_path: Path) -> None:
    add(tmp_path / "all" / "other", "memory_bandwidth", "memory read bandwidth", 4000.0, "GB/s")
    add(tmp_path / "good", "memory_bandwidth", "memory read bandwidth", 3900.0, "GB/s")
    assert run(tmp_path / "good", "--against", tmp_path / "all", "--check").returncode == 0
    add(tmp_path / "bad", "memory_bandwidth", "memory read bandwidth", 9000.0, "GB/s", host="node", serial="1")
    put(tmp_path / "bad" / "memory_bandwidth.json", ("verification", "failures"), ["every element: 1 wrong"])
    done = run(tmp_path / "bad", "--against", tmp_path / "all", "--check")
    assert done.returncode == 1
    for part in (
        "a verification failed",
        "names the device's host",
        "names the device's serial",
        "9000 GB/s, which clock and bus do not carry",
        "9000 GB/s, others of the model 4000 to 4000",
        "bad: 5 implausible",
    ):
        assert part in done.stdout


@pytest.mark.parametrize("folder", ["nvidia-h200", "nvidia-h200-x2", "nvidia-h100"])
def test_stored_results_are_plausible_and_name_no_device(folder: str) -> None:
    mine = normal.measured(synthetic.REPOSITORY / "results" / folder)
    assert list(normal.implausible(mine, [mine], True)) == []


def test_the_stored_card_lies_beside_itself() -> None:
    mine = normal.measured(synthetic.REPOSITORY / "results" / "nvidia-h200")
    assert len(mine.readings) > 60 and {one.off for one in normal.places(mine, [mine])} == {0.0}


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    done = run(tmp_path / "nothing")
    assert (done.returncode, done.stderr) == (2, f"normal.py: there is no folder {tmp_path / 'nothing'}.\n")
