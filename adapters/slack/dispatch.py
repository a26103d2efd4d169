"""Bolt, as Parley uses it: it tells deliveries apart and hands each to the listener that asked for it."""

import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse
from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackFailed
from adapters.slack.workspaces import NOWHERE, Workspaces, place_of


class Listener(Protocol):
    """One concern's deliveries. What it raises leaves a delivery unacknowledged, so that Slack repeats an event."""

    @property
    def events(self) -> tuple[str, ...]:
        """Types of the events that it hears, as the manifest subscribes to them; without the kind of channel."""
        ...

    def listen(self, app: Any) -> None:
        """Registers with Bolt's `AsyncApp`, whose decorators have no types."""
        ...


def dispatcher(listeners: Iterable[Listener], log: FilteringBoundLogger) -> AsyncApp:
    """What no listener asked for is acknowledged, or Slack would repeat it."""
    app = AsyncApp(
        name="parley",
        logger=_bolt_logger(),
        authorize=_authorized,
        signing_secret=_UNUSED,
        request_verification_enabled=False,  # whoever receives has done it, before anything is parsed
        process_before_response=True,  # acknowledged only after the listener returned: stored
        ignoring_self_events_enabled=False,  # the listeners do, with the ids of the installation
        attaching_conversation_kwargs_enabled=False,
    )
    untyped: Any = app
    for listener in listeners:
        listener.listen(untyped)
    untyped.event(re.compile(".*"))(_ignored)
    untyped.error(_Failures(log).told)
    return app


class Dispatch:
    """Where all deliveries come together, once it is certain that Slack sent them."""

    def __init__(self, app: AsyncApp, workspaces: Workspaces, log: FilteringBoundLogger) -> None:
        self._app, self._workspaces, self._log = app, workspaces, log

    async def deliver(self, request: AsyncBoltRequest, told: Mapping[str, Any]) -> BoltResponse:
        """`told`: what the request says, parsed. 200 acknowledges; with anything else Slack repeats an event.

        What comes from where the app is not installed is acknowledged and ignored.
        """
        place = place_of(told)
        try:
            workspace = await self._workspaces.of(place)
        except SlackFailed as exc:
            self._log.warning("slack delivery put off", reason=str(exc))
            return BoltResponse(status=503, body="Slack does not answer; please deliver this again.")
        if workspace is None and place != NOWHERE:
            self._log.info("slack delivery ignored", team=place.team, enterprise=place.enterprise)
            return BoltResponse(status=200)
        return await self._app.async_dispatch(request)


_UNUSED: Final = "unused"  # Bolt wants one


class _Failures:
    def __init__(self, log: FilteringBoundLogger) -> None:
        self._log = log

    async def told(self, error: Exception) -> BoltResponse:
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
