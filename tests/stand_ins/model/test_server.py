"""The stand-in of a model server refuses what the API refuses."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.stand_ins.model.server import ScriptedModelServer

USER = {"role": "user", "content": "hi"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
TOOL_RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "3"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"count": {"type": "integer"}},
    "required": ["count"],
    "additionalProperties": False,
}


@pytest.fixture
async def model_server() -> AsyncIterator[ScriptedModelServer]:
    async with ScriptedModelServer() as server:
        yield server


async def post_request(
    server: ScriptedModelServer, path: str, body: object, key: str | None = None
) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {server.api_key if key is None else key}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{server.url}/{path}", json=body) as response,
    ):
        return response.status, await response.json()


def chat_body(**values: object) -> dict[str, object]:
    return {"model": "main-model", "messages": [USER]} | values


def schema_body(schema: dict[str, Any]) -> dict[str, object]:
    format_ = {"type": "json_schema", "json_schema": {"name": "count", "schema": schema, "strict": True}}
    return chat_body(response_format=format_)


@pytest.mark.parametrize(
    "body",
    [
        chat_body(),
        chat_body(temperature=0, max_completion_tokens=10),
        schema_body(SCHEMA),
        schema_body(SCHEMA | {"properties": {"count": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}),
        chat_body(messages=[USER, {"role": "assistant", "content": None, "tool_calls": [CALL]}, TOOL_RESULT]),
    ],
    ids=str,
)
async def test_what_the_api_accepts_is_answered_and_recorded(
    model_server: ScriptedModelServer, body: dict[str, object]
) -> None:
    model_server.chat_replies = ["ok"]

    status, reply = await post_request(model_server, "chat/completions", body)

    assert (status, reply["choices"][0]["message"]["content"]) == (200, "ok")
    assert len(model_server.chat_requests) == 1


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"messages": [USER]}, "model"),
        ({"model": "main-model"}, "messages"),
        (chat_body(messages=[]), "messages"),
        (chat_body(messages=[{"role": "robot", "content": "hi"}]), "messages"),
        (chat_body(messages=[USER | {"mood": "good"}]), "mood"),
        (chat_body(colour="red"), "Unrecognized request argument supplied: colour"),
        (chat_body(temperature=3), "temperature"),
        (chat_body(stream_options={"include_usage": True}), "stream_options"),
        (chat_body(max_tokens=1, max_completion_tokens=1), "max_tokens"),
        (chat_body(tool_choice="auto"), "tool_choice"),
        (chat_body(messages=[USER, TOOL_RESULT]), "preceding"),
        (
            chat_body(messages=[USER, {"role": "assistant", "tool_calls": [CALL]}, USER]),
            "did not have response messages",
        ),
        (schema_body({key: value for key, value in SCHEMA.items() if key != "additionalProperties"}), "additional"),
        (schema_body(SCHEMA | {"required": []}), "required"),
        (schema_body(SCHEMA | {"properties": {"count": {"type": "integer", "default": 1}}}), "default"),
        (schema_body(SCHEMA | {"properties": {"count": {"oneOf": [{"type": "integer"}]}}}), "oneOf"),
        (schema_body(SCHEMA | {"properties": {"count": {}}}), "'type' key"),
        (schema_body({"type": "array", "items": {"type": "integer"}}), 'type "object"'),
        (
            chat_body(tools=[{"type": "function", "function": {"name": "no blanks"}}]),
            "tools",
        ),
    ],
    ids=str,
)
async def test_what_the_api_refuses_is_refused(
    model_server: ScriptedModelServer, body: dict[str, object], reason: str
) -> None:
    status, reply = await post_request(model_server, "chat/completions", body)

    assert status == 400
    assert reason in reply["error"]["message"]
    assert model_server.chat_requests == []


async def test_a_wrong_key_an_unknown_model_and_an_empty_text_are_refused(model_server: ScriptedModelServer) -> None:
    wrong_key, _ = await post_request(model_server, "chat/completions", chat_body(), key="sk-wrong")
    unknown_model, _ = await post_request(model_server, "chat/completions", chat_body(model="no-model"))
    empty_text, _ = await post_request(model_server, "embeddings", {"model": "embedding-model", "input": ["a", ""]})

    assert (wrong_key, unknown_model, empty_text) == (401, 404, 400)


async def test_a_request_without_a_script_is_an_error_that_the_test_can_see(model_server: ScriptedModelServer) -> None:
    status, _ = await post_request(model_server, "chat/completions", chat_body())

    assert (status, len(model_server.unexpected_requests)) == (500, 1)


async def test_the_models_are_listed(model_server: ScriptedModelServer) -> None:
    headers = {"Authorization": f"Bearer {model_server.api_key}"}
    async with aiohttp.ClientSession(headers=headers) as session, session.get(f"{model_server.url}/models") as response:
        names = [model["id"] for model in (await response.json())["data"]]

    assert "main-model" in names
