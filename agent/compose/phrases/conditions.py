"""Formats conditions, values and numbers for reading. Raw text, not escaped."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TypeAlias, assert_never

from storage.search.conditions import (
    DOC_ID_FIELD,
    MATCH_ALL,
    TEXT_FIELD,
    TITLE_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    SemiJoinCondition,
    conjuncts_of,
)
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, FieldName
from storage.search.numbers import minor_digits_of, to_json_number
from storage.search.schema import FieldType, Schema, SchemaField

SchemasByName: TypeAlias = Mapping[BucketId, Schema]
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_OPERATOR_SIGNS = {
    ComparisonOperator.EQ: "=",
    ComparisonOperator.HAS: "has",
    ComparisonOperator.CONTAINS: "contains",
    ComparisonOperator.GT: ">",
    ComparisonOperator.GTE: "≥",
    ComparisonOperator.LT: "<",
    ComparisonOperator.LTE: "≤",
}
_SHORT_UNITS = {"degC": "°C", "degF": "°F", "percent": "%"}
_COUNTED_UNITS = frozenset(
    "day hour week month year hectare acre mile minute second".split()
)  # words: "1 day", "2 days"


def describe_reading(conditions: Sequence[Condition], schema: Schema, schemas: SchemasByName) -> str:
    """Describes what distinguishes a reading of a question from others."""
    return " and ".join(describe_condition(condition, schema, schemas) for condition in conditions)


def describe_condition(condition: Condition, schema: Schema, schemas: SchemasByName) -> str:
    """Describes the condition: "vendor = Acme", "date in 2031", "no flash point".

    `schemas` are those of the visible buckets, whose sets a condition may compare with; no other bucket is named.
    """
    match condition:
        case ComparisonCondition(field=name) if name == TITLE_FIELD:
            return f"title has “{condition.value}”"
        case ComparisonCondition(field=name) if name == TEXT_FIELD:
            return f"mentions “{condition.value}”"
        case ComparisonCondition(field=name) if name == DOC_ID_FIELD:
            return "one document" if condition.op is ComparisonOperator.EQ else "these documents"
        case ComparisonCondition():
            return _describe_comparison(condition, schema)
        case FieldComparisonCondition():
            return _describe_field_comparison(condition, schema)
        case MissingCondition(field=name):
            return f"no {_label_of_field(name, schema)}"
        case RowCondition(rows_field=row, condition=inner):
            columns = schema.by_name[row].columns if row in schema.by_name else ()
            inside = describe_condition(
                inner, Schema(bucket=schema.bucket, fields=columns, is_row_schema=True), schemas
            )
            return f"{_label_of_field(row, schema)} with {inside}"
        case SemiJoinCondition():
            return _describe_semi_join(condition, schema, schemas)
        case AndCondition(members):
            return " and ".join(describe_condition(member, schema, schemas) for member in members) or "everything"
        case OrCondition(members):
            return " or ".join(describe_condition(member, schema, schemas) for member in members) or "nothing"
        case NotCondition(ComparisonCondition(field=name, op=op)) if name == DOC_ID_FIELD:
            return "not that document" if op is ComparisonOperator.EQ else "not those documents"
        case NotCondition(MissingCondition(field=name)):
            return f"{_label_of_field(name, schema)} is known"
        case NotCondition(
            ComparisonCondition(field=name, op=ComparisonOperator.EQ | ComparisonOperator.HAS, value=value)
        ) if not isinstance(value, tuple):
            return f"{_label_of_field(name, schema)} is not {format_value(value, schema.by_name.get(name))}"
        case NotCondition(SemiJoinCondition() as semi_join):
            return _describe_semi_join(semi_join, schema, schemas or {}, verb="is not")
        case NotCondition(inner):
            return f"not ({describe_condition(inner, schema, schemas)})"
        case _:
            assert_never(condition)


def _describe_semi_join(
    condition: SemiJoinCondition, schema: Schema, schemas: SchemasByName, *, verb: str = "is"
) -> str:
    """ "branch is one of the branches with opened < 2010", "name is the capital of the province with the largest area".

    The key goes without saying where the outer field refers to it.
    """
    inner = schemas.get(condition.bucket)
    labels = {TITLE_FIELD: "title", DOC_ID_FIELD: "it"}
    outer = labels.get(condition.field) or _label_of_field(condition.field, schema)
    if inner is None:
        return f"{outer} is among values of other documents"
    noun, is_single = document_noun_of(inner), condition.order_by is not None and condition.limit == 1
    documents = noun if is_single else plural_of(noun)
    members = () if condition.condition == MATCH_ALL else conjuncts_of(condition.condition)
    parts = [describe_condition(member, inner, schemas) for member in members if not _is_nested(member)]
    if condition.order_by is not None:
        parts.insert(0, _describe_rank(condition, condition.order_by, inner))
    inner_set = f"{documents} with {' and '.join(parts)}" if parts else documents
    nested = [describe_condition(member, inner, schemas) for member in members if _is_nested(member)]
    inner_set += f"{' and' if parts else ''} whose {' and '.join(nested)}" if nested else ""
    if condition.op in _OPERATOR_SIGNS and condition.op is not ComparisonOperator.EQ:
        sign = _OPERATOR_SIGNS[condition.op]
        return (
            f"{'not ' if verb != 'is' else ''}{outer} {sign} {_label_of_field(condition.key, inner)} of the {inner_set}"
        )
    if condition.min_count > 1:
        return (
            f"{outer} {verb} the {_label_of_field(condition.key, inner)} of at least {condition.min_count} {inner_set}"
        )
    if _refers_to_key(condition, schema) or condition.key in (TITLE_FIELD, DOC_ID_FIELD):
        return f"{outer} {verb} {'' if is_single else 'one of '}the {inner_set}"
    key, key_field = _label_of_field(condition.key, inner), inner.by_name.get(condition.key)
    if is_single and (key_field is None or key_field.type is not FieldType.LIST):
        return f"{outer} {verb} the {key} of the {inner_set}"
    return f"{outer} {verb} among the {plural_of(key)} of the {inner_set}"


def _is_nested(condition: Condition) -> bool:
    return isinstance(condition, SemiJoinCondition)


def _refers_to_key(condition: SemiJoinCondition, schema: Schema) -> bool:
    field = schema.by_name.get(condition.field)
    reference = None if field is None else field.reference
    return reference is not None and (reference.bucket, reference.field) == (condition.bucket, condition.key)


def _describe_rank(condition: SemiJoinCondition, order_by: FieldName, schema: Schema) -> str:
    field = schema.by_name.get(order_by)
    is_date = field is not None and field.type is FieldType.DATE
    extreme = (
        ("latest" if is_date else "largest") if condition.is_descending else ("earliest" if is_date else "smallest")
    )
    return f"the {f'{condition.limit} ' if condition.limit > 1 else ''}{extreme} {_label_of_field(order_by, schema)}"


def _describe_comparison(condition: ComparisonCondition, schema: Schema) -> str:
    field = schema.by_name.get(condition.field)
    label, value = _label_of_field(condition.field, schema), condition.value
    if isinstance(value, bool):
        return label if value else f"not {label}"
    if isinstance(value, tuple):
        if condition.op is ComparisonOperator.IN:
            shown = [format_value(member, field) for member in value]
            some = ", ".join(shown[:3]) + (f" or {len(shown) - 3} more" if len(shown) > 3 else "")
            return f"{label} is {some}" if len(shown) < 2 else f"{label} is one of {some}"
        low, high = value
        if isinstance(low, str) and isinstance(high, str):
            return f"{label} in {format_period(low, high)}"
        return f"{label} from {format_value(low, field)} to {format_value(high, field)}"
    return f"{label} {_OPERATOR_SIGNS[condition.op]} {format_value(value, field)}"


def _describe_field_comparison(condition: FieldComparisonCondition, schema: Schema) -> str:
    """Describes "actual cost > planned cost", "paid on later than due on by more than 30 days"."""
    label, other = (_label_of_field(name, schema) for name in (condition.field, condition.other_field))
    field, offset = schema.by_name.get(condition.field), condition.offset
    shift = ""
    if offset and field is not None:
        size = f"{abs(offset):g} days" if field.type is FieldType.DATE else format_value(abs(offset), field)
        shift = f" {'+' if offset > 0 else '−'} {size}"
    return f"{label} {_OPERATOR_SIGNS[condition.op]} {other}{shift}"


def _label_of_field(field_name: FieldName, schema: Schema) -> str:
    field = schema.by_name.get(field_name)
    if field is None:
        return field_name
    return field.label.lower() if field.label.istitle() else lowercase_label(field.label)


def lowercase_label(label: str) -> str:
    """Returns the label for use within a sentence: "notice period", but "CAS number" as it is."""
    return label[:1].lower() + label[1:] if label[1:].islower() else label


def format_value(value: FieldValue, field: SchemaField | None) -> str:
    """Formats a value with its unit. Joins the members of a list; counts rows."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        plain_items = [item for item in value if isinstance(item, str)]
        return ", ".join(plain_items) if len(plain_items) == len(value) else f"{len(value)} rows"
    if isinstance(value, str):
        return value
    unit = field.unit if field is not None else ""
    if field is not None and field.type is FieldType.MONEY:
        return format_money(value, field.currency or None)
    number = format_number(value) if unit else str(to_json_number(value))  # a whole number without a unit may be a year
    return f"{number} {format_unit(unit, value)}".strip()


def format_unit(unit: str, value: float) -> str:
    """Formats the unit as written after `value`: "m²", "days"."""
    if unit in _COUNTED_UNITS:
        return unit if value == 1 else f"{unit}s"
    return _SHORT_UNITS.get(unit, unit.replace("**2", "²").replace("**3", "³"))


def format_number(value: float) -> str:
    """Formats the number with thousands separators."""
    whole = to_json_number(value)
    return f"{whole:,}" if isinstance(whole, int) else f"{value:,.12g}"


def format_money(value: float, currency: str | None) -> str:
    """Formats the amount with the currency's minor digits: `USD 1,042.50`."""
    digits = minor_digits_of(currency)
    amount = f"{value:,.{digits}f}"
    return f"{currency} {amount}" if currency else amount


def format_count(count: int, noun: str = "document") -> str:
    """Returns the count with its noun: "1 document", "1,042 documents"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {plural_of(noun)}"


def join_words(words: Sequence[str]) -> str:
    """Joins the words: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def plural_of(noun: str) -> str:
    """Returns the regular English plural; a noun that already looks plural stays as it is."""
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    if noun.endswith(("ss", "x", "ch", "sh")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else noun + "s"


def format_period(first: str, last: str) -> str:
    """Formats two ISO days as a period: as years, a quarter or a month if they span exactly that, else as two days."""
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    if first[5:] == "01-01" and last[5:] == "12-31":
        return first[:4] if start.year == end.year else f"{start.year} to {end.year}"
    if start.day == 1 and (end.toordinal() + 1 == _next_month_ordinal(end)):
        if (start.year, start.month) == (end.year, end.month):
            return start.strftime("%B %Y")
        if start.year == end.year and start.month % 3 == 1 and end.month == start.month + 2:
            return f"Q{(start.month + 2) // 3} {start.year}"
    return first if first == last else f"{first} to {last}"


def _next_month_ordinal(day: date) -> int:
    year, month = (day.year + 1, 1) if day.month == 12 else (day.year, day.month + 1)
    return date(year, month, 1).toordinal() if year <= 9999 else 0


def escape_markdown(text: str) -> str:
    """Escapes data for Markdown: a backslash before every special character, spaces for line breaks."""
    return _MARKDOWN_SPECIAL.sub(r"\\\1", " ".join(text.split()))


def document_noun_of(schema: Schema) -> str:
    """Returns the singular noun for a document of the bucket."""
    noun = schema.synonyms[0] if schema.synonyms else schema.label.lower()
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun
