"""Finds the values of fields that words of a question may mean, though they are spelled otherwise: "kids", "children".

Such a value is never more than a choice: static vectors tell what words have in common, not that they mean the same.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.linking.label_similarity import LikeValue, WordSimilarities
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.ids import FieldName
from storage.search.schema import FieldType

_COMPARED_TYPES = (FieldType.CATEGORY, FieldType.LIST)
_MAX_VALUE_WORDS = 5  # of a value that names a kind or a state; longer ones are remarks


@dataclass(frozen=True, slots=True, kw_only=True)
class LikeConditions:
    """Conditions that may be meant by words of a question, with the sum of the cosines of words and values."""

    conditions: tuple[ComparisonCondition, ...]
    similarity: float


def find_like_conditions(
    words: Sequence[str], similarities: WordSimilarities, lexicon: BucketLexicon, taken_fields: Collection[FieldName]
) -> Iterator[LikeConditions]:
    """Yields the likest value of each word together, then other values of single words.

    `taken_fields`: the fields that the question restricts already.
    """
    parts = (part for word in words for part in word.split())
    found = [values for part in parts if (values := _values_of(part, similarities, lexicon, taken_fields))]
    likest: dict[FieldName, LikeValue] = {}
    for values in found:
        likest.setdefault(values[0].field, values[0])
    if len(likest) > 1:
        yield _conditions_of([*likest.values()], lexicon)
    for value in sorted((value for values in found for value in values), key=lambda value: -value.cosine):
        yield _conditions_of([value], lexicon)


def _values_of(
    word: str, similarities: WordSimilarities, lexicon: BucketLexicon, taken_fields: Collection[FieldName]
) -> list[LikeValue]:
    return [
        value
        for value in similarities.like_values_of(word)
        if value.field not in taken_fields
        and lexicon.get_field(value.field).type in _COMPARED_TYPES
        and len(value.value.split()) <= _MAX_VALUE_WORDS
    ]


def _conditions_of(values: Sequence[LikeValue], lexicon: BucketLexicon) -> LikeConditions:
    conditions = tuple(
        ComparisonCondition(field=value.field, op=_operator_of(lexicon, value.field), value=value.value)
        for value in values
    )
    return LikeConditions(conditions=conditions, similarity=sum(value.cosine for value in values))


def _operator_of(lexicon: BucketLexicon, name: FieldName) -> ComparisonOperator:
    is_list = lexicon.get_field(name).type is FieldType.LIST
    return ComparisonOperator.HAS if is_list else ComparisonOperator.EQ
