"""Serves the Web API over HTTP: parses bodies, checks tokens, plays faults and calls methods."""

import base64
import json
import math
from typing import Any, Final
from urllib.parse import parse_qsl

from aiohttp import web

from tests.stand_ins.slack import chat, conversations, files, oauth, people, sessions, streams, usergroups, views
from tests.stand_ins.slack.checker import PayloadRefused
from tests.stand_ins.slack.faults import fault_response
from tests.stand_ins.slack.methods import ApiError, MethodCaller, WebApiMethod
from tests.stand_ins.slack.state import MethodCall, SlackState

MINUTE_S: Final = 60
METHODS: Final[dict[str, WebApiMethod]] = {
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
    def __init__(self, slack: SlackState) -> None:
        self._slack = slack

    def server_routes(self) -> list[web.RouteDef]:
        return [web.post("/api/{method}", self._handle_call), web.get("/api/{method}", self._handle_call)]

    async def _handle_call(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        fault = self._slack.faults.next_fault(name)
        if fault is not None and not fault.takes_effect:
            return await fault_response(request, fault)
        answer = await self._answer_call(request, name)
        if isinstance(answer, web.Response):
            return answer
        await self._slack.notify_waiters()
        if fault is not None:
            return await fault_response(request, fault)
        return web.json_response(answer, headers=self._scope_headers(request))

    def _scope_headers(self, request: web.Request) -> dict[str, str]:
        """Returns the response header with the scopes of the token."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        installation = self._slack.installations.get(token)
        if installation is None:
            return {}
        scopes = self._slack.scopes if installation.scopes is None else installation.scopes
        return {"x-oauth-scopes": ",".join(sorted(scopes))}

    async def _answer_call(self, request: web.Request, name: str) -> dict[str, Any] | web.Response:
        try:
            return {"ok": True, **await self._call_method(request, name)}
        except ApiError as exc:
            if exc.error == "ratelimited":
                headers = {"Retry-After": str(exc.retry_after)}
                return web.json_response({"ok": False, "error": exc.error}, status=429, headers=headers)
            return {"ok": False, "error": exc.error}
        except PayloadRefused as exc:
            return {"ok": False, "error": exc.error, "response_metadata": {"messages": [exc.detail]}}

    async def _call_method(self, request: web.Request, name: str) -> dict[str, Any]:
        method = METHODS.get(name)
        if method is None:
            raise ApiError("unknown_method")
        arguments = await _read_arguments(request, method)
        caller = self._caller_of(request, method, arguments)
        self._slack.calls.append(MethodCall(method=name, arguments=arguments))
        self._count_call(name, caller.workspace.team, method.calls_per_minute)
        return method.call_as(caller, arguments)

    def _caller_of(self, request: web.Request, method: WebApiMethod, arguments: dict[str, Any]) -> MethodCaller:
        """Returns the caller, with the token or the client's id and secret from the header or the arguments."""
        authorization = request.headers.get("Authorization", "")
        if method.token_kind == "nothing":
            if authorization.startswith("Basic "):
                name, _, secret = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
                arguments |= {"client_id": name, "client_secret": secret}
            return oauth.caller_without_token(self._slack)
        token = arguments.pop("token", None) or authorization.removeprefix("Bearer ")
        if method.token_kind == "app":
            return oauth.caller_for_app(self._slack, token)
        return oauth.caller_with(self._slack, token, arguments)

    def _count_call(self, name: str, team: str, calls_per_minute: int) -> None:
        if not self._slack.limits_methods:
            return
        now = self._slack.clock()
        calls = [
            called_at for called_at in self._slack.calls_by_method.get((name, team), []) if called_at > now - MINUTE_S
        ]
        if len(calls) >= calls_per_minute:
            raise ApiError("ratelimited", retry_after=max(1, math.ceil(calls[0] + MINUTE_S - now)))
        self._slack.calls_by_method[(name, team)] = [*calls, now]


async def _read_arguments(request: web.Request, method: WebApiMethod) -> dict[str, Any]:
    if request.content_type == "application/json":
        if method.reads:
            raise ApiError("invalid_form_data")
        return dict(json.loads(await request.text()))
    fields = {**request.query, **dict(parse_qsl(await request.text(), keep_blank_values=True))}
    return method.read_form(fields)
