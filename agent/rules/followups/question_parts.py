"""The parts of a message with several questions, and the context that a part takes from the part before it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.assumptions import Assumption
from agent.decomposition import LegAlternatives, OrdinalReference
from agent.english.function_words import LIST_VERBS, PREPOSITIONS, REFERRING_WORDS, YES_NO_VERBS
from agent.rules.followups.follow_up_plan import plan_follow_up
from agent.rules.lexicon.span_links import BucketNoun
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.question_splitting import refers_back
from storage.search.conditions import MATCH_ALL, conjunction_of, conjuncts_of, fields_of
from storage.search.ids import LegId
from storage.search.plan import Leg, Plan

_WITHOUT_SUBJECT = re.compile(r"^(?P<lead>which|how many)\s+(?!of\b|ones?\b)(?P<rest>.+)$", re.IGNORECASE | re.DOTALL)
_STARTS_WITH_PREPOSITION = re.compile(r"^(?:in|from|at|for|on|by|with|during)\b", re.IGNORECASE)
_ELLIPTIC_START = re.compile(r"(?:how\s+(?:many|much)|which|what\s+about)\b", re.IGNORECASE)
_COPULA = re.compile(r"\b(?:is|are|was|were|has|have|had)\b", re.IGNORECASE)
_HOW_MANY_VALUE = re.compile(
    rf"^(how\s+many\s+)(?!(?:{'|'.join(sorted(PREPOSITIONS | YES_NO_VERBS))})\b)", re.IGNORECASE
)  # "how many cancelled"
_ACTIVE_VERB = re.compile(r"\b(?:did|does|do|we|i)\b", re.IGNORECASE)
_CONTINUES_QUESTION = re.compile(r"^(?:(?:what|how) about\b|which ones?\b|which of\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPart:
    """One part as a leg. `continues_search`: its search extends that of the part before it or of the last plan."""

    leg: Leg
    alternatives: LegAlternatives
    references: tuple[OrdinalReference, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    continues_search: bool = False

    def with_leg_id(self, leg_id: LegId) -> "QuestionPart":
        return replace(
            self,
            leg=replace(self.leg, id=leg_id),
            alternatives=replace(self.alternatives, leg=leg_id),
            references=tuple(replace(reference, leg=leg_id) for reference in self.references),
        )


def continue_part(part: str, plan: Plan, reader: QuestionReader, *, is_first: bool) -> QuestionPart | None:
    """Returns the part as a continuation of the plan's last leg; None if it is complete by itself."""
    readings = reader.readings_of(part)
    repeats = not is_first and (bool(_STARTS_WITH_PREPOSITION.match(part)) or _lacks_subject(readings, plan))
    goes_on = refers_back(part) or bool(_CONTINUES_QUESTION.match(part)) or repeats
    message = part
    if not is_first and not goes_on:
        elliptic_base = _find_elliptic_base(part, readings, plan, reader)
        goes_on, plan = elliptic_base is not None, elliptic_base or plan
        message = _HOW_MANY_VALUE.sub(r"\1are ", part)
    if not goes_on or (readings[0].has_noun and not refers_back(part)):
        return None
    planned = plan_follow_up(message, plan, reader)
    if planned is None:
        return None
    leg = replace(planned.plan.legs[-1], question=part)
    alternatives = next((each for each in planned.alternatives if each.leg == leg.id), LegAlternatives(leg=leg.id))
    is_confined = alternatives.is_confined and plan.legs[-1].answer_form.names_a_set
    alternatives = replace(alternatives, is_confined=is_confined)
    return QuestionPart(leg=leg, alternatives=alternatives, references=planned.references, continues_search=True)


def _find_elliptic_base(
    part: str, readings: Sequence[BucketReading], plan: Plan, reader: QuestionReader
) -> Plan | None:
    """ "How many orders of May were paid, and how many open?": returns the plan whose conditions the part shares.

    A condition on a field of the part before it replaces the one there. Another one applies to what appears before the
    verb of that part, or to all of it if that verb does something ("how many did we send, and how many are late?").
    Returns None if the part shares nothing.
    """
    leg = plan.legs[-1]
    reading = next((reading for reading in readings if reading.bucket in leg.search.buckets), None)
    if reading is None or not reading.conditions or reading.unlinked_words or readings[0].has_noun:
        return None
    if not _ELLIPTIC_START.match(part) or len(leg.search.clauses) != 1:
        return None
    clause = leg.search.clauses[0]
    old_fields = frozenset[object]().union(*map(fields_of, conjuncts_of(clause.condition)))
    if any(fields_of(condition) & old_fields for condition in reading.conditions):
        return plan
    copula = _COPULA.search(leg.question)
    if copula is None or _ACTIVE_VERB.search(leg.question):
        return plan if _ACTIVE_VERB.search(leg.question) else None
    subject = leg.question[: copula.start()]
    before_verb = reader.readings_of(subject)
    modifiers = next((found.conditions for found in before_verb if found.bucket == clause.bucket), ())
    shared = [condition for condition in conjuncts_of(clause.condition) if condition in modifiers]
    terms = tuple(term for term in clause.required_terms if term.casefold() in subject.casefold())
    if not shared and not terms:
        return None
    search = leg.search.with_clauses(replace(clause, condition=conjunction_of(*shared), required_terms=terms))
    return replace(plan, legs=(replace(leg, search=search),))


def only_asks_to_show(part: str) -> bool:
    """ "Show them": whether the part only says how to answer the question before it."""
    words = re.findall(r"\w+", part.lower())
    return bool(set(words) & LIST_VERBS) and set(words) <= LIST_VERBS | REFERRING_WORDS | {
        "me",
        "us",
        "please",
        "of",
        "the",
    }


def searches_everything(leg: Leg) -> bool:
    """Whether the leg searches all text, so that a later part cannot refer to its documents."""
    return leg.answer_form.reads_text and all(clause.display_condition == MATCH_ALL for clause in leg.search.clauses)


def add_missing_noun(part: str, previous_part: QuestionPart, reader: QuestionReader) -> str:
    """ "Which end in 2026?", after a question about contracts: returns "which contracts end in 2026?"."""
    match = _WITHOUT_SUBJECT.match(part)
    if match is None or any(reading.has_noun for reading in reader.readings_of(part)[:1]):
        return part
    noun = _noun_in(previous_part.leg, reader)
    return f"{match['lead']} {noun} {match['rest']}" if noun else part


def _noun_in(leg: Leg, reader: QuestionReader) -> str:
    """Returns the noun for the documents of the leg in its question; empty without one."""
    reading = next(
        (reading for reading in reader.readings_of(leg.question) if reading.bucket in leg.search.buckets), None
    )
    for link in reading.links if reading is not None else ():
        if isinstance(link.meaning, BucketNoun) and reading is not None:
            return leg.question[reading.tokens[link.first].start : reading.tokens[link.last - 1].end]
    return ""


def _lacks_subject(readings: Sequence[BucketReading], plan: Plan) -> bool:
    """Whether the part says what to answer ("and what is the average?") but names no documents."""
    reading = next((reading for reading in readings if reading.bucket in plan.legs[-1].search.buckets), None)
    return reading is not None and not (
        reading.conditions or reading.unlinked_words or reading.unlinked_quotations or readings[0].has_noun
    )
