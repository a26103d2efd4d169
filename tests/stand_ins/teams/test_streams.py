"""Streaming follows Teams' rules: in personal chats, in sequence, only growing, for two minutes."""

from typing import Any

import pytest

from tests.stand_ins.teams.activity_checker import MESSAGE_BYTES
from tests.stand_ins.teams.conftest import ConnectorClient, ConnectorResponse
from tests.stand_ins.teams.server import TeamsActionNotPossible, TeamsServer
from tests.stand_ins.teams.streams import STREAM_S
from tests.stand_ins.teams.tenancy import TenantConversation, TenantPerson


async def stream(
    client: ConnectorClient, conversation: TenantConversation, text: str, sequence: int | None, stream_id: str = "",
    kind: str = "streaming", **fields: Any,
) -> ConnectorResponse:  # fmt: skip
    info: dict[str, Any] = {"type": "streaminfo", "streamType": kind}
    info |= {"streamSequence": sequence} if sequence is not None else {}
    info |= {"streamId": stream_id} if stream_id else {}
    activity_type = "message" if kind == "final" else "typing"
    entities = [info, *fields.pop("entities", [])]
    return await client.send(conversation.id, type=activity_type, text=text, entities=entities, **fields)


async def begin(client: ConnectorClient, chat: TenantConversation, text: str = "A brown") -> str:
    return (await stream(client, chat, text, 1)).body["id"]


async def test_a_stream_grows_from_a_notice_to_a_message(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation
) -> None:
    first = await stream(client, chat, "Searching", 1, kind="informative")
    key = first.body["id"]
    more = [
        await stream(client, chat, "Reading", 2, key, "informative"),
        await stream(client, chat, "A brown", 3, key),
        await stream(client, chat, "A brown fox", 4, key),
        await stream(client, chat, "A brown fox.", None, key, "final", channelData={"feedbackLoop": {"type": "default"}}),
    ]  # fmt: skip

    assert (first.status, [answer.status for answer in more]) == (201, [202, 202, 202, 202])
    message = teams.tenant.bot_messages(chat)[0]
    assert (message.id, message.text, message.activity["type"]) == (key, "A brown fox.", "message")
    assert teams.streams[key].updates == 5
    assert (await client.update(chat.id, key, text="changed")).status == 200


async def test_groups_and_channels_take_no_stream(
    client: ConnectorClient, group: TenantConversation, channel: TenantConversation
) -> None:
    for conversation in (group, channel):
        refusal = await stream(client, conversation, "A", 1)
        assert (refusal.status, refusal.error) == (403, "ContentStreamNotAllowed")


@pytest.mark.parametrize(
    ("text", "sequence", "kind", "fields"),
    [
        ("A", 2, "streaming", {}),
        ("A", 0, "streaming", {}),
        ("A", None, "streaming", {}),
        ("", 1, "streaming", {}),
        ("A", 1, "partial", {}),
        ("x" * 1001, 1, "informative", {}),
        ("A", None, "final", {}),
        ("A", 1, "streaming", {"attachments": [{"contentType": "image/png", "contentUrl": "https://x.example/a.png"}]}),
        ("A", 1, "streaming", {"channelData": {"feedbackLoop": {"type": "default"}}}),
        ("A", 1, "streaming", {"entities": [{"type": "https://schema.org/Message", "additionalType": ["AIGeneratedContent"]}]}),
        ("A", 1, "streaming", {"entities": [{"type": "streaminfo", "streamSequence": 1}]}),
    ],
)  # fmt: skip
async def test_an_unsound_first_part_is_refused(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation, text: str, sequence: int | None, kind: str,
    fields: dict[str, Any],
) -> None:  # fmt: skip
    refusal = await stream(client, chat, text, sequence, kind=kind, **fields)

    assert (refusal.status, refusal.error) == (400, "BadRequest")
    assert teams.tenant.bot_messages() == []


async def test_the_text_only_grows_in_the_final_message_too(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation
) -> None:
    key = await begin(client, chat)
    changed = await stream(client, chat, "A red", 2, key)
    last = await stream(client, chat, "A red fox.", None, key, "final")

    for refusal in (changed, last):
        assert (refusal.status, refusal.error) == (403, "ContentStreamNotAllowed")
        assert "previously streamed" in refusal.body["error"]["message"]
    assert teams.tenant.bot_messages(chat)[0].text == "A brown"


async def test_a_part_out_of_sequence_is_dropped_without_an_error(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation
) -> None:
    key = await begin(client, chat)
    await stream(client, chat, "A brown fox", 3, key)
    late = await stream(client, chat, "A brown fo", 2, key)

    assert (late.status, late.error) == (202, "ContentStreamSequenceOrderPreConditionFailed")
    assert (teams.tenant.bot_messages(chat)[0].text, teams.streams[key].ignored) == ("A brown fox", 1)


async def test_the_final_message_has_no_sequence(client: ConnectorClient, chat: TenantConversation) -> None:
    key = await begin(client, chat)

    assert (await stream(client, chat, "A brown fox", 2, key, "final")).status == 400


async def test_a_stream_ends_once(client: ConnectorClient, chat: TenantConversation) -> None:
    key = await begin(client, chat)
    await stream(client, chat, "A brown fox", None, key, "final")

    refusal = await stream(client, chat, "A brown fox jumps", 2, key)
    assert (refusal.status, refusal.error) == (403, "ContentStreamNotAllowed")


async def test_a_stream_ends_after_two_minutes(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation
) -> None:
    now = teams.clock()
    teams.clock = lambda: now
    key = await begin(client, chat)
    teams.clock = lambda: now + STREAM_S + 1

    refusal = await stream(client, chat, "A brown fox", None, key, "final")
    assert (refusal.status, "exceeded streaming time" in refusal.body["error"]["message"]) == (403, True)
    assert (await stream(client, chat, "Another", 1)).status == 201


async def test_a_conversation_has_one_stream(client: ConnectorClient, chat: TenantConversation) -> None:
    key = await begin(client, chat)
    second = await stream(client, chat, "Another", 1)
    await stream(client, chat, "A brown fox", None, key, "final")

    assert (second.status, second.error) == (403, "ContentStreamNotAllowed")
    assert (await stream(client, chat, "Another", 1)).status == 201


async def test_a_person_stops_a_stream(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation, ada: TenantPerson
) -> None:
    with pytest.raises(TeamsActionNotPossible):
        teams.stop_stream(ada)
    key = await begin(client, chat)
    teams.stop_stream(ada)

    refusal = await stream(client, chat, "A brown fox", 2, key)
    assert (refusal.status, refusal.error) == (403, "ContentStreamNotAllowed")
    assert refusal.body["error"]["message"] == "Content stream was canceled by user"
    assert teams.tenant.bot_messages(chat)[0].text == "A brown"


async def test_notices_come_before_the_text(client: ConnectorClient, chat: TenantConversation) -> None:
    key = await begin(client, chat)

    assert (await stream(client, chat, "Searching", 2, key, "informative")).status == 400


async def test_a_message_that_is_streamed_is_not_updated(client: ConnectorClient, chat: TenantConversation) -> None:
    key = await begin(client, chat)

    assert (await client.update(chat.id, key, text="changed")).error == "ContentStreamNotAllowed"


async def test_an_unknown_stream_is_refused(
    client: ConnectorClient, chat: TenantConversation, teams: TeamsServer, bob: TenantPerson
) -> None:
    key = await begin(client, teams.tenant.personal_chat_of(bob))

    assert (await stream(client, chat, "A brown fox", 2, key)).status == 400
    assert (await stream(client, chat, "A brown fox", 2, "1")).status == 400


async def test_a_part_that_is_too_large_is_refused(client: ConnectorClient, chat: TenantConversation) -> None:
    refusal = await stream(client, chat, "x" * MESSAGE_BYTES, 1)

    assert (refusal.status, refusal.error) == (403, "ContentStreamNotAllowed")
