"""Refuses the messages and views that Slack refuses, and those that Slack would cut or that only its clients fail on.

Stricter than the models of slack_sdk, which let pass what is marked (sdk) below and in the modules this one is made
of. Block types that are not looked at here (`call`, `file`, `video`, `data_visualization`) count as unknown.
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
    Refused,
    check_flags,
    check_id,
    check_mrkdwn,
    check_plain,
    check_text,
    is_text,
    known,
    length,
    members,
    need,
    objects,
    text_length,
    valid,
)
from tests.stand_ins.slack.rich_text import LIVE, check_rich_text
from tests.stand_ins.slack.tables import DATA_TEXT, check_data_table, check_table, data_length

__all__ = [
    "Refused",
    "check_blocks",
    "check_message",
    "check_metadata",
    "check_mrkdwn",
    "check_sums",
    "check_view",
    "length",
    "live_mentions",
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
    """Raises `Refused`. `text` is demanded even beside blocks: notifications and screen readers have nothing else."""
    text = message.get("text")
    need(isinstance(text, str) and bool(text.strip()), "no_text", "text")
    need(length(cast(str, text)) <= TEXT, "msg_too_long", "text")
    need(not message.get("link_names") and message.get("parse", "none") == "none", "invalid_arguments", "live names")
    check_mrkdwn(cast(str, text), "text")
    check_blocks(message.get("blocks", []))
    if message.get("metadata") is not None:
        check_metadata(message["metadata"])


def check_blocks(value: Any) -> None:
    """Those of a message."""
    blocks = _listed(value)
    need(len(blocks) <= BLOCKS, "invalid_blocks", f"{len(blocks)} blocks")
    for at, block in enumerate(blocks):
        _check_block(block, f"blocks[{at}]", _IN_MESSAGES)
    _check_ids(blocks)
    check_sums(blocks)


def check_view(view: Any) -> None:
    """A modal or a Home tab. Raises `Refused`, with `invalid_arguments` for whatever is wrong inside."""
    need(len(json.dumps(view)) <= VIEW_BYTES, "view_too_large", "view")
    try:
        valid(isinstance(view, Mapping), "view: no object")
        _check_view(cast(Payload, view))
    except Refused as exc:
        raise Refused("invalid_arguments", exc.detail) from exc


def check_metadata(metadata: Payload) -> None:
    event_type = metadata.get("event_type")
    payload = metadata.get("event_payload")
    need(isinstance(event_type, str) and bool(event_type), "metadata_must_be_sent_with_event_type", "metadata")
    need(isinstance(payload, Mapping), "invalid_metadata_format", "event_payload")
    need(len(json.dumps(metadata)) <= METADATA, "metadata_too_large", "metadata")


def live_mentions(message: Payload) -> list[str]:
    """Whatever in the message would notify someone, or might: some renderers read entities in plain text as well.

    The text of rich text is shown as it is everywhere.
    """
    blocks = message.get("blocks", [])
    read = [str(message.get("text", "")), *_texts(blocks, "mrkdwn", "markdown")]
    read += [str(block["caption"]) for block in objects(blocks) if "caption" in block]
    found = [match[0] for text in read for match in _LIVE.finditer(text)]
    told = [*_texts(blocks, "plain_text", "raw_text"), *_texts(blocks, "plan", "task_card", name="title")]
    found += [match[0] for text in told for match in _LIVE_ENTITY.finditer(text)]
    return found + [element["type"] for element in objects(blocks) if _is_rich_mention(element)]


def _is_rich_mention(element: Payload) -> bool:
    return element.get("type") in LIVE and not ({"text", "elements"} & element.keys())


def _texts(blocks: Any, *kinds: str, name: str = "text") -> Iterator[str]:
    return (str(element.get(name, "")) for element in objects(blocks) if element.get("type") in kinds)


def _listed(value: Any) -> Sequence[Any]:
    need(isinstance(value, list | tuple), "invalid_blocks_format", "blocks")
    return cast(Sequence[Any], value)


def _check_view(view: Payload) -> None:
    kind = view.get("type")
    valid(kind in {"modal", "home"}, f"view: unknown type {kind!r}")
    blocks = _listed(view.get("blocks"))
    valid(1 <= len(blocks) <= VIEW_BLOCKS, f"view: {len(blocks)} blocks")
    for at, block in enumerate(blocks):
        _check_block(block, f"view blocks[{at}]", _IN_MODALS if kind == "modal" else _IN_HOMES)
    _check_ids(blocks)
    focused = [one for one in objects(blocks) if one.get("focus_on_load")]
    valid(len(focused) <= 1, "view: focus_on_load twice")
    _check_view_fields(view)
    if kind == "home":
        known(view, "home", "blocks", "callback_id", "external_id", "private_metadata")
    else:
        _check_modal(view, blocks)


def _check_view_fields(view: Payload) -> None:
    valid(length(view.get("private_metadata", "")) <= PRIVATE_METADATA, "view: private_metadata")
    for name in ("callback_id", "external_id"):
        valid(length(view.get(name, "")) <= ID, f"view: {name}")


def _check_modal(view: Payload, blocks: Sequence[Payload]) -> None:
    flags = ("clear_on_close", "notify_on_close", "submit_disabled")
    names = ("blocks", "callback_id", "external_id", "private_metadata", "title", "submit", "close")
    known(view, "modal", *names, *flags)
    check_plain(view.get("title"), "view title", VIEW_TITLE)
    for name in ("submit", "close"):
        if view.get(name) is not None:
            check_plain(view[name], f"view {name}", VIEW_TITLE)
    check_flags(view, "modal", *flags)
    has_input = any(block["type"] == "input" for block in blocks)
    valid(not has_input or view.get("submit") is not None, "modal: input without submit")  # (sdk)


def _check_ids(blocks: Sequence[Payload]) -> None:
    ids = [block["block_id"] for block in _all(blocks) if "block_id" in block]
    valid(len(ids) == len(set(ids)), "block_id twice")  # (sdk)


def _all(blocks: Sequence[Payload]) -> Iterator[Payload]:
    """The blocks, and those within them."""
    for block in blocks:
        yield block
        yield from block.get("child_blocks", [])
        yield from (card for card in block.get("elements", []) if card.get("type") == "card")


def check_sums(blocks: Sequence[Payload]) -> None:
    """What all blocks of a message may hold together."""
    markdown = sum(length(block["text"]) for block in blocks if block["type"] == "markdown")
    need(markdown <= MARKDOWN, "msg_blocks_too_long", f"{markdown} characters of markdown")
    tables = [block for block in _all(blocks) if block["type"] == "table"]
    valid(len(tables) <= 1, "only one table to a message")  # (sdk)
    data = sum(data_length(block) for block in blocks if block["type"] == "data_table")
    need(data <= DATA_TEXT, "msg_blocks_too_long", f"{data} characters of data_table")
    total = sum(text_length(block) for block in blocks if block["type"] != "data_table")
    need(total <= TEXT_OF_BLOCKS, "msg_blocks_too_long", f"{total} characters")


def _check_block(block: Any, where: str, kinds: frozenset[str]) -> None:
    valid(isinstance(block, Mapping), where)
    kind = block.get("type")
    check = _BLOCKS.get(kind) if kind in kinds else None
    valid(check is not None, f"{where}: unknown type {kind!r}")
    check_id(block, "block_id", where)
    cast(Check, check)(block, f"{where} {block['type']}")


def _check_section(block: Payload, where: str) -> None:
    known(block, where, "text", "fields", "accessory", "expand")
    valid("text" in block or "fields" in block, f"{where}: neither text nor fields")
    if "text" in block:
        check_text(block["text"], where, SECTION_TEXT)
    if "fields" in block:
        fields = members(block["fields"], where)
        valid(1 <= len(fields) <= FIELDS, f"{where}: fields")
        for field in fields:
            check_text(field, f"{where} field", FIELD_TEXT)  # (sdk)
    if "accessory" in block:
        check_element(block["accessory"], f"{where} accessory", IN_SECTION)


def _check_header(block: Payload, where: str) -> None:
    known(block, where, "text", "level")
    check_plain(block.get("text"), where, HEADER_TEXT)  # (sdk)


def _check_divider(block: Payload, where: str) -> None:
    known(block, where)


def _check_image(block: Payload, where: str) -> None:
    known(block, where, "image_url", "alt_text", "title")
    valid(is_text(block.get("image_url"), URL), f"{where}: image_url")
    valid(is_text(block.get("alt_text"), ALT_TEXT), f"{where}: alt_text")
    if "title" in block:
        check_plain(block["title"], f"{where} title", LABEL)


def _check_context(block: Payload, where: str) -> None:
    known(block, where, "elements")
    elements = members(block.get("elements", []), where)
    valid(1 <= len(elements) <= CONTEXT_ELEMENTS, f"{where}: elements")
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
    known(block, where, "elements")
    elements = members(block.get("elements", []), where)
    valid(1 <= len(elements) <= most, f"{where}: {len(elements)} elements")  # (sdk: empty)
    for element in elements:
        check_element(element, where, kinds)
    ids = [element["action_id"] for element in elements if "action_id" in element]
    valid(len(ids) == len(set(ids)), f"{where}: action_id twice")  # (sdk)


def _check_input(block: Payload, where: str) -> None:
    known(block, where, "label", "hint", "element", "optional", "dispatch_action")
    check_plain(block.get("label"), f"{where} label", LABEL)
    if "hint" in block:
        check_plain(block["hint"], f"{where} hint", LABEL)
    check_flags(block, where, "optional", "dispatch_action")
    check_element(block.get("element"), where, IN_INPUT)


def _check_markdown(block: Payload, where: str) -> None:
    known(block, where, "text")
    valid(isinstance(block.get("text"), str) and bool(block["text"].strip()), f"{where}: empty text")


def _check_container(block: Payload, where: str) -> None:
    """Of the children that Slack's pages list, those that its validator is known to take as well (slack-morphism)."""
    flags = ("is_collapsible", "default_collapsed", "has_header_divider")
    known(block, where, "title", "rich_text_title", "subtitle", "child_blocks", "width", "icon", *flags)
    check_flags(block, where, *flags)
    valid("title" in block or "rich_text_title" in block, f"{where}: no title")
    if "title" in block:
        check_plain(block["title"], f"{where} title", TITLE)
    if "rich_text_title" in block:
        _check_block(block["rich_text_title"], f"{where} title", frozenset({"rich_text"}))
    if "subtitle" in block:
        check_text(block["subtitle"], f"{where} subtitle", SUBTITLE)
    if "icon" in block:
        check_element(block["icon"], f"{where} icon", frozenset({"image"}))
    valid(block.get("width", "standard") in {"narrow", "standard", "wide", "full"}, f"{where}: width")
    collapsible = block.get("is_collapsible", False)
    valid(collapsible or not block.get("default_collapsed"), f"{where}: collapsed and not collapsible")  # (sdk)
    valid(not (collapsible and block.get("has_header_divider")), f"{where}: divider of a collapsible one")
    children = members(block.get("child_blocks", []), where)
    valid(1 <= len(children) <= CHILDREN, f"{where}: {len(children)} children")
    for at, child in enumerate(children):
        _check_block(child, f"{where}[{at}]", _IN_CONTAINERS)


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
_IN_MESSAGES: Final = frozenset(_BLOCKS.keys() - {"alert", "input"})  # what is typed there would go nowhere
_IN_CONTAINERS: Final = frozenset({"actions", "context", "divider", "header", "image", "section", "table"})
