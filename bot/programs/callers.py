"""Who calls: the person in whose name another program asks, and the messages that its calls become."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.ids import OPERATOR, ConversationId, MessageId, PersonId
from bot.surface.inbound import Audience, Inbound, InboundBody, OperatorAudience, PrivateAudience


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCaller:
    """The person in whose name a program calls. `surface`: the protocol, under whose name its turns are stored."""

    surface: str
    person: PersonId
    time_zone: str = "UTC"  # IANA

    @property
    def audience(self) -> Audience:
        """The person alone; the rights are read again for each call.

        A person of a chat product counts as a guest, unless that product reports otherwise.
        """
        if self.person == OPERATOR:
            return OperatorAudience()
        return PrivateAudience(person=self.person, is_guest=not self.person.startswith("local:"))

    @property
    def name(self) -> str:
        return self.person.rpartition(":")[2]

    def build_inbound(
        self, body: InboundBody, conversation: ConversationId, received_at: datetime, buckets: Sequence[str] = ()
    ) -> Inbound:
        """A new message or click with a unique id."""
        message = MessageId(secrets.token_urlsafe(12))
        return Inbound(
            surface=self.surface,
            event_id=f"{self.surface}:{message}",
            conversation=conversation,
            message_id=message,
            person=self.person,
            person_name=self.name,
            audience=self.audience,
            body=body,
            received_at=received_at,
            time_zone=self.time_zone,
            buckets=tuple(buckets),
        )

    def new_conversation(self) -> ConversationId:
        return ConversationId(f"{self._conversation_prefix}{secrets.token_urlsafe(12)}")

    def may_own(self, conversation: ConversationId) -> bool:
        """Whether the conversation is one of this protocol's."""
        return conversation.startswith(self._conversation_prefix)

    @property
    def _conversation_prefix(self) -> str:
        return f"{self.surface}:"
