"""Invalidates cached members when Teams reports a change, in every process that replies."""

from collections.abc import Callable
from typing import Final

from adapters.teams.events.received_activity import ReceivedActivity
from bot.surface.surface import ChangeForwarder, DirectoryChange

_CHANGE_TYPES: Final = ("conversationUpdate", "installationUpdate")
_ANY_CHANGE: Final = {"type": "members"}  # Teams does not say which of a team's conversations a change is in


class DirectoryChangeForwarding:
    """Sends changes to the other processes; does nothing until a forwarder is set."""

    def __init__(self) -> None:
        self._forward: ChangeForwarder | None = None

    def set_forwarder(self, forward: ChangeForwarder) -> None:
        self._forward = forward

    async def forward_change(self, change: DirectoryChange) -> None:
        """Waits a short time for the processes to apply it; one that does not is replaced."""
        if self._forward is not None:
            await self._forward(change)


class MemberChangeListener:
    """Fulfils `adapters.teams.events.listeners.ActivityListener`."""

    def __init__(self, forget_members: Callable[[], None], forwarding: DirectoryChangeForwarding) -> None:
        self._forget_members, self._forwarding = forget_members, forwarding

    async def handle_activity(self, received: ReceivedActivity) -> bool:
        if received.activity.type not in _CHANGE_TYPES:
            return False
        self._forget_members()
        await self._forwarding.forward_change(_ANY_CHANGE)
        return True
