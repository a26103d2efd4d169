"""Reviews the search results of each leg: answer, search again, or ask back.

The reasoner decides. If a leg asks back, the same reply answers the legs that succeeded.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent.assumptions import CorrectedSpelling
from agent.decomposition import LegAlternatives, PlannedQuestion, QuestionContext
from agent.forms.registry import build_leg_requests
from agent.outcome import FoundPassage, SearchRoute
from agent.refine.candidates import OfferedChoice
from agent.retrieval.leg_requests import LegInquiry, LegRequests
from agent.retrieval.query_reformulation import alternatives_without_words
from agent.retrieval.session import RetrievalSession
from agent.retrieval.sub_queries.validation import validate_passages
from agent.review.leg_review import Enough, EvidenceReviewer, LegClarification, LegReview, More
from agent.review.message_passages import rank_message_passages
from agent.review.offers import offer_beside_answers, offer_for_clarification, requests_for_relaxations
from storage.search.ids import LegId
from storage.search.plan import Leg, Plan

_MAX_ROUNDS = 3  # search rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedPlan:
    """The final legs, the decision on each, and the choices to offer."""

    plan: Plan
    planned: PlannedQuestion
    reviews: tuple[LegReview, ...]
    decisions: tuple[Enough | LegClarification, ...]
    choices: tuple[OfferedChoice, ...]
    hits: tuple[FoundPassage, ...]

    @property
    def clarification(self) -> tuple[LegReview, LegClarification] | None:
        """The first leg that asks back."""
        return _first_clarification(self.reviews, self.decisions)


async def review_plan(
    session: RetrievalSession, planned: PlannedQuestion, question_context: QuestionContext, reviewer: EvidenceReviewer
) -> ReviewedPlan:
    """Searches all legs at once, decides each, searches again if that helps, and counts the choices to offer."""
    reviews, decisions = await _search_and_decide(session, planned, question_context, reviewer)
    if planned.fallback is not None and not any(review.count for review in reviews):
        return await review_plan(session, planned.fallback, question_context, reviewer)
    hits = await rank_message_passages(planned.plan, reviews, decisions)
    if session.context.limits.validate_hits and any(
        decision.route is not SearchRoute.STRUCTURED for decision in decisions
    ):
        started = time.perf_counter()
        question = reviews[0].leg.question if len(reviews) == 1 else planned.plan.question
        known_cosines = session.cosines_by_query.get(question, {})
        hits = await validate_passages(
            question, hits, session.context.embedder, question_context.analysers, known_cosines
        )
        session.record_stage("validate", started)
    started = time.perf_counter()
    asking = _first_clarification(reviews, decisions)
    choices = (
        await offer_beside_answers(reviews, [decision for decision in decisions if isinstance(decision, Enough)])
        if asking is None
        else await offer_for_clarification(*asking)
    )
    session.record_stage("offer", started)
    return ReviewedPlan(
        plan=replace(planned.plan, legs=tuple(review.leg for review in reviews)),
        planned=planned,
        reviews=tuple(reviews),
        decisions=tuple(decisions),
        choices=choices,
        hits=hits,
    )


def _may_ask_back(session: RetrievalSession, planned: PlannedQuestion) -> bool:
    context = session.context
    asked_back = context.clarifications_in_a_row if planned.is_followup else 0
    return not context.just_answer and asked_back < context.limits.max_clarifications_in_a_row


def _first_clarification(
    reviews: Sequence[LegReview], decisions: Sequence[Enough | LegClarification]
) -> tuple[LegReview, LegClarification] | None:
    pairs = zip(reviews, decisions, strict=True)
    return next(((review, decision) for review, decision in pairs if isinstance(decision, LegClarification)), None)


async def _search_and_decide(
    session: RetrievalSession,
    planned: PlannedQuestion,
    question_context: QuestionContext,
    reviewer: EvidenceReviewer,
) -> tuple[list[LegReview], list[Enough | LegClarification]]:
    """Returns the final legs and the decision on each.

    A round searches all legs in one round trip. The last round decides without searching again.
    """
    alternatives, may_ask_back = _alternatives_by_leg(planned), _may_ask_back(session, planned)
    legs, reformulations = planned.plan.legs, dict[LegId, More]()
    decided = dict[LegId, tuple[LegReview, Enough | LegClarification]]()
    for round_ in range(1, _MAX_ROUNDS + 1):
        started = time.perf_counter()
        reviews = await _search_legs(
            session,
            legs,
            alternatives,
            reformulations,
            question_context,
            may_ask_back=may_ask_back,
            is_single_leg=len(planned.plan.legs) == 1,
            language=planned.plan.language,
        )
        session.record_stage("search", started)
        started = time.perf_counter()
        if not any(review.count for review in reviews):
            _ask_for_fallbacks_with_next(session, planned, reviews, question_context)
        decisions = await reviewer.review_legs(reviews, planned.plan.combination, is_last_round=round_ == _MAX_ROUNDS)
        session.record_stage("review", started)
        review_by_leg = {review.leg.id: review for review in reviews}
        more = {decision.leg.id: decision for decision in decisions if isinstance(decision, More)}
        decided |= {
            decision.result.leg: (review_by_leg[decision.result.leg], decision)
            for decision in decisions
            if not isinstance(decision, More)
        }
        legs = tuple(more[leg.id].leg if leg.id in more else leg for leg in legs if leg.id not in decided)
        if not legs:
            in_order = [decided[leg.id] for leg in planned.plan.legs]
            return [review for review, _ in in_order], [decision for _, decision in in_order]
        reformulations |= more
        alternatives |= {
            leg: _remaining_alternatives(alternatives[leg], reformulated) for leg, reformulated in more.items()
        }
    raise AssertionError("the last round asks for no more")


def _alternatives_by_leg(planned: PlannedQuestion) -> dict[LegId, LegAlternatives]:
    return {leg.id: LegAlternatives(leg=leg.id) for leg in planned.plan.legs} | {
        leg_alternatives.leg: leg_alternatives for leg_alternatives in planned.alternatives
    }


def _ask_for_fallbacks_with_next(
    session: RetrievalSession,
    planned: PlannedQuestion,
    reviews: Sequence[LegReview],
    question_context: QuestionContext,
) -> None:
    """Sends the requests that are likely to follow an empty result along with the next round trip.

    They are those of the fallback plan, or else those of the choices to offer.
    """
    if planned.fallback is not None:
        legs, is_single_leg = planned.fallback.plan.legs, len(planned.fallback.plan.legs) == 1
        requests_by_leg = _build_requests(
            session,
            legs,
            _alternatives_by_leg(planned.fallback),
            question_context,
            may_ask_back=_may_ask_back(session, planned.fallback),
            is_single_leg=is_single_leg,
        )
        session.ask_with_next(request for requests in requests_by_leg for request in requests.all_requests())
        return
    for review in reviews[:1]:
        session.ask_with_next(requests_for_relaxations(review))


def _remaining_alternatives(alternatives: LegAlternatives, more: More) -> LegAlternatives:
    """Returns the alternatives that remain for a leg that is searched again."""
    respelled = alternatives.spelling_correction
    if respelled is not None and any(isinstance(assumption, CorrectedSpelling) for assumption in more.assumptions):
        alternatives = replace(alternatives, unknown_words=respelled.unknown_words)
    return (
        LegAlternatives(
            leg=alternatives.leg,
            droppable_words=alternatives.droppable_words,
            is_confined=alternatives.is_confined,
            is_understood=alternatives.is_understood,
            unknown_words=alternatives.unknown_words,
            continued=alternatives.continued,
            suggested_fields=alternatives.suggested_fields,
            possible_forms=alternatives.possible_forms,
            possible_sets=alternatives.possible_sets,
            assessment=alternatives.assessment,
        )
        if more.assumptions
        else alternatives_without_words(alternatives, more.ignored_words)
    )


async def _search_legs(
    session: RetrievalSession,
    legs: Sequence[Leg],
    alternatives_by_leg: Mapping[LegId, LegAlternatives],
    reformulations: Mapping[LegId, More],
    question_context: QuestionContext,
    *,
    may_ask_back: bool,
    is_single_leg: bool,
    language: str,
) -> list[LegReview]:
    """Searches all legs in one round trip."""
    requests_by_leg = _build_requests(
        session, legs, alternatives_by_leg, question_context, may_ask_back=may_ask_back, is_single_leg=is_single_leg
    )
    answers = await session.ask_index(
        [request for requests in requests_by_leg for request in requests.all_requests()],
        record=[request for requests in requests_by_leg for request in requests.recorded_requests()],
    )
    return [
        LegReview(
            session=session,
            question_context=question_context,
            leg=leg,
            alternatives=alternatives_by_leg[leg.id],
            requests=requests,
            answers=answers,
            may_ask_back=may_ask_back,
            ignored_words=reformulations[leg.id].ignored_words if leg.id in reformulations else (),
            assumptions=reformulations[leg.id].assumptions if leg.id in reformulations else (),
            draft=reformulations[leg.id].draft if leg.id in reformulations else None,
            language=language,
        )
        for leg, requests in zip(legs, requests_by_leg, strict=True)
    ]


def _build_requests(
    session: RetrievalSession,
    legs: Sequence[Leg],
    alternatives_by_leg: Mapping[LegId, LegAlternatives],
    question_context: QuestionContext,
    *,
    may_ask_back: bool,
    is_single_leg: bool,
) -> list[LegRequests]:
    limits = session.context.limits
    return [
        build_leg_requests(
            LegInquiry(
                leg=leg,
                alternatives=alternatives_by_leg[leg.id],
                question_context=question_context,
                limits=limits,
                may_ask_back=may_ask_back,
                # several legs are sub-queries already
                may_decompose=limits.decompose_searches and is_single_leg,
            )
        )
        for leg in legs
    ]
