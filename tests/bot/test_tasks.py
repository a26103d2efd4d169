"""What leaves a group of tasks, for whoever catches it by its type."""

import asyncio

import pytest

from bot.delivery import LeaseLost
from bot.tasks import lone_error


async def ended(*errors: Exception) -> None:
    """As tasks of a group that fail at once."""

    async def fails(error: Exception) -> None:
        raise error

    with lone_error():
        async with asyncio.TaskGroup() as group:
            for error in errors:
                group.create_task(fails(error))


async def test_a_single_failure_leaves_as_it_is() -> None:
    with pytest.raises(LeaseLost):
        await ended(LeaseLost())


async def test_the_same_failure_of_several_is_one() -> None:
    with pytest.raises(LeaseLost):
        await ended(LeaseLost(), LeaseLost())


async def test_different_failures_leave_together() -> None:
    with pytest.raises(ExceptionGroup):
        await ended(LeaseLost(), OSError())
