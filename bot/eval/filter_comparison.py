"""Compares condition trees by their meaning: order, case and equivalent operators do not matter.

The normal form is a set of conjuncts. `between` becomes two bounds; `eq` and `has` become `in` with one value; bounds
on days become inclusive; strings are folded; `contains` on a column or a row and `text_contains` become `contains` on
`text`.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any as Json
from typing import TypeAlias, cast

from storage.search.analyser import fold_text

NormalForm: TypeAlias = frozenset[object]
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TEXT_FIELD = "text"


def is_same_filter(gold: Json, actual: Json) -> bool:
    """Whether two trees mean the same. The actual tree may search a field where the gold searches the text for it."""
    text_fields = {field for field, op in _fields_and_operators_of(gold) if op == "text_contains"}
    return normal_form_of(gold) == frozenset(
        _widen_to_text(condition) if _field_of(condition) in text_fields else condition
        for condition in normal_form_of(actual)
    )


def _fields_and_operators_of(tree: Json) -> Iterable[tuple[str, str]]:
    members = cast(
        list[dict[str, Json]], tree if isinstance(tree, list) else cast(dict[str, Json], tree).get("all", [])
    )
    return [(str(condition.get("field")), str(condition.get("op"))) for condition in members]


def _field_of(condition: object) -> object:
    return cast(tuple[object, ...], condition)[0] if isinstance(condition, tuple) else None


def normal_form_of(tree: Json) -> NormalForm:
    """The normal form of a list of conjuncts, or of a tree with `all`, `any`, `not`, `row`.

    None is the empty conjunction.
    """
    match tree:
        case None:
            return frozenset()
        case list():
            return _normalize_all(cast(list[Json], tree))
        case dict():
            return _normalize_node(cast(dict[str, Json], tree))
        case _:
            return frozenset({str(tree)})


def _normalize_node(node: Mapping[str, Json]) -> NormalForm:
    if "row" in node:
        return frozenset(
            _widen_to_text(condition)
            for condition in normal_form_of({key: value for key, value in node.items() if key != "row"})
        )
    if "all" in node:
        return _normalize_all(node["all"])
    if "any" in node:
        return _normalize_any(node["any"])
    if "not" in node:
        return frozenset({("not", normal_form_of(node["not"]))})
    return _normalize_comparison(str(node.get("field", "")), str(node.get("op", "missing")), node.get("value"))


def _normalize_all(members: Iterable[Json]) -> NormalForm:
    return frozenset[object]().union(*(normal_form_of(member) for member in members))


def _normalize_any(members: Iterable[Json]) -> NormalForm:
    """The normal form of a disjunction. Equalities on the same field become one `in`."""
    member_forms = frozenset(normal_form_of(member) for member in members)
    conditions = [condition for form in member_forms for condition in form]
    if all(len(form) == 1 for form in member_forms) and all(_is_equality(condition) for condition in conditions):
        equalities = [cast(tuple[str, str, frozenset[Json]], condition) for condition in conditions]
        if len({condition[0] for condition in equalities}) == 1:
            return frozenset(
                {(equalities[0][0], "in", frozenset[Json]().union(*(condition[2] for condition in equalities)))}
            )
    return next(iter(member_forms)) if len(member_forms) == 1 else frozenset({("any", member_forms)})


def _is_equality(condition: object) -> bool:
    elements = cast(tuple[object, ...], condition) if isinstance(condition, tuple) else ()
    return len(elements) == 3 and elements[1] == "in"


def _normalize_comparison(field: str, op: str, value: Json) -> NormalForm:
    match op:
        case "between":
            low, high = value
            return _normalize_comparison(field, "gte", low) | _normalize_comparison(field, "lte", high)
        case "eq" | "has":
            return frozenset({(field, "in", frozenset({_fold_value(value)}))})
        case "in":
            return frozenset({(field, "in", frozenset(map(_fold_value, value)))})
        case "text_contains":
            return frozenset({(_TEXT_FIELD, "contains", _fold_value(value))})
        case "contains" if "." in field:
            return frozenset({(_TEXT_FIELD, "contains", _fold_value(value))})
        case "gt" | "lt" if isinstance(value, str) and _ISO_DAY.fullmatch(value):
            day = date.fromisoformat(value) + timedelta(days=1 if op == "gt" else -1)
            return frozenset({(field, f"{op}e", day.isoformat())})
        case _:
            return frozenset({(field, op, _fold_value(value))})


def _widen_to_text(condition: object) -> object:
    match condition:
        case (str(), "contains", str(value)):
            return (_TEXT_FIELD, "contains", value)
        case _:
            return condition


def _fold_value(value: Json) -> Json:
    if isinstance(value, str):
        return fold_text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return value


def equal_values_of(tree: Json, field: str) -> frozenset[Json]:
    """All values in equalities on the field, anywhere in the tree."""
    values = set[Json]()
    for equality in _iterate_equalities(normal_form_of(tree)):
        if equality[0] == field and equality[1] == "in":
            values |= cast(frozenset[Json], equality[2])
    return frozenset(values)


def _iterate_equalities(tree: object) -> Iterable[tuple[Json, ...]]:
    if isinstance(tree, frozenset):
        for member in cast(frozenset[object], tree):
            yield from _iterate_equalities(member)
    elif isinstance(tree, tuple):
        elements = cast(tuple[object, ...], tree)
        if len(elements) == 3 and elements[1] == "in":
            yield elements
        else:
            for member in elements[1:]:
                yield from _iterate_equalities(member)
