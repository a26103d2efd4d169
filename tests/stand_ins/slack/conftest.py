"""A workspace with a person and two channels, a client that calls methods, and an app with scripted answers."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import aiohttp
import pytest
from aiohttp import web

from tests.stand_ins.slack.server import TOKEN, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, SlackChannel, SlackMember

QUIET: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}


class WebApiClient:
    """Calls methods as slack_sdk does: with JSON where Slack takes it, else with a form."""

    def __init__(self, slack: SlackServer, http: aiohttp.ClientSession) -> None:
        self._slack, self._http = slack, http

    async def call_method(
        self, method: str, *, as_json: bool = False, token: str = TOKEN, **arguments: Any
    ) -> dict[str, Any]:
        url, headers = self._slack.api_url + method, {"Authorization": f"Bearer {token}"} if token else {}
        form_fields = {
            name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()
        }
        body: dict[str, Any] = {"json": arguments} if as_json else {"data": form_fields}
        async with self._http.post(url, headers=headers, **body) as response:
            return await response.json() | {"status": response.status}

    async def post_message(self, channel: str = "C1", **content: Any) -> dict[str, Any]:
        return await self.call_method(
            "chat.postMessage", as_json=True, channel=channel, **{"text": "x", **QUIET, **content}
        )


@dataclass
class RecordingApp:
    """Records the deliveries and answers each with the next of `answers`; without answers, with an empty body."""

    received: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    answers: list[object] = field(default_factory=list[object])
    statuses: list[int] = field(default_factory=list[int])
    answer_headers: dict[str, str] = field(default_factory=dict[str, str])  # headers of each answer

    async def receive_delivery(self, request: web.Request) -> web.Response:
        self.received.append(_parse_delivery(await request.text(), request.content_type))
        self.headers.append(dict(request.headers))
        status = self.statuses.pop(0) if self.statuses else 200
        answer = self.answers.pop(0) if self.answers else None
        if answer is None:
            return web.Response(status=status, headers=self.answer_headers)
        return web.json_response(answer, status=status, headers=self.answer_headers)


def _parse_delivery(text: str, content_type: str) -> dict[str, Any]:
    if content_type == "application/json":
        return json.loads(text)
    fields = dict(parse_qsl(text, keep_blank_values=True))
    return json.loads(fields["payload"]) if "payload" in fields else fields


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as server:
        server.workspace.add_user(SlackMember(id="U1", name="Ada"))
        server.workspace.add_channel(SlackChannel(id="C1", members=["U1", BOT_USER]))
        server.workspace.add_channel(SlackChannel(id="C2", members=["U1"]))
        yield server


@pytest.fixture
def ada(slack: SlackServer) -> SlackMember:
    return slack.workspace.users["U1"]


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
def client(slack: SlackServer, http: aiohttp.ClientSession) -> WebApiClient:
    return WebApiClient(slack, http)


@pytest.fixture
async def app(slack: SlackServer) -> AsyncIterator[RecordingApp]:
    app, web_app = RecordingApp(), web.Application()
    web_app.router.add_post("/slack/events", app.receive_delivery)
    runner = web.AppRunner(web_app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.app_url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    yield app
    await runner.cleanup()
