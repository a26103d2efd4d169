"""The stand-in, and a reception to which it delivers."""

from collections.abc import AsyncIterator

import pytest

from tests.adapters.teams.reception import TeamsReception, serve_reception
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TenantPerson


@pytest.fixture
async def teams() -> AsyncIterator[TeamsServer]:
    async with TeamsServer() as server:
        yield server


@pytest.fixture
async def reception(teams: TeamsServer) -> AsyncIterator[TeamsReception]:
    async with serve_reception(TeamsReception(), teams) as reception:
        yield reception


@pytest.fixture
def ada(teams: TeamsServer) -> TenantPerson:
    return teams.tenant.add_person("Ada")
