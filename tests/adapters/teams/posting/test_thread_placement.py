"""Private continuations and withdrawn messages in Teams."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from adapters.teams.addresses import TeamsAddress, conversation_id_of, person_id_of
from adapters.teams.connector.client import TeamsConnectorClient
from adapters.teams.posting.outbox import TeamsOutbox
from adapters.teams.posting.thread_placement import TeamsThreads
from bot.ids import ConversationId, MessageId, TurnId
from bot.surface.inbound import Inbound, PrivateAudience, TextMessage
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import FullTextPart, NoticePart, Reply, TablePart, TextPart
from tests.adapters.teams.conftest import FurtherMessageTable, address_in, thread_at
from tests.stand_ins.teams.server import TeamsFault, TeamsServer
from tests.stand_ins.teams.tenancy import TENANT, TenantConversation, TenantPerson

WITHDRAWN = Reply(turn=TurnId("t2"), parts=(NoticePart(text="The question was deleted."),))
ANSWER = Reply(turn=TurnId("t1"), parts=(NoticePart(text="There are 42."),))
LONG_ANSWER = Reply(turn=TurnId("t1"), parts=(TextPart(markdown="word " * 20_000),))
LARGE_ANSWER = Reply(
    turn=TurnId("t1"),
    parts=(
        TextPart(markdown="word " * 3_000),
        TablePart(caption="Receipts", columns=("vendor",), rows=tuple((f"Vendor {n} " * 15,) for n in range(100))),
    ),
)


@dataclass(frozen=True)
class KnownServiceUrls:
    """Fulfils `ServiceUrlSource`. `urls` by tenant and conversation."""

    urls: Mapping[tuple[str, str], str]

    async def find_service_url(self, tenant: str, conversation: str) -> str | None:
        return self.urls.get((tenant, conversation))


@pytest.fixture
def threads(
    connector: TeamsConnectorClient, other_outbox: TeamsOutbox, further_messages: FurtherMessageTable
) -> TeamsThreads:
    """Of another process than the one that posts."""
    return TeamsThreads(connector, other_outbox, None, further_messages)


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


async def test_a_question_goes_on_at_the_newest_service_url_of_the_persons_chat(
    teams: TeamsServer,
    connector: TeamsConnectorClient,
    teams_outbox: TeamsOutbox,
    alan: TenantPerson,
    further_messages: FurtherMessageTable,
) -> None:
    chat = teams.tenant.personal_chat_of(alan)
    asked = inbound_at(address_in(teams, chat, alan), alan)
    teams.move_region("amer")
    service_urls = KnownServiceUrls({(TENANT, chat.id): teams.service_url})

    threads = TeamsThreads(connector, teams_outbox, service_urls, further_messages)
    await threads.place_question(asked, TurnId("t1"), may_exist=False)

    assert [message.text for message in teams.tenant.bot_messages(chat)] == ["“How many?”"]
    assert teams.refusals == []


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


async def test_a_full_text_in_several_messages_of_a_group_is_withdrawn_with_the_first(
    teams: TeamsServer,
    threads: TeamsThreads,
    teams_outbox: TeamsOutbox,
    group_chat: TenantConversation,
    alan: TenantPerson,
) -> None:
    address, part = address_in(teams, group_chat, alan), FullTextPart(name="answer.txt", reply=LONG_ANSWER)
    whole = Reply(turn=TurnId("t1"), parts=(part,))
    thread = thread_at(teams_outbox, address)
    message = await thread.post_message(whole)
    await thread.attach_files(message, whole)
    await thread.post_message(ANSWER)
    assert len(teams.tenant.bot_messages()) > 3

    for _ in range(2):
        await threads.withdraw_message(inbound_at(address, alan), message, WITHDRAWN, files=("answer.txt",))

    shown = teams.tenant.bot_messages()
    assert [text.visible_text() for text in shown] == ["The question was deleted.", "There are 42."]


@pytest.mark.parametrize("place", ["personal", "groupChat"])
async def test_the_cards_below_a_message_are_withdrawn_with_it(
    teams: TeamsServer,
    threads: TeamsThreads,
    teams_outbox: TeamsOutbox,
    personal_chat: TenantConversation,
    group_chat: TenantConversation,
    alan: TenantPerson,
    place: str,
) -> None:
    address = address_in(teams, personal_chat if place == "personal" else group_chat, alan)
    message = await thread_at(teams_outbox, address).post_message(LARGE_ANSWER)
    assert len(teams.tenant.bot_messages()) > 1

    await threads.withdraw_message(inbound_at(address, alan), message, WITHDRAWN)

    shown = [text.visible_text() for text in teams.tenant.bot_messages()]
    assert shown == ([] if place == "personal" else ["The question was deleted."])


async def test_messages_that_cannot_be_listed_are_withdrawn_later(
    teams: TeamsServer,
    threads: TeamsThreads,
    group_chat: TenantConversation,
    alan: TenantPerson,
    further_messages: FurtherMessageTable,
) -> None:
    further_messages.error = OutboxFailed("the database", retry=True)

    with pytest.raises(OutboxFailed) as failure:
        await threads.withdraw_message(inbound_at(address_in(teams, group_chat, alan), alan), MessageId("1"), WITHDRAWN)

    assert failure.value.retry


async def test_an_outage_is_repeated_later(
    teams: TeamsServer, threads: TeamsThreads, personal_chat: TenantConversation, alan: TenantPerson
) -> None:
    teams.plan_faults("delete", *[TeamsFault(status=503)] * 10)

    with pytest.raises(OutboxFailed) as failure:
        await threads.withdraw_message(
            inbound_at(address_in(teams, personal_chat, alan), alan), MessageId("1790000000001"), WITHDRAWN
        )

    assert failure.value.retry
