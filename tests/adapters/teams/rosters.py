"""A connector that knows the members of conversations, and addresses of people who have written."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adapters.teams.addresses import ConversationKind, TeamsAddress, conversation_id_of, person_id_of
from adapters.teams.connector.calls import TeamsMember
from adapters.teams.errors import TeamsError, TeamsRefusal
from adapters.teams.payloads.json_values import JsonObject
from bot.ids import ConversationId, PersonId

TENANT, OTHER_TENANT = "11111111-aaaa-4aaa-8aaa-111111111111", "22222222-bbbb-4bbb-8bbb-222222222222"
CHANNEL, TEAM, CHAT = "19:channel@thread.tacv2", "19:team@thread.tacv2", "19:chat@thread.v2"
SERVICE_URL = "https://smba.example/emea/"
ADA = TeamsMember(
    id="29:ada", object_id="ada-object", tenant=TENANT, name="Ada Lovelace", email="ada@example.org", role="user"
)
BOB = replace(ADA, id="29:bob", object_id="bob-object", name="Bob", email="bob@example.org")
GUEST = replace(ADA, id="29:gil", object_id="gil-object", name="Gil", email="gil@elsewhere.example", role="guest")
STRANGER = replace(ADA, id="29:sue", object_id="sue-object", name="Sue", tenant=OTHER_TENANT)


def personal_chat_of(member: TeamsMember) -> str:
    return f"a:{member.object_id}"


def address_of(member: TeamsMember, conversation: str, kind: ConversationKind) -> TeamsAddress:
    """Where a message of the member's came from."""
    is_channel = kind is ConversationKind.CHANNEL
    return TeamsAddress(
        service_url=SERVICE_URL,
        tenant=TENANT,
        conversation=conversation,
        kind=kind,
        bot_id="28:app",
        asker_id=member.id,
        team=TEAM if is_channel else "",
        channel=conversation.partition(";")[0] if is_channel else "",
    )


def personal_address_of(member: TeamsMember) -> TeamsAddress:
    return address_of(member, personal_chat_of(member), ConversationKind.PERSONAL)


def person_of(member: TeamsMember) -> PersonId:
    return person_id_of(TENANT, member.object_id)


class RosterConnector:
    """Fulfils `ConnectorCalls` for look-ups, and keeps what is sent. `failure` is raised by each call."""

    def __init__(self) -> None:
        self.rosters: dict[str, list[TeamsMember]] = {}
        self.failure: TeamsError | None = None
        self.served_url = SERVICE_URL
        self.calls: Counter[str] = Counter()
        self.activities: dict[str, JsonObject] = {}  # by id, as they stand now
        self.conversations: dict[str, str] = {}  # of activities, by id

    def add_member(self, conversation: str, *members: TeamsMember) -> None:
        self.rosters.setdefault(conversation, []).extend(members)

    def remove_everywhere(self, member: TeamsMember) -> None:
        for roster in self.rosters.values():
            roster[:] = [other for other in roster if other.object_id != member.object_id]

    async def send_activity(self, service_url: str, conversation: str, activity: JsonObject) -> str:
        self._count_call("send", service_url)
        activity_id = f"activity-{len(self.activities) + 1}"
        self.activities[activity_id], self.conversations[activity_id] = activity, conversation
        return activity_id

    async def update_activity(
        self, service_url: str, conversation: str, activity_id: str, activity: JsonObject
    ) -> None:
        self._count_call("update", service_url)
        self.activities[activity_id] = activity

    async def delete_activity(self, service_url: str, conversation: str, activity_id: str) -> None:
        self._count_call("delete", service_url)
        self.activities.pop(activity_id, None)

    async def get_member(self, service_url: str, conversation: str, member: str) -> TeamsMember | None:
        self._count_call("member", service_url)
        roster = self.rosters.get(conversation, [])
        return next((other for other in roster if member in (other.id, other.object_id)), None)

    async def list_members(self, service_url: str, conversation: str) -> Sequence[TeamsMember]:
        self._count_call("members", service_url)
        return list(self.rosters.get(conversation, []))

    def _count_call(self, name: str, service_url: str) -> None:
        self.calls[name] += 1
        if service_url != self.served_url:
            raise TeamsRefusal(404, "ServiceNotFound")
        if self.failure is not None:
            raise self.failure


class NotedAddresses:
    """Fulfils `AddressBook` and `ServiceUrlSource`."""

    def __init__(self) -> None:
        self.newer_urls: dict[str, str] = {}  # by conversation without its thread
        self.addresses: list[tuple[PersonId, TeamsAddress]] = []  # oldest first

    def note_turn(self, member: TeamsMember, address: TeamsAddress) -> None:
        self.addresses.append((person_of(member), address))

    async def find_service_url(self, tenant: str, conversation: str) -> str | None:
        return self.newer_urls.get(conversation.partition(";")[0])

    async def list_addresses_of_person(self, person: PersonId) -> Sequence[Mapping[str, str]]:
        return [address.to_mapping() for other, address in reversed(self.addresses) if other == person]

    async def find_newest_address(self, conversation: ConversationId) -> Mapping[str, str] | None:
        for _, address in reversed(self.addresses):
            known = conversation_id_of(address.tenant, address.conversation)
            if known == conversation or known.startswith(f"{conversation};"):
                return address.to_mapping()
        return None
