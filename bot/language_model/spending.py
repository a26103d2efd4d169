"""The cap on what the tenant spends on language models in a calendar month, shared by all processes."""

from datetime import timedelta
from typing import Final

from structlog.typing import FilteringBoundLogger

from agent.gateway.spending import ReservationId, SpendingReservation
from storage.search.ids import TenantId
from storage.sql.database import SqlDatabase
from storage.sql.errors import SqlError
from storage.sql.stores.model_spending import ModelSpendingStore, SpendingAccount

_NANO: Final = 1_000_000_000


async def load_month_spending(database: SqlDatabase, tenant: TenantId) -> float:
    """Returns what a tenant with a budget has spent in this month, in US dollars; running calls not included."""
    account = SpendingAccount(tenant=tenant, month=f"{database.utc_now():%Y-%m}")
    return await ModelSpendingStore(database).load_spending(account) / _NANO


class MonthlyBudget:
    """Fulfils `agent.gateway.spending.SpendingGuard`. Months begin at midnight UTC.

    A call whose price is unknown is refused, because the cap could not be kept. While the database does not answer, no
    call is made either.
    """

    def __init__(
        self,
        database: SqlDatabase,
        tenant: TenantId,
        *,
        budget_usd: float,
        reservation_lifetime: timedelta,
        log: FilteringBoundLogger,
    ) -> None:
        """`reservation_lifetime`: longer than any call takes."""
        self._store, self._now, self._tenant = ModelSpendingStore(database), database.utc_now, tenant
        self._cap, self._lifetime, self._log = round(budget_usd * _NANO), reservation_lifetime, log

    async def reserve(self, estimated_usd: float | None) -> SpendingReservation | None:
        if estimated_usd is None:
            self._log.warning("model not called: its price is unknown, so its budget cannot be kept")
            return None
        now = self._now()
        account = SpendingAccount(tenant=self._tenant, month=f"{now:%Y-%m}")
        try:
            reservation = await self._store.reserve_amount(
                account, round(estimated_usd * _NANO), cap_nano_usd=self._cap, expires_at=now + self._lifetime
            )
        except SqlError as exc:
            self._log.warning("model not called: its budget was not read", error=type(exc).__name__)
            return None
        if reservation is None:
            return None
        return SpendingReservation(id=ReservationId(f"{account.month}/{reservation}"), estimated_usd=estimated_usd)

    async def settle(self, reservation: SpendingReservation, actual_usd: float | None) -> None:
        """An unknown cost counts as the estimate. The month is the one in which the call began."""
        month, _, stored_id = reservation.id.partition("/")
        spent_usd = reservation.estimated_usd if actual_usd is None else actual_usd
        account = SpendingAccount(tenant=self._tenant, month=month)
        try:
            await self._store.settle_reservation(account, stored_id, round((spent_usd or 0.0) * _NANO))
        except SqlError as exc:  # the reservation expires
            self._log.warning("model cost not stored", error=type(exc).__name__)
