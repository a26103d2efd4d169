"""The web chat in a worker process: it writes replies to the transcript, whose files all processes share.

Fulfils `bot.surface.surface.WorkerSupport`.
"""

from bot.surface.surface import ChangeForwarder, DirectoryChange


class ReplyOnlyWeb:
    """There is nothing to open, and no directory that could change."""

    async def start(self) -> None:
        """Do nothing."""

    def forward_changes_to(self, forwarder: ChangeForwarder) -> None:
        """Do nothing."""

    async def apply_change(self, change: DirectoryChange) -> None:
        """Do nothing."""
