"""The stand-in with two people, a channel and a group chat, and a reception to which it delivers."""

from collections.abc import AsyncIterator

import pytest

from tests.adapters.teams.reception import TeamsReception, serve_reception
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TenantConversation, TenantPerson


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


@pytest.fixture
def bob(teams: TeamsServer) -> TenantPerson:
    return teams.tenant.add_person("Bob")


@pytest.fixture
def channel(teams: TeamsServer, ada: TenantPerson, bob: TenantPerson) -> TenantConversation:
    return teams.tenant.add_channel(teams.tenant.add_team("Plant", ada, bob), "Pumps")


@pytest.fixture
def group(teams: TeamsServer, ada: TenantPerson, bob: TenantPerson) -> TenantConversation:
    return teams.tenant.add_group_chat("Shift", ada, bob)
