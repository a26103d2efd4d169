"""The Home tab and its modals over real HTTP, with a real bot: what people see, and what admins change."""

import copy
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.api import SlackApi
from adapters.slack.app import SlackSurface
from adapters.slack.home.blocks import key
from adapters.slack.workspaces import OneWorkspace, workspace_with
from bot.administration import Limit
from bot.bootstrap import Bot, build_bot
from bot.feedback import Verdict
from bot.ids import EVERYONE, OPERATOR, PersonId, Subject, TurnId
from bot.inbound import Private
from bot.settings import load_settings
from storage.search.ids import BucketId
from storage.search.schema import Schema
from storage.sql.audit import Audit
from tests.adapters.slack.conftest import served
from tests.bot.conftest import Talk, finished, working
from tests.bot.fakes import NO_REASONER, ListingAgent
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.slack.checker import check_view, live_mentions
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, User, Usergroup

SALARIES = BucketId("salaries")
HOSTILE = "<!channel> <@U1ADA> & *bold* @everyone \u202eevil " + "\u05d0\u05d1 " * 20 + "x" * 20_000


def person(user: User) -> PersonId:
    return PersonId(f"slack:{TEAM}:{user.id}")


@pytest.fixture
async def parley(tmp_path: Path, slack: SlackServer, ada: User) -> AsyncIterator[Bot]:
    """Two buckets, nothing granted; Ada is an admin by the settings."""
    environ = {
        "PARLEY_TENANT": TENANT,
        "PARLEY_EMBEDDER": "none",
        "PARLEY_ADMINS": person(ada),
        "SLACK_BOT_TOKEN": TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "SLACK_API_URL": slack.api_url,
    }
    settings = load_settings(tmp_path / "home", environ).settings
    async with build_bot(settings, agent=ListingAgent(), reasoner=NO_REASONER) as bot:
        await bot.index.set_schema(replace(a_receipt_schema(), title="Receipts of the house"))
        await bot.index.put(RECEIPTS, [a_document(f"r{n}", "receipt", vendor="Acme") for n in range(3)])
        await bot.index.set_schema(Schema(bucket=SALARIES, title="Salaries"))
        yield bot


@pytest.fixture
def grid(request: pytest.FixtureRequest, slack: SlackServer) -> str | None:
    """The Enterprise Grid of the workspace; a test names one by a parameter."""
    slack.workspace.enterprise = getattr(request, "param", None)
    return slack.workspace.enterprise


@pytest.fixture
async def surface(parley: Bot, slack: SlackServer, api: SlackApi, grid: str | None) -> AsyncIterator[SlackSurface]:
    surface = SlackSurface(
        accept=parley.accept,
        administration=parley.administration,
        personal=parley.personal,
        afterwards=parley.afterwards,
        clarifications=parley.clarifications,
        workspaces=OneWorkspace(workspace_with(api, parley.clock, parley.log)),
        signing_secret=SIGNING_SECRET,
        clock=parley.clock,
        log=parley.log,
    )
    parley.register(surface)
    async with served(surface, slack) as surface:
        yield surface


pytestmark = pytest.mark.usefixtures("surface")


async def opened(slack: SlackServer, user: User) -> str:
    """The words of the Home tab."""
    delivered = await slack.open_home(user)
    assert delivered.statuses == [200]
    return slack.view_of(user).words()


async def grants(parley: Bot) -> list[tuple[str, str, bool]]:
    return [(one.bucket, one.subject, one.include_external) for one in await parley.grants.all()]


# -- everyone


async def test_nothing_of_a_bucket_shows_that_is_not_granted(slack: SlackServer, parley: Bot, bob: User) -> None:
    await parley.grants.grant(SALARIES, Subject(f"channel:slack:{TEAM}:C1"), by="test")

    words = await opened(slack, bob)

    assert "No documents are open to you alone yet" in words
    assert "Receipts" not in words
    assert "Salaries" not in words
    assert "Administration" not in words


async def test_what_is_granted_shows_with_its_count_and_an_example(slack: SlackServer, parley: Bot, bob: User) -> None:
    await parley.grants.grant(RECEIPTS, EVERYONE, by="test")

    words = await opened(slack, bob)

    assert "Receipts of the house · 3 documents\nFor example: " in words
    assert "Salaries" not in words
    await parley.grants.revoke(RECEIPTS, EVERYONE, by="test")
    assert "Receipts" not in await opened(slack, bob)


async def test_a_guest_sees_only_what_names_them(slack: SlackServer, parley: Bot) -> None:
    guest = slack.workspace.add_user(User(id="U9GUEST", name="Guest", is_guest=True))
    await parley.grants.grant(RECEIPTS, EVERYONE, by="test")
    assert "Receipts" not in await opened(slack, guest)
    await parley.grants.grant(RECEIPTS, Subject(f"user:{person(guest)}"), by="test")

    assert "Receipts" in await opened(slack, guest)


async def test_ones_own_questions_and_files_are_there(slack: SlackServer, parley: Bot, ada: User, bob: User) -> None:
    await parley.grants.grant(RECEIPTS, EVERYONE, by="test")
    talk = Talk(parley, audience=Private(person=person(bob)), person=person(bob), surface="web")
    await talk.say("what <!channel> is there?")
    await talk.say("export")

    words = await opened(slack, bob)

    assert "what <\u200b!channel> is there? · answered · " in words
    assert "receipts-3.csv · 3 rows · " in words
    assert "Download until " in words
    assert "receipts-3.csv" not in await opened(slack, ada)


async def test_the_messages_tab_publishes_nothing(slack: SlackServer, bob: User) -> None:
    delivered = await slack.open_home(bob, "messages")

    assert delivered.statuses == [200]
    assert slack.called("views.publish") == []


async def test_a_slack_that_does_not_take_the_view_is_acknowledged_all_the_same(slack: SlackServer, bob: User) -> None:
    slack.fail("views.publish", Fault(status=500), Fault(status=500), Fault(status=500))

    assert (await slack.open_home(bob)).statuses == [200]


# -- admins: what they see


async def test_admins_see_buckets_grants_admins_limits_and_questions(
    slack: SlackServer, parley: Bot, ada: User, bob: User
) -> None:
    turn = await Talk(parley, audience=Private(person=person(bob)), person=person(bob), surface="web").say("a secret?")
    await parley.feedback.record(turn.turn, person(bob), Verdict.BAD, "unhelpful")
    await parley.administration.change_limits({}, {Limit.PERSON_DAY: 1000}, by=OPERATOR)

    words = await opened(slack, ada)

    assert "Receipts of the house (receipts)\n3 documents · 0 grants" in words
    assert f"<@{ada.id}>" in words
    assert "1,000 questions per person in 24 hours" in words
    assert "a secret? · nothing you may see" in words
    assert "unhelpful" in words
    assert person(bob) not in words


async def test_more_questions_are_a_click_away(slack: SlackServer, parley: Bot, ada: User, bob: User) -> None:
    talk = Talk(parley, audience=Private(person=person(bob)), person=person(bob), surface="web")
    for number in range(12):
        await talk.say(f"secret {number}?")
    await opened(slack, ada)

    await slack.click_in_view(ada, "admin:questions")

    assert all(f"secret {number}?" in slack.view_of(ada).words() for number in range(12))


# -- admins: grants


async def bucket_modal(slack: SlackServer, user: User, bucket: BucketId = RECEIPTS) -> None:
    await opened(slack, user)
    section = next(
        block for block in slack.view_of(user).blocks if block.get("accessory", {}).get("value") == key(bucket)
    )
    home = slack.view_of(user)
    action = {**section["accessory"], "block_id": section["block_id"], "action_ts": "1"}
    payload = {
        **slack.interaction(user, "block_actions"),
        "container": {"type": "view", "view_id": home.id},
        "view": {**copy.deepcopy(home.content), "id": home.id, "hash": home.hash},
        "actions": [action],
    }
    assert (await slack.deliver_interaction(payload)).statuses == [200]
    assert slack.view_of(user).title() == "Grants"


async def test_every_kind_of_grant_is_given_in_the_modal_and_counts_at_once(
    slack: SlackServer, parley: Bot, ada: User, bob: User, general: Channel
) -> None:
    slack.workspace.add_group(Usergroup(id="S1", handle="sales", name="Sales"))
    await parley.groups.create("staff", "The staff", by="test")
    await bucket_modal(slack, ada)

    await slack.submit(
        ada,
        values={
            "everyone": ["yes"],
            "person": bob.id,
            "channel": general.id,
            "external": ["yes"],
            "group": key("S1"),
            "local": key("staff"),
        },
    )

    assert await grants(parley) == [
        (RECEIPTS, f"channel:slack:{TEAM}:{general.id}", True),
        (RECEIPTS, "everyone", False),
        (RECEIPTS, f"group:slack:{TEAM}:S1", False),
        (RECEIPTS, "group:staff", False),
        (RECEIPTS, f"user:slack:{TEAM}:{bob.id}", False),
    ]
    words = slack.view_of(ada).words()
    assert f"<#{general.id}> · guests and other organisations included" in words
    assert "may see this bucket now." in words
    assert not any(held.get("selected_user") for field in slack.view_of(ada).state.values() for held in field.values())
    assert {one.by for one in await Audit(parley.database).entries() if one.action == "grant"} == {person(ada)}
    assert "5 grants" in slack.workspace.homes[ada.id].words()
    assert "Receipts" in await opened(slack, bob)


async def test_what_is_granted_or_taken_in_the_modal_counts_at_the_next_question(
    slack: SlackServer, parley: Bot, ada: User, bob: User, general: Channel
) -> None:
    async def asked(text: str) -> str:
        """The answer that Bob gets in the channel, whole."""
        before = len(slack.workspace.answers())
        await slack.say(bob, general, f"<@{BOT_USER}> {text}")
        await slack.until(lambda: len(slack.workspace.answers()) > before)
        answer = slack.workspace.answers()[before]
        await finished(parley, TurnId((answer.metadata or {})["event_payload"]["turn"]))
        return answer.words()

    async with working(parley):
        assert await asked("all receipts") == "Nothing here."
        await bucket_modal(slack, ada)
        await slack.submit(ada, values={"channel": general.id})
        assert (await asked("all receipts")).startswith("There are 3.")
        await slack.click_in_view(ada, "grant:remove")
        assert await asked("all receipts") == "Nothing here."


@pytest.mark.parametrize(
    ("values", "field", "sentence"),
    [
        ({}, "person", "Choose somebody"),
        ({"external": ["yes"], "everyone": ["yes"]}, "external", "Choose the channel"),
        ({"channel": "D1DIRECT"}, "channel", "no channel"),
        ({"person": "U404"}, "person", "does not say who"),
        ({"person": "<!channel>"}, "person", "does not say who"),
        ({"group": "sales"}, "group", "begins with S"),
    ],
)
async def test_what_cannot_be_granted_is_said_at_its_field(
    slack: SlackServer, parley: Bot, ada: User, values: dict[str, Any], field: str, sentence: str
) -> None:
    await bucket_modal(slack, ada)

    await slack.submit(ada, values=values)

    assert sentence in slack.view_of(ada).errors[f"{field}:0"]
    assert await grants(parley) == []


async def test_a_slow_slack_takes_no_submission_beyond_what_slack_waits_for(
    slack: SlackServer, parley: Bot, ada: User, bob: User
) -> None:
    await bucket_modal(slack, ada)
    slack.fail("users.info", Fault(hang=True))
    slack.fail("views.publish", Fault(hang=True))

    delivered = await slack.submit(ada, values={"person": bob.id})

    assert delivered.statuses == [200]
    assert "does not say who" in slack.view_of(ada).errors["person:0"]


async def test_without_the_scope_a_user_group_is_named_by_its_id(slack: SlackServer, parley: Bot, ada: User) -> None:
    slack.fail("usergroups.list", *[Fault(status=500)] * 6)
    await bucket_modal(slack, ada)

    await slack.submit(ada, values={"group": "S77"})

    assert await grants(parley) == [(RECEIPTS, f"group:slack:{TEAM}:S77", False)]


async def test_a_grant_is_taken_back_by_its_button_once(slack: SlackServer, parley: Bot, ada: User) -> None:
    await parley.grants.grant(RECEIPTS, EVERYONE, by="test")
    await bucket_modal(slack, ada)
    before = copy.deepcopy(slack.view_of(ada))

    await slack.click_in_view(ada, "grant:remove")
    again = await slack.click_in_view(ada, "grant:remove", view=before)  # a second click, before the modal changed

    assert again.statuses == [200]
    assert await grants(parley) == []
    assert "Nobody may see this bucket yet." in slack.view_of(ada).words()
    assert [one.action for one in await Audit(parley.database).entries()] == ["revoke", "grant"]


async def test_grants_of_a_bucket_that_is_gone_can_only_be_taken_back(
    slack: SlackServer, parley: Bot, ada: User
) -> None:
    await parley.grants.grant(RECEIPTS, EVERYONE, by="test")
    await parley.index.drop_bucket(RECEIPTS)
    await bucket_modal(slack, ada)

    assert slack.view_of(ada).content.get("submit") is None
    await slack.click_in_view(ada, "grant:remove")

    assert await grants(parley) == []


# -- admins: admins and limits


async def test_an_admin_is_added_and_removed(slack: SlackServer, parley: Bot, ada: User, bob: User) -> None:
    await opened(slack, ada)
    await slack.click_in_view(ada, "admin:admins")
    await slack.submit(ada, values={"person": bob.id})
    assert "Administration" in await opened(slack, bob)
    assert f"<@{bob.id}> is an admin now." in slack.view_of(ada).words()

    await slack.click_in_view(ada, "admin:remove")

    assert [one.person for one in await parley.administration.admins(OPERATOR)] == [person(ada)]
    assert "Administration" not in await opened(slack, bob)
    actions = [(one.action, one.matter, one.by) for one in await Audit(parley.database).entries()]
    assert actions == [("admin.remove", person(bob), person(ada)), ("admin.add", person(bob), person(ada))]


async def test_a_guest_is_refused_as_admin_at_the_field(slack: SlackServer, parley: Bot, ada: User) -> None:
    guest = slack.workspace.add_user(User(id="U9GUEST", name="Guest", is_guest=True))
    await opened(slack, ada)
    await slack.click_in_view(ada, "admin:admins")

    await slack.submit(ada, values={"person": guest.id})

    assert "full member" in slack.view_of(ada).errors["person:0"]
    assert not await parley.administration.is_admin(person(guest))


async def test_who_removes_themself_is_told_and_loses_the_rest_of_the_tab(
    slack: SlackServer, parley: Bot, ada: User, bob: User
) -> None:
    await parley.administration.add_admin(person(bob), by=OPERATOR)
    await opened(slack, bob)
    await slack.click_in_view(bob, "admin:admins")

    await slack.click_in_view(bob, "admin:remove")

    assert slack.view_of(bob).words().endswith("You are no longer an admin.")
    assert "Administration" not in slack.workspace.homes[bob.id].words()


async def test_limits_are_saved_and_hold_and_what_changed_meanwhile_is_shown(
    slack: SlackServer, parley: Bot, ada: User, bob: User
) -> None:
    await opened(slack, ada)
    await slack.click_in_view(ada, "admin:limits")
    await parley.administration.change_limits({}, {Limit.TENANT_DAY: 7}, by=OPERATOR)

    await slack.submit(ada, values={"person_hour": "1"})

    assert "Somebody changed this" in slack.view_of(ada).words()
    assert await parley.administration.limits(OPERATOR) == {Limit.TENANT_DAY: 7}
    await slack.submit(ada, values={"person_hour": "1", "tenant_day": None})
    assert "Saved" in slack.view_of(ada).words()
    assert await parley.administration.limits(OPERATOR) == {Limit.PERSON_HOUR: 1}
    await parley.grants.grant(RECEIPTS, EVERYONE, by="test")
    talk = Talk(parley, audience=Private(person=person(bob)), person=person(bob), surface="web")
    assert [(await talk.say("all receipts")).error is None for _ in range(2)] == [True, False]


@pytest.mark.parametrize("value", ["0", "-3", "99999999999999999999"])
async def test_a_limit_that_cannot_be_is_said_at_its_field(
    slack: SlackServer, parley: Bot, ada: User, value: str
) -> None:
    await opened(slack, ada)
    await slack.click_in_view(ada, "admin:limits")

    await slack.submit(ada, values={"person_day": value})

    assert "whole number" in slack.view_of(ada).errors["person_day:0"]
    assert await parley.administration.limits(OPERATOR) == {}


# -- who may not, and what is not ours


async def test_who_lost_the_right_meanwhile_is_refused_in_the_modal(
    slack: SlackServer, parley: Bot, ada: User, bob: User
) -> None:
    await parley.administration.add_admin(person(bob), by=OPERATOR)
    await bucket_modal(slack, bob)
    await parley.administration.remove_admin(person(bob), by=person(ada))

    await slack.submit(bob, values={"everyone": ["yes"]})

    assert "you are not one now" in slack.view_of(bob).words()
    assert await grants(parley) == []
    assert "Administration" not in slack.workspace.homes[bob.id].words()


@pytest.mark.parametrize("action", ["admin:bucket", "admin:admins", "admin:limits", "admin:questions"])
async def test_a_tab_of_before_opens_nothing_for_who_is_no_admin_any_more(
    slack: SlackServer, parley: Bot, bob: User, action: str
) -> None:
    await parley.administration.add_admin(person(bob), by=OPERATOR)
    await opened(slack, bob)
    await parley.administration.remove_admin(person(bob), by=OPERATOR)

    await slack.click_in_view(bob, action)

    assert "you are not one now" in slack.view_of(bob).words()
    assert "Salaries" not in slack.view_of(bob).words()


async def forged(slack: SlackServer, user: User, kind: str, view: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A delivery that no client makes, with what was answered."""
    payload = {**slack.interaction(user, kind), "view": {"id": "V0", "hash": "0", **view}, **more}
    delivered = await slack.deliver_interaction(payload)
    assert delivered.statuses == [200]
    return json.loads(delivered.body or "{}")


STATE = {"values": {"everyone:0": {"everyone": {"type": "checkboxes", "selected_options": [{"value": "yes"}]}}}}


@pytest.mark.parametrize(
    ("callback", "metadata"),
    [
        ("admin:nothing", "{}"),
        ("admin:bucket", "not ours"),
        ("admin:bucket", "{}"),
        ("admin:bucket", json.dumps({"bucket": "receipts"})),
        ("admin:bucket", json.dumps({"bucket": key("nothing"), "first": 10**9})),
        ("admin:limits", json.dumps({"limits": {"person_day": "many"}})),
        ("grant:", "[]"),
        ("home", ""),
    ],
)
async def test_a_forged_submission_of_an_admin_changes_nothing_and_says_so(
    slack: SlackServer, parley: Bot, ada: User, callback: str, metadata: str
) -> None:
    view = {"type": "modal", "callback_id": callback, "private_metadata": metadata, "state": STATE}

    answer = await forged(slack, ada, "view_submission", view)

    check_view(answer["view"])
    assert "Nothing was changed" in json.dumps(answer["view"])
    assert await grants(parley) == []


@pytest.mark.parametrize("callback", ["admin:bucket", "admin:admins", "admin:limits"])
async def test_a_forged_submission_of_anybody_else_is_refused(
    slack: SlackServer, parley: Bot, bob: User, callback: str
) -> None:
    state = {
        "values": {**STATE["values"], "p": {"person": {"selected_user": bob.id}}, "l": {"person_day": {"value": "5"}}}
    }
    kept = json.dumps({"bucket": key(RECEIPTS)})
    view = {"type": "modal", "callback_id": callback, "private_metadata": kept, "state": state}

    answer = await forged(slack, bob, "view_submission", view)

    assert "you are not one now" in json.dumps(answer)
    assert await grants(parley) == []
    assert not await parley.administration.is_admin(person(bob))
    assert await parley.administration.limits(OPERATOR) == {}


@pytest.mark.parametrize("action", ["grant:remove", "admin:remove", "grant:page:next", "admin:else", "home:mine:next"])
@pytest.mark.parametrize("kind", ["modal", "home"])
async def test_a_forged_click_changes_nothing(
    slack: SlackServer, parley: Bot, ada: User, bob: User, action: str, kind: str
) -> None:
    await parley.grants.grant(RECEIPTS, EVERYONE, by="test")
    done = [{"type": "button", "action_id": action, "value": "\u0664" * 9}]
    for user in (ada, bob):
        await forged(slack, user, "block_actions", {"type": kind, "private_metadata": "{"}, actions=done)

    assert await grants(parley) == [(RECEIPTS, "everyone", False)]
    assert len(await parley.administration.admins(OPERATOR)) == 1


@pytest.mark.parametrize("name", ["homely", "some-admin:bucket", "my grant:remove"])
async def test_views_that_are_called_much_like_ours_are_not_ours(slack: SlackServer, ada: User, name: str) -> None:
    of_ada, action = slack.interaction(ada, "block_actions"), {"type": "button", "action_id": name, "value": ""}
    clicked = {**of_ada, "view": {"id": "V0", "type": "home", "hash": "0"}, "actions": [action]}
    view = {"id": "V0", "type": "modal", "hash": "0", "callback_id": name, "private_metadata": "{}", "state": STATE}
    submitted = {**slack.interaction(ada, "view_submission"), "view": view}

    assert [(await slack.deliver_interaction(one)).statuses for one in (clicked, submitted)] == [[404], [404]]


# -- sizes and words


async def test_hostile_words_are_paged_through_and_none_of_them_is_live(
    slack: SlackServer, parley: Bot, ada: User
) -> None:
    for number in range(30):
        bucket = BucketId(f"b{number:02}" + "\u0644" * 60)
        schema = Schema(bucket=bucket, title=f"{number:02} {HOSTILE}", description=HOSTILE, synonyms=(HOSTILE,))
        await parley.index.set_schema(schema)
        await parley.grants.grant(bucket, EVERYONE, by="test")
    talk = Talk(parley, audience=Private(person=person(ada)), person=person(ada), surface="web")
    turn = await talk.say(HOSTILE[:9_000])
    await parley.feedback.record(turn.turn, person(ada), Verdict.BAD, HOSTILE)
    seen: set[str] = set()

    await opened(slack, ada)
    for _ in range(30):
        home = slack.view_of(ada)
        assert [one for one in live_mentions(home.content) if one != "<@"] == []
        seen |= {number for number in (f"{n:02}" for n in range(30)) if f"{number} <\u200b!channel>" in home.words()}
        if not any(button["action_id"] == "home:mine:next" for button in home.buttons()):
            break
        assert (await slack.click_in_view(ada, "home:mine:next")).statuses == [200]

    assert len(seen) == 30
    assert "25 to 30 of 30" in slack.view_of(ada).words()
    await slack.click_in_view(ada, "admin:questions")
    assert slack.view_of(ada).title() == "Questions"
    assert live_mentions(slack.view_of(ada).content) == []


async def test_many_grants_are_paged_and_the_last_can_be_removed(slack: SlackServer, parley: Bot, ada: User) -> None:
    for number in range(70):
        await parley.grants.grant(RECEIPTS, Subject(f"user:slack:{TEAM}:U{number:04}"), by="test")
    await bucket_modal(slack, ada)

    for _ in range(2):
        await slack.click_in_view(ada, "grant:page:next")
    view = slack.view_of(ada)
    assert "61 to 70 of 70" in view.words()
    assert "<@U0069>" in view.words()
    await slack.click_in_view(ada, "grant:remove")

    assert len(await grants(parley)) == 69
    assert "61 to 69 of 69" in slack.view_of(ada).words()
    await slack.click_in_view(ada, "grant:page:back")
    assert "31 to 60 of 69" in slack.view_of(ada).words()


async def test_more_groups_than_a_menu_holds_are_named_by_their_id(slack: SlackServer, parley: Bot, ada: User) -> None:
    for number in range(101):
        slack.workspace.add_group(Usergroup(id=f"S{number}", handle=HOSTILE, name=HOSTILE))
        await parley.groups.create(f"g{number}", HOSTILE, by="test")
    await bucket_modal(slack, ada)

    await slack.submit(ada, values={"group": "S100", "local": "g100"})

    assert await grants(parley) == [
        (RECEIPTS, "group:g100", False),
        (RECEIPTS, f"group:slack:{TEAM}:S100", False),
    ]


async def test_a_tab_shown_anew_meanwhile_gives_way_to_what_is_true_now(
    slack: SlackServer, parley: Bot, bob: User
) -> None:
    for number in range(20):
        await parley.index.set_schema(Schema(bucket=BucketId(f"b{number:02}"), title=f"Title {number:02}"))
        await parley.grants.grant(BucketId(f"b{number:02}"), EVERYONE, by="test")
    await opened(slack, bob)
    old = copy.deepcopy(slack.view_of(bob))
    await opened(slack, bob)

    await slack.click_in_view(bob, "home:mine:next", view=old)

    assert "Title 19" in slack.view_of(bob).words()


@pytest.mark.parametrize("grid", ["E1GRID"], indirect=True)
async def test_on_an_enterprise_grid_people_are_of_the_grid_and_channels_of_their_workspace(
    slack: SlackServer, parley: Bot, general: Channel, grid: str
) -> None:
    cyd, dee = [slack.workspace.add_user(User(id=id_, name=id_, enterprise=grid)) for id_ in ("U3CYD", "U4DEE")]
    await parley.administration.add_admin(PersonId(f"slack:{grid}:U3CYD"), by=OPERATOR)
    await bucket_modal(slack, cyd)

    await slack.submit(cyd, values={"person": dee.id, "channel": general.id})

    assert await grants(parley) == [
        (RECEIPTS, f"channel:slack:{TEAM}:{general.id}", False),
        (RECEIPTS, f"user:slack:{grid}:{dee.id}", False),
    ]
    assert f"<@{dee.id}>" in slack.view_of(cyd).words()
    assert "Receipts" in await opened(slack, dee)
