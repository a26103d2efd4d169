"""Where a reply goes in Teams, and the ids that Parley makes from those of Teams."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.ids import ConversationId, PersonId, Subject

SURFACE: Final = "teams"
_MORE_CARD_PREFIX: Final = "more_card:"  # of a field of a stored address; the message's id follows


class ConversationKind(StrEnum):
    """`conversationType` of an activity."""

    PERSONAL = "personal"
    GROUP_CHAT = "groupChat"
    CHANNEL = "channel"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreChoicesCard:
    """A message with further choices of a clarification, beside the clarification's own."""

    message: str
    clarification: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamsAddress:
    """What a reply needs. Stored with a turn as an `Inbound.address`, so every value is a text."""

    service_url: str  # of the newest activity that was received there when the turn was stored
    tenant: str
    conversation: str  # in a channel with `;messageid=` and the id of the thread's first message
    kind: ConversationKind
    bot_id: str  # `28:…`
    asker_id: str  # `29:…`: the asker's id for this bot
    reply_to: str = ""  # the activity to answer; after a click, the activity of the card
    clarification_card: str = ""  # after a click on a choice alone: the message whose buttons were clicked
    more_cards: tuple[MoreChoicesCard, ...] = ()  # those of the conversation, as far as known
    team: str = ""  # in a channel: the id of the team (`19:…@thread.tacv2`)
    channel: str = ""  # in a channel: the id of the channel

    def to_mapping(self) -> dict[str, str]:
        return {
            "service_url": self.service_url,
            "tenant": self.tenant,
            "conversation": self.conversation,
            "kind": self.kind.value,
            "bot_id": self.bot_id,
            "asker_id": self.asker_id,
            "reply_to": self.reply_to,
            "clarification_card": self.clarification_card,
            **{f"{_MORE_CARD_PREFIX}{card.message}": card.clarification for card in self.more_cards},
            "team": self.team,
            "channel": self.channel,
        }

    @classmethod
    def from_mapping(cls, fields: Mapping[str, str]) -> "TeamsAddress":
        """Raises `KeyError` for a mapping that `to_mapping` has not made."""
        return cls(
            service_url=fields["service_url"],
            tenant=fields["tenant"],
            conversation=fields["conversation"],
            kind=ConversationKind(fields["kind"]),
            bot_id=fields["bot_id"],
            asker_id=fields["asker_id"],
            reply_to=fields["reply_to"],
            clarification_card=fields.get("clarification_card", ""),  # no turn of an earlier version has it
            more_cards=tuple(
                MoreChoicesCard(message=key.removeprefix(_MORE_CARD_PREFIX), clarification=clarification)
                for key, clarification in fields.items()
                if key.startswith(_MORE_CARD_PREFIX)
            ),
            team=fields["team"],
            channel=fields["channel"],
        )

    @property
    def is_personal(self) -> bool:
        return self.kind is ConversationKind.PERSONAL


def person_id_of(tenant: str, object_id: str) -> PersonId:
    """`object_id`: the person's `aadObjectId`, the same for every bot and in every conversation."""
    return PersonId(f"{SURFACE}:{tenant}:{object_id}")


def conversation_id_of(tenant: str, conversation: str) -> ConversationId:
    return ConversationId(f"{SURFACE}:{tenant}:{conversation}")


def channel_subject_of(tenant: str, channel_or_chat: str) -> Subject:
    """The subject of one channel, or of one group chat."""
    return Subject(f"channel:{SURFACE}:{tenant}:{channel_or_chat}")


def team_subject_of(tenant: str, team: str) -> Subject:
    """The subject of all channels of a team."""
    return Subject(f"team:{SURFACE}:{tenant}:{team}")
