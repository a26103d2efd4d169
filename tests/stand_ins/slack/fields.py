"""What a person puts into the fields of a view, told as Slack tells it."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.stand_ins.slack.refusing import length
from tests.stand_ins.slack.workspace import View


class NotPossible(Exception):
    """What a person cannot do: the client would not let them, or offers nothing of the kind."""


def state_of(view: View, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The state of all fields: what stands there already, what is filled in beforehand, and `values` over it.

    `values` are by action or by block; an option is told by its value, a tick list by the values ticked.
    """
    fields = [(block, element) for block, element in view.elements() if element["type"] in _TOLD]
    unknown = values.keys() - {name for block, element in fields for name in (block, element["action_id"])}
    if unknown:
        raise NotPossible(f"no such field: {sorted(unknown)}")
    state: dict[str, dict[str, Any]] = {}
    for block, element in fields:
        action = element["action_id"]
        known = view.state.get(block, {}).get(action) or _beforehand(element)
        given = values.get(action, values.get(block, _NOTHING))
        state.setdefault(block, {})[action] = known if given is _NOTHING else chosen(element, given)
    return state


def chosen(element: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """What an element says once `given` is chosen or typed in."""
    kind = element["type"]
    if kind == "overflow":
        return {"type": kind, "selected_option": _option(element, given)}
    name, tell = _TOLD[kind]
    return {"type": kind, name: None if given is None else tell(element, given)}


def missing(view: View, state: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Blocks that must be filled in and are not: the client keeps the person from submitting."""
    inputs = [block for block in view.blocks if block["type"] == "input" and not block.get("optional")]
    return [
        block["block_id"]
        for block in inputs
        if not any(told[_TOLD[told["type"]][0]] for told in state[block["block_id"]].values())
    ]


def used(element: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """What an action says: a button itself, anything else what is chosen."""
    if element["type"] == "button":
        return {name: element[name] for name in ("type", "text", "value", "style") if name in element}
    return chosen(element, given)


def is_field(element: Mapping[str, Any]) -> bool:
    return element["type"] in _TOLD


def options_of(element: Mapping[str, Any]) -> list[dict[str, Any]]:
    groups = element.get("option_groups", [])
    return [*element.get("options", []), *(option for group in groups for option in group["options"])]


def _beforehand(element: Mapping[str, Any]) -> dict[str, Any]:
    kind = element["type"]
    name, _ = _TOLD[kind]
    initial = _INITIAL.get(name, name.replace("selected_", "initial_"))
    empty: Any = [] if name in _SEVERAL else None
    return {"type": kind, name: element.get(initial, empty)}


def _typed(element: Mapping[str, Any], given: Any) -> str:
    least, most = element.get("min_length", 0), element.get("max_length", 3000)
    if not isinstance(given, str) or (given and not least <= length(given) <= most):
        raise NotPossible(f"{element['action_id']}: takes {least} to {most} characters")
    return given


def _number(element: Mapping[str, Any], given: Any) -> str:
    pattern = r"-?\d+(\.\d+)?" if element["is_decimal_allowed"] else r"-?\d+"
    if not re.fullmatch(pattern, str(given)):
        raise NotPossible(f"{element['action_id']}: takes numbers only")
    return str(given)


def _option(element: Mapping[str, Any], given: Any) -> dict[str, Any]:
    for option in options_of(element):
        if option["value"] == given:
            return option
    raise NotPossible(f"{element['action_id']}: no option {given!r}")


def _options(element: Mapping[str, Any], given: Any) -> list[dict[str, Any]]:
    return [_option(element, one) for one in _within(element, given)]


def _within(element: Mapping[str, Any], given: Any) -> list[Any]:
    several = list(given)
    if len(several) > element.get("max_selected_items", len(several)):
        raise NotPossible(f"{element['action_id']}: too many")
    return several


def _given(_: Mapping[str, Any], given: Any) -> Any:
    return given


_NOTHING: Final = object()
_SEVERAL: Final = {
    "selected_options",
    "selected_users",
    "selected_conversations",
    "selected_channels",
    "files",
}
_INITIAL: Final = {"value": "initial_value", "files": "no_initial_files"}
_TOLD: Final[dict[str, tuple[str, Callable[[Mapping[str, Any], Any], Any]]]] = {
    "channels_select": ("selected_channel", _given),
    "checkboxes": ("selected_options", _options),
    "conversations_select": ("selected_conversation", _given),
    "datepicker": ("selected_date", _given),
    "email_text_input": ("value", _typed),
    "external_select": ("selected_option", _given),
    "file_input": ("files", _within),
    "multi_channels_select": ("selected_channels", _within),
    "multi_conversations_select": ("selected_conversations", _within),
    "multi_static_select": ("selected_options", _options),
    "multi_users_select": ("selected_users", _within),
    "number_input": ("value", _number),
    "plain_text_input": ("value", _typed),
    "radio_buttons": ("selected_option", _option),
    "static_select": ("selected_option", _option),
    "timepicker": ("selected_time", _given),
    "url_text_input": ("value", _typed),
    "users_select": ("selected_user", _given),
}
