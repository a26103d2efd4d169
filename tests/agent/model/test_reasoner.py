"""The model plans where the rules are not enough; the rules take over where it does not answer."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.decomposition import Decomposition, ExportRequest, PlannedQuestion
from agent.errors import ModelUnavailable
from agent.loop import answer
from agent.model.options import ModelOptions, ModelUse
from agent.model.reasoner import ModelReasoner
from agent.outcome import Answer, Clarify
from agent.reasoning_log import ReasoningLog
from agent.rules.reasoner import RuleReasoner
from storage.search.plan import ListDocuments, Plan
from tests.agent.model.plan_outputs import a_condition, a_part, a_plan_output
from tests.agent.model.scripted_model import ScriptedModel
from tests.agent.rules.nested.mining import MiningHome, open_mining_home

UNCLEAR = "Which mines were flooded when the river rose?"
COMPLETE = "mines in Ostmark"
OSTMARK = a_plan_output(a_part("list", "mines", a_condition("region", "is", "Ostmark", words="Ostmark")))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MiningHome]:
    async with open_mining_home(tmp_path_factory.mktemp("mining")) as opened:
        yield opened


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def decompose(
    home: MiningHome,
    model: ScriptedModel,
    question: str,
    *,
    when: ModelUse = ModelUse.NEEDED,
    last_plan: Plan | None = None,
) -> tuple[Decomposition, ReasoningLog]:
    log = ReasoningLog()
    reasoner = ModelReasoner(model, RuleReasoner(), ModelOptions(when=when))
    context = replace(home.context, reasoning_log=log, last_plan=last_plan)
    return await reasoner.decompose_question(question, context), log


async def test_a_complete_question_asks_no_model(home: MiningHome) -> None:
    model = ScriptedModel()

    decomposition, log = await decompose(home, model, COMPLETE)

    assert isinstance(decomposition, PlannedQuestion)
    assert (model.requests, log.fallbacks) == ([], {})


@pytest.mark.parametrize("command", ["start over", "help", "thanks!", "export"])
async def test_commands_ask_no_model(home: MiningHome, command: str) -> None:
    model = ScriptedModel()

    decomposition, _ = await decompose(home, model, command, when=ModelUse.ALWAYS)

    assert model.requests == []
    assert not isinstance(decomposition, PlannedQuestion)


async def test_where_both_agree_the_plan_is_taken_and_nothing_is_asked(home: MiningHome) -> None:
    decomposition, log = await decompose(
        home, ScriptedModel(OSTMARK.model_dump(mode="json")), COMPLETE, when=ModelUse.ALWAYS
    )

    assert isinstance(decomposition, PlannedQuestion)
    assert log.plan_difference is not None
    assert log.plan_difference.kind == "same"
    assert decomposition.alternatives[0].equal_readings == ()


async def test_where_both_are_sure_and_differ_the_other_set_is_offered(home: MiningHome) -> None:
    tarland = a_plan_output(a_part("list", "mines", a_condition("region", "is", "Tarland")))

    decomposition, log = await decompose(
        home, ScriptedModel(tarland.model_dump(mode="json")), COMPLETE, when=ModelUse.ALWAYS
    )

    assert isinstance(decomposition, PlannedQuestion)
    assert log.plan_difference is not None
    assert log.plan_difference.kind == "conditions"
    [reading] = decomposition.alternatives[0].equal_readings
    assert await home.find_titles(replace(decomposition.plan.legs[0], search=reading.search)) == {"Deepwell", "Redpit"}
    assert await home.find_titles(decomposition.plan.legs[0]) == {"Coldvein"}


@pytest.mark.parametrize(("regions", "kind"), [(("Tarland", "Hollin"), "answer"), (("Tarland",), "ambiguous")])
async def test_another_set_is_asked_about_only_if_it_counts_otherwise(
    home: MiningHome, regions: tuple[str, ...], kind: str
) -> None:
    output = a_plan_output(a_part("list", "mines", a_condition("region", "is_not", *regions)))
    model = ScriptedModel(output.model_dump(mode="json"))
    reasoner = ModelReasoner(model, RuleReasoner(), ModelOptions(when=ModelUse.ALWAYS))

    outcome = await answer(COMPLETE, AgentContext(index=home.index, reasoner=reasoner, now=home.context.now))

    assert isinstance(outcome, (Answer, Clarify))
    assert (outcome.kind if isinstance(outcome, Clarify) else "answer") == kind


async def test_the_model_plans_what_the_rules_do_not_understand(home: MiningHome) -> None:
    part = a_part("passages", "mines", search_queries=["mine flooded river"])

    decomposition, log = await decompose(home, ScriptedModel(a_plan_output(part).model_dump(mode="json")), UNCLEAR)

    assert isinstance(decomposition, PlannedQuestion)
    assert decomposition.plan.legs[0].search.ranking_text == "mine flooded river"
    assert log.plan_difference is not None
    assert log.plan_difference.kind == "rules_incomplete"


@pytest.mark.parametrize("continues", [True, False])
async def test_the_log_notes_whether_the_model_leaves_the_topic(home: MiningHome, continues: bool) -> None:
    output = OSTMARK.model_copy(update={"continues_conversation": continues})

    _, log = await decompose(home, ScriptedModel(output.model_dump(mode="json")), UNCLEAR)

    assert log.leaves_topic is not continues


async def test_a_plan_with_a_mistake_is_corrected_once(home: MiningHome) -> None:
    wrong = a_plan_output(a_part("list", "mines", a_condition("county", "is", "Ostmark", words="mines")))
    model = ScriptedModel(wrong.model_dump(mode="json"), OSTMARK.model_dump(mode="json"))

    decomposition, _ = await decompose(home, model, UNCLEAR)

    assert isinstance(decomposition, PlannedQuestion)
    assert await home.find_titles(decomposition.plan.legs[0]) == {"Deepwell", "Redpit"}
    assert "mines has no field 'county'" in model.requests[1].messages[-1].content
    assert len(model.requests) == 2


async def test_what_stays_wrong_is_asked_about(home: MiningHome) -> None:
    wrong = a_plan_output(a_part("list", "mines", a_condition("county", "is", "Ostmark", words="flooded")))
    model = ScriptedModel(wrong.model_dump(mode="json"), wrong.model_dump(mode="json"))

    decomposition, _ = await decompose(home, model, UNCLEAR)

    assert isinstance(decomposition, PlannedQuestion)
    assert decomposition.alternatives[0].unknown_words == ("flooded",)


@pytest.mark.parametrize(
    "replies",
    [
        (ModelUnavailable("no answer within 30 s"),),
        ("I am sorry, I cannot do that.", "Still not."),
        ("{}", "{}"),
        ("", ""),
        ("x" * 1_000_000, "[]"),
    ],
)
async def test_without_a_usable_reply_the_rules_plan(home: MiningHome, replies: tuple[str | Exception, ...]) -> None:
    by_rules = await RuleReasoner().decompose_question(UNCLEAR, home.context)

    decomposition, log = await decompose(home, ScriptedModel(*replies), UNCLEAR)

    assert decomposition == by_rules
    assert log.fallbacks["decompose"]


async def test_a_file_is_exported_if_the_person_asks_for_one(home: MiningHome) -> None:
    output = a_plan_output(a_part("list", "mines"), wants_file=True)

    decomposition, _ = await decompose(
        home, ScriptedModel(output.model_dump(mode="json")), "I would love a spreadsheet with whatever mines we run",
        when=ModelUse.ALWAYS,
    )  # fmt: skip

    assert isinstance(decomposition, ExportRequest)
    assert isinstance(decomposition.plan.legs[0].answer_form, ListDocuments)


async def test_a_set_by_passed_values_is_listed_before_it_is_exported(home: MiningHome) -> None:
    best = a_part("helper", "loads", id="b", functions=["sum"], fields=["tonnes"], group_by="mine", limit=1)
    of_best = a_condition("mine", "is", of_part="b", part_field="mine")
    output = a_plan_output(a_part("list", "workers", of_best), best, wants_file=True)

    decomposition, _ = await decompose(
        home, ScriptedModel(output.model_dump(mode="json")), "A spreadsheet of the people at the mine that ships most",
        when=ModelUse.ALWAYS,
    )  # fmt: skip

    assert isinstance(decomposition, PlannedQuestion)
    assert [passed.field for passed in decomposition.passed_values] == ["mine"]


async def test_a_file_is_not_sent_of_a_set_that_is_asked_about(home: MiningHome) -> None:
    flooded = a_condition("mood", "is", "flooded", words="flooded")
    reply = a_plan_output(a_part("list", "mines", flooded), wants_file=True).model_dump(mode="json")

    decomposition, _ = await decompose(
        home, ScriptedModel(reply, reply), "I would love a spreadsheet with the flooded mines we run",
        when=ModelUse.ALWAYS,
    )  # fmt: skip

    assert isinstance(decomposition, PlannedQuestion)
    assert decomposition.alternatives[0].unknown_words == ("flooded",)
