"""Resolves the viewer of a Home tab or modal, and their installation, from a delivery and Slack."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError
from adapters.slack.home.modals import UsergroupChoice
from adapters.slack.payloads.interactions import ViewInteraction
from adapters.slack.payloads.responses import BotIdentity, UsergroupListResponse
from adapters.slack.workspaces.workspace_registry import (
    InstallationKey,
    SlackWorkspace,
    WorkspaceRegistry,
    home_team_of,
    installation_key_of,
)
from bot.ids import PersonId, Subject
from bot.surface.lookup_cache import SingleFlightTtlCache

_USERGROUPS_TTL: Final = timedelta(seconds=60)
_LOOKUP_TIMEOUT_S: Final = 1.0  # a trigger expires after three seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewerContext:
    """The person who views, and their installation. Only people, channels and groups of `account_ids` belong to it."""

    installation_key: InstallationKey
    workspace: SlackWorkspace
    identity: BotIdentity
    user: str
    person: PersonId
    time_zone: tzinfo

    @property
    def team_id(self) -> str:
        return home_team_of(self.installation_key, self.identity)

    @property
    def account_ids(self) -> frozenset[str]:
        return frozenset(filter(None, (self.team_id, self.identity.team_id, self.identity.enterprise_id)))

    async def person_id_of(self, user: str) -> PersonId | None:
        """Returns the user's person id; None where Slack does not describe the user."""
        slack_person = await self.workspace.directory.load_person(user)
        return None if slack_person is None else PersonId(f"slack:{slack_person.account_id}:{user}")

    def channel_subject_of(self, channel: str) -> Subject:
        return Subject(f"channel:slack:{self.team_id}:{channel}")

    def usergroup_subject_of(self, group: str) -> Subject:
        return Subject(f"group:slack:{self.team_id}:{group}")


class ViewerResolver:
    def __init__(self, workspaces: WorkspaceRegistry, log: FilteringBoundLogger, clock: Callable[[], datetime]) -> None:
        self._workspaces, self._log = workspaces, log
        self._usergroups = SingleFlightTtlCache[InstallationKey, tuple[UsergroupChoice, ...]](
            self._fetch_sorted_usergroups, clock, _USERGROUPS_TTL
        )

    async def resolve_viewer(self, body: Mapping[str, Any], interaction: ViewInteraction) -> ViewerContext | None:
        """Returns the viewer; None where the app is no longer installed.

        Raises `SlackError` when the bot's own identity cannot be loaded.
        """
        installation_key = installation_key_of(body)
        workspace = await self._workspaces.workspace_for(installation_key)
        user = interaction.event.user if interaction.event else interaction.user.id if interaction.user else None
        if workspace is None or user is None:
            return None
        directory = workspace.directory
        identity = await directory.load_bot_identity()
        person = await directory.person_id_of(user, interaction.user.team_id if interaction.user else None)
        profile = await directory.load_person(user)
        time_zone = _time_zone_named(profile.time_zone if profile else "UTC")
        return ViewerContext(
            installation_key=installation_key,
            workspace=workspace,
            identity=identity,
            user=user,
            person=person,
            time_zone=time_zone,
        )

    async def load_usergroups(self, viewer: ViewerContext) -> tuple[UsergroupChoice, ...]:
        """Returns the user groups; none where Slack does not answer in time, since their ids can be typed."""
        try:
            async with asyncio.timeout(_LOOKUP_TIMEOUT_S):
                return await self._usergroups.get(viewer.installation_key)
        except (SlackError, TimeoutError) as exc:
            self._log.warning("slack user groups unknown", reason=type(exc).__name__)
            return ()

    async def _fetch_sorted_usergroups(self, installation_key: InstallationKey) -> tuple[UsergroupChoice, ...]:
        workspace = await self._workspaces.workspace_for(installation_key)
        if workspace is None:
            return ()
        identity = await workspace.directory.load_bot_identity()
        team_arguments = {"team_id": home_team_of(installation_key, identity)} if identity.is_enterprise_install else {}
        response = await workspace.api.call_method(UsergroupListResponse, "usergroups.list", team_arguments)
        choices = (
            UsergroupChoice(id=usergroup.id, name=f"{usergroup.name} (@{usergroup.handle})")
            for usergroup in response.usergroups
        )
        return tuple(sorted(choices, key=lambda choice: choice.name.casefold()))


def _time_zone_named(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
