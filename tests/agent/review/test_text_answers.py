"""Which questions a sentence of a text answers, where a bucket of rows is loaded beside the texts."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Clarify
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from tests.agent.review.small_index import build_document, open_small_index

_BELLS_SCHEMA = Schema(
    bucket=BucketId("bells"),
    synonyms=("bell", "bells"),
    fields=(
        SchemaField(name=FieldName("metal"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("weight"), type=FieldType.NUMBER, unit="kg"),
        *(SchemaField(name=FieldName(name), type=FieldType.CATEGORY) for name in ("founder", "tone", "place")),
    ),
)
_RULES_SCHEMA = Schema(bucket=BucketId("rules"), synonyms=("rule", "rules"), fields=())
_BELLS = {
    "Agatha Maior": {"metal": "bronze", "weight": 400.0, "founder": "Rao", "tone": "F", "place": "tower"},
    "Beata Minor": {"metal": "bronze", "weight": 500.0, "founder": "Rao", "tone": "E", "place": "tower"},
    "Cosima Nova": {"metal": "steel", "weight": 700.0, "founder": "Bakare", "tone": "C", "place": "yard"},
}
_RULES = (
    ("Tower keys", "A lost tower key is reported to the verger the same day. The verger changes the tower lock."),
    ("Ringing chamber", "The parish hires out the ringing chamber for 85 € a week. The stairs are steep."),
    ("Clock", "Ursula Thorne winds the tower clock every Friday."),
)


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    rows = [
        build_document(name, "\n".join(f"{field}: {value}" for field, value in values.items()), **values)
        for name, values in _BELLS.items()
    ]
    texts = [build_document(title, text) for title, text in _RULES]
    async with open_small_index(tmp_path, [(_BELLS_SCHEMA, rows), (_RULES_SCHEMA, texts)]) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Would you be so kind as to tell me who winds the tower clock?", "Ursula Thorne"),
        ("Could someone look up on which day Ursula Thorne winds the tower clock?", "Friday"),
        ("What happens if I lose my tower key?", "reported to the verger"),
        ("How much is the ringing chamber a week?", "**85 €**"),
    ],
)
@pytest.mark.asyncio
async def test_a_sentence_answers_however_the_question_is_put(context: AgentContext, question: str, told: str) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer), outcome
    assert told in outcome.text


@pytest.mark.asyncio
async def test_a_quotation_that_may_not_answer_says_so_and_offers_the_nearest_documents(context: AgentContext) -> None:
    outcome = await answer("What do we pay for a week upstairs?", context)

    assert isinstance(outcome, Answer), outcome
    assert outcome.text.startswith("I am not sure that this answers your question:")
    assert "**85 €**" in outcome.text
    assert ("Ringing chamber", 1) in [(choice.label, choice.count) for choice in outcome.choices]


@pytest.mark.asyncio
async def test_a_quotation_that_surely_answers_has_no_reserve(context: AgentContext) -> None:
    outcome = await answer("Who winds the tower clock?", context)

    assert isinstance(outcome, Answer), outcome
    assert "not sure" not in outcome.text
    assert not outcome.choices


@pytest.mark.asyncio
async def test_the_fields_of_a_named_row_are_offered_where_the_question_fits_none(context: AgentContext) -> None:
    outcome = await answer("what is the nickname of Cosima Nova", context)

    assert isinstance(outcome, Clarify)
    assert "entry of Cosima Nova" in outcome.text
    assert {"Metal", "Weight"} <= {choice.label for choice in outcome.choices}


@pytest.mark.asyncio
async def test_no_document_is_said_to_lack_a_month(context: AgentContext) -> None:
    outcome = await answer("Did the verger sharpen pencils in October?", context)

    assert isinstance(outcome, Clarify)
    assert "“October”" not in outcome.text
    assert "“october”" not in outcome.text
