"""What a reply offers where it does not know a word, and what it may say of words that no document has."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.english.gradable_adjectives import compares_all
from agent.loop import answer, resume
from agent.outcome import Answer, ChoiceKind, Clarify, OutcomeKind
from storage.search.ids import BucketId, FieldName
from storage.search.refinement import UseForm, apply_to_plan
from storage.search.schema import FieldType, Schema, SchemaField
from tests.agent.review.small_index import build_document, open_small_index

_KAYAKS_SCHEMA = Schema(
    bucket=BucketId("kayaks"),
    synonyms=("kayak", "kayaks"),
    fields=(
        SchemaField(name=FieldName("colour"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("length"), type=FieldType.NUMBER, unit="m"),
    ),
)
_NOTES_SCHEMA = Schema(bucket=BucketId("notes"), synonyms=("note", "notes"), fields=())
_KAYAKS = (("Heron", "red", 4.0), ("Teal", "red", 5.0), ("Grebe", "blue", 5.0))
_NOTES = (
    ("Boat shed rules", "The boat shed opens at seven. Members hang the paddles on the north wall."),
    ("Repairs", "Hulls are repaired in the workshop. A cracked hull is repaired within two weeks."),
)


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    rows = [build_document(name, f"{name} is {c}.", colour=c, length=size) for name, c, size in _KAYAKS]
    texts = [build_document(title, text) for title, text in _NOTES]
    async with open_small_index(tmp_path, [(_KAYAKS_SCHEMA, rows), (_NOTES_SCHEMA, texts)]) as opened:
        yield opened


async def _ask(context: AgentContext, question: str) -> Answer | Clarify:
    outcome = await answer(question, context)
    assert isinstance(outcome, (Answer, Clarify))
    return outcome


@pytest.mark.asyncio
async def test_a_single_choice_is_a_sentence_with_a_button_and_no_question(context: AgentContext) -> None:
    outcome = await _ask(context, "list the dented blue kayaks")

    assert [(choice.label, choice.count) for choice in outcome.choices] == [("Without “dented”", 1)]
    assert "“dented”" in outcome.text
    assert "?" not in outcome.text


@pytest.mark.asyncio
async def test_a_number_has_a_button_that_lists_its_documents(context: AgentContext) -> None:
    outcome = await _ask(context, "how many red kayaks are there")
    choice = next(choice for choice in outcome.choices if choice.label == "List them")
    assert isinstance(choice.effect, UseForm)

    listed = await resume(apply_to_plan(choice.effect, outcome.plan, choice.leg), context)

    assert choice.count == 2
    assert isinstance(listed, Answer)
    assert sorted(listed.legs[0].doc_ids) == ["heron", "teal"]


@pytest.mark.asyncio
async def test_an_unanswered_question_offers_the_documents_that_come_closest(context: AgentContext) -> None:
    outcome = await _ask(context, "Who pays for a cracked hull?")

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.NO_RESULTS
    shown = [choice for choice in outcome.choices if choice.kind is ChoiceKind.DOCUMENT]
    assert (shown[0].label, shown[0].count) == ("Repairs", 1)
    assert isinstance(shown[0].effect, UseForm)
    clicked = await resume(apply_to_plan(shown[0].effect, outcome.plan, shown[0].leg), context)
    assert isinstance(clicked, Answer)
    assert clicked.legs[0].doc_ids == ("repairs",)


@pytest.mark.asyncio
async def test_a_question_about_something_else_quotes_nothing(context: AgentContext) -> None:
    outcome = await _ask(context, "Who composed the second violin concerto?")

    assert isinstance(outcome, Clarify)
    assert outcome.citations == ()
    assert "“The boat" not in outcome.text


@pytest.mark.parametrize(
    "question",
    ["How long is the hull of Ann Berg repaired?", "Which hull takes the longest to be repaired?", "Who of us went?"],
)
@pytest.mark.asyncio
async def test_no_sentence_about_something_else_is_quoted_as_the_answer(context: AgentContext, question: str) -> None:
    outcome = await _ask(context, question)

    assert isinstance(outcome, Clarify)


@pytest.mark.asyncio
async def test_a_sentence_that_holds_what_is_asked_is_quoted_as_the_answer(context: AgentContext) -> None:
    outcome = await _ask(context, "How long does it take until a cracked hull is repaired?")

    assert isinstance(outcome, Answer)
    assert "two" in outcome.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("who pays the most?", True),
        ("the cheapest kayak", True),
        ("at least two weeks", False),
        ("when do I begin at the earliest?", False),
        ("the latest rules", False),
    ],
)
def test_a_superlative_compares_all_of_a_set(text: str, expected: bool) -> None:
    assert compares_all(text) is expected
