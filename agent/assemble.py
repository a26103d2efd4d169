"""Putting together what the legs came to: an Answer, or a Clarify that answers what it can and asks about the rest."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from agent import refine
from agent.compare import together
from agent.decision import AskBack, Enough, Under
from agent.outcome import Answer, Choice, Citation, Clarify, FoundPassage, OutcomeKind
from agent.reasoner import Planned
from storage.search.plan import Combine, Plan


async def answered(plan: Plan, planned: Planned, under: Sequence[Under], found: Sequence[Enough]) -> Answer:
    desk = under[0].desk
    choices: list[Choice] = []
    for one, leg in zip(found, plan.legs, strict=True):
        choices += (await refine.counted(desk, leg, one.candidates)) if one.candidates else []
        of = f": {leg.question}" if len(found) > 1 else ""  # several files to choose from
        choices += refine.actions(leg, one.export, of=of, anyway=False)
    lines, citations = _renumbered(found)
    grids = tuple(grid for one in found for grid in one.grids)
    if plan.combine is Combine.COMPARE:
        said, grid = together(found)
        lines, grids = [said, *lines] if said else lines, (grid,) if grid is not None else grids
    return Answer(
        plan=plan,
        text="\n\n".join(lines),
        legs=tuple(one.result for one in found),
        citations=tuple(citations),
        grids=grids,
        hits=_in_turn([one.hits for one in found])[: desk.context.limits.hits],
        choices=tuple(choices),
        assumptions=tuple(dict.fromkeys((*plan.assumptions, *(a for one in found for a in one.assumptions)))),
        kept=planned.kept,
        went_back=planned.goes_back,
        trace=desk.trace(found[0].route),
        generation=under[0].answers.generation,
    )


def _in_turn(lists: Sequence[Sequence[FoundPassage]]) -> tuple[FoundPassage, ...]:
    """The best of each leg, then the second best of each: no leg crowds out another."""
    turns = (hit for rank in zip_longest(*lists) for hit in rank if hit is not None)
    return tuple({one.hit.chunk_id: one for one in reversed([*turns])}.values())[::-1]


def _renumbered(found: Sequence[Enough]) -> tuple[list[str], list[Citation]]:
    """Markers run on through all legs."""
    lines: list[str] = []
    citations: list[Citation] = []
    for one in found:
        shift = len(citations)
        text = "\n\n".join(one.lines)
        for citation in reversed(one.citations):
            text = text.replace(f"[{citation.marker}]", f"[{int(citation.marker) + shift}]")
        citations += [replace(citation, marker=str(int(citation.marker) + shift)) for citation in one.citations]
        lines.append(text)
    return lines, citations


async def asked_back_about(
    plan: Plan, planned: Planned, under: Under, back: AskBack, concluded: Sequence[Enough | AskBack]
) -> Clarify:
    desk, leg = under.desk, under.leg
    choices = await _choices(under, back)
    found = [one for one in concluded if isinstance(one, Enough)]
    lines, citations = _renumbered(found)
    lines += [one.lines[0] for one in concluded if isinstance(one, AskBack) and one is not back]
    lines += list(back.lines)
    if back.kind is OutcomeKind.NO_RESULTS and choices:
        lines.append("Ways out, each with what it leads to:")
    return Clarify(
        plan=plan,
        kind=back.kind,
        leg=leg.id,
        text="\n\n".join(lines),
        legs=tuple(one.result for one in concluded),
        choices=tuple(choices),
        citations=tuple(citations),
        grids=tuple(grid for one in found for grid in one.grids),
        hits=_in_turn([one.hits for one in concluded])[: desk.context.limits.hits],
        assumptions=tuple(dict.fromkeys((*plan.assumptions, *back.assumptions))),
        kept=planned.kept,
        went_back=planned.goes_back,
        asked_back=(under.desk.context.asked_back if planned.follows else 0) + 1,
        trace=desk.trace(back.route),
        generation=under.answers.generation,
    )


async def _choices(under: Under, back: AskBack) -> list[Choice]:
    desk, leg = under.desk, under.leg
    if back.kind is not OutcomeKind.NO_RESULTS:
        choices = await refine.counted(desk, leg, back.candidates)
        return [*choices, *refine.actions(leg, back.export, anyway=back.anyway)]
    if not under.may_ask:
        return []
    requests = refine.ways_out_requests(leg, under.material.schemas)
    answers = await desk.ask(requests) if requests else None
    candidates = refine.ways_out(leg, answers, under.doubt, under.material.schemas)
    choices = refine.offered_ways_out(await refine.counted(desk, leg, candidates))
    return [*choices, *refine.meaning_action(leg)]
