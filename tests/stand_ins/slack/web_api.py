"""The Web API over HTTP: bodies read, tokens looked at, faults played, methods called."""

import base64
import json
import math
from typing import Any, Final
from urllib.parse import parse_qsl

from aiohttp import web

from tests.stand_ins.slack import chat, conversations, files, oauth, people, sessions, streams, usergroups, views
from tests.stand_ins.slack.checker import Refused
from tests.stand_ins.slack.faults import failed
from tests.stand_ins.slack.methods import ApiError, Caller, Method
from tests.stand_ins.slack.state import Call, State

MINUTE_S: Final = 60
METHODS: Final[dict[str, Method]] = {
    **chat.METHODS,
    **conversations.METHODS,
    **files.METHODS,
    **oauth.METHODS,
    **people.METHODS,
    **sessions.METHODS,
    **streams.METHODS,
    **usergroups.METHODS,
    **views.METHODS,
}
# The scopes of each method; several where the kind of channel decides.
SCOPES: Final[dict[str, frozenset[str]]] = {name: method.scopes for name, method in METHODS.items()}


class WebApi:
    def __init__(self, slack: State) -> None:
        self._slack = slack

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/api/{method}", self._api), web.get("/api/{method}", self._api)]

    async def _api(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        fault = self._slack.faults.next(name)
        if fault is not None and not fault.done:
            return await failed(request, fault)
        answer = await self._answered(request, name)
        if isinstance(answer, web.Response):
            return answer
        await self._slack.tell()
        if fault is not None:
            return await failed(request, fault)
        return web.json_response(answer, headers=self._granted(request))

    def _granted(self, request: web.Request) -> dict[str, str]:
        """The head of an answer tells the scopes of the token."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        installed = self._slack.installations.get(token)
        if installed is None:
            return {}
        scopes = self._slack.scopes if installed.scopes is None else installed.scopes
        return {"x-oauth-scopes": ",".join(sorted(scopes))}

    async def _answered(self, request: web.Request, name: str) -> dict[str, Any] | web.Response:
        try:
            return {"ok": True, **await self._called(request, name)}
        except ApiError as exc:
            if exc.error == "ratelimited":
                headers = {"Retry-After": str(exc.retry_after)}
                return web.json_response({"ok": False, "error": exc.error}, status=429, headers=headers)
            return {"ok": False, "error": exc.error}
        except Refused as exc:
            return {"ok": False, "error": exc.error, "response_metadata": {"messages": [exc.detail]}}

    async def _called(self, request: web.Request, name: str) -> dict[str, Any]:
        method = METHODS.get(name)
        if method is None:
            raise ApiError("unknown_method")
        arguments = await _body(request, method)
        caller = self._caller(request, method, arguments)
        self._slack.calls.append(Call(method=name, arguments=arguments))
        self._spend(name, caller.workspace.team, method.a_minute)
        return method.call(caller, arguments)

    def _caller(self, request: web.Request, method: Method, arguments: dict[str, Any]) -> Caller:
        """Takes the token, or the client's id and secret, from wherever they stand."""
        held = request.headers.get("Authorization", "")
        if method.holds == "nothing":
            if held.startswith("Basic "):
                name, _, secret = base64.b64decode(held.removeprefix("Basic ")).decode().partition(":")
                arguments |= {"client_id": name, "client_secret": secret}
            return oauth.nobody(self._slack)
        token = arguments.pop("token", None) or held.removeprefix("Bearer ")
        if method.holds == "app":
            return oauth.caller_for_app(self._slack, token)
        return oauth.caller_with(self._slack, token, arguments)

    def _spend(self, name: str, team: str, a_minute: int) -> None:
        if not self._slack.tiers:
            return
        now = self._slack.clock()
        spent = [one for one in self._slack.spent.get((name, team), []) if one > now - MINUTE_S]
        if len(spent) >= a_minute:
            raise ApiError("ratelimited", retry_after=max(1, math.ceil(spent[0] + MINUTE_S - now)))
        self._slack.spent[(name, team)] = [*spent, now]


async def _body(request: web.Request, method: Method) -> dict[str, Any]:
    if request.content_type == "application/json":
        if method.reads:
            raise ApiError("invalid_form_data")
        return dict(json.loads(await request.text()))
    fields = {**request.query, **dict(parse_qsl(await request.text(), keep_blank_values=True))}
    return method.read(fields)
