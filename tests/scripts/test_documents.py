"""What people read: every link leads somewhere."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
import synthetic

ROOT = synthetic.SCRIPTS.parent
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("results/**/*.md")})
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
    """The headings of a document, with the signs before them."""
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
    good = ("other.md", "other.md#its-name-what-it-is", "other.md#twice", "other.md#twice-1", "#here", ".",
            "https://example.org/x#y")
    bad = ("absent.md", "Other.md", "other.md#absent", "other.md#twice-2", "other.md#code", "#there",
           "../beside.md", "/other.md", ".#here", "")
    page = root / "page.md"
    page.write_text("# Here\n\n`[code](absent)`\n\n```\n[code](absent)\n```\n"
                    + "".join(f"![a]({link})\n" for link in good + bad))
    assert wrong_links(page, root) == list(bad)
