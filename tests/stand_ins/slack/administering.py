"""What happens to people, channels, groups and installations, and what the app is told of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.stand_ins.slack.deliveries import Delivered, Deliveries
from tests.stand_ins.slack.people import described
from tests.stand_ins.slack.usergroups import described as described_group
from tests.stand_ins.slack.workspace import Channel, User, Usergroup, Workspace


class Administering(Deliveries):
    async def change_user(self, user: User, **changes: Any) -> User:
        """`changes` are fields of `User`: deleted, is_guest, name …"""
        place = self.home_of(user)
        changed = place.users[user.id] = replace(user, **changes)
        await self.tell_app(place, "user_change", {"user": described(place, changed)})
        return changed

    async def join(self, user: User, channel: Channel) -> Delivered:
        """Heard where the app is in the channel; `workspace.bot()` is the app itself."""
        channel.members.append(user.id)
        return await self._moved("member_joined_channel", user, channel)

    async def leave(self, user: User, channel: Channel) -> Delivered:
        channel.members.remove(user.id)
        return await self._moved("member_left_channel", user, channel)

    async def share(self, channel: Channel, with_team: str) -> Delivered:
        """With another organisation, which has accepted it."""
        channel.is_ext_shared = True
        told = {"channel": channel.id, "connected_team_id": with_team}
        return await self.tell_app(self.place_of(channel), "channel_shared", told)

    async def unshare(self, channel: Channel, with_team: str) -> Delivered:
        channel.is_ext_shared = False
        told = {"channel": channel.id, "previously_connected_team_id": with_team, "is_ext_shared": False}
        return await self.tell_app(self.place_of(channel), "channel_unshared", told)

    async def change_group(self, group: Usergroup, members: Sequence[str]) -> list[Delivered]:
        """Who is in a group of people."""
        place = self._place_of_group(group)
        added = [one for one in members if one not in group.members]
        removed = [one for one in group.members if one not in members]
        group.members = list(members)
        moved = {
            "subteam_id": group.id,
            "team_id": place.team,
            "added_users": added,
            "added_users_count": str(len(added)),
            "removed_users": removed,
            "removed_users_count": str(len(removed)),
        }
        first = await self.tell_app(place, "subteam_members_changed", moved)
        return [first, await self._group_updated(place, group)]

    async def disable_group(self, group: Usergroup) -> Delivered:
        group.disabled = True
        return await self._group_updated(self._place_of_group(group), group)

    async def revoke_tokens(self, place: Workspace | None = None) -> Delivered:
        return (await self._ended(place or self.workspace, "tokens_revoked"))[0]

    async def uninstall(self, place: Workspace | None = None) -> list[Delivered]:
        return await self._ended(place or self.workspace, "app_uninstalled", "tokens_revoked")

    async def _ended(self, place: Workspace, *events: str) -> list[Delivered]:
        """The tokens are dead before the app is told."""
        by, heard = self.installed(place), [self.hears(place, event) for event in events]
        for installed in self.installations.values():
            installed.revoked |= installed.covers(place)
        delivered: list[Delivered] = []
        for event, is_heard in zip(events, heard, strict=True):
            tokens = {"tokens": {"bot": [place.bot_user]}} if event == "tokens_revoked" else {}
            told = {"type": event, "event_ts": place.next_ts(), **tokens}
            delivered.append(await self.deliver_event(told, place=place, by=by) if is_heard else Delivered(statuses=[]))
        return delivered

    async def _moved(self, event: str, user: User, channel: Channel) -> Delivered:
        place = self.place_of(channel)
        if place.bot_user not in {*channel.members, user.id}:
            return Delivered(statuses=[])
        kind = "C" if channel.kind == "channel" else "G"
        told = {"user": user.id, "channel": channel.id, "channel_type": kind, "team": user.team}
        return await self.tell_app(place, event, told)

    async def _group_updated(self, place: Workspace, group: Usergroup) -> Delivered:
        subteam = described_group(place, group, with_users=True)
        return await self.tell_app(place, "subteam_updated", {"subteam": subteam})

    def _place_of_group(self, group: Usergroup) -> Workspace:
        return next(one for one in self.workspaces if group.id in one.groups)
