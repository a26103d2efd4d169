"""The `rich_text` block, which tables use for their cells as well."""

from tests.stand_ins.slack.refusing import Payload, check_flags, is_between, known, length, members, valid

URL = 3_000
LIVE = frozenset({"user", "usergroup", "broadcast", "channel", "team"})
_INLINE = {*LIVE, "text", "link", "emoji", "date", "color"}
_ELEMENTS = {"rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote"}
_STYLES = ("bold", "italic", "strike", "code", "underline")


def check_rich_text(block: Payload, where: str) -> None:
    known(block, where, "elements")
    elements = members(block.get("elements", []), where)
    valid(len(elements) >= 1, f"{where}: no elements")
    for element in elements:
        _check_element(element, where)


def _check_element(element: Payload, where: str) -> None:
    kind, inner = element.get("type"), members(element.get("elements", []), where)
    valid(kind in _ELEMENTS, f"{where}: unknown element {kind!r}")
    known(element, where, "elements", "style", "indent", "offset", "border", "language")
    valid(len(inner) >= 1, f"{where} {kind}: no elements")
    for member in inner:
        if kind == "rich_text_list":
            valid(member.get("type") == "rich_text_section", f"{where}: list of {member.get('type')!r}")
            _check_element(member, where)
        else:
            _check_inline(member, where)
    if kind == "rich_text_list":
        valid(element.get("style") in {"bullet", "ordered"}, f"{where}: list style")
        valid(is_between(element.get("indent", 0), 0, 8), f"{where}: indent")


def _check_inline(element: Payload, where: str) -> None:
    kind = element.get("type")
    valid(kind in _INLINE, f"{where}: unknown inline {kind!r}")
    if kind == "text" or "text" in element:
        valid(isinstance(element.get("text"), str) and bool(element["text"]), f"{where}: empty text")
    if kind == "link":
        valid(str(element.get("url", "")).startswith(("https://", "http://", "mailto:")), f"{where}: url")
        valid(length(element["url"]) <= URL, f"{where}: url")
    style = element.get("style", {})
    known(style, f"{where} style", *_STYLES)
    check_flags(style, f"{where} style", *_STYLES)
