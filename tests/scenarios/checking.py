"""Holds what the agent made of a scenario question against what is true of it."""

from collections.abc import Sequence

from agent.outcome import Answer, Clarify, LegResult, Outcome, OutcomeKind
from tests.scenarios.questions import Question
from tests.scenarios.truth import Ambiguous, Empty, Groups, Listing, Lookup, Overload, Value, Values


def fault_in(outcome: Outcome, question: Question) -> str | None:
    """What is wrong with the outcome, or None. Counts of documents that lack a field are held to too."""
    if not isinstance(outcome, (Answer, Clarify)):
        return f"{type(outcome).__name__} is no answer"
    kind = outcome.kind if isinstance(outcome, Clarify) else OutcomeKind.ANSWER
    leg = outcome.legs[0]
    match question.expected:
        case Overload(count=count):
            fault = _differs("outcome", kind, OutcomeKind.OVERLOAD) or _differs("count", leg.count, count)
        case Empty():
            fault = _differs("outcome", kind, OutcomeKind.NO_RESULTS) or _differs("count", leg.count, 0)
        case Ambiguous(doc_ids=doc_ids):
            offered = sum(choice.count or 0 for choice in outcome.choices)
            fault = _differs("outcome", kind, OutcomeKind.AMBIGUOUS) or _differs("offered", offered, len(doc_ids))
        case Listing(doc_ids=doc_ids, ordered=ordered):
            fault = _differs("outcome", kind, OutcomeKind.ANSWER) or _listing(leg, doc_ids, ordered)
        case Values(values=values, count=count):
            fault = _differs("outcome", kind, OutcomeKind.ANSWER) or _differs("count", leg.count, count)
            fault = fault or _values(leg, values)
        case Groups(values=values, ordered=ordered):
            fault = _differs("outcome", kind, OutcomeKind.ANSWER) or _groups(leg, values, ordered)
        case Lookup():
            fault = _differs("outcome", kind, OutcomeKind.ANSWER) or _lookup(outcome, question.expected)
    missing = {str(one.field): one.count for one in leg.missing}
    return fault or _differs("missing", missing, {k: v for k, v in question.missing.items() if v})


def _differs(what: str, found: object, expected: object) -> str | None:
    return None if found == expected else f"{what}: {found!r}, not {expected!r}"


def _listing(leg: LegResult, doc_ids: Sequence[str], ordered: bool) -> str | None:
    found = list(leg.doc_ids)
    if ordered:
        return _differs("first documents", found, list(doc_ids)[: len(found)] if found else list(doc_ids))
    more, less = set(found) - set(doc_ids), set(doc_ids) - set(found)
    return f"{len(more)} too many {sorted(more)[:3]}, {len(less)} too few {sorted(less)[:3]}" if more or less else None


def _close(found: float | str | None, expected: float) -> bool:
    return isinstance(found, float) and abs(found - expected) <= 1e-9 * max(1.0, abs(expected))


def _values(leg: LegResult, values: Sequence[Value]) -> str | None:
    for wanted in values:
        if not any(
            one.function.value == wanted.function
            and (one.unit or "") == wanted.unit
            and one.count == wanted.count
            and _close(one.value, wanted.value)
            for one in leg.values
        ):
            return f"value {wanted} is not among {leg.values}"
    return _differs("number of values", len(leg.values), len(values))


def _groups(leg: LegResult, values: Sequence[Value], ordered: bool) -> str | None:
    found = [(one.label, one.unit or "", one.value, one.count) for one in leg.groups]
    if ordered and found:
        values = values[: len(found)]
    for at, wanted in enumerate(values):
        fits = [
            place
            for place, (label, unit, value, count) in enumerate(found)
            if label == wanted.group and unit == wanted.unit and _close(value, wanted.value) and count == wanted.count
        ]
        if not fits or (ordered and at not in fits):
            return f"group {wanted} is not among {found[:8]} ({len(found)})"
    return None if found else "no groups"


def _lookup(outcome: Answer | Clarify, expected: Lookup) -> str | None:
    for citation in outcome.citations:
        here = citation.doc_id in expected.doc_ids and expected.page in (None, citation.page)
        if here and all(fragment.casefold() in citation.text.casefold() for fragment in expected.fragments):
            return None
    cited = [(one.doc_id, one.page, one.text[:80]) for one in outcome.citations]
    return f"cited {cited}, not {expected}"
