"""What a follow-up of an answer from texts is answered with."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Clarify
from storage.search.ids import BucketId
from storage.search.schema import Schema
from tests.agent.review.small_index import build_document, open_small_index

_SCHEMA = Schema(bucket=BucketId("rules"), synonyms=("rule", "rules"), fields=())
_RULES = (
    (
        "Animals overnight",
        "A dog may stay overnight in the crypt for 9 € a night. A cat may stay overnight in the crypt for 4 € a night. "
        "Its basket is collected on Sunday.",
    ),
    ("Lost property", "A lost basket is collected within three weeks."),
    ("Tower keys", "A lost tower key is reported to the verger the same day. The verger changes the tower lock."),
    ("Agreement with Moor", "The notice period of the agreement with Moor is three months."),
    ("Agreement with Orr", "The notice period of the agreement with Orr is six weeks."),
    ("Clock", "Ursula Thorne winds the tower clock every Friday."),
)
_FIRST_QUESTION = "How much does it cost if a dog stays overnight in the crypt?"


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    async with open_small_index(tmp_path, [(_SCHEMA, [build_document(*rule) for rule in _RULES])]) as opened:
        yield opened


async def _follow_up(
    context: AgentContext, message: str, *, question: str = _FIRST_QUESTION, cites: bool = True
) -> Answer | Clarify:
    """Returns the reply to a message after `question`. `cites`: the reply before it cited its documents."""
    first = await answer(question, context)
    assert isinstance(first, Answer), first
    found = tuple(dict.fromkeys(citation.doc_id for citation in first.citations)) if cites else ()
    outcome = await answer(message, replace(context, last_plan=first.plan, found_documents=found))
    assert isinstance(outcome, (Answer, Clarify)), outcome
    return outcome


@pytest.mark.parametrize(("message", "told"), [("and a cat?", "4 €"), ("and when is its basket collected?", "Sunday")])
@pytest.mark.asyncio
async def test_a_follow_up_is_answered_with_what_it_asks(context: AgentContext, message: str, told: str) -> None:
    outcome = await _follow_up(context, message)

    assert isinstance(outcome, Answer), outcome
    assert told in outcome.text
    assert "9 €" not in outcome.text


@pytest.mark.parametrize("message", ["and a parrot?", "and the insurance of the verger?"])
@pytest.mark.asyncio
async def test_the_answer_before_a_follow_up_is_not_repeated_as_its_answer(context: AgentContext, message: str) -> None:
    outcome = await _follow_up(context, message)

    assert isinstance(outcome, Clarify), outcome
    assert "9 €" not in outcome.text


@pytest.mark.asyncio
async def test_what_a_follow_up_points_to_is_not_sought_in_documents_that_no_reply_cited(context: AgentContext) -> None:
    outcome = await _follow_up(context, "and when is its basket collected?", cites=False)

    assert isinstance(outcome, Clarify), outcome


@pytest.mark.asyncio
async def test_a_name_takes_the_place_of_the_name_in_a_question_that_texts_answer(context: AgentContext) -> None:
    outcome = await _follow_up(context, "and with Orr?", question="What is the notice period in the Moor agreement?")

    assert isinstance(outcome, Answer), outcome
    assert "six weeks" in outcome.text
    assert "three months" not in outcome.text
