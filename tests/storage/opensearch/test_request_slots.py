"""How many bulks are under way at once."""

import asyncio
from contextlib import suppress

from storage.opensearch.request_slots import RequestSlots


async def _hold_until(slots: RequestSlots, done: asyncio.Event, running: list[int], size: int) -> None:
    async with slots.hold_slot(size):
        running.append(size)
        try:
            await done.wait()
        finally:
            running.remove(size)


async def _let_tasks_run() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_requests_are_bounded_by_number_and_by_size() -> None:
    slots, done, running = RequestSlots(max_requests=3, max_characters=100), asyncio.Event(), list[int]()
    tasks = [asyncio.create_task(_hold_until(slots, done, running, size)) for size in (40, 30, 50, 20, 10)]
    await _let_tasks_run()

    assert sum(running) <= 100
    assert len(running) <= 3

    done.set()
    await asyncio.gather(*tasks)
    assert running == []


async def test_a_request_larger_than_the_bound_goes_alone() -> None:
    slots, done, running = RequestSlots(max_requests=3, max_characters=100), asyncio.Event(), list[int]()
    tasks = [asyncio.create_task(_hold_until(slots, done, running, size)) for size in (500, 1)]
    await _let_tasks_run()

    assert running == [500]

    done.set()
    await asyncio.gather(*tasks)


async def test_a_busy_cluster_gets_fewer_requests_and_later_more_again() -> None:
    slots, limits = RequestSlots(max_requests=4), list[int]()
    for _ in range(3):
        slots.report_refusal()
        limits.append(slots.limit)
    for _ in range(12):
        slots.report_success()
        limits.append(slots.limit)

    assert limits[:3] == [2, 1, 1]
    assert limits[3:] == sorted(limits[3:])
    assert limits[-1] == 4


async def test_a_cancelled_request_gives_its_slot_back() -> None:
    slots, running = RequestSlots(max_requests=1), list[int]()
    holder = asyncio.create_task(_hold_until(slots, asyncio.Event(), running, 1))
    await _let_tasks_run()
    waiter = asyncio.create_task(_hold_until(slots, asyncio.Event(), running, 2))
    await _let_tasks_run()
    holder.cancel()
    await _let_tasks_run()

    assert running == [2]

    waiter.cancel()
    with suppress(asyncio.CancelledError):
        await waiter
