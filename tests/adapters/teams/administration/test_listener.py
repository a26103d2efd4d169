"""The administration in the personal chat: its commands, its cards, and who is refused."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from adapters.teams.directory.teams_directory import TeamsDirectory
from bot.access.subjects import parse_subject
from bot.admin.admin_page.entrance import AdminEntrance
from bot.admin.administration import QuestionLimit
from bot.admin.sentences import EVERYONE_NAME, opaque_key_of
from bot.application import Application
from bot.errors import AdminLinkRefused
from bot.ids import EVERYONE, OPERATOR, Subject
from bot.surface.inbound import PrivateAudience
from storage.embedded.index import EmbeddedIndex
from storage.sql.saved_search_store import RunRecord, SavedSearchStore
from tests.adapters.teams.administration.conftest import AdminChat, add_known_admin, person_id_for
from tests.bot.conftest import ConversationDriver
from tests.builders import RECEIPTS
from tests.stand_ins.teams.faults import TeamsFault
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TENANT, TenantConversation, TenantPerson
from tests.stored_rows import list_audit_entries

KEY = opaque_key_of(RECEIPTS)
NOT_ADMIN = "Only admins of Parley can do this, and you are not one now. Nothing was changed."
LINK = "https://teams.microsoft.com/l/channel/19%3Apumps%40thread.tacv2/Pumps?groupId=1&tenantId=" + TENANT
LINKED = f"channel:teams:{TENANT}:19:pumps@thread.tacv2"


async def grants_of(bot: Application) -> list[tuple[str, str, bool]]:
    return [(grant.bucket, grant.subject, grant.include_external) for grant in await bot.grants.list_grants()]


async def open_grants(chat: AdminChat) -> str:
    await chat.send("grants")
    return await chat.click("Show grants", chosen=KEY)


# -- commands


@pytest.mark.parametrize("text", ["help", " HELP ", "Help"])
async def test_help_shows_what_a_person_may_ask_and_has_asked(
    bot: Application, other_chat: AdminChat, text: str
) -> None:
    person = person_id_for(other_chat.person)
    await bot.administration.grant_bucket(RECEIPTS, parse_subject(f"user:{person}"), by=OPERATOR)

    shown = await other_chat.send(text)

    assert "I answer questions about your company's documents" in shown
    assert "receipts · 42 documents · For example: " in shown
    assert "You have not asked anything yet." in shown
    assert "Where there is too much, I offer buttons." in shown
    assert other_chat.card.button_titles() == ["What you may ask", "Saved searches"]
    assert other_chat.reception.accepted == []


async def test_help_shows_admins_the_way_to_the_administration(admin_chat: AdminChat) -> None:
    await admin_chat.send("help")

    titles = ["What you may ask", "Saved searches", "Report", "Open in the browser"]
    assert admin_chat.card.button_titles() == [*titles, "Grants", "Admins", "Limits", "Questions", "Changes"]


@pytest.mark.parametrize("command", ["help", "grants"])
async def test_an_admin_gets_a_link_that_opens_the_admin_page_once(
    bot: Application, admin_chat: AdminChat, command: str
) -> None:
    await admin_chat.send(command)

    shown = await admin_chat.click("Open in the browser")
    [address] = [action["url"] for action in admin_chat.card.card_actions() if action["type"] == "Action.OpenUrl"]
    entrance = AdminEntrance(administration=bot.administration, database=bot.database, settings=bot.settings)
    signed = address.rpartition("/")[2]
    session = entrance.find_session(await entrance.open_session(signed))

    assert "once, within ten minutes" in shown
    assert session is not None
    assert session.person == person_id_for(admin_chat.person)
    with pytest.raises(AdminLinkRefused):
        await entrance.open_session(signed)


async def test_buckets_shows_the_buckets_of_the_person_alone(bot: Application, other_chat: AdminChat) -> None:
    assert "No documents are open to you alone yet." in await other_chat.send("buckets")

    await bot.administration.grant_bucket(RECEIPTS, EVERYONE, by=OPERATOR)

    assert "receipts" in await other_chat.send("buckets")


@pytest.mark.parametrize("text", ["grants of 2024", "help me", "list all buckets", ""])
async def test_other_words_are_questions(admin_chat: AdminChat, text: str) -> None:
    await admin_chat.teams.say(admin_chat.person, None, text)

    assert admin_chat.cards == []


@pytest.mark.parametrize("text", ["help", "grants", "buckets"])
async def test_in_a_channel_or_a_group_a_command_is_a_question(
    admin_chat: AdminChat, group_chat: TenantConversation, team_channel: TenantConversation, text: str
) -> None:
    for conversation in (group_chat, team_channel):
        await admin_chat.teams.say(admin_chat.person, conversation, text)

    assert len(admin_chat.reception.accepted) == 2
    assert admin_chat.teams.tenant.bot_messages() == []


# -- grants


async def test_the_buckets_are_listed_with_their_documents_and_grants(bot: Application, admin_chat: AdminChat) -> None:
    await bot.administration.grant_bucket(RECEIPTS, EVERYONE, by=OPERATOR)

    shown = await admin_chat.send("grants")

    assert "Administration: buckets\nreceipts · 42 documents · 1 grant" in shown


async def test_every_kind_of_grant_is_made_listed_audited_and_removed(
    bot: Application, admin_chat: AdminChat, beth: TenantPerson
) -> None:
    await bot.groups.create_group("staff", "The staff", by="test")
    assert "Nobody may see this bucket yet." in await open_grants(admin_chat)

    shown = await admin_chat.click(
        "Grant",
        everyone="yes",
        typed_person=beth.object_id.upper(),
        typed_channel=LINK,
        external="yes",
        group=opaque_key_of("staff"),
    )

    assert await grants_of(bot) == [
        (RECEIPTS, LINKED, True),
        (RECEIPTS, "everyone", False),
        (RECEIPTS, "group:staff", False),
        (RECEIPTS, f"user:{person_id_for(beth)}", False),
    ]
    assert "may see this bucket now." in shown
    assert "guests and other organisations included" in shown
    assert {entry.by for entry in await list_audit_entries(bot.database) if entry.action == "grant"} == {
        person_id_for(admin_chat.person)
    }
    warning = await admin_chat.choose("Everyone in the organisation", "Remove")
    assert "They no longer see this bucket from their next question on." in warning
    assert len(await grants_of(bot)) == 4
    await admin_chat.click("Remove")
    assert "everyone" not in [subject for _, subject, _ in await grants_of(bot)]
    assert len(admin_chat.cards) == 1


async def test_a_removal_can_be_cancelled(bot: Application, admin_chat: AdminChat) -> None:
    await bot.administration.grant_bucket(RECEIPTS, EVERYONE, by=OPERATOR)
    await open_grants(admin_chat)
    await admin_chat.choose("Everyone", "Remove")

    assert "Who may see it" in await admin_chat.click("Cancel")
    assert len(await grants_of(bot)) == 1


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ({}, "Choose somebody who may see this bucket."),
        ({"everyone": "yes", "external": "yes"}, "Choose the channel that this is for, or leave it out."),
        ({"typed_channel": "general"}, "This is not a channel"),
        ({"typed_channel": LINK.replace(TENANT, "other")}, "This is not a channel"),
        ({"typed_channel": "everyone", "external": "yes"}, "This is not a channel"),
        ({"typed_person": "Beth"}, "This is not a person"),
        ({"typed_person": "everyone"}, "This is not a person"),
        ({"typed_person": "user:channel:x:y"}, "This is not a person"),
    ],
)
async def test_an_invalid_grant_changes_nothing_and_keeps_what_was_typed(
    bot: Application, admin_chat: AdminChat, inputs: dict[str, str], sentence: str
) -> None:
    await open_grants(admin_chat)

    assert sentence in await admin_chat.click("Grant", **inputs)

    assert await grants_of(bot) == []
    values = {part["id"]: part.get("value", "") for part in admin_chat.card.card_inputs()}
    assert {name: values[name] for name in inputs} == inputs


async def test_a_person_of_slack_may_be_granted_by_their_id(bot: Application, admin_chat: AdminChat) -> None:
    await open_grants(admin_chat)

    await admin_chat.click("Grant", typed_person="slack:T1:U1")

    assert await grants_of(bot) == [(RECEIPTS, "user:slack:T1:U1", False)]


async def test_people_who_wrote_are_shown_by_name_with_their_id(
    bot: Application, admin_chat: AdminChat, other_chat: AdminChat
) -> None:
    await other_chat.send("help")
    person = person_id_for(other_chat.person)
    await bot.administration.grant_bucket(RECEIPTS, Subject(f"user:{person}"), by=OPERATOR)

    assert f"Beth ({person})" in await open_grants(admin_chat)


async def test_long_lists_of_grants_have_pages(bot: Application, admin_chat: AdminChat) -> None:
    for number in range(25):
        await bot.grants.grant_bucket_access(RECEIPTS, Subject(f"user:local:n{number:02}"), by="test")
    assert "1 to 10 of 25" in await open_grants(admin_chat)

    assert "11 to 20 of 25" in await admin_chat.click("Next")
    assert "local:n24" in await admin_chat.click("Next")
    assert "11 to 20 of 25" in await admin_chat.click("Previous")
    assert "Administration: buckets" in await admin_chat.click("Back")


async def test_a_grant_that_is_gone_already_leaves_the_present_list(bot: Application, admin_chat: AdminChat) -> None:
    await bot.administration.grant_bucket(RECEIPTS, EVERYONE, by=OPERATOR)
    await open_grants(admin_chat)
    await bot.administration.revoke_grant(RECEIPTS, EVERYONE, by=OPERATOR)

    assert "Nobody may see this bucket yet." in await admin_chat.choose("Everyone", "Remove")


async def test_a_bucket_that_is_gone_shows_the_list_of_buckets(
    bot: Application, admin_chat: AdminChat, index: EmbeddedIndex
) -> None:
    await open_grants(admin_chat)
    await index.drop_bucket(RECEIPTS)

    shown = await admin_chat.click("Grant", everyone="yes")

    assert "This is no longer as it was shown. Nothing was changed; please send “grants” again." in shown
    assert "There are no buckets here." in shown
    assert await grants_of(bot) == []


async def test_nothing_chosen_says_so(bot: Application, admin_chat: AdminChat) -> None:
    await admin_chat.send("grants")
    assert "Choose something from the menu first." in await admin_chat.click("Show grants")
    await bot.administration.grant_bucket(RECEIPTS, EVERYONE, by=OPERATOR)
    await open_grants(admin_chat)

    assert "Choose something from the menu first." in await admin_chat.click("Remove")


# -- admins, limits and questions


async def test_admins_are_added_and_removed(bot: Application, admin_chat: AdminChat, other_chat: AdminChat) -> None:
    await other_chat.send("help")  # Teams describes only people who have used the app
    await admin_chat.send("grants")
    await admin_chat.click("Admins")

    added = await admin_chat.click("Add", typed_person=other_chat.person.object_id)

    person = person_id_for(other_chat.person)
    assert f"Beth ({person}) is an admin now." in added
    assert await bot.administration.is_admin(person)
    assert "was an admin already." in await admin_chat.click("Add", typed_person=other_chat.person.object_id)
    assert "They can no longer change who may see what." in await admin_chat.choose("Beth", "Remove")
    await admin_chat.click("Remove")
    assert not await bot.administration.is_admin(person)
    actions = [entry.action for entry in await list_audit_entries(bot.database)]
    assert actions == ["admin.remove", "admin.add", "admin.add"]


async def test_a_guest_and_a_person_who_never_wrote_cannot_become_admins(
    teams: TeamsServer, bot: Application, admin_chat: AdminChat
) -> None:
    guest = teams.tenant.add_guest("Gil")
    await teams.say(guest, None, "help")
    await admin_chat.send("help")
    await admin_chat.click("Admins")

    for person in (guest, teams.tenant.add_person("Nora")):
        shown = await admin_chat.click("Add", typed_person=person.object_id)
        assert "Only a full member of the organisation can be an admin" in shown
        assert not await bot.administration.is_admin(person_id_for(person))


async def test_the_last_admin_stays_and_former_admins_see_nothing_more(
    bot: Application, admin_chat: AdminChat, beth: TenantPerson
) -> None:
    await admin_chat.send("grants")
    await admin_chat.click("Admins")
    await admin_chat.choose("Alan", "Remove")
    assert "This is the last admin." in await admin_chat.click("Remove")

    await add_known_admin(bot, beth)
    await admin_chat.choose("Alan", "Remove")

    assert await admin_chat.click("Remove") == "You are no longer an admin."
    assert await admin_chat.send("grants") == NOT_ADMIN


async def test_limits_are_saved_unless_they_have_changed_meanwhile(bot: Application, admin_chat: AdminChat) -> None:
    await admin_chat.send("grants")
    assert "Any number of questions may be asked." in await admin_chat.click("Limits")

    saved = await admin_chat.click("Save", limit_person_hour="5", limit_tenant_day=" 1000 ")
    assert "Saved; it holds from the next question on." in saved
    assert "5 questions per person in an hour" in saved
    limits = {QuestionLimit.PERSON_HOUR: 5, QuestionLimit.TENANT_DAY: 1000}
    assert await bot.administration.list_limits(OPERATOR) == limits
    for invalid in ("0", "many", "-1", "1.5", "9" * 13, "\u0661"):
        assert "A whole number from 1 on" in await admin_chat.click("Save", limit_person_hour=invalid)
    await bot.administration.change_limits(limits, {}, by=OPERATOR)

    refused = await admin_chat.click("Save", limit_person_hour="7")

    assert "Saved" not in refused
    assert await bot.administration.list_limits(OPERATOR) == {}


async def test_questions_without_an_answer_are_listed_without_their_askers(
    bot: Application, admin_chat: AdminChat
) -> None:
    await ConversationDriver(bot, buckets=("nowhere",), person="local:ann", name="Ann").ask_question("secret question?")
    await admin_chat.send("grants")

    shown = await admin_chat.click("Questions")

    assert "Without an answer in the last 30 days" in shown
    assert "secret question? · " in shown
    assert "Rated badly: none" in shown
    assert "Ann" not in shown


async def test_changes_are_listed_with_who_made_them_the_newest_first(bot: Application, admin_chat: AdminChat) -> None:
    await bot.administration.grant_bucket(RECEIPTS, EVERYONE, by=OPERATOR)
    await bot.administration.change_limits({}, {QuestionLimit.PERSON_HOUR: 20}, by=person_id_for(admin_chat.person))
    await admin_chat.send("grants")

    shown = await admin_chat.click("Changes")

    newest, oldest = shown.index("Changed the limits"), shown.index(f"Granted: {RECEIPTS} → {EVERYONE_NAME}")
    assert newest < oldest
    assert "20 questions per person in an hour" in shown
    assert admin_chat.person.name in shown


async def test_the_report_of_usage_is_a_card_by_command_and_by_button(
    bot: Application, admin_chat: AdminChat, beth: TenantPerson
) -> None:
    driver = ConversationDriver(bot, buckets=("nowhere",), person=person_id_for(beth), name=beth.name)
    await driver.ask_question("secret question?")

    by_command = await admin_chat.send("usage report")
    await admin_chat.send("help")
    by_button = await admin_chat.click("Report")

    assert by_command == by_button
    assert "Administration: Usage report of the last 30 days" in by_command
    assert "1 question of 1 person" in by_command
    assert beth.name not in by_command
    assert admin_chat.card.button_titles() == ["Open in the browser", "Back"]


# -- refusals


async def test_who_is_no_admin_is_refused_by_command_and_by_every_forged_submission(
    bot: Application, other_chat: AdminChat
) -> None:
    await bot.administration.grant_bucket(RECEIPTS, EVERYONE, by=OPERATOR)
    for command in ("grants", "usage report"):
        assert await other_chat.send(command) == NOT_ADMIN
    forged: list[dict[str, Any]] = [
        {"action": "grants"},
        {"action": "bucket", "bucket": KEY},
        {"action": "grant", "bucket": KEY, "typed_person": other_chat.person.object_id},
        {"action": "revoke", "bucket": KEY, "chosen": opaque_key_of("everyone")},
        {"action": "revoke_confirmed", "bucket": KEY, "key": opaque_key_of("everyone")},
        {"action": "admins"},
        {"action": "add_admin", "typed_person": other_chat.person.object_id},
        {"action": "remove_admin", "chosen": KEY},
        {"action": "remove_admin_confirmed", "key": KEY},
        {"action": "limits"},
        {"action": "save_limits", "limit_person_hour": "1", "limits": {}},
        {"action": "questions"},
        {"action": "changes"},
        {"action": "report"},
        {"action": "browser"},
        {"action": "nothing"},
        {},
    ]

    for value in forged:
        await other_chat.teams.submit_card(other_chat.person, other_chat.card, {"parley": "admin", **value})
        assert other_chat.text == NOT_ADMIN, value

    assert await grants_of(bot) == [(RECEIPTS, "everyone", False)]
    assert await bot.administration.list_admins(OPERATOR) == ()
    assert await bot.administration.list_limits(OPERATOR) == {}


async def test_rights_are_checked_at_the_submission_and_not_at_the_card(
    bot: Application, admin_chat: AdminChat, beth: TenantPerson
) -> None:
    await add_known_admin(bot, beth)
    await open_grants(admin_chat)
    await bot.administration.remove_admin(person_id_for(admin_chat.person), by=OPERATOR)

    assert await admin_chat.click("Grant", everyone="yes") == NOT_ADMIN
    assert await grants_of(bot) == []


async def test_an_admin_who_has_left_is_refused(
    admin_chat: AdminChat, directory: TeamsDirectory, teams: TeamsServer
) -> None:
    await admin_chat.send("grants")
    directory.forget_members()
    chat = teams.tenant.personal_chat_of(admin_chat.person)
    chat.members.clear()
    submission = teams.click_activity(admin_chat.person, chat, admin_chat.card, {"parley": "admin", "action": "admins"})

    await teams.deliver_activity(submission)

    assert admin_chat.text == NOT_ADMIN


@pytest.mark.parametrize(
    "value",
    [
        {"action": "nothing"},
        {"action": ["grants"]},
        {},
        {"action": "grants", "first": -1},
        {"action": "grants", "first": "1"},
        {"action": "bucket", "bucket": "' or 1=1"},
        {"action": "save_limits", "limits": {"tenant_day": "many"}},
        {"action": "save_limits", "limits": {"unknown": 1}},
    ],
)
async def test_what_parley_does_not_understand_changes_nothing(admin_chat: AdminChat, value: dict[str, Any]) -> None:
    await admin_chat.send("grants")

    await admin_chat.teams.submit_card(admin_chat.person, admin_chat.card, {"parley": "admin", **value})

    assert "I do not know what this is. Nothing was changed; please send “grants” again." in admin_chat.text
    assert len(admin_chat.cards) == 1


async def test_a_page_beyond_the_end_shows_the_beginning(admin_chat: AdminChat) -> None:
    await admin_chat.send("grants")

    for action in ("grants", "admins"):
        value = {"parley": "admin", "action": action, "first": 1_000_000}
        await admin_chat.teams.submit_card(admin_chat.person, admin_chat.card, value)
        assert "Administration: " in admin_chat.text


async def test_a_submission_in_a_group_or_a_channel_is_refused_without_a_card(
    admin_chat: AdminChat, group_chat: TenantConversation, team_channel: TenantConversation
) -> None:
    teams = admin_chat.teams
    for conversation in (group_chat, team_channel):
        question, _ = await teams.say(admin_chat.person, conversation, "hello")
        await teams.submit_card(admin_chat.person, question, {"parley": "admin", "action": "grants"})

        [refusal] = teams.tenant.bot_messages(conversation)
        assert refusal.visible_text() == "I do this in our personal chat only. Nothing was changed."


async def test_submissions_of_other_features_are_left_to_them(admin_chat: AdminChat) -> None:
    await admin_chat.send("help")

    await admin_chat.teams.submit_card(admin_chat.person, admin_chat.card, {"parley": "choice", "id": "c1"})

    assert len(admin_chat.reception.accepted) == 1


# -- the one card


async def test_a_card_that_is_gone_is_sent_again(admin_chat: AdminChat) -> None:
    await admin_chat.send("grants")
    gone = admin_chat.card
    gone.is_deleted = True

    await admin_chat.teams.submit_card(admin_chat.person, gone, {"parley": "admin", "action": "limits"})

    assert "Administration: limits" in admin_chat.text
    assert len(admin_chat.cards) == 1


@pytest.mark.parametrize("failing", ["update", "member"])
async def test_a_failure_of_teams_is_logged_and_the_activity_is_accepted(admin_chat: AdminChat, failing: str) -> None:
    await admin_chat.send("grants")
    admin_chat.teams.plan_faults(failing, *[TeamsFault(status=500)] * 20)

    delivery = await admin_chat.teams.click(admin_chat.person, admin_chat.card, "Limits")

    assert delivery.status == 202


@pytest.mark.parametrize("failures", [1, 3])
async def test_a_card_is_shown_once_though_teams_fails_for_a_while(admin_chat: AdminChat, failures: int) -> None:
    admin_chat.teams.plan_faults("send", *[TeamsFault(status=500)] * failures)

    _, [delivery] = await admin_chat.teams.say(admin_chat.person, None, "help")
    await admin_chat.teams.deliver_activity(delivery.activity)

    await admin_chat.teams.wait_until(lambda: len(admin_chat.cards) > 0)
    assert delivery.statuses == [202]
    assert len(admin_chat.cards) == 1


async def test_every_call_of_the_adapter_is_sound(bot: Application, admin_chat: AdminChat, teams: TeamsServer) -> None:
    steps: list[Callable[[], Awaitable[str]]] = [
        lambda: admin_chat.send("help"),
        lambda: admin_chat.click("What you may ask"),
        lambda: admin_chat.click("Overview"),
        lambda: admin_chat.click("Grants"),
        lambda: admin_chat.click("Admins"),
        lambda: admin_chat.click("Back"),
        lambda: admin_chat.click("Limits"),
        lambda: admin_chat.click("Back"),
        lambda: admin_chat.click("Questions"),
        lambda: admin_chat.click("Back"),
    ]
    for step in steps:
        await step()

    assert [call for call in teams.refusals if call.error and call.name != "member"] == []


# -- saved searches


async def save_search(bot: Application, chat: AdminChat, text: str = "Tell me when a new receipt arrives") -> None:
    await chat.send("help")  # so that the directory knows the person
    person = chat.person
    await bot.administration.grant_bucket(RECEIPTS, EVERYONE, by=OPERATOR)
    own_id = person_id_for(person)
    driver = ConversationDriver(bot, audience=PrivateAudience(person=own_id), person=own_id, surface="web")
    await driver.ask_question(text)


async def test_saved_searches_are_listed_with_their_next_run_and_stopped_after_a_question(
    bot: Application, other_chat: AdminChat
) -> None:
    assert "You have no saved searches." in await other_chat.send("Saved searches")
    await save_search(bot, other_chat, "Every Monday 9:00: list the receipts")

    shown = await other_chat.send("saved searches")
    asked = await other_chat.click("Stop")
    kept = await other_chat.click("Cancel")
    await other_chat.click("Stop")
    stopped = await other_chat.click("Stop")

    assert "List the receipts · Search 1 · every Monday at 09:00 · next 12 May 2031, 11:00 CEST" in shown
    assert "Stop this saved search?" in asked
    assert "Search 1" in kept
    assert "You have no saved searches." in stopped


async def test_a_paused_search_goes_on_by_its_button(bot: Application, other_chat: AdminChat) -> None:
    await save_search(bot, other_chat)
    record = RunRecord(position=1, due_at=bot.clock(), seen={}, index_state="", pauses=True)
    await SavedSearchStore(bot.database).record_run(record)
    assert "1 saved search, 1 paused" in await other_chat.send("help")
    assert "paused" in await other_chat.click("Saved searches")

    assert "looks again" in await other_chat.click("Resume")


@pytest.mark.parametrize("action", ["stop_saved", "stop_saved_confirmed", "resume_saved"])
async def test_a_press_for_the_search_of_somebody_else_is_refused_with_a_sentence(
    bot: Application, admin_chat: AdminChat, other_chat: AdminChat, action: str
) -> None:
    await save_search(bot, other_chat)
    await admin_chat.send("saved searches")
    forged = {"parley": "admin", "action": action, "number": 1}

    await admin_chat.teams.submit_card(admin_chat.person, admin_chat.card, forged)

    assert "Somebody else has saved search 1, so only they may do that." in admin_chat.text
    (search,) = await SavedSearchStore(bot.database).list_searches()
    assert search.due_at is not None
