"""A workspace's state: people, channels, messages, files. The stand-in's methods change it; tests read it."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

_TICKS = itertools.count(1)  # of all workspaces: one database may outlive several of them
TEAM = "T0PARLEY"
BOT_USER, BOT_ID, APP = "U0PARLEY", "B0PARLEY", "A0PARLEY"


@dataclass(frozen=True, kw_only=True)
class User:
    id: str
    name: str
    team: str = TEAM
    enterprise: str | None = None
    locale: str = "en-US"
    time_zone: str = "Europe/Berlin"
    is_guest: bool = False
    is_stranger: bool = False
    deleted: bool = False


@dataclass(frozen=True, kw_only=True)
class OtherApp:
    """Of somebody else's. One of the old kind posts without a user."""

    id: str
    bot: str
    user: str | None = None


@dataclass(kw_only=True)
class Channel:
    """`kind`: channel (public), group (private), mpim or im."""

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
class Stream:
    """What a message that still grows has taken so far; `touched` is when."""

    mode: str
    touched: float
    text: str = ""
    plan: str = ""
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])  # by id
    blocks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@dataclass(kw_only=True)
class Message:
    ts: str
    channel: str
    user: str
    text: str
    blocks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    thread_ts: str | None = None
    metadata: dict[str, Any] | None = None
    files: list[str] = field(default_factory=list[str])  # ids
    edits: int = 0
    only_for: str | None = None  # an ephemeral message's reader
    stream: Stream | None = None  # while it grows
    tasks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])  # that a stream has told of

    def buttons(self) -> list[dict[str, Any]]:
        return _buttons(self.blocks)

    def elements(self) -> list[dict[str, Any]]:
        """Whatever can be clicked or chosen."""
        return [element for block in self.blocks for element in _elements(block)]

    def words(self) -> str:
        """All text of the blocks, as a person reads it."""
        return "".join(_words(self.blocks)) or self.text


@dataclass(kw_only=True)
class View:
    """A modal or a Home tab, as one person has it. `content` is what the app sent, with the ids that Slack adds.

    `state` is what stands in its fields, by block and action; `errors` what the app found wrong, by block.
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

    def title(self) -> str:
        return self.content["title"]["text"]

    def buttons(self) -> list[dict[str, Any]]:
        return _buttons(self.blocks)

    def elements(self) -> list[tuple[str, dict[str, Any]]]:
        """Whatever can be clicked, chosen or typed in, each with the id of its block."""
        return [(block["block_id"], element) for block in self.blocks for element in _elements(block)]

    def words(self) -> str:
        """All text of the blocks, as a person reads it."""
        return "".join(_words(self.blocks))


@dataclass(kw_only=True)
class StoredFile:
    """`user` is the person who uploaded it, `url` where it is read; the app's own have neither."""

    id: str
    name: str
    length: int
    title: str = ""
    content: bytes | None = None
    shared: bool = False
    user: str | None = None
    mimetype: str = "text/csv"
    url: str = ""
    moved: str = ""  # where its address sends those who may read it
    mode: str = "hosted"  # tombstone once deleted, external where Slack does not have it
    channels: list[str] = field(default_factory=list[str])

    def told(self) -> dict[str, Any]:
        """As messages and `files.info` tell it."""
        if self.mode == "tombstone":
            return {"id": self.id, "mode": "tombstone"}
        named = {"id": self.id, "name": self.name, "title": self.title or self.name, "mode": self.mode}
        kind = self.name.rpartition(".")[2]
        addresses = {"url_private": self.url, "url_private_download": f"{self.url}?download=1"} if self.url else {}
        addresses |= {"permalink": f"https://parley.slack.example/files/{self.user}/{self.id}"} if self.url else {}
        held = {"mimetype": self.mimetype, "filetype": kind, "size": self.length, "is_external": False}
        return {**named, **held, **addresses, "user": self.user}


@dataclass(kw_only=True)
class Usergroup:
    id: str
    handle: str
    name: str
    members: list[str] = field(default_factory=list[str])
    disabled: bool = False


@dataclass(frozen=True, kw_only=True)
class Doing:
    """What the app is shown to be doing in a thread."""

    status: str
    loading_messages: tuple[str, ...] = ()


@dataclass(kw_only=True)
class Session:
    """An agent's session in a thread."""

    status: str
    title: str = ""


@dataclass(kw_only=True)
class Workspace:
    team: str = TEAM
    name: str = "Parley"
    bot_user: str = BOT_USER
    users: dict[str, User] = field(default_factory=dict[str, User])
    channels: dict[str, Channel] = field(default_factory=dict[str, Channel])
    messages: list[Message] = field(default_factory=list[Message])
    files: dict[str, StoredFile] = field(default_factory=dict[str, StoredFile])
    statuses: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    enterprise: str | None = None
    groups: dict[str, Usergroup] = field(default_factory=dict[str, Usergroup])
    shown: dict[tuple[str, str], Doing] = field(default_factory=dict[tuple[str, str], Doing])  # by channel and thread
    prompts: dict[str, list[dict[str, str]]] = field(default_factory=dict[str, list[dict[str, str]]])  # by channel
    titles: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    sessions: dict[tuple[str, str], Session] = field(default_factory=dict[tuple[str, str], Session])
    homes: dict[str, View] = field(default_factory=dict[str, View])  # by user
    modals: dict[str, list[View]] = field(default_factory=dict[str, list[View]])  # by user, the topmost last

    def add_user(self, user: User) -> User:
        self.users[user.id] = user
        return user

    def add_channel(self, channel: Channel) -> Channel:
        self.channels[channel.id] = channel
        return channel

    def add_group(self, group: Usergroup) -> Usergroup:
        self.groups[group.id] = group
        return group

    def bot(self) -> User:
        return User(id=self.bot_user, name="parley", team=self.team, enterprise=self.enterprise)

    def direct(self, user: str) -> Channel:
        """The direct messages of the bot and the user."""
        known = (one for one in self.channels.values() if one.kind == "im" and user in one.members)
        return next(known, None) or self.add_channel(
            Channel(id=f"D{user.removeprefix('U')}", kind="im", members=[user, self.bot_user])
        )

    def next_ts(self) -> str:
        return f"1790000000.{next(_TICKS):06d}"

    def message(self, channel: str, ts: str) -> Message | None:
        return next((one for one in self.messages if (one.channel, one.ts) == (channel, ts)), None)

    def thread(self, channel: str, root: str) -> list[Message]:
        return [one for one in self.messages if one.channel == channel and root in {one.ts, one.thread_ts}]

    def view(self, view_id: str | None = None, external_id: str | None = None) -> View | None:
        """One that is published or open."""
        views = [*self.homes.values(), *(one for stack in self.modals.values() for one in stack)]
        named = (one for one in views if view_id == one.id or (external_id and external_id == one.external_id))
        return next(named, None)

    def answers(self, channel: str | None = None) -> list[Message]:
        """What the bot has posted, in order."""
        return [one for one in self.messages if one.user == self.bot_user and channel in {None, one.channel}]


def _buttons(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [element for block in blocks for element in _elements(block) if element["type"] == "button"]


def _elements(block: dict[str, Any]) -> list[dict[str, Any]]:
    """Those with an action: of `actions`, of `input`, beside a section."""
    if block["type"] in {"actions", "context_actions"}:
        return block["elements"]
    named = (block.get(name) for name in ("element", "accessory"))
    return [element for element in named if element is not None and element["type"] != "image"]


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        members = cast(dict[str, Any], value)
        if isinstance(members.get("text"), str):
            yield members["text"]
        for member in members.values():
            yield from _words(member)
    elif isinstance(value, list):
        for item in cast(list[Any], value):
            yield from _words(item)
