"""A comparison, a share or a verdict that is probably of something else says how it was read, and asks."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer, resume
from agent.outcome import Answer, Clarify, OutcomeKind
from agent.rules.reasoner import RuleReasoner
from storage.search.refinement import UseReading, apply_to_plan
from tests.agent.rules.nested.mining import open_home_of

FILES = {
    "keepers.csv": (
        "name,yard,born on,joined on,weekly hours,wage,licence,remark\n"
        "Ada Moor,Ghent,1990-05-01,2019-03-01,40,EUR 21.00,yes,has a dog\n"
        "Ben Lund,Ghent,1985-02-01,2023-08-15,38,EUR 24.00,no,insured papers are missing\n"
        "Cy Nash,Bruges,1979-11-01,2021-01-05,20,EUR 19.00,yes,\n"
        "Di Orr,Ghent,1999-09-01,2022-06-09,32,EUR 26.00,yes,likes tea\n"
        "Ed Ruiz,Bruges,1989-09-02,2022-07-09,30,EUR 22.00,yes,\n"
    )
}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def context(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[AgentContext]:
    async with open_home_of(tmp_path_factory.mktemp("keepers"), FILES, frozenset({"keepers"})) as home:
        yield AgentContext(index=home.index, reasoner=RuleReasoner(), now=datetime(2033, 5, 9, tzinfo=UTC))


async def test_a_time_with_us_is_compared_by_the_date_of_joining(context: AgentContext) -> None:
    outcome = await answer("who has been with us longer, Ada Moor or Ben Lund?", context)

    assert isinstance(outcome, Answer)
    assert outcome.text.startswith("Joined on: later for **Ben Lund** (2023-08-15) than for **Ada Moor** (2019-03-01).")


@pytest.mark.parametrize(
    ("question", "reading"),
    [
        (
            "who works harder, Ada Moor or Ben Lund?",
            "**Ada Moor** and **Ben Lund**, compared by weekly hours. I could not use “harder”.",
        ),
        (
            "is Ada Moor taller than Ben Lund?",
            "**Ada Moor** and **Ben Lund**, side by side. I could not use “taller”.",
        ),
    ],
)
async def test_a_comparison_of_what_no_field_measures_is_not_answered_with_other_fields(
    context: AgentContext, question: str, reading: str
) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Clarify)
    assert outcome.text == f"I read this as: {reading} Is that what you mean?"


async def test_a_click_on_the_comparison_as_it_was_read_shows_both_sides(context: AgentContext) -> None:
    asked = await answer("is Ada Moor taller than Ben Lund?", context)
    assert isinstance(asked, Clarify)
    effect = asked.choices[0].effect
    assert isinstance(effect, UseReading)

    clicked = await resume(apply_to_plan(effect, asked.plan, asked.choices[0].leg), context)

    assert isinstance(clicked, Answer)
    assert [leg.doc_ids for leg in clicked.legs] == [("keepers.csv#1",), ("keepers.csv#2",)]


@pytest.mark.parametrize(
    ("question", "beginning"),
    [
        ("who earns more, Ada Moor or Ben Lund?", "Wage: more for **Ben Lund** (EUR 24.00)"),
        ("compare the weekly hours of Ada Moor and Cy Nash", "Weekly hours: more for **Ada Moor** (40 hours)"),
        ("who is older, Ada Moor or Cy Nash?", "Born on: later for **Ada Moor** (1990-05-01)"),
        ("who has more weekly hours, Ada Moor or Cy Nash?", "Weekly hours: more for **Ada Moor** (40 hours)"),
        ("are there more keepers in Ghent than in Bruges?", "Keepers: more for **Ghent** (3) than for **Bruges** (2)"),
        (
            "how many more keepers are there in Ghent than in Bruges?",
            "Keepers: more for **Ghent** (3) than for **Bruges** (2), a difference of 1 (50%).",
        ),
        ("more keepers in Ghent than in Bruges?", "Keepers: more for **Ghent** (3) than for **Bruges** (2)"),
    ],
)
async def test_a_comparison_of_what_the_question_names_is_answered(
    context: AgentContext, question: str, beginning: str
) -> None:
    outcome = await answer(question, context)

    assert isinstance(outcome, Answer)
    assert outcome.text.startswith(beginning)


async def test_a_share_of_a_field_is_answered_and_its_words_are_used(context: AgentContext) -> None:
    outcome = await answer("what percentage of the keepers have a licence?", context)

    assert isinstance(outcome, Answer)
    assert outcome.text == "**80%** (4 keepers) of 5 keepers."
    assert outcome.assumptions == ()


async def test_a_share_of_documents_that_mention_a_word_is_no_share_of_what_the_word_means(
    context: AgentContext,
) -> None:
    outcome = await answer("what percentage of the keepers that pay tax are insured?", context)

    assert isinstance(outcome, Clarify)
    assert "%" not in outcome.text


async def test_a_share_of_nothing_is_not_claimed_of_a_word_that_is_only_looked_up(context: AgentContext) -> None:
    outcome = await answer("what share of the keepers is vaccinated?", context)

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.NO_RESULTS
    assert outcome.text.startswith("I read this as: the share of keepers that mention “vaccinated”.")


async def test_a_row_of_a_table_is_cited_and_not_quoted(context: AgentContext) -> None:
    outcome = await answer("who earns more, Ada Moor or Ben Lund?", context)

    assert isinstance(outcome, Answer)
    assert "**Ada Moor**: wage **EUR 21.00** [1]" in outcome.text
    assert len(outcome.citations) == 2
