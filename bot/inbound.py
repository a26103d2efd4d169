"""What comes in: one message or one click, freed of its chat product."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from bot.ids import ChoiceId, ConversationId, MessageId, PersonId, TurnId
from storage.search.ids import Subject


class Outsiders(StrEnum):
    """Whether a channel's readers include guests or people of another organisation."""

    NONE = "none"
    SOME = "some"
    UNKNOWN = "unknown"  # closes the channel as SOME does


@dataclass(frozen=True, slots=True, kw_only=True)
class Private:
    """Only the asker reads the reply."""

    person: PersonId
    guest: bool = False  # a guest or a person of another organisation: `everyone` does not include them
    subjects: frozenset[Subject] = frozenset()  # the product's own groups that the person is in; their other ids
    gone: bool = False  # no longer a member of the organisation: sees nothing at all


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Whoever reads the channel reads the reply."""

    channel: Subject  # `channel:slack:T1:C1`, `team:teams:TENANT:ID`
    outsiders: Outsiders


@dataclass(frozen=True, slots=True)
class Operator:
    """The owner of the home, on its own machine: sees every bucket."""


Audience: TypeAlias = Private | Shared | Operator


@dataclass(frozen=True, slots=True)
class Said:
    """A message, as plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Clicked:
    """A button. The id is all that it carried."""

    choice: ChoiceId


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The message was deleted: what was said to it goes, too."""


@dataclass(frozen=True, slots=True)
class AllOf:
    """What an earlier turn said is wanted whole, since one message had no room for it."""

    turn: TurnId


Body: TypeAlias = Said | Clicked | Withdrawn | AllOf


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile:
    """A file that came with a message, as far as the product has told of it. It is fetched when the turn runs."""

    id: str  # as the product knows it
    name: str = ""  # data, to be escaped; empty where it is not told yet
    kind: str = ""  # as `bot.attachments` calls it; empty where it is not told yet
    size: int | None = None  # bytes
    link: str | None = None  # where people open it


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """One turn's beginning. Unique by `event_id`, and by `conversation` with `message_id`."""

    surface: str  # "slack", "web", "terminal": whose outbox replies
    event_id: str
    conversation: ConversationId
    message_id: MessageId  # of the message; for a click, unique to the click
    person: PersonId
    name: str  # how to call the person, as the product writes it; data, to be escaped
    audience: Audience
    body: Body
    received: datetime  # aware, UTC
    locale: str = "en"
    time_zone: str = "UTC"  # IANA
    address: Mapping[str, str] = field(default_factory=dict[str, str])  # what the surface needs to reply there
    buckets: tuple[str, ...] = ()  # only these were asked; none named: all that is granted
    revises: MessageId | None = None  # an earlier message that this one takes the place of, or takes back
    is_first: bool = False  # of what revises: whether it counts though the earlier message has not come (yet)
    files: tuple[AttachedFile, ...] = ()  # that came with it, to be read
    unread: tuple[str, ...] = ()  # names of files that came with it and are not read; data, to be escaped
    automatic: bool = False  # a program's message, not a person's: bounded, so that two programs do not talk forever
    unplaced: bool = False  # asked outside a conversation: `bot.outbox.Threads` has one to begin, or to go to, first
