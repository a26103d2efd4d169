"""Plans a question for fields of the document whose id it gives: the id comes before values that mention it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.rules.forms.recognisers import answer_form_of
from agent.rules.linking.lexicon import BucketLexicon, PartialMatch, SpanLink, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.analyser import fold_text
from storage.search.conditions import (
    DOC_ID_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    OrCondition,
)
from storage.search.ids import BucketId, LegId
from storage.search.plan import Clause, Leg, ReadFields, Search
from storage.text.identifiers import find_identifiers


def plan_identified_document(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> Leg | None:
    """Returns a leg for fields of the document with the id in the question, in whichever bucket it is.

    None if the question gives no id or several, restricts the document otherwise, or asks for no field.
    """
    identifiers = tuple(dict.fromkeys(find_identifiers(question)))
    if len(identifiers) != 1:
        return None
    identifier = identifiers[0]
    if any(_identifies_by_field(reading, identifier, lexicons[reading.bucket]) for reading in readings):
        return None  # a field of its own bucket holds the id
    bare = [_without_identifier(reading, identifier) for reading in readings]
    forms = [(reading, answer_form_of(reading, lexicons[reading.bucket])) for reading in bare if not reading.conditions]
    fields = tuple(field for _, form in forms if form.reads_values for field in form.requested_fields)
    if not fields:
        return None
    spellings = tuple(dict.fromkeys((identifier, identifier.upper(), identifier.lower())))
    condition = ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.IN, value=spellings, words=identifier)
    buckets = dict.fromkeys(bucket for bucket, _ in fields)
    clauses = tuple(Clause(bucket=bucket, condition=condition) for bucket in buckets)
    return Leg(
        id=leg_id,
        question=question,
        search=Search(clauses=clauses, ranking_text=question),
        answer_form=ReadFields(fields=fields),
    )


def _identifies_by_field(reading: BucketReading, identifier: str, lexicon: BucketLexicon) -> bool:
    return any(
        isinstance(link.meaning, ValueMatch)
        and lexicon.is_identifying(link.meaning.field)
        and fold_text(link.meaning.value) == fold_text(identifier)
        and lexicon.schema.by_name.get(link.meaning.field) is not None
        and lexicon.schema.by_name[link.meaning.field].reference is None
        for link in reading.links
    )


def _without_identifier(reading: BucketReading, identifier: str) -> BucketReading:
    """Returns the reading as if nothing were known of the id: it is an unlinked word and restricts nothing."""
    inside = {
        index
        for index, token in enumerate(reading.tokens)
        if token.word in fold_text(identifier).replace("-", " ").replace("/", " ").split()
    }
    left = tuple(words for words in reading.unlinked_words if fold_text(words) not in fold_text(identifier))
    return replace(
        reading,
        conditions=tuple(condition for condition in reading.conditions if not _is_read_from(condition, identifier)),
        links=tuple(link for link in reading.links if not _lies_in(link, inside)),
        unlinked_words=(identifier, *left),
        literal_tokens=reading.literal_tokens - inside,
    )


def _lies_in(link: SpanLink, tokens: set[int]) -> bool:
    is_value = isinstance(link.meaning, (ValueMatch, PartialMatch))
    return is_value and tokens.issuperset(range(link.first, link.last))


def _is_read_from(condition: Condition, identifier: str) -> bool:
    """Whether the condition rests on the id or on a part of it."""
    match condition:
        case AndCondition(members) | OrCondition(members):
            return all(_is_read_from(member, identifier) for member in members)
        case NotCondition(inner):
            return _is_read_from(inner, identifier)
        case _:
            return bool(condition.words) and fold_text(condition.words) in fold_text(identifier)
