"""What the report of admins reads, on every database."""

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from storage.sql.database import SqlDatabase
from storage.sql.usage_statistics import UsageStatisticsStore
from tests.contracts.sql.test_person_erasure import fill_every_table

RECEIVED = datetime(2031, 5, 9, tzinfo=UTC)  # of every row


async def test_each_database_gives_numbers_that_json_can_hold(database: SqlDatabase) -> None:
    await fill_every_table(database)

    statistics = await UsageStatisticsStore(database).load_statistics(RECEIVED - timedelta(seconds=1))

    [cost] = statistics.costs
    json.dumps(asdict(cost))
    assert (cost.calls, cost.input_tokens, cost.cost_usd, cost.unpriced_calls) == (1, 1, 1.0, 0)
    assert (sum(statistics.endings.values()), len(statistics.questions), len(statistics.choices)) == (1, 1, 1)
    assert (len(statistics.searches), len(statistics.groups)) == (1, 1)
    assert statistics.questions[0].seconds == 0.0


async def test_nothing_before_the_period_is_read(database: SqlDatabase) -> None:
    await fill_every_table(database)

    statistics = await UsageStatisticsStore(database).load_statistics(RECEIVED + timedelta(seconds=1))

    assert (statistics.endings, statistics.questions, statistics.choices, statistics.costs) == ({}, [], [], [])
