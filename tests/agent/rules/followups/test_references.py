"""Follow-ups about the results: what stands for them in the message, and the documents that they refer to."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import cast

import pytest
import pytest_asyncio

from agent.decomposition import PlannedQuestion
from agent.rules.reasoner import RuleReasoner
from storage.search.conditions import DOC_ID_FIELD, ComparisonCondition, ComparisonOperator, SemiJoinCondition
from storage.search.ids import DocId, FieldName
from storage.search.plan import AggregateFunction, ComputeNumbers, FindPassages, ListDocuments, ReadFields
from tests.agent.rules.followups.test_follow_up_plan import conditions_of_plan, plan_conversation, plan_next_message
from tests.agent.rules.nested.mining import MiningHome, open_mining_home
from tests.agent.rules.reading.test_bucket_reading import BUCKET, comparison_on

BLUE_VAN = comparison_on("carrier", ComparisonOperator.EQ, "Blue Van")
POSTAGE = ComputeNumbers(functions=(AggregateFunction.SUM,), field=FieldName("postage"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_mining_home(tmp_path_factory.mktemp("mining")) as opened:
        yield opened


async def plan_dialogue(home: MiningHome, *questions: str) -> PlannedQuestion:
    """Returns the plan of the last question; each one may continue those before it."""
    planned: list[PlannedQuestion] = []
    for question in questions:
        plans = tuple(each.plan for each in planned)
        context = replace(home.context, last_plan=plans[-1] if plans else None, earlier_plans=plans[:-1])
        planned.append(cast(PlannedQuestion, await RuleReasoner().decompose_question(question, context)))
    return planned[-1]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_place_is_the_document_that_the_answer_names(home: MiningHome) -> None:
    planned = await plan_dialogue(home, "which mine does Kai Vogt work in?", "and who is the foreman there?")

    (condition,) = conditions_of_plan(planned.plan)
    assert isinstance(condition, SemiJoinCondition)
    assert planned.plan.legs[0].search.buckets == ("mines",)
    assert await home.find_titles(planned.plan.legs[0]) == {"Deepwell"}
    assert [name for _, name in planned.plan.legs[0].answer_form.requested_fields] == ["foreman"]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_person_is_the_document_that_the_answer_names(home: MiningHome) -> None:
    planned = await plan_dialogue(home, "who is the foreman of Coldvein?", "what is her trade?")

    assert await home.find_titles(planned.plan.legs[0]) == {"Mira Stenz"}


@pytest.mark.asyncio(loop_scope="module")
async def test_a_value_in_an_inner_set_is_replaced_there(home: MiningHome) -> None:
    planned = await plan_dialogue(home, "how many loads from mines in Ostmark?", "same for Tarland?")

    assert await home.find_titles(planned.plan.legs[0]) == {"L-3", "L-6"}
    assert planned.plan.legs[0].answer_form == ComputeNumbers(functions=(AggregateFunction.COUNT,))


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("question", ["which mines have their own foreman?", "how many workers are there?"])
async def test_a_question_with_its_own_noun_is_a_new_topic(home: MiningHome, question: str) -> None:
    planned = await plan_dialogue(home, "loads from Ostmark", question)

    assert not planned.is_followup


def test_words_about_the_results_that_were_not_understood_are_asked_about() -> None:
    result = plan_next_message(plan_conversation("parcels by Blue Van"), "which of them are flimmered?")

    assert conditions_of_plan(result.plan) == [BLUE_VAN]
    assert result.alternatives[0].unknown_words == ("flimmered",)
    assert result.alternatives[0].is_confined


@pytest.mark.parametrize(
    "message", ["what did they cost?", "and what did we pay in postage?", "how much was that?", "total postage?"]
)
def test_an_amount_of_several_documents_is_their_sum(message: str) -> None:
    result = plan_next_message(plan_conversation("parcels by Blue Van"), message)

    assert conditions_of_plan(result.plan) == [BLUE_VAN]
    assert result.plan.legs[0].answer_form == POSTAGE


def test_a_sort_request_with_unknown_words_keeps_the_list() -> None:
    result = plan_next_message(plan_conversation("parcels by Blue Van"), "sorted by prestige")

    assert conditions_of_plan(result.plan) == [BLUE_VAN]
    assert result.plan.legs[0].answer_form == ListDocuments()
    assert result.alternatives[0].unknown_words == ("prestige",)


def test_the_documents_that_a_text_answer_cited_are_meant_by_a_pronoun(plan_of_text: PlannedQuestion) -> None:
    leg = plan_of_text.plan.legs[0]

    assert leg.answer_form == FindPassages()
    expected = ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.IN, value=("P-7",))
    assert [clause.condition for clause in leg.search.clauses] == [expected]


@pytest.fixture
def plan_of_text() -> PlannedQuestion:
    from tests.agent.rules.reading.test_bucket_reading import QUESTION_CONTEXT, decompose_question

    last_plan = plan_conversation("what happens when glue dries out slowly?")[-1]
    context = replace(QUESTION_CONTEXT, last_plan=last_plan, found_documents=(DocId("P-7"),))
    return cast(PlannedQuestion, decompose_question("does it crumble?", context))


def test_a_field_of_the_only_document_is_read() -> None:
    result = plan_next_message(plan_conversation("the heaviest parcel"), "and when was it sent?")

    assert result.plan.legs[0].answer_form == ReadFields(fields=((BUCKET, FieldName("sent")),))
