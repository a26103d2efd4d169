"""Changes of people, channels, user groups and installations, with the events that they cause."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.stand_ins.slack.deliveries import AppDeliveries, DeliveryOutcome
from tests.stand_ins.slack.people import describe_user
from tests.stand_ins.slack.usergroups import describe_usergroup as described_group
from tests.stand_ins.slack.workspace import SlackChannel, SlackMember, SlackUsergroup, StandInWorkspace


class AdministrationActions(AppDeliveries):
    async def change_user_fields(self, user: SlackMember, **changes: Any) -> SlackMember:
        """Change a person. `changes` are fields of the user, such as `deleted`, `is_guest` and `name`."""
        workspace = self.workspace_of_user(user)
        changed = workspace.users[user.id] = replace(user, **changes)
        await self.tell_app(workspace, "user_change", {"user": describe_user(workspace, changed)})
        return changed

    async def join_channel(self, user: SlackMember, channel: SlackChannel) -> DeliveryOutcome:
        """Add a person to a channel, or the app itself with `workspace.bot_member()`. Delivers to member apps only."""
        channel.members.append(user.id)
        return await self._deliver_membership_event("member_joined_channel", user, channel)

    async def leave_channel(self, user: SlackMember, channel: SlackChannel) -> DeliveryOutcome:
        channel.members.remove(user.id)
        return await self._deliver_membership_event("member_left_channel", user, channel)

    async def share_channel(self, channel: SlackChannel, with_team: str) -> DeliveryOutcome:
        """Share a channel with another organisation, which has accepted."""
        channel.is_ext_shared = True
        event = {"channel": channel.id, "connected_team_id": with_team}
        return await self.tell_app(self.workspace_of_channel(channel), "channel_shared", event)

    async def unshare_channel(self, channel: SlackChannel, with_team: str) -> DeliveryOutcome:
        channel.is_ext_shared = False
        event = {"channel": channel.id, "previously_connected_team_id": with_team, "is_ext_shared": False}
        return await self.tell_app(self.workspace_of_channel(channel), "channel_unshared", event)

    async def change_group(self, group: SlackUsergroup, members: Sequence[str]) -> list[DeliveryOutcome]:
        """Change the members of a user group."""
        workspace = self._workspace_of_group(group)
        added = [user for user in members if user not in group.members]
        removed = [user for user in group.members if user not in members]
        group.members = list(members)
        event = {
            "subteam_id": group.id,
            "team_id": workspace.team,
            "added_users": added,
            "added_users_count": str(len(added)),
            "removed_users": removed,
            "removed_users_count": str(len(removed)),
        }
        delivery = await self.tell_app(workspace, "subteam_members_changed", event)
        return [delivery, await self._deliver_group_update(workspace, group)]

    async def disable_group(self, group: SlackUsergroup) -> DeliveryOutcome:
        group.disabled = True
        return await self._deliver_group_update(self._workspace_of_group(group), group)

    async def revoke_tokens(self, place: StandInWorkspace | None = None) -> DeliveryOutcome:
        return (await self._end_installation(place or self.workspace, "tokens_revoked"))[0]

    async def uninstall_app(self, place: StandInWorkspace | None = None) -> list[DeliveryOutcome]:
        return await self._end_installation(place or self.workspace, "app_uninstalled", "tokens_revoked")

    async def _end_installation(self, place: StandInWorkspace, *events: str) -> list[DeliveryOutcome]:
        """Revoke the tokens of a workspace, then deliver the events."""
        installation, are_heard = self.installation_of(place), [self.is_subscribed(place, event) for event in events]
        for installed in self.installations.values():
            installed.revoked |= installed.covers_workspace(place)
        delivered: list[DeliveryOutcome] = []
        for event, is_heard in zip(events, are_heard, strict=True):
            tokens = {"tokens": {"bot": [place.bot_user]}} if event == "tokens_revoked" else {}
            fields = {"type": event, "event_ts": place.next_ts(), **tokens}
            delivered.append(
                await self.deliver_event(fields, workspace=place, installation=installation)
                if is_heard
                else DeliveryOutcome(statuses=[])
            )
        return delivered

    async def _deliver_membership_event(self, event: str, user: SlackMember, channel: SlackChannel) -> DeliveryOutcome:
        workspace = self.workspace_of_channel(channel)
        if workspace.bot_user not in {*channel.members, user.id}:
            return DeliveryOutcome(statuses=[])
        kind = "C" if channel.kind == "channel" else "G"
        fields = {"user": user.id, "channel": channel.id, "channel_type": kind, "team": user.team}
        return await self.tell_app(workspace, event, fields)

    async def _deliver_group_update(self, place: StandInWorkspace, group: SlackUsergroup) -> DeliveryOutcome:
        subteam = described_group(place, group, with_users=True)
        return await self.tell_app(place, "subteam_updated", {"subteam": subteam})

    def _workspace_of_group(self, group: SlackUsergroup) -> StandInWorkspace:
        return next(workspace for workspace in self.workspaces if group.id in workspace.groups)
