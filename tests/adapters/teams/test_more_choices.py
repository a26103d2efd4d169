"""The card with further choices, beside the card of its clarification: a choice on either is shown on both."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.context import AgentContext
from agent.outcome import Clarify, Outcome
from storage.search.plan import Plan
from tests.adapters.teams.office import TeamsOffice, open_teams_office
from tests.bot.fakes import ListingAgent
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TENANT, TenantConversation, TenantMessage, TenantPerson

CHOSEN = "✓ **Vendor 80** — chosen by Ada"


class ManyVendorsAgent(ListingAgent):
    """Offers 100 choices beside the usual ones. Each leads to Bolt's five receipts."""

    async def resume(self, plan: Plan, context: AgentContext) -> Outcome:
        outcome = await super().resume(plan, context)
        if not isinstance(outcome, Clarify):
            return outcome
        bolt = next(choice for choice in outcome.choices if choice.label == "Bolt")
        vendors = [replace(bolt, label=f"Vendor {number}") for number in range(1, 101)]
        return replace(outcome, choices=(*vendors, *outcome.choices))


@pytest.fixture
async def teams() -> AsyncIterator[TeamsServer]:
    async with TeamsServer() as server:
        yield server


@pytest.fixture
def ada(teams: TeamsServer) -> TenantPerson:
    return teams.tenant.add_person("Ada")


@pytest.fixture
def channel(teams: TeamsServer, ada: TenantPerson) -> TenantConversation:
    return teams.tenant.add_channel(teams.tenant.add_team("Plant", ada), "Pumps")


@pytest.fixture
async def office(teams: TeamsServer, tmp_path: Path, channel: TenantConversation) -> AsyncIterator[TeamsOffice]:
    async with open_teams_office(teams, tmp_path / "home", agent=ManyVendorsAgent()) as office:
        await office.grant_receipts(f"channel:teams:{TENANT}:{channel.id}")
        yield office


async def open_both_cards(
    office: TeamsOffice, person: TenantPerson, place: TenantConversation
) -> tuple[TenantMessage, TenantMessage]:
    """The card of a clarification, and the card with its further choices."""
    await office.teams.say(person, place, "List every receipt")
    clarification_card = await office.wait_for_text("Which?")
    opener = next(title for title in clarification_card.button_titles() if title.endswith("more choices"))
    await office.teams.click(person, clarification_card, opener)
    return clarification_card, await office.wait_for_text(opener, number=2)


async def wait_until_settled(teams: TeamsServer, *messages: TenantMessage) -> None:
    await teams.wait_until(lambda: all(CHOSEN in message.visible_text() for message in messages))
    titles = {title for message in messages for title in message.button_titles()}
    assert titles <= {"Show steps", "Save this search"}
    assert [part for message in messages for part in message.card_inputs()] == []


async def test_a_further_choice_is_shown_on_both_cards(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, channel: TenantConversation
) -> None:
    clarification_card, more_card = await open_both_cards(office, ada, channel)

    await teams.choose(ada, more_card, "Vendor 80")

    await wait_until_settled(teams, clarification_card, more_card)
    assert "Which?" in clarification_card.visible_text()
    assert teams.refusals == []


async def test_a_choice_on_the_card_of_the_clarification_is_shown_on_both_cards(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, channel: TenantConversation
) -> None:
    clarification_card, more_card = await open_both_cards(office, ada, channel)
    choice = next(
        choice["value"] for choice in more_card.card_inputs()[0]["choices"] if choice["title"].startswith("Vendor 80")
    )

    await teams.submit_card(ada, clarification_card, {"parley": "pick", "choice": choice})

    await wait_until_settled(teams, clarification_card, more_card)
    assert teams.refusals == []


async def test_a_typed_choice_is_shown_on_both_cards(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, channel: TenantConversation
) -> None:
    clarification_card, more_card = await open_both_cards(office, ada, channel)

    await teams.say(ada, channel, "Vendor 80", thread=clarification_card)

    await wait_until_settled(teams, clarification_card, more_card)
    assert teams.refusals == []


async def test_a_choice_settles_no_card_of_another_clarification(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, channel: TenantConversation
) -> None:
    clarification_card, more_card = await open_both_cards(office, ada, channel)
    await teams.say(ada, channel, "List every receipt again", thread=clarification_card)
    newer_card = await office.wait_for_text("Which?", number=2)

    await teams.choose(ada, more_card, "Vendor 80")
    await wait_until_settled(teams, clarification_card, more_card)

    assert newer_card.button_titles() != []


async def test_both_cards_of_another_process_are_settled_by_a_further_choice(
    teams: TeamsServer, ada: TenantPerson, channel: TenantConversation, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    async with open_teams_office(teams, home, agent=ManyVendorsAgent()) as office:
        await office.grant_receipts(f"channel:teams:{TENANT}:{channel.id}")
        clarification_card, more_card = await open_both_cards(office, ada, channel)

    async with open_teams_office(teams, home, agent=ManyVendorsAgent()):
        await teams.choose(ada, more_card, "Vendor 80")
        await wait_until_settled(teams, clarification_card, more_card)


async def test_a_later_click_on_a_card_that_no_process_remembers_is_answered_in_words(
    teams: TeamsServer, ada: TenantPerson, channel: TenantConversation, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    async with open_teams_office(teams, home, agent=ManyVendorsAgent()) as office:
        await office.grant_receipts(f"channel:teams:{TENANT}:{channel.id}")
        clarification_card, more_card = await open_both_cards(office, ada, channel)

    async with open_teams_office(teams, home, agent=ManyVendorsAgent()) as later_office:
        await teams.choose(ada, clarification_card, "Vendor 20")
        await teams.wait_until(lambda: "✓ **Vendor 20**" in clarification_card.visible_text())
        await teams.choose(ada, more_card, "Vendor 80")

        refusal = await later_office.wait_for_text("A choice was already made here: Vendor 20, by Ada.")
        assert refusal.address == clarification_card.address
