"""Replies as messages that Teams does not split."""

from typing import Any, cast

import pytest

from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.posting.cards import MAX_CARD_BYTES, json_bytes_of
from adapters.teams.posting.single_message import sent_messages_for
from tests.adapters.teams.gallery import MESSAGES
from tests.stand_ins.teams.activity_checker import check_activity
from tests.stand_ins.teams.conversation_calls import split_message
from tests.stand_ins.teams.json_parts import objects_in, texts_in, type_of


def cards_in(message: JsonObject) -> list[dict[str, Any]]:
    attachments = cast(list[dict[str, Any]], message.get("attachments", []))
    return [part["content"] for part in attachments]


def submitted_data_in(messages: list[JsonObject]) -> list[Any]:
    return [
        part["data"]
        for message in messages
        for card in cards_in(message)
        for part in objects_in(card)
        if type_of(part) == "Action.Submit"
    ]


@pytest.mark.parametrize("is_split", [False, True])
@pytest.mark.parametrize("name", MESSAGES)
def test_teams_keeps_each_message_and_all_of_its_buttons(name: str, is_split: bool) -> None:
    sent = list(sent_messages_for(MESSAGES[name], is_split=is_split))

    for message in sent:
        check_activity(cast(dict[str, Any], message), is_personal=True, supports_files=True)
        assert len(split_message(cast(dict[str, Any], message))) == 1
    assert sorted(map(str, submitted_data_in(sent))) == sorted(map(str, submitted_data_in([MESSAGES[name]])))


@pytest.mark.parametrize("name", [name for name, message in MESSAGES.items() if message.get("text")])
def test_the_end_of_a_stream_is_its_text(name: str) -> None:
    first, *_ = sent_messages_for(MESSAGES[name], is_split=True)

    assert first.get("text") == MESSAGES[name]["text"]
    assert "attachments" not in first


def test_choices_stand_below_their_question_in_one_card() -> None:
    [message] = sent_messages_for(MESSAGES["asked-back"])
    [card] = cards_in(message)

    assert "text" not in message
    assert card["body"][0]["type"] == "TextBlock"
    assert card["body"][0]["text"] in str(MESSAGES["asked-back"]["text"])


def an_activity(text: str, *cards: JsonObject, cites: bool = False) -> JsonObject:
    claim = {"@type": "Claim", "position": 1, "appearance": {"name": "A_b, page 2", "url": "https://example.org/a"}}
    entity = {"type": "https://schema.org/Message", "additionalType": ["AIGeneratedContent"], "citation": [claim]}
    return {
        "type": "message",
        "text": text,
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": card} for card in cards],
        **({"entities": [entity]} if cites else {}),
    }


BUTTONS: JsonObject = {
    "type": "AdaptiveCard",
    "body": [],
    "actions": [{"type": "Action.Submit", "title": "Show steps", "data": {"parley": "steps"}}],
}


def a_content_card(size: int) -> JsonObject:
    return {"type": "AdaptiveCard", "body": [{"type": "TextBlock", "text": "x" * size}], "fallbackText": "x"}


def test_an_answer_with_citations_keeps_its_text_and_has_its_buttons_below() -> None:
    activity = an_activity("Three months [1]", BUTTONS, cites=True)

    text, card_below = sent_messages_for(activity)

    assert text == {name: value for name, value in activity.items() if name != "attachments"}
    assert [action["title"] for action in cards_in(card_below)[0]["actions"]] == ["Show steps"]


def test_a_card_with_citations_lists_the_sources() -> None:
    [message] = sent_messages_for(an_activity("Three months [1]", a_content_card(5), BUTTONS, cites=True))
    [card] = cards_in(message)

    assert list(texts_in(card))[:2] == ["Three months [1]", "[1] [A\\_b, page 2](https://example.org/a)"]
    assert message["entities"] == [{"type": "https://schema.org/Message", "additionalType": ["AIGeneratedContent"]}]


@pytest.mark.parametrize(("sizes", "count"), [((20_000,), 1), ((26_000,), 2), ((15_000, 15_000), 3)])
def test_what_is_too_large_for_one_card_stands_below_the_text(sizes: tuple[int, ...], count: int) -> None:
    sent = sent_messages_for(an_activity("y" * 5_000, *map(a_content_card, sizes)))

    assert len(sent) == count
    assert all(json_bytes_of(card) <= MAX_CARD_BYTES for message in sent for card in cards_in(message))


def test_a_button_about_the_turn_can_be_clicked_before_a_choice() -> None:
    [message] = sent_messages_for(an_activity("Which?", a_content_card(5), BUTTONS))
    [card] = cards_in(message)

    assert [(action["title"], action["associatedInputs"]) for action in card["actions"]] == [("Show steps", "none")]
