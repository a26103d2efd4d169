"""A home with receipts that only some people may see."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import OPERATOR, BucketId, Subject
from bot.settings import load_settings
from storage.search.schema import Schema
from tests.builders import a_document, a_receipt_schema
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


@pytest_asyncio.fixture
async def meaning_bot(tmp_path: Path) -> AsyncGenerator[Application]:
    """A home with vectors. Ann may see the receipts, but for one of other readers; nobody may see the permits."""
    settings = load_settings(tmp_path / "home", {"PARLEY_EMBEDDER": "wordllama"}).settings
    receipts, permits = BucketId("receipts"), BucketId("permits")
    async with open_application(settings) as opened:
        await opened.index.set_schema(a_receipt_schema())
        documents = [
            a_document("winch", "The winch was greased with graphite paste.", vendor="Northline"),
            a_document("sails", "Three sails were washed and dried.", vendor="Kestrel"),
            a_document("lamp", "A lamp for the harbour gate.", vendor="Harbor"),
            a_document("hidden", "A falcon hunts at dawn.", vendor="Merlin", readers=["user:local:eve"]),
        ]
        await opened.index.put(receipts, documents)
        await opened.index.set_schema(Schema(bucket=permits, title="Permits"))
        await opened.index.put(permits, [a_document("s-1", "The permit allows falconry.")])
        await opened.administration.grant_bucket(receipts, Subject("user:local:ann"), by=OPERATOR)
        yield opened
