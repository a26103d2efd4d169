"""The connector: the REST service through which a bot writes to Teams and reads its rosters.

https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-api-reference
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from aiohttp import web

from tests.stand_ins.teams.conversation_calls import CALLS
from tests.stand_ins.teams.faults import teams_fault_response
from tests.stand_ins.teams.refusals import ConnectorRefused
from tests.stand_ins.teams.roster_calls import ROSTER_CALLS
from tests.stand_ins.teams.state import ConnectorRequest, TeamsServerState

CallAnswer: TypeAlias = tuple[int, Any]
_JSON: Final = "application/json"


@dataclass(frozen=True, kw_only=True)
class ConnectorRoutes:
    """Routes of the connector. Each call is recorded under its name, which is also that of its planned faults."""

    teams: TeamsServerState

    def server_routes(self) -> list[web.RouteDef]:
        conversation = "/{region}/v3/conversations/{conversation}"
        activity = conversation + "/activities/{activity}"
        team = "/{region}/v3/teams/{conversation}"
        return [
            web.post(conversation + "/activities", self._handler_of("send")),
            web.post(activity, self._handler_of("send")),
            web.put(activity, self._handler_of("update")),
            web.delete(activity, self._handler_of("delete")),
            web.get(conversation + "/pagedmembers", self._handler_of("members")),
            web.get(conversation + "/members/{member}", self._handler_of("member")),
            web.post("/{region}/v3/conversations", self._handler_of("create")),
            web.get(team, self._handler_of("team")),
            web.get(team + "/conversations", self._handler_of("channels")),
        ]

    def _handler_of(self, name: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(request: web.Request) -> web.StreamResponse:
            fault = self.teams.faults.next_fault(name)
            if fault is not None and fault.released_by is not None:
                await fault.released_by.wait()
                fault = None
            if fault is not None and not fault.takes_effect:
                return await teams_fault_response(request, fault)
            response = await self._serve(request, name)
            await self.teams.notify_waiters()
            if fault is None:
                return response
            self._note_hidden_answer(response)
            return await teams_fault_response(request, fault)

        return handle

    def _note_hidden_answer(self, response: web.Response) -> None:
        answer: object = json.loads(response.body) if isinstance(response.body, bytes) else None
        if isinstance(answer, dict) and "id" in answer:
            self.teams.hidden_ids.append(str(cast(Mapping[str, Any], answer)["id"]))

    async def _serve(self, request: web.Request, name: str) -> web.Response:
        body: Mapping[str, Any] = {}
        try:
            self._check_caller(request)
            body = await _body_of(request)
            status, answer = self._call(request, name, body)
        except ConnectorRefused as exc:
            self._record(request, name, body, exc.status, f"{exc.code}: {exc.detail}")
            headers = {} if exc.retry_after is None else {"Retry-After": str(exc.retry_after)}
            error = {"error": {"code": exc.code, "message": exc.detail}}
            return web.json_response(error, status=exc.status, headers=headers)
        self._record(request, name, body, status, "")
        return web.Response(status=status) if answer is None else web.json_response(answer, status=status)

    def _call(self, request: web.Request, name: str, body: Mapping[str, Any]) -> CallAnswer:
        places = request.match_info
        if name in ROSTER_CALLS:
            return ROSTER_CALLS[name](self.teams, {**request.query, **places}, body)
        return CALLS[name](self.teams, places.get("conversation", ""), places.get("activity", ""), body)

    def _check_caller(self, request: web.Request) -> None:
        """Check the region and the token."""
        region = request.match_info["region"]
        if region != self.teams.region:
            raise ConnectorRefused(404, "ServiceNotFound", f"the tenant is not served in {region}")
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or not self.teams.tokens.is_valid(token, self.teams.clock()):
            raise ConnectorRefused(401, "Unauthorized", "Authorization has been denied for this request.")

    def _record(self, request: web.Request, name: str, body: Mapping[str, Any], status: int, error: str) -> None:
        places = request.match_info
        self.teams.calls.append(
            ConnectorRequest(
                name=name,
                conversation=places.get("conversation", ""),
                activity_id=places.get("activity", ""),
                body=body,
                status=status,
                error=error,
            )
        )


async def _body_of(request: web.Request) -> Mapping[str, Any]:
    """Returns the JSON of a call; empty for those without a body."""
    if request.method not in {"POST", "PUT"}:
        return {}
    if request.content_type != _JSON:
        raise ConnectorRefused(415, "UnsupportedMediaType", f"content type {request.content_type}")
    try:
        body: object = json.loads(await request.read())
    except ValueError:
        raise ConnectorRefused(400, "BadSyntax", "no JSON") from None
    if not isinstance(body, dict):
        raise ConnectorRefused(400, "BadSyntax", "no object")
    return cast(Mapping[str, Any], body)
