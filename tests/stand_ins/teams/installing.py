"""Changes of rosters: the app comes and goes, and people do."""

from dataclasses import dataclass
from typing import Any

from tests.stand_ins.teams.consenting import TeamsFileActions
from tests.stand_ins.teams.deliveries import ActivityDelivery
from tests.stand_ins.teams.tenancy import TenantConversation, TenantPerson


@dataclass
class TeamsInstalling(TeamsFileActions):
    async def install_app(
        self, person: TenantPerson, place: TenantConversation | None = None
    ) -> list[ActivityDelivery]:
        """Install the app: for oneself, or in a group chat, or in the team of a channel."""
        conversation = place or self.tenant.personal_chat_of(person)
        _set_app(conversation, has_app=True)
        change = {"membersAdded": [{"id": self.tenant.bot_id}]}
        return [
            await self._deliver_roster(person, conversation, "conversationUpdate", **change),
            await self._deliver_roster(person, conversation, "installationUpdate", action="add"),
        ]

    async def uninstall_app(
        self, person: TenantPerson, place: TenantConversation | None = None
    ) -> list[ActivityDelivery]:
        conversation = place or self.tenant.personal_chat_of(person)
        _set_app(conversation, has_app=False)
        change = {"membersRemoved": [{"id": self.tenant.bot_id}]}
        return [
            await self._deliver_roster(person, conversation, "conversationUpdate", **change),
            await self._deliver_roster(person, conversation, "installationUpdate", action="remove"),
        ]

    async def add_member(self, person: TenantPerson, place: TenantConversation, by: TenantPerson) -> ActivityDelivery:
        """Add a person to a group chat, or to the team of a channel."""
        place.roster.append(person.id)
        members = [{"id": person.id, "aadObjectId": person.object_id}]
        return await self._deliver_roster(by, place, "conversationUpdate", membersAdded=members)

    async def remove_member(
        self, person: TenantPerson, place: TenantConversation, by: TenantPerson
    ) -> ActivityDelivery:
        place.roster.remove(person.id)
        members = [{"id": person.id, "aadObjectId": person.object_id}]
        return await self._deliver_roster(by, place, "conversationUpdate", membersRemoved=members)

    async def _deliver_roster(
        self, person: TenantPerson, place: TenantConversation, kind: str, **fields: Any
    ) -> ActivityDelivery:
        address = place.team.id if place.team is not None and not place.is_private else place.id
        activity = {**self.base_activity(kind, person, place, address, f"f:{self.tenant.next_activity_id()}"), **fields}
        if place.team is not None and kind == "conversationUpdate":
            change = "teamMemberAdded" if "membersAdded" in fields else "teamMemberRemoved"
            activity["channelData"] = self.channel_data(place, eventType=change)
        return await self.deliver_activity(activity)


def _set_app(place: TenantConversation, *, has_app: bool) -> None:
    if place.team is not None and not place.is_private:
        place.team.has_app = has_app
    else:
        place.has_app = has_app
