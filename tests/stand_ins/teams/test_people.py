"""People write and click, and the app receives what Teams would deliver."""

from typing import Any

import pytest

from tests.stand_ins.teams.conftest import ConnectorClient, TeamsRecordingApp
from tests.stand_ins.teams.server import TeamsActionNotPossible, TeamsServer
from tests.stand_ins.teams.tenancy import ADAPTIVE_CARD, TenantConversation, TenantMessage, TenantPerson

SUBMIT = {"type": "Action.Submit", "title": "Pumps (3)", "data": {"parley": "choice", "id": "c1"}}


async def test_what_a_person_writes_is_delivered_with_their_ids(
    teams: TeamsServer, app: TeamsRecordingApp, ada: TenantPerson
) -> None:
    _, deliveries = await teams.say(ada, None, "pumps < 5 bar?")

    activity = app.received[0]
    assert [delivery.status for delivery in deliveries] == [202]
    assert activity["text"] == "pumps &lt; 5 bar?"
    assert activity["from"]["aadObjectId"] == ada.object_id
    assert activity["conversation"] == {
        "conversationType": "personal",
        "tenantId": teams.tenant.id,
        "id": teams.tenant.personal_chat_of(ada).id,
    }
    assert activity["serviceUrl"] == teams.service_url


async def test_a_group_delivers_only_what_mentions_the_bot(
    teams: TeamsServer, app: TeamsRecordingApp, ada: TenantPerson, group: TenantConversation
) -> None:
    _, without = await teams.say(ada, group, "hello", mention=False)
    await teams.say(ada, group, "hello")
    await teams.say(ada, group, "what does @Parley know?")

    assert without == []
    assert [activity["text"] for activity in app.received] == [
        "<at>Parley</at> hello",
        "what does <at>Parley</at> know?",
    ]
    assert app.received[0]["entities"][0]["mentioned"]["id"] == teams.tenant.bot_id


async def test_a_click_is_a_message_with_a_value_in_reply_to_the_card(
    teams: TeamsServer, app: TeamsRecordingApp, client: ConnectorClient, ada: TenantPerson, chat: TenantConversation
) -> None:
    button = {"type": "Action.Submit", "title": "Pumps (3)", "data": {"parley": "choice", "id": "c1"}}
    card = {"type": "AdaptiveCard", "version": "1.5", "body": [], "actions": [button]}
    await client.send(chat.id, attachments=[{"contentType": ADAPTIVE_CARD, "content": card}])
    message = teams.tenant.bot_messages(chat)[0]

    await teams.click(ada, message, "Pumps")

    activity = app.received[0]
    assert (activity["type"], activity["replyToId"]) == ("message", message.id)
    assert activity["value"] == {"parley": "choice", "id": "c1"}
    assert "text" not in activity


async def send_card(
    teams: TeamsServer, client: ConnectorClient, conversation: TenantConversation, card: dict[str, Any], **fields: Any
) -> TenantMessage:
    content: dict[str, Any] = {"type": "AdaptiveCard", "version": "1.5", "body": [], **card}
    sent = await client.send(
        conversation.id, attachments=[{"contentType": ADAPTIVE_CARD, "content": content}], **fields
    )
    assert sent.status == 201, sent.body
    return teams.tenant.bot_messages(conversation)[-1]


async def test_an_answer_in_a_channel_stays_in_its_thread(
    teams: TeamsServer, app: TeamsRecordingApp, client: ConnectorClient, ada: TenantPerson, channel: TenantConversation
) -> None:
    first, _ = await teams.say(ada, channel, "hello")
    address = app.received[0]["conversation"]["id"]
    await client.send(address, text="answer")
    await client.send(channel.id, text="a thread of its own")
    await teams.say(ada, channel, "more", thread=first)

    assert address == f"{channel.id};messageid={first.id}"
    assert [message.thread == first.id for message in teams.tenant.bot_messages(channel)] == [True, False]
    assert [message.text for message in teams.tenant.messages_in(channel, first.id)][1] == "answer"
    assert app.received[1]["conversation"]["id"] == address
    assert channel.team is not None
    assert app.received[0]["channelData"]["team"]["id"] == channel.team.id
    assert (await client.send(f"{channel.id};messageid=1", text="nowhere")).status == 404


async def test_edits_and_deletions_are_delivered(
    teams: TeamsServer, app: TeamsRecordingApp, ada: TenantPerson, channel: TenantConversation
) -> None:
    message, _ = await teams.say(ada, channel, "pumps?")
    await teams.edit_message(message, "valves?")
    without_mention = await teams.edit_message(message, "valves!", mention=False)
    await teams.delete_message(message)
    await teams.restore_message(message)

    assert without_mention.statuses == []
    assert [(activity["type"], activity["channelData"].get("eventType")) for activity in app.received] == [
        ("message", None),
        ("messageUpdate", "editMessage"),
        ("messageDelete", "softDeleteMessage"),
        ("messageUpdate", "undeleteMessage"),
    ]
    assert {activity["id"] for activity in app.received} == {message.id}


async def test_people_of_other_organisations_write_with_their_own_ids(
    teams: TeamsServer, app: TeamsRecordingApp, ada: TenantPerson
) -> None:
    guest, stranger = teams.tenant.add_guest("Gil"), teams.tenant.add_federated_person("Fay")
    group = teams.tenant.add_group_chat("Mixed", ada, guest, stranger)
    for person in (guest, stranger):
        await teams.say(person, group, "hello")
    await teams.say(stranger, None, "hello")

    assert [activity["from"]["aadObjectId"] for activity in app.received[:2]] == [guest.object_id, stranger.object_id]
    assert [activity["channelData"]["tenant"]["id"] for activity in app.received] == [
        teams.tenant.id,
        teams.tenant.id,
        stranger.tenant,
    ]


async def test_only_members_act(
    teams: TeamsServer, app: TeamsRecordingApp, client: ConnectorClient, ada: TenantPerson, bob: TenantPerson,
    chat: TenantConversation, group: TenantConversation,
) -> None:  # fmt: skip
    message = await send_card(teams, client, chat, {"actions": [SUBMIT]})
    teams.tenant.deactivate_person(ada)

    for person, conversation in ((ada, group), (bob, chat)):
        with pytest.raises(TeamsActionNotPossible):
            await teams.say(person, conversation, "hello")
    with pytest.raises(TeamsActionNotPossible):
        await teams.click(bob, message, "Pumps")
    assert app.received == []


async def test_a_choice_is_submitted_with_its_button(
    teams: TeamsServer, app: TeamsRecordingApp, client: ConnectorClient, ada: TenantPerson, chat: TenantConversation
) -> None:
    choices = [{"title": "P-101 (3)", "value": "c1"}, {"title": "P-102 (2)", "value": "c2"}]
    body = [{"type": "Input.ChoiceSet", "id": "choice", "choices": choices, "isRequired": True, "errorMessage": "?"}]
    pick = {"type": "Action.Submit", "title": "Choose", "data": {"parley": "pick"}}
    message = await send_card(teams, client, chat, {"body": body, "actions": [pick]})
    await teams.choose(ada, message, "P-102")

    assert app.received[0]["value"] == {"choice": "c2", "parley": "pick"}
    for label, inputs in (("Choose", {}), ("Choose", {"choice": "c3"}), ("Choose", {"other": "c1"}), ("Go", {})):
        with pytest.raises(TeamsActionNotPossible):
            await teams.click(ada, message, label, **inputs)
    assert message.button_titles() == ["Choose"]


async def test_a_rating_is_an_invoke_whose_answer_is_empty(
    teams: TeamsServer, app: TeamsRecordingApp, client: ConnectorClient, ada: TenantPerson, chat: TenantConversation
) -> None:
    await client.send(chat.id, text="plain")
    await client.send(chat.id, text="rated", channelData={"feedbackLoop": {"type": "default"}})
    plain, message = teams.tenant.bot_messages(chat)
    app.answers += [{}, {"text": "thanks"}]
    accepted = await teams.rate_answer(ada, message, good=False, reason="wrong pump")
    talkative = await teams.rate_answer(ada, message, good=True)

    assert app.received[0]["value"] == {
        "actionName": "feedback",
        "actionValue": {"reaction": "dislike", "feedback": '{"feedbackText": "wrong pump"}'},
    }
    assert (app.received[0]["replyToId"], accepted.is_accepted) == (message.id, True)
    assert "isn't empty" in talkative.client_error
    with pytest.raises(TeamsActionNotPossible):
        await teams.rate_answer(ada, plain, good=True)


async def test_a_failed_delivery_is_repeated_once_and_an_invoke_never(
    teams: TeamsServer, app: TeamsRecordingApp, client: ConnectorClient, ada: TenantPerson, chat: TenantConversation
) -> None:
    app.statuses = [500, 503, 400]
    _, failed = await teams.say(ada, None, "one")
    _, refused = await teams.say(ada, None, "two")
    message = await send_card(teams, client, chat, {"actions": [{**SUBMIT, "type": "Action.Execute"}]})
    app.statuses = [500]
    invoke = await teams.click(ada, message, "Pumps")

    assert ([delivery.statuses for delivery in failed], refused[0].statuses) == ([[500, 503]], [400])
    assert app.received[0]["id"] == app.received[1]["id"]
    assert (invoke.statuses, invoke.client_error) == ([500], "invoke answered with 500")


async def test_an_app_that_does_not_answer_has_no_status(teams: TeamsServer, ada: TenantPerson) -> None:
    teams.app_url = teams.origin.rpartition(":")[0] + ":9/api/messages"
    _, deliveries = await teams.say(ada, None, "hello")

    assert deliveries[0].statuses == [None]


async def test_a_blocked_chat_takes_no_messages(client: ConnectorClient, chat: TenantConversation) -> None:
    chat.is_blocked = True

    assert (await client.send(chat.id, text="hello")).error == "MessageWritesBlocked"


async def test_what_a_person_reads_is_all_text_of_a_message(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation
) -> None:
    fact = {"type": "FactSet", "facts": [{"title": "Type", "value": "Pump"}]}
    question = {"type": "TextBlock", "text": "Which?"}
    message = await send_card(teams, client, chat, {"body": [question, fact], "actions": [SUBMIT]})

    assert message.visible_text() == "Which?\nType\nPump\nPumps (3)"


async def test_every_card_that_was_accepted_is_kept(
    teams: TeamsServer, client: ConnectorClient, chat: TenantConversation
) -> None:
    first = await send_card(teams, client, chat, {"actions": [SUBMIT]})
    await client.update(chat.id, first.id, text="chosen")
    await client.send(chat.id, attachments=[{"contentType": ADAPTIVE_CARD, "content": {"type": "AdaptiveCard"}}])

    assert [card["actions"] for card in teams.sent_cards()] == [[SUBMIT]]
