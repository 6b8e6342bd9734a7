"""What others wrote, as hostile as can be: it costs a sentence, in a fleet the one GPU or node, never the rest."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import compare
import fleet
import html_report
import jsonschema
import made_fleet
import pytest
import report
import synthetic

from hipscope.compare import changes, table
from hipscope.fleet import curves, gather, layout, metrics, nodes
from hipscope.html import experiment_section, sources
from hipscope.html import page as html_page
from hipscope.report import page as report_page
from hipscope.results import door, load, shapes

SEED = 35
CASES = 4000  # of the fuzzer
OBEYED = "\x1b[2J\x1b]0;x\x07\ud800\u202e"
Json = dict[str, Any]
Place = tuple[Any, ...]


def text(content: str | bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content if isinstance(content, bytes) else content.encode())


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(8 * 10**9)


# Files that are none, whatever they are to hold, with what is said of each.
FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (os.mkfifo, "it is no regular file"),
    "zeros without end": (lambda path: path.symlink_to("/dev/zero"), "it is no regular file"),
    "a sparse file": (sparse, "it has more than 64 MiB"),
    "a folder": (os.mkdir, "Is a directory"),
    "a link to nothing": (lambda path: path.symlink_to("nowhere"), "No such file"),
    "a link to itself": (lambda path: path.symlink_to(path.name), "Too many levels"),
    "half a file": (text('{"half'), "is not a whole JSON file"),
    "bytes": (text(b'{"a": "\xff"}'), "is not a whole JSON file"),
    "deep": (text("[" * 200000), "is nested too deep"),
    "a long number": (text("1" + "0" * 400), "is too large"),
    "a large number": (text("1e400"), "is too large"),
    "no number": (text("NaN"), "NaN is not JSON"),
    "nothing": (text(""), "is not a whole JSON file"),
    "a byte order mark": (text("\ufeff{}"), "is not a whole JSON file"),
    "two values": (text("{} {}"), "is not a whole JSON file"),
    "zeros": (text("\0" * 1000), "is not a whole JSON file"),
    "a list": (text("[]"), "does not follow the schema: the file: [] is not of type object"),
}
BANDWIDTH = ("sweeps", 0, "rows", 0, "values", 0)
MAXIMUM = ("sweeps", 0, "rows", 0, "measurements", "time", 5)
# What is at a place of a result (its device, or of a sweep with a bandwidth), and what is said of it.
RESULTS: dict[str, tuple[Place, Any, str]] = {
    "a name that is an object": (("device", "name"), {}, "device.name: {} is not of type string"),
    "a name that is a list": (("device", "name"), ["x"], "is not of type string"),
    "no name": (("device", "name"), None, "null is not of type string"),
    "an experiment elsewhere": (("experiment",), "../../x", "does not match"),
    "an experiment with a line's end": (("experiment",), "a\n", "does not match"),
    "a value of text": (BANDWIDTH, "fast", "is not of type number or null or array"),
    "a value of 10^30": (BANDWIDTH, 1e30, "bandwidth is 1e+30 GB/s"),
    "a value of nearly nothing": (BANDWIDTH, 1e-300, "bandwidth is 1e-300 GB/s"),
    "a time of 10^30": (MAXIMUM, 1e30, "time is of times or clocks that nothing has"),
    "a time of 10^400": (MAXIMUM, 10**400, "is too large"),
    "a time that is no number": (MAXIMUM, float("nan"), "NaN is not JSON"),
    "a time below 0": (MAXIMUM, -1, "-1 is less than 0"),
}
GPU, RUNS = ("gpus", 0), ("gpus", 0, "runs")
# The same of a node's file.
NODES: dict[str, tuple[Place, Any, str]] = {
    "an index of 70000": ((*GPU, "index"), 70000, "gpus.0.index: 70000 is more than 1023"),
    "an index of -1": ((*GPU, "index"), -1, "-1 is less than 0"),
    "an index of 10^30": ((*GPU, "index"), 10**30, "is too large"),
    "runs that are a number": (RUNS, 5, "gpus.0.runs: 5 is not of type array"),
    "no runs": (RUNS, None, "null is not of type array"),
    "runs that are an object": (RUNS, {}, "{} is not of type array"),
    "a run without its phase": (RUNS, [{"experiment": "x"}], "lacks exit, message, phase"),
    "a GPU twice": (("gpus", 1, "index"), 0, "lists a GPU twice"),
    "100 000 GPUs": (("gpus",), [{}] * 100000, "has a length more than 1024"),
    "another status": (("status",), "finished?", "is none of"),
}


def at(data: Any, place: Place) -> Any:
    for key in place:
        data = data[key]
    return data


def put(path: Path, place: Place, value: Any) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    at(data, place[:-1])[place[-1]] = value
    path.write_text(json.dumps(data), encoding="utf-8")


def sentence(said: str, program: str) -> str:
    """What a program says, which is one line that nothing obeys."""
    assert said.startswith(f"{program}: ") and said.count("\n") == 1 and said[:-1].isprintable(), said
    return said


def snapshot(folder: Path) -> dict[str, Any]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and path.stat().st_size < 10**9 else None
        for path in folder.rglob("*")
    }


def bandwidth() -> Json:
    """A result that RESULTS can be put into."""
    rows = [synthetic.row(name, x, 1e-3, None) for x, name in enumerate(("read", "write", "copy"))]
    data = synthetic.compact(synthetic.result("memory_bandwidth", sweeps=[synthetic.sweep("stream", rows)]))
    data["sweeps"][0]["units"] = {"bandwidth": "GB/s"}
    for row in data["sweeps"][0]["rows"]:
        row["values"] = [4000.0]
    return data


def whole_result(text: str | None = None) -> Json:
    """A result of two sweeps, of curves and of bars, in which every member of the schema has a value; every free text
    of it is `text`, if given."""
    rows = [synthetic.row(f"{2**k} KiB", 2.0 ** (k + 10), 1e-5 * 2**k, 100.0 * (k + 1)) for k in range(3)]
    rows[0]["published"] = [synthetic.published(55.0, note="a note")]
    bars = [synthetic.row(name, x, 1e-3, 5.0 + x) for x, name in enumerate(("naive", "tiled"))]
    axis = {"name": "stage", "unit": "", "scale": "linear"}
    data = synthetic.result(
        sweeps=[synthetic.sweep("sizes", rows, notes=["a note"]), synthetic.sweep("stages", bars, axis=axis)]
    )
    data["verification"]["failures"] = ["one"]
    return synthetic.compact(data if text is None else synthetic.put_everywhere(data, text))


# --- The door ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_of_json(tmp_path: Path, name: str) -> None:
    make, said = FILES[name]
    make(tmp_path / "result.json")
    for read in (load.load_any_name, nodes.read_record, gather.read_baseline):
        with pytest.raises(door.BadInput, match=f"result.json .*{said.replace('[', '.').replace(']', '.')}") as raised:
            read(tmp_path / "result.json")
        assert str(raised.value).isprintable() and len(str(raised.value)) < 500


def test_texts_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "table"
    for content, said in (
        (b"\xff", "no|not a text file"),
        (b'a,b\n"1', "is not a CSV"),
        (b"a\n", "begin"),
        (b"a,b\n1\n", "row 1"),
    ):
        path.write_bytes(content)
        with pytest.raises(door.BadInput, match=said):
            door.read_csv(path, ("a", "b"))
    path.write_text(f"a,b\n1,x{OBEYED[:4]}y\n")
    assert door.read_csv(path, ("a", "b")) == [{"a": "1", "b": "x[2Jy"}]
    with path.open("wb") as file:
        file.truncate(door.MOST_TEXT + 1)
    with pytest.raises(door.BadInput, match="has more than 8 MiB"):
        door.read_text(path)


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    """The path of every value in a JSON."""
    yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*path, key))


EDGES = json.loads(
    "[null, true, 0, -1, 7, 1024, 0.5, 1e18, 1.1e18, 1e-31, 1e308, -1e308, 5e-324, 9223372036854775808, NaN, Infinity,"
    f'18446744073709551616, 18446744073709551617, 1{"0" * 30}, "", "text", "{"x" * 3000}", {json.dumps(OBEYED)},'
    '[], {}, [[]], [0], ["a"], {"a": 1}, [[0, ""]]]'
)


def spoiled(data: Json, numbers: random.Random) -> Json:
    """The JSON with one to three things wrong."""
    data = copy.deepcopy(data)
    for _ in range(numbers.choice((1, 1, 1, 2, 3))):
        place = numbers.choice([one for one in places(data) if one])
        around, key = at(data, place[:-1]), place[-1]
        kind = numbers.choice(("value", "value", "value", "gone", "more", "twice"))
        if kind == "value":
            around[key] = copy.deepcopy(numbers.choice(EDGES))
        elif kind == "gone":
            del around[key]
        elif isinstance(around, dict):
            around[numbers.choice(("added", OBEYED))] = copy.deepcopy(around[key])
        else:
            around.append(copy.deepcopy(around[key]))
    return data


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(item)


def use_result(path: Path) -> None:
    """Does with a result what the programs do."""
    found = load.document(path)
    load.load_any_name(path)
    gpu = metrics.of_results("node1/gpu-0", "node1", metrics.Results([found], []))
    assert all(abs(one.value) < 1e60 and one.noise < 1e60 for one in gpu.metrics.values())
    list(curves.curves_of(found))
    assert all(one.isprintable() for one in strings(found))


def use_pages(path: Path) -> None:
    """Makes the pages of a result, without its plots, and compares it with itself."""
    found = [load.load_any_name(path)]
    html_page.make_page(experiment_section.Content(sources.make_sources([(path.parent, found)], []), [], {}))
    report_page.make_page(found, frozenset(), has_pages=False)
    compared = changes.compare([found], [found], 0.02)
    json.loads(json.dumps(compared.as_json()), parse_constant=pytest.fail)
    assert table.text(compared, True).replace("\n", "").isprintable()


def use_node(path: Path) -> None:
    """Does with a node's file what the report does."""
    folder = path.parents[2]
    found = nodes.read_nodes(folder, {path.parent.name: 2})
    for slot in found[path.parent.name].slots:
        nodes.trouble_of(found[path.parent.name], slot)
    assert all(one.isprintable() for node in found.values() for one in node.reasons)


def use_baseline(path: Path) -> None:
    """Judges by a baseline."""
    baseline = gather.read_baseline(path)
    identity = metrics.Identity("a", model="NVIDIA H200", backend="nvidia")
    gather.verdicts.judge(
        [metrics.Gpu(identity, {"memory read": metrics.Metric(4e3, "bytes", "higher", 0.002)})], baseline
    )


def baseline() -> Json:
    data: Json = json.loads((synthetic.REPOSITORY / "results/fleets/nvidia-h200-x2/fleet.json").read_text())
    data["metrics"] = data["metrics"][:2]
    normal = {"memory read": {"centre": -8.3, "spread": 0.003, "freedom": 50.0, "of": 64}}
    settings = dict.fromkeys(("driver", "firmware", "power_cap", "partition"), "")
    cohort = {"model": "NVIDIA H200", "backend": "nvidia", **settings, "count": 64, "metrics": normal}
    data["baseline"] = {"version": 1, "cohorts": [cohort]}
    return data


SECONDS = {"name": "time", "unit": "s", "scale": "linear"}
STEPS = [synthetic.row(str(x), x, 1e-3, 5.0) for x in range(5)]
SOAK = synthetic.compact(synthetic.result("soak", sweeps=[synthetic.sweep("GEMM", STEPS, axis=SECONDS)]))
FUZZED: dict[str, tuple[Json, Callable[[Path], None], str]] = {
    "result": (synthetic.told(bandwidth()), use_result, "schema.json"),
    "soak": (SOAK, use_result, "schema.json"),
    "pages": (whole_result(), use_pages, "schema.json"),
    "node": (made_fleet.record("node1", 2), use_node, "node-schema.json"),
    "baseline": (baseline(), use_baseline, "fleet-schema.json"),
}


@pytest.mark.parametrize("kind", FUZZED)
def test_fuzzed_json_is_refused_in_a_sentence_or_used(tmp_path: Path, kind: str) -> None:
    good, use, schema = FUZZED[kind]
    numbers = random.Random(f"{SEED} {kind}")
    path = tmp_path / "nodes" / "node1" / "node.json"
    path.parent.mkdir(parents=True)
    # 1e18 is an integer to JSON Schema, and none to what takes it for an index.
    of = jsonschema.Draft202012Validator
    types = of.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    validator = jsonschema.validators.extend(of, type_checker=types)(
        json.loads((shapes.SCHEMAS / schema).read_text(encoding="utf-8"))
    )
    path.write_text(json.dumps(good))
    use(path)
    seen = {True: 0, False: 0}
    for case in range(CASES // len(FUZZED)):
        data = spoiled(good, numbers)
        path.write_text(json.dumps(data))
        try:
            use(path)
        except door.BadInput as refused:
            assert str(refused).isprintable() and str(refused).endswith("."), refused
        # Its own check of types says what the known one does, of what is JSON.
        if case % 8 == 0 and not re.search("NaN|Infinity", path.read_text()):
            followed = shapes.follows(shapes.named(schema), data)
            assert followed == validator.is_valid(data), data
            seen[followed] += 1
    assert min(seen.values()) > 3, seen


def test_every_schema_is_understood() -> None:
    for path in sorted(shapes.SCHEMAS.glob("*schema*.json")):
        shapes.named(path.name)
    with pytest.raises(ValueError, match="keyword oneOf"):
        shapes.compiled({"oneOf": []})


# --- html_report.py, compare.py and report.py ----------------------------------------------------------


@pytest.mark.parametrize("name", [*FILES, *RESULTS])
def test_programs_refuse_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    good, path = synthetic.write(tmp_path / "good", bandwidth()), tmp_path / "bad" / "memory_bandwidth.json"
    path.parent.mkdir()
    if name in FILES:
        FILES[name][0](path)
    else:
        shutil.copy(good, path)
        put(path, *RESULTS[name][:2])
    said = FILES[name][1] if name in FILES else RESULTS[name][2]
    for page in ("README.md", "card.json", "report.html"):
        (path.parent / page).write_text("before")
    before = snapshot(tmp_path)
    for program, main, arguments, status in (
        ("report.py", report.main, [path.parent], 1),
        ("html_report.py", html_report.main, ["--no-isa", path.parent], 1),
        ("compare.py", compare.main, [good.parent, path.parent], 2),
    ):
        assert main([str(one) for one in arguments]) == status
        assert said in sentence(capsys.readouterr().err, program)
    assert snapshot(tmp_path) == before


def test_a_pipe_that_a_shell_has_made_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = synthetic.write(tmp_path, bandwidth())
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as file:
        file.write(good.read_bytes())
    assert compare.main([str(good), f"/dev/fd/{reading}"]) == 0
    os.close(reading)
    assert "0 worse" in capsys.readouterr().out


@pytest.mark.parametrize("make, said", [(os.mkfifo, "No such device or address"), (os.mkdir, "Is a directory")])
def test_a_page_that_nobody_can_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], None], said: str
) -> None:
    folder = synthetic.write(tmp_path / "good", bandwidth()).parent
    out = tmp_path / "out"
    make(out)
    before = snapshot(tmp_path)
    assert html_report.main(["--no-isa", "--out", str(out), str(folder)]) == 1
    assert f"out cannot be written: {said}" in sentence(capsys.readouterr().err, "html_report.py")
    assert compare.main([str(folder), str(folder), "--json", str(out)]) == 2
    assert f"out cannot be written: {said}" in sentence(capsys.readouterr().err, "compare.py")
    (folder / "memory_bandwidth.md").mkdir()
    assert report.main([str(folder)]) == 1 and not (folder / "README.md").exists()
    (folder / "memory_bandwidth.md").rmdir()
    shutil.rmtree(folder / "plots", ignore_errors=True)
    assert snapshot(tmp_path) == before


# --- fleet.py report -----------------------------------------------------------------------------------


def write_node(folder: Path, name: str, numbers: random.Random) -> None:
    """A node of two GPUs whose memory was measured."""
    for slot in range(2):
        place = layout.node_folder(folder, name) / layout.gpu_name(slot) / layout.TOGETHER
        place.mkdir(parents=True)
        content = made_fleet.result(layout.TOGETHER, "memory_bandwidth", numbers, name, slot, 0.0)
        (place / "memory_bandwidth.json").write_text(content)
    layout.write_json(layout.node_folder(folder, name) / layout.NODE_FILE, made_fleet.record(name, 2))


def spoil(node: Path, number: int) -> tuple[bool, str]:
    """Makes a node hostile in one of all ways: whether that costs the node or one GPU, and what is to be said."""
    ways = [*(("result", name) for name in RESULTS), *(("node", name) for name in NODES)]
    ways += [*(("file", name) for name in FILES), *(("node file", name) for name in FILES)]
    kind, name = ways[number % len(ways)]
    result, record = node / "gpu-1" / layout.TOGETHER / "memory_bandwidth.json", node / layout.NODE_FILE
    if kind == "node":
        put(record, *NODES[name][:2])
        return True, NODES[name][2]
    if kind == "result":
        place = RESULTS[name][0]
        if place[:1] == ("sweeps",):
            data = json.loads(result.read_text())
            data["sweeps"] = bandwidth()["sweeps"]
            result.write_text(json.dumps(data))
        put(result, *RESULTS[name][:2])
        return False, RESULTS[name][2]
    path = result if kind == "file" else record
    path.unlink()
    FILES[name][0](path)
    return kind == "node file", FILES[name][1]


@pytest.fixture(scope="module")
def nodes_of_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve nodes of two GPUs."""
    folder = tmp_path_factory.mktemp("fleet")
    numbers = random.Random(SEED)
    for number in range(12):
        write_node(folder, f"node{number:02d}", numbers)
    return folder


@pytest.fixture
def small(nodes_of_two: Path, tmp_path: Path) -> Path:
    """A copy, to be spoiled."""
    return shutil.copytree(nodes_of_two, tmp_path / "small")


def judged(folder: Path) -> Json:
    assert fleet.main(["report", str(folder), "--jobs", "1"]) in (0, 1)
    data: Json = json.loads((folder / "fleet.json").read_text(encoding="utf-8"))
    assert all(one.isprintable() for one in strings(data))
    return data


@pytest.mark.slow
def test_the_good_are_judged_as_if_the_hostile_were_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count, bad = 250, 50
    both, good = tmp_path / "both", tmp_path / "good"
    numbers = random.Random(SEED)
    hostile = set(numbers.sample(range(count), bad))
    expected: dict[str, tuple[bool, str]] = {}
    for number in range(count):
        name = f"node{number:04d}"
        write_node(both, name, numbers)
        if number in hostile:
            expected[name] = spoil(layout.node_folder(both, name), len(expected))
        else:
            shutil.copytree(layout.node_folder(both, name), layout.node_folder(good, name), copy_function=os.link)
    alone, found = judged(good), judged(both)
    assert capsys.readouterr().err == ""
    reasons = {node["name"]: " ".join(node["reasons"]) for node in found["nodes"] if node["state"] == "fail"}
    assert set(reasons) == set(expected)
    assert (both / "fail.txt").read_text().split() == sorted(expected)
    said = {(gpu["node"], gpu["slot"]): " ".join(gpu["sentences"]) for gpu in found["gpus"]}
    for name, (is_node, part) in expected.items():
        assert part in (reasons[name] if is_node else said[name, 1]), (name, reasons[name], said.get((name, 1)))
    # What is normal is told by more GPUs where only one of a node is lost, and no good one is judged otherwise for it.
    states = [
        {
            (gpu["node"], gpu["slot"]): (gpu["state"], gpu["cause"])
            for gpu in data["gpus"]
            if gpu["node"] not in expected
        }
        for data in (alone, found)
    ]
    assert states[0] == states[1] and len(states[0]) == 2 * (count - bad)
    # Those whose node is lost leave no trace in any figure.
    for name, (is_node, _) in expected.items():
        if not is_node:
            shutil.rmtree(layout.node_folder(both, name))
    found = judged(both)
    assert [gpu for gpu in found["gpus"] if gpu["node"] not in expected] == alone["gpus"]
    assert found["baseline"] == alone["baseline"] and found["cohorts"] == alone["cohorts"]


def test_what_a_terminal_would_obey_is_not_told(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    node = small / "nodes/node00/node.json"
    put(node, ("status",), "failed")
    put(node, ("message",), f"it {OBEYED} hangs")
    put(small / "nodes/node01/gpu-0/together/memory_bandwidth.json", ("device", "uuid"), f"<b>{OBEYED}|")
    put(small / "nodes/node02/gpu-0/together/memory_bandwidth.json", ("status",), "failed")
    failures = {"checks": 1, "failures": ["<img src=x>\n| a</script>"]}
    put(small / "nodes/node02/gpu-0/together/memory_bandwidth.json", ("verification",), failures)
    (small / "nodes/..evil").mkdir()
    judged(small)
    said = capsys.readouterr().out
    assert "fail: node00: it [2J]0;x hangs" in said and said.replace("\n", "").isprintable()
    page = (small / "fleet.html").read_text()
    assert "<b>[" not in page and "<img" not in page and page.count("</script>") == 2
    assert "<img" not in (small / "fleet.md").read_text()
    for name in ("fleet.md", "hipscope.prom", "fleet.html"):
        assert (small / name).read_text().replace("\n", "").isprintable(), name


@pytest.mark.parametrize("name", ["fleet.html", "unjudged.txt", "confirm.txt"])
def test_all_outputs_or_none(small: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    judged(small)
    (small / name).unlink(missing_ok=True)
    (small / name).mkdir()
    capsys.readouterr()
    before = snapshot(small)
    put(small / "nodes/node00/node.json", ("status",), "failed")
    assert fleet.main(["report", str(small)]) == 2
    assert f"{name} cannot be written: Is a directory" in sentence(capsys.readouterr().err, "fleet.py")
    assert {**snapshot(small), "nodes/node00/node.json": b""} == {**before, "nodes/node00/node.json": b""}


def deny(value: Any) -> Json:
    """A baseline with a number that is none."""
    data = baseline()
    data["baseline"]["cohorts"][0]["metrics"]["memory read"].update(value)
    return data


@pytest.mark.parametrize(
    "option, make, said",
    [
        ("--expect", text("node[1-100000,1-100000]\n"), "is no range of nodes"),
        ("--expect", text("".join(f"node{number}\n" for number in range(100_001))), "names more than 100000 nodes"),
        ("--expect", text("x" * (door.MOST_TEXT + 1)), "has more than 8 MiB"),
        ("--expect", text("a\0b\x1b[2J\n"), "'ab[2J' is no node's name"),
        *(("--expect", FILES[name][0], FILES[name][1].replace("64", "8")) for name in list(FILES)[:6]),
        *(("--baseline", FILES[name][0], FILES[name][1]) for name in FILES),
        ("--baseline", text(json.dumps(deny({"centre": 1e308}))), "1e+308 is more than 200"),
        ("--baseline", text(json.dumps(deny({"spread": 1e9}))), "1000000000.0 is more than 10"),
        ("--baseline", text(json.dumps(deny({"freedom": 0}))), "0 is not more than 0"),
        ("--baseline", text(json.dumps(deny({"of": "x"}))), "is not of type integer"),
    ],
)
def test_what_the_command_line_names(
    small: Path, capsys: pytest.CaptureFixture[str], option: str, make: Callable[[Path], object], said: str
) -> None:
    make(small / "named")
    before = snapshot(small)
    assert fleet.main(["report", str(small), option, str(small / "named")]) == 2
    assert said in sentence(capsys.readouterr().err, "fleet.py")
    assert snapshot(small) == before
