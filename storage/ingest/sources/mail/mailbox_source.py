"""A folder of a mail server as a source: each mail is an item, and a mail that is there never changes."""

import asyncio
import hashlib
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote

from pydantic import SecretStr

from storage.ingest.errors import ListingFailed, SourceUnavailable
from storage.ingest.sources.mail.mail_connection import (
    ListedMail,
    MailAddress,
    MailConnection,
    MailLost,
    MailRefused,
)
from storage.ingest.sources.source import (
    FetchedItem,
    FetchFailure,
    FetchResult,
    SourceItem,
    UnchangedItem,
    UnsupportedItem,
    VanishedItem,
)

_MAX_MAILS: Final = 200_000
_MAX_MAIL_BYTES: Final = 50 * 1024 * 1024
_COMMAND_TIMEOUT_S: Final = 120.0
_MAX_TRIES: Final = 4
_FIRST_PAUSE_S: Final = 1.0  # doubled for each further try
Result = TypeVar("Result")


@asynccontextmanager
async def open_mailbox(
    address: MailAddress,
    password: SecretStr,
    *,
    allow_private: bool = False,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> "AsyncGenerator[MailboxSource]":
    """Opens the folder with a connection of its own, which is closed at the end of the block.

    Raises `SourceUnavailable`.
    """
    mailbox = MailboxSource(address, password, allow_private=allow_private, sleep=sleep)
    try:
        try:
            await mailbox.connect()
        except (MailRefused, MailLost) as exc:
            raise SourceUnavailable(exc.reason) from exc
        yield mailbox
    finally:
        await asyncio.to_thread(mailbox.close)


class MailboxSource:
    """The mails of a folder that are not marked as deleted.

    The id of an item is the UID of the mail. Its version is UIDVALIDITY with the UID: within one UIDVALIDITY, a UID
    stands for the same mail forever (RFC 3501, section 2.3.1.1). When a server gives the folder another UIDVALIDITY,
    all mails are fetched again. The cursor is the digest of the mail, so that then only the UIDs that stand for another
    mail are loaded.
    """

    def __init__(
        self,
        address: MailAddress,
        password: SecretStr,
        *,
        allow_private: bool,
        sleep: Callable[[float], Awaitable[object]],
    ) -> None:
        self._address, self._password, self._allow_private, self._sleep = address, password, allow_private, sleep
        self._connection: MailConnection | None = None
        self._turn = asyncio.Lock()  # a connection answers one command after another
        self._size_by_uid: dict[int, int] = {}

    async def connect(self) -> None:
        """Raises `MailRefused` and `MailLost`."""
        await self._run_command(lambda connection: None)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    async def list_items(self) -> AsyncIterator[SourceItem]:
        """Yields the mails in the order of the server. Raises `ListingFailed`, also where there are too many."""
        try:
            uid_validity, mails = await self._run_command(_list_mails)
        except (MailRefused, MailLost) as exc:
            raise ListingFailed(exc.reason) from exc
        self._size_by_uid = {mail.uid: mail.size_bytes for mail in mails}
        for mail in mails[:_MAX_MAILS]:
            yield SourceItem(
                id=str(mail.uid), version=f"{uid_validity}-{mail.uid}", location=f"{self._link_base}/;UID={mail.uid}"
            )
        if len(mails) > _MAX_MAILS:
            raise ListingFailed(f"it has more than {_MAX_MAILS:,} mails")

    @property
    def _link_base(self) -> str:
        scheme = "imaps" if self._address.uses_tls else "imap"
        return f"{scheme}://{self._address.host}/{quote(self._address.folder)}"

    async def fetch_item(self, item: SourceItem, cursor: str, folder: Path) -> FetchResult:
        """Fetches the mail, without marking it as read."""
        uid = int(item.id)
        if self._size_by_uid.get(uid, 0) > _MAX_MAIL_BYTES:
            return UnsupportedItem(
                reason=f"it is larger than {_MAX_MAIL_BYTES // 1024**2} MB", version=item.version, cursor=""
            )
        try:
            uid_validity, content = await self._run_command(
                lambda connection: (connection.uid_validity, connection.fetch_mail(uid))
            )
        except (MailRefused, MailLost) as exc:
            return FetchFailure(reason=exc.reason)
        if item.version != f"{uid_validity}-{uid}":
            return FetchFailure(reason="the server has numbered its mails anew since they were listed")
        if content is None:
            return VanishedItem()
        digest = hashlib.sha256(content).hexdigest()
        if digest == cursor:
            return UnchangedItem(version=item.version, cursor=cursor)
        path = await asyncio.to_thread(_write_mail, content, folder, uid)
        return FetchedItem(path=path, link=item.location, version=item.version, cursor=digest)

    async def _run_command(self, command: Callable[[MailConnection], Result]) -> Result:
        """Runs a command in a thread, over a new connection after a failure. Raises `MailRefused` and `MailLost`."""
        async with self._turn:
            for remaining_tries in range(_MAX_TRIES - 1, -1, -1):
                try:
                    return await self._try_command(command)
                except MailLost:
                    if not remaining_tries:
                        raise
                pause_s = _FIRST_PAUSE_S * 2 ** (_MAX_TRIES - 1 - remaining_tries)
                await self._sleep(pause_s * random.uniform(0.5, 1.5))  # noqa: S311 - jitter
            raise AssertionError("the last try returns or raises")

    async def _try_command(self, command: Callable[[MailConnection], Result]) -> Result:
        try:
            async with asyncio.timeout(_COMMAND_TIMEOUT_S):
                return await asyncio.to_thread(self._run_connected, command)
        except TimeoutError as exc:
            await asyncio.to_thread(self.close)  # which ends the command in its thread
            raise MailLost("the mail server does not answer in time") from exc
        except BaseException:
            await asyncio.to_thread(self.close)
            raise

    def _run_connected(self, command: Callable[[MailConnection], Result]) -> Result:
        if self._connection is None:
            self._connection = MailConnection.open_folder(
                self._address, self._password, allow_private=self._allow_private
            )
        return command(self._connection)


def _list_mails(connection: MailConnection) -> tuple[int, list[ListedMail]]:
    mails: list[ListedMail] = []
    for mail in connection.list_mails():
        mails.append(mail)
        if len(mails) > _MAX_MAILS:
            break
    return connection.uid_validity, mails


def _write_mail(content: bytes, folder: Path, uid: int) -> Path:
    path = folder / f"mail {uid}.eml"
    path.write_bytes(content)
    return path
