"""Reads button presses on Parley's messages, and submissions of the modals opened by them."""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError
from adapters.slack.events.messages import SURFACE, DeliveryContext, DeliveryReader, conversation_id_of
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.interactions import ButtonPressPayload, ViewSubmission
from adapters.slack.payloads.objects import UserReference
from adapters.slack.payloads.responses import OkResponse
from adapters.slack.posting.render import MAX_FALLBACK_CHARACTERS, Json, escape_as_mrkdwn
from adapters.slack.workspaces.workspace_registry import address_fields_of
from bot.errors import BotError
from bot.ids import MessageId
from bot.surface.inbound import Inbound, InboundBody
from bot.turns.turn_actions import TurnActor

RESPONSE_TIMEOUT_S: Final = 2.5  # Slack waits three seconds


class MessageLocation(BaseModel):
    """The message that a modal was opened from. The modal stores it; it grants no rights."""

    channel: str
    thread: str
    message: str
    about: str  # id of the turn or of the clarification


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonPress:
    """A press of a button.

    `own_id` is unique to the press. `deadline`: when Slack stops waiting, on the event loop's clock. `response_url` is
    None in a modal.
    """

    context: DeliveryContext
    user: str
    location: MessageLocation
    actor: TurnActor
    own_id: str
    deadline: float
    trigger: str = ""
    response_url: str | None = None

    def build_inbound(self, body: InboundBody, *, event_id: str, message_id: str, received_at: datetime) -> Inbound:
        """Returns what the person asks for with the press, in the thread of the message."""
        return Inbound(
            surface=SURFACE,
            event_id=event_id,
            conversation=self.actor.conversation,
            message_id=MessageId(message_id),
            person=self.actor.person,
            person_name=self.user,
            audience=self.actor.audience,
            body=body,
            received_at=received_at,
            address={
                **address_fields_of(self.context.installation_key),
                "channel": self.location.channel,
                "thread_ts": self.location.thread,
                "ts": self.location.message,
            },
        )

    async def open_modal(self, view: Mapping[str, Json]) -> None:
        """Open a modal. Raises `SlackError`."""
        await self.context.api.call_method(
            OkResponse, "views.open", {"trigger_id": self.trigger, "view": dict(view)}, repeat=False
        )

    async def whisper_to_actor(self, sentence: str) -> None:
        """Post a sentence under the message that only the person sees. Raises `SlackError`."""
        message = {"text": escape_as_mrkdwn(sentence, MAX_FALLBACK_CHARACTERS), "thread_ts": self.location.thread}
        if self.response_url is not None:
            response_fields = {"response_type": "ephemeral", "replace_original": False}
            await self.context.api.post_to_response_url(self.response_url, response_fields | message)
            return
        recipient = {"channel": self.location.channel, "user": self.user}
        await self.context.api.call_method(OkResponse, "chat.postEphemeral", recipient | message, repeat=False)


class PressReader:
    def __init__(self, reader: DeliveryReader, log: FilteringBoundLogger) -> None:
        self._reader, self._log = reader, log

    async def read_button_press(self, body: Mapping[str, Any]) -> ButtonPress | None:
        """Read a press. Returns None where the app is no longer installed."""
        payload = read_payload(ButtonPressPayload, body)
        action, message = payload.actions[0], payload.container.message_ts
        thread = payload.container.thread_ts or message
        location = MessageLocation(channel=payload.channel.id, thread=thread, message=message, about=action.value)
        own_id = f"{message}:{action.action_ts}:{payload.user.id}"
        return await self._build_button_press(
            body, payload.user, location, own_id=own_id, trigger=payload.trigger_id, response_url=payload.response_url
        )

    async def read_modal_submission(self, body: Mapping[str, Any]) -> tuple[ButtonPress, dict[str, Any]] | None:
        """Read a submission and the values of its fields, by block and action. None for another app's modal."""
        submission = read_payload(ViewSubmission, body)
        try:
            location = MessageLocation.model_validate_json(submission.view.private_metadata)
        except ValidationError:
            return None
        own_id = f"{submission.view.id}:{submission.user.id}"
        press = await self._build_button_press(body, submission.user, location, own_id=own_id)
        return None if press is None else (press, submission.view.state.values)

    async def _build_button_press(
        self, body: Mapping[str, Any], user: UserReference, location: MessageLocation, **press_fields: Any
    ) -> ButtonPress | None:
        deadline = asyncio.get_running_loop().time() + RESPONSE_TIMEOUT_S
        context = await self._reader.delivery_context_for(body)
        if context is None:
            return None
        person = await context.directory.person_id_of(user.id, user.team_id)
        profile = await context.directory.load_person(user.id)
        actor = TurnActor(
            conversation=conversation_id_of(context.team_id, location.channel, location.thread),
            audience=context.audience_for(location.channel, person),
            person=person,
            name=profile.name if profile else user.id,
        )
        return ButtonPress(
            context=context, user=user.id, location=location, actor=actor, deadline=deadline, **press_fields
        )

    async def finish_before_deadline(self, press: ButtonPress, work: Coroutine[Any, Any, None]) -> None:
        """Run the work until the press's deadline.

        Only the person reads a `BotError`. A `SlackError` is only logged, so that Slack does not deliver again.
        """
        try:
            async with asyncio.timeout_at(press.deadline):
                try:
                    await work
                except BotError as exc:
                    await press.whisper_to_actor(str(exc))
        except (SlackError, TimeoutError) as exc:
            self._log.warning("slack press not answered", error=type(exc).__name__, reason=str(exc))
