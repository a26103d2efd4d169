"""Receives what Teams delivers: one route, which lets an activity in only with a valid token of the Bot Connector."""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final, Protocol

from aiohttp import web
from structlog.typing import FilteringBoundLogger

from adapters.teams.events.listeners import InvokeAnswer
from adapters.teams.events.received_activity import ReceivedActivity, describe_activity
from adapters.teams.payloads.activities import InboundActivity
from adapters.teams.receiving.errors import ForeignSender, KeysUnavailable, UnprovenSender
from adapters.teams.receiving.request_body import MAX_BODY_BYTES, check_body_headers, parse_activity
from adapters.teams.receiving.token_check import TokenCheck
from bot.http.connections import protect_connection
from bot.http.errors import HttpRefusal
from bot.http.quiet_log import quiet_log_for
from bot.http.request_body import read_body

MESSAGES_PATH: Final = "/api/messages"
_TEAMS_CHANNEL: Final = "msteams"  # other channels let anyone write the tenant and the person into an activity


class DispatchActivity(Protocol):
    async def __call__(self, received: ReceivedActivity) -> InvokeAnswer | None:
        """The answer to an invoke; None for any other activity, which is stored then."""
        ...


class MessagesEndpoint:
    def __init__(
        self,
        *,
        dispatch: DispatchActivity,
        tokens: TokenCheck,
        accepted_tenants: Collection[str],
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._dispatch, self._tokens, self._clock = dispatch, tokens, clock
        self._log = quiet_log_for(log)  # anyone can cause its lines
        self._accepted_tenants = frozenset(tenant.lower() for tenant in accepted_tenants)

    async def receive_activity(self, request: web.Request) -> web.Response:
        """Answers 202 once the activity is stored, an invoke with its answer, and else the status of a
        `HttpRefusal`.
        """
        try:
            activity = await self._read_activity(request)
        except HttpRefusal as exc:
            write_line = self._log.warning if isinstance(exc, KeysUnavailable) else self._log.info
            write_line("teams request refused", status=exc.status, reason=exc.reason)
            challenge = {"WWW-Authenticate": "Bearer"} if isinstance(exc, UnprovenSender) else {}
            return web.Response(status=exc.status, headers=challenge)
        received = describe_activity(activity, self._clock())
        if received is None:
            self._log.info("teams activity ignored", type=activity.type[:40])
            return web.Response(status=202)
        answer = await self._dispatch(received)
        if answer is None:
            return web.Response(status=202)
        return web.json_response(answer.body, status=answer.status)

    async def _read_activity(self, request: web.Request) -> InboundActivity:
        """Reads nothing of the body before the token is valid. Raises `HttpRefusal`."""
        check_body_headers(request)
        headers = request.headers.getall("Authorization", [])
        token = await self._tokens.check_authorization(headers[0] if len(headers) == 1 else "")
        protect_connection(request)
        activity = parse_activity(await read_body(request, MAX_BODY_BYTES))
        token.check_activity(activity)
        if activity.channel_id != _TEAMS_CHANNEL:
            raise ForeignSender("another channel than Teams")
        tenants = {tenant.lower() for tenant in activity.named_tenants}
        if not tenants or not tenants <= self._accepted_tenants:
            raise ForeignSender("a tenant that is not accepted")
        return activity
