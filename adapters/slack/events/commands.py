"""Accepts questions from the slash command and from the shortcut on a message."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol

from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError
from adapters.slack.events.attachments import attached_files_of
from adapters.slack.events.messages import SURFACE, DeliveryContext, DeliveryReader, conversation_id_of, plain_text_of
from adapters.slack.events.questions import AcceptInbound
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.interactions import CommandPayload, ShortcutPayload
from adapters.slack.workspaces.workspace_registry import address_fields_of
from bot.ids import MessageId
from bot.surface.attachments import split_readable
from bot.surface.inbound import Inbound, TextMessage

COMMAND: Final = "/ask-docs"
SHORTCUT: Final = "ask_about_message"
USAGE: Final = (
    f"Write your question behind the command: `{COMMAND} which contracts end this year?` I answer in this channel, "
    "for whoever reads it; in a direct message with me only you read the answer."
)
_NO_WORDS_NOTICE: Final = "There are no words in that message that I could look up."


class CommandAck(Protocol):
    async def __call__(self, text: str = "") -> object: ...


class CommandListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = ()

    def __init__(
        self, accept: AcceptInbound, reader: DeliveryReader, clock: Callable[[], datetime], log: FilteringBoundLogger
    ) -> None:
        self._accept, self._reader, self._clock, self._log = accept, reader, clock, log

    def register_bolt_handlers(self, app: Any) -> None:
        app.command(COMMAND)(self._on_command)
        app.message_shortcut(SHORTCUT)(self._on_shortcut)

    async def _on_command(self, body: dict[str, Any], ack: CommandAck) -> None:
        """Accept the question, or answer an empty command with its usage. The question appears in its thread later."""
        context, command = await self._reader.delivery_context_for(body), read_payload(CommandPayload, body)
        if context is not None and not plain_text_of(command.text, context.identity.user_id):
            await ack(USAGE)
            return
        if context is not None:
            await self._accept(await self._inbound_for_command(context, command))
        await ack()

    async def _on_shortcut(self, body: dict[str, Any], ack: CommandAck) -> None:
        context, shortcut = await self._reader.delivery_context_for(body), read_payload(ShortcutPayload, body)
        if context is not None and plain_text_of(shortcut.message.text, context.identity.user_id):
            await self._accept(await self._inbound_for_shortcut(context, shortcut))
        await ack()
        if context is not None and not plain_text_of(shortcut.message.text, context.identity.user_id):
            await self._whisper_no_words(context, shortcut)

    async def _inbound_for_command(self, context: DeliveryContext, command: CommandPayload) -> Inbound:
        """Build the inbound of a command, whose thread does not exist yet."""
        asker = _CommandAsker(
            user=command.user_id, team=command.team_id, channel=command.channel_id, trigger_id=command.trigger_id
        )
        return await self._build_inbound(
            context, asker, command.text, conversation=f"command:{command.trigger_id}", extra_address={}
        )

    async def _inbound_for_shortcut(self, context: DeliveryContext, shortcut: ShortcutPayload) -> Inbound:
        """Build the inbound of a shortcut, to be answered in the message's thread where Parley may write there."""
        asker = _CommandAsker(
            user=shortcut.user.id,
            team=shortcut.user.team_id,
            channel=shortcut.channel.id,
            trigger_id=shortcut.trigger_id,
        )
        message = shortcut.message
        thread = message.thread_ts or message.ts
        thread_address = {"thread_ts": thread, "ts": message.ts}
        inbound = await self._build_inbound(
            context, asker, message.text, conversation=thread, extra_address=thread_address
        )
        files, unread = split_readable(attached_files_of(message.files))
        return replace(inbound, files=files, skipped_files=unread)

    async def _build_inbound(
        self,
        context: DeliveryContext,
        asker: "_CommandAsker",
        text: str,
        *,
        conversation: str,
        extra_address: Mapping[str, str],
    ) -> Inbound:
        """Build an inbound identified by its trigger id, which Slack never repeats."""
        person = await context.directory.person_id_of(asker.user, asker.team)
        return Inbound(
            surface=SURFACE,
            event_id=f"trigger:{asker.trigger_id}",
            conversation=conversation_id_of(context.team_id, asker.channel, conversation),
            message_id=MessageId(f"trigger:{asker.trigger_id}"),
            person=person,
            person_name=asker.user,
            audience=context.audience_for(asker.channel, person),
            body=TextMessage(plain_text_of(text, context.identity.user_id)),
            received_at=self._clock(),
            address={
                **address_fields_of(context.installation_key),
                "channel": asker.channel,
                "user": asker.user,
                **extra_address,
            },
            needs_thread=True,
        )

    async def _whisper_no_words(self, context: DeliveryContext, shortcut: ShortcutPayload) -> None:
        """Tell the person who used the shortcut that the message has no text. A failure is only logged."""
        try:
            await context.api.post_to_response_url(
                shortcut.response_url, {"text": _NO_WORDS_NOTICE, "response_type": "ephemeral"}
            )
        except SlackError as exc:
            self._log.info("slack notice not posted", reason=str(exc))


@dataclass(frozen=True, slots=True, kw_only=True)
class _CommandAsker:
    """The person who asks, and the channel of the command or message."""

    user: str
    team: str | None
    channel: str
    trigger_id: str
