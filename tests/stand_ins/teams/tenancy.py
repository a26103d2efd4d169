"""The state of a tenant: people, conversations, messages and files. The stand-in changes it, and tests read it."""

import itertools
import uuid
from dataclasses import dataclass, field
from typing import Any, Final

from tests.stand_ins.teams.json_parts import objects_in, objects_of, texts_in, type_of

_TICKS = itertools.count(1)  # shared by all servers, because one database may outlive several of them
_FIRST_TICK: Final = 1790000000000  # ids of activities are milliseconds since 1970
_NAMES: Final = uuid.UUID("3f0c6b5a-7e0d-4f8e-9a55-0c5f2d7f9b01")
TENANT: Final = "6f5f7c0e-1d2b-4c3a-8e9f-0a1b2c3d4e5f"
OTHER_TENANT: Final = "c0ffee00-5a5a-4b4b-8c8c-1d1d2e2e3f3f"  # of federated people
APP_ID: Final = "2f9d7a4e-60cb-4d65-9d3c-7f2d1a0b9c8d"
ADAPTIVE_CARD: Final = "application/vnd.microsoft.card.adaptive"
CONSENT_CARD: Final = "application/vnd.microsoft.teams.card.file.consent"
FILE_CARD: Final = "application/vnd.microsoft.teams.card.file.info"


def bot_id_of(app_id: str) -> str:
    return f"28:{app_id}"


def identifier_of(*parts: str) -> str:
    """Returns the same id for the same parts."""
    return str(uuid.uuid5(_NAMES, "/".join(parts)))


@dataclass(frozen=True, kw_only=True)
class TenantPerson:
    """A person. `role`: `user`, `guest` or `anonymous`. A federated person has another `tenant`."""

    name: str
    object_id: str  # `aadObjectId`
    tenant: str = TENANT
    role: str = "user"
    email: str = ""
    locale: str = "en-US"
    time_zone: str = "Europe/Berlin"

    @property
    def id(self) -> str:
        """The id for this bot alone."""
        return f"29:1{uuid.UUID(self.object_id).hex}"


@dataclass(kw_only=True)
class TenantTeam:
    id: str  # the id of its general channel
    name: str
    members: list[str] = field(default_factory=list[str])  # ids of people
    has_app: bool = True

    @property
    def group_id(self) -> str:
        return identifier_of("group", self.id)


@dataclass(kw_only=True)
class TenantConversation:
    """A personal chat, a group chat or a channel. A channel without own `members` has those of its team."""

    id: str
    kind: str  # `personal`, `groupChat`, `channel`
    name: str = ""
    members: list[str] = field(default_factory=list[str])
    team: TenantTeam | None = None
    tenant: str = TENANT
    has_app: bool = True  # in a channel the team decides, unless it is private
    is_private: bool = False
    is_blocked: bool = False  # the person has blocked the app

    @property
    def roster(self) -> list[str]:
        return self.members if self.team is None or self.is_private else self.team.members

    @property
    def lists_app(self) -> bool:
        return self.has_app and (self.team is None or self.is_private or self.team.has_app)


@dataclass(kw_only=True)
class TenantMessage:
    """A message. `activity`: as the app sent it, or as a person's message was delivered."""

    id: str
    conversation: str  # without the id of the thread
    sender: str  # a person's id, or the bot's
    activity: dict[str, Any]
    thread: str = ""  # in a channel the id of the thread's first message, which may be this
    versions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])  # before each edit
    is_deleted: bool = False

    @property
    def edits(self) -> int:
        return len(self.versions)

    @property
    def address(self) -> str:
        """The conversation as activities name it: in a channel with the id of the thread."""
        return f"{self.conversation};messageid={self.thread}" if self.thread else self.conversation

    @property
    def text(self) -> str:
        return self.activity.get("text") or ""

    @property
    def entities(self) -> list[dict[str, Any]]:
        return objects_of(self.activity, "entities")

    @property
    def attachments(self) -> list[dict[str, Any]]:
        return objects_of(self.activity, "attachments")

    @property
    def cards(self) -> list[dict[str, Any]]:
        """The Adaptive Cards."""
        return [part["content"] for part in self.attachments if part["contentType"] == ADAPTIVE_CARD]

    @property
    def citations(self) -> list[dict[str, Any]]:
        return [claim for entity in self.entities for claim in objects_of(entity, "citation")]

    @property
    def has_ai_label(self) -> bool:
        return any("AIGeneratedContent" in entity.get("additionalType", []) for entity in self.entities)

    def card_actions(self) -> list[dict[str, Any]]:
        """Returns all actions of the cards: buttons, in the order in which they stand."""
        return [action for card in self.cards for action in objects_in(card) if type_of(action).startswith("Action.")]

    def card_inputs(self) -> list[dict[str, Any]]:
        return [part for card in self.cards for part in objects_in(card) if type_of(part).startswith("Input.")]

    def button_titles(self) -> list[str]:
        return [action.get("title", "") for action in self.card_actions()]

    def visible_text(self) -> str:
        """Returns all text, as a person reads it: of the message, then of its cards, then of its buttons."""
        return "\n".join(filter(None, [self.text, *(text for card in self.cards for text in texts_in(card))]))


@dataclass(kw_only=True)
class StandInTenant:
    id: str = TENANT
    app_id: str = APP_ID
    people: dict[str, TenantPerson] = field(default_factory=dict[str, TenantPerson])  # by id
    teams: dict[str, TenantTeam] = field(default_factory=dict[str, TenantTeam])
    conversations: dict[str, TenantConversation] = field(default_factory=dict[str, TenantConversation])
    messages: list[TenantMessage] = field(default_factory=list[TenantMessage])

    @property
    def bot_id(self) -> str:
        return bot_id_of(self.app_id)

    def add_person(self, name: str, *, tenant: str = "", role: str = "user", **fields: str) -> TenantPerson:
        home = tenant or self.id
        email = fields.pop("email", f"{name.lower().replace(' ', '.')}@example.org")
        object_id = identifier_of("person", home, name)
        person = TenantPerson(name=name, object_id=object_id, tenant=home, role=role, email=email, **fields)
        self.people[person.id] = person
        return person

    def add_federated_person(self, name: str) -> TenantPerson:
        """Add a person of another organisation, who writes from their own tenant."""
        return self.add_person(name, tenant=OTHER_TENANT)

    def add_guest(self, name: str) -> TenantPerson:
        """Add a guest: an account of another organisation inside this tenant."""
        return self.add_person(name, role="guest")

    def add_team(self, name: str, *people: TenantPerson, has_app: bool = True) -> TenantTeam:
        """Add a team with its general channel."""
        key = f"19:{identifier_of('team', name).replace('-', '')}@thread.tacv2"
        team = TenantTeam(id=key, name=name, members=[person.id for person in people], has_app=has_app)
        self.teams[key] = team
        self.conversations[key] = TenantConversation(id=key, kind="channel", name="General", team=team, tenant=self.id)
        return team

    def add_channel(
        self, team: TenantTeam, name: str, *people: TenantPerson, is_private: bool = False
    ) -> TenantConversation:
        """Add a channel of a team. A private channel has members of its own."""
        key = f"19:{identifier_of('channel', team.id, name).replace('-', '')}@thread.tacv2"
        channel = TenantConversation(
            id=key,
            kind="channel",
            name=name,
            team=team,
            tenant=self.id,
            is_private=is_private,
            members=[person.id for person in people],
        )
        self.conversations[key] = channel
        return channel

    def add_group_chat(self, name: str, *people: TenantPerson, has_app: bool = True) -> TenantConversation:
        key = f"19:{identifier_of('chat', name).replace('-', '')}@thread.v2"
        members = [person.id for person in people]
        chat = TenantConversation(id=key, kind="groupChat", name=name, members=members, tenant=self.id, has_app=has_app)
        self.conversations[key] = chat
        return chat

    def personal_chat_of(self, person: TenantPerson) -> TenantConversation:
        """Returns the chat of a person and the app, and creates it where the person has not used the app yet."""
        existing = self.find_personal_chat(person)
        if existing is not None:
            return existing
        key = self._personal_key_of(person)
        chat = TenantConversation(id=key, kind="personal", members=[person.id], tenant=person.tenant)
        self.conversations[key] = chat
        return chat

    def find_personal_chat(self, person: TenantPerson) -> TenantConversation | None:
        return self.conversations.get(self._personal_key_of(person))

    def _personal_key_of(self, person: TenantPerson) -> str:
        return f"a:1{identifier_of('personal', self.app_id, person.object_id).replace('-', '')}"

    def deactivate_person(self, person: TenantPerson) -> None:
        """Deactivate an account: the person is in no roster any more."""
        for roster in [conversation.members for conversation in self.conversations.values()]:
            _remove_from(roster, person.id)
        for team in self.teams.values():
            _remove_from(team.members, person.id)
        self.people.pop(person.id, None)

    def next_activity_id(self) -> str:
        return str(_FIRST_TICK + next(_TICKS))

    def find_message(self, conversation: str, message_id: str) -> TenantMessage | None:
        """Find a message that is not deleted. `conversation`: without the id of the thread."""
        return next(
            (
                message
                for message in self.messages
                if (message.conversation, message.id) == (conversation, message_id) and not message.is_deleted
            ),
            None,
        )

    def is_deleted_message(self, conversation: str, message_id: str) -> bool:
        """Whether there was such a message. `conversation`: without the id of the thread."""
        return any(
            message.is_deleted
            for message in self.messages
            if (message.conversation, message.id) == (conversation, message_id)
        )

    def messages_in(self, conversation: TenantConversation, thread: str | None = None) -> list[TenantMessage]:
        """Returns the messages that a person sees, in order; `thread` limits them to one thread."""
        return [
            message
            for message in self.messages
            if message.conversation == conversation.id and not message.is_deleted and thread in {None, message.thread}
        ]

    def bot_messages(self, conversation: TenantConversation | None = None) -> list[TenantMessage]:
        """Returns the messages of the bot that a person sees, in order."""
        return [
            message
            for message in self.messages
            if message.sender == self.bot_id
            and not message.is_deleted
            and (conversation is None or message.conversation == conversation.id)
        ]


def _remove_from(roster: list[str], person: str) -> None:
    if person in roster:
        roster.remove(person)
