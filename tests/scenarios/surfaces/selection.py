"""The chat products that every scenario runs on."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import pytest

from tests.scenarios.surfaces.abilities import SurfaceAbility
from tests.scenarios.surfaces.office import ChatProduct
from tests.scenarios.surfaces.slack import SlackProduct
from tests.scenarios.surfaces.teams import TeamsProduct
from tests.scenarios.surfaces.terminal import TerminalProduct
from tests.scenarios.surfaces.web import WebProduct
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.teams.server import TeamsServer

SURFACES: Final = ("slack", "teams", "web", "terminal")


def needs(*abilities: SurfaceAbility) -> pytest.MarkDecorator:
    """The scenario is skipped on a surface without one of these abilities; the skip names it."""
    return pytest.mark.needs(*abilities)


@asynccontextmanager
async def open_product(name: str) -> AsyncGenerator[ChatProduct]:
    match name:
        case "slack":
            async with SlackServer() as slack:
                yield SlackProduct(slack=slack)
        case "teams":
            async with TeamsServer() as teams:
                yield TeamsProduct(teams=teams)
        case "web":
            yield WebProduct()
        case "terminal":
            yield TerminalProduct()
        case _:
            raise ValueError(name)


def skip_without_abilities(product: ChatProduct, node: pytest.Item) -> None:
    """Skips the test where the product lacks an ability that a `needs` marker names."""
    needed = [ability for marker in node.iter_markers("needs") for ability in marker.args]
    for ability in needed:
        if ability not in product.abilities:
            pytest.skip(f"{product.name} has no {ability}")
