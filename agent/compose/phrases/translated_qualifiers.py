"""Says conditions after the noun in other languages than English: "Verträge mit Partei Acme und Beginn im Jahr 2031".

The sentences are messages of the catalogues, and the words that they depend on are in the wording of the language. A
label is data whose gender is unknown, so no message gives it an article.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from agent.compose.phrases.values import PeriodKind, describe_within_period, format_period, format_value, kind_of_period
from agent.compose.phrases.words import join_all, join_alternatives, join_words, lowercase_label, quote_alternatives
from agent.limits import NAMED_VALUES
from agent.translation.local_formats import localize_day
from agent.translation.local_wording import get_wording
from agent.translation.message_catalogues import mark_message, translate_in_context, translate_message
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
)
from storage.search.schema import FieldType, Schema, SchemaField

DescribeRelation: TypeAlias = Callable[[Condition, Schema], str]  # of a condition between fields or buckets

# What introduces values; the language decides whether two of these are the same words.
HAVING: Final = mark_message("having {values}")  # a label and its value
WITH: Final = mark_message("with {values}")
WITHOUT: Final = mark_message("without {values}")
MARKED: Final = mark_message("marked {values}")
UNMARKED: Final = mark_message("not marked {values}")
NOT_HAVING: Final = mark_message("not having {values}")

_EQUALITY: Final = frozenset({ComparisonOperator.EQ, ComparisonOperator.HAS})
_SIZED_TYPES: Final = frozenset({FieldType.NUMBER, FieldType.MONEY})


@dataclass(slots=True)
class TranslatedParts:
    """The parts of what follows a noun, in the order in which they are said."""

    states: list[str] = field(default_factory=list[str])  # "in Porto", right after the noun
    possessions: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # introduction, and what it has
    remarks: list[str] = field(default_factory=list[str])  # apart from the others by commas

    def join(self) -> str:
        values_by_introduction = dict[str, list[str]]()
        for message, value in self.possessions:
            introduction = translate_message(message)
            values_by_introduction.setdefault(introduction, []).append(value)
        groups = [
            introduction.format(values=join_words(values)) for introduction, values in values_by_introduction.items()
        ]
        words = " ".join([*self.states, *([join_all(groups)] if groups else [])])
        return ", ".join(filter(None, (words, *self.remarks)))


def qualify_in_translation(
    conditions: Sequence[Condition], schema: Schema, describe: DescribeRelation, ranks: Sequence[str] = ()
) -> str:
    """Returns what follows the noun of the documents in the language of the reply; empty without conditions. Raw text.

    `ranks`: nouns such as "the largest area" that the documents have, too, in the form after "with".
    """
    parts = TranslatedParts(possessions=[(WITH, rank) for rank in ranks])
    for condition in conditions:
        _add_condition(condition, parts, schema, describe)
    return parts.join()


def state_in_translation(condition: Condition, schema: Schema, describe: DescribeRelation) -> str:
    """Returns the condition as a label or the subject of a sentence: "Partei Acme", "ohne Frist"."""
    parts = TranslatedParts()
    _add_condition(condition, parts, schema, describe)
    possessions = [value for introduction, value in parts.possessions if introduction in (HAVING, WITH, MARKED)]
    is_plain = len(possessions) == len(parts.possessions) and not parts.states and not parts.remarks
    return join_all(possessions) if is_plain else parts.join()


def list_in_translation(conditions: Sequence[Condition], schema: Schema, describe: DescribeRelation) -> list[str]:
    """Returns the conditions as members of a list, in their order: "Partei Acme", "ohne Frist"."""
    return [state_in_translation(condition, schema, describe) for condition in conditions]


def widen_in_translation(condition: Condition, schema: Schema, describe: DescribeRelation) -> str:
    """Returns the label of a button that drops the condition: "Partei: beliebig"."""
    match condition:
        case NotCondition(ComparisonCondition(op=op, value=str(value))) if op in _EQUALITY:
            return translate_message("also {value}", value=value)
        case MissingCondition(field=name) if name in schema.by_name:
            return translate_message("with or without {label}", label=value_label_of(schema.by_name[name]))
        case ComparisonCondition(field=name, value=value) if name == TEXT_FIELD:
            return translate_message("without {words}", words=f"“{value}”")
        case OrCondition((ComparisonCondition() as first, *_)) if _are_alternatives(condition):
            return widen_in_translation(first, schema, describe)
        case ComparisonCondition(field=name) if name in schema.by_name:
            return _widen_field(condition, schema.by_name[name])
        case _:
            stated = state_in_translation(condition, schema, describe)
            return translate_message("without: {condition}", condition=stated)


def _widen_field(condition: ComparisonCondition, schema_field: SchemaField) -> str:
    values = {"label": schema_field.label}
    is_date = schema_field.type is FieldType.DATE
    match condition.op:
        case _ if isinstance(condition.value, bool):
            return translate_message("{label}: yes or no", **values)
        case ComparisonOperator.GT | ComparisonOperator.GTE:
            if is_date:
                return translate_message("{label}: also earlier", **values)
            return translate_message("{label}: no minimum", **values)
        case ComparisonOperator.LT | ComparisonOperator.LTE:
            if is_date:
                return translate_message("{label}: also later", **values)
            return translate_message("{label}: no maximum", **values)
        case _:
            return translate_message("{label}: any", **values)


def value_label_of(schema_field: SchemaField) -> str:
    """What a document has or lacks: "Fälligkeit"; "“bezahlt am”" where the label is not a noun."""
    label = lowercase_label(schema_field.label)
    is_noun = label.rpartition(" ")[2].lower() not in get_wording().label_prepositions
    return label if is_noun else _quote_label(schema_field)


def _quote_label(schema_field: SchemaField) -> str:
    """The label in quotation marks, other than those around what documents say, which are verified."""
    return translate_in_context("label", "“{label}”", label=schema_field.label)


# -- one condition


def _add_condition(condition: Condition, parts: TranslatedParts, schema: Schema, describe: DescribeRelation) -> None:
    match condition:
        case AndCondition(members):
            for member in members:
                _add_condition(member, parts, schema, describe)
        case OrCondition() if _are_alternatives(condition):
            comparisons = [member for member in condition.members if isinstance(member, ComparisonCondition)]
            _add_comparisons(comparisons, parts, schema)
        case OrCondition(members) if members:
            sides = [qualify_in_translation([member], schema, describe) for member in members]
            parts.remarks.append(join_alternatives(sides))
        case ComparisonCondition(field=name, words=words) if name == DOC_ID_FIELD and words:
            parts.states.append(translate_message("fitting “{words}”", words=words))
        case ComparisonCondition(field=name) if name in schema.by_name or name in (TEXT_FIELD, TITLE_FIELD):
            _add_comparisons([condition], parts, schema)
        case MissingCondition(field=name) if name in schema.by_name:
            parts.possessions.append((WITHOUT, value_label_of(schema.by_name[name])))
        case NotCondition(MissingCondition(field=name)) if name in schema.by_name:
            known = translate_message("a value for {label}", label=lowercase_label(schema.by_name[name].label))
            parts.possessions.append((WITH, known))
        case NotCondition(ComparisonCondition() | RowCondition() | AndCondition() | OrCondition() as inner):
            _add_negation(inner, parts, schema, describe)
        case RowCondition(rows_field=rows, condition=inner) if rows in schema.by_name:
            rows_field = schema.by_name[rows]
            columns = Schema(bucket=schema.bucket, fields=rows_field.columns, is_row_schema=True)
            inside = qualify_in_translation([inner], columns, describe)
            parts.possessions.append((WITH, f"{lowercase_label(rows_field.label)} {inside}"))
        case SemiJoinCondition() | FieldComparisonCondition() | NotCondition(SemiJoinCondition()):
            parts.possessions.append((WITH, describe(condition, schema)))
        case _:
            parts.remarks.append(describe(condition, schema))


def _add_negation(inner: Condition, parts: TranslatedParts, schema: Schema, describe: DescribeRelation) -> None:
    match inner:
        case ComparisonCondition(value=bool(value)):
            _add_condition(
                ComparisonCondition(field=inner.field, op=inner.op, value=not value), parts, schema, describe
            )
            return
        case ComparisonCondition(field=name) if name in (TEXT_FIELD, TITLE_FIELD):
            texts = TranslatedParts()
            _add_comparisons([inner], texts, schema)
            parts.possessions += [(WITHOUT, words) for _, words in texts.possessions]
            return
        case _:
            pass
    negated = TranslatedParts()
    _add_condition(inner, negated, schema, describe)
    if [introduction for introduction, _ in negated.possessions] == [HAVING] and not negated.states:
        parts.remarks.append(translate_message(NOT_HAVING, values=negated.possessions[0][1]))
    else:
        parts.remarks.append(translate_message("except {words}", words=negated.join()))


def _are_alternatives(condition: OrCondition) -> bool:
    """Whether the members say in the same way which values one field may have."""
    members = condition.members
    comparisons = [member for member in members if isinstance(member, ComparisonCondition)]
    if not comparisons or len(comparisons) < len(members) or len({member.field for member in comparisons}) > 1:
        return False
    operators = {member.op for member in comparisons}
    is_equality = operators <= _EQUALITY and not any(isinstance(member.value, bool) for member in comparisons)
    is_period = operators == {ComparisonOperator.BETWEEN} and all(map(_is_period, comparisons))
    return is_equality or is_period or comparisons[0].field == TEXT_FIELD


def _is_period(comparison: ComparisonCondition) -> bool:
    return isinstance(comparison.value, tuple) and all(isinstance(end, str) for end in comparison.value)


def _add_comparisons(comparisons: Sequence[ComparisonCondition], parts: TranslatedParts, schema: Schema) -> None:
    """Adds what the field must be; several comparisons are alternatives of one kind."""
    first, name = comparisons[0], comparisons[0].field
    if name in (TEXT_FIELD, TITLE_FIELD):
        words = quote_alternatives([str(comparison.value) for comparison in comparisons])
        in_text = translate_message("{words} in the text", words=words)
        in_title = translate_message("{words} in the title", words=words)
        parts.possessions.append((WITH, in_text if name == TEXT_FIELD else in_title))
        return
    schema_field, label = schema.by_name[name], value_label_of(schema.by_name[name])
    if isinstance(first.value, bool):
        parts.possessions.append((MARKED if first.value else UNMARKED, _quote_label(schema_field)))
    elif first.op is ComparisonOperator.CONTAINS:
        words = translate_message("“{words}” in the field “{label}”", words=first.value, label=schema_field.label)
        parts.possessions.append((WITH, words))
    elif schema_field.type is FieldType.DATE:
        _add_times(comparisons, parts, schema_field)
    elif schema_field.type in _SIZED_TYPES:
        size = _describe_size(comparisons, schema_field, label)
        parts.possessions.append((HAVING, size))
    else:
        _add_named_values(comparisons, parts, schema_field)


def _add_named_values(
    comparisons: Sequence[ComparisonCondition], parts: TranslatedParts, schema_field: SchemaField
) -> None:
    """Adds "in Porto", "created by Ada", "Acme among the parties", "vendor Acme or Bolt"."""
    wording, label = get_wording(), lowercase_label(schema_field.label)
    values = _describe_values(comparisons, schema_field)
    head, _, preposition = label.rpartition(" ")
    if label.lower() in wording.place_labels:
        parts.states.append(translate_in_context("place", "in {value}", value=values))
    elif head and preposition.lower() in wording.agent_prepositions:
        parts.remarks.append(f"{label[:1].lower()}{label[1:]} {values}")
    elif schema_field.type is FieldType.LIST and label.endswith(wording.plural_endings):
        among = translate_message("{value} among the {labels}", value=values, labels=InflectablePlural(label))
        parts.possessions.append((WITH, among))
    elif (shown := value_label_of(schema_field)) != label:
        parts.possessions.append((WITH, f"{shown} {values}"))
    else:
        parts.possessions.append((HAVING, f"{label} {values}"))


class InflectablePlural(str):
    """A label in the plural or a number with its unit, with the form that a translation may need: `{labels.dative}`."""

    @property
    def dative(self) -> str:
        return get_wording().dative_of_plural(str(self))


def _describe_values(comparisons: Sequence[ComparisonCondition], schema_field: SchemaField) -> str:
    """ "Acme, Globex or Initech"; "A, B, C or 2 more"."""
    values = [
        value
        for comparison in comparisons
        for value in (comparison.value if isinstance(comparison.value, tuple) else (comparison.value,))
    ]
    shown = [format_value(value, schema_field) for value in values]
    if len(shown) > NAMED_VALUES + 1:
        left = len(shown) - NAMED_VALUES
        named = ", ".join(shown[:NAMED_VALUES])
        return translate_message("{values} or {count} more", values=named, count=left)
    return join_alternatives([*filter(None, (", ".join(shown[:-1]), *shown[-1:]))])


def _describe_size(comparisons: Sequence[ComparisonCondition], schema_field: SchemaField, label: str) -> str:
    """ "rent of EUR 900.00", "rent over EUR 900.00", "built after 1990"."""
    first = comparisons[0]
    if first.op is ComparisonOperator.BETWEEN and isinstance(first.value, tuple):
        low, high = (format_value(end, schema_field) for end in first.value)
        return translate_in_context("size", "{label} from {low} to {high}", label=label, low=low, high=high)
    values = {"label": label, "value": InflectablePlural(_describe_values(comparisons, schema_field))}
    is_plain = schema_field.type is FieldType.NUMBER and not schema_field.unit
    is_year = is_plain and get_wording().year_pattern.search(label) is not None
    match first.op:
        case ComparisonOperator.GT if is_year:
            return translate_in_context("year", "{label} after {value}", **values)
        case ComparisonOperator.GTE if is_year:
            return translate_in_context("year", "{label} from {value}", **values)
        case ComparisonOperator.LT if is_year:
            return translate_in_context("year", "{label} before {value}", **values)
        case ComparisonOperator.LTE if is_year:
            return translate_in_context("year", "{label} up to {value}", **values)
        case ComparisonOperator.GT:
            return translate_in_context("size", "{label} over {value}", **values)
        case ComparisonOperator.GTE:
            return translate_in_context("size", "{label} from {value}", **values)
        case ComparisonOperator.LT:
            return translate_in_context("size", "{label} under {value}", **values)
        case ComparisonOperator.LTE:
            return translate_in_context("size", "{label} up to {value}", **values)
        case _ if is_plain:
            return f"{label} {values['value']}"
        case _:
            return translate_in_context("size", "{label} of {value}", **values)


# -- dates


def _add_times(comparisons: Sequence[ComparisonCondition], parts: TranslatedParts, schema_field: SchemaField) -> None:
    comparisons = [day for comparison in comparisons for day in _split_days(comparison)]
    if not comparisons:
        parts.remarks.append(translate_message("nothing"))
        return
    wording, label = get_wording(), lowercase_label(schema_field.label)
    verb, _, preposition = label.rpartition(" ")
    if label.lower() in wording.document_date_labels:
        parts.states.append(join_alternatives([_date_documents(comparison) for comparison in comparisons]))
    elif verb and preposition.lower() in wording.time_prepositions:
        parts.remarks.append(_describe_times(comparisons, f"{verb[:1].lower()}{verb[1:]}"))
    else:
        parts.possessions.append((WITH, _describe_times(comparisons, value_label_of(schema_field))))


def _describe_times(comparisons: Sequence[ComparisonCondition], label: str) -> str:
    """ "start in 2031 or in 2032": the label once."""
    first, *others = comparisons
    times = [_describe_time(first, label), *(_describe_time(other, "").strip() for other in others)]
    return join_alternatives(times)


def _split_days(comparison: ComparisonCondition) -> Sequence[ComparisonCondition]:
    """A comparison for each of several accepted days, since only periods are said as a whole."""
    if comparison.op is not ComparisonOperator.IN or not isinstance(comparison.value, tuple):
        return [comparison]
    return [replace(comparison, op=ComparisonOperator.EQ, value=day) for day in comparison.value]


def _describe_time(comparison: ComparisonCondition, label: str) -> str:
    value = comparison.value
    if isinstance(value, tuple):
        return describe_within_period(label, str(value[0]), str(value[-1]))
    values = {"label": label, "value": localize_day(str(value))}
    match comparison.op:
        case ComparisonOperator.GT:
            return translate_in_context("day", "{label} > {value}", **values)
        case ComparisonOperator.GTE:
            return translate_in_context("day", "{label} ≥ {value}", **values)
        case ComparisonOperator.LT:
            return translate_in_context("day", "{label} < {value}", **values)
        case ComparisonOperator.LTE:
            return translate_in_context("day", "{label} ≤ {value}", **values)
        case _:
            return describe_within_period(label, str(value), str(value))


def _date_documents(comparison: ComparisonCondition) -> str:
    """Says the day of the documents themselves: "of May 2031", "before 3 May 2031"."""
    value = comparison.value
    if not isinstance(value, tuple) and comparison.op not in _EQUALITY:
        return _date_documents_by_limit(comparison.op, localize_day(str(value)))
    first, last = (str(value[0]), str(value[-1])) if isinstance(value, tuple) else (str(value), str(value))
    period = format_period(first, last)
    match kind_of_period(first, last):
        case PeriodKind.YEAR:
            return translate_in_context("year", "of {period}", period=period)
        case PeriodKind.YEARS:
            return translate_in_context("years", "of {period}", period=period)
        case PeriodKind.QUARTER:
            return translate_in_context("quarter", "of {period}", period=period)
        case PeriodKind.MONTH:
            return translate_in_context("month", "of {period}", period=period)
        case PeriodKind.DAY:
            return translate_in_context("day", "of {period}", period=period)
        case PeriodKind.DAYS:
            days = {"first": localize_day(first), "last": localize_day(last)}
            return translate_message("of {first} to {last}", **days)


def _date_documents_by_limit(op: ComparisonOperator, day: str) -> str:
    match op:
        case ComparisonOperator.GT:
            return translate_message("dated after {day}", day=day)
        case ComparisonOperator.GTE:
            return translate_message("dated from {day}", day=day)
        case ComparisonOperator.LT:
            return translate_message("dated before {day}", day=day)
        case _:
            return translate_message("dated up to {day}", day=day)
