"""Assigns literals to fields by dimension, value range and distance to a mention of the field."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from agent.assumptions import DateFieldTaken, MarginTaken, WordsTakenAsField
from agent.english.function_words import COMPARATORS, FILLER_WORDS, STOP_WORDS
from agent.rules.binding.contradictions import are_contradictory
from agent.rules.binding.field_fit import FieldKey, field_key_of, is_within_field_range
from agent.rules.binding.field_ranking import (
    MAX_MENTION_DISTANCE,
    find_words_on_amount,
    lacks_day,
    mention_nearness,
    precedes_value,
    rank_fields,
)
from agent.rules.binding.literal_comparison import condition_for_literal
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention, SpanLink
from agent.rules.linking.span_selection import SpanSelection, has_known_unit, literal_extent_in
from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral, QuestionLiteral
from agent.rules.words.tokens import QuestionToken, looks_plural
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonOperator, Condition, NotCondition, OrCondition
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField

_TIE_MARGIN = 0.35  # score difference below which two fields for a literal are ambiguous
_AT_HAND_MARGIN = 0.9  # the same for a number that has neither a unit nor the name of its field
_PLAUSIBLE_MARGIN = 2.0  # score difference below which a field is a fallback, if the best one matches nothing
_MAX_LABEL_WORDS = 3
_MAX_LOSS = 2.5  # score that a literal may lose with the field that spares a contradiction
_BETWEEN_LABEL_AND_VALUE = COMPARATORS | frozenset("of is are was were a an the to no not equal equals than".split())
_DATING_PHRASES = tuple(
    (verb, *particles)
    for verbs, particles in (
        ("date dates dated dating", ("from",)),
        ("date dates dated dating go goes going reach reaches", ("back", "to")),
    )
    for verb in verbs.split()
)
_WORDS_OF_NO_NAME = STOP_WORDS | FILLER_WORDS | COMPARATORS
_WORDS_BEFORE_LABEL = frozenset("with whose a an the having has have of and or where its their for".split())
_ScoredField: TypeAlias = tuple[float, SchemaField, FieldName | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeCondition:
    """Another reading of one constraint: `replacement` for `original`; `all_conditions` are the conditions with it."""

    original: Condition
    replacement: Condition
    all_conditions: tuple[Condition, ...] = ()


@dataclass(slots=True)
class LiteralAlternatives:
    """Other readings of the literals of a question. Equal ones score about as well as the one taken."""

    equal_alternatives: list[AlternativeCondition] = field(default_factory=list[AlternativeCondition])
    # For a literal with a unit, or with a label that is not a name of a field.
    fallback_alternatives: list[AlternativeCondition] = field(default_factory=list[AlternativeCondition])
    # "At least" for a bare value.
    wider_alternatives: list[AlternativeCondition] = field(default_factory=list[AlternativeCondition])


def build_literal_conditions(selection: SpanSelection, alternatives: LiteralAlternatives) -> Iterator[Condition]:
    """Yields a condition for each literal, on the field that fits best."""
    yield from _join_alternatives(selection, list(_bind_literals(selection, alternatives)))


@dataclass(frozen=True, slots=True)
class _BoundLiteral:
    """A literal and its condition on the field that it is assigned to."""

    field_key: FieldKey
    literal: QuestionLiteral
    condition: Condition
    is_negated: bool


def _join_alternatives(selection: SpanSelection, bound_literals: Sequence[_BoundLiteral]) -> Iterator[Condition]:
    """Yields the conditions; those on one field that cannot both hold become alternatives: "2018 and 2019"."""
    start = 0
    while start < len(bound_literals):
        group = [bound_literals[start]]
        while start + len(group) < len(bound_literals) and _are_alternatives(
            selection, group[-1], bound_literals[start + len(group)]
        ):
            group.append(bound_literals[start + len(group)])
        joined = OrCondition(tuple(literal.condition for literal in group)) if len(group) > 1 else group[0].condition
        yield NotCondition(joined) if group[0].is_negated else joined
        start += len(group)


def _has_disjunction_between(selection: SpanSelection, literal: QuestionLiteral, following: QuestionLiteral) -> bool:
    words_between = selection.question[literal.end : following.start].casefold().split()
    return "or" in words_between or words_between == ["/"]


def _are_alternatives(selection: SpanSelection, bound_literal: _BoundLiteral, next_literal: _BoundLiteral) -> bool:
    if bound_literal.field_key != next_literal.field_key or bound_literal.is_negated != next_literal.is_negated:
        return False
    if _has_disjunction_between(selection, bound_literal.literal, next_literal.literal):
        return True
    if not bound_literal.is_negated and are_contradictory(bound_literal.condition, next_literal.condition):
        return True  # "under 3 kg, over 5 kg"
    words_between = selection.question[bound_literal.literal.end : next_literal.literal.start].casefold().split()
    are_dates = isinstance(bound_literal.literal, DateLiteral) and isinstance(next_literal.literal, DateLiteral)
    return (
        are_dates
        and bound_literal.literal.op is ComparisonOperator.EQ
        and next_literal.literal.op is ComparisonOperator.EQ
        and set(words_between) <= {"and", ",", "in", "of"}
    )


def _bind_literals(selection: SpanSelection, alternatives: LiteralAlternatives) -> Iterator[_BoundLiteral]:
    for choice in _choose_fields(selection):
        literal, first, last = choice.literal, choice.first, choice.last
        (_, best_field, row_field), other_fields = choice.ranked_fields[0], choice.ranked_fields[1:]
        is_pointed_at = mention_nearness(selection, best_field, row_field, first, last) > 0
        is_named = _use_nearby_mentions(selection, best_field, row_field, first, last)
        if words_behind := find_words_on_amount(selection, literal, best_field, last):
            _use_words_on_amount(selection, words_behind)
            literal = replace(literal, end=selection.tokens[words_behind[-1]].end)
        condition = condition_for_literal(literal, best_field, row_field, selection)
        yield _BoundLiteral(field_key_of(best_field, row_field), literal, condition, choice.is_negated)
        if isinstance(literal, DateLiteral):
            selection.usage.tokens.update(_find_dating_words(selection, first))
        label_tokens = choice.label_tokens or _find_counted_noun(selection, literal, best_field, last)
        if label_tokens and not is_named:
            _consume_label(selection, label_tokens, best_field, row_field)
        elif not is_pointed_at:
            _assume_main_date(selection, choice)
            _assume_field_at_hand(selection, choice)
        _assume_margin(selection, literal)
        if not choice.is_negated:
            _record_alternatives(
                selection, alternatives, literal, condition, choice.ranked_fields[0], () if is_named else other_fields,
                is_labelled=bool(choice.label_tokens),
                is_at_hand=not is_pointed_at
                and _lacks_measure(literal, selection.lexicon)
                and not precedes_value(selection, last),
            )  # fmt: skip


def _use_words_on_amount(selection: SpanSelection, tokens: Sequence[int]) -> None:
    """Records them as used, with what they mean otherwise."""
    selection.usage.tokens |= set(tokens)
    selection.usage.links |= {
        index for index, link in enumerate(selection.links) if set(range(link.first, link.last)) <= set(tokens)
    }


@dataclass(slots=True)
class _LiteralChoice:
    """A literal at `tokens[first:last]` and the fields that it may belong to, the likeliest first."""

    literal: QuestionLiteral
    first: int
    last: int
    label_tokens: Sequence[int]
    ranked_fields: list[_ScoredField]
    is_negated: bool

    @property
    def field_key(self) -> FieldKey:
        return field_key_of(self.ranked_fields[0][1], self.ranked_fields[0][2])


def _choose_fields(selection: SpanSelection) -> list[_LiteralChoice]:
    used_ops: dict[FieldKey, list[ComparisonOperator]] = defaultdict(list)
    choices: list[_LiteralChoice] = []
    for literal, first, last in selection.literal_spans:
        label_tokens = _find_label_tokens(selection, literal, first)
        ranked_fields = rank_fields(selection, literal, first, last, used_ops, label_tokens)
        is_negated = any(index in selection.negated_tokens for index in range(first, last))
        choice = _LiteralChoice(literal, first, last, label_tokens, ranked_fields, is_negated)
        used_ops[choice.field_key].append(literal.op)
        choices.append(choice)
    conditions = [_condition_of(selection, choice) for choice in choices]
    for index, choice in enumerate(choices):
        for earlier_index, earlier in enumerate(choices[:index]):
            if not _may_oppose(selection, earlier, choice):
                continue
            if are_contradictory(conditions[earlier_index], conditions[index]):
                _separate_choices(selection, earlier, choice)
                for changed in (earlier_index, index):
                    conditions[changed] = _condition_of(selection, choices[changed])
    return choices


def _condition_of(selection: SpanSelection, choice: _LiteralChoice) -> Condition:
    return condition_for_literal(choice.literal, *choice.ranked_fields[0][1:], selection)


def _may_oppose(selection: SpanSelection, choice: _LiteralChoice, later: _LiteralChoice) -> bool:
    """Whether the conditions of two literals on one field may leave no value: "under 3" and "over 5"."""
    if choice.field_key != later.field_key or choice.is_negated or later.is_negated:
        return False
    return not _has_disjunction_between(selection, choice.literal, later.literal)


def _separate_choices(selection: SpanSelection, choice: _LiteralChoice, later: _LiteralChoice) -> None:
    """Gives one of two opposed bounds to the next field that fits it nearly as well, if there is one.

    Two days or two numbers without a comparator stay: they are alternatives.
    """
    if choice.literal.op is later.literal.op:
        return
    options = [
        (each.ranked_fields[0][0] - scored_field[0], each, scored_field)
        for each in (later, choice)
        for scored_field in each.ranked_fields[1:]
        if _may_separate(selection, each, scored_field, choice.field_key)
    ]
    loss, moved, taken = min(options, key=lambda option: option[0], default=(_MAX_LOSS, choice, None))
    if taken is not None and loss < _MAX_LOSS:
        moved.ranked_fields = [taken, *(other for other in moved.ranked_fields if other is not taken)]


def _may_separate(
    selection: SpanSelection, choice: _LiteralChoice, scored_field: _ScoredField, opposed_key: FieldKey
) -> bool:
    """Whether the field may hold the literal: a number must be in its range, a day needs a mention of the field."""
    _, field, row_field = scored_field
    if row_field is not None or field_key_of(field, row_field) == opposed_key:
        return False
    if isinstance(choice.literal, DateLiteral):
        return mention_nearness(selection, field, row_field, choice.first, choice.last) > 0
    return is_within_field_range(choice.literal, field, row_field, selection.lexicon)


def _assume_main_date(selection: SpanSelection, choice: _LiteralChoice) -> None:
    """Says which of several dates was taken, where the question names none."""
    (score, best_field, row_field), others = choice.ranked_fields[0], choice.ranked_fields[1:]
    other_labels = tuple(
        field.label
        for _, field, other_row in others
        if field.type is FieldType.DATE and other_row is None and field.label.casefold() != best_field.label.casefold()
    )
    is_tied = bool(others) and score - others[0][0] < _TIE_MARGIN
    if best_field.type is FieldType.DATE and row_field is None and other_labels and not is_tied:
        words = selection.question[choice.literal.start : choice.literal.end].strip()
        selection.usage.assumptions.append(
            DateFieldTaken(words=words, field_label=best_field.label, other_labels=other_labels)
        )


def _lacks_measure(literal: QuestionLiteral, lexicon: BucketLexicon) -> bool:
    """Whether the number fits many fields, since nothing says what it measures."""
    if isinstance(literal, DateLiteral) or literal.currency or literal.is_age or literal.is_rate:
        return False
    return not (literal.unit and has_known_unit(literal, lexicon))


def _assume_field_at_hand(selection: SpanSelection, choice: _LiteralChoice) -> None:
    """Says what a number that has no unit was taken to be, where it could be something else."""
    if len(choice.ranked_fields) > 1 and _lacks_measure(choice.literal, selection.lexicon):
        words = selection.question[slice(*literal_extent_in(choice.literal, selection.lexicon))].strip()
        selection.usage.assumptions.append(WordsTakenAsField(words=words, field_label=choice.ranked_fields[0][1].label))


def _assume_margin(selection: SpanSelection, literal: QuestionLiteral) -> None:
    if isinstance(literal, QuantityLiteral) and literal.is_approximate:
        words = selection.question[literal.start : literal.end].strip()
        selection.usage.assumptions.append(MarginTaken(words=words))


def _record_alternatives(
    selection: SpanSelection,
    alternatives: LiteralAlternatives,
    literal: QuestionLiteral,
    condition: Condition,
    best_field: _ScoredField,
    other_fields: Sequence[_ScoredField],
    *,
    is_labelled: bool,
    is_at_hand: bool,
) -> None:
    def alternative_for(scored_field: _ScoredField) -> AlternativeCondition:
        return AlternativeCondition(
            original=condition, replacement=condition_for_literal(literal, scored_field[1], scored_field[2], selection)
        )

    tie_margin = _AT_HAND_MARGIN if is_at_hand else _TIE_MARGIN
    alternatives.equal_alternatives += [
        alternative_for(scored_field)
        for scored_field in other_fields[:1]
        if best_field[0] - scored_field[0] < (tie_margin if scored_field[1].unit == best_field[1].unit else _TIE_MARGIN)
    ]
    is_uncertain = is_labelled or (isinstance(literal, QuantityLiteral) and bool(literal.unit) and not literal.currency)
    alternatives.fallback_alternatives += [
        alternative_for(scored_field)
        for scored_field in other_fields
        if is_uncertain and tie_margin <= best_field[0] - scored_field[0] < _PLAUSIBLE_MARGIN
    ]
    if isinstance(literal, QuantityLiteral) and literal.is_bare and best_field[1].type is FieldType.NUMBER:
        at_least = condition_for_literal(
            replace(literal, op=ComparisonOperator.GTE, is_bare=False), best_field[1], best_field[2], selection
        )
        alternatives.wider_alternatives += (
            [AlternativeCondition(original=condition, replacement=at_least)] if at_least != condition else []
        )


def _find_label_tokens(selection: SpanSelection, literal: QuestionLiteral, first: int) -> list[int]:
    """Returns the tokens right before a measure that no link covers: "with a *drain current* of at least 8 A"."""
    if isinstance(literal, DateLiteral) or (literal.is_bare and not (literal.unit or literal.currency)):
        return []
    covered_tokens = {index for link in selection.links if not _is_hint(link) for index in range(link.first, link.last)}
    covered_tokens |= {index for _, start, end in selection.literal_spans for index in range(start, end)}
    index = first - 1
    while index >= 0 and index not in covered_tokens and selection.tokens[index].word in _BETWEEN_LABEL_AND_VALUE:
        index -= 1
    label_tokens: list[int] = []
    while (
        index >= 0
        and index not in covered_tokens
        and len(label_tokens) < _MAX_LABEL_WORDS
        and _may_be_label(selection.tokens[index])
    ):
        label_tokens.insert(0, index)
        index -= 1
    is_introduced = index >= 0 and (
        selection.tokens[index].word in _WORDS_BEFORE_LABEL or selection.tokens[index].word in COMPARATORS
    )
    return label_tokens if is_introduced else []


def _find_dating_words(selection: SpanSelection, first: int) -> list[int]:
    """ "Chairs that *date from* 1700", "that *go back to* …": returns the words that only join a day to the noun."""
    words = [token.word for token in selection.tokens[max(first - 3, 0) : first]]
    for phrase in _DATING_PHRASES:
        if tuple(words[-len(phrase) :]) == phrase:
            return list(range(first - len(phrase), first))
    return []


def _find_counted_noun(selection: SpanSelection, literal: QuestionLiteral, field: SchemaField, last: int) -> list[int]:
    """ "More than 1000 *participants*": returns the noun that a number without a unit counts, if no link covers it."""
    if isinstance(literal, DateLiteral) or literal.currency or literal.is_bare or not literal.unit:
        return []
    if field.type is not FieldType.NUMBER or field.unit or last >= len(selection.tokens):
        return []
    token = selection.tokens[last]
    is_covered = any(link.first <= last < link.last for link in selection.links)
    is_plural_noun = not is_covered and token.word == fold_text(literal.unit) and looks_plural(token)
    return [last] if is_plural_noun and not token.is_name and _may_be_label(token) else []


def _is_hint(link: SpanLink) -> bool:
    return isinstance(link.meaning, FieldMention) and link.meaning.is_hint


def _may_be_label(token: QuestionToken) -> bool:
    return not token.is_quoted and not token.word.isdigit() and token.word not in _WORDS_OF_NO_NAME


def _consume_label(
    selection: SpanSelection, label_tokens: Sequence[int], field: SchemaField, row_field: FieldName | None
) -> None:
    label = selection.question[selection.tokens[label_tokens[0]].start : selection.tokens[label_tokens[-1]].end]
    selection.usage.tokens.update(label_tokens)
    if not {selection.tokens[index].stem for index in label_tokens} <= selection.lexicon.stems_of(
        row_field or field.name
    ):
        selection.usage.assumptions.append(WordsTakenAsField(words=label, field_label=field.label))


def _use_nearby_mentions(
    selection: SpanSelection, field: SchemaField, row_field: FieldName | None, first: int, last: int
) -> bool:
    """Marks mentions of the field near the literal as used; returns whether one names only this field."""
    is_named = False
    key = field_key_of(field, row_field)
    shared_spans = {
        (link.first, link.last)
        for link in selection.measure_links
        if isinstance(link.meaning, FieldMention) and (link.meaning.field, link.meaning.column) == key
    }
    for index, link in enumerate(selection.links):
        is_own = isinstance(link.meaning, FieldMention) and (link.meaning.field, link.meaning.column) == key
        is_shared = (link.first, link.last) in shared_spans and isinstance(link.meaning, FieldMention)
        if lacks_day(selection, link, first):
            continue
        if (is_own or is_shared) and min(abs(first - link.last), abs(link.first - last)) <= MAX_MENTION_DISTANCE:
            selection.usage.links.add(index)
            is_named = is_named or (is_own and not is_shared and not _is_hint(link))
    return is_named
