"""Deliveries from Slack to the app: signed, with a timeout of three seconds, and repeated after failures."""

import hashlib
import hmac
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import aiohttp

from tests.stand_ins.slack.sockets import EnvelopeNotDelivered
from tests.stand_ins.slack.state import SlackState, TokenInstallation
from tests.stand_ins.slack.workspace import APP, SlackMember, StandInWorkspace

_EVENTS = itertools.count(1)  # shared by all servers, because one database may outlive several of them
SIGNING_SECRET: Final = "parley-signing-secret"
FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True, kw_only=True)
class DeliveryOutcome:
    """The app's answers: one status per attempt; None for no answer within three seconds."""

    statuses: list[int | None]
    body: str = ""


@dataclass
class AppDeliveries(SlackState):
    session: aiohttp.ClientSession = field(init=False)

    async def tell_app(
        self, workspace: StandInWorkspace, subscription: str, event: Mapping[str, Any]
    ) -> DeliveryOutcome:
        """Deliver an event if the app is subscribed to it; otherwise the outcome has no statuses."""
        if not self.is_subscribed(workspace, subscription):
            return DeliveryOutcome(statuses=[])
        event_fields = {"type": subscription.partition(".")[0], "event_ts": workspace.next_ts(), **event}
        return await self.deliver_event(event_fields, workspace=workspace)

    async def deliver_event(
        self,
        event: Mapping[str, Any],
        *,
        workspace: StandInWorkspace | None = None,
        installation: TokenInstallation | None = None,
        **envelope: Any,
    ) -> DeliveryOutcome:
        """Deliver any event, even without a subscription."""
        workspace = workspace or self.workspace
        shared = workspace.channels.get(str(event.get("channel")))
        body = {
            "token": "unused",
            "team_id": workspace.team,
            **({"enterprise_id": workspace.enterprise} if workspace.enterprise else {}),
            "api_app_id": APP,
            "event": event,
            "type": "event_callback",
            "event_id": f"Ev{next(_EVENTS):08d}",
            "event_time": int(self.clock()),
            "authorizations": [_authorization_of(workspace, installation or self.installation_of(workspace))],
            "is_ext_shared_channel": shared is not None and shared.is_ext_shared,
            **envelope,
        }
        if self.socket_mode:
            return await self._send_envelope_with_retries("events_api", body, retries=3)
        return await self._post_with_retries(json.dumps(body).encode(), {"Content-Type": "application/json"}, retries=3)

    def is_org_wide(self, workspace: StandInWorkspace) -> bool:
        by = self.installation_of(workspace)
        return by is not None and by.is_org_wide

    def interaction_payload(self, user: SlackMember, kind: str) -> dict[str, Any]:
        """Returns the common fields of an interaction, with a new trigger id."""
        place = self.workspace_of_user(user)
        grid = {"id": place.enterprise, "name": "Grid"} if place.enterprise else None
        return {
            "type": kind,
            "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team},
            "api_app_id": APP,
            "token": "unused",
            "trigger_id": self.create_trigger_id(user),
            "team": {"id": place.team, "domain": "parley"},
            "enterprise": grid,
            "is_enterprise_install": self.is_org_wide(place),
        }

    async def deliver_interaction(self, payload: Mapping[str, Any]) -> DeliveryOutcome:
        """Deliver an interaction. Slack does not repeat a failed one; the person sees a warning."""
        if self.socket_mode:
            return await self._send_envelope_with_retries("interactive", payload, retries=0)
        return await self._post_with_retries(urlencode({"payload": json.dumps(payload)}).encode(), FORM, retries=0)

    async def deliver_form(self, fields: Mapping[str, str]) -> DeliveryOutcome:
        """Deliver a command, which Slack does not repeat either."""
        if self.socket_mode:
            return await self._send_envelope_with_retries("slash_commands", fields, retries=0)
        return await self._post_with_retries(urlencode(fields).encode(), FORM, retries=0)

    async def verify_app_address(self) -> bool:
        """Whether the app answers the challenge, which Slack sends before it accepts an address."""
        challenge = f"challenge-{self.next_id()}"
        body = json.dumps({"token": "unused", "challenge": challenge, "type": "url_verification"}).encode()
        status, answer = await self.send_request(
            body, {"Content-Type": "application/json", **self.signature_headers(body)}
        )
        return status == 200 and answer in {challenge, json.dumps({"challenge": challenge})}

    async def send_request(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
        """Send any request to the app, signed or not."""
        status, answer, _ = await self._send_with_timeout(body, headers)
        return status, answer

    def signature_headers(self, body: bytes, *, age_s: float = 0, secret: str = SIGNING_SECRET) -> dict[str, str]:
        timestamp = str(int(self.clock() - age_s))
        digest = hmac.new(secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}

    async def _send_with_timeout(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, str, Mapping[str, str]]:
        timeout = aiohttp.ClientTimeout(total=self.delivery_s)
        async with self.session.post(self.app_url, data=body, headers=headers, timeout=timeout) as response:
            return response.status, await response.text(), response.headers

    async def _post_with_retries(self, body: bytes, headers: Mapping[str, str], *, retries: int) -> DeliveryOutcome:
        """Post a delivery and repeat it after failures as Slack does, but without its long pauses."""
        statuses: list[int | None] = []
        reason, answer = "", ""
        for retry in range(retries + 1):
            retry_headers = {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": reason} if retry else {}
            status, response_headers = None, dict[str, str]()
            try:
                status, answer, response_headers = await self._send_with_timeout(
                    body, {**headers, **self.signature_headers(body), **retry_headers}
                )
                reason = "http_error"
            except TimeoutError:
                reason = "http_timeout"
            except aiohttp.ClientConnectionError:
                reason = "connection_failed"
            statuses.append(status)
            if (status is not None and 200 <= status < 300) or response_headers.get("X-Slack-No-Retry") == "1":
                break
        return DeliveryOutcome(statuses=statuses, body=answer)

    async def _send_envelope_with_retries(
        self, kind: str, payload: Mapping[str, Any], *, retries: int
    ) -> DeliveryOutcome:
        """Send an envelope over a connection, with retries. An acknowledgement counts as status 200."""
        statuses: list[int | None] = []
        for retry in range(retries + 1):
            all_retry_fields = {"retry_attempt": retry, "retry_reason": "timeout" if retry else ""}
            retry_fields = all_retry_fields if kind == "events_api" else {}
            envelope = {
                "type": kind,
                "payload": payload,
                "accepts_response_payload": kind != "events_api",
                **retry_fields,
            }
            try:
                answer = await self.sockets.deliver_envelope(envelope, self.delivery_s)
            except EnvelopeNotDelivered:
                statuses.append(None)
                continue
            return DeliveryOutcome(statuses=[*statuses, 200], body="" if answer is None else json.dumps(answer))
        return DeliveryOutcome(statuses=statuses)


def _authorization_of(workspace: StandInWorkspace, installation: TokenInstallation | None) -> dict[str, Any]:
    """Returns the authorization of an event. An organisation-wide installation names no team."""
    org_wide = installation is not None and installation.is_org_wide
    team = None if org_wide else workspace.team
    ids = {"enterprise_id": workspace.enterprise, "team_id": team, "user_id": workspace.bot_user}
    return {**ids, "is_bot": True, "is_enterprise_install": org_wide}
