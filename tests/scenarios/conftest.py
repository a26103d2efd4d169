"""A whole bot over each search index: real SQLite, the real agent, a reasoner that knows some questions by heart."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.bootstrap import Bot, build_bot
from bot.settings import load_settings
from storage.search.index import SearchIndex
from tests.builders import TENANT
from tests.contracts.conftest import embedded as embedded
from tests.contracts.conftest import embedder as embedder
from tests.contracts.conftest import index as index
from tests.contracts.conftest import joined as joined
from tests.contracts.conftest import opener as opener
from tests.contracts.conftest import opensearch as opensearch
from tests.scenarios.clicking import AlsoStartsOver, Script


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def clicked_bot(tmp_path: Path, index: SearchIndex, script: Script) -> AsyncIterator[Bot]:
    async with a_bot(tmp_path, index, script) as bot:
        yield bot


@asynccontextmanager
async def a_bot(folder: Path, index: SearchIndex, script: Script) -> AsyncGenerator[Bot]:
    """Its home lies in `folder`."""
    settings = load_settings(folder / "home", {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none"}).settings
    async with build_bot(settings, index=index, agent=AlsoStartsOver(), reasoner=script) as bot:
        yield bot
