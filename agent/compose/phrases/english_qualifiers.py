"""Says conditions as an English speaker would, after the noun: "trainings held in 2025 with provider Red Cross".

The words come from the type of the field and the part of speech of its label (`label_grammar`): a participle such as
"held on" stands alone, a plural such as "bedrooms" is counted, other nouns appear after "with", and a label that is
none of these is quoted after "where". More than two conditions become a list: "trainings (provider Red Cross; result
failed; held in 2025)".
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from agent.compose.phrases.label_grammar import (
    PLACE_LABELS,
    PREPOSITIONS,
    LabelGrammar,
    LabelKind,
    is_participle,
    parse_label,
    quote_label,
    with_article,
)
from agent.compose.phrases.nouns import document_noun_of
from agent.compose.phrases.sentence_patterns import SentencePattern, sentence_pattern_of
from agent.compose.phrases.values import PeriodKind, format_number, format_period, format_value, kind_of_period
from agent.compose.phrases.words import format_label, join_words, singular_of
from agent.english.state_words import is_unset_until_event
from agent.limits import NAMED_VALUES
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
    SemiJoinCondition,
)
from storage.search.ids import FieldName
from storage.search.schema import VALUE_PLACEHOLDER, FieldOrigin, FieldType, Schema, SchemaField

DescribeCondition: TypeAlias = Callable[[Condition, Schema], str]  # as a statement: "vehicle is one of the vehicles …"

_LONG_VALUE_WORDS: Final = 5  # from which a value is quoted
_ARTICLE: Final = re.compile(r"^an? ")
_NAME_LABELS: Final = frozenset(("name", "full name", "title"))
_KIND_LABELS: Final = frozenset("kind type sort category class species breed genre brand".split())  # "of type van"
_ID_WORDS: Final = frozenset(("id", "no", "number", "code"))
MIN_LISTED_CONDITIONS: Final = 3  # from which conditions become a list
_HEAD_OF_LABEL: Final = re.compile(r" (?:per|of|in|at|on|for|from|to|by|with) ")  # "departures per day"
_SIZED_TYPES: Final = frozenset({FieldType.NUMBER, FieldType.MONEY})
_EQUALITY: Final = frozenset({ComparisonOperator.EQ, ComparisonOperator.HAS})
_NAMED_TYPES: Final = frozenset({FieldType.CATEGORY, FieldType.TEXT})
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
    equations: list[str] = field(default_factory=list[str])  # "“Runs for” is 12 months", after "where"

    @property
    def items(self) -> list[str]:
        """The parts as members of a list: "provider Red Cross", "cost of more than EUR 5.00"."""
        possessions = [_ARTICLE.sub("", possession) for possession in self.possessions]
        states = [state.removeprefix("that ") for state in self.states]
        return [*self.relations, *states, *possessions, *self.remarks, *self.clauses, *self.equations]

    def join(self) -> str:
        # "of type van from A to B"
        relations = sorted(self.relations, key=lambda relation: (relation[:3] == "to ", relation[:3] != "of "))
        words = [*relations, *([join_words(self.states)] if self.states else [])]
        words += [f"with {join_words(self.possessions)}"] if self.possessions else []
        said = ", ".join(filter(None, (" ".join(words), *self.remarks)))
        clauses = " and ".join(f"whose {clause}" for clause in self.clauses)
        equations = f"where {join_words(self.equations)}" if self.equations else ""
        return (", " if self.remarks else " ").join(filter(None, (said, clauses, equations)))

    def as_predicate(self) -> str | None:
        """Returns what a subject is or has: "is in Bath and has no phone"; None: there is no such sentence."""
        if self.remarks or self.clauses or self.equations:
            return None
        states = [*self.relations, *self.states]
        if not all(state.partition(" ")[0] in PREPOSITIONS | {"marked", "called"} for state in states):
            return None
        verbs = [f"is {join_words(states)}"] if states else []
        verbs += [f"has {join_words(self.possessions)}"] if self.possessions else []
        return " and ".join(verbs) or None


def qualify_in_english(
    conditions: Sequence[Condition], schema: Schema, describe: DescribeCondition, ranks: Sequence[str] = ()
) -> str:
    """Returns what follows the noun of the documents; empty without conditions. Raw text.

    `ranks`: nouns such as "the largest area" that the documents have, too.
    """
    return _collect_parts(conditions, schema, describe, ranks).join()


def list_in_english(conditions: Sequence[Condition], schema: Schema, describe: DescribeCondition) -> list[str]:
    """Returns the conditions as members of a list, in their order: "provider Red Cross", "held in 2025"."""
    items: list[str] = []
    for condition in conditions:
        pair = _pair_of(condition, schema)
        items += [pair] if pair is not None else _collect_parts([condition], schema, describe).items
    return items


def _pair_of(condition: Condition, schema: Schema) -> str | None:
    """ "provider: Red Cross" for a condition on a named value; None: it is said in another way."""
    members = condition.members if isinstance(condition, OrCondition) else (condition,)
    comparisons = _comparisons_of_one_field(members)
    if comparisons is None and isinstance(condition, ComparisonCondition) and condition.op is ComparisonOperator.IN:
        comparisons = [condition]
    schema_field = schema.by_name.get(comparisons[0].field) if comparisons is not None else None
    if comparisons is None or schema_field is None or schema_field.type not in _NAMED_TYPES | {FieldType.LIST}:
        return None
    if isinstance(comparisons[0].value, bool) or _pattern_for(comparisons, schema_field, schema) is not None:
        return None
    label = format_label(schema_field.label)
    is_role = parse_label(schema_field).kind is LabelKind.ROLE
    label = singular_of(label) if schema_field.type is FieldType.LIST else label
    return None if is_role else f"{label}: {_describe_values(comparisons, schema_field)}"


def predicate_in_english(conditions: Sequence[Condition], schema: Schema, describe: DescribeCondition) -> str | None:
    """Returns what a single document is or has: "is in Bath"; None: the conditions make no such sentence."""
    return _collect_parts(conditions, schema, describe).as_predicate()


def relate_in_english(schema_field: SchemaField, documents: str) -> str | None:
    """Returns "registered at one of the clinics in Bath" for a field that is not a noun; None: it is one."""
    grammar = parse_label(schema_field)
    return f"{grammar.words} {documents}" if grammar.kind is LabelKind.ROLE else None


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
        case NotCondition(ComparisonCondition(field=name) as inner) if name in schema.by_name:
            return _widen_field(replace(inner, op=ComparisonOperator.EQ), schema.by_name[name], schema)
        case MissingCondition(field=name) | NotCondition(MissingCondition(field=name)) if name in schema.by_name:
            return f"with or without {value_noun_of(schema.by_name[name])}"
        case ComparisonCondition(field=name, value=value) if name == TEXT_FIELD:
            return f"without “{value}”"
        case NotCondition(ComparisonCondition(field=name, value=value)) if name == TEXT_FIELD:
            return f"also mentioning “{value}”"
        case ComparisonCondition(field=name, value=value) if name == TITLE_FIELD:
            return f"without “{value}” in the title"
        case ComparisonCondition(field=name, words=words) if name == DOC_ID_FIELD:
            return f"without “{words}”" if words else f"in all {document_noun_of(schema).plural}"
        case OrCondition(members) if (alternatives := _comparisons_of_one_field(members)) is not None:
            return widen_in_english(alternatives[0], schema, describe)
        case ComparisonCondition(field=name) if name in schema.by_name:
            return _widen_field(condition, schema.by_name[name], schema)
        case RowCondition(rows_field=name) if name in schema.by_name:
            return f"any {format_label(schema.by_name[name].label)}"
        case SemiJoinCondition(field=name) | NotCondition(SemiJoinCondition(field=name)):
            return _widen_relation(name, schema)
        case _:
            return f"without: {describe(condition, schema)}"


def _widen_relation(name: FieldName, schema: Schema) -> str:
    noun = document_noun_of(schema)
    if name not in schema.by_name or is_own_name(schema.by_name[name], schema):
        return f"any {noun.singular}"
    grammar = parse_label(schema.by_name[name])
    return _widen_role(grammar) if grammar.kind is LabelKind.ROLE else f"any {without_id_word(grammar.words)}"


def _widen_role(grammar: LabelGrammar) -> str:
    """ "registered anywhere", "led by anyone", "from anywhere"."""
    verb, _, preposition = grammar.words.rpartition(" ")
    if verb:
        return f"{verb} anywhere" if preposition in ("in", "at") else f"{grammar.words} anyone"
    return "anywhere" if preposition in ("in", "at") else f"{preposition} anyone or anywhere"


def _widen_field(condition: ComparisonCondition, schema_field: SchemaField, schema: Schema) -> str:
    label, grammar = format_label(schema_field.label), parse_label(schema_field)
    noun = value_noun_of(schema_field)
    if schema_field.origin in (FieldOrigin.FOLDER, FieldOrigin.SHEET):
        return f"in any {label}"
    if schema_field.origin is FieldOrigin.KIND:
        return f"of any {label}"
    state = _state_at_time(schema_field, schema) if schema_field.type is FieldType.DATE else None
    match condition.op:
        case _ if isinstance(condition.value, bool):
            return f"{label} or not"
        case ComparisonOperator.GT | ComparisonOperator.GTE if schema_field.type is FieldType.DATE:
            return f"also {_those(state)} earlier" if state else f"also earlier: {noun}"
        case ComparisonOperator.LT | ComparisonOperator.LTE if schema_field.type is FieldType.DATE:
            return f"also {_those(state)} later" if state else f"also later: {noun}"
        case _ if _is_year(schema_field):
            return f"{grammar.words} at any time"
        case ComparisonOperator.GT | ComparisonOperator.GTE:
            return f"no minimum {noun}" if grammar.kind is LabelKind.NOUN else f"no minimum for {noun}"
        case ComparisonOperator.LT | ComparisonOperator.LTE:
            return f"no maximum {noun}" if grammar.kind is LabelKind.NOUN else f"no maximum for {noun}"
        case _ if state == "dated":
            return "any date"
        case _ if state is not None:
            return f"{state} at any time"
        case _ if grammar.kind is LabelKind.OPEN_END:
            return f"{grammar.words} any day"
        case _ if grammar.kind is LabelKind.ROLE and label in PLACE_LABELS:
            return f"any {label}"
        case _ if grammar.kind is LabelKind.ROLE and label.rpartition(" ")[2] in PLACE_LABELS:
            return f"{grammar.words} anywhere"
        case _ if grammar.kind is LabelKind.ROLE:
            return _widen_role(grammar)
        case _ if _is_counted(schema_field, label):
            return f"any number of {label}"
        case _:
            return f"any {singular_of(noun)}" if schema_field.type is FieldType.LIST else f"any {noun}"


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
            if len(parts.items) >= MIN_LISTED_CONDITIONS:
                return None
            subject = " ".join(filter(None, ("No", noun, parts.join())))
            is_long = bool(parts.remarks or parts.clauses or parts.equations)
            return f"{subject}, {predicate}" if is_long else f"{subject} {predicate}"
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
    if placeholder and state and not rest:
        return state.rstrip()
    grammar = parse_label(schema_field)
    return grammar.words if grammar.kind is LabelKind.STATE else None


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
            _add_absence(schema.by_name[name], parts)
        case NotCondition(MissingCondition(field=name)) if name in schema.by_name:
            _add_presence(schema.by_name[name], parts)
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
        case SemiJoinCondition() | NotCondition(SemiJoinCondition()):
            _add_relation(describe(condition, schema), parts)
        case _:
            parts.clauses.append(describe(condition, schema))


def _add_relation(relation: str, parts: QualifierParts) -> None:
    """Adds "registered at one of the clinics in Bath" as a state, "clinic is in Bath" after "whose"."""
    first = relation.removeprefix("not ").partition(" ")[0]
    if first in ("among", "named") or first in PREPOSITIONS or (is_participle(first) and " one of the " in relation):
        (parts.remarks if relation.startswith("not ") else parts.states).append(relation)
    else:
        parts.clauses.append(relation)


def _add_absence(schema_field: SchemaField, parts: QualifierParts) -> None:
    """ "no price", "not settled", "no entry for “From”"."""
    grammar = parse_label(schema_field)
    if grammar.kind is LabelKind.NOUN:
        parts.possessions.append(f"no {grammar.words}")
    elif _is_event(schema_field, grammar):
        parts.remarks.append(f"not {grammar.words}")
    else:
        parts.possessions.append(f"no entry for {quote_label(schema_field)}")


def _add_presence(schema_field: SchemaField, parts: QualifierParts) -> None:
    grammar = parse_label(schema_field)
    if grammar.kind is LabelKind.NOUN:
        plural = _looks_plural(grammar.words)
        parts.possessions.append(f"known {grammar.words}" if plural else f"a known {grammar.words}")
    elif _is_event(schema_field, grammar):
        parts.states.append(grammar.words)
    else:
        parts.possessions.append(f"an entry for {quote_label(schema_field)}")


def miss_in_english(schema_field: SchemaField) -> str:
    """Names the documents without a value: "no price", "not settled", "nothing under “From”"."""
    grammar = parse_label(schema_field)
    if grammar.kind is LabelKind.NOUN:
        return f"no {grammar.words}"
    return f"not {grammar.words}" if _is_event(schema_field, grammar) else f"nothing under {quote_label(schema_field)}"


def know_in_english(schema_field: SchemaField) -> str:
    """Names the documents with a value: "with price", "settled"."""
    grammar = parse_label(schema_field)
    return grammar.words if _is_event(schema_field, grammar) else f"with {value_noun_of(schema_field)}"


def _is_event(schema_field: SchemaField, grammar: LabelGrammar) -> bool:
    """Whether a document without the date is one that the event has not come to: "settled", "returned"."""
    is_adjective = grammar.kind is LabelKind.STATE and not grammar.words.startswith("that ")
    return is_adjective and is_unset_until_event(schema_field)


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
    first, label, grammar = comparisons[0], format_label(schema_field.label), parse_label(schema_field)
    if isinstance(first.value, bool):
        parts.states.append(f"marked as {label}" if first.value else f"not marked as {label}")
    elif (pattern := _pattern_for(comparisons, schema_field, schema)) is not None:
        place = parts.relations if pattern.is_relation else parts.states
        place.append(pattern.fill_qualifier(_describe_value_in_pattern(comparisons, schema_field)))
    elif schema_field.type is FieldType.DATE:
        _add_time(_join_times([_time_of(comparison, schema_field) for comparison in comparisons]), grammar, parts)
    elif _is_year(schema_field) and first.op in _YEAR_WORDS:
        parts.states.append(f"{grammar.words} {_YEAR_WORDS[first.op]} {_describe_values(comparisons, schema_field)}")
    elif grammar.kind is LabelKind.ROLE and first.op in _NAMING:
        place = parts.relations if grammar.words in PREPOSITIONS else parts.states
        place.append(f"{grammar.words} {_describe_values(comparisons, schema_field)}")
    elif first.op is ComparisonOperator.CONTAINS:
        parts.possessions.append(_describe_contained_words(str(first.value), schema_field, grammar))
    elif grammar.kind is not LabelKind.NOUN:
        verb = "includes" if schema_field.type is FieldType.LIST else "is"
        parts.equations.append(_equate(comparisons, schema_field, verb))
    elif first.op in _NAMING and schema_field.type in _NAMED_TYPES and label.rpartition(" ")[2] in _KIND_LABELS:
        parts.relations.append(f"of {label} {_describe_values(comparisons, schema_field)}")
    elif first.op in _EQUALITY and is_own_name(schema_field, schema):
        parts.states.append(f"called {_describe_values(comparisons, schema_field)}")
    else:
        parts.possessions.append(_describe_possession(comparisons, schema_field, label))


def _describe_contained_words(words: str, schema_field: SchemaField, grammar: LabelGrammar) -> str:
    """ "“wide” in the remarks", "“parents” under “For”"."""
    place = f"in the {grammar.words}" if grammar.kind is LabelKind.NOUN else f"under {quote_label(schema_field)}"
    return f"“{words}” {place}"


def _equate(comparisons: Sequence[ComparisonCondition], schema_field: SchemaField, verb: str) -> str:
    """ "“Runs for” is more than 12 months", "“Absent” includes Ada Finch"."""
    size = _SIZE_WORDS.get(comparisons[0].op, "") if schema_field.type in _SIZED_TYPES else ""
    return f"{quote_label(schema_field)} {verb} {size}{_describe_values(comparisons, schema_field)}"


def is_own_name(schema_field: SchemaField, schema: Schema) -> bool:
    """Whether the value is what a document is called: "name", "mine" in a bucket of mines."""
    if schema.is_row_schema:
        return False
    label = format_label(schema_field.label).lower()
    return label in _NAME_LABELS or label == document_noun_of(schema).singular.lower()


def without_id_word(label: str) -> str:
    """ "clinic" of "clinic id": what the value refers to."""
    head, _, last = label.rpartition(" ")
    return head if head and last in _ID_WORDS else label


def _add_negation(inner: ComparisonCondition, parts: QualifierParts, schema_field: SchemaField, schema: Schema) -> None:
    label, grammar = format_label(schema_field.label), parse_label(schema_field)
    if isinstance(inner.value, bool):
        parts.states.append(f"not marked as {label}" if inner.value else f"marked as {label}")
    elif grammar.kind is LabelKind.QUOTED and schema_field.type is not FieldType.DATE and not schema_field.says:
        verb = "does not include" if schema_field.type is FieldType.LIST else "is not"
        parts.equations.append(_equate([inner], schema_field, verb))
    elif schema_field.type is FieldType.LIST and not schema_field.says:
        parts.remarks.append(f"without {_describe_values([inner], schema_field)} among the {label}")
    elif (pattern := _pattern_for([inner], schema_field, schema)) is not None:
        parts.remarks.append(f"not {pattern.fill_qualifier(_describe_value_in_pattern([inner], schema_field))}")
    elif schema_field.type is FieldType.DATE:
        _add_other_time(_time_of(inner, schema_field), grammar, schema_field, parts)
    elif grammar.kind is LabelKind.ROLE and inner.op in _NAMING:
        parts.remarks.append(f"not {grammar.words} {_describe_values([inner], schema_field)}")
    elif inner.op in _NAMING:
        parts.possessions.append(f"{label} other than {_describe_values([inner], schema_field)}")
    else:
        parts.remarks.append(f"not with {_describe_possession([inner], schema_field, label)}")


def _add_other_time(time: str, grammar: LabelGrammar, schema_field: SchemaField, parts: QualifierParts) -> None:
    """Adds that the day is not at that time: "not held in 2025", "“From” is not in 2025"."""
    if grammar.kind is LabelKind.QUOTED:
        parts.equations.append(f"{quote_label(schema_field)} is not {time}")
        return
    times = QualifierParts()
    _add_time(time, grammar, times)
    parts.remarks.append(f"not {times.join()}")


def _describe_possession(comparisons: Sequence[ComparisonCondition], schema_field: SchemaField, label: str) -> str:
    """ "vendor Acme or Bolt", "rent of more than EUR 900.00", "at least 3 bedrooms"."""
    first = comparisons[0]
    is_count = _is_counted(schema_field, label)
    values = _describe_values(comparisons, schema_field, is_count=is_count)
    if is_count:
        return f"{_COUNT_WORDS.get(first.op, '')}{values} {label}"
    if schema_field.type in (FieldType.NUMBER, FieldType.MONEY):
        is_name = first.op in _EQUALITY and not schema_field.unit and schema_field.type is FieldType.NUMBER
        return f"{label} {values}" if is_name else f"{_with_article(label)} of {_SIZE_WORDS.get(first.op, '')}{values}"
    is_member = schema_field.type is FieldType.LIST
    return f"{singular_of(label) if is_member else label} {values}"


def _describe_values(
    comparisons: Sequence[ComparisonCondition], schema_field: SchemaField, *, is_count: bool = False
) -> str:
    """ "Acme, Globex or Initech"; of a range "3 to 5"; of counts "20,000"."""
    first = comparisons[0]
    if first.op is ComparisonOperator.BETWEEN and isinstance(first.value, tuple):
        low, high = (
            format_number(end) if is_count and isinstance(end, float) else format_value(end, schema_field)
            for end in first.value
        )
        return f"{low} to {high}"
    values = [
        value
        for comparison in comparisons
        for value in (comparison.value if isinstance(comparison.value, tuple) else (comparison.value,))
    ]
    shown = [
        format_number(value)
        if is_count and isinstance(value, float)
        else (_quote_long_value(value) if isinstance(value, str) else format_value(value, schema_field))
        for value in values
    ]
    if len(shown) > NAMED_VALUES + 1:
        return f"{', '.join(shown[:NAMED_VALUES])} or {len(shown) - NAMED_VALUES} more"
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


def _add_time(time: str, grammar: LabelGrammar, parts: QualifierParts) -> None:
    match grammar:
        case LabelGrammar(LabelKind.STATE, "dated"):
            parts.states.append(f"dated {time.removeprefix('in ').removeprefix('on ') if ' or ' not in time else time}")
        case LabelGrammar(LabelKind.STATE, words):
            parts.states.append(f"{words} {time}")
        case LabelGrammar(LabelKind.OPEN_END, words):
            day = time.removeprefix("on ").removeprefix("in ") if words.endswith(" for") else time.removeprefix("on ")
            parts.states.append(f"{words} {day}" if day != time else f"{words} a day {time}")
        case LabelGrammar(LabelKind.NOUN, words):
            parts.possessions.append(f"{_with_article(words)} {time}")
        case LabelGrammar(words=words):
            parts.equations.append(f"{words} is {time}")


# -- labels and values


def value_noun_of(schema_field: SchemaField) -> str:
    """What a document has or lacks: "flash point"; "“Completed on”" where the label is not a noun."""
    grammar = parse_label(schema_field)
    label = format_label(schema_field.label)
    is_noun = grammar.kind is LabelKind.NOUN or label in PLACE_LABELS or label.endswith(("date", "day"))
    is_place = grammar.kind is LabelKind.ROLE and label.rpartition(" ")[2] in PLACE_LABELS
    if is_noun or is_place:
        return grammar.words if grammar.kind is LabelKind.NOUN else label
    return quote_label(schema_field)


def _is_counted(schema_field: SchemaField, label: str) -> bool:
    """Whether the field counts what its label names: "bedrooms", "injured persons"."""
    is_plain_number = schema_field.type is FieldType.NUMBER and not schema_field.unit
    return is_plain_number and _looks_plural(_HEAD_OF_LABEL.split(label, maxsplit=1)[0])


def _is_year(schema_field: SchemaField) -> bool:
    """Whether a number says when something was done: "founded", "built"."""
    return schema_field.type is FieldType.NUMBER and parse_label(schema_field).kind is LabelKind.STATE


def _looks_plural(label: str) -> bool:
    return singular_of(label) != label


def _with_article(label: str) -> str:
    if _looks_plural(label):
        return label
    return with_article(label)


def _quote_long_value(value: str) -> str:
    return f"“{value}”" if len(value.split()) >= _LONG_VALUE_WORDS or "," in value else value


def _join_or(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
