"""Follow-ups about the one document that the last question was about: "and its phone number?", "is it insured?"."""

import re
from dataclasses import replace

from agent.decomposition import PlannedQuestion
from agent.english.function_words import STOP_WORDS, YES_NO_VERBS
from agent.rules.comparison.comparison_plan import comparable_fields
from agent.rules.followups.followup_context import FollowUpMessage, continue_plan
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.conditions import (
    DOC_ID_FIELD,
    TITLE_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    conjunction_of,
    conjuncts_of,
)
from storage.search.ids import FieldName
from storage.search.plan import CheckClaims, Leg, ReadFields

_PRONOUN = re.compile(r"\b(?:it|that\s+one|this\s+one|that|this|he|she)\b", re.IGNORECASE)
_LEADING_WORDS = re.compile(r"^\W*(?:(?:and|but|also|so|ok|okay|then)\W+)*", re.IGNORECASE)
_MAX_POINTING_WORDS = 6  # words of a question that only points: "and who is that from?"


def find_naming_conditions(leg: Leg, lexicon: BucketLexicon) -> tuple[Condition, ...]:
    """Returns the conditions of the leg that name one document: by its id, its title or a value that only it has."""
    clause = leg.search.clause_for(lexicon.bucket)
    conditions = conjuncts_of(clause.condition) if clause is not None else ()
    return tuple(condition for condition in conditions if _names_document(condition, lexicon))


def without_claims(leg: Leg, reading: BucketReading, lexicon: BucketLexicon) -> Leg:
    """Returns a leg that asked for yes or no with its naming conditions only, if the message asks something else of it.

    "What about Oslo?" asks the same of another document, so the claims stay. Other legs are returned unchanged.
    """
    naming = find_naming_conditions(leg, lexicon)
    asks_anew = bool(reading.conditions or reading.asked_mentions) and not reading.unlinked_words
    names_other = any(_names_document(condition, lexicon) for condition in reading.conditions)
    if leg.answer_form != CheckClaims() or not naming or names_other or not asks_anew:
        return leg
    clauses = [replace(clause, condition=conjunction_of(*naming)) for clause in leg.search.clauses]
    return replace(leg, search=leg.search.with_clauses(*clauses))


def is_about_single_document(follow_up: FollowUpMessage) -> bool:
    leg = follow_up.leg
    return leg.answer_form.reads_values or bool(find_naming_conditions(leg, follow_up.lexicon))


def plan_single_document(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """Plans a question for fields of the last document, for yes or no about it, or for what it is."""
    reading = follow_up.reading
    if not is_about_single_document(follow_up) and follow_up.leg.answer_form.list_limit != 1:
        return None
    if reading.has_noun or follow_up.is_restricted_to_results:
        return None
    return _plan_claim(follow_up) or _plan_asked_fields(follow_up) or _plan_pointing_question(follow_up)


def _plan_claim(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "Is it furnished?": the naming conditions and the claim."""
    question = _LEADING_WORDS.sub("", follow_up.question)
    asks_for_yes = question.split()[0].lower() in YES_NO_VERBS if question.split() else False
    naming = find_naming_conditions(follow_up.leg, follow_up.lexicon)
    reading = follow_up.reading
    if not (asks_for_yes and naming and reading.conditions and _PRONOUN.search(question)) or reading.unlinked_words:
        return None
    words = next((condition.words for condition in naming if isinstance(condition, ComparisonCondition)), "")
    search = follow_up.leg.search.with_clauses(
        *(
            replace(clause, condition=conjunction_of(*naming, *reading.conditions))
            for clause in follow_up.leg.search.clauses
            if clause.bucket == reading.bucket
        )
    )
    planned = continue_plan(follow_up, search, CheckClaims(), kept_conditions=())
    named_question = _PRONOUN.sub(lambda match: words or match[0], question, count=1)
    legs = tuple(replace(leg, question=named_question) for leg in planned.plan.legs)
    return replace(planned, plan=replace(planned.plan, legs=legs))


def _plan_asked_fields(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "And the phone number?": fields of the document, if the message says nothing else."""
    reading = follow_up.reading
    names = tuple(dict.fromkeys(mention.field for mention in reading.asked_mentions if mention.column is None))
    if not names or follow_up.has_own_content or not is_about_single_document(follow_up):
        return None
    return _plan_fields(follow_up, names)


def _plan_pointing_question(follow_up: FollowUpMessage) -> PlannedQuestion | None:
    """ "Who is that?": the field for a person, or the fields that describe a document."""
    words = follow_up.words
    points = (
        bool(_PRONOUN.search(follow_up.question)) and len(words) <= _MAX_POINTING_WORDS and set(words) <= STOP_WORDS
    )
    if not points or not set(words) & {"who", "what", "which"} or follow_up.has_own_content:
        return None
    lexicon = follow_up.lexicon
    person = lexicon.person_field if "who" in words else None
    return _plan_fields(follow_up, (person,) if person is not None else tuple(comparable_fields(lexicon)))


def _plan_fields(follow_up: FollowUpMessage, names: tuple[FieldName, ...]) -> PlannedQuestion:
    form = ReadFields(fields=tuple((follow_up.reading.bucket, name) for name in names))
    return continue_plan(follow_up, follow_up.leg.search, form)


def _names_document(condition: Condition, lexicon: BucketLexicon) -> bool:
    if not isinstance(condition, ComparisonCondition):
        return False
    if condition.field in (DOC_ID_FIELD, TITLE_FIELD):
        return True
    return (
        condition.op is ComparisonOperator.EQ
        and condition.field in lexicon.schema.by_name
        and lexicon.is_identifying(condition.field)
    )
