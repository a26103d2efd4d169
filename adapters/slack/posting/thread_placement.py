"""Chooses the thread for a question that was asked outside one: by a command or by the message shortcut.

The thread is in the channel of the question if Parley may write there, else in the asker's direct messages, with a
note. Fulfils `bot.surface.outbox.ThreadPlacer`.
"""

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from adapters.slack.errors import SlackError, SlackRateLimited, SlackRefusal, SlackUnreachable
from adapters.slack.events.messages import conversation_id_of
from adapters.slack.payloads.responses import (
    ChannelInfoResponse,
    MessagesResponse,
    OkResponse,
    OpenDirectResponse,
    PostedMessageResponse,
)
from adapters.slack.posting.api import MAX_ATTEMPTS
from adapters.slack.posting.render import escape_as_mrkdwn
from adapters.slack.workspaces.workspace_registry import (
    SlackWorkspace,
    WorkspaceRegistry,
    address_fields_of,
    home_team_of,
    installation_key_in,
)
from bot.ids import MessageId, TurnId
from bot.surface.inbound import Inbound, PrivateAudience, TextMessage
from bot.surface.markdown import strip_control_characters
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import Reply

QUESTION_METADATA: Final = "parley_question"  # event type of the metadata on a message that begins a thread
OPERATION_TIMEOUT_S: Final = 30.0  # after this, Slack counts as down and the operation fails
_PAGE_SIZE: Final = 200
_MAX_QUESTION_CHARACTERS: Final = 2_500
_MAX_FALLBACK_CHARACTERS: Final = 300
_UNWRITABLE_CHANNEL_ERRORS: Final = {
    "channel_not_found",
    "is_archived",
    "missing_scope",
    "not_in_channel",
    "restricted_action",
    "restricted_action_read_only_channel",
    "thread_not_found",
}
_UNKNOWN_NAME: Final = "Somebody"
_ANSWERED_PRIVATELY_NOTICE: Final = "I cannot write where you asked, so I answer here, for you alone."


class SlackThreads:
    """An address holds `channel` and `user`, and also `thread_ts` and `ts` where the thread exists already."""

    def __init__(self, workspaces: WorkspaceRegistry, *, timeout_s: float = OPERATION_TIMEOUT_S) -> None:
        """`timeout_s`: the time limit of each operation; an operation fails after it."""
        self._workspaces, self._timeout_s = workspaces, timeout_s

    async def place_question(self, inbound: Inbound, turn: TurnId, *, may_exist: bool) -> Inbound:
        async with _translate_slack_errors(self._timeout_s):
            workspace = await self._workspaces.workspace_for(installation_key_in(inbound.address))
            if workspace is None:
                raise OutboxFailed("the app is no longer installed there", retry=False)
            return await _ThreadPlacement(workspace, inbound, turn, is_retry=may_exist).place_question()

    async def withdraw_message(
        self, inbound: Inbound, message: MessageId, reply: Reply, *, files: Collection[str] = ()
    ) -> None:
        """Delete the message, or replace it by `reply` when other people have written in the thread since."""
        async with _translate_slack_errors(self._timeout_s):
            workspace = await self._workspaces.workspace_for(installation_key_in(inbound.address))
            if workspace is None:
                return
            if files:
                await _delete_shared_files(workspace, inbound.address, message, files)
            if await _has_later_messages(workspace, inbound.address, message):
                thread = workspace.outbox.thread_for(inbound.conversation, inbound.address)
                await thread.update_message(message, reply)
            else:
                await _delete_message(workspace, inbound.address["channel"], message)

    async def find_private_address(self, inbound: Inbound) -> Mapping[str, str] | None:
        """Open the asker's direct messages and return their address."""
        installation_key, user = installation_key_in(inbound.address), inbound.person.rpartition(":")[2]
        async with _translate_slack_errors(self._timeout_s):
            workspace = await self._workspaces.workspace_for(installation_key)
            if workspace is None:
                return None
            try:
                return {
                    **address_fields_of(installation_key),
                    "channel": await _open_direct_channel(workspace, user),
                    "user": user,
                }
            except SlackRefusal:
                return None


class _ThreadPlacement:
    """The placement of one question in a thread."""

    def __init__(self, workspace: SlackWorkspace, inbound: Inbound, turn: TurnId, *, is_retry: bool) -> None:
        self._workspace, self._inbound, self._turn, self._is_retry = workspace, inbound, turn, is_retry
        self._channel, self._user = inbound.address["channel"], inbound.address["user"]

    async def place_question(self) -> Inbound:
        if "thread_ts" in self._inbound.address:
            if await self._is_channel_member():
                return replace(self._inbound, address=_without_key(self._inbound.address, "user"), needs_thread=False)
            return await self._place_in_direct_messages()
        try:
            root_ts = await self._find_or_begin_thread(self._channel)
        except SlackRefusal as exc:
            if exc.error not in _UNWRITABLE_CHANNEL_ERRORS:
                raise
            return await self._place_in_direct_messages()
        return await self._bind_to_thread(self._channel, root_ts)

    async def _is_channel_member(self) -> bool:
        """Whether Parley is a member of the channel; for direct messages, whether they are with Parley."""
        if self._channel.startswith("D"):
            return self._channel == await _open_direct_channel(self._workspace, self._user)
        try:
            response = await self._workspace.api.call_method(
                ChannelInfoResponse, "conversations.info", {"channel": self._channel}
            )
        except SlackRefusal:
            return False
        return response.channel.is_member

    async def _place_in_direct_messages(self) -> Inbound:
        channel = await _open_direct_channel(self._workspace, self._user)
        root_ts = await self._find_or_begin_thread(channel, note=_ANSWERED_PRIVATELY_NOTICE)
        audience = PrivateAudience(person=self._inbound.person, is_guest=True)
        return replace(await self._bind_to_thread(channel, root_ts), audience=audience)

    async def _bind_to_thread(self, channel: str, root_ts: str) -> Inbound:
        team = home_team_of(
            installation_key_in(self._inbound.address), await self._workspace.directory.load_bot_identity()
        )
        address = _without_key(self._inbound.address, "user") | {
            "channel": channel,
            "thread_ts": root_ts,
            "ts": root_ts,
        }
        return replace(
            self._inbound, conversation=conversation_id_of(team, channel, root_ts), address=address, needs_thread=False
        )

    async def _find_or_begin_thread(self, channel: str, note: str = "") -> str:
        """Returns the thread's root message, which shows the asker and the question. Posts it once only."""
        question = self._inbound.body.text if isinstance(self._inbound.body, TextMessage) else ""
        person = await self._workspace.directory.load_person(self._user)
        message = {
            "channel": channel,
            "unfurl_links": False,
            "unfurl_media": False,
            "metadata": {"event_type": QUESTION_METADATA, "event_payload": {"turn": self._turn}},
            **_root_message_content(person.name if person else _UNKNOWN_NAME, question, note),
        }
        for attempt in range(1, MAX_ATTEMPTS):
            if self._is_retry and (root_ts := await self._find_root_message(channel)):
                return root_ts
            try:
                return await self._post_root_message(channel, message)
            except SlackUnreachable:
                self._is_retry = True
                await self._workspace.api.wait_before_retry(attempt)
        return await self._find_root_message(channel) or await self._post_root_message(channel, message)

    async def _post_root_message(self, channel: str, message: Mapping[str, Any]) -> str:
        async with self._workspace.outbox.channel_queue.exclusive_channel_slot(channel, posts_message=True):
            return (
                await self._workspace.api.call_method(PostedMessageResponse, "chat.postMessage", message, repeat=False)
            ).ts

    async def _find_root_message(self, channel: str) -> str | None:
        """Find the root message among the latest messages.

        Returns None where Parley may not read them: a visible duplicate is better than a lost question.
        """
        request = {"channel": channel, "include_all_metadata": True, "limit": 100}
        try:
            history = await self._workspace.api.call_method(MessagesResponse, "conversations.history", request)
        except SlackRefusal:
            return None
        for message in history.messages:
            if (
                message.metadata.event_type == QUESTION_METADATA
                and message.metadata.event_payload.get("turn") == self._turn
            ):
                return message.ts
        return None


async def _has_later_messages(workspace: SlackWorkspace, address: Mapping[str, str], message: MessageId) -> bool:
    """Whether other people have written in the thread after the message.

    True when Slack does not answer, so that a message that others refer to does not vanish.
    """
    identity = await workspace.directory.load_bot_identity()
    request = {"channel": address["channel"], "ts": address["thread_ts"], "oldest": message, "limit": _PAGE_SIZE}
    try:
        later = await workspace.api.call_method(MessagesResponse, "conversations.replies", request)
    except SlackRefusal as exc:
        return exc.error != "thread_not_found"
    messages_of_others = (
        reply
        for reply in later.messages
        if reply.ts > message and reply.user not in {identity.user_id, address["user"]}
    )
    return len(later.messages) >= _PAGE_SIZE or next(messages_of_others, None) is not None


async def _delete_shared_files(
    workspace: SlackWorkspace, address: Mapping[str, str], message: MessageId, names: Collection[str]
) -> None:
    """Delete the files of these names that Parley shared after the message, where it may read the thread.

    Deletes the first file of each name. Slack leaves a line saying that a file was deleted.
    """
    identity = await workspace.directory.load_bot_identity()
    request = {"channel": address["channel"], "ts": address["thread_ts"], "oldest": message, "limit": _PAGE_SIZE}
    try:
        later = await workspace.api.call_method(MessagesResponse, "conversations.replies", request)
    except SlackRefusal:
        return
    file_ids: dict[str, str] = {}
    for reply in later.messages:
        if reply.ts > message and reply.user == identity.user_id:
            for file in reply.files:
                if file.name is not None and file.name in names:
                    file_ids.setdefault(file.name, file.id)
    for file in file_ids.values():
        await _delete_slack_file(workspace, file)


async def _delete_slack_file(workspace: SlackWorkspace, file_id: str) -> None:
    try:
        await workspace.api.call_method(OkResponse, "files.delete", {"file": file_id})
    except SlackRefusal as exc:
        if exc.error not in {"file_not_found", "file_deleted"}:
            raise


async def _delete_message(workspace: SlackWorkspace, channel: str, message: MessageId) -> None:
    try:
        async with workspace.outbox.channel_queue.exclusive_channel_slot(channel):
            await workspace.api.call_method(OkResponse, "chat.delete", {"channel": channel, "ts": message})
    except SlackRefusal as exc:
        if exc.error != "message_not_found":
            raise


async def _open_direct_channel(workspace: SlackWorkspace, user: str) -> str:
    return (await workspace.api.call_method(OpenDirectResponse, "conversations.open", {"users": user})).channel.id


def _root_message_content(name: str, question: str, note: str) -> dict[str, Any]:
    """Returns rich text elements, which Slack shows verbatim: nothing in them becomes a mention or a link."""
    question_text, heading = (
        strip_control_characters(question),
        f"{' '.join(strip_control_characters(name).split()) or _UNKNOWN_NAME} asked:",
    )
    shown_question = (
        question_text
        if len(question_text) <= _MAX_QUESTION_CHARACTERS
        else f"{question_text[:_MAX_QUESTION_CHARACTERS]}…"
    )
    elements: list[dict[str, object]] = [
        {"type": "rich_text_section", "elements": [{"type": "text", "text": heading}]},
        {"type": "rich_text_quote", "elements": [{"type": "text", "text": shown_question or "…"}]},
    ]
    if note:
        note_element = {"type": "text", "text": note, "style": {"italic": True}}
        elements.append({"type": "rich_text_section", "elements": [note_element]})
    return {
        "text": escape_as_mrkdwn(f"{heading} {question_text}", _MAX_FALLBACK_CHARACTERS),
        "blocks": [{"type": "rich_text", "elements": elements}],
    }


def _without_key(address: Mapping[str, str], key: str) -> dict[str, str]:
    return {name: value for name, value in address.items() if name != key}


@asynccontextmanager
async def _translate_slack_errors(timeout_s: float) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError as exc:
        raise OutboxFailed("Slack did not answer in time", retry=True) from exc
    except SlackRateLimited as exc:
        raise OutboxFailed(str(exc), retry=True, retry_after_s=exc.retry_after_s) from exc
    except SlackError as exc:
        raise OutboxFailed(str(exc), retry=not isinstance(exc, SlackRefusal)) from exc
