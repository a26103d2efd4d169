"""Finds the price of a single thing that a question asks for, which is no sum over the rows of the thing."""

from collections.abc import Sequence

from agent.english.price_words import (
    PriceSide,
    asked_price_side,
    asks_for_margin,
    side_of_price_name,
    side_of_verbs,
)
from agent.english.state_words import name_words_of
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.ids import FieldName
from storage.search.schema import FieldType

_NAMING_OPERATORS = (ComparisonOperator.EQ, ComparisonOperator.IN)
_NAMING_TYPES = (FieldType.CATEGORY, FieldType.TEXT)


def find_asked_price(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> FieldName | None:
    """ "How much do we sell the Juno for": returns the field with this price of what the question names."""
    side = asked_price_side(words) if _names_thing(reading, lexicon) else None
    return None if side is None else _field_of_side(side, reading, lexicon)


def find_asked_margin(
    words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon
) -> tuple[FieldName, FieldName] | None:
    """ "The difference between what we pay for it and what we sell it for": returns both, first the second."""
    if not asks_for_margin(words) or not _names_thing(reading, lexicon):
        return None
    sold, bought = _fields_with_side(PriceSide.SOLD, lexicon), _fields_with_side(PriceSide.BOUGHT, lexicon)
    return (sold[0], bought[0]) if len(sold) == len(bought) == 1 else None


def select_fields_of_side(
    fields: tuple[FieldName, ...], words: Sequence[str], lexicon: BucketLexicon
) -> tuple[FieldName, ...]:
    """ "The most expensive frame *we sell*": returns the fields with this price; all if the question tells none."""
    side = side_of_verbs(words)
    found = set[FieldName]() if side is None else set(_fields_with_side(side, lexicon))
    return tuple(name for name in fields if name in found) or fields


def _field_of_side(side: PriceSide, reading: BucketReading, lexicon: BucketLexicon) -> FieldName | None:
    """Returns the only price of this side; of rows in the plural only where things have both prices.

    A cost without a price beside it may be that of a service or a year, which is added up.
    """
    sold, bought = _fields_with_side(PriceSide.SOLD, lexicon), _fields_with_side(PriceSide.BOUGHT, lexicon)
    if reading.has_plural_noun and not (sold and bought):
        return None
    found = sold if side is PriceSide.SOLD or (sold and not bought) else bought
    return found[0] if len(found) == 1 and sold else None


def _fields_with_side(side: PriceSide, lexicon: BucketLexicon) -> list[FieldName]:
    return [
        field.name
        for field in lexicon.schema.fields
        if (field.type is FieldType.MONEY or field.name in lexicon.roles.amounts_without_currency)
        and side_of_price_name(name_words_of(field)) is side
    ]


def _names_thing(reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """Whether the conditions are names and kinds of things, and no days, numbers or texts."""
    return (
        bool(reading.conditions)
        and not reading.literal_tokens
        and all(
            isinstance(condition, ComparisonCondition)
            and condition.op in _NAMING_OPERATORS
            and condition.field in lexicon.schema.by_name
            and lexicon.get_field(condition.field).type in _NAMING_TYPES
            for condition in reading.conditions
        )
    )
