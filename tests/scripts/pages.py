"""Reads pages that html_report.py makes, for its tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

# Elements that HTML lets end by themselves.
UNCLOSED = {"meta", "br", "input", "li", "dt", "dd", "tr", "th", "td", "thead", "tbody"}


@dataclass(eq=False, repr=False)
class Element:
    """An element with all the text in it, and the elements around it."""

    tag: str
    attributes: dict[str, str | None]
    around: list[Element]
    text: str = ""

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()


@dataclass(eq=False, repr=False)
class Page(HTMLParser):
    """All elements of a page in their order; a tag that is closed wrongly is an error."""

    source: str
    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.source)
        self.close()
        assert [one.tag for one in self.open if one.tag not in UNCLOSED] == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs), list(self.open))
        assert len(element.attributes) == len(attrs), (tag, attrs)
        self.elements.append(element)
        self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        while self.open[-1].tag != tag:
            assert self.open.pop().tag in UNCLOSED, (tag, self.getpos())
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def all(self, tag: str = "", kind: str = "") -> list[Element]:
        return [one for one in self.elements if (not tag or one.tag == tag) and (not kind or kind in one.classes)]

    def one(self, identifier: str) -> Element:
        (found,) = [one for one in self.elements if one.attributes.get("id") == identifier]
        return found
