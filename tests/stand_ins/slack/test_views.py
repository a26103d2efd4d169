"""Home tabs and modals are as strict as Slack's: triggers, hashes, stacks, and what an app may answer."""

from typing import Any

import pytest

from tests.stand_ins.slack.checker import Refused
from tests.stand_ins.slack.conftest import App, Client
from tests.stand_ins.slack.server import NotPossible, SlackServer
from tests.stand_ins.slack.workspace import User


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def a_home(text: str = "Welcome", **more: Any) -> dict[str, Any]:
    button = {"type": "button", "action_id": "add", "text": plain("Add"), "value": "v"}
    blocks = [{"type": "section", "text": plain(text)}, {"type": "actions", "block_id": "b", "elements": [button]}]
    return {"type": "home", "blocks": blocks, **more}


def a_modal(title: str = "Grant", **more: Any) -> dict[str, Any]:
    typed = {"type": "plain_text_input", "action_id": "typed", "max_length": 5}
    blocks = [{"type": "input", "block_id": "who", "label": plain("Who"), "element": typed}]
    return {"type": "modal", "title": plain(title), "submit": plain("Save"), "blocks": blocks, **more}


@pytest.fixture(autouse=True)
def home_tab(slack: SlackServer) -> None:
    slack.home_tab, slack.events = True, frozenset({"app_home_opened"})


async def opened(slack: SlackServer, client: Client, ada: User, **view: Any) -> None:
    assert (await client.call("views.open", trigger_id=slack.trigger_id(ada), view=a_modal(**view)))["ok"]


async def test_a_home_is_kept_for_its_person(slack: SlackServer, client: Client, ada: User) -> None:
    answer = await client.call("views.publish", user_id="U1", view=a_home())

    assert answer["ok"]
    assert slack.view_of(ada).words() == "WelcomeAdd"
    assert slack.view_of(ada).id == answer["view"]["id"]


async def test_a_home_is_changed_in_place_and_its_hash_with_it(slack: SlackServer, client: Client) -> None:
    first = await client.call("views.publish", user_id="U1", view=a_home())
    again = await client.call("views.publish", user_id="U1", view=a_home(), hash=first["view"]["hash"])
    late = await client.call("views.publish", user_id="U1", view=a_home(), hash=first["view"]["hash"])

    assert first["view"]["id"] == again["view"]["id"]
    assert late["error"] == "hash_conflict"


async def test_no_home_without_the_tab(slack: SlackServer, client: Client, ada: User) -> None:
    slack.home_tab = False
    assert (await client.call("views.publish", user_id="U1", view=a_home()))["error"] == "not_enabled"
    with pytest.raises(NotPossible):
        await slack.open_home(ada)


async def test_a_modal_is_not_published_and_a_home_not_opened(slack: SlackServer, client: Client, ada: User) -> None:
    published = await client.call("views.publish", user_id="U1", view=a_modal())
    shown = await client.call("views.open", trigger_id=slack.trigger_id(ada), view=a_home())
    assert {published["error"], shown["error"]} == {"invalid_arguments"}


async def test_a_trigger_opens_once(slack: SlackServer, client: Client, ada: User) -> None:
    trigger = slack.trigger_id(ada)
    first, second = [await client.call("views.open", trigger_id=trigger, view=a_modal()) for _ in range(2)]
    assert first["ok"]
    assert second["error"] == "exchanged_trigger_id"


async def test_a_trigger_lives_for_three_seconds(slack: SlackServer, client: Client, ada: User) -> None:
    now = 1_000.0
    slack.clock = lambda: now
    trigger = slack.trigger_id(ada)
    now += 3.1
    assert (await client.call("views.open", trigger_id=trigger, view=a_modal()))["error"] == "expired_trigger_id"


async def test_a_trigger_that_was_never_given_is_invalid(client: Client) -> None:
    assert (await client.call("views.open", trigger_id="1.2.x", view=a_modal()))["error"] == "invalid_trigger_id"


async def test_modals_stack_up_to_three(slack: SlackServer, client: Client, ada: User) -> None:
    await opened(slack, client, ada)
    pushes = [await client.call("views.push", trigger_id=slack.trigger_id(ada), view=a_modal(str(n))) for n in range(3)]

    assert [push["ok"] for push in pushes] == [True, True, False]
    assert pushes[2]["error"] == "push_limit_reached"
    assert [view.title() for view in slack.modals_of(ada)] == ["Grant", "0", "1"]
    assert slack.view_of(ada).previous == slack.modals_of(ada)[1].id


async def test_nothing_is_pushed_onto_nothing(slack: SlackServer, client: Client, ada: User) -> None:
    answer = await client.call("views.push", trigger_id=slack.trigger_id(ada), view=a_modal())
    assert answer["error"] == "not_found"


async def test_a_modal_is_updated_by_id_or_external_id(slack: SlackServer, client: Client, ada: User) -> None:
    await opened(slack, client, ada, external_id="e1")
    view = slack.view_of(ada)

    by_id = await client.call("views.update", view_id=view.id, view=a_modal("One", external_id="e1"))
    by_name = await client.call("views.update", external_id="e1", view=a_modal("Two", external_id="e1"))
    late = await client.call("views.update", view_id=view.id, hash=by_id["view"]["hash"], view=a_modal("Three"))

    assert by_id["ok"]
    assert by_name["ok"]
    assert late["error"] == "hash_conflict"
    assert slack.view_of(ada).title() == "Two"


async def test_a_closed_modal_is_not_updated(slack: SlackServer, client: Client, ada: User) -> None:
    await opened(slack, client, ada)
    view = slack.view_of(ada)
    await slack.close(ada)
    assert (await client.call("views.update", view_id=view.id, view=a_modal()))["error"] == "not_found"


async def test_an_update_names_one_view(client: Client) -> None:
    assert (await client.call("views.update", view=a_modal()))["error"] == "invalid_arguments"


async def test_an_external_id_is_taken_once(slack: SlackServer, client: Client, ada: User) -> None:
    await client.call("views.publish", user_id="U1", view=a_home(external_id="e1"))
    answer = await client.call("views.open", trigger_id=slack.trigger_id(ada), view=a_modal(external_id="e1"))
    assert answer["error"] == "duplicate_external_id"


async def test_opening_the_home_tells_the_app_and_shows_what_is_published(
    slack: SlackServer, client: Client, ada: User, app: App
) -> None:
    await slack.open_home(ada)
    await client.call("views.publish", user_id="U1", view=a_home())
    await slack.open_home(ada)
    await slack.open_home(ada, "messages")

    events = [told["event"] for told in app.received]
    assert [(event["tab"], "view" in event) for event in events] == [
        ("home", False),
        ("home", True),
        ("messages", False),
    ]
    assert {event["channel"] for event in events} == {slack.workspace.direct("U1").id}


async def test_an_app_that_is_not_subscribed_hears_nothing(slack: SlackServer, ada: User, app: App) -> None:
    slack.events = frozenset()
    assert (await slack.open_home(ada)).statuses == []
    assert app.received == []


async def test_a_click_tells_the_view_and_brings_a_trigger(
    slack: SlackServer, client: Client, ada: User, app: App
) -> None:
    await client.call("views.publish", user_id="U1", view=a_home(private_metadata="kept"))

    assert (await slack.click_in_view(ada, "Add")).statuses == [200]

    [told] = app.received
    assert (told["type"], told["container"]["type"], told["view"]["private_metadata"]) == (
        "block_actions",
        "view",
        "kept",
    )
    assert [(action["block_id"], action["action_id"], action["value"]) for action in told["actions"]] == [
        ("b", "add", "v")
    ]
    assert (await client.call("views.open", trigger_id=told["trigger_id"], view=a_modal()))["ok"]


async def test_nobody_clicks_what_is_not_there(slack: SlackServer, client: Client, ada: User) -> None:
    await client.call("views.publish", user_id="U1", view=a_home())
    with pytest.raises(NotPossible, match="Remove"):
        await slack.click_in_view(ada, "Remove")


async def test_a_submission_carries_what_was_typed_and_closes(
    slack: SlackServer, client: Client, ada: User, app: App
) -> None:
    await opened(slack, client, ada, callback_id="grant")

    await slack.submit(ada, values={"typed": "Bob"})

    [told] = app.received
    assert (told["type"], told["view"]["callback_id"]) == ("view_submission", "grant")
    assert told["view"]["state"]["values"] == {"who": {"typed": {"type": "plain_text_input", "value": "Bob"}}}
    assert slack.modals_of(ada) == []


@pytest.mark.parametrize("values", [{}, {"typed": ""}, {"typed": "far too long"}, {"nowhere": "x"}])
async def test_the_client_keeps_back_what_cannot_be_submitted(
    slack: SlackServer, client: Client, ada: User, app: App, values: dict[str, Any]
) -> None:
    await opened(slack, client, ada)
    with pytest.raises(NotPossible):
        await slack.submit(ada, values=values)
    assert app.received == []


async def test_errors_keep_the_modal_and_stand_at_their_block(
    slack: SlackServer, client: Client, ada: User, app: App
) -> None:
    await opened(slack, client, ada)
    app.answers = [{"response_action": "errors", "errors": {"who": "No such person."}}]

    await slack.submit(ada, values={"typed": "Bob"})

    assert slack.view_of(ada).errors == {"who": "No such person."}
    assert slack.view_of(ada).state["who"]["typed"]["value"] == "Bob"


async def test_an_answer_updates_pushes_or_clears(slack: SlackServer, client: Client, ada: User, app: App) -> None:
    await opened(slack, client, ada)
    app.answers = [
        {"response_action": "update", "view": a_modal("Next")},
        {"response_action": "push", "view": a_modal("Top")},
        {"response_action": "clear"},
    ]
    seen: list[list[str]] = []
    for _ in range(3):
        await slack.submit(ada, values={"typed": "Bob"})
        seen.append([view.title() for view in slack.modals_of(ada)])
    assert seen == [["Next"], ["Next", "Top"], []]


@pytest.mark.parametrize(
    "answer",
    [
        {"response_action": "shake"},
        {"response_action": "errors", "errors": {}},
        {"response_action": "errors", "errors": {"elsewhere": "x"}},
        {"response_action": "errors", "errors": {"who": " "}},
        {"response_action": "update", "view": a_home()},
        {"response_action": "update", "view": a_modal("x" * 25)},
        {"response_action": "push"},
        ["clear"],
    ],
)
async def test_an_answer_that_slack_would_not_understand_is_refused(
    slack: SlackServer, client: Client, ada: User, app: App, answer: object
) -> None:
    await opened(slack, client, ada)
    app.answers = [answer]
    with pytest.raises(Refused):
        await slack.submit(ada, values={"typed": "Bob"})


async def test_a_submission_that_fails_leaves_the_modal(
    slack: SlackServer, client: Client, ada: User, app: App
) -> None:
    await opened(slack, client, ada)
    app.statuses = [500]
    assert (await slack.submit(ada, values={"typed": "Bob"})).statuses == [500]
    assert len(slack.modals_of(ada)) == 1


async def test_closing_is_told_where_the_app_wants_to_know(
    slack: SlackServer, client: Client, ada: User, app: App
) -> None:
    await opened(slack, client, ada, notify_on_close=True)
    await client.call("views.push", trigger_id=slack.trigger_id(ada), view=a_modal("Top"))

    await slack.close(ada)
    await slack.close(ada)

    assert [(told["type"], told["is_cleared"]) for told in app.received] == [("view_closed", False)]


async def test_what_stands_in_a_field_outlives_an_update(
    slack: SlackServer, client: Client, ada: User, app: App
) -> None:
    menu = {
        "type": "static_select",
        "action_id": "m",
        "options": [{"text": plain(one), "value": one} for one in ("a", "b")],
    }
    blocks = [{"type": "actions", "block_id": "b", "elements": [menu]}]
    await client.call("views.publish", user_id="U1", view={"type": "home", "blocks": blocks})

    await slack.click_in_view(ada, "m", "b")
    await client.call("views.publish", user_id="U1", view={"type": "home", "blocks": blocks})
    await slack.click_in_view(ada, "m", "a")

    values = [told["view"]["state"]["values"]["b"]["m"]["selected_option"]["value"] for told in app.received]
    assert values == ["b", "a"]
    with pytest.raises(NotPossible):
        await slack.click_in_view(ada, "m", "c")
