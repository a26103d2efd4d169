"""People's actions in Home tabs and modals."""

import json
from collections.abc import Mapping
from typing import Any, cast

from tests.stand_ins.slack.checker import check_view
from tests.stand_ins.slack.deliveries import AppDeliveries, DeliveryOutcome
from tests.stand_ins.slack.fields import (
    ActionNotPossible,
    action_fields_for,
    fields_state_of,
    is_field,
    missing_fields_in,
)
from tests.stand_ins.slack.methods import ApiError
from tests.stand_ins.slack.refusing import PayloadRefused
from tests.stand_ins.slack.views import add_to_stack, describe_view, fill_view
from tests.stand_ins.slack.workspace import SlackMember, SlackView


class ViewActions(AppDeliveries):
    async def open_home(self, user: SlackMember, tab: str = "home") -> DeliveryOutcome:
        """Open a tab of the app: "home" or "messages". A published Home tab is part of the event."""
        if tab == "home" and not self.home_tab:
            raise ActionNotPossible("the app has no Home tab")
        workspace = self.workspace_of_user(user)
        home = workspace.homes.get(user.id)
        view_field = {"view": describe_view(workspace, home)} if home is not None and tab == "home" else {}
        event = {"user": user.id, "channel": workspace.direct_channel_of(user.id).id, "tab": tab, **view_field}
        return await self.tell_app(workspace, "app_home_opened", event)

    def view_of(self, user: SlackMember) -> SlackView:
        """Returns the view that the person sees: the topmost modal, else the Home tab."""
        workspace = self.workspace_of_user(user)
        stack = workspace.modals.get(user.id)
        if stack:
            return stack[-1]
        if user.id not in workspace.homes:
            raise ActionNotPossible(f"{user.id} sees no view")
        return workspace.homes[user.id]

    def modals_of(self, user: SlackMember) -> list[SlackView]:
        return self.workspace_of_user(user).modals.get(user.id, [])

    async def click_in_view(
        self, user: SlackMember, action: str, value: Any = None, *, view: SlackView | None = None
    ) -> DeliveryOutcome:
        """Click the element with this action id or this beginning of its text. `value`: the choice in a menu."""
        view = view or self.view_of(user)
        block, element = _find_element(view, action)
        action_fields = {
            "action_id": element["action_id"],
            "block_id": block,
            "action_ts": self.workspace_of_user(user).next_ts(),
        }
        value_fields = action_fields_for(element, value)
        if is_field(element):
            view.state.setdefault(block, {})[element["action_id"]] = value_fields
        return await self._deliver_view_action(user, view, {**action_fields, **value_fields})

    async def submit_modal(
        self, user: SlackMember, view: SlackView | None = None, values: Mapping[str, Any] | None = None
    ) -> DeliveryOutcome:
        """Fill in and submit the topmost modal, then apply the app's answer. Without an answer the modal stays.

        Raises `ActionNotPossible` for values that Slack's client does not submit, and `PayloadRefused` for an invalid
        answer.
        """
        view = view or self.view_of(user)
        if view.is_home or view.content.get("submit") is None or view not in self.modals_of(user):
            raise ActionNotPossible("nothing to submit")
        state = fields_state_of(view, values or {})
        if missing_fields_in(view, state):
            raise ActionNotPossible(f"to be filled in: {missing_fields_in(view, state)}")
        view.state, view.errors = state, {}
        payload = {
            **self.interaction_payload(user, "view_submission"),
            "view": describe_view(self.workspace_of_user(user), view),
        }
        delivered = await self.deliver_interaction({**payload, "response_urls": []})
        if delivered.statuses == [200]:
            self._apply_answer(user, view, delivered.body)
        await self.notify_waiters()
        return delivered

    async def close_modal(self, user: SlackMember) -> DeliveryOutcome:
        """Close the topmost modal with its cancel button."""
        stack = self.modals_of(user)
        if not stack:
            raise ActionNotPossible("nothing to close")
        view = stack[-1]
        clears = bool(view.content.get("clear_on_close"))
        self._remove_modal(user, view, clears=clears)
        if not view.content.get("notify_on_close"):
            return DeliveryOutcome(statuses=[])
        payload = {
            **self.interaction_payload(user, "view_closed"),
            "view": describe_view(self.workspace_of_user(user), view),
        }
        return await self.deliver_interaction({**payload, "is_cleared": clears})

    async def _deliver_view_action(
        self, user: SlackMember, view: SlackView, action: Mapping[str, Any]
    ) -> DeliveryOutcome:
        payload = {
            **self.interaction_payload(user, "block_actions"),
            "container": {"type": "view", "view_id": view.id},
            "view": describe_view(self.workspace_of_user(user), view),
            "actions": [action],
        }
        return await self.deliver_interaction(payload)

    def _apply_answer(self, user: SlackMember, view: SlackView, body: str) -> None:
        answer = _parse_answer(body)
        match answer.get("response_action"):
            case None:
                self._remove_modal(user, view, clears=False)
            case "clear":
                self._remove_modal(user, view, clears=True)
            case "errors":
                view.errors = _errors_by_block(view, answer)
            case "update":
                fill_view(self, self.workspace_of_user(user), view, _modal_in(answer))
            case "push":
                self._push_modal(user, _modal_in(answer))
            case response_action:
                raise PayloadRefused("invalid_response_action", repr(response_action))

    def _push_modal(self, user: SlackMember, content: dict[str, Any]) -> None:
        try:
            add_to_stack(self, self.workspace_of_user(user), user.id, content)
        except ApiError as exc:
            raise PayloadRefused(exc.error, "response_action push") from exc

    def _remove_modal(self, user: SlackMember, view: SlackView, *, clears: bool) -> None:
        stack = self.modals_of(user)
        del stack[0 if clears else stack.index(view) :]


def _find_element(view: SlackView, action: str) -> tuple[str, dict[str, Any]]:
    elements = view.interactive_elements()
    by_id = [(block, element) for block, element in elements if element.get("action_id") == action]
    by_text = [(block, element) for block, element in elements if _element_label(element).startswith(action)]
    if not by_id and not by_text:
        raise ActionNotPossible(
            f"nothing to click called {action!r}: {[_element_label(element) for _, element in elements]}"
        )
    return (by_id or by_text)[0]


def _element_label(element: Mapping[str, Any]) -> str:
    return element.get("text", {}).get("text", "")


def _parse_answer(body: str) -> dict[str, Any]:
    """Parse an answer: empty or an object. Raises `PayloadRefused`."""
    try:
        answer: object = json.loads(body or "{}")
    except ValueError as exc:
        raise PayloadRefused("invalid_response_action", "no JSON") from exc
    if not isinstance(answer, dict):
        raise PayloadRefused("invalid_response_action", "no object")
    return cast(dict[str, Any], answer)


def _errors_by_block(view: SlackView, answer: Mapping[str, Any]) -> dict[str, str]:
    """Returns the errors by block. Slack shows them only under inputs of the view."""
    inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
    given: object = answer.get("errors")
    errors = cast(dict[str, object], given) if isinstance(given, dict) else {}
    if not errors or not errors.keys() <= inputs:
        raise PayloadRefused("invalid_response_action", "errors name no input of the view")
    if not all(isinstance(text, str) and text.strip() for text in errors.values()):
        raise PayloadRefused("invalid_response_action", "an error without words")
    return {block: str(text) for block, text in errors.items()}


def _modal_in(answer: Mapping[str, Any]) -> dict[str, Any]:
    view = answer.get("view")
    check_view(view)
    content = cast(dict[str, Any], view)
    if content["type"] != "modal":
        raise PayloadRefused("invalid_arguments", "view: wants modal")
    return content
