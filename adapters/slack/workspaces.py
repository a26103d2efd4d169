"""Where the app is installed: one workspace by its token, or several; each with what talks to it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from pydantic import BaseModel, ValidationError
from structlog.typing import FilteringBoundLogger

from adapters.slack.api import SlackApi
from adapters.slack.directory import AuthTest, Directory
from adapters.slack.errors import SlackRefused
from adapters.slack.posting import FILE_MB, Posting
from adapters.slack.streams import Pace
from bot.errors import InvalidSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Slack's ids of an installation. On an Enterprise Grid the team may be missing."""

    team: str | None = None
    enterprise: str | None = None


NOWHERE: Final = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One installation: a workspace, or all of an Enterprise Grid."""

    api: SlackApi
    directory: Directory
    posting: Posting


def workspace_with(
    api: SlackApi,
    clock: Callable[[], datetime],
    log: FilteringBoundLogger,
    ours: AuthTest | None = None,
    *,
    file_mb: int = FILE_MB,
    pace: Pace | None = None,
) -> Workspace:
    """What talks to the installation that the token of `api` belongs to. `ours`: where that is known already."""
    posting = Posting(api, log, file_mb=file_mb, pace=pace)
    return Workspace(api=api, directory=Directory(api, clock, log, ours), posting=posting)


class Workspaces(Protocol):
    """The installations. `start` and `close` once each, in the loop that calls."""

    async def start(self) -> None:
        """Raises `InvalidSettings` for what Slack will never accept; a Slack that is down is asked again later."""
        ...

    async def close(self) -> None: ...

    async def of(self, place: Place) -> Workspace | None:
        """None where the app is not installed. Raises `SlackFailed` when Slack must say first who we are."""
        ...

    async def leave(self, place: Place, at: datetime) -> None:
        """The app was removed there, unless it was installed anew after `at`. Replies still due end undelivered."""
        ...


class OneWorkspace:
    """Fulfils `Workspaces` with one token: whatever arrives signed is its own. `accounts`: if any, it is among them."""

    def __init__(self, workspace: Workspace, accounts: Sequence[str] = ()) -> None:
        self._only, self._accounts = workspace, frozenset(accounts)

    async def start(self) -> None:
        await self._only.api.start()
        try:
            ours = await self._only.directory.installation()
        except SlackRefused as exc:
            await self._only.api.close()
            advice = "copy the bot token from your Slack app's page, Install App"
            raise InvalidSettings("SLACK_BOT_TOKEN", f"is refused by Slack ({exc.error})", advice) from exc
        if not self._is_named(ours):
            await self._only.api.close()
            missing = f"does not name slack:{ours.team_id}, which SLACK_BOT_TOKEN is for"
            raise InvalidSettings("PARLEY_ACCOUNTS", missing, "add it there, or use the token of another workspace")

    async def close(self) -> None:
        await self._only.api.close()

    async def of(self, place: Place) -> Workspace | None:
        return self._only if self._is_named(await self._only.directory.installation()) else None

    async def leave(self, place: Place, at: datetime) -> None:
        """Its token is kept by whoever set it; Slack refuses it from now on."""

    def _is_named(self, ours: AuthTest) -> bool:
        named = {f"slack:{one}" for one in (ours.team_id, ours.enterprise_id) if one}
        return not self._accounts or not named.isdisjoint(self._accounts)


class _Ids(BaseModel):
    id: str


class _Authorization(BaseModel):
    team_id: str | None = None
    enterprise_id: str | None = None


class _Signed(BaseModel):
    """What names the installation in events (`authorizations`), interactions (objects) and commands (flat)."""

    authorizations: list[_Authorization] = []
    team: _Ids | str | None = None
    enterprise: _Ids | str | None = None
    team_id: str | None = None
    enterprise_id: str | None = None


def place_of(body: Mapping[str, Any]) -> Place:
    """For which installation Slack delivers this. `NOWHERE` where it does not say.

    In a channel shared between organisations, `team_id` may be theirs; the authorization is always ours.
    """
    try:
        signed = _Signed.model_validate(body)
    except ValidationError:
        return NOWHERE
    if signed.authorizations:
        ours = signed.authorizations[0]
        return Place(team=ours.team_id, enterprise=ours.enterprise_id)
    return Place(team=_id(signed.team) or signed.team_id, enterprise=_id(signed.enterprise) or signed.enterprise_id)


def team_in(place: Place, ours: AuthTest) -> str:
    """The workspace that conversations and channels are named after: always the same one for one installation."""
    return (place.team or ours.team_id) if ours.is_enterprise_install else ours.team_id


def place_in(address: Mapping[str, str]) -> Place:
    """The installation that an address names."""
    return Place(team=address.get("team"), enterprise=address.get("enterprise"))


def addressed(place: Place) -> dict[str, str]:
    """The part of an address that names the installation."""
    named = {"team": place.team, "enterprise": place.enterprise}
    return {key: value for key, value in named.items() if value}


def _id(named: _Ids | str | None) -> str | None:
    return named.id if isinstance(named, _Ids) else named
