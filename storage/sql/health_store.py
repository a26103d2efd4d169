"""What the database knows about the health of the installation: the last known sizes and schemas of the buckets of the
index, the loads of documents from which they can be rebuilt, and a row that readiness checks write.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from sqlalchemy import delete, select, text
from sqlmodel import AutoString, Field

from storage.search.ids import BucketId, Generation
from storage.sql import tables
from storage.sql.database import JsonMapping, SqlDatabase
from storage.sql.errors import DatabaseDamaged

_CHECK_NAME: Final = "readiness"


@dataclass(frozen=True, kw_only=True)
class RecordedBucket:
    """A bucket of the index as it was last known: its documents and its schema, at this generation.

    `field_schema` is None if an earlier version of Parley recorded the bucket.
    """

    bucket: Annotated[BucketId, Field(sa_type=AutoString, primary_key=True)]
    documents: int
    generation: Annotated[Generation, Field(sa_type=AutoString)]
    field_schema: tables.OptionalJsonColumn


class RecordedBucketRow(tables.TableRow, RecordedBucket, frozen=True, table=True):
    __tablename__ = "recorded_buckets"  # pyright: ignore[reportAssignmentType]


@dataclass(frozen=True, kw_only=True)
class DocumentLoad:
    """Documents that were loaded by hand. `request` says how: the caller's JSON. `buckets`: where they went."""

    request: tables.JsonColumn
    buckets: tables.JsonListColumn


class DocumentLoadRow(tables.TableRow, DocumentLoad, frozen=True, table=True):
    __tablename__ = "document_loads"  # pyright: ignore[reportAssignmentType]
    __table_args__ = ({"sqlite_autoincrement": True},)

    position: tables.RowNumber
    key: tables.UniqueText  # the request as text: the same load again takes the place of the first


class WriteCheckRow(tables.TableRow, frozen=True, table=True):
    __tablename__ = "write_checks"  # pyright: ignore[reportAssignmentType]

    name: tables.KeyText
    token: str


recorded_buckets: Final = RecordedBucketRow.__table__
document_loads: Final = DocumentLoadRow.__table__
write_checks: Final = WriteCheckRow.__table__


class HealthStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def check_write(self) -> bool:
        """Whether the database keeps what is written to it. Raises `SqlError` if it cannot be written."""
        await self._database.check_file()
        token = self._database.new_id()
        insert_row = self._database.insert_into(write_checks).values(name=_CHECK_NAME, token=token)
        upsert = insert_row.on_conflict_do_update(index_elements=["name"], set_={"token": token})
        query = select(write_checks.c.token).where(write_checks.c.name == _CHECK_NAME)
        await self._database.run_write(lambda connection: connection.execute(upsert))
        stored = await self._database.run_read(lambda connection: connection.execute(query).scalar_one_or_none())
        return stored is not None  # another process may have written another token meanwhile

    async def load_recorded_buckets(self) -> Mapping[BucketId, RecordedBucket]:
        """Returns the recorded buckets, in order of name."""
        query = select(recorded_buckets).order_by(recorded_buckets.c.bucket)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return {BucketId(row.bucket): tables.value_from_row(RecordedBucket, row) for row in rows}

    async def record_bucket(self, recorded: RecordedBucket) -> None:
        """Replace what is recorded of the bucket."""
        values = tables.column_values_of(recorded)
        insert_row = self._database.insert_into(recorded_buckets).values(values)
        upsert = insert_row.on_conflict_do_update(index_elements=["bucket"], set_=values)
        await self._database.run_write(lambda connection: connection.execute(upsert), durable=False)

    async def forget_bucket(self, bucket: BucketId) -> None:
        """Forget its size, and the loads that went to no other bucket."""
        statement = delete(recorded_buckets).where(recorded_buckets.c.bucket == bucket)
        loads = await self.list_loads()
        keys = [_load_key_of(load.request) for load in loads if list(load.buckets) == [bucket]]
        forget_loads = delete(document_loads).where(document_loads.c.key.in_(keys))
        await self._database.run_write(
            lambda connection: (connection.execute(statement), connection.execute(forget_loads))
        )

    async def record_load(self, request: JsonMapping, buckets: Collection[BucketId]) -> None:
        """Record that documents were loaded by hand. The same request again is the last one by now."""
        key = _load_key_of(request)
        forget_load = delete(document_loads).where(document_loads.c.key == key)
        insert_load = self._database.insert_into(document_loads).values(
            key=key, request=request, buckets=sorted(buckets)
        )
        await self._database.run_write(
            lambda connection: (connection.execute(forget_load), connection.execute(insert_load))
        )

    async def list_loads(self) -> list[DocumentLoad]:
        """Returns the loads in the order in which they were made last."""
        query = select(document_loads).order_by(document_loads.c.position)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return [tables.value_from_row(DocumentLoad, row) for row in rows]

    async def find_damage(self) -> str | None:
        """What is damaged in the file of the database, with what to do; None for a server. Reads the whole file.

        Raises `SqlError`.
        """
        if not self._database.is_file:
            return None
        query = text("PRAGMA quick_check(1)")
        result = await self._database.run_read(lambda connection: connection.execute(query).scalar_one())
        return None if result == "ok" else str(DatabaseDamaged(self._database.location, " ".join(str(result).split())))


def _load_key_of(request: JsonMapping) -> str:
    return json.dumps(dict(request), sort_keys=True)
