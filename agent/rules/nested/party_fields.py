"""Plans questions for what another table says of somebody who is named: "what plan are Acme on", "what do they pay".

The name is a row of one table (clients), and the field that is asked for stands in another, which refers to it
(contracts). The name is replaced by a value of the column that refers; the question that results is read and planned
like any other, and the condition on that value becomes one on the name.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agent.decomposition import AlternativeReading, LegAlternatives
from agent.english.light_words import is_light_word
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.nested.joins import BucketJoin, compares_with, find_join_table, find_stand_in
from agent.rules.nested.subordinates import PlanLeg, RelatedLeg, join_with
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.tokens import find_quotations, tokenize_question
from storage.search.analyser import fold_text
from storage.search.conditions import (
    TITLE_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    conjunction_of,
    conjuncts_of,
)
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import CheckClaims, Clause, Leg
from storage.search.schema import FieldType

_MAX_NAMES = 5  # that a part of a name may stand for
_MIN_NAME_LETTERS = 4
_NAME_STEM = "name"
# "What do Acme *pay* us": the amount is asked for as by "how much".
_ASKED_AMOUNT = re.compile(r"^what\s+(do|does|did|have|has)\b(?=.*\b(?:pay|paid|spend|spent|owe|cost|costs)\b)", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartyName:
    """What the question calls somebody, and the names in the field that this may be."""

    bucket: BucketId
    field: FieldName
    values: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartyLeg:
    """A leg about the rows that refer to somebody; `rank`: the smaller, the better."""

    leg: Leg
    alternatives: LegAlternatives
    join: BucketJoin
    stand_in: str
    party: _PartyName
    rank: tuple[float, ...]
    linked_words: frozenset[str]


def plan_party_fields(
    leg_id: LegId,
    question: str,
    plain: Leg,
    readings: Sequence[BucketReading],
    reader: QuestionReader,
    plan_leg: PlanLeg,
) -> RelatedLeg | None:
    """Returns the leg; None if the question names nobody, or if the table that has the name explains it."""
    if _is_explained(plain, readings):
        return None
    joins = [join for join in find_join_table(reader.lexicons).direct if join.is_forward and not join.is_within_bucket]
    legs = [
        leg
        for party in _find_parties(question, {join.inner for join in joins}, reader)
        for join in joins
        if join.inner == party.bucket and len(join.outer_fields) == 1 and _is_name(party, join, reader)
        if (leg := _plan_in_bucket(leg_id, question, party, join, reader, plan_leg)) is not None
    ]
    legs = [leg for leg in legs if not _loses_value(leg, readings[0], question)]
    legs.sort(key=lambda leg: leg.rank)
    if not legs or (len(legs) > 1 and legs[0].rank == legs[1].rank):
        return None
    return _join_party(legs[0], question)


def _is_name(party: _PartyName, join: BucketJoin, reader: QuestionReader) -> bool:
    """Whether the field holds what the rows are called: their key, a field "name", or one called as they are."""
    lexicon = reader.lexicons[party.bucket]
    is_called_so = lexicon.label_stems_of(party.field) <= lexicon.noun_stems
    return party.field == join.inner_key or is_called_so or lexicon.is_named_by(party.field, _NAME_STEM)


def _loses_value(planned: _PartyLeg, plain: BucketReading, question: str) -> bool:
    """ "Doors that *failed* at the tower": whether the leg knows nothing of another value in the plain reading."""
    name = set(fold_text(question[planned.party.start : planned.party.end]).split())
    values = {
        plain.tokens[index].word
        for link in plain.links
        if isinstance(link.meaning, (ValueMatch, PartialMatch))
        for index in range(link.first, link.last)
    }
    return not values - name <= planned.linked_words


def _is_explained(plain: Leg, readings: Sequence[BucketReading]) -> bool:
    """Whether the plain leg reads or computes something and uses all words of the question."""
    best = readings[0]
    asks = plain.answer_form.reads_values or plain.answer_form.computes or isinstance(plain.answer_form, CheckClaims)
    reads_noun = plain.answer_form.lists_documents and best.has_noun
    asked = any(not mention.is_hint for mention in best.asked_mentions)
    return not best.unlinked_words and (reads_noun or (asks and asked))


def _find_parties(question: str, buckets: set[BucketId], reader: QuestionReader) -> Iterator[_PartyName]:
    """Yields the longest names of rows in the question, a name for each of the buckets."""
    for bucket in sorted(buckets):
        lexicon = reader.lexicons[bucket]
        tokens = tokenize_question(question, lexicon.analyser, find_quotations(question))
        links = [link for link in lexicon.find_links(tokens) if _may_name_party(link, lexicon)]
        links.sort(key=lambda link: (link.first - link.last, not isinstance(link.meaning, ValueMatch)))
        for link in links[:1]:
            meaning = link.meaning
            if isinstance(meaning, (ValueMatch, PartialMatch)):
                values = (meaning.value,) if isinstance(meaning, ValueMatch) else meaning.values
                start, end = tokens[link.first].start, tokens[link.last - 1].end
                yield _PartyName(bucket=bucket, field=meaning.field, values=values, start=start, end=end)


def _may_name_party(link: SpanLink, lexicon: BucketLexicon) -> bool:
    meaning = link.meaning
    if not isinstance(meaning, (ValueMatch, PartialMatch)) or meaning.column is not None:
        return False
    values = (meaning.value,) if isinstance(meaning, ValueMatch) else meaning.values
    if meaning.field == TITLE_FIELD or not lexicon.is_identifying(meaning.field) or len(values) > _MAX_NAMES:
        return False
    are_names = all(sum(map(str.isalpha, value)) >= _MIN_NAME_LETTERS for value in values)
    return are_names and lexicon.get_field(meaning.field).type is not FieldType.LIST


def _plan_in_bucket(
    leg_id: LegId, question: str, party: _PartyName, join: BucketJoin, reader: QuestionReader, plan_leg: PlanLeg
) -> _PartyLeg | None:
    stand_in = find_stand_in(join, reader.lexicons)
    if stand_in is None:
        return None
    text = f"{question[: party.start]}{stand_in}{question[party.end :]}"
    text = _ASKED_AMOUNT.sub(r"how much \1", text)
    reading = reader.read_in_bucket(text, join.outer)
    if not _is_understood(reading, reader.lexicons[party.bucket]):
        return None
    leg, alternatives = plan_leg(leg_id, text, [reading])
    if leg.search.buckets != (join.outer,) or not _asks_of_rows(leg, reading):
        return None
    asks_field = leg.answer_form.reads_values and any(not mention.is_hint for mention in reading.asked_mentions)
    rank = (float(not asks_field), -float(len(_linked_tokens(reading))), float(len(reading.unlinked_words)))
    words = frozenset(reading.tokens[index].word for index in _linked_tokens(reading))
    return _PartyLeg(
        leg=leg,
        alternatives=alternatives,
        join=join,
        stand_in=stand_in,
        party=party,
        rank=rank,
        linked_words=words,
    )


def _is_understood(reading: BucketReading, party: BucketLexicon) -> bool:
    """Whether the bucket knows all words but those that say little, and nouns for the row that is named."""
    words = [word for phrase in reading.unlinked_words for word in phrase.casefold().split()]
    stems = {token.word: token.stem for token in reading.tokens}
    return not reading.unlinked_quotations and all(
        is_light_word(word) or stems.get(word, word) in party.noun_stems for word in words
    )


def _asks_of_rows(leg: Leg, reading: BucketReading) -> bool:
    """Whether something is asked of the rows: a field, a flag, a number, or which they are, by a noun for them."""
    form = leg.answer_form
    asks_field = any(not mention.is_hint for mention in reading.asked_mentions)
    if form.reads_values or (form.computes and not form.is_document_count):
        return asks_field
    restricts = len(reading.conditions) > 1
    if isinstance(form, CheckClaims):
        return restricts
    is_named = any(
        isinstance(link.meaning, BucketNoun) and reading.tokens[link.first].word != "who" for link in reading.links
    )
    return (form.is_document_count or form.lists_documents) and (is_named or restricts)


def _linked_tokens(reading: BucketReading) -> frozenset[int]:
    return frozenset(
        index
        for link in reading.links
        if not (isinstance(link.meaning, FieldMention) and link.meaning.is_hint)
        for index in range(link.first, link.last)
    )


def _join_party(planned: _PartyLeg, question: str) -> RelatedLeg | None:
    """Returns the leg with the condition on the name; names that may be meant are readings as likely as one another."""
    clause = planned.leg.search.clauses[0]
    kept = [part for part in conjuncts_of(clause.condition) if not compares_with(part, planned.stand_in)]
    if len(kept) == len(conjuncts_of(clause.condition)):
        return None
    bare = replace(
        planned.leg, search=planned.leg.search.with_clauses(replace(clause, condition=conjunction_of(*kept)))
    )
    party, join = planned.party, planned.join
    words = question[party.start : party.end]
    reference = (join.outer_fields[0], join.inner, join.inner_key)
    legs = [
        join_with(
            (bare, planned.alternatives), question, join.outer, reference, _condition_on(party, value, words), words
        )
        for value in party.values
    ]
    readings = tuple(_alternative_of(related.leg.search.clauses[0], related.leg) for related in legs)
    first = legs[0]
    if len(legs) == 1:
        return first
    return replace(first, alternatives=replace(first.alternatives, equal_readings=readings[1:]), assumptions=())


def _condition_on(party: _PartyName, value: str, words: str) -> Condition:
    return ComparisonCondition(field=party.field, op=ComparisonOperator.EQ, value=value, words=words)


def _alternative_of(clause: Clause, leg: Leg) -> AlternativeReading:
    return AlternativeReading(bucket=clause.bucket, conditions=conjuncts_of(clause.condition), search=leg.search)
