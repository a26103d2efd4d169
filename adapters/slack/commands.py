"""Asked elsewhere than in a message to Parley: by the command, and by the shortcut on somebody's message."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol

from pydantic import BaseModel
from structlog.typing import FilteringBoundLogger

from adapters.slack.asking import Accept
from adapters.slack.attachments import SlackFile, attached
from adapters.slack.errors import SlackFailed
from adapters.slack.inbound import SURFACE, Here, Reader, conversation_of, plain
from adapters.slack.workspaces import addressed
from bot.attachments import sorted_out
from bot.ids import MessageId
from bot.inbound import Inbound, Said

COMMAND: Final = "/ask-docs"
SHORTCUT: Final = "ask_about_message"
USAGE: Final = (
    f"Write your question behind the command: `{COMMAND} which contracts end this year?` I answer in this channel, "
    "for whoever reads it; in a direct message with me only you read the answer."
)
_NO_WORDS: Final = "There are no words in that message that I could look up."


class Ack(Protocol):
    async def __call__(self, text: str = "") -> object: ...


class _Command(BaseModel):
    channel_id: str
    user_id: str
    trigger_id: str
    team_id: str | None = None
    text: str = ""


class _Ids(BaseModel):
    id: str
    team_id: str | None = None


class _Message(BaseModel):
    ts: str
    text: str = ""
    thread_ts: str | None = None
    files: list[SlackFile] = []


class _Shortcut(BaseModel):
    """`message_action`."""

    user: _Ids
    channel: _Ids
    message: _Message
    trigger_id: str


class Commands:
    """Fulfils `adapters.slack.dispatch.Listener`."""

    events = ()

    def __init__(
        self, accept: Accept, reader: Reader, clock: Callable[[], datetime], log: FilteringBoundLogger
    ) -> None:
        self._accept, self._reader, self._clock, self._log = accept, reader, clock, log

    def listen(self, app: Any) -> None:
        app.command(COMMAND)(self._on_command)
        app.message_shortcut(SHORTCUT)(self._on_shortcut)

    async def _on_command(self, body: dict[str, Any], ack: Ack) -> None:
        """Nothing is said at once but how to use it: the question is there to be seen a moment later."""
        here, told = await self._reader.here(body), _Command.model_validate(body)
        if here is not None and not plain(told.text, here.ours.user_id):
            await ack(USAGE)
            return
        if here is not None:
            await self._accept(await self._asked(here, told))
        await ack()

    async def _on_shortcut(self, body: dict[str, Any], ack: Ack) -> None:
        here, told = await self._reader.here(body), _Shortcut.model_validate(body)
        if here is not None and plain(told.message.text, here.ours.user_id):
            await self._accept(await self._asked_about(here, told))
        await ack()
        if here is not None and not plain(told.message.text, here.ours.user_id):
            await self._tell(here, body)

    async def _asked(self, here: Here, told: _Command) -> Inbound:
        """Answered in a thread that is yet to be begun."""
        by = _By(user=told.user_id, team=told.team_id, channel=told.channel_id, trigger=told.trigger_id)
        return await self._inbound(here, by, told.text, conversation=f"command:{told.trigger_id}", where={})

    async def _asked_about(self, here: Here, told: _Shortcut) -> Inbound:
        """Answered in the thread of the message, where Parley may write there."""
        by = _By(user=told.user.id, team=told.user.team_id, channel=told.channel.id, trigger=told.trigger_id)
        message = told.message
        thread = message.thread_ts or message.ts
        where = {"thread_ts": thread, "ts": message.ts}
        asked = await self._inbound(here, by, message.text, conversation=thread, where=where)
        files, unread = sorted_out(attached(message.files))
        return replace(asked, files=files, unread=unread)

    async def _inbound(
        self, here: Here, by: "_By", text: str, *, conversation: str, where: Mapping[str, str]
    ) -> Inbound:
        """Unique by the trigger, which is another each time."""
        person = await here.directory.person_id(by.user, by.team)
        return Inbound(
            surface=SURFACE,
            event_id=f"trigger:{by.trigger}",
            conversation=conversation_of(here.team, by.channel, conversation),
            message_id=MessageId(f"trigger:{by.trigger}"),
            person=person,
            name=by.user,
            audience=here.audience(by.channel, person),
            body=Said(plain(text, here.ours.user_id)),
            received=self._clock(),
            address={**addressed(here.place), "channel": by.channel, "user": by.user, **where},
            unplaced=True,
        )

    async def _tell(self, here: Here, body: Mapping[str, Any]) -> None:
        """Only to whoever chose the shortcut. That they are not told is no reason to fail."""
        try:
            await here.api.respond(body["response_url"], {"text": _NO_WORDS, "response_type": "ephemeral"})
        except SlackFailed as exc:
            self._log.info("slack word not said", reason=str(exc))


@dataclass(frozen=True, slots=True, kw_only=True)
class _By:
    """Who asks, and from where."""

    user: str
    team: str | None
    channel: str
    trigger: str
