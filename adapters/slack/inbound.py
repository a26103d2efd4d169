"""What Slack delivers, as an `Inbound`: mentions, direct messages, clicks. What Parley has no answer to is None."""

import asyncio
import re
from collections.abc import Callable
from datetime import datetime
from typing import Final

from pydantic import BaseModel, Field

from adapters.slack.directory import AuthTest, Directory, Person
from bot.ids import ChoiceId, ConversationId, MessageId, Subject
from bot.inbound import Audience, Clicked, Inbound, Outsiders, Private, Said, Shared
from bot.tasks import lone_error

SURFACE: Final = "slack"

# A message's subtype says that it is no new question, but for these: words with a file, and words from a thread that
# were shown in the channel as well.
_SUBTYPES_OF_PEOPLE: Final = {None, "file_share", "thread_broadcast"}

_ENTITY = re.compile(r"<(?P<kind>[@#!]?)(?P<target>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")


class _Message(BaseModel):
    """An `app_mention` or `message` event."""

    type: str
    channel: str
    ts: str
    user: str | None = None
    text: str = ""
    thread_ts: str | None = None
    channel_type: str | None = None
    subtype: str | None = None
    bot_id: str | None = None
    user_team: str | None = None
    team: str | None = None


class _Delivery(BaseModel):
    """The envelope of an event. `team_id` may be missing on an Enterprise Grid."""

    event_id: str
    event: _Message
    team_id: str | None = None
    is_ext_shared_channel: bool = False


class _Ids(BaseModel):
    id: str
    team_id: str | None = None


class _Container(BaseModel):
    message_ts: str
    thread_ts: str | None = None


class _Action(BaseModel):
    action_id: str
    action_ts: str
    value: str


class _Click(BaseModel):
    """`block_actions` on a message. One click is one action."""

    user: _Ids
    channel: _Ids
    container: _Container
    actions: list[_Action] = Field(min_length=1)
    team: _Ids | None = None
    response_url: str | None = None


class Reader:
    """Reads deliveries, with what the directory knows of people and channels. Raises `SlackFailed` for our own ids."""

    def __init__(self, directory: Directory, clock: Callable[[], datetime]) -> None:
        self._directory, self._clock = directory, clock

    async def message(self, body: object) -> Inbound | None:
        """A mention, or a message to the bot alone. None for all others, bots' and our own words included."""
        delivery = _Delivery.model_validate(body)
        event, ours = delivery.event, await self._directory.installation()
        if event.user is None or not _is_question(event, ours):
            return None
        team = _team(ours, delivery.team_id)
        thread = event.thread_ts or event.ts
        person, audience = await self._person_and_audience(
            event.user, event.user_team or event.team, team, event.channel, is_external=delivery.is_ext_shared_channel
        )
        return Inbound(
            surface=SURFACE,
            event_id=delivery.event_id,
            conversation=_conversation(team, event.channel, thread),
            message_id=MessageId(event.ts),
            person=person.id,
            name=person.name,
            audience=audience,
            body=Said(plain(event.text, ours.user_id)),
            received=self._clock(),
            locale=person.locale,
            time_zone=person.time_zone,
            address={"channel": event.channel, "thread_ts": thread, "ts": event.ts},
        )

    async def click(self, body: object) -> Inbound:
        """A button of ours. The click is the clicker's own turn, in the thread of the message."""
        click = _Click.model_validate(body)
        action, message_ts = click.actions[0], click.container.message_ts
        ours = await self._directory.installation()
        team = _team(ours, click.team.id if click.team else None)
        thread = click.container.thread_ts or message_ts
        own_id = f"{message_ts}:{action.action_ts}:{click.user.id}"
        address = {"channel": click.channel.id, "thread_ts": thread, "ts": message_ts}
        person, audience = await self._person_and_audience(click.user.id, click.user.team_id, team, click.channel.id)
        return Inbound(
            surface=SURFACE,
            event_id=f"click:{click.channel.id}:{own_id}",
            conversation=_conversation(team, click.channel.id, thread),
            message_id=MessageId(f"click:{own_id}"),
            person=person.id,
            name=person.name,
            audience=audience,
            body=Clicked(ChoiceId(action.value)),
            received=self._clock(),
            locale=person.locale,
            time_zone=person.time_zone,
            address=address | ({"response_url": click.response_url} if click.response_url else {}),
        )

    async def _person_and_audience(
        self, user: str, user_team: str | None, team: str, channel: str, *, is_external: bool = False
    ) -> tuple[Person, Audience]:
        """Ids of direct messages begin with D; group messages are channels like any other.

        Looked up side by side: Slack waits three seconds for its acknowledgement.
        """
        if channel.startswith("D"):
            person = await self._directory.person(user, user_team)
            return person, Private(person=person.id, guest=person.guest)
        with lone_error():
            async with asyncio.TaskGroup() as group:
                asking = group.create_task(self._directory.person(user, user_team))
                reading = group.create_task(self._outsiders(channel, is_external=is_external))
        subject = Subject(f"channel:slack:{team}:{channel}")
        return asking.result(), Shared(channel=subject, outsiders=reading.result())

    async def _outsiders(self, channel: str, *, is_external: bool) -> Outsiders:
        return Outsiders.SOME if is_external else await self._directory.outsiders(channel)


def plain(text: str, bot_user: str) -> str:
    """The words as a person reads them: our own mention gone, other entities by their labels, escapes undone."""
    words = _ENTITY.sub(lambda entity: _shown(entity, bot_user), text)
    words = words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return "\n".join(" ".join(line.split()) for line in words.split("\n")).strip()


def _shown(entity: re.Match[str], bot_user: str) -> str:
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


def _is_question(event: _Message, ours: AuthTest) -> bool:
    """A mention anywhere, or any word in a direct message; never a bot's."""
    if event.bot_id or event.user == ours.user_id or event.subtype not in _SUBTYPES_OF_PEOPLE:
        return False
    return event.type == "app_mention" or event.channel_type == "im"


def _team(ours: AuthTest, delivered: str | None) -> str:
    """The workspace that conversations and channels are named after: always the same one for one installation."""
    return (delivered or ours.team_id) if ours.is_enterprise_install else ours.team_id


def _conversation(team: str, channel: str, thread: str) -> ConversationId:
    return ConversationId(f"{SURFACE}:{team}:{channel}:{thread}")
