"""Slack in a worker process, which posts replies but receives no deliveries.

Fulfils `bot.surface.surface.WorkerSupport`.
"""

from datetime import datetime

from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError
from adapters.slack.events.directory_events import forget_changed_entries
from adapters.slack.events.peer_processes import APP_REMOVED, PeerProcesses
from adapters.slack.workspaces.workspace_registry import WorkspaceRegistry, installation_key_in
from bot.surface.surface import ChangeForwarder, DirectoryChange


class ReplyOnlySlack:
    def __init__(self, workspaces: WorkspaceRegistry, peers: PeerProcesses, log: FilteringBoundLogger) -> None:
        self._workspaces, self._peers, self._log = workspaces, peers, log

    async def start(self) -> None:
        """Raises `InvalidSettings` when Slack refuses a token; retries later when Slack is down."""
        try:
            await self._workspaces.start()
        except SlackError as exc:
            self._log.warning("slack unreachable at start", reason=str(exc))

    def forward_changes_to(self, forwarder: ChangeForwarder) -> None:
        self._peers.set_change_sender(forwarder)

    async def apply_change(self, change: DirectoryChange) -> None:
        try:
            if change["type"] == APP_REMOVED:
                await self._workspaces.remove_installation(
                    installation_key_in(change), datetime.fromisoformat(change["at"])
                )
            else:
                await forget_changed_entries(self._workspaces, change)
        except SlackError as exc:  # without the bot's own identity nothing is cached yet
            self._log.info("slack change not applied", reason=type(exc).__name__)
