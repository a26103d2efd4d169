"""Assesses the plan of a comparison: which words it leaves out, and whether it compares what the question measures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.decomposition import LegAlternatives, PlannedQuestion
from agent.review.answer_confidence import ReadingAssessment, ReadingFeatures
from agent.rules.comparison.comparison_plan import comparable_fields
from agent.rules.comparison.cues import AMOUNT_COMPARATIVES, find_comparatives, mask_comparison
from agent.rules.confidence.measured_fields import is_measured_by, names_no_measure
from agent.rules.confidence.unused_words import find_words_left_out, list_words_linked_to_fields
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.words.tokens import QuestionToken, tokenize_question
from storage.quantities.spelled_numbers import ORDINALS_BY_WORD
from storage.search.ids import BucketId, FieldName
from storage.search.plan import AggregateFunction, Leg

_COMPARING_TALK = frozenset("between other both two than against common same".split())
_POSITION_WORDS = frozenset({*ORDINALS_BY_WORD, "last", "top"})  # of the listed documents that are compared


def assess_comparison(planned: PlannedQuestion, lexicons: Mapping[BucketId, BucketLexicon]) -> PlannedQuestion:
    """Returns the plan with one assessment for all of its sides, if values alone answer it."""
    legs = planned.plan.legs
    buckets = [bucket for bucket in planned.plan.read_buckets if bucket in lexicons]
    if not buckets or any(leg.answer_form.reads_text for leg in legs):
        return planned
    question = planned.plan.question
    comparatives = find_comparatives(question)
    # The comparing words are not words of any condition.
    masked = mask_comparison(question).text
    tokens = tokenize_question(masked, lexicons[buckets[0]].analyser)
    linked = {word for leg in legs for word in list_words_linked_to_fields(leg, tokens, lexicons)}
    referring = {reference.leg for reference in planned.references}
    positions = _POSITION_WORDS if all(leg.id in referring for leg in legs) else frozenset[str]()
    explained = linked | _COMPARING_TALK | positions
    unused = find_words_left_out(replace(planned.plan, question=masked), explained, lexicons)
    is_measured = not comparatives or all(_is_measured(leg, tokens, comparatives, lexicons) for leg in legs)
    assessment = ReadingAssessment(
        features=ReadingFeatures(
            unused_words=unused.telling_count,
            unused_everyday_words=unused.everyday_count,
            misses_asked_word=float(bool(unused.telling) and any(map(_counts, legs))),
            misses_operation=float(not is_measured),
            searches_words=0.0,
            is_followup=float(planned.is_followup),
        ),
        unused_words=(*unused.words, *(() if is_measured else comparatives)),
    )
    known = {alternatives.leg: alternatives for alternatives in planned.alternatives}
    return replace(
        planned,
        alternatives=tuple(
            replace(known.get(leg.id, LegAlternatives(leg=leg.id)), assessment=assessment) for leg in legs
        ),
    )


def _is_measured(
    leg: Leg,
    tokens: Sequence[QuestionToken],
    comparatives: Sequence[str],
    lexicons: Mapping[BucketId, BucketLexicon],
) -> bool:
    """Whether the side is compared by a number of documents or values, or by what the comparatives are said of."""
    bucket = leg.search.clauses[0].bucket
    lexicon = lexicons.get(bucket)
    if lexicon is None:
        return True
    if _counts(leg):
        return not AMOUNT_COMPARATIVES.isdisjoint(comparatives)
    names, words = _compared_fields(leg, bucket), [*(token.word for token in tokens), *comparatives]
    if not names or set(names) == set(comparable_fields(lexicon)):
        return False
    return any(
        _is_named(name, tokens, comparatives, lexicon) or is_measured_by(name, words, comparatives, lexicon)
        for name in names
    )


def _counts(leg: Leg) -> bool:
    """Whether the side is a number of documents or values: "did we *sell* more starters" may ask for another."""
    return leg.answer_form.is_document_count or AggregateFunction.DISTINCT in leg.answer_form.computed_functions


def _compared_fields(leg: Leg, bucket: BucketId) -> tuple[FieldName, ...]:
    form = leg.answer_form
    requested = tuple(name for own_bucket, name in form.requested_fields if own_bucket == bucket)
    return requested or ((form.computed_field,) if form.computed_field is not None else ())


def _is_named(
    name: FieldName, tokens: Sequence[QuestionToken], comparatives: Sequence[str], lexicon: BucketLexicon
) -> bool:
    """Whether the question has a word of the label, or one that means the field and is no other measure's.

    "Who *works* harder" is not about the field for the hours of work.
    """
    stems = lexicon.label_stems_of(name)
    if any(token.stem in stems for token in tokens):
        return True
    meanings = (link.meaning for link in lexicon.find_links(tokens))
    is_meant = any(isinstance(meaning, FieldMention) and meaning.field == name for meaning in meanings)
    return is_meant and names_no_measure(comparatives)
