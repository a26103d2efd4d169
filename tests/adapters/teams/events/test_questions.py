"""Questions in personal chats, group chats and channels; their edits and deletions; and messages that are none."""

from typing import Any

import pytest

from adapters.teams.addresses import ConversationKind
from bot.ids import Subject
from bot.surface.inbound import (
    ChannelAudience,
    MessageDeletion,
    OutsiderPresence,
    PrivateAudience,
    TextMessage,
)
from tests.adapters.teams.reception import TeamsReception
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TENANT, TenantConversation, TenantPerson


async def test_a_question_in_a_personal_chat(reception: TeamsReception, teams: TeamsServer, ada: TenantPerson) -> None:
    message, _ = await teams.say(ada, None, "pressure < 5 bar & hot")

    [question] = reception.accepted
    person = f"teams:{TENANT}:{ada.object_id}"
    assert question.surface == "teams"
    assert question.conversation == f"teams:{TENANT}:{teams.tenant.personal_chat_of(ada).id}"
    assert question.message_id == message.id
    assert question.event_id == f"{question.conversation}:{message.id}"
    assert (question.person, question.person_name) == (person, "Ada")
    assert question.audience == PrivateAudience(person=question.person, is_guest=True)
    assert question.body == TextMessage("pressure < 5 bar & hot")
    assert (question.locale, question.time_zone) == ("en-US", "Europe/Berlin")
    assert question.received_at == reception.clock.read_time()


async def test_a_question_in_a_channel_stays_in_its_thread(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, bob: TenantPerson, channel: TenantConversation
) -> None:
    root, _ = await teams.say(ada, channel, "who wrote the Parley manual?")
    await teams.say(bob, channel, "and in 2020?", thread=root)

    first, second = reception.accepted
    team = channel.team
    assert team is not None
    assert first.body == TextMessage("who wrote the Parley manual?")
    assert first.conversation == f"teams:{TENANT}:{channel.id};messageid={root.id}"
    assert second.conversation == first.conversation
    assert first.audience == ChannelAudience(
        channel=Subject(f"channel:teams:{TENANT}:{channel.id}"),
        outsiders=OutsiderPresence.UNKNOWN,
        also_known_as=frozenset({Subject(f"team:teams:{TENANT}:{team.id}")}),
    )
    address = reception.addresses()[1]
    assert (address.kind, address.team, address.channel) == (ConversationKind.CHANNEL, team.id, channel.id)
    assert address.service_url == teams.service_url
    assert (address.bot_id, address.asker_id) == (teams.tenant.bot_id, bob.id)


async def test_a_question_in_a_group_chat(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, bob: TenantPerson, group: TenantConversation
) -> None:
    message, _ = await teams.say(ada, group, "@Parley what did @Bob order?", mentions=[bob])

    [question] = reception.accepted
    assert question.body == TextMessage("what did @Bob order?")
    assert question.conversation == f"teams:{TENANT}:{group.id}"
    assert isinstance(question.audience, ChannelAudience)
    assert question.audience.channel == f"channel:teams:{TENANT}:{group.id}"
    assert question.audience.also_known_as == frozenset()
    assert reception.addresses()[0].reply_to == message.id


async def test_a_message_that_mentions_someone_else_is_ignored(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, bob: TenantPerson, group: TenantConversation
) -> None:
    teams.reads_all_messages = True

    _, [delivery] = await teams.say(ada, group, "@Bob lunch?", mention=False, mentions=[bob])

    assert delivery.statuses == [202]
    assert reception.accepted == []


async def test_the_files_of_a_message_come_with_it(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    files = [
        {"contentType": "x", "contentUrl": "https://files.example/1", "name": "a.pdf"},
        {"contentType": "x", "contentUrl": "https://files.example/2", "name": "b.exe"},
    ]

    await teams.say(ada, None, "what does it say?", attachments=files)

    assert [file.name for file in reception.accepted[0].files] == ["a.pdf"]
    assert reception.accepted[0].skipped_files == ("b.exe",)


@pytest.mark.parametrize(
    "changes",
    [
        {"from": {"id": "28:another-bot", "name": "Bot"}},
        {"from": {"id": "29:x", "name": "Bot", "role": "bot"}},
        {"recipient": {"id": "29:x"}, "from": {"id": "29:x"}},
        {"conversation": {"id": "19:a@thread.v2", "tenantId": TENANT}},
        {"conversation": {"id": "19:a@thread.v2", "tenantId": TENANT, "conversationType": "unheard of"}},
        {"conversation": {"id": "19:a", "tenantId": TENANT, "conversationType": "personal", "isGroup": True}},
        {"type": "typing"},
        {"type": "messageReaction"},
        {"type": "conversationUpdate"},
        {"value": {"another": "card"}, "text": ""},
    ],
)
async def test_what_is_no_question_of_a_person_is_acknowledged_and_ignored(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, changes: dict[str, Any]
) -> None:
    message, _ = await teams.say(ada, None, "List receipts")
    reception.accepted.clear()

    delivery = await teams.deliver_activity({**message.activity, "id": "177", **changes})

    assert delivery.statuses == [202]
    assert reception.accepted == []


async def test_a_person_without_a_directory_id_is_known_for_this_bot_alone(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    message, _ = await teams.say(ada, None, "List receipts")

    await teams.deliver_activity({**message.activity, "id": "177", "from": {"id": "29:anon"}})

    assert reception.accepted[1].person == f"teams:{TENANT}:29:anon"
    assert reception.accepted[1].audience == PrivateAudience(person=reception.accepted[1].person, is_guest=True)


@pytest.mark.parametrize(
    ("entities", "expected"),
    [
        ([{"type": "clientInfo", "locale": "de-DE", "timezone": "Asia/Tokyo"}], ("de-DE", "Asia/Tokyo")),
        ([{"type": "clientInfo", "locale": "../..", "timezone": "America"}], ("en-US", "Europe/Berlin")),
        ([], ("en-US", "Europe/Berlin")),
    ],
)
async def test_locale_and_time_zone_are_those_of_the_persons_app(
    reception: TeamsReception,
    teams: TeamsServer,
    ada: TenantPerson,
    entities: list[dict[str, str]],
    expected: tuple[str, str],
) -> None:
    message, _ = await teams.say(ada, None, "List receipts")

    await teams.deliver_activity({**message.activity, "id": "177", "entities": entities})

    assert (reception.accepted[1].locale, reception.accepted[1].time_zone) == expected


# Revisions


async def test_an_edit_revises_its_question_in_the_same_conversation(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, channel: TenantConversation
) -> None:
    message, _ = await teams.say(ada, channel, "List receipts")

    delivery = await teams.edit_message(message, "List all receipts")
    await teams.deliver_activity(delivery.activity)

    first, second = reception.accepted
    assert second.body == TextMessage("List all receipts")
    assert second.revises == first.message_id
    assert second.message_id != first.message_id
    assert second.counts_without_original
    assert (second.conversation, second.person, second.audience) == (
        first.conversation,
        first.person,
        first.audience,
    )


async def test_two_edits_are_two_revisions(reception: TeamsReception, teams: TeamsServer, ada: TenantPerson) -> None:
    message, _ = await teams.say(ada, None, "List receipts")
    for text in ("List all receipts", "List the receipts"):
        reception.clock.now_s += 1
        await teams.edit_message(message, text)

    assert len({inbound.message_id for inbound in reception.accepted}) == 3
    assert [inbound.revises for inbound in reception.accepted] == [None, message.id, message.id]


async def test_an_edit_that_no_longer_mentions_the_bot_needs_its_question(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, group: TenantConversation
) -> None:
    teams.reads_all_messages = True
    message, _ = await teams.say(ada, group, "List receipts")

    await teams.edit_message(message, "never mind", mention=False)

    assert reception.accepted[1].revises == message.id
    assert not reception.accepted[1].counts_without_original


async def test_a_deleted_question_is_withdrawn_and_comes_back_when_it_is_restored(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    message, _ = await teams.say(ada, None, "List receipts")
    reception.clock.now_s += 1
    await teams.delete_message(message)
    reception.clock.now_s += 1
    await teams.restore_message(message)

    assert [(inbound.body, inbound.revises) for inbound in reception.accepted] == [
        (TextMessage("List receipts"), None),
        (MessageDeletion(), message.id),
        (TextMessage("List receipts"), message.id),
    ]


async def test_a_change_that_is_neither_an_edit_nor_a_deletion_is_ignored(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    message, _ = await teams.say(ada, None, "List receipts")

    await teams.deliver_activity({**message.activity, "type": "messageUpdate"})
    await teams.deliver_activity({**message.activity, "type": "messageDelete"})

    assert len(reception.accepted) == 1
