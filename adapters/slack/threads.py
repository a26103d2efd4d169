"""Where a question is answered that was asked outside a thread: by a command, about somebody's message.

In the channel that it came from if Parley may write there, else in the asker's direct messages, saying so. Fulfils
`bot.outbox.Threads`.
"""

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel, Field

from adapters.slack.api import ATTEMPTS
from adapters.slack.errors import SlackBusy, SlackFailed, SlackRefused, SlackUnreachable
from adapters.slack.inbound import conversation_of
from adapters.slack.lines import cleaned
from adapters.slack.render import escaped
from adapters.slack.workspaces import Workspace, Workspaces, addressed, place_in, team_in
from bot.ids import MessageId, TurnId
from bot.inbound import Inbound, Private, Said
from bot.outbox import OutboxFailed
from bot.replies import Reply

METADATA: Final = "parley_question"  # of the message that begins a thread
PATIENCE_S: Final = 30.0  # a Slack that does not answer is one that is down: nobody waits behind it
_PAGE: Final = 200
_LONGEST: Final = 2_500
_FALLBACK: Final = 300
_NOT_THERE: Final = {
    "channel_not_found",
    "is_archived",
    "missing_scope",
    "not_in_channel",
    "restricted_action",
    "restricted_action_read_only_channel",
    "thread_not_found",
}
_SOMEBODY: Final = "Somebody"
_ELSEWHERE: Final = "I cannot write where you asked, so I answer here, for you alone."


class _Posted(BaseModel):
    ts: str


class _Direct(BaseModel):
    id: str


class _Opened(BaseModel):
    channel: _Direct


class _Channel(BaseModel):
    is_member: bool = False


class _Info(BaseModel):
    channel: _Channel


class _Metadata(BaseModel):
    event_type: str = ""
    event_payload: dict[str, Any] = {}


class _Done(BaseModel):
    ok: bool


class _File(BaseModel):
    """Of one that was deleted, only the id is told."""

    id: str
    name: str | None = None


class _Message(BaseModel):
    ts: str
    user: str | None = None
    files: list[_File] = []
    metadata: _Metadata = Field(default_factory=_Metadata)


class _History(BaseModel):
    messages: list[_Message]


class SlackThreads:
    """An address holds `channel` and `user`, and `thread_ts` and `ts` where the thread is there already."""

    def __init__(self, workspaces: Workspaces, *, patience_s: float = PATIENCE_S) -> None:
        """`patience_s`: within which each thing that is asked for is done, or fails."""
        self._workspaces, self._patience_s = workspaces, patience_s

    async def place(self, inbound: Inbound, turn: TurnId, *, again: bool) -> Inbound:
        async with _as_outbox_failed(self._patience_s):
            workspace = await self._workspaces.of(place_in(inbound.address))
            if workspace is None:
                raise OutboxFailed("the app is no longer installed there", retry=False)
            return await _Placing(workspace, inbound, turn, again=again).placed()

    async def withdraw(
        self, inbound: Inbound, message: MessageId, reply: Reply, *, files: Collection[str] = ()
    ) -> None:
        """Others: whoever wrote in the thread afterwards, but the asker and Parley."""
        async with _as_outbox_failed(self._patience_s):
            workspace = await self._workspaces.of(place_in(inbound.address))
            if workspace is None:
                return
            if files:
                await _delete_files(workspace, inbound.address, message, files)
            if await _others_went_on(workspace, inbound.address, message):
                await workspace.posting.update(inbound.conversation, inbound.address, message, reply)
            else:
                await _delete(workspace, inbound.address["channel"], message)

    async def alone(self, inbound: Inbound) -> Mapping[str, str] | None:
        """In their direct messages, which are opened."""
        place, user = place_in(inbound.address), inbound.person.rpartition(":")[2]
        async with _as_outbox_failed(self._patience_s):
            workspace = await self._workspaces.of(place)
            if workspace is None:
                return None
            try:
                return {**addressed(place), "channel": await _direct(workspace, user), "user": user}
            except SlackRefused:
                return None


class _Placing:
    """One question on its way to its thread."""

    def __init__(self, workspace: Workspace, inbound: Inbound, turn: TurnId, *, again: bool) -> None:
        self._workspace, self._inbound, self._turn, self._again = workspace, inbound, turn, again
        self._channel, self._user = inbound.address["channel"], inbound.address["user"]

    async def placed(self) -> Inbound:
        if "thread_ts" in self._inbound.address:
            if await self._is_there():
                return replace(self._inbound, address=_without(self._inbound.address, "user"), unplaced=False)
            return await self._in_private()
        try:
            root = await self._begun(self._channel)
        except SlackRefused as exc:
            if exc.error not in _NOT_THERE:
                raise
            return await self._in_private()
        return await self._in_thread(self._channel, root)

    async def _is_there(self) -> bool:
        """Whether Parley is in the channel of the message. Direct messages that are not with Parley are others'."""
        if self._channel.startswith("D"):
            return self._channel == await _direct(self._workspace, self._user)
        try:
            info = await self._workspace.api.call(_Info, "conversations.info", {"channel": self._channel})
        except SlackRefused:
            return False
        return info.channel.is_member

    async def _in_private(self) -> Inbound:
        direct = await _direct(self._workspace, self._user)
        root = await self._begun(direct, note=_ELSEWHERE)
        alone = Private(person=self._inbound.person, guest=True)
        return replace(await self._in_thread(direct, root), audience=alone)

    async def _in_thread(self, channel: str, root: str) -> Inbound:
        team = team_in(place_in(self._inbound.address), await self._workspace.directory.installation())
        address = _without(self._inbound.address, "user") | {"channel": channel, "thread_ts": root, "ts": root}
        return replace(
            self._inbound, conversation=conversation_of(team, channel, root), address=address, unplaced=False
        )

    async def _begun(self, channel: str, note: str = "") -> str:
        """The message that the thread hangs on: who asked, and what. One that is there already is not posted again."""
        question = self._inbound.body.text if isinstance(self._inbound.body, Said) else ""
        person = await self._workspace.directory.person(self._user)
        message = {
            "channel": channel,
            "unfurl_links": False,
            "unfurl_media": False,
            "metadata": {"event_type": METADATA, "event_payload": {"turn": self._turn}},
            **_asked(person.name if person else _SOMEBODY, question, note),
        }
        for number in range(1, ATTEMPTS):
            if self._again and (found := await self._found(channel)):
                return found
            try:
                return await self._posted(channel, message)
            except SlackUnreachable:
                self._again = True
                await self._workspace.api.breathe(number)
        return await self._found(channel) or await self._posted(channel, message)

    async def _posted(self, channel: str, message: Mapping[str, Any]) -> str:
        async with self._workspace.posting.queue.at_head(channel, posts=True):
            return (await self._workspace.api.call(_Posted, "chat.postMessage", message, repeat=False)).ts

    async def _found(self, channel: str) -> str | None:
        """Among the latest messages, where Parley may read them; elsewhere a visible double beats a loss."""
        wanted = {"channel": channel, "include_all_metadata": True, "limit": 100}
        try:
            latest = await self._workspace.api.call(_History, "conversations.history", wanted)
        except SlackRefused:
            return None
        for message in latest.messages:
            if message.metadata.event_type == METADATA and message.metadata.event_payload.get("turn") == self._turn:
                return message.ts
        return None


async def _others_went_on(workspace: Workspace, address: Mapping[str, str], message: MessageId) -> bool:
    """Counts as true where Slack does not say: what somebody builds on does not vanish."""
    ours = await workspace.directory.installation()
    wanted = {"channel": address["channel"], "ts": address["thread_ts"], "oldest": message, "limit": _PAGE}
    try:
        after = await workspace.api.call(_History, "conversations.replies", wanted)
    except SlackRefused as exc:
        return exc.error != "thread_not_found"
    others = (one for one in after.messages if one.ts > message and one.user not in {ours.user_id, address["user"]})
    return len(after.messages) >= _PAGE or next(others, None) is not None


async def _delete_files(
    workspace: Workspace, address: Mapping[str, str], message: MessageId, names: Collection[str]
) -> None:
    """The first of each name that Parley put into the thread after the message, where it may read the thread.

    Slack leaves a line that a file was deleted.
    """
    ours = await workspace.directory.installation()
    wanted = {"channel": address["channel"], "ts": address["thread_ts"], "oldest": message, "limit": _PAGE}
    try:
        after = await workspace.api.call(_History, "conversations.replies", wanted)
    except SlackRefused:
        return
    found: dict[str, str] = {}
    for one in after.messages:
        if one.ts > message and one.user == ours.user_id:
            for file in one.files:
                if file.name is not None and file.name in names:
                    found.setdefault(file.name, file.id)
    for file in found.values():
        await _delete_file(workspace, file)


async def _delete_file(workspace: Workspace, file: str) -> None:
    try:
        await workspace.api.call(_Done, "files.delete", {"file": file})
    except SlackRefused as exc:
        if exc.error not in {"file_not_found", "file_deleted"}:
            raise


async def _delete(workspace: Workspace, channel: str, message: MessageId) -> None:
    try:
        async with workspace.posting.queue.at_head(channel):
            await workspace.api.call(_Done, "chat.delete", {"channel": channel, "ts": message})
    except SlackRefused as exc:
        if exc.error != "message_not_found":
            raise


async def _direct(workspace: Workspace, user: str) -> str:
    return (await workspace.api.call(_Opened, "conversations.open", {"users": user})).channel.id


def _asked(name: str, question: str, note: str) -> dict[str, Any]:
    """Elements of rich text, in which words are data: nothing in them mentions anybody or becomes a link."""
    words, who = cleaned(question), f"{' '.join(cleaned(name).split()) or _SOMEBODY} asked:"
    short = words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
    elements: list[dict[str, object]] = [
        {"type": "rich_text_section", "elements": [{"type": "text", "text": who}]},
        {"type": "rich_text_quote", "elements": [{"type": "text", "text": short or "…"}]},
    ]
    if note:
        noted = {"type": "text", "text": note, "style": {"italic": True}}
        elements.append({"type": "rich_text_section", "elements": [noted]})
    return {"text": escaped(f"{who} {words}", _FALLBACK), "blocks": [{"type": "rich_text", "elements": elements}]}


def _without(address: Mapping[str, str], key: str) -> dict[str, str]:
    return {name: value for name, value in address.items() if name != key}


@asynccontextmanager
async def _as_outbox_failed(patience_s: float) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(patience_s):
            yield
    except TimeoutError as exc:
        raise OutboxFailed("Slack did not answer in time", retry=True) from exc
    except SlackBusy as exc:
        raise OutboxFailed(str(exc), retry=True, after_s=exc.after_s) from exc
    except SlackFailed as exc:
        raise OutboxFailed(str(exc), retry=not isinstance(exc, SlackRefused)) from exc
