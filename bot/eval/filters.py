"""Condition trees compared by what they mean: order, spelling and equal ways of saying the same do not matter.

The normal form is a set of conjuncts. `between` is its two bounds; `eq`, `has` and `in` of one value are one thing;
bounds on days include their end; strings are folded; `contains` on a column, a row or the text is said of `text`,
as `text_contains` is.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any as Json
from typing import TypeAlias, cast

from storage.search.text import fold

Normal: TypeAlias = frozenset[object]
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TEXT = "text"


def same(gold: Json, got: Json) -> bool:
    """Whether two trees say the same. A field that the gold searches as text may be searched as a field."""
    loose = {field for field, op in _fields_and_ops(gold) if op == "text_contains"}
    return normal(gold) == frozenset(_of_row(one) if _field_of(one) in loose else one for one in normal(got))


def _fields_and_ops(tree: Json) -> Iterable[tuple[str, str]]:
    members = cast(
        list[dict[str, Json]], tree if isinstance(tree, list) else cast(dict[str, Json], tree).get("all", [])
    )
    return [(str(one.get("field")), str(one.get("op"))) for one in members]


def _field_of(one: object) -> object:
    return cast(tuple[object, ...], one)[0] if isinstance(one, tuple) else None


def normal(tree: Json) -> Normal:
    """Of a list of conjuncts, or a tree with `all`, `any`, `not`, `row`; nothing is the empty conjunction."""
    match tree:
        case None:
            return frozenset()
        case list():
            return _conjunction(cast(list[Json], tree))
        case dict():
            return _normal(cast(dict[str, Json], tree))
        case _:
            return frozenset({str(tree)})


def _normal(node: Mapping[str, Json]) -> Normal:
    if "row" in node:
        return frozenset(_of_row(one) for one in normal({k: v for k, v in node.items() if k != "row"}))
    if "all" in node:
        return _conjunction(node["all"])
    if "any" in node:
        return _alternatives(node["any"])
    if "not" in node:
        return frozenset({("not", normal(node["not"]))})
    return _compared(str(node.get("field", "")), str(node.get("op", "missing")), node.get("value"))


def _conjunction(members: Iterable[Json]) -> Normal:
    return frozenset[object]().union(*(normal(member) for member in members))


def _alternatives(members: Iterable[Json]) -> Normal:
    """`a or b` on one field by equality is `in`."""
    parts = frozenset(normal(member) for member in members)
    flat = [one for part in parts for one in part]
    if all(len(part) == 1 for part in parts) and all(_is_equality(one) for one in flat):
        equalities = [cast(tuple[str, str, frozenset[Json]], one) for one in flat]
        if len({one[0] for one in equalities}) == 1:
            return frozenset({(equalities[0][0], "in", frozenset[Json]().union(*(one[2] for one in equalities)))})
    return next(iter(parts)) if len(parts) == 1 else frozenset({("any", parts)})


def _is_equality(one: object) -> bool:
    parts = cast(tuple[object, ...], one) if isinstance(one, tuple) else ()
    return len(parts) == 3 and parts[1] == "in"


def _compared(field: str, op: str, value: Json) -> Normal:
    match op:
        case "between":
            low, high = value
            return _compared(field, "gte", low) | _compared(field, "lte", high)
        case "eq" | "has":
            return frozenset({(field, "in", frozenset({_folded(value)}))})
        case "in":
            return frozenset({(field, "in", frozenset(map(_folded, value)))})
        case "text_contains":
            return frozenset({(_TEXT, "contains", _folded(value))})
        case "contains" if "." in field:
            return frozenset({(_TEXT, "contains", _folded(value))})
        case "gt" | "lt" if isinstance(value, str) and _DAY.fullmatch(value):
            day = date.fromisoformat(value) + timedelta(days=1 if op == "gt" else -1)
            return frozenset({(field, f"{op}e", day.isoformat())})
        case _:
            return frozenset({(field, op, _folded(value))})


def _of_row(one: object) -> object:
    match one:
        case (str(), "contains", str(value)):
            return (_TEXT, "contains", value)
        case _:
            return one


def _folded(value: Json) -> Json:
    if isinstance(value, str):
        return fold(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return value


def values_of(tree: Json, field: str) -> frozenset[Json]:
    """All values that the field is set equal to, anywhere in the tree."""
    found = set[Json]()
    for one in _leaves(normal(tree)):
        if one[0] == field and one[1] == "in":
            found |= cast(frozenset[Json], one[2])
    return frozenset(found)


def _leaves(tree: object) -> Iterable[tuple[Json, ...]]:
    if isinstance(tree, frozenset):
        for one in cast(frozenset[object], tree):
            yield from _leaves(one)
    elif isinstance(tree, tuple):
        parts = cast(tuple[object, ...], tree)
        if len(parts) == 3 and parts[1] == "in":
            yield parts
        else:
            for one in parts[1:]:
                yield from _leaves(one)
