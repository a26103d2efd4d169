"""Plans a question for fields of the document whose id it gives: the id comes before values that mention it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.decomposition import LegAlternatives
from agent.rules.cues.asked_fields import find_asked_fields, find_counted_field
from agent.rules.forms.recognisers import answer_form_of
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import PartialMatch, ValueMatch
from agent.rules.planning.left_over_words import telling_words
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.word_roles import WordRole
from storage.search.analyser import fold_text
from storage.search.conditions import (
    DOC_ID_FIELD,
    ComparisonCondition,
    ComparisonOperator,
)
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import Clause, Leg, ReadFields, Search
from storage.search.schema import FieldType
from storage.text.identifiers import find_identifiers


def plan_identified_document(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> tuple[Leg, LegAlternatives] | None:
    """Returns a leg for fields of the document with the id in the question, in whichever bucket it is.

    None if the question gives no id or several, or asks for no field that is certain. Words that mean nothing in any
    of the buckets are asked about.
    """
    identifiers = tuple(dict.fromkeys(find_identifiers(question)))
    if len(identifiers) != 1:
        return None
    identifier = identifiers[0]
    bare_readings = [_without_identifier(reading, identifier) for reading in readings if not _names_row(reading)]
    fields = tuple(
        (reading.bucket, name)
        for reading in bare_readings
        for name in _certain_fields(reading, lexicons[reading.bucket])
    )
    if not fields:
        return None
    spellings = tuple(dict.fromkeys((identifier, identifier.upper(), identifier.lower())))
    condition = ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.IN, value=spellings, words=identifier)
    buckets = dict.fromkeys(bucket for bucket, _ in fields)
    clauses = tuple(Clause(bucket=bucket, condition=condition) for bucket in buckets)
    leg = Leg(
        id=leg_id,
        question=question,
        search=Search(clauses=clauses, ranking_text=question),
        answer_form=ReadFields(fields=fields),
    )
    unknown_words = _unknown_words_in([reading for reading in bare_readings if reading.bucket in buckets])
    return leg, LegAlternatives(leg=leg_id, unknown_words=unknown_words)


def _unknown_words_in(readings: Sequence[BucketReading]) -> tuple[str, ...]:
    """Returns the words that no bucket knows, if they say more than how the question is put."""
    known_roles = (WordRole.REQUEST, WordRole.KIND, WordRole.EXPLAINED, WordRole.LIGHT)
    left = [
        word
        for word in readings[0].unlinked_words[1:]
        if all(
            word in reading.unlinked_words and reading.word_roles.get(word) not in known_roles for reading in readings
        )
    ]
    return telling_words(left, readings[0].tokens)


def _names_row(reading: BucketReading) -> bool:
    """ "The glass on order 12": whether a value names one of the rows of documents, which have values of their own."""
    return any(
        isinstance(link.meaning, (ValueMatch, PartialMatch)) and link.meaning.column is not None
        for link in reading.links
    )


def _certain_fields(reading: BucketReading, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the field that the question asks for in this bucket; nothing if several may be meant."""
    asked = find_asked_fields([token.word for token in reading.tokens], reading, lexicon)
    if asked.are_joint or len(asked.fields) == 1:
        return asked.fields
    if asked.fields:
        return asked.fields[:1] if asked.is_named else ()
    answer_form = answer_form_of(reading, lexicon)
    requested = answer_form.requested_fields if answer_form.reads_values else ()
    names = tuple(name for _, name in requested if lexicon.get_field(name).type is not FieldType.ROWS)
    if names or [token.word for token in reading.tokens[:2]] != ["how", "many"]:
        return names
    counted = find_counted_field(reading, lexicon)
    return () if counted is None else (counted,)


def _without_identifier(reading: BucketReading, identifier: str) -> BucketReading:
    """Returns the reading as if only the id named the document: it is an unlinked word, and values restrict nothing."""
    left = tuple(words for words in reading.unlinked_words if fold_text(words) not in fold_text(identifier))
    return replace(
        reading,
        conditions=(),
        links=tuple(link for link in reading.links if not isinstance(link.meaning, (ValueMatch, PartialMatch))),
        unlinked_words=(identifier, *left),
        literal_tokens=frozenset(),
    )
