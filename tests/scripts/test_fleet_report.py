"""fleet.py report: what is said of a made fleet's GPUs and nodes, and the files that say it."""

from __future__ import annotations

import functools
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema
import made_fleet
import pytest
import synthetic
from conftest import call

from hipscope.fleet import curves, expected, gather, layout, nodes
from hipscope.results import door, formats, load

FLEET = synthetic.SCRIPTS / "fleet.py"
SCHEMA = json.loads((synthetic.REPOSITORY / "results" / "fleet-schema.json").read_text(encoding="utf-8"))
SLOW = {("node0001", 1): 0.03, ("node0020", 0): 0.05, ("node0010", 2): 0.02}


report = functools.partial(synthetic.run, "fleet.py", "report")


def read(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "fleet.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, SCHEMA)
    return data


def change(folder: Path, node: str, **members: Any) -> None:
    path = folder / "nodes" / node / "node.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **members}))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """160 GPUs, three of which have a slow memory, and their report."""
    folder = tmp_path_factory.mktemp("large")
    made_fleet.write_fleet(folder, 20, 8, SLOW)
    (folder / "nodes.txt").write_text("node[0001-0020] 8\n")
    # Without any packages beside the standard library.
    done = call(sys.executable, "-S", FLEET, "report", folder, "--expect", folder / "nodes.txt")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.startswith("160 GPUs of 20 nodes: 157 pass, 3 suspect, 0 fail\n")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six nodes of two GPUs, to be spoiled."""
    folder = tmp_path_factory.mktemp("made")
    made_fleet.write_fleet(folder, 6, 2)
    return folder


@pytest.fixture
def small(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "small")


def test_finds_the_slow_ones_and_no_other(large: Path) -> None:
    data = read(large)
    bad = {(gpu["node"], gpu["slot"]): gpu for gpu in data["gpus"] if gpu["state"] != "pass"}
    assert set(bad) == set(SLOW)
    for place, part in SLOW.items():
        memory = [one["deficit"] for one in bad[place]["findings"] if one["metric"] == "memory read"]
        assert memory and memory[0] == pytest.approx(part, abs=0.012) and "memory" in bad[place]["cause"]
    lists = {name: (large / f"{name}.txt").read_text().split() for name in ("pass", "suspect", "fail")}
    assert lists["suspect"] == ["node0001", "node0010", "node0020"] and not lists["fail"]
    assert sorted(lists["pass"] + lists["suspect"]) == [f"node{number:04d}" for number in range(1, 21)]
    assert not (large / "unjudged.txt").exists()
    # The suspects, and as many that are good.
    again = [tuple(line.split()) for line in (large / "confirm.txt").read_text().splitlines()]
    assert len(again) == 6 and {(node, str(slot)) for node, slot in SLOW} < set(again)


def test_text_and_series(large: Path) -> None:
    text = (large / "fleet.md").read_text()
    assert "| GPUs | 157 | 0 | 3 | 0 |" in text and "| node0001 | 1 | GPU-node0001-1 |" in text
    lines = (large / "hipscope.prom").read_text().splitlines()
    assert 'hipscope_fleet_gpus{state="suspect"} 3' in lines
    assert 'hipscope_gpu_state{node="node0020",gpu="0",uuid="GPU-node0020-0",model="NVIDIA H200"} 2' in lines
    assert all(re.fullmatch(r'# (HELP|TYPE) .+|[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [-+0-9.e]+', line) for line in lines)
    assert len([line for line in lines if line.startswith("hipscope_gpu_state{")]) == 160


def test_the_page_has_every_gpu_once(large: Path) -> None:
    page = (large / "fleet.html").read_text()
    assert "src=" not in page and "href=" not in page
    data = json.loads(re.search(r"id=data>(.*?)</script>", page, re.S)[1])  # type: ignore[index]
    assert len(data["uuid"]) == 160 and len(data["nodes"]) == 20
    assert len(data["metrics"]) == page.count("<figure class=metric>") > 20
    # Of many curves a band is drawn, and lines of those that do not pass.
    for plot in data["curves"]:
        assert plot["count"] == 160 and len(plot["bands"]) == 5
        drawn = {line[0] for line in plot["lines"]}
        assert {number for number, state in enumerate(read(large)["gpus"]) if state["state"] != "pass"} <= drawn
        assert len(drawn) == len(plot["lines"]) <= 200


def test_all_that_is_kept_follows_its_schema(large: Path) -> None:
    node = large / "nodes" / "node0001"
    files = [large / "fleet.json", node / "node.json", *(node / "gpu-0").rglob("*.json")]
    assert len(files) == 2 + len(made_fleet.TEMPLATES)
    for file in files:
        load.check_file(file)


def test_suspects_that_are_confirmed_fail(large: Path, tmp_path: Path) -> None:
    import random

    folder = shutil.copytree(large, tmp_path / "again")
    numbers = random.Random(5)
    listed = [line.split() for line in (folder / "confirm.txt").read_text().splitlines()]
    for node, slot in listed:
        slow = 0.0 if node == "node0010" else SLOW.get((node, int(slot)), 0.0)
        for time in (1, 2, 3):
            made_fleet.write_gpu(folder, node, int(slot), numbers, slow, again=time)
        shutil.copy(folder / "nodes" / node / "node.json", folder / "nodes" / node / "confirm.json")
    done = report(folder)
    assert done.returncode == 1
    states = {(gpu["node"], gpu["slot"]): gpu["state"] for gpu in read(folder)["gpus"] if gpu["state"] != "pass"}
    assert states == {("node0001", 1): "fail", ("node0020", 0): "fail"}
    assert (folder / "fail.txt").read_text() == "node0001\nnode0020\n" and (folder / "confirm.txt").read_text() == ""


def test_a_small_fleet_takes_a_baseline(large: Path, tmp_path: Path) -> None:
    made_fleet.write_fleet(tmp_path, 1, 3, {("node0001", 1): 0.04})
    alone = report(tmp_path)
    assert alone.returncode == 0 and {gpu["state"] for gpu in read(tmp_path)["gpus"]} == {"unjudged"}
    assert "3 GPUs, too few to tell how fast is normal; it takes 16 of a kind" in (tmp_path / "fleet.md").read_text()
    assert (tmp_path / "unjudged.txt").read_text() == "node0001\n" and (tmp_path / "pass.txt").read_text() == ""
    assert report(tmp_path, "--baseline", str(large / "fleet.json")).returncode == 0
    assert [gpu["state"] for gpu in read(tmp_path)["gpus"]] == ["pass", "suspect", "pass"]
    refused = report(tmp_path, "--baseline", str(tmp_path / "fleet.json"))
    assert refused.returncode == 2 and "is of too few GPUs to be a baseline" in refused.stderr


def test_a_node_is_judged_by_its_own_files_and_without_a_pool(
    small: Path, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    baseline, node = large / "fleet.json", small / "nodes" / "node0002"
    opened = []
    read_bytes = door.read_bytes
    monkeypatch.setattr(door, "read_bytes", lambda path, most: opened.append(path) or read_bytes(path, most))
    # As on a machine without /dev/shm.
    monkeypatch.setattr(gather, "ProcessPoolExecutor", mock.Mock(side_effect=OSError))
    record = json.loads((node / "node.json").read_text())
    assert gather.judge_node(small, record, baseline) == []
    assert {path for path in opened if path != baseline} == {*node.glob("gpu-*/*/*.json")}


def test_gpus_whose_curves_are_comparable_share_their_axis(small: Path) -> None:
    found = gather.read_all(nodes.places(small, nodes.read_nodes(small, None)), 1)
    axes = [curve.axis for read in found.values() for curve in read.curves]
    assert len(axes) > 12 and len({id(axis) for axis in axes}) == len(set(axes))


def test_nodes_that_fail_do_so_by_name(small: Path) -> None:
    (small / "nodes.txt").write_text("# all\nnode[0001-0004]\nnode0005 3\nnode0009\n")
    change(small, "node0002", status="started", ended=None)
    change(small, "node0003", status="failed", message="the driver hangs")
    (small / "nodes/node0004/gpu-1/together/fma_loop.json").write_text('{"half')
    gpus = json.loads((small / "nodes/node0001/node.json").read_text())["gpus"]
    gpus[1].update(state="hung", message="fma_loop did not end within 60 s and was killed")
    change(small, "node0001", gpus=gpus, interruptions=2)
    done = report(small, "--expect", str(small / "nodes.txt"))
    assert done.returncode == 1
    said = {line.split(": ")[1]: line for line in done.stdout.splitlines() if line.startswith("fail: ")}
    assert set(said) == {"node0001", "node0002", "node0003", "node0004", "node0005", "node0009"}
    assert "gpu 1: hung" in said["node0001"] and "was interrupted 2 times and went on" in said["node0001"]
    assert "did not end, last heard of after alone host_copies" in said["node0002"]
    assert said["node0003"] == "fail: node0003: the driver hangs"
    assert said["node0004"] == "fail: node0004: gpu 1: its results cannot be read"
    assert "node0004/gpu-1/together/fma_loop.json is not a whole JSON file" in (small / "fleet.md").read_text()
    assert "has 2 GPUs, and 3 are expected" in said["node0005"]
    assert said["node0009"] == "fail: node0009: never reported"
    assert (small / "fail.txt").read_text().split() == sorted(said)
    assert read(small)["notes"][0] == "not expected, but there: node0006"


def test_a_node_that_has_lost_a_gpu(small: Path) -> None:
    gpus = json.loads((small / "nodes/node0003/node.json").read_text())["gpus"][:1]
    shutil.rmtree(small / "nodes/node0003/gpu-1")
    change(small, "node0003", gpus=gpus)
    assert report(small).returncode == 0
    assert (small / "suspect.txt").read_text() == "node0003\n"
    assert "has 1 GPU, and 5 of 6 nodes have 2" in (small / "fleet.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere/nodes cannot be read: No such file or directory"),
        (["small", "--expect", "nowhere"], "nowhere cannot be read: No such file or directory"),
        (["small", "--expect", "empty"], "empty names no node"),
        (["small", "--expect", "range"], "range, line 2: 'n[3-1]' is no range of nodes"),
        (["small", "--expect", "words"], "words, line 1: a line is a node's name and, after it, its number of GPUs"),
        (["small", "--baseline", "empty"], "empty is not a whole JSON file"),
        (["small", "--baseline", "other"], "other does not follow the schema: the file: lacks baseline"),
        (["small", "--out", "empty/x"], "the folder empty/x cannot be made: Not a directory"),
        (["small", "--jobs", "0"], "'0' is no number from 1 to 128"),
        ([], "the following arguments are required: DIR"),
    ],
)
def test_bad_usage_is_one_sentence(
    small: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    for name, text in (("empty", "# none\n"), ("range", "a\nn[3-1]\n"), ("words", "a b\n"), ("other", "{}")):
        (small.parent / name).write_text(text)
    monkeypatch.chdir(small.parent)
    done = report(*arguments)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    assert said in done.stderr and not (small / "fleet.json").exists()


def test_curves_over_time_are_laid_over_each_other() -> None:
    def soak(ends: list[float]) -> list[curves.Curve]:
        rows = [synthetic.row(f"{end} s", end, 1e-3, 100.0 - end) for end in ends]
        axis = {"name": "time", "unit": "s", "scale": "linear"}
        return list(curves.curves_of(synthetic.result("soak", sweeps=[synthetic.sweep("multiply", rows, axis=axis)])))

    (one,), (other,) = soak([9.0, 21.0, 30.0, 40.02]), soak([11.0, 19.0, 32.0, 39.97])
    assert one.axis == other.axis and (one.axis.xs[0], one.axis.xs[-1], len(one.axis.xs)) == (0.2, 40.0, 200)
    for curve in (one, other):
        for x, value in zip(curve.axis.xs, curve.values):
            if 11 <= x <= 39.9:
                assert value == pytest.approx(100.0 - x)


def test_ranges_of_nodes() -> None:
    assert expected.expand("n[01-03,7]x") == ["n01x", "n02x", "n03x", "n7x"] and expected.expand("n1") == ["n1"]
    for wrong in ("n[3-1]", "n[1-99999999]", "n[1,]"):
        with pytest.raises(ValueError, match=re.escape(wrong)):
            expected.expand(wrong)


def test_names_are_ordered_by_number() -> None:
    names = ["n10", "n9", "a", "n9-2", "10", "9"]
    assert sorted(names, key=formats.by_number) == ["9", "10", "a", "n9", "n9-2", "n10"]


def test_short_and_long_names_are_one_node(small: Path) -> None:
    place = layout.nodes_folder(small)
    (place / "node0001").rename(place / "node0001.site.example")
    found = nodes.read_nodes(small, {"node0001": 2, "node0002.site.example": None})
    assert found["node0001.site.example"].is_expected and found["node0002"].is_expected
    assert [name for name, node in found.items() if node.state == "fail"] == ["node0002.site.example"]
