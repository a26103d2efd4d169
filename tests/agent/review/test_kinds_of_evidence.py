"""A sentence of another kind than the asked one answers nothing, however many words it shares with the question."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Clarify
from storage.search.ids import BucketId
from storage.search.schema import Schema
from tests.agent.review.small_index import build_document, open_small_index

_SCHEMA = Schema(bucket=BucketId("notes"), synonyms=("note", "notes"), fields=())
_NOTES = (
    (
        "Boiler of the almshouse",
        "The hot water in Cell 9 took four minutes to come. Thorne will mend the pump. The tap drips. "
        "Until then the porters carry kettles.",
    ),
    (
        "Kitchen of the almshouse",
        "The dish tub flooded on Easter Sunday. Two cooks slipped and were taken home in a cart, since the rain was "
        "heavy. A fork had got into the drain. The repair by Moor & Orr came to £186.",
    ),
    (
        "Ropes of the tower",
        "We buy our bell ropes from Hempwell. The licence of Hempwell ends on 4 May 2031.",
    ),
    (
        "Minutes of May",
        "Bell founder Hempwell. The casting is late again. We are patient.\n\nThorne. His papers ran out yesterday. "
        "He is suspended, not dismissed. In the meantime the verger mends the pump.",
    ),
    ("Lamps of the nave", "The licence of the lamp maker ends on 9 August 2032. Lamps are lit at dusk."),
    (
        "Ringers in the tower",
        "A ringer who is stuck in the tower shall be freed within an hour. In June two ringers were stuck in the tower "
        "for 94 minutes.",
    ),
)


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    async with open_small_index(tmp_path, [(_SCHEMA, [build_document(*note) for note in _NOTES])]) as opened:
        yield opened


@pytest.mark.asyncio
async def test_minutes_are_no_charge(context: AgentContext) -> None:
    outcome = await answer("how much is Thorne charging for the hot water in Cell 9?", context)

    assert isinstance(outcome, Clarify), outcome


@pytest.mark.asyncio
async def test_a_charge_is_found_beside_what_it_is_for(context: AgentContext) -> None:
    outcome = await answer("how much did the repair of the dish tub cost?", context)

    assert isinstance(outcome, Answer), outcome
    assert "£186" in outcome.text


@pytest.mark.parametrize("question", ["why did the dish tub flood?", "what made the dish tub flood?"])
@pytest.mark.asyncio
async def test_a_cause_is_quoted_with_what_it_explains(context: AgentContext, question: str) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer), outcome
    assert "A fork had got into the drain." in outcome.text
    assert "cart" not in outcome.text


@pytest.mark.asyncio
async def test_how_long_something_may_take_is_not_how_long_it_took(context: AgentContext) -> None:
    outcome = await answer("how long were the ringers stuck in the tower?", context)

    assert isinstance(outcome, Answer), outcome
    assert "94 minutes" in outcome.text.split(" [1]")[0]


@pytest.mark.asyncio
async def test_that_licence_is_the_one_of_the_part_before(context: AgentContext) -> None:
    outcome = await answer("where do we buy our bell ropes from and when does that licence end?", context)

    assert isinstance(outcome, (Answer, Clarify)), outcome
    assert "4 May 2031" in outcome.text
    assert "9 August" not in outcome.text


@pytest.mark.asyncio
async def test_an_everyday_word_is_answered_by_the_word_of_the_minutes(context: AgentContext) -> None:
    outcome = await answer("Have we sacked Thorne?", context)

    assert isinstance(outcome, Answer), outcome
    assert outcome.text.startswith("**No**: “He is suspended, not dismissed.”")


@pytest.mark.asyncio
async def test_what_is_said_of_somebody_else_settles_nothing(context: AgentContext) -> None:
    outcome = await answer("Has the verger been sacked?", context)

    assert isinstance(outcome, Clarify), outcome
