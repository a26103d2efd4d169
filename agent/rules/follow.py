"""What follows on the last plan: a refinement in words, an export, a fresh start."""

import re
from collections.abc import Mapping, Sequence

from agent.reasoner import Doubt, Planned
from agent.rules.language import EXPORT, FOLLOW_UP_STARTS, LIST_VERBS, POINTERS, QUESTION_WORDS, START_OVER
from agent.rules.reading import Reading
from agent.wording import condition_words
from storage.search.conditions import Condition, all_of, conjuncts, fields_of
from storage.search.ids import BucketId, LegId
from storage.search.plan import Clause, Compute, Leg, ListDocuments, Plan, Search, Summarise, Wanted
from storage.search.schema import Schema

_WORD = re.compile(r"[\w']+")
_EXPORT_FILLER = frozenset(
    "as to a the in into file format please me can could you i want need give get send download save list of for "
    "export csv spreadsheet results result documents everything excel do would like".split()
)


def starts_over(question: str) -> bool:
    words = tuple(_WORD.findall(question.lower()))
    return words in START_OVER


def exports(question: str, last: Plan) -> LegId | None:
    """The leg to export when the message asks for a file and names no other set."""
    words = _WORD.findall(question.lower())
    if not set(words) & EXPORT:
        return None
    if last.question == question:
        return last.legs[-1].id
    rest = [word for word in words if word not in _EXPORT_FILLER | POINTERS and not word.isdigit()]
    return last.legs[-1].id if not rest else None


def points_back(question: str, last: Plan, reading: Reading, wanted: Wanted) -> Planned | None:
    """A message that asks something else of the documents found last ("how many of them?"); None when it does not."""
    words = set(_WORD.findall(question.lower()))
    leg = last.legs[-1]
    speaks = reading.conditions or reading.quoted or reading.has_noun or reading.leftovers
    if not words & (POINTERS - {"all", "results", "everything"}) or speaks or reading.bucket not in leg.search.buckets:
        return None
    if not isinstance(wanted, (Compute, ListDocuments, Summarise)):
        return None
    asked = Leg(id=leg.id, question=question, search=leg.search, wanted=wanted)
    return Planned(plan=Plan(question=question, legs=(asked,)), follows=True)


def refines(
    question: str, last: Plan, readings: Sequence[Reading], schemas: Mapping[BucketId, Schema]
) -> Planned | None:
    """A message that is wholly constraints refines the last plan's last leg; None when it is a new topic.

    A condition on a field that the plan has a condition on takes its place; any other is added.
    """
    words = _WORD.findall(question.lower())
    leg = last.legs[-1]
    opened = any(tuple(words[: len(start)]) == start for start in FOLLOW_UP_STARTS)
    by_bucket = {one.bucket: one for one in readings}
    current = [by_bucket[bucket] for bucket in leg.search.buckets if bucket in by_bucket]
    narrows = words[:1] in (["only"], ["just"])
    if not current or not any(one.conditions or one.quoted or (narrows and one.leftovers) for one in current):
        return None
    pointed = bool(set(words) & (POINTERS - {"all", "results", "everything"}))
    asks = bool(words and (words[0] in QUESTION_WORDS or words[0] in LIST_VERBS)) and not opened
    if (asks and not pointed) or (any(one.has_noun for one in current) and not (opened or pointed)):
        return None
    if any(one.leftovers for one in current) and not opened:
        return None
    clauses = tuple(_refined(clause, by_bucket.get(clause.bucket)) for clause in leg.search.clauses)
    search = Search(clauses=clauses, ranking=f"{leg.search.ranking} {question}".strip())
    wanted = leg.wanted if not isinstance(leg.wanted, ListDocuments) else ListDocuments(order=leg.wanted.order)
    plan = last.with_search(leg.id, search)
    legs = tuple(
        one
        if one.id != leg.id
        else type(one)(id=one.id, question=one.question, search=search, wanted=wanted, probes=one.probes)
        for one in plan.legs
    )
    kept = tuple(
        condition_words(one, schemas[clause.bucket])
        for clause, new in zip(leg.search.clauses, clauses, strict=True)
        for one in (*conjuncts(clause.condition),)
        if one in conjuncts(new.condition)
    )
    kept += tuple(f"mentions “{word}”" for clause in leg.search.clauses for word in clause.required)
    fresh = Plan(question=question, legs=legs, combine=plan.combine, assumptions=())
    return Planned(plan=fresh, doubts=(Doubt(leg=leg.id),), kept=tuple(dict.fromkeys(kept)), follows=True)


def _refined(clause: Clause, reading: Reading | None) -> Clause:
    if reading is None:
        return clause
    fields = frozenset[object]().union(*(fields_of(one) for one in reading.conditions))
    kept: list[Condition] = [one for one in conjuncts(clause.condition) if not fields_of(one) & fields]
    required = (*clause.required, *reading.leftovers, *reading.quoted)
    return Clause(bucket=clause.bucket, condition=all_of(*kept, *reading.conditions), required=required)
