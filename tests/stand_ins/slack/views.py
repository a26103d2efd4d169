"""`views.*`: the Home tab of each person, and modals in stacks of three."""

import copy
from typing import Any, Final

from tests.stand_ins.slack.checker import check_view
from tests.stand_ins.slack.methods import ApiError, Caller, Methods
from tests.stand_ins.slack.refusing import Refused
from tests.stand_ins.slack.state import TRIGGER_S, State
from tests.stand_ins.slack.workspace import APP, BOT_ID, View, Workspace

METHODS = Methods()
STACK: Final = 3


@METHODS.method("views.publish", tier=4)
def publish(caller: Caller, user_id: str, view: dict[str, Any], hash: str | None = None) -> dict[str, Any]:  # noqa: A002
    place = caller.workspace
    if user_id not in place.users:
        raise ApiError("user_not_found")
    _check(view, "home")
    if not caller.slack.home_tab:
        raise ApiError("not_enabled")
    known = place.homes.get(user_id)
    if known is None:
        known = place.homes[user_id] = new_view(caller.slack, place, user_id, view)
    else:
        _replace(caller, known, view, hash)
    return {"view": told(place, known)}


@METHODS.method("views.open", tier=4)
def open_view(caller: Caller, trigger_id: str, view: dict[str, Any]) -> dict[str, Any]:
    user = _exchanged(caller, trigger_id)
    _check(view, "modal")
    opened = new_view(caller.slack, caller.workspace, user, view)
    caller.workspace.modals[user] = [opened]
    return {"view": told(caller.workspace, opened)}


@METHODS.method("views.push", tier=4)
def push(caller: Caller, trigger_id: str, view: dict[str, Any]) -> dict[str, Any]:
    user = _exchanged(caller, trigger_id)
    _check(view, "modal")
    if not caller.workspace.modals.get(user):
        raise ApiError("not_found")
    return {"view": told(caller.workspace, pushed(caller.slack, caller.workspace, user, view))}


@METHODS.method("views.update", tier=4)
def update(
    caller: Caller,
    view: dict[str, Any],
    view_id: str | None = None,
    external_id: str | None = None,
    hash: str | None = None,  # noqa: A002
) -> dict[str, Any]:
    if (view_id is None) == (external_id is None):
        raise ApiError("invalid_arguments")
    known = caller.workspace.view(view_id, external_id)
    if known is None:
        raise ApiError("not_found")
    _check(view, known.content["type"])
    _replace(caller, known, view, hash)
    return {"view": told(caller.workspace, known)}


def new_view(slack: State, place: Workspace, user: str, content: dict[str, Any]) -> View:
    view_id = f"V{slack.next_id()}"
    view = View(id=view_id, user=user, content={}, hash="", root=view_id)
    fill(slack, place, view, content)
    return view


def pushed(slack: State, place: Workspace, user: str, content: dict[str, Any]) -> View:
    """On top of the person's modals, of which there is one at least."""
    stack = place.modals[user]
    if len(stack) >= STACK:
        raise ApiError("push_limit_reached")
    view = new_view(slack, place, user, content)
    view.root, view.previous = stack[0].id, stack[-1].id
    stack.append(view)
    return view


def fill(slack: State, place: Workspace, view: View, content: dict[str, Any]) -> None:
    """What stood in fields that are still there stays."""
    taken = place.view(external_id=content.get("external_id") or None)
    if taken is not None and taken is not view:
        raise ApiError("duplicate_external_id")
    view.content = _with_ids(slack, content)
    view.hash = f"{int(slack.clock())}.{slack.next_id()}"
    view.errors = {}
    there = {(block, element["action_id"]) for block, element in view.elements()}
    kept = [(block, action) for block, actions in view.state.items() for action in actions if (block, action) in there]
    view.state = {block: {a: view.state[block][a] for b, a in kept if b == block} for block, _ in kept}


def told(place: Workspace, view: View) -> dict[str, Any]:
    """A view as Slack tells it to the app."""
    empty = {"private_metadata": "", "callback_id": "", "external_id": "", "title": None, "submit": None, "close": None}
    return {
        **empty,
        "clear_on_close": False,
        "notify_on_close": False,
        **copy.deepcopy(view.content),
        "id": view.id,
        "team_id": place.team,
        "app_id": APP,
        "bot_id": BOT_ID,
        "app_installed_team_id": place.team,
        "hash": view.hash,
        "root_view_id": view.root,
        "previous_view_id": view.previous,
        "state": {"values": copy.deepcopy(view.state)},
    }


def _check(view: dict[str, Any], kind: str) -> None:
    check_view(view)
    if view["type"] != kind:
        raise Refused("invalid_arguments", f"view: wants {kind}")


def _replace(caller: Caller, known: View, view: dict[str, Any], given: str | None) -> None:
    if given is not None and given != known.hash:
        raise ApiError("hash_conflict")
    fill(caller.slack, caller.workspace, known, view)


def _exchanged(caller: Caller, trigger_id: str) -> str:
    """The person whose doing it was."""
    trigger = caller.slack.triggers.get(trigger_id)
    if trigger is None or trigger.user not in caller.workspace.users:
        raise ApiError("invalid_trigger_id")
    if caller.slack.clock() - trigger.made > TRIGGER_S:
        raise ApiError("expired_trigger_id")
    if trigger.used:
        raise ApiError("exchanged_trigger_id")
    trigger.used = True
    return trigger.user


def _with_ids(slack: State, content: dict[str, Any]) -> dict[str, Any]:
    """Blocks and elements without an id are given one."""
    own = copy.deepcopy(content)
    for block in own["blocks"]:
        block.setdefault("block_id", f"b{slack.next_id()}")
        inner = [*block.get("elements", []), block.get("element"), block.get("accessory")]
        for element in inner:
            if element is not None and element["type"] not in {"image", "mrkdwn", "plain_text"}:
                element.setdefault("action_id", f"a{slack.next_id()}")
    return own
