"""Replies that must follow a class: parsed with patience, repaired once, else refused."""

import json
from collections.abc import Sequence

import pytest
from pydantic import BaseModel, Field

from agent.errors import ModelUnavailable, UnusableReply
from agent.gateway.options import CallLimits
from agent.gateway.structured_output import parse_structured, request_structured
from agent.reasoning_log import ReasoningLog
from prompts.prompt_library import RenderedPrompt, strict_schema_of
from tests.agent.gateway.conftest import GatewayFactory
from tests.stand_ins.model.replies import HttpFault, TextAnswer
from tests.stand_ins.model.server import ScriptedModelServer

PROMPT = RenderedPrompt(name="count", version=3, role="main", system="Count.", user="How many contracts?")


class ReadCondition(BaseModel):
    """One condition of a `ReadQuestion`."""

    field_name: str
    value: str | int | None = None


class ReadQuestion(BaseModel):
    """What the tests ask for."""

    bucket: str = Field(description="the bucket that the question is about")
    conditions: list[ReadCondition] = []


GOOD = '{"bucket": "contracts", "conditions": [{"field_name": "year", "value": 2024}]}'
VALUE = ReadQuestion(bucket="contracts", conditions=[ReadCondition(field_name="year", value=2024)])


def find_unknown_fields(value: ReadQuestion) -> Sequence[str]:
    return [
        f"field `{condition.field_name}` does not exist"
        for condition in value.conditions
        if condition.field_name != "year"
    ]


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"Here is the plan:\n```\n{GOOD}\n```\nI hope {{this}} helps.",
        f"Sure! {GOOD} Anything else?",
        f"<think>The user wants {{contracts}}.</think>{GOOD}",
        json.dumps(json.loads(GOOD) | {"comment": "an extra member"}),
    ],
)
def test_an_object_is_found_in_what_models_write_around_it(text: str) -> None:
    assert parse_structured(text, ReadQuestion) == VALUE


@pytest.mark.parametrize("text", ["", "no", "[1, 2]", "{", '{"bucket": 5}', "[" * 100_000, "x" * 2**20, "null"])
def test_what_is_no_such_object_is_refused(text: str) -> None:
    with pytest.raises(UnusableReply):
        parse_structured(text, ReadQuestion)


async def test_a_reply_that_follows_the_schema_takes_one_call(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [GOOD]
    log = ReasoningLog()

    reply = await request_structured(open_gateway(), PROMPT, ReadQuestion, log)

    assert (reply.value, reply.complaints, reply.was_repaired) == (VALUE, (), False)
    assert [call.prompt for call in log.calls] == ["count@3"]
    [sent] = model_server.chat_requests
    assert (sent.strict_schema, sent.text_of("system"), sent.text_of("user")) == (
        strict_schema_of(ReadQuestion),
        "Count.",
        "How many contracts?",
    )


@pytest.mark.parametrize("bad_reply", ["No idea.", "", '{"conditions": []}', '{"bucket": null}'])
async def test_a_reply_that_does_not_is_repaired_once_and_the_model_is_told_what_is_wrong(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, bad_reply: str
) -> None:
    model_server.chat_replies = [bad_reply, GOOD]

    reply = await request_structured(open_gateway(), PROMPT, ReadQuestion, ReasoningLog())

    assert (reply.value, reply.was_repaired) == (VALUE, True)
    roles = [message.role for message in model_server.chat_requests[1].messages]
    assert roles == ["system", "user", "assistant", "user"]
    assert ("`bucket`" in model_server.chat_requests[1].text_of("user")) == ("{" in bad_reply)


async def test_after_a_failed_repair_the_reply_is_unusable(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.answer_chat = lambda _: "No idea."

    with pytest.raises(UnusableReply):
        await request_structured(open_gateway(), PROMPT, ReadQuestion, ReasoningLog())

    assert len(model_server.chat_requests) == 2


async def test_a_caller_may_do_without_the_repair(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = ["No idea.", GOOD]

    with pytest.raises(UnusableReply):
        await request_structured(open_gateway(), PROMPT, ReadQuestion, ReasoningLog(), allows_repair=False)


async def test_complaints_of_the_check_are_repaired_too(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [GOOD.replace("year", "jear"), GOOD]

    reply = await request_structured(open_gateway(), PROMPT, ReadQuestion, ReasoningLog(), check=find_unknown_fields)

    assert (reply.value, reply.complaints, reply.was_repaired) == (VALUE, (), True)
    assert "field `jear` does not exist" in model_server.chat_requests[1].text_of("user")


@pytest.mark.parametrize(
    ("second", "field", "was_repaired"),
    [
        (GOOD.replace("year", "yeer"), "yeer", True),
        ("No idea.", "jear", False),
        ('{"bucket": "x", "conditions": [{"field_name": "a"}, {"field_name": "b"}]}', "jear", False),
    ],
)
async def test_a_value_with_complaints_comes_with_those_that_remain(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer, second: str, field: str, was_repaired: bool
) -> None:
    model_server.chat_replies = [GOOD.replace("year", "jear"), second]

    reply = await request_structured(open_gateway(), PROMPT, ReadQuestion, ReasoningLog(), check=find_unknown_fields)

    assert reply.complaints == (f"field `{field}` does not exist",)
    assert reply.was_repaired == was_repaired


async def test_a_value_with_complaints_survives_an_outage_during_its_repair(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [GOOD.replace("year", "jear"), HttpFault(status=401)]

    reply = await request_structured(open_gateway(), PROMPT, ReadQuestion, ReasoningLog(), check=find_unknown_fields)

    assert reply.complaints == ("field `jear` does not exist",)


async def test_a_model_that_refuses_to_answer_is_not_asked_again(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [TextAnswer(refusal="I cannot help with that.")]

    with pytest.raises(UnusableReply, match="refuses"):
        await request_structured(open_gateway(), PROMPT, ReadQuestion, ReasoningLog())

    assert len(model_server.chat_requests) == 1


async def test_a_truncated_reply_is_asked_for_again_shorter(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = [TextAnswer(text=GOOD[:20], finish_reason="length"), GOOD]

    reply = await request_structured(open_gateway(), PROMPT, ReadQuestion, ReasoningLog())

    assert reply.value == VALUE
    assert "shorter" in model_server.chat_requests[1].text_of("user")


async def test_a_megabyte_of_nonsense_is_not_sent_back(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.chat_replies = ["nonsense " * 120_000, GOOD]

    await request_structured(open_gateway(), PROMPT, ReadQuestion, ReasoningLog())

    assert len(model_server.chat_requests[1].text_of("assistant")) <= 8000


async def test_an_outage_is_not_an_unusable_reply(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.answer_chat = lambda _: HttpFault(status=503)

    with pytest.raises(ModelUnavailable):
        await request_structured(open_gateway(limits=CallLimits(retries=0)), PROMPT, ReadQuestion, ReasoningLog())


async def test_a_server_without_schemas_still_brings_the_value(
    open_gateway: GatewayFactory, model_server: ScriptedModelServer
) -> None:
    model_server.knows_json_schema = False
    model_server.chat_replies = [f"```json\n{GOOD}\n```"]

    assert (await request_structured(open_gateway(), PROMPT, ReadQuestion, ReasoningLog())).value == VALUE
