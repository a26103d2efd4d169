"""Deliveries from Teams to the app: signed, with a timeout, and repeated once after a failure of the app."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp

from tests.stand_ins.teams.signing import ISSUER, TOKEN_S, StandInKey, sign_claims
from tests.stand_ins.teams.state import TeamsServerState

_JSON: Final = {"Content-Type": "application/json; charset=utf-8"}


@dataclass(frozen=True, kw_only=True)
class ActivityDelivery:
    """A delivery and the app's answers: one status per attempt; None for no answer in time.

    Without statuses nothing was delivered. `client_error`: what the person sees where the answer to an invoke is
    one that Teams does not accept.
    """

    activity: Mapping[str, Any]
    statuses: list[int | None]
    body: str = ""
    client_error: str = ""

    @property
    def status(self) -> int | None:
        return self.statuses[-1] if self.statuses else None

    @property
    def is_accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300 and not self.client_error

    def read_answer(self) -> Any:
        """Returns the JSON of the answer; None for an empty one."""
        return json.loads(self.body) if self.body else None


@dataclass
class TeamsDeliveries(TeamsServerState):
    session: aiohttp.ClientSession = field(init=False)
    deliveries: list[ActivityDelivery] = field(init=False, default_factory=list[ActivityDelivery])

    async def deliver_activity(
        self, activity: Mapping[str, Any], *, token: str | None = None, repeats: int | None = None
    ) -> ActivityDelivery:
        """Deliver any activity. `token`: another than the proper one. An invoke is not repeated."""
        most = (0 if activity.get("type") == "invoke" else 1) if repeats is None else repeats
        signed = self.sign_delivery(str(activity.get("serviceUrl", ""))) if token is None else token
        headers = {**_JSON, "Authorization": f"Bearer {signed}"}
        statuses: list[int | None] = []
        answer = ""
        for _ in range(most + 1):
            status, answer = await self.post_to_app(json.dumps(activity).encode(), headers)
            statuses.append(status)
            if status is None or status < 500:
                break
        problem = _find_client_error(activity, statuses[-1], answer)
        delivery = ActivityDelivery(activity=activity, statuses=statuses, body=answer, client_error=problem)
        self.deliveries.append(delivery)
        return delivery

    async def post_to_app(self, body: bytes, headers: Mapping[str, str]) -> tuple[int | None, str]:
        """Send any request to the app, signed or not. The status is None where no answer comes in time."""
        timeout = aiohttp.ClientTimeout(total=self.delivery_s)
        try:
            async with self.session.post(self.app_url, data=body, headers=headers, timeout=timeout) as response:
                return response.status, await response.text()
        except (TimeoutError, aiohttp.ClientConnectionError):
            return None, ""

    def sign_delivery(
        self,
        service_url: str | None = None,
        *,
        key: StandInKey | None = None,
        kid: str | None = None,
        algorithm: str = "RS256",
        age_s: float = 0,
        lifetime_s: float = TOKEN_S,
        without: frozenset[str] | set[str] = frozenset(),
        **claims: Any,
    ) -> str:
        """Sign a token for a delivery.

        Forgeries: another `key` (`keys.create_key()` makes one that is not published), another `kid` or `algorithm`,
        an expired token (`age_s` above `lifetime_s`) or one of the future (`age_s` below 0), claims left out
        (`without`) or replaced (`iss=…`, `aud=…`, `serviceurl=…`).
        """
        issued_at = self.clock() - age_s
        all_claims = {
            "serviceurl": self.service_url if service_url is None else service_url,
            "nbf": int(issued_at),
            "exp": int(issued_at + lifetime_s),
            "iss": ISSUER,
            "aud": self.registration.app_id,
            **claims,
        }
        kept = {name: value for name, value in all_claims.items() if name not in without}
        return sign_claims(kept, key or self.keys.current, kid=kid, algorithm=algorithm)

    def rotate_keys(self, *, keep: bool = False) -> StandInKey:
        """Sign with a new key from now on. `keep`: the old ones stay published."""
        return self.keys.rotate_keys(keep=keep)


def _find_client_error(activity: Mapping[str, Any], status: int | None, answer: str) -> str:
    """Returns what is wrong with the answer to an invoke, in the words of Teams' documentation."""
    if activity.get("type") != "invoke":
        return ""
    if status is None or not 200 <= status < 300:
        return f"invoke answered with {status}"
    try:
        content = json.loads(answer) if answer else None
    except ValueError:
        return "invoke answered without JSON"
    match activity.get("name"):
        case "message/submitAction":
            return "" if content in (None, {}) else "message/submitAction invoke response isn't empty"
        case "adaptiveCard/action":
            is_sound = isinstance(content, dict) and {"statusCode", "type", "value"} <= content.keys()
            return "" if is_sound else "adaptiveCard/action needs statusCode, type and value"
        case _:
            return ""
