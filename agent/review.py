"""Review what was found: enough to answer, more to fetch, or a question back.

Counts decide what counts can decide. Each leg is decided on its own; legs that succeeded are answered in the same reply
that asks about the first leg that did not.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from agent.anew import searched_anew, without_words
from agent.assemble import answered, asked_back_about
from agent.compare import sides_decided
from agent.decision import AskBack, Decision, Enough, More, Under
from agent.documents import text_found, values_read
from agent.elsewhere import or_in_text
from agent.gather import asked_of
from agent.outcome import Outcome, OutcomeKind
from agent.reasoner import Doubt, Material, Planned
from agent.sets import computed, listed, summarised
from agent.tools import Desk
from storage.search.ids import LegId
from storage.search.plan import Combine, Compute, FindPassages, Leg, ListDocuments, ReadFields, Summarise

_ROUNDS = 3  # of searching, at most


async def reviewed(desk: Desk, planned: Planned, material: Material) -> Outcome:
    """Search for every leg at once, decide each, search again where that helps, put together what they came to."""
    context = desk.context
    asked_back = context.asked_back if planned.follows else 0
    may_ask = not context.just_answer and asked_back < context.limits.clarifications_in_a_row
    context.progress("Searching")
    under, decided = await _decided(desk, planned, material, may_ask=may_ask)
    if planned.instead is not None and not any(one.count for one in under):
        return await reviewed(desk, planned.instead, material)
    plan = replace(planned.plan, legs=tuple(one.leg for one in under))
    back = next(((u, one) for u, one in zip(under, decided, strict=True) if isinstance(one, AskBack)), None)
    started = time.perf_counter()
    outcome = await (
        answered(plan, planned, under, [one for one in decided if isinstance(one, Enough)])
        if back is None
        else asked_back_about(plan, planned, back[0], back[1], decided)
    )
    desk.stage("compose", started)
    return replace(outcome, trace=desk.trace(outcome.trace.route))


async def _decided(
    desk: Desk, planned: Planned, material: Material, *, may_ask: bool
) -> tuple[list[Under], list[Enough | AskBack]]:
    """The legs as they were searched in the end, and what was decided of each. A round searches all legs in one trip;
    the last takes what there is.
    """
    doubts = {leg.id: Doubt(leg=leg.id) for leg in planned.plan.legs} | {one.leg: one for one in planned.doubts}
    legs, before = planned.plan.legs, dict[LegId, More]()
    for round_ in range(1, _ROUNDS + 1):
        started = time.perf_counter()
        under = await _searched(desk, legs, doubts, before, material, may_ask=may_ask)
        desk.stage("search", started)
        started = time.perf_counter()
        decided = await _decisions(under, planned.plan.combine, is_last=round_ == _ROUNDS)
        desk.stage("review", started)
        more = {one.leg.id: one for one in decided if isinstance(one, More)}
        if not more:
            return under, cast(list[Enough | AskBack], decided)
        legs = tuple(more[leg.id].leg if leg.id in more else leg for leg in legs)
        before |= more
        doubts |= {leg: _still_in_doubt(doubts[leg], one) for leg, one in more.items()}
    raise AssertionError("the last round asks for no more")


def _still_in_doubt(doubt: Doubt, more: More) -> Doubt:
    """What stands in doubt of a leg that is searched anew."""
    return Doubt(leg=doubt.leg, doubtful=doubt.doubtful) if more.assumed else without_words(doubt, more.ignored)


async def _searched(
    desk: Desk,
    legs: Sequence[Leg],
    doubts: Mapping[LegId, Doubt],
    before: Mapping[LegId, More],
    material: Material,
    *,
    may_ask: bool,
) -> list[Under]:
    """All legs in one round trip."""
    limits = desk.context.limits
    known = [doubts[leg.id] for leg in legs]
    asked = [asked_of(leg, doubt, material, limits, narrowing=may_ask) for leg, doubt in zip(legs, known, strict=True)]
    answers = await desk.ask(
        [request for one in asked for request in one.requests()],
        note=[request for one in asked for request in one.noted()],
    )
    return [
        Under(
            desk=desk, material=material, leg=leg, doubt=doubt, asked=one, answers=answers, may_ask=may_ask,
            ignored=before[leg.id].ignored if leg.id in before else (),
            assumed=before[leg.id].assumed if leg.id in before else (),
        )
        for leg, doubt, one in zip(legs, known, asked, strict=True)
    ]  # fmt: skip


async def _decisions(under: Sequence[Under], combine: Combine, *, is_last: bool) -> list[Decision]:
    """Of all legs, in order; or of those alone that are searched anew first."""
    more = [] if is_last else [one for one in map(searched_anew, under) if one is not None]
    if more:
        return [*more]
    if combine is Combine.COMPARE:
        return [*await sides_decided(under)]
    return [await _decision(one) for one in under]


async def _decision(under: Under) -> Enough | AskBack:
    decided = await _by_form(under)
    if isinstance(decided, AskBack) and decided.kind is OutcomeKind.NO_RESULTS and not decided.hits:
        return await or_in_text(under, decided)
    return decided


async def _by_form(under: Under) -> Enough | AskBack:
    match under.leg.wanted:
        case FindPassages():
            return await text_found(under)
        case Compute():
            return await computed(under)
        case ListDocuments():
            return await listed(under)
        case ReadFields():
            return await values_read(under)
        case Summarise():
            return await summarised(under)
