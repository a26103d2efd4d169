"""People's actions on cards and answers: clicking, choosing and rating."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.stand_ins.teams.conversing import TeamsActionNotPossible, TeamsConversing
from tests.stand_ins.teams.deliveries import ActivityDelivery
from tests.stand_ins.teams.json_parts import object_of, objects_in
from tests.stand_ins.teams.tenancy import TenantMessage, TenantPerson


@dataclass
class TeamsClicking(TeamsConversing):
    async def click(self, person: TenantPerson, message: TenantMessage, label: str, **inputs: str) -> ActivityDelivery:
        """Click the button whose title begins with `label`. `inputs`: what is filled in, by the id of the input.

        Raises `TeamsActionNotPossible` where there is no such button, or an input wants something else.
        """
        action = next((found for found in message.card_actions() if found.get("title", "").startswith(label)), None)
        if action is None:
            raise TeamsActionNotPossible(f"no button {label!r} among {message.button_titles()}")
        if action.get("isEnabled") is False:
            raise TeamsActionNotPossible(f"the button {label!r} is disabled")
        if action["type"] not in {"Action.Submit", "Action.Execute"}:
            raise TeamsActionNotPossible(f"{action['type']} reaches no bot")
        values = {} if action.get("associatedInputs") == "none" else _input_values(message, inputs)
        if action["type"] == "Action.Execute":
            return await self._execute(person, message, action, values)
        return await self.submit_card(person, message, {**values, **_data_of(action)})

    async def choose(
        self, person: TenantPerson, message: TenantMessage, title: str, button: str = ""
    ) -> ActivityDelivery:
        """Choose from a choice set and press the button; without `button`, the first one after the choice set."""
        for part in message.card_inputs():
            choice = next((found for found in part.get("choices", []) if found["title"].startswith(title)), None)
            if choice is not None:
                label = button or _first_button_after(message, part)
                return await self.click(person, message, label, **{part["id"]: choice["value"]})
        raise TeamsActionNotPossible(f"no choice {title!r}")

    async def submit_card(
        self, person: TenantPerson, message: TenantMessage, value: Mapping[str, Any]
    ) -> ActivityDelivery:
        """Submit any data in reply to a message, even one that has changed or is deleted."""
        place = self.conversation_of(message)
        self._check_member(person, place)
        return await self.deliver_activity(self.click_activity(person, place, message, value))

    async def rate_answer(
        self, person: TenantPerson, message: TenantMessage, *, good: bool, reason: str = ""
    ) -> ActivityDelivery:
        """Press one of the feedback buttons, and send the form with a reason or without."""
        channel_data = object_of(message.activity, "channelData")
        has_form = object_of(channel_data, "feedbackLoop").get("type") == "default"
        if not has_form and not channel_data.get("feedbackLoopEnabled"):
            raise TeamsActionNotPossible("the message has no feedback buttons")
        form = json.dumps({"feedbackText": reason})
        action = {"reaction": "like" if good else "dislike", "feedback": form}
        return await self.send_invoke(
            person, message, "message/submitAction", {"actionName": "feedback", "actionValue": action}
        )

    async def send_invoke(
        self, person: TenantPerson, message: TenantMessage, name: str, value: Mapping[str, Any]
    ) -> ActivityDelivery:
        place = self.conversation_of(message)
        self._check_member(person, place)
        return await self.deliver_activity(self.invoke_activity(person, message, place, name, value))

    async def _execute(
        self, person: TenantPerson, message: TenantMessage, action: Mapping[str, Any], values: Mapping[str, Any]
    ) -> ActivityDelivery:
        data = {**values, **_data_of(action)}
        fields = {"type": "Action.Execute", "id": action.get("id"), "verb": action.get("verb"), "data": data}
        return await self.send_invoke(person, message, "adaptiveCard/action", {"action": fields, "trigger": "manual"})


def _data_of(action: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the data of a button without what is meant for the client."""
    return {name: value for name, value in object_of(action, "data").items() if name != "msteams"}


def _input_values(message: TenantMessage, filled: Mapping[str, str]) -> dict[str, str]:
    """Returns the values of all inputs: those that are filled in, else those that the card gives."""
    inputs = {part["id"]: part for part in message.card_inputs()}
    unknown = filled.keys() - inputs.keys()
    if unknown:
        raise TeamsActionNotPossible(f"no input {sorted(unknown)} among {sorted(inputs)}")
    values = {key: filled.get(key, part.get("value", "")) for key, part in inputs.items()}
    for key, part in inputs.items():
        _check_input(part, values[key])
    return {key: value for key, value in values.items() if value != ""}


def _check_input(part: Mapping[str, Any], value: str) -> None:
    if value == "":
        if part.get("isRequired"):
            raise TeamsActionNotPossible(f"{part['id']} is required")
        return
    is_single = part["type"] == "Input.ChoiceSet" and not part.get("isMultiSelect")
    if is_single and value not in {choice["value"] for choice in part.get("choices", [])}:
        raise TeamsActionNotPossible(f"{part['id']} has no choice {value!r}")
    if part["type"] == "Input.Text" and len(value) > part.get("maxLength", len(value)):
        raise TeamsActionNotPossible(f"{part['id']} takes {part['maxLength']} characters")


def _first_button_after(message: TenantMessage, part: Mapping[str, Any]) -> str:
    """Returns the title of the first button that stands after the input: of its card, in reading order."""
    has_passed = False
    for card in message.cards:
        for found in objects_in(card):
            has_passed = has_passed or found is part
            if has_passed and found.get("type") == "Action.Submit":
                return found["title"]
    raise TeamsActionNotPossible("no button after the choice set")
