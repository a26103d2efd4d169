"""The whole surface: what people do in Teams, and what they then see there."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import select, update

from adapters.teams.addresses import conversation_id_of
from adapters.teams.app import surface
from adapters.teams.receiving.http_endpoint import MESSAGES_PATH
from agent.context import AgentContext
from agent.outcome import Outcome, SearchAttempt
from bot.bootstrap import open_application
from bot.errors import InvalidSettings
from bot.ids import ConversationId, MessageId, Subject, TurnId
from bot.settings import load_settings
from bot.turns.turn_actions import MAX_FULL_TEXT_TRIES, full_text_id
from storage.sql.stores.exports import FileOfferStatus, file_offers
from storage.sql.stores.inbox import TurnInbox
from tests.adapters.teams.office import TeamsOffice, environment_of, open_teams_office
from tests.bot.conftest import wait_until_finished
from tests.bot.fakes import NO_REASONER, ListingAgent
from tests.builders import RECEIPTS
from tests.stand_ins.teams.activity_checker import attachments_of
from tests.stand_ins.teams.faults import TeamsFault
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import (
    CONSENT_CARD,
    FILE_CARD,
    OTHER_TENANT,
    TENANT,
    TenantConversation,
    TenantMessage,
    TenantPerson,
)
from tests.stored_rows import list_feedback_of_turn

NOTHING_HERE = "Nothing here."


class ForeverSearchingAgent(ListingAgent):
    """Never finishes the question "forever"."""

    async def answer(self, question: str, context: AgentContext) -> Outcome:
        if question == "forever":
            context.report_attempt(SearchAttempt(tool="annotations_search", arguments={}, documents=42, ms=1.0))
            await asyncio.Event().wait()
        return await super().answer(question, context)


@pytest.fixture
async def teams() -> AsyncIterator[TeamsServer]:
    async with TeamsServer() as server:
        yield server


@pytest.fixture
def ada(teams: TeamsServer) -> TenantPerson:
    return teams.tenant.add_person("Ada")


@pytest.fixture
def bob(teams: TeamsServer) -> TenantPerson:
    return teams.tenant.add_person("Bob")


@pytest.fixture
def channel(teams: TeamsServer, ada: TenantPerson, bob: TenantPerson) -> TenantConversation:
    return teams.tenant.add_channel(teams.tenant.add_team("Plant", ada, bob), "Pumps")


@pytest.fixture
async def office(
    teams: TeamsServer, tmp_path: Path, ada: TenantPerson, channel: TenantConversation
) -> AsyncIterator[TeamsOffice]:
    """Grants the receipts to Ada and to the channel."""
    async with open_teams_office(teams, tmp_path / "home", agent=ForeverSearchingAgent()) as office:
        await office.grant_receipts(f"user:teams:{TENANT}:{ada.object_id}")
        await office.grant_receipts(f"channel:teams:{TENANT}:{channel.id}")
        yield office


def conversation_of(message: TenantMessage) -> ConversationId:
    return conversation_id_of(TENANT, message.address)


async def post_answer(
    office: TeamsOffice, person: TenantPerson, place: TenantConversation | None = None
) -> TenantMessage:
    """The answer after a click on Bolt's five receipts."""
    await office.teams.say(person, place, "List every receipt")
    await office.teams.click(person, await office.wait_for_text("Which?"), "Bolt")
    answer = await office.wait_for_text("There are 5.")
    await wait_until_finished(office.bot, await turn_of(office, answer))
    return answer


async def turn_of(office: TeamsOffice, message: TenantMessage) -> TurnId:
    """The turn that the message answers, once that is stored: the message is shown a moment before."""
    async with asyncio.timeout(10):
        while True:
            turn = await office.bot.turn_actions.find_turn_of_reply(conversation_of(message), MessageId(message.id))
            if turn is not None:
                return turn
            await asyncio.sleep(0.01)


async def ratings_of(office: TeamsOffice, message: TenantMessage) -> Sequence[tuple[str, str, str]]:
    turn = await turn_of(office, message)
    feedback = await list_feedback_of_turn(office.bot.database, turn)
    return [(entry.person.rpartition(":")[2], entry.verdict, entry.reason) for entry in feedback]


# Questions


async def test_a_question_is_answered_in_the_chat_and_a_click_goes_on(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson
) -> None:
    answer = await post_answer(office, ada)

    assert answer.conversation == teams.tenant.personal_chat_of(ada).id
    assert [delivery.statuses for delivery in teams.deliveries] == [[202], [202]]
    assert teams.refusals == []


async def test_a_question_in_a_channel_is_answered_in_its_thread(
    office: TeamsOffice, teams: TeamsServer, bob: TenantPerson, channel: TenantConversation
) -> None:
    question, _ = await teams.say(bob, channel, "List every receipt")

    answer = await office.wait_for_text("Which?")

    assert answer.thread == question.id
    assert teams.refusals == []


async def test_a_repeated_delivery_is_answered_once(office: TeamsOffice, teams: TeamsServer, ada: TenantPerson) -> None:
    message, _ = await teams.say(ada, None, "start over", deliveries=3)
    await office.wait_for_text("Started over.")
    await teams.deliver_again(message)
    await teams.say(ada, None, "List every receipt")
    await office.wait_for_text("Which?")

    assert len(office.posted_messages()) == 2


async def test_a_guest_is_not_everyone(office: TeamsOffice, teams: TeamsServer, bob: TenantPerson) -> None:
    await office.grant_receipts("everyone")
    guest = teams.tenant.add_person("Gil", role="guest")
    await teams.say(bob, None, "List every receipt")
    await office.wait_for_text("Which?")

    await teams.say(guest, None, "List every receipt")

    await office.wait_for_text(NOTHING_HERE)


async def test_a_person_of_another_tenant_is_not_let_in(office: TeamsOffice, teams: TeamsServer) -> None:
    stranger = teams.tenant.add_person("Sue", tenant=OTHER_TENANT)

    _, [delivery] = await teams.say(stranger, None, "List every receipt")

    assert delivery.statuses == [403]


async def test_a_person_of_another_tenant_closes_a_group_chat(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson
) -> None:
    stranger = teams.tenant.add_person("Sue", tenant=OTHER_TENANT)
    group = teams.tenant.add_group_chat("Shift", ada, stranger)
    await office.grant_receipts(f"channel:teams:{TENANT}:{group.id}")

    await teams.say(ada, group, "List every receipt")

    await office.wait_for_text(NOTHING_HERE)


async def test_a_guest_closes_a_channel(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, channel: TenantConversation
) -> None:
    guest = teams.tenant.add_person("Gil", role="guest")
    assert channel.team is not None
    channel.team.members.append(guest.id)

    await teams.say(ada, channel, "List every receipt")

    await office.wait_for_text(NOTHING_HERE)


async def test_a_reply_goes_to_the_newest_service_url(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson
) -> None:
    """The turn before was stored with the old one, and is rewritten after the move."""
    chat = teams.tenant.personal_chat_of(ada)
    await teams.say(ada, None, "forever")
    progress = await office.wait_for_text("Looking")
    teams.move_region("amer")

    await teams.submit_card(ada, progress, {"parley": "stop", "turn": await turn_of(office, progress)})

    assert (await office.wait_for_text("Stopped")).conversation == chat.id


async def test_the_answer_to_an_edited_question_replaces_the_old_answer(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson
) -> None:
    question, _ = await teams.say(ada, None, "start over")
    await office.wait_for_text("Started over.")

    await teams.edit_message(question, "List every receipt")

    answer = await office.wait_for_text("Which?")
    assert office.posted_messages() == [answer]


async def test_the_answer_to_a_deleted_question_is_withdrawn(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, channel: TenantConversation
) -> None:
    question, _ = await teams.say(ada, channel, "List every receipt")
    await office.wait_for_text("Which?")

    await teams.delete_message(question)

    await teams.wait_until(lambda: not any("Which?" in message.visible_text() for message in office.posted_messages()))


async def test_in_a_group_chat_the_answer_to_a_deleted_question_says_so(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, bob: TenantPerson
) -> None:
    group = teams.tenant.add_group_chat("Shift", ada, bob)
    question, _ = await teams.say(ada, group, "start over")
    await turn_of(office, await office.wait_for_text("Started over."))

    await teams.delete_message(question)

    assert [await office.wait_for_text("The question was deleted")] == office.posted_messages()


async def test_in_a_group_chat_the_full_text_of_the_answer_to_a_deleted_question_is_withdrawn(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, bob: TenantPerson
) -> None:
    group = teams.tenant.add_group_chat("Shift", ada, bob)
    await office.grant_receipts(f"channel:teams:{TENANT}:{group.id}")
    question, _ = await teams.say(ada, group, "List every receipt")
    await teams.click(ada, await office.wait_for_text("Which?"), "Bolt")
    answer = await office.wait_for_text("There are 5.")
    await wait_until_finished(office.bot, await turn_of(office, answer))
    await teams.submit_card(ada, answer, {"parley": "full", "turn": await turn_of(office, answer)})
    await office.wait_for_text("There are 5.", number=2)
    await wait_until_finished(office.bot, await turn_of(office, await office.wait_for_text("All of it follows.")))

    await teams.delete_message(question)

    await teams.wait_until(
        lambda: all("The question was deleted" in message.visible_text() for message in office.posted_messages())
    )


async def test_in_a_personal_chat_the_answer_to_a_deleted_question_is_deleted(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson
) -> None:
    question, _ = await teams.say(ada, None, "start over")
    await turn_of(office, await office.wait_for_text("Started over."))

    await teams.delete_message(question)

    await teams.wait_until(lambda: office.posted_messages() == [])


async def test_a_question_goes_on_in_private(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, bob: TenantPerson
) -> None:
    group, chat = teams.tenant.add_group_chat("Shift", ada, bob), teams.tenant.personal_chat_of(ada)
    await teams.say(ada, group, "List **every** receipt")
    card = await office.wait_for_text("Continue in private")

    await teams.click(ada, card, "Continue in private")

    answer = await office.wait_for_text("Which?")
    question = await office.wait_for_text("every")
    assert (answer.conversation, question.conversation) == (chat.id, chat.id)
    assert question.text == "“List \\*\\*every\\*\\* receipt”"
    assert teams.refusals == []


# Clicks


async def test_a_second_click_finds_the_choice_made(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, bob: TenantPerson, channel: TenantConversation
) -> None:
    await teams.say(ada, channel, "List every receipt")
    card = await office.wait_for_text("Which?")
    choice = next(action for action in card.card_actions() if action.get("title", "").startswith("Bolt"))
    await teams.submit_card(bob, card, choice["data"])
    await office.wait_for_text("There are 5.")

    await teams.submit_card(ada, card, choice["data"])

    assert "Bob" in (await office.wait_for_text("A choice was already made here")).visible_text()


async def test_a_forged_choice_is_refused_in_words(office: TeamsOffice, teams: TeamsServer, ada: TenantPerson) -> None:
    message, _ = await teams.say(ada, None, "start over")

    await teams.submit_card(ada, message, {"parley": "choice", "id": "forged"})

    await office.wait_for_text("I do not know this choice")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"parley": "pick"}, "Choose one of them first."),
        ({"parley": "pick", "choice": ""}, "Choose one of them first."),
        ({"parley": "choice"}, "This button does nothing any more."),
        ({"parley": "of an older version", "id": "c1"}, "This button does nothing any more."),
    ],
)
async def test_a_submission_without_a_choice_or_of_an_older_card_is_answered_in_words(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, value: dict[str, str], sentence: str
) -> None:
    question, _ = await teams.say(ada, None, "List every receipt")
    card = await office.wait_for_text("Which?")

    delivery = await teams.submit_card(ada, card, value)
    await teams.deliver_activity(delivery.activity)

    assert delivery.statuses == [202]
    [answer] = [message for message in office.posted_messages() if sentence in message.visible_text()]
    assert answer.address == question.address


async def test_a_turn_is_stopped_by_its_button(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, channel: TenantConversation
) -> None:
    await teams.say(ada, channel, "forever")
    progress = await office.wait_for_text("Stop")

    await teams.click(ada, progress, "Stop")

    assert "Ada" in (await office.wait_for_text("Stopped")).visible_text()


# The full text of an answer, offered as a file

HERE_ALREADY = "All of it is here already, as a file."


def offers_in(office: TeamsOffice) -> list[TenantMessage]:
    return [message for message in office.posted_messages() if attachments_of(message.activity, CONSENT_CARD)]


async def ask_for_full_text(office: TeamsOffice, person: TenantPerson, answer: TenantMessage) -> TenantMessage:
    """Presses "Show all"; returns the new offer, once its turn has ended."""
    turn, earlier_offers = await turn_of(office, answer), offers_in(office)
    await office.teams.submit_card(person, answer, {"parley": "full", "turn": turn})
    await office.teams.wait_until(lambda: len(offers_in(office)) > len(earlier_offers))
    [offer] = [message for message in offers_in(office) if message not in earlier_offers]
    await wait_until_full_texts_ended(office, turn, conversation_of(answer))
    return offer


async def wait_until_full_texts_ended(office: TeamsOffice, turn: TurnId, conversation: ConversationId) -> None:
    inbox = TurnInbox(office.bot.database)
    for number in count(1):
        showing_turn = await inbox.find_by_message(conversation, full_text_id(turn, number))
        if showing_turn is None:
            return
        await wait_until_finished(office.bot, TurnId(showing_turn.id))


async def expire_offers(office: TeamsOffice) -> None:
    statement = update(file_offers).values(expires_at=office.bot.clock())
    await office.bot.database.run_write(lambda connection: connection.execute(statement))


async def wait_until_uploads_ended(office: TeamsOffice) -> None:
    """The end is stored a moment after it is shown."""
    query = select(file_offers.c.id).where(file_offers.c.status == FileOfferStatus.ACCEPTED)
    async with asyncio.timeout(10):
        while await office.bot.database.run_read(  # noqa: ASYNC110 - nothing sets an event
            lambda connection: connection.execute(query).all()
        ):
            await asyncio.sleep(0.01)


async def test_a_full_text_that_is_offered_or_saved_is_not_offered_again(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson
) -> None:
    answer = await post_answer(office, ada)
    offer = await ask_for_full_text(office, ada, answer)
    press = {"parley": "full", "turn": await turn_of(office, answer)}

    await teams.submit_card(ada, answer, press)
    await office.wait_for_text(HERE_ALREADY)
    await teams.accept(ada, offer)
    await teams.wait_until(lambda: bool(attachments_of(offer.activity, FILE_CARD)))
    await wait_until_uploads_ended(office)
    await teams.submit_card(ada, answer, press)

    await office.wait_for_text(HERE_ALREADY, 2)
    assert offers_in(office) == []
    assert len(teams.files.uploaded_files()) == 1


@pytest.mark.parametrize("ending", ["declined", "expired", "not saved", "refused"])
async def test_a_full_text_that_was_not_taken_is_offered_again(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, ending: str
) -> None:
    """Also more often than it may fail."""
    answer = await post_answer(office, ada)
    for number in range(1, MAX_FULL_TEXT_TRIES + 2):
        offer = await ask_for_full_text(office, ada, answer)
        match ending:
            case "declined":
                await teams.decline(ada, offer)
            case "expired":
                await expire_offers(office)
            case "refused":
                await office.revoke_receipts(f"user:teams:{TENANT}:{ada.object_id}")
                await teams.accept(ada, offer)
                await office.grant_receipts(f"user:teams:{TENANT}:{ada.object_id}")
            case _:
                teams.plan_faults("upload", TeamsFault(status=403))
                await teams.accept(ada, offer)
                await office.wait_for_text("could not be saved", number)
                await wait_until_uploads_ended(office)

    last_offer = await ask_for_full_text(office, ada, answer)
    await teams.accept(ada, last_offer)

    await teams.wait_until(lambda: bool(attachments_of(last_offer.activity, FILE_CARD)))
    assert HERE_ALREADY not in [message.text for message in office.posted_messages()]
    assert teams.refusals == []


@pytest.mark.parametrize("new_words", ["start over", ""])
async def test_the_full_text_of_an_edited_or_deleted_question_can_no_longer_be_taken(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, new_words: str
) -> None:
    question, _ = await teams.say(ada, None, "List every receipt")
    answer = await office.wait_for_text("Which?")
    offer = await ask_for_full_text(office, ada, answer)

    if new_words:
        await teams.edit_message(question, new_words)
        await office.wait_for_text("Started over.")
    else:
        await teams.delete_message(question)
        await teams.wait_until(lambda: answer.is_deleted)
    await teams.accept(ada, offer)

    await teams.wait_until(lambda: "not available any more" in offer.text)
    assert teams.files.uploaded_files() == {}


async def test_a_full_text_in_a_channel_is_sent_once(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, channel: TenantConversation
) -> None:
    answer = await post_answer(office, ada, channel)
    turn = await turn_of(office, answer)
    await teams.submit_card(ada, answer, {"parley": "full", "turn": turn})
    await office.wait_for_text("There are 5.", 2)
    await wait_until_full_texts_ended(office, turn, conversation_of(answer))

    await teams.submit_card(ada, answer, {"parley": "full", "turn": turn})

    await office.wait_for_text(HERE_ALREADY)


async def test_a_turn_of_another_conversation_is_not_stopped(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, bob: TenantPerson, channel: TenantConversation
) -> None:
    await teams.say(ada, channel, "forever")
    progress = await office.wait_for_text("Stop")
    stop = next(action for action in progress.card_actions() if action["title"] == "Stop")
    own_message, _ = await teams.say(bob, None, "start over")

    await teams.submit_card(bob, own_message, stop["data"])

    refusal = await office.wait_for_text("I do not know this answer")
    assert refusal.conversation == own_message.conversation
    await teams.submit_card(ada, progress, stop["data"])
    await office.wait_for_text("Stopped")


async def test_the_steps_of_an_answer_are_shown_to_its_readers(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, bob: TenantPerson, channel: TenantConversation
) -> None:
    answer = await post_answer(office, ada, channel)

    await teams.click(bob, answer, "Show steps")

    steps = await office.wait_for_text("Looked for documents")
    assert "5 documents found" in steps.visible_text()
    assert steps.thread == answer.thread


async def test_steps_are_not_shown_in_a_channel_that_lost_its_grant(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, channel: TenantConversation
) -> None:
    answer = await post_answer(office, ada, channel)
    await office.bot.grants.revoke_grant(RECEIPTS, Subject(f"channel:teams:{TENANT}:{channel.id}"), by="operator")

    await teams.click(ada, answer, "Show steps")

    await office.wait_for_text("may no longer be seen here")


async def test_a_refusal_is_in_the_language_of_the_persons_app(office: TeamsOffice, teams: TeamsServer) -> None:
    person = teams.tenant.add_person("Uta", locale="de-DE")
    message, _ = await teams.say(person, None, "start over")

    await teams.submit_card(person, message, {"parley": "steps", "turn": "forged"})

    await office.wait_for_text("Diese Antwort kenne ich nicht")


async def test_a_click_is_acknowledged_also_when_its_answer_cannot_be_posted(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson
) -> None:
    answer = await post_answer(office, ada)
    teams.faults.outages.add("send")

    delivery = await teams.click(ada, answer, "Show steps")

    assert delivery.statuses == [202]


# Feedback


async def test_a_rating_is_stored_with_its_reason(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, bob: TenantPerson, channel: TenantConversation
) -> None:
    answer = await post_answer(office, ada, channel)

    first = await teams.rate_answer(ada, answer, good=False, reason="Ada's & <b>not</b> mine")
    second = await teams.rate_answer(bob, answer, good=True)

    assert (first.client_error, second.client_error) == ("", "")
    assert await ratings_of(office, answer) == [
        (ada.object_id, "bad", "Ada's & <b>not</b> mine"),
        (bob.object_id, "good", ""),
    ]


async def test_a_changed_rating_counts_once(office: TeamsOffice, teams: TeamsServer, ada: TenantPerson) -> None:
    answer = await post_answer(office, ada)
    for good in (False, True):
        await teams.rate_answer(ada, answer, good=good)

    assert await ratings_of(office, answer) == [(ada.object_id, "good", "")]


async def test_a_rating_of_another_conversations_answer_is_not_stored(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, bob: TenantPerson
) -> None:
    answer = await post_answer(office, ada)
    own_message, _ = await teams.say(bob, None, "start over")
    value = {"actionName": "feedback", "actionValue": {"reaction": "dislike", "feedback": "no JSON"}}
    activity = teams.invoke_activity(
        bob, own_message, teams.conversation_of(own_message), "message/submitAction", value
    )

    delivery = await teams.deliver_activity({**activity, "replyToId": answer.id})

    assert delivery.client_error == ""
    assert await ratings_of(office, answer) == []


@pytest.mark.parametrize(
    "value",
    [
        {"actionName": "feedback"},
        {"actionName": "feedback", "actionValue": {"reaction": "shrug"}},
        {"actionName": "feedback", "actionValue": {"reaction": "like", "feedback": {"no": "text"}}},
        {"actionName": "another"},
    ],
)
async def test_feedback_in_another_form_shows_no_error(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, value: dict[str, object]
) -> None:
    answer = await post_answer(office, ada)

    delivery = await teams.send_invoke(ada, answer, "message/submitAction", value)

    assert delivery.client_error == ""
    assert await ratings_of(office, answer) == []


# Settings, workers and the database


async def test_without_an_app_there_is_no_surface(tmp_path: Path) -> None:
    async with open_application(load_settings(tmp_path, {}).settings, reasoner=NO_REASONER) as bot:
        assert surface(bot) is None


@pytest.mark.parametrize("variable", ["PARLEY_TEAMS_OPENID_URL", "PARLEY_TEAMS_TOKEN_URL"])
async def test_an_address_of_the_keys_or_the_token_that_is_not_https_is_refused(
    teams: TeamsServer, tmp_path: Path, variable: str
) -> None:
    environ = environment_of(teams) | {variable: "http://login.example/path"}
    async with open_application(load_settings(tmp_path, environ).settings, reasoner=NO_REASONER) as bot:
        with pytest.raises(InvalidSettings, match=variable):
            surface(bot)


@pytest.mark.parametrize(
    ("app_type", "missing"),
    [
        ("SingleTenant", "MICROSOFT_APP_PASSWORD"),
        ("SingleTenant", "MICROSOFT_APP_TENANT_ID"),
        ("MultiTenant", "MICROSOFT_APP_TENANT_ID"),
        ("UserAssignedMSI", "MICROSOFT_APP_TENANT_ID"),
    ],
)
async def test_without_what_its_type_needs_the_app_does_not_start(
    teams: TeamsServer, tmp_path: Path, app_type: str, missing: str
) -> None:
    environ = environment_of(teams) | {"MICROSOFT_APP_TYPE": app_type}
    del environ[missing], environ["PARLEY_TEAMS_TOKEN_URL"]
    async with open_application(load_settings(tmp_path, environ).settings, reasoner=NO_REASONER) as bot:
        with pytest.raises(InvalidSettings, match=f"{missing} is not set"):
            surface(bot)


async def test_allowed_tenants_do_not_take_the_place_of_the_tenant_of_the_token(
    teams: TeamsServer, tmp_path: Path
) -> None:
    environ = environment_of(teams) | {"PARLEY_TEAMS_ALLOWED_TENANTS": TENANT}
    del environ["MICROSOFT_APP_TENANT_ID"]
    async with open_application(load_settings(tmp_path, environ).settings, reasoner=NO_REASONER) as bot:
        assert surface(bot) is not None  # PARLEY_TEAMS_TOKEN_URL names the tenant

    del environ["PARLEY_TEAMS_TOKEN_URL"]
    async with open_application(load_settings(tmp_path, environ).settings, reasoner=NO_REASONER) as bot:
        with pytest.raises(InvalidSettings, match="MICROSOFT_APP_TENANT_ID is not set, where an app of type SingleT"):
            surface(bot)


async def test_a_worker_replies_at_the_url_that_another_process_has_heard_of(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, tmp_path: Path
) -> None:
    await teams.say(ada, None, "start over")
    await office.wait_for_text("Started over.")
    chat = teams.tenant.personal_chat_of(ada)

    settings = load_settings(tmp_path / "home", environment_of(teams)).settings
    async with open_application(settings, reasoner=NO_REASONER, index=office.bot.index) as worker_bot:
        await office.surface.close()
        found = await worker_bot.service_urls.find_url(conversation_id_of(TENANT, chat.id))

    assert found == teams.service_url


async def test_a_member_change_is_told_to_every_process_before_it_is_acknowledged(
    office: TeamsOffice, teams: TeamsServer, ada: TenantPerson, channel: TenantConversation
) -> None:
    changes: list[object] = []

    async def record_change(change: object) -> None:
        changes.append(change)

    office.surface.worker_support.forward_changes_to(record_change)
    activity = teams.base_activity("conversationUpdate", ada, channel, channel.id, "f:1")

    delivery = await teams.deliver_activity({**activity, "membersAdded": [{"id": "29:new"}]})
    await office.surface.worker_support.apply_change({"type": "members"})

    assert delivery.statuses == [202]
    assert changes == [{"type": "members"}]


async def test_the_surface_closes_twice(office: TeamsOffice) -> None:
    await office.surface.close()
    await office.surface.close()

    assert [route.path for route in office.surface.http_routes()] == [MESSAGES_PATH]
