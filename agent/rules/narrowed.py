"""A constraint more: the last search with what a message says, in place of what was said of the same, or beside it."""

import re
from collections.abc import Sequence

from agent.reasoner import Planned
from agent.rules.after import Said, again, kept_of
from agent.rules.reading import Reading
from storage.search.conditions import TITLE, Compare, Condition, Missing, Not, Op, all_of, conjuncts, fields_of
from storage.search.plan import Clause, Leg, ListDocuments, ReadFields, Search, Wanted

_WIDENS = frozenset("also too include including add plus".split())
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_MONTH_ALONE = re.compile(
    rf"\b(?:in|from|of|since|until|before|after|for|during)\s+(?P<month>{_MONTHS})\b(?!\s*,?\s*\d)", re.IGNORECASE
)


def refined(said: Said) -> Planned | None:
    """A message that is wholly constraints. One on a field that the plan compares takes its place; "also" widens it."""
    current = [one for one in said.readings if one.bucket in said.leg.search.buckets]
    narrows = said.words[0] in ("only", "just", "without", "with", "mentioning", "and", "about")
    says = any(one.conditions or one.quoted or (narrows and one.leftovers) for one in current)
    names = _is_one(said.leg) and said.opened and bool(said.reading.leftovers)
    if not says and not names:
        return None
    if said.asks and not (said.pointed or said.opened):
        return None
    if any(one.leftovers for one in current) and not (said.opened or said.pointed):
        return None
    search, kept = narrowed(said)
    return again(said, search, _from_the_start(said.leg.wanted), kept=kept)


def narrowed(said: Said) -> tuple[Search, tuple[str, ...]]:
    """The last search with what the message says; and what was kept of it, in words."""
    by_bucket = {one.bucket: one for one in said.readings}
    clauses = tuple(_with(clause, by_bucket.get(clause.bucket), said) for clause in said.leg.search.clauses)
    kept = kept_of(said.leg.search.clauses, clauses, said.reader)
    return Search(clauses=clauses, ranking=f"{said.leg.search.ranking} {said.question}".strip()), kept


def in_that_year(question: str, leg: Leg) -> str:
    """ "And in March?", after a question about one year: March of that year."""
    years = {
        str(one.value[0])[:4]
        for clause in leg.search.clauses
        for one in conjuncts(clause.condition)
        if isinstance(one, Compare) and one.op is Op.BETWEEN and isinstance(one.value, tuple) and _is_of_a_year(one)
    }
    if len(years) != 1:
        return question
    return _MONTH_ALONE.sub(lambda match: f"{match[0]} {min(years)}", question)


def _is_of_a_year(condition: Compare) -> bool:
    assert isinstance(condition.value, tuple)  # noqa: S101 - as `in_that_year` asks
    first, last = condition.value[0], condition.value[-1]
    return isinstance(first, str) and isinstance(last, str) and first[:4] == last[:4]


def _from_the_start(wanted: Wanted) -> Wanted:
    """Another set is shown from its first document on."""
    return ListDocuments(order=wanted.order) if isinstance(wanted, ListDocuments) and wanted.skip else wanted


def _is_one(leg: Leg) -> bool:
    """Asks about one document, named by its title or otherwise."""
    return isinstance(leg.wanted, ReadFields)


def _with(clause: Clause, reading: Reading | None, said: Said) -> Clause:
    if reading is None:
        return clause
    conditions = [one for one in reading.conditions if not (said.of_them and is_known(one))]
    old = conjuncts(clause.condition)
    if _is_one(said.leg) and (reading.leftovers or conditions):
        return _other_document(clause, reading, conditions)
    if said.of_them:  # some of what was found: nothing takes the place of what it was found by
        more = all_of(*old, *(one for one in conditions if one not in old))
        return Clause(bucket=clause.bucket, condition=more, required=_required(clause, reading))
    widens = bool(set(said.words) & _WIDENS)
    replaced = frozenset[object]().union(*(fields_of(one) for one in conditions if not isinstance(one, Not)))
    new: list[Condition] = []
    for one in conditions:
        before = next((other for other in old if fields_of(other) == fields_of(one)), None)
        new.append(_either(before, one) if widens and before is not None else one)
    kept = [one for one in old if isinstance(one, Not) or not fields_of(one) & replaced]
    contradicted = {one.condition for one in conditions if isinstance(one, Not)}
    kept = [one for one in kept if one not in contradicted]
    return Clause(bucket=clause.bucket, condition=all_of(*kept, *new), required=_required(clause, reading))


def _other_document(clause: Clause, reading: Reading, conditions: Sequence[Condition]) -> Clause:
    """What names a document takes the place of what named the one before."""
    replaced = frozenset[object]().union(*(fields_of(one) for one in conditions if not isinstance(one, Not)))
    titles = [Compare(field=TITLE, op=Op.CONTAINS, value=one, words=one) for one in reading.leftovers]
    kept = [one for one in conjuncts(clause.condition) if not fields_of(one) & (replaced | {TITLE})]
    return Clause(bucket=clause.bucket, condition=all_of(*kept, *conditions, *titles))


def _required(clause: Clause, reading: Reading) -> tuple[str, ...]:
    return (*clause.required, *reading.leftovers, *reading.quoted)


def is_known(condition: Condition) -> bool:
    """ "Which of them has the latest date": what is only spoken of is no condition."""
    return isinstance(condition, Not) and isinstance(condition.condition, Missing)


def _either(before: Condition, more: Condition) -> Condition:
    """ "Also from Acme": one of the values, old or new."""
    both = [one for one in (before, more) if isinstance(one, Compare) and one.op in (Op.EQ, Op.IN)]
    if len(both) < 2:
        return more
    values = [value for one in both for value in (one.value if isinstance(one.value, tuple) else (one.value,))]
    words = ", ".join(one.words for one in both if one.words)
    return Compare(field=both[0].field, op=Op.IN, value=tuple(dict.fromkeys(values)), words=words)
