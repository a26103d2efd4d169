"""Files attached to questions: stored with their conversation, visible only in it, deleted when they expire.

Equal content twice in a conversation makes two rows, one per message; only the first one is read.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from sqlalchemy import ColumnElement, Delete, Index, LargeBinary, bindparam, delete, null, select, update
from sqlmodel import Field

from storage.sql import tables
from storage.sql.database import SqlDatabase


@dataclass(frozen=True, kw_only=True)
class FileDescription:
    """`message` is the message with the file; `file` is the chat product's id, unique within the message."""

    conversation: str
    message: str
    file: str
    person: Annotated[str, Field(index=True)]
    audience: tables.JsonColumn
    name: tables.PeopleText
    kind: str
    link: tables.OptionalPeopleText
    size: int  # bytes before compression
    digest: str
    expires_at: Annotated[datetime, Field(sa_type=tables.UtcTime, index=True)]


@dataclass(frozen=True, kw_only=True)
class NewAttachedFile(FileDescription):
    content: bytes  # compressed


@dataclass(frozen=True, kw_only=True)
class StoredAttachment(FileDescription):
    """An attached file without its content. `fault` says why it cannot be read; its content is then deleted."""

    id: tables.UniqueText
    fault: tables.OptionalPeopleText


class AttachedFileRow(tables.TableRow, StoredAttachment, frozen=True, table=True):
    """Files attached to questions, visible in their conversations."""

    __tablename__ = "attached_files"  # pyright: ignore[reportAssignmentType]
    __table_args__ = (
        Index("uq_attached_files_message", "conversation", "message", "file", unique=True),
        {"sqlite_autoincrement": True},
    )

    position: tables.RowNumber
    content: bytes | None = Field(sa_type=LargeBinary)  # compressed; None if the file cannot be read
    created_at: tables.UtcColumn


attached_files: Final = AttachedFileRow.__table__


class AttachedFileStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database, self.utc_now = database, database.utc_now

    async def store_attached_file(self, new: NewAttachedFile) -> None:
        """Store a file; a file that exists already is not changed."""
        values = tables.column_values_of(new) | {
            "id": self._database.new_id(),
            "fault": None,
            "created_at": self._database.utc_now(),
        }
        statement = self._database.insert_into(attached_files).on_conflict_do_nothing()
        await self._database.run_write(lambda connection: connection.execute(statement, values))

    async def list_of_conversation(self, conversation: str) -> list[StoredAttachment]:
        """Returns the files of a conversation, in the order in which they were stored."""
        values = {"conversation_id": conversation}
        rows = await self._database.run_read(
            lambda connection: connection.execute(_FILES_OF_CONVERSATION, values).all()
        )
        return [tables.value_from_row(StoredAttachment, row) for row in rows]

    async def load_file_content(self, file_id: str) -> bytes | None:
        """Returns the compressed content as stored; None if it was deleted."""
        return await self._database.run_read(
            lambda connection: connection.execute(_FILE_CONTENT, {"file_id": file_id}).scalar()
        )

    async def mark_unreadable(self, file_id: str, fault: str) -> None:
        """Delete the content of an unreadable file and store the reason."""
        values = {"file_id": file_id, "new_fault": fault}
        await self._database.run_write(lambda connection: connection.execute(_MARK_UNREADABLE, values))

    async def set_expiry_of_conversation(self, conversation: str, expires_at: datetime) -> None:
        """Set the time at which the conversation's files expire."""
        values = {"conversation_id": conversation, "new_expires_at": expires_at}
        await self._database.run_write(lambda connection: connection.execute(_SET_EXPIRY, values))

    async def remove_of_message(self, conversation: str, message: str, *, exclude: Collection[str] = ()) -> None:
        """Delete the files of a message, except the `exclude` files that it still has."""
        is_of_message = (attached_files.c.conversation == conversation) & (attached_files.c.message == message)
        await self._delete_files_where(is_of_message & attached_files.c.file.not_in(list(exclude)))

    async def delete_expired_files(self) -> int:
        """Delete expired files; returns how many."""
        return await self._delete_files_where(attached_files.c.expires_at <= self._database.utc_now())

    async def _delete_files_where(self, condition: ColumnElement[bool]) -> int:
        statement: Delete = delete(attached_files).where(condition)
        return await self._database.run_write(lambda connection: connection.execute(statement).rowcount)


_FILES_OF_CONVERSATION = (
    select(*tables.columns_of(StoredAttachment, attached_files))
    .where(attached_files.c.conversation == bindparam("conversation_id"))
    .order_by(attached_files.c.position)
)
_FILE_CONTENT = select(attached_files.c.content).where(attached_files.c.id == bindparam("file_id"))
_MARK_UNREADABLE = (
    update(attached_files)
    .where(attached_files.c.id == bindparam("file_id"))
    .values(content=null(), fault=bindparam("new_fault"))
)
_SET_EXPIRY = (
    update(attached_files)
    .where(attached_files.c.conversation == bindparam("conversation_id"))
    .values(expires_at=bindparam("new_expires_at"))
)
