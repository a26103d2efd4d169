"""Stored model calls and what they cost, on every database."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import delete

from storage.sql.database import SqlDatabase
from storage.sql.errors import ConstraintBroken
from storage.sql.stores.inbox import TurnInbox
from storage.sql.stores.model_calls import ModelCallStore, NewModelCall, PromptUsage
from storage.sql.stores.model_spending import ModelSpendingStore, SpendingAccount
from storage.sql.stores.turns import turns
from tests.contracts.sql.databases import SetClock
from tests.contracts.sql.test_inbox import a_turn, accept_new_turn
from tests.stored_rows import list_model_calls, read_spending

MAY = SpendingAccount(tenant="acme", month="2031-05")
MINUTE = timedelta(minutes=1)


def a_call(turn: str, prompt: str = "plan_question@3", error: str | None = None) -> NewModelCall:
    return NewModelCall(
        tenant="acme",
        turn=turn,
        conversation="c1",
        prompt=prompt,
        model="openai/big",
        input_tokens=1200,
        output_tokens=80,
        cost_usd=None if error else 0.00123,
        ms=812.5,
        error=error,
    )


async def test_calls_are_stored_as_they_were_and_deleted_with_their_turn(database: SqlDatabase) -> None:
    turn = await accept_new_turn(TurnInbox(database), a_turn(1, "c1"))
    calls = [
        a_call(turn),
        replace(a_call(turn, error="timed out \0 \ud800"), request_text="system: …", reply_text="{"),
    ]

    await ModelCallStore(database).insert_calls(calls)
    stored = await list_model_calls(database)
    await database.run_write(lambda connection: connection.execute(delete(turns)).rowcount)

    assert stored == calls
    assert await list_model_calls(database) == []


async def test_no_calls_write_nothing(database: SqlDatabase) -> None:
    await ModelCallStore(database).insert_calls([])

    assert await list_model_calls(database) == []


async def test_calls_of_a_turn_that_is_gone_are_refused(database: SqlDatabase) -> None:
    with pytest.raises(ConstraintBroken):
        await ModelCallStore(database).insert_calls([a_call("gone")])


async def test_the_usage_of_each_version_of_a_prompt_is_summed(database: SqlDatabase, clock: SetClock) -> None:
    turn, store = await accept_new_turn(TurnInbox(database), a_turn(1, "c1")), ModelCallStore(database)
    start = clock.now
    await store.insert_calls([a_call(turn, "plan_question@2"), a_call(turn, "plan_question@3")])
    clock.forward(hours=1)
    await store.insert_calls([a_call(turn, "plan_question@3", error="timed out")])

    assert await store.summarise_prompts() == [
        PromptUsage(prompt="plan_question@3", calls=2, failures=1, first_at=start, last_at=clock.now),
        PromptUsage(prompt="plan_question@2", calls=1, failures=0, first_at=start, last_at=start),
    ]


async def test_no_more_is_reserved_than_the_cap_leaves(database: SqlDatabase, clock: SetClock) -> None:
    store = ModelSpendingStore(database)

    async def reserve(amount: int, account: SpendingAccount = MAY) -> str | None:
        return await store.reserve_amount(account, amount, cap_nano_usd=100, expires_at=clock.now + MINUTE)

    first = await reserve(60)
    assert first is not None
    assert await reserve(41) is None
    assert await reserve(40) is not None
    assert await reserve(41, SpendingAccount(tenant="acme", month="2031-06")) is not None
    assert await reserve(41, SpendingAccount(tenant="bolt", month="2031-05")) is not None

    await store.settle_reservation(MAY, first, 10)
    assert await reserve(51) is None
    assert await reserve(50) is not None
    assert (await store.load_spending(MAY), await store.load_spending(SpendingAccount(tenant="bolt", month="x"))) == (
        10,
        0,
    )
    assert await read_spending(database) == {
        ("acme", "2031-05"): 10,
        ("acme", "2031-06"): 0,
        ("bolt", "2031-05"): 0,
    }


async def test_a_reservation_that_nobody_settles_expires(database: SqlDatabase, clock: SetClock) -> None:
    store = ModelSpendingStore(database)
    left_over = await store.reserve_amount(MAY, 100, cap_nano_usd=100, expires_at=clock.now + MINUTE)
    assert left_over is not None

    clock.forward(seconds=59)
    assert await store.reserve_amount(MAY, 1, cap_nano_usd=100, expires_at=clock.now + MINUTE) is None
    clock.forward(seconds=1)
    assert await store.reserve_amount(MAY, 90, cap_nano_usd=100, expires_at=clock.now + MINUTE) is not None

    await store.settle_reservation(MAY, left_over, 30)  # its process was slow, not dead: what it spent counts
    assert await store.reserve_amount(MAY, 1, cap_nano_usd=120, expires_at=clock.now + MINUTE) is None


async def test_calls_at_the_same_time_stay_within_the_cap(
    database: SqlDatabase, database_url: str, clock: SetClock
) -> None:
    other_database = await SqlDatabase.open(database_url, clock=clock)
    stores = [ModelSpendingStore(database), ModelSpendingStore(other_database)]

    async def spend(number: int) -> bool:
        store = stores[number % 2]
        reservation = await store.reserve_amount(MAY, 10, cap_nano_usd=100, expires_at=clock.now + MINUTE)
        if reservation is None:
            return False
        await asyncio.sleep(0)
        await store.settle_reservation(MAY, reservation, 10)
        return True

    results = await asyncio.gather(*map(spend, range(40)))
    await other_database.close()

    assert sum(results) == 10
    assert await read_spending(database) == {("acme", "2031-05"): 100}
