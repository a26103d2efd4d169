"""The checker's rules for modals and Home tabs, one case each."""

from typing import Any

import pytest

from tests.stand_ins.slack.checker import PayloadRefused, check_view


def plain_text_of(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def an_input(element: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    text_input: dict[str, Any] = {"type": "plain_text_input", "action_id": "a"}
    return {
        "type": "input",
        "label": plain_text_of("Who"),
        "element": text_input if element is None else element,
        **more,
    }


def modal_with_text_input(**more: Any) -> dict[str, Any]:
    return a_modal(an_input({"type": "plain_text_input", **more}))


def a_modal(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    all_blocks = list(blocks) or [an_input()]
    return {
        "type": "modal",
        "title": plain_text_of("Grant"),
        "submit": plain_text_of("Save"),
        "blocks": all_blocks,
        **more,
    }


def a_home(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "home", "blocks": list(blocks) or [{"type": "divider"}], **more}


DIVIDER = {"type": "divider"}
TAKEN: dict[str, dict[str, Any]] = {
    "a home of 100 blocks": a_home(*[DIVIDER] * 100),
    "a home with an input": a_home(an_input()),
    "a modal": a_modal(private_metadata="x" * 3000, callback_id="x" * 255, notify_on_close=True),
    "a title of 24": a_modal(
        title=plain_text_of("x" * 24), close=plain_text_of("x" * 24), submit=plain_text_of("x" * 24)
    ),
    "a modal that only tells": a_modal(DIVIDER, submit=None),
    "more text than a message holds": a_modal(*[{"type": "section", "text": plain_text_of("x" * 3000)}] * 10),
    "a number": a_modal(an_input({"type": "number_input", "is_decimal_allowed": False, "min_value": "1"})),
    "several channels": a_modal(
        an_input({"type": "multi_conversations_select"}, optional=True, hint=plain_text_of("x"))
    ),
    "text of a length": modal_with_text_input(min_length=1, max_length=3000, multiline=True, initial_value="x"),
}

REFUSED: dict[str, dict[str, Any]] = {
    "101 blocks": a_home(*[DIVIDER] * 101),
    "no blocks": {"type": "home", "blocks": []},
    "an unknown type": {**a_home(), "type": "tab"},
    "an unknown key": a_home(colour="red"),
    "a home with a title": a_home(title=plain_text_of("Home")),
    "a modal without a title": {**a_modal(), "title": None},
    "an empty title": a_modal(title=plain_text_of("")),
    "a title over 24": a_modal(title=plain_text_of("x" * 25)),
    "a title in mrkdwn": a_modal(title={"type": "mrkdwn", "text": "x"}),
    "a submit over 24": a_modal(submit=plain_text_of("x" * 25)),
    "a close over 24": a_modal(close=plain_text_of("x" * 25)),
    "an input without submit": a_modal(submit=None),
    "private metadata over 3,000": a_modal(private_metadata="x" * 3001),
    "a callback_id over 255": a_modal(callback_id="x" * 256),
    "an external_id over 255": a_modal(external_id="x" * 256),
    "a flag that is none": a_modal(clear_on_close="yes"),
    "markdown": a_home({"type": "markdown", "text": "x"}),
    "a table": a_home({"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}),
    "a block_id twice": a_home({**DIVIDER, "block_id": "b"}, {**DIVIDER, "block_id": "b"}),
    "two fields in focus": a_modal(*[an_input({"type": "plain_text_input", "focus_on_load": True}) for _ in range(2)]),
    "a label over 2,000": a_modal(an_input(label=plain_text_of("x" * 2001))),
    "a label in mrkdwn": a_modal(an_input(label={"type": "mrkdwn", "text": "x"})),
    "a hint over 2,000": a_modal(an_input(hint=plain_text_of("x" * 2001))),
    "an input of a button": a_modal(an_input({"type": "button", "text": plain_text_of("x")})),
    "an input of nothing": a_modal({"type": "input", "label": plain_text_of("Who")}),
    "text input among actions": a_modal({"type": "actions", "elements": [{"type": "plain_text_input"}]}),
    "at most nothing": modal_with_text_input(max_length=0),
    "at most 3,001": modal_with_text_input(max_length=3001),
    "at least more than at most": modal_with_text_input(min_length=5, max_length=4),
    "more beforehand than fits": modal_with_text_input(max_length=2, initial_value="xxx"),
    "a number of no kind": a_modal(an_input({"type": "number_input"})),
    "a number told as one": a_modal(an_input({"type": "number_input", "is_decimal_allowed": True, "max_value": 5})),
    "eleven files": a_modal(an_input({"type": "file_input", "max_files": 11})),
    "at most no people": a_modal(an_input({"type": "multi_users_select", "max_selected_items": 0})),
}


@pytest.mark.parametrize("view", TAKEN.values(), ids=TAKEN.keys())
def test_valid_views_are_accepted(view: dict[str, Any]) -> None:
    check_view(view)


@pytest.mark.parametrize("view", REFUSED.values(), ids=REFUSED.keys())
def test_invalid_views_are_refused(view: dict[str, Any]) -> None:
    with pytest.raises(PayloadRefused) as refused:
        check_view(view)
    assert refused.value.error == "invalid_arguments"


def test_a_view_over_250_kb_is_refused() -> None:
    menu = {"type": "static_select", "options": [{"text": plain_text_of("x" * 75), "value": "v" * 150}] * 100}
    blocks = [{"type": "actions", "elements": [{**menu, "action_id": str(n)} for n in range(10)]}]
    with pytest.raises(PayloadRefused, match="view_too_large"):
        check_view(a_home(*blocks))


@pytest.mark.parametrize("view", ["{}", None, []])
def test_a_view_that_is_no_object_is_refused(view: object) -> None:
    with pytest.raises(PayloadRefused):
        check_view(view)
