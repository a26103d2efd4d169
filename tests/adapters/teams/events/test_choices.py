"""Clicks on choices: once each, and nothing but ids is taken from a card."""

from typing import Any

import pytest

from adapters.teams.addresses import MoreChoicesCard, TeamsAddress
from bot.ids import ChoiceId, TurnId
from bot.surface.inbound import ButtonClick, SearchSaveRequest
from tests.adapters.teams.reception import TeamsReception
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TenantConversation, TenantPerson


@pytest.mark.parametrize("value", [{"parley": "choice", "id": "c1"}, {"parley": "pick", "choice": "c1"}])
async def test_a_choice_is_a_click_of_its_clicker(
    reception: TeamsReception,
    teams: TeamsServer,
    ada: TenantPerson,
    bob: TenantPerson,
    channel: TenantConversation,
    value: dict[str, str],
) -> None:
    card, _ = await teams.say(ada, channel, "List receipts")

    delivery = await teams.submit_card(bob, card, value)
    await teams.deliver_activity(delivery.activity)

    question, click = reception.accepted
    assert delivery.statuses == [202]
    assert click.body == ButtonClick(ChoiceId("c1"))
    assert click.conversation == question.conversation
    assert click.person != question.person
    assert click.message_id.startswith(f"click:{card.id}:")
    assert [address.clarification_card for address in reception.addresses()] == ["", card.id]


async def test_a_click_on_a_card_of_further_choices_names_that_card(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    card, _ = await teams.say(ada, None, "List receipts")

    await teams.submit_card(ada, card, {"parley": "pick", "choice": "c1", "clarification": "offer-1"})

    address = reception.addresses()[1]
    assert address.more_cards == (MoreChoicesCard(message=card.id, clarification="offer-1"),)
    assert address.clarification_card == ""
    assert TeamsAddress.from_mapping(address.to_mapping()) == address


async def test_a_press_of_save_is_a_request_of_the_person_who_presses(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, bob: TenantPerson, channel: TenantConversation
) -> None:
    card, _ = await teams.say(ada, channel, "List receipts")

    delivery = await teams.submit_card(bob, card, {"parley": "save", "turn": "t1"})
    await teams.deliver_activity(delivery.activity)

    question, press = reception.accepted
    assert press.body == SearchSaveRequest(TurnId("t1"))
    assert press.conversation == question.conversation
    assert press.person != question.person


async def test_a_second_click_is_a_click_of_its_own(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    card, _ = await teams.say(ada, None, "List receipts")
    for _ in range(2):
        await teams.submit_card(ada, card, {"parley": "choice", "id": "c1"})

    assert len({inbound.event_id for inbound in reception.accepted}) == 3


@pytest.mark.parametrize(
    "value",
    [
        {"parley": "choice"},
        {"parley": "choice", "id": ""},
        {"parley": "choice", "id": "x" * 300},
        {"parley": "choice", "id": {"sql": "1"}},
        {"parley": "pick", "id": "c1"},
        {"parley": "unheard of", "id": "c1"},
        {"parley": ["choice"], "id": "c1"},
        {},
    ],
)
async def test_a_forged_submission_is_acknowledged_and_ignored(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, value: dict[str, Any]
) -> None:
    card, _ = await teams.say(ada, None, "List receipts")
    reception.accepted.clear()

    assert (await teams.submit_card(ada, card, value)).statuses == [202]
    assert reception.accepted == []


@pytest.mark.parametrize(
    "value",
    [{"parley": "choice", "id": "nul \0"}, {"parley": "pick", "choice": "c1", "clarification": "nul \0"}],
)
async def test_a_forged_submission_that_is_no_text_is_refused(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, value: dict[str, Any]
) -> None:
    card, _ = await teams.say(ada, None, "List receipts")
    reception.accepted.clear()

    assert (await teams.submit_card(ada, card, value)).statuses == [400]
    assert reception.accepted == []
