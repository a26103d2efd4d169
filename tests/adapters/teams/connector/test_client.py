"""The connector's client against the stand-in: retries, order, rates, tokens and addresses."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from adapters.teams.connector.calls import MAX_ATTEMPTS
from adapters.teams.connector.client import MAX_BODY_BYTES, TeamsConnectorClient, check_service_url
from adapters.teams.errors import InvalidActivity, TeamsRefusal, TeamsSignInFailed, TeamsThrottled, TeamsUnreachable
from tests.adapters.teams.conftest import RecordedWaits, wait_until
from tests.stand_ins.teams.server import TeamsFault, TeamsServer
from tests.stand_ins.teams.tenancy import TenantConversation, TenantPerson


def message(text: str = "42 receipts") -> dict[str, Any]:
    return {"type": "message", "text": text}


def shown_texts(teams: TeamsServer, place: TenantConversation) -> list[str]:
    return [shown.text for shown in teams.tenant.bot_messages(place)]


async def test_a_message_is_sent_updated_and_deleted(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation
) -> None:
    key = await connector.send_activity(teams.service_url, personal_chat.id, message("one"))
    assert shown_texts(teams, personal_chat) == ["one"]

    await connector.update_activity(teams.service_url, personal_chat.id, key, message("two"))
    assert shown_texts(teams, personal_chat) == ["two"]

    await connector.delete_activity(teams.service_url, personal_chat.id, key)
    assert shown_texts(teams, personal_chat) == []


async def test_all_calls_use_one_token(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation
) -> None:
    for number in range(20):
        await connector.send_activity(teams.service_url, personal_chat.id, message(str(number)))

    assert teams.tokens.requests == 1


async def test_a_token_that_is_refused_is_replaced_once(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation
) -> None:
    await connector.send_activity(teams.service_url, personal_chat.id, message("one"))
    teams.tokens.revoke_tokens()

    await connector.send_activity(teams.service_url, personal_chat.id, message("two"))

    assert shown_texts(teams, personal_chat) == ["one", "two"]
    assert teams.tokens.requests == 2


async def test_a_new_token_that_is_refused_as_well_is_an_error_of_signing_in(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation
) -> None:
    teams.plan_faults("send", *[TeamsFault(status=401, code="Unauthorized")] * 2)

    with pytest.raises(TeamsSignInFailed, match="MICROSOFT_APP_ID"):
        await connector.send_activity(teams.service_url, personal_chat.id, message())

    assert teams.tokens.requests == 2


@pytest.mark.parametrize("status", [412, 429, 502, 504])
async def test_a_new_message_is_repeated_where_teams_asks_for_that(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation, status: int
) -> None:
    teams.plan_faults("send", *[TeamsFault(status=status)] * (MAX_ATTEMPTS - 1))

    await connector.send_activity(teams.service_url, personal_chat.id, message())

    assert shown_texts(teams, personal_chat) == ["42 receipts"]


@pytest.mark.parametrize("fault", [TeamsFault(status=500), TeamsFault(takes_effect=True), TeamsFault()], ids=str)
async def test_a_new_message_is_not_repeated_where_it_may_have_been_posted(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation, fault: TeamsFault
) -> None:
    teams.plan_faults("send", fault)

    with pytest.raises(TeamsUnreachable):
        await connector.send_activity(teams.service_url, personal_chat.id, message())

    assert len(shown_texts(teams, personal_chat)) == int(fault.takes_effect)


@pytest.mark.parametrize("fault", [TeamsFault(status=500), TeamsFault(takes_effect=True), TeamsFault(status=504)])
async def test_an_update_is_repeated_after_every_failure(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation, fault: TeamsFault
) -> None:
    key = await connector.send_activity(teams.service_url, personal_chat.id, message("one"))
    teams.plan_faults("update", fault)

    await connector.update_activity(teams.service_url, personal_chat.id, key, message("two"))

    assert shown_texts(teams, personal_chat) == ["two"]


async def test_calls_end_after_some_attempts_with_growing_pauses(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation, waits: RecordedWaits
) -> None:
    teams.plan_faults("send", *[TeamsFault(status=504)] * 10)

    with pytest.raises(TeamsUnreachable):
        await connector.send_activity(teams.service_url, personal_chat.id, message())

    assert waits.durations_s == [0.5, 1.0, 2.0]


async def test_a_wait_that_teams_asks_for_is_kept(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation, waits: RecordedWaits
) -> None:
    teams.plan_faults("send", TeamsFault(status=429, retry_after=7))

    await connector.send_activity(teams.service_url, personal_chat.id, message())

    assert waits.clock() >= 7


async def test_a_wait_that_is_too_long_is_left_to_the_caller(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation, waits: RecordedWaits
) -> None:
    teams.plan_faults("send", TeamsFault(status=429, retry_after=600))

    with pytest.raises(TeamsThrottled) as caught:
        await connector.send_activity(teams.service_url, personal_chat.id, message())
    with pytest.raises(TeamsThrottled):  # and no other call disturbs the conversation meanwhile
        await connector.send_activity(teams.service_url, personal_chat.id, message())

    assert caught.value.retry_after_s == 600
    assert waits.durations_s == []
    assert teams.calls == []


async def test_with_one_attempt_a_call_neither_waits_nor_is_repeated(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation, waits: RecordedWaits
) -> None:
    teams.plan_faults("send", TeamsFault(status=429, retry_after=1))

    for _ in range(2):
        with pytest.raises(TeamsThrottled):
            await connector.send_activity(teams.service_url, personal_chat.id, message(), attempts=1)

    assert waits.durations_s == []


async def test_a_refusal_keeps_its_status_and_code(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation
) -> None:
    personal_chat.is_blocked = True

    with pytest.raises(TeamsRefusal) as caught:
        await connector.send_activity(teams.service_url, personal_chat.id, message())

    assert (caught.value.status, caught.value.code) == (403, "MessageWritesBlocked")


async def test_the_words_of_a_refusal_are_shortened_and_no_part_of_its_text(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation
) -> None:
    words = "Content stream was canceled by user. " * 100
    teams.plan_faults("send", TeamsFault(status=403, code="ContentStreamNotAllowed", message=words))

    with pytest.raises(TeamsRefusal) as caught:
        await connector.send_activity(teams.service_url, personal_chat.id, message())

    assert caught.value.message == words[:200]
    assert "canceled" not in f"{caught.value} {caught.value!r}"


async def test_an_invalid_activity_is_not_sent(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation
) -> None:
    with pytest.raises(InvalidActivity, match="bogus"):
        await connector.send_activity(teams.service_url, personal_chat.id, message() | {"bogus": 1})

    assert teams.calls == []


async def test_messages_keep_their_order_also_when_the_first_is_repeated(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation
) -> None:
    teams.plan_faults("send", TeamsFault(status=504))

    await asyncio.gather(
        *(connector.send_activity(teams.service_url, personal_chat.id, message(str(number))) for number in range(10))
    )

    assert shown_texts(teams, personal_chat) == [str(number) for number in range(10)]


async def test_a_conversation_does_not_wait_for_another(
    teams: TeamsServer,
    connector: TeamsConnectorClient,
    personal_chat: TenantConversation,
    group_chat: TenantConversation,
) -> None:
    release = asyncio.Event()
    teams.plan_faults("send", TeamsFault(released_by=release))
    slow = asyncio.create_task(connector.send_activity(teams.service_url, personal_chat.id, message("slow")))
    await wait_until(lambda: not teams.faults.pending["send"])

    await connector.send_activity(teams.service_url, group_chat.id, message("fast"))

    assert shown_texts(teams, group_chat) == ["fast"]
    assert not slow.done()
    release.set()
    await slow


async def test_messages_stay_within_the_rates_of_teams(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation, waits: RecordedWaits
) -> None:
    teams.limits_sends = True

    for number in range(130):
        try:
            await connector.send_activity(teams.service_url, personal_chat.id, message(str(number)))
        except TeamsThrottled as exc:
            waits.advance(exc.retry_after_s)
            await connector.send_activity(teams.service_url, personal_chat.id, message(str(number)))

    assert shown_texts(teams, personal_chat) == [str(number) for number in range(130)]
    assert teams.refusals == []
    assert waits.clock() > 60


async def test_what_may_not_wait_leaves_room_for_what_may(
    teams: TeamsServer, connector: TeamsConnectorClient, personal_chat: TenantConversation, waits: RecordedWaits
) -> None:
    progress = [
        connector.send_activity(teams.service_url, personal_chat.id, message(str(number)), attempts=1)
        for number in range(8)
    ]
    outcomes = await asyncio.gather(*progress, return_exceptions=True)
    assert any(isinstance(outcome, TeamsThrottled) for outcome in outcomes)

    await connector.send_activity(teams.service_url, personal_chat.id, message("the answer"))

    assert shown_texts(teams, personal_chat)[-1] == "the answer"
    assert waits.durations_s == []


async def test_a_region_that_the_tenant_has_left_refuses(
    connector: TeamsConnectorClient, teams: TeamsServer, personal_chat: TenantConversation
) -> None:
    with pytest.raises(TeamsRefusal) as caught:
        await connector.send_activity(f"{teams.origin}/nowhere", personal_chat.id, message())

    assert caught.value.status == 404


@asynccontextmanager
async def serve_answer(answer: bytes) -> AsyncGenerator[str]:
    """A service that answers every request with these bytes."""

    async def answer_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer_request, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
        b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n\r\n" + b" " * (MAX_BODY_BYTES + 1),
        b"nonsense",
    ],
    ids=["html", "cut", "endless", "no-http"],
)
async def test_an_answer_that_makes_no_sense_is_an_error(
    answer: bytes, connector: TeamsConnectorClient, personal_chat: TenantConversation
) -> None:
    async with serve_answer(answer) as service_url:
        with pytest.raises(TeamsUnreachable):
            await connector.send_activity(service_url, personal_chat.id, message())


async def test_a_service_that_nobody_listens_to_is_unreachable(
    connector: TeamsConnectorClient, personal_chat: TenantConversation
) -> None:
    async with serve_answer(b"") as service_url:
        pass

    with pytest.raises(TeamsUnreachable, match="cannot be reached"):
        await connector.send_activity(service_url, personal_chat.id, message())


async def test_a_client_that_is_not_open_says_so(personal_chat: TenantConversation, teams: TeamsServer) -> None:
    with pytest.raises(TeamsUnreachable, match="not open"):
        await TeamsConnectorClient(None).send_activity(teams.service_url, personal_chat.id, message())


# People


async def test_members_are_found_and_listed_over_all_pages(
    teams: TeamsServer, connector: TeamsConnectorClient, alan: TenantPerson, team_channel: TenantConversation
) -> None:
    teams.smallest_page = 1
    people = [teams.tenant.add_person(f"Person {number}") for number in range(1_100)]
    assert team_channel.team is not None
    team_channel.team.members += [person.id for person in people]

    members = await connector.list_members(teams.service_url, team_channel.id)
    member = await connector.get_member(teams.service_url, team_channel.id, alan.object_id)

    assert len({member.object_id for member in members}) == 1_102
    assert member is not None
    assert (member.id, member.object_id, member.tenant, member.name) == (
        alan.id,
        alan.object_id,
        alan.tenant,
        "Alan",
    )


async def test_a_sign_in_name_is_no_email_address(teams: TeamsServer, connector: TeamsConnectorClient) -> None:
    with_mailbox, without = teams.tenant.add_person("Grace"), teams.tenant.add_person("Edsger", email="")
    chats = [(teams.tenant.personal_chat_of(person), person) for person in (with_mailbox, without)]

    members = [await connector.get_member(teams.service_url, chat.id, person.object_id) for chat, person in chats]

    assert [member and member.email for member in members] == ["grace@example.org", ""]


async def test_nobody_is_found_where_nobody_is(
    teams: TeamsServer, connector: TeamsConnectorClient, group_chat: TenantConversation
) -> None:
    assert await connector.get_member(teams.service_url, group_chat.id, "29:nobody") is None


async def test_a_personal_chat_is_opened_where_the_app_is_installed(
    teams: TeamsServer, connector: TeamsConnectorClient, alan: TenantPerson, beth: TenantPerson
) -> None:
    chat = teams.tenant.personal_chat_of(alan)
    chat.has_app, teams.tenant.personal_chat_of(beth).has_app = True, False
    bot_id, tenant = teams.tenant.bot_id, teams.tenant.id

    assert (
        await connector.create_conversation(teams.service_url, tenant=tenant, bot_id=bot_id, member=alan.id) == chat.id
    )
    with pytest.raises(TeamsRefusal) as caught:
        await connector.create_conversation(teams.service_url, tenant=tenant, bot_id=bot_id, member=beth.id)
    assert caught.value.status == 403


# Addresses


@pytest.mark.parametrize(
    "service_url",
    [
        "https://smba.trafficmanager.net/emea/",
        "https://smba.trafficmanager.net/emea",
        "http://127.0.0.1:3978/",
        "http://localhost:56150/_connector",
        "http://[::1]:3978",
    ],
)
def test_a_token_goes_over_https_or_to_this_machine(service_url: str) -> None:
    check_service_url(service_url)


@pytest.mark.parametrize(
    "service_url",
    [
        "http://smba.trafficmanager.net/emea/",
        "http://10.0.0.1/",
        "http://127.0.0.1.evil.example/",
        "https://",
        "https://user:secret@smba.trafficmanager.net/",
        "https://smba.trafficmanager.net/?a=b",
        "https://smba.trafficmanager.net/#x",
        "ftp://smba.trafficmanager.net/",
        "//smba.trafficmanager.net/",
        "file:///etc/passwd",
        "https://[broken",
        "",
    ],
)
async def test_a_token_goes_nowhere_else(
    service_url: str, connector: TeamsConnectorClient, personal_chat: TenantConversation
) -> None:
    with pytest.raises(InvalidActivity, match="service URL"):
        await connector.send_activity(service_url, personal_chat.id, message())


def test_without_a_token_only_this_machine_is_called() -> None:
    check_service_url("http://127.0.0.1:56150/", only_this_machine=True)
    with pytest.raises(InvalidActivity):
        check_service_url("https://smba.trafficmanager.net/emea/", only_this_machine=True)
