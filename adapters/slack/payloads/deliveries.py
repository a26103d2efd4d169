"""What Slack delivers, parsed by one model for each kind. What follows sees the fields of these models and no others.

Bolt and the listeners take a delivery's fields for what Slack documents. So that nothing else reaches them, a delivery
that is not in the form of its kind is refused here, and unknown fields are left out.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self, TypeVar, cast

from pydantic import BaseModel, Field, ValidationError, model_validator

from adapters.slack.payloads.events import (
    DirectoryChangeEvent,
    InstallationFields,
    MessageEvent,
    StoppedSession,
    TabOpenedEvent,
    UninstallEvent,
)
from adapters.slack.payloads.interactions import (
    ButtonPressPayload,
    CommandPayload,
    ShortcutPayload,
    ViewInteraction,
    ViewPayload,
)
from adapters.slack.payloads.objects import EnclosedMessage, UserReference
from bot.http.errors import UnreadableRequest

_ALTERATIONS: Final = ("message_changed", "message_deleted")
_Seconds = Annotated[int, Field(ge=0, lt=2**40)]  # since 1970

PayloadModel = TypeVar("PayloadModel", bound=BaseModel)


class UnreadableDelivery(UnreadableRequest):
    """A delivery that is not in the form of its kind. Its reason names fields, never what they hold."""


class DeliveryFields(InstallationFields):
    type: str
    is_enterprise_install: bool = False


class EventFields(DeliveryFields):
    """The envelope of an event. The event is that of the subclass."""

    event_id: str
    event_time: _Seconds = 0
    api_app_id: str | None = None
    is_ext_shared_channel: bool = False


class TypedEvent(BaseModel):
    """Of an event that no listener handles, only this is read."""

    type: str
    subtype: str | None = None


class OtherEventFields(EventFields):
    event: TypedEvent


class MessageEventFields(EventFields):
    event: MessageEvent


class AlterationEvent(TypedEvent):
    """A message that was changed or deleted; without `previous_message`, it is ignored."""

    channel: str
    ts: str
    previous_message: EnclosedMessage | None = None
    message: EnclosedMessage | None = None


class AlterationFields(EventFields):
    event: AlterationEvent


class HomeOpenedEvent(TypedEvent, TabOpenedEvent):
    tab: str = ""


class HomeOpenedFields(EventFields):
    event: HomeOpenedEvent


class DirectoryEventFields(EventFields):
    event: DirectoryChangeEvent


class SessionStoppedEvent(TypedEvent, StoppedSession):
    pass


class SessionStoppedFields(EventFields):
    event: SessionStoppedEvent


class UninstallFields(EventFields):
    event: UninstallEvent


class MessageClickFields(DeliveryFields, ButtonPressPayload):
    pass


class ViewClickFields(DeliveryFields, ViewInteraction):
    @model_validator(mode="after")
    def _require_action(self) -> Self:
        if not self.actions:
            raise ValueError("a click without an action")
        return self


class ViewFields(DeliveryFields):
    """A submission of a view, or its closing."""

    user: UserReference
    view: ViewPayload


class ShortcutFields(DeliveryFields, ShortcutPayload):
    callback_id: str


class ChallengeFields(BaseModel):
    """Slack sends it before it accepts the address of the app."""

    type: Literal["url_verification"]
    challenge: str


class CommandFields(InstallationFields, CommandPayload):
    command: str
    is_enterprise_install: bool = False


class CertificateCheckFields(BaseModel):
    ssl_check: str
    token: str = ""


_EVENT_MODELS: Final[Mapping[str, type[EventFields]]] = {
    "app_mention": MessageEventFields,
    "message": MessageEventFields,
    "app_home_opened": HomeOpenedFields,
    "agent_session_stopped": SessionStoppedFields,
    "app_uninstalled": UninstallFields,
    "tokens_revoked": UninstallFields,
    "channel_shared": DirectoryEventFields,
    "channel_unshared": DirectoryEventFields,
    "member_joined_channel": DirectoryEventFields,
    "member_left_channel": DirectoryEventFields,
    "subteam_members_changed": DirectoryEventFields,
    "subteam_updated": DirectoryEventFields,
    "user_change": DirectoryEventFields,
}


def parse_delivery(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the model of the delivery's kind has. Raises `UnreadableDelivery`."""
    fields = _without_nulls(payload)
    return read_payload(_model_for(fields), fields).model_dump(exclude_none=True)


def read_payload(model: type[PayloadModel], payload: object) -> PayloadModel:
    """Raises `UnreadableDelivery`."""
    try:
        return model.model_validate(payload)
    except ValidationError as exc:
        fields = {".".join(map(str, error["loc"][:2])) for error in exc.errors(include_input=False, include_url=False)}
        raise UnreadableDelivery(f"not in the form of Slack: {', '.join(sorted(fields)[:5])}"[:200]) from None


def _model_for(payload: Mapping[str, Any]) -> type[BaseModel]:
    """Raises `UnreadableDelivery` for a payload of no kind."""
    kind = payload.get("type")
    match kind:
        case None if "command" in payload:
            return CommandFields
        case None if "ssl_check" in payload:
            return CertificateCheckFields
        case "event_callback":
            return _event_model_for(payload.get("event"))
        case "block_actions":
            return ViewClickFields if "view" in payload else MessageClickFields
        case "view_submission" | "view_closed":
            return ViewFields
        case "message_action":
            return ShortcutFields
        case "url_verification":
            return ChallengeFields
        case str():
            return DeliveryFields
        case _:
            raise UnreadableDelivery("no kind of delivery")


def _event_model_for(event: object) -> type[EventFields]:
    fields = cast(dict[str, object], event) if isinstance(event, dict) else {}
    kind = fields.get("type")
    if kind == "message" and fields.get("subtype") in _ALTERATIONS:
        return AlterationFields
    return _EVENT_MODELS.get(kind, OtherEventFields) if isinstance(kind, str) else OtherEventFields


def _without_nulls(value: Any) -> Any:
    """A field that is null is the same as a field that is missing."""
    if isinstance(value, Mapping):
        fields = cast(Mapping[str, Any], value)
        return {name: _without_nulls(field) for name, field in fields.items() if field is not None}
    return [_without_nulls(item) for item in cast(list[Any], value)] if isinstance(value, list) else value
