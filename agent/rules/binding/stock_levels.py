"""Reads what is running low: "below the minimum", "under their reorder level", "what needs reordering".

A table of a stock has how much is there, and the least that should be. Neither needs to be named in the question.
"""

import re
from collections.abc import Sequence

from agent.rules.binding.field_fit import words_of_field
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.linking.span_selection import SpanSelection, token_range_in
from storage.search.conditions import ComparisonOperator, FieldComparisonCondition
from storage.search.schema import FieldType, SchemaField

_LEAST_WORDS = frozenset(
    "reorder reordering reorderlevel reorderpoint min minimum minstock par safety threshold".split()
)
_MOST_WORDS = frozenset("max maximum price cost value order".split())  # "min order", "minimum price"
# Of the field that tells how much is there, the surest first.
_AMOUNT_WORDS = (
    frozenset({"hand", "onhand"}),
    frozenset({"stock", "instock", "available", "left", "remaining"}),
    frozenset({"qty", "quantity", "units", "pieces", "amount", "count"}),
)
_LEVEL = r"(?:(?:stock|order|re-?order)[\s-]?)?(?:levels?|points?|quantit(?:y|ies)|stocks?|lvl|thresholds?|amounts?)"
_LEAST = rf"(?:(?:re-?order(?:ing)?|min(?:imum)?|par|safety)(?:\s+{_LEVEL})?)"
_UNDER = r"(?P<under>(?:at\s+or\s+)?(?:below|under|beneath|less(?:\s+of)?\s+than|lower\s+than|fewer(?:\s+of)?\s+than))"
_BELOW_LEAST = re.compile(
    rf"\b(?:(?:have|has|had)\s+)?(?:(?:are|is|been|being|fallen|fell|dropped|gone|got|run)\s+)*{_UNDER}\s+"
    rf"(?:(?:the|their|its|our|required)\s+)*{_LEAST}(?!\s+(?:price|cost|order|age|wage|value))\b",
    re.I,
)
_NEEDS_MORE = re.compile(
    r"\b(?:(?:that|which)\s+)?(?:(?:do|does|should|must)\s+(?:we|i)\s+(?:need|have)\s+to\s+|(?:should|must)\s+(?:we|i)\s+"
    r"|(?:we|i)\s+(?:need|have)\s+to\s+|(?:we|i)\s+(?:should|must)\s+|needs?\s+(?:to\s+be\s+)?|(?:is|are)\s+due\s+for\s+)"
    r"(?:re-?order(?:ed|ing)?|re-?stock(?:ed|ing)?|replenish(?:ed|ing|ment)?|top(?:ped|ping)?\s+up)\b"
    r"|\b(?:(?:that|which)\s+)?(?:(?:are|is|do|does)\s+)?(?:we\s+(?:are\s+)?)?(?:running|run|runs|getting)\s+(?:low|short)(?:\s+(?:on|of))?\b"
    r"|\blow\s+(?:on|in|of)\s+stock\b|\blow[\s-]stock\b",
    re.I,
)  # fmt: skip


def build_stock_condition(selection: SpanSelection) -> tuple[FieldComparisonCondition, range] | None:
    """Returns the condition that less is there than should be, with its tokens, which it records as used."""
    below = _BELOW_LEAST.search(selection.question)
    found = below or _NEEDS_MORE.search(selection.question)
    if found is None:
        return None
    fields = find_stock_fields(selection.lexicon)
    if fields is None:
        return None
    there, least = fields
    if there.unit != least.unit:
        return None
    first, last = token_range_in(selection.tokens, found.start(), found.end())
    if below is not None and _names_amount_before(selection, first, there, least):
        return None  # "items whose list price is below the minimum price": the two that are named are compared
    tokens = range(first, last)
    selection.usage.tokens |= set(tokens)
    selection.usage.links |= {
        index for index, link in enumerate(selection.links) if link.first >= first and link.last <= last
    }
    is_strict = below is not None and not below["under"].casefold().startswith("at")
    op = ComparisonOperator.LT if is_strict else ComparisonOperator.LTE
    words = selection.question[found.start() : found.end()].strip()
    return FieldComparisonCondition(field=there.name, op=op, other_field=least.name, words=words), tokens


def find_stock_fields(lexicon: BucketLexicon) -> tuple[SchemaField, SchemaField] | None:
    """Returns the field for what is there, and the one for the least that should be; None if either is not clear."""
    numbers = [
        field
        for field in lexicon.schema.fields
        if field.type is FieldType.NUMBER and field.name in lexicon.vocabularies and not field.columns
    ]
    least = [field for field in numbers if _words_of(field) & _LEAST_WORDS and not _words_of(field) & _MOST_WORDS]
    if len(least) != 1:
        least = [field for field in numbers if _is_reorder_level(field)]
    if len(least) != 1:
        return None
    others = [field for field in numbers if field is not least[0] and not _words_of(field) & _MOST_WORDS]
    return next(
        ((there[0], least[0]) for words in _AMOUNT_WORDS if len(there := _fields_with(others, words)) == 1), None
    )


def _fields_with(fields: Sequence[SchemaField], words: frozenset[str]) -> list[SchemaField]:
    return [field for field in fields if _words_of(field) & words]


def _words_of(field: SchemaField) -> frozenset[str]:
    return frozenset(words_of_field(field))


def _is_reorder_level(field: SchemaField) -> bool:
    words = _words_of(field)
    return "reorder" in words and not words.isdisjoint({"level", "lvl", "point", "threshold"})


def _names_amount_before(selection: SpanSelection, first: int, *stock: SchemaField) -> bool:
    """Whether a number that is not of the stock is named before the comparison."""
    names = {field.name for field in stock}
    return any(
        isinstance(link.meaning, FieldMention)
        and not link.meaning.is_hint
        and link.last <= first
        and link.meaning.field not in names
        and selection.lexicon.get_field(link.meaning.field, link.meaning.column).type
        in (FieldType.NUMBER, FieldType.MONEY)
        for link in selection.links
    )
