"""The checker accepts cards that Teams shows, and refuses each kind of mistake."""

from typing import Any

import pytest

from tests.stand_ins.teams.card_checker import check_card
from tests.stand_ins.teams.refusals import ConnectorRefused

TEXT = {"type": "TextBlock", "text": "Which pump?", "wrap": True}
SUBMIT: dict[str, Any] = {"type": "Action.Submit", "title": "P-101 (3)", "data": {"parley": "choice", "id": "c1"}}
CHOICES = [{"title": "P-101", "value": "c1"}, {"title": "P-102", "value": "c2"}]
CHOICE_SET: dict[str, Any] = {"type": "Input.ChoiceSet", "id": "choice", "choices": CHOICES}
CELL = {"type": "TableCell", "items": [TEXT]}
TABLE: dict[str, Any] = {
    "type": "Table",
    "columns": [{"width": 1}, {"width": "80px"}],
    "rows": [{"type": "TableRow", "cells": [CELL, CELL]}],
    "firstRowAsHeader": True,
}


def a_card(*body: object, actions: list[Any] | None = None, **fields: object) -> dict[str, Any]:
    buttons = {} if actions is None else {"actions": actions}
    return {"type": "AdaptiveCard", "version": "1.5", "body": list(body) or [TEXT], **buttons, **fields}


def submits(count: int, **fields: object) -> list[dict[str, Any]]:
    return [{**SUBMIT, "title": f"Button {number}", **fields} for number in range(count)]


@pytest.mark.parametrize(
    "card",
    [
        a_card(TEXT, CHOICE_SET, TABLE, actions=[SUBMIT]),
        a_card(actions=submits(6) + submits(2, mode="secondary")),
        a_card({"type": "ActionSet", "actions": submits(6)}, actions=submits(6)),
        a_card({"type": "ColumnSet", "columns": [{"type": "Column", "width": "auto", "items": [TEXT]}]}),
        a_card({"type": "FactSet", "facts": [{"title": "Type", "value": "Pump"}]}),
        a_card(actions=[{**SUBMIT, "title": "<at>Ada</at>"}]),
        a_card({"type": "RichTextBlock", "inlines": ["a", {"type": "TextRun", "text": "b", "weight": "bolder"}]}),
        a_card({"type": "Image", "url": "data:image/png;base64,AAAA", "altText": "a pump"}),
        a_card({**TABLE, "fallback": {"type": "TextBlock", "text": "P-101: 5 bar"}}),
        a_card({**CHOICE_SET, "value": "c1,c2", "isMultiSelect": True}),
        a_card({"type": "TextBlock", "text": "more", "id": "more", "isVisible": False}, actions=[{"type": "Action.ToggleVisibility", "title": "More", "targetElements": ["more"]}]),
        a_card(actions=[{"type": "Action.Execute", "title": "Go", "verb": "go", "fallback": SUBMIT}]),
        a_card(actions=[{"type": "Action.OpenUrl", "title": "Open", "url": "https://example.org/a?b=c"}]),
        a_card(actions=[{"type": "Action.ShowCard", "title": "Form", "card": {"type": "AdaptiveCard", "body": [TEXT]}}]),
        a_card({"type": "TextBlock", "text": "<at>Ada</at>"}, msteams={"entities": [{"type": "mention", "text": "<at>Ada</at>", "mentioned": {"id": "29:1", "name": "Ada"}}]}),
        a_card({"type": "Input.Text", "id": "reason", "label": "Reason", "isMultiline": True, "maxLength": 500}),
    ],
)  # fmt: skip
def test_a_sound_card_is_accepted(card: dict[str, Any]) -> None:
    check_card(card)


@pytest.mark.parametrize(
    ("card", "problem"),
    [
        ([], "no object"),
        ({"type": "AdaptiveCard", "body": [TEXT]}, "no version"),
        ({"type": "AdaptiveCard", "version": "1.5"}, "an empty card"),
        ({"type": "Card", "version": "1.5", "body": [TEXT]}, "'Card', none of AdaptiveCard"),
        (a_card(version="1.6"), "version 1.6"),
        (a_card(version=1.5), "version 1.5"),
        (a_card(TABLE, version="1.4"), "needs version 1.5"),
        (a_card(actions=submits(1, mode="secondary"), version="1.4"), "needs version 1.5"),
        (a_card(colour="red"), r"unknown \['colour'\]"),
        (a_card({"type": "Heading", "text": "x"}), "unknown element 'Heading'"),
        (a_card({"text": "x"}), "unknown element None"),
        (a_card("text"), "no object"),
        (a_card({**TEXT, "colour": "good"}), r"unknown \['colour'\]"),
        (a_card({**TEXT, "text": 5}), "text is no text"),
        (a_card({"type": "TextBlock"}), r"without \['text'\]"),
        (a_card({**TEXT, "size": "huge"}), "size is 'huge'"),
        (a_card({**TEXT, "wrap": "true"}), "wrap is neither"),
        (a_card({**TEXT, "id": "a"}, {**TEXT, "id": "a"}), "'a' stands there twice"),
        (a_card({**CHOICE_SET, "id": "a"}, actions=submits(1, id="a")), "'a' stands there twice"),
        (a_card(actions=submits(7)), "7 visible actions"),
        (a_card({"type": "ActionSet", "actions": submits(7)}), "7 visible actions"),
        (a_card(actions=[]), "actions: empty"),
        (a_card(actions=[{"type": "Action.Submit", "data": {}}]), "without title"),
        (a_card(actions=[{**SUBMIT, "title": " "}]), "title is empty"),
        (a_card(actions=[{**SUBMIT, "data": "c1"}]), "data is no object"),
        (a_card(actions=[{**SUBMIT, "type": "Action.Http"}]), "unknown action 'Action.Http'"),
        (a_card(actions=[{"type": "Action.OpenUrl", "title": "Open", "url": "javascript:alert(1)"}]), "url is no URL"),
        (a_card(actions=[{"type": "Action.ToggleVisibility", "title": "More", "targetElements": ["x"]}]), "no element 'x'"),
        (a_card({"type": "Input.Text"}), r"without \['id'\]"),
        (a_card({**CHOICE_SET, "choices": []}), "nothing to choose from"),
        (a_card({**CHOICE_SET, "choices": [*CHOICES, CHOICES[0]]}), "two choices of one value"),
        (a_card({**CHOICE_SET, "value": "c3"}), "'c3' is no choice"),
        (a_card({**CHOICE_SET, "choices": [{"title": "a", "value": 1}]}), "value is empty, or no text"),
        (a_card({**TABLE, "rows": [{"type": "TableRow", "cells": [CELL]}]}), "another number of cells"),
        (a_card({**TABLE, "rows": [{"cells": [CELL, CELL]}]}), r"without \['type'\]"),
        (a_card({**TABLE, "columns": [{"width": "wide"}, {"width": 1}]}), "width is 'wide'"),
        (a_card({**TABLE, "fallback": {"type": "Text"}}), "unknown element 'Text'"),
        (a_card({"type": "Image", "url": "file:///etc/passwd"}), "url is no URL"),
        (a_card({"type": "TextBlock", "text": "<at>Ada</at>"}), "a mention without its entity"),
        (a_card({"type": "FactSet", "facts": [{"title": "by", "value": "<at>all</at>"}]}), "a mention without its entity"),
    ],
)  # fmt: skip
def test_a_card_with_a_mistake_is_refused(card: object, problem: str) -> None:
    with pytest.raises(ConnectorRefused, match=problem) as refusal:
        check_card(card)
    assert (refusal.value.status, refusal.value.code) in {(400, "BadArgument"), (400, "BadSyntax")}
