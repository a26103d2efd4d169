"""The person who speaks on the command line, and the messages that they send."""

import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bot.ids import OPERATOR, ConversationId, MessageId, PersonId
from bot.surface.inbound import Audience, Inbound, InboundBody, OperatorAudience, PrivateAudience

if TYPE_CHECKING:
    from collections.abc import Sequence

TERMINAL_SURFACE = "terminal"


@dataclass(frozen=True, slots=True, kw_only=True)
class CliSpeaker:
    person: PersonId
    name: str
    audience: Audience

    def inbound_for(self, body: InboundBody, conversation: ConversationId, buckets: "Sequence[str]" = ()) -> Inbound:
        """A new message with a unique id."""
        message = MessageId(secrets.token_urlsafe(12))
        return Inbound(
            surface=TERMINAL_SURFACE,
            event_id=f"{TERMINAL_SURFACE}:{message}",
            conversation=conversation,
            message_id=message,
            person=self.person,
            person_name=self.name,
            audience=self.audience,
            body=body,
            received_at=datetime.now(UTC),
            time_zone=local_time_zone(),
            buckets=tuple(buckets),
        )


def speaker_for(person_text: str | None) -> CliSpeaker:
    """The operator, or the named person. Raises `InvalidSubject`."""
    if person_text is None:
        return CliSpeaker(person=OPERATOR, name="you", audience=OperatorAudience())
    from bot.access.subjects import parse_person

    person = parse_person(person_text)
    # The command line does not know which users of a chat product are guests, so it treats all of them as guests.
    audience = PrivateAudience(person=person, is_guest=not person.startswith("local:"))
    return CliSpeaker(person=person, name=person.rpartition(":")[2], audience=audience)


def new_conversation_id() -> ConversationId:
    return ConversationId(f"{TERMINAL_SURFACE}:{secrets.token_urlsafe(9)}")


def local_time_zone() -> str:
    """The IANA name of this machine's time zone; UTC if it is unknown."""
    if name := os.environ.get("TZ", "").lstrip(":"):
        return name
    _, separator, name = str(Path("/etc/localtime").resolve()).partition("/zoneinfo/")
    return name if separator else "UTC"
