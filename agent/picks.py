"""Documents that a message points at by their place in what was shown: looked up before the plan is searched."""

from dataclasses import replace

from agent.compose import SHOWN
from agent.reasoner import Pick, Planned
from agent.tools import Desk
from storage.search.conditions import DOC_ID, Any, Compare, Condition, Op
from storage.search.index import Record, Records
from storage.search.plan import Clause, Leg, ListDocuments, Search


async def picked(desk: Desk, planned: Planned) -> Planned:
    """The plan with each pick as a search for just those documents. One round trip, where there are picks."""
    if not planned.picks:
        return planned
    pages = {pick: _page(pick) for pick in planned.picks}
    answers = await desk.ask(tuple(pages.values()))
    plan = planned.plan
    for pick, page in pages.items():
        records = _at(pick, answers[page].records)
        plan = plan.with_search(pick.leg, _only(plan.leg(pick.leg), records))
    return replace(planned, plan=plan, picks=())


def _page(pick: Pick) -> Records:
    """As the list was shown: in its order, no more than were asked for."""
    wanted = pick.of.wanted
    order = wanted.order if isinstance(wanted, ListDocuments) else None
    shown = min(wanted.limit or SHOWN, SHOWN) if isinstance(wanted, ListDocuments) else SHOWN
    size = max((*pick.places, shown)) if any(place > 0 for place in pick.places) else shown
    return Records(pick.of.search, order, limit=size, fields=frozenset())


def _at(pick: Pick, records: tuple[Record, ...]) -> list[Record]:
    found: list[Record] = []
    for place in pick.places:
        at = place - 1 if place > 0 else len(records) + place
        found += [records[at]] if 0 <= at < len(records) else []
    return found


def _only(leg: Leg, records: list[Record]) -> Search:
    """Just these documents, each in its bucket; the empty set where the list was not that long."""
    if not records:
        return leg.search.narrowed(Any(()))
    clauses = [
        Clause(bucket=bucket, condition=_these([one for one in records if one.bucket == bucket]))
        for bucket in dict.fromkeys(one.bucket for one in records)
    ]
    return Search(clauses=tuple(clauses), ranking=leg.question)


def _these(records: list[Record]) -> Condition:
    ids = tuple(str(one.doc_id) for one in records)
    return (
        Compare(field=DOC_ID, op=Op.EQ, value=ids[0]) if len(ids) == 1 else Compare(field=DOC_ID, op=Op.IN, value=ids)
    )
