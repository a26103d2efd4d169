"""Accepts questions, and their edits and deletions: stores each as a turn, which is then acknowledged."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from adapters.teams.events.listeners import AcceptInbound
from adapters.teams.events.message_text import mentions_account, plain_text_of
from adapters.teams.events.received_activity import ReceivedActivity
from adapters.teams.payloads.activities import ActivityAttachment, InboundActivity
from bot.ids import MessageId
from bot.surface.attachments import split_readable
from bot.surface.inbound import AttachedFile, Inbound, MessageDeletion, TextMessage

ReadFiles = Callable[[Sequence[ActivityAttachment]], Sequence[AttachedFile]]
LocateFiles = Callable[[Sequence[ActivityAttachment]], Mapping[str, str]]

_MESSAGE_TYPE: Final = "message"
_EDIT_TYPE, _DELETION_TYPE = "messageUpdate", "messageDelete"
_EDIT_EVENTS: Final = ("editMessage", "undeleteMessage")
_DELETION_EVENT: Final = "softDeleteMessage"


@dataclass(frozen=True, slots=True)
class TeamsMessageReader:
    """Reads messages as `Inbound`s. `read_files`: the files of a message, from its attachments. `locate_files`: what is
    needed to fetch them, to be stored with the turn.
    """

    read_files: ReadFiles
    locate_files: LocateFiles

    def read_question(self, received: ReceivedActivity) -> Inbound | None:
        """None for a message that is not for the bot, and for what a card submitted."""
        activity = received.activity
        if activity.type != _MESSAGE_TYPE or activity.value is not None or not activity.id:
            return None
        if not _is_addressed_to_bot(received):
            return None
        files, skipped_files = split_readable(self.read_files(activity.attachments))
        return received.make_inbound(
            event_id=f"{received.conversation}:{activity.id}",
            message_id=MessageId(activity.id),
            body=_text_body_of(activity),
            files=files,
            skipped_files=skipped_files,
            locations=self.locate_files(activity.attachments),
        )

    def read_revision(self, received: ReceivedActivity) -> Inbound | None:
        """An edit or a deletion. The inbox drops it where its message was not a question.

        Teams names the message as it is now, not as it was. A message that mentions the bot now counts as a question,
        even if it did not mention the bot before, or if its first version has not arrived (yet).
        """
        activity = received.activity
        is_deletion = (activity.type, activity.channel_data.event_type) == (_DELETION_TYPE, _DELETION_EVENT)
        is_edit = activity.type == _EDIT_TYPE and activity.channel_data.event_type in _EDIT_EVENTS
        if not (is_deletion or is_edit) or not activity.id:
            return None
        files, skipped_files = split_readable(self.read_files(activity.attachments))
        message_id = f"{activity.id}:{_revision_key_of(activity)}"
        return received.make_inbound(
            event_id=f"{received.conversation}:{message_id}",
            message_id=MessageId(message_id),
            body=MessageDeletion() if is_deletion else _text_body_of(activity),
            revises=MessageId(activity.id),
            counts_without_original=_is_addressed_to_bot(received),
            files=files,
            skipped_files=skipped_files,
            locations=self.locate_files(activity.attachments),
        )


class TeamsQuestionListener:
    """Fulfils `adapters.teams.events.listeners.ActivityListener`; the last of the listeners for messages."""

    def __init__(self, accept: AcceptInbound, reader: TeamsMessageReader) -> None:
        self._accept, self._reader = accept, reader

    async def handle_activity(self, received: ReceivedActivity) -> bool:
        inbound = self._reader.read_question(received) or self._reader.read_revision(received)
        if inbound is not None:
            await self._accept(inbound)
        return inbound is not None


def _is_addressed_to_bot(received: ReceivedActivity) -> bool:
    activity = received.activity
    return received.address.is_personal or mentions_account(activity.entities, activity.recipient.id)


def _text_body_of(activity: InboundActivity) -> TextMessage:
    return TextMessage(plain_text_of(activity.text, activity.entities, activity.recipient.id))


def _revision_key_of(activity: InboundActivity) -> str:
    """What distinguishes this version from others: its time, or its text where Teams names none."""
    text = f"{activity.channel_data.event_type}:{activity.text}"
    return activity.timestamp or hashlib.sha256(text.encode()).hexdigest()[:16]
