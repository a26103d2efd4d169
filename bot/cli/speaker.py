"""Who speaks on the command line, and the messages that they send."""

import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bot.ids import OPERATOR, ConversationId, MessageId, PersonId
from bot.inbound import Audience, Body, Inbound, Operator, Private

if TYPE_CHECKING:
    from collections.abc import Sequence

SURFACE = "terminal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    person: PersonId
    name: str
    audience: Audience

    def says(self, body: Body, conversation: ConversationId, buckets: "Sequence[str]" = ()) -> Inbound:
        """A message of their own, which nothing can have sent before."""
        message = MessageId(secrets.token_urlsafe(12))
        return Inbound(
            surface=SURFACE,
            event_id=f"{SURFACE}:{message}",
            conversation=conversation,
            message_id=message,
            person=self.person,
            name=self.name,
            audience=self.audience,
            body=body,
            received=datetime.now(UTC),
            time_zone=_time_zone(),
            buckets=tuple(buckets),
        )


def speaker(as_: str | None) -> Speaker:
    """The operator, or the person named. Raises `InvalidSubject`."""
    if as_ is None:
        return Speaker(person=OPERATOR, name="you", audience=Operator())
    from bot.subjects import parse_person

    person = parse_person(as_)
    # Whether a chat product's user is a guest is not known here, and who may be one is treated as one.
    audience = Private(person=person, guest=not person.startswith("local:"))
    return Speaker(person=person, name=person.rpartition(":")[2], audience=audience)


def new_conversation() -> ConversationId:
    return ConversationId(f"{SURFACE}:{secrets.token_urlsafe(9)}")


def _time_zone() -> str:
    """This machine's, by its IANA name; UTC where it cannot be told."""
    if name := os.environ.get("TZ", "").lstrip(":"):
        return name
    _, found, name = str(Path("/etc/localtime").resolve()).partition("/zoneinfo/")
    return name if found else "UTC"
