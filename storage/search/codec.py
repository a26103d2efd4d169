"""JSON of the kernel's values, both ways, stable across versions.

Conditions have the shape of `INTERFACES`: a comparison is `{"field", "op", "value"}`, and `words` where it has them.
What is stored (plans, refinements, actions, schemas) stands in an envelope `{"version": 1, …}`. Reading JSON of a later
version, or of no known shape, raises `UnreadableJson`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any as Json
from typing import TypeVar, assert_never, cast

from storage.search import refinement as refinements
from storage.search.conditions import All, Any, Compare, Condition, InRow, Missing, Not, Op, Scalar
from storage.search.documents import Annotation, Value
from storage.search.errors import SearchError, UnreadableJson
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.numbers import plain
from storage.search.plan import (
    Clause,
    Combine,
    Compute,
    FindPassages,
    Function,
    Group,
    Leg,
    ListDocuments,
    Period,
    Plan,
    ReadFields,
    Search,
    Summarise,
    Wanted,
)
from storage.search.refinement import Action, Refinement
from storage.search.schema import Bare, Field, FieldType, Schema, SchemaOrder

VERSION = 1
T = TypeVar("T")
Object = dict[str, Json]


# -- conditions


def condition_to_json(condition: Condition) -> Object:
    match condition:
        case Compare(field=name, op=op, value=value, words=words):
            return {"field": name, "op": op.value, "value": _value_to_json(value)} | _words(words)
        case Missing(field=name, words=words):
            return {"field": name, "op": "missing"} | _words(words)
        case InRow(row=row, condition=inner, words=words):
            inside = inner if isinstance(inner, (All, Any, Not)) else All((inner,))
            return {"row": row} | condition_to_json(inside) | _words(words)
        case All(members):
            return {"all": [condition_to_json(member) for member in members]}
        case Any(members):
            return {"any": [condition_to_json(member) for member in members]}
        case Not(inner):
            return {"not": condition_to_json(inner)}
        case _:
            assert_never(condition)


def condition_from_json(data: Json) -> Condition:
    """Raises `UnreadableJson`."""
    return _read(_condition, data)


def _condition(data: Object) -> Condition:
    words = str(data.get("words", ""))
    if "row" in data:
        inside = _condition({key: value for key, value in data.items() if key not in ("row", "words")})
        lone = isinstance(inside, All) and len(inside.members) == 1
        inner = inside.members[0] if isinstance(inside, All) and lone else inside
        return InRow(row=FieldName(data["row"]), condition=inner, words=words)
    if "all" in data:
        return All(tuple(_condition(member) for member in data["all"]))
    if "any" in data:
        return Any(tuple(_condition(member) for member in data["any"]))
    if "not" in data:
        return Not(_condition(data["not"]))
    name = FieldName(data["field"])
    if data["op"] == "missing":
        return Missing(field=name, words=words)
    return Compare(field=name, op=Op(data["op"]), value=_value_from_json(data["value"]), words=words)


def _words(words: str) -> Object:
    return {"words": words} if words else {}


def _value_to_json(value: Scalar | tuple[Scalar, ...]) -> Json:
    return [_scalar_to_json(one) for one in value] if isinstance(value, tuple) else _scalar_to_json(value)


def _scalar_to_json(value: Scalar) -> Scalar | int:
    return plain(value) if isinstance(value, float) else value


def _value_from_json(value: Json) -> Scalar | tuple[Scalar, ...]:
    return (
        tuple(map(_scalar_from_json, cast(list[Json], value))) if isinstance(value, list) else _scalar_from_json(value)
    )


def _scalar_from_json(value: Json) -> Scalar:
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)):
        return float(value)
    raise TypeError(f"{value!r} is no value")


# -- searches and plans


def search_to_json(search: Search) -> Object:
    return {
        "clauses": [_clause_to_json(clause) for clause in search.clauses],
        "ranking": search.ranking,
    }


def _clause_to_json(clause: Clause) -> Object:
    return {
        "bucket": clause.bucket,
        "condition": condition_to_json(clause.condition),
        "required": list(clause.required),
    }


def search_from_json(data: Json) -> Search:
    """Raises `UnreadableJson`."""
    return _read(_search, data)


def _search(data: Object) -> Search:
    return Search(clauses=tuple(_clause(one) for one in data["clauses"]), ranking=str(data["ranking"]))


def _clause(data: Object) -> Clause:
    return Clause(
        bucket=BucketId(data["bucket"]),
        condition=_condition(data["condition"]),
        required=tuple(map(str, data["required"])),
    )


def plan_to_json(plan: Plan) -> Object:
    return {
        "version": VERSION,
        "question": plan.question,
        "combine": plan.combine.value,
        "assumptions": list(plan.assumptions),
        "legs": [
            {
                "id": leg.id,
                "question": leg.question,
                "search": search_to_json(leg.search),
                "wanted": _wanted_to_json(leg.wanted),
                "probes": list(leg.probes),
            }
            for leg in plan.legs
        ],
    }


def plan_from_json(data: Json) -> Plan:
    """Raises `UnreadableJson`."""
    return _read(_plan, _unwrapped(data))


def _plan(data: Object) -> Plan:
    legs = tuple(
        Leg(
            id=LegId(leg["id"]),
            question=leg["question"],
            search=_search(leg["search"]),
            wanted=_wanted(leg["wanted"]),
            probes=tuple(leg["probes"]),
        )
        for leg in data["legs"]
    )
    return Plan(
        question=data["question"],
        legs=legs,
        combine=Combine(data["combine"]),
        assumptions=tuple(data["assumptions"]),
    )


def _wanted_to_json(wanted: Wanted) -> Object:
    match wanted:
        case FindPassages():
            return {"kind": "find_passages"}
        case Summarise():
            return {"kind": "summarise"}
        case ReadFields(fields=fields):
            return {"kind": "read_fields", "fields": [list(pair) for pair in fields]}
        case ListDocuments(order=order, limit=limit, skip=skip):
            written = {"kind": "list_documents", "order": _order_to_json(order), "limit": limit}
            return written | ({"skip": skip} if skip else {})  # came later, as `whole` did
        case Compute():
            group = wanted.group
            whole = {} if wanted.whole is None else {"whole": search_to_json(wanted.whole)}
            return whole | {
                "kind": "compute",
                "functions": [function.value for function in wanted.functions],
                "field": wanted.field,
                "group": None if group is None else {"field": group.field, "period": group.period},
                "limit": wanted.limit,
                "descending": wanted.descending,
            }
        case _:
            assert_never(wanted)


def _wanted(data: Object) -> Wanted:
    match data["kind"]:
        case "find_passages":
            return FindPassages()
        case "summarise":
            return Summarise()
        case "read_fields":
            return ReadFields(fields=tuple((BucketId(bucket), FieldName(name)) for bucket, name in data["fields"]))
        case "list_documents":
            return ListDocuments(order=_order(data["order"]), limit=data["limit"], skip=data.get("skip", 0))
        case "compute":
            group, whole = data["group"], data.get("whole")
            period = group and group["period"]
            return Compute(
                functions=tuple(Function(one) for one in data["functions"]),
                field=None if data["field"] is None else FieldName(data["field"]),
                group=group and Group(field=FieldName(group["field"]), period=period and Period(period)),
                limit=data["limit"],
                descending=data["descending"],
                whole=None if whole is None else _search(whole),
            )
        case kind:
            raise ValueError(f"{kind!r} is no form of answer")


def _order_to_json(order: SchemaOrder | None) -> Object | None:
    return None if order is None else {"field": order.field, "descending": order.descending}


def _order(data: Object | None) -> SchemaOrder | None:
    return None if data is None else SchemaOrder(field=FieldName(data["field"]), descending=bool(data["descending"]))


# -- refinements and actions

_ACTIONS: Mapping[str, Action] = {
    "export_all": refinements.ExportAll(),
    "search_web": refinements.SearchWeb(),
    "just_answer": refinements.JustAnswer(),
    "continue_privately": refinements.ContinuePrivately(),
    "search_by_meaning": refinements.SearchByMeaning(),
    "start_over": refinements.StartOver(),
}
_REFINEMENTS: Mapping[str, type[Refinement]] = {
    "add_filter": refinements.AddFilter,
    "open_tail": refinements.OpenTail,
    "only_missing": refinements.OnlyMissing,
    "take_in_missing": refinements.TakeInMissing,
    "drop_filter": refinements.DropFilter,
    "drop_word": refinements.DropWord,
    "use_nearest": refinements.UseNearest,
    "correct_word": refinements.CorrectWord,
    "add_bucket": refinements.AddBucket,
    "only_bucket": refinements.OnlyBucket,
    "choose_document": refinements.ChooseDocument,
    "take_reading": refinements.TakeReading,
}
_NAMES = {kind: name for name, kind in _REFINEMENTS.items()} | {type(one): name for name, one in _ACTIONS.items()}
_PART_TO_JSON: Mapping[str, Callable[[Json], Json]] = {
    "condition": condition_to_json,
    "old": lambda old: old if isinstance(old, str) else condition_to_json(old),
    "new": lambda new: new if isinstance(new, str) else condition_to_json(new),
    "clause": _clause_to_json,
    "search": search_to_json,
}
_PART_FROM_JSON: Mapping[str, Callable[[Json], Json]] = {
    "condition": _condition,
    "old": lambda old: old if isinstance(old, str) else _condition(old),
    "new": lambda new: new if isinstance(new, str) else _condition(new),
    "clause": _clause,
    "search": _search,
}


def choice_to_json(chosen: Refinement | Action) -> Object:
    """What a button does, as it is stored."""
    names: Sequence[str] = getattr(type(chosen), "__slots__", ())
    parts = {name: getattr(chosen, name) for name in names}
    written = {name: _PART_TO_JSON.get(name, _as_is)(part) for name, part in parts.items()}
    return {"version": VERSION, "does": _NAMES[type(chosen)], **written}


def choice_from_json(data: Json) -> Refinement | Action:
    """Raises `UnreadableJson`."""
    return _read(_choice, _unwrapped(data))


def _choice(data: Object) -> Refinement | Action:
    does = data["does"]
    if does in _ACTIONS:
        return _ACTIONS[does]
    parts = {name: part for name, part in data.items() if name not in ("does", "version")}
    return _REFINEMENTS[does](**{name: _PART_FROM_JSON.get(name, _as_is)(part) for name, part in parts.items()})


def _as_is(value: Json) -> Json:
    return value


# -- schemas


def schema_to_json(schema: Schema) -> Object:
    """As the editable YAML has it: what is at its default is left out."""
    written: Object = {
        "version": VERSION,
        "bucket": schema.bucket,
        "title": schema.title,
        "description": schema.description,
        "synonyms": list(schema.synonyms),
        "language": schema.language,
        "order": _order_to_json(schema.order),
        "fields": [_field_to_json(one) for one in schema.fields],
    }
    return {key: value for key, value in written.items() if value or key == "language"}


def _field_to_json(one: Field) -> Object:
    written: Object = {
        "name": one.name,
        "type": one.type.value,
        "title": one.title,
        "description": one.description,
        "synonyms": list(one.synonyms),
        "unit": one.unit,
        "currency": one.currency,
        "currency_field": one.currency_field,
        "values": {value: list(synonyms) for value, synonyms in one.values.items()},
        "facet": one.facet,
        "bare": None if one.bare is Bare.EXACTLY else one.bare.value,
        "shared": one.shared,
        "columns": [_field_to_json(column) for column in one.columns],
    }
    return {key: value for key, value in written.items() if value}


_SCHEMA_KEYS = frozenset({"version", "bucket", "title", "description", "synonyms", "language", "order", "fields"})
_FIELD_KEYS = frozenset(
    [
        "name",
        "type",
        "title",
        "description",
        "synonyms",
        "unit",
        "currency",
        "currency_field",
        "values",
        "facet",
        "bare",
        "shared",
        "columns",
    ]
)


def schema_from_json(data: Json) -> Schema:
    """Raises `UnreadableJson` for what is no schema, `InvalidSchema` for one that cannot be."""
    return _read(_schema, _unwrapped(data))


def _schema(data: Object) -> Schema:
    _refuse_unknown(data, _SCHEMA_KEYS)
    return Schema(
        bucket=BucketId(str(data["bucket"])),
        title=str(data.get("title", "")),
        description=str(data.get("description", "")),
        synonyms=_strings(data.get("synonyms")),
        language=str(data.get("language", "en")),
        order=_order(data.get("order")),
        fields=tuple(map(_field, _several(data, "fields"))),
    )


def _field(data: Object) -> Field:
    _refuse_unknown(data, _FIELD_KEYS)
    currency_field = data.get("currency_field")
    return Field(
        name=FieldName(str(data["name"])),
        type=FieldType(data["type"]),
        title=str(data.get("title", "")),
        description=str(data.get("description", "")),
        synonyms=_strings(data.get("synonyms")),
        unit=str(data.get("unit", "")),
        currency=str(data.get("currency", "")),
        currency_field=None if currency_field is None else FieldName(currency_field),
        values={str(value): _strings(words) for value, words in cast(Object, data.get("values") or {}).items()},
        facet=bool(data.get("facet", False)),
        bare=Bare(data.get("bare", Bare.EXACTLY)),
        shared=bool(data.get("shared", False)),
        columns=tuple(map(_field, _several(data, "columns"))),
    )


def _refuse_unknown(data: Object, known: frozenset[str]) -> None:
    if unknown := sorted(set(data) - known):
        raise ValueError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")


def _several(data: Object, key: str) -> list[Object]:
    return data.get(key) or []


def _strings(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError(f"a list of words is wanted, not {value!r}")
    return tuple(map(str, value or ()))


# -- reading


def _unwrapped(data: Json) -> Json:
    version = cast(Object, data).get("version", VERSION) if isinstance(data, dict) else VERSION
    if version != VERSION:
        raise UnreadableJson(f"version {version} is not one that this program reads (it reads {VERSION})")
    return cast(Json, data)


def _read(build: Callable[[Object], T], data: Json) -> T:
    try:
        return build(data)
    except SearchError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        what = f"{exc.args[0]!r} is missing" if isinstance(exc, KeyError) else str(exc)
        raise UnreadableJson(what) from exc


# -- annotations


def annotations_to_json(annotations: Sequence[Annotation]) -> list[Object]:
    """Without an envelope: they are kept as a document's values are."""
    return [
        {
            "field": one.field,
            "value": _held(one.value),
            "confidence": one.confidence,
            "start": one.start,
            "end": one.end,
        }
        for one in annotations
    ]


def _held(value: Value) -> Json:
    if not isinstance(value, tuple):
        return value
    return [dict(member) if isinstance(member, Mapping) else member for member in value]


def annotations_from_json(data: Sequence[Json]) -> tuple[Annotation, ...]:
    """Raises `UnreadableJson`."""
    return tuple(_read(_annotation, one) for one in data)


def _annotation(data: Object) -> Annotation:
    value = data["value"]
    return Annotation(
        field=FieldName(data["field"]),
        value=cast(Value, tuple(cast(list[Json], value)) if isinstance(value, list) else value),
        confidence=data["confidence"],
        start=data["start"],
        end=data["end"],
    )
