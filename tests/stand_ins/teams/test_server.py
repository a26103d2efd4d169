"""The stand-in is as strict as Microsoft's services where Parley could make mistakes."""

import pytest

from tests.stand_ins.teams.conftest import ConnectorClient
from tests.stand_ins.teams.server import TeamsFault, TeamsServer
from tests.stand_ins.teams.tenancy import TenantConversation


async def test_a_message_is_sent_and_stored(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation
) -> None:
    sent = await client.send(chat.id, text="hello")

    assert sent.status == 201
    assert [(message.id, message.text) for message in teams.tenant.bot_messages(chat)] == [(sent.body["id"], "hello")]


async def test_a_message_is_updated_and_deleted(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation
) -> None:
    sent = (await client.send(chat.id, text="one")).body["id"]
    updated = await client.update(chat.id, sent, text="two")
    text = teams.tenant.bot_messages(chat)[0].text
    deleted = await client.call("DELETE", f"v3/conversations/{chat.id}/activities/{sent}")

    assert (updated.status, text, deleted.status) == (200, "two", 200)
    assert teams.tenant.bot_messages(chat) == []
    assert (await client.update(chat.id, sent, text="three")).error == "ActivityNotFoundInConversation"


async def test_an_update_of_a_deleted_message_is_refused_without_a_reason_in_the_thread_of_a_channel(
    teams: TeamsServer, client: ConnectorClient, channel: TenantConversation
) -> None:
    root = (await client.send(channel.id, text="one")).body["id"]
    thread = f"{channel.id};messageid={root}"
    answer = (await client.send(thread, text="two")).body["id"]
    await client.call("DELETE", f"v3/conversations/{channel.id}/activities/{answer}")

    deleted = await client.update(thread, answer, text="three")
    unknown = await client.update(thread, "1", text="three")

    assert (deleted.status, deleted.error) == (403, "ServiceError")
    assert (unknown.status, unknown.error) == (404, "ActivityNotFoundInConversation")


@pytest.mark.parametrize("token", ["other", "expired"])
async def test_a_call_without_a_valid_token_is_refused(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation, token: str
) -> None:
    if token == "expired":
        token = teams.tokens.issue_token(teams.clock() - teams.tokens.lifetime_s)
    client.token = token

    assert (await client.send(chat.id, text="hello")).status == 401
    assert teams.tenant.bot_messages(chat) == []


async def test_a_conversation_without_the_app_is_refused(
    client: ConnectorClient, channel: TenantConversation, group: TenantConversation
) -> None:
    assert channel.team is not None
    channel.team.has_app = group.has_app = False

    for conversation in (channel, group):
        refusal = await client.send(conversation.id, text="hello")
        assert (refusal.status, refusal.error) == (403, "BotNotInConversationRoster")
    assert (await client.send("19:unknown@thread.v2", text="hello")).status == 404


async def test_a_planned_fault_is_returned_once(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation
) -> None:
    teams.plan_faults("send", TeamsFault(status=429, retry_after=2), TeamsFault(status=502, takes_effect=True))
    throttled = await client.send(chat.id, text="one")
    lost = await client.send(chat.id, text="two")

    assert (throttled.status, throttled.headers["Retry-After"], lost.status) == (429, "2", 502)
    assert [message.text for message in teams.tenant.bot_messages(chat)] == ["two"]
    assert (await client.send(chat.id, text="three")).status == 201
