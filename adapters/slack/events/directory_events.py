"""Invalidates cached people, channels and user groups when Slack reports a change.

Every process that replies is notified before the event is acknowledged. The acknowledgement waits two seconds at most
for a process that does not confirm, since the change is in its pipe then; if it still does not, it is replaced.
"""

from collections.abc import Mapping
from typing import Any

from adapters.slack.events.peer_processes import PeerProcesses
from adapters.slack.payloads.deliveries import read_payload
from adapters.slack.payloads.events import DirectoryChangeDelivery
from adapters.slack.payloads.objects import id_of_reference
from adapters.slack.workspaces.workspace_directory import WorkspaceDirectory
from adapters.slack.workspaces.workspace_registry import (
    WorkspaceRegistry,
    address_fields_of,
    installation_key_in,
    installation_key_of,
)


class DirectoryChangeListener:
    """Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = (
        "channel_shared",
        "channel_unshared",
        "member_joined_channel",
        "member_left_channel",
        "subteam_members_changed",
        "subteam_updated",
        "user_change",
    )

    def __init__(self, workspaces: WorkspaceRegistry, peers: PeerProcesses) -> None:
        self._workspaces, self._peers = workspaces, peers

    def register_bolt_handlers(self, app: Any) -> None:
        for event in self.events:
            app.event(event)(self._on_directory_change)

    async def _on_directory_change(self, body: dict[str, Any]) -> None:
        event = read_payload(DirectoryChangeDelivery, body).event
        changed = {"type": event.type, "user": id_of_reference(event.user), "channel": id_of_reference(event.channel)}
        change = {
            **address_fields_of(installation_key_of(body)),
            **{key: value for key, value in changed.items() if value},
        }
        await forget_changed_entries(self._workspaces, change)
        await self._peers.notify_peer_processes(change)


async def forget_changed_entries(workspaces: WorkspaceRegistry, change: Mapping[str, str]) -> None:
    """Forget what an event has changed. `change`: the event's `type`, `user` and `channel`, and its installation."""
    workspace = await workspaces.workspace_for(installation_key_in(change))
    if workspace is not None:
        _forget_in_directory(workspace.directory, change)


def _forget_in_directory(directory: WorkspaceDirectory, change: Mapping[str, str]) -> None:
    """Invalidate the person and the channel named, since a new member may be unknown.

    Channels hold only ids of people, so a changed person does not invalidate channels.
    """
    if user := change.get("user"):
        directory.forget_person(user)
    if channel := change.get("channel"):
        directory.forget_channel(channel)
    if change["type"].startswith("subteam_"):
        directory.forget_groups()
