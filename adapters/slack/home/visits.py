"""Who is looking at a view, and the installation that they look from: read from a delivery, looked up in Slack."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, Field
from structlog.typing import FilteringBoundLogger

from adapters.slack.directory import AuthTest
from adapters.slack.errors import SlackFailed
from adapters.slack.home.modals import Usergroup
from adapters.slack.recent import Recent
from adapters.slack.workspaces import Place, Workspace, Workspaces, place_of, team_in
from bot.ids import PersonId, Subject

_KEPT: Final = timedelta(seconds=60)
_LOOK_UP_S: Final = 1.0  # of the three seconds that a trigger lives


class _User(BaseModel):
    id: str
    team_id: str | None = None


class _Opened(BaseModel):
    user: str


class _State(BaseModel):
    values: dict[str, dict[str, dict[str, Any]]] = {}


class _Seen(BaseModel):
    """A view as Slack tells it back."""

    id: str = ""
    hash: str = ""
    type: str = ""
    callback_id: str = ""
    private_metadata: str = ""
    state: _State = Field(default_factory=_State)


class _Action(BaseModel):
    action_id: str
    value: str = ""


class Interaction(BaseModel):
    """An opened tab (`event`), a click in a view (`actions`), or a submission."""

    event: _Opened | None = None
    user: _User | None = None
    view: _Seen = Field(default_factory=_Seen)
    actions: list[_Action] = []
    trigger_id: str = ""


class _Usergroup(BaseModel):
    id: str
    name: str = ""
    handle: str = ""


class _Usergroups(BaseModel):
    usergroups: list[_Usergroup]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """`homes`: the ids under which people, channels and groups of this installation are known."""

    place: Place
    workspace: Workspace
    ours: AuthTest
    user: str
    person: PersonId
    zone: tzinfo

    @property
    def team(self) -> str:
        return team_in(self.place, self.ours)

    @property
    def homes(self) -> frozenset[str]:
        return frozenset(filter(None, (self.team, self.ours.team_id, self.ours.enterprise_id)))

    async def person_of(self, user: str) -> PersonId | None:
        """None where Slack does not say who that is."""
        found = await self.workspace.directory.person(user)
        return None if found is None else PersonId(f"slack:{found.home}:{user}")

    def channel(self, channel: str) -> Subject:
        return Subject(f"channel:slack:{self.team}:{channel}")

    def usergroup(self, group: str) -> Subject:
        return Subject(f"group:slack:{self.team}:{group}")


class Visits:
    def __init__(self, workspaces: Workspaces, log: FilteringBoundLogger, clock: Callable[[], datetime]) -> None:
        self._workspaces, self._log = workspaces, log
        self._usergroups = Recent[Place, tuple[Usergroup, ...]](self._listed, clock, _KEPT)

    async def of(self, body: Mapping[str, Any], told: Interaction) -> Visit | None:
        """None where the app is no longer installed. Raises `SlackFailed` for our own ids."""
        place = place_of(body)
        workspace = await self._workspaces.of(place)
        user = told.event.user if told.event else told.user.id if told.user else None
        if workspace is None or user is None:
            return None
        directory = workspace.directory
        ours = await directory.installation()
        person = await directory.person_id(user, told.user.team_id if told.user else None)
        known = await directory.person(user)
        zone = _zone(known.time_zone if known else "UTC")
        return Visit(place=place, workspace=workspace, ours=ours, user=user, person=person, zone=zone)

    async def usergroups(self, visit: Visit) -> tuple[Usergroup, ...]:
        """None of them where Slack does not say, or not in time: their ids can be typed."""
        try:
            async with asyncio.timeout(_LOOK_UP_S):
                return await self._usergroups.get(visit.place)
        except (SlackFailed, TimeoutError) as exc:
            self._log.warning("slack user groups unknown", reason=type(exc).__name__)
            return ()

    async def _listed(self, place: Place) -> tuple[Usergroup, ...]:
        workspace = await self._workspaces.of(place)
        if workspace is None:
            return ()
        ours = await workspace.directory.installation()
        team = {"team_id": team_in(place, ours)} if ours.is_enterprise_install else {}
        answer = await workspace.api.call(_Usergroups, "usergroups.list", team)
        named = (Usergroup(id=one.id, name=f"{one.name} (@{one.handle})") for one in answer.usergroups)
        return tuple(sorted(named, key=lambda one: one.name.casefold()))


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
