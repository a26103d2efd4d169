"""Assigns literals to fields by dimension, value range and distance to a mention of the field."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TypeAlias

from agent.assumptions import WordsTakenAsField
from agent.english.function_words import COMPARATORS, FILLER_WORDS, STOP_WORDS
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
    NotCondition,
    OrCondition,
    RowCondition,
)
from storage.search.ids import FieldName
from storage.search.schema import BareValueMatch, FieldType, SchemaField

_TIE_MARGIN = 0.35  # score difference below which two fields for a literal are ambiguous
_PLAUSIBLE_MARGIN = 2.0  # score difference below which a field is a fallback, if the best one matches nothing
_FAR_FACTOR = 20  # a number this many times above the highest value or below the lowest is far outside the range
_OUT_OF_RANGE_PENALTY = 3.0  # for a number far outside the range of one field and in the range of another
_MAX_MENTION_DISTANCE = 6  # tokens between a literal and a mention that belongs to it
_MAX_LABEL_WORDS = 3
_BETWEEN_LABEL_AND_VALUE = COMPARATORS | frozenset("of is are was were a an the to no not equal equals than".split())
_WORDS_BEFORE_LABEL = frozenset("with whose a an the having has have of and or where its their for".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeCondition:
    """Another reading of one constraint: `replacement` for `original`; `all_conditions` are the conditions with it."""

    original: Condition
    replacement: Condition
    all_conditions: tuple[Condition, ...] = ()


FieldKey: TypeAlias = tuple[FieldName, FieldName | None]


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


def _are_alternatives(selection: SpanSelection, bound_literal: _BoundLiteral, next_literal: _BoundLiteral) -> bool:
    if bound_literal.field_key != next_literal.field_key or bound_literal.is_negated != next_literal.is_negated:
        return False
    words_between = selection.question[bound_literal.literal.end : next_literal.literal.start].casefold().split()
    if "or" in words_between or words_between == ["/"]:
        return True
    are_dates = isinstance(bound_literal.literal, DateLiteral) and isinstance(next_literal.literal, DateLiteral)
    return (
        are_dates
        and bound_literal.literal.op is ComparisonOperator.EQ
        and next_literal.literal.op is ComparisonOperator.EQ
        and set(words_between) <= {"and", ",", "in", "of"}
    )


def _bind_literals(selection: SpanSelection, alternatives: LiteralAlternatives) -> Iterator[_BoundLiteral]:
    used_ops: dict[FieldKey, list[ComparisonOperator]] = defaultdict(list)
    for literal, first, last in selection.literal_spans:
        label_tokens = _find_label_tokens(selection, literal, first)
        ranked_fields = _rank_fields(selection, literal, first, last, used_ops, label_tokens)
        (_, best_field, row_field), other_fields = ranked_fields[0], ranked_fields[1:]
        used_ops[field_key_of(best_field, row_field)].append(literal.op)
        is_named = _use_nearby_mentions(selection, best_field, row_field, first, last)
        condition = _literal_condition(literal, best_field, row_field, selection)
        is_negated = any(index in selection.negated_tokens for index in range(first, last))
        yield _BoundLiteral(field_key_of(best_field, row_field), literal, condition, is_negated)
        if label_tokens and not is_named:
            _consume_label(selection, label_tokens, best_field, row_field)
        elif (
            not label_tokens
            and not is_named
            and (counted_noun := _find_counted_noun(selection, literal, best_field, last))
        ):
            _consume_label(selection, counted_noun, best_field, row_field)
        if not is_negated:
            _record_alternatives(
                selection,
                alternatives,
                literal,
                condition,
                ranked_fields[0],
                () if is_named else other_fields,
                is_labelled=bool(label_tokens),
            )


_ScoredField: TypeAlias = tuple[float, SchemaField, FieldName | None]


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
    candidates = candidate_fields_for(literal, selection.lexicon)
    is_in_some_range = any(
        _is_within_field_range(literal, field, row_field, selection.lexicon) for field, row_field, _ in candidates
    )
    scored_fields = [
        (
            score
            - (
                _OUT_OF_RANGE_PENALTY
                if is_in_some_range and _is_far_outside_range(literal, field, row_field, selection.lexicon)
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


def _is_within_field_range(
    literal: QuestionLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> bool:
    """Whether the number lies between the lowest and the highest value of the field."""
    bounds = _number_and_range(literal, field, row_field, lexicon)
    return bounds is not None and bounds[1] <= bounds[0] <= bounds[2]


def _is_far_outside_range(
    literal: QuestionLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> bool:
    """ "Between 200k and 250k" is no number of bedrooms: whether the number is far from all values of the field."""
    bounds = _number_and_range(literal, field, row_field, lexicon)
    return bounds is not None and (bounds[0] > _FAR_FACTOR * max(bounds[2], 1.0) or bounds[0] * _FAR_FACTOR < bounds[1])


def _number_and_range(
    literal: QuestionLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> tuple[float, float, float] | None:
    """Returns the number in the field's unit, the lowest and the highest value of the field; None for dates."""
    vocabulary = lexicon.vocabulary_of(*field_key_of(field, row_field))
    low, high = (vocabulary.low, vocabulary.high) if vocabulary else (None, None)
    if isinstance(literal, DateLiteral) or not isinstance(low, float) or not isinstance(high, float):
        return None
    in_unit = convert_unit(literal.low, literal.unit, field.unit) if literal.unit and field.unit else None
    return (float(literal.low) if in_unit is None else in_unit, low, high)


def _record_alternatives(
    selection: SpanSelection,
    alternatives: LiteralAlternatives,
    literal: QuestionLiteral,
    condition: Condition,
    best_field: _ScoredField,
    other_fields: Sequence[_ScoredField],
    *,
    is_labelled: bool,
) -> None:
    def alternative_for(scored_field: _ScoredField) -> AlternativeCondition:
        return AlternativeCondition(
            original=condition, replacement=_literal_condition(literal, scored_field[1], scored_field[2], selection)
        )

    alternatives.equal_alternatives += [
        alternative_for(scored_field)
        for scored_field in other_fields[:1]
        if best_field[0] - scored_field[0] < _TIE_MARGIN
    ]
    is_uncertain = is_labelled or (isinstance(literal, QuantityLiteral) and bool(literal.unit) and not literal.currency)
    alternatives.fallback_alternatives += [
        alternative_for(scored_field)
        for scored_field in other_fields
        if is_uncertain and _TIE_MARGIN <= best_field[0] - scored_field[0] < _PLAUSIBLE_MARGIN
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


def field_key_of(field: SchemaField, row_field: FieldName | None) -> FieldKey:
    return (field.name, None) if row_field is None else (row_field, field.name)


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
    precedes_value = any(
        link.first == last and isinstance(link.meaning, (ValueMatch, PartialMatch)) for link in selection.links
    )
    needs_unit = field.type is FieldType.MONEY or (
        field.unit and not (literal.unit and has_known_unit(literal, selection.lexicon))
    )
    return 1.0 if precedes_value and needs_unit else 0.0


def candidate_fields_for(
    literal: QuestionLiteral, lexicon: BucketLexicon
) -> list[tuple[SchemaField, FieldName | None, float]]:
    """Returns the fields a literal may belong to, in the schema's order, with a score of their dimension and range."""
    return [
        (field, row_field, score - (0.7 if row_field else 0.0))
        for field, row_field in lexicon.measurable_fields
        if (score := _field_fit(literal, field, row_field, lexicon)) is not None
    ]


def _field_fit(
    literal: QuestionLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> float | None:
    vocabulary = lexicon.vocabulary_of(*field_key_of(field, row_field))
    filled_share = vocabulary.document_count / max(lexicon.document_count, 1) if vocabulary else 0.0
    if isinstance(literal, DateLiteral):
        if field.type is FieldType.DATE:
            natural_order = lexicon.schema.natural_order
            return (
                1.0
                + 0.3 * filled_share
                + (0.5 if natural_order and natural_order.field == field.name and row_field is None else 0.0)
            )
        if field.type is FieldType.NUMBER and literal.is_year_only and not field.unit and vocabulary:
            low, high = vocabulary.low, vocabulary.high
            if isinstance(low, float) and isinstance(high, float) and 1800 <= low <= high <= 2200:
                return 2.0 + 0.3 * filled_share
        return None
    if field.type is FieldType.MONEY:
        return _money_fit(literal, field, filled_share, lexicon)
    if field.type is not FieldType.NUMBER or literal.currency:
        return None
    score = 0.3 * filled_share
    if literal.unit and has_known_unit(literal, lexicon):
        value = convert_unit(literal.low, literal.unit, field.unit) if field.unit else None
        if value is None:
            return None
        score += 3.0
    else:
        value = float(literal.low)
        score += 0.5 if not field.unit else 0.0
    low, high = (vocabulary.low, vocabulary.high) if vocabulary else (None, None)
    is_in_range = isinstance(low, float) and isinstance(high, float) and low <= value <= high
    return score + (1.0 if is_in_range else 0.0)


def _money_fit(
    literal: QuantityLiteral, field: SchemaField, filled_share: float, lexicon: BucketLexicon
) -> float | None:
    if literal.unit and has_known_unit(literal, lexicon):
        return None
    if literal.currency and field.currency and field.currency != literal.currency:
        return None
    return 0.3 * filled_share + (3.0 if literal.currency else 1.0)


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
    name = field.name
    if isinstance(literal, DateLiteral) and literal.lacks_year:
        literal = _resolve_year(literal, field, row_field, selection.lexicon)
    condition = (
        _date_condition(literal, field, words)
        if isinstance(literal, DateLiteral)
        else _number_condition(literal, field, words, selection)
    )
    return (
        condition if row_field is None else RowCondition(rows_field=row_field, condition=condition, words=words or name)
    )


def _resolve_year(
    literal: DateLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> DateLiteral:
    """ "In December": returns the date in this, the next or the last year, where the field has dates."""
    vocabulary = lexicon.vocabulary_of(*field_key_of(field, row_field))
    low, high = (vocabulary.low, vocabulary.high) if vocabulary else (None, None)
    if not isinstance(low, str) or not isinstance(high, str):
        return literal
    for years in (0, 1, -1):
        first, last = _shift_years(literal.first_day, years), _shift_years(literal.last_day, years)
        if first.isoformat() <= high and last.isoformat() >= low:
            return replace(literal, first_day=first, last_day=last)
    return literal


def _shift_years(day: date, year_count: int) -> date:
    """Returns the same day in another year; February 28 for a leap day."""
    is_leap_day = (day.month, day.day) == (2, 29) and year_count
    return day.replace(year=day.year + year_count, day=28 if is_leap_day else day.day)


def _date_condition(literal: DateLiteral, field: SchemaField, words: str) -> Condition:
    first: float | str = literal.first_day.isoformat()
    last: float | str = literal.last_day.isoformat()
    if field.type is FieldType.NUMBER:
        first, last = float(literal.first_day.year), float(literal.last_day.year)
    match literal.op:
        case ComparisonOperator.GT:
            op, value = ComparisonOperator.GT, last
        case ComparisonOperator.GTE:
            op, value = ComparisonOperator.GTE, first
        case ComparisonOperator.LT:
            op, value = ComparisonOperator.LT, first
        case ComparisonOperator.LTE:
            op, value = ComparisonOperator.LTE, last
        case _ if first == last:
            op, value = ComparisonOperator.EQ, first
        case _:
            return ComparisonCondition(
                field=field.name, op=ComparisonOperator.BETWEEN, value=(first, last), words=words
            )
    return ComparisonCondition(field=field.name, op=op, value=value, words=words)


def _number_condition(literal: QuantityLiteral, field: SchemaField, words: str, selection: SpanSelection) -> Condition:
    def number_or(number: float | None, fallback: float) -> float:
        return fallback if number is None else number

    unit = literal.unit if field.unit and literal.unit else ""
    low = number_or(convert_unit(literal.low, unit, field.unit) if unit else None, float(literal.low))
    op = literal.op
    if literal.is_bare and field.bare is not BareValueMatch.EXACTLY:
        op = ComparisonOperator.GTE if field.bare is BareValueMatch.AT_LEAST else ComparisonOperator.LTE
    if literal.high is not None:
        high = number_or(convert_unit(literal.high, unit, field.unit) if unit else None, float(literal.high))
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
