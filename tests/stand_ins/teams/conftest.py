"""A tenant with two people, a client that calls the connector, and an app with scripted answers."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TenantConversation, TenantPerson
from tests.stand_ins.teams.tokens import SCOPE


@dataclass(frozen=True, kw_only=True)
class ConnectorResponse:
    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def error(self) -> str:
        return self.body["error"]["code"]


@dataclass
class ConnectorClient:
    """Calls the connector as an app does. `token`: fetched with the first call."""

    teams: TeamsServer
    http: aiohttp.ClientSession
    token: str = ""

    async def fetch_token(self, **changes: str) -> ConnectorResponse:
        app = self.teams.registration
        fields = {
            "grant_type": "client_credentials",
            "client_id": app.app_id,
            "client_secret": app.secret,
            "scope": SCOPE,
            **changes,
        }
        async with self.http.post(self.teams.token_url, data=fields) as response:
            return ConnectorResponse(status=response.status, body=await response.json(), headers=response.headers)

    async def call(self, method: str, path: str, body: object = None, **parameters: str) -> ConnectorResponse:
        if not self.token:
            self.token = (await self.fetch_token()).body["access_token"]
        url, headers = self.teams.service_url + path, {"Authorization": f"Bearer {self.token}"}
        options: dict[str, Any] = {} if body is None else {"json": body}
        async with self.http.request(method, url, headers=headers, params=parameters, **options) as response:
            text = await response.text()
            is_json = response.content_type == "application/json" and text
            answer = json.loads(text) if is_json else text
            return ConnectorResponse(status=response.status, body=answer, headers=response.headers)

    async def send(self, conversation: str, /, **activity: Any) -> ConnectorResponse:
        return await self.call("POST", f"v3/conversations/{conversation}/activities", {"type": "message", **activity})

    async def update(self, conversation: str, activity_id: str, /, **activity: Any) -> ConnectorResponse:
        path = f"v3/conversations/{conversation}/activities/{activity_id}"
        return await self.call("PUT", path, {"type": "message", **activity})


@dataclass
class TeamsRecordingApp:
    """Records the deliveries and answers each with the next of `statuses` and of `answers`; without, 202 and none."""

    received: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    answers: list[object] = field(default_factory=list[object])
    statuses: list[int] = field(default_factory=list[int])

    async def receive_delivery(self, request: web.Request) -> web.Response:
        self.received.append(await request.json())
        self.headers.append(dict(request.headers))
        status = self.statuses.pop(0) if self.statuses else (200 if self.answers else 202)
        if not self.answers:
            return web.Response(status=status)
        return web.json_response(self.answers.pop(0), status=status)


@pytest.fixture
async def teams() -> AsyncIterator[TeamsServer]:
    async with TeamsServer() as server:
        yield server


@pytest.fixture
def ada(teams: TeamsServer) -> TenantPerson:
    return teams.tenant.add_person("Ada")


@pytest.fixture
def bob(teams: TeamsServer) -> TenantPerson:
    return teams.tenant.add_person("Bob")


@pytest.fixture
def chat(teams: TeamsServer, ada: TenantPerson) -> TenantConversation:
    """The personal chat of Ada and the app."""
    return teams.tenant.personal_chat_of(ada)


@pytest.fixture
def channel(teams: TeamsServer, ada: TenantPerson, bob: TenantPerson) -> TenantConversation:
    return teams.tenant.add_channel(teams.tenant.add_team("Plant", ada, bob), "Pumps")


@pytest.fixture
def group(teams: TeamsServer, ada: TenantPerson, bob: TenantPerson) -> TenantConversation:
    return teams.tenant.add_group_chat("Shift", ada, bob)


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
def client(teams: TeamsServer, http: aiohttp.ClientSession) -> ConnectorClient:
    return ConnectorClient(teams, http)


@pytest.fixture
async def app(teams: TeamsServer) -> AsyncIterator[TeamsRecordingApp]:
    app, web_app = TeamsRecordingApp(), web.Application()
    web_app.router.add_post("/api/messages", app.receive_delivery)
    runner = web.AppRunner(web_app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    teams.app_url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/messages"
    yield app
    await runner.cleanup()
