"""Builds the choices for an answer or a clarification. Each is counted before it is offered."""

from collections.abc import Sequence

from agent.outcome import OutcomeKind
from agent.refine import refinements, relaxations
from agent.refine.candidates import OfferedChoice
from agent.review.leg_review import Enough, LegClarification, LegReview


async def offer_beside_answers(reviews: Sequence[LegReview], answers: Sequence[Enough]) -> tuple[OfferedChoice, ...]:
    offered: list[OfferedChoice] = []
    for review, answer in zip(reviews, answers, strict=True):
        if answer.candidates:
            offered += await refinements.count_refinements(review.session, review.leg, answer.candidates)
        question = review.leg.question if len(answers) > 1 else ""  # tells the exports of several legs apart
        offered += refinements.action_choices(
            review.leg, answer.export_count, question=question, offer_just_answer=False
        )
    return tuple(offered)


async def offer_for_clarification(review: LegReview, clarification: LegClarification) -> tuple[OfferedChoice, ...]:
    session, leg = review.session, review.leg
    if clarification.kind is not OutcomeKind.NO_RESULTS:
        counted = await refinements.count_refinements(
            session, leg, clarification.candidates, shows_set=clarification.kind is OutcomeKind.OVERLOAD
        )
        actions = refinements.action_choices(
            leg, clarification.export_count, offer_just_answer=clarification.offer_just_answer
        )
        return (*counted, *actions)
    if not review.may_ask_back:
        return ()
    requests = relaxations.relaxation_requests(leg, review.question_context.schemas)
    answers = await session.ask_index(requests) if requests else None
    candidates = relaxations.derive_relaxations(leg, answers, review.alternatives, review.question_context.schemas)
    counted = relaxations.limit_relaxations(await refinements.count_refinements(session, leg, candidates))
    return (*counted, *refinements.search_by_meaning_choices(leg))
