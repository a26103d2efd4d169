"""A folder of a mail server as a source: each mail is an item, and a mail that is there never changes."""

import asyncio
import hashlib
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote

from pydantic import SecretStr

from storage.ingest.errors import ListingFailed, SourceUnavailable
from storage.ingest.sources.access_list import digest_of_readers, readers_of_file, unknown_principals_of
from storage.ingest.sources.mail.mail_connection import (
    ListedMail,
    MailAddress,
    MailConnection,
    MailLost,
    MailRefused,
)
from storage.ingest.sources.principals import PrincipalMapping
from storage.ingest.sources.source import (
    ClosedItem,
    FetchedItem,
    FetchFailure,
    FetchResult,
    SourceItem,
    UnchangedItem,
    UnsupportedItem,
    VanishedItem,
)
from storage.search.ids import Subject

_MAX_MAILS: Final = 200_000
_MAX_MAIL_BYTES: Final = 50 * 1024 * 1024
_COMMAND_TIMEOUT_S: Final = 120.0
_MAX_TRIES: Final = 4
_FIRST_PAUSE_S: Final = 1.0  # doubled for each further try
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class _FolderAccess:
    """Who may read the mails of a folder; `problem` if that cannot be said. Without readers, nobody is kept out."""

    readers: frozenset[Subject] = frozenset()
    problem: str = ""
    unknown_principals: tuple[str, ...] = ()


@asynccontextmanager
async def open_mailbox(
    address: MailAddress,
    password: SecretStr,
    *,
    allow_private: bool = False,
    principals: PrincipalMapping | None = None,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> "AsyncGenerator[MailboxSource]":
    """Opens the folder with a connection of its own, which is closed at the end of the block.

    Raises `SourceUnavailable`.
    """
    mailbox = MailboxSource(address, password, allow_private=allow_private, principals=principals, sleep=sleep)
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

    With `principals`, the readers of all mails are those of the folder's access list, which each sync asks for; version
    and cursor contain them.
    """

    def __init__(
        self,
        address: MailAddress,
        password: SecretStr,
        *,
        allow_private: bool,
        principals: PrincipalMapping | None,
        sleep: Callable[[float], Awaitable[object]],
    ) -> None:
        self._address, self._password, self._allow_private, self._sleep = address, password, allow_private, sleep
        self._connection: MailConnection | None = None
        self._turn = asyncio.Lock()  # a connection answers one command after another
        self._size_by_uid: dict[int, int] = {}
        self._principals, self._access = principals, _FolderAccess()

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
            if self._principals is not None:
                self._access = await self._load_access(self._principals)
            uid_validity, mails = await self._run_command(_list_mails)
        except (MailRefused, MailLost) as exc:
            raise ListingFailed(exc.reason) from exc
        self._size_by_uid = {mail.uid: mail.size_bytes for mail in mails}
        for mail in mails[:_MAX_MAILS]:
            version = self._version_of(uid_validity, mail.uid)
            yield SourceItem(id=str(mail.uid), version=version, location=f"{self._link_base}/;UID={mail.uid}")
        if len(mails) > _MAX_MAILS:
            raise ListingFailed(f"it has more than {_MAX_MAILS:,} mails")

    async def _load_access(self, principals: PrincipalMapping) -> "_FolderAccess":
        """Raises `MailLost`. A list that may not be read closes all mails."""
        try:
            access = await self._run_command(lambda connection: connection.load_access_list(self._address.folder))
        except MailRefused as exc:
            return _FolderAccess(problem=exc.reason)
        return _FolderAccess(
            readers=readers_of_file(frozenset(), access, principals),
            unknown_principals=unknown_principals_of(access, principals),
        )

    def _version_of(self, uid_validity: int, uid: int) -> str:
        """Returns an empty version, which is always fetched, where nobody can say who may read the mail."""
        if self._access.problem:
            return ""
        return "|".join(filter(None, (f"{uid_validity}-{uid}", digest_of_readers(self._access.readers))))

    @property
    def _link_base(self) -> str:
        scheme = "imaps" if self._address.uses_tls else "imap"
        return f"{scheme}://{self._address.host}/{quote(self._address.folder)}"

    async def fetch_item(self, item: SourceItem, cursor: str, folder: Path) -> FetchResult:
        """Fetches the mail, without marking it as read."""
        uid, access = int(item.id), self._access
        if access.problem:
            return ClosedItem(reason=f"who may read it cannot be found out, so nobody reads it: {access.problem}")
        known_digest, _, known_readers = cursor.partition(" ")
        has_other_readers = known_readers != digest_of_readers(access.readers)
        if self._size_by_uid.get(uid, 0) > _MAX_MAIL_BYTES:
            return UnsupportedItem(
                reason=f"it is larger than {_MAX_MAIL_BYTES // 1024**2} MB", version=item.version, cursor=""
            )
        try:
            uid_validity, content = await self._run_command(
                lambda connection: (connection.uid_validity, connection.fetch_mail(uid))
            )
        except (MailRefused, MailLost) as exc:
            return ClosedItem(reason=exc.reason) if has_other_readers else FetchFailure(reason=exc.reason)
        if item.version != self._version_of(uid_validity, uid):
            return FetchFailure(reason="the server has numbered its mails anew since they were listed")
        if content is None:
            return VanishedItem()
        digest = hashlib.sha256(content).hexdigest()
        if digest == known_digest and not has_other_readers:
            return UnchangedItem(version=item.version, cursor=cursor)
        path = await asyncio.to_thread(_write_mail, content, folder, uid)
        return FetchedItem(
            path=path,
            link=item.location,
            version=item.version,
            cursor=f"{digest} {digest_of_readers(access.readers)}".strip(),
            readers=access.readers,
            has_other_readers=has_other_readers,
            remarks=tuple(
                f"{principal} may read the folder there and is nobody here; --principal {principal}=SUBJECT says who"
                for principal in access.unknown_principals
            ),
        )

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
