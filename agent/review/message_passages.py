"""The ranked passages of a whole message: those of its legs, and those that its whole text finds."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from agent.forms.find_passages import rank_leg_passages
from agent.outcome import FoundPassage
from agent.retrieval.full_text_fallback import search_all_text
from agent.retrieval.fusion import merge_rankings
from agent.review.leg_review import Enough, LegClarification, LegReview
from storage.search.ids import ChunkId, LegId
from storage.search.plan import LegCombination, Plan


async def rank_message_passages(
    plan: Plan, reviews: Sequence[LegReview], decisions: Sequence[Enough | LegClarification]
) -> tuple[FoundPassage, ...]:
    """Returns the passages of all legs, best first.

    The sentences of one information need are read as several legs. So if a leg reads text, or found nothing, passages
    that fit the whole message come before those that fit one leg alone.
    """
    session, limit = reviews[0].session, reviews[0].session.context.limits.reported_hits
    if len(reviews) == 1:
        return _interleave_hits([decisions[0].hits])[:limit]
    questions = [review.leg.question for review in reviews]
    hits_by_leg = [_add_query(decision.hits, leg) for decision, leg in zip(decisions, questions, strict=True)]
    if not any(map(_needs_text, reviews, decisions)):
        session.sub_queries = tuple(dict.fromkeys(questions))
        return _interleave_hits(hits_by_leg)[:limit]
    session.sub_queries = tuple(dict.fromkeys((plan.question, *questions)))
    leg_weight = 1.0 if plan.combination is LegCombination.COMPARE else 1.0 / len(reviews)
    whole = _add_query(await _rank_whole_message(plan, reviews[0]), plan.question)
    merged = merge_rankings([(1.0, whole), *((leg_weight, hits) for hits in hits_by_leg)])[:limit]
    return tuple(_collect_finders(merged, [whole, *hits_by_leg]))


def _needs_text(review: LegReview, decision: Enough | LegClarification) -> bool:
    return review.leg.answer_form.reads_text or isinstance(decision, LegClarification)


async def _rank_whole_message(plan: Plan, review: LegReview) -> Sequence[FoundPassage]:
    leg = replace(review.leg, id=LegId("message"), question=plan.question)
    whole = await search_all_text(replace(review, leg=leg))
    _, passages = await rank_leg_passages(
        whole, whole.requests.passage_requests, include_naming_terms=True, use_reranker=False
    )
    return passages


def _interleave_hits(hits_by_leg: Sequence[Sequence[FoundPassage]]) -> tuple[FoundPassage, ...]:
    """The best hit of each leg, then the second best of each, so that no leg crowds out another."""
    turns = (hit for rank in zip_longest(*hits_by_leg) for hit in rank if hit is not None)
    unique = tuple({found.hit.chunk_id: found for found in reversed([*turns])}.values())[::-1]
    return tuple(_collect_finders(unique, hits_by_leg))


def _add_query(hits: Sequence[FoundPassage], query: str) -> tuple[FoundPassage, ...]:
    return tuple(replace(hit, found_for=(query,)) for hit in hits)


def _collect_finders(
    hits: Sequence[FoundPassage], rankings: Sequence[Sequence[FoundPassage]]
) -> Iterator[FoundPassage]:
    """Yields the hits, each with all collectors and queries that found it in any of the rankings."""
    finders = defaultdict[ChunkId, list[FoundPassage]](list)
    for found in (found for ranking in rankings for found in ranking):
        finders[found.hit.chunk_id].append(found)
    for hit in hits:
        found_by = dict.fromkeys(name for found in finders[hit.hit.chunk_id] for name in found.found_by)
        found_for = dict.fromkeys(query for found in finders[hit.hit.chunk_id] for query in found.found_for)
        yield replace(hit, found_by=tuple(found_by), found_for=tuple(found_for))
