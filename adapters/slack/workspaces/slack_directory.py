"""Looks up people and channels in the workspace they belong to. Fulfils `bot.surface.directory.Directory`."""

from dataclasses import replace
from typing import Final

from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError
from adapters.slack.workspaces.workspace_registry import InstallationKey, SlackWorkspace, WorkspaceRegistry
from bot.ids import PersonId, Subject
from bot.surface.directory import PersonProfile
from bot.surface.inbound import ChannelAudience, OutsiderPresence, PrivateAudience

_ENTERPRISE_PREFIX: Final = "E"  # of Slack's ids of Enterprise Grids


class SlackDirectory:
    def __init__(self, workspaces: WorkspaceRegistry, log: FilteringBoundLogger) -> None:
        self._workspaces, self._log = workspaces, log

    async def load_person_profile(self, person: PersonId) -> PersonProfile | None:
        _, account_id, user = person.split(":", 2)
        workspace = await self._workspace_for(account_id)
        slack_person = None if workspace is None else await workspace.directory.load_person(user)
        return (
            None
            if slack_person is None
            else PersonProfile(
                name=slack_person.name,
                locale=slack_person.locale,
                time_zone=slack_person.time_zone,
                verified_email=slack_person.verified_email,
            )
        )

    async def refresh_private_audience(self, audience: PrivateAudience) -> PrivateAudience:
        """Returns the audience with current data from Slack.

        A person that Slack cannot describe, or that belongs to another organisation, counts as a guest without groups.
        """
        _, account_id, user = audience.person.split(":", 2)
        workspace = await self._workspace_for(account_id)
        slack_person = None if workspace is None else await workspace.directory.load_person(user)
        if workspace is None or slack_person is None:
            return replace(audience, is_guest=True, subjects=frozenset())
        account_ids = await workspace.directory.account_ids_of(slack_person)
        if account_id not in account_ids:
            return replace(audience, is_guest=True, is_deactivated=slack_person.is_deactivated, subjects=frozenset())
        own_subject = Subject(f"user:{audience.person}")
        alias_subjects = frozenset(Subject(f"user:slack:{alias_account}:{user}") for alias_account in account_ids)
        groups = (
            frozenset[Subject]()
            if slack_person.is_deactivated
            else await workspace.directory.load_user_groups(user, slack_person)
        )
        return replace(
            audience,
            is_guest=slack_person.is_guest,
            is_deactivated=slack_person.is_deactivated,
            subjects=alias_subjects - {own_subject} | groups,
        )

    async def refresh_channel_audience(self, audience: ChannelAudience) -> ChannelAudience:
        _, _, team, channel = audience.channel.split(":", 3)
        workspace = await self._workspace_for(team)
        if workspace is None:
            return replace(audience, outsiders=OutsiderPresence.UNKNOWN)
        return replace(audience, outsiders=await workspace.directory.find_channel_outsiders(channel))

    async def is_channel_reader(self, person: PersonId, channel: Subject) -> bool | None:
        _, account_id, user = person.split(":", 2)
        _, _, team, channel_id = channel.split(":", 3)
        workspace = await self._workspace_for(team)
        slack_person = None if workspace is None else await workspace.directory.load_person(user)
        if workspace is None or slack_person is None:
            return None
        if slack_person.is_deactivated:
            return False
        is_same_account = account_id in await workspace.directory.account_ids_of(slack_person)
        return await workspace.directory.is_channel_reader(
            user, channel_id, is_workspace_member=is_same_account and slack_person.is_member_of(team)
        )

    async def _workspace_for(self, account_id: str) -> SlackWorkspace | None:
        installation_key = (
            InstallationKey(enterprise_id=account_id)
            if account_id.startswith(_ENTERPRISE_PREFIX)
            else InstallationKey(team_id=account_id)
        )
        try:
            return await self._workspaces.workspace_for(installation_key)
        except SlackError as exc:
            self._log.warning("slack workspace unknown", reason=type(exc).__name__)
            return None
