"""What Slack sends to the app: signed, within three seconds, again when it failed."""

import hashlib
import hmac
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import aiohttp

from tests.stand_ins.slack.sockets import NotDelivered
from tests.stand_ins.slack.state import Installation, State
from tests.stand_ins.slack.workspace import APP, User, Workspace

_EVENTS = itertools.count(1)  # of all servers: one database may outlive several of them
SIGNING_SECRET: Final = "parley-signing-secret"
FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """What the app answered, one status an attempt; None where it did not, or not within three seconds."""

    statuses: list[int | None]
    body: str = ""


@dataclass
class Deliveries(State):
    session: aiohttp.ClientSession = field(init=False)

    async def tell_app(self, place: Workspace, subscription: str, event: Mapping[str, Any]) -> Delivered:
        """An event, unless the app is not subscribed to it: then nothing is sent, and there is no status."""
        if not self.hears(place, subscription):
            return Delivered(statuses=[])
        told = {"type": subscription.partition(".")[0], "event_ts": place.next_ts(), **event}
        return await self.deliver_event(told, place=place)

    async def deliver_event(
        self,
        event: Mapping[str, Any],
        *,
        place: Workspace | None = None,
        by: Installation | None = None,
        **envelope: Any,
    ) -> Delivered:
        """Any event, whatever the app is subscribed to."""
        place = place or self.workspace
        shared = place.channels.get(str(event.get("channel")))
        body = {
            "token": "unused",
            "team_id": place.team,
            **({"enterprise_id": place.enterprise} if place.enterprise else {}),
            "api_app_id": APP,
            "event": event,
            "type": "event_callback",
            "event_id": f"Ev{next(_EVENTS):08d}",
            "event_time": int(self.clock()),
            "authorizations": [_authorization(place, by or self.installed(place))],
            "is_ext_shared_channel": shared is not None and shared.is_ext_shared,
            **envelope,
        }
        if self.socket_mode:
            return await self._enveloped("events_api", body, retries=3)
        return await self._posted(json.dumps(body).encode(), {"Content-Type": "application/json"}, retries=3)

    def is_org_wide(self, place: Workspace) -> bool:
        by = self.installed(place)
        return by is not None and by.is_org_wide

    def interaction(self, user: User, kind: str) -> dict[str, Any]:
        """What every interaction says; its trigger is new."""
        place = self.home_of(user)
        grid = {"id": place.enterprise, "name": "Grid"} if place.enterprise else None
        return {
            "type": kind,
            "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team},
            "api_app_id": APP,
            "token": "unused",
            "trigger_id": self.trigger_id(user),
            "team": {"id": place.team, "domain": "parley"},
            "enterprise": grid,
            "is_enterprise_install": self.is_org_wide(place),
        }

    async def deliver_interaction(self, payload: Mapping[str, Any]) -> Delivered:
        """Slack does not repeat one that failed; the person sees a warning."""
        if self.socket_mode:
            return await self._enveloped("interactive", payload, retries=0)
        return await self._posted(urlencode({"payload": json.dumps(payload)}).encode(), FORM, retries=0)

    async def deliver_form(self, fields: Mapping[str, str]) -> Delivered:
        """A command. Slack does not repeat it either."""
        if self.socket_mode:
            return await self._enveloped("slash_commands", fields, retries=0)
        return await self._posted(urlencode(fields).encode(), FORM, retries=0)

    async def verify(self) -> bool:
        """Whether the app answers the challenge, as it must before Slack takes its address."""
        challenge = f"challenge-{self.next_id()}"
        body = json.dumps({"token": "unused", "challenge": challenge, "type": "url_verification"}).encode()
        status, answer = await self.send(body, {"Content-Type": "application/json", **self.signed(body)})
        return status == 200 and answer in {challenge, json.dumps({"challenge": challenge})}

    async def send(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
        """Any request to the app, signed or not."""
        status, answer, _ = await self._sent(body, headers)
        return status, answer

    def signed(self, body: bytes, *, age_s: float = 0, secret: str = SIGNING_SECRET) -> dict[str, str]:
        timestamp = str(int(self.clock() - age_s))
        digest = hmac.new(secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}

    async def _sent(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, str, Mapping[str, str]]:
        within = aiohttp.ClientTimeout(total=self.delivery_s)
        async with self.session.post(self.app_url, data=body, headers=headers, timeout=within) as response:
            return response.status, await response.text(), response.headers

    async def _posted(self, body: bytes, headers: Mapping[str, str], *, retries: int) -> Delivered:
        """Again after each failure unless the app asks for no more, as Slack does, but without pauses of minutes."""
        statuses: list[int | None] = []
        reason, answer = "", ""
        for number in range(retries + 1):
            repeated = {"X-Slack-Retry-Num": str(number), "X-Slack-Retry-Reason": reason} if number else {}
            status, told = None, dict[str, str]()
            try:
                status, answer, told = await self._sent(body, {**headers, **self.signed(body), **repeated})
                reason = "http_error"
            except TimeoutError:
                reason = "http_timeout"
            except aiohttp.ClientConnectionError:
                reason = "connection_failed"
            statuses.append(status)
            if (status is not None and 200 <= status < 300) or told.get("X-Slack-No-Retry") == "1":
                break
        return Delivered(statuses=statuses, body=answer)

    async def _enveloped(self, kind: str, payload: Mapping[str, Any], *, retries: int) -> Delivered:
        """Over one of the connections. An acknowledgement counts as 200."""
        statuses: list[int | None] = []
        for number in range(retries + 1):
            repeated = {"retry_attempt": number, "retry_reason": "timeout" if number else ""}
            told = repeated if kind == "events_api" else {}
            envelope = {"type": kind, "payload": payload, "accepts_response_payload": kind != "events_api", **told}
            try:
                answer = await self.sockets.deliver(envelope, self.delivery_s)
            except NotDelivered:
                statuses.append(None)
                continue
            return Delivered(statuses=[*statuses, 200], body="" if answer is None else json.dumps(answer))
        return Delivered(statuses=statuses)


def _authorization(place: Workspace, by: Installation | None) -> dict[str, Any]:
    """Of the installation that the event is for; one for a whole organisation names no team."""
    org_wide = by is not None and by.is_org_wide
    team = None if org_wide else place.team
    whose = {"enterprise_id": place.enterprise, "team_id": team, "user_id": place.bot_user}
    return {**whose, "is_bot": True, "is_enterprise_install": org_wide}
