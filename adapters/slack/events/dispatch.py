"""Dispatches deliveries with Slack's Bolt framework: each goes to the listener registered for its type."""

import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse
from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError
from adapters.slack.events.delivery_listener import DeliveryListener
from adapters.slack.payloads.deliveries import UnreadableDelivery, parse_delivery
from adapters.slack.workspaces.workspace_registry import NO_INSTALLATION, WorkspaceRegistry, installation_key_of
from bot.http.quiet_log import quiet_log_for


def build_bolt_app(listeners: Iterable[DeliveryListener], log: FilteringBoundLogger) -> AsyncApp:
    """Build the Bolt app. It acknowledges unhandled events, which Slack would repeat otherwise."""
    app = AsyncApp(
        name="parley",
        logger=_bolt_logger(),
        authorize=_authorize_without_api,
        signing_secret=_UNUSED_SECRET,
        request_verification_enabled=False,  # the receiver has verified the request before parsing it
        process_before_response=True,  # acknowledge only after the listener has stored the delivery
        ignoring_self_events_enabled=False,  # the listeners ignore them, by the ids of the installation
        attaching_conversation_kwargs_enabled=False,
    )
    untyped: Any = app
    for listener in listeners:
        listener.register_bolt_handlers(untyped)
    untyped.event(re.compile(".*"))(_ignore_unhandled_event)
    untyped.error(_FailureHandler(quiet_log_for(log)).handle_delivery_failure)
    return app


class DeliveryDispatcher:
    """Dispatches the verified deliveries of all receivers."""

    def __init__(self, app: AsyncApp, workspaces: WorkspaceRegistry, log: FilteringBoundLogger) -> None:
        self._app, self._workspaces, self._log = app, workspaces, quiet_log_for(log)
        self._failures = _FailureHandler(self._log)

    async def dispatch_delivery(self, payload: Mapping[str, Any]) -> BoltResponse:
        """Dispatch one delivery. `payload`: as Slack sends it, verified and not yet checked.

        Status 200 acknowledges; for any other status Slack repeats an event, 400 for what is not in the form of Slack.
        Deliveries of a workspace where the app is not installed are acknowledged and ignored.
        """
        try:
            delivery = parse_delivery(payload)
        except UnreadableDelivery as exc:
            return self._failures.refuse_delivery(exc)
        installation_key = installation_key_of(delivery)
        try:
            workspace = await self._workspaces.workspace_for(installation_key)
        except SlackError as exc:
            self._log.warning("slack delivery deferred", reason=str(exc))
            return BoltResponse(status=503, body="Slack does not answer; please deliver this again.")
        if workspace is None and installation_key != NO_INSTALLATION:
            self._log.info(
                "slack delivery ignored", team=installation_key.team_id, enterprise=installation_key.enterprise_id
            )
            return BoltResponse(status=200)
        # Bolt takes a parsed body in this mode only; it makes no other difference.
        return await self._app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=delivery))


_UNUSED_SECRET: Final = "unused"  # noqa: S105 - Bolt requires a value


class _FailureHandler:
    def __init__(self, log: FilteringBoundLogger) -> None:
        self._log = log

    async def handle_delivery_failure(self, error: Exception) -> BoltResponse:
        """Answer 500 or 503, so that Slack repeats the event; 400 for a part that is not in the form of Slack.

        Logs only the error's type, since its text may be private.
        """
        if isinstance(error, UnreadableDelivery):
            return self.refuse_delivery(error)
        self._log.error("slack delivery failed", error=type(error).__name__)
        is_outage = isinstance(error, (SlackError, TimeoutError))
        return BoltResponse(status=503 if is_outage else 500, body="This could not be stored; please deliver it again.")

    def refuse_delivery(self, refusal: UnreadableDelivery) -> BoltResponse:
        self._log.info("slack delivery refused", reason=refusal.reason)
        return BoltResponse(status=refusal.status, body="This is not a delivery of Slack's.")


def _bolt_logger() -> logging.Logger:
    """Returns a silent logger: Bolt's log contains people's messages, and Parley logs failures itself."""
    logger = logging.getLogger("parley.slack.bolt")
    logger.setLevel(logging.CRITICAL)
    return logger


async def _ignore_unhandled_event() -> None:
    """Do nothing; Bolt acknowledges the event."""


async def _authorize_without_api(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
    """Authorize without a call to `auth.test`. Parley sends nothing with Bolt's own client."""
    return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, bot_token="")
