"""What comes in: one message or one click, in terms that are independent of its chat product."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

from bot.ids import ChoiceId, ConversationId, MessageId, PersonId, TurnId
from storage.search.ids import Subject

MAX_QUESTION_CHARS: Final = 10_000  # code points of a message that is answered


class OutsiderPresence(StrEnum):
    """Whether a channel's readers include guests or people of another organisation."""

    NONE = "none"
    SOME = "some"
    UNKNOWN = "unknown"  # treated as SOME


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateAudience:
    """Only the asker reads the reply."""

    person: PersonId
    is_guest: bool = False  # a guest or a person of another organisation: `everyone` does not include them
    subjects: frozenset[Subject] = frozenset()  # the product's groups of the person, and the person's other ids
    is_deactivated: bool = False  # no longer a member of the organisation: sees nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelAudience:
    """Everyone who reads the channel reads the reply."""

    channel: Subject  # `channel:slack:T1:C1`, `channel:teams:TENANT:ID`
    outsiders: OutsiderPresence
    also_known_as: frozenset[Subject] = frozenset()  # whose grants count here too: the channel's team in Teams


@dataclass(frozen=True, slots=True)
class OperatorAudience:
    """The owner of the home, on its own machine. Sees every bucket."""


Audience: TypeAlias = PrivateAudience | ChannelAudience | OperatorAudience


def have_same_readers(original: Audience, current: Audience) -> bool:
    """Whether both audiences are the same channel, the same person, or the operator."""
    match original:
        case OperatorAudience():
            return isinstance(current, OperatorAudience)
        case PrivateAudience(person=person):
            return isinstance(current, PrivateAudience) and current.person == person
        case ChannelAudience(channel=channel):
            return isinstance(current, ChannelAudience) and current.channel == channel


@dataclass(frozen=True, slots=True)
class TextMessage:
    """A message as plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class ButtonClick:
    """A click on a button. The button carried only the id."""

    choice: ChoiceId


@dataclass(frozen=True, slots=True)
class MessageDeletion:
    """The message was deleted: the reply to it is withdrawn as well."""


@dataclass(frozen=True, slots=True)
class FullTextRequest:
    """A request for the full text of an earlier turn, which did not fit into one message."""

    turn: TurnId


@dataclass(frozen=True, slots=True)
class SearchSaveRequest:
    """A request to save what an earlier turn has searched: it offers when to ask again."""

    turn: TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSearchRun:
    """A saved search is due. `missed_count`: how many due times have passed without a report; 0 for a run on time.
    `was_held`: at its due time the run before it had not ended.
    """

    search: int  # its number
    due_at: datetime
    missed_count: int = 0
    was_held: bool = False


InboundBody: TypeAlias = (
    TextMessage | ButtonClick | MessageDeletion | FullTextRequest | SearchSaveRequest | SavedSearchRun
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile:
    """A file that came with a message, as far as the product has described it. It is fetched when the turn runs."""

    id: str  # as the product knows it
    name: str = ""  # data, to be escaped; empty while it is unknown
    kind: str = ""  # one of `bot.surface.attachments.FILE_KINDS`, or the extension; empty while it is unknown
    size: int | None = None  # bytes
    link: str | None = None  # for people to open


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """The start of one turn. Unique by `event_id`, and by `conversation` with `message_id`."""

    surface: str  # "slack", "web", "terminal": whose outbox replies
    event_id: str
    conversation: ConversationId
    message_id: MessageId  # of the message; for a click, unique to the click
    person: PersonId
    person_name: str  # as the product writes it; data, to be escaped
    audience: Audience
    body: InboundBody
    received_at: datetime  # aware, UTC
    locale: str = "en"
    time_zone: str = "UTC"  # IANA
    address: Mapping[str, str] = field(default_factory=dict[str, str])  # what the surface needs to reply there
    buckets: tuple[str, ...] = ()  # the question is restricted to these; empty: everything granted
    revises: MessageId | None = None  # the earlier message that this one replaces or deletes
    counts_without_original: bool = False  # a revision counts even if the earlier message has not arrived (yet)
    files: tuple[AttachedFile, ...] = ()  # came with the message and are to be read
    skipped_files: tuple[
        str, ...
    ] = ()  # names of files that came with the message and are not read; data, to be escaped
    is_automatic: bool = False  # a program's message: limited, so that two programs do not talk forever
    needs_thread: bool = False  # asked outside a conversation: `ThreadPlacer` must start or find a thread first
