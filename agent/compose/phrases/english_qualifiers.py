"""Says conditions as an English speaker would, after the noun: "trainings held in 2025 with provider Red Cross".

The words come from the type of the field and the form of its name. A label such as "held on" or "start date" gives a
participle; a plural such as "bedrooms" is counted; everything else stands after "with".
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from agent.compose.phrases.sentence_patterns import SentencePattern, sentence_pattern_of
from agent.compose.phrases.values import PeriodKind, format_period, format_value, kind_of_period
from agent.compose.phrases.words import format_label, join_words, singular_of
from storage.search.conditions import (
    DOC_ID_FIELD,
    TEXT_FIELD,
    TITLE_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
)
from storage.search.schema import VALUE_PLACEHOLDER, FieldType, Schema, SchemaField

DescribeCondition: TypeAlias = Callable[[Condition, Schema], str]  # as a statement: "vehicle is one of the vehicles …"

_MAX_NAMED_VALUES: Final = 3  # of a condition that accepts several
_LONG_VALUE_WORDS: Final = 5  # from which a value is quoted
_ON_LABEL: Final = re.compile(r"^(?P<verb>[a-z]+(?: [a-z]+)?) (?:on|at)$")
_HEAD_OF_LABEL: Final = re.compile(r" (?:per|of|in|at|on|for|from|to|by|with) ")  # "departures per day"
_DATE_LABEL: Final = re.compile(r"^(?P<event>[a-z]+) date$")
_EVENT_PARTICIPLES: Final = {
    "start": "starting",
    "begin": "beginning",
    "end": "ending",
    "expiry": "expiring",
    "expiration": "expiring",
    "effective": "effective",
    "due": "due",
}
_PRESENT_PARTICIPLES: Final = {
    "starts": "starting",
    "begins": "beginning",
    "ends": "ending",
    "expires": "expiring",
    "closes": "closing",
    "opens": "opening",
    "leaves": "leaving",
    "arrives": "arriving",
}
_INTRANSITIVE_VERBS: Final = frozenset(
    "occurred happened ended joined left arrived departed expired began died retired resigned".split()
)
_IRREGULAR_PARTICIPLES: Final = frozenset("built sold held paid sent made bought written given taken known met".split())
_PLACE_LABELS: Final = frozenset(
    "town city country region county village province district island location municipality".split()
)
_LABEL_PREPOSITIONS: Final = frozenset("by in at to from for of with".split())
_ALL_PREPOSITIONS: Final = _LABEL_PREPOSITIONS | frozenset("on since until".split())
_OPEN_ENDS: Final = (" from", " since", " until", " to")  # of labels such as "valid from"
_VOWELS: Final = frozenset("aeiou")
_SIZED_TYPES: Final = frozenset({FieldType.NUMBER, FieldType.MONEY})
_EQUALITY: Final = frozenset({ComparisonOperator.EQ, ComparisonOperator.HAS})
_NAMING: Final = _EQUALITY | {ComparisonOperator.IN}
_COUNT_WORDS: Final = {
    ComparisonOperator.GT: "more than ",
    ComparisonOperator.GTE: "at least ",
    ComparisonOperator.LT: "fewer than ",
    ComparisonOperator.LTE: "at most ",
}
_SIZE_WORDS: Final = _COUNT_WORDS | {ComparisonOperator.LT: "less than "}
_YEAR_WORDS: Final = {
    ComparisonOperator.EQ: "in",
    ComparisonOperator.BETWEEN: "from",
    ComparisonOperator.GT: "after",
    ComparisonOperator.GTE: "in or after",
    ComparisonOperator.LT: "before",
    ComparisonOperator.LTE: "in or before",
}
_DAY_WORDS: Final = {
    ComparisonOperator.EQ: "on",
    ComparisonOperator.GT: "after",
    ComparisonOperator.GTE: "on or after",
    ComparisonOperator.LT: "before",
    ComparisonOperator.LTE: "on or before",
}


@dataclass(slots=True)
class QualifierParts:
    """The parts of what follows a noun, in the order in which they are said."""

    relations: list[str] = field(default_factory=list[str])  # "from Acme"
    states: list[str] = field(default_factory=list[str])  # "held in 2025"
    possessions: list[str] = field(default_factory=list[str])  # "provider Red Cross", after "with"
    remarks: list[str] = field(default_factory=list[str])  # "not held in 2025", apart from the others by commas
    clauses: list[str] = field(default_factory=list[str])  # "vehicle is one of the vans", after "whose"

    def join(self) -> str:
        words = [*self.relations, *([join_words(self.states)] if self.states else [])]
        words += [f"with {join_words(self.possessions)}"] if self.possessions else []
        said = ", ".join(filter(None, (" ".join(words), *self.remarks)))
        clauses = " and ".join(f"whose {clause}" for clause in self.clauses)
        return (", " if self.remarks else " ").join(filter(None, (said, clauses)))


def qualify_in_english(
    conditions: Sequence[Condition], schema: Schema, describe: DescribeCondition, ranks: Sequence[str] = ()
) -> str:
    """Returns what follows the noun of the documents; empty without conditions. Raw text.

    `ranks`: nouns such as "the largest area" that the documents have, too.
    """
    return _collect_parts(conditions, schema, describe, ranks).join()


def _collect_parts(
    conditions: Sequence[Condition], schema: Schema, describe: DescribeCondition, ranks: Sequence[str] = ()
) -> QualifierParts:
    parts = QualifierParts(possessions=list(ranks))
    for condition in conditions:
        _add_condition(condition, parts, schema, describe)
    return parts


def widen_in_english(condition: Condition, schema: Schema, describe: DescribeCondition) -> str:
    """Returns the label of a button that drops the condition: "any provider", "held at any time"."""
    match condition:
        case NotCondition(ComparisonCondition(op=op, value=str(value))) if op in _EQUALITY:
            return f"also {_quote_long_value(value)}"
        case MissingCondition(field=name) if name in schema.by_name:
            return f"with or without {value_noun_of(schema.by_name[name])}"
        case ComparisonCondition(field=name, value=value) if name == TEXT_FIELD:
            return f"with or without “{value}”"
        case ComparisonCondition(field=name, words=words) if name == DOC_ID_FIELD and words:
            return f"leaving out “{words}”"
        case OrCondition(members) if (alternatives := _comparisons_of_one_field(members)) is not None:
            return widen_in_english(alternatives[0], schema, describe)
        case ComparisonCondition(field=name) if name in schema.by_name:
            return _widen_field(condition, schema.by_name[name], schema)
        case _:
            return f"leaving out: {describe(condition, schema)}"


def _widen_field(condition: ComparisonCondition, schema_field: SchemaField, schema: Schema) -> str:
    label = format_label(schema_field.label)
    state = _state_at_time(schema_field, schema) if schema_field.type is FieldType.DATE else None
    match condition.op:
        case _ if isinstance(condition.value, bool):
            return f"marked as {label} or not"
        case ComparisonOperator.GT | ComparisonOperator.GTE if schema_field.type is FieldType.DATE:
            return f"also {_those(state)} earlier" if state else f"also an earlier {label}"
        case ComparisonOperator.LT | ComparisonOperator.LTE if schema_field.type is FieldType.DATE:
            return f"also {_those(state)} later" if state else f"also a later {label}"
        case _ if _is_year(schema_field, label):
            return f"{label} at any time"
        case ComparisonOperator.GT | ComparisonOperator.GTE:
            return f"no minimum {label}"
        case ComparisonOperator.LT | ComparisonOperator.LTE:
            return f"no maximum {label}"
        case _ if state == "dated":
            return "any date"
        case _ if state is not None:
            return f"{state} at any time"
        case _ if _is_participle_with_preposition(label):
            return f"{label} {'anywhere' if label.endswith((' in', ' at')) else 'anyone'}"
        case _ if _is_counted(schema_field, label):
            return f"any number of {label}"
        case _:
            return f"any {singular_of(label)}" if schema_field.type is FieldType.LIST else f"any {label}"


def deny_in_english(
    noun: str, conditions: Sequence[Condition], schema: Schema, describe: DescribeCondition
) -> str | None:
    """Returns "No contract with ACME starts in 2031" for a set without documents. Raw text.

    The last condition whose field has a sentence pattern is the predicate. None: no condition has one.
    """
    for index in reversed(range(len(conditions))):
        predicate = _predicate_of(conditions[index], schema)
        if predicate is not None:
            others = [*conditions[:index], *conditions[index + 1 :]]
            parts = _collect_parts(others, schema, describe)
            subject = " ".join(filter(None, ("No", noun, parts.join())))
            return f"{subject}, {predicate}" if parts.remarks or parts.clauses else f"{subject} {predicate}"
    return None


def _predicate_of(condition: Condition, schema: Schema) -> str | None:
    """ "starts in 2031"; None: the condition makes no predicate."""
    members = condition.members if isinstance(condition, OrCondition) else (condition,)
    comparisons = _comparisons_of_one_field(members)
    if comparisons is None and isinstance(condition, ComparisonCondition):
        comparisons = [condition]
    if comparisons is None or comparisons[0].field not in schema.by_name:
        return None
    schema_field = schema.by_name[comparisons[0].field]
    pattern = _pattern_for(comparisons, schema_field, schema)
    if pattern is None or not pattern.predicate:
        return None
    return pattern.fill_predicate(_describe_value_in_pattern(comparisons, schema_field))


def _pattern_for(
    comparisons: Sequence[ComparisonCondition], schema_field: SchemaField, schema: Schema
) -> SentencePattern | None:
    """Returns the sentence pattern of the field, if the comparisons can be said with it."""
    ops = {comparison.op for comparison in comparisons}
    if ComparisonOperator.CONTAINS in ops or isinstance(comparisons[0].value, bool):
        return None
    is_ordered = schema_field.type in _SIZED_TYPES or schema_field.type is FieldType.DATE
    return sentence_pattern_of(schema_field, schema) if is_ordered or ops <= _NAMING else None


def _describe_value_in_pattern(comparisons: Sequence[ComparisonCondition], schema_field: SchemaField) -> str:
    """ "in 2031 or 2032", "more than 5 kg", "Acme or Bolt"."""
    if schema_field.type is FieldType.DATE:
        return _join_times([_time_of(comparison, schema_field) for comparison in comparisons])
    values = _describe_values(comparisons, schema_field)
    return f"{_SIZE_WORDS.get(comparisons[0].op, '')}{values}" if schema_field.type in _SIZED_TYPES else values


def _state_at_time(schema_field: SchemaField, schema: Schema) -> str | None:
    """What the documents are at the time of a date field: "starting", "held". None: the field is a noun."""
    pattern = sentence_pattern_of(schema_field, schema)
    state, placeholder, rest = pattern.qualifier.partition(VALUE_PLACEHOLDER) if pattern is not None else ("", "", "")
    return state.rstrip() if placeholder and state and not rest else _state_of_label(format_label(schema_field.label))


def _those(state: str) -> str:
    return f"those {state}" if state.startswith("that ") else state


# -- one condition


def _add_condition(condition: Condition, parts: QualifierParts, schema: Schema, describe: DescribeCondition) -> None:
    match condition:
        case AndCondition(members):
            for member in members:
                _add_condition(member, parts, schema, describe)
        case OrCondition(members):
            _add_alternatives(condition, members, parts, schema, describe)
        case ComparisonCondition(field=name, value=value) if name == TITLE_FIELD:
            parts.possessions.append(f"“{value}” in the title")
        case ComparisonCondition(field=name, value=value) if name == TEXT_FIELD:
            parts.states.append(f"mentioning “{value}”")
        case ComparisonCondition(field=name, words=words) if name == DOC_ID_FIELD and words:
            parts.states.append(f"fitting “{words}”")
        case ComparisonCondition(field=name) if name in schema.by_name:
            _add_comparison([condition], parts, schema.by_name[name], schema)
        case MissingCondition(field=name) if name in schema.by_name:
            parts.possessions.append(f"no {value_noun_of(schema.by_name[name])}")
        case NotCondition(MissingCondition(field=name)) if name in schema.by_name:
            noun = value_noun_of(schema.by_name[name])
            parts.possessions.append(f"known {noun}" if _looks_plural(noun) else f"a known {noun}")
        case NotCondition(ComparisonCondition(field=name, value=value)) if name == TEXT_FIELD:
            parts.remarks.append(f"not mentioning “{value}”")
        case NotCondition(ComparisonCondition(field=name, value=value)) if name == TITLE_FIELD:
            parts.remarks.append(f"without “{value}” in the title")
        case NotCondition(ComparisonCondition(field=name) as inner) if name in schema.by_name:
            _add_negation(inner, parts, schema.by_name[name], schema)
        case RowCondition(rows_field=rows, condition=inner) if rows in schema.by_name:
            rows_field = schema.by_name[rows]
            columns = Schema(bucket=schema.bucket, fields=rows_field.columns, is_row_schema=True)
            inside = qualify_in_english([inner], columns, describe)
            parts.possessions.append(f"{format_label(rows_field.label)} {inside}")
        case NotCondition(inner) if not isinstance(inner, ComparisonCondition) and (
            inside := qualify_in_english([inner], schema, describe)
        ):
            parts.remarks.append(f"except those {inside}")
        case _:
            parts.clauses.append(describe(condition, schema))


def _add_alternatives(
    condition: OrCondition,
    members: Sequence[Condition],
    parts: QualifierParts,
    schema: Schema,
    describe: DescribeCondition,
) -> None:
    comparisons = _comparisons_of_one_field(members)
    if comparisons is not None and comparisons[0].field == TEXT_FIELD:
        parts.states.append(f"mentioning {_join_or([f'“{member.value}”' for member in comparisons])}")
    elif comparisons is not None and comparisons[0].field in schema.by_name:
        _add_comparison(comparisons, parts, schema.by_name[comparisons[0].field], schema)
    elif members and all(_is_sayable(member, schema) for member in members):
        parts.remarks.append(_join_or([qualify_in_english([member], schema, describe) for member in members]))
    else:
        parts.clauses.append(describe(condition, schema))


def _is_sayable(condition: Condition, schema: Schema) -> bool:
    """Whether the condition is on a field of the documents, or on their text or title."""
    match condition:
        case ComparisonCondition(field=name):
            return name in schema.by_name or name in (TEXT_FIELD, TITLE_FIELD)
        case MissingCondition(field=name):
            return name in schema.by_name
        case NotCondition(inner):
            return _is_sayable(inner, schema)
        case AndCondition(members):
            return all(_is_sayable(member, schema) for member in members)
        case _:
            return False


def _comparisons_of_one_field(members: Sequence[Condition]) -> list[ComparisonCondition] | None:
    """Returns the members if they say in the same way which values one field may have; else None."""
    comparisons = [member for member in members if isinstance(member, ComparisonCondition)]
    if not comparisons or len(comparisons) < len(members) or len({member.field for member in comparisons}) > 1:
        return None
    kinds = {member.op for member in comparisons}
    is_equality = kinds <= _EQUALITY and not any(isinstance(member.value, bool) for member in comparisons)
    is_mention = comparisons[0].field == TEXT_FIELD
    is_period = kinds == {ComparisonOperator.BETWEEN} and all(_is_period(member) for member in comparisons)
    return comparisons if is_equality or is_mention or is_period else None


def _is_period(condition: ComparisonCondition) -> bool:
    return isinstance(condition.value, tuple) and all(isinstance(end, str) for end in condition.value)


def _add_comparison(
    comparisons: Sequence[ComparisonCondition], parts: QualifierParts, schema_field: SchemaField, schema: Schema
) -> None:
    """Adds what the field must be; several comparisons are alternatives of one kind."""
    first, label = comparisons[0], format_label(schema_field.label)
    if isinstance(first.value, bool):
        parts.states.append(f"marked as {label}" if first.value else f"not marked as {label}")
    elif (pattern := _pattern_for(comparisons, schema_field, schema)) is not None:
        place = parts.relations if pattern.is_relation else parts.states
        place.append(pattern.fill_qualifier(_describe_value_in_pattern(comparisons, schema_field)))
    elif schema_field.type is FieldType.DATE:
        _add_time(_join_times([_time_of(comparison, schema_field) for comparison in comparisons]), label, parts)
    elif _is_year(schema_field, label) and first.op in _YEAR_WORDS:
        parts.states.append(f"{label} {_YEAR_WORDS[first.op]} {_describe_values(comparisons, schema_field)}")
    elif (state := _state_of_values(comparisons, schema_field, label)) is not None:
        parts.states.append(state)
    else:
        parts.possessions.append(_describe_possession(comparisons, schema_field, label))


def _state_of_values(comparisons: Sequence[ComparisonCondition], schema_field: SchemaField, label: str) -> str | None:
    """ "in Belk", "surveyed by Ada Finch"; None: the label is a noun that the documents have."""
    if not {comparison.op for comparison in comparisons} <= _NAMING or schema_field.type in _SIZED_TYPES:
        return None
    values = _describe_values(comparisons, schema_field)
    if label in _PLACE_LABELS:
        return f"in {values}"
    preposition, _, place = label.partition(" ")
    if preposition in _LABEL_PREPOSITIONS and place in _PLACE_LABELS:
        return f"{preposition} {values}"
    return f"{label} {values}" if _is_participle_with_preposition(label) else None


def _is_participle_with_preposition(label: str) -> bool:
    verb, _, preposition = label.rpartition(" ")
    return preposition in _LABEL_PREPOSITIONS and _is_participle(verb.rpartition(" ")[2])


def _add_negation(inner: ComparisonCondition, parts: QualifierParts, schema_field: SchemaField, schema: Schema) -> None:
    label = format_label(schema_field.label)
    if isinstance(inner.value, bool):
        parts.states.append(f"not marked as {label}" if inner.value else f"marked as {label}")
    elif schema_field.type is FieldType.LIST and not schema_field.says:
        parts.remarks.append(f"without {_describe_values([inner], schema_field)} among the {label}")
    elif (pattern := _pattern_for([inner], schema_field, schema)) is not None:
        parts.remarks.append(f"not {pattern.fill_qualifier(_describe_value_in_pattern([inner], schema_field))}")
    elif schema_field.type is FieldType.DATE:
        times = QualifierParts()
        _add_time(_time_of(inner, schema_field), label, times)
        parts.remarks.append(f"not {times.join()}")
    elif (state := _state_of_values([inner], schema_field, label)) is not None:
        parts.remarks.append(f"not {state}")
    elif inner.op in _NAMING:
        parts.possessions.append(f"{label} other than {_describe_values([inner], schema_field)}")
    else:
        parts.remarks.append(f"not with {_describe_possession([inner], schema_field, label)}")


def _describe_possession(comparisons: Sequence[ComparisonCondition], schema_field: SchemaField, label: str) -> str:
    """ "vendor Acme or Bolt", "rent of more than EUR 900.00", "at least 3 bedrooms"."""
    first = comparisons[0]
    if first.op is ComparisonOperator.CONTAINS:
        return f"“{first.value}” in the {label}"
    values = _describe_values(comparisons, schema_field)
    if _is_counted(schema_field, label):
        return f"{_COUNT_WORDS.get(first.op, '')}{values} {label}"
    if schema_field.type in (FieldType.NUMBER, FieldType.MONEY):
        is_name = first.op in _EQUALITY and not schema_field.unit and schema_field.type is FieldType.NUMBER
        return f"{label} {values}" if is_name else f"{_with_article(label)} of {_SIZE_WORDS.get(first.op, '')}{values}"
    is_member = schema_field.type is FieldType.LIST
    if not is_member and _looks_plural(label):
        return f"{values} as {label}"
    return f"{singular_of(label) if is_member else label} {values}"


def _describe_values(comparisons: Sequence[ComparisonCondition], schema_field: SchemaField) -> str:
    """ "Acme, Globex or Initech"; of a range "3 to 5"."""
    first = comparisons[0]
    if first.op is ComparisonOperator.BETWEEN and isinstance(first.value, tuple):
        low, high = (format_value(end, schema_field) for end in first.value)
        return f"{low} to {high}"
    values = [
        value
        for comparison in comparisons
        for value in (comparison.value if isinstance(comparison.value, tuple) else (comparison.value,))
    ]
    shown = [
        _quote_long_value(value) if isinstance(value, str) else format_value(value, schema_field) for value in values
    ]
    if len(shown) > _MAX_NAMED_VALUES + 1:
        return f"{', '.join(shown[:_MAX_NAMED_VALUES])} or {len(shown) - _MAX_NAMED_VALUES} more"
    return _join_or(shown)


# -- dates


def _time_of(comparison: ComparisonCondition, schema_field: SchemaField) -> str:
    """ "in May 2031", "on or after 3 May 2031"."""
    value = comparison.value
    if not isinstance(value, tuple):
        return f"{_DAY_WORDS.get(comparison.op, 'on')} {format_value(value, schema_field)}"
    if comparison.op is ComparisonOperator.IN:
        return f"on {_join_or([format_value(day, schema_field) for day in value]) or 'no day'}"
    first, last = str(value[0]), str(value[-1])
    period = format_period(first, last)
    match kind_of_period(first, last):
        case PeriodKind.DAY:
            return f"on {period}"
        case PeriodKind.YEARS | PeriodKind.DAYS:
            return f"from {period}"
        case _:
            return f"in {period}"


def _join_times(times: Sequence[str]) -> str:
    """ "in 2024 or 2025": the preposition once, if all have the same."""
    prepositions = {time.partition(" ")[0] for time in times}
    if len(prepositions) > 1:
        return _join_or(times)
    return f"{prepositions.pop()} {_join_or([time.partition(' ')[2] for time in times])}"


def _add_time(time: str, label: str, parts: QualifierParts) -> None:
    state = _state_of_label(label)
    if state == "dated":
        parts.states.append(f"dated {time.removeprefix('in ').removeprefix('on ') if ' or ' not in time else time}")
    elif state is not None:
        parts.states.append(f"{state} {time}")
    elif label.endswith(_OPEN_ENDS):
        day = time.removeprefix("on ")
        parts.states.append(f"{label} {day}" if day != time and day[:1].isdigit() else f"{label} a day {time}")
    else:
        parts.possessions.append(f"{_with_article(label)} {time}")


def _state_of_label(label: str) -> str | None:
    """What the documents are at that time: "held" of "held on", "starting" of "start date". None: it is a noun."""
    if label in ("date", "day"):
        return "dated"
    if (event := _DATE_LABEL.match(label)) is not None:
        return _EVENT_PARTICIPLES.get(event["event"])
    on_label = _ON_LABEL.match(label)
    verb = on_label["verb"] if on_label is not None else label
    last_word = verb.rpartition(" ")[2]
    if last_word in _INTRANSITIVE_VERBS:
        return f"that {verb}"
    if last_word in _PRESENT_PARTICIPLES:
        return _PRESENT_PARTICIPLES[last_word]
    return verb if _is_participle(last_word) else None


def _is_participle(word: str) -> bool:
    return word.endswith("ed") or word in _IRREGULAR_PARTICIPLES


# -- labels and values


def value_noun_of(schema_field: SchemaField) -> str:
    """What a document has or lacks: "flash point"; "“completed on” date" where the label is no noun."""
    label = format_label(schema_field.label)
    if label.rpartition(" ")[2] in _ALL_PREPOSITIONS and schema_field.type is not FieldType.DATE:
        return f"“{label}”"
    is_noun = label.endswith(("date", "day")) or (_state_of_label(label) is None and label not in _ALL_PREPOSITIONS)
    return label if is_noun or schema_field.type is not FieldType.DATE else f"“{label}” date"


def _is_counted(schema_field: SchemaField, label: str) -> bool:
    """Whether the field counts what its label names: "bedrooms", "injured persons"."""
    is_plain_number = schema_field.type is FieldType.NUMBER and not schema_field.unit
    return is_plain_number and _looks_plural(_HEAD_OF_LABEL.split(label, maxsplit=1)[0])


def _is_year(schema_field: SchemaField, label: str) -> bool:
    """Whether a number says when something was done: "founded", "built"."""
    return schema_field.type is FieldType.NUMBER and not schema_field.unit and _is_participle(label)


def _looks_plural(label: str) -> bool:
    return singular_of(label) != label


def _with_article(label: str) -> str:
    if _looks_plural(label):
        return label
    return f"an {label}" if label[:1].lower() in _VOWELS else f"a {label}"


def _quote_long_value(value: str) -> str:
    return f"“{value}”" if len(value.split()) >= _LONG_VALUE_WORDS or "," in value else value


def _join_or(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
