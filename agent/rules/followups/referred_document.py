"""Follow-ups about the document that the last answer named: "which studio does Ada work at?", "what is its phone?"."""

import re
from dataclasses import replace

from agent.decomposition import PlannedQuestion
from agent.rules.followups.followup_context import FollowUpMessage, continue_plan
from agent.rules.nested.nested_plan import NestedPlanner, ReferredSet
from agent.rules.planning.leg_plan import plan_leg
from storage.search.ids import FieldName
from storage.search.schema import REFERENCE_TYPES

_POSSESSIVE = re.compile(r"\b(?:its|his|her|their|that\s+\w+['’]s)\s+(?=\w)", re.IGNORECASE)
_PLACE = re.compile(r"\bthere\b(?=\W*$|\s+(?:and|or|now|today|currently|in)\b)", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|he|she|him|they|them|that\s+(?:one|person|place))\b", re.IGNORECASE)


def plan_referred_document(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """Plans a question about the document that the field read last refers to; None if it is about anything else."""
    field = _field_read_last(follow_up)
    clauses = follow_up.leg.search.clauses
    if field is None or len(clauses) != 1 or _is_answered_by_same_document(follow_up):
        return None
    referred = ReferredSet(
        bucket=clauses[0].bucket, field=field, condition=clauses[0].condition, words=follow_up.leg.question
    )
    planner = NestedPlanner(
        follow_up.reader, lambda leg_id, text, readings: plan_leg(leg_id, text, readings, follow_up.reader.lexicons)
    )
    question = follow_up.question
    for pattern, form in ((_POSSESSIVE, "{}'s "), (_PLACE, "in {}"), (_PRONOUN, "{}")):
        if pattern.search(question):
            leg = planner.plan_with_set(
                follow_up.leg.id, question, lambda name: pattern.sub(form.format(name), question, count=1), referred
            )
            if leg is not None:
                planned = continue_plan(follow_up, leg.search, leg.answer_form, kept_conditions=())
                return replace(planned, plan=replace(planned.plan, legs=(leg,)))
    return None


def _field_read_last(follow_up: FollowUpMessage) -> FieldName | None:
    """Returns the field of a single value that the last answer read, if it refers to documents."""
    requested = follow_up.leg.answer_form.requested_fields if follow_up.leg.answer_form.reads_values else ()
    fields = [follow_up.lexicon.schema.by_name.get(name) for _, name in requested]
    field = fields[0] if len(fields) == 1 else None
    is_reference = field is not None and field.type in REFERENCE_TYPES and field.reference is not None
    return field.name if field is not None and is_reference else None


def _is_answered_by_same_document(follow_up: FollowUpMessage) -> bool:
    """ "And his phone number?", after "who drives bus 7?": whether the document itself may have what is asked."""
    reading = follow_up.reading
    names_field = any(not mention.is_hint for mention in reading.asked_mentions)
    return bool(reading.conditions) or (names_field and not reading.unlinked_words)
