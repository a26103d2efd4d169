"""Plans questions about those who report to somebody: "who reports to Ida Berg", "how many people work under her boss".

The table of people refers to itself: a field of each row names the superior. The words for the relation and the name
are replaced by a noun, the rest is planned like any other question, and the condition on the superior is added.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent.assumptions import Assumption, TakenInnerSet
from agent.decomposition import LegAlternatives
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import PartialMatch, ValueMatch
from agent.rules.nested.joins import find_join_table
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from storage.search.conditions import (
    TITLE_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    SemiJoinCondition,
    conjunction_of,
    title_condition_for,
)
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import Leg

PlanLeg: TypeAlias = Callable[[LegId, str, Sequence[BucketReading]], tuple[Leg, LegAlternatives]]
_SUPERIOR_WORDS = frozenset("manager boss supervisor superior manag supervis report reports lead leader".split())
_PERSON = r"(?:people|persons?|employees?|staff|colleagues?|everyone|everybody|anyone|anybody|those|members? of staff)"
_ASKS = rf"(?:(?P<many>how\s+many(?:\s+(?:of\s+(?:us|our)\s+)?{_PERSON})?)|(?P<who>who|whom|{_PERSON}))"
_VERB = (
    r"(?:(?:directly\s+)?(?:reports?|reporting|answers?|answering)\s+(?:directly\s+)?to"
    r"|works?\s+(?:for|under)|working\s+(?:for|under)|(?:(?:is|are)\s+)?under"
    r"|(?:(?:is|are)\s+)?(?:line[\s-]?)?(?:managed|supervised|led|headed)\s+by)"
)
_SUBORDINATES = r"(?:direct\s+reports|reports|subordinates|team\s+members)"
_PRONOUN = re.compile(r"\b(?:him|her|them|his|their|he|she|they)\b", re.I)
_SUPERIOR = r"(?:line[\s-]?)?(?:manager|boss|supervisor|superior|team\s+lead(?:er)?)"
# What stands before and behind the name of the superior.
_FORMS = tuple(
    (re.compile(before + r"\s*$", re.I), re.compile(r"^" + behind, re.I))
    for before, behind in (
        (rf"^(?:(?:does|do|is|are)\s+(?:there\s+)?any(?:\s*{_PERSON}|one|body))\s+(?:who\s+|that\s+)?{_VERB}", ""),
        (rf"\b{_ASKS}\s+(?:(?:that|who|which|all|do|does|currently|else)\s+)*{_VERB}", ""),
        (rf"\b{_ASKS}\s+(?:has|have|had)", rf"\s+(?:as|for)\s+(?:their\s+|an?\s+)?{_SUPERIOR}"),
        (rf"\b{_ASKS}\s+whose\s+{_SUPERIOR}\s+is", ""),
        (r"\b(?P<many>how\s+many)\s+direct\s+reports\s+(?:do|does)", r"\s+have\b"),
        (rf"\b{_ASKS}\s+(?:do|does|did)", r"\s+(?:line[\s-]?)?(?:manage|supervise|lead|oversee)s?\b"),
        (rf"\b(?:{_ASKS}\s+(?:is|are|works?)\s+(?:in|on|part\s+of)\s+)", r"(?:['’]s?)?\s+(?:team|group)\b"),
        (r"\b(?:(?P<many>how\s+many)\s+)?(?:the\s+)?direct\s+reports\s+(?:of|for)", ""),
        (r"(?:^|\b(?:who\s+are|list|show(?:\s+me)?))\s*", rf"(?:['’]s?)?\s+{_SUBORDINATES}\b"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedLeg:
    """A leg about documents that refer to another one, which the question names."""

    leg: Leg
    alternatives: LegAlternatives
    assumptions: tuple[Assumption, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _NamedSplit:
    """A question that relates others to a superior: `words` do so, and `text` is the question with a noun for them."""

    superior: Condition
    words: str
    text: str


def plan_subordinates(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], reader: QuestionReader, plan_leg: PlanLeg
) -> RelatedLeg | None:
    """Returns the leg; None if the question does not ask about those who report to a person whom a table names."""
    for reading in readings:
        lexicon = reader.lexicons[reading.bucket]
        splits = _split_at_names(question, reading, lexicon) if lexicon.roles.holds_people else ()
        for split in splits:
            planned = _plan_split(leg_id, question, split, reading.bucket, reader, plan_leg)
            if planned is not None:
                return planned
    return None


def plan_subordinates_of(
    superior: Condition, leg_id: LegId, question: str, bucket: BucketId, reader: QuestionReader, plan_leg: PlanLeg
) -> RelatedLeg | None:
    """ "Who reports to *her*": returns the leg, with the condition that somebody else meets for the pronoun."""
    if not reader.lexicons[bucket].roles.holds_people:
        return None
    for pronoun in _PRONOUN.finditer(question):
        for words, text in _split_at(question, pronoun.start(), pronoun.end()):
            split = _NamedSplit(superior=superior, words=words, text=text)
            planned = _plan_split(leg_id, question, split, bucket, reader, plan_leg)
            if planned is not None:
                return planned
    return None


def _plan_split(
    leg_id: LegId, question: str, split: _NamedSplit, bucket: BucketId, reader: QuestionReader, plan_leg: PlanLeg
) -> RelatedLeg | None:
    field, key = next(_superior_fields(reader.lexicons[bucket], reader), (None, None))
    planned = _plan_rest(leg_id, question, split.text, bucket, reader, plan_leg)
    if field is None or key is None or planned is None:
        return None
    return join_with(planned, question, bucket, (field, bucket, key), split.superior, split.words)


def join_with(
    planned: tuple[Leg, LegAlternatives],
    question: str,
    bucket: BucketId,
    reference: tuple[FieldName, BucketId, FieldName],
    referred: Condition,
    words: str,
) -> RelatedLeg:
    """Returns the leg with the condition that a field refers to a document that meets a condition.

    `reference` is the field, and the bucket and the field that its values are of.
    """
    leg, alternatives = planned
    field, inner, key = reference
    join = SemiJoinCondition(field=field, bucket=inner, key=key, condition=referred, words=words)
    clause = leg.search.clauses[0]
    clause = replace(clause, condition=conjunction_of(clause.condition, join))
    search = replace(leg.search.with_clauses(clause), ranking_text=question)
    taken = TakenInnerSet(bucket=bucket, conditions=(join,))
    return RelatedLeg(
        leg=replace(leg, question=question, search=search),
        alternatives=replace(alternatives, equal_readings=()),
        assumptions=(taken,) if leg.answer_form.reads_values else (),
    )


def _superior_fields(lexicon: BucketLexicon, reader: QuestionReader) -> Iterator[tuple[FieldName, FieldName]]:
    """Yields the fields that name the superior of a person, each with the field that it refers to."""
    for join in find_join_table(reader.lexicons).direct:
        if join.outer == lexicon.bucket and join.is_within_bucket and join.is_forward:
            for field in join.outer_fields:
                if lexicon.stems_of(field) & _SUPERIOR_WORDS:
                    yield field, join.inner_key


def _split_at_names(question: str, reading: BucketReading, lexicon: BucketLexicon) -> Iterator[_NamedSplit]:
    for link in reading.links:
        if not (isinstance(link.meaning, ValueMatch | PartialMatch) and _names_person(link.meaning.field, lexicon)):
            continue
        start, end = reading.tokens[link.first].start, reading.tokens[link.last - 1].end
        superior = condition_on(link.meaning, question[start:end])
        yield from (
            _NamedSplit(superior=superior, words=words, text=text) for words, text in _split_at(question, start, end)
        )


def _split_at(question: str, start: int, end: int) -> Iterator[tuple[str, str]]:
    """Yields the words that relate others to the person named there, and the question with a noun for the others."""
    for before, behind in _FORMS:
        relation, rest = before.search(question[:start]), behind.search(question[end:])
        if relation is None or rest is None or not (relation.group().strip() or rest.group().strip()):
            continue
        noun = "people" if relation.start() else "list the people"
        noun = "how many people" if relation.groupdict().get("many") else noun
        first, last = relation.start(), end + rest.end()
        yield question[first:last].strip(), f"{question[:first]}{noun}{question[last:]}"


def _names_person(field: FieldName, lexicon: BucketLexicon) -> bool:
    if field == TITLE_FIELD or lexicon.is_identifying(field):
        return True
    return "name" in lexicon.get_field(field).label.casefold().split()


def names_itself(field: FieldName, reading: BucketReading, reader: QuestionReader) -> bool:
    """Whether a value of the field is the name of the document that has it."""
    return _names_person(field, reader.lexicons[reading.bucket])


def condition_on(match: ValueMatch | PartialMatch, words: str) -> Condition:
    if match.field == TITLE_FIELD or isinstance(match, PartialMatch):
        return title_condition_for(words)
    return ComparisonCondition(field=match.field, op=ComparisonOperator.EQ, value=match.value, words=words)


def _plan_rest(
    leg_id: LegId, question: str, text: str, bucket: BucketId, reader: QuestionReader, plan_leg: PlanLeg
) -> tuple[Leg, LegAlternatives] | None:
    """Returns the leg of the words around the relation; None if a word of them is not understood."""
    reading = reader.read_in_bucket(text, bucket)
    if reading.unlinked_words or not reading.has_noun:
        return None
    leg, alternatives = plan_leg(leg_id, text, [reading])
    return (leg, alternatives) if leg.search.buckets == (bucket,) else None
