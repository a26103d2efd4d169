"""Slack over signed HTTP: one route, verified, stored before it is acknowledged; Bolt tells the deliveries apart."""

import json
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Final, Protocol, cast
from urllib.parse import parse_qsl

from aiohttp import web
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse
from structlog.typing import FilteringBoundLogger

from adapters.slack.api import SlackApi
from adapters.slack.errors import SlackFailed
from adapters.slack.inbound import SURFACE, Reader
from adapters.slack.outbox import SlackOutbox
from adapters.slack.people import People
from adapters.slack.render import ACTION_PREFIX
from adapters.slack.signature import is_signed
from adapters.slack.workspaces import OneWorkspace, Workspaces, place_of, workspace_with
from bot.errors import InvalidSettings
from bot.ids import TurnId
from bot.inbound import Inbound
from bot.outbox import Outbox

PATH: Final = "/slack/events"
EVENTS: Final = ("app_mention", "message")


class SlackSettings(Protocol):
    """What this surface reads of the bot's settings."""

    @property
    def slack_bot_token(self) -> SecretStr | None: ...

    @property
    def slack_signing_secret(self) -> SecretStr | None: ...

    @property
    def slack_api_url(self) -> str: ...


class SlackBot(Protocol):
    """What this surface needs of the bot."""

    @property
    def settings(self) -> SlackSettings: ...

    @property
    def clock(self) -> Callable[[], datetime]: ...

    @property
    def log(self) -> FilteringBoundLogger: ...

    async def accept(self, inbound: Inbound) -> TurnId | None:
        """Stores it. None where it is known already; raises where it could not be stored."""
        ...


def surface(bot: SlackBot) -> "SlackSurface | None":
    """None without a bot token. Raises `InvalidSettings` when the secret that proves deliveries is missing."""
    token, secret = bot.settings.slack_bot_token, bot.settings.slack_signing_secret
    if token is None:
        return None
    if secret is None:
        advice = "copy it from your Slack app's page, Basic Information"
        raise InvalidSettings("SLACK_SIGNING_SECRET", "is not set, but SLACK_BOT_TOKEN is", advice)
    api = SlackApi(token=token.get_secret_value(), base_url=bot.settings.slack_api_url)
    return SlackSurface(
        accept=bot.accept,
        workspaces=OneWorkspace(workspace_with(api, bot.clock, bot.log)),
        signing_secret=secret.get_secret_value(),
        clock=bot.clock,
        log=bot.log,
    )


class SlackSurface:
    """Fulfils `bot.surfaces.Surface`."""

    name = SURFACE

    def __init__(
        self,
        *,
        accept: Callable[[Inbound], Awaitable[TurnId | None]],
        workspaces: Workspaces,
        signing_secret: str,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._accept, self._workspaces, self._secret = accept, workspaces, signing_secret
        self._clock, self._log = clock, log
        self._people = People(workspaces, log)
        self._reader = Reader(workspaces, clock)
        self._outbox = SlackOutbox(workspaces)
        self._bolt = self._listening(
            AsyncApp(
                name="parley",
                logger=_bolt_logger(),
                authorize=_authorized,
                signing_secret=signing_secret,
                request_verification_enabled=False,  # the route has done it, before it parses anything
                process_before_response=True,  # acknowledged only after the listener returned: stored
                ignoring_self_events_enabled=False,  # `Reader` does, with the ids of the installation
                attaching_conversation_kwargs_enabled=False,
            )
        )

    @property
    def outbox(self) -> Outbox:
        return self._outbox

    @property
    def directory(self) -> People:
        return self._people

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.post(PATH, self._receive)]

    async def start(self) -> None:
        """Raises `InvalidSettings` when Slack refuses the token; a Slack that is down is asked again later."""
        try:
            await self._workspaces.start()
        except SlackFailed as exc:
            self._log.warning("slack unreachable at start", reason=str(exc))

    async def close(self) -> None:
        await self._workspaces.close()

    async def _receive(self, request: web.Request) -> web.Response:
        """401 for what Slack did not sign or signed long ago, 400 for what it would not send, 503 to be asked again."""
        body = await request.read()
        if not is_signed(self._secret, body, request.headers, self._clock()):
            return web.Response(status=401, text="The signature is missing, wrong or too old.")
        try:
            text, told = _read(body, request.content_type)
        except ValueError:
            return web.Response(status=400, text="This is not a delivery of Slack's.")
        try:
            await self._workspaces.of(place_of(told))
        except SlackFailed as exc:
            self._log.warning("slack delivery put off", reason=str(exc))
            return web.Response(status=503, text="Slack does not answer; please deliver this again.")
        headers: Any = request.headers
        answer = await self._bolt.async_dispatch(
            AsyncBoltRequest(body=text, query=request.query_string, headers=headers)
        )
        return await to_aiohttp_response(answer)

    def _listening(self, app: AsyncApp) -> AsyncApp:
        """Everything that the manifest subscribes to; what else arrives is acknowledged, or Slack would repeat it."""
        untyped: Any = app
        for event in EVENTS:
            untyped.event(event)(self._on_message)
        untyped.event(re.compile(".*"))(_ignored)
        untyped.action(re.compile(rf"{ACTION_PREFIX}\d+"))(self._on_click)
        untyped.error(self._on_failure)
        return app

    async def _on_message(self, body: dict[str, Any]) -> None:
        inbound = await self._reader.message(body)
        if inbound is not None:
            await self._accept(inbound)

    async def _on_click(self, body: dict[str, Any], ack: Callable[[], Awaitable[Any]]) -> None:
        inbound = await self._reader.click(body)
        if inbound is not None:
            await self._accept(inbound)
        await ack()

    async def _on_failure(self, error: Exception) -> BoltResponse:
        """Not acknowledged, so that Slack delivers an event again. Names the error, never what it says."""
        self._log.error("slack delivery failed", error=type(error).__name__)
        return BoltResponse(status=500, body="This could not be stored; please deliver it again.")


def _bolt_logger() -> logging.Logger:
    """Bolt warns of how it was set up, and traces failures with what people wrote in them: ours to log instead."""
    logger = logging.getLogger("parley.slack.bolt")
    logger.setLevel(logging.CRITICAL)
    return logger


async def _ignored() -> None:
    """Acknowledged by Bolt when it returns."""


async def _authorized(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
    """For Bolt, which would call `auth.test` at deliveries otherwise. Nothing is sent with its client."""
    return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, bot_token="")


def _read(body: bytes, content_type: str) -> tuple[str, dict[str, Any]]:
    """The text of a body that Bolt can read, and what it says: JSON for events, a form for all else.

    Raises `ValueError` for anything else.
    """
    text = body.decode("utf-8")
    told = _form(text) if content_type == "application/x-www-form-urlencoded" else _json(text)
    return text, told


def _form(text: str) -> dict[str, Any]:
    """Interactions are JSON in `payload`; commands and `ssl_check` are flat."""
    fields = dict(parse_qsl(text))
    if not fields:
        raise ValueError("an empty form")
    return _json(fields["payload"]) if "payload" in fields else fields


def _json(text: str) -> dict[str, Any]:
    try:
        told = cast(object, json.loads(text))
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
    if not isinstance(told, dict):
        raise ValueError("no object")
    return cast(dict[str, Any], told)
