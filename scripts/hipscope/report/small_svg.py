"""Makes matplotlib's SVG small: the same picture in a tenth of the bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

# Groups that are found by their names; the others' names say what the parts already show.
KEPT_IDS = ("inferred-", "legend_")
FONTS = "DejaVu Sans,Verdana,sans-serif"
SVG = "http://www.w3.org/2000/svg"
LINK = "{http://www.w3.org/1999/xlink}href"
NUMBER = r"-?[\d.]+"
LINES = re.compile(rf"M{NUMBER} {NUMBER}(?:L{NUMBER} {NUMBER})+")
# Fewer are no shorter as one path.
FEWEST_POINTS = 3

Point = tuple[int, int]  # tenths of a point of the page


def _shortest(tenths: int) -> str:
    """A number of tenths, without a zero at either end."""
    whole, tenth = divmod(abs(tenths), 10)
    digits = f"{whole or ''}.{tenth}" if tenth else str(whole)
    return f"-{digits}" if tenths < 0 else digits


def _tenths(text: str) -> int:
    return round(10 * float(text))


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
    """Coordinates to a tenth of a point, without zeros at the end."""
    return re.sub(r"(?<![\w#.])-?\d+\.\d+(?=[\s\"),])", lambda match: _shortest(round(10 * float(match[0]))), text)


def _points(lines: str) -> list[Point]:
    """What a path of one line through points goes through."""
    numbers = [_tenths(number) for number in re.findall(NUMBER, lines)]
    return list(zip(numbers[0::2], numbers[1::2]))


def _path(points: Iterable[Point]) -> str:
    """A line through points, each but the first as far from the one before it as it is."""
    (x, y), *others = points
    text = f"M{_shortest(x)} {_shortest(y)}"
    for next_x, next_y in others:
        across, down = _shortest(next_x - x), _shortest(next_y - y)
        if next_x == x:
            text += f"v{down}"
        elif next_y == y:
            text += f"h{across}"
        else:
            text += f"l{across}{'' if down.startswith('-') else ' '}{down}"
        x, y = next_x, next_y
    return text


def _place(use: ElementTree.Element) -> Point:
    return _tenths(use.get("x", "0")), _tenths(use.get("y", "0"))


def _without_bare_groups(group: ElementTree.Element) -> None:
    """Groups with no attributes group nothing."""
    kept: list[ElementTree.Element] = []
    for child in group:
        _without_bare_groups(child)
        kept += list(child) if child.tag == f"{{{SVG}}}g" and not child.attrib else [child]
    group[:] = kept


def _markers_as_paths(root: ElementTree.Element) -> None:
    """A curve's points, which are as many copies of one mark, as marks on a path; on the curve itself where
    that goes through the same points."""
    for parent in list(root.iter()):
        curve: ElementTree.Element | None = None
        for group in list(parent):
            marks = {use.get(LINK): use.get("class", group.get("class")) for use in group if use.tag == f"{{{SVG}}}use"}
            if group.tag == f"{{{SVG}}}g" and len(group) >= FEWEST_POINTS and len(marks) == 1:
                [(link, style)] = marks.items()
                points = [_place(use) for use in group]
                name = f"m{(link or '').removeprefix('#')}"
                marker = ElementTree.Element(
                    f"{{{SVG}}}marker", {"id": name, "overflow": "visible", "markerUnits": "userSpaceOnUse"}
                )
                ElementTree.SubElement(marker, f"{{{SVG}}}use", {LINK: link or "", "class": style or ""})
                if curve is None or _points(curve.get("d", "")) != points:
                    clip = {"clip-path": group.get("clip-path", "")} if "clip-path" in group.attrib else {}
                    curve = ElementTree.Element(
                        f"{{{SVG}}}path",
                        {
                            "d": "L".join(f"{_shortest(x)} {_shortest(y)}" for x, y in points).join(("M", "")),
                            "fill": "none",
                            **clip,
                        },
                    )
                    parent.insert(list(parent).index(group), curve)
                curve.set("style", f"marker:url(#{name})")
                parent[list(parent).index(group)] = marker
            if group.tag == f"{{{SVG}}}path" and LINES.fullmatch(group.get("d", "")):
                curve = group
            elif group.tag != f"{{{SVG}}}defs":
                curve = None


def _ticks_as_paths(root: ElementTree.Element) -> None:
    """Copies of a mark that is one line, such as ticks, as lines."""
    marks = {f"#{path.get('id')}": path for path in root.iter(f"{{{SVG}}}path") if path.get("id")}
    lines = {name: _points(path.get("d", "")) for name, path in marks.items() if LINES.fullmatch(path.get("d", ""))}
    for parent in list(root.iter()):
        for number, use in enumerate(parent):
            if use.get(LINK) in lines and parent.tag != f"{{{SVG}}}marker":
                x, y = _place(use)
                line = "L".join(
                    f"{_shortest(x + across)} {_shortest(y + down)}" for across, down in lines[str(use.get(LINK))]
                )
                parent[number] = ElementTree.Element(f"{{{SVG}}}path", {"d": f"M{line}", "class": use.get("class", "")})


def _join_lines(root: ElementTree.Element) -> None:
    """Lines of one class between two points, such as a grid's, as one path, where the first of them is."""
    first: dict[tuple[tuple[str, str], ...], ElementTree.Element] = {}
    for parent in list(root.iter()):
        for path in list(parent):
            if (
                path.tag != f"{{{SVG}}}path"
                or not LINES.fullmatch(path.get("d", ""))
                or path.get("id")
                or path.get("style")
                or len(_points(path.get("d", ""))) != 2
            ):
                continue
            where = tuple(sorted((name, value) for name, value in path.attrib.items() if name != "d"))
            if where in first:
                first[where].set("d", first[where].get("d", "") + path.get("d", ""))
                parent.remove(path)
            else:
                first[where] = path


def _without_unused(root: ElementTree.Element) -> None:
    """What nothing refers to need not be defined."""
    text = ElementTree.tostring(root, encoding="unicode")
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{{{SVG}}}defs":
                for one in list(child):
                    if one.get("id", "") not in used and one.get("id"):
                        child.remove(one)
                if len(child) == 0:
                    parent.remove(child)


def _fewer_elements(svg: str) -> str:
    """The same picture of fewer elements."""
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(svg)
    _without_bare_groups(root)
    _markers_as_paths(root)
    _ticks_as_paths(root)
    _join_lines(root)
    _without_unused(root)
    for path in root.iter(f"{{{SVG}}}path"):
        lines = re.findall(LINES, path.get("d", ""))
        if "".join(lines) == path.get("d"):
            path.set("d", "".join(_path(_points(one)) for one in lines))
    for use in root.iter(f"{{{SVG}}}use"):
        use.set("href", use.attrib.pop(LINK))
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def small(svg: str) -> str:
    """The picture, smaller; texts that came from files stay as they are, escaped."""
    parts = re.split(r"(<text[^>]*>.*?</text>)", svg, flags=re.DOTALL)
    spoken = parts[1::2]
    # What people read must not change, whatever it looks like.
    drawn = "\0".join(parts[0::2])
    marks = [re.match(r"<text[^>]*>", one)[0] for one in spoken]  # type: ignore[index]
    words = [one[len(mark) : -len("</text>")] for one, mark in zip(spoken, marks)]
    for mark in marks:
        drawn = drawn.replace("\0", f"{mark}\1</text>", 1)
    drawn = re.sub(
        r"<\?xml[^>]*\?>|<!DOCTYPE[^>]*>|<metadata>.*?</metadata>|<!--.*?-->| version=\"1.1\"",
        "",
        drawn,
        flags=re.DOTALL,
    )
    drawn = drawn.replace("'DejaVu Sans'", FONTS)
    drawn = re.sub(r' transform="rotate\(-?0 [^"]*\)"', "", drawn)
    drawn = _numbers(_short_ids(_classes(drawn)))
    drawn = re.sub(r"\s+", " ", drawn)
    drawn = re.sub(r" ?([MLCQz]) ", r"\1", drawn)
    drawn = re.sub(r"> <", "><", drawn).replace(' "', '"')
    while "<g></g>" in drawn:
        drawn = drawn.replace("<g></g>", "")
    drawn = re.sub(r"<g>(<(?:path|use|text)\b[^<]*(?:/>|</text>))</g>", r"\1", drawn)
    pieces = drawn.split("\1")
    return _fewer_elements("".join(piece + word for piece, word in zip(pieces, [*words, ""])).strip()) + "\n"
