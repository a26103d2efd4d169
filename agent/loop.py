"""The stages in order and nothing else: `answer` and `resume`, the agent's public face."""

import time
from collections.abc import Mapping
from dataclasses import replace

from agent import gather
from agent.context import Context
from agent.help import help_with
from agent.outcome import ExportWanted, Outcome, Refused, Route, StartedOver
from agent.picks import picked
from agent.reasoner import Doubt, Material, MeansNothing, Planned, WantsExport, WantsHelp, WantsStartOver
from agent.review import reviewed
from agent.tools import Desk
from storage.search.ids import BucketId, LegId
from storage.search.index import Count
from storage.search.plan import FindPassages, Leg, Plan
from storage.search.schema import Schema

_AFRESH = "Started over: what was said before no longer counts."
_NOTHING_BEFORE = "There was nothing before that: we are back at the start."
_NOT_GRANTED = "There is nothing here that you may ask. An admin can grant a bucket to you or to this channel."


async def answer(question: str, context: Context) -> Outcome:
    """From a question to what becomes of it. Raises what the index raises, and nothing else."""
    desk = Desk(context)
    material = await _material(context)
    if not material.schemas:
        return Refused(text=_NOT_GRANTED, may_go_private=context.may_go_private)
    started = time.perf_counter()
    decomposition = context.reasoner.decompose(question, material)
    desk.stage("decompose", started)
    match decomposition:
        case WantsStartOver(nothing_before=nothing_before):
            return StartedOver(text=_NOTHING_BEFORE if nothing_before else _AFRESH)
        case WantsExport(plan=plan, leg=leg):
            return await _export(desk, plan, leg, material)
        case WantsHelp():
            return await help_with(question, desk, material)
        case MeansNothing(words=words):
            return gather.nothing_understood(question, words, desk, material)
        case Planned():
            return await reviewed(desk, await picked(desk, decomposition), material)


async def resume(plan: Plan, context: Context) -> Outcome:
    """Go on at retrieval with a plan that a click or a typed choice refined. Raises what the index raises."""
    desk = Desk(context)
    material = await _material(context)
    if not all(bucket in material.schemas for leg in plan.legs for bucket in leg.search.buckets):
        return Refused(text=_NOT_GRANTED, may_go_private=context.may_go_private)
    doubts = _doubts_of(plan, context, material) if context.just_answer else ()
    return await reviewed(desk, Planned(plan=plan, doubts=doubts, follows=True), material)


def _doubts_of(plan: Plan, context: Context, material: Material) -> tuple[Doubt, ...]:
    """The readings that scored as well when the plan was made, so that the answer can say which it took."""
    again = context.reasoner.decompose(plan.question, replace(material, last=None))
    if not isinstance(again, Planned):
        return ()
    same = {leg.id for leg, then in zip(plan.legs, again.plan.legs, strict=False) if leg.search == then.search}
    return tuple(Doubt(leg=one.leg, alike=one.alike) for one in again.doubts if one.leg in same)


def by_meaning(plan: Plan, leg_id: LegId) -> Plan:
    """The plan with the leg's required words ranking instead of demanding."""
    legs = tuple(_ranking(leg) if leg.id == leg_id else leg for leg in plan.legs)
    return Plan(question=plan.question, legs=legs, combine=plan.combine, assumptions=plan.assumptions)


def _ranking(leg: Leg) -> Leg:
    clauses = tuple(type(one)(bucket=one.bucket, condition=one.condition) for one in leg.search.clauses)
    return Leg(id=leg.id, question=leg.question, search=leg.search.with_clauses(*clauses), wanted=FindPassages())


async def _material(context: Context) -> Material:
    schemas = await context.index.schemas()
    if context.buckets is not None:
        schemas = {bucket: schema for bucket, schema in schemas.items() if bucket in context.buckets}
    vocabulary = await context.index.vocabulary()
    return Material(
        schemas=schemas,
        vocabulary=vocabulary,
        analysers={bucket: context.index.analyser(bucket) for bucket in schemas},
        now=context.now,
        locale=context.locale,
        last=_seen(context.last, schemas),
        earlier=tuple(one for one in context.earlier if _seen(one, schemas) is not None),
    )


def _seen(last: Plan | None, schemas: Mapping[BucketId, Schema]) -> Plan | None:
    """The last plan, unless it speaks of a bucket that is not seen any more."""
    if last is None:
        return None
    return last if all(bucket in schemas for leg in last.legs for bucket in leg.search.buckets) else None


async def _export(desk: Desk, plan: Plan, leg_id: LegId, material: Material) -> Outcome:
    count = Count(plan.leg(leg_id).search)
    answers = await desk.ask((count,), note=(count,))
    if not answers[count]:
        return await reviewed(desk, Planned(plan=plan), material)  # an empty file would say nothing of why
    return ExportWanted(
        plan=plan,
        leg=leg_id,
        count=answers[count],
        trace=desk.trace(Route.STRUCTURED),
        generation=answers.generation,
    )
