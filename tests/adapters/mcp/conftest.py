"""A home with receipts that only some people may see."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.application import Application
from bot.bootstrap import open_application
from bot.settings import load_settings
from tests.cli.conftest import RECEIPTS, run_parley

SECRET = {
    "doc_id": "s-1",
    "title": "Falconry permit",
    "text": "The permit of Merlinwerks allows falconry at dawn.",
    "metadata": {"holder": "Merlinwerks", "fee": "900 EUR"},
}


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ann may see the receipts, nobody may see the permits. Tests that change grants grant to other people."""
    folder = tmp_path_factory.mktemp("mcp_home")
    for bucket, documents in (("receipts", RECEIPTS), ("permits", [SECRET])):
        source = folder / f"{bucket}.jsonl"
        source.write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
        assert run_parley(folder, "ingest", str(source), "--bucket", bucket).status == 0
    assert run_parley(folder, "grant", "receipts", "user:local:ann").status == 0
    return folder


@pytest_asyncio.fixture
async def bot(home: Path) -> AsyncGenerator[Application]:
    """The application of the home, in this process."""
    settings = load_settings(home).settings.model_copy(update={"embedder": "none"})
    async with open_application(settings) as opened:
        yield opened
