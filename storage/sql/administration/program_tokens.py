"""Tokens with which other programs ask in the name of a person. Only their hashes are stored.

Every change writes its audit entry in the same transaction.
"""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from storage.sql import tables
from storage.sql.database import SqlDatabase
from storage.sql.stores.audit import write_audit_entry


@dataclass(frozen=True, kw_only=True)
class ProgramToken:
    """A token. Its `id` is public; `secret_hash` is the SHA-256 of its secret, as hexadecimal digits."""

    id: tables.KeyText
    secret_hash: str
    person: str
    created_by: str
    created_at: tables.UtcColumn
    expires_at: tables.OptionalUtcColumn  # None: never


class ProgramTokenRow(tables.TableRow, ProgramToken, frozen=True, table=True):
    __tablename__ = "program_tokens"  # pyright: ignore[reportAssignmentType]


program_tokens: Final = ProgramTokenRow.__table__


class ProgramTokenStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def add_token(self, token: ProgramToken) -> None:
        def insert_token(connection: Connection) -> None:
            connection.execute(insert(program_tokens).values(tables.column_values_of(token)))
            after = {"person": token.person}
            write_audit_entry(self._database, connection, "token.create", token.id, by=token.created_by, after=after)

        await self._database.run_write(insert_token)

    async def find_token(self, token_id: str) -> ProgramToken | None:
        query = select(program_tokens).where(program_tokens.c.id == token_id)
        row = await self._database.run_read(lambda connection: connection.execute(query).one_or_none())
        return None if row is None else tables.value_from_row(ProgramToken, row)

    async def list_tokens(self) -> list[ProgramToken]:
        """Returns all tokens, oldest first, also expired ones."""
        query = select(program_tokens).order_by(program_tokens.c.created_at, program_tokens.c.id)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return [tables.value_from_row(ProgramToken, row) for row in rows]

    async def remove_token(self, token_id: str, *, by: str) -> bool:
        """Remove a token; False if there is none."""

        def delete_token(connection: Connection) -> bool:
            query = select(program_tokens.c.person).where(program_tokens.c.id == token_id)
            person = connection.execute(query).scalar_one_or_none()
            if person is None:
                return False
            connection.execute(delete(program_tokens).where(program_tokens.c.id == token_id))
            before = {"person": person}
            write_audit_entry(self._database, connection, "token.revoke", token_id, by=by, before=before)
            return True

        return await self._database.run_write(delete_token)
