"""Refines the last search by the constraints of a message, which replace those on the same field."""

import re
from collections.abc import Sequence
from dataclasses import replace

from agent.decomposition import KeptCondition, PlannedQuestion
from agent.english.function_words import MENTION_WORDS, WIDENING_WORDS
from agent.rules.followups.combined_sets import widen_value
from agent.rules.followups.followup_context import FollowUpMessage, continue_plan, find_kept_conditions
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.title_words import find_title_words
from storage.quantities.days import ENGLISH_MONTHS
from storage.search.conditions import (
    TITLE_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    conjunction_of,
    conjuncts_of,
    fields_of,
)
from storage.search.plan import AnswerForm, Clause, Leg, ListDocuments, Search

_MONTH_WITHOUT_YEAR = re.compile(
    rf"\b(?:in|from|of|since|until|before|after|for|during)\s+(?P<month>{'|'.join(ENGLISH_MONTHS)})\b(?!\s*,?\s*\d)",
    re.IGNORECASE,
)

_LEADING_WORDS = (
    r"\W*(?:(?:and|or|now|then|ok|okay|just|only|for|in|over|make\s+(?:it|that)|(?:what|how)\s+about|same\s+for)\s+)*"
)
_NEIGHBOUR_YEAR = re.compile(
    r"(?:\b(?:in|for|from)\s+)?\bthe\s+(?:year\s+(?:before|after)|(?:(?P<earlier>previous|preceding|prior)|following|next)\s+year)"
    r"(?=\W*$)",
    re.IGNORECASE,
)
_LONE_MONTH = re.compile(rf"^(?P<lead>{_LEADING_WORDS})(?P<month>{'|'.join(ENGLISH_MONTHS)})(?=\W*$)", re.IGNORECASE)
_WHOLE_YEAR = re.compile(
    rf"{_LEADING_WORDS}(?:the\s+)?(?:whole|entire|full|all)\s+(?:of\s+the\s+|the\s+|of\s+that\s+|that\s+)?year\W*",
    re.IGNORECASE,
)


def plan_refinement(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """Plans a message that consists of constraints. A constraint replaces the one on its field; "also" widens it."""
    current_readings = [reading for reading in follow_up.readings if reading.bucket in follow_up.leg.search.buckets]
    narrows = follow_up.words[0] in ("only", "just", "without", "with", "mentioning", "and", "about")
    has_constraint = any(
        reading.conditions or reading.unlinked_quotations or (narrows and reading.unlinked_words)
        for reading in current_readings
    )
    names_document = (
        _reads_one_document(follow_up.leg)
        and follow_up.has_opener
        and bool(_find_title_words(follow_up.reading, follow_up.lexicon))
    )
    if not has_constraint and not names_document:
        return None
    if follow_up.starts_as_question and not (follow_up.refers_to_results or follow_up.has_opener):
        return None
    if any(reading.unlinked_words for reading in current_readings) and not (
        follow_up.has_opener or follow_up.refers_to_results
    ):
        return None
    search, kept_conditions = narrow_search(follow_up)
    planned = continue_plan(
        follow_up, search, _without_skip(follow_up.leg.answer_form), kept_conditions=kept_conditions
    )
    return add_unknown_words(planned, follow_up)


def add_unknown_words(planned: PlannedQuestion, follow_up: FollowUpMessage) -> PlannedQuestion:
    """Returns the plan with the words of the message that were not understood, to ask about them."""
    reading = follow_up.reading
    words = _find_unknown_words(reading) if not _reads_one_document(follow_up.leg) else ()
    if not words or reading.bucket not in planned.plan.legs[0].search.buckets:
        return planned
    suggested_fields = reading.similarities.rank_fields(words)
    return replace(
        planned,
        alternatives=tuple(
            replace(alternatives, unknown_words=words, suggested_fields=suggested_fields)
            for alternatives in planned.alternatives
        ),
    )


def _find_unknown_words(reading: BucketReading) -> tuple[str, ...]:
    """ "Only the lapsed ones": the words that restrict the results in a way that was not understood.

    Names and identifiers are not among them, nor what the text is said to mention.
    """
    words = [token.word for token in reading.tokens]
    if set(words) & MENTION_WORDS or words[:1] in (["about"], ["with"], ["without"]):
        return reading.unknown_words
    plain = tuple(word for word in reading.required_words if word.isalpha() and word.islower())
    return (*reading.unknown_words, *plain)


def narrow_search(follow_up: FollowUpMessage) -> tuple[Search, tuple[KeptCondition, ...]]:
    """Returns the last search with the constraints of the message, and the conditions kept."""
    by_bucket = {reading.bucket: reading for reading in follow_up.readings}
    clauses = tuple(
        _merge_clause(clause, by_bucket.get(clause.bucket), follow_up) for clause in follow_up.leg.search.clauses
    )
    kept_conditions = find_kept_conditions(follow_up.leg.search.clauses, clauses)
    return Search(
        clauses=clauses, ranking_text=f"{follow_up.leg.search.ranking_text} {follow_up.question}".strip()
    ), kept_conditions


def add_implied_year(question: str, leg: Leg) -> str:
    """ "And in March?", "the year before?", after a question about one year: returns the question with the year."""
    years = {
        str(condition.value[0])[:4]
        for clause in leg.search.clauses
        for condition in conjuncts_of(clause.condition)
        if isinstance(condition, ComparisonCondition)
        and condition.op is ComparisonOperator.BETWEEN
        and isinstance(condition.value, tuple)
        and _is_within_one_year(condition)
    }
    if len(years) != 1:
        return question
    if _WHOLE_YEAR.fullmatch(question):
        return f"in {min(years)}"
    question = _NEIGHBOUR_YEAR.sub(lambda match: f"in {int(min(years)) + _years_away(match)}", question)
    question = _LONE_MONTH.sub(lambda match: f"{match['lead']}in {match['month']} {min(years)}", question)
    return _MONTH_WITHOUT_YEAR.sub(lambda match: f"{match[0]} {min(years)}", question)


def _years_away(match: re.Match[str]) -> int:
    return -1 if match[0].lower().endswith("before") or match["earlier"] else 1


def _is_within_one_year(condition: ComparisonCondition) -> bool:
    assert isinstance(condition.value, tuple)  # noqa: S101 - as `add_implied_year` asks
    first, last = condition.value[0], condition.value[-1]
    return isinstance(first, str) and isinstance(last, str) and first[:4] == last[:4]


def _without_skip(answer_form: AnswerForm) -> AnswerForm:
    """Returns the form without an offset, since a new set is shown from its first document."""
    return ListDocuments(order=answer_form.list_order) if answer_form.list_skip else answer_form


def _reads_one_document(leg: Leg) -> bool:
    """Whether the leg asks for fields of one document."""
    return leg.answer_form.reads_values


def _merge_clause(clause: Clause, reading: BucketReading | None, follow_up: FollowUpMessage) -> Clause:
    if reading is None:
        return clause
    conditions = [
        condition
        for condition in reading.conditions
        if not (follow_up.is_restricted_to_results and is_presence_check(condition))
    ]
    old = conjuncts_of(clause.condition)
    if _reads_one_document(follow_up.leg) and (reading.unlinked_words or conditions):
        return _replace_document(clause, reading, conditions, follow_up.reader.lexicons[reading.bucket])
    if follow_up.is_restricted_to_results:  # a part of the results: no condition is replaced
        more = conjunction_of(*old, *(condition for condition in conditions if condition not in old))
        return replace(clause, condition=more, required_terms=_required_terms(clause, reading))
    widens = bool(set(follow_up.words) & WIDENING_WORDS)
    replaced = frozenset[object]().union(
        *(fields_of(condition) for condition in conditions if not isinstance(condition, NotCondition))
    )
    new: list[Condition] = []
    for condition in conditions:
        before = next((other for other in old if fields_of(other) == fields_of(condition)), None)
        new.append(widen_value(before, condition) if widens and before is not None else condition)
    kept = [
        condition for condition in old if isinstance(condition, NotCondition) or not fields_of(condition) & replaced
    ]
    contradicted = {condition.condition for condition in conditions if isinstance(condition, NotCondition)}
    kept = [condition for condition in kept if condition not in contradicted]
    return replace(clause, condition=conjunction_of(*kept, *new), required_terms=_required_terms(clause, reading))


def _replace_document(
    clause: Clause, reading: BucketReading, conditions: Sequence[Condition], lexicon: BucketLexicon
) -> Clause:
    """Returns the clause with the name of another document in place of the last one."""
    replaced = frozenset[object]().union(
        *(fields_of(condition) for condition in conditions if not isinstance(condition, NotCondition))
    )
    titles = [
        ComparisonCondition(field=TITLE_FIELD, op=ComparisonOperator.CONTAINS, value=words, words=words)
        for words in _find_title_words(reading, lexicon)
    ]
    kept = [
        condition
        for condition in conjuncts_of(clause.condition)
        if not fields_of(condition) & (replaced | {TITLE_FIELD})
    ]
    return Clause(bucket=clause.bucket, condition=conjunction_of(*kept, *conditions, *titles))


def _find_title_words(reading: BucketReading, lexicon: BucketLexicon) -> tuple[str, ...]:
    """ "And the *travel* one?": a single word names another document, even where no title is known to hold it."""
    is_single = len(reading.unlinked_words) == 1
    return find_title_words(reading, lexicon) or (reading.unlinked_words if is_single else ())


def _required_terms(clause: Clause, reading: BucketReading) -> tuple[str, ...]:
    unknown = _find_unknown_words(reading)
    required = (word for word in reading.required_words if word not in unknown)
    return (*clause.required_terms, *required, *reading.unlinked_quotations)


def is_presence_check(condition: Condition) -> bool:
    """ "Which of them has the latest date": whether the condition only says that a field has a value."""
    return isinstance(condition, NotCondition) and isinstance(condition.condition, MissingCondition)
