"""The guard over what a tenant spends on models: an amount is reserved before a call and settled after it."""

from dataclasses import dataclass
from typing import NewType, Protocol

ReservationId = NewType("ReservationId", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingReservation:
    """An amount that one call may cost. `estimated_usd` is None if the price of the model is unknown."""

    id: ReservationId
    estimated_usd: float | None


class SpendingGuard(Protocol):
    """Bounds what one tenant spends. A reservation that nobody settles, as of a killed process, must expire."""

    async def reserve(self, estimated_usd: float | None) -> SpendingReservation | None:
        """Returns None if the tenant's cap is reached, or would be by this call."""
        ...

    async def settle(self, reservation: SpendingReservation, actual_usd: float | None) -> None:
        """Replaces the estimate by what the call did cost; None: the price is unknown. Called once for each
        reservation, also for calls that fail or are cancelled.
        """
        ...


class UnlimitedSpending:
    """Reserves whatever is asked for."""

    async def reserve(self, estimated_usd: float | None) -> SpendingReservation | None:
        return SpendingReservation(id=ReservationId(""), estimated_usd=estimated_usd)

    async def settle(self, reservation: SpendingReservation, actual_usd: float | None) -> None:
        """There is nothing to settle."""
