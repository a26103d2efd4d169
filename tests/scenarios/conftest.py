"""A whole bot over each search index: real SQLite, the real agent, and a reasoner with prepared plans."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.application import Application
from bot.bootstrap import open_application
from bot.settings import load_settings
from storage.search.index import SearchIndex
from tests.builders import TENANT
from tests.contracts.conftest import embedded as embedded
from tests.contracts.conftest import embedder as embedder
from tests.contracts.conftest import index as index
from tests.contracts.conftest import joined as joined
from tests.contracts.conftest import opener as opener
from tests.contracts.conftest import opensearch as opensearch
from tests.scenarios.clicking import RestartOfferingAgent, ScriptedReasoner
from tests.scenarios.surfaces.office import ChatProduct
from tests.scenarios.surfaces.selection import SURFACES, open_product, skip_without_abilities


@pytest.fixture(params=SURFACES)
async def product(request: pytest.FixtureRequest) -> AsyncIterator[ChatProduct]:
    """Each chat product in turn. A test whose `needs` marker names what a product lacks is skipped there."""
    async with open_product(request.param) as product:
        skip_without_abilities(product, request.node)
        yield product


@pytest.fixture
def script() -> ScriptedReasoner:
    return ScriptedReasoner()


@pytest.fixture
async def clicked_bot(tmp_path: Path, index: SearchIndex, script: ScriptedReasoner) -> AsyncIterator[Application]:
    async with a_bot(tmp_path, index, script) as bot:
        yield bot


@asynccontextmanager
async def a_bot(folder: Path, index: SearchIndex, script: ScriptedReasoner) -> AsyncGenerator[Application]:
    """A bot with its home in `folder`."""
    settings = load_settings(folder / "home", {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none"}).settings
    async with open_application(settings, index=index, agent=RestartOfferingAgent(), reasoner=script) as bot:
        yield bot
