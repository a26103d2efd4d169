"""Answers to clicks are shown again when Teams has not taken them, and a failed activity may come again."""

from datetime import UTC, datetime

import pytest

from adapters.teams.connector.client import TeamsConnectorClient
from adapters.teams.errors import TeamsUnreachable
from adapters.teams.events.received_activity import ReceivedActivity, describe_activity
from adapters.teams.events.reply_sending import ReplySending
from adapters.teams.payloads.activities import InboundActivity
from adapters.teams.payloads.json_values import JsonObject
from tests.adapters.teams.conftest import RecordedLog
from tests.adapters.teams.reception import InboxUnavailable, TeamsReception
from tests.stand_ins.teams.faults import TeamsFault
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TenantPerson


@pytest.fixture
async def click(teams: TeamsServer, reception: TeamsReception, ada: TenantPerson) -> ReceivedActivity:
    _, [delivery] = await teams.say(ada, None, "help")
    received = describe_activity(InboundActivity.model_validate(delivery.activity), datetime.now(UTC))
    assert received is not None
    return received


async def make_hello() -> JsonObject:
    return {"type": "message", "text": "Hello"}


def texts_for(teams: TeamsServer, person: TenantPerson) -> list[str]:
    return [message.text for message in teams.tenant.bot_messages(teams.tenant.personal_chat_of(person))]


async def test_closing_shows_at_once_what_waits_for_another_try(
    teams: TeamsServer,
    ada: TenantPerson,
    connector: TeamsConnectorClient,
    teams_log: RecordedLog,
    click: ReceivedActivity,
) -> None:
    replies = ReplySending(connector, teams_log.logger(), pauses_s=(600.0,))
    teams.plan_faults("send", TeamsFault(status=500))
    await replies.answer_once(click, make_hello)
    assert texts_for(teams, ada) == []

    await replies.close()

    assert texts_for(teams, ada) == ["Hello"]


async def test_a_refused_reply_is_not_sent_again(
    teams: TeamsServer,
    ada: TenantPerson,
    connector: TeamsConnectorClient,
    teams_log: RecordedLog,
    click: ReceivedActivity,
) -> None:
    replies = ReplySending(connector, teams_log.logger(), pauses_s=(0.0,))
    teams.plan_faults("send", TeamsFault(status=403))

    await replies.answer_once(click, make_hello)
    await replies.close()

    assert texts_for(teams, ada) == []


async def test_an_activity_whose_answer_could_not_be_made_is_answered_when_it_comes_again(
    teams: TeamsServer,
    ada: TenantPerson,
    connector: TeamsConnectorClient,
    teams_log: RecordedLog,
    click: ReceivedActivity,
) -> None:
    replies = ReplySending(connector, teams_log.logger())

    async def fail_to_load() -> JsonObject:
        raise InboxUnavailable

    with pytest.raises(InboxUnavailable):
        await replies.answer_once(click, fail_to_load)
    for _ in range(2):
        await replies.answer_once(click, make_hello)

    assert texts_for(teams, ada) == ["Hello"]


async def test_a_lookup_that_teams_does_not_answer_ends_in_a_sentence(
    teams: TeamsServer,
    ada: TenantPerson,
    connector: TeamsConnectorClient,
    teams_log: RecordedLog,
    click: ReceivedActivity,
) -> None:
    async def fail_to_look_up() -> JsonObject:
        raise TeamsUnreachable("no answer")

    await ReplySending(connector, teams_log.logger()).answer_once(click, fail_to_look_up)

    assert texts_for(teams, ada) == ["Something went wrong here, and I could not answer. Please ask again."]
