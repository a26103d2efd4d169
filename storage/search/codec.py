"""Converts the kernel's values to JSON and back. The format is stable across versions.

Conditions have the shape that docs/reference/result.md promises: a comparison is `{"field", "op", "value"}`, plus
`words` if it has any.
Stored values (plans, refinements, actions, schemas) have an envelope `{"version": 1, …}`. Reading JSON of a later
version, or of an unknown shape, raises `UnreadableJson`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from dataclasses import fields as dataclass_fields
from typing import Any as Json
from typing import TypeVar, assert_never, cast

from storage.search import refinement as refinements
from storage.search.conditions import (
    MATCH_ALL,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    Scalar,
    SemiJoinCondition,
)
from storage.search.documents import FieldAnnotation, FieldValue
from storage.search.errors import SearchError, UnreadableJson
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.numbers import to_json_number
from storage.search.plan import (
    ANSWER_FORMS,
    AggregateFunction,
    AnswerForm,
    CalendarPeriod,
    ClaimQuantifier,
    Clause,
    GroupBy,
    Leg,
    LegCombination,
    Plan,
    Search,
    ShownDocuments,
)
from storage.search.refinement import Action, Refinement
from storage.search.schema import BareValueMatch, FieldOrigin, FieldType, Schema, SchemaField, SchemaOrder

FORMAT_VERSION = 1
T = TypeVar("T")
JsonObject = dict[str, Json]


# -- conditions


def condition_to_json(condition: Condition) -> JsonObject:
    match condition:
        case ComparisonCondition(field=name, op=op, value=value, words=words):
            return {"field": name, "op": op.value, "value": _value_to_json(value)} | _words_to_json(words)
        case FieldComparisonCondition(field=name, op=op, other_field=other_name, offset=offset, words=words):
            shift = {"offset": to_json_number(offset)} if offset else {}
            return {"field": name, "op": op.value, "other_field": other_name} | shift | _words_to_json(words)
        case MissingCondition(field=name, words=words):
            return {"field": name, "op": "missing"} | _words_to_json(words)
        case RowCondition(rows_field=row, condition=inner, words=words):
            inside = inner if isinstance(inner, (AndCondition, OrCondition, NotCondition)) else AndCondition((inner,))
            return {"row": row} | condition_to_json(inside) | _words_to_json(words)
        case SemiJoinCondition():
            return _semi_join_to_json(condition)
        case AndCondition(members):
            return {"all": [condition_to_json(member) for member in members]}
        case OrCondition(members):
            return {"any": [condition_to_json(member) for member in members]}
        case NotCondition(inner):
            return {"not": condition_to_json(inner)}
        case _:
            assert_never(condition)


def condition_from_json(data: Json) -> Condition:
    """Raises `UnreadableJson`."""
    return _parse_json(_parse_condition, data)


def _parse_condition(data: JsonObject) -> Condition:
    words = str(data.get("words", ""))
    if "row" in data:
        inside = _parse_condition({key: value for key, value in data.items() if key not in ("row", "words")})
        lone = isinstance(inside, AndCondition) and len(inside.members) == 1
        inner = inside.members[0] if isinstance(inside, AndCondition) and lone else inside
        return RowCondition(rows_field=FieldName(data["row"]), condition=inner, words=words)
    if "bucket" in data:
        return _parse_semi_join(data, words)
    if "all" in data:
        return AndCondition(tuple(_parse_condition(member) for member in data["all"]))
    if "any" in data:
        return OrCondition(tuple(_parse_condition(member) for member in data["any"]))
    if "not" in data:
        return NotCondition(_parse_condition(data["not"]))
    name = FieldName(data["field"])
    if data["op"] == "missing":
        return MissingCondition(field=name, words=words)
    if "other_field" in data:
        other_name, offset = FieldName(data["other_field"]), float(data.get("offset", 0.0))
        op = ComparisonOperator(data["op"])
        return FieldComparisonCondition(field=name, op=op, other_field=other_name, offset=offset, words=words)
    return ComparisonCondition(
        field=name, op=ComparisonOperator(data["op"]), value=_value_from_json(data["value"]), words=words
    )


def _semi_join_to_json(condition: SemiJoinCondition) -> JsonObject:
    """`condition` is left out for the whole bucket, `order` and `limit` without an order, and what is not given."""
    inner_set: JsonObject = {"bucket": condition.bucket, "key": condition.key}
    if condition.key_rows is not None:
        inner_set["key_rows"] = condition.key_rows
    if condition.condition != MATCH_ALL:
        inner_set["condition"] = condition_to_json(condition.condition)
    if condition.order_by is not None:
        inner_set["order"] = {"field": condition.order_by, "descending": condition.is_descending}
        inner_set["limit"] = condition.limit
    if condition.min_count > 1:
        inner_set["min_count"] = condition.min_count
    if condition.op is not ComparisonOperator.EQ:
        inner_set["compare"] = condition.op.value
    return {"field": condition.field, "op": "semi_join", **inner_set} | _words_to_json(condition.words)


def _parse_semi_join(data: JsonObject, words: str) -> SemiJoinCondition:
    if data["op"] != "semi_join":
        raise ValueError(f"{data['op']!r} takes no bucket")
    order = _parse_order(data.get("order"))
    return SemiJoinCondition(
        field=FieldName(data["field"]),
        bucket=BucketId(data["bucket"]),
        key=FieldName(data["key"]),
        key_rows=FieldName(data["key_rows"]) if "key_rows" in data else None,
        condition=_parse_condition(data["condition"]) if "condition" in data else MATCH_ALL,
        order_by=None if order is None else order.field,
        is_descending=order is None or order.descending,
        limit=1 if order is None else int(data["limit"]),
        min_count=int(data.get("min_count", 1)),
        op=ComparisonOperator(data.get("compare", ComparisonOperator.EQ)),
        words=words,
    )


def _words_to_json(words: str) -> JsonObject:
    return {"words": words} if words else {}


def _value_to_json(value: Scalar | tuple[Scalar, ...]) -> Json:
    return [_scalar_to_json(scalar) for scalar in value] if isinstance(value, tuple) else _scalar_to_json(value)


def _scalar_to_json(value: Scalar) -> Scalar | int:
    return to_json_number(value) if isinstance(value, float) else value


def _value_from_json(value: Json) -> Scalar | tuple[Scalar, ...]:
    return (
        tuple(map(_scalar_from_json, cast(list[Json], value))) if isinstance(value, list) else _scalar_from_json(value)
    )


def _scalar_from_json(value: Json) -> Scalar:
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)):
        return float(value)
    raise TypeError(f"{value!r} is not a value")


# -- searches and plans


def search_to_json(search: Search) -> JsonObject:
    return {
        "clauses": [_clause_to_json(clause) for clause in search.clauses],
        "ranking": search.ranking_text,
    }


def _clause_to_json(clause: Clause) -> JsonObject:
    return {
        "bucket": clause.bucket,
        "condition": condition_to_json(clause.condition),
        "required": list(clause.required_terms),
    }


def search_from_json(data: Json) -> Search:
    """Raises `UnreadableJson`."""
    return _parse_json(_parse_search, data)


def _parse_search(data: JsonObject) -> Search:
    return Search(clauses=tuple(_parse_clause(clause) for clause in data["clauses"]), ranking_text=str(data["ranking"]))


def _parse_clause(data: JsonObject) -> Clause:
    return Clause(
        bucket=BucketId(data["bucket"]),
        condition=_parse_condition(data["condition"]),
        required_terms=tuple(map(str, data["required"])),
    )


def plan_to_json(plan: Plan) -> JsonObject:
    """`language` is left out for English."""
    return {
        "version": FORMAT_VERSION,
        "question": plan.question,
        "combine": plan.combination.value,
        "assumptions": list(plan.assumptions),
        "legs": [
            {
                "id": leg.id,
                "question": leg.question,
                "search": search_to_json(leg.search),
                "wanted": _answer_form_to_json(leg.answer_form),
                "probes": list(leg.probes),
            }
            for leg in plan.legs
        ],
    } | ({"language": plan.language} if plan.language != "en" else {})


def plan_from_json(data: Json) -> Plan:
    """Raises `UnreadableJson`."""
    return _parse_json(_parse_plan, _unwrap_envelope(data))


def _parse_plan(data: JsonObject) -> Plan:
    legs = tuple(
        Leg(
            id=LegId(leg["id"]),
            question=leg["question"],
            search=_parse_search(leg["search"]),
            answer_form=_parse_answer_form(leg["wanted"]),
            probes=tuple(leg["probes"]),
        )
        for leg in data["legs"]
    )
    return Plan(
        question=data["question"],
        legs=legs,
        combination=LegCombination(data["combine"]),
        assumptions=tuple(data["assumptions"]),
        language=str(data.get("language", "en")),
    )


# -- forms of answer: the tag, then the fields in the order of the class


@dataclass(frozen=True, slots=True, kw_only=True)
class _FieldCodec:
    """How a field of a form is stored. `key` is its name in JSON, if that differs."""

    encode: Callable[[Json], Json]
    decode: Callable[[Json], Json]
    key: str = ""
    is_left_out: bool = False  # omitted at its default, because the field was added after the form


_ANSWER_FORM_FIELDS: Mapping[str, _FieldCodec] = {  # fields that need conversion
    "fields": _FieldCodec(
        encode=lambda pairs: [list(pair) for pair in pairs],
        decode=lambda pairs: tuple((BucketId(bucket), FieldName(name)) for bucket, name in pairs),
    ),
    "order": _FieldCodec(encode=lambda order: _order_to_json(order), decode=lambda data: _parse_order(data)),
    "skip": _FieldCodec(encode=lambda skip: skip, decode=lambda skip: skip, is_left_out=True),
    "functions": _FieldCodec(
        encode=lambda functions: [function.value for function in functions],
        decode=lambda names: tuple(AggregateFunction(name) for name in names),
    ),
    "group": _FieldCodec(encode=lambda group: _group_to_json(group), decode=lambda data: _parse_group(data)),
    "second_group": _FieldCodec(
        encode=lambda group: _group_to_json(group), decode=lambda data: _parse_group(data), is_left_out=True
    ),
    "share_base": _FieldCodec(
        encode=lambda search: search_to_json(search),
        decode=lambda data: _parse_search(data),
        key="whole",
        is_left_out=True,
    ),
    "factor": _FieldCodec(encode=lambda name: name, decode=lambda name: name and FieldName(name), is_left_out=True),
    "quantifier": _FieldCodec(
        encode=lambda quantifier: quantifier.value, decode=lambda name: ClaimQuantifier(name), is_left_out=True
    ),
    "shown": _FieldCodec(
        encode=lambda shown: asdict(shown), decode=lambda data: ShownDocuments(**data), is_left_out=True
    ),
    "beside": _FieldCodec(encode=list, decode=lambda names: tuple(FieldName(name) for name in names), is_left_out=True),
    "is_for_question": _FieldCodec(encode=lambda flag: flag, decode=lambda flag: bool(flag), is_left_out=True),
    "of_each": _FieldCodec(encode=lambda of_each: of_each, decode=lambda of_each: bool(of_each), is_left_out=True),
    "scope": _FieldCodec(
        encode=lambda search: search_to_json(search), decode=lambda data: _parse_search(data), is_left_out=True
    ),
}
_PLAIN_FIELD = _FieldCodec(encode=lambda value: value, decode=lambda value: value)


def _answer_form_to_json(answer_form: AnswerForm) -> JsonObject:
    written: JsonObject = {"kind": answer_form.tag}
    for own in dataclass_fields(answer_form):
        codec, value = _ANSWER_FORM_FIELDS.get(own.name, _PLAIN_FIELD), getattr(answer_form, own.name)
        if not (codec.is_left_out and value == own.default):
            written[codec.key or own.name] = codec.encode(value)
    return written


def _parse_answer_form(data: JsonObject) -> AnswerForm:
    forms = {form.tag: form for form in ANSWER_FORMS}
    form = forms.get(data["kind"])
    if form is None:
        raise ValueError(f"{data['kind']!r} is not a form of answer")
    values: dict[str, Json] = {}
    for own in dataclass_fields(form):
        codec = _ANSWER_FORM_FIELDS.get(own.name, _PLAIN_FIELD)
        key = codec.key or own.name
        if key in data or not codec.is_left_out:
            values[own.name] = codec.decode(data[key])
    return form(**values)


def _group_to_json(group: GroupBy | None) -> JsonObject | None:
    return None if group is None else {"field": group.field, "period": group.period}


def _parse_group(data: JsonObject | None) -> GroupBy | None:
    if data is None:
        return None
    period = data["period"] and CalendarPeriod(data["period"])
    return GroupBy(field=FieldName(data["field"]), period=period)


def _order_to_json(order: SchemaOrder | None) -> JsonObject | None:
    return None if order is None else {"field": order.field, "descending": order.descending}


def _parse_order(data: JsonObject | None) -> SchemaOrder | None:
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
_EFFECT_TYPES: Mapping[str, type[Refinement] | type[refinements.SaveSearch]] = {
    "add_filter": refinements.AddFilter,
    "open_tail": refinements.OpenTail,
    "only_missing": refinements.OnlyMissing,
    "take_in_missing": refinements.IncludeMissing,
    "drop_filter": refinements.DropFilter,
    "drop_word": refinements.DropWord,
    "use_nearest": refinements.UseNearest,
    "correct_word": refinements.CorrectWord,
    "add_bucket": refinements.AddBucket,
    "only_bucket": refinements.OnlyBucket,
    "choose_document": refinements.ChooseDocument,
    "take_reading": refinements.UseReading,
    "take_form": refinements.UseForm,
    "save_search": refinements.SaveSearch,
}
_CHOICE_NAMES = {kind: name for name, kind in _EFFECT_TYPES.items()} | {
    type(action): name for name, action in _ACTIONS.items()
}
_ATTRIBUTE_ENCODERS: Mapping[str, Callable[[Json], Json]] = {
    "condition": condition_to_json,
    "old": lambda old: old if isinstance(old, str) else condition_to_json(old),
    "new": lambda new: new if isinstance(new, str) else condition_to_json(new),
    "clause": _clause_to_json,
    "search": search_to_json,
    "answer_form": _answer_form_to_json,
}
_ATTRIBUTE_DECODERS: Mapping[str, Callable[[Json], Json]] = {
    "condition": _parse_condition,
    "old": lambda old: old if isinstance(old, str) else _parse_condition(old),
    "new": lambda new: new if isinstance(new, str) else _parse_condition(new),
    "clause": _parse_clause,
    "search": _parse_search,
    "answer_form": _parse_answer_form,
}


def choice_to_json(choice: Refinement | Action) -> JsonObject:
    """Encodes the effect of a button for storage."""
    names: Sequence[str] = getattr(type(choice), "__slots__", ())
    parts = {name: getattr(choice, name) for name in names}
    written = {name: _ATTRIBUTE_ENCODERS.get(name, _return_unchanged)(part) for name, part in parts.items()}
    return {"version": FORMAT_VERSION, "does": _CHOICE_NAMES[type(choice)], **written}


def choice_from_json(data: Json) -> Refinement | Action:
    """Raises `UnreadableJson`."""
    return _parse_json(_parse_choice, _unwrap_envelope(data))


def _parse_choice(data: JsonObject) -> Refinement | Action:
    does = data["does"]
    if does in _ACTIONS:
        return _ACTIONS[does]
    parts = {name: part for name, part in data.items() if name not in ("does", "version")}
    return _EFFECT_TYPES[does](
        **{name: _ATTRIBUTE_DECODERS.get(name, _return_unchanged)(part) for name, part in parts.items()}
    )


def _return_unchanged(value: Json) -> Json:
    return value


# -- schemas


def schema_to_json(schema: Schema) -> JsonObject:
    """Encodes a schema like the editable YAML: defaults are left out, except the language."""
    written: JsonObject = {
        "version": FORMAT_VERSION,
        "bucket": schema.bucket,
        "title": schema.title,
        "description": schema.description,
        "synonyms": list(schema.synonyms),
        "item": schema.item,
        "language": schema.language,
        "order": _order_to_json(schema.order),
        "fields": [_field_to_json(field) for field in schema.fields],
    }
    return {key: value for key, value in written.items() if value or key == "language"}


def _field_to_json(field: SchemaField) -> JsonObject:
    written: JsonObject = {
        "name": field.name,
        "type": field.type.value,
        "title": field.title,
        "description": field.description,
        "synonyms": list(field.synonyms),
        "labels": list(field.labels),
        "kinds": list(field.kinds),
        "origin": field.origin.value if field.origin else None,
        "unit": field.unit,
        "currency": field.currency,
        "currency_field": field.currency_field,
        "values": {value: list(synonyms) for value, synonyms in field.values.items()},
        "facet": field.facet,
        "bare": None if field.bare is BareValueMatch.EXACTLY else field.bare.value,
        "month_first": field.month_first,
        "shared": field.shared,
        "says": field.says,
        "references": field.references,
        "columns": [_field_to_json(column) for column in field.columns],
    }
    return {key: value for key, value in written.items() if value}


_SCHEMA_KEYS = frozenset(
    {"version", "bucket", "title", "description", "synonyms", "item", "language", "order", "fields"}
)
_FIELD_KEYS = frozenset(
    [
        "name",
        "type",
        "title",
        "description",
        "synonyms",
        "labels",
        "kinds",
        "origin",
        "unit",
        "currency",
        "currency_field",
        "values",
        "facet",
        "bare",
        "month_first",
        "shared",
        "says",
        "references",
        "columns",
    ]
)


def schema_from_json(data: Json) -> Schema:
    """Raises `UnreadableJson` if `data` is not a schema, `InvalidSchema` if the schema is not valid."""
    return _parse_json(_parse_schema, _unwrap_envelope(data))


def _parse_schema(data: JsonObject) -> Schema:
    _refuse_unknown_keys(data, _SCHEMA_KEYS)
    return Schema(
        bucket=BucketId(str(data["bucket"])),
        title=str(data.get("title", "")),
        description=str(data.get("description", "")),
        synonyms=_parse_strings(data.get("synonyms")),
        item=str(data.get("item", "")),
        language=str(data.get("language", "en")),
        order=_parse_order(data.get("order")),
        fields=tuple(map(_parse_field, _objects_under(data, "fields"))),
    )


def _parse_field(data: JsonObject) -> SchemaField:
    _refuse_unknown_keys(data, _FIELD_KEYS)
    currency_field = data.get("currency_field")
    return SchemaField(
        name=FieldName(str(data["name"])),
        type=FieldType(data["type"]),
        title=str(data.get("title", "")),
        description=str(data.get("description", "")),
        synonyms=_parse_strings(data.get("synonyms")),
        labels=_parse_strings(data.get("labels")),
        kinds=_parse_strings(data.get("kinds")),
        origin=None if data.get("origin") is None else FieldOrigin(data["origin"]),
        unit=str(data.get("unit", "")),
        currency=str(data.get("currency", "")),
        currency_field=None if currency_field is None else FieldName(currency_field),
        values={
            str(value): _parse_strings(words) for value, words in cast(JsonObject, data.get("values") or {}).items()
        },
        facet=bool(data.get("facet", False)),
        bare=BareValueMatch(data.get("bare", BareValueMatch.EXACTLY)),
        month_first=bool(data.get("month_first", False)),
        shared=bool(data.get("shared", False)),
        says=str(data.get("says", "")),
        references=str(data.get("references", "")),
        columns=tuple(map(_parse_field, _objects_under(data, "columns"))),
    )


def _refuse_unknown_keys(data: JsonObject, known_keys: frozenset[str]) -> None:
    if unknown := sorted(set(data) - known_keys):
        raise ValueError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(known_keys))}")


def _objects_under(data: JsonObject, key: str) -> list[JsonObject]:
    return data.get(key) or []


def _parse_strings(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError(f"a list of words is wanted, not {value!r}")
    return tuple(map(str, value or ()))


# -- reading


def _unwrap_envelope(data: Json) -> Json:
    version = cast(JsonObject, data).get("version", FORMAT_VERSION) if isinstance(data, dict) else FORMAT_VERSION
    if version != FORMAT_VERSION:
        raise UnreadableJson(f"version {version} is not one that this program reads (it reads {FORMAT_VERSION})")
    return cast(Json, data)


def _parse_json(build: Callable[[JsonObject], T], data: Json) -> T:
    try:
        return build(data)
    except SearchError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        what = f"{exc.args[0]!r} is missing" if isinstance(exc, KeyError) else str(exc)
        raise UnreadableJson(what) from exc


# -- annotations


def annotations_to_json(annotations: Sequence[FieldAnnotation]) -> list[JsonObject]:
    """Encodes annotations without an envelope, because they are stored like a document's values."""
    return [
        {
            "field": annotation.field,
            "value": _field_value_to_json(annotation.value),
            "confidence": annotation.confidence,
            "start": annotation.start,
            "end": annotation.end,
        }
        for annotation in annotations
    ]


def _field_value_to_json(value: FieldValue) -> Json:
    if not isinstance(value, tuple):
        return value
    return [dict(member) if isinstance(member, Mapping) else member for member in value]


def annotations_from_json(data: Sequence[Json]) -> tuple[FieldAnnotation, ...]:
    """Raises `UnreadableJson`."""
    return tuple(_parse_json(_parse_annotation, annotation_data) for annotation_data in data)


def _parse_annotation(data: JsonObject) -> FieldAnnotation:
    value = data["value"]
    return FieldAnnotation(
        field=FieldName(data["field"]),
        value=cast(FieldValue, tuple(cast(list[Json], value)) if isinstance(value, list) else value),
        confidence=data["confidence"],
        start=data["start"],
        end=data["end"],
    )
