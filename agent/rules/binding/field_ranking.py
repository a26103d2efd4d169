"""Ranks the fields that a literal may belong to, by how it fits them and by what is mentioned beside it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from agent.rules.binding.field_fit import (
    FieldKey,
    candidate_fields_for,
    field_key_of,
    has_value_in_years,
    is_far_outside_range,
    is_within_field_range,
)
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.linking.span_selection import SpanSelection, has_known_unit
from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral, QuestionLiteral
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonOperator
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField

_OUT_OF_RANGE_PENALTY = 3.0  # for a number far outside the range of one field and in the range of another
_DATE_OF_VALUE_BONUS = 2.0  # for a date that is named after the field of a value in the question
_MAIN_AMOUNT_BONUS = 0.4  # for the total of an invoice, where its net amount and its tax stand beside it
_SAID_AMOUNT_BONUS = 2.5  # for "Amount due" in "more than £500 still due"
_MAX_WORDS_ON_AMOUNT = 3  # behind the literal
_GENERAL_AMOUNT_WORDS = frozenset("amount total sum value of in for the".split())
MAX_MENTION_DISTANCE = 6  # tokens between a literal and a mention that belongs to it
_ScoredField: TypeAlias = tuple[float, SchemaField, FieldName | None]


def rank_fields(
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
    # "Longer than 90 days" is not a length without a unit, where a field is measured in days.
    measure_links = () if has_own_fields else selection.measure_links
    mentioned_keys = mentioned_keys_near((*selection.links, *measure_links), first, last)
    candidates = candidate_fields_for(literal, selection.lexicon, mentioned_keys)
    if not candidates:  # the mention that let it bind lost against the literal
        every_key = frozenset(field_key_of(*pair) for pair in selection.lexicon.measurable_fields)
        candidates = candidate_fields_for(literal, selection.lexicon, every_key)
    is_in_some_range = any(
        is_within_field_range(literal, field, row_field, selection.lexicon) for field, row_field, _ in candidates
    )
    is_of_other_times = _lies_in_years_alone(literal, candidates, selection.lexicon)
    scored_fields = [
        (
            score
            - (_OUT_OF_RANGE_PENALTY if is_of_other_times and field.type is FieldType.DATE else 0.0)
            - (
                _OUT_OF_RANGE_PENALTY
                if is_in_some_range and is_far_outside_range(literal, field, row_field, selection.lexicon)
                else 0.0
            )
            + mention_nearness(selection, field, row_field, first, last)
            + (_DATE_OF_VALUE_BONUS if _is_day_of_value(field, selection) else 0.0)
            + _amount_bonus(selection, literal, field, row_field, last)
            + 0.5 * len(label_stems & selection.lexicon.stems_of(row_field or field.name))
            - _repetition_penalty(used_ops_by_field.get(field_key_of(field, row_field), ()), literal)
            - counting_penalty(selection, literal, field, last),
            field,
            row_field,
        )
        for field, row_field, score in candidates
    ]
    return sorted(scored_fields, key=lambda scored_field: -scored_field[0])


def _amount_bonus(
    selection: SpanSelection, literal: QuestionLiteral, field: SchemaField, row_field: FieldName | None, last: int
) -> float:
    """ "Invoices over £200", "£500 still *due*": returns a bonus for the total, and for what is said of the amount."""
    if not isinstance(literal, QuantityLiteral) or row_field is not None:
        return 0.0
    if not literal.currency and literal.unit and has_known_unit(literal, selection.lexicon):
        return 0.0
    bonus = _MAIN_AMOUNT_BONUS if field.name in selection.lexicon.roles.main_amounts else 0.0
    return bonus + (_SAID_AMOUNT_BONUS if find_words_on_amount(selection, literal, field, last) else 0.0)


def find_words_on_amount(
    selection: SpanSelection, literal: QuestionLiteral, field: SchemaField, last: int
) -> Sequence[int]:
    """ "More than £500 *still due*": returns the tokens behind a sum of money up to a word that names the field."""
    if not isinstance(literal, QuantityLiteral) or not literal.currency:
        return ()
    names = _label_words_of(field) - _GENERAL_AMOUNT_WORDS
    for index, token in enumerate(selection.tokens[last : last + _MAX_WORDS_ON_AMOUNT], last):
        if token.word in names:
            return range(last, index + 1)
    return ()


def _is_day_of_value(field: SchemaField, selection: SpanSelection) -> bool:
    """ "How many were *refused* this year", a value of "Decision": whether the field is "Decision issued", or tells
    when they were refused.
    """
    if field.type is not FieldType.DATE:
        return False
    valued = [link for link in selection.links if isinstance(link.meaning, (ValueMatch, PartialMatch))]
    names = (link.meaning.field for link in valued if isinstance(link.meaning, (ValueMatch, PartialMatch)))
    if any(
        name in selection.lexicon.schema.by_name
        and _label_words_of(selection.lexicon.get_field(name)) < _label_words_of(field)
        for name in names
    ):
        return True
    if field.name not in selection.lexicon.schema.by_name:
        return False  # a column of rows
    single = {selection.tokens[link.first].stem for link in valued if link.last - link.first == 1}
    return not single.isdisjoint(selection.lexicon.label_stems_of(field.name))  # "*completed* in May": "Completed on"


def _label_words_of(field: SchemaField) -> frozenset[str]:
    return frozenset(fold_text(field.label).split())


def _lies_in_years_alone(
    literal: QuestionLiteral,
    candidates: Sequence[tuple[SchemaField, FieldName | None, float]],
    lexicon: BucketLexicon,
) -> bool:
    """ "Before 1700" of things bought since 1950: whether only years that are numbers reach back to that time."""
    if not isinstance(literal, DateLiteral) or not literal.is_year_only:
        return False
    in_years = [
        has_value_in_years(literal, field, row_field, lexicon)
        for field, row_field, _ in candidates
        if row_field is None
    ]
    types = [field.type for field, row_field, _ in candidates if row_field is None]
    found = {field_type for field_type, is_in in zip(types, in_years, strict=True) if is_in}
    return found == {FieldType.NUMBER}


def mentioned_keys_near(links: Iterable[SpanLink], first: int, last: int) -> frozenset[FieldKey]:
    """Returns the fields that are mentioned within a few tokens of `tokens[first:last]`."""
    return frozenset(
        (link.meaning.field, link.meaning.column)
        for link in links
        if isinstance(link.meaning, FieldMention)
        and min(abs(first - link.last), abs(link.first - last)) <= MAX_MENTION_DISTANCE
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


def counting_penalty(selection: SpanSelection, literal: QuestionLiteral, field: SchemaField, last: int) -> float:
    """ "4 winter tires" counts things: returns a penalty for fields of money or with a unit that is not given."""
    if not isinstance(literal, QuantityLiteral) or literal.currency:
        return 0.0
    needs_unit = field.type is FieldType.MONEY or (
        field.unit and not (literal.unit and has_known_unit(literal, selection.lexicon))
    )
    return 1.0 if needs_unit and precedes_value(selection, last) else 0.0


def precedes_value(selection: SpanSelection, last: int) -> bool:
    return any(link.first == last and isinstance(link.meaning, (ValueMatch, PartialMatch)) for link in selection.links)


def mention_nearness(
    selection: SpanSelection, field: SchemaField, row_field: FieldName | None, first: int, last: int
) -> float:
    """Returns a score for the nearest mention of the field, higher before the literal than after it."""
    best = 0.0
    for link in (*selection.links, *selection.measure_links):
        if isinstance(link.meaning, FieldMention) and (link.meaning.field, link.meaning.column) == field_key_of(
            field, row_field
        ):
            if lacks_day(selection, link, first):
                continue
            distance = first - link.last if link.last <= first else link.first - last + 0.5
            best = max(best, 4.0 / (1.0 + 0.35 * max(distance, 0)))
    return best


def lacks_day(selection: SpanSelection, link: SpanLink, literal_first: int) -> bool:
    """ "Orders from 2026 that were *not paid*": whether a negated mention says that there is no day at all.

    Where a day follows, it is that of the mention: "not paid in 2026", but not in "*unpaid* orders from 2026".
    """
    meaning = link.meaning
    is_negated = isinstance(meaning, FieldMention) and meaning.is_negated
    if link.first < literal_first and not (is_negated and link.last - link.first == 1):
        return False
    is_negated = is_negated or link.first in selection.negated_tokens
    return is_negated and not any(0 <= first - link.last <= 1 for _, first, _ in selection.literal_spans)
