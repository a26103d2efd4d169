"""Checks messages and views as Slack does, and also refuses those that Slack truncates or its clients cannot show.

The checks are stricter than the models of slack_sdk, which lack the limits marked (sdk) here and in the imported
modules. The block types `call`, `file`, `video` and `data_visualization` count as unknown.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from tests.stand_ins.slack.cards import (
    SUBTITLE,
    TITLE,
    check_alert,
    check_card,
    check_carousel,
    check_plan,
    check_task_card,
)
from tests.stand_ins.slack.elements import (
    IN_ACTIONS,
    IN_CONTEXT_ACTIONS,
    IN_INPUT,
    IN_SECTION,
    URL,
    Check,
    check_element,
)
from tests.stand_ins.slack.refusing import (
    ID,
    Payload,
    PayloadRefused,
    check_flags,
    check_id,
    check_known_keys,
    check_mrkdwn,
    check_plain,
    check_text,
    is_text,
    list_members,
    objects_in,
    refuse_block_unless,
    refuse_unless,
    text_length,
    utf16_length,
)
from tests.stand_ins.slack.rich_text import LIVE, check_rich_text
from tests.stand_ins.slack.tables import DATA_TEXT, check_data_table, check_table, data_table_length

__all__ = [
    "PayloadRefused",
    "check_blocks",
    "check_message",
    "check_metadata",
    "check_mrkdwn",
    "check_sums",
    "check_view",
    "live_mentions",
    "utf16_length",
]

BLOCKS = 50  # (sdk)
TEXT_OF_BLOCKS = 13_200  # slackapi/bolt-js#2509
TEXT = 40_000
MARKDOWN = 12_000  # all markdown blocks of a message together (sdk)
SECTION_TEXT, FIELD_TEXT, FIELDS = 3_000, 2_000, 10
HEADER_TEXT, LABEL, ALT_TEXT = 150, 2_000, 2_000
ACTIONS_ELEMENTS, CONTEXT_ELEMENTS, CONTEXT_ACTIONS = 25, 10, 5
CHILDREN = 10  # of a container
METADATA = 8_000
VIEW_BLOCKS, VIEW_TITLE, PRIVATE_METADATA, VIEW_BYTES = 100, 24, 3_000, 250_000

_LIVE = re.compile(r"<[!@#]|@(?:here|channel|everyone)\b", re.IGNORECASE)
_LIVE_ENTITY = re.compile(r"<[!@#]")


def check_message(message: Payload) -> None:
    """Check a message. Raises `PayloadRefused`. `text` is required, because notifications and screen readers use it."""
    text = message.get("text")
    refuse_unless(isinstance(text, str) and bool(text.strip()), "no_text", "text")
    refuse_unless(utf16_length(cast(str, text)) <= TEXT, "msg_too_long", "text")
    refuse_unless(
        not message.get("link_names") and message.get("parse", "none") == "none", "invalid_arguments", "live names"
    )
    check_mrkdwn(cast(str, text), "text")
    check_blocks(message.get("blocks", []))
    if message.get("metadata") is not None:
        check_metadata(message["metadata"])


def check_blocks(value: Any) -> None:
    """Check the blocks of a message. Raises `PayloadRefused`."""
    blocks = _as_block_list(value)
    refuse_unless(len(blocks) <= BLOCKS, "invalid_blocks", f"{len(blocks)} blocks")
    for index, block in enumerate(blocks):
        _check_block(block, f"blocks[{index}]", _IN_MESSAGES)
    _check_ids(blocks)
    check_sums(blocks)


def check_view(view: Any) -> None:
    """Check a modal or a Home tab. Raises `PayloadRefused`, with `invalid_arguments` for all faults inside the view."""
    refuse_unless(len(json.dumps(view)) <= VIEW_BYTES, "view_too_large", "view")
    try:
        refuse_block_unless(isinstance(view, Mapping), "view: no object")
        _check_view(cast(Payload, view))
    except PayloadRefused as exc:
        raise PayloadRefused("invalid_arguments", exc.detail) from exc


def check_metadata(metadata: Payload) -> None:
    event_type = metadata.get("event_type")
    payload = metadata.get("event_payload")
    refuse_unless(isinstance(event_type, str) and bool(event_type), "metadata_must_be_sent_with_event_type", "metadata")
    refuse_unless(isinstance(payload, Mapping), "invalid_metadata_format", "event_payload")
    refuse_unless(len(json.dumps(metadata)) <= METADATA, "metadata_too_large", "metadata")


def live_mentions(message: Payload) -> list[str]:
    """Returns all parts of the message that could notify people. Some clients interpret entities in plain text too.

    The text in rich text is shown verbatim everywhere.
    """
    blocks = message.get("blocks", [])
    mrkdwn_texts = [str(message.get("text", "")), *_texts_of_kinds(blocks, "mrkdwn", "markdown")]
    mrkdwn_texts += [str(block["caption"]) for block in objects_in(blocks) if "caption" in block]
    mentions = [match[0] for text in mrkdwn_texts for match in _LIVE.finditer(text)]
    plain_texts = [
        *_texts_of_kinds(blocks, "plain_text", "raw_text"),
        *_texts_of_kinds(blocks, "plan", "task_card", name="title"),
    ]
    mentions += [match[0] for text in plain_texts for match in _LIVE_ENTITY.finditer(text)]
    return mentions + [element["type"] for element in objects_in(blocks) if _is_rich_mention(element)]


def _is_rich_mention(element: Payload) -> bool:
    return element.get("type") in LIVE and not ({"text", "elements"} & element.keys())


def _texts_of_kinds(blocks: Any, *kinds: str, name: str = "text") -> Iterator[str]:
    return (str(element.get(name, "")) for element in objects_in(blocks) if element.get("type") in kinds)


def _as_block_list(value: Any) -> Sequence[Any]:
    refuse_unless(isinstance(value, list | tuple), "invalid_blocks_format", "blocks")
    return cast(Sequence[Any], value)


def _check_view(view: Payload) -> None:
    kind = view.get("type")
    refuse_block_unless(kind in {"modal", "home"}, f"view: unknown type {kind!r}")
    blocks = _as_block_list(view.get("blocks"))
    refuse_block_unless(1 <= len(blocks) <= VIEW_BLOCKS, f"view: {len(blocks)} blocks")
    for index, block in enumerate(blocks):
        _check_block(block, f"view blocks[{index}]", _IN_MODALS if kind == "modal" else _IN_HOMES)
    _check_ids(blocks)
    focused = [element for element in objects_in(blocks) if element.get("focus_on_load")]
    refuse_block_unless(len(focused) <= 1, "view: focus_on_load twice")
    _check_view_fields(view)
    if kind == "home":
        check_known_keys(view, "home", "blocks", "callback_id", "external_id", "private_metadata")
    else:
        _check_modal(view, blocks)


def _check_view_fields(view: Payload) -> None:
    refuse_block_unless(utf16_length(view.get("private_metadata", "")) <= PRIVATE_METADATA, "view: private_metadata")
    for name in ("callback_id", "external_id"):
        refuse_block_unless(utf16_length(view.get(name, "")) <= ID, f"view: {name}")


def _check_modal(view: Payload, blocks: Sequence[Payload]) -> None:
    flags = ("clear_on_close", "notify_on_close", "submit_disabled")
    names = ("blocks", "callback_id", "external_id", "private_metadata", "title", "submit", "close")
    check_known_keys(view, "modal", *names, *flags)
    check_plain(view.get("title"), "view title", VIEW_TITLE)
    for name in ("submit", "close"):
        if view.get(name) is not None:
            check_plain(view[name], f"view {name}", VIEW_TITLE)
    check_flags(view, "modal", *flags)
    has_input = any(block["type"] == "input" for block in blocks)
    refuse_block_unless(not has_input or view.get("submit") is not None, "modal: input without submit")  # (sdk)


def _check_ids(blocks: Sequence[Payload]) -> None:
    ids = [block["block_id"] for block in _all_blocks_in(blocks) if "block_id" in block]
    refuse_block_unless(len(ids) == len(set(ids)), "block_id twice")  # (sdk)


def _all_blocks_in(blocks: Sequence[Payload]) -> Iterator[Payload]:
    """Yield the blocks and the blocks inside them."""
    for block in blocks:
        yield block
        yield from block.get("child_blocks", [])
        yield from (card for card in block.get("elements", []) if card.get("type") == "card")


def check_sums(blocks: Sequence[Payload]) -> None:
    """Check the limits that apply to all blocks of a message together."""
    markdown = sum(utf16_length(block["text"]) for block in blocks if block["type"] == "markdown")
    refuse_unless(markdown <= MARKDOWN, "msg_blocks_too_long", f"{markdown} characters of markdown")
    tables = [block for block in _all_blocks_in(blocks) if block["type"] == "table"]
    refuse_block_unless(len(tables) <= 1, "only one table to a message")  # (sdk)
    data = sum(data_table_length(block) for block in blocks if block["type"] == "data_table")
    refuse_unless(data <= DATA_TEXT, "msg_blocks_too_long", f"{data} characters of data_table")
    total = sum(text_length(block) for block in blocks if block["type"] != "data_table")
    refuse_unless(total <= TEXT_OF_BLOCKS, "msg_blocks_too_long", f"{total} characters")


def _check_block(block: Any, where: str, kinds: frozenset[str]) -> None:
    refuse_block_unless(isinstance(block, Mapping), where)
    kind = block.get("type")
    check = _BLOCKS.get(kind) if kind in kinds else None
    refuse_block_unless(check is not None, f"{where}: unknown type {kind!r}")
    check_id(block, "block_id", where)
    cast(Check, check)(block, f"{where} {block['type']}")


def _check_section(block: Payload, where: str) -> None:
    check_known_keys(block, where, "text", "fields", "accessory", "expand")
    refuse_block_unless("text" in block or "fields" in block, f"{where}: neither text nor fields")
    if "text" in block:
        check_text(block["text"], where, SECTION_TEXT)
    if "fields" in block:
        fields = list_members(block["fields"], where)
        refuse_block_unless(1 <= len(fields) <= FIELDS, f"{where}: fields")
        for field in fields:
            check_text(field, f"{where} field", FIELD_TEXT)  # (sdk)
    if "accessory" in block:
        check_element(block["accessory"], f"{where} accessory", IN_SECTION)


def _check_header(block: Payload, where: str) -> None:
    check_known_keys(block, where, "text", "level")
    check_plain(block.get("text"), where, HEADER_TEXT)  # (sdk)


def _check_divider(block: Payload, where: str) -> None:
    check_known_keys(block, where)


def _check_image(block: Payload, where: str) -> None:
    check_known_keys(block, where, "image_url", "alt_text", "title")
    refuse_block_unless(is_text(block.get("image_url"), URL), f"{where}: image_url")
    refuse_block_unless(is_text(block.get("alt_text"), ALT_TEXT), f"{where}: alt_text")
    if "title" in block:
        check_plain(block["title"], f"{where} title", LABEL)


def _check_context(block: Payload, where: str) -> None:
    check_known_keys(block, where, "elements")
    elements = list_members(block.get("elements", []), where)
    refuse_block_unless(1 <= len(elements) <= CONTEXT_ELEMENTS, f"{where}: elements")
    for element in elements:
        if isinstance(element, Mapping) and cast(Payload, element).get("type") == "image":
            check_element(element, where, frozenset({"image"}))
        else:
            check_text(element, where, SECTION_TEXT)


def _check_actions(block: Payload, where: str) -> None:
    _check_elements(block, where, ACTIONS_ELEMENTS, IN_ACTIONS)


def _check_context_actions(block: Payload, where: str) -> None:
    _check_elements(block, where, CONTEXT_ACTIONS, IN_CONTEXT_ACTIONS)


def _check_elements(block: Payload, where: str, most: int, kinds: frozenset[str]) -> None:
    check_known_keys(block, where, "elements")
    elements = list_members(block.get("elements", []), where)
    refuse_block_unless(1 <= len(elements) <= most, f"{where}: {len(elements)} elements")  # (sdk: empty)
    for element in elements:
        check_element(element, where, kinds)
    ids = [element["action_id"] for element in elements if "action_id" in element]
    refuse_block_unless(len(ids) == len(set(ids)), f"{where}: action_id twice")  # (sdk)


def _check_input(block: Payload, where: str) -> None:
    check_known_keys(block, where, "label", "hint", "element", "optional", "dispatch_action")
    check_plain(block.get("label"), f"{where} label", LABEL)
    if "hint" in block:
        check_plain(block["hint"], f"{where} hint", LABEL)
    check_flags(block, where, "optional", "dispatch_action")
    check_element(block.get("element"), where, IN_INPUT)


def _check_markdown(block: Payload, where: str) -> None:
    check_known_keys(block, where, "text")
    refuse_block_unless(isinstance(block.get("text"), str) and bool(block["text"].strip()), f"{where}: empty text")


def _check_container(block: Payload, where: str) -> None:
    """Check a container. Its children are those that Slack documents and its validator accepts (slack-morphism)."""
    flags = ("is_collapsible", "default_collapsed", "has_header_divider")
    check_known_keys(block, where, "title", "rich_text_title", "subtitle", "child_blocks", "width", "icon", *flags)
    check_flags(block, where, *flags)
    refuse_block_unless("title" in block or "rich_text_title" in block, f"{where}: no title")
    if "title" in block:
        check_plain(block["title"], f"{where} title", TITLE)
    if "rich_text_title" in block:
        _check_block(block["rich_text_title"], f"{where} title", frozenset({"rich_text"}))
    if "subtitle" in block:
        check_text(block["subtitle"], f"{where} subtitle", SUBTITLE)
    if "icon" in block:
        check_element(block["icon"], f"{where} icon", frozenset({"image"}))
    refuse_block_unless(block.get("width", "standard") in {"narrow", "standard", "wide", "full"}, f"{where}: width")
    collapsible = block.get("is_collapsible", False)
    refuse_block_unless(
        collapsible or not block.get("default_collapsed"), f"{where}: collapsed and not collapsible"
    )  # (sdk)
    refuse_block_unless(not (collapsible and block.get("has_header_divider")), f"{where}: divider of a collapsible one")
    children = list_members(block.get("child_blocks", []), where)
    refuse_block_unless(1 <= len(children) <= CHILDREN, f"{where}: {len(children)} children")
    for index, child in enumerate(children):
        _check_block(child, f"{where}[{index}]", _IN_CONTAINERS)


_BLOCKS: Final[dict[str, Check]] = {
    "actions": _check_actions,
    "alert": check_alert,
    "card": check_card,
    "carousel": check_carousel,
    "container": _check_container,
    "context": _check_context,
    "context_actions": _check_context_actions,
    "data_table": check_data_table,
    "divider": _check_divider,
    "header": _check_header,
    "image": _check_image,
    "input": _check_input,
    "markdown": _check_markdown,
    "plan": check_plan,
    "rich_text": check_rich_text,
    "section": _check_section,
    "table": check_table,
    "task_card": check_task_card,
}
_IN_HOMES: Final = frozenset({"actions", "context", "divider", "header", "image", "input", "rich_text", "section"})
_IN_MODALS: Final = _IN_HOMES | {"alert"}  # and nowhere else: slackapi/node-slack-sdk#2567
_IN_MESSAGES: Final = frozenset(_BLOCKS.keys() - {"alert", "input"})  # Slack would not deliver input from a message
_IN_CONTAINERS: Final = frozenset({"actions", "context", "divider", "header", "image", "section", "table"})
