"""Uploads a file in pieces into an upload session of OneDrive
(https://learn.microsoft.com/graph/api/driveitem-createuploadsession).

Every piece but the last has a multiple of 320 KiB. After a cut, the session says which bytes it has. With the last byte
it ends: from then on it is not found, as if it had expired.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Final

import aiohttp
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from adapters.teams.files.errors import FileHostError, FileHostRefusal, FileHostUnreachable, UploadUnconfirmed
from adapters.teams.files.file_hosts import MAX_ATTEMPTS, FileHosts

PIECE_UNIT_BYTES: Final = 320 * 1024
PIECE_BYTES: Final = 16 * PIECE_UNIT_BYTES  # 5 MiB; a request may have 60 MiB
PIECE_TIMEOUT_S: Final = 45.0
_STATUS_TIMEOUT_S: Final = 15.0
_MAX_STATUS_BYTES: Final = 64 * 1024
_FINISHED_STATUSES: Final = (200, 201)
_ACCEPTED_STATUS: Final = 202
_RANGE_STATUS: Final = 416  # the session has these bytes already, or expects earlier ones
_GONE_STATUSES: Final = (404, 410)
_RANGE_PATTERN: Final = re.compile(r"(\d{1,15})(?:-\d*)?")

ReadPiece = Callable[[int, int], Awaitable[bytes]]
ReportProgress = Callable[[int], Awaitable[None]]


class SessionStatus(BaseModel):
    """The ranges that are missing, such as `["327680-"]`; none of a file that is complete."""

    model_config = ConfigDict(alias_generator=to_camel, frozen=True)

    next_expected_ranges: list[str] = []


class ResumableUpload:
    """`may_be_complete`: the last piece was sent, now or by an earlier process. A session that is gone then has it."""

    def __init__(self, hosts: FileHosts, url: str, *, may_be_complete: bool = False) -> None:
        self._hosts, self._url, self.may_be_complete = hosts, url, may_be_complete

    async def is_open(self) -> bool:
        """False where the session is gone. Raises `FileHostError`."""
        return await self._hosts.call_with_retries(self._ask_whether_open)

    async def upload_pieces(
        self, total_bytes: int, read_piece: ReadPiece, report_progress: ReportProgress, *, is_resumed: bool = False
    ) -> None:
        """`read_piece(start, byte_count)` reads a piece of the file; `report_progress(sent_bytes)` follows each piece.

        `total_bytes`: at least 1. `is_resumed`: an earlier process may have sent some pieces. Raises `FileHostError`
        and what `read_piece` raises.
        """
        start = await self._load_start(total_bytes) if is_resumed else 0
        attempt = 1
        while start < total_bytes:
            piece = await read_piece(start, min(PIECE_BYTES, total_bytes - start))
            if not piece:
                raise FileHostRefusal("the file has become shorter")
            try:
                next_start = await self._put_piece(start, piece, total_bytes)
            except FileHostUnreachable as exc:
                next_start = await self._recover_start(start, total_bytes, attempt, exc)
            attempt = 1 if next_start > start else attempt + 1
            if attempt > MAX_ATTEMPTS:
                raise FileHostRefusal("the session takes no piece")
            start = next_start
            await report_progress(start)

    async def cancel_session(self) -> None:
        """Discards what was sent. Failing to is not a failure: the session expires by itself."""
        try:
            async with self._hosts.open_response("DELETE", self._url, timeout_s=_STATUS_TIMEOUT_S):
                return
        except FileHostError:
            return

    async def _put_piece(self, start: int, piece: bytes, total_bytes: int) -> int:
        """Returns where the next piece starts. Raises `FileHostError`."""
        end, was_complete = start + len(piece), self.may_be_complete
        self.may_be_complete = was_complete or end == total_bytes
        headers = {
            "Content-Range": f"bytes {start}-{end - 1}/{total_bytes}",
            "Content-Type": "application/octet-stream",
        }
        async with self._hosts.open_response(
            "PUT", self._url, timeout_s=PIECE_TIMEOUT_S, headers=headers, data=piece
        ) as response:
            if response.status in _FINISHED_STATUSES or (was_complete and response.status in _GONE_STATUSES):
                return total_bytes
            if response.status == _ACCEPTED_STATUS:
                return await self._read_start(response, total_bytes)
        if response.status == _RANGE_STATUS:
            return await self._load_start(total_bytes)
        raise FileHostRefusal(f"status {response.status}", status=response.status)

    async def _recover_start(self, start: int, total_bytes: int, attempt: int, error: FileHostUnreachable) -> int:
        """Where to go on after a piece without an answer. After the last attempt, and where the host asks for too long
        a wait, only a file that may be complete is asked for.

        Raises `error` and `FileHostError`.
        """
        is_last_attempt = attempt >= MAX_ATTEMPTS
        if not is_last_attempt:
            try:
                await self._hosts.wait_before_retry(attempt, error)
            except FileHostUnreachable:
                is_last_attempt = True
        if is_last_attempt and not self.may_be_complete:
            raise error
        next_start = await self._load_start(total_bytes)
        if is_last_attempt and next_start <= start:
            raise error
        return next_start

    async def _load_start(self, total_bytes: int) -> int:
        """Where the session goes on. Raises `FileHostError`; a session that is gone too early is a refusal."""
        try:
            return await self._hosts.call_with_retries(lambda: self._find_start(total_bytes))
        except FileHostUnreachable as exc:
            if self.may_be_complete:
                raise UploadUnconfirmed(str(exc)) from exc
            raise

    async def _find_start(self, total_bytes: int) -> int:
        async with self._hosts.open_response("GET", self._url, timeout_s=_STATUS_TIMEOUT_S) as response:
            if self.may_be_complete and response.status in _GONE_STATUSES:
                return total_bytes
            if response.status != 200:
                raise FileHostRefusal(f"status {response.status}", status=response.status)
            return await self._read_start(response, total_bytes)

    async def _ask_whether_open(self) -> bool:
        async with self._hosts.open_response("GET", self._url, timeout_s=_STATUS_TIMEOUT_S) as response:
            return response.status not in _GONE_STATUSES

    async def _read_start(self, response: aiohttp.ClientResponse, total_bytes: int) -> int:
        body = await response.content.read(_MAX_STATUS_BYTES)
        try:
            ranges = SessionStatus.model_validate_json(body).next_expected_ranges
        except ValidationError as exc:
            raise FileHostRefusal("the answer makes no sense") from exc
        if not ranges and self.may_be_complete:
            return total_bytes
        found = _RANGE_PATTERN.fullmatch(ranges[0]) if ranges else None
        if found is None or int(found[1]) > total_bytes:
            raise FileHostRefusal("the answer names no range")
        return int(found[1])
