"""Yields the other readings of a value that several fields share, such as two for persons."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.rules.binding.literal_conditions import AlternativeCondition
from agent.rules.lexicon.span_links import FieldMention, SpanLink, ValueMatch
from agent.rules.linking.role_weights import rivals_of, role_word_index
from agent.rules.linking.span_selection import SpanSelection
from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition
from storage.search.ids import FieldName
from storage.search.schema import FieldType

_TIE = 0.3  # difference of weight up to which two fields are as likely


def consume_role_words(selection: SpanSelection, links: Sequence[SpanLink]) -> None:
    """Marks the words that named the role of a chosen value as used: "approved" in "reports Ann approved"."""
    for link in selection.links:
        if isinstance(link.meaning, ValueMatch) and rivals_of(link, links):
            index = role_word_index(link, selection.tokens, selection.lexicon)
            if index is not None:
                selection.usage.tokens.add(index)
                selection.usage.links |= {
                    position
                    for position, other in enumerate(selection.links)
                    if isinstance(other.meaning, FieldMention) and other.first <= index < other.last
                }


def find_rival_readings(
    selection: SpanSelection, links: Sequence[SpanLink], conditions: Sequence[Condition]
) -> Iterator[AlternativeCondition]:
    """ "Reports of Ann", who writes and approves: yields the reading for each other field for persons with her name."""
    persons = selection.lexicon.roles.persons
    for link in selection.links:
        meaning = link.meaning
        if not isinstance(meaning, ValueMatch) or meaning.column is not None or meaning.field not in persons:
            continue
        if role_word_index(link, selection.tokens, selection.lexicon) is not None or _is_mentioned(
            meaning.field, selection
        ):
            continue
        original = next((part for part in conditions if _compares_value(part, meaning)), None)
        if not isinstance(original, ComparisonCondition):
            continue
        for rival in rivals_of(link, links):
            other = rival.meaning
            if isinstance(other, ValueMatch) and other.field in persons and abs(rival.weight - link.weight) < _TIE:
                is_list = selection.lexicon.get_field(other.field).type is FieldType.LIST
                replacement = replace(
                    original,
                    field=other.field,
                    value=other.value,
                    op=ComparisonOperator.HAS if is_list else ComparisonOperator.EQ,
                )
                yield AlternativeCondition(original=original, replacement=replacement)


def _is_mentioned(name: FieldName, selection: SpanSelection) -> bool:
    """Whether the field is named anywhere in the question."""
    return any(isinstance(link.meaning, FieldMention) and link.meaning.field == name for link in selection.links)


def _compares_value(condition: Condition, meaning: ValueMatch) -> bool:
    return (
        isinstance(condition, ComparisonCondition)
        and condition.field == meaning.field
        and condition.value == meaning.value
    )
