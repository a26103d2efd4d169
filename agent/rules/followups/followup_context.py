"""The context of a follow-up: its reading in the bucket of the last plan, and the plan that continues it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.decomposition import (
    ContinuedQuestion,
    KeptCondition,
    KeptFieldCondition,
    KeptWord,
    LegAlternatives,
    OrdinalReference,
    PlannedQuestion,
    QuestionContext,
)
from agent.english.commands import parse_phrases
from agent.english.function_words import FOLLOW_UP_STARTS, LIST_VERBS, PREPOSITIONS, QUESTION_WORDS, YES_NO_VERBS
from agent.refine.implied_conditions import drop_implied_conditions
from agent.rules.followups.result_references import is_about_another, is_among_results, refers_to_results
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from storage.search.conditions import TEXT_FIELD, ComparisonCondition, conjuncts_of
from storage.search.plan import AnswerForm, CheckClaims, Clause, Leg, Plan, Search

_FOLLOW_UP_OPENERS = FOLLOW_UP_STARTS + parse_phrases(
    """without|except|excluding|exclude|not|no|minus|drop|remove|leave out|include|including|add|or|make it|make that
    |same|the same|filter|keep|instead|in|from|for|with|over|under|since|before|after|between|by|then|ok|okay|those
    |these|ones|the one|the ones|the top|top|whole|the whole|more|less|at"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUpMessage:
    """A message after a plan. `earlier_plans` are the plans before the last one, oldest first."""

    question: str
    words: tuple[str, ...]
    last_plan: Plan
    earlier_plans: Sequence[Plan]
    leg: Leg
    readings: Sequence[BucketReading]
    reading: BucketReading
    lexicon: BucketLexicon
    reader: QuestionReader
    requested_count: int | None  # the number of documents it asks for
    corrects: bool = False  # it says that the last question was wrong: "no, I meant …"

    @property
    def has_opener(self) -> bool:
        return self.corrects or any(self.words[: len(start)] == start for start in _FOLLOW_UP_OPENERS)

    @property
    def refers_to_results(self) -> bool:
        """Whether the message refers to the results: "them", "she", "there"."""
        if self.leg.answer_form.reads_text and is_about_another(self.question):
            return True
        return refers_to_results(self.question, self.words, self.readings[0])

    @property
    def is_restricted_to_results(self) -> bool:
        """Whether the message restricts itself to some of the results: "of them"."""
        return is_among_results(self.question)

    @property
    def starts_as_question(self) -> bool:
        first_word = self.words[0].partition("'")[0] if self.words else ""  # "what's"
        return first_word in QUESTION_WORDS | LIST_VERBS | YES_NO_VERBS

    @property
    def has_own_content(self) -> bool:
        reading = self.reading
        return bool(reading.conditions or reading.unlinked_quotations or reading.unlinked_words)

    @property
    def is_elliptic(self) -> bool:
        """ "Which are from 2024?", "how many for Acme?": whether the subject is left out (ellipsis)."""
        asks_number = self.words[:2] in (("how", "many"), ("how", "much"))
        verb_index = 2 if asks_number else 1 if self.words[:1] in (("which",), ("who",)) else 0
        verbs = {"are", "were", "have", "has", "had", "is", "was", "of", "do", "did"}
        verbs |= PREPOSITIONS if asks_number else frozenset[str]()
        return (
            bool(verb_index)
            and self.words[verb_index : verb_index + 1] != ()
            and self.words[verb_index] in verbs
            and not self.reading.has_noun
        )


def forget_counted_claims(question_context: QuestionContext) -> QuestionContext:
    """Returns the context with a last plan that asks for yes or no without a count: a follow-up changes its search."""
    last_plan = question_context.last_plan
    if last_plan is None:
        return question_context
    legs = tuple(
        replace(leg, answer_form=CheckClaims()) if isinstance(leg.answer_form, CheckClaims) else leg
        for leg in last_plan.legs
    )
    return replace(question_context, last_plan=replace(last_plan, legs=legs))


def skip_failed_refinement(question_context: QuestionContext) -> QuestionContext:
    """Returns the context without a last plan that found nothing for words that no document holds.

    The plan before it stays, so that one word that was not understood does not spoil the messages after it.
    """
    last_plan, earlier_plans = question_context.last_plan, question_context.earlier_plans
    if not question_context.found_nothing or last_plan is None or not earlier_plans:
        return question_context
    before = earlier_plans[-1]
    if last_plan.legs[-1].search.buckets != before.legs[-1].search.buckets:
        return question_context
    new_words = _required_words_of(last_plan) - _required_words_of(before)
    if not new_words:
        return question_context
    return replace(question_context, last_plan=before, earlier_plans=earlier_plans[:-1])


def _required_words_of(plan: Plan) -> set[str]:
    clauses = [clause for leg in plan.legs for clause in leg.search.clauses]
    texts = [
        str(condition.value)
        for clause in clauses
        for condition in conjuncts_of(clause.condition)
        if isinstance(condition, ComparisonCondition) and condition.field == TEXT_FIELD
    ]
    return {*texts, *(word for clause in clauses for word in clause.required_terms)}


def continue_plan(
    follow_up: FollowUpMessage,
    search: Search,
    answer_form: AnswerForm,
    kept_conditions: tuple[KeptCondition, ...] | None = None,
) -> PlannedQuestion:
    """Returns a plan with the last leg under another search or answer form. Other legs are dropped."""
    if len(search.clauses) > 1 and answer_form.depends_on_field:
        search = search.with_clauses(
            *(clause for clause in search.clauses if clause.bucket == follow_up.reading.bucket)
        )
    old_clauses = [clause for clause in follow_up.leg.search.clauses if clause.bucket in search.buckets]
    reads_again = (
        not answer_form.names_a_set and answer_form == follow_up.leg.answer_form and kept_conditions is not None
    )
    question = follow_up.leg.question if reads_again else follow_up.question  # its words still rank the passages
    leg = replace(follow_up.leg, question=question, search=search, answer_form=answer_form)
    return PlannedQuestion(
        plan=Plan(question=follow_up.question, legs=(leg,)),
        alternatives=(
            LegAlternatives(
                leg=leg.id,
                is_confined=follow_up.refers_to_results,
                continued=ContinuedQuestion(earlier=follow_up.leg.question, message=follow_up.question),
            ),
        ),
        kept_conditions=kept_conditions
        if kept_conditions is not None
        else find_kept_conditions(old_clauses, search.clauses),
        references=_picks_of_limited_list(follow_up, leg),
        is_followup=True,
    )


def find_kept_conditions(old_clauses: Sequence[Clause], new_clauses: Sequence[Clause]) -> tuple[KeptCondition, ...]:
    """Returns the conditions and words of the old clauses that the new ones keep."""
    by_bucket = {clause.bucket: clause for clause in new_clauses}
    pairs = [(before, by_bucket[before.bucket]) for before in old_clauses if before.bucket in by_bucket]
    kept_conditions: list[KeptCondition] = [
        KeptFieldCondition(condition=condition, bucket=before.bucket)
        for before, after in pairs
        for condition in drop_implied_conditions(conjuncts_of(before.condition))
        if condition in drop_implied_conditions(conjuncts_of(after.condition))
    ]
    kept_conditions += [
        KeptWord(word=word) for before, after in pairs for word in before.required_terms if word in after.required_terms
    ]
    return tuple(dict.fromkeys(kept_conditions))


def _picks_of_limited_list(follow_up: FollowUpMessage, leg: Leg) -> tuple[OrdinalReference, ...]:
    """ "Their sum", after "the five cheapest": returns a reference to these five documents."""
    last_form = follow_up.leg.answer_form
    limit = last_form.list_limit
    is_same_set = leg.search.clauses == follow_up.leg.search.clauses
    if limit is None or not (is_same_set or follow_up.is_restricted_to_results):
        return ()
    asks_anew = leg.answer_form.list_limit is not None or (limit == 1 and leg.answer_form.computes)
    if asks_anew and not follow_up.refers_to_results:
        return ()  # "and the dearest?", after the cheapest: of the same set
    if is_same_set and leg.answer_form.lists_documents and leg.answer_form.list_order == last_form.list_order:
        return ()  # the same list, of another length
    return (OrdinalReference(leg=leg.id, list_leg=follow_up.leg, positions=tuple(range(1, limit + 1))),)
