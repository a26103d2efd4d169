"""What Slack says has changed about people, channels and user groups: forgotten at once, asked anew when needed."""

from typing import Any

from pydantic import BaseModel

from adapters.slack.directory import Directory
from adapters.slack.workspaces import Workspaces, place_of


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

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    def listen(self, app: Any) -> None:
        for event in self.events:
            app.event(event)(self._on_change)

    async def _on_change(self, body: dict[str, Any]) -> None:
        workspace = await self._workspaces.of(place_of(body))
        if workspace is not None:
            _forget(workspace.directory, _Told.model_validate(body).event)


def _forget(directory: Directory, event: _Event) -> None:
    """Who comes or goes may be somebody new; who changed may be in any channel, where they are asked for by id."""
    if user := _id(event.user):
        directory.forget_person(user)
    if channel := _id(event.channel):
        directory.forget_channel(channel)
    if event.type.startswith("subteam_"):
        directory.forget_groups()


def _id(named: _User | _Channel | str | None) -> str | None:
    return named if isinstance(named, str) or named is None else named.id
