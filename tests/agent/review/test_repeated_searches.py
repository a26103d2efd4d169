"""A leg is searched again with its probes; a leg decided beside it keeps its decision."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.context import AgentContext
from agent.loop import resume
from agent.outcome import Answer
from agent.review.leg_review import Decision, LegDraft, LegReview, More
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.ids import LegId
from storage.search.index import ScopedIndex
from storage.search.plan import FindPassages, Leg, LegCombination, Plan, unfiltered_search_of
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope

TEXTS = {
    "crane": "The crane lifts nine tonnes.",
    "jib": "Its boom measures forty metres from end to end.",
    "ramp": "The ramp rests on two rollers.",
}


class RepeatingReasoner(RuleReasoner):
    """Searches the leg `repeated` once more, with a probe, and decides all others at once."""

    def __init__(self, repeated: str) -> None:
        super().__init__()
        self._repeated = LegId(repeated)
        self.rounds: list[Sequence[LegReview]] = []

    async def review_legs(
        self, reviews: Sequence[LegReview], combination: LegCombination, *, is_last_round: bool
    ) -> Sequence[Decision]:
        self.rounds.append(reviews)
        decisions = await super().review_legs(reviews, combination, is_last_round=is_last_round)
        return [
            _search_again(review) if review.leg.id == self._repeated and len(self.rounds) == 1 else decision
            for review, decision in zip(reviews, decisions, strict=True)
        ]


def _search_again(review: LegReview) -> More:
    draft = LegDraft(missing=("the length",), seen_passages=frozenset(), best_answer=None)
    return More(leg=replace(review.leg, probes=("boom from end to end",)), ignored_words=(), draft=draft)


@pytest.fixture
async def handbooks(tmp_path: Path) -> AsyncIterator[ScopedIndex]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document(name, text, title=name) for name, text in TEXTS.items()])
    yield index.within_scope(a_scope())
    await index.close()


def _leg(leg_id: str, question: str, *probes: str) -> Leg:
    search = replace(unfiltered_search_of(RECEIPTS), ranking_text=question)
    return Leg(id=LegId(leg_id), question=question, search=search, answer_form=FindPassages(), probes=probes)


async def _resume(index: ScopedIndex, reasoner: RuleReasoner, *legs: Leg) -> Answer:
    combination = LegCombination.ONE if len(legs) == 1 else LegCombination.SIDE_BY_SIDE
    plan = Plan(question=" ".join(leg.question for leg in legs), legs=legs, combination=combination)
    outcome = await resume(plan, AgentContext(index=index, reasoner=reasoner, now=datetime(2031, 5, 9, tzinfo=UTC)))
    assert isinstance(outcome, Answer)
    return outcome


async def test_the_probes_of_a_leg_are_searched_and_ranked(handbooks: ScopedIndex) -> None:
    question = "How many tonnes does the crane lift?"

    plain = await _resume(handbooks, RuleReasoner(), _leg("a", question))
    probed = await _resume(handbooks, RuleReasoner(), _leg("a", question, "boom from end to end"))

    assert "jib" not in {found.hit.doc_id for found in plain.hits}
    jib = next(found for found in probed.hits if found.hit.doc_id == "jib")
    assert jib.found_for == ("boom from end to end",)
    assert "boom from end to end" in {attempt.arguments.get("query") for attempt in probed.trace.attempts}


async def test_a_leg_decided_beside_one_that_is_searched_again_is_not_reviewed_again(handbooks: ScopedIndex) -> None:
    reasoner = RepeatingReasoner("b")

    outcome = await _resume(
        handbooks,
        reasoner,
        _leg("a", "How many tonnes does the crane lift?"),
        _leg("b", "On what does the ramp rest?"),
    )

    assert [[review.leg.id for review in reviews] for reviews in reasoner.rounds] == [["a", "b"], ["b"]]
    assert reasoner.rounds[1][0].draft is not None
    assert reasoner.rounds[1][0].draft.missing == ("the length",)
    assert [result.leg for result in outcome.legs] == ["a", "b"]
    assert "The crane lifts" in outcome.text
    assert "two rollers" in outcome.text
