"""Conditions for "back from the lab" and "still at the lab": whether a day says that something has come in again."""

from collections.abc import Iterator, Sequence

from agent.english.date_roles import ARRIVAL_PARTICLES, tells_arrival
from agent.english.function_words import FORMS_OF_BE, NEGATIONS
from agent.english.state_words import name_words_of
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.linking.span_selection import SpanSelection
from storage.search.conditions import Condition, MissingCondition, NotCondition
from storage.search.schema import FieldType, SchemaField

_EMPTY_WORDS = frozenset("in back from the a our date day on at arrived".split())
_ARTICLES = frozenset({"the", "our", "their"})
_WORDS_BEFORE_BACK = FORMS_OF_BE | frozenset("come came coming got not yet never still already now".split())
_MAX_WORDS_TO_NEGATION = 3
_NEGATING_WORDS = NEGATIONS | {"t"}


def build_arrival_conditions(selection: SpanSelection) -> Iterator[Condition]:
    """Yields that the day is there, or is missing, if the bucket has one date of this kind and the question says so."""
    field = _find_arrival_field(selection.lexicon)
    if field is None:
        return
    words = [token.word for token in selection.tokens]
    source = name_words_of(field) - _EMPTY_WORDS
    found = next(_find_phrases(words, source), None)
    if found is None:
        return
    first, last, has_come = found
    taken = {index for span in selection.states for index in range(span.first, span.last)}
    if taken.intersection(range(first, last)) or _is_value(selection, first, last):
        return
    before = words[max(first - _MAX_WORDS_TO_NEGATION, 0) : first]
    is_negated = first in selection.negated_tokens or not _NEGATING_WORDS.isdisjoint(before)
    selection.usage.tokens.update(range(first, last))
    selection.usage.links.update(
        index for index, link in enumerate(selection.links) if first <= link.first and link.last <= last
    )
    text = selection.question[selection.tokens[first].start : selection.tokens[last - 1].end]
    missing = MissingCondition(field=field.name, words=text)
    yield NotCondition(missing) if has_come is not is_negated else missing


def _find_arrival_field(lexicon: BucketLexicon) -> SchemaField | None:
    found = [
        field
        for field in lexicon.schema.fields
        if field.type is FieldType.DATE and field.name in lexicon.vocabularies and tells_arrival(name_words_of(field))
    ]
    return found[0] if len(found) == 1 else None


def _find_phrases(words: Sequence[str], source: frozenset[str]) -> Iterator[tuple[int, int, bool]]:
    """Yields first and last token of what is said, and whether it says that something has come in."""
    for index, word in enumerate(words):
        before = words[index - 1] if index else ""
        if word in ARRIVAL_PARTICLES and words[index + 1 : index + 2] == ["from"]:
            last = _end_of_source(words, index + 2, source)
            if last:
                yield index, last, True
        elif word == "back" and before in _WORDS_BEFORE_BACK:
            yield index, index + 1, True
        elif word == "still" and words[index + 1 : index + 2] == ["at"]:
            last = _end_of_source(words, index + 2, source)
            if last:
                yield index, last, False


def _end_of_source(words: Sequence[str], first: int, source: frozenset[str]) -> int:
    """Returns the end of "the lab", where the date is called so; else 0."""
    index = first + (words[first : first + 1] != [] and words[first] in _ARTICLES)
    return index + 1 if index < len(words) and words[index] in source else 0


def _is_value(selection: SpanSelection, first: int, last: int) -> bool:
    return any(
        link.first < last and first < link.last and not isinstance(link.meaning, FieldMention)
        for link in selection.links
        if selection.tokens[link.first].word in ARRIVAL_PARTICLES
    )
