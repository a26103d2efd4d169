"""Questions about the rows of a table that stands in a document."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.context import AgentContext
from agent.loop import answer, resume
from agent.outcome import Answer, Clarify, Outcome
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, TenantId
from storage.search.refinement import Action, apply_refinement
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

NOTES = BucketId("notes")
REGATTA = """Results of the autumn regatta, kept by the harbour office.

| Place | Skipper | Club | Points | Date |
|-------|---------|------|--------|------|
| 1st | Ida Berg | Northquay | 48 | 3 May 2029 |
| 2nd | Tom Hale | Southbank | 41 | 4 May 2029 |
| 3rd | Ruth Amsel | Northquay | 35 | 7 June 2030 |
| 4th | Leo Marsh | Westpier | 20 | 9 June 2030 |

The office opens at nine.
"""
WINES = """"Vintage","Winemaker","Bottles"
"2019","Paul Roux","1,200"
"2020","Anna Keil","900"
"2021","Anna Keil","1,500"
"""
TEXTS = {"Regatta notes": REGATTA, "Cellar": WINES, "House rules": "Dogs stay outside. Ask the warden for a key."}


SPRING = """| Skipper | Points |
|---------|--------|
| Ida Berg | 48 |
| Leo Marsh | 20 |
| Ruth Amsel | 35 |
"""
SUMMER = SPRING.replace("48", "12").replace("20", "60")


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    index = await open_index(tmp_path, TEXTS)
    yield index
    await index.close()


async def open_index(folder: Path, texts: Mapping[str, str]) -> EmbeddedIndex:
    index = await EmbeddedIndex.open(folder, tenant=TenantId("t"), analysers=analyser_for, embedder=None)
    await index.set_schema(Schema(bucket=NOTES))
    documents = [
        Document(
            doc_id=DocId(title.split()[0].casefold()),
            title=title,
            text=text,
            passages=(Passage(start=0, end=len(text)),),
            digest=title,
        )
        for title, text in texts.items()
    ]
    await index.put(NOTES, documents)
    return index


async def ask_question(index: EmbeddedIndex, question: str) -> Outcome:
    return await answer(question, context_of(index))


def context_of(index: EmbeddedIndex) -> AgentContext:
    scope = Scope(tenant=TenantId("t"), buckets=frozenset({NOTES}), ignores_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    return AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Which club does Tom Hale belong to?", "Southbank"),
        ("How many points did Ruth Amsel get?", "35"),
        ("Which skipper had the most points?", "Ida Berg"),
        ("Which skipper had the fewest points?", "Leo Marsh"),
        ("Which skipper came after Tom Hale?", "Ruth Amsel"),
        ("Which club has the most skippers?", "Northquay"),
        ("How many skippers have more than 30 points?", "3"),
        ("What is the total number of points of Northquay?", "83"),
        ("How many more points did Ida Berg get than Leo Marsh?", "28"),
        ("Did Tom Hale or Ruth Amsel have more points?", "Tom Hale"),
        ("Which skipper sailed after 2029 for Northquay?", "Ruth Amsel"),
        ("Which winemaker made the 2019 vintage?", "Paul Roux"),
        ("How many bottles did Anna Keil make in 2021?", "1,500"),
        ("Does Tom Hale have more points than Ida Berg?", "No"),
        ("Did Ida Berg get more than 40 points?", "Yes"),
        ("Which skipper is from Northquay, Ida Berg or Tom Hale?", "Ida Berg"),
        ("How many skippers are listed between Ida Berg and Leo Marsh?", "2"),
        ("How many consecutive rows are by Anna Keil?", "2"),
    ],
)
async def test_a_question_is_answered_from_the_rows_of_a_table(notes: EmbeddedIndex, question: str, value: str) -> None:
    outcome = await ask_question(notes, question)

    assert isinstance(outcome, Answer)
    assert f"**{value}**" in outcome.text


async def test_an_answer_cites_the_row_that_it_stands_in(notes: EmbeddedIndex) -> None:
    outcome = await ask_question(notes, "Which club does Tom Hale belong to?")

    assert isinstance(outcome, Answer)
    (citation,) = outcome.citations
    assert REGATTA[citation.start : citation.end] == "| 2nd | Tom Hale | Southbank | 41 | 4 May 2029 |"


async def test_a_computed_answer_has_its_value_as_a_figure(notes: EmbeddedIndex) -> None:
    outcome = await ask_question(notes, "What is the total number of points of Northquay?")

    assert isinstance(outcome, Answer)
    (figure,) = outcome.legs[0].figures
    assert (figure.function, figure.value, figure.count) == ("sum", 83, 2)


async def test_two_tables_that_answer_differently_are_offered_and_the_chosen_one_answers(tmp_path: Path) -> None:
    index = await open_index(tmp_path, {"Spring regatta": SPRING, "Summer regatta": SUMMER})
    question = "Which skipper had the most points?"

    asked = await ask_question(index, question)

    assert isinstance(asked, Clarify)
    assert "**" not in asked.text
    assert {choice.label: choice.count for choice in asked.choices if choice.count} == {
        "Spring regatta": 1,
        "Summer regatta": 1,
    }
    choice = next(choice for choice in asked.choices if choice.label == "Summer regatta")
    assert not isinstance(choice.effect, Action)
    leg = asked.plan.leg_by_id(choice.leg)
    chosen = await resume(
        asked.plan.with_search(leg.id, apply_refinement(choice.effect, leg.search)), context_of(index)
    )
    assert isinstance(chosen, Answer)
    assert "**Leo Marsh**" in chosen.text
    await index.close()


async def test_tables_that_answer_alike_give_one_answer(tmp_path: Path) -> None:
    index = await open_index(tmp_path, {"Spring regatta": SPRING, "Copy of the spring regatta": SPRING})

    outcome = await ask_question(index, "Which skipper had the most points?")

    assert isinstance(outcome, Answer)
    assert outcome.text.count("**Ida Berg**") == 1
    await index.close()


@pytest.mark.parametrize(
    "question",
    [
        "Which skipper came directly after the winner of the 1988 regatta?",
        "What is the percentage of points of Tom Hale?",
        "Which skipper had neither points nor a club?",
        "How many minutes before Tom Hale did Ida Berg arrive?",
    ],
)
async def test_nothing_is_claimed_where_a_word_that_changes_the_question_is_not_used(
    notes: EmbeddedIndex, question: str
) -> None:
    outcome = await ask_question(notes, question)

    assert isinstance(outcome, (Answer, Clarify))
    assert "**" not in outcome.text


@pytest.mark.parametrize(
    "question", ["Which sponsor paid for the trophy of Tom Hale's cousin?", "How many dogs bit the warden in 1988?"]
)
async def test_nothing_is_claimed_where_the_rows_explain_too_little(notes: EmbeddedIndex, question: str) -> None:
    outcome = await ask_question(notes, question)

    assert not isinstance(outcome, Answer)
