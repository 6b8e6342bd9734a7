"""report.py, html_report.py and compare.py on damaged and hostile input: a sentence or a page, never half of one."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import compare
import html_report
import pytest
import report
import synthetic
from pages import Page
from test_door import whole_result

from hipscope.results import formats

pytestmark = pytest.mark.slow

STEM = "copy_rate"
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onload='alert(1)",
    "../../../escaped",
    "/escaped",
    "a\nb\r\n# heading\n- item",
    "\u202eright to left\u200f",
    "]]><!--",
    "</style></script></svg>",
    "\0\x1b[31m\x07",
    "![x](javascript:alert(1)) [y](//host)",
    "`code` | **b** | _c_ $x$ ~~d~~",
    "&lt;script&gt; &#60;b&#62;",
    "x" * 5000,
    "\ud800 lone surrogate",
    "",
    " ",
    "\u00a0",
    "<!DOCTYPE",
    "{{7*7}} ${7} %s %(x)s \\",
    "=cmd()",
    "C:\\con",
    ".",
    "..",
)
# What a program may leave beside the results: names of plots are of small letters, digits and dashes.
WRITES = {
    "report.py": rf"README\.md|{STEM}\.md|card\.(md|json)|plots(/{STEM}-[a-z0-9-]+\.svg)?",
    "html_report.py": r"report\.html",
    "compare.py": r"compared\.json",
}


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """A library's warning would stand on stderr beside the one sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def left_besides(added: set[str], folder: Path, writes: str) -> list[str]:
    """What is not to be left in a folder."""
    return [name for name in added if not re.fullmatch(f"{re.escape(str(folder))}/({writes})", name)]


class Bench:
    """Lets the tools read one file, and looks at what they say and leave."""

    def __init__(self, root: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.root, self.capture, self.count = root, capture, 0
        self.good = synthetic.write(root / "good", whole_result())

    def folder(self, name: str = "") -> Path:
        self.count += 1
        made = self.root / f"case-{self.count}" / (name or "results")
        made.mkdir(parents=True)
        return made

    def files(self) -> set[str]:
        start = len(str(self.root)) + 1
        return {
            os.path.join(folder, name)[start:]
            for folder, folders, files in os.walk(self.root)
            for name in (*folders, *files)
        }

    def run(self, tool: Callable[[list[str]], int], name: str, arguments: list[str], file: Path) -> int:
        """Runs a tool on the file. Its status."""
        before = self.files()
        status = tool(arguments)
        err = self.capture.readouterr().err
        added = self.files() - before
        failed = status == (2 if name == "compare.py" else 1)
        if failed:
            assert formats.plain(str(file)) in err or formats.plain(str(file.parent)) in err
            assert err.startswith(f"{name}: ") and err.count("\n") == 1 and err.endswith("\n")
            assert not added
        else:
            assert status in ((0, 1) if name == "compare.py" else (0,)) and not err, (name, status, err)
            assert not left_besides(added, file.parent.relative_to(self.root), WRITES[name])
        return status

    def try_all(self, file: Path, with_report: bool = True) -> list[int]:
        """What all tools end with on this file."""
        folder = file.parent
        statuses = [self.run(report.main, "report.py", [str(folder)], file)] if with_report else []
        statuses.append(self.run(html_report.main, "html_report.py", ["--no-isa", str(folder)], file))
        for sides in ((self.good, file), (file, self.good)):
            out = folder / "compared.json"
            status = self.run(compare.main, "compare.py", [*map(str, sides), "--json", str(out)], file)
            if status < 2:
                json.loads(out.read_text(encoding="ascii"), parse_constant=pytest.fail)
                out.unlink()
            statuses.append(status)
        return statuses


@pytest.fixture
def bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path, capsys)


def test_the_whole_file_is_good(bench: Bench) -> None:
    assert bench.try_all(synthetic.write(bench.folder(), whole_result())) == [0, 0, 0, 0]


@pytest.mark.parametrize("number", [0, 1e17, 1e308, -1e308, 5e-324, 2**64, -(2**64)])
def test_extreme_numbers(bench: Bench, number: float) -> None:
    """In all places at once where the schema has no bounds."""
    data = whole_result()
    for row in (row for sweep in data["sweeps"] for row in sweep["rows"]):
        row["values"]["rate"] = [number, ""]  # of what has a unit the door takes no such number
        row["x"] = number
        for published in row["published"]:
            published["value"] = number
    data["sweeps"][0]["rows"][0]["x"] = 1.0
    data["inferences"][0].update(value=number, driver=number)
    data["clock"]["shader_mhz"] = number
    assert bench.try_all(synthetic.write(bench.folder(), data))[:2] == [0, 0]


def code_of(page: Page) -> list[str]:
    """The texts of its scripts that run; the others are figures, in which no element can begin."""
    code = []
    for script in page.all("script"):
        if script.attributes.get("type") == "application/json":
            assert "<" not in script.text
            json.loads(script.text)
        else:
            code.append(script.text)
    return code


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> list[Page]:
    """The pages of a result whose names are all "tame", and of one with its usual names."""
    pages = []
    for name, data in (("tame", whole_result("tame")), ("good", whole_result())):
        folder = synthetic.write(tmp_path_factory.mktemp("harmless") / name, data).parent
        assert html_report.main(["--no-isa", str(folder)]) == 0
        pages.append(Page((folder / "report.html").read_text(encoding="utf-8")))
    return pages


def kinds_of(page: Page) -> set[tuple[str, ...]]:
    """The elements that there are, with the names of their attributes."""
    return {(one.tag, *sorted(one.attributes)) for one in page.elements}


def assert_harmless(folder: Path, harmless: list[Page], hostile: str) -> None:
    """Whether both pages hold nothing that a name could have put there."""
    text = "".join((folder / name).read_text(encoding="utf-8") for name in ("README.md", f"{STEM}.md", "card.md"))
    assert set(re.findall(r"<[^>\s]*>?", text)) <= {"<details>", "</details>", "<summary>", "</summary>"}, hostile
    links = re.findall(r"(?<!\\)\]\(([^)]*)\)", text)
    assert [
        link
        for link in links
        if not re.fullmatch(r"plots/copy_rate-[a-z0-9-]+\.svg|(README|copy_rate|card)\.md|(copy_rate|card)\.json", link)
    ] == [], hostile
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert kinds_of(page) <= set().union(*map(kinds_of, harmless)), hostile
    assert len(code_of(page)) == 1 and code_of(page) == code_of(harmless[0]), hostile
    assert page.all("style")[0].text == harmless[0].all("style")[0].text
    for made in (text, page.source):
        assert not re.search("[\u200f\u202e\0\x1b\x07]", made), hostile


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_hostile_names(bench: Bench, harmless: list[Page], hostile: str) -> None:
    data = whole_result(hostile)
    if not hostile:
        # The schema wants some text of these.
        data["question"] = data["inferences"][0]["statement"] = data["inferences"][1]["statement"] = "x"
    data["options"]["sizes"] = {hostile: 1}
    folder = bench.folder()
    file = synthetic.write(folder, data)
    before = bench.files()
    assert report.main([str(folder)]) == 0 and html_report.main(["--no-isa", str(folder)]) == 0
    assert compare.main([str(bench.good), str(file)]) in (0, 1) and compare.main([str(file), str(file)]) == 0
    said = bench.capture.readouterr()
    assert said.err == "" and not re.search("[\u200f\u202e\0\x1b\x07\ud800]", said.out)
    assert_harmless(folder, harmless, hostile)
    allowed = "|".join(WRITES[name] for name in ("report.py", "html_report.py"))
    assert left_besides(bench.files() - before, folder.relative_to(bench.root), allowed) == []


@pytest.mark.parametrize(
    "name", ["<script>alert(1)<", "a\nb", "\u202ex", "'\"&", "-rf", " ", "x" * 200, "$(id)", "*", "\udcff"], ids=ascii
)
def test_hostile_folders(bench: Bench, name: str) -> None:
    folder = bench.folder(name)
    synthetic.write(folder, whole_result())
    other = synthetic.write(bench.folder(name), whole_result()).parent
    assert bench.try_all(folder / f"{STEM}.json", with_report=False)[0] == 0
    # Two devices of one name are told apart by their folders.
    out = bench.root / "out.html"
    assert html_report.main(["--no-isa", "--out", str(out), str(folder), str(other)]) == 0
    page = Page(out.read_text(encoding="utf-8"))
    assert len(code_of(page)) == 1 and "\u202e" not in page.source
    # And a bad file in such a folder is named on one line.
    (folder / f"{STEM}.json").write_text("{")
    assert bench.try_all(folder / f"{STEM}.json") == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "name",
    [
        "<b>.json",
        "a\nb.json",
        "\u202e.json",
        "..json",
        "copy_rate\n.json",
        "A.json",
        "copy_rate.<b>.json",
        "copy_rate.a b.json",
        "x" * 200 + ".json",
        "\udcff.json",
    ],
    ids=ascii,
)
def test_hostile_files(bench: Bench, name: str) -> None:
    folder = bench.folder()
    (folder / name).write_text(json.dumps(whole_result()))
    file = folder / name
    if name.startswith("."):
        # Hidden files are somebody else's.
        assert [report.main([str(folder)]), html_report.main([str(folder)])] == [1, 1]
        return
    statuses = bench.try_all(file)
    # As a file of its own compare.py takes it by whatever name.
    assert statuses == [1, 1, 0, 0]


def test_times_far_apart(bench: Bench) -> None:
    for samples in ([0.0], [0.0, 0.0], [5e-324, 1e17], [1e17] * 20, [0, 1e17]):
        data = whole_result()
        said = synthetic.times(samples)
        for sweep in data["sweeps"]:
            for row in sweep["rows"]:
                row["measurements"]["time"] = [len(samples), *(said[key] for key in synthetic.ORDER), None]
        statuses = bench.try_all(synthetic.write(bench.folder(), data), with_report=False)
        assert statuses[0] == 0 and 2 not in statuses, samples
