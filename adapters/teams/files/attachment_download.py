"""Files that people attach in personal chats. Fulfils `bot.surface.attachments.AttachmentSource`.

Teams gives an address from which the content can be fetched for some minutes without a token
(https://learn.microsoft.com/microsoftteams/platform/bots/how-to/bots-filesv4). It is sealed in the inbound's address,
because the inbound is stored and the address is a secret. In group chats and channels, Teams gives bots no files.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import aiohttp
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from adapters.teams.files.errors import FileHostError, FileHostRefusal
from adapters.teams.files.file_hosts import FileHosts
from adapters.teams.payloads.activities import ActivityAttachment
from bot.public_network import is_secure_url
from bot.surface.attachments import (
    DescribedFile,
    FileUnavailable,
    file_kind_of,
    reason_for_expired_link,
    reason_for_large_file,
    reason_for_missing_content,
    reason_for_unreachable_host,
)
from bot.surface.inbound import AttachedFile, Inbound
from bot.surface.secret_sealing import SecretSeal

FILE_CONTENT_TYPE: Final = "application/vnd.microsoft.teams.file.download.info"
_PRODUCT: Final = "Teams"
_PICTURE_PREFIX: Final = "image/"  # pasted into a message; no kind of file that Parley reads
_LOCATION_PREFIX: Final = "file:"  # of the keys of sealed locations in an inbound's address
_EXPIRED_STATUSES: Final = frozenset({401, 403, 404, 410})
_NO_HEADER_STATUS: Final = 405  # of a host that sends no header without its content
_DOWNLOAD_TIMEOUT_S: Final = 40.0
_CHUNK_BYTES: Final = 1 << 20


class FileDownloadInfo(BaseModel):
    """The content of an attachment of the type `FILE_CONTENT_TYPE`."""

    model_config = ConfigDict(alias_generator=to_camel, frozen=True)

    download_url: str = ""
    unique_id: str = ""
    file_type: str = ""


def attached_files_of(attachments: Iterable[ActivityAttachment]) -> tuple[AttachedFile, ...]:
    """The files and pictures of a message. Their links open only for people who may see the file."""
    files = [_describe_attachment(attachment) for attachment in attachments if _is_file(attachment)]
    return tuple({file.id: file for file in files}.values())


def sealed_locations_of(attachments: Iterable[ActivityAttachment], seal: SecretSeal) -> dict[str, str]:
    """What `TeamsFiles` needs to fetch the files: to be added to the inbound's address. `seal` is of the key ring of
    `PARLEY_SECRET_KEY`.
    """
    return {
        _location_key(_file_id_of(attachment)): seal.seal_secret(url)
        for attachment in attachments
        if _is_file(attachment) and (url := _download_info_of(attachment).download_url)
    }


class TeamsFiles:
    def __init__(self, hosts: FileHosts, seal: SecretSeal) -> None:
        self._hosts, self._seal = hosts, seal

    async def describe_file(self, inbound: Inbound, file: AttachedFile) -> DescribedFile:
        sealed = inbound.address.get(_location_key(file.id))
        location = None if sealed is None else self._seal.open_secret(sealed)
        if location is None:
            raise FileUnavailable(reason_for_missing_content(), name=file.name)
        with_kind = replace(file, kind=file.kind or file_kind_of(file.name))
        size = await self._measure_content(DescribedFile(file=with_kind, location=location))
        return DescribedFile(file=replace(with_kind, size=size), location=location)

    async def fetch_file(self, inbound: Inbound, file: DescribedFile, destination: Path, *, max_bytes: int) -> None:
        async def download() -> None:
            async with self._open_content(file) as response:
                await _save_content(response, destination, max_bytes, file.file.name)

        with _translate_host_errors(file.file.name):
            await self._hosts.call_with_retries(download)

    async def _measure_content(self, file: DescribedFile) -> int | None:
        """The number of bytes; None where the host does not say. Raises `FileUnavailable` where the content can no
        longer be fetched.
        """

        async def measure() -> int | None:
            try:
                async with self._open_content(file, is_header_only=True) as response:
                    is_packed = "Content-Encoding" in response.headers
                    return None if is_packed else response.content_length
            except FileHostRefusal as exc:
                if exc.status == _NO_HEADER_STATUS:
                    return None
                raise

        with _translate_host_errors(file.file.name):
            return await self._hosts.call_with_retries(measure)

    @asynccontextmanager
    async def _open_content(
        self, file: DescribedFile, *, is_header_only: bool = False
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Raises `FileHostError`. A page in place of the content is a login page."""
        async with self._hosts.open_download(
            file.location, timeout_s=_DOWNLOAD_TIMEOUT_S, is_header_only=is_header_only
        ) as response:
            if response.content_type == "text/html" and not (file.file.kind == "html" and _is_download(response)):
                raise FileHostRefusal("a page in place of the content", status=403)
            yield response


@contextmanager
def _translate_host_errors(name: str) -> Generator[None]:
    """Raises `FileUnavailable` for a `FileHostError`."""
    try:
        yield
    except FileHostRefusal as exc:
        reason = reason_for_expired_link() if exc.status in _EXPIRED_STATUSES else reason_for_missing_content()
        raise FileUnavailable(reason, name=name) from exc
    except FileHostError as exc:
        raise FileUnavailable(reason_for_unreachable_host(_PRODUCT), name=name) from exc


async def _save_content(response: aiohttp.ClientResponse, destination: Path, max_bytes: int, name: str) -> None:
    """Raises `FileUnavailable` for content over `max_bytes`, and `OSError`."""
    if (response.content_length or 0) > max_bytes:
        raise FileUnavailable(reason_for_large_file(), name=name)
    file, size = await asyncio.to_thread(destination.open, "wb"), 0
    try:
        async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
            size += len(chunk)
            if size > max_bytes:
                raise FileUnavailable(reason_for_large_file(), name=name)
            await asyncio.to_thread(file.write, chunk)
    finally:
        await asyncio.to_thread(file.close)


def _is_download(response: aiohttp.ClientResponse) -> bool:
    disposition = response.content_disposition
    return disposition is not None and disposition.type == "attachment"


def _is_file(attachment: ActivityAttachment) -> bool:
    return attachment.content_type == FILE_CONTENT_TYPE or attachment.content_type.startswith(_PICTURE_PREFIX)


def _describe_attachment(attachment: ActivityAttachment) -> AttachedFile:
    is_picture = attachment.content_type.startswith(_PICTURE_PREFIX)
    media_kind = attachment.content_type.removeprefix(_PICTURE_PREFIX) if is_picture else ""
    name, file_type = attachment.name, _download_info_of(attachment).file_type
    return AttachedFile(
        id=_file_id_of(attachment),
        name=name,
        kind=file_kind_of(name) or file_kind_of(f".{file_type}") or media_kind,
        link=attachment.content_url if not is_picture and is_secure_url(attachment.content_url) else None,
    )


def _file_id_of(attachment: ActivityAttachment) -> str:
    """Stays the same when the message is edited; the download address does not."""
    unique_id = _download_info_of(attachment).unique_id
    identity = unique_id or f"{attachment.content_url}\n{attachment.name}"
    return hashlib.sha256(identity.encode(errors="replace")).hexdigest()[:32]


def _download_info_of(attachment: ActivityAttachment) -> FileDownloadInfo:
    """Empty where the content is none."""
    try:
        return FileDownloadInfo.model_validate(attachment.content)
    except ValidationError:
        return FileDownloadInfo()


def _location_key(file_id: str) -> str:
    return f"{_LOCATION_PREFIX}{file_id}"
