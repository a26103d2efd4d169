"""An activity with what it says about its conversation and its sender, from ids alone.

People and channels are looked up when the turn runs; until then the audience is as restricted as possible.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from adapters.teams.addresses import (
    SURFACE,
    ConversationKind,
    TeamsAddress,
    channel_subject_of,
    conversation_id_of,
    person_id_of,
    team_subject_of,
)
from adapters.teams.payloads.activities import InboundActivity
from bot.ids import ConversationId, MessageId, PersonId
from bot.surface.inbound import Audience, ChannelAudience, Inbound, InboundBody, OutsiderPresence, PrivateAudience
from bot.turns.turn_actions import TurnActor

THREAD_MARK: Final = ";messageid="
_BOT_PREFIX: Final = "28:"
_BOT_ROLES: Final = ("bot", "skill")
_LOCALE_PATTERN: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_KINDS: Final = {kind.value: kind for kind in ConversationKind}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedActivity:
    """One delivery that was checked."""

    activity: InboundActivity
    address: TeamsAddress
    person: PersonId
    audience: Audience
    received_at: datetime

    @property
    def conversation(self) -> ConversationId:
        return conversation_id_of(self.address.tenant, self.address.conversation)

    @property
    def is_from_bot(self) -> bool:
        """Whether a program wrote it, Parley included."""
        sender = self.activity.sender
        is_own = sender.id == self.activity.recipient.id
        return is_own or sender.id.startswith(_BOT_PREFIX) or sender.role.lower() in _BOT_ROLES

    @property
    def locale(self) -> str:
        """The language that the sender's app is set to."""
        locales = (*(entity.locale for entity in self.activity.entities), self.activity.locale)
        return next((locale for locale in locales if _LOCALE_PATTERN.fullmatch(locale)), "en")

    @property
    def time_zone(self) -> str:
        zones = (*(entity.timezone for entity in self.activity.entities), self.activity.local_timezone)
        return next((zone for zone in zones if zone and _is_time_zone(zone)), "UTC")

    @property
    def actor(self) -> TurnActor:
        return TurnActor(
            conversation=self.conversation,
            audience=self.audience,
            person=self.person,
            name=self.activity.sender.name or self.activity.sender.id,
        )

    def make_inbound(
        self,
        *,
        event_id: str,
        message_id: MessageId,
        body: InboundBody,
        locations: Mapping[str, str] = MappingProxyType({}),
        **inbound_fields: Any,
    ) -> Inbound:
        """`locations`: of its files, added to the address. `inbound_fields`: further fields of the `Inbound`."""
        return Inbound(
            surface=SURFACE,
            event_id=event_id,
            conversation=self.conversation,
            message_id=message_id,
            person=self.person,
            person_name=self.activity.sender.name or self.activity.sender.id,
            audience=self.audience,
            body=body,
            received_at=self.received_at,
            locale=self.locale,
            time_zone=self.time_zone,
            address={**locations, **self.address.to_mapping()},
            **inbound_fields,
        )


def describe_activity(activity: InboundActivity, received_at: datetime) -> ReceivedActivity | None:
    """None where Teams names no kind of conversation that Parley knows: its readers are unknown."""
    kind = _KINDS.get(activity.conversation.conversation_type)
    if kind is None or (kind is ConversationKind.PERSONAL and activity.conversation.is_group):
        return None
    conversation, tenant = activity.conversation.id, activity.tenant
    if kind is ConversationKind.CHANNEL and THREAD_MARK not in conversation and activity.id:
        conversation += THREAD_MARK + (activity.reply_to_id or activity.id)
    channel = conversation.partition(";")[0]
    team = activity.channel_data.team
    # A person without an id in the directory, as in a meeting, is known for this bot alone, and granted nothing.
    person = person_id_of(tenant, activity.sender.aad_object_id or activity.sender.id)
    address = TeamsAddress(
        service_url=activity.service_url,
        tenant=tenant,
        conversation=conversation,
        kind=kind,
        bot_id=activity.recipient.id,
        asker_id=activity.sender.id,
        reply_to=activity.reply_to_id if activity.value is not None else activity.id,
        team=team.id if team is not None and kind is ConversationKind.CHANNEL else "",
        channel=channel if kind is ConversationKind.CHANNEL else "",
    )
    return ReceivedActivity(
        activity=activity,
        address=address,
        person=person,
        audience=_audience_for(address, channel, person),
        received_at=received_at,
    )


def _audience_for(address: TeamsAddress, channel_or_chat: str, person: PersonId) -> Audience:
    if address.is_personal:
        return PrivateAudience(person=person, is_guest=True)
    return ChannelAudience(
        channel=channel_subject_of(address.tenant, channel_or_chat),
        outsiders=OutsiderPresence.UNKNOWN,
        also_known_as=frozenset({team_subject_of(address.tenant, address.team)} if address.team else ()),
    )


@lru_cache(maxsize=600)
def _is_time_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
