"""Follow-ups about the document that the last answer named: "which studio does Ada work at?", "what is its phone?"."""

import re
from collections.abc import Sequence

from agent.decomposition import LegAlternatives, PlannedQuestion
from agent.rules.nested.nested_plan import NestedPlanner, ReferredSet
from agent.rules.nested.subordinates import plan_subordinates_of
from agent.rules.planning.leg_plan import plan_leg
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from storage.search.conditions import conjuncts_of
from storage.search.ids import FieldName, LegId
from storage.search.plan import Leg, Plan
from storage.search.schema import REFERENCE_TYPES, Schema

_POSSESSIVE = re.compile(r"\b(?:its|his|her|their)\s+(?=\w)", re.IGNORECASE)
_PLACE = re.compile(r"\bthere\b(?=\W*$|\s+(?:and|or|now|today|currently|in)\b)", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|he|she|him|they|that\s+(?:one|person|place))\b", re.IGNORECASE)
_FORMS_BY_PATTERN = ((_POSSESSIVE, "{}'s "), (_PLACE, "in {}"), (_PRONOUN, "{}"))


def plan_referred_document(question: str, last_plan: Plan | None, reader: QuestionReader) -> PlannedQuestion | None:
    """Plans a question about the document that the field read last refers to; None if it is about anything else."""
    leg = last_plan.legs[-1] if last_plan is not None and len(last_plan.legs) == 1 else None
    if leg is None or len(leg.search.clauses) != 1 or leg.search.clauses[0].bucket not in reader.lexicons:
        return None
    clause = leg.search.clauses[0]
    field = _field_read_by(leg, reader.lexicons[clause.bucket].schema)
    if field is None or _may_answer(reader.read_in_bucket(question, clause.bucket)):
        return None
    referred = ReferredSet(bucket=clause.bucket, field=field, condition=clause.condition, words=leg.question)

    def plan_outer_leg(leg_id: LegId, text: str, readings: Sequence[BucketReading]) -> tuple[Leg, LegAlternatives]:
        return plan_leg(leg_id, text, readings, reader.lexicons)

    planner = NestedPlanner(reader, plan_outer_leg)
    for pattern, form in _FORMS_BY_PATTERN:
        match = pattern.search(question)
        if match is None:
            continue
        planned_leg = planner.plan_with_set(
            leg.id, question, (question[: match.start()], form, question[match.end() :]), referred
        )
        if planned_leg is not None:
            plan = Plan(question=question, legs=(planned_leg,))
            return PlannedQuestion(plan=plan, alternatives=(LegAlternatives(leg=leg.id),), is_followup=True)
    return None


def plan_referred_superior(question: str, last_plan: Plan | None, reader: QuestionReader) -> PlannedQuestion | None:
    """ "Who reports to her?": returns the plan of those who report to the person that the last question was about."""
    leg = last_plan.legs[-1] if last_plan is not None else None
    if leg is None or len(leg.search.clauses) != 1 or leg.search.clauses[0].bucket not in reader.lexicons:
        return None
    clause = leg.search.clauses[0]
    is_of_another = _field_read_by(leg, reader.lexicons[clause.bucket].schema) is not None
    if is_of_another or not conjuncts_of(clause.condition):
        return None  # "her" is whom the last answer named, and not the person that the question before was about

    def plan_own_leg(leg_id: LegId, text: str, readings: Sequence[BucketReading]) -> tuple[Leg, LegAlternatives]:
        return plan_leg(leg_id, text, readings, reader.lexicons)

    planned = plan_subordinates_of(clause.condition, LegId("a"), question, clause.bucket, reader, plan_own_leg)
    if planned is None:
        return None
    return PlannedQuestion(
        plan=Plan(question=question, legs=(planned.leg,)),
        alternatives=(planned.alternatives,),
        assumptions=planned.assumptions,
    )


def _field_read_by(leg: Leg, schema: Schema) -> FieldName | None:
    """Returns the only field that the leg reads, if it refers to documents."""
    requested = leg.answer_form.requested_fields if leg.answer_form.reads_values else ()
    field = schema.by_name.get(requested[0][1]) if len(requested) == 1 else None
    is_reference = field is not None and field.type in REFERENCE_TYPES and field.reference is not None
    return field.name if field is not None and is_reference else None


def _may_answer(reading: BucketReading) -> bool:
    """ "And his phone number?", after "who drives bus 7?": whether the document itself may have what is asked."""
    names_field = any(not mention.is_hint for mention in reading.asked_mentions)
    return bool(reading.conditions) or (names_field and not reading.unlinked_words)
