"""What Slack delivers when a person acts: buttons, views, commands and shortcuts."""

from typing import Any

from pydantic import BaseModel, Field

from adapters.slack.payloads.events import TabOpenedEvent
from adapters.slack.payloads.objects import EnclosedMessage, ObjectReference, UserReference


class CommandPayload(BaseModel):
    channel_id: str
    user_id: str
    trigger_id: str
    team_id: str | None = None
    text: str = ""


class ShortcutPayload(BaseModel):
    """`message_action`."""

    user: UserReference
    channel: ObjectReference
    message: EnclosedMessage
    trigger_id: str
    response_url: str = ""


class MessageContainer(BaseModel):
    message_ts: str
    thread_ts: str | None = None


class PressedButton(BaseModel):
    action_id: str
    action_ts: str
    value: str = ""


class ButtonPressPayload(BaseModel):
    """`block_actions` on a message. One press is one action."""

    user: UserReference
    channel: ObjectReference
    container: MessageContainer
    actions: list[PressedButton] = Field(min_length=1)
    trigger_id: str = ""
    response_url: str | None = None


class ViewState(BaseModel):
    """The values of a view's fields, by block and action."""

    values: dict[str, dict[str, dict[str, Any]]] = {}


class ViewPayload(BaseModel):
    """A view as Slack sends it back."""

    id: str = ""
    hash: str = ""
    type: str = ""
    callback_id: str = ""
    private_metadata: str = ""
    state: ViewState = Field(default_factory=ViewState)


class ViewAction(BaseModel):
    action_id: str
    value: str = ""


class ViewInteraction(BaseModel):
    """An opened tab (`event`), a click in a view (`actions`), or a submission."""

    event: TabOpenedEvent | None = None
    user: UserReference | None = None
    view: ViewPayload = Field(default_factory=ViewPayload)
    actions: list[ViewAction] = []
    trigger_id: str = ""


class ViewSubmission(BaseModel):
    """The submission of a modal that a button on a message opened."""

    user: UserReference
    view: ViewPayload


class FieldState(BaseModel):
    """The value of a field of any kind."""

    value: str | None = None
    selected_user: str | None = None
    selected_conversation: str | None = None
    selected_option: dict[str, Any] | None = None
    selected_options: list[dict[str, Any]] = []


class SelectedOption(BaseModel):
    value: str


class MenuSelection(BaseModel):
    """The value of a menu that cannot be left empty."""

    selected_option: SelectedOption
