"""Notifies other processes that reply in Slack of changes, so that none uses stale data."""

from typing import Final

from bot.surface.surface import ChangeForwarder, DirectoryChange

APP_REMOVED: Final = "left"  # type of the change that the app was removed; its time is in `at`


class PeerProcesses:
    """Sends changes to the other processes; does nothing until a sender is set."""

    def __init__(self) -> None:
        self._send: ChangeForwarder | None = None

    def set_change_sender(self, send: ChangeForwarder) -> None:
        self._send = send

    async def notify_peer_processes(self, change: DirectoryChange) -> None:
        """Send a change. Waits a short time for the processes to apply it; one that does not is replaced."""
        if self._send is not None:
            await self._send(change)
