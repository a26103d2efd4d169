"""Compares the agent's outcome for a scenario question with the expected result."""

from collections.abc import Sequence

from agent.outcome import Answer, Clarify, LegResult, Outcome, OutcomeKind
from tests.scenarios.questions import ScenarioQuestion
from tests.scenarios.truth import (
    ExpectedAmbiguity,
    ExpectedGroups,
    ExpectedListing,
    ExpectedLookup,
    ExpectedNoResults,
    ExpectedOverload,
    ExpectedValue,
    ExpectedValues,
)


def fault_in(outcome: Outcome, question: ScenarioQuestion) -> str | None:
    """What is wrong with the outcome, or None. Counts of documents that lack a field are compared too."""
    if not isinstance(outcome, (Answer, Clarify)):
        return f"{type(outcome).__name__} is no answer"
    kind = outcome.kind if isinstance(outcome, Clarify) else OutcomeKind.ANSWER
    leg = outcome.legs[0]
    match question.expected:
        case ExpectedOverload(count=count):
            fault = _difference_of("outcome", kind, OutcomeKind.OVERLOAD) or _difference_of("count", leg.count, count)
        case ExpectedNoResults():
            fault = _difference_of("outcome", kind, OutcomeKind.NO_RESULTS) or _difference_of("count", leg.count, 0)
        case ExpectedAmbiguity(doc_ids=doc_ids):
            offered = sum(choice.count or 0 for choice in outcome.choices)
            fault = _difference_of("outcome", kind, OutcomeKind.AMBIGUOUS) or _difference_of(
                "offered", offered, len(doc_ids)
            )
        case ExpectedListing(doc_ids=doc_ids, ordered=ordered):
            fault = _difference_of("outcome", kind, OutcomeKind.ANSWER) or _listing_fault(leg, doc_ids, ordered)
        case ExpectedValues(values=values, count=count):
            fault = _difference_of("outcome", kind, OutcomeKind.ANSWER) or _difference_of("count", leg.count, count)
            fault = fault or _values_fault(leg, values)
        case ExpectedGroups(values=values, ordered=ordered):
            fault = _difference_of("outcome", kind, OutcomeKind.ANSWER) or _groups_fault(leg, values, ordered)
        case ExpectedLookup():
            fault = _difference_of("outcome", kind, OutcomeKind.ANSWER) or _lookup_fault(outcome, question.expected)
    missing = {str(missing_count.field): missing_count.count for missing_count in leg.missing_counts}
    return fault or _difference_of(
        "missing", missing, {field: count for field, count in question.missing.items() if count}
    )


def _difference_of(aspect: str, actual: object, expected: object) -> str | None:
    return None if actual == expected else f"{aspect}: {actual!r}, not {expected!r}"


def _listing_fault(leg: LegResult, doc_ids: Sequence[str], ordered: bool) -> str | None:
    actual = list(leg.doc_ids)
    if ordered:
        return _difference_of("first documents", actual, list(doc_ids)[: len(actual)] if actual else list(doc_ids))
    extra, missing = set(actual) - set(doc_ids), set(doc_ids) - set(actual)
    return (
        f"{len(extra)} too many {sorted(extra)[:3]}, {len(missing)} too few {sorted(missing)[:3]}"
        if extra or missing
        else None
    )


def _is_close(actual: float | str | None, expected: float) -> bool:
    return isinstance(actual, float) and abs(actual - expected) <= 1e-9 * max(1.0, abs(expected))


def _values_fault(leg: LegResult, values: Sequence[ExpectedValue]) -> str | None:
    for expected_value in values:
        if not any(
            figure.function.value == expected_value.function
            and (figure.unit or "") == expected_value.unit
            and figure.count == expected_value.count
            and _is_close(figure.value, expected_value.value)
            for figure in leg.figures
        ):
            return f"value {expected_value} is not among {leg.figures}"
    return _difference_of("number of values", len(leg.figures), len(values))


def _groups_fault(leg: LegResult, values: Sequence[ExpectedValue], ordered: bool) -> str | None:
    actual_groups = [(line.label, line.unit or "", line.value, line.count) for line in leg.groups]
    if ordered and actual_groups:
        values = values[: len(actual_groups)]
    for index, expected_value in enumerate(values):
        matching_positions = [
            position
            for position, (label, unit, value, count) in enumerate(actual_groups)
            if label == expected_value.group
            and unit == expected_value.unit
            and _is_close(value, expected_value.value)
            and count == expected_value.count
        ]
        if not matching_positions or (ordered and index not in matching_positions):
            return f"group {expected_value} is not among {actual_groups[:8]} ({len(actual_groups)})"
    return None if actual_groups else "no groups"


def _lookup_fault(outcome: Answer | Clarify, expected: ExpectedLookup) -> str | None:
    for citation in outcome.citations:
        is_expected = citation.doc_id in expected.doc_ids and expected.page in (None, citation.page)
        if is_expected and all(fragment.casefold() in citation.text.casefold() for fragment in expected.fragments):
            return None
    cited = [(citation.doc_id, citation.page, citation.text[:80]) for citation in outcome.citations]
    return f"cited {cited}, not {expected}"
