"""What organisations spend on language models: by calendar month, with the amounts that running calls have reserved.

All processes share the rows, so that together they stay within a cap. A reservation that its process does not settle,
because it was killed, expires.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import BigInteger, Connection, Index, bindparam, delete, func, insert, select
from sqlmodel import Field

from storage.sql import tables
from storage.sql.database import SqlDatabase


class MonthSpendingRow(tables.TableRow, frozen=True, table=True):
    __tablename__ = "model_spending"  # pyright: ignore[reportAssignmentType]

    tenant: tables.KeyText
    month: tables.KeyText  # as `2031-05`
    spent_nano_usd: int = Field(sa_type=BigInteger)  # whole numbers, so that many small amounts add up exactly


class ReservationRow(tables.TableRow, frozen=True, table=True):
    __tablename__ = "model_reservations"  # pyright: ignore[reportAssignmentType]

    __table_args__ = (Index("ix_model_reservations_month", "tenant", "month"),)

    id: tables.KeyText
    tenant: str
    month: str
    nano_usd: int = Field(sa_type=BigInteger)
    expires_at: tables.UtcColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingAccount:
    """The account of a tenant for one month, as `2031-05`."""

    tenant: str
    month: str


spending: Final = MonthSpendingRow.__table__
reservations: Final = ReservationRow.__table__


class ModelSpendingStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def reserve_amount(
        self, account: SpendingAccount, nano_usd: int, *, cap_nano_usd: int, expires_at: datetime
    ) -> str | None:
        """Reserve an amount; returns the id of the reservation. None, with nothing reserved, if the amount does not fit
        under the cap, beside what is spent and what other calls have reserved.
        """
        reservation_id = self._database.new_id()

        def reserve(connection: Connection) -> str | None:
            spent = self._add_spending(connection, account, 0)
            connection.execute(_DELETE_EXPIRED, {**_key_of(account), "now": self._database.utc_now()})
            reserved = connection.execute(_RESERVED_SUM, _key_of(account)).scalar_one()
            if spent + int(reserved) + nano_usd > cap_nano_usd:
                return None
            values = {"tenant": account.tenant, "month": account.month, "nano_usd": nano_usd, "expires_at": expires_at}
            connection.execute(insert(reservations), values | {"id": reservation_id})
            return reservation_id

        return await self._database.run_write(reserve, durable=False)

    async def load_spending(self, account: SpendingAccount) -> int:
        """Returns what is spent, in thousand-millionths of a dollar; running calls not included."""
        query = select(spending.c.spent_nano_usd).where(
            spending.c.tenant == account.tenant, spending.c.month == account.month
        )
        spent = await self._database.run_read(lambda connection: connection.execute(query).scalar_one_or_none())
        return int(spent or 0)

    async def settle_reservation(self, account: SpendingAccount, reservation: str, nano_usd: int) -> None:
        """Replace the reservation, which may have expired, by what was spent."""

        def settle(connection: Connection) -> None:
            self._add_spending(connection, account, nano_usd)
            connection.execute(_DELETE_RESERVATION, {"reservation_id": reservation})

        await self._database.run_write(settle, durable=False)

    def _add_spending(self, connection: Connection, account: SpendingAccount, nano_usd: int) -> int:
        """Add to what is spent and return the sum. The row is locked until the transaction ends."""
        values = {"tenant": account.tenant, "month": account.month, "spent_nano_usd": nano_usd}
        insert_row = self._database.insert_into(spending).values(values)
        new_sum = spending.c.spent_nano_usd + insert_row.excluded.spent_nano_usd
        upsert = insert_row.on_conflict_do_update(
            index_elements=["tenant", "month"], set_={"spent_nano_usd": new_sum}
        ).returning(spending.c.spent_nano_usd)
        return int(connection.execute(upsert).scalar_one())


def _key_of(account: SpendingAccount) -> dict[str, str]:
    return {"of_tenant": account.tenant, "of_month": account.month}


_IS_OF_ACCOUNT = (reservations.c.tenant == bindparam("of_tenant"), reservations.c.month == bindparam("of_month"))
_RESERVED_SUM: Final = select(func.coalesce(func.sum(reservations.c.nano_usd), 0)).where(*_IS_OF_ACCOUNT)
_DELETE_EXPIRED: Final = delete(reservations).where(*_IS_OF_ACCOUNT, reservations.c.expires_at <= bindparam("now"))
_DELETE_RESERVATION: Final = delete(reservations).where(reservations.c.id == bindparam("reservation_id"))
