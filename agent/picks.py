"""Documents that a message points at by their place in what was shown: looked up before the plan is searched."""

from collections.abc import Mapping
from dataclasses import replace

from agent.compose import SHOWN
from agent.reasoner import Pick, Planned
from agent.tools import Desk
from storage.search.conditions import DOC_ID, Any, Compare, Condition, Not, Op
from storage.search.ids import LegId
from storage.search.index import Page, Record, Records
from storage.search.plan import Clause, Combine, Leg, ListDocuments, Plan, Search

_FEWEST_SIDES = 2


async def picked(desk: Desk, planned: Planned) -> Planned:
    """The plan with each pick as a search for just those documents. One round trip, where there are picks."""
    if not planned.picks:
        return planned
    pages = {pick: _page(pick) for pick in planned.picks}
    answers = await desk.ask(tuple(pages.values()))
    plan, gone = planned.plan, set[LegId]()
    for pick, page in pages.items():
        records = _at(pick, answers[page].records)
        gone |= {pick.leg} if pick.if_there and not records else set[LegId]()
        leg = plan.leg(pick.leg)
        plan = plan.with_search(pick.leg, _but(leg, records) if pick.but else _only(leg, pick, records))
    kept = planned.kept
    if any(pick.if_there for pick in pages):
        plan = _with_sides_there(plan, gone)
        kept = (*kept, *_first_of({pick: answers[page] for pick, page in pages.items()}))
    return replace(planned, plan=plan, kept=kept, picks=())


def _with_sides_there(plan: Plan, gone: set[LegId]) -> Plan:
    """Without the sides that are not there. Of a lone document, what it says; of none, that there is none."""
    legs = tuple(one for one in plan.legs if one.id not in gone) or plan.legs[:1]
    combine = plan.combine if len(legs) >= _FEWEST_SIDES else Combine.ONE
    return replace(plan, legs=legs, combine=combine)


def _first_of(pages: Mapping[Pick, Page]) -> list[str]:
    """What to say where there are more documents than were set side by side."""
    more = any(
        _limit(pick) is None and (page.cursor is not None or len(page.records) > len(pages))
        for pick, page in pages.items()
    )
    return [f"the first {len(pages)} of them"] if more else []


def _page(pick: Pick) -> Records:
    """As the list was shown: in its order, no more than were asked for."""
    wanted = pick.of.wanted
    order = wanted.order if isinstance(wanted, ListDocuments) else None
    before = _before(pick)
    shown = min(_limit(pick) or SHOWN, SHOWN)
    size = max((*pick.places, shown)) if any(place > 0 for place in pick.places) else shown
    return Records(pick.of.search, order, limit=before + size, fields=frozenset())


def _limit(pick: Pick) -> int | None:
    return pick.of.wanted.limit if isinstance(pick.of.wanted, ListDocuments) else None


def _before(pick: Pick) -> int:
    """Documents that were shown earlier than the list which the places are in."""
    return pick.of.wanted.skip if isinstance(pick.of.wanted, ListDocuments) else 0


def _at(pick: Pick, records: tuple[Record, ...]) -> list[Record]:
    found: list[Record] = []
    listed = records[_before(pick) :]
    for place in pick.places:
        at = place - 1 if place > 0 else len(listed) + place
        found += [listed[at]] if 0 <= at < len(listed) else []
    return found


def _but(leg: Leg, records: list[Record]) -> Search:
    """The leg's documents without these."""
    return leg.search.narrowed(Not(_these(records))) if records else leg.search


def _only(leg: Leg, pick: Pick, records: list[Record]) -> Search:
    """Just these documents, each in its bucket, and of them those that the leg asks for; the empty set where the list
    was not that long.
    """
    if not records:
        return Search(
            clauses=tuple(Clause(bucket=one.bucket, condition=Any(())) for one in leg.search.clauses),
            ranking=leg.question,
        )
    if leg.search.clauses != pick.of.search.clauses:
        return leg.search.narrowed(_these(records))
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
