"""What people do with Home tabs and modals."""

import json
from collections.abc import Mapping
from typing import Any, cast

from tests.stand_ins.slack.checker import check_view
from tests.stand_ins.slack.deliveries import Delivered, Deliveries
from tests.stand_ins.slack.fields import NotPossible, is_field, missing, state_of, used
from tests.stand_ins.slack.methods import ApiError
from tests.stand_ins.slack.refusing import Refused
from tests.stand_ins.slack.views import fill, pushed, told
from tests.stand_ins.slack.workspace import User, View


class Viewing(Deliveries):
    async def open_home(self, user: User, tab: str = "home") -> Delivered:
        """`tab`: home or messages. What was published before is shown at once."""
        if tab == "home" and not self.home_tab:
            raise NotPossible("the app has no Home tab")
        place = self.home_of(user)
        home = place.homes.get(user.id)
        shown = {"view": told(place, home)} if home is not None and tab == "home" else {}
        opened = {"user": user.id, "channel": place.direct(user.id).id, "tab": tab, **shown}
        return await self.tell_app(place, "app_home_opened", opened)

    def view_of(self, user: User) -> View:
        """What the person has before them: the topmost modal, else the Home tab."""
        place = self.home_of(user)
        stack = place.modals.get(user.id)
        if stack:
            return stack[-1]
        if user.id not in place.homes:
            raise NotPossible(f"{user.id} sees no view")
        return place.homes[user.id]

    def modals_of(self, user: User) -> list[View]:
        return self.home_of(user).modals.get(user.id, [])

    async def click_in_view(self, user: User, action: str, value: Any = None, *, view: View | None = None) -> Delivered:
        """A button by its action or the beginning of its text; a menu, tick list or overflow with what is chosen."""
        view = view or self.view_of(user)
        block, element = _element(view, action)
        done = {"action_id": element["action_id"], "block_id": block, "action_ts": self.home_of(user).next_ts()}
        held = used(element, value)
        if is_field(element):
            view.state.setdefault(block, {})[element["action_id"]] = held
        return await self._acted(user, view, {**done, **held})

    async def submit(self, user: User, view: View | None = None, values: Mapping[str, Any] | None = None) -> Delivered:
        """Fills in and submits the topmost modal. Afterwards it is what the app's answer made of it.

        Raises `NotPossible` for what the client does not let through, `Refused` for an answer that Slack would not
        understand; where there is no answer at all, the modal stays.
        """
        view = view or self.view_of(user)
        if view.is_home or view.content.get("submit") is None or view not in self.modals_of(user):
            raise NotPossible("nothing to submit")
        state = state_of(view, values or {})
        if missing(view, state):
            raise NotPossible(f"to be filled in: {missing(view, state)}")
        view.state, view.errors = state, {}
        payload = {**self.interaction(user, "view_submission"), "view": told(self.home_of(user), view)}
        delivered = await self.deliver_interaction({**payload, "response_urls": []})
        if delivered.statuses == [200]:
            self._answered(user, view, delivered.body)
        await self.tell()
        return delivered

    async def close(self, user: User) -> Delivered:
        """The topmost modal, by its cancel button."""
        stack = self.modals_of(user)
        if not stack:
            raise NotPossible("nothing to close")
        view = stack[-1]
        clears = bool(view.content.get("clear_on_close"))
        self._remove(user, view, clears=clears)
        if not view.content.get("notify_on_close"):
            return Delivered(statuses=[])
        payload = {**self.interaction(user, "view_closed"), "view": told(self.home_of(user), view)}
        return await self.deliver_interaction({**payload, "is_cleared": clears})

    async def _acted(self, user: User, view: View, action: Mapping[str, Any]) -> Delivered:
        payload = {
            **self.interaction(user, "block_actions"),
            "container": {"type": "view", "view_id": view.id},
            "view": told(self.home_of(user), view),
            "actions": [action],
        }
        return await self.deliver_interaction(payload)

    def _answered(self, user: User, view: View, body: str) -> None:
        answer = _answer(body)
        match answer.get("response_action"):
            case None:
                self._remove(user, view, clears=False)
            case "clear":
                self._remove(user, view, clears=True)
            case "errors":
                view.errors = _errors(view, answer)
            case "update":
                fill(self, self.home_of(user), view, _modal(answer))
            case "push":
                self._push(user, _modal(answer))
            case other:
                raise Refused("invalid_response_action", repr(other))

    def _push(self, user: User, content: dict[str, Any]) -> None:
        try:
            pushed(self, self.home_of(user), user.id, content)
        except ApiError as exc:
            raise Refused(exc.error, "response_action push") from exc

    def _remove(self, user: User, view: View, *, clears: bool) -> None:
        stack = self.modals_of(user)
        del stack[0 if clears else stack.index(view) :]


def _element(view: View, action: str) -> tuple[str, dict[str, Any]]:
    elements = view.elements()
    by_id = [(block, element) for block, element in elements if element.get("action_id") == action]
    by_text = [(block, element) for block, element in elements if _label(element).startswith(action)]
    if not by_id and not by_text:
        raise NotPossible(f"nothing to click called {action!r}: {[_label(element) for _, element in elements]}")
    return (by_id or by_text)[0]


def _label(element: Mapping[str, Any]) -> str:
    return element.get("text", {}).get("text", "")


def _answer(body: str) -> dict[str, Any]:
    """Nothing at all, or an object."""
    try:
        answer: object = json.loads(body or "{}")
    except ValueError as exc:
        raise Refused("invalid_response_action", "no JSON") from exc
    if not isinstance(answer, dict):
        raise Refused("invalid_response_action", "no object")
    return cast(dict[str, Any], answer)


def _errors(view: View, answer: Mapping[str, Any]) -> dict[str, str]:
    """By block; Slack shows them only under inputs that are there."""
    inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
    told: object = answer.get("errors")
    errors = cast(dict[str, object], told) if isinstance(told, dict) else {}
    if not errors or not errors.keys() <= inputs:
        raise Refused("invalid_response_action", "errors name no input of the view")
    if not all(isinstance(text, str) and text.strip() for text in errors.values()):
        raise Refused("invalid_response_action", "an error without words")
    return {block: str(text) for block, text in errors.items()}


def _modal(answer: Mapping[str, Any]) -> dict[str, Any]:
    view = answer.get("view")
    check_view(view)
    content = cast(dict[str, Any], view)
    if content["type"] != "modal":
        raise Refused("invalid_arguments", "view: wants modal")
    return content
