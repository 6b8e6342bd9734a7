"""Holds what a JSON file says to one of the schemas of results/, with nothing but Python: a node has no more.

A schema becomes functions, one for each of its parts, so that a result of 100 000 numbers is checked in tens of
milliseconds. A keyword that is not known here is an error of the schema, not of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).resolve().parents[3] / "results"
LONGEST_REASON = 200

Json = dict[str, Any]
Check = Callable[[Any], None]

TYPES: dict[str, tuple[type, ...]] = {
    "number": (int, float),
    "integer": (int,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
NUMBERS, ANY = TYPES["number"], tuple(dict.fromkeys(one for each in TYPES.values() for one in each))
# What says nothing of a value.
SILENT = {"$schema", "$defs", "title", "description", "default", "type", "then"}


class Wrong(ValueError):
    """What does not follow the schema, and where."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, list[str]()

    def __str__(self) -> str:
        return f"{'.'.join(reversed(self.place)) or 'the file'}: {self.reason}"


def _said(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= LONGEST_REASON // 2 else f"{text[: LONGEST_REASON // 2]} ..."


def _unless(good: Callable[[Any], bool], reason: str) -> Check:
    """The check that this is true of a value."""

    def check(value: Any) -> None:
        if not good(value):
            raise Wrong(f"{_said(value)} {reason}")

    return check


def follows(check: Check, value: Any) -> bool:
    """Whether a check raises nothing."""
    try:
        check(value)
    except Wrong:
        return False
    return True


def _is(one: Any, value: Any) -> bool:
    """Whether two values are equal in JSON, where true is not 1."""
    return bool(one == value) and (type(one) is bool) == (type(value) is bool)


# Keywords that ask one thing of values of some types: the function is of what the schema says and of a value.
ASKED: dict[str, tuple[tuple[type, ...], Callable[[Any, Any], bool], str]] = {
    "minimum": (NUMBERS, lambda said, value: value >= said, "is less than"),
    "exclusiveMinimum": (NUMBERS, lambda said, value: value > said, "is not more than"),
    "maximum": (NUMBERS, lambda said, value: value <= said, "is more than"),
    "minLength": ((str,), lambda said, value: len(value) >= said, "has a length less than"),
    "minItems": ((list,), lambda said, value: len(value) >= said, "has a length less than"),
    "maxItems": ((list,), lambda said, value: len(value) <= said, "has a length more than"),
    "minProperties": ((dict,), lambda said, value: len(value) >= said, "has a length less than"),
    # Python's $ lets a newline at the end through.
    "pattern": ((str,), lambda said, value: bool(re.search(re.sub(r"\$$", r"\\Z", said), value)), "does not match"),
    "enum": (ANY, lambda said, value: any(_is(one, value) for one in said), "is none of"),
    "const": (ANY, _is, "is not"),
    "uniqueItems": ((list,), lambda said, value: len(set(map(json.dumps, value))) == len(value), "has items twice:"),
}


class _Compiler:
    """Makes the checks of one schema."""

    def __init__(self, root: Json) -> None:
        self.root, self.made = root, dict[str, Check]()

    def check_of(self, schema: Any) -> Check:
        """The check of a part of the schema."""
        if isinstance(schema, bool):
            return _unless(lambda value: bool(schema), "is one too many")
        if "$ref" in schema:
            return self._referred(schema["$ref"])
        named = schema.get("type", [])
        types = {one for name in ([named] if isinstance(named, str) else named) for one in TYPES[name]} or set(ANY)
        steps = [
            (types.intersection(of), step)
            for keyword, said in schema.items()
            if keyword not in SILENT
            for of, step in self._steps(keyword, said, schema)
        ]
        wanted = " or ".join([named] if isinstance(named, str) else named)

        def check(value: Any) -> None:
            kind = type(value)
            if kind not in types:
                raise Wrong(f"{_said(value)} is not of type {wanted}")
            for of, step in steps:
                if kind in of:
                    step(value)

        if schema.keys() <= {"type", "description", "minimum" if types <= set(NUMBERS) else "type"}:
            check.simple = types, schema.get("minimum")  # type: ignore[attr-defined]
        return check

    def _referred(self, name: str) -> Check:
        if name not in self.made:
            part: Any = self.root
            for key in name.removeprefix("#/").split("/"):
                part = part[key]
            self.made[name] = self.check_of(part)
        return self.made[name]

    def _steps(self, keyword: str, said: Any, schema: Json) -> list[tuple[tuple[type, ...], Check]]:
        """What a keyword asks of values, by their types."""
        if keyword in ASKED:
            of, good, reason = ASKED[keyword]
            return [(of, _unless(partial(good, said), f"{reason} {_said(said)}"))]
        if keyword in ("properties", "additionalProperties"):
            is_second = keyword == "additionalProperties" and "properties" in schema
            return [] if is_second else [((dict,), self._members(schema))]
        if keyword == "required":
            return [((dict,), _required(said))]
        if keyword == "propertyNames":
            names = _items(self.check_of(said))
            return [((dict,), lambda value: names(list(value)))]
        if keyword == "items":
            return [((list,), _items(self.check_of(said), len(schema.get("prefixItems", ()))))]
        if keyword == "prefixItems":
            return [((list,), self._first(said))]
        if keyword == "contains":
            one = self.check_of(said)
            return [((list,), _unless(lambda value: any(follows(one, item) for item in value), "lacks an item"))]
        if keyword == "anyOf":
            any_of = [self.check_of(one) for one in said]
            return [(ANY, _unless(lambda value: any(follows(one, value) for one in any_of), "is of no kind known"))]
        if keyword == "allOf":
            return [(ANY, self.check_of(one)) for one in said]
        if keyword == "if":
            condition, then = self.check_of(said), self.check_of(schema["then"])
            return [(ANY, lambda value: then(value) if follows(condition, value) else None)]
        raise ValueError(f"the schema has the keyword {keyword}, which is not known here")

    def _first(self, said: list[Any]) -> Check:
        checks = [self.check_of(one) for one in said]

        def check(value: list[Any]) -> None:
            for place, (one, item) in enumerate(zip(checks, value)):
                _at(place, one, item)

        return check

    def _members(self, schema: Json) -> Check:
        known = {key: self.check_of(said) for key, said in schema.get("properties", {}).items()}
        more = schema.get("additionalProperties", True)
        others = self.check_of(more) if more is not False else None

        def check(value: Json) -> None:
            key = ""
            try:
                for key, item in value.items():
                    one = known.get(key, others)
                    if one is None:
                        raise Wrong("is not known")
                    one(item)
            except Wrong as wrong:
                wrong.place.append(key)
                raise

        return check


def _required(names: list[str]) -> Check:
    needed = frozenset(names)

    def check(value: Json) -> None:
        if not needed <= value.keys():
            raise Wrong(f"lacks {', '.join(sorted(needed - value.keys()))}")

    return check


def _at(place: int, one: Check, item: Any) -> None:
    try:
        one(item)
    except Wrong as wrong:
        wrong.place.append(str(place))
        raise


def _items(one: Check, first: int = 0) -> Check:
    # Of numbers, which are nearly all that there is, all are looked at at once.
    types, least = getattr(one, "simple", (set(), None))

    def check(value: list[Any]) -> None:
        rest = value[first:] if first else value
        if rest and not (types.issuperset(map(type, rest)) and (least is None or min(rest) >= least)):
            for place, item in enumerate(rest, first):
                _at(place, one, item)

    return check


def compiled(schema: Json) -> Check:
    """The check of a schema; it raises Wrong."""
    return _Compiler(schema).check_of(schema)


@cache
def named(name: str) -> Check:
    """The check of a schema in results/, by its file's name."""
    return compiled(json.loads((SCHEMAS / name).read_text(encoding="utf-8")))
