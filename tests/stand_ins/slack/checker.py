"""Refuses the messages that Slack refuses, and those that Slack would cut or that only its clients fail on.

Stricter than the models of slack_sdk, which let pass what is marked (sdk) below. Block types that Parley has no use for
count as unknown. Lengths are in UTF-16 units, the stricter of the two readings of Slack's pages.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

Payload: TypeAlias = Mapping[str, Any]

BLOCKS = 50  # (sdk)
TEXT_OF_BLOCKS = 13_200  # slackapi/bolt-js#2509
TEXT = 40_000
MARKDOWN = 12_000  # all markdown blocks of a message together (sdk)
TABLE_ROWS, TABLE_COLUMNS, TABLE_TEXT = 100, 20, 10_000  # (sdk)
SECTION_TEXT, FIELD_TEXT, FIELDS = 3_000, 2_000, 10
HEADER_TEXT = 150
ACTIONS_ELEMENTS, CONTEXT_ELEMENTS = 25, 10
BUTTON_TEXT, BUTTON_VALUE, URL, ID = 75, 2_000, 3_000, 255
OPTION_TEXT, OPTION_VALUE, OPTIONS, OVERFLOW_OPTIONS = 75, 150, 100, 5
METADATA = 8_000

_LIVE = re.compile(r"<[!@#]|@(?:here|channel|everyone)\b", re.IGNORECASE)
_LIVE_ENTITY = re.compile(r"<[!@#]")
_ENTITY = re.compile(r"&(?!amp;|lt;|gt;)")
_ANGLE = re.compile(r"<(?P<inside>[^<>]*)>|[<>]")
_RICH_LIVE = {"user", "usergroup", "broadcast", "channel", "team"}
_RICH_INLINE = {*_RICH_LIVE, "text", "link", "emoji", "date", "color"}


class Refused(Exception):
    """`error` is Slack's word for it; `detail` says where."""

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(f"{error}: {detail}")
        self.error, self.detail = error, detail


def length(text: str) -> int:
    return len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def check_message(message: Payload) -> None:
    """Raises `Refused`. `text` is demanded even beside blocks: notifications and screen readers have nothing else."""
    text = message.get("text")
    _need(isinstance(text, str) and bool(text.strip()), "no_text", "text")
    _need(length(cast(str, text)) <= TEXT, "msg_too_long", "text")
    _need(not message.get("link_names") and message.get("parse", "none") == "none", "invalid_arguments", "live names")
    check_mrkdwn(cast(str, text), "text")
    check_blocks(message.get("blocks", []))
    if message.get("metadata") is not None:
        _check_metadata(message["metadata"])


def check_blocks(value: Any) -> None:
    _need(isinstance(value, list | tuple), "invalid_blocks_format", "blocks")
    blocks = cast(Sequence[Any], value)
    _need(len(blocks) <= BLOCKS, "invalid_blocks", f"{len(blocks)} blocks")
    for at, block in enumerate(blocks):
        _check_block(block, f"blocks[{at}]")
    _check_ids(blocks)
    _check_sums(blocks)


def check_mrkdwn(text: str, where: str) -> None:
    """Well-formed entities: a lone `<`, `>` or `&` is data that was not escaped."""
    _need(not _ENTITY.search(text), "unescaped", f"{where}: &")
    for angle in _ANGLE.finditer(text):
        _need(bool(angle["inside"]), "unescaped", f"{where}: {angle[0]}")


def live_mentions(message: Payload) -> list[str]:
    """Whatever in the message would notify someone, or might: some renderers read entities in plain text as well.

    The text of rich text is shown as it is everywhere.
    """
    blocks = message.get("blocks", [])
    read = [str(message.get("text", "")), *_texts(blocks, "mrkdwn", "markdown")]
    found = [match[0] for text in read for match in _LIVE.finditer(text)]
    found += [match[0] for text in _texts(blocks, "plain_text", "raw_text") for match in _LIVE_ENTITY.finditer(text)]
    return found + [element["type"] for element in _objects(blocks) if _is_rich_mention(element)]


def _is_rich_mention(element: Payload) -> bool:
    return element.get("type") in _RICH_LIVE and not ({"text", "elements"} & element.keys())


def _texts(blocks: Any, *kinds: str) -> Iterator[str]:
    return (str(element.get("text", "")) for element in _objects(blocks) if element.get("type") in kinds)


def _objects(value: Any) -> Iterator[Payload]:
    if isinstance(value, Mapping):
        mapping = cast(Payload, value)
        yield mapping
        for member in mapping.values():
            yield from _objects(member)
    elif isinstance(value, list | tuple):
        for member in cast(Sequence[Any], value):
            yield from _objects(member)


def _need(holds: bool, error: str, detail: str) -> None:
    if not holds:
        raise Refused(error, detail)


def _valid(holds: bool, detail: str) -> None:
    _need(holds, "invalid_blocks", detail)


def _check_metadata(metadata: Payload) -> None:
    event_type = metadata.get("event_type")
    payload = metadata.get("event_payload")
    _need(isinstance(event_type, str) and bool(event_type), "metadata_must_be_sent_with_event_type", "metadata")
    _need(isinstance(payload, Mapping), "invalid_metadata_format", "event_payload")
    _need(len(json.dumps(metadata)) <= METADATA, "metadata_too_large", "metadata")


def _check_ids(blocks: Sequence[Payload]) -> None:
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    _valid(len(ids) == len(set(ids)), "block_id twice")  # (sdk)


def _check_sums(blocks: Sequence[Payload]) -> None:
    markdown = sum(length(block["text"]) for block in blocks if block["type"] == "markdown")
    _need(markdown <= MARKDOWN, "msg_blocks_too_long", f"{markdown} characters of markdown")
    tables = [block for block in blocks if block["type"] == "table"]
    _valid(len(tables) <= 1, "only one table to a message")  # (sdk)
    total = sum(_text_length(block) for block in blocks)
    _need(total <= TEXT_OF_BLOCKS, "msg_blocks_too_long", f"{total} characters")


def _text_length(block: Payload) -> int:
    return sum(length(element["text"]) for element in _objects(block) if isinstance(element.get("text"), str))


def _check_block(block: Any, where: str) -> None:
    _valid(isinstance(block, Mapping), where)
    check = _BLOCKS.get(block.get("type"))
    _valid(check is not None, f"{where}: unknown type {block.get('type')!r}")
    _check_id(block, "block_id", where)
    cast(Callable[[Payload, str], None], check)(block, f"{where} {block['type']}")


def _check_id(holder: Payload, name: str, where: str) -> None:
    if name in holder:
        _valid(isinstance(holder[name], str) and 1 <= length(holder[name]) <= ID, f"{where}: {name}")


def _known(holder: Payload, where: str, *names: str) -> None:
    unknown = holder.keys() - {"type", "block_id", *names}
    _valid(not unknown, f"{where}: unknown {sorted(unknown)}")


def _check_text(value: Any, where: str, most: int, kinds: Sequence[str] = ("plain_text", "mrkdwn")) -> None:
    """A text object: never empty (sdk), only of the kinds that its place takes (sdk)."""
    _valid(isinstance(value, Mapping), f"{where}: wants a text object")
    text = cast(Payload, value)
    _valid(text.get("type") in kinds, f"{where}: wants {' or '.join(kinds)}")
    _known(text, where, "text", "verbatim" if text["type"] == "mrkdwn" else "emoji")
    words = text.get("text", "")
    _valid(isinstance(words, str) and bool(words.strip()), f"{where}: empty text")
    _valid(length(words) <= most, f"{where}: over {most} characters")
    if text["type"] == "mrkdwn":
        check_mrkdwn(words, where)


def _check_section(block: Payload, where: str) -> None:
    _known(block, where, "text", "fields", "accessory", "expand")
    _valid("text" in block or "fields" in block, f"{where}: neither text nor fields")
    if "text" in block:
        _check_text(block["text"], where, SECTION_TEXT)
    if "fields" in block:
        _valid(1 <= len(block["fields"]) <= FIELDS, f"{where}: fields")
        for field in block["fields"]:
            _check_text(field, f"{where} field", FIELD_TEXT)  # (sdk)
    if "accessory" in block:
        _check_element(block["accessory"], f"{where} accessory")


def _check_header(block: Payload, where: str) -> None:
    _known(block, where, "text", "level")
    _check_text(block.get("text"), where, HEADER_TEXT, ["plain_text"])  # (sdk)


def _check_divider(block: Payload, where: str) -> None:
    _known(block, where)


def _check_context(block: Payload, where: str) -> None:
    _known(block, where, "elements")
    _valid(1 <= len(block.get("elements", [])) <= CONTEXT_ELEMENTS, f"{where}: elements")
    for element in block["elements"]:
        _check_text(element, where, SECTION_TEXT)


def _check_actions(block: Payload, where: str) -> None:
    _known(block, where, "elements")
    elements = block.get("elements", [])
    _valid(1 <= len(elements) <= ACTIONS_ELEMENTS, f"{where}: {len(elements)} elements")  # (sdk: empty)
    for element in elements:
        _check_element(element, where)
    ids = [element["action_id"] for element in elements if "action_id" in element]
    _valid(len(ids) == len(set(ids)), f"{where}: action_id twice")  # (sdk)


def _check_element(element: Any, where: str) -> None:
    _valid(isinstance(element, Mapping), where)
    check = _ELEMENTS.get(element.get("type"))
    _valid(check is not None, f"{where}: unknown element {element.get('type')!r}")
    _check_id(element, "action_id", where)
    cast(Callable[[Payload, str], None], check)(element, f"{where} {element['type']}")


def _check_button(button: Payload, where: str) -> None:
    _known(button, where, "text", "action_id", "value", "url", "style", "confirm", "accessibility_label")
    _check_text(button.get("text"), where, BUTTON_TEXT, ["plain_text"])  # (sdk)
    _valid(length(button.get("value", "")) <= BUTTON_VALUE, f"{where}: value")
    _valid(length(button.get("url", "")) <= URL, f"{where}: url")
    _valid(button.get("style", "primary") in {"primary", "danger"}, f"{where}: style")


def _check_select(select: Payload, where: str) -> None:
    _known(select, where, "action_id", "options", "placeholder", "initial_option", "focus_on_load", "confirm")
    _check_options(select.get("options", []), where, OPTIONS)


def _check_overflow(overflow: Payload, where: str) -> None:
    _known(overflow, where, "action_id", "options", "confirm")
    _check_options(overflow.get("options", []), where, OVERFLOW_OPTIONS)


def _check_options(options: Sequence[Payload], where: str, most: int) -> None:
    _valid(1 <= len(options) <= most, f"{where}: {len(options)} options")
    for option in options:
        _check_text(option.get("text"), f"{where} option", OPTION_TEXT)  # (sdk)
        value = option.get("value")
        _valid(isinstance(value, str) and 1 <= length(value) <= OPTION_VALUE, f"{where} option: value")  # (sdk)


def _check_markdown(block: Payload, where: str) -> None:
    _known(block, where, "text")
    _valid(isinstance(block.get("text"), str) and bool(block["text"].strip()), f"{where}: empty text")


def _check_table(block: Payload, where: str) -> None:
    _known(block, where, "rows", "column_settings")
    rows = block.get("rows", [])
    _valid(1 <= len(rows) <= TABLE_ROWS, f"{where}: {len(rows)} rows")  # (sdk)
    for row in rows:
        _valid(1 <= len(row) <= TABLE_COLUMNS and len(row) == len(rows[0]), f"{where}: {len(row)} cells")  # (sdk)
        for cell in row:
            _check_cell(cell, where)
    _need(_text_length(block) <= TABLE_TEXT, "msg_blocks_too_long", f"{where}: over {TABLE_TEXT} characters")


def _check_cell(cell: Payload, where: str) -> None:
    if cell.get("type") == "rich_text":
        _check_rich_text(cell, f"{where} cell")
        return
    _valid(cell.get("type") == "raw_text", f"{where}: cell {cell.get('type')!r}")
    _valid(isinstance(cell.get("text"), str) and bool(cell["text"].strip()), f"{where}: empty cell")


def _check_rich_text(block: Payload, where: str) -> None:
    _known(block, where, "elements")
    _valid(len(block.get("elements", [])) >= 1, f"{where}: no elements")
    for element in block["elements"]:
        _check_rich_element(element, where)


def _check_rich_element(element: Payload, where: str) -> None:
    kind, members = element.get("type"), element.get("elements", [])
    _valid(kind in _RICH, f"{where}: unknown element {kind!r}")
    _known(element, where, "elements", "style", "indent", "offset", "border", "language")
    _valid(len(members) >= 1, f"{where} {kind}: no elements")
    for member in members:
        if kind == "rich_text_list":
            _valid(member.get("type") == "rich_text_section", f"{where}: list of {member.get('type')!r}")
            _check_rich_element(member, where)
        else:
            _check_inline(member, where)
    if kind == "rich_text_list":
        _valid(element.get("style") in {"bullet", "ordered"}, f"{where}: list style")


def _check_inline(element: Payload, where: str) -> None:
    kind = element.get("type")
    _valid(kind in _RICH_INLINE, f"{where}: unknown inline {kind!r}")
    if kind == "text" or "text" in element:
        _valid(isinstance(element.get("text"), str) and bool(element["text"]), f"{where}: empty text")
    if kind == "link":
        _valid(str(element.get("url", "")).startswith(("https://", "http://", "mailto:")), f"{where}: url")
        _valid(length(element["url"]) <= URL, f"{where}: url")
    unknown = element.get("style", {}).keys() - {"bold", "italic", "strike", "code", "underline"}
    _valid(not unknown, f"{where}: style {sorted(unknown)}")


_RICH = {"rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote"}
_ELEMENTS: dict[str, Callable[[Payload, str], None]] = {
    "button": _check_button,
    "overflow": _check_overflow,
    "static_select": _check_select,
}
_BLOCKS: dict[str, Callable[[Payload, str], None]] = {
    "actions": _check_actions,
    "context": _check_context,
    "divider": _check_divider,
    "header": _check_header,
    "markdown": _check_markdown,
    "rich_text": _check_rich_text,
    "section": _check_section,
    "table": _check_table,
}
