"""The stored form of audiences."""

import json

import pytest

from bot.ids import PersonId, Subject
from bot.surface.inbound import Audience, ChannelAudience, OperatorAudience, OutsiderPresence, PrivateAudience
from bot.surface.json_codec import audience_from_json, audience_to_json

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
