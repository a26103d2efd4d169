"""Reads deliveries as `Inbound`s: mentions, direct messages and clicks. Irrelevant deliveries are None.

An `Inbound` is built from the delivery alone, so that it can be stored and acknowledged at once. People and channels
are looked up when the turn runs (`adapters.slack.workspaces.slack_directory`).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from adapters.slack.events.attachments import attached_files_of
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.events import MessageDelivery, MessageEvent
from adapters.slack.payloads.interactions import ButtonPressPayload
from adapters.slack.payloads.responses import BotIdentity
from adapters.slack.posting.api import SlackApi
from adapters.slack.workspaces.workspace_directory import WorkspaceDirectory
from adapters.slack.workspaces.workspace_registry import (
    InstallationKey,
    WorkspaceRegistry,
    address_fields_of,
    home_team_of,
    installation_key_of,
)
from bot.ids import ChoiceId, ConversationId, MessageId, PersonId, Subject
from bot.surface.attachments import split_readable
from bot.surface.inbound import (
    Audience,
    ButtonClick,
    ChannelAudience,
    Inbound,
    OutsiderPresence,
    PrivateAudience,
    TextMessage,
)

SURFACE: Final = "slack"

# A message with any other subtype is not a new question. `file_share` is a text with a file; `thread_broadcast` is a
# text in a thread that is also shown in the channel.
_QUESTION_SUBTYPES: Final = {None, "file_share", "thread_broadcast"}

_CHANNEL_TYPES: Final = {"channel", "group"}
_MENTION = re.compile(r"<(?:@|!subteam\^|!here|!channel|!everyone)")
_ENTITY = re.compile(r"<(?P<kind>[@#!]?)(?P<target>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")


class DeliveryReader:
    """Reads deliveries. Calls Slack only on an Enterprise Grid, to find a person's organisation.

    Raises `SlackError` when the bot's own identity cannot be loaded.
    """

    def __init__(
        self, workspaces: WorkspaceRegistry, clock: Callable[[], datetime], allowed_bots: Iterable[str] = ()
    ) -> None:
        """`allowed_bots`: ids of apps and bots that may ask."""
        self._workspaces, self._clock, self._allowed_bots = workspaces, clock, frozenset(allowed_bots)

    async def read_question(self, body: Mapping[str, Any]) -> Inbound | None:
        """Read a mention or a direct message to the bot.

        Returns None for all other messages, including the bot's own and those of bots that may not ask.
        """
        return await self._read_relevant_message(body, self._is_question)

    def _is_question(self, event: MessageEvent, identity: BotIdentity, app_id: str | None) -> bool:
        """Whether the message is a mention or a direct message, by a person or an allowed bot."""
        is_for_bot = event.type == "app_mention" or event.channel_type == "im"
        return is_for_bot and (_is_from_person(event, identity) or self._is_from_allowed_bot(event, identity, app_id))

    def _is_from_allowed_bot(self, event: MessageEvent, identity: BotIdentity, app_id: str | None) -> bool:
        """Whether an allowed bot mentions Parley in a channel. Never true for Parley's own messages."""
        own_ids = {identity.bot_id, app_id} - {None}
        if not event.bot_id or event.user == identity.user_id or not own_ids.isdisjoint(event.bot_ids):
            return False
        is_mention = event.type == "app_mention" and mentions_user(event.text, identity.user_id)
        return is_mention and not event.channel.startswith("D") and not self._allowed_bots.isdisjoint(event.bot_ids)

    async def read_thread_message(self, body: Mapping[str, Any]) -> Inbound | None:
        """Read a message in a channel's thread that mentions no one. Returns None for all other messages."""
        return await self._read_relevant_message(body, _is_unaddressed_thread_message)

    async def _read_relevant_message(
        self, body: Mapping[str, Any], is_relevant: "Callable[[MessageEvent, BotIdentity, str | None], bool]"
    ) -> Inbound | None:
        context = await self.delivery_context_for(body)
        delivery = read_payload(MessageDelivery, body)
        event = delivery.event
        user = event.user or event.bot_id
        if context is None or user is None or not is_relevant(event, context.identity, delivery.api_app_id):
            return None
        thread = event.thread_ts or event.ts
        person = await context.directory.person_id_of(user, event.user_team or event.team)
        files, unread = split_readable(attached_files_of(event.files))
        return Inbound(
            surface=SURFACE,
            event_id=delivery.event_id,
            conversation=conversation_id_of(context.team_id, event.channel, thread),
            message_id=MessageId(event.ts),
            person=person,
            person_name=user,
            audience=context.audience_for(event.channel, person, is_external=delivery.is_ext_shared_channel),
            body=TextMessage(plain_text_of(event.text, context.identity.user_id)),
            received_at=self._clock(),
            address={
                **address_fields_of(context.installation_key),
                "channel": event.channel,
                "thread_ts": thread,
                "ts": event.ts,
            },
            files=files,
            skipped_files=unread,
            is_automatic=bool(event.bot_id),
        )

    async def read_click(self, body: Mapping[str, Any]) -> Inbound | None:
        """Read a click on a choice button. The click starts a turn of the clicker in the thread of the message."""
        context = await self.delivery_context_for(body)
        if context is None:
            return None
        click = read_payload(ButtonPressPayload, body)
        action, message_ts = click.actions[0], click.container.message_ts
        thread = click.container.thread_ts or message_ts
        click_id = f"{message_ts}:{action.action_ts}:{click.user.id}"
        address = {
            **address_fields_of(context.installation_key),
            "channel": click.channel.id,
            "thread_ts": thread,
            "ts": message_ts,
        }
        person = await context.directory.person_id_of(click.user.id, click.user.team_id)
        return Inbound(
            surface=SURFACE,
            event_id=f"click:{click.channel.id}:{click_id}",
            conversation=conversation_id_of(context.team_id, click.channel.id, thread),
            message_id=MessageId(f"click:{click_id}"),
            person=person,
            person_name=click.user.id,
            audience=context.audience_for(click.channel.id, person),
            body=ButtonClick(ChoiceId(action.value)),
            received_at=self._clock(),
            address=address | ({"response_url": click.response_url} if click.response_url else {}),
        )

    async def delivery_context_for(self, body: Mapping[str, Any]) -> "DeliveryContext | None":
        """Returns the context of a delivery; None where the app is no longer installed."""
        installation_key = installation_key_of(body)
        workspace = await self._workspaces.workspace_for(installation_key)
        if workspace is None:
            return None
        identity = await workspace.directory.load_bot_identity()
        return DeliveryContext(
            installation_key=installation_key, api=workspace.api, directory=workspace.directory, identity=identity
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryContext:
    """The installation that a delivery is for."""

    installation_key: InstallationKey
    api: SlackApi
    directory: WorkspaceDirectory
    identity: BotIdentity

    @property
    def team_id(self) -> str:
        return home_team_of(self.installation_key, self.identity)

    def audience_for(self, channel: str, person: PersonId, *, is_external: bool = False) -> Audience:
        """Returns the audience from ids alone, as restricted as possible until the directory is asked.

        Ids of direct messages begin with D; group messages count as channels.
        """
        if channel.startswith("D"):
            return PrivateAudience(person=person, is_guest=True)
        outsiders = OutsiderPresence.SOME if is_external else OutsiderPresence.UNKNOWN
        return ChannelAudience(channel=Subject(f"channel:slack:{self.team_id}:{channel}"), outsiders=outsiders)


def plain_text_of(text: str, bot_user: str) -> str:
    """Returns the text as a person reads it: without the bot's own mention, with labels for entities, unescaped."""
    visible = _ENTITY.sub(lambda entity: _visible_entity_text(entity, bot_user), text)
    visible = visible.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return "\n".join(" ".join(line.split()) for line in visible.split("\n")).strip()


def _visible_entity_text(entity: re.Match[str], bot_user: str) -> str:
    kind, target, label = entity["kind"], entity["target"], entity["label"]
    if kind == "@" and target == bot_user:
        return " "
    if kind == "@":
        return f"@{label or target}"
    if kind == "#":
        return f"#{label or target}"
    if kind == "!":
        return label or f"@{target.partition('^')[0]}"
    return label or target.removeprefix("mailto:")


def _is_unaddressed_thread_message(event: MessageEvent, identity: BotIdentity, _: str | None) -> bool:
    """Whether a person wrote it in a channel's thread without a mention.

    A message that mentions Parley is also delivered as an `app_mention` event.
    """
    if event.type != "message" or event.thread_ts in {None, event.ts} or event.channel_type not in _CHANNEL_TYPES:
        return False
    return _is_from_person(event, identity) and is_addressed_to_nobody(event.text)


def is_addressed_to_nobody(text: str) -> bool:
    """Whether the text is not empty and mentions no one."""
    return bool(text.strip()) and not _MENTION.search(text)


def mentions_user(text: str, user: str) -> bool:
    return any(entity["kind"] == "@" and entity["target"] == user for entity in _ENTITY.finditer(text))


def _is_from_person(event: MessageEvent, identity: BotIdentity) -> bool:
    return (
        event.user is not None
        and not event.bot_id
        and event.user != identity.user_id
        and event.subtype in _QUESTION_SUBTYPES
    )


def conversation_id_of(team: str, channel: str, thread: str) -> ConversationId:
    return ConversationId(f"{SURFACE}:{team}:{channel}:{thread}")
