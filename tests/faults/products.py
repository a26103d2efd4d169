"""The chat products of the storm."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from tests.faults.slack_storm import SlackStorm
from tests.faults.storm import StormProduct
from tests.faults.teams_storm import TeamsStorm
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.teams.server import TeamsServer

STORM_PRODUCTS: Final = ("slack", "teams")


@asynccontextmanager
async def open_storm_product(name: str) -> AsyncGenerator[StormProduct]:
    if name == "slack":
        async with SlackServer() as slack:
            yield SlackStorm(slack)
    else:
        async with TeamsServer() as teams:
            yield TeamsStorm(teams)
