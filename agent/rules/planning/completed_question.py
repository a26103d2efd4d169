"""Plans an elliptic message as the last question with the message's words in place of its own."""

from agent.decomposition import PlannedQuestion
from agent.rules.followups.followup_context import find_kept_conditions
from agent.rules.followups.followup_filters import add_implied_year
from agent.rules.followups.replaced_words import complete_with_question
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
    buckets = leg.search.buckets
    bucket = buckets[0] if len(buckets) == 1 else None
    completed = complete_with_question(add_implied_year(message, leg), leg.question, reader, bucket)
    if completed is None or completed == leg.question or not _is_plan_of_question(leg, reader):
        return None
    planned = plan_single_question(completed, reader)
    if not isinstance(planned, PlannedQuestion) or len(planned.plan.legs) != 1:
        return None
    new_leg = planned.plan.legs[0]
    if type(new_leg.answer_form) is not type(leg.answer_form) or not set(new_leg.search.buckets) & set(buckets):
        return None
    kept_conditions = find_kept_conditions(leg.search.clauses, new_leg.search.clauses)
    return PlannedQuestion(
        plan=planned.plan,
        alternatives=planned.alternatives,
        assumptions=planned.assumptions,
        kept_conditions=kept_conditions,
        is_followup=True,
    )


def _is_plan_of_question(leg: Leg, reader: QuestionReader) -> bool:
    """Whether the leg is as its question alone gives it."""
    planned = plan_single_question(leg.question, reader)
    if not isinstance(planned, PlannedQuestion) or len(planned.plan.legs) != 1:
        return False
    again = planned.plan.legs[0]
    return again.search.clauses == leg.search.clauses and again.answer_form == leg.answer_form
