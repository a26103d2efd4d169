"""The model calls of a turn: stored, measured and told, whatever becomes of the turn."""

import asyncio
from collections.abc import Callable

import pytest

from agent.errors import ModelUnavailable, PriceUnknown, SpendingCapReached
from agent.reasoning_log import EvidenceReview, ModelCallRecord, PlanDifference, ReasoningLog, SubQueryPurpose
from bot.application import Application
from bot.conversation.reasoning_record import describe_reviews
from bot.language_model.measured_call import MeasuredCall
from bot.surface.inbound import TextMessage
from bot.surface.replies import TextPart
from bot.turns.measurements import TurnMeasurement
from bot.turns.turn_actions import TurnActor
from storage.search.errors import IndexUnavailable
from storage.sql.database import SqlDatabase
from storage.sql.stores.model_calls import NewModelCall
from tests.bot.conftest import ConversationDriver
from tests.bot.fakes import ListingAgent
from tests.builders import TENANT
from tests.stored_rows import list_model_calls

PLAN_CALL = ModelCallRecord(
    prompt="plan_question@3", model="openai/big", ms=812.4, input_tokens=1200, output_tokens=80, cost_usd=0.0005
)
ROUTE_CALL = ModelCallRecord(prompt="route_question@1", model="local/tiny", ms=90.0, input_tokens=300, output_tokens=9)
FAILED_CALL = ModelCallRecord(prompt="plan_question@3", model="openai/big", ms=30_000.0, error="timed out")


def log_of(*calls: ModelCallRecord) -> Callable[[ReasoningLog], None]:
    return lambda log: log.calls.extend(calls)


async def test_the_calls_are_stored_and_summed_in_the_result(
    bot: Application, database: SqlDatabase, agent: ListingAgent
) -> None:
    agent.reason = log_of(ROUTE_CALL, PLAN_CALL)

    finished_turn = await ConversationDriver(bot).ask_question("List every receipt")

    stored = await list_model_calls(database)
    assert stored[1] == NewModelCall(
        tenant=TENANT,
        turn=finished_turn.turn,
        conversation="c1",
        prompt="plan_question@3",
        model="openai/big",
        input_tokens=1200,
        output_tokens=80,
        cost_usd=0.0005,
        ms=812.4,
    )
    assert [call.prompt for call in stored] == ["route_question@1", "plan_question@3"]
    result = finished_turn.result
    assert (result["reasoner"], result["model_calls"]) == ("model", 2)
    assert (result["tokens"], result["cost_usd"]) == ({"in": 1500, "out": 89}, None)  # the price of one is unknown


async def test_without_calls_nothing_is_stored_and_the_rules_answered(bot: Application, database: SqlDatabase) -> None:
    result = (await ConversationDriver(bot).ask_question("List every receipt")).result

    assert await list_model_calls(database) == []
    assert (result["reasoner"], result["model_calls"], result["cost_usd"]) == ("rule", 0, None)


async def test_the_calls_of_a_failed_turn_are_stored_and_told(
    bot: Application, database: SqlDatabase, agent: ListingAgent
) -> None:
    agent.reason, agent.failures = log_of(PLAN_CALL), [IndexUnavailable("index:9200")]

    finished_turn = await ConversationDriver(bot).ask_question("List every receipt")

    assert finished_turn.result["outcome"] == "failed"
    assert (finished_turn.result["model_calls"], finished_turn.result["cost_usd"]) == (1, 0.0005)
    assert [call.turn for call in await list_model_calls(database)] == [finished_turn.turn]


async def test_the_calls_of_a_turn_that_is_cancelled_are_stored(
    bot: Application, database: SqlDatabase, agent: ListingAgent
) -> None:
    calls_made = let_hang(agent)
    turn = await ConversationDriver(bot).accept_body(TextMessage("List every receipt"))
    running = asyncio.create_task(bot.run_turn(turn))
    await calls_made.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert [call.turn for call in await list_model_calls(database)] == [turn]


async def test_the_calls_of_a_turn_that_is_stopped_are_stored_and_told(
    bot: Application, database: SqlDatabase, agent: ListingAgent
) -> None:
    calls_made = let_hang(agent)
    turn = await ConversationDriver(bot).accept_body(TextMessage("List every receipt"))
    running = asyncio.create_task(bot.run_turn(turn))
    await calls_made.wait()
    await bot.stop_requests.request_stop(turn, "Ann")
    result = (await running).result

    assert result["text"].startswith("Stopped by Ann.")
    assert (result["reasoner"], result["model_calls"]) == ("model", 1)
    assert [call.turn for call in await list_model_calls(database)] == [turn]


def let_hang(agent: ListingAgent) -> asyncio.Event:
    """The agent makes a call and does not return; the event is set after the call."""
    calls_made = asyncio.Event()

    def log_and_signal(log: ReasoningLog) -> None:
        log.calls.append(PLAN_CALL)
        calls_made.set()

    agent.reason, agent.hangs = log_and_signal, True
    return calls_made


async def test_calls_that_cannot_be_stored_do_not_fail_the_answer(
    bot: Application, database: SqlDatabase, agent: ListingAgent
) -> None:
    agent.reason = log_of(ModelCallRecord(prompt="p@1", model="lone \ud800", ms=1.0))

    finished_turn = await ConversationDriver(bot).ask_question("List every receipt")

    assert finished_turn.error is None
    assert await list_model_calls(database) == []
    assert "model calls not stored" in (bot.settings.home / "logs" / "parley.log").read_text()


async def test_turns_and_calls_are_measured_without_texts(bot: Application, agent: ListingAgent) -> None:
    turns: list[TurnMeasurement] = []
    calls: list[MeasuredCall] = []
    bot.turn_processor.add_observer(turns.append)
    bot.model_calls.add_observer(calls.extend)

    def reason(log: ReasoningLog) -> None:
        log.calls += [ModelCallRecord(prompt="p@1", model="m", ms=500.0, request_text="secret"), FAILED_CALL]
        log.record_failure("compose", ModelUnavailable("timed out"))

    agent.reason = reason
    finished_turn = await ConversationDriver(bot).ask_question("List every receipt")

    [measurement] = turns
    assert (measurement.turn, measurement.surface, measurement.outcome) == (finished_turn.turn, "slack", "overload")
    assert measurement.fallback_stages == ("compose",)
    assert [(call.prompt, call.is_failed, call.seconds) for call in calls] == [
        ("p@1", False, 0.5),
        ("plan_question@3", True, 30.0),
    ]
    assert measurement.calls == tuple(calls)
    assert "secret" not in repr(measurement)


@pytest.mark.parametrize(
    ("failure", "remark"),
    [
        (ModelUnavailable("timed out"), "answered without the language model, which does not answer now"),
        (SpendingCapReached("cap"), "answered without the language model, since this month's budget is used up"),
        (PriceUnknown("price"), "answered without the language model, since its price is not set"),
    ],
)
async def test_the_reply_says_once_that_no_model_answered(
    bot: Application, agent: ListingAgent, failure: ModelUnavailable, remark: str
) -> None:
    def fail_twice(log: ReasoningLog) -> None:
        log.record_failure("decompose", failure)
        log.record_failure("compose", ModelUnavailable("again"))

    agent.reason = fail_twice
    talk = ConversationDriver(bot)
    first = await talk.ask_question("List every receipt")
    agent.reason = lambda log: None
    second = await talk.ask_question("List every receipt")

    assert first.result["assumptions"] == [remark]
    shown = [part.markdown for part in first.reply.parts if isinstance(part, TextPart)]
    assert [f"A{remark[1:]}" in text for text in shown].count(True) == 1
    assert second.result["assumptions"] == []


async def test_the_reply_says_that_the_model_was_lost_on_the_way(bot: Application, agent: ListingAgent) -> None:
    def plan_and_fail(log: ReasoningLog) -> None:
        log.calls.append(PLAN_CALL)
        log.record_failure("compose", ModelUnavailable("down"))

    agent.reason = plan_and_fail
    result = (await ConversationDriver(bot).ask_question("List every receipt")).result

    assert result["assumptions"] == ["answered in part without the language model, which has stopped answering"]
    assert result["reasoner"] == "model"


async def test_an_export_says_too_that_no_model_answered(bot: Application, agent: ListingAgent) -> None:
    agent.reason = lambda log: log.record_failure("decompose", ModelUnavailable("down"))

    result = (await ConversationDriver(bot).ask_question("export")).result

    assert "_answered without the language model, which does not answer now_" in result["text"]
    assert result["files"]


async def test_the_steps_tell_calls_parts_and_what_fell_back(bot: Application, agent: ListingAgent) -> None:
    def reason(log: ReasoningLog) -> None:
        log.calls += [PLAN_CALL, FAILED_CALL]
        log.complexity = "it compares two sets"
        log.sub_queries.append(SubQueryPurpose(question="Receipts of Acme?", purpose="filter_docs"))
        log.reviews.append(EvidenceReview(question="", completeness=0.4, reasoning="a secret", missing=("the date",)))
        log.plan_difference = PlanDifference(kind="bucket", model_plan="receipts", rule_plan="manuals")
        log.record_failure("compose", ModelUnavailable("timed out"))

    agent.reason = reason
    talk = ConversationDriver(bot)
    finished_turn = await talk.ask_question("List every receipt")
    actor = TurnActor(conversation=talk.conversation, audience=talk.audience, person=talk.person, name="")
    steps = await bot.turn_actions.load_steps(finished_turn.turn, actor)

    assert steps.reasoner == "model"
    assert steps.stage_lines == ("writing the answer: taken over by the rules (timed out)",)
    assert steps.reasoning_lines == (
        "2 model calls: 1,200 tokens in, 80 out, cost unknown, 1 failed",
        "plan_question@3 to openai/big: 812 ms, 1,200 tokens in, 80 out, cost $0.000500",
        "plan_question@3 to openai/big: 30,000 ms, failed: timed out",
        "complex: it compares two sets",
        "part 1: Receipts of Acme? (filter_docs)",
        "evidence: 40% complete",
        "compared with the rules: the rules would search other buckets",
    )
    assert await bot.load_finished_turn(finished_turn.turn) == finished_turn
    assert list(describe_reviews(finished_turn.reasoning)) == ["evidence: 40% complete: a secret · missing: the date"]
    assert finished_turn.reasoning["plan_difference"] == {
        "kind": "bucket",
        "model_plan": "receipts",
        "rule_plan": "manuals",
    }
