"""Checks the interactive elements of blocks, and where Slack allows them."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from tests.stand_ins.slack.refusing import (
    Payload,
    check_flags,
    check_id,
    check_known_keys,
    check_plain,
    check_text,
    is_between,
    is_text,
    list_members,
    refuse_block_unless,
    utf16_length,
)
from tests.stand_ins.slack.rich_text import URL

BUTTON_TEXT, BUTTON_VALUE, LABEL = 75, 2_000, 75
OPTION_TEXT, OPTION_VALUE, OPTIONS, OVERFLOW_OPTIONS, TICKS = 75, 150, 100, 5, 10
PLACEHOLDER, TYPED, FILES = 150, 3_000, 10
CONFIRM_TITLE, CONFIRM_TEXT, CONFIRM_BUTTON = 100, 300, 30
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
_KINDS = {"im", "mpim", "private", "public"}
_COMMON = ("action_id", "confirm", "focus_on_load", "placeholder")

Check = Callable[[Payload, str], None]


def check_element(element: Any, where: str, kinds: frozenset[str]) -> None:
    refuse_block_unless(isinstance(element, dict), where)
    holder = cast(Payload, element)
    check = _CHECKS.get(holder.get("type", "")) if holder.get("type") in kinds else None
    refuse_block_unless(check is not None, f"{where}: unknown element {holder.get('type')!r}")
    check_id(holder, "action_id", where)
    if "confirm" in holder:
        _check_confirm(holder["confirm"], f"{where} confirm")
    if "placeholder" in holder:
        check_plain(holder["placeholder"], f"{where} placeholder", PLACEHOLDER)
    check_flags(holder, where, "focus_on_load")
    cast(Check, check)(holder, f"{where} {holder['type']}")


def _check_confirm(confirm: Payload, where: str) -> None:
    check_known_keys(confirm, where, "title", "text", "confirm", "deny", "style")
    check_plain(confirm.get("title"), where, CONFIRM_TITLE)
    check_text(confirm.get("text"), where, CONFIRM_TEXT)
    for name in ("confirm", "deny"):
        check_plain(confirm.get(name), where, CONFIRM_BUTTON)
    _check_style(confirm, where)


def _check_style(holder: Payload, where: str) -> None:
    refuse_block_unless(holder.get("style", "primary") in {"primary", "danger"}, f"{where}: style")


def _check_label(holder: Payload, where: str) -> None:
    if "accessibility_label" in holder:
        refuse_block_unless(is_text(holder["accessibility_label"], LABEL), f"{where}: accessibility_label")


def _check_button(button: Payload, where: str) -> None:
    check_known_keys(button, where, "text", "action_id", "value", "url", "style", "confirm", "accessibility_label")
    check_plain(button.get("text"), where, BUTTON_TEXT)  # (sdk)
    refuse_block_unless(utf16_length(button.get("value", "")) <= BUTTON_VALUE, f"{where}: value")
    refuse_block_unless(utf16_length(button.get("url", "")) <= URL, f"{where}: url")
    _check_style(button, where)
    _check_label(button, where)


def _check_feedback(buttons: Payload, where: str) -> None:
    check_known_keys(buttons, where, "action_id", "positive_button", "negative_button")
    for name in ("positive_button", "negative_button"):
        refuse_block_unless(isinstance(buttons.get(name), dict), f"{where}: no {name}")
        button = cast(Payload, buttons[name])
        check_known_keys(button, f"{where} {name}", "text", "value", "accessibility_label")
        check_plain(button.get("text"), f"{where} {name}", BUTTON_TEXT)
        refuse_block_unless(is_text(button.get("value"), BUTTON_VALUE), f"{where} {name}: value")
        _check_label(button, where)


def _check_icon_button(button: Payload, where: str) -> None:
    names = ("action_id", "icon", "text", "value", "confirm", "accessibility_label", "visible_to_user_ids")
    check_known_keys(button, where, *names)
    refuse_block_unless(button.get("icon") == "trash", f"{where}: unknown icon")
    check_plain(button.get("text"), where, BUTTON_TEXT)
    refuse_block_unless(utf16_length(button.get("value", "")) <= BUTTON_VALUE, f"{where}: value")
    _check_label(button, where)


def _check_image(image: Payload, where: str) -> None:
    check_known_keys(image, where, "image_url", "alt_text")
    refuse_block_unless(is_text(image.get("image_url"), URL), f"{where}: image_url")
    refuse_block_unless(is_text(image.get("alt_text"), BUTTON_VALUE), f"{where}: alt_text")


def _check_overflow(overflow: Payload, where: str) -> None:
    check_known_keys(overflow, where, "action_id", "options", "confirm")
    _check_options(overflow.get("options", []), where, OVERFLOW_OPTIONS, with_url=True)


def _check_select(select: Payload, where: str) -> None:
    check_known_keys(select, where, *_COMMON, "options", "option_groups", "initial_option")
    options = _checked_options_of(select, where)
    refuse_block_unless(
        select.get("initial_option", options[0]) in options, f"{where}: initial_option is none of the options"
    )


def _check_multi_select(select: Payload, where: str) -> None:
    check_known_keys(select, where, *_COMMON, "options", "option_groups", "initial_options", "max_selected_items")
    _check_initial_options(select, _checked_options_of(select, where), where)
    _check_max_selected(select, where)


def _check_checkboxes(boxes: Payload, where: str) -> None:
    check_known_keys(boxes, where, "action_id", "confirm", "focus_on_load", "options", "initial_options")
    _check_options(boxes.get("options", []), where, TICKS, kinds=("plain_text", "mrkdwn"))
    _check_initial_options(boxes, boxes["options"], where)


def _check_radio(buttons: Payload, where: str) -> None:
    check_known_keys(buttons, where, "action_id", "confirm", "focus_on_load", "options", "initial_option")
    options = buttons.get("options", [])
    _check_options(options, where, TICKS, kinds=("plain_text", "mrkdwn"))
    refuse_block_unless(
        buttons.get("initial_option", options[0]) in options, f"{where}: initial_option is none of the options"
    )


def _check_initial_options(holder: Payload, options: Sequence[Payload], where: str) -> None:
    if "initial_options" in holder:
        chosen = list_members(holder["initial_options"], where)
        refuse_block_unless(len(chosen) >= 1, f"{where}: empty initial_options")
        refuse_block_unless(
            all(option in options for option in chosen), f"{where}: initial_options are none of the options"
        )


def _check_max_selected(select: Payload, where: str) -> None:
    refuse_block_unless(is_between(select.get("max_selected_items", 1), 1, 1000), f"{where}: max_selected_items")


def _checked_options_of(select: Payload, where: str) -> Sequence[Payload]:
    """Returns the options of a menu, which has either options or option groups."""
    refuse_block_unless(("options" in select) != ("option_groups" in select), f"{where}: options or option_groups")
    if "options" in select:
        _check_options(select["options"], where, OPTIONS)
        return select["options"]
    groups = list_members(select["option_groups"], where)
    refuse_block_unless(1 <= len(groups) <= OPTIONS, f"{where}: {len(groups)} groups")
    for group in groups:
        check_known_keys(group, f"{where} group", "label", "options")
        check_plain(group.get("label"), f"{where} group", OPTION_TEXT)
        _check_options(group.get("options", []), f"{where} group", OPTIONS)
    return [option for group in groups for option in group["options"]]


def _check_options(
    value: object, where: str, most: int, *, kinds: Sequence[str] = ("plain_text",), with_url: bool = False
) -> None:
    options = list_members(value, where)
    refuse_block_unless(1 <= len(options) <= most, f"{where}: {len(options)} options")
    for option in options:
        check_known_keys(option, f"{where} option", "text", "value", "description", *(["url"] if with_url else []))
        check_text(option.get("text"), f"{where} option", OPTION_TEXT, kinds)  # (sdk)
        refuse_block_unless(is_text(option.get("value"), OPTION_VALUE), f"{where} option: value")  # (sdk)
        if "description" in option:
            check_text(option["description"], f"{where} option", OPTION_TEXT, kinds)


def _check_users(select: Payload, where: str) -> None:
    check_known_keys(select, where, *_COMMON, "initial_user")


def _check_multi_users(select: Payload, where: str) -> None:
    check_known_keys(select, where, *_COMMON, "initial_users", "max_selected_items")
    _check_max_selected(select, where)


def _check_channels(select: Payload, where: str) -> None:
    check_known_keys(select, where, *_COMMON, "initial_channel", "response_url_enabled")


def _check_multi_channels(select: Payload, where: str) -> None:
    check_known_keys(select, where, *_COMMON, "initial_channels", "max_selected_items")
    _check_max_selected(select, where)


_CONVERSATION_FIELDS = (*_COMMON, "default_to_current_conversation", "filter")


def _check_conversations(select: Payload, where: str) -> None:
    check_known_keys(select, where, *_CONVERSATION_FIELDS, "initial_conversation", "response_url_enabled")
    _check_filter(select, where)


def _check_multi_conversations(select: Payload, where: str) -> None:
    check_known_keys(select, where, *_CONVERSATION_FIELDS, "initial_conversations", "max_selected_items")
    _check_filter(select, where)
    _check_max_selected(select, where)


def _check_filter(select: Payload, where: str) -> None:
    if "filter" in select:
        conversation_filter = cast(Payload, select["filter"])
        check_known_keys(
            conversation_filter, f"{where} filter", "include", "exclude_external_shared_channels", "exclude_bot_users"
        )
        refuse_block_unless(bool(conversation_filter), f"{where}: empty filter")
        kinds = list_members(conversation_filter.get("include", ["im"]), f"{where} filter")
        refuse_block_unless(bool(kinds) and set(kinds) <= _KINDS, f"{where}: filter {kinds}")


def _check_external(select: Payload, where: str) -> None:
    check_known_keys(select, where, *_COMMON, "initial_option", "min_query_length")


def _check_date(picker: Payload, where: str) -> None:
    check_known_keys(picker, where, *_COMMON, "initial_date")
    refuse_block_unless(bool(_DATE.fullmatch(picker.get("initial_date", "2000-01-01"))), f"{where}: initial_date")


def _check_time(picker: Payload, where: str) -> None:
    check_known_keys(picker, where, *_COMMON, "initial_time", "timezone")
    refuse_block_unless(bool(_TIME.fullmatch(picker.get("initial_time", "00:00"))), f"{where}: initial_time")


def _check_text_input(box: Payload, where: str) -> None:
    names = ("initial_value", "multiline", "min_length", "max_length", "dispatch_action_config")
    check_known_keys(box, where, *_COMMON, *names)
    check_flags(box, where, "multiline")
    least, most = box.get("min_length", 0), box.get("max_length", TYPED)
    refuse_block_unless(
        is_between(least, 0, TYPED) and is_between(most, 1, TYPED) and least <= most, f"{where}: min and max_length"
    )
    refuse_block_unless(utf16_length(box.get("initial_value", "")) <= most, f"{where}: initial_value")


def _check_address_input(box: Payload, where: str) -> None:
    check_known_keys(box, where, *_COMMON, "initial_value", "dispatch_action_config")


def _check_number(box: Payload, where: str) -> None:
    names = ("is_decimal_allowed", "initial_value", "min_value", "max_value", "dispatch_action_config")
    check_known_keys(box, where, *_COMMON, *names)
    refuse_block_unless(isinstance(box.get("is_decimal_allowed"), bool), f"{where}: is_decimal_allowed")
    numbers = (box[name] for name in ("initial_value", "min_value", "max_value") if name in box)
    refuse_block_unless(all(isinstance(number, str) for number in numbers), f"{where}: numbers are told as text")


def _check_files(box: Payload, where: str) -> None:
    check_known_keys(box, where, "action_id", "filetypes", "max_files")
    refuse_block_unless(is_between(box.get("max_files", FILES), 1, FILES), f"{where}: max_files")


_CHECKS: Final[dict[str, Check]] = {
    "button": _check_button,
    "channels_select": _check_channels,
    "checkboxes": _check_checkboxes,
    "conversations_select": _check_conversations,
    "datepicker": _check_date,
    "email_text_input": _check_address_input,
    "external_select": _check_external,
    "feedback_buttons": _check_feedback,
    "file_input": _check_files,
    "icon_button": _check_icon_button,
    "image": _check_image,
    "multi_channels_select": _check_multi_channels,
    "multi_conversations_select": _check_multi_conversations,
    "multi_static_select": _check_multi_select,
    "multi_users_select": _check_multi_users,
    "number_input": _check_number,
    "overflow": _check_overflow,
    "plain_text_input": _check_text_input,
    "radio_buttons": _check_radio,
    "static_select": _check_select,
    "timepicker": _check_time,
    "url_text_input": _check_address_input,
    "users_select": _check_users,
}
_MENUS = frozenset(kind for kind in _CHECKS if kind.endswith("_select"))
_MULTI = frozenset(kind for kind in _MENUS if kind.startswith("multi_"))
_BOXES = frozenset({"checkboxes", "radio_buttons", "datepicker", "timepicker"})
TYPED_IN: Final = frozenset({"plain_text_input", "email_text_input", "url_text_input", "number_input", "file_input"})

IN_SECTION: Final = _MENUS | _BOXES | {"button", "overflow", "image"}
IN_ACTIONS: Final = (_MENUS - _MULTI) | _BOXES | {"button", "overflow"}
IN_CONTEXT_ACTIONS: Final = frozenset({"feedback_buttons", "icon_button"})
IN_INPUT: Final = _MENUS | _BOXES | TYPED_IN
