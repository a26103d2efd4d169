"""Conditions for a document that the question gives the number of: "ticket 20488", "who raised job no 17"."""

from collections.abc import Iterator, Sequence

from agent.rules.linking.span_selection import SpanSelection
from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition
from storage.search.index import FieldVocabulary
from storage.search.schema import SchemaField

_WORDS_BEFORE_NUMBER = frozenset("no nr num number numbers ref id and or".split())
_MAX_DIGITS = 9


def build_row_number_conditions(selection: SpanSelection) -> Iterator[Condition]:
    """Yields what the running number of a document is, if the number stands behind a noun for the documents."""
    field = selection.lexicon.running_number
    vocabulary = None if field is None else selection.lexicon.vocabulary_of(field.name)
    if field is None or vocabulary is None:
        return
    used = {index for _, first, last in selection.literal_spans for index in range(first, last)}
    found = [index for index in _numbers_in(selection, field) if index not in used]
    values = [value for index in found if _is_in_range(value := float(selection.tokens[index].word), vocabulary)]
    if not found or len(values) != len(found):
        return
    selection.usage.tokens.update(found)
    selection.usage.links.update(
        position for position, link in enumerate(selection.links) if link.last in found or link.last + 1 in found
    )
    words = selection.question[selection.tokens[found[0]].start : selection.tokens[found[-1]].end]
    if len(values) == 1:
        yield ComparisonCondition(field=field.name, op=ComparisonOperator.EQ, value=values[0], words=words)
    else:
        yield ComparisonCondition(field=field.name, op=ComparisonOperator.IN, value=tuple(values), words=words)


def _numbers_in(selection: SpanSelection, field: SchemaField) -> Sequence[int]:
    """Returns the tokens of numbers right behind a noun for the documents, or behind another such number."""
    nouns = selection.lexicon.noun_stems | selection.lexicon.label_stems_of(field.name)
    found: list[int] = []
    for index, token in enumerate(selection.tokens):
        if not token.word.isdigit() or len(token.word) > _MAX_DIGITS or not index:
            continue
        before = index - 1
        while before and selection.tokens[before].word in _WORDS_BEFORE_NUMBER:
            before -= 1
        if selection.tokens[before].stem in nouns or before in found:
            found.append(index)
    return found


def _is_in_range(value: float, vocabulary: FieldVocabulary) -> bool:
    low, high = vocabulary.low, vocabulary.high
    return isinstance(low, (int, float)) and isinstance(high, (int, float)) and low <= value <= high
