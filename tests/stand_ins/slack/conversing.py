"""People's actions in conversations: writing, editing, deleting, attaching files, clicking and using commands."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from tests.stand_ins.slack.deliveries import AppDeliveries, DeliveryOutcome
from tests.stand_ins.slack.fields import ActionNotPossible, action_fields_for
from tests.stand_ins.slack.messages import describe_message
from tests.stand_ins.slack.response_urls import post_response
from tests.stand_ins.slack.streams import end_thread_streams
from tests.stand_ins.slack.workspace import APP, OtherApp, SlackChannel, SlackMember, SlackMessage, StoredFile

_SUBSCRIPTIONS: Final = {
    "im": ("message.im", "im"),
    "channel": ("message.channels", "channel"),
    "group": ("message.groups", "group"),
    "mpim": ("message.mpim", "mpim"),
}


class ConversationActions(AppDeliveries):
    async def post_as_person(
        self,
        user: SlackMember,
        channel: SlackChannel,
        text: str,
        *,
        thread_ts: str | None = None,
        files: Sequence[StoredFile] = (),
        deliveries: int = 1,
        **extra: Any,
    ) -> tuple[SlackMessage, list[DeliveryOutcome]]:
        """Post a person's message and deliver it `deliveries` times, each time with a new event id."""
        workspace = self.workspace_of_channel(channel)
        message = SlackMessage(ts=workspace.next_ts(), channel=channel.id, user=user.id, text=text, thread_ts=thread_ts)
        workspace.messages.append(message)
        for file in files:
            message.files.append(file.id)
            file.channels.append(channel.id)
        delivered: list[DeliveryOutcome] = []
        for _ in range(deliveries):
            for event in self._events_of(user, channel, message, extra):
                delivered.append(await self.deliver_event(event, workspace=workspace))
        return message, delivered

    def upload_file(self, user: SlackMember, name: str, content: bytes, mimetype: str = "text/plain") -> StoredFile:
        """Upload a person's file, to be attached to a message."""
        file = StoredFile(id=f"F{self.next_id()}", name=name, length=len(content), content=content, user=user.id)
        file.mimetype, file.url = mimetype, f"{self.origin}/files-pri/{file.id}/{name}"
        self.workspace_of_user(user).files[file.id] = file
        return file

    async def edit_message(self, message: SlackMessage, text: str) -> DeliveryOutcome:
        """Edit a message as its author."""
        previous = self._describe_message(message)
        message.text = text
        message.edits += 1
        edited = {"user": message.user, "ts": self.workspace.next_ts()}
        return await self._deliver_change(message, {**self._describe_message(message), "edited": edited}, previous)

    async def remove_file(self, message: SlackMessage, file: str) -> DeliveryOutcome:
        """Remove a file from a message as its author."""
        previous = self._describe_message(message)
        message.files.remove(file)
        self.workspace_of_channel(self._channel_of(message)).files[file].mode = "tombstone"
        return await self._deliver_change(message, self._describe_message(message), previous)

    async def delete_message(self, message: SlackMessage) -> DeliveryOutcome:
        """Delete a message as its author. A message with replies becomes a tombstone."""
        workspace = self.workspace_of_channel(self._channel_of(message))
        previous = self._describe_message(message)
        if any(other.thread_ts == message.ts and other is not message for other in workspace.messages):
            message.text, message.user, message.files = "This message was deleted.", "USLACKBOT", []
            return await self._deliver_change(
                message, {**self._describe_message(message), "subtype": "tombstone", "hidden": True}, previous
            )
        workspace.messages.remove(message)
        deletion = {"subtype": "message_deleted", "deleted_ts": message.ts, "previous_message": previous}
        return await self._deliver_alteration(message, deletion)

    async def add_link_preview(self, message: SlackMessage) -> DeliveryOutcome:
        """Add a link preview, which Slack delivers as a change although no one has edited the message."""
        current = {**self._describe_message(message), "attachments": [{"id": 1, "from_url": "https://example.org"}]}
        return await self._deliver_change(message, current, self._describe_message(message))

    async def post_as_app(
        self, app: OtherApp, channel: SlackChannel, text: str, *, thread_ts: str | None = None
    ) -> tuple[SlackMessage, list[DeliveryOutcome]]:
        """Post a message of another app."""
        workspace = self.workspace_of_channel(channel)
        author = SlackMember(id=app.user or app.bot, name=app.bot)
        message = SlackMessage(
            ts=workspace.next_ts(), channel=channel.id, user=author.id, text=text, thread_ts=thread_ts
        )
        workspace.messages.append(message)
        profile = {"id": app.bot, "app_id": app.id, "name": app.bot, "team_id": workspace.team}
        bot_fields = {"bot_id": app.bot, "app_id": app.id, "bot_profile": profile}
        delivered: list[DeliveryOutcome] = []
        for event in self._events_of(author, channel, message, bot_fields):
            event_fields = event if app.user else {**event, "user": None, "subtype": "bot_message", "app_id": None}
            payload = {key: value for key, value in event_fields.items() if value is not None}
            delivered.append(await self.deliver_event(payload, workspace=workspace))
        return message, delivered

    async def deliver_late(
        self, user: SlackMember, channel: SlackChannel, message: SlackMessage, text: str
    ) -> list[DeliveryOutcome]:
        """Deliver the original event of a message after its later changes."""
        original = replace(message, text=text)
        events = self._events_of(user, channel, original, {})
        return [await self.deliver_event(event, workspace=self.workspace_of_channel(channel)) for event in events]

    async def deliver_own_message(self, message: SlackMessage, *, changed: bool = False) -> DeliveryOutcome:
        """Deliver the app's own message, or its own change of it."""
        if changed:
            edited = {"user": message.user, "ts": self.workspace.next_ts()}
            return await self._deliver_change(
                message, {**self._describe_message(message), "edited": edited}, self._describe_message(message)
            )
        channel = self._channel_of(message)
        subscription, kind = _SUBSCRIPTIONS[channel.kind]
        event = {**self._describe_message(message), "channel": channel.id, "channel_type": kind, "event_ts": message.ts}
        return await self.tell_app(self.workspace_of_channel(channel), subscription, event)

    async def click_button(self, user: SlackMember, message: SlackMessage, label: str) -> DeliveryOutcome:
        """Click the button whose text begins with `label`. Slack does not repeat a failed click."""
        button = next(candidate for candidate in message.block_buttons() if candidate["text"]["text"].startswith(label))
        return await self.deliver_action(user, message, button)

    async def choose_option(self, user: SlackMember, message: SlackMessage, action: str, value: Any) -> DeliveryOutcome:
        """Choose from the menu, overflow or checkboxes with that action id. Raises `ActionNotPossible`."""
        element = next(
            (candidate for candidate in message.block_elements() if candidate.get("action_id") == action), None
        )
        if element is None:
            raise ActionNotPossible(f"nothing to choose from called {action!r}")
        return await self.deliver_action(user, message, {"action_id": action, **action_fields_for(element, value)})

    async def rate_answer(self, user: SlackMember, message: SlackMessage, *, good: bool) -> DeliveryOutcome:
        """Press one of the feedback buttons."""
        buttons = next(element for element in message.block_elements() if element["type"] == "feedback_buttons")
        pressed = buttons["positive_button" if good else "negative_button"]
        action = {"type": "feedback_buttons", "action_id": buttons["action_id"], **pressed}
        return await self.deliver_action(user, message, action)

    async def deliver_action(
        self, user: SlackMember, message: SlackMessage, button: Mapping[str, Any]
    ) -> DeliveryOutcome:
        return await self.deliver_interaction(self._click_payload(user, self._channel_of(message), message, button))

    async def use_command(
        self, user: SlackMember, channel: SlackChannel, command: str, text: str = ""
    ) -> DeliveryOutcome:
        """Use a slash command; the person sees an immediate answer. Slack has no commands in threads."""
        if command not in self.commands or "commands" not in self.scopes:
            raise ActionNotPossible(f"{command} is not a valid command")
        workspace, address = self.workspace_of_user(user), self.create_response_url(user, channel)
        fields = {
            "token": "unused",
            "team_id": workspace.team,
            "team_domain": "parley",
            **({"enterprise_id": workspace.enterprise, "enterprise_name": "Grid"} if workspace.enterprise else {}),
            "channel_id": channel.id,
            "channel_name": _channel_name_in_payload(channel),
            "user_id": user.id,
            "user_name": user.name,
            "command": command,
            "text": text,
            "api_app_id": APP,
            "is_enterprise_install": "true" if self.is_org_wide(workspace) else "false",
            "response_url": address,
            "trigger_id": self.create_trigger_id(user),
        }
        delivered = await self.deliver_form(fields)
        if delivered.statuses == [200] and delivered.body:
            post_response(self.responses[address.rpartition("/")[2]], _parse_answer(delivered.body))
            await self.notify_waiters()
        return delivered

    async def use_shortcut(self, user: SlackMember, message: SlackMessage, callback_id: str) -> DeliveryOutcome:
        """Use a message shortcut of the app, in any channel."""
        if callback_id not in self.shortcuts or "commands" not in self.scopes:
            raise ActionNotPossible(f"no shortcut {callback_id}")
        channel = self._channel_of(message)
        payload = {
            **self.interaction_payload(user, "message_action"),
            "callback_id": callback_id,
            "action_ts": self.workspace.next_ts(),
            "channel": {"id": channel.id, "name": _channel_name_in_payload(channel)},
            "message_ts": message.ts,
            "message": self._describe_message(message),
            "response_url": self.create_response_url(user, channel, thread_ts=message.thread_ts),
        }
        return await self.deliver_interaction(payload)

    async def press_stop(self, user: SlackMember, channel: SlackChannel, thread_ts: str) -> DeliveryOutcome:
        """Press Slack's stop button, which exists only if the app is subscribed to its event."""
        workspace = self.workspace_of_channel(channel)
        session = workspace.sessions.get((channel.id, thread_ts))
        if (
            session is None
            or session.status != "processing"
            or not self.is_subscribed(workspace, "agent_session_stopped")
        ):
            raise ActionNotPossible("no stop button")
        streams = end_thread_streams(workspace, channel.id, thread_ts)
        thread_fields = {"channel": channel.id, "thread_ts": thread_ts, "user": user.id}
        event: dict[str, Any] = {**thread_fields, "streaming_message_ts": streams}
        return await self.tell_app(workspace, "agent_session_stopped", event)

    def end_streams(self, channel: SlackChannel, thread_ts: str) -> list[str]:
        """End a thread's streams as Slack does, without an event; return the timestamps of their messages."""
        return end_thread_streams(self.workspace_of_channel(channel), channel.id, thread_ts)

    async def open_channel_beside_app(self, user: SlackMember, channel: SlackChannel) -> DeliveryOutcome:
        """Open a channel while the app, an agent, is open beside it."""
        if not self.is_agent:
            raise ActionNotPossible("the app is no agent")
        workspace = self.workspace_of_user(user)
        entity = {"type": "slack#/types/channel_id", "value": channel.id, "team_id": workspace.team}
        event = {"user": user.id, "channel": workspace.direct_channel_of(user.id).id, "context": {"entities": [entity]}}
        return await self.tell_app(workspace, "app_context_changed", event)

    def _channel_of(self, message: SlackMessage) -> SlackChannel:
        channels = (workspace.channels.get(message.channel) for workspace in self.workspaces)
        return next(channel for channel in channels if channel is not None)

    def _describe_message(self, message: SlackMessage) -> dict[str, Any]:
        return describe_message(self.workspace_of_channel(self._channel_of(message)), message)

    async def _deliver_change(
        self, message: SlackMessage, current: Mapping[str, Any], previous: Mapping[str, Any]
    ) -> DeliveryOutcome:
        return await self._deliver_alteration(
            message, {"subtype": "message_changed", "message": current, "previous_message": previous}
        )

    async def _deliver_alteration(self, message: SlackMessage, event: Mapping[str, Any]) -> DeliveryOutcome:
        channel = self._channel_of(message)
        workspace = self.workspace_of_channel(channel)
        if workspace.bot_user not in channel.members:
            return DeliveryOutcome(statuses=[])
        subscription, kind = _SUBSCRIPTIONS[channel.kind]
        message_fields = {"channel": channel.id, "channel_type": kind, "hidden": True, "ts": workspace.next_ts()}
        return await self.tell_app(workspace, subscription, {**message_fields, **event})

    def _events_of(
        self, user: SlackMember, channel: SlackChannel, message: SlackMessage, extra: Mapping[str, Any]
    ) -> Iterable[dict[str, Any]]:
        """Yield the events of a message. A mention in a channel is two events if the app is subscribed to both."""
        event: dict[str, Any] = {
            "user": user.id,
            "team": user.team,
            "text": message.text,
            "ts": message.ts,
            "event_ts": message.ts,
            "channel": channel.id,
            **({"thread_ts": message.thread_ts} if message.thread_ts else {}),
            **self._file_fields_of(channel, message),
            **extra,
        }
        workspace = self.workspace_of_channel(channel)
        bot_user = workspace.bot_user
        is_mentioned = re.search(rf"<@{bot_user}(\|[^>]*)?>", message.text) and bot_user in channel.members
        if channel.kind != "im" and is_mentioned and self.is_subscribed(workspace, "app_mention"):
            yield {"type": "app_mention", **event}
        subscription, kind = _SUBSCRIPTIONS[channel.kind]
        if self.is_subscribed(workspace, subscription) and bot_user in channel.members:
            yield {"type": "message", "channel_type": kind, **event}

    def _file_fields_of(self, channel: SlackChannel, message: SlackMessage) -> dict[str, Any]:
        """Returns the files of a message. In a shared channel they have only ids; `files.info` has the rest."""
        files = self.workspace_of_channel(channel).files
        if not message.files:
            return {}
        if channel.is_ext_shared:
            described = [{"id": file_id, "file_access": "check_file_info"} for file_id in message.files]
        else:
            described = [files[file_id].describe_file() for file_id in message.files]
        return {"subtype": "file_share", "files": described}

    def _click_payload(
        self, user: SlackMember, channel: SlackChannel, message: SlackMessage, button: Mapping[str, Any]
    ) -> dict[str, Any]:
        is_ephemeral = message.visible_to is not None
        container = {"type": "message", "message_ts": message.ts, "channel_id": channel.id}
        thread = {"thread_ts": message.thread_ts} if message.thread_ts else {}
        return {
            **self.interaction_payload(user, "block_actions"),
            "container": {**container, "is_ephemeral": is_ephemeral, **thread},
            "channel": {"id": channel.id, "name": _channel_name_in_payload(channel)},
            **({} if is_ephemeral else {"message": self._describe_message(message)}),
            "response_url": self.create_response_url(user, channel, message, message.thread_ts),
            "actions": [{**button, "action_ts": self.workspace.next_ts()}],
        }


def _channel_name_in_payload(channel: SlackChannel) -> str:
    return {"im": "directmessage", "group": "privategroup"}.get(channel.kind, channel.name)


def _parse_answer(body: str) -> dict[str, Any]:
    """Parse the answer to a command: JSON or plain text."""
    try:
        answer: object = json.loads(body)
    except ValueError:
        return {"text": body}
    return cast(dict[str, Any], answer) if isinstance(answer, dict) else {"text": body}
