"""What people do in conversations: they write, and they click on what the app wrote."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.stand_ins.slack.deliveries import Delivered, Deliveries
from tests.stand_ins.slack.workspace import Channel, Message, User

_SUBSCRIPTIONS = {
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
        deliveries: int = 1,
        **extra: Any,
    ) -> tuple[Message, list[Delivered]]:
        """A message of a person's, stored and delivered as often as asked, each time under a new event id."""
        message = Message(ts=self.workspace.next_ts(), channel=channel.id, user=user.id, text=text, thread_ts=thread_ts)
        self.workspace.messages.append(message)
        delivered: list[Delivered] = []
        for _ in range(deliveries):
            for event in self._events_of(user, channel, message, extra):
                delivered.append(await self.deliver_event(event))
        return message, delivered

    async def click(self, user: User, message: Message, label: str) -> Delivered:
        """The button whose text begins with `label`, as the message is now. Slack does not repeat a failed click."""
        button = next(one for one in message.buttons() if one["text"]["text"].startswith(label))
        return await self.deliver_action(user, message, button)

    async def deliver_action(self, user: User, message: Message, button: Mapping[str, Any]) -> Delivered:
        channel = self.workspace.channels[message.channel]
        return await self.deliver_interaction(self._clicked(user, channel, message, button))

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
            **extra,
        }
        bot_user = self.workspace.bot_user
        mentioned = re.search(rf"<@{bot_user}(\|[^>]*)?>", message.text) and bot_user in channel.members
        if channel.kind != "im" and mentioned and "app_mention" in self.events:
            yield {"type": "app_mention", **event}
        subscription, kind = _SUBSCRIPTIONS[channel.kind]
        if subscription in self.events and bot_user in channel.members:
            yield {"type": "message", "channel_type": kind, **event}

    def _clicked(self, user: User, channel: Channel, message: Message, button: Mapping[str, Any]) -> dict[str, Any]:
        container = {"type": "message", "message_ts": message.ts, "channel_id": channel.id, "is_ephemeral": False}
        thread = {"thread_ts": message.thread_ts} if message.thread_ts else {}
        return {
            **self.interaction(user, "block_actions"),
            "container": {**container, **thread},
            "channel": {"id": channel.id, "name": "directmessage" if channel.kind == "im" else channel.id.lower()},
            "message": {"type": "message", "ts": message.ts, "user": message.user, "text": message.text, **thread},
            "response_url": self.response_url(message),
            "actions": [{**button, "action_ts": self.workspace.next_ts()}],
        }
