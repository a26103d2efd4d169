"""Assigns literals to fields by dimension, value range and distance to a mention of the field."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import TypeAlias

from agent.assumptions import DateFieldTaken, MarginTaken, WordsTakenAsField
from agent.english.function_words import COMPARATORS, FILLER_WORDS, STOP_WORDS
from agent.rules.binding.contradictions import are_contradictory
from agent.rules.binding.date_conditions import (
    build_age_condition,
    build_date_condition,
    period_of_year,
    resolve_year,
)
from agent.rules.binding.field_fit import (
    FieldKey,
    candidate_fields_for,
    field_key_of,
    holds_years,
    is_far_outside_range,
    is_within_field_range,
    number_for_field,
    take_as_weight,
    unit_for_literal,
)
from agent.rules.linking.lexicon import BucketLexicon, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.linking.span_selection import SpanSelection, has_known_unit, literal_extent_in
from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral, QuestionLiteral
from agent.rules.words.tokens import QuestionToken, looks_plural
from storage.quantities.units import convert_unit
from storage.search.analyser import fold_text
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
)
from storage.search.ids import FieldName
from storage.search.schema import BareValueMatch, FieldType, SchemaField

_TIE_MARGIN = 0.35  # score difference below which two fields for a literal are ambiguous
_AT_HAND_MARGIN = 0.9  # the same for a number that has neither a unit nor the name of its field
_PLAUSIBLE_MARGIN = 2.0  # score difference below which a field is a fallback, if the best one matches nothing
_OUT_OF_RANGE_PENALTY = 3.0  # for a number far outside the range of one field and in the range of another
_MAX_MENTION_DISTANCE = 6  # tokens between a literal and a mention that belongs to it
_MAX_LABEL_WORDS = 3
_MAX_LOSS = 2.5  # score that a literal may lose with the field that spares a contradiction
_BETWEEN_LABEL_AND_VALUE = COMPARATORS | frozenset("of is are was were a an the to no not equal equals than".split())
_WORDS_BEFORE_LABEL = frozenset("with whose a an the having has have of and or where its their for".split())


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
    # For a literal with a unit, or with a label that is no name of a field.
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
        is_pointed_at = _mention_nearness(selection, best_field, row_field, first, last) > 0
        is_named = _use_nearby_mentions(selection, best_field, row_field, first, last)
        condition = _literal_condition(literal, best_field, row_field, selection)
        yield _BoundLiteral(field_key_of(best_field, row_field), literal, condition, choice.is_negated)
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
                and not _precedes_value(selection, last),
            )  # fmt: skip


_ScoredField: TypeAlias = tuple[float, SchemaField, FieldName | None]


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
        ranked_fields = _rank_fields(selection, literal, first, last, used_ops, label_tokens)
        is_negated = any(index in selection.negated_tokens for index in range(first, last))
        choice = _LiteralChoice(literal, first, last, label_tokens, ranked_fields, is_negated)
        used_ops[choice.field_key].append(literal.op)
        choices.append(choice)
    for index, choice in enumerate(choices):
        for earlier in choices[:index]:
            if _are_opposed(selection, earlier, choice):
                _separate_choices(selection, earlier, choice)
    return choices


def _are_opposed(selection: SpanSelection, choice: _LiteralChoice, later: _LiteralChoice) -> bool:
    """Whether the conditions of two literals on one field leave no value: "under 3" and "over 5"."""
    if choice.field_key != later.field_key or choice.is_negated or later.is_negated:
        return False
    if _has_disjunction_between(selection, choice.literal, later.literal):
        return False
    conditions = [_literal_condition(each.literal, *each.ranked_fields[0][1:], selection) for each in (choice, later)]
    return are_contradictory(*conditions)


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
        return _mention_nearness(selection, field, row_field, choice.first, choice.last) > 0
    return is_within_field_range(choice.literal, field, row_field, selection.lexicon)


def _assume_main_date(selection: SpanSelection, choice: _LiteralChoice) -> None:
    """Says which of several dates was taken, where the question names none."""
    (score, best_field, row_field), others = choice.ranked_fields[0], choice.ranked_fields[1:]
    other_labels = tuple(
        field.label for _, field, other_row in others if field.type is FieldType.DATE and other_row is None
    )
    is_tied = bool(others) and score - others[0][0] < _TIE_MARGIN
    if best_field.type is FieldType.DATE and row_field is None and other_labels and not is_tied:
        words = selection.question[choice.literal.start : choice.literal.end].strip()
        selection.assumptions.append(
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
        selection.assumptions.append(WordsTakenAsField(words=words, field_label=choice.ranked_fields[0][1].label))


def _assume_margin(selection: SpanSelection, literal: QuestionLiteral) -> None:
    if isinstance(literal, QuantityLiteral) and literal.is_approximate:
        words = selection.question[literal.start : literal.end].strip()
        selection.assumptions.append(MarginTaken(words=words))


def _rank_fields(
    selection: SpanSelection,
    literal: QuestionLiteral,
    first: int,
    last: int,
    used_ops_by_field: Mapping[FieldKey, Sequence[ComparisonOperator]],
    label_tokens: Sequence[int],
) -> list[_ScoredField]:
    """Returns the fields that the literal may belong to, the likeliest first."""
    label_stems = {selection.tokens[index].stem for index in label_tokens}
    has_own_fields = (
        isinstance(literal, QuantityLiteral) and bool(literal.unit) and has_known_unit(literal, selection.lexicon)
    )
    # "Longer than 90 days" is no length without a unit, where a field is measured in days.
    measure_links = () if has_own_fields else selection.measure_links
    mentioned_keys = mentioned_keys_near((*selection.links, *measure_links), first, last)
    candidates = candidate_fields_for(literal, selection.lexicon, mentioned_keys)
    if not candidates:  # the mention that let it bind lost against the literal
        every_key = frozenset(field_key_of(*pair) for pair in selection.lexicon.measurable_fields)
        candidates = candidate_fields_for(literal, selection.lexicon, every_key)
    is_in_some_range = any(
        is_within_field_range(literal, field, row_field, selection.lexicon) for field, row_field, _ in candidates
    )
    scored_fields = [
        (
            score
            - (
                _OUT_OF_RANGE_PENALTY
                if is_in_some_range and is_far_outside_range(literal, field, row_field, selection.lexicon)
                else 0.0
            )
            + _mention_nearness(selection, field, row_field, first, last)
            + 0.5 * len(label_stems & selection.lexicon.stems_of(row_field or field.name))
            - _repetition_penalty(used_ops_by_field.get(field_key_of(field, row_field), ()), literal)
            - _counting_penalty(selection, literal, field, last),
            field,
            row_field,
        )
        for field, row_field, score in candidates
    ]
    return sorted(scored_fields, key=lambda scored_field: -scored_field[0])


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
            original=condition, replacement=_literal_condition(literal, scored_field[1], scored_field[2], selection)
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
        at_least = _literal_condition(
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
    return (
        not token.is_quoted and not token.word.isdigit() and token.word not in STOP_WORDS | FILLER_WORDS | COMPARATORS
    )


def _consume_label(
    selection: SpanSelection, label_tokens: Sequence[int], field: SchemaField, row_field: FieldName | None
) -> None:
    label = selection.question[selection.tokens[label_tokens[0]].start : selection.tokens[label_tokens[-1]].end]
    selection.consumed_tokens.update(label_tokens)
    if not {selection.tokens[index].stem for index in label_tokens} <= selection.lexicon.stems_of(
        row_field or field.name
    ):
        selection.assumptions.append(WordsTakenAsField(words=label, field_label=field.label))


def mentioned_keys_near(links: Iterable[SpanLink], first: int, last: int) -> frozenset[FieldKey]:
    """Returns the fields that are mentioned within a few tokens of `tokens[first:last]`."""
    return frozenset(
        (link.meaning.field, link.meaning.column)
        for link in links
        if isinstance(link.meaning, FieldMention)
        and min(abs(first - link.last), abs(link.first - last)) <= _MAX_MENTION_DISTANCE
    )


def _repetition_penalty(used_ops: Sequence[ComparisonOperator], literal: QuestionLiteral) -> float:
    """Returns a penalty for a second comparison on one field, unless the two are the ends of a range."""
    range_ops = ({ComparisonOperator.GT, ComparisonOperator.GTE}, {ComparisonOperator.LT, ComparisonOperator.LTE})
    if (
        isinstance(literal, DateLiteral)
        and literal.op is ComparisonOperator.EQ
        and all(op is ComparisonOperator.EQ for op in used_ops)
    ):
        return 0.0  # "in 2018 and 2019"
    completes_range = any(
        literal.op in range_ops[side] and all(op in range_ops[1 - side] for op in used_ops) for side in (0, 1)
    )
    return 0.0 if not used_ops or completes_range else 1.5


def _counting_penalty(selection: SpanSelection, literal: QuestionLiteral, field: SchemaField, last: int) -> float:
    """ "4 winter tires" counts things: returns a penalty for fields of money or with a unit that is not given."""
    if not isinstance(literal, QuantityLiteral) or literal.currency:
        return 0.0
    needs_unit = field.type is FieldType.MONEY or (
        field.unit and not (literal.unit and has_known_unit(literal, selection.lexicon))
    )
    return 1.0 if needs_unit and _precedes_value(selection, last) else 0.0


def _precedes_value(selection: SpanSelection, last: int) -> bool:
    return any(link.first == last and isinstance(link.meaning, (ValueMatch, PartialMatch)) for link in selection.links)


def _mention_nearness(
    selection: SpanSelection, field: SchemaField, row_field: FieldName | None, first: int, last: int
) -> float:
    """Returns a score for the nearest mention of the field, higher before the literal than after it."""
    best = 0.0
    for link in (*selection.links, *selection.measure_links):
        if isinstance(link.meaning, FieldMention) and (link.meaning.field, link.meaning.column) == field_key_of(
            field, row_field
        ):
            distance = first - link.last if link.last <= first else link.first - last + 0.5
            best = max(best, 4.0 / (1.0 + 0.35 * max(distance, 0)))
    return best


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
        if (is_own or is_shared) and min(abs(first - link.last), abs(link.first - last)) <= _MAX_MENTION_DISTANCE:
            selection.used_links.add(index)
            is_named = is_named or (is_own and not is_shared and not _is_hint(link))
    return is_named


def _literal_condition(
    literal: QuestionLiteral, field: SchemaField, row_field: FieldName | None, selection: SpanSelection
) -> Condition:
    words = selection.question[slice(*literal_extent_in(literal, selection.lexicon))].strip()
    if isinstance(literal, QuantityLiteral) and literal.comparator_span is not None:
        words = f"{selection.question[slice(*literal.comparator_span)]} {words}"
        selection.consumed_tokens.update(
            index
            for index, token in enumerate(selection.tokens)
            if literal.comparator_span[0] <= token.start < literal.comparator_span[1]
        )
    if isinstance(literal, QuantityLiteral) and literal.tail_start is not None:
        selection.consumed_tokens.update(
            index for index, token in enumerate(selection.tokens) if literal.tail_start <= token.start < literal.end
        )
    if isinstance(literal, DateLiteral):
        if literal.lacks_year:
            literal = resolve_year(literal, field, row_field, selection.lexicon, selection.today)
        condition = build_date_condition(literal, field, words)
    elif literal.may_be_year and field.type is FieldType.DATE:
        condition = build_date_condition(period_of_year(literal), field, words)
    elif field.type is FieldType.DATE or _is_year_of_age(literal, field, row_field, selection.lexicon):
        condition = _age_condition(literal, field, selection.today, words)
    else:
        measured = take_as_weight(literal) if field.type is FieldType.NUMBER else literal
        condition = _number_condition(measured, field, words, selection.lexicon)
    return (
        condition
        if row_field is None
        else RowCondition(rows_field=row_field, condition=condition, words=words or field.name)
    )


def _is_year_of_age(
    literal: QuantityLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> bool:
    return literal.is_age and holds_years(field, row_field, lexicon)


def _age_condition(literal: QuantityLiteral, field: SchemaField, today: date | None, words: str) -> Condition:
    """Compares the date with today; without a clock, and beyond the calendar, any date fits."""
    condition = None if today is None else build_age_condition(literal, field, today, words)
    return NotCondition(MissingCondition(field=field.name, words=words)) if condition is None else condition


def _number_condition(literal: QuantityLiteral, field: SchemaField, words: str, lexicon: BucketLexicon) -> Condition:
    low = _number_in_field(literal, literal.low, field, lexicon)
    op = literal.op
    if literal.is_bare and field.bare is not BareValueMatch.EXACTLY:
        op = ComparisonOperator.GTE if field.bare is BareValueMatch.AT_LEAST else ComparisonOperator.LTE
    if literal.high is not None:
        high = _number_in_field(literal, literal.high, field, lexicon)
        comparison = ComparisonCondition(
            field=field.name, op=ComparisonOperator.BETWEEN, value=(min(low, high), max(low, high)), words=words
        )
    else:
        comparison = ComparisonCondition(field=field.name, op=op, value=low, words=words)
    if literal.currency and field.currency_field is not None:
        currency = ComparisonCondition(
            field=field.currency_field, op=ComparisonOperator.EQ, value=literal.currency, words=literal.currency
        )
        return AndCondition((comparison, currency))
    return comparison


def _number_in_field(literal: QuantityLiteral, number: Decimal, field: SchemaField, lexicon: BucketLexicon) -> float:
    unit = unit_for_literal(literal, field)
    converted = convert_unit(number, literal.unit, unit) if literal.unit and unit else None
    return number_for_field(literal, float(number), field, lexicon) if converted is None else converted
