"""Stands between the Playground and Parley, and changes no body.

It signs what the Playground delivers, because the Playground sends no token and Parley accepts nothing without one. It
records what Parley calls.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import ClientSession, web
from yarl import URL

from adapters.teams.receiving.http_endpoint import MESSAGES_PATH
from tests.stand_ins.teams.server import TeamsServer

CONNECTOR_PATH: Final = "/_connector"


@dataclass(frozen=True, kw_only=True)
class PlaygroundCall:
    """A call of Parley's: `activity` is empty where none was sent. `answered_id`: of a new message."""

    method: str
    path: str
    activity: Mapping[str, Any]
    status: int
    answered_id: str

    @property
    def is_message(self) -> bool:
        return self.activity.get("type") == "message"


@dataclass(kw_only=True)
class SigningProxy:
    """`teams` has the key that signs, and the address of Parley. `activities`: what was delivered, in order."""

    teams: TeamsServer
    origin: str = ""
    playground_url: str = ""
    activities: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    statuses: list[int] = field(default_factory=list[int])
    calls: list[PlaygroundCall] = field(default_factory=list[PlaygroundCall])

    @property
    def app_url(self) -> str:
        return self.origin + MESSAGES_PATH

    @property
    def service_url(self) -> str:
        return self.origin + CONNECTOR_PATH

    def messages_sent(self) -> list[PlaygroundCall]:
        """The calls that posted or updated a message, without parts of streams."""
        return [call for call in self.calls if call.is_message and not _stream_entities(call.activity)]

    def stream_parts(self) -> list[Mapping[str, Any]]:
        """What each part of a stream says about the stream."""
        return [entity for call in self.calls for entity in _stream_entities(call.activity)]

    async def forward_delivery(self, request: web.Request) -> web.Response:
        body = await request.read()
        activity = json.loads(body)
        token = self.teams.sign_delivery(activity["serviceUrl"])
        headers = {"Content-Type": request.headers["Content-Type"], "Authorization": f"Bearer {token}"}
        async with ClientSession() as session, session.post(self.teams.app_url, data=body, headers=headers) as answer:
            content, status = await answer.read(), answer.status
        self.activities.append(activity)
        self.statuses.append(status)
        return web.Response(body=content, status=status, content_type=answer.content_type)

    async def forward_call(self, request: web.Request) -> web.Response:
        body = await request.read()
        url = URL(self.playground_url + request.raw_path, encoded=True)
        headers = {"Content-Type": "application/json"} if body else {}
        async with (
            ClientSession() as session,
            session.request(request.method, url, data=body or None, headers=headers) as answer,
        ):
            content, status = await answer.read(), answer.status
        answered: Mapping[str, Any] = json.loads(content) if status == 201 else {}
        self.calls.append(
            PlaygroundCall(
                method=request.method,
                path=request.path,
                activity=json.loads(body) if body else {},
                status=status,
                answered_id=answered.get("id", ""),
            )
        )
        return web.Response(body=content, status=status, content_type=answer.content_type)


def _stream_entities(activity: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [entity for entity in activity.get("entities", []) if entity.get("type") == "streaminfo"]


@asynccontextmanager
async def serve_signing_proxy(teams: TeamsServer) -> AsyncGenerator[SigningProxy]:
    proxy = SigningProxy(teams=teams)
    app = web.Application()
    app.router.add_post(MESSAGES_PATH, proxy.forward_delivery)
    app.router.add_route("*", CONNECTOR_PATH + "/{rest:.*}", proxy.forward_call)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    proxy.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield proxy
    finally:
        await runner.cleanup()
