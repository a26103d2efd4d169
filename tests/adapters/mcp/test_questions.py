"""Questions over the protocol: results, forms, progress, and who owns a conversation."""

from typing import Any as Json

import pytest

from bot.application import Application
from tests.adapters.mcp.clients import LEGACY, MODERN, FormFiller, ask, choice_of, server_client_of, text_of, titles_of
from tests.cli.conftest import run_parley

OVERLOAD = "List every receipt"
each_protocol = pytest.mark.parametrize("mode", [MODERN, LEGACY])


async def test_the_text_of_a_result_tells_a_model_the_documents_and_how_to_pick_a_choice(bot: Application) -> None:
    async with server_client_of(bot) as client:
        answer = await ask(client, "List the receipts from Kestrel of 2020")

    text, choices = text_of(answer), answer.structured_content["choices"]
    assert "| Receipt 0 |" in text
    assert answer.structured_content["conversation"] in text
    assert all(f"choice {choice['id']}: {choice['label']}" in text for choice in choices)


async def test_a_result_has_the_fields_of_the_command_line(bot: Application) -> None:
    shown = run_parley(bot.settings.home, "ask", "--json", "How many receipts are there?").json

    async with server_client_of(bot) as client:
        answer = (await ask(client, "How many receipts are there?")).structured_content

    assert answer.keys() == shown.keys() | {"evidence"}
    assert {name: answer[name] for name in ("outcome", "text", "count", "values")} == {
        name: shown[name] for name in ("outcome", "text", "count", "values")
    }


async def test_a_result_says_how_completely_it_answers(bot: Application) -> None:
    async with server_client_of(bot) as client:
        counted = (await ask(client, "How many receipts are there?")).structured_content["evidence"]
        open_choice = (await ask(client, OVERLOAD)).structured_content["evidence"]
        nothing = (await ask(client, "Who wrote the opera about the flying dragon?")).structured_content["evidence"]

    assert counted == {
        "success": True,
        "status": "complete",
        "iterations": 1,
        "completeness": 1.0,
        "reason": "it is counted or computed from values",
        "gaps": [],
    }
    assert (open_choice["success"], open_choice["status"], open_choice["completeness"]) == (False, "needs_choice", 0.0)
    assert (nothing["success"], nothing["status"]) == (False, "nothing_found")


@each_protocol
async def test_a_client_with_forms_shows_the_counted_choices_once(bot: Application, mode: str) -> None:
    filler = FormFiller(label="2021 · 30")
    async with server_client_of(bot, mode=mode, filler=filler) as client:
        answer = await ask(client, OVERLOAD)

    [form] = filler.forms
    assert list(titles_of(form))[:4] == ["2020 · 30", "2021 · 30", "2022 · 30", "2023 · 30"]
    assert "120 receipts" in form.message
    assert (answer.structured_content["outcome"], answer.structured_content["count"]) == ("answer", 30)


@each_protocol
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_declined_form_leaves_the_plain_result_whose_choices_stay_open(
    bot: Application, mode: str, action: Json
) -> None:
    filler = FormFiller(action=action)
    async with server_client_of(bot, mode=mode, filler=filler) as client:
        asked_back = await ask(client, OVERLOAD)
        answer = await client.call_tool("agentic_search", choice_of(asked_back, "2022"))

    assert len(filler.forms) == 1
    assert asked_back.structured_content["outcome"] == "overload"
    assert answer.structured_content["count"] == 30


@each_protocol
async def test_a_client_that_asks_for_progress_gets_it_in_order(bot: Application, mode: str) -> None:
    heard: list[tuple[float, str | None]] = []

    async def note_progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    async with server_client_of(bot, mode=mode) as client:
        await client.call_tool("export", {"question": OVERLOAD}, progress_callback=note_progress)

    assert [number for number, _ in heard] == list(range(1, len(heard) + 1))
    assert any("120 of 120 rows" in (message or "") for _, message in heard)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "Give either a `question`"),
        ({"question": "a", "choice": "b", "conversation": "c"}, "Give either a `question`"),
        ({"choice": "a"}, "needs the `conversation`"),
        ({"question": "x" * 10_001}, "at most 10000 characters"),
        ({"question": "   "}, "There is no question here"),
        ({"question": ["a"]}, "question: Input should be a valid string"),
        ({"question": "a", "hits": 101}, "hits: "),
        ({"question": "a", "documents": 3}, "documents: Extra inputs are not permitted"),
        ({"question": "a", "conversation": "mcp:guess"}, "no such conversation"),
        ({"question": "a", "conversation": "mcp:\x00"}, "no such conversation"),
        ({"question": "a", "conversation": "mcp:\ud800"}, "conversation: Input should be a valid string"),
        ({"question": "a", "conversation": "terminal:" + "x" * 500}, "conversation: "),
        ({"question": "a", "buckets": ["nowhere"]}, "There is no bucket 'nowhere'"),
    ],
)
async def test_bad_arguments_are_one_sentence(bot: Application, arguments: dict[str, Json], sentence: str) -> None:
    async with server_client_of(bot) as client:
        result = await client.call_tool("agentic_search", arguments)

    assert result.is_error
    assert sentence in text_of(result)
    assert "Traceback" not in text_of(result)


async def test_a_conversation_and_its_choices_belong_to_the_person_who_began_it(bot: Application) -> None:
    async with server_client_of(bot, "local:ann") as client:
        own = await ask(client, OVERLOAD)
    taking = choice_of(own, "2020")

    async with server_client_of(bot, "local:bob") as client:
        go_on = await ask(client, "and of 2021?", conversation=taking["conversation"])
        foreign_choice = await client.call_tool("agentic_search", taking)
        begun = await ask(client, "hello")
        smuggled = await client.call_tool(
            "agentic_search", {**taking, "conversation": begun.structured_content["conversation"]}
        )
    async with server_client_of(bot, "local:ann") as client:
        answer = await client.call_tool("agentic_search", taking)

    assert [text_of(result) for result in (go_on, foreign_choice)] == [
        "There is no such conversation; leave `conversation` out to begin a new one."
    ] * 2
    assert smuggled.is_error
    assert answer.structured_content["count"] == 30
