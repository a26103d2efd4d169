"""Checks the `rich_text` block, which is also used in table cells."""

from tests.stand_ins.slack.refusing import (
    Payload,
    check_flags,
    check_known_keys,
    is_between,
    list_members,
    refuse_block_unless,
    utf16_length,
)

URL = 3_000
LIVE = frozenset({"user", "usergroup", "broadcast", "channel", "team"})
_INLINE = {*LIVE, "text", "link", "emoji", "date", "color"}
_ELEMENTS = {"rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote"}
_STYLES = ("bold", "italic", "strike", "code", "underline")


def check_rich_text(block: Payload, where: str) -> None:
    check_known_keys(block, where, "elements")
    elements = list_members(block.get("elements", []), where)
    refuse_block_unless(len(elements) >= 1, f"{where}: no elements")
    for element in elements:
        _check_element(element, where)


def _check_element(element: Payload, where: str) -> None:
    kind, inner = element.get("type"), list_members(element.get("elements", []), where)
    refuse_block_unless(kind in _ELEMENTS, f"{where}: unknown element {kind!r}")
    check_known_keys(element, where, "elements", "style", "indent", "offset", "border", "language")
    refuse_block_unless(len(inner) >= 1, f"{where} {kind}: no elements")
    for member in inner:
        if kind == "rich_text_list":
            refuse_block_unless(member.get("type") == "rich_text_section", f"{where}: list of {member.get('type')!r}")
            _check_element(member, where)
        else:
            _check_inline(member, where)
    if kind == "rich_text_list":
        refuse_block_unless(element.get("style") in {"bullet", "ordered"}, f"{where}: list style")
        refuse_block_unless(is_between(element.get("indent", 0), 0, 8), f"{where}: indent")


def _check_inline(element: Payload, where: str) -> None:
    kind = element.get("type")
    refuse_block_unless(kind in _INLINE, f"{where}: unknown inline {kind!r}")
    if kind == "text" or "text" in element:
        refuse_block_unless(isinstance(element.get("text"), str) and bool(element["text"]), f"{where}: empty text")
    if kind == "link":
        refuse_block_unless(str(element.get("url", "")).startswith(("https://", "http://", "mailto:")), f"{where}: url")
        refuse_block_unless(utf16_length(element["url"]) <= URL, f"{where}: url")
    style = element.get("style", {})
    check_known_keys(style, f"{where} style", *_STYLES)
    check_flags(style, f"{where} style", *_STYLES)
