"""The stored form of audiences and turns."""

import json
from datetime import UTC, datetime

import pytest

from bot.ids import ConversationId, MessageId, PersonId, Subject
from bot.surface.inbound import (
    Audience,
    ChannelAudience,
    Inbound,
    OperatorAudience,
    OutsiderPresence,
    PrivateAudience,
    TextMessage,
)
from bot.surface.json_codec import audience_from_json, audience_to_json, inbound_to_row

CHANNEL = Subject("channel:teams:tenant:19:channel@thread.tacv2")
TEAM = Subject("team:teams:tenant:19:team@thread.tacv2")


@pytest.mark.parametrize(
    "audience",
    [
        OperatorAudience(),
        PrivateAudience(person=PersonId("slack:T1:U1"), subjects=frozenset({Subject("group:staff")})),
        PrivateAudience(person=PersonId("slack:T1:U1"), is_guest=True, is_deactivated=True),
        ChannelAudience(channel=CHANNEL, outsiders=OutsiderPresence.SOME),
        ChannelAudience(channel=CHANNEL, outsiders=OutsiderPresence.NONE, also_known_as=frozenset({TEAM})),
    ],
)
def test_an_audience_is_read_as_it_was_stored(audience: Audience) -> None:
    assert audience_from_json(json.loads(json.dumps(audience_to_json(audience)))) == audience


def test_a_channel_that_was_stored_without_other_names_has_none() -> None:
    stored = {"kind": "shared", "channel": CHANNEL, "outsiders": "none"}

    assert audience_from_json(stored) == ChannelAudience(channel=CHANNEL, outsiders=OutsiderPresence.NONE)


@pytest.mark.parametrize(("char_count", "is_long"), [(250, False), (251, True)])
def test_a_row_says_whether_its_text_is_long(char_count: int, is_long: bool) -> None:
    inbound = Inbound(
        surface="slack",
        event_id="event-1",
        conversation=ConversationId("slack:T1:C1:1"),
        message_id=MessageId("message-1"),
        person=PersonId("slack:T1:U1"),
        person_name="Ada",
        audience=OperatorAudience(),
        body=TextMessage("a" * char_count),
        received_at=datetime(2026, 11, 20, tzinfo=UTC),
    )

    assert inbound_to_row(inbound).is_long is is_long
