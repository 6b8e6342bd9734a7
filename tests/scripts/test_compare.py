"""compare.py on synthetic runs."""

from __future__ import annotations

import copy
import functools
import json
import random
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import compare
import pytest
import synthetic

from hipscope.compare import verdicts
from hipscope.results import load
from hipscope.results.records import Measurement

Json = dict[str, Any]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs compare.py in this process: its status, what it printed and its complaint."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        status = compare.main([str(argument) for argument in arguments])
        return (status, *capsys.readouterr())

    return run


def scaled(data: Json, factor: float) -> Json:
    """The result with all times of its second row multiplied."""
    changed = copy.deepcopy(data)
    synthetic.scale_times(changed["sweeps"][0]["rows"][1]["measurements"][0], factor)
    return changed


def two(folder: Path, old: Json, new: Json) -> tuple[Path, Path]:
    return synthetic.write(folder / "old", old), synthetic.write(folder / "new", new)


def test_the_same_is_the_same(tmp_path: Path, said: Any) -> None:
    data = synthetic.result()
    status, out, err = said(*two(tmp_path, data, data))
    # Six times, the verification and two inferences; the rates follow from the times.
    assert (status, out, err) == (0, "9 compared: 0 worse, 0 better, 0 changed, 9 same.\n", "")


@pytest.mark.parametrize(
    "factor, status, verdict, new, change, spread",
    [
        # Three samples from 0.99 to 1.02 of each median.
        (1.1, 1, "worse", "22.00 us", "+10.0 %", "4.5 %"),
        (0.9, 0, "better", "18.00 us", "-10.0 %", "4.0 %"),
        (0.0, 0, "better", "0 us", "-100.0 %", "3.0 %"),
    ],
)
def test_a_change(
    tmp_path: Path, said: Any, factor: float, status: int, verdict: str, new: str, change: str, spread: str
) -> None:
    data = synthetic.result()
    done, out, _ = said(*two(tmp_path, data, scaled(data, factor)))
    assert done == status
    (line,) = [line for line in out.splitlines() if line.startswith("copy_rate ")]
    place = ("copy_rate", "sizes", "2 KiB", "time")
    cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
    assert cells == [*place, "20.00 us", new, change, change, spread, verdict]


def test_noise_and_threshold_both_count(tmp_path: Path, said: Any) -> None:
    data = synthetic.result()
    noisy = two(tmp_path / "a", data, scaled(data, 1.04))
    # The ranges are 3 % each, which makes 4.3 % of both.
    assert said(*noisy)[0] == 0
    quiet = copy.deepcopy(data)
    quiet["sweeps"][0]["rows"][1]["measurements"][0].update(synthetic.times([2e-5] * 3))
    files = two(tmp_path / "b", quiet, scaled(quiet, 1.04))
    assert said(*files)[0] == 1
    assert said("--threshold", "5", *files)[0] == 0
    assert said("--threshold", "0", *noisy)[0] == 0


def test_from_zero(tmp_path: Path, said: Any) -> None:
    data = synthetic.result()
    status, out, _ = said(*two(tmp_path, scaled(data, 0.0), data), "--json", tmp_path / "out.json")
    assert status == 1 and "from 0" in out
    (worse,) = [one for one in json.loads((tmp_path / "out.json").read_text())["changes"] if one["verdict"] == "worse"]
    assert (worse["old"], worse["change"], worse["noise"]) == (0.0, None, None)


def is_change(old: list[float], new: list[float]) -> bool:
    """Whether the medians of the samples differ by more than their noise."""
    before, after = (
        Measurement("time", "s", **synthetic.times(samples), shader_mhz=None, throttled=0) for samples in (old, new)
    )
    change = verdicts.relative_change(before.median, after.median)
    return abs(change) > (verdicts.relative_noise([before], [after]) or 0)


@pytest.mark.parametrize("samples, most", [(3, 0.04), (4, 0.01), (8, 0.01), (12, 0.01), (30, 0.01)])
def test_noise_is_rarely_a_change(samples: int, most: float) -> None:
    numbers = random.Random(7)
    sides = ([[1 + 0.1 * numbers.gauss(0, 1) for _ in range(samples)] for _ in "ab"] for _ in range(2000))
    assert sum(is_change(*one) for one in sides) / 2000 < most


@pytest.mark.parametrize("samples", [3, 8, 12, 30])
def test_a_change_of_twice_the_spread_is_found(samples: int) -> None:
    numbers = random.Random(7)
    for _ in range(500):
        old, new = ([middle + 0.002 * numbers.gauss(0, 1) for _ in range(samples)] for middle in (1, 1.05))
        assert is_change(old, new)


def with_value(unit: str, value: float | None, measured: bool = True) -> Json:
    """A result whose first row has this value, and a time or none."""
    data = synthetic.result()
    row = data["sweeps"][0]["rows"][0]
    row["values"].append({"name": "extra", "value": value, "unit": unit})
    if not measured:
        row["measurements"] = []
    return data


@pytest.mark.parametrize(
    "unit, old, new, measured, verdict",
    [
        ("per thread", 64, 65, True, "changed"),
        ("bytes/thread", 0, 16, True, "changed"),
        ("per thread", 64, 64, True, None),
        ("per thread", 64, None, True, "changed"),
        # Beside a time it says what that says; alone it is all there is.
        ("cycles", 100.0, 110.0, True, None),
        ("cycles", 100.0, 110.0, False, "worse"),
        ("cycles", 100.0, 90.0, False, "better"),
        ("cycles", 100.0, 101.0, False, None),
        ("GB/s", 100.0, 50.0, True, None),
        ("GB/s", 100.0, 50.0, False, None),
    ],
)
def test_values(
    tmp_path: Path, said: Any, unit: str, old: float, new: float | None, measured: bool, verdict: str | None
) -> None:
    files = two(tmp_path, with_value(unit, old, measured), with_value(unit, new, measured))
    status, out, _ = said(*files)
    assert status == (verdict == "worse")
    lines = [line for line in out.splitlines() if " extra " in line]
    assert [line.rsplit(None, 1)[1] for line in lines] == ([verdict] if verdict else [])


def test_inferences(tmp_path: Path, said: Any) -> None:
    old, new = synthetic.result(), synthetic.result()
    new["inferences"][0]["value"] = 60.0
    new["inferences"][1]["value"] = 128.0
    status, out, _ = said(*two(tmp_path, old, new))
    assert status == 0 and "2 changed" in out
    assert "50 MiB" in out and "60 MiB" in out and "+20.0 %" in out
    assert "not found" in out and "128 B" in out


def test_verification(tmp_path: Path, said: Any) -> None:
    failed = synthetic.result(status="failed", verification={"checks": 6, "failures": ["one"]})
    assert said(*two(tmp_path / "a", synthetic.result(), failed))[0] == 1
    status, out, _ = said(*two(tmp_path / "b", failed, synthetic.result()))
    assert status == 0 and "1 better" in out
    assert said(*two(tmp_path / "c", failed, failed))[0] == 0
    quiet = synthetic.result(verification={"checks": 6, "failures": ["one"]})
    assert said(*two(tmp_path / "d", synthetic.result(), quiet))[0] == 1


def test_sorted_by_size(tmp_path: Path, said: Any) -> None:
    old, new = synthetic.result(), synthetic.result()
    for row, factor in zip(new["sweeps"][0]["rows"], (1.1, 0.5, 1.3, 1, 1, 1)):
        synthetic.scale_times(row["measurements"][0], factor)
    _, out, _ = said(*two(tmp_path, old, new))
    verdicts_of = [line.rsplit(None, 1)[1] for line in out.splitlines() if line.startswith("copy_rate")]
    assert verdicts_of == ["better", "worse", "worse"]
    assert out.index("2 KiB") < out.index("4 KiB") < out.index("1 KiB")


def test_conditions(tmp_path: Path, said: Any) -> None:
    old, new = synthetic.result(), synthetic.result()
    new["device"].update(name="Other GPU", driver="590.2")
    new["build"]["compiler"] = "gcc 13"
    new["options"]["sizes"] = {"--bytes": 2}
    new["clock"]["shader_mhz"] = 1600.0
    _, out, _ = said(*two(tmp_path, old, new))
    assert out.splitlines()[:5] == [
        "WARNING: device name: Test GPU -> Other GPU",
        "Differs: device driver: 580.1 -> 590.2",
        "Differs: compiler: gcc 12 -> gcc 13",
        "WARNING: size --bytes: 1048576 -> 2",
        "WARNING: shader clock: 1755 MHz -> 1600 MHz",
    ]


def test_single_samples_are_warned_of(tmp_path: Path, said: Any) -> None:
    old, new = synthetic.result(), synthetic.result()
    new["options"]["preset"] = "once"
    _, out, _ = said(*two(tmp_path, old, new))
    assert out.splitlines()[:2] == [
        "Differs: option preset: default -> once",
        "WARNING: --once takes one sample, of which no noise is known",
    ]
    _, out, _ = said(*two(tmp_path / "same", new, new))
    assert out.startswith("WARNING: --once takes")


def test_what_one_side_has(tmp_path: Path, said: Any) -> None:
    old, new = synthetic.result(), synthetic.result()
    del new["sweeps"][0]["rows"][0]
    new["sweeps"].append({**copy.deepcopy(old["sweeps"][0]), "name": "more"})
    synthetic.write(tmp_path / "old", synthetic.result("gone"))
    two(tmp_path, old, new)
    status, out, _ = said(tmp_path / "old", tmp_path / "new")
    assert status == 0
    assert "Only in OLD: gone, copy_rate/sizes/1 KiB\nOnly in NEW: copy_rate/more\n" in out


def test_rows_of_one_name_are_told_apart(tmp_path: Path, said: Any) -> None:
    data = synthetic.result()
    data["sweeps"][0]["rows"] += copy.deepcopy(data["sweeps"][0]["rows"])
    new = copy.deepcopy(data)
    new["sweeps"][0]["rows"][-1]["measurements"][0].update(synthetic.times([1.0]), shader_mhz=None)
    _, out, _ = said(*two(tmp_path, data, new))
    assert out.endswith("15 compared: 1 worse, 0 better, 0 changed, 14 same.\n")


def test_all_only_and_json(tmp_path: Path, said: Any) -> None:
    data = synthetic.result()
    files = two(tmp_path, data, scaled(data, 2))
    status, out, _ = said(*files, "--all", "--only", "sizes/[12] KiB/time", "--json", tmp_path / "out.json")
    assert status == 1
    assert [line.rsplit(None, 1)[1] for line in out.splitlines() if line.startswith("copy_rate")] == ["worse", "same"]
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["counts"] == {"worse": 1, "better": 0, "changed": 0, "same": 1}
    assert found["changes"][0]["change"] == pytest.approx(1.0)
    assert said(*files, "--only", "sizes/1 KiB")[0] == 0


def test_a_file_that_says_nothing_hostile_to_a_terminal(tmp_path: Path, said: Any) -> None:
    data = synthetic.result()
    data["sweeps"][0]["rows"][1]["label"] = "a\x1b[31m\u202e\nb"
    new = scaled(data, 2)
    new["device"]["driver"] = "\x1b]0;x\x07"
    _, out, _ = said(*two(tmp_path, data, new))
    assert "\x1b" not in out and "\u202e" not in out and "a[31m b" in out


PAIR = ["old/copy_rate.json", "new/copy_rate.json"]
NO_SIDES = "give OLD and NEW, or --old and --new with one run or more each."


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["--threshold", "much", *PAIR], "--threshold"),
        (["--threshold", "-1", *PAIR], "--threshold"),
        (["--threshold", "nan", *PAIR], "--threshold"),
        (["--only", "(", *PAIR], "regular expression"),
        (["--only", "nothing of that name", *PAIR], "nothing of that name"),
        (["--json", "/dev/null/x.json", *PAIR], "/dev/null/x.json"),
        (["x"], NO_SIDES),
        (["x", "y", "z"], NO_SIDES),
        (["--old", "x"], NO_SIDES),
        (["x", "y", "--old", "z"], NO_SIDES),
        (["x", "--old", "y", "--new", "z"], NO_SIDES),
        ([PAIR[0], "other/other.json"], "no experiment in common: copy_rate against other"),
        (["old", "other"], "in common"),
        (["old", PAIR[0]], "not of one kind"),
        ([PAIR[0], "bad.json"], "bad.json is not a whole JSON file"),
        (["missing", PAIR[0]], "missing cannot be read"),
        (["old", "."], "bad.json is not a whole"),
    ],
)
def test_bad_usage_and_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Any, arguments: list[str], part: str
) -> None:
    monkeypatch.chdir(tmp_path)
    two(tmp_path, synthetic.result(), synthetic.result())
    synthetic.write(tmp_path / "other", synthetic.result("other"))
    (tmp_path / "bad.json").write_text("{")
    status, out, err = said("--json", "out.json", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("compare.py: ") and err.count("\n") == 1 and part in err
    assert not (tmp_path / "out.json").exists()


def run_of(
    numbers: random.Random,
    uuid: str = "",
    scale: Callable[[str, int], float] = lambda sweep, row: 1.0,
    clock: float = 1500.0,
) -> list[Json]:
    """A run of three experiments with ten sweeps of 20 rows each, whose times vary from run to run by long tails."""
    found = []
    for number in range(3):
        sweeps = []
        for sweep in range(10):
            rows = []
            for place in range(20):
                tail = numbers.gauss(0, 1) / numbers.gammavariate(1.5, 1 / 1.5) ** 0.5
                time = 1e-4 * (1 + 0.01 * tail) * scale(f"s{sweep}", place) * 1500.0 / clock
                rows.append(synthetic.row(f"row {place}", place, time, 1.0))
                measured = rows[-1]["measurements"][0]
                measured.update(synthetic.times([time * (1 + 0.0005 * numbers.gauss(0, 1)) for _ in range(12)]))
                measured["shader_mhz"] = clock
            sweeps.append(synthetic.sweep(f"s{sweep}", rows))
        found.append(synthetic.result(f"experiment_{number}", sweeps=sweeps))
        if uuid:
            found[-1] = synthetic.compact(found[-1])
            found[-1]["device"]["uuid"] = uuid
    return found


@pytest.fixture
def runs(tmp_path: Path) -> Any:
    def write(name: str, *made: Any, **more: Any) -> Path:
        for data in run_of(*made, **more):
            synthetic.write(tmp_path / name, data)
        return tmp_path / name

    return write


def summary(out: str) -> str:
    """What the last line counts."""
    return out.splitlines()[-1].partition(": ")[2]


def test_two_runs_of_one_build_differ_in_nothing(runs: Any, said: Any) -> None:
    """600 rows, of which ten of a hundred are more than the threshold apart and the samples quiet."""
    numbers = random.Random(1)
    old, new = runs("old", numbers), runs("new", numbers)
    status, out, _ = said(old, new)
    assert status == 0 and summary(out).startswith("0 worse, 0 better")
    status, out, _ = said("--old", old, runs("a", numbers), "--new", new, runs("b", numbers))
    assert status == 0 and summary(out).startswith("0 worse, 0 better")


def test_what_changed_among_noise_is_found(runs: Any, said: Any) -> None:
    numbers = random.Random(2)
    status, out, _ = said(
        runs("old", numbers), runs("new", numbers, scale=lambda sweep, row: 4.0 if (sweep, row) == ("s3", 7) else 1.0)
    )
    worse = [line for line in out.splitlines() if line.endswith("worse")]
    assert status == 1 and len(worse) == 3 and all("row 7" in line for line in worse)


def test_several_runs_find_less(runs: Any, said: Any) -> None:
    """A tenth is lost between two runs, and found with four a side."""
    numbers = random.Random(3)

    def slower(sweep: str, row: int) -> float:
        return 1.12 if (sweep, row) == ("s3", 7) else 1.0

    old = [runs(f"old{number}", numbers) for number in range(5)]
    new = [runs(f"new{number}", numbers, scale=slower) for number in range(5)]
    assert summary(said(old[0], new[0])[1]).startswith("0 worse")
    status, out, _ = said("--old", *old, "--new", *new)
    worse = [line for line in out.splitlines() if line.endswith("worse")]
    assert status == 1 and len(worse) == 3 and all("row 7" in line for line in worse)


def test_a_sweep_as_a_whole(runs: Any, said: Any, tmp_path: Path) -> None:
    numbers = random.Random(4)
    old = runs("old", numbers)
    new = runs("new", numbers, scale=lambda sweep, row: 1.2 if sweep == "s3" else 1.0)
    status, out, _ = said(old, new, "--json", tmp_path / "out.json", "--only", "experiment_1/")
    (line,) = [line.split() for line in out.splitlines() if line.startswith("experiment_1") and "row" not in line]
    assert status == 1 and line[:3] == ["experiment_1", "s3", "20"] and line[-1] == "worse"
    found = json.loads((tmp_path / "out.json").read_text())["sweeps"]
    assert [one["sweep"] for one in found if one["verdict"] == "worse"] == ["s3"]
    assert found[0]["change"] == pytest.approx(0.2, abs=0.02) and found[0]["rows"] == 20


def test_a_slower_clock_is_no_slower_kernel(runs: Any, said: Any) -> None:
    numbers = random.Random(5)
    status, out, _ = said(runs("old", numbers), runs("new", numbers, clock=1200.0))
    assert status == 0 and "WARNING" not in out.splitlines()[0]
    assert summary(out).startswith("0 worse, 0 better") and out.splitlines()[-1].endswith("clock.")


def test_another_card_by_its_uuid(runs: Any, said: Any) -> None:
    numbers = random.Random(6)

    def differs(sweep: str, row: int) -> float:
        return 1.15 if (sweep, row) == ("s3", 7) else 3.0 if (sweep, row) == ("s4", 8) else 1.0

    old = [runs(f"old{number}", numbers, uuid="GPU-1") for number in range(5)]
    new = [runs(f"new{number}", numbers, uuid="GPU-2", scale=differs) for number in range(5)]
    status, out, _ = said("--old", *old, "--new", *new)
    assert out.startswith("WARNING: another card: GPU-1 -> GPU-2\n")
    assert status == 1 and summary(out) == "3 worse, 0 better, 0 changed, 603 same, 3 another card."
    # A card that is on both sides leaves nothing to its being another.
    _, out, _ = said("--old", *old, "--new", *new, runs("mixed", numbers, uuid="GPU-1", scale=differs))
    assert "another card" not in out


def test_another_card_by_where_its_units_lie(tmp_path: Path, said: Any) -> None:
    def card(name: str, moved: set[int], model: str = "Test GPU") -> Path:
        rows = [synthetic.row(str(unit), unit, 1e-4, 1.0) for unit in range(20)]
        for row in rows:
            row["values"] = [
                {"name": "latency", "value": 290.0 * (1.03 if row["x"] in moved else 1.0), "unit": "cycles"}
            ]
        data = synthetic.result("memory_latency", sweeps=[synthetic.sweep("units", rows)])
        data["device"]["name"] = model
        return synthetic.write(tmp_path / name, data)

    first = card("first", {3, 4})
    assert "another card" not in said(first, card("same", {3, 4}))[1]
    assert "another card: 4 CUs or more lie otherwise" in said(first, card("other", {8, 9}))[1]
    assert "another card" not in said(first, card("model", {8, 9}, "Other GPU"))[1]


@pytest.fixture(scope="module")
def one_card(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Four quick runs, A to D, of one H200 and one build, one after the other: lds_banks, ilp_tlp, cache_sharing."""
    folder = tmp_path_factory.mktemp("one_card")
    with tarfile.open(Path(__file__).parent / "data" / "one_card.tar.xz") as archive:
        for member in archive.getmembers():
            file = archive.extractfile(member)
            assert file is not None
            (folder / member.name).parent.mkdir(exist_ok=True)
            (folder / member.name).write_bytes(file.read())
    with mock.patch.object(load, "load_folder", functools.cache(load.load_folder)):
        yield folder


@pytest.mark.parametrize(
    "old, new",
    [("A", "B"), ("A", "C"), ("A", "D"), ("B", "C"), ("B", "D"), ("C", "D"), ("AB", "CD"), ("AC", "BD"), ("AD", "BC")],
)
def test_real_runs_of_one_card_differ_in_nothing(one_card: Path, said: Any, tmp_path: Path, old: str, new: str) -> None:
    out = tmp_path / "out.json"
    status, text, _ = said(
        "--old", *(one_card / one for one in old), "--new", *(one_card / one for one in new), "--json", out
    )
    assert (status, text) == (0, "4751 compared: 0 worse, 0 better, 0 changed, 4751 same.\n")
    found = json.loads(out.read_text())
    assert {one["verdict"] for one in found["sweeps"]} == {"same"}
    # Not because nothing differs: by the threshold alone so many would have changed.
    assert sum(abs(one["change"] or 0) > 0.02 for one in found["changes"]) >= 10


def made_slower(run: Path, to: Path, place: tuple[str, str, str | None]) -> Path:
    """The run with 3 % on the times of a sweep, or of one row of it."""
    experiment, sweep_name, label = place
    for file in run.iterdir():
        data = json.loads(file.read_text())
        for sweep in data["sweeps"] if file.stem == experiment else ():
            for row in sweep["rows"]:
                if sweep["name"] == sweep_name and label in (None, row.get("label", str(row["x"]))):
                    for time in synthetic.members(row, "measurements"):
                        time[1:6] = [1.03 * one for one in time[1:6]]
        to.mkdir(exist_ok=True)
        (to / file.name).write_text(json.dumps(data))
    return to


@pytest.mark.parametrize(
    "place",
    [
        ("lds_banks", "chase-4", None),
        ("lds_banks", "published", None),
        ("ilp_tlp", "fp64-fma-grid", None),
        ("ilp_tlp", "peak", "FP32 FMA"),
    ],
)
def test_three_per_cent_are_found_among_real_runs(
    one_card: Path, said: Any, tmp_path: Path, place: tuple[str, str, str | None]
) -> None:
    new = [made_slower(one_card / one, tmp_path / one, place) for one in "CD"]
    status, text, _ = said("--old", one_card / "A", one_card / "B", "--new", *new)
    worse = [line.split() for line in text.splitlines() if line.endswith(" worse")]
    wanted = " ".join(part for part in place if part)
    false = {tuple(line[:3]) for line in worse if not " ".join(line).startswith(wanted + " ")}
    found = len({tuple(line[:3]) for line in worse}) - len(false)
    # Two rows of l2-handover differ between these runs by more than two a side tell, and come along with enough others.
    assert status == 1 and found >= 1
    assert {line[:2] for line in false} <= {("cache_sharing", "l2-handover")} and len(false) <= 2, false
