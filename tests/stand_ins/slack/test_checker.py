"""The checker's rules for messages, one case each."""

from typing import Any

import pytest

from tests.stand_ins.slack.checker import PayloadRefused, check_message, live_mentions


def a_message(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"text": "words", "blocks": list(blocks), **more}


def plain_text_of(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def mrkdwn_text_of(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def a_section(text: str = "words", **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": mrkdwn_text_of(text), **more}


def a_button(number: int = 1, **more: Any) -> dict[str, Any]:
    return {"type": "button", "action_id": f"a:{number}", "text": plain_text_of("Go"), "value": "v", **more}


def actions_block_of(*elements: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements), **more}


def a_table(rows: int = 2, columns: int = 2, cell: str = "x") -> dict[str, Any]:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": cell}] * columns] * rows}


def a_menu(text: str = "One", value: str = "1", options: int = 1) -> dict[str, Any]:
    return {"type": "static_select", "options": [{"text": plain_text_of(text), "value": value}] * options}


def rich_text_of(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(elements)}]}


def a_data_table(rows: int = 3, columns: int = 2, cell: str = "x", **more: Any) -> dict[str, Any]:
    header = [{"type": "raw_text", "text": "h"}] * columns
    body = [[{"type": "raw_text", "text": cell}] * columns] * (rows - 1)
    return {"type": "data_table", "caption": "Receipts", "rows": [header, *body], **more}


def feedback_buttons_of(**more: Any) -> dict[str, Any]:
    button = {"text": plain_text_of("Good"), "value": "+"}
    return {"type": "feedback_buttons", "positive_button": button, "negative_button": button, **more}


def context_actions_of(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "context_actions", "elements": list(elements)}


def an_option(text: str = "One", value: str = "1", **more: Any) -> dict[str, Any]:
    return {"text": plain_text_of(text), "value": value, **more}


def message_with_accessory(element: dict[str, Any]) -> dict[str, Any]:
    """Returns a message with the element as an accessory, where every menu is allowed."""
    return a_message(a_section(accessory=element))


def message_with_checkboxes(count: int, **more: Any) -> dict[str, Any]:
    return message_with_accessory(
        {"type": "checkboxes", "options": [an_option(value=str(n)) for n in range(count)], **more}
    )


def a_confirm(**changed: Any) -> dict[str, Any]:
    texts = {
        "title": plain_text_of("Sure?"),
        "text": plain_text_of("Really?"),
        "confirm": plain_text_of("Yes"),
        "deny": plain_text_of("No"),
    }
    return a_message(actions_block_of(a_button(confirm={**texts, **changed})))


NUMBER = {"type": "raw_number", "value": 12}
PICTURE = {"type": "image", "image_url": "https://example.org/a.png", "alt_text": "a"}
ALIGNED: list[Any] = [{"align": "right", "is_wrapped": True}, None]
GROUP = {"label": plain_text_of("A"), "options": [an_option()]}
A_RICH_CELL = rich_text_of({"type": "text", "text": "x"})
TAKEN_TOO: dict[str, dict[str, Any]] = {
    "a data table of 201 by 20": a_message(a_data_table(201, 20, page_size=100)),
    "numbers in a data table": a_message({**a_data_table(), "rows": [[NUMBER], [NUMBER]]}),
    "rich text in a data table": a_message(
        {**a_data_table(), "rows": [[NUMBER], [rich_text_of({"type": "text", "text": "x"})]]}
    ),
    "columns with settings": a_message({**a_table(), "column_settings": ALIGNED}),
    "feedback": a_message(context_actions_of(feedback_buttons_of())),
    "a picture": a_message(PICTURE, {"type": "context", "elements": [PICTURE]}),
    "a menu of groups": message_with_accessory(
        {"type": "static_select", "option_groups": [{"label": plain_text_of("A"), "options": [an_option()]}]}
    ),
    "ten boxes with mrkdwn": message_with_checkboxes(10, initial_options=[an_option(value="3")]),
    "a confirmation": a_confirm(),
    "a link in an overflow": message_with_accessory(
        {"type": "overflow", "options": [an_option(url="https://example.org")]}
    ),
    "a choice of channels": message_with_accessory(
        {"type": "conversations_select", "filter": {"include": ["public", "private"]}}
    ),
    "several people": message_with_accessory(
        {"type": "multi_users_select", "max_selected_items": 5, "placeholder": plain_text_of("Who")}
    ),
}


TAKEN: dict[str, dict[str, Any]] = {
    "text alone": {"text": "words"},
    "fifty blocks": a_message(*[{"type": "divider"}] * 50),
    "a section of 3,000": a_message(a_section("x" * 3000)),
    "25 buttons": a_message(actions_block_of(*[a_button(n) for n in range(25)])),
    "a button of 75": a_message(actions_block_of(a_button(text=plain_text_of("x" * 75), value="v" * 2000))),
    "a table of 100 by 20": a_message(a_table(100, 20)),
    "rich text": a_message(rich_text_of({"type": "text", "text": "<!channel>", "style": {"bold": True}})),
    "a link": a_message(rich_text_of({"type": "link", "url": "https://example.org", "text": "here"})),
    "markdown of 12,000": a_message({"type": "markdown", "text": "x" * 12000}),
    "metadata": a_message(metadata={"event_type": "turn", "event_payload": {"turn": "1"}}),
    "escaped words": {"text": "a &lt; b &amp; c"},
    "a header": a_message({"type": "header", "text": plain_text_of("x" * 150)}),
    "context": a_message({"type": "context", "elements": [mrkdwn_text_of("words")]}),
}

REFUSED_TOO: dict[str, tuple[dict[str, Any], str]] = {
    "a data table without a caption": (a_message(a_data_table(caption=" ")), "invalid_blocks"),
    "202 rows of data": (a_message(a_data_table(202)), "invalid_blocks"),
    "a data table of a header alone": (a_message(a_data_table(1)), "invalid_blocks"),
    "21 columns of data": (a_message(a_data_table(2, 21)), "invalid_blocks"),
    "an empty cell of data": (a_message(a_data_table(cell="")), "invalid_blocks"),
    "a page of 101": (a_message(a_data_table(page_size=101)), "invalid_blocks"),
    "rich text in a header": (a_message({**a_data_table(), "rows": [[A_RICH_CELL], [NUMBER]]}), "invalid_blocks"),
    "words for a number": (a_message({**a_data_table(), "rows": [[NUMBER], [{**NUMBER, "value": "12"}]]}),
                           "invalid_blocks"),
    "data over 20,000 in two": (a_message(*[a_data_table(101, 2, "x" * 51)] * 2), "msg_blocks_too_long"),
    "numbers in a table": (a_message({"type": "table", "rows": [[NUMBER]]}), "invalid_blocks"),
    "three settings for two columns": (a_message({**a_table(), "column_settings": [None] * 3}), "invalid_blocks"),
    "an unknown alignment": (a_message({**a_table(), "column_settings": [{"align": "top"}]}), "invalid_blocks"),
    "six context actions": (a_message(context_actions_of(*[feedback_buttons_of(action_id=str(n)) for n in range(6)])),
                            "invalid_blocks"),
    "no context actions": (a_message(context_actions_of()), "invalid_blocks"),
    "a button among context actions": (a_message(context_actions_of(a_button())), "invalid_blocks"),
    "feedback among actions": (a_message(actions_block_of(feedback_buttons_of())), "invalid_blocks"),
    "feedback in one direction": (a_message(context_actions_of(feedback_buttons_of(negative_button=None))), "invalid_blocks"),
    "feedback in mrkdwn": (a_message(context_actions_of(feedback_buttons_of(positive_button={"text": mrkdwn_text_of("x"), "value": "+"}))),
                           "invalid_blocks"),
    "feedback without a value": (a_message(context_actions_of(feedback_buttons_of(positive_button={"text": plain_text_of("x")}))),
                                 "invalid_blocks"),
    "a picture without words": (a_message({**PICTURE, "alt_text": ""}), "invalid_blocks"),
    "an input in a message": (a_message({"type": "input", "label": plain_text_of("x"), "element": a_menu()}), "invalid_blocks"),
    "a multi-select among actions": (a_message(actions_block_of({**a_menu(), "type": "multi_static_select"})), "invalid_blocks"),
    "mrkdwn in an option": (message_with_accessory({"type": "static_select", "options": [{"text": mrkdwn_text_of("x"), "value": "1"}]}),
                            "invalid_blocks"),
    "an empty option": (message_with_accessory(a_menu("")), "invalid_blocks"),
    "an option without a value": (message_with_accessory(a_menu(value="")), "invalid_blocks"),
    "a long description": (message_with_checkboxes(1, options=[an_option(description=plain_text_of("x" * 76))]), "invalid_blocks"),
    "a link outside an overflow": (message_with_checkboxes(1, options=[an_option(url="https://example.org")]), "invalid_blocks"),
    "no options": (message_with_accessory({"type": "static_select"}), "invalid_blocks"),
    "options and groups": (message_with_accessory({**a_menu(), "option_groups": []}), "invalid_blocks"),
    "a group of 101": (message_with_accessory({"type": "static_select", "option_groups": [{**GROUP, "options": [an_option()] * 101}]}),
                       "invalid_blocks"),
    "101 groups": (message_with_accessory({"type": "static_select", "option_groups": [GROUP] * 101}), "invalid_blocks"),
    "a group in mrkdwn": (message_with_accessory({"type": "static_select", "option_groups": [{**GROUP, "label": mrkdwn_text_of("A")}]}),
                          "invalid_blocks"),
    "a first choice that is none": (message_with_accessory({**a_menu(), "initial_option": an_option("Two", "2")}), "invalid_blocks"),
    "ticked beforehand what is not there": (message_with_checkboxes(1, initial_options=[an_option(value="9")]), "invalid_blocks"),
    "ticked beforehand nothing": (message_with_checkboxes(1, initial_options=[]), "invalid_blocks"),
    "eleven boxes": (message_with_checkboxes(11), "invalid_blocks"),
    "a placeholder over 150": (message_with_accessory({**a_menu(), "placeholder": plain_text_of("x" * 151)}), "invalid_blocks"),
    "mrkdwn in a placeholder": (message_with_accessory({**a_menu(), "placeholder": mrkdwn_text_of("x")}), "invalid_blocks"),
    "a confirmation over 300": (a_confirm(text=plain_text_of("x" * 301)), "invalid_blocks"),
    "a confirmation without a no": (a_confirm(deny=None), "invalid_blocks"),
    "a confirmed title in mrkdwn": (a_confirm(title=mrkdwn_text_of("x")), "invalid_blocks"),
    "an empty filter": (message_with_accessory({"type": "conversations_select", "filter": {}}), "invalid_blocks"),
    "an unknown filter": (message_with_accessory({"type": "conversations_select", "filter": {"include": ["all"]}}), "invalid_blocks"),
    "no day of a date": (message_with_accessory({"type": "datepicker", "initial_date": "2026-11"}), "invalid_blocks"),
    "elements that are no list": (a_message({"type": "actions", "elements": "[]"}), "invalid_blocks"),
    "a list too deep": (a_message({"type": "rich_text", "elements": [{"type": "rich_text_list", "style": "bullet",
                            "indent": 9, "elements": A_RICH_CELL["elements"]}]}),
                        "invalid_blocks"),
}  # fmt: skip

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no text": ({"blocks": [a_section()]}, "no_text"),
    "blank text": ({"text": " \n"}, "no_text"),
    "text over 40,000": ({"text": "x" * 40001}, "msg_too_long"),
    "live names": (a_message(link_names=True), "invalid_arguments"),
    "parse full": (a_message(parse="full"), "invalid_arguments"),
    "a lone angle": ({"text": "a < b"}, "unescaped"),
    "a lone ampersand": ({"text": "a & b"}, "unescaped"),
    "51 blocks": (a_message(*[{"type": "divider"}] * 51), "invalid_blocks"),
    "blocks that are no list": ({"text": "x", "blocks": "[]"}, "invalid_blocks_format"),
    "an unknown block": (a_message({"type": "poll"}), "invalid_blocks"),
    "an unknown key": (a_message(a_section(colour="red")), "invalid_blocks"),
    "an empty section": (a_message({"type": "section"}), "invalid_blocks"),
    "empty words": (a_message(a_section("")), "invalid_blocks"),
    "blank words": (a_message(a_section("  ")), "invalid_blocks"),
    "a section over 3,000": (a_message(a_section("x" * 3001)), "invalid_blocks"),
    "a field over 2,000": (a_message({"type": "section", "fields": [mrkdwn_text_of("x" * 2001)]}), "invalid_blocks"),
    "eleven fields": (a_message({"type": "section", "fields": [mrkdwn_text_of("x")] * 11}), "invalid_blocks"),
    "mrkdwn in a header": (a_message({"type": "header", "text": mrkdwn_text_of("x")}), "invalid_blocks"),
    "a header over 150": (a_message({"type": "header", "text": plain_text_of("x" * 151)}), "invalid_blocks"),
    "mrkdwn in a button": (a_message(actions_block_of(a_button(text=mrkdwn_text_of("x")))), "invalid_blocks"),
    "a button over 75": (a_message(actions_block_of(a_button(text=plain_text_of("x" * 76)))), "invalid_blocks"),
    "an empty button": (a_message(actions_block_of(a_button(text=plain_text_of("")))), "invalid_blocks"),
    "a value over 2,000": (a_message(actions_block_of(a_button(value="v" * 2001))), "invalid_blocks"),
    "a link over 3,000": (a_message(actions_block_of(a_button(url="https://" + "x" * 3000))), "invalid_blocks"),
    "an action_id over 255": (a_message(actions_block_of(a_button(action_id="x" * 256))), "invalid_blocks"),
    "a block_id over 255": (a_message(a_section(block_id="x" * 256)), "invalid_blocks"),
    "an unknown style": (a_message(actions_block_of(a_button(style="loud"))), "invalid_blocks"),
    "no elements": (a_message(actions_block_of()), "invalid_blocks"),
    "26 buttons": (a_message(actions_block_of(*[a_button(n) for n in range(26)])), "invalid_blocks"),
    "an unknown element": (a_message(actions_block_of({"type": "slider"})), "invalid_blocks"),
    "action_id twice": (a_message(actions_block_of(a_button(1), a_button(1))), "invalid_blocks"),
    "block_id twice": (a_message(a_section(block_id="b"), a_section(block_id="b")), "invalid_blocks"),
    "an option over 75": (a_message(actions_block_of(a_menu("x" * 76))), "invalid_blocks"),
    "an option's value over 150": (a_message(actions_block_of(a_menu(value="v" * 151))), "invalid_blocks"),
    "101 options": (a_message(actions_block_of(a_menu(options=101))), "invalid_blocks"),
    "six in an overflow": (a_message(actions_block_of({**a_menu(options=6), "type": "overflow"})), "invalid_blocks"),
    "eleven in a context": (a_message({"type": "context", "elements": [mrkdwn_text_of("x")] * 11}), "invalid_blocks"),
    "two tables": (a_message(a_table(), a_table()), "invalid_blocks"),
    "101 rows": (a_message(a_table(101)), "invalid_blocks"),
    "21 columns": (a_message(a_table(2, 21)), "invalid_blocks"),
    "no rows": (a_message({"type": "table", "rows": []}), "invalid_blocks"),
    "uneven rows": (a_message({"type": "table", "rows": [a_table()["rows"][0], []]}), "invalid_blocks"),
    "an empty cell": (a_message(a_table(cell="")), "invalid_blocks"),
    "a table over 10,000": (a_message(a_table(100, 2, "x" * 51)), "msg_blocks_too_long"),
    "markdown over 12,000 in two": (a_message(*[{"type": "markdown", "text": "x" * 6001}] * 2), "msg_blocks_too_long"),
    "empty markdown": (a_message({"type": "markdown", "text": ""}), "invalid_blocks"),
    "over 13,200 in all": (a_message(*[a_section("x" * 2700)] * 5), "msg_blocks_too_long"),
    "empty rich text": (a_message({"type": "rich_text", "elements": []}), "invalid_blocks"),
    "an empty rich section": (a_message(rich_text_of()), "invalid_blocks"),
    "an empty rich word": (a_message(rich_text_of({"type": "text", "text": ""})), "invalid_blocks"),
    "an unknown rich word": (a_message(rich_text_of({"type": "blink", "text": "x"})), "invalid_blocks"),
    "an unknown rich style": (a_message(rich_text_of({"type": "text", "text": "x", "style": {"x": True}})), "invalid_blocks"),
    "a script for a link": (a_message(rich_text_of({"type": "link", "url": "javascript:x", "text": "x"})), "invalid_blocks"),
    "metadata without a type": (a_message(metadata={"event_payload": {}}), "metadata_must_be_sent_with_event_type"),
    "metadata over 8,000": (a_message(metadata={"event_type": "t", "event_payload": {"x": "y" * 8000}}),
                            "metadata_too_large"),
    "twice as wide characters": (a_message(a_section("😀" * 1501)), "invalid_blocks"),
}  # fmt: skip


@pytest.mark.parametrize("message", [*TAKEN.values(), *TAKEN_TOO.values()], ids=[*TAKEN, *TAKEN_TOO])
def test_valid_messages_are_accepted(message: dict[str, Any]) -> None:
    check_message(message)


@pytest.mark.parametrize(("message", "error"), [*REFUSED.values(), *REFUSED_TOO.values()], ids=[*REFUSED, *REFUSED_TOO])
def test_invalid_messages_are_refused_with_slacks_error_code(message: dict[str, Any], error: str) -> None:
    with pytest.raises(PayloadRefused) as refused:
        check_message(message)
    assert refused.value.error == error


@pytest.mark.parametrize(
    "message",
    [
        {"text": "<!channel> look"},
        {"text": "<@U1>"},
        {"text": "<#C1>"},
        {"text": "@here"},
        a_message(a_section("<!here>")),
        a_message({"type": "markdown", "text": "<!everyone>"}),
        a_message(a_table(cell="<!channel>")),
        a_message(a_data_table(cell="<@U1>")),
        a_message(a_data_table(caption="<!here>")),
        message_with_accessory(a_menu("<@U1>")),
        a_message(actions_block_of(a_button(text=plain_text_of("<@U1>")))),
        a_message(rich_text_of({"type": "user", "user_id": "U1"})),
        a_message(rich_text_of({"type": "broadcast", "range": "channel"})),
    ],
)
def test_a_live_mention_is_found_in_every_kind_of_text(message: dict[str, Any]) -> None:
    assert live_mentions(message)


def test_escaped_text_is_no_mention() -> None:
    message = a_message(rich_text_of({"type": "text", "text": "<!channel> @here"}), text="&lt;!channel&gt;")

    assert live_mentions(message) == []
