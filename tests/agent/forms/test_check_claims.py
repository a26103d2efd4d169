"""Yes or no about a named document, from its values; and the claims after a click or a follow-up."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.loop import answer, resume
from agent.outcome import Answer, Clarify
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.codec import plan_from_json, plan_to_json
from storage.search.conditions import ComparisonCondition, conjuncts_of
from storage.search.documents import Document, FieldValue, Passage
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.plan import CheckClaims, FindPassages, Plan
from storage.search.refinement import DropFilter, apply_refinement
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT, KENNELS = TenantId("t"), BucketId("kennels")
NAME, STATUS, HEATED, GUESTS = FieldName("name"), FieldName("status"), FieldName("heated"), FieldName("guests")
SCHEMA = Schema(
    bucket=KENNELS,
    synonyms=("kennel",),
    fields=(
        SchemaField(name=NAME, type=FieldType.CATEGORY),
        SchemaField(name=STATUS, type=FieldType.CATEGORY, values={"open": (), "closed": ()}),
        SchemaField(name=HEATED, type=FieldType.FLAG),
        SchemaField(name=GUESTS, type=FieldType.LIST, values={"Dogs": ("dog",), "Cats": ("cat",)}),
    ),
)


def _build_kennel(number: int, text: str, **values: FieldValue) -> Document:
    return Document(
        doc_id=DocId(f"kennel-{number}"),
        title=f"{values['name']} kennel",
        text=text,
        values={FieldName(name): value for name, value in values.items()},
        passages=(Passage(start=0, end=len(text)),),
    )


@pytest_asyncio.fixture
async def context(tmp_path: Path) -> AsyncIterator[AgentContext]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(SCHEMA)
    kennels = [
        _build_kennel(
            1, "The kennel takes every dog, on straw.", name="Maple", status="open", heated=True, guests=("Dogs",)
        ),
        _build_kennel(2, "Each cat has a shelf.", name="Willow", status="closed", heated=False, guests=("Cats",)),
        _build_kennel(3, "The roof was tarred in spring.", name="Birch", heated=True, guests=("Dogs", "Cats")),
    ]
    await index.put(KENNELS, kennels)
    scope = Scope(tenant=TENANT, buckets=frozenset({KENNELS}), ignores_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    yield AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now)
    await index.close()


async def ask_in_turn(context: AgentContext, *questions: str) -> Answer | Clarify:
    """Asks the questions in one conversation; returns the outcome of the last."""
    plan: Plan | None = None
    outcome: Answer | Clarify | None = None
    for question in questions:
        answered = await answer(question, replace(context, last_plan=plan))
        assert isinstance(answered, (Answer, Clarify))
        outcome, plan = answered, answered.plan
    assert outcome is not None
    return outcome


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Is the kennel Maple heated?", "**Yes**: Maple kennel is marked heated"),
        ("Is the kennel Willow heated?", "**No**: Willow kennel is not marked heated"),
        ("Does the kennel Maple take cats?", "**No**: Cats is not among the guests of Maple kennel"),
        ("Is Maple still open?", "**Yes**: the status of Maple kennel is open"),
        ("Is Willow still open?", "**No**: the status of Willow kennel is closed"),
    ],
)
async def test_a_value_of_the_named_document_decides(context: AgentContext, question: str, expected: str) -> None:
    outcome = await ask_in_turn(context, question)

    assert isinstance(outcome, Answer)
    assert outcome.plan.legs[0].answer_form == CheckClaims()
    assert outcome.text.startswith(expected)


async def test_a_document_without_the_value_is_answered_from_text(context: AgentContext) -> None:
    outcome = await ask_in_turn(context, "Is Birch still open?")

    assert outcome.plan.legs[0].answer_form == CheckClaims()
    assert not outcome.text.startswith(("**Yes**", "**No**"))


async def test_without_a_named_document_the_text_answers(context: AgentContext) -> None:
    outcome = await ask_in_turn(context, "Was the roof tarred in spring?")

    assert isinstance(outcome, Answer)
    assert outcome.plan.legs[0].answer_form == CheckClaims()
    assert outcome.text.startswith("“The roof was tarred in spring.”")


# -- after a follow-up or a click


async def test_a_follow_up_with_another_value_checks_that_value(context: AgentContext) -> None:
    outcome = await ask_in_turn(context, "Does the kennel Maple take dogs?", "And cats?")

    assert outcome.plan.legs[0].answer_form == CheckClaims()
    assert outcome.text.startswith("**No**: Cats is not among the guests of Maple kennel")


async def test_a_follow_up_with_another_document_checks_the_same_claim(context: AgentContext) -> None:
    outcome = await ask_in_turn(context, "Does the kennel Maple take dogs?", "What about Willow?")

    assert outcome.text.startswith("**No**: Dogs is not among the guests of Willow kennel")


async def test_a_second_part_that_asks_for_something_else_is_not_answered_by_the_claim(context: AgentContext) -> None:
    outcome = await ask_in_turn(context, "Does the kennel Maple take dogs? And what about the straw for dogs?")

    assert outcome.text.count("**Yes**") == 1


@pytest.mark.parametrize("follow_up", ["Is it painted?", "Does it take cats?"])
async def test_another_question_about_the_document_is_not_answered_by_the_last_claim(
    context: AgentContext, follow_up: str
) -> None:
    outcome = await ask_in_turn(context, "Does the kennel Maple take dogs?", follow_up)

    assert "Dogs is" not in outcome.text


async def test_a_condition_that_a_click_drops_is_no_claim_any_more(context: AgentContext) -> None:
    plan = (await ask_in_turn(context, "Does the kennel Maple take cats?")).plan
    claim = next(
        condition
        for condition in conjuncts_of(plan.legs[0].search.clauses[0].condition)
        if isinstance(condition, ComparisonCondition) and condition.field == GUESTS
    )
    relaxed = apply_refinement(DropFilter(condition=claim), plan.legs[0].search)

    outcome = await resume(plan.with_search(plan.legs[0].id, relaxed), context)

    assert isinstance(outcome, (Answer, Clarify))
    assert not outcome.text.startswith(("**Yes**", "**No**"))


async def test_a_stored_plan_gives_the_same_answer_again(context: AgentContext) -> None:
    outcome = await ask_in_turn(context, "Does the kennel Maple take cats?")

    again = await resume(plan_from_json(plan_to_json(outcome.plan)), context)

    assert isinstance(again, Answer)
    assert again.text == outcome.text


async def test_a_plan_stored_before_this_form_existed_is_answered_from_text(context: AgentContext) -> None:
    plan = (await ask_in_turn(context, "Does the kennel Maple take dogs?")).plan
    stored = plan_to_json(replace(plan, legs=(replace(plan.legs[0], answer_form=FindPassages()),)))

    outcome = await resume(plan_from_json(stored), context)

    assert isinstance(outcome, Answer)
    assert outcome.text.startswith("“The kennel takes every dog, on straw.”")
