"""A question about one class of things is not answered with what a text says of another."""

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

_SCHEMA = Schema(bucket=BucketId("rules"), synonyms=("rule", "rules"), fields=())
_RULES = (
    ("Support", "A P1 fault is answered by the help desk within 30 minutes. A P3 fault waits for the next morning."),
    ("Clock", "Ursula Thorne winds the tower clock every Friday."),
    (
        "Goats",
        "Goats must be on a lead no longer than two metres in the yard and on the path to the weir. Goats are excluded "
        "from every fenced herb garden, from the crypt and from the weir. This holds for goats on a lead as well. "
        "Nobody may walk more than four goats at a time.",
    ),
    (
        "Winter hours",
        "Tower museum: closes on Wednesday 23 December at three. It reopens on Monday 4 January at nine. "
        "Guides take the days between from their leave.",
    ),
    (
        "Letters",
        "The reasoned reply to a letter goes out within 20 days. If a tenant does not accept our reply, a second "
        "letter follows after 28 days.",
    ),
    (
        "Minutes of the June moot",
        "MOOT\nMonday 16 June 2031, 19:00\n\n5. Bell ropes\nMembers found them dear. Put off to the September moot.\n\n"
        "6. Lamps\nOne more is bought for the yard.\n\nNext meeting: 15 September 2031\n",
    ),
    (
        "Minutes of the September moot",
        "MOOT\nMonday 15 September 2031, 19:00\n\n4. Bell ropes\nThe verger had asked three makers. Decision: hemp "
        "ropes from Thorne for the four small bells. The verger fetches them.\n\n5. Gate\nIt is oiled.\n",
    ),
    (
        "Bell contest rules",
        "Ringers are at the tower early. Water in a bottle is allowed; food is not. Gloves are lent.",
    ),
    ("Greasing of bells", "# Greasing of bells\n\n1. Climb the tower.\n2. Grease the wheel of each bell.\n"),
    ("Kites", "Kites are not allowed in the orchard. Kites may be flown in the yard."),
)


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    async with open_small_index(tmp_path, [(_SCHEMA, [build_document(*rule) for rule in _RULES])]) as opened:
        yield opened


@pytest.mark.asyncio
async def test_the_class_that_is_asked_is_quoted(context: AgentContext) -> None:
    outcome = await answer("how fast is a P1 fault answered by the help desk?", context)

    assert isinstance(outcome, Answer), outcome
    assert "30 minutes" in outcome.text


@pytest.mark.asyncio
async def test_no_other_class_is_quoted(context: AgentContext) -> None:
    outcome = await answer("how fast is a P2 fault answered by the help desk?", context)

    assert isinstance(outcome, Clarify), outcome
    assert "30 minutes" not in outcome.text


@pytest.mark.asyncio
async def test_a_rule_settles_a_question_though_another_sentence_has_more_of_its_words(context: AgentContext) -> None:
    outcome = await answer("Can people take a goat into the herb garden as long as it's on a lead?", context)

    assert isinstance(outcome, Answer), outcome
    assert outcome.text.startswith("**No**: “Goats are excluded")


@pytest.mark.asyncio
async def test_a_rule_for_a_like_thing_settles_nothing(context: AgentContext) -> None:
    outcome = await answer("are drones allowed in the orchard?", context)

    assert isinstance(outcome, (Answer, Clarify)), outcome
    assert "**No**" not in outcome.text


@pytest.mark.parametrize(
    ("question", "told", "other"),
    [
        ("When does the tower museum open again in the winter hours?", "4 January", "23 December"),
        ("how quickly do we have to reply when a tenant sends a letter?", "20 days", "28 days"),
    ],
)
@pytest.mark.asyncio
async def test_the_value_of_another_step_is_not_quoted_first(
    context: AgentContext, question: str, told: str, other: str
) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer), outcome
    first = outcome.text.split(" [1]")[0]
    assert told in first
    assert other not in first


@pytest.mark.asyncio
async def test_what_a_meeting_decided_is_quoted_from_its_own_minutes(context: AgentContext) -> None:
    outcome = await answer("What was decided about the bell ropes in the September meeting?", context)

    assert isinstance(outcome, Answer), outcome
    assert "hemp ropes from Thorne" in outcome.text
    assert "Put off" not in outcome.text
    assert "oiled" not in outcome.text


@pytest.mark.asyncio
async def test_a_ban_under_a_title_holds_for_what_the_title_is_about(context: AgentContext) -> None:
    outcome = await answer("May ringers bring food to the contest?", context)

    assert isinstance(outcome, Answer), outcome
    assert outcome.text.startswith("**No**: “Water in a bottle is allowed; food is not.”")


@pytest.mark.asyncio
async def test_a_ban_under_another_title_settles_nothing(context: AgentContext) -> None:
    outcome = await answer("May ringers bring food to the crypt?", context)

    assert "**No**" not in outcome.text if isinstance(outcome, (Answer, Clarify)) else False


@pytest.mark.asyncio
async def test_the_document_is_named_whose_title_is_about_the_topic(context: AgentContext) -> None:
    outcome = await answer("Which document describes the steps for the greasing of the bells?", context)

    assert isinstance(outcome, Answer), outcome
    assert outcome.text == "“Greasing of bells” [1]"
    assert [citation.doc_id for citation in outcome.citations] == ["greasing-of-bells"]


@pytest.mark.asyncio
async def test_no_document_is_named_for_a_topic_that_no_title_has(context: AgentContext) -> None:
    outcome = await answer("Which document describes the steps for the painting of the bells?", context)

    assert isinstance(outcome, Clarify), outcome
