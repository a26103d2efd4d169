"""What Slack delivers, as an `Inbound`: mentions, direct messages, clicks. What Parley has no answer to is None.

Made of what the delivery says, so that it can be stored and acknowledged at once; people and channels are looked up
when the turn runs (`adapters.slack.people`).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel, Field

from adapters.slack.api import SlackApi
from adapters.slack.attachments import SlackFile, attached
from adapters.slack.directory import AuthTest, Directory
from adapters.slack.workspaces import Place, Workspaces, addressed, place_of, team_in
from bot.attachments import sorted_out
from bot.ids import ChoiceId, ConversationId, MessageId, PersonId, Subject
from bot.inbound import Audience, Clicked, Inbound, Outsiders, Private, Said, Shared

SURFACE: Final = "slack"

# A message's subtype says that it is no new question, but for these: words with a file, and words from a thread that
# were shown in the channel as well.
_SUBTYPES_OF_PEOPLE: Final = {None, "file_share", "thread_broadcast"}

_CHANNELS: Final = {"channel", "group"}
_MENTION = re.compile(r"<(?:@|!subteam\^|!here|!channel|!everyone)")
_ENTITY = re.compile(r"<(?P<kind>[@#!]?)(?P<target>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")


class _BotProfile(BaseModel):
    id: str | None = None
    app_id: str | None = None


class _Message(BaseModel):
    """An `app_mention` or `message` event. A bot's may have no user, and tells its ids in several places."""

    type: str
    channel: str
    ts: str
    user: str | None = None
    text: str = ""
    thread_ts: str | None = None
    channel_type: str | None = None
    subtype: str | None = None
    bot_id: str | None = None
    app_id: str | None = None
    bot_profile: _BotProfile | None = None
    user_team: str | None = None
    team: str | None = None
    files: list[SlackFile] = []

    @property
    def ids(self) -> frozenset[str]:
        """Of the bot that it is of, and of that bot's app."""
        profile = self.bot_profile or _BotProfile()
        return frozenset(one for one in (self.bot_id, self.app_id, profile.id, profile.app_id) if one)


class _Delivery(BaseModel):
    """The envelope of an event."""

    event_id: str
    event: _Message
    api_app_id: str | None = None
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
    response_url: str | None = None


class Reader:
    """Reads deliveries. Only on an Enterprise Grid is Slack asked anything: whose person somebody is.

    Raises `SlackFailed` for our own ids.
    """

    def __init__(self, workspaces: Workspaces, clock: Callable[[], datetime], bots: Iterable[str] = ()) -> None:
        """`bots`: ids of apps and bots that may ask."""
        self._workspaces, self._clock, self._bots = workspaces, clock, frozenset(bots)

    async def message(self, body: Mapping[str, Any]) -> Inbound | None:
        """A mention, or a message to the bot alone. None for all others, our own words and those of bots included that
        may not ask.
        """
        return await self._said(body, self._is_question)

    def _is_question(self, event: _Message, ours: AuthTest, app: str | None) -> bool:
        """A mention anywhere, or any word in a direct message."""
        is_meant = event.type == "app_mention" or event.channel_type == "im"
        return is_meant and (_is_of_a_person(event, ours) or self._is_of_bot(event, ours, app))

    def _is_of_bot(self, event: _Message, ours: AuthTest, app: str | None) -> bool:
        """A mention in a channel, of a bot that may ask; never our own."""
        own = {ours.bot_id, app} - {None}
        if not event.bot_id or event.user == ours.user_id or not own.isdisjoint(event.ids):
            return False
        is_mention = event.type == "app_mention" and mentions(event.text, ours.user_id)
        return is_mention and not event.channel.startswith("D") and not self._bots.isdisjoint(event.ids)

    async def in_thread(self, body: Mapping[str, Any]) -> Inbound | None:
        """Said in the thread of a channel, to nobody by name. None for all others."""
        return await self._said(body, _is_to_nobody)

    async def _said(
        self, body: Mapping[str, Any], counts: "Callable[[_Message, AuthTest, str | None], bool]"
    ) -> Inbound | None:
        here = await self.here(body)
        delivery = _Delivery.model_validate(body)
        event = delivery.event
        user = event.user or event.bot_id
        if here is None or user is None or not counts(event, here.ours, delivery.api_app_id):
            return None
        thread = event.thread_ts or event.ts
        person = await here.directory.person_id(user, event.user_team or event.team)
        files, unread = sorted_out(attached(event.files))
        return Inbound(
            surface=SURFACE,
            event_id=delivery.event_id,
            conversation=conversation_of(here.team, event.channel, thread),
            message_id=MessageId(event.ts),
            person=person,
            name=user,
            audience=here.audience(event.channel, person, is_external=delivery.is_ext_shared_channel),
            body=Said(plain(event.text, here.ours.user_id)),
            received=self._clock(),
            address={**addressed(here.place), "channel": event.channel, "thread_ts": thread, "ts": event.ts},
            files=files,
            unread=unread,
            automatic=bool(event.bot_id),
        )

    async def click(self, body: Mapping[str, Any]) -> Inbound | None:
        """A button of ours. The click is the clicker's own turn, in the thread of the message."""
        here = await self.here(body)
        if here is None:
            return None
        click = _Click.model_validate(body)
        action, message_ts = click.actions[0], click.container.message_ts
        thread = click.container.thread_ts or message_ts
        own_id = f"{message_ts}:{action.action_ts}:{click.user.id}"
        address = {**addressed(here.place), "channel": click.channel.id, "thread_ts": thread, "ts": message_ts}
        person = await here.directory.person_id(click.user.id, click.user.team_id)
        return Inbound(
            surface=SURFACE,
            event_id=f"click:{click.channel.id}:{own_id}",
            conversation=conversation_of(here.team, click.channel.id, thread),
            message_id=MessageId(f"click:{own_id}"),
            person=person,
            name=click.user.id,
            audience=here.audience(click.channel.id, person),
            body=Clicked(ChoiceId(action.value)),
            received=self._clock(),
            address=address | ({"response_url": click.response_url} if click.response_url else {}),
        )

    async def here(self, body: Mapping[str, Any]) -> "Here | None":
        """None for an installation that is no longer ours."""
        place = place_of(body)
        workspace = await self._workspaces.of(place)
        if workspace is None:
            return None
        ours = await workspace.directory.installation()
        return Here(place=place, api=workspace.api, directory=workspace.directory, ours=ours)


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """The installation that a delivery is for."""

    place: Place
    api: SlackApi
    directory: Directory
    ours: AuthTest

    @property
    def team(self) -> str:
        return team_in(self.place, self.ours)

    def audience(self, channel: str, person: PersonId, *, is_external: bool = False) -> Audience:
        """By ids alone, closed until the directory is asked. Ids of direct messages begin with D; group messages are
        channels like any other.
        """
        if channel.startswith("D"):
            return Private(person=person, guest=True)
        outsiders = Outsiders.SOME if is_external else Outsiders.UNKNOWN
        return Shared(channel=Subject(f"channel:slack:{self.team}:{channel}"), outsiders=outsiders)


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


def _is_to_nobody(event: _Message, ours: AuthTest, _: str | None) -> bool:
    """Whoever is mentioned is who is meant; where it is Parley, the same message comes as a mention as well."""
    if event.type != "message" or event.thread_ts in {None, event.ts} or event.channel_type not in _CHANNELS:
        return False
    return _is_of_a_person(event, ours) and is_to_nobody(event.text)


def is_to_nobody(text: str) -> bool:
    """Words that name nobody."""
    return bool(text.strip()) and not _MENTION.search(text)


def mentions(text: str, user: str) -> bool:
    return any(entity["kind"] == "@" and entity["target"] == user for entity in _ENTITY.finditer(text))


def _is_of_a_person(event: _Message, ours: AuthTest) -> bool:
    return (
        event.user is not None
        and not event.bot_id
        and event.user != ours.user_id
        and event.subtype in _SUBTYPES_OF_PEOPLE
    )


def conversation_of(team: str, channel: str, thread: str) -> ConversationId:
    return ConversationId(f"{SURFACE}:{team}:{channel}:{thread}")
