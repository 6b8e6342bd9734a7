"""Makes matplotlib's SVG small: the same picture in a quarter of the bytes."""

from __future__ import annotations

import re

# Groups that are found by their names; the others' names say what the parts already show.
KEPT_IDS = ("inferred-", "legend_")
FONTS = "DejaVu Sans,Verdana,sans-serif"


def _classes(text: str) -> str:
    """Each style once, as a class."""
    names: dict[str, str] = {}

    def name(match: re.Match[str]) -> str:
        style = match[1].replace("; ", ";").replace(": ", ":")
        return f' class="{names.setdefault(style, f"s{len(names)}")}"'

    text = re.sub(r' style="([^"]*)"', name, text)
    rules = "".join(f".{one}{{{style}}}" for style, one in names.items())
    return text.replace("</style>", f"{rules}</style>", 1)


def _short_ids(text: str) -> str:
    """No names but those that something refers to or looks for, and those short."""
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    short = {name: f"i{number}" for number, name in enumerate(sorted(used))}

    def name(match: re.Match[str]) -> str:
        if match[1] in short:
            return f' id="{short[match[1]]}"'
        return match[0] if match[1].startswith(KEPT_IDS) else ""

    text = re.sub(r' id="([^"]*)"', name, text)
    return re.sub(r'(href="|url\()#([^")]+)', lambda match: f"{match[1]}#{short[match[2]]}", text)


def _numbers(text: str) -> str:
    """Coordinates to a hundredth of a point, without zeros at the end."""
    return re.sub(r"(?<![\w#.])-?\d+\.\d+(?=[\s\"),])",
                  lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), text)


def _one_class(group: re.Match[str]) -> str:
    """A group with the class that all its parts have."""
    points = group[2].replace(f' class="{group[3]}"', "")
    return f'<g{group[1]} class="{group[3]}">{points}</g>'


def small(svg: str) -> str:
    """The picture, smaller; texts that came from files stay as they are, escaped."""
    parts = re.split(r"(<text[^>]*>.*?</text>)", svg, flags=re.DOTALL)
    spoken = parts[1::2]
    # What people read must not change, whatever it looks like.
    drawn = "\0".join(parts[0::2])
    marks = [re.match(r"<text[^>]*>", one)[0] for one in spoken]  # type: ignore[index]
    words = [one[len(mark):-len("</text>")] for one, mark in zip(spoken, marks)]
    for mark in marks:
        drawn = drawn.replace("\0", f"{mark}\1</text>", 1)
    drawn = re.sub(r"<\?xml[^>]*\?>|<!DOCTYPE[^>]*>|<metadata>.*?</metadata>|<!--.*?-->| version=\"1.1\"", "", drawn,
                   flags=re.DOTALL)
    drawn = drawn.replace("'DejaVu Sans'", FONTS)
    drawn = re.sub(r' transform="rotate\(-?0 [^"]*\)"', "", drawn)
    drawn = _numbers(_short_ids(_classes(drawn)))
    drawn = re.sub(r"\s+", " ", drawn)
    drawn = re.sub(r" ?([MLCQz]) ", r"\1", drawn)
    drawn = re.sub(r"> <", "><", drawn).replace(' "', '"')
    while "<g></g>" in drawn:
        drawn = drawn.replace("<g></g>", "")
    drawn = re.sub(r"<g>(<(?:path|use|text)\b[^<]*(?:/>|</text>))</g>", r"\1", drawn)
    # A curve's points share their class.
    drawn = re.sub(r'<g( clip-path="[^"]*")>((?:<use [^>]*? class="(\w+)"/>)(?:<use [^>]*? class="\3"/>)+)</g>',
                   _one_class, drawn)
    pieces = drawn.split("\1")
    return "".join(piece + word for piece, word in zip(pieces, [*words, ""])).strip() + "\n"
