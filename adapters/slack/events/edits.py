"""Reads edits and deletions of questions. Slack sends them for direct messages and for channels with the scope."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from adapters.slack.events.attachments import attached_files_of
from adapters.slack.events.messages import (
    SURFACE,
    DeliveryContext,
    DeliveryReader,
    conversation_id_of,
    is_addressed_to_nobody,
    mentions_user,
    plain_text_of,
)
from adapters.slack.events.questions import AcceptInbound, HasAnswered
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.events import AlteredEvent, EditDelivery
from adapters.slack.payloads.objects import EnclosedMessage
from adapters.slack.workspaces.workspace_registry import address_fields_of
from bot.ids import ConversationId, MessageId
from bot.surface.attachments import split_readable
from bot.surface.inbound import Inbound, InboundBody, MessageDeletion, TextMessage

_TOMBSTONE_SUBTYPE: Final = "tombstone"  # the remains of a deleted message that has replies


class EditListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`; registered before the listener for all messages."""

    events = ("message",)

    def __init__(
        self,
        accept: AcceptInbound,
        reader: DeliveryReader,
        clock: Callable[[], datetime],
        has_answered: HasAnswered | None = None,
    ) -> None:
        """`has_answered`: whether Parley has answered in a conversation. If None, only mentions count in channels."""
        self._accept, self._reader, self._clock, self._has_answered = accept, reader, clock, has_answered

    def register_bolt_handlers(self, app: Any) -> None:
        for subtype in ("message_changed", "message_deleted"):
            app.event({"type": "message", "subtype": subtype})(self._on_message_altered)

    async def _on_message_altered(self, body: dict[str, Any]) -> None:
        """Accept the revision. The inbox drops it unless the original is stored there.

        A revision whose previous text was a question also counts if the original has not arrived yet.
        """
        if "previous_message" not in body["event"]:
            return
        context, delivery = await self._reader.delivery_context_for(body), read_payload(EditDelivery, body)
        if context is not None and _is_from_person(delivery.event, context) and _changes_text_or_files(delivery.event):
            revised = await self._inbound_for_revision(context, delivery)
            was_question = await self._was_question(delivery.event, context, revised.conversation)
            await self._accept(replace(revised, counts_without_original=was_question))

    async def _was_question(self, event: AlteredEvent, context: DeliveryContext, conversation: ConversationId) -> bool:
        previous = event.previous_message
        if event.channel.startswith("D") or mentions_user(previous.text, context.identity.user_id):
            return True
        is_follow_up = previous.thread_ts not in {None, previous.ts} and is_addressed_to_nobody(previous.text)
        return is_follow_up and self._has_answered is not None and await self._has_answered(conversation)

    async def _inbound_for_revision(self, context: DeliveryContext, delivery: EditDelivery) -> Inbound:
        event, previous = delivery.event, delivery.event.previous_message
        user, thread = previous.user or "", previous.thread_ts or previous.ts
        person = await context.directory.person_id_of(user, previous.user_team or previous.team)
        message_address = {"channel": event.channel, "thread_ts": thread, "ts": previous.ts, "user": user}
        files, unread = split_readable(attached_files_of(event.current_version.files if event.current_version else ()))
        return Inbound(
            surface=SURFACE,
            event_id=delivery.event_id,
            conversation=conversation_id_of(context.team_id, event.channel, thread),
            message_id=MessageId(f"{previous.ts}:{event.ts}"),
            person=person,
            person_name=user,
            audience=context.audience_for(event.channel, person, is_external=delivery.is_ext_shared_channel),
            body=_revised_body_of(event, context),
            received_at=self._clock(),
            address={**address_fields_of(context.installation_key), **message_address},
            revises=MessageId(previous.ts),
            files=files,
            skipped_files=unread,
        )


def _revised_body_of(event: AlteredEvent, context: DeliveryContext) -> InboundBody:
    return (
        MessageDeletion()
        if event.current_version is None
        else TextMessage(plain_text_of(event.current_version.text, context.identity.user_id))
    )


def _is_from_person(event: AlteredEvent, context: DeliveryContext) -> bool:
    previous = event.previous_message
    return (
        previous.user not in {None, context.identity.user_id}
        and previous.bot_id is None
        and previous.subtype != _TOMBSTONE_SUBTYPE
    )


def _changes_text_or_files(event: AlteredEvent) -> bool:
    """Whether the text or the files changed. An unfolded link also changes a message, but neither of these."""
    current, previous = event.current_version, event.previous_message
    return current is None or (current.text, _file_ids_of(current)) != (previous.text, _file_ids_of(previous))


def _file_ids_of(version: EnclosedMessage) -> set[str]:
    return {file.id for file in attached_files_of(version.files)}
