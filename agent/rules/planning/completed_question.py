"""Plans an elliptic message as the last question with the message's words in place of its own."""

from dataclasses import replace

from agent.decomposition import PlannedQuestion
from agent.rules.followups.followup_context import find_kept_conditions
from agent.rules.followups.followup_filters import add_implied_year
from agent.rules.followups.replaced_words import (
    complete_with_name,
    complete_with_question,
    write_name_of_party,
)
from agent.rules.planning.question_plan import plan_single_question
from agent.rules.reading.question_reader import QuestionReader
from storage.search.plan import Leg, Plan


def plan_completed_question(message: str, last_plan: Plan, reader: QuestionReader) -> PlannedQuestion | None:
    """ "Same for Oslo?", "and in 2024?": returns the plan of the last question with the other value in its place.

    Returns None for other messages, and if a click or a follow-up has changed the last search since its question.
    """
    if len(last_plan.legs) != 1:
        return None
    leg = last_plan.legs[0]
    about_party = _plan_about_party(message, leg, reader)
    if about_party is not None:
        return about_party
    buckets = leg.search.buckets
    bucket = buckets[0] if len(buckets) == 1 else None
    message = add_implied_year(message, leg)
    completed = complete_with_question(message, leg.question, reader, bucket)
    if completed is None:
        return _plan_question_to_texts(message, leg, reader)
    if completed == leg.question or _replan_question(leg, reader) is None:
        return None
    planned = plan_single_question(completed, reader)
    if not isinstance(planned, PlannedQuestion) or len(planned.plan.legs) != 1:
        return None
    new_leg = planned.plan.legs[0]
    if type(new_leg.answer_form) is not type(leg.answer_form) or not set(new_leg.search.buckets) & set(buckets):
        return None
    kept_conditions = find_kept_conditions(leg.search.clauses, new_leg.search.clauses)
    return replace(planned, kept_conditions=kept_conditions, is_followup=True)


def _plan_about_party(message: str, leg: Leg, reader: QuestionReader) -> PlannedQuestion | None:
    """ "Have *they* got cover?", after a question about the contract of somebody: returns the plan with the name."""
    named = write_name_of_party(message, leg)
    planned = None if named is None else plan_single_question(named, reader)
    if not isinstance(planned, PlannedQuestion) or planned.plan.legs[0].answer_form.reads_text:
        return None
    is_understood = all(part.is_understood for part in planned.alternatives)
    return replace(planned, is_followup=True) if is_understood else None


def _plan_question_to_texts(message: str, leg: Leg, reader: QuestionReader) -> PlannedQuestion | None:
    """ "And with Orr?", after a question that no fields explain: the question with this name in place of its own."""
    last = _replan_question(leg, reader)
    if last is None or not (leg.answer_form.reads_text or leg.answer_form.reads_values):
        return None
    if all(part.is_understood for part in last.alternatives):
        return None
    completed = complete_with_name(message, leg.question, reader)
    if completed is None or completed == leg.question:
        return None
    planned = plan_single_question(completed, reader)
    return replace(planned, is_followup=True) if isinstance(planned, PlannedQuestion) else None


def _replan_question(leg: Leg, reader: QuestionReader) -> PlannedQuestion | None:
    """Returns the plan of the leg's question; None if the leg is not as its question alone gives it."""
    planned = plan_single_question(leg.question, reader)
    if not isinstance(planned, PlannedQuestion) or len(planned.plan.legs) != 1:
        return None
    again = planned.plan.legs[0]
    is_same = again.search.clauses == leg.search.clauses and again.answer_form == leg.answer_form
    return planned if is_same else None
