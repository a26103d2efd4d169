"""Fixtures: a new database, once on SQLite and once on PostgreSQL, with a clock that the test sets."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from storage.sql.database import SqlDatabase
from storage.sql.database_url import sqlite_url_for


class SetClock:
    """Stands still until the test moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **parts: float) -> None:
        self.now += timedelta(**parts)


@pytest.fixture
def sqlite_database(tmp_path: Path) -> str:
    return sqlite_url_for(tmp_path / "home" / "parley.db")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.servers)])
def database_url(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(f"{request.param}_database")


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest_asyncio.fixture
async def database(database_url: str, clock: SetClock) -> AsyncIterator[SqlDatabase]:
    opened = await SqlDatabase.open(database_url, clock=clock)
    yield opened
    await opened.close()
