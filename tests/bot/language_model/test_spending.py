"""The monthly budget: what fits, what is refused, and how two processes share it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
import structlog
from sqlalchemy import text

from bot.language_model.spending import MonthlyBudget
from bot.settings import Settings
from storage.search.ids import TenantId
from storage.sql.database import SqlDatabase
from tests.bot.fakes import Clock
from tests.stored_rows import read_spending

LIFETIME = timedelta(seconds=90)


@pytest.fixture
async def other_database(settings: Settings, clock: Clock) -> AsyncIterator[SqlDatabase]:
    other = await SqlDatabase.open(settings.effective_database_url, clock=clock)
    yield other
    await other.close()


def budget_of(database: SqlDatabase, budget_usd: float = 1.0, tenant: str = "acme") -> MonthlyBudget:
    return MonthlyBudget(
        database, TenantId(tenant), budget_usd=budget_usd, reservation_lifetime=LIFETIME, log=structlog.get_logger()
    )


async def test_what_running_calls_may_cost_counts_until_they_are_settled(database: SqlDatabase) -> None:
    budget = budget_of(database)
    first = await budget.reserve(0.7)
    assert first is not None
    assert await budget.reserve(0.4) is None

    await budget.settle(first, 0.25)

    assert await budget.reserve(0.75) is not None
    assert await read_spending(database) == {("acme", "2031-05"): 250_000_000}


async def test_two_processes_share_the_budget(database: SqlDatabase, other_database: SqlDatabase) -> None:
    assert await budget_of(database).reserve(0.7) is not None

    assert await budget_of(other_database).reserve(0.4) is None
    assert await budget_of(other_database, tenant="bolt").reserve(0.4) is not None


async def test_a_killed_process_blocks_the_budget_only_for_a_while(database: SqlDatabase, clock: Clock) -> None:
    assert await budget_of(database).reserve(1.0) is not None

    assert await budget_of(database).reserve(0.1) is None
    clock.advance(LIFETIME)
    assert await budget_of(database).reserve(0.1) is not None


async def test_a_new_month_has_a_new_budget_and_a_call_counts_where_it_began(
    database: SqlDatabase, clock: Clock
) -> None:
    clock.now = datetime(2031, 5, 31, 23, 59, 59, tzinfo=UTC)
    budget = budget_of(database)
    call_of_may = await budget.reserve(1.0)
    assert call_of_may is not None
    clock.advance(timedelta(seconds=1))

    assert await budget.reserve(1.0) is not None
    await budget.settle(call_of_may, 0.5)

    assert await read_spending(database) == {("acme", "2031-05"): 500_000_000, ("acme", "2031-06"): 0}


async def test_a_call_of_unknown_price_is_refused(database: SqlDatabase) -> None:
    assert await budget_of(database).reserve(None) is None


async def test_a_call_that_costs_nothing_is_made_even_at_the_cap(database: SqlDatabase) -> None:
    budget = budget_of(database, budget_usd=0.0)

    assert await budget.reserve(0.000001) is None
    assert await budget.reserve(0.0) is not None


async def test_an_unknown_cost_counts_as_the_estimate(database: SqlDatabase) -> None:
    budget = budget_of(database)
    reservation = await budget.reserve(0.3)
    assert reservation is not None

    await budget.settle(reservation, None)

    assert await read_spending(database) == {("acme", "2031-05"): 300_000_000}


async def test_while_the_database_fails_no_call_is_made(database: SqlDatabase) -> None:
    budget = budget_of(database)
    reservation = await budget.reserve(0.3)
    assert reservation is not None
    await database.run_write(lambda connection: connection.execute(text("DROP TABLE model_spending")).rowcount)

    assert await budget.reserve(0.3) is None
    await budget.settle(reservation, 0.1)
