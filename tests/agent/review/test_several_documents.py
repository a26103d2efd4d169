"""A question that several documents answer asks which one is meant, and lists all where all may be meant."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer, resume
from agent.outcome import Answer, Clarify
from storage.search.ids import BucketId, FieldName
from storage.search.refinement import UseForm, apply_to_plan
from storage.search.schema import FieldType, Schema, SchemaField
from tests.agent.review.small_index import build_document, open_small_index

_TICKETS_SCHEMA = Schema(
    bucket=BucketId("tickets"),
    synonyms=("ticket", "tickets"),
    fields=(
        SchemaField(name=FieldName("holder"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("course"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("room"), type=FieldType.CATEGORY),
    ),
)
_HOLDERS = ("Ida Berg", "Nils Roth", "Eva Lund", "Ole Dahl", "Rut Falk")


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    tickets = [
        build_document(
            f"T{number}",
            f"holder: {holder}\ncourse: Rescue\nroom: {number}",
            holder=holder,
            course="Rescue",
            room=f"Room {number}",
        )
        for number, holder in enumerate(_HOLDERS)
    ]
    other = build_document(
        "T9", "holder: Per Holm\ncourse: Radio\nroom: 9", holder="Per Holm", course="Radio", room="R9"
    )
    async with open_small_index(tmp_path, [(_TICKETS_SCHEMA, [*tickets, other])]) as opened:
        yield opened


@pytest.mark.asyncio
async def test_who_it_is_may_be_all_of_them(context: AgentContext) -> None:
    outcome = await answer("who is the holder for the rescue course", context)

    assert isinstance(outcome, Clarify)
    first = outcome.choices[0]
    assert (first.label, first.count) == ("List them", len(_HOLDERS))
    assert isinstance(first.effect, UseForm)
    listed = await resume(apply_to_plan(first.effect, outcome.plan, first.leg), context)
    assert isinstance(listed, Answer)
    assert listed.legs[0].count == len(_HOLDERS)


@pytest.mark.asyncio
async def test_a_value_of_one_of_them_asks_only_which_one(context: AgentContext) -> None:
    outcome = await answer("what is the room of the rescue course", context)

    assert isinstance(outcome, Clarify)
    assert "List them" not in {choice.label for choice in outcome.choices}
    assert len(outcome.choices) >= len(_HOLDERS)
