"""Describes conditions for reading, and joins words. Raw text, not escaped."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, assert_never

from agent.compose.phrases.english_qualifiers import (
    deny_in_english,
    is_own_name,
    know_in_english,
    list_in_english,
    miss_in_english,
    predicate_in_english,
    qualify_in_english,
    relate_in_english,
    value_noun_of,
    widen_in_english,
    without_id_word,
)
from agent.compose.phrases.nouns import document_noun_of, kind_required_by, label_noun_of
from agent.compose.phrases.translated_qualifiers import (
    list_in_translation,
    qualify_in_translation,
    state_in_translation,
    value_label_of,
    widen_in_translation,
)
from agent.compose.phrases.values import describe_within_period, format_value
from agent.compose.phrases.words import join_all, join_alternatives, label_of_field, quote_alternatives
from agent.limits import NAMED_VALUES
from agent.refine.currency_conditions import join_currencies
from agent.translation.languages import is_reply_in_english
from agent.translation.local_formats import localize_number
from agent.translation.message_catalogues import (
    mark_message,
    translate_in_context,
    translate_message,
    translate_plural,
)
from storage.search.conditions import (
    DOC_ID_FIELD,
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
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

SchemasByName: TypeAlias = Mapping[BucketId, Schema]
_OPERATOR_SIGNS = {
    ComparisonOperator.EQ: "=",
    ComparisonOperator.HAS: "has",
    ComparisonOperator.CONTAINS: "contains",
    ComparisonOperator.GT: ">",
    ComparisonOperator.GTE: "≥",
    ComparisonOperator.LT: "<",
    ComparisonOperator.LTE: "≤",
}
_COMPARISON_PATTERNS = {
    ComparisonOperator.EQ: "{label} = {value}",
    ComparisonOperator.HAS: "{label} has {value}",
    ComparisonOperator.CONTAINS: "{label} contains {value}",
    ComparisonOperator.GT: "{label} > {value}",
    ComparisonOperator.GTE: "{label} ≥ {value}",
    ComparisonOperator.LT: "{label} < {value}",
    ComparisonOperator.LTE: "{label} ≤ {value}",
}


def describe_reading(conditions: Sequence[Condition], schema: Schema, schemas: SchemasByName) -> str:
    """Describes what distinguishes a reading of a question from others, as a phrase that could follow the noun."""
    return describe_qualifier(conditions, schema, schemas)


def describe_qualifier(
    conditions: Sequence[Condition], schema: Schema, schemas: SchemasByName, ranks: Sequence[str] = ()
) -> str:
    """Returns what follows the noun of the documents: "with vendor Acme", "dated 2031"; empty without conditions.

    `ranks`: nouns such as "the largest area" that the documents have, too.
    """
    conditions, schema = join_currencies(conditions, schema)
    if is_reply_in_english():
        return qualify_in_english(conditions, schema, _describer_for(schemas), ranks)
    return qualify_in_translation(conditions, schema, _relation_describer_for(schemas), ranks)


def list_conditions(conditions: Sequence[Condition], schema: Schema, schemas: SchemasByName) -> list[str]:
    """Returns the conditions as members of a list: "provider Red Cross", "held in 2025"."""
    conditions, schema = join_currencies(conditions, schema)
    if is_reply_in_english():
        return list_in_english(conditions, schema, _describer_for(schemas))
    return list_in_translation(conditions, schema, _relation_describer_for(schemas))


def describe_denial(conditions: Sequence[Condition], schema: Schema, schemas: SchemasByName) -> str | None:
    """Returns "No contract with ACME starts in 2031" for conditions that no document meets.

    None: no field of the conditions has a sentence pattern, or the language of the reply has none.
    """
    if not is_reply_in_english():
        return None
    conditions, schema = join_currencies(conditions, schema)
    noun = document_noun_of(schema, conditions).singular
    others = [condition for condition in conditions if kind_required_by(condition, schema) is None]
    return deny_in_english(
        noun, others, schema, lambda condition, own_schema: describe_condition(condition, own_schema, schemas)
    )


def describe_value_noun(field: SchemaField) -> str:
    """What a document has or lacks: "flash point", "“completed on” date"."""
    return value_noun_of(field) if is_reply_in_english() else value_label_of(field)


def describe_missing_value(field: SchemaField) -> str:
    """The documents without a value, on a button: "no price", "not settled", "nothing under “Runs for”"."""
    return miss_in_english(field) if is_reply_in_english() else describe_missing(value_label_of(field))


def describe_known_value(field: SchemaField) -> str:
    """The documents with a value, on a button: "with price", "settled"."""
    if is_reply_in_english():
        return know_in_english(field)
    return translate_message("with {label}", label=value_label_of(field))


def describe_label(label: str, field_type: FieldType = FieldType.TEXT) -> str:
    """Names a field of the type in a sentence: "the visit date", "“Settled on”"; in other languages its label."""
    field = SchemaField(name=FieldName("field"), type=field_type, title=label)
    if not is_reply_in_english():
        return value_label_of(field)
    noun = value_noun_of(field)
    return noun if noun.startswith("“") else f"the {noun}"


def describe_widening(condition: Condition, schema: Schema, schemas: SchemasByName) -> str:
    """Returns the label of a button that drops the condition: "any vendor"."""
    if is_reply_in_english():
        return widen_in_english(condition, schema, _describer_for(schemas))
    return widen_in_translation(condition, schema, _relation_describer_for(schemas))


def _describer_for(schemas: SchemasByName) -> Callable[[Condition, Schema], str]:
    return lambda condition, schema: describe_condition(condition, schema, schemas)


def _relation_describer_for(schemas: SchemasByName) -> Callable[[Condition, Schema], str]:
    return lambda condition, schema: _state_condition(condition, schema, schemas)


def describe_condition(condition: Condition, schema: Schema, schemas: SchemasByName) -> str:
    """Describes the condition: "vendor = Acme", "date in 2031", "no flash point".

    `schemas` are those of the visible buckets, whose sets a condition may compare with; no other bucket is named.
    """
    if not is_reply_in_english():
        return state_in_translation(condition, schema, _relation_describer_for(schemas))
    return _state_condition(condition, schema, schemas)


def _state_condition(condition: Condition, schema: Schema, schemas: SchemasByName) -> str:
    """Describes the condition in English; one between buckets or on ids in the language of the reply."""
    match condition:
        case ComparisonCondition(field=name) if name == TITLE_FIELD:
            return f"title has “{condition.value}”"
        case ComparisonCondition(field=name) if name == TEXT_FIELD:
            return describe_mention(str(condition.value))
        case ComparisonCondition(field=name, words=words) if name == DOC_ID_FIELD and words:
            return f"“{words}”"
        case ComparisonCondition(field=name) if name == DOC_ID_FIELD:
            is_single = condition.op is ComparisonOperator.EQ
            return translate_message("one document") if is_single else translate_message("these documents")
        case ComparisonCondition():
            return _describe_comparison(condition, schema)
        case FieldComparisonCondition():
            return _describe_field_comparison(condition, schema)
        case MissingCondition(field=name):
            return describe_missing(label_of_field(name, schema))
        case RowCondition(rows_field=row, condition=inner):
            columns = schema.by_name[row].columns if row in schema.by_name else ()
            inside = describe_condition(
                inner, Schema(bucket=schema.bucket, fields=columns, is_row_schema=True), schemas
            )
            return f"{label_of_field(row, schema)} with {inside}"
        case SemiJoinCondition():
            return _describe_semi_join(condition, schema, schemas)
        case AndCondition(members):
            described = [describe_condition(member, schema, schemas) for member in members]
            return join_all(described) or "everything"
        case OrCondition(members) if words := _mentioned_words(members):
            return f"mentions {quote_alternatives(words)}"
        case OrCondition(members):
            described = [describe_condition(member, schema, schemas) for member in members]
            return join_alternatives(described) or translate_message("nothing")
        case NotCondition(ComparisonCondition(field=name, op=op)) if name == DOC_ID_FIELD:
            is_single = op is ComparisonOperator.EQ
            return translate_message("not that document") if is_single else translate_message("not those documents")
        case NotCondition(MissingCondition(field=name)):
            return f"{label_of_field(name, schema)} is known"
        case NotCondition(
            ComparisonCondition(field=name, op=ComparisonOperator.EQ | ComparisonOperator.HAS, value=value)
        ) if not isinstance(value, tuple):
            return f"{label_of_field(name, schema)} is not {format_value(value, schema.by_name.get(name))}"
        case NotCondition(SemiJoinCondition() as semi_join):
            return _describe_semi_join(semi_join, schema, schemas or {}, is_negated=True)
        case NotCondition(inner):
            return f"not ({describe_condition(inner, schema, schemas)})"
        case _:
            assert_never(condition)


def describe_mention(words: str) -> str:
    """ "mentions “rim”": the text holds the words."""
    return translate_message("mentions “{words}”", words=words)


def _mentioned_words(members: Sequence[Condition]) -> list[str]:
    """Returns the words of which the text must hold one; none if the conditions are not all of that kind."""
    words = [str(member.value) for member in members if isinstance(member, ComparisonCondition) and _is_mention(member)]
    return words if len(words) == len(members) else []


def _is_mention(condition: ComparisonCondition) -> bool:
    return condition.field == TEXT_FIELD


def describe_missing(label: str) -> str:
    """ "no date": the documents lack the field."""
    return translate_message("no {label}", label=label)


def _describe_semi_join(
    condition: SemiJoinCondition, schema: Schema, schemas: SchemasByName, *, is_negated: bool = False
) -> str:
    """ "branch is one of the branches with opened < 2010", "name is the capital of the province with the largest area".

    The key goes without saying where the outer field refers to it.
    """
    inner = schemas.get(condition.bucket)
    labels = {TITLE_FIELD: translate_message("title"), DOC_ID_FIELD: translate_message("it")}
    reserved = None if schema.is_row_schema else labels.get(condition.field)
    outer = reserved or label_of_field(condition.field, schema)
    if inner is None:
        return translate_message("{label} is among values of other documents", label=outer)
    is_single = condition.order_by is not None and condition.limit == 1
    if is_reply_in_english() and (said := _say_relation(condition, schema, inner, schemas, is_negated=is_negated)):
        return said
    key, keys = _describe_key(condition, inner, schemas)
    positive, negative = _semi_join_messages(condition, schema, inner, is_single=is_single)
    return translate_message(
        negative if is_negated else positive,
        label=outer,
        key=key,
        keys=keys,
        sign=_OPERATOR_SIGNS[condition.op],
        count=str(condition.min_count),
        documents=_describe_inner_set(condition, inner, schemas, is_single=is_single),
    )


def _say_relation(
    condition: SemiJoinCondition, schema: Schema, inner: Schema, schemas: SchemasByName, *, is_negated: bool
) -> str | None:
    """Says a relation without the name of a key, in English; None: only the general sentence fits.

    "clinic is in Bath", "vehicle has home depot Harbour", "registered at one of the clinics in Bath", "among the
    drivers of the incidents with vehicle V381".
    """
    if condition.op is not ComparisonOperator.EQ:
        return _say_comparison(condition, schema, inner, schemas) if not is_negated else None
    if condition.min_count > 1 or condition.order_by is not None:
        return None
    field = schema.by_name.get(condition.field)
    documents = _describe_inner_set(condition, inner, schemas, is_single=False)
    is_key = condition.key_rows is None and (
        _refers_to_key(condition, schema) or condition.key in (TITLE_FIELD, DOC_ID_FIELD)
    )
    if not is_key:
        is_own = not schema.is_row_schema and (field is None or is_own_name(field, schema))
        if not is_own:
            return None
        key = inner.by_name.get(condition.key)
        if key is not None and condition.key_rows is None and value_noun_of(key).startswith("“"):
            return f"{'not ' * is_negated}named under {value_noun_of(key)} in the {documents}"
        keys = _describe_key(condition, inner, schemas)[1]
        return f"{'not ' * is_negated}among the {keys} of the {documents}"
    if field is None:
        return None
    if (related := relate_in_english(field, f"one of the {documents}")) is not None:
        return f"{'not ' * is_negated}{related}"
    predicate = predicate_in_english(
        conjuncts_of(condition.condition), inner, lambda member, own: describe_condition(member, own, schemas)
    )
    subject = without_id_word(value_noun_of(field))
    return f"{subject} {predicate}" if predicate and subject not in predicate and not is_negated else None


def _semi_join_messages(
    condition: SemiJoinCondition, schema: Schema, inner: Schema, *, is_single: bool
) -> tuple[str, str]:
    """Returns the message for the condition, and for its negation."""
    if condition.op is not ComparisonOperator.EQ:
        return (
            mark_message("{label} {sign} {key} of the {documents}"),
            mark_message("not {label} {sign} {key} of the {documents}"),
        )
    if condition.min_count > 1:
        return (
            mark_message("{label} is the {key} of at least {count} {documents}"),
            mark_message("{label} is not the {key} of at least {count} {documents}"),
        )
    is_column = condition.key_rows is not None
    if not is_column and (_refers_to_key(condition, schema) or condition.key in (TITLE_FIELD, DOC_ID_FIELD)):
        if is_single:
            return mark_message("{label} is the {documents}"), mark_message("{label} is not the {documents}")
        return (
            mark_message("{label} is one of the {documents}"),
            mark_message("{label} is not one of the {documents}"),
        )
    if is_single and not is_column and not _is_list(condition.key, inner):
        return (
            mark_message("{label} is the {key} of the {documents}"),
            mark_message("{label} is not the {key} of the {documents}"),
        )
    return (
        mark_message("{label} is among the {keys} of the {documents}"),
        mark_message("{label} is not among the {keys} of the {documents}"),
    )


def _say_comparison(condition: SemiJoinCondition, schema: Schema, inner: Schema, schemas: SchemasByName) -> str | None:
    """ "price is higher than that of Sample", "weight is at least the load of the vans"; None: there is no sentence."""
    field = schema.by_name.get(condition.field)
    sign = _sign_in_words(condition.op, field)
    if sign is None or condition.min_count > 1 or condition.key_rows is not None:
        return None
    documents = _describe_inner_set(condition, inner, schemas, is_single=condition.order_by is not None)
    named = documents.removeprefix(f"{document_noun_of(inner).plural} called ")
    own = label_of_field(condition.field, schema)
    key = "that" if condition.key == condition.field else f"the {_describe_key(condition, inner, schemas)[0]}"
    return f"{own} is {sign} {key} of {named if named != documents else f'the {documents}'}"


def _sign_in_words(operator: ComparisonOperator, field: SchemaField | None) -> str | None:
    """ "higher than", "later than"; None: values of the field are not compared."""
    is_date = field is not None and field.type is FieldType.DATE
    words = {
        ComparisonOperator.GT: "later than" if is_date else "higher than",
        ComparisonOperator.LT: "earlier than" if is_date else "lower than",
        ComparisonOperator.GTE: "not earlier than" if is_date else "at least",
        ComparisonOperator.LTE: "not later than" if is_date else "at most",
    }
    return words.get(operator)


def _describe_key(condition: SemiJoinCondition, inner: Schema, schemas: SchemasByName) -> tuple[str, str]:
    """Returns "beer" and "beers"; of a column "beer in the lines with crates > 10", and the same in the plural."""
    rows = inner.by_name.get(condition.key_rows) if condition.key_rows is not None else None
    if rows is None:
        label = label_of_field(condition.key, inner)
        return label, label_noun_of(label).plural
    label = label_of_field(condition.key, Schema(bucket=inner.bucket, fields=rows.columns, is_row_schema=True))
    in_rows = [
        describe_condition(member, inner, schemas)
        for member in conjuncts_of(condition.condition)
        if _restricts_key_rows(member, condition)
    ]
    place = join_all(in_rows) or label_of_field(rows.name, inner)
    return (
        translate_message("{column} in the {rows}", column=label, rows=place),
        translate_message("{column} in the {rows}", column=label_noun_of(label).plural, rows=place),
    )


def _restricts_key_rows(condition: Condition, semi_join: SemiJoinCondition) -> bool:
    """Whether the condition of the inner set is one on the rows of which the key is a column."""
    return isinstance(condition, RowCondition) and condition.rows_field == semi_join.key_rows


def _describe_inner_set(condition: SemiJoinCondition, inner: Schema, schemas: SchemasByName, *, is_single: bool) -> str:
    """ "branches with opened < 2010", "province with the largest area". Conditions on rows of the key are left out."""
    noun = document_noun_of(inner)
    documents = noun.singular if is_single else noun.plural
    members = [member for member in conjuncts_of(condition.condition) if not _restricts_key_rows(member, condition)]
    ranks = [_describe_rank(condition, condition.order_by, inner)] if condition.order_by is not None else []
    return f"{documents} {describe_qualifier(members, inner, schemas, ranks)}".strip()


def _is_list(field_name: FieldName, schema: Schema) -> bool:
    field = schema.by_name.get(field_name)
    return field is not None and field.type is FieldType.LIST


def _refers_to_key(condition: SemiJoinCondition, schema: Schema) -> bool:
    field = schema.by_name.get(condition.field)
    reference = None if field is None else field.reference
    return reference is not None and (reference.bucket, reference.field) == (condition.bucket, condition.key)


def _describe_rank(condition: SemiJoinCondition, order_by: FieldName, schema: Schema) -> str:
    """ "the largest area", "the 3 latest dates"."""
    field = schema.by_name.get(order_by)
    label, is_single = label_of_field(order_by, schema), condition.limit <= 1
    values = {"label": label, "count": condition.limit}
    match (field is not None and field.type is FieldType.DATE, condition.is_descending):
        case (True, True):
            return (
                translate_in_context("rank", "the latest {label}", **values)
                if is_single
                else translate_in_context("rank", "the {count} latest {label}", **values)
            )
        case (True, False):
            return (
                translate_in_context("rank", "the earliest {label}", **values)
                if is_single
                else translate_in_context("rank", "the {count} earliest {label}", **values)
            )
        case (False, True):
            return (
                translate_in_context("rank", "the largest {label}", **values)
                if is_single
                else translate_in_context("rank", "the {count} largest {label}", **values)
            )
        case _:
            return (
                translate_in_context("rank", "the smallest {label}", **values)
                if is_single
                else translate_in_context("rank", "the {count} smallest {label}", **values)
            )


def _describe_comparison(condition: ComparisonCondition, schema: Schema) -> str:
    field = schema.by_name.get(condition.field)
    label, value = label_of_field(condition.field, schema), condition.value
    if isinstance(value, bool):
        return label if value else f"not {label}"
    if isinstance(value, tuple):
        if condition.op is ComparisonOperator.IN:
            return _describe_accepted_values(label, [format_value(member, field) for member in value])
        low, high = value
        if isinstance(low, str) and isinstance(high, str):
            return describe_within_period(label, low, high)
        return f"{label} from {format_value(low, field)} to {format_value(high, field)}"
    return _COMPARISON_PATTERNS[condition.op].format(label=label, value=format_value(value, field))


def _describe_accepted_values(label: str, values: Sequence[str]) -> str:
    """ "vendor is one of Acme, Globex, Initech or 2 more"."""
    shown = ", ".join(values[:NAMED_VALUES])
    if len(values) > NAMED_VALUES:
        shown = f"{shown} or {len(values) - NAMED_VALUES} more"
    return f"{label} is {shown}" if len(values) < 2 else f"{label} is one of {shown}"


def _describe_field_comparison(condition: FieldComparisonCondition, schema: Schema) -> str:
    """Describes "actual cost is higher than planned cost", "paid on later than due on by more than 30 days"."""
    label, other = (label_of_field(name, schema) for name in (condition.field, condition.other_field))
    field, offset = schema.by_name.get(condition.field), condition.offset
    words = _sign_in_words(condition.op, field)
    if is_reply_in_english() and not offset and words is not None:
        return f"{label} is {words} {other}"
    shift = ""
    if offset and field is not None:
        size = _format_days(abs(offset)) if field.type is FieldType.DATE else format_value(abs(offset), field)
        shift = f" {'+' if offset > 0 else '−'} {size}"
    return f"{label} {_OPERATOR_SIGNS[condition.op]} {other}{shift}"


def _format_days(count: float) -> str:
    return translate_plural("{count} days", "{count} days", 1 if count == 1 else 2, count=localize_number(f"{count:g}"))
