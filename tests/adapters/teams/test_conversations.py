"""The newest service URL of a conversation, with several processes and restarts."""

from adapters.teams.addresses import ConversationKind, TeamsAddress
from adapters.teams.conversations import TeamsConversations
from tests.adapters.teams.reception import ReceptionClock, ServiceUrlTable

EMEA, AMER = "https://smba.example/emea/", "https://smba.example/amer/"
CHANNEL = "19:channel@thread.tacv2"


def an_address(service_url: str, conversation: str = "a:1") -> TeamsAddress:
    return TeamsAddress(
        service_url=service_url,
        tenant="t",
        conversation=conversation,
        kind=ConversationKind.PERSONAL,
        bot_id="28:bot",
        asker_id="29:ada",
    )


async def note_url(conversations: TeamsConversations, address: TeamsAddress) -> None:
    """Notes the URL, and waits until it is stored."""
    conversations.note_service_url(address)
    await conversations.close()


async def test_a_url_is_known_after_a_restart() -> None:
    table = ServiceUrlTable()
    await note_url(TeamsConversations(table), an_address(EMEA))

    assert await TeamsConversations(table).find_service_url("t", "a:1") == EMEA
    assert await TeamsConversations(table).find_service_url("t", "a:2") is None


async def test_the_same_url_is_written_once() -> None:
    table = ServiceUrlTable()
    for _ in range(2):
        conversations = TeamsConversations(table)
        for _ in range(2):
            await note_url(conversations, an_address(EMEA))

    assert table.writes == 1


async def test_the_threads_of_a_channel_share_its_url() -> None:
    conversations = TeamsConversations(ServiceUrlTable())
    await note_url(conversations, an_address(EMEA, f"{CHANNEL};messageid=1"))

    assert await conversations.find_service_url("t", f"{CHANNEL};messageid=2") == EMEA


async def test_another_process_learns_of_a_new_url_within_a_minute() -> None:
    table, clock = ServiceUrlTable(), ReceptionClock()
    receiving, replying = TeamsConversations(table), TeamsConversations(table, clock.read_seconds)
    await note_url(receiving, an_address(EMEA))
    await replying.find_service_url("t", "a:1")
    await note_url(receiving, an_address(AMER))

    clock.now_s += 61

    assert await replying.find_service_url("t", "a:1") == AMER
