"""What the database knows of an accepted file: where it goes, and how far its upload is.

A process that takes the upload over cannot see from the session alone whether a file is complete, because a session
that has ended is not found, and neither is one that has expired.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from pydantic import BaseModel, ConfigDict

from adapters.teams.payloads.file_consent import UploadInfo
from bot.conversation.file_offers import FileOffers, FileUpload

SESSION_LIFETIME: Final = timedelta(minutes=10)  # no session expires sooner after its last piece


class FileDestination(BaseModel):
    """Where a file goes, and where its offer is shown. Stored sealed with the offer."""

    model_config = ConfigDict(frozen=True)

    service_url: str  # of the person's answer; the newest one known is used
    tenant: str = ""  # empty in what an earlier version has stored
    conversation: str
    upload: UploadInfo
    last_piece_at: datetime | None = None  # when the last piece was about to be sent
    is_sent: bool = False  # the host has confirmed the whole file


class UploadRecord:
    """Each `note_` method raises `UploadLost`."""

    def __init__(
        self, offers: FileOffers, upload: FileUpload, destination: FileDestination, now: Callable[[], datetime]
    ) -> None:
        self._offers, self._now = offers, now
        self.upload, self.destination = upload, destination

    @property
    def may_be_complete(self) -> bool:
        """Whether the last piece may have arrived."""
        return self.destination.last_piece_at is not None

    @property
    def is_recent(self) -> bool:
        """Whether a session that is gone has not expired since its last piece, so that it has ended with it."""
        last_piece_at = self.destination.last_piece_at
        return last_piece_at is not None and self._now() - last_piece_at < SESSION_LIFETIME

    async def note_last_piece(self) -> None:
        """The last piece is sent next."""
        await self._save(self.destination.model_copy(update={"last_piece_at": self._now()}))

    async def note_sent(self) -> None:
        """The host has the whole file."""
        await self._save(self.destination.model_copy(update={"is_sent": True}))

    async def note_discarded(self) -> None:
        """The session is discarded next, so that it is not found although the file is not complete."""
        if self.may_be_complete:
            await self._save(self.destination.model_copy(update={"last_piece_at": None}))

    async def _save(self, destination: FileDestination) -> None:
        await self._offers.note_destination(self.upload, destination.model_dump_json())
        self.destination = destination
