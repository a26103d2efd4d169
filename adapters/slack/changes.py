"""What Slack says has changed about people, channels and user groups: forgotten at once, asked anew when needed.

In every process that replies, before Slack is told that it was heard.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from adapters.slack.apart import Others
from adapters.slack.directory import Directory
from adapters.slack.workspaces import Workspaces, addressed, place_in, place_of


class _User(BaseModel):
    id: str


class _Channel(BaseModel):
    id: str


class _Event(BaseModel):
    """As much of each event as says what has changed."""

    type: str
    user: _User | str | None = None
    channel: _Channel | str | None = None


class _Told(BaseModel):
    event: _Event


class Changes:
    """Fulfils `adapters.slack.dispatch.Listener`."""

    events = (
        "channel_shared",
        "channel_unshared",
        "member_joined_channel",
        "member_left_channel",
        "subteam_members_changed",
        "subteam_updated",
        "user_change",
    )

    def __init__(self, workspaces: Workspaces, others: Others) -> None:
        self._workspaces, self._others = workspaces, others

    def listen(self, app: Any) -> None:
        for event in self.events:
            app.event(event)(self._on_change)

    async def _on_change(self, body: dict[str, Any]) -> None:
        event = _Told.model_validate(body).event
        named = {"type": event.type, "user": _id(event.user), "channel": _id(event.channel)}
        news = {**addressed(place_of(body)), **{key: value for key, value in named.items() if value}}
        await forget(self._workspaces, news)
        await self._others.tell(news)


async def forget(workspaces: Workspaces, news: Mapping[str, str]) -> None:
    """`type`, `user` and `channel` of an event, and where it happened."""
    workspace = await workspaces.of(place_in(news))
    if workspace is not None:
        _forget(workspace.directory, news)


def _forget(directory: Directory, news: Mapping[str, str]) -> None:
    """Who comes or goes may be somebody new; who changed may be in any channel, where they are asked for by id."""
    if user := news.get("user"):
        directory.forget_person(user)
    if channel := news.get("channel"):
        directory.forget_channel(channel)
    if news["type"].startswith("subteam_"):
        directory.forget_groups()


def _id(named: _User | _Channel | str | None) -> str | None:
    return named if isinstance(named, str) or named is None else named.id
