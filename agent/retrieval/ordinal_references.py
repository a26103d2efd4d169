"""Resolves ordinal references: documents named by their position in the last list, looked up before the search."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.decomposition import LegAlternatives, OrdinalReference, PlannedQuestion
from agent.limits import SHOWN_DOCUMENTS
from agent.retrieval.session import RetrievalSession
from agent.retrieval.shown_documents import begins_as_shown, is_shown_list
from storage.search.conditions import (
    DOC_ID_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    OrCondition,
)
from storage.search.ids import LegId
from storage.search.index import DocumentRecord, RecordPage, RecordPageRequest
from storage.search.plan import Clause, Leg, LegCombination, ListDocuments, Plan, Search

_MIN_SIDES = 2


async def resolve_ordinal_references(session: RetrievalSession, planned: PlannedQuestion) -> PlannedQuestion:
    """Returns the plan with each reference as a search for exactly those documents; one round trip."""
    if not planned.references:
        return planned
    pages = {pick: _page_request_for(pick) for pick in planned.references}
    answers = await session.ask_index(tuple(pages.values()))
    for pick, page in pages.items():
        if _has_changed(pick.list_leg, answers[page].records):
            return _show_list_again(planned, pick.list_leg)
    plan, gone = planned.plan, set[LegId]()
    for pick, page in pages.items():
        records = _records_at_positions(pick, answers[page].records)
        gone |= {pick.leg} if pick.drop_leg_if_missing and not records else set[LegId]()
        leg = plan.leg_by_id(pick.leg)
        plan = plan.with_search(
            pick.leg, _search_excluding(leg, records) if pick.is_exclusion else _search_within(leg, pick, records)
        )
    compared_count = None
    if any(pick.drop_leg_if_missing for pick in pages):
        plan = _drop_missing_sides(plan, gone)
        compared_count = _count_if_more({pick: answers[page] for pick, page in pages.items()})
    return replace(planned, plan=plan, compared_count=compared_count, references=())


def _has_changed(list_leg: Leg, records: Sequence[DocumentRecord]) -> bool:
    """Whether the list is known to begin with other documents than those that were shown."""
    shown, order = list_leg.answer_form.shown_documents, list_leg.answer_form.list_order
    is_known = shown is not None and is_shown_list(shown, list_leg.search, order)
    return shown is not None and is_known and not begins_as_shown(shown, records)


def _show_list_again(planned: PlannedQuestion, list_leg: Leg) -> PlannedQuestion:
    """Returns a plan for the list as it is now. By its position, another document would be taken than was meant."""
    form, shown = list_leg.answer_form, list_leg.answer_form.shown_documents
    skip = shown.count if shown is not None else 0
    next_page = ListDocuments(order=form.list_order, limit=SHOWN_DOCUMENTS, skip=skip, shown=shown)
    leg = replace(list_leg, question=planned.plan.question, answer_form=next_page)
    return PlannedQuestion(
        plan=replace(planned.plan, legs=(leg,), combination=LegCombination.ONE),
        alternatives=(LegAlternatives(leg=leg.id, is_confined=True),),
        is_followup=planned.is_followup,
    )


def _drop_missing_sides(plan: Plan, missing_legs: set[LegId]) -> Plan:
    """Removes the sides without a document. A single remaining side is answered alone; one side always stays."""
    legs = tuple(leg for leg in plan.legs if leg.id not in missing_legs) or plan.legs[:1]
    combine = plan.combination if len(legs) >= _MIN_SIDES else LegCombination.ONE
    return replace(plan, legs=legs, combination=combine)


def _count_if_more(pages_by_reference: Mapping[OrdinalReference, RecordPage]) -> int | None:
    """Returns the number of documents compared if the list has more of them; else None."""
    more = any(
        pick.list_leg.answer_form.list_limit is None
        and (page.cursor is not None or len(page.records) > len(pages_by_reference))
        for pick, page in pages_by_reference.items()
    )
    return len(pages_by_reference) if more else None


def _page_request_for(reference: OrdinalReference) -> RecordPageRequest:
    """Returns the request for the list as it was shown: in its order, with no more records than it needs."""
    listed = reference.list_leg.answer_form
    before = listed.list_skip
    shown = min(listed.list_limit or SHOWN_DOCUMENTS, SHOWN_DOCUMENTS)
    size = max((*reference.positions, shown)) if any(place > 0 for place in reference.positions) else shown
    return RecordPageRequest(reference.list_leg.search, listed.list_order, limit=before + size, fields=frozenset())


def _records_at_positions(reference: OrdinalReference, records: Sequence[DocumentRecord]) -> list[DocumentRecord]:
    listed_records: list[DocumentRecord] = []
    listed = records[reference.list_leg.answer_form.list_skip :]
    for place in reference.positions:
        index = place - 1 if place > 0 else len(listed) + place
        listed_records += [listed[index]] if 0 <= index < len(listed) else []
    return listed_records


def _search_excluding(leg: Leg, records: list[DocumentRecord]) -> Search:
    """Returns the search of the leg without these documents."""
    return leg.search.with_condition(NotCondition(_documents_condition(records))) if records else leg.search


def _search_within(leg: Leg, reference: OrdinalReference, records: list[DocumentRecord]) -> Search:
    """Returns a search for exactly these documents, each in its bucket, under the leg's own conditions. Without
    records, as where the list was shorter, it matches nothing.
    """
    if not records:
        return Search(
            clauses=tuple(Clause(bucket=clause.bucket, condition=OrCondition(())) for clause in leg.search.clauses),
            ranking_text=leg.question,
        )
    if leg.search.clauses != reference.list_leg.search.clauses:
        return leg.search.with_condition(_documents_condition(records))
    clauses = [
        Clause(bucket=bucket, condition=_documents_condition([record for record in records if record.bucket == bucket]))
        for bucket in dict.fromkeys(record.bucket for record in records)
    ]
    return Search(clauses=tuple(clauses), ranking_text=leg.question)


def _documents_condition(records: list[DocumentRecord]) -> Condition:
    ids = tuple(str(record.doc_id) for record in records)
    return (
        ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.EQ, value=ids[0])
        if len(ids) == 1
        else ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.IN, value=ids)
    )
