"""Private continuations and withdrawn messages in Teams."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.teams.addresses import TeamsAddress, conversation_id_of, person_id_of
from adapters.teams.connector.client import TeamsConnectorClient
from adapters.teams.posting.outbox import TeamsOutbox
from adapters.teams.posting.thread_placement import TeamsThreads
from bot.ids import ConversationId, MessageId, TurnId
from bot.surface.inbound import Inbound, PrivateAudience, TextMessage
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import NoticePart, Reply
from tests.adapters.teams.conftest import address_in, thread_at
from tests.stand_ins.teams.server import TeamsFault, TeamsServer
from tests.stand_ins.teams.tenancy import TENANT, TenantConversation, TenantPerson

WITHDRAWN = Reply(turn=TurnId("t2"), parts=(NoticePart(text="The question was deleted."),))
ANSWER = Reply(turn=TurnId("t1"), parts=(NoticePart(text="There are 42."),))


@pytest.fixture
def threads(connector: TeamsConnectorClient, teams_outbox: TeamsOutbox) -> TeamsThreads:
    return TeamsThreads(connector, teams_outbox, None)


def inbound_at(address: TeamsAddress, person: TenantPerson, text: str = "How many?") -> Inbound:
    return Inbound(
        surface="teams",
        event_id="e1",
        conversation=conversation_id_of(TENANT, address.conversation),
        message_id=MessageId("m1"),
        person=person_id_of(TENANT, person.object_id),
        person_name=person.name,
        audience=PrivateAudience(person=person_id_of(TENANT, person.object_id)),
        body=TextMessage(text),
        received_at=datetime(2031, 5, 9, 12, tzinfo=UTC),
        address=address.to_mapping(),
    )


async def test_a_question_of_a_channel_goes_on_in_the_persons_chat(
    teams: TeamsServer, threads: TeamsThreads, team_channel: TenantConversation, alan: TenantPerson
) -> None:
    chat = teams.tenant.personal_chat_of(alan)
    asked = inbound_at(address_in(teams, team_channel, alan, thread="1790000000001"), alan, "<at>Beth</at> & *me*?")
    address = await threads.find_private_address(asked)
    assert address is not None
    private = replace(asked, conversation=ConversationId("teams:alone:t1"), address=address, needs_thread=True)

    placed = await threads.place_question(private, TurnId("t1"), may_exist=False)

    assert (placed.conversation, placed.needs_thread) == (conversation_id_of(TENANT, chat.id), False)
    assert TeamsAddress.from_mapping(placed.address).is_personal
    [shown] = teams.tenant.bot_messages(chat)
    assert shown.text == "“&lt;\u200bat&gt;Beth&lt;\u200b/at&gt; &amp; \\*me\\*?”"
    await threads.place_question(private, TurnId("t1"), may_exist=True)
    assert teams.tenant.bot_messages(chat) == [shown]


async def test_a_person_without_the_app_has_no_private_address(
    teams: TeamsServer, threads: TeamsThreads, team_channel: TenantConversation, beth: TenantPerson
) -> None:
    address = address_in(teams, team_channel, beth, thread="1790000000001")

    assert await threads.find_private_address(inbound_at(address, beth)) is None


async def test_a_withdrawn_message_vanishes_from_a_personal_chat(
    teams: TeamsServer,
    threads: TeamsThreads,
    teams_outbox: TeamsOutbox,
    personal_chat: TenantConversation,
    alan: TenantPerson,
) -> None:
    address = address_in(teams, personal_chat, alan)
    message = await thread_at(teams_outbox, address).post_message(ANSWER)

    await threads.withdraw_message(inbound_at(address, alan), message, WITHDRAWN)
    await threads.withdraw_message(inbound_at(address, alan), message, WITHDRAWN)  # it is gone already

    assert teams.tenant.bot_messages() == []


async def test_a_withdrawn_message_of_a_group_says_so_in_its_place(
    teams: TeamsServer,
    threads: TeamsThreads,
    teams_outbox: TeamsOutbox,
    group_chat: TenantConversation,
    alan: TenantPerson,
) -> None:
    address = address_in(teams, group_chat, alan)
    message = await thread_at(teams_outbox, address).post_message(ANSWER)

    await threads.withdraw_message(inbound_at(address, alan), message, WITHDRAWN)

    [shown] = teams.tenant.bot_messages()
    assert (shown.id, "The question was deleted" in shown.visible_text()) == (message, True)
    assert "42" not in shown.visible_text()


async def test_a_message_of_a_channel_that_a_person_has_deleted_is_withdrawn(
    teams: TeamsServer,
    threads: TeamsThreads,
    teams_outbox: TeamsOutbox,
    team_channel: TenantConversation,
    alan: TenantPerson,
) -> None:
    question, _ = await teams.say(alan, team_channel, "how many?", mention=False)
    address = address_in(teams, team_channel, alan, thread=question.thread)
    message = await thread_at(teams_outbox, address).post_message(ANSWER)
    teams.tenant.bot_messages()[0].is_deleted = True

    await threads.withdraw_message(inbound_at(address, alan), message, WITHDRAWN)

    assert teams.tenant.bot_messages() == []


async def test_an_outage_is_repeated_later(
    teams: TeamsServer, threads: TeamsThreads, personal_chat: TenantConversation, alan: TenantPerson
) -> None:
    teams.plan_faults("delete", *[TeamsFault(status=503)] * 10)

    with pytest.raises(OutboxFailed) as failure:
        await threads.withdraw_message(
            inbound_at(address_in(teams, personal_chat, alan), alan), MessageId("1790000000001"), WITHDRAWN
        )

    assert failure.value.retry
