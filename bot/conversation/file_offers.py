"""Offers of files to a person, in chat products that hand a file over only with the person's consent.

The chat carries only the id of a stored offer. It is answered once, by the person whose turn made the file, in the
conversation in which the file was offered. The rights to a file are checked when it is accepted, and again before each
piece of it is read. If the process that uploads it dies, another one takes the upload over.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol, assert_never

from bot.conversation.download import ServedFile
from bot.conversation.exports import LINK_LIFETIME, ExportFiles
from bot.errors import (
    FileOfferAnswered,
    FileOfferEnded,
    ForeignFileOffer,
    LinkRefused,
    UnknownFileOffer,
)
from bot.ids import ConversationId, ExportId, FileOfferId, MessageId, PersonId, TurnId
from bot.surface.inbound import FullTextRequest
from bot.surface.json_codec import body_from_json
from bot.surface.outbox import translate_storage_errors
from bot.surface.replies import FilePart
from bot.surface.secret_sealing import SecretSeal
from bot.translation import get_reply_language, translate_message, use_language
from storage.sql.database import SqlDatabase
from storage.sql.errors import SqlError
from storage.sql.stores.exports import (
    ClaimedFileOffer,
    FileOfferStatus,
    FileOfferStore,
    NewFileOffer,
    StoredFileOffer,
)
from storage.sql.stores.inbox import TurnInbox

UPLOAD_LEASE: Final = timedelta(seconds=90)  # longer than one piece of the file may take
TEXT_LIFETIME: Final = timedelta(hours=24)  # of the offer of a text; that of an export ends with its file
_LINK_MINUTES: Final = int(LINK_LIFETIME.total_seconds() // 60)
_OFFER_ID_PATTERN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_EXPORT_PREFIX, _TEXT_PREFIX = "export:", "text:"  # of a stored offer's `file`


class OfferedTextStatus(StrEnum):
    """What has become of the offer of a text."""

    OPEN = "open"
    COMING = "coming"  # accepted, and on its way
    SAVED = "saved"
    OVER = "over"  # declined, expired, or not saved; or so old that nothing is known of it


class TextAccess(Protocol):
    """The rights to the texts of turns (`bot.turns.turn_actions`)."""

    async def may_read_text(self, turn: TurnId) -> bool:
        """Whether the turn's audience may still see the text that the turn offers. Raises `DocumentsUnreachable`."""
        ...


class UploadLost(Exception):
    """Another process has taken the upload over: this one must not act for it any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOffer:
    """A file that a person may accept. `message` shows the offer; None while it is unknown whether it was posted."""

    id: FileOfferId
    name: str
    size: int  # bytes
    message: MessageId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAnswerer:
    """The person who answers an offer and the conversation, as the chat product reports them."""

    person: PersonId
    conversation: ConversationId


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUpload:
    """An accepted file on its way. `destination` is what the surface keeps about where the file goes."""

    name: str
    destination: str
    message: MessageId  # of the offer
    language: str  # of what is written about the file
    claimed: ClaimedFileOffer


class FileOffers:
    """Raises `SqlError` where the database does not answer; what a delivery calls raises `OutboxFailed` instead."""

    def __init__(
        self,
        *,
        database: SqlDatabase,
        exports: ExportFiles,
        text_access: TextAccess,
        keys: Sequence[bytes],
        worker: str,
    ) -> None:
        """`keys` seal the destinations. `worker` is unique among the processes that share the database."""
        self._store, self._exports, self._worker = FileOfferStore(database), exports, worker
        self._text_access = text_access
        self._inbox, self._seal, self._now = TurnInbox(database), SecretSeal(keys), database.utc_now

    @translate_storage_errors()
    async def offer_export(self, turn: TurnId, conversation: ConversationId) -> FileOffer | None:
        """The offer of the turn's export in the language of the reply; the existing one if there is one.

        None where the turn has no finished export, or its reader has lost access to it. Raises `OutboxFailed`.
        """
        export = await self._exports.find_export_of_turn(turn)
        if export is None:
            return None
        new = NewFileOffer(
            file=f"{_EXPORT_PREFIX}{export.id}",
            turn=turn,
            person=export.person,
            conversation=conversation,
            language=get_reply_language(),
            content=None,
            expires_at=export.expires_at,
        )
        try:
            file = await self._exports.find_file(export.id)
            size = await _measure_size(file)
        except (LinkRefused, OSError):
            return None
        return _offer_of(await self._store.put_offer(new), file.name, size)

    @translate_storage_errors()
    async def offer_text(self, turn: TurnId, conversation: ConversationId, *, name: str, text: str) -> FileOffer | None:
        """The offer of a text of the turn as a UTF-8 file; the existing one if there is one. None for an unknown turn.

        The rights to it are those of the audience for which the turn was stored. The surface checks those of the
        audience that the chat product reports with the answer (`TurnActionHandler.check_full_text`). Raises
        `OutboxFailed`.
        """
        stored_turn = await self._inbox.find_turn(turn)
        if stored_turn is None:
            return None
        stored = await self._store.put_offer(
            NewFileOffer(
                file=f"{_TEXT_PREFIX}{turn}:{name}",
                turn=turn,
                person=stored_turn.person,
                conversation=conversation,
                language=get_reply_language(),
                content=text,
                expires_at=self._now() + TEXT_LIFETIME,
            )
        )
        return _offer_of(stored, name, len(text.encode(errors="replace")))

    @translate_storage_errors()
    async def note_message(self, offer: FileOffer, message: MessageId) -> None:
        """Records the message that shows the offer. Raises `OutboxFailed`."""
        await self._store.note_message(offer.id, message)

    async def find_text_turn(self, offer_id: str, answerer: FileAnswerer) -> TurnId | None:
        """The turn whose text is offered; None for the offer of an export. A turn that shows the full text of another
        one has the text of that one.

        Raises `FileOfferRefused`.
        """
        offer = await self._find_answerable(offer_id, answerer)
        if not offer.file.startswith(_TEXT_PREFIX):
            return None
        stored_turn = await self._inbox.find_turn(offer.turn)
        body = None if stored_turn is None else body_from_json(stored_turn.body)
        return body.turn if isinstance(body, FullTextRequest) else TurnId(offer.turn)

    async def find_text_status(self, conversation: ConversationId, message: MessageId) -> OfferedTextStatus:
        """What has become of the text that the turn of this message has offered."""
        stored_turn = await self._inbox.find_by_message(conversation, message)
        offer = (
            None if stored_turn is None else await self._store.find_newest_offer_of_turn(stored_turn.id, conversation)
        )
        if offer is None:
            return OfferedTextStatus.OVER
        match offer.status:
            case FileOfferStatus.OPEN:
                return OfferedTextStatus.OVER if offer.expires_at <= self._now() else OfferedTextStatus.OPEN
            case FileOfferStatus.ACCEPTED:
                return OfferedTextStatus.COMING
            case FileOfferStatus.DELIVERED:
                return OfferedTextStatus.SAVED
            case FileOfferStatus.DECLINED | FileOfferStatus.FAILED:
                return OfferedTextStatus.OVER
            case _:
                assert_never(offer.status)

    async def accept_offer(
        self, offer_id: str, answerer: FileAnswerer, *, destination: str, message: MessageId
    ) -> FileUpload:
        """Claims the upload for this process. `destination` is sealed in the database.

        Raises `FileOfferRefused`, `DocumentsUnreachable`.
        """
        offer = await self._find_answerable(offer_id, answerer)
        with use_language(offer.language):
            if offer.status is not FileOfferStatus.OPEN:
                raise FileOfferAnswered()
            name, _ = await self._describe_content(offer)
            claimed = await self._store.accept_offer(
                offer.id,
                upload=self._seal.seal_secret(destination),
                message=offer.message or message,
                worker=self._worker,
                lease=UPLOAD_LEASE,
            )
            if claimed is None:
                raise FileOfferAnswered()
        return _upload_of(claimed, name, destination)

    async def close_offer(self, offer_id: str) -> None:
        """Closes an offer that is not shown any more. One that was answered stays as it is."""
        if _OFFER_ID_PATTERN.fullmatch(offer_id):
            await self._store.decline_offer(offer_id)

    async def decline_offer(self, offer_id: str, answerer: FileAnswerer) -> str:
        """Returns the sentence that takes the place of the offer. Raises `FileOfferRefused`."""
        offer = await self._find_answerable(offer_id, answerer)
        with use_language(offer.language):
            if not await self._store.decline_offer(offer.id):
                raise FileOfferAnswered()
            return translate_message("You did not take this file. Ask for it again when you need it.")

    async def claim_abandoned_upload(self) -> FileUpload | None:
        """An upload whose process has died or has given it back, now claimed for this process. Its reader may have lost
        access to it. None also where the database does not answer.
        """
        try:
            while (claimed := await self._store.claim_abandoned_upload(self._worker, UPLOAD_LEASE)) is not None:
                destination = None if claimed.offer.upload is None else self._seal.open_secret(claimed.offer.upload)
                if destination is not None:
                    return _upload_of(claimed, await self._find_name(claimed.offer), destination)
                await self._store.finish_upload(claimed, is_delivered=False)  # sealed with a lost key
        except SqlError:
            return None
        return None

    async def measure_upload(self, upload: FileUpload) -> int:
        """The number of bytes. Raises `FileOfferEnded`, `DocumentsUnreachable`."""
        with use_language(upload.language):
            _, size = await self._describe_content(upload.claimed.offer)
        return size

    async def read_piece(self, upload: FileUpload, start: int, byte_count: int) -> bytes:
        """A piece of the file, after renewing the lease and checking the rights.

        Raises `UploadLost`, `FileOfferEnded`, `DocumentsUnreachable`, `OSError`.
        """
        offer = await self._store.renew_upload(upload.claimed, UPLOAD_LEASE)
        if offer is None:
            raise UploadLost()
        with use_language(upload.language):
            content = await self._find_content(offer)
        if isinstance(content, bytes):
            return content[start : start + byte_count]
        return await asyncio.to_thread(_read_piece, content.path, start, byte_count)

    async def note_destination(self, upload: FileUpload, destination: str) -> None:
        """Replaces the stored destination, for a process that takes the upload over. Raises `UploadLost`."""
        sealed = self._seal.seal_secret(destination)
        if not await self._store.note_upload(upload.claimed, sealed, UPLOAD_LEASE):
            raise UploadLost()

    async def give_back_upload(self, upload: FileUpload) -> None:
        """Ends the lease now, so that another process can take the upload over at once."""
        await self._store.renew_upload(upload.claimed, timedelta())

    async def finish_upload(self, upload: FileUpload, *, is_delivered: bool) -> None:
        """Ends the upload and forgets its destination. Raises `UploadLost`."""
        if not await self._store.finish_upload(upload.claimed, is_delivered=is_delivered):
            raise UploadLost()

    async def make_link(self, upload: FileUpload) -> FilePart | None:
        """An exported file with a new link, where it could not be uploaded. None for a text, which has no link.

        Raises `FileOfferEnded`.
        """
        offer = upload.claimed.offer
        if not offer.file.startswith(_EXPORT_PREFIX):
            return None
        with use_language(upload.language):
            await self._find_export_file(offer)
        return await self._exports.make_link(_export_id_of(offer))

    async def withdraw_offers(self, turns: Sequence[TurnId]) -> None:
        """The files that these turns offer can no longer be accepted, and their uploads stop before the next piece."""
        await self._store.expire_offers_of_turns(turns)

    async def expire_offers(self) -> None:
        """Forgets the texts of expired offers. The offers are kept for a week, so that late answers are understood."""
        await self._store.clear_expired_offers()

    async def _find_answerable(self, offer_id: str, answerer: FileAnswerer) -> StoredFileOffer:
        """Raises `FileOfferRefused`."""
        offer = await self._store.find_offer(offer_id) if _OFFER_ID_PATTERN.fullmatch(offer_id) else None
        if offer is None or offer.conversation != answerer.conversation:
            raise UnknownFileOffer()
        with use_language(offer.language):
            if offer.person != answerer.person:
                raise ForeignFileOffer()
            if offer.expires_at <= self._now():
                raise FileOfferEnded()
        return offer

    async def _describe_content(self, offer: StoredFileOffer) -> tuple[str, int]:
        """The file's name and size in bytes. Raises `FileOfferEnded`, `DocumentsUnreachable`."""
        content = await self._find_content(offer)
        if isinstance(content, bytes):
            return _text_name_of(offer), len(content)
        try:
            return content.name, await _measure_size(content)
        except OSError as exc:
            raise FileOfferEnded() from exc

    async def _find_content(self, offer: StoredFileOffer) -> ServedFile | bytes:
        """An exported file, or a text in UTF-8, after checking the rights.

        Raises `FileOfferEnded`, `DocumentsUnreachable`.
        """
        if offer.expires_at <= self._now():
            raise FileOfferEnded()
        if offer.file.startswith(_EXPORT_PREFIX):
            return await self._find_export_file(offer)
        if offer.content is None or not await self._text_access.may_read_text(TurnId(offer.turn)):
            raise FileOfferEnded()
        return offer.content.encode(errors="replace")

    async def _find_name(self, offer: StoredFileOffer) -> str:
        """Empty for an export that is unknown by now."""
        if not offer.file.startswith(_EXPORT_PREFIX):
            return _text_name_of(offer)
        try:
            return (await self._exports.make_link(_export_id_of(offer))).name
        except LinkRefused:
            return ""

    async def _find_export_file(self, offer: StoredFileOffer) -> ServedFile:
        """Raises `FileOfferEnded`."""
        try:
            return await self._exports.find_file(_export_id_of(offer))
        except LinkRefused as exc:
            raise FileOfferEnded() from exc


def describe_upload_progress(name: str, percent: int) -> str:
    """Raw text."""
    return translate_message("Saving {file} among your files: {percent} %", file=name, percent=percent)


def describe_failed_upload(name: str, *, has_link: bool) -> str:
    """With `has_link`, the sentence before the link to the file. Raw text."""
    if not has_link:
        return translate_message("{file} could not be saved among your files. Please ask for it again.", file=name)
    return translate_message(
        "{file} could not be saved among your files. This link to it works for {minutes} minutes:",
        file=name,
        minutes=_LINK_MINUTES,
    )


def describe_unconfirmed_upload(name: str, *, has_link: bool) -> str:
    """The same for a file of which it is not known whether it arrived. Raw text."""
    if not has_link:
        return translate_message(
            "Whether {file} was saved among your files is not known. Please look there, and ask for it again if it is "
            "missing.",
            file=name,
        )
    return translate_message(
        "Whether {file} was saved among your files is not known. This link to it works for {minutes} minutes:",
        file=name,
        minutes=_LINK_MINUTES,
    )


def _offer_of(stored: StoredFileOffer, name: str, size: int) -> FileOffer:
    message = None if stored.message is None else MessageId(stored.message)
    return FileOffer(id=FileOfferId(stored.id), name=name, size=size, message=message)


def _upload_of(claimed: ClaimedFileOffer, name: str, destination: str) -> FileUpload:
    return FileUpload(
        name=name,
        destination=destination,
        message=MessageId(claimed.offer.message or ""),
        language=claimed.offer.language,
        claimed=claimed,
    )


def _export_id_of(offer: StoredFileOffer) -> ExportId:
    return ExportId(offer.file.removeprefix(_EXPORT_PREFIX))


def _text_name_of(offer: StoredFileOffer) -> str:
    return offer.file.removeprefix(f"{_TEXT_PREFIX}{offer.turn}:")


async def _measure_size(file: ServedFile) -> int:
    return (await asyncio.to_thread(file.path.stat)).st_size


def _read_piece(path: Path, start: int, byte_count: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(byte_count)
