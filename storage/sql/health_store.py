"""What the database knows about the health of the installation: the last known sizes of the index's buckets, and a row
that readiness checks write.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from sqlalchemy import delete, select
from sqlmodel import AutoString, Field

from storage.search.ids import BucketId, Generation
from storage.sql import tables
from storage.sql.database import SqlDatabase

_CHECK_NAME: Final = "readiness"


@dataclass(frozen=True, kw_only=True)
class RecordedBucket:
    """A bucket of the index as it was last known: its documents, at this generation."""

    bucket: Annotated[BucketId, Field(sa_type=AutoString, primary_key=True)]
    documents: int
    generation: Annotated[Generation, Field(sa_type=AutoString)]


class RecordedBucketRow(tables.TableRow, RecordedBucket, frozen=True, table=True):
    __tablename__ = "recorded_buckets"  # pyright: ignore[reportAssignmentType]


class WriteCheckRow(tables.TableRow, frozen=True, table=True):
    __tablename__ = "write_checks"  # pyright: ignore[reportAssignmentType]

    name: tables.KeyText
    token: str


recorded_buckets: Final = RecordedBucketRow.__table__
write_checks: Final = WriteCheckRow.__table__


class HealthStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def check_write(self) -> bool:
        """Whether the database keeps what is written to it. Raises `SqlError` if it cannot be written."""
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
        statement = delete(recorded_buckets).where(recorded_buckets.c.bucket == bucket)
        await self._database.run_write(lambda connection: connection.execute(statement))
