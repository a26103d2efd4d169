"""The Home tab and its modals over real HTTP with a real bot: contents for people, and changes by admins."""

import copy
import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.app import SlackSurface
from adapters.slack.home.home_tab import SAVED_SEARCHES_PER_PAGE
from adapters.slack.posting.api import SlackApi
from adapters.slack.workspaces.workspace_registry import SingleWorkspace, build_workspace
from bot.admin.admin_page.entrance import AdminEntrance
from bot.admin.administration import QuestionLimit
from bot.admin.sentences import EVERYONE_NAME, opaque_key_of
from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import EVERYONE, OPERATOR, PersonId, Subject, TurnId
from bot.settings import load_settings
from bot.surface.inbound import PrivateAudience
from bot.turns.feedback import FeedbackVerdict
from storage.search.ids import BucketId
from storage.search.schema import Schema
from storage.sql.saved_search_store import RunRecord, SavedSearchStatus, SavedSearchStore
from tests.adapters.slack.conftest import serve_surface
from tests.bot.conftest import ConversationDriver, running_workers, wait_until_finished
from tests.bot.fakes import NO_REASONER, ListingAgent
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.slack.checker import check_view, live_mentions
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackUsergroup
from tests.stored_rows import list_audit_entries

SALARIES = BucketId("salaries")
HOSTILE = "<!channel> <@U1ADA> & *bold* @everyone \u202eevil " + "\u05d0\u05d1 " * 20 + "x" * 20_000


def person_id_for(user: SlackMember) -> PersonId:
    return PersonId(f"slack:{TEAM}:{user.id}")


@pytest.fixture
async def parley(tmp_path: Path, slack: SlackServer, ada: SlackMember) -> AsyncIterator[Application]:
    """Two buckets without grants; the settings name Ada as admin."""
    environ = {
        "PARLEY_TENANT": TENANT,
        "PARLEY_EMBEDDER": "none",
        "PARLEY_ADMINS": person_id_for(ada),
        "SLACK_BOT_TOKEN": TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "SLACK_API_URL": slack.api_url,
    }
    settings = load_settings(tmp_path / "home", environ).settings
    async with open_application(settings, agent=ListingAgent(), reasoner=NO_REASONER) as bot:
        await bot.index.set_schema(replace(a_receipt_schema(), title="Receipts of the house"))
        await bot.index.put(RECEIPTS, [a_document(f"r{n}", "receipt", vendor="Acme") for n in range(3)])
        await bot.index.set_schema(Schema(bucket=SALARIES, title="Salaries"))
        yield bot


@pytest.fixture
def grid(request: pytest.FixtureRequest, slack: SlackServer) -> str | None:
    """Returns the Enterprise Grid of the workspace, which a test sets by a parameter."""
    slack.workspace.enterprise = getattr(request, "param", None)
    return slack.workspace.enterprise


@pytest.fixture
async def surface(
    parley: Application, slack: SlackServer, api: SlackApi, grid: str | None
) -> AsyncIterator[SlackSurface]:
    surface = SlackSurface(
        accept=parley.accept_inbound,
        administration=parley.administration,
        personal_history=parley.personal_history,
        turn_actions=parley.turn_actions,
        clarifications=parley.clarifications,
        personal_searches=parley.personal_searches,
        reports=parley.admin_reports,
        schemas=parley.schema_edits,
        retention=parley.retention_edits,
        workspaces=SingleWorkspace(build_workspace(api, parley.clock, parley.log)),
        signing_secret=SIGNING_SECRET,
        clock=parley.clock,
        log=parley.log,
    )
    parley.register_surface(surface)
    async with serve_surface(surface, slack) as surface:
        yield surface


pytestmark = pytest.mark.usefixtures("surface")


async def open_home_words(slack: SlackServer, user: SlackMember) -> str:
    """Open the Home tab and return its text."""
    delivered = await slack.open_home(user)
    assert delivered.statuses == [200]
    return slack.view_of(user).visible_text()


async def grants_of(parley: Application) -> list[tuple[str, str, bool]]:
    return [(grant.bucket, grant.subject, grant.include_external) for grant in await parley.grants.list_grants()]


# -- everyone


async def test_a_bucket_without_a_grant_is_not_shown(slack: SlackServer, parley: Application, bob: SlackMember) -> None:
    await parley.grants.grant_bucket_access(SALARIES, Subject(f"channel:slack:{TEAM}:C1"), by="test")

    text = await open_home_words(slack, bob)

    assert "No documents are open to you alone yet" in text
    assert "Receipts" not in text
    assert "Salaries" not in text
    assert "Administration" not in text


async def test_a_granted_bucket_is_shown_with_its_count_and_an_example(
    slack: SlackServer, parley: Application, bob: SlackMember
) -> None:
    await parley.grants.grant_bucket_access(RECEIPTS, EVERYONE, by="test")

    text = await open_home_words(slack, bob)

    assert "Receipts of the house · 3 documents\nFor example: " in text
    assert "Salaries" not in text
    await parley.grants.revoke_grant(RECEIPTS, EVERYONE, by="test")
    assert "Receipts" not in await open_home_words(slack, bob)


async def test_a_guest_sees_only_buckets_granted_to_them_by_name(slack: SlackServer, parley: Application) -> None:
    guest = slack.workspace.add_user(SlackMember(id="U9GUEST", name="Guest", is_guest=True))
    await parley.grants.grant_bucket_access(RECEIPTS, EVERYONE, by="test")
    assert "Receipts" not in await open_home_words(slack, guest)
    await parley.grants.grant_bucket_access(RECEIPTS, Subject(f"user:{person_id_for(guest)}"), by="test")

    assert "Receipts" in await open_home_words(slack, guest)


async def test_a_persons_own_questions_and_exports_are_shown(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember
) -> None:
    await parley.grants.grant_bucket_access(RECEIPTS, EVERYONE, by="test")
    talk = ConversationDriver(
        parley, audience=PrivateAudience(person=person_id_for(bob)), person=person_id_for(bob), surface="web"
    )
    await talk.ask_question("what <!channel> is there?")
    await talk.ask_question("export")

    text = await open_home_words(slack, bob)

    assert "what <\u200b!channel> is there? · answered · " in text
    assert "receipts-3.csv · 3 rows · " in text
    assert "Download until " in text
    assert "receipts-3.csv" not in await open_home_words(slack, ada)


async def test_the_messages_tab_publishes_nothing(slack: SlackServer, bob: SlackMember) -> None:
    delivered = await slack.open_home(bob, "messages")

    assert delivered.statuses == [200]
    assert slack.calls_of("views.publish") == []


async def test_the_event_is_acknowledged_when_slack_refuses_the_view(slack: SlackServer, bob: SlackMember) -> None:
    slack.plan_faults("views.publish", Fault(status=500), Fault(status=500), Fault(status=500))

    assert (await slack.open_home(bob)).statuses == [200]


# -- admins: contents of the tab


async def test_admins_see_buckets_grants_admins_limits_and_questions(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember
) -> None:
    turn = await ConversationDriver(
        parley, audience=PrivateAudience(person=person_id_for(bob)), person=person_id_for(bob), surface="web"
    ).ask_question("a secret?")
    await parley.feedback.record_verdict(turn.turn, person_id_for(bob), FeedbackVerdict.BAD, "unhelpful")
    await parley.administration.change_limits({}, {QuestionLimit.PERSON_DAY: 1000}, by=OPERATOR)

    text = await open_home_words(slack, ada)

    assert "Receipts of the house (receipts)\n3 documents · 0 grants" in text
    assert f"<@{ada.id}>" in text
    assert "1,000 questions per person in 24 hours" in text
    assert "a secret? · nothing you may see" in text
    assert "unhelpful" in text
    assert person_id_for(bob) not in text


async def test_a_click_shows_more_questions(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember
) -> None:
    talk = ConversationDriver(
        parley, audience=PrivateAudience(person=person_id_for(bob)), person=person_id_for(bob), surface="web"
    )
    for number in range(12):
        await talk.ask_question(f"secret {number}?")
    await open_home_words(slack, ada)

    await slack.click_in_view(ada, "admin:questions")

    assert all(f"secret {number}?" in slack.view_of(ada).visible_text() for number in range(12))


async def test_an_admin_sees_how_long_the_documents_of_open_buckets_are_kept(
    slack: SlackServer, parley: Application, ada: SlackMember
) -> None:
    await parley.grants.grant_bucket_access(RECEIPTS, Subject(f"user:{person_id_for(ada)}"), by="test")
    for bucket, days in ((RECEIPTS, "30"), (SALARIES, "31")):
        await parley.retention_edits.set_rule(bucket, "@loaded", days, "", OPERATOR)

    text = await open_home_words(slack, ada)

    assert "kept 30 days after loading: none of 3 documents is older now" in text
    assert "kept 31 days" not in text


async def test_a_click_shows_who_changed_what(slack: SlackServer, parley: Application, ada: SlackMember) -> None:
    await parley.administration.grant_bucket(RECEIPTS, EVERYONE, by=OPERATOR)
    await parley.administration.change_limits({}, {QuestionLimit.PERSON_HOUR: 20}, by=person_id_for(ada))
    await open_home_words(slack, ada)

    await slack.click_in_view(ada, "admin:changes")

    text = slack.view_of(ada).visible_text()
    assert text.index("Changed the limits") < text.index(f"Granted: {RECEIPTS} → {EVERYONE_NAME}")
    assert "20 questions per person in an hour" in text
    assert f"<@{ada.id}>" in text


async def test_a_click_gives_an_admin_a_link_to_the_page_in_the_browser(
    slack: SlackServer, parley: Application, ada: SlackMember
) -> None:
    await open_home_words(slack, ada)

    await slack.click_in_view(ada, "admin:browser")

    [signed] = re.findall(r"/admin/enter/([\w.-]+)", json.dumps(slack.view_of(ada).blocks))
    entrance = AdminEntrance(administration=parley.administration, database=parley.database, settings=parley.settings)
    assert await entrance.find_link_person(signed) == person_id_for(ada)


# -- admins: grants


async def open_bucket_modal(slack: SlackServer, user: SlackMember, bucket: BucketId = RECEIPTS) -> None:
    await open_home_words(slack, user)
    section = next(
        block
        for block in slack.view_of(user).blocks
        if block.get("accessory", {}).get("value") == opaque_key_of(bucket)
    )
    home = slack.view_of(user)
    action = {**section["accessory"], "block_id": section["block_id"], "action_ts": "1"}
    payload = {
        **slack.interaction_payload(user, "block_actions"),
        "container": {"type": "view", "view_id": home.id},
        "view": {**copy.deepcopy(home.content), "id": home.id, "hash": home.hash},
        "actions": [action],
    }
    assert (await slack.deliver_interaction(payload)).statuses == [200]
    assert slack.view_of(user).title_text() == "Grants"


async def test_every_kind_of_grant_in_the_modal_takes_effect_at_once(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember, general: SlackChannel
) -> None:
    slack.workspace.add_group(SlackUsergroup(id="S1", handle="sales", name="Sales"))
    await parley.groups.create_group("staff", "The staff", by="test")
    await open_bucket_modal(slack, ada)

    await slack.submit_modal(
        ada,
        values={
            "everyone": ["yes"],
            "person": bob.id,
            "channel": general.id,
            "external": ["yes"],
            "group": opaque_key_of("S1"),
            "local": opaque_key_of("staff"),
        },
    )

    assert await grants_of(parley) == [
        (RECEIPTS, f"channel:slack:{TEAM}:{general.id}", True),
        (RECEIPTS, "everyone", False),
        (RECEIPTS, f"group:slack:{TEAM}:S1", False),
        (RECEIPTS, "group:staff", False),
        (RECEIPTS, f"user:slack:{TEAM}:{bob.id}", False),
    ]
    text = slack.view_of(ada).visible_text()
    assert f"<#{general.id}> · guests and other organisations included" in text
    assert "may see this bucket now." in text
    assert not any(
        value.get("selected_user") for field in slack.view_of(ada).state.values() for value in field.values()
    )
    assert {entry.by for entry in await list_audit_entries(parley.database) if entry.action == "grant"} == {
        person_id_for(ada)
    }
    assert "5 grants" in slack.workspace.homes[ada.id].visible_text()
    assert "Receipts" in await open_home_words(slack, bob)


async def test_grants_and_removals_in_the_modal_apply_to_the_next_question(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember, general: SlackChannel
) -> None:
    async def asked(text: str) -> str:
        """Ask as Bob in the channel and return the finished answer."""
        answer_count = len(slack.workspace.bot_messages())
        await slack.post_as_person(bob, general, f"<@{BOT_USER}> {text}")
        await slack.wait_until(lambda: len(slack.workspace.bot_messages()) > answer_count)
        answer = slack.workspace.bot_messages()[answer_count]
        await wait_until_finished(parley, TurnId((answer.metadata or {})["event_payload"]["turn"]))
        return answer.visible_text()

    async with running_workers(parley):
        assert await asked("all receipts") == "Nothing here."
        await open_bucket_modal(slack, ada)
        await slack.submit_modal(ada, values={"channel": general.id})
        assert (await asked("all receipts")).startswith("There are 3.")
        await slack.click_in_view(ada, "grant:remove")
        assert await asked("all receipts") == "Nothing here."


@pytest.mark.parametrize(
    ("values", "field", "sentence"),
    [
        ({}, "person", "Choose somebody"),
        ({"external": ["yes"], "everyone": ["yes"]}, "external", "Choose the channel"),
        ({"channel": "D1DIRECT"}, "channel", "not a channel"),
        ({"person": "U404"}, "person", "does not say who"),
        ({"person": "<!channel>"}, "person", "does not say who"),
        ({"group": "sales"}, "group", "begins with S"),
    ],
)
async def test_an_invalid_grant_is_reported_at_its_field(
    slack: SlackServer, parley: Application, ada: SlackMember, values: dict[str, Any], field: str, sentence: str
) -> None:
    await open_bucket_modal(slack, ada)

    await slack.submit_modal(ada, values=values)

    assert sentence in slack.view_of(ada).errors[f"{field}:0"]
    assert await grants_of(parley) == []


async def test_a_submission_is_answered_in_time_when_slack_is_slow(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember
) -> None:
    await open_bucket_modal(slack, ada)
    slack.plan_faults("users.info", Fault(hang=True))
    slack.plan_faults("views.publish", Fault(hang=True))

    delivered = await slack.submit_modal(ada, values={"person": bob.id})

    assert delivered.statuses == [200]
    assert "does not say who" in slack.view_of(ada).errors["person:0"]


async def test_without_the_scope_a_user_group_is_given_by_its_id(
    slack: SlackServer, parley: Application, ada: SlackMember
) -> None:
    slack.plan_faults("usergroups.list", *[Fault(status=500)] * 6)
    await open_bucket_modal(slack, ada)

    await slack.submit_modal(ada, values={"group": "S77"})

    assert await grants_of(parley) == [(RECEIPTS, f"group:slack:{TEAM}:S77", False)]


async def test_two_clicks_on_remove_revoke_a_grant_once(
    slack: SlackServer, parley: Application, ada: SlackMember
) -> None:
    await parley.grants.grant_bucket_access(RECEIPTS, EVERYONE, by="test")
    await open_bucket_modal(slack, ada)
    old_view = copy.deepcopy(slack.view_of(ada))

    await slack.click_in_view(ada, "grant:remove")
    second_delivery = await slack.click_in_view(ada, "grant:remove", view=old_view)  # a second click on the old view

    assert second_delivery.statuses == [200]
    assert await grants_of(parley) == []
    assert "Nobody may see this bucket yet." in slack.view_of(ada).visible_text()
    assert [entry.action for entry in await list_audit_entries(parley.database)] == ["revoke", "grant"]


async def test_grants_of_a_deleted_bucket_can_only_be_removed(
    slack: SlackServer, parley: Application, ada: SlackMember
) -> None:
    await parley.grants.grant_bucket_access(RECEIPTS, EVERYONE, by="test")
    await parley.index.drop_bucket(RECEIPTS)
    await open_bucket_modal(slack, ada)

    assert slack.view_of(ada).content.get("submit") is None
    await slack.click_in_view(ada, "grant:remove")

    assert await grants_of(parley) == []


# -- admins: admins and limits


async def test_an_admin_is_added_and_removed(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember
) -> None:
    await open_home_words(slack, ada)
    await slack.click_in_view(ada, "admin:admins")
    await slack.submit_modal(ada, values={"person": bob.id})
    assert "Administration" in await open_home_words(slack, bob)
    assert f"<@{bob.id}> is an admin now." in slack.view_of(ada).visible_text()

    await slack.click_in_view(ada, "admin:remove")

    assert [admin.person for admin in await parley.administration.list_admins(OPERATOR)] == [person_id_for(ada)]
    assert "Administration" not in await open_home_words(slack, bob)
    actions = [(entry.action, entry.matter, entry.by) for entry in await list_audit_entries(parley.database)]
    assert actions == [
        ("admin.remove", person_id_for(bob), person_id_for(ada)),
        ("admin.add", person_id_for(bob), person_id_for(ada)),
    ]


async def test_a_guest_is_refused_as_admin_at_the_field(
    slack: SlackServer, parley: Application, ada: SlackMember
) -> None:
    guest = slack.workspace.add_user(SlackMember(id="U9GUEST", name="Guest", is_guest=True))
    await open_home_words(slack, ada)
    await slack.click_in_view(ada, "admin:admins")

    await slack.submit_modal(ada, values={"person": guest.id})

    assert "full member" in slack.view_of(ada).errors["person:0"]
    assert not await parley.administration.is_admin(person_id_for(guest))


async def test_an_admin_who_removes_themself_sees_a_notice_and_loses_the_administration(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember
) -> None:
    await parley.administration.add_admin(person_id_for(bob), by=OPERATOR)
    await open_home_words(slack, bob)
    await slack.click_in_view(bob, "admin:admins")

    await slack.click_in_view(bob, "admin:remove")

    assert slack.view_of(bob).visible_text().endswith("You are no longer an admin.")
    assert "Administration" not in slack.workspace.homes[bob.id].visible_text()


async def test_limits_are_saved_and_enforced_and_concurrent_changes_are_shown(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember
) -> None:
    await open_home_words(slack, ada)
    await slack.click_in_view(ada, "admin:limits")
    await parley.administration.change_limits({}, {QuestionLimit.TENANT_DAY: 7}, by=OPERATOR)

    await slack.submit_modal(ada, values={"person_hour": "1"})

    assert "Somebody changed this" in slack.view_of(ada).visible_text()
    assert await parley.administration.list_limits(OPERATOR) == {QuestionLimit.TENANT_DAY: 7}
    await slack.submit_modal(ada, values={"person_hour": "1", "tenant_day": None})
    assert "Saved" in slack.view_of(ada).visible_text()
    assert await parley.administration.list_limits(OPERATOR) == {QuestionLimit.PERSON_HOUR: 1}
    await parley.grants.grant_bucket_access(RECEIPTS, EVERYONE, by="test")
    talk = ConversationDriver(
        parley, audience=PrivateAudience(person=person_id_for(bob)), person=person_id_for(bob), surface="web"
    )
    assert [(await talk.ask_question("all receipts")).error is None for _ in range(2)] == [True, False]


@pytest.mark.parametrize("value", ["0", "-3", "99999999999999999999"])
async def test_an_invalid_limit_is_reported_at_its_field(
    slack: SlackServer, parley: Application, ada: SlackMember, value: str
) -> None:
    await open_home_words(slack, ada)
    await slack.click_in_view(ada, "admin:limits")

    await slack.submit_modal(ada, values={"person_day": value})

    assert "whole number" in slack.view_of(ada).errors["person_day:0"]
    assert await parley.administration.list_limits(OPERATOR) == {}


# -- missing rights, and foreign views


async def test_a_former_admin_is_refused_in_an_open_modal(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember
) -> None:
    await parley.administration.add_admin(person_id_for(bob), by=OPERATOR)
    await open_bucket_modal(slack, bob)
    await parley.administration.remove_admin(person_id_for(bob), by=person_id_for(ada))

    await slack.submit_modal(bob, values={"everyone": ["yes"]})

    assert "you are not one now" in slack.view_of(bob).visible_text()
    assert await grants_of(parley) == []
    assert "Administration" not in slack.workspace.homes[bob.id].visible_text()


@pytest.mark.parametrize(
    "action", ["admin:bucket", "admin:admins", "admin:limits", "admin:questions", "admin:changes", "admin:browser"]
)
async def test_an_old_tab_opens_no_modal_for_a_former_admin(
    slack: SlackServer, parley: Application, bob: SlackMember, action: str
) -> None:
    await parley.administration.add_admin(person_id_for(bob), by=OPERATOR)
    await open_home_words(slack, bob)
    await parley.administration.remove_admin(person_id_for(bob), by=OPERATOR)

    await slack.click_in_view(bob, action)

    assert "you are not one now" in slack.view_of(bob).visible_text()
    assert "Salaries" not in slack.view_of(bob).visible_text()


async def deliver_forged_interaction(
    slack: SlackServer, user: SlackMember, kind: str, view: dict[str, Any], **more: Any
) -> dict[str, Any]:
    """Deliver an interaction that no Slack client sends, and return the response."""
    payload = {**slack.interaction_payload(user, kind), "view": {"id": "V0", "hash": "0", **view}, **more}
    delivered = await slack.deliver_interaction(payload)
    assert delivered.statuses == [200]
    return json.loads(delivered.body or "{}")


SUBMITTED_STATE = {
    "values": {"everyone:0": {"everyone": {"type": "checkboxes", "selected_options": [{"value": "yes"}]}}}
}


@pytest.mark.parametrize(
    ("callback", "metadata"),
    [
        ("admin:nothing", "{}"),
        ("admin:bucket", "not ours"),
        ("admin:bucket", "{}"),
        ("admin:bucket", json.dumps({"bucket": "receipts"})),
        ("admin:bucket", json.dumps({"bucket": opaque_key_of("nothing"), "first": 10**9})),
        ("admin:limits", json.dumps({"limits": {"person_day": "many"}})),
        ("grant:", "[]"),
        ("home", ""),
    ],
)
async def test_a_forged_submission_by_an_admin_changes_nothing_and_shows_a_notice(
    slack: SlackServer, parley: Application, ada: SlackMember, callback: str, metadata: str
) -> None:
    view = {"type": "modal", "callback_id": callback, "private_metadata": metadata, "state": SUBMITTED_STATE}

    answer = await deliver_forged_interaction(slack, ada, "view_submission", view)

    check_view(answer["view"])
    assert "Nothing was changed" in json.dumps(answer["view"])
    assert await grants_of(parley) == []


@pytest.mark.parametrize("callback", ["admin:bucket", "admin:admins", "admin:limits"])
async def test_a_forged_submission_by_another_person_is_refused(
    slack: SlackServer, parley: Application, bob: SlackMember, callback: str
) -> None:
    state = {
        "values": {
            **SUBMITTED_STATE["values"],
            "p": {"person": {"selected_user": bob.id}},
            "l": {"person_day": {"value": "5"}},
        }
    }
    metadata = json.dumps({"bucket": opaque_key_of(RECEIPTS)})
    view = {"type": "modal", "callback_id": callback, "private_metadata": metadata, "state": state}

    answer = await deliver_forged_interaction(slack, bob, "view_submission", view)

    assert "you are not one now" in json.dumps(answer)
    assert await grants_of(parley) == []
    assert not await parley.administration.is_admin(person_id_for(bob))
    assert await parley.administration.list_limits(OPERATOR) == {}


@pytest.mark.parametrize("action", ["grant:remove", "admin:remove", "grant:page:next", "admin:else", "home:mine:next"])
@pytest.mark.parametrize("kind", ["modal", "home"])
async def test_a_forged_click_changes_nothing(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember, action: str, kind: str
) -> None:
    await parley.grants.grant_bucket_access(RECEIPTS, EVERYONE, by="test")
    actions = [{"type": "button", "action_id": action, "value": "\u0664" * 9}]
    for user in (ada, bob):
        await deliver_forged_interaction(
            slack, user, "block_actions", {"type": kind, "private_metadata": "{"}, actions=actions
        )

    assert await grants_of(parley) == [(RECEIPTS, "everyone", False)]
    assert len(await parley.administration.list_admins(OPERATOR)) == 1


@pytest.mark.parametrize("name", ["homely", "some-admin:bucket", "my grant:remove"])
async def test_views_with_similar_names_are_not_handled(slack: SlackServer, ada: SlackMember, name: str) -> None:
    interaction, action = (
        slack.interaction_payload(ada, "block_actions"),
        {"type": "button", "action_id": name, "value": ""},
    )
    click = {**interaction, "view": {"id": "V0", "type": "home", "hash": "0"}, "actions": [action]}
    view = {
        "id": "V0",
        "type": "modal",
        "hash": "0",
        "callback_id": name,
        "private_metadata": "{}",
        "state": SUBMITTED_STATE,
    }
    submission = {**slack.interaction_payload(ada, "view_submission"), "view": view}

    assert [(await slack.deliver_interaction(payload)).statuses for payload in (click, submission)] == [[404], [404]]


# -- sizes and hostile data


async def test_hostile_data_is_paged_through_without_live_mentions(
    slack: SlackServer, parley: Application, ada: SlackMember
) -> None:
    for number in range(30):
        bucket = BucketId(f"b{number:02}" + "\u0644" * 60)
        schema = Schema(bucket=bucket, title=f"{number:02} {HOSTILE}", description=HOSTILE, synonyms=(HOSTILE,))
        await parley.index.set_schema(schema)
        await parley.grants.grant_bucket_access(bucket, EVERYONE, by="test")
    talk = ConversationDriver(
        parley, audience=PrivateAudience(person=person_id_for(ada)), person=person_id_for(ada), surface="web"
    )
    turn = await talk.ask_question(HOSTILE[:9_000])
    await parley.feedback.record_verdict(turn.turn, person_id_for(ada), FeedbackVerdict.BAD, HOSTILE)
    numbers_seen: set[str] = set()

    await open_home_words(slack, ada)
    for _ in range(30):
        home = slack.view_of(ada)
        assert [mention for mention in live_mentions(home.content) if mention != "<@"] == []
        numbers_seen |= {
            number for number in (f"{n:02}" for n in range(30)) if f"{number} <\u200b!channel>" in home.visible_text()
        }
        if not any(button["action_id"] == "home:mine:next" for button in home.block_buttons()):
            break
        assert (await slack.click_in_view(ada, "home:mine:next")).statuses == [200]

    assert len(numbers_seen) == 30
    assert "25 to 30 of 30" in slack.view_of(ada).visible_text()
    await slack.click_in_view(ada, "admin:questions")
    assert slack.view_of(ada).title_text() == "Questions"
    assert live_mentions(slack.view_of(ada).content) == []


async def test_many_grants_are_paged_and_the_last_one_can_be_removed(
    slack: SlackServer, parley: Application, ada: SlackMember
) -> None:
    for number in range(70):
        await parley.grants.grant_bucket_access(RECEIPTS, Subject(f"user:slack:{TEAM}:U{number:04}"), by="test")
    await open_bucket_modal(slack, ada)

    for _ in range(2):
        await slack.click_in_view(ada, "grant:page:next")
    view = slack.view_of(ada)
    assert "61 to 70 of 70" in view.visible_text()
    assert "<@U0069>" in view.visible_text()
    await slack.click_in_view(ada, "grant:remove")

    assert len(await grants_of(parley)) == 69
    assert "61 to 69 of 69" in slack.view_of(ada).visible_text()
    await slack.click_in_view(ada, "grant:page:back")
    assert "31 to 60 of 69" in slack.view_of(ada).visible_text()


async def test_groups_are_given_by_id_when_a_menu_cannot_hold_them(
    slack: SlackServer, parley: Application, ada: SlackMember
) -> None:
    for number in range(101):
        slack.workspace.add_group(SlackUsergroup(id=f"S{number}", handle=HOSTILE, name=HOSTILE))
        await parley.groups.create_group(f"g{number}", HOSTILE, by="test")
    await open_bucket_modal(slack, ada)

    await slack.submit_modal(ada, values={"group": "S100", "local": "g100"})

    assert await grants_of(parley) == [
        (RECEIPTS, "group:g100", False),
        (RECEIPTS, f"group:slack:{TEAM}:S100", False),
    ]


async def test_a_click_in_an_old_tab_shows_current_data(
    slack: SlackServer, parley: Application, bob: SlackMember
) -> None:
    for number in range(20):
        await parley.index.set_schema(Schema(bucket=BucketId(f"b{number:02}"), title=f"Title {number:02}"))
        await parley.grants.grant_bucket_access(BucketId(f"b{number:02}"), EVERYONE, by="test")
    await open_home_words(slack, bob)
    old_view = copy.deepcopy(slack.view_of(bob))
    await open_home_words(slack, bob)

    await slack.click_in_view(bob, "home:mine:next", view=old_view)

    assert "Title 19" in slack.view_of(bob).visible_text()


@pytest.mark.parametrize("grid", ["E1GRID"], indirect=True)
async def test_on_an_enterprise_grid_people_are_of_the_grid_and_channels_of_their_workspace(
    slack: SlackServer, parley: Application, general: SlackChannel, grid: str
) -> None:
    cyd, dee = [slack.workspace.add_user(SlackMember(id=id_, name=id_, enterprise=grid)) for id_ in ("U3CYD", "U4DEE")]
    await parley.administration.add_admin(PersonId(f"slack:{grid}:U3CYD"), by=OPERATOR)
    await open_bucket_modal(slack, cyd)

    await slack.submit_modal(cyd, values={"person": dee.id, "channel": general.id})

    assert await grants_of(parley) == [
        (RECEIPTS, f"channel:slack:{TEAM}:{general.id}", False),
        (RECEIPTS, f"user:slack:{grid}:{dee.id}", False),
    ]
    assert f"<@{dee.id}>" in slack.view_of(cyd).visible_text()
    assert "Receipts" in await open_home_words(slack, dee)


# -- saved searches


async def save_search(parley: Application, user: SlackMember, text: str = "Tell me when a new receipt arrives") -> None:
    await parley.grants.grant_bucket_access(RECEIPTS, EVERYONE, by="test")
    person = person_id_for(user)
    conversation = ConversationDriver(parley, audience=PrivateAudience(person=person), person=person, surface="web")
    await conversation.ask_question(text)


async def test_a_persons_own_saved_searches_are_shown_with_their_next_run_and_stopped(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember
) -> None:
    await save_search(parley, bob)
    await save_search(parley, bob, "Every Monday 9:00: list the receipts")

    text = await open_home_words(slack, bob)

    assert "List every receipt\nSearch 1 · when documents change · looks again " in text
    assert "Search 2 · every Monday at 09:00 · next " in text
    assert "You have no saved searches." in await open_home_words(slack, ada)
    await slack.click_in_view(bob, "home:saved:stop", view=slack.workspace.homes[bob.id])
    assert "Search 1" not in slack.workspace.homes[bob.id].visible_text()
    assert "Search 2" in slack.workspace.homes[bob.id].visible_text()
    stopped = await SavedSearchStore(parley.database).find_search(1)
    assert stopped is not None
    assert stopped.status is SavedSearchStatus.STOPPED


async def test_a_paused_search_is_shown_as_such_and_goes_on(
    slack: SlackServer, parley: Application, bob: SlackMember
) -> None:
    await save_search(parley, bob)
    await SavedSearchStore(parley.database).record_run(
        RunRecord(position=1, due_at=parley.clock(), seen={}, index_state="", pauses=True)
    )
    assert "Search 1 · when documents change · paused" in await open_home_words(slack, bob)

    await slack.click_in_view(bob, "home:saved:resume")

    assert "looks again" in slack.workspace.homes[bob.id].visible_text()


@pytest.mark.parametrize("action", ["home:saved:stop", "home:saved:resume"])
async def test_a_press_for_the_search_of_somebody_else_is_refused_with_a_sentence(
    slack: SlackServer, parley: Application, ada: SlackMember, bob: SlackMember, action: str
) -> None:
    await save_search(parley, bob)
    pressed = [{"type": "button", "action_id": action, "value": "1"}]

    await deliver_forged_interaction(slack, ada, "block_actions", {"type": "home"}, actions=pressed)

    assert "Somebody else has saved search 1, so only they may do that." in slack.view_of(ada).visible_text()
    (search,) = await SavedSearchStore(parley.database).list_searches()
    assert search.status is SavedSearchStatus.ACTIVE


async def test_a_second_press_in_an_old_tab_says_that_the_search_has_ended(
    slack: SlackServer, parley: Application, bob: SlackMember
) -> None:
    await save_search(parley, bob)
    await open_home_words(slack, bob)
    old_view = copy.deepcopy(slack.view_of(bob))
    await slack.click_in_view(bob, "home:saved:stop")

    await slack.click_in_view(bob, "home:saved:stop", view=old_view)

    assert "Saved search 1 has ended already." in slack.view_of(bob).visible_text()


async def test_many_saved_searches_are_paged(slack: SlackServer, parley: Application, bob: SlackMember) -> None:
    for _ in range(SAVED_SEARCHES_PER_PAGE + 1):
        await save_search(parley, bob)
    assert "Search 9 ·" not in await open_home_words(slack, bob)

    await slack.click_in_view(bob, "home:saved:next")

    assert "Search 9 ·" in slack.workspace.homes[bob.id].visible_text()
    assert "Search 8 ·" not in slack.workspace.homes[bob.id].visible_text()
