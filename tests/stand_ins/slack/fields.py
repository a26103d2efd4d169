"""The values that a person enters into a view's fields, in Slack's format."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.stand_ins.slack.refusing import utf16_length
from tests.stand_ins.slack.workspace import SlackView


class ActionNotPossible(Exception):
    """Raised for an action that Slack's client does not offer or does not allow."""


def fields_state_of(view: SlackView, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns the state of all fields: current or initial values, overridden by `values`.

    `values` are keyed by action id or block id. An option is given by its value, checkboxes by the checked values.
    """
    fields = [(block, element) for block, element in view.interactive_elements() if element["type"] in _STATE_FIELDS]
    unknown = values.keys() - {name for block, element in fields for name in (block, element["action_id"])}
    if unknown:
        raise ActionNotPossible(f"no such field: {sorted(unknown)}")
    state: dict[str, dict[str, Any]] = {}
    for block, element in fields:
        action = element["action_id"]
        current = view.state.get(block, {}).get(action) or _initial_state_of(element)
        value = values.get(action, values.get(block, _NOTHING))
        state.setdefault(block, {})[action] = current if value is _NOTHING else element_state_for(element, value)
    return state


def element_state_for(element: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Returns the state of an element after `given` is chosen or typed."""
    kind = element["type"]
    if kind == "overflow":
        return {"type": kind, "selected_option": _option_with_value(element, value)}
    name, tell = _STATE_FIELDS[kind]
    return {"type": kind, name: None if value is None else tell(element, value)}


def missing_fields_in(view: SlackView, state: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Returns the required blocks that are empty; Slack's client does not submit them."""
    inputs = [block for block in view.blocks if block["type"] == "input" and not block.get("optional")]
    return [
        block["block_id"]
        for block in inputs
        if not any(
            field_state[_STATE_FIELDS[field_state["type"]][0]] for field_state in state[block["block_id"]].values()
        )
    ]


def action_fields_for(element: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Returns the fields of an action: of the button itself, or of the choice."""
    if element["type"] == "button":
        return {name: element[name] for name in ("type", "text", "value", "style") if name in element}
    return element_state_for(element, value)


def is_field(element: Mapping[str, Any]) -> bool:
    return element["type"] in _STATE_FIELDS


def options_of(element: Mapping[str, Any]) -> list[dict[str, Any]]:
    groups = element.get("option_groups", [])
    return [*element.get("options", []), *(option for group in groups for option in group["options"])]


def _initial_state_of(element: Mapping[str, Any]) -> dict[str, Any]:
    kind = element["type"]
    name, _ = _STATE_FIELDS[kind]
    initial = _INITIAL.get(name, name.replace("selected_", "initial_"))
    default: Any = [] if name in _LIST_FIELDS else None
    return {"type": kind, name: element.get(initial, default)}


def _typed_text(element: Mapping[str, Any], value: Any) -> str:
    least, most = element.get("min_length", 0), element.get("max_length", 3000)
    if not isinstance(value, str) or (value and not least <= utf16_length(value) <= most):
        raise ActionNotPossible(f"{element['action_id']}: takes {least} to {most} characters")
    return value


def _number_text(element: Mapping[str, Any], value: Any) -> str:
    pattern = r"-?\d+(\.\d+)?" if element["is_decimal_allowed"] else r"-?\d+"
    if not re.fullmatch(pattern, str(value)):
        raise ActionNotPossible(f"{element['action_id']}: takes numbers only")
    return str(value)


def _option_with_value(element: Mapping[str, Any], value: Any) -> dict[str, Any]:
    for option in options_of(element):
        if option["value"] == value:
            return option
    raise ActionNotPossible(f"{element['action_id']}: no option {value!r}")


def _options_with_values(element: Mapping[str, Any], values: Any) -> list[dict[str, Any]]:
    return [_option_with_value(element, value) for value in _values_within_limit(element, values)]


def _values_within_limit(element: Mapping[str, Any], values: Any) -> list[Any]:
    value_list = list(values)
    if len(value_list) > element.get("max_selected_items", len(value_list)):
        raise ActionNotPossible(f"{element['action_id']}: too many")
    return value_list


def _value_unchanged(_: Mapping[str, Any], value: Any) -> Any:
    return value


_NOTHING: Final = object()
_LIST_FIELDS: Final = {
    "selected_options",
    "selected_users",
    "selected_conversations",
    "selected_channels",
    "files",
}
_INITIAL: Final = {"value": "initial_value", "files": "no_initial_files"}
_STATE_FIELDS: Final[dict[str, tuple[str, Callable[[Mapping[str, Any], Any], Any]]]] = {
    "channels_select": ("selected_channel", _value_unchanged),
    "checkboxes": ("selected_options", _options_with_values),
    "conversations_select": ("selected_conversation", _value_unchanged),
    "datepicker": ("selected_date", _value_unchanged),
    "email_text_input": ("value", _typed_text),
    "external_select": ("selected_option", _value_unchanged),
    "file_input": ("files", _values_within_limit),
    "multi_channels_select": ("selected_channels", _values_within_limit),
    "multi_conversations_select": ("selected_conversations", _values_within_limit),
    "multi_static_select": ("selected_options", _options_with_values),
    "multi_users_select": ("selected_users", _values_within_limit),
    "number_input": ("value", _number_text),
    "plain_text_input": ("value", _typed_text),
    "radio_buttons": ("selected_option", _option_with_value),
    "static_select": ("selected_option", _option_with_value),
    "timepicker": ("selected_time", _value_unchanged),
    "url_text_input": ("value", _typed_text),
    "users_select": ("selected_user", _value_unchanged),
}
