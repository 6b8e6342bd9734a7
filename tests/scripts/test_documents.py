"""What people read: links lead somewhere, sweeps that are named are there, the Chinese follows the English."""

from __future__ import annotations

import itertools
import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import synthetic

ROOT = synthetic.SCRIPTS.parent
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("results/**/*.md")})
# What is written first, and what is made from it.
TRANSLATED = {
    ROOT / "README.md": ROOT / "README.zh-CN.md",
    **{page: ROOT / "docs" / "zh-CN" / page.name for page in sorted(ROOT.glob("docs/*.md"))},
}
LINK = re.compile(r"\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)")


def prose(text: str) -> list[str]:
    """The lines of a document; those of code blocks are empty."""
    lines, fenced = [], False
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
            line = ""
        lines.append("" if fenced else line)
    return lines


def headings(text: str) -> list[str]:
    return [line for line in prose(text) if re.match(r"#{1,6} ", line)]


def anchors(text: str) -> set[str]:
    """What the headings of a document are called in links, as GitHub names them."""
    found: dict[str, int] = {}
    names = set()
    for heading in headings(text):
        words = re.sub(r"\]\([^)]*\)", "", heading.lstrip("#")).strip().lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        seen = found[name] = found.get(name, -1) + 1
        names.add(f"{name}-{seen}" if seen else name)
    return names


def links(text: str) -> list[str]:
    """Where the links and pictures of a document lead, but for code and other sites."""
    spoken = re.sub(r"(`+)[^`].*?\1", "code", "\n".join(prose(text)))
    return [link for link in LINK.findall(spoken) if not re.match(r"https?://", link)]


def wrong_links(document: Path, root: Path) -> list[str]:
    """The links of a document below `root` that lead nowhere: no such file, or no such heading in it."""
    wrong = []
    for link in links(document.read_text(encoding="utf-8")):
        path, _, anchor = unquote(link).partition("#")
        target = Path(os.path.normpath(document.parent / path)) if path else document
        there = target.is_relative_to(root) and target.exists()
        if there and anchor:
            there = target.suffix == ".md" and anchor in anchors(target.read_text(encoding="utf-8"))
        if not there or not link:
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: str(one.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    assert wrong_links(document, ROOT) == []


def test_there_is_much_to_test() -> None:
    found = [link for document in DOCUMENTS for link in links(document.read_text(encoding="utf-8"))]
    assert len(found) > 500
    assert sum("#" in link for link in found) > 50


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    root.mkdir()
    (tmp_path / "beside.md").write_text("")
    (root / "other.md").write_text("# Its `name`: what (it) is?\n\n## Twice\n\n## Twice\n\n```\n# code\n```\n")
    good = (
        "other.md other.md#its-name-what-it-is other.md#twice other.md#twice-1 #here . https://example.org/x#y".split()
    )
    bad = (
        "absent.md Other.md other.md#absent other.md#twice-2 other.md#code #there ../beside.md /other.md .#here".split()
    )
    bad.append("")
    page = root / "page.md"
    page.write_text(
        "# Here\n\n`[code](absent)`\n\n```\n[code](absent)\n```\n" + "".join(f"![a]({link})\n" for link in good + bad)
    )
    assert wrong_links(page, root) == bad


def commands(text: str) -> list[tuple[str, str]]:
    """The experiments that a document's tables name with a choice of their sweeps, and that choice."""
    return re.findall(r"^\|.*`(\w+) --filter ([^`]+)` \|$", text, re.MULTILINE)


def test_sweeps_that_are_named_are_there() -> None:
    found = commands((ROOT / "docs" / "which-experiment.md").read_text(encoding="utf-8"))
    assert len(found) > 15
    for experiment, choice in found:
        path = ROOT / "results" / "nvidia-h200" / f"{experiment}.json"
        result = json.loads(path.read_text(encoding="utf-8"))
        assert any(re.search(choice, sweep["name"]) for sweep in result["sweeps"]), (experiment, choice)


def experiments() -> list[str]:
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.findall(r"^hipscope_add_e\w+\((?:\S*/)?(\w+)(?:\.hip)?[ )]", text, re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_every_experiment_has_a_row_and_a_section(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`(\w+)`\]\(([^)#]+)#([^)]+)\) \|", text, re.MULTILINE)
    assert sorted(name for name, _, _ in rows) == sorted(experiments())
    for name, file, anchor in rows:
        assert anchor.startswith(name) and anchor in anchors((ROOT / file).read_text(encoding="utf-8"))


def first_table(text: str) -> list[str]:
    """The lines of a document's first table, without its head."""
    lines = text.split("\n")
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    return list(itertools.takewhile(lambda line: line.startswith("|"), lines[first + 2 :]))


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_the_excerpt_is_the_cards(page: str) -> None:
    card = (ROOT / "results" / "nvidia-h200" / "card.md").read_text(encoding="utf-8").split("\n")
    rows = first_table((ROOT / page).read_text(encoding="utf-8"))
    assert len(rows) > 5
    assert [row for row in rows if not any(line.startswith(row) for line in card)] == []


def test_the_readme_is_short() -> None:
    for page in ("README.md", "README.zh-CN.md"):
        assert len((ROOT / page).read_text(encoding="utf-8").split("\n")) < 200


def of_table(text: str) -> list[list[str]]:
    rows = [line for line in prose(text) if line.startswith("|")]
    plain = [re.sub(r"\]\([^)]*\)", "]", row) for row in rows]
    return [sorted(re.findall(r"\d[\d.]*(?<!\.)(?:e-?\d+)?", row)) for row in plain]


def of_text(text: str) -> list[str]:
    """The numbers outside tables and code, sorted: languages order their words differently."""
    plain = "\n".join(line for line in prose(text) if not line.startswith("|"))
    plain = re.sub(r"\]\([^)]*\)|`[^`]+`", " ", plain)
    return sorted(re.findall(r"(?<![\w.])\d+(?:\.\d+)?", plain))


def code_of(text: str) -> list[str]:
    return [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", text)]


def skeleton(text: str) -> dict[str, list[Any]]:
    """What a translation may not change: headings, numbers, code blocks, pictures and code in the text."""
    text = re.sub("<!--.*?-->", "", text, flags=re.DOTALL)
    blocks = re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)
    return {
        "headings": [(line.split(" ")[0], code_of(line)) for line in headings(text)],
        "numbers of table rows": of_table(text),
        "numbers of the text": of_text(text),
        "code blocks": [re.sub(r"\s*(//|#|;) .*", "", block) for block in blocks],
        "pictures": [Path(link).name for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)],
        "code": sorted(code_of("\n".join(prose(text)))),
    }


def differences(original: str, translation: str) -> list[str]:
    """Where a translation's skeleton is another one than its original's."""
    first, second = skeleton(original), skeleton(translation)
    found = [f"{what}: {a} - {b}" for what in first for a, b in zip(first[what], second[what]) if a != b]
    return found + [
        f"{what}: {len(first[what])} - {len(second[what])}" for what in first if len(first[what]) != len(second[what])
    ]


@pytest.mark.parametrize("original", TRANSLATED, ids=lambda one: str(one.relative_to(ROOT)))
def test_the_translation_has_what_the_original_has(original: Path) -> None:
    translation = TRANSLATED[original]
    assert differences(original.read_text(encoding="utf-8"), translation.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("original", TRANSLATED, ids=lambda one: str(one.relative_to(ROOT)))
def test_each_language_leads_to_the_other(original: Path) -> None:
    for page, other in ((original, TRANSLATED[original]), (TRANSLATED[original], original)):
        top = links("\n".join(page.read_text(encoding="utf-8").split("\n")[:20]))
        assert os.path.relpath(other, page.parent) in top


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("| a | 1.5 |", "| a | 1.4 |", "numbers of table rows"),
        ("| b | 7 |\n", "", "numbers of table rows"),
        ("## Two `x`", "## Two `y`", "headings"),
        ("## Two", "### Two", "headings"),
        ("int i = 1;", "int i = 2;", "code blocks"),
        ("plot.svg", "other.svg", "pictures"),
        ("see `run`", "see run", "code"),
        ("of 12.5 %", "of 12.4 %", "numbers of the text"),
    ],
)
def test_a_translation_that_drifts_is_found(old: str, new: str, what: str) -> None:
    original = (
        "# One\n\n## Two `x`\n\n| a | 1.5 |\n| b | 7 |\n\n```\nint i = 1;  // said\n```\n\n"
        "![p](plot.svg) see `run`, of 12.5 %\n"
    )
    said_otherwise = original.replace("// said", "// told").replace("One", "Eins").replace("| a |", "| A |")
    assert differences(original, said_otherwise) == []
    assert old in original
    assert any(one.startswith(what) for one in differences(original, original.replace(old, new)))
