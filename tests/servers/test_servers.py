"""The real servers answer, and a missing server is reported in one line."""

import json
import urllib.request

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from tests.servers.missing import ServerMissing, skip_or_fail


@pytest.mark.servers
def test_opensearch_answers_and_scans_vectors(opensearch_url: str) -> None:
    with urllib.request.urlopen(f"{opensearch_url}/_cat/plugins?format=json") as response:
        plugins = json.load(response)
    with urllib.request.urlopen(opensearch_url) as response:
        version = json.load(response)["version"]["number"]

    assert version.split(".")[0] == "3"
    assert "opensearch-knn" in {plugin["component"] for plugin in plugins}


@pytest.mark.servers
@pytest.mark.parametrize("attempt", ["first", "second"])
async def test_each_test_has_its_own_empty_database(postgres_database: str, attempt: str) -> None:
    engine = create_async_engine(postgres_database, poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            await connection.execute(text(f"CREATE TABLE {attempt} (id int)"))
            names = await connection.scalars(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"))
    finally:
        await engine.dispose()

    assert list(names) == [attempt]


def test_a_missing_server_skips_the_test_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARLEY_TEST_REQUIRE", raising=False)

    with pytest.raises(pytest.skip.Exception, match="no opensearch server for tests: no Java"):
        skip_or_fail(ServerMissing("opensearch", "no Java", required=True))


def test_a_missing_server_fails_the_test_if_it_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLEY_TEST_REQUIRE", "1")
    monkeypatch.setenv("PARLEY_TEST_SKIP", "postgres")

    with pytest.raises(pytest.fail.Exception, match="PARLEY_TEST_SKIP=opensearch"):
        skip_or_fail(ServerMissing("opensearch", "no Java", required=True))
    with pytest.raises(pytest.skip.Exception):
        skip_or_fail(ServerMissing("opensearch", "no Maven Central", required=False))
    with pytest.raises(pytest.skip.Exception):
        skip_or_fail(ServerMissing("postgres", "initdb failed", required=True))
