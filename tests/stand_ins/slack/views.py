"""`views.*`: the Home tab of each person, and stacks of up to three modals."""

import copy
from typing import Any, Final

from tests.stand_ins.slack.checker import check_view
from tests.stand_ins.slack.methods import ApiError, MethodCaller, MethodTable
from tests.stand_ins.slack.refusing import PayloadRefused
from tests.stand_ins.slack.state import TRIGGER_S, SlackState
from tests.stand_ins.slack.workspace import APP, BOT_ID, SlackView, StandInWorkspace

METHODS = MethodTable()
STACK: Final = 3


@METHODS.register_method("views.publish", tier=4)
def publish_home(caller: MethodCaller, user_id: str, view: dict[str, Any], hash: str | None = None) -> dict[str, Any]:  # noqa: A002
    workspace = caller.workspace
    if user_id not in workspace.users:
        raise ApiError("user_not_found")
    _check_view_kind(view, "home")
    if not caller.slack.home_tab:
        raise ApiError("not_enabled")
    home = workspace.homes.get(user_id)
    if home is None:
        home = workspace.homes[user_id] = new_view(caller.slack, workspace, user_id, view)
    else:
        _replace_view(caller, home, view, hash)
    return {"view": describe_view(workspace, home)}


@METHODS.register_method("views.open", tier=4)
def open_view(caller: MethodCaller, trigger_id: str, view: dict[str, Any]) -> dict[str, Any]:
    user = _exchange_trigger(caller, trigger_id)
    _check_view_kind(view, "modal")
    modal = new_view(caller.slack, caller.workspace, user, view)
    caller.workspace.modals[user] = [modal]
    return {"view": describe_view(caller.workspace, modal)}


@METHODS.register_method("views.push", tier=4)
def push_view(caller: MethodCaller, trigger_id: str, view: dict[str, Any]) -> dict[str, Any]:
    user = _exchange_trigger(caller, trigger_id)
    _check_view_kind(view, "modal")
    if not caller.workspace.modals.get(user):
        raise ApiError("not_found")
    return {"view": describe_view(caller.workspace, add_to_stack(caller.slack, caller.workspace, user, view))}


@METHODS.register_method("views.update", tier=4)
def update_view(
    caller: MethodCaller,
    view: dict[str, Any],
    view_id: str | None = None,
    external_id: str | None = None,
    hash: str | None = None,  # noqa: A002
) -> dict[str, Any]:
    if (view_id is None) == (external_id is None):
        raise ApiError("invalid_arguments")
    current = caller.workspace.find_view(view_id, external_id)
    if current is None:
        raise ApiError("not_found")
    _check_view_kind(view, current.content["type"])
    _replace_view(caller, current, view, hash)
    return {"view": describe_view(caller.workspace, current)}


def new_view(slack: SlackState, workspace: StandInWorkspace, user: str, content: dict[str, Any]) -> SlackView:
    view_id = f"V{slack.next_id()}"
    view = SlackView(id=view_id, user=user, content={}, hash="", root=view_id)
    fill_view(slack, workspace, view, content)
    return view


def add_to_stack(slack: SlackState, workspace: StandInWorkspace, user: str, content: dict[str, Any]) -> SlackView:
    """Push a modal on the person's stack, which has at least one."""
    stack = workspace.modals[user]
    if len(stack) >= STACK:
        raise ApiError("push_limit_reached")
    view = new_view(slack, workspace, user, content)
    view.root, view.previous = stack[0].id, stack[-1].id
    stack.append(view)
    return view


def fill_view(slack: SlackState, workspace: StandInWorkspace, view: SlackView, content: dict[str, Any]) -> None:
    """Replace the content of a view. Fields that remain keep their values."""
    owner = workspace.find_view(external_id=content.get("external_id") or None)
    if owner is not None and owner is not view:
        raise ApiError("duplicate_external_id")
    view.content = _with_missing_ids(slack, content)
    view.hash = f"{int(slack.clock())}.{slack.next_id()}"
    view.errors = {}
    remaining = {(block, element["action_id"]) for block, element in view.interactive_elements()}
    kept_keys = [
        (block, action) for block, actions in view.state.items() for action in actions if (block, action) in remaining
    ]
    view.state = {
        block: {action_id: view.state[block][action_id] for block_id, action_id in kept_keys if block_id == block}
        for block, _ in kept_keys
    }


def describe_view(workspace: StandInWorkspace, view: SlackView) -> dict[str, Any]:
    """Describe a view as Slack sends it to the app."""
    defaults = {
        "private_metadata": "",
        "callback_id": "",
        "external_id": "",
        "title": None,
        "submit": None,
        "close": None,
    }
    return {
        **defaults,
        "clear_on_close": False,
        "notify_on_close": False,
        **copy.deepcopy(view.content),
        "id": view.id,
        "team_id": workspace.team,
        "app_id": APP,
        "bot_id": BOT_ID,
        "app_installed_team_id": workspace.team,
        "hash": view.hash,
        "root_view_id": view.root,
        "previous_view_id": view.previous,
        "state": {"values": copy.deepcopy(view.state)},
    }


def _check_view_kind(view: dict[str, Any], kind: str) -> None:
    check_view(view)
    if view["type"] != kind:
        raise PayloadRefused("invalid_arguments", f"view: wants {kind}")


def _replace_view(caller: MethodCaller, current: SlackView, view: dict[str, Any], expected_hash: str | None) -> None:
    if expected_hash is not None and expected_hash != current.hash:
        raise ApiError("hash_conflict")
    fill_view(caller.slack, caller.workspace, current, view)


def _exchange_trigger(caller: MethodCaller, trigger_id: str) -> str:
    """Exchange a trigger id for its person. Raises `ApiError`."""
    trigger = caller.slack.triggers.get(trigger_id)
    if trigger is None or trigger.user not in caller.workspace.users:
        raise ApiError("invalid_trigger_id")
    if caller.slack.clock() - trigger.created_at_s > TRIGGER_S:
        raise ApiError("expired_trigger_id")
    if trigger.used:
        raise ApiError("exchanged_trigger_id")
    trigger.used = True
    return trigger.user


def _with_missing_ids(slack: SlackState, content: dict[str, Any]) -> dict[str, Any]:
    """Returns the content with ids for all blocks and elements that have none."""
    copied = copy.deepcopy(content)
    for block in copied["blocks"]:
        block.setdefault("block_id", f"b{slack.next_id()}")
        elements = [*block.get("elements", []), block.get("element"), block.get("accessory")]
        for element in elements:
            if element is not None and element["type"] not in {"image", "mrkdwn", "plain_text"}:
                element.setdefault("action_id", f"a{slack.next_id()}")
    return copied
