"""`/mcp` over real HTTP: tokens, the SDK's own client, several replicas, and what is refused."""

import contextlib
import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from aiohttp import ClientSession, web
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from adapters.mcp.endpoint import McpEndpoint, RequestLimits
from bot.application import Application
from bot.bootstrap import open_application
from bot.http.errors import TooManyAttempts
from bot.http_server import build_web_app
from bot.ids import OPERATOR, PersonId
from bot.metrics.service_metrics import ServiceMetrics
from bot.programs.access_tokens import ProgramTokens
from tests.adapters.mcp.clients import LEGACY, MODERN, FormFiller, ask, choice_of, text_of
from tests.adapters.web.serving import serve_parley
from tests.cli.conftest import run_parley

OVERLOAD = "List every receipt"
ANN = PersonId("local:ann")
LISTING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
each_protocol = pytest.mark.parametrize("mode", [MODERN, LEGACY])


@contextlib.asynccontextmanager
async def listening_endpoint(bot: Application) -> AsyncGenerator[str]:
    """The address of `/mcp` of this application, on a port of this process."""
    endpoint = McpEndpoint(bot)
    await endpoint.start()
    runner = web.AppRunner(build_web_app(bot, [endpoint], ServiceMetrics()), access_log=None, shutdown_timeout=5)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    finally:
        await endpoint.close()
        await runner.cleanup()


@contextlib.asynccontextmanager
async def http_client_of(
    url: str, token: str, *, mode: str = MODERN, filler: FormFiller | None = None
) -> AsyncGenerator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as connection,
        Client(streamable_http_client(url, http_client=connection), mode=mode, elicitation_callback=filler) as client,
    ):
        yield client


async def token_of(bot: Application, person: PersonId = ANN, lifetime: timedelta | None = None) -> str:
    return (await ProgramTokens(bot.database).create_token(person, lifetime=lifetime, by=OPERATOR)).text


@each_protocol
async def test_a_program_asks_picks_exports_and_downloads_in_the_name_of_its_person(
    bot: Application, mode: str
) -> None:
    async with listening_endpoint(bot) as url, http_client_of(url, await token_of(bot), mode=mode) as client:
        asked_back = await ask(client, OVERLOAD)
        answer = await client.call_tool("agentic_search", choice_of(asked_back, "2020"))
        export = await client.call_tool("export", {"conversation": answer.structured_content["conversation"]})
        [file] = export.structured_content["files"]
        signed = file["url"].rpartition("/")[2]
        async with ClientSession() as session, session.get(url.replace("/mcp", f"/download/{signed}")) as download:
            rows = (await download.text()).splitlines()

    assert asked_back.structured_content["outcome"] == "overload"
    assert answer.structured_content["count"] == 30
    assert (file["rows"], file["path"], len(rows)) == (30, None, 31)
    assert str(bot.settings.home) not in export.model_dump_json()


async def test_a_form_is_shown_and_progress_is_told_over_http_too(bot: Application) -> None:
    filler, heard = FormFiller(label="2021 · 30"), list[str | None]()

    async def note_progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async with (
        listening_endpoint(bot) as url,
        http_client_of(url, await token_of(bot), filler=filler) as client,
    ):
        answer = await client.call_tool("agentic_search", {"question": OVERLOAD}, progress_callback=note_progress)

    assert len(filler.forms) == 1
    assert heard
    assert answer.structured_content["count"] == 30


async def test_a_client_of_an_earlier_protocol_gets_the_plain_result_where_no_form_can_be_shown(
    bot: Application,
) -> None:
    filler = FormFiller(label="2021 · 30")
    async with (
        listening_endpoint(bot) as url,
        http_client_of(url, await token_of(bot), mode=LEGACY, filler=filler) as client,
    ):
        asked_back = await ask(client, OVERLOAD)

        text, choices = text_of(asked_back), asked_back.structured_content["choices"]
        answer = await client.call_tool("agentic_search", choice_of(asked_back, "2021"))

    assert filler.forms == []
    assert asked_back.structured_content["outcome"] == "overload"
    counted = [choice for choice in choices if choice["count"] is not None]
    assert len(counted) >= 4
    assert all(f"- choice {choice['id']}: {choice['label']} · {choice['count']}" in text for choice in counted)
    assert answer.structured_content["count"] == 30


async def test_a_conversation_goes_on_at_another_replica(bot: Application) -> None:
    async with open_application(bot.settings) as second, listening_endpoint(bot) as url:
        token = await token_of(bot)
        async with http_client_of(url, token) as client:
            asked_back = await ask(client, OVERLOAD)
        async with listening_endpoint(second) as other_url, http_client_of(other_url, token) as client:
            answer = await client.call_tool("agentic_search", choice_of(asked_back, "2022"))

    assert answer.structured_content["count"] == 30


async def test_the_form_of_another_person_is_not_answered(bot: Application) -> None:
    """The state that a client repeats is the id of a turn: here that of another person."""
    async with listening_endpoint(bot) as url:
        async with http_client_of(url, await token_of(bot)) as client:
            turn = (await ask(client, OVERLOAD)).structured_content["turn"]
        async with http_client_of(url, await token_of(bot, PersonId("local:bob"))) as client:
            result = await client.session.call_tool(
                "agentic_search", {"question": "hello"}, request_state=turn, input_responses={}
            )

    assert result.is_error
    assert "no such conversation" in text_of(result)


# -- tokens


async def test_a_wrong_expired_or_revoked_token_lets_nobody_in(bot: Application) -> None:
    tokens = ProgramTokens(bot.database)
    right = await token_of(bot)
    revoked = await tokens.create_token(ANN, lifetime=None, by=OPERATOR)
    await tokens.revoke_token(revoked.id, by=OPERATOR)
    attempts = {
        "right": f"Bearer {right}",
        "lower case scheme": f"bearer {right}",
        "expired": f"Bearer {await token_of(bot, lifetime=timedelta())}",
        "revoked": f"Bearer {revoked.text}",
        "changed": f"Bearer {right[:-1]}{'A' if right[-1] != 'A' else 'B'}",
        "other id": f"Bearer parley_000000000000_{right.rpartition('_')[2]}",
        "no secret": f"Bearer {right.rpartition('_')[0]}",
        "other scheme": f"Basic {right}",
        "nothing": None,
    }

    async with listening_endpoint(bot) as url, ClientSession() as session:
        answers = dict[str, tuple[int, str | None]]()
        for name, value in attempts.items():
            headers = HEADERS | ({} if value is None else {"Authorization": value})
            async with session.post(url, data=LISTING, headers=headers) as response:
                answers[name] = (response.status, response.headers.get("WWW-Authenticate"))

    invalid = (401, 'Bearer realm="parley", error="invalid_token"')
    assert answers == {
        "right": (200, None),
        "lower case scheme": (200, None),
        "nothing": (401, 'Bearer realm="parley"'),
    } | dict.fromkeys(("expired", "revoked", "changed", "other id", "no secret", "other scheme"), invalid)


async def test_after_too_many_wrong_tokens_even_the_right_one_has_to_wait(bot: Application) -> None:
    right = await token_of(bot)
    async with listening_endpoint(bot) as url, ClientSession() as session:
        for _ in range(10):
            async with session.post(url, data=LISTING, headers=HEADERS | {"Authorization": "Bearer x"}) as response:
                assert response.status == 401
        async with session.post(url, data=LISTING, headers=HEADERS | {"Authorization": f"Bearer {right}"}) as response:
            assert (response.status, response.headers["Retry-After"]) == (429, "60")


async def test_a_token_is_stored_as_a_hash_and_listed_without_its_secret(bot: Application) -> None:
    text = await token_of(bot)

    listed = run_parley(bot.settings.home, "mcp", "token", "list", "--json")

    secret = text.split("_", 2)[2]
    [token] = [token for token in listed.json if token["id"] == text.split("_")[1]]
    assert (token["person"], token["expires_at"]) == ("local:ann", None)
    assert secret not in listed.stdout
    assert all(secret not in stored.secret_hash for stored in await ProgramTokens(bot.database).list_tokens())


# -- what is refused


async def test_bad_requests_are_refused_without_details(bot: Application) -> None:
    token = {"Authorization": f"Bearer {await token_of(bot)}"}
    cases: dict[str, tuple[dict[str, str], str]] = {
        "another host": ({"Host": "evil.example"}, LISTING),
        "another page": ({"Origin": "https://evil.example"}, LISTING),
        "no JSON": ({}, "{"),
        "a list": ({}, f"[{LISTING}]"),
        "deep": ({}, '{"a":' * 100 + "1" + "}" * 100),
        "large": ({}, json.dumps({"question": "x" * 300_000})),
        "form": ({"Content-Type": "application/x-www-form-urlencoded"}, LISTING),
    }
    async with listening_endpoint(bot) as url, ClientSession() as session:
        statuses = dict[str, int]()
        for name, (headers, body) in cases.items():
            async with session.post(url, data=body, headers=HEADERS | token | headers) as response:
                statuses[name] = response.status
                assert "Traceback" not in await response.text()
        async with session.get(url, headers=token) as response:
            statuses["GET"] = response.status

    assert statuses == {
        "another host": 421,
        "another page": 403,
        "no JSON": 400,
        "a list": 400,
        "deep": 400,
        "large": 413,
        "form": 400,
        "GET": 405,
    }


def test_one_person_has_so_many_open_requests_and_so_many_a_minute() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    limits = RequestLimits(lambda: now)

    with contextlib.ExitStack() as open_requests:
        for _ in range(8):
            open_requests.enter_context(limits.open_request(ANN))
        with pytest.raises(TooManyAttempts):
            open_requests.enter_context(limits.open_request(ANN))
        open_requests.enter_context(limits.open_request(PersonId("local:bob")))
    for _ in range(112):
        with limits.open_request(ANN):
            pass
    with pytest.raises(TooManyAttempts), limits.open_request(ANN):
        pass


# -- the whole program


async def test_parley_serve_answers_a_program_with_a_token_of_the_command_line(home: Path) -> None:
    made = run_parley(home, "mcp", "token", "create", "user:local:ann", "--days", "1")
    assert made.status == 0
    token = made.stdout.strip()

    async with serve_parley(home) as address, http_client_of(f"{address}/mcp", token) as client:
        answer = await ask(client, "How many receipts are there?")

    assert answer.structured_content["count"] == 120


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("create", "group:finance"), 2, "is not a person; a token stands for one"),
        (("create", "a b"), 2, "is not a person"),
        (("revoke", "nothing"), 1, "there is no token 'nothing'"),
    ],
)
def test_bad_words_for_tokens_are_one_sentence(home: Path, words: tuple[str, ...], status: int, sentence: str) -> None:
    ended = run_parley(home, "mcp", "token", *words)

    assert (ended.status, ended.stdout) == (status, "")
    assert sentence in ended.stderr
