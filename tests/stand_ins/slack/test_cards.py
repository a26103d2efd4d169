"""The checker's rules for the newer blocks: limits, required fields and allowed contents."""

from typing import Any

import pytest

from tests.stand_ins.slack.checker import PayloadRefused, check_message, check_view, live_mentions


def plain_text_of(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def mrkdwn_text_of(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def a_message(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"text": "words", "blocks": list(blocks)}


def a_modal(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "modal", "title": plain_text_of("Told"), "blocks": list(blocks)}


def a_button(number: int = 1) -> dict[str, Any]:
    return {"type": "button", "action_id": f"a:{number}", "text": plain_text_of("Go")}


def an_alert(**changed: Any) -> dict[str, Any]:
    return {"type": "alert", "text": mrkdwn_text_of("Mind this"), **changed}


def a_card(**changed: Any) -> dict[str, Any]:
    return {"type": "card", "title": mrkdwn_text_of("Receipt"), **changed}


def a_carousel(*cards: dict[str, Any]) -> dict[str, Any]:
    return {"type": "carousel", "elements": list(cards)}


def a_container(*children: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {
        "type": "container",
        "title": plain_text_of("Receipts"),
        "child_blocks": list(children) or [DIVIDER],
        **changed,
    }


def a_task(number: int = 1, **changed: Any) -> dict[str, Any]:
    return {"type": "task_card", "task_id": f"t{number}", "title": "Searching", "status": "complete", **changed}


def a_plan(*tasks: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {"type": "plan", "title": "Looking", "tasks": list(tasks), **changed}


def rich_text_of(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text", "elements": list(elements)}


DIVIDER = {"type": "divider"}
PICTURE = {"type": "image", "image_url": "https://example.org/a.png", "alt_text": "a"}
RICH_SECTION = {"type": "rich_text_section", "elements": [{"type": "text", "text": "x"}]}
TABLE = {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}
SOURCE = {"type": "url", "url": "https://example.org", "text": "A page"}

TAKEN: dict[str, dict[str, Any]] = {
    "a card of everything": a_message(
        a_card(
            title=mrkdwn_text_of("x" * 150),
            subtitle=plain_text_of("x" * 150),
            body=mrkdwn_text_of("x" * 200),
            hero_image=PICTURE,
            icon=PICTURE,
            actions=[a_button(n) for n in range(3)],
        )
    ),
    "a picture for a card": a_message({"type": "card", "hero_image": PICTURE}),
    "ten cards": a_message(a_carousel(*[a_card()] * 10)),
    "a container of ten": a_message(
        a_container(*[DIVIDER] * 10, width="full", icon=PICTURE, subtitle=mrkdwn_text_of("x"))
    ),
    "a collapsed container": a_message(a_container(TABLE, is_collapsible=True, default_collapsed=True)),
    "a title of rich text": a_message(
        {"type": "container", "rich_text_title": rich_text_of(RICH_SECTION), "child_blocks": [DIVIDER]}
    ),
    "a task": a_message(
        a_task(details=rich_text_of(RICH_SECTION), output=rich_text_of(RICH_SECTION), sources=[SOURCE])
    ),
    "a plan of fifty tasks": a_message(a_plan(*[a_task(n) for n in range(50)])),
    "a plan yet to be made": a_message({"type": "plan", "title": "Looking"}),
}

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an alert in a message": (a_message(an_alert()), "invalid_blocks"),
    "an empty card": (a_message({"type": "card", "subtitle": plain_text_of("x")}), "invalid_blocks"),
    "a card's title over 150": (a_message(a_card(title=mrkdwn_text_of("x" * 151))), "invalid_blocks"),
    "a card's subtitle over 150": (a_message(a_card(subtitle=mrkdwn_text_of("x" * 151))), "invalid_blocks"),
    "a card's body over 200": (a_message(a_card(body=mrkdwn_text_of("x" * 201))), "invalid_blocks"),
    "words for a picture": (a_message(a_card(icon="https://example.org/a.png")), "invalid_blocks"),
    "no buttons of a card": (a_message(a_card(actions=[])), "invalid_blocks"),
    "four buttons of a card": (a_message(a_card(actions=[a_button(n) for n in range(4)])), "invalid_blocks"),
    "a card's action_id twice": (a_message(a_card(actions=[a_button()] * 2)), "invalid_blocks"),
    "a menu in a card": (a_message(a_card(actions=[{"type": "users_select", "action_id": "a"}])), "invalid_blocks"),
    "data in a card": (a_message(a_card(title=mrkdwn_text_of("a < b"))), "unescaped"),
    "no cards": (a_message(a_carousel()), "invalid_blocks"),
    "eleven cards": (a_message(a_carousel(*[a_card()] * 11)), "invalid_blocks"),
    "a divider among cards": (a_message(a_carousel(DIVIDER)), "invalid_blocks"),
    "a long id among cards": (a_message(a_carousel(a_card(block_id="x" * 256))), "invalid_blocks"),
    "a block_id twice among cards": (a_message(a_carousel(*[a_card(block_id="b")] * 2)), "invalid_blocks"),
    "a container without a title": (a_message({"type": "container", "child_blocks": [DIVIDER]}), "invalid_blocks"),
    "a container's title in mrkdwn": (a_message(a_container(title=mrkdwn_text_of("x"))), "invalid_blocks"),
    "a container's title over 150": (a_message(a_container(title=plain_text_of("x" * 151))), "invalid_blocks"),
    "an empty container": (a_message({"type": "container", "title": plain_text_of("x"), "child_blocks": []}), "invalid_blocks"),
    "eleven in a container": (a_message(a_container(*[DIVIDER] * 11)), "invalid_blocks"),
    "a container in a container": (a_message(a_container(a_container())), "invalid_blocks"),
    "markdown in a container": (a_message(a_container({"type": "markdown", "text": "x"})), "invalid_blocks"),
    "an unknown width": (a_message(a_container(width="huge")), "invalid_blocks"),
    "collapsed for ever": (a_message(a_container(default_collapsed=True)), "invalid_blocks"),
    "a line in a collapsible one": (
        a_message(a_container(is_collapsible=True, has_header_divider=True)), "invalid_blocks"
    ),
    "a block_id within and without": (
        a_message({**DIVIDER, "block_id": "b"}, a_container({**DIVIDER, "block_id": "b"})), "invalid_blocks"
    ),
    "a second table within": (a_message(TABLE, a_container(TABLE)), "invalid_blocks"),
    "too much within": (
        a_message(*[a_container(*[{"type": "section", "text": plain_text_of("x" * 2700)}] * 5)]), "msg_blocks_too_long"
    ),
    "a task without an id": (a_message(a_task(task_id="")), "invalid_blocks"),
    "a task without a title": (a_message(a_task(title=" ")), "invalid_blocks"),
    "a title that is an object": (a_message(a_task(title=plain_text_of("x"))), "invalid_blocks"),
    "an unknown status": (a_message(a_task(status="done")), "invalid_blocks"),
    "details in plain text": (a_message(a_task(details=plain_text_of("x"))), "invalid_blocks"),
    "details in two": (a_message(a_task(details=rich_text_of(RICH_SECTION, RICH_SECTION))), "invalid_blocks"),
    "a script for a source": (a_message(a_task(sources=[{**SOURCE, "url": "javascript:x"}])), "invalid_blocks"),
    "a source without words": (a_message(a_task(sources=[{**SOURCE, "text": ""}])), "invalid_blocks"),
    "a plan without a title": (a_message(a_plan(title="")), "invalid_blocks"),
    "51 tasks": (a_message(a_plan(*[a_task(n) for n in range(51)])), "invalid_blocks"),
    "a task twice": (a_message(a_plan(a_task(), a_task())), "invalid_blocks"),
    "a card in a plan": (a_message(a_plan(a_card())), "invalid_blocks"),
}  # fmt: skip


@pytest.mark.parametrize("message", TAKEN.values(), ids=TAKEN)
def test_valid_blocks_are_accepted(message: dict[str, Any]) -> None:
    check_message(message)


@pytest.mark.parametrize(("message", "error"), REFUSED.values(), ids=REFUSED)
def test_invalid_blocks_are_refused(message: dict[str, Any], error: str) -> None:
    with pytest.raises(PayloadRefused) as refused:
        check_message(message)
    assert refused.value.error == error


@pytest.mark.parametrize("level", ["default", "info", "warning", "error", "success"])
def test_an_alert_is_valid_in_a_modal(level: str) -> None:
    check_view(a_modal(an_alert(level=level, text=plain_text_of("x" * 200))))


@pytest.mark.parametrize(
    "view",
    [
        a_modal(an_alert(text=plain_text_of("x" * 201))),
        a_modal(an_alert(text=plain_text_of(""))),
        a_modal(an_alert(level="fatal")),
        a_modal({"type": "alert"}),
        {"type": "home", "blocks": [an_alert()]},
        *[a_modal(block) for block in (a_card(), a_carousel(a_card()), a_container(), a_task(), a_plan())],
    ],
)
def test_invalid_blocks_in_views_are_refused(view: dict[str, Any]) -> None:
    with pytest.raises(PayloadRefused) as refused:
        check_view(view)
    assert refused.value.error == "invalid_arguments"


def test_a_live_mention_is_found_in_the_title_of_a_task() -> None:
    assert live_mentions(a_message(a_plan(a_task(title="<!channel>"))))
    assert live_mentions(a_message(a_container({"type": "section", "text": mrkdwn_text_of("<@U1>")})))
