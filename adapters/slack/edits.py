"""Questions that are edited or deleted, where Slack tells of it: in direct messages, and in channels that grant it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel

from adapters.slack.asking import Accept, Answered
from adapters.slack.attachments import SlackFile, attached
from adapters.slack.inbound import SURFACE, Here, Reader, conversation_of, is_to_nobody, mentions, plain
from adapters.slack.workspaces import addressed
from bot.attachments import sorted_out
from bot.ids import ConversationId, MessageId
from bot.inbound import Body, Inbound, Said, Withdrawn

_TOMBSTONE: Final = "tombstone"  # what stays of a message with replies


class _Version(BaseModel):
    """A message as it was, or is."""

    ts: str
    text: str = ""
    user: str | None = None
    user_team: str | None = None
    team: str | None = None
    thread_ts: str | None = None
    bot_id: str | None = None
    subtype: str | None = None
    files: list[SlackFile] = []


class _Altered(BaseModel):
    """`message_changed`, or `message_deleted`, which has no `message`."""

    channel: str
    ts: str
    previous_message: _Version
    message: _Version | None = None

    @property
    def now(self) -> _Version | None:
        """None once it is deleted."""
        return None if self.message is None or self.message.subtype == _TOMBSTONE else self.message


class _Delivery(BaseModel):
    event_id: str
    event: _Altered
    is_ext_shared_channel: bool = False


class Edits:
    """Fulfils `adapters.slack.dispatch.Listener`; stands before the one that hears all messages."""

    events = ("message",)

    def __init__(
        self, accept: Accept, reader: Reader, clock: Callable[[], datetime], answered: Answered | None = None
    ) -> None:
        """`answered`: whether Parley has said something somewhere; without it, only mentions count in channels."""
        self._accept, self._reader, self._clock, self._answered = accept, reader, clock, answered

    def listen(self, app: Any) -> None:
        for subtype in ("message_changed", "message_deleted"):
            app.event({"type": "message", "subtype": subtype})(self._on_altered)

    async def _on_altered(self, body: dict[str, Any]) -> None:
        """Whether the message was a question is for the inbox to know: it takes nothing else, but for what was one as
        it stood before, and has not come yet.
        """
        if "previous_message" not in body["event"]:
            return
        here, delivery = await self._reader.here(body), _Delivery.model_validate(body)
        if here is not None and _is_a_persons(delivery.event, here) and _is_other(delivery.event):
            revised = await self._revised(here, delivery)
            was_asked = await self._was_question(delivery.event, here, revised.conversation)
            await self._accept(replace(revised, is_first=was_asked))

    async def _was_question(self, event: _Altered, here: Here, conversation: ConversationId) -> bool:
        before = event.previous_message
        if event.channel.startswith("D") or mentions(before.text, here.ours.user_id):
            return True
        is_follow_up = before.thread_ts not in {None, before.ts} and is_to_nobody(before.text)
        return is_follow_up and self._answered is not None and await self._answered(conversation)

    async def _revised(self, here: Here, delivery: _Delivery) -> Inbound:
        event, before = delivery.event, delivery.event.previous_message
        user, thread = before.user or "", before.thread_ts or before.ts
        person = await here.directory.person_id(user, before.user_team or before.team)
        where = {"channel": event.channel, "thread_ts": thread, "ts": before.ts, "user": user}
        files, unread = sorted_out(attached(event.now.files if event.now else ()))
        return Inbound(
            surface=SURFACE,
            event_id=delivery.event_id,
            conversation=conversation_of(here.team, event.channel, thread),
            message_id=MessageId(f"{before.ts}:{event.ts}"),
            person=person,
            name=user,
            audience=here.audience(event.channel, person, is_external=delivery.is_ext_shared_channel),
            body=_body(event, here),
            received=self._clock(),
            address={**addressed(here.place), **where},
            revises=MessageId(before.ts),
            files=files,
            unread=unread,
        )


def _body(event: _Altered, here: Here) -> Body:
    return Withdrawn() if event.now is None else Said(plain(event.now.text, here.ours.user_id))


def _is_a_persons(event: _Altered, here: Here) -> bool:
    before = event.previous_message
    return before.user not in {None, here.ours.user_id} and before.bot_id is None and before.subtype != _TOMBSTONE


def _is_other(event: _Altered) -> bool:
    """A link that is unfolded under a message changes it as well, but neither its words nor its files."""
    now, before = event.now, event.previous_message
    return now is None or (now.text, _files(now)) != (before.text, _files(before))


def _files(version: _Version) -> set[str]:
    return {file.id for file in attached(version.files)}
