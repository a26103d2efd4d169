"""The exceptions that a group of tasks raises."""

import asyncio

import pytest

from bot.task_groups import lone_error
from bot.turns.delivery import LeaseLost


async def fail_together(*errors: Exception) -> None:
    """Runs a group whose tasks all fail at once."""

    async def fails(error: Exception) -> None:
        raise error

    with lone_error():
        async with asyncio.TaskGroup() as group:
            for error in errors:
                group.create_task(fails(error))


async def test_a_single_failure_is_unwrapped() -> None:
    with pytest.raises(LeaseLost):
        await fail_together(LeaseLost())


async def test_several_failures_of_one_type_are_unwrapped_to_one() -> None:
    with pytest.raises(LeaseLost):
        await fail_together(LeaseLost(), LeaseLost())


async def test_different_failures_are_raised_as_a_group() -> None:
    with pytest.raises(ExceptionGroup):
        await fail_together(LeaseLost(), OSError())
