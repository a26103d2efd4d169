"""Slack's people and channels, asked of the workspace that they are in. Fulfils `bot.directory.Directory`."""

from dataclasses import replace
from typing import Final

from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackFailed
from adapters.slack.workspaces import Place, Workspace, Workspaces
from bot.directory import Profile
from bot.ids import PersonId, Subject
from bot.inbound import Outsiders, Private, Shared

_ENTERPRISE: Final = "E"  # Slack's ids of Enterprise Grids begin so


class People:
    def __init__(self, workspaces: Workspaces, log: FilteringBoundLogger) -> None:
        self._workspaces, self._log = workspaces, log

    async def profile(self, person: PersonId) -> Profile | None:
        _, home, user = person.split(":", 2)
        workspace = await self._workspace(home)
        found = None if workspace is None else await workspace.directory.person(user)
        return None if found is None else Profile(name=found.name, locale=found.locale, time_zone=found.time_zone)

    async def private(self, audience: Private) -> Private:
        """Somebody whom Slack cannot describe, or describes as another's, is a guest in no group."""
        _, home, user = audience.person.split(":", 2)
        workspace = await self._workspace(home)
        found = None if workspace is None else await workspace.directory.person(user)
        if workspace is None or found is None:
            return replace(audience, guest=True, subjects=frozenset())
        homes = await workspace.directory.homes(found)
        if home not in homes:
            return replace(audience, guest=True, gone=found.gone, subjects=frozenset())
        own = Subject(f"user:{audience.person}")
        spellings = frozenset(Subject(f"user:slack:{one}:{user}") for one in homes)
        groups = frozenset[Subject]() if found.gone else await workspace.directory.groups(user, found)
        return replace(audience, guest=found.guest, gone=found.gone, subjects=spellings - {own} | groups)

    async def shared(self, audience: Shared) -> Shared:
        _, _, team, channel = audience.channel.split(":", 3)
        workspace = await self._workspace(team)
        if workspace is None:
            return replace(audience, outsiders=Outsiders.UNKNOWN)
        return replace(audience, outsiders=await workspace.directory.outsiders(channel))

    async def reads(self, person: PersonId, channel: Subject) -> bool | None:
        _, home, user = person.split(":", 2)
        _, _, team, channel_id = channel.split(":", 3)
        workspace = await self._workspace(team)
        found = None if workspace is None else await workspace.directory.person(user)
        if workspace is None or found is None:
            return None
        if found.gone:
            return False
        is_ours = home in await workspace.directory.homes(found)
        return await workspace.directory.reads(user, channel_id, anyone=is_ours and found.works_in(team))

    async def _workspace(self, home: str) -> Workspace | None:
        place = Place(enterprise=home) if home.startswith(_ENTERPRISE) else Place(team=home)
        try:
            return await self._workspaces.of(place)
        except SlackFailed as exc:
            self._log.warning("slack workspace unknown", reason=type(exc).__name__)
            return None
