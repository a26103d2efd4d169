"""The state of a workspace: people, channels, messages and files. The stand-in changes it, and tests read it."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

_TICKS = itertools.count(1)  # shared by all workspaces, because one database may outlive several of them
TEAM = "T0PARLEY"
BOT_USER, BOT_ID, APP = "U0PARLEY", "B0PARLEY", "A0PARLEY"


@dataclass(frozen=True, kw_only=True)
class SlackMember:
    id: str
    name: str
    team: str = TEAM
    enterprise: str | None = None
    locale: str = "en-US"
    time_zone: str = "Europe/Berlin"
    email: str = ""
    has_confirmed_email: bool = True
    is_guest: bool = False
    is_stranger: bool = False
    deleted: bool = False


@dataclass(frozen=True, kw_only=True)
class OtherApp:
    """Another app. An app of the old kind posts without a user."""

    id: str
    bot: str
    user: str | None = None


@dataclass(kw_only=True)
class SlackChannel:
    """A conversation. `kind`: channel (public), group (private), mpim or im."""

    id: str
    kind: str = "channel"
    members: list[str] = field(default_factory=list[str])
    is_ext_shared: bool = False
    is_pending_ext_shared: bool = False  # offered to another organisation, which has not accepted yet
    is_archived: bool = False

    @property
    def name(self) -> str:
        return self.id.lower()


@dataclass(kw_only=True)
class MessageStream:
    """The contents of a growing message so far. `touched_at_s`: the time of the last change."""

    mode: str
    touched_at_s: float
    text: str = ""
    plan: str = ""
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])  # by id
    blocks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@dataclass(kw_only=True)
class SlackMessage:
    ts: str
    channel: str
    user: str
    text: str
    blocks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    thread_ts: str | None = None
    metadata: dict[str, Any] | None = None
    files: list[str] = field(default_factory=list[str])  # ids
    edits: int = 0
    visible_to: str | None = None  # an ephemeral message's reader
    stream: MessageStream | None = None  # while it grows
    tasks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])  # the tasks of its stream

    def block_buttons(self) -> list[dict[str, Any]]:
        return _buttons_in(self.blocks)

    def block_elements(self) -> list[dict[str, Any]]:
        """Returns all elements that can be clicked or chosen."""
        return [element for block in self.blocks for element in _elements_of(block)]

    def visible_text(self) -> str:
        """Returns all text of the blocks, as a person reads it."""
        return "".join(_texts_in(self.blocks)) or self.text


@dataclass(kw_only=True)
class SlackView:
    """A modal or a Home tab of one person. `content`: the app's view, with the ids that Slack adds.

    `state`: the values of its fields, by block and action. `errors`: the app's errors, by block.
    """

    id: str
    user: str
    content: dict[str, Any]
    hash: str
    root: str
    previous: str | None = None
    state: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    errors: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def is_home(self) -> bool:
        return self.content["type"] == "home"

    @property
    def blocks(self) -> list[dict[str, Any]]:
        return self.content["blocks"]

    @property
    def callback_id(self) -> str:
        return self.content.get("callback_id", "")

    @property
    def external_id(self) -> str:
        return self.content.get("external_id", "")

    def title_text(self) -> str:
        return self.content["title"]["text"]

    def block_buttons(self) -> list[dict[str, Any]]:
        return _buttons_in(self.blocks)

    def interactive_elements(self) -> list[tuple[str, dict[str, Any]]]:
        """Returns all interactive elements, each with the id of its block."""
        return [(block["block_id"], element) for block in self.blocks for element in _elements_of(block)]

    def visible_text(self) -> str:
        """Returns all text of the blocks, as a person reads it."""
        return "".join(_texts_in(self.blocks))


@dataclass(kw_only=True)
class StoredFile:
    """A file. `user`: the person who uploaded it. `url`: its address. The app's own files have neither."""

    id: str
    name: str
    length: int
    title: str = ""
    alternative_text: str = ""
    content: bytes | None = None
    shared: bool = False
    user: str | None = None
    mimetype: str = "text/csv"
    url: str = ""
    redirect_url: str = ""  # the redirect target of its address, if any
    mode: str = "hosted"  # tombstone once deleted, external where Slack does not have it
    channels: list[str] = field(default_factory=list[str])

    def describe_file(self) -> dict[str, Any]:
        """Describe the file as messages and `files.info` do."""
        if self.mode == "tombstone":
            return {"id": self.id, "mode": "tombstone"}
        name_fields = {"id": self.id, "name": self.name, "title": self.title or self.name, "mode": self.mode}
        file_type = self.name.rpartition(".")[2]
        addresses = {"url_private": self.url, "url_private_download": f"{self.url}?download=1"} if self.url else {}
        addresses |= {"permalink": f"https://parley.slack.example/files/{self.user}/{self.id}"} if self.url else {}
        content_fields = {"mimetype": self.mimetype, "filetype": file_type, "size": self.length, "is_external": False}
        return {**name_fields, **content_fields, **addresses, "user": self.user}


@dataclass(kw_only=True)
class SlackUsergroup:
    id: str
    handle: str
    name: str
    members: list[str] = field(default_factory=list[str])
    disabled: bool = False


@dataclass(frozen=True, kw_only=True)
class ThreadStatusLine:
    """The status line of a thread."""

    status: str
    loading_messages: tuple[str, ...] = ()


@dataclass(kw_only=True)
class AgentSession:
    """An agent's session in a thread."""

    status: str
    title: str = ""


@dataclass(kw_only=True)
class StandInWorkspace:
    team: str = TEAM
    name: str = "Parley"
    bot_user: str = BOT_USER
    users: dict[str, SlackMember] = field(default_factory=dict[str, SlackMember])
    channels: dict[str, SlackChannel] = field(default_factory=dict[str, SlackChannel])
    messages: list[SlackMessage] = field(default_factory=list[SlackMessage])
    files: dict[str, StoredFile] = field(default_factory=dict[str, StoredFile])
    statuses: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    enterprise: str | None = None
    groups: dict[str, SlackUsergroup] = field(default_factory=dict[str, SlackUsergroup])
    status_lines: dict[tuple[str, str], ThreadStatusLine] = field(
        default_factory=dict[tuple[str, str], ThreadStatusLine]
    )  # by channel and thread
    prompts: dict[str, list[dict[str, str]]] = field(default_factory=dict[str, list[dict[str, str]]])  # by channel
    titles: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    sessions: dict[tuple[str, str], AgentSession] = field(default_factory=dict[tuple[str, str], AgentSession])
    homes: dict[str, SlackView] = field(default_factory=dict[str, SlackView])  # by user
    modals: dict[str, list[SlackView]] = field(default_factory=dict[str, list[SlackView]])  # by user, the topmost last

    def add_user(self, user: SlackMember) -> SlackMember:
        self.users[user.id] = user
        return user

    def add_channel(self, channel: SlackChannel) -> SlackChannel:
        self.channels[channel.id] = channel
        return channel

    def add_group(self, group: SlackUsergroup) -> SlackUsergroup:
        self.groups[group.id] = group
        return group

    def bot_member(self) -> SlackMember:
        return SlackMember(id=self.bot_user, name="parley", team=self.team, enterprise=self.enterprise)

    def direct_channel_of(self, user: str) -> SlackChannel:
        """Returns the direct message channel of the bot and the user, and creates it if needed."""
        existing = (channel for channel in self.channels.values() if channel.kind == "im" and user in channel.members)
        return next(existing, None) or self.add_channel(
            SlackChannel(id=f"D{user.removeprefix('U')}", kind="im", members=[user, self.bot_user])
        )

    def next_ts(self) -> str:
        return f"1790000000.{next(_TICKS):06d}"

    def find_message(self, channel: str, ts: str) -> SlackMessage | None:
        return next((message for message in self.messages if (message.channel, message.ts) == (channel, ts)), None)

    def messages_of_thread(self, channel: str, root: str) -> list[SlackMessage]:
        return [
            message
            for message in self.messages
            if message.channel == channel and root in {message.ts, message.thread_ts}
        ]

    def find_view(self, view_id: str | None = None, external_id: str | None = None) -> SlackView | None:
        """Find a published or open view."""
        views = [*self.homes.values(), *(view for stack in self.modals.values() for view in stack)]
        matching = (view for view in views if view_id == view.id or (external_id and external_id == view.external_id))
        return next(matching, None)

    def bot_messages(self, channel: str | None = None) -> list[SlackMessage]:
        """Returns the messages of the bot, in order."""
        return [
            message for message in self.messages if message.user == self.bot_user and channel in {None, message.channel}
        ]


def _buttons_in(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [element for block in blocks for element in _elements_of(block) if element["type"] == "button"]


def _elements_of(block: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the interactive elements of a block: of `actions`, of `input`, or the accessory of a section."""
    if block["type"] in {"actions", "context_actions"}:
        return block["elements"]
    candidates = (block.get(name) for name in ("element", "accessory"))
    return [element for element in candidates if element is not None and element["type"] != "image"]


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        members = cast(dict[str, Any], value)
        if isinstance(members.get("text"), str):
            yield members["text"]
        for member in members.values():
            yield from _texts_in(member)
    elif isinstance(value, list):
        for item in cast(list[Any], value):
            yield from _texts_in(item)
