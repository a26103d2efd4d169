"""What people do in conversations: they write, change and delete, attach files, and use what the app offers there."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from tests.stand_ins.slack.deliveries import Delivered, Deliveries
from tests.stand_ins.slack.fields import NotPossible, used
from tests.stand_ins.slack.messages import shown
from tests.stand_ins.slack.response_urls import said
from tests.stand_ins.slack.streams import ended
from tests.stand_ins.slack.workspace import APP, Channel, Message, OtherApp, StoredFile, User

_SUBSCRIPTIONS: Final = {
    "im": ("message.im", "im"),
    "channel": ("message.channels", "channel"),
    "group": ("message.groups", "group"),
    "mpim": ("message.mpim", "mpim"),
}


class Conversing(Deliveries):
    async def say(
        self,
        user: User,
        channel: Channel,
        text: str,
        *,
        thread_ts: str | None = None,
        files: Sequence[StoredFile] = (),
        deliveries: int = 1,
        **extra: Any,
    ) -> tuple[Message, list[Delivered]]:
        """A message of a person's, stored and delivered as often as asked, each time under a new event id."""
        place = self.place_of(channel)
        message = Message(ts=place.next_ts(), channel=channel.id, user=user.id, text=text, thread_ts=thread_ts)
        place.messages.append(message)
        for file in files:
            message.files.append(file.id)
            file.channels.append(channel.id)
        delivered: list[Delivered] = []
        for _ in range(deliveries):
            for event in self._events_of(user, channel, message, extra):
                delivered.append(await self.deliver_event(event, place=place))
        return message, delivered

    def upload(self, user: User, name: str, content: bytes, mimetype: str = "text/plain") -> StoredFile:
        """A file of a person's, to be said with a message."""
        file = StoredFile(id=f"F{self.next_id()}", name=name, length=len(content), content=content, user=user.id)
        file.mimetype, file.url = mimetype, f"{self.origin}/files-pri/{file.id}/{name}"
        self.home_of(user).files[file.id] = file
        return file

    async def edit(self, message: Message, text: str) -> Delivered:
        """By the person who wrote it."""
        before = self._shown(message)
        message.text = text
        message.edits += 1
        edited = {"user": message.user, "ts": self.workspace.next_ts()}
        return await self._changed(message, {**self._shown(message), "edited": edited}, before)

    async def take_out(self, message: Message, file: str) -> Delivered:
        """A file, by the person who wrote the message, which stays as it is otherwise."""
        before = self._shown(message)
        message.files.remove(file)
        self.place_of(self._channel(message)).files[file].mode = "tombstone"
        return await self._changed(message, self._shown(message), before)

    async def delete(self, message: Message) -> Delivered:
        """By the person who wrote it. A message with replies stays as a tombstone."""
        place = self.place_of(self._channel(message))
        before = self._shown(message)
        if any(one.thread_ts == message.ts and one is not message for one in place.messages):
            message.text, message.user, message.files = "This message was deleted.", "USLACKBOT", []
            return await self._changed(
                message, {**self._shown(message), "subtype": "tombstone", "hidden": True}, before
            )
        place.messages.remove(message)
        gone = {"subtype": "message_deleted", "deleted_ts": message.ts, "previous_message": before}
        return await self._altered(message, gone)

    async def unfurl(self, message: Message) -> Delivered:
        """Slack shows a preview of a link in it, which it tells as a change, though nobody has edited anything."""
        now = {**self._shown(message), "attachments": [{"id": 1, "from_url": "https://example.org"}]}
        return await self._changed(message, now, self._shown(message))

    async def say_as(
        self, app: OtherApp, channel: Channel, text: str, *, thread_ts: str | None = None
    ) -> tuple[Message, list[Delivered]]:
        """A message of another app's."""
        place = self.place_of(channel)
        author = User(id=app.user or app.bot, name=app.bot)
        message = Message(ts=place.next_ts(), channel=channel.id, user=author.id, text=text, thread_ts=thread_ts)
        place.messages.append(message)
        profile = {"id": app.bot, "app_id": app.id, "name": app.bot, "team_id": place.team}
        own = {"bot_id": app.bot, "app_id": app.id, "bot_profile": profile}
        delivered: list[Delivered] = []
        for event in self._events_of(author, channel, message, own):
            named = event if app.user else {**event, "user": None, "subtype": "bot_message", "app_id": None}
            told = {key: value for key, value in named.items() if value is not None}
            delivered.append(await self.deliver_event(told, place=place))
        return message, delivered

    async def deliver_late(self, user: User, channel: Channel, message: Message, text: str) -> list[Delivered]:
        """The app is told of the message, as it was first written, after what has become of it."""
        first = replace(message, text=text)
        events = self._events_of(user, channel, first, {})
        return [await self.deliver_event(event, place=self.place_of(channel)) for event in events]

    async def echo(self, message: Message, *, changed: bool = False) -> Delivered:
        """The app is told of its own messages, and of its own changes to them."""
        if changed:
            edited = {"user": message.user, "ts": self.workspace.next_ts()}
            return await self._changed(message, {**self._shown(message), "edited": edited}, self._shown(message))
        channel = self._channel(message)
        subscription, kind = _SUBSCRIPTIONS[channel.kind]
        told = {**self._shown(message), "channel": channel.id, "channel_type": kind, "event_ts": message.ts}
        return await self.tell_app(self.place_of(channel), subscription, told)

    async def click(self, user: User, message: Message, label: str) -> Delivered:
        """The button whose text begins with `label`, as the message is now. Slack does not repeat a failed click."""
        button = next(one for one in message.buttons() if one["text"]["text"].startswith(label))
        return await self.deliver_action(user, message, button)

    async def choose(self, user: User, message: Message, action: str, value: Any) -> Delivered:
        """From the menu, overflow or tick list with that action."""
        element = next((one for one in message.elements() if one.get("action_id") == action), None)
        if element is None:
            raise NotPossible(f"nothing to choose from called {action!r}")
        return await self.deliver_action(user, message, {"action_id": action, **used(element, value)})

    async def rate(self, user: User, message: Message, *, good: bool) -> Delivered:
        """One of the feedback buttons."""
        buttons = next(one for one in message.elements() if one["type"] == "feedback_buttons")
        pressed = buttons["positive_button" if good else "negative_button"]
        told = {"type": "feedback_buttons", "action_id": buttons["action_id"], **pressed}
        return await self.deliver_action(user, message, told)

    async def deliver_action(self, user: User, message: Message, button: Mapping[str, Any]) -> Delivered:
        return await self.deliver_interaction(self._clicked(user, self._channel(message), message, button))

    async def command(self, user: User, channel: Channel, command: str, text: str = "") -> Delivered:
        """What the app answers at once is said to the person, as Slack does. In threads there are no commands."""
        if command not in self.commands or "commands" not in self.scopes:
            raise NotPossible(f"{command} is not a valid command")
        place, address = self.home_of(user), self.response_url(user, channel)
        fields = {
            "token": "unused",
            "team_id": place.team,
            "team_domain": "parley",
            **({"enterprise_id": place.enterprise, "enterprise_name": "Grid"} if place.enterprise else {}),
            "channel_id": channel.id,
            "channel_name": _named(channel),
            "user_id": user.id,
            "user_name": user.name,
            "command": command,
            "text": text,
            "api_app_id": APP,
            "is_enterprise_install": "true" if self.is_org_wide(place) else "false",
            "response_url": address,
            "trigger_id": self.trigger_id(user),
        }
        delivered = await self.deliver_form(fields)
        if delivered.statuses == [200] and delivered.body:
            said(self.responses[address.rpartition("/")[2]], _content(delivered.body))
            await self.tell()
        return delivered

    async def shortcut(self, user: User, message: Message, callback_id: str) -> Delivered:
        """One of the app's in the menu of a message, wherever that stands."""
        if callback_id not in self.shortcuts or "commands" not in self.scopes:
            raise NotPossible(f"no shortcut {callback_id}")
        channel = self._channel(message)
        payload = {
            **self.interaction(user, "message_action"),
            "callback_id": callback_id,
            "action_ts": self.workspace.next_ts(),
            "channel": {"id": channel.id, "name": _named(channel)},
            "message_ts": message.ts,
            "message": self._shown(message),
            "response_url": self.response_url(user, channel, thread_ts=message.thread_ts),
        }
        return await self.deliver_interaction(payload)

    async def stop(self, user: User, channel: Channel, thread_ts: str) -> Delivered:
        """The stop button of an agent at work, which is there only if the app hears of it."""
        place = self.place_of(channel)
        session = place.sessions.get((channel.id, thread_ts))
        if session is None or session.status != "processing" or not self.hears(place, "agent_session_stopped"):
            raise NotPossible("no stop button")
        streams = ended(place, channel.id, thread_ts)
        where = {"channel": channel.id, "thread_ts": thread_ts, "user": user.id}
        stopped: dict[str, Any] = {**where, "streaming_message_ts": streams}
        return await self.tell_app(place, "agent_session_stopped", stopped)

    def end_streams(self, channel: Channel, thread_ts: str) -> list[str]:
        """On Slack's side, without a word to the app. Timestamps of the messages that grew."""
        return ended(self.place_of(channel), channel.id, thread_ts)

    async def look_at(self, user: User, channel: Channel) -> Delivered:
        """The person turns to a channel with the app, an agent, open beside it."""
        if not self.is_agent:
            raise NotPossible("the app is no agent")
        place = self.home_of(user)
        entity = {"type": "slack#/types/channel_id", "value": channel.id, "team_id": place.team}
        looked = {"user": user.id, "channel": place.direct(user.id).id, "context": {"entities": [entity]}}
        return await self.tell_app(place, "app_context_changed", looked)

    def _channel(self, message: Message) -> Channel:
        found = (one.channels.get(message.channel) for one in self.workspaces)
        return next(channel for channel in found if channel is not None)

    def _shown(self, message: Message) -> dict[str, Any]:
        return shown(self.place_of(self._channel(message)), message)

    async def _changed(self, message: Message, now: Mapping[str, Any], before: Mapping[str, Any]) -> Delivered:
        return await self._altered(message, {"subtype": "message_changed", "message": now, "previous_message": before})

    async def _altered(self, message: Message, event: Mapping[str, Any]) -> Delivered:
        channel = self._channel(message)
        place = self.place_of(channel)
        if place.bot_user not in channel.members:
            return Delivered(statuses=[])
        subscription, kind = _SUBSCRIPTIONS[channel.kind]
        where = {"channel": channel.id, "channel_type": kind, "hidden": True, "ts": place.next_ts()}
        return await self.tell_app(place, subscription, {**where, **event})

    def _events_of(
        self, user: User, channel: Channel, message: Message, extra: Mapping[str, Any]
    ) -> Iterable[dict[str, Any]]:
        """A mention in a channel comes twice to an app that is subscribed to both events."""
        event: dict[str, Any] = {
            "user": user.id,
            "team": user.team,
            "text": message.text,
            "ts": message.ts,
            "event_ts": message.ts,
            "channel": channel.id,
            **({"thread_ts": message.thread_ts} if message.thread_ts else {}),
            **self._attached(channel, message),
            **extra,
        }
        place = self.place_of(channel)
        bot_user = place.bot_user
        mentioned = re.search(rf"<@{bot_user}(\|[^>]*)?>", message.text) and bot_user in channel.members
        if channel.kind != "im" and mentioned and self.hears(place, "app_mention"):
            yield {"type": "app_mention", **event}
        subscription, kind = _SUBSCRIPTIONS[channel.kind]
        if self.hears(place, subscription) and bot_user in channel.members:
            yield {"type": "message", "channel_type": kind, **event}

    def _attached(self, channel: Channel, message: Message) -> dict[str, Any]:
        """In a channel shared with others, files are only named: `files.info` tells the rest."""
        files = self.place_of(channel).files
        if not message.files:
            return {}
        if channel.is_ext_shared:
            told = [{"id": one, "file_access": "check_file_info"} for one in message.files]
        else:
            told = [files[one].told() for one in message.files]
        return {"subtype": "file_share", "files": told}

    def _clicked(self, user: User, channel: Channel, message: Message, button: Mapping[str, Any]) -> dict[str, Any]:
        is_ephemeral = message.only_for is not None
        container = {"type": "message", "message_ts": message.ts, "channel_id": channel.id}
        thread = {"thread_ts": message.thread_ts} if message.thread_ts else {}
        return {
            **self.interaction(user, "block_actions"),
            "container": {**container, "is_ephemeral": is_ephemeral, **thread},
            "channel": {"id": channel.id, "name": _named(channel)},
            **({} if is_ephemeral else {"message": self._shown(message)}),
            "response_url": self.response_url(user, channel, message, message.thread_ts),
            "actions": [{**button, "action_ts": self.workspace.next_ts()}],
        }


def _named(channel: Channel) -> str:
    return {"im": "directmessage", "group": "privategroup"}.get(channel.kind, channel.name)


def _content(body: str) -> dict[str, Any]:
    """What a command is answered with: JSON, or words."""
    try:
        answer: object = json.loads(body)
    except ValueError:
        return {"text": body}
    return cast(dict[str, Any], answer) if isinstance(answer, dict) else {"text": body}
