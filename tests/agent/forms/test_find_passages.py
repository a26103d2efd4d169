"""Which questions about text are answered, from which documents, and which passages are reported."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.compose.phrases.figures import highlight_value
from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Clarify, Outcome, OutcomeKind
from agent.retrieval.answer_type import AnswerType, counted_noun_of
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, TenantId
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

LETTERS = BucketId("letters")
TEXTS = {
    "Harbour crane handbook": "The crane lifts nine tonnes. Its jib is forty metres long.",
    "Ferry ramp handbook": "The ramp rests on two rollers. Grease the rollers in spring.",
    "Mooring rules": "The harbour board adopted these rules on 4 July 2019. Yachts leave the quay by noon.",
    "Sluice gate handbook": (
        "The gate is closed by a program.\n\n```sh\n# the sluice gate closes\n"
        "- run **close_gate** __force__ --seconds 40\n```\n"
    ),
    "Bathing rules": "Swimmers stay within the buoys. Dogs are never allowed on the pier.",
}


@pytest.fixture
async def letters(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TenantId("t"), analysers=analyser_for, embedder=None)
    await index.set_schema(Schema(bucket=LETTERS))
    documents = [
        Document(
            doc_id=DocId(title.split()[0].casefold()),
            title=title,
            text=text,
            passages=(Passage(start=0, end=len(text)),),
            digest=title,
        )
        for title, text in TEXTS.items()
    ]
    await index.put(LETTERS, documents)
    yield index
    await index.close()


async def ask_question(index: EmbeddedIndex, question: str) -> Outcome:
    scope = Scope(tenant=TenantId("t"), buckets=frozenset({LETTERS}), ignores_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    return await answer(question, AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now))


@pytest.mark.parametrize(
    "question",
    [
        "Does the crane run on rollers?",  # each word is in a document, but no document holds both
        "When were the bathing rules adopted?",  # the day of the other rules is not theirs
    ],
)
async def test_a_question_is_not_answered_by_documents_that_share_single_words(
    letters: EmbeddedIndex, question: str
) -> None:
    outcome = await ask_question(letters, question)

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.NO_RESULTS
    assert "2019" not in outcome.text


async def test_a_question_is_answered_by_the_document_whose_title_it_names(letters: EmbeddedIndex) -> None:
    outcome = await ask_question(letters, "When were the mooring rules adopted?")

    assert isinstance(outcome, Answer)
    assert {citation.doc_id for citation in outcome.citations} == {"mooring"}
    assert "**4 July 2019**" in outcome.text


@pytest.mark.parametrize(
    ("question", "settled"),
    [("Are dogs allowed on the pier?", True), ("Are dogs allowed on the quay or the pier by noon?", False)],
)
async def test_a_yes_or_no_question_is_settled_only_by_a_sentence_with_its_words(
    letters: EmbeddedIndex, question: str, settled: bool
) -> None:
    outcome = await ask_question(letters, question)

    assert isinstance(outcome, Answer if settled else Clarify)
    assert "Dogs are never allowed on the pier." in outcome.text
    assert {citation.doc_id for citation in outcome.citations} >= {outcome.hits[0].hit.doc_id}
    assert ("does not settle" in outcome.text) is not settled


async def test_the_passages_of_a_message_fit_all_its_sentences(letters: EmbeddedIndex) -> None:
    outcome = await ask_question(letters, "What does the ramp rest on? What should I grease in spring?")

    assert isinstance(outcome, Answer | Clarify)
    assert outcome.hits[0].hit.doc_id == "ferry"
    assert len({found.hit.chunk_id for found in outcome.hits}) == len(outcome.hits)


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How many boats are moored?", "Pier K9 is 30 m long and holds 12 boats.", "12"),
        ("How many buoys are there?", "Pier K9 is 30 m long and holds 12 boats.", None),
        ("How far is the pier?", "Pier K9 is 30 m long.", "30 m"),
        ("How high is the tide?", "Measured in the harbour: 4 at noon.", "4"),
        ("How high is the tide?", "Gauge 3 at noon: 4.2 m.", None),
    ],
)
def test_the_number_in_bold_is_that_of_the_counted_noun(question: str, text: str, expected: str | None) -> None:
    highlighted = highlight_value(text, AnswerType.NUMBER, counted_noun_of(question))

    assert (f"**{expected}**" if expected is not None else "") in highlighted
    assert ("**" in highlighted) is (expected is not None)


async def test_code_is_quoted_as_it_stands_and_without_its_fence(letters: EmbeddedIndex) -> None:
    outcome = await ask_question(letters, "What does close_gate force seconds run?")

    assert isinstance(outcome, Answer | Clarify)
    assert "“- run **close_gate** __force__ --seconds 40" in outcome.text.replace("\\", "")
    assert "```" not in outcome.text
