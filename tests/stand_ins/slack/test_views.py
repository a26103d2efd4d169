"""Home tabs and modals are as strict as Slack's: triggers, hashes, stacks, and the app's answers."""

from typing import Any

import pytest

from tests.stand_ins.slack.checker import PayloadRefused
from tests.stand_ins.slack.conftest import RecordingApp, WebApiClient
from tests.stand_ins.slack.server import ActionNotPossible, SlackServer
from tests.stand_ins.slack.workspace import SlackMember


def plain_text_of(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def a_home(text: str = "Welcome", **more: Any) -> dict[str, Any]:
    button = {"type": "button", "action_id": "add", "text": plain_text_of("Add"), "value": "v"}
    blocks = [
        {"type": "section", "text": plain_text_of(text)},
        {"type": "actions", "block_id": "b", "elements": [button]},
    ]
    return {"type": "home", "blocks": blocks, **more}


def a_modal(title: str = "Grant", **more: Any) -> dict[str, Any]:
    text_input = {"type": "plain_text_input", "action_id": "typed", "max_length": 5}
    blocks = [{"type": "input", "block_id": "who", "label": plain_text_of("Who"), "element": text_input}]
    return {"type": "modal", "title": plain_text_of(title), "submit": plain_text_of("Save"), "blocks": blocks, **more}


@pytest.fixture(autouse=True)
def home_tab(slack: SlackServer) -> None:
    slack.home_tab, slack.events = True, frozenset({"app_home_opened"})


async def open_modal(slack: SlackServer, client: WebApiClient, ada: SlackMember, **view: Any) -> None:
    assert (await client.call_method("views.open", trigger_id=slack.create_trigger_id(ada), view=a_modal(**view)))["ok"]


async def test_a_home_tab_is_stored_for_its_person(slack: SlackServer, client: WebApiClient, ada: SlackMember) -> None:
    answer = await client.call_method("views.publish", user_id="U1", view=a_home())

    assert answer["ok"]
    assert slack.view_of(ada).visible_text() == "WelcomeAdd"
    assert slack.view_of(ada).id == answer["view"]["id"]


async def test_a_home_tab_is_updated_in_place_with_a_new_hash(slack: SlackServer, client: WebApiClient) -> None:
    first = await client.call_method("views.publish", user_id="U1", view=a_home())
    second = await client.call_method("views.publish", user_id="U1", view=a_home(), hash=first["view"]["hash"])
    third = await client.call_method("views.publish", user_id="U1", view=a_home(), hash=first["view"]["hash"])

    assert first["view"]["id"] == second["view"]["id"]
    assert third["error"] == "hash_conflict"


async def test_a_home_tab_needs_the_tab_in_the_manifest(
    slack: SlackServer, client: WebApiClient, ada: SlackMember
) -> None:
    slack.home_tab = False
    assert (await client.call_method("views.publish", user_id="U1", view=a_home()))["error"] == "not_enabled"
    with pytest.raises(ActionNotPossible):
        await slack.open_home(ada)


async def test_a_modal_cannot_be_published_and_a_home_tab_cannot_be_opened(
    slack: SlackServer, client: WebApiClient, ada: SlackMember
) -> None:
    published = await client.call_method("views.publish", user_id="U1", view=a_modal())
    opened_home = await client.call_method("views.open", trigger_id=slack.create_trigger_id(ada), view=a_home())
    assert {published["error"], opened_home["error"]} == {"invalid_arguments"}


async def test_a_trigger_opens_one_modal(slack: SlackServer, client: WebApiClient, ada: SlackMember) -> None:
    trigger = slack.create_trigger_id(ada)
    first, second = [await client.call_method("views.open", trigger_id=trigger, view=a_modal()) for _ in range(2)]
    assert first["ok"]
    assert second["error"] == "exchanged_trigger_id"


async def test_a_trigger_expires_after_three_seconds(
    slack: SlackServer, client: WebApiClient, ada: SlackMember
) -> None:
    now = 1_000.0
    slack.clock = lambda: now
    trigger = slack.create_trigger_id(ada)
    now += 3.1
    assert (await client.call_method("views.open", trigger_id=trigger, view=a_modal()))["error"] == "expired_trigger_id"


async def test_an_unknown_trigger_is_invalid(client: WebApiClient) -> None:
    assert (await client.call_method("views.open", trigger_id="1.2.x", view=a_modal()))["error"] == "invalid_trigger_id"


async def test_modals_stack_up_to_three(slack: SlackServer, client: WebApiClient, ada: SlackMember) -> None:
    await open_modal(slack, client, ada)
    pushes = [
        await client.call_method("views.push", trigger_id=slack.create_trigger_id(ada), view=a_modal(str(n)))
        for n in range(3)
    ]

    assert [push["ok"] for push in pushes] == [True, True, False]
    assert pushes[2]["error"] == "push_limit_reached"
    assert [view.title_text() for view in slack.modals_of(ada)] == ["Grant", "0", "1"]
    assert slack.view_of(ada).previous == slack.modals_of(ada)[1].id


async def test_a_push_needs_an_open_modal(slack: SlackServer, client: WebApiClient, ada: SlackMember) -> None:
    answer = await client.call_method("views.push", trigger_id=slack.create_trigger_id(ada), view=a_modal())
    assert answer["error"] == "not_found"


async def test_a_modal_is_updated_by_id_or_external_id(
    slack: SlackServer, client: WebApiClient, ada: SlackMember
) -> None:
    await open_modal(slack, client, ada, external_id="e1")
    view = slack.view_of(ada)

    by_id = await client.call_method("views.update", view_id=view.id, view=a_modal("One", external_id="e1"))
    by_external_id = await client.call_method("views.update", external_id="e1", view=a_modal("Two", external_id="e1"))
    with_old_hash = await client.call_method(
        "views.update", view_id=view.id, hash=by_id["view"]["hash"], view=a_modal("Three")
    )

    assert by_id["ok"]
    assert by_external_id["ok"]
    assert with_old_hash["error"] == "hash_conflict"
    assert slack.view_of(ada).title_text() == "Two"


async def test_a_closed_modal_is_not_updated(slack: SlackServer, client: WebApiClient, ada: SlackMember) -> None:
    await open_modal(slack, client, ada)
    view = slack.view_of(ada)
    await slack.close_modal(ada)
    assert (await client.call_method("views.update", view_id=view.id, view=a_modal()))["error"] == "not_found"


async def test_an_update_needs_one_view(client: WebApiClient) -> None:
    assert (await client.call_method("views.update", view=a_modal()))["error"] == "invalid_arguments"


async def test_an_external_id_is_unique(slack: SlackServer, client: WebApiClient, ada: SlackMember) -> None:
    await client.call_method("views.publish", user_id="U1", view=a_home(external_id="e1"))
    answer = await client.call_method(
        "views.open", trigger_id=slack.create_trigger_id(ada), view=a_modal(external_id="e1")
    )
    assert answer["error"] == "duplicate_external_id"


async def test_opening_the_home_tab_delivers_an_event_with_the_published_view(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    await slack.open_home(ada)
    await client.call_method("views.publish", user_id="U1", view=a_home())
    await slack.open_home(ada)
    await slack.open_home(ada, "messages")

    events = [payload["event"] for payload in app.received]
    assert [(event["tab"], "view" in event) for event in events] == [
        ("home", False),
        ("home", True),
        ("messages", False),
    ]
    assert {event["channel"] for event in events} == {slack.workspace.direct_channel_of("U1").id}


async def test_an_app_without_a_subscription_receives_no_event(
    slack: SlackServer, ada: SlackMember, app: RecordingApp
) -> None:
    slack.events = frozenset()
    assert (await slack.open_home(ada)).statuses == []
    assert app.received == []


async def test_a_click_delivers_the_view_and_a_trigger(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    await client.call_method("views.publish", user_id="U1", view=a_home(private_metadata="kept"))

    assert (await slack.click_in_view(ada, "Add")).statuses == [200]

    [payload] = app.received
    assert (payload["type"], payload["container"]["type"], payload["view"]["private_metadata"]) == (
        "block_actions",
        "view",
        "kept",
    )
    assert [(action["block_id"], action["action_id"], action["value"]) for action in payload["actions"]] == [
        ("b", "add", "v")
    ]
    assert (await client.call_method("views.open", trigger_id=payload["trigger_id"], view=a_modal()))["ok"]


async def test_a_missing_button_cannot_be_clicked(slack: SlackServer, client: WebApiClient, ada: SlackMember) -> None:
    await client.call_method("views.publish", user_id="U1", view=a_home())
    with pytest.raises(ActionNotPossible, match="Remove"):
        await slack.click_in_view(ada, "Remove")


async def test_a_submission_carries_the_typed_value_and_closes_the_modal(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    await open_modal(slack, client, ada, callback_id="grant")

    await slack.submit_modal(ada, values={"typed": "Bob"})

    [payload] = app.received
    assert (payload["type"], payload["view"]["callback_id"]) == ("view_submission", "grant")
    assert payload["view"]["state"]["values"] == {"who": {"typed": {"type": "plain_text_input", "value": "Bob"}}}
    assert slack.modals_of(ada) == []


@pytest.mark.parametrize("values", [{}, {"typed": ""}, {"typed": "far too long"}, {"nowhere": "x"}])
async def test_invalid_values_cannot_be_submitted(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp, values: dict[str, Any]
) -> None:
    await open_modal(slack, client, ada)
    with pytest.raises(ActionNotPossible):
        await slack.submit_modal(ada, values=values)
    assert app.received == []


async def test_errors_keep_the_modal_open_and_belong_to_a_block(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    await open_modal(slack, client, ada)
    app.answers = [{"response_action": "errors", "errors": {"who": "No such person."}}]

    await slack.submit_modal(ada, values={"typed": "Bob"})

    assert slack.view_of(ada).errors == {"who": "No such person."}
    assert slack.view_of(ada).state["who"]["typed"]["value"] == "Bob"


async def test_an_answer_can_update_push_or_clear(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    await open_modal(slack, client, ada)
    app.answers = [
        {"response_action": "update", "view": a_modal("Next")},
        {"response_action": "push", "view": a_modal("Top")},
        {"response_action": "clear"},
    ]
    title_stacks: list[list[str]] = []
    for _ in range(3):
        await slack.submit_modal(ada, values={"typed": "Bob"})
        title_stacks.append([view.title_text() for view in slack.modals_of(ada)])
    assert title_stacks == [["Next"], ["Next", "Top"], []]


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
async def test_an_invalid_answer_is_refused(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp, answer: object
) -> None:
    await open_modal(slack, client, ada)
    app.answers = [answer]
    with pytest.raises(PayloadRefused):
        await slack.submit_modal(ada, values={"typed": "Bob"})


async def test_a_failed_submission_keeps_the_modal(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    await open_modal(slack, client, ada)
    app.statuses = [500]
    assert (await slack.submit_modal(ada, values={"typed": "Bob"})).statuses == [500]
    assert len(slack.modals_of(ada)) == 1


async def test_closing_is_delivered_when_the_app_asks_for_it(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    await open_modal(slack, client, ada, notify_on_close=True)
    await client.call_method("views.push", trigger_id=slack.create_trigger_id(ada), view=a_modal("Top"))

    await slack.close_modal(ada)
    await slack.close_modal(ada)

    assert [(payload["type"], payload["is_cleared"]) for payload in app.received] == [("view_closed", False)]


async def test_the_value_of_a_field_survives_an_update(
    slack: SlackServer, client: WebApiClient, ada: SlackMember, app: RecordingApp
) -> None:
    menu = {
        "type": "static_select",
        "action_id": "m",
        "options": [{"text": plain_text_of(letter), "value": letter} for letter in ("a", "b")],
    }
    blocks = [{"type": "actions", "block_id": "b", "elements": [menu]}]
    await client.call_method("views.publish", user_id="U1", view={"type": "home", "blocks": blocks})

    await slack.click_in_view(ada, "m", "b")
    await client.call_method("views.publish", user_id="U1", view={"type": "home", "blocks": blocks})
    await slack.click_in_view(ada, "m", "a")

    values = [payload["view"]["state"]["values"]["b"]["m"]["selected_option"]["value"] for payload in app.received]
    assert values == ["b", "a"]
    with pytest.raises(ActionNotPossible):
        await slack.click_in_view(ada, "m", "c")
