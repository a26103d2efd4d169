"""How long the documents of a bucket are kept, as admins have set it; one rule for each bucket.

Every change writes its audit entry in the same transaction.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import Connection, delete, insert, select, text

from storage.sql import tables
from storage.sql.database import SqlDatabase
from storage.sql.stores.audit import write_audit_entry

_AUDIT_ACTION: Final = "retention"


@dataclass(frozen=True, kw_only=True)
class StoredDocumentRule:
    """`field`: whose date counts, or the mark for the day of loading."""

    bucket: tables.KeyText
    field: str
    days: int


class DocumentRuleRow(tables.TableRow, StoredDocumentRule, frozen=True, table=True):
    __tablename__ = "document_rules"  # pyright: ignore[reportAssignmentType]


document_rules: Final = DocumentRuleRow.__table__


class DocumentRuleStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def list_rules(self) -> Sequence[StoredDocumentRule]:
        """Returns the rules by bucket."""
        query = select(document_rules).order_by(document_rules.c.bucket)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return [tables.value_from_row(StoredDocumentRule, row) for row in rows]

    async def replace_if_unchanged(
        self, bucket: str, before: StoredDocumentRule | None, after: StoredDocumentRule | None, *, by: str
    ) -> bool:
        """Replace the rule of the bucket, or end it; False, with nothing changed, if it differs from `before`."""
        return await self._database.run_write(
            lambda connection: self._replace_if_unchanged(connection, bucket, before, after, by)
        )

    async def remove_rule(self, bucket: str, *, by: str) -> StoredDocumentRule | None:
        """End the rule of a bucket that is removed; returns it, None if there was none."""

        def delete_rule(connection: Connection) -> StoredDocumentRule | None:
            is_wanted = document_rules.c.bucket == bucket
            row = connection.execute(select(document_rules).where(is_wanted).with_for_update()).one_or_none()
            if row is None:
                return None
            rule = tables.value_from_row(StoredDocumentRule, row)
            connection.execute(delete(document_rules).where(is_wanted))
            write_audit_entry(self._database, connection, _AUDIT_ACTION, bucket, by=by, before=asdict(rule))
            return rule

        return await self._database.run_write(delete_rule)

    def _replace_if_unchanged(
        self,
        connection: Connection,
        bucket: str,
        before: StoredDocumentRule | None,
        after: StoredDocumentRule | None,
        by: str,
    ) -> bool:
        if not self._database.is_file:
            connection.execute(text("LOCK TABLE document_rules IN SHARE ROW EXCLUSIVE MODE"))
        row = connection.execute(select(document_rules).where(document_rules.c.bucket == bucket)).one_or_none()
        current = None if row is None else tables.value_from_row(StoredDocumentRule, row)
        if current != before:
            return False
        if current == after:
            return True
        connection.execute(delete(document_rules).where(document_rules.c.bucket == bucket))
        if after is not None:
            connection.execute(insert(document_rules).values(tables.column_values_of(after)))
        old, new = (None if rule is None else asdict(rule) for rule in (current, after))
        write_audit_entry(self._database, connection, _AUDIT_ACTION, bucket, by=by, before=old, after=new)
        return True
