"""Inspecting a database: its revision, what is pending, and what does not fit."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import create_async_engine

from storage.sql.database import SqlDatabase
from storage.sql.inspection import DatabaseInspection, inspect_database
from storage.sql.migrations import HEAD
from tests.contracts.sql.databases import SetClock

# What the tests' server is started without, since its data is thrown away.
_NOT_DURABLE = (
    "durability: a crash of the server loses messages that were acknowledged; set in postgresql.conf:"
    " fsync = on, full_page_writes = on, synchronous_commit = on"
)


async def inspect_now(url: str, *, process_count: int = 2) -> DatabaseInspection:
    return await inspect_database(url, clock=lambda: datetime.now(UTC), process_count=process_count)


async def execute_statements(url: str, *statements: str) -> None:
    engine = create_async_engine(url, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        for statement in statements:
            await connection.execute(text(statement))
    await engine.dispose()


def other_faults_of(inspection: DatabaseInspection) -> list[str]:
    return [fault for fault in inspection.faults if fault != _NOT_DURABLE]


@pytest.fixture
async def role(postgres_database: str) -> AsyncIterator[str]:
    """A role without rights, which is dropped with what it was granted."""
    name = f"role_{make_url(postgres_database).database}"
    await execute_statements(postgres_database, f"CREATE ROLE {name} LOGIN")
    yield name
    await execute_statements(postgres_database, f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def url_of_role(url: str, role: str) -> str:
    return make_url(url).set(username=role).render_as_string(hide_password=False)


async def test_a_database_without_tables_has_every_revision_pending(database_url: str, clock: SetClock) -> None:
    before = await inspect_now(database_url)
    await (await SqlDatabase.open(database_url, clock=clock)).close()

    after = await inspect_now(database_url)
    assert (before.revision, before.pending[0].number, before.pending[-1].number) == (None, "0001", HEAD)
    assert "create them with parley db upgrade" in before.faults[0]
    assert (after.revision, list(after.pending), other_faults_of(after)) == (HEAD, [], [])


async def test_an_inspection_does_not_upgrade(database: SqlDatabase, database_url: str) -> None:
    set_earlier_revision = text("UPDATE alembic_version SET version_num = '0015'")
    await database.run_write(lambda connection: connection.execute(set_earlier_revision).rowcount)

    inspections = [await inspect_now(database_url), await inspect_now(database_url)]

    assert [inspection.revision for inspection in inspections] == ["0015", "0015"]
    pending = [revision.number for revision in inspections[0].pending]
    assert (pending[0], pending[-1]) == ("0016", HEAD)
    assert f"{len(pending)} to run; upgrade it with parley db upgrade" in inspections[0].faults[0]


async def test_a_later_schema_asks_for_an_update_of_parley(database: SqlDatabase, database_url: str) -> None:
    set_later_revision = text("UPDATE alembic_version SET version_num = '9001'")
    await database.run_write(lambda connection: connection.execute(set_later_revision).rowcount)

    inspection = await inspect_now(database_url)

    assert "update Parley" in inspection.faults[0]


@pytest.mark.servers
async def test_a_server_whose_settings_do_not_fit_is_reported_with_the_fix(
    postgres_database: str, clock: SetClock
) -> None:
    await (await SqlDatabase.open(postgres_database, clock=clock)).close()

    two_processes = await inspect_now(postgres_database)
    many_processes = await inspect_now(postgres_database, process_count=500)
    late = await inspect_database(
        postgres_database, clock=lambda: datetime.now(UTC) - timedelta(minutes=1), process_count=2
    )

    assert two_processes.faults == [_NOT_DURABLE]
    assert "may use 10000; raise max_connections" in other_faults_of(many_processes)[0]
    assert "synchronise the clocks of both machines" in other_faults_of(late)[0]


@pytest.mark.servers
async def test_missing_rights_are_reported_with_the_statement_that_grants_them(
    postgres_database: str, role: str, clock: SetClock
) -> None:
    await (await SqlDatabase.open(postgres_database, clock=clock)).close()
    url = url_of_role(postgres_database, role)

    refused = await inspect_now(url)
    await execute_statements(
        postgres_database,
        f"GRANT SELECT ON alembic_version TO {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
    )
    without_sequences = await inspect_now(url)
    await execute_statements(
        postgres_database,
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}",
        f"GRANT CREATE ON SCHEMA public TO {role}",
    )
    granted = await inspect_now(url)

    grant_statement = f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"
    assert any(grant_statement in fault for fault in refused.faults)
    [rights_fault] = [fault for fault in without_sequences.faults if fault.startswith("rights:")]
    assert "audit" in rights_fault  # its rows are numbered
    assert "choices" not in rights_fault
    assert other_faults_of(granted) == []


@pytest.mark.servers
async def test_a_server_that_allows_no_writes_is_reported(postgres_database: str, clock: SetClock) -> None:
    await (await SqlDatabase.open(postgres_database, clock=clock)).close()
    name = make_url(postgres_database).database
    await execute_statements(postgres_database, f"ALTER DATABASE {name} SET default_transaction_read_only = on")

    inspection = await inspect_now(postgres_database)

    assert "transactions are read-only" in other_faults_of(inspection)[0]


async def test_an_unreachable_server_is_a_finding_without_a_password() -> None:
    inspection = await inspect_now("postgresql://ann:hush@127.0.0.1:9/x")

    [fault] = inspection.faults
    assert "is not available" in fault
    assert "hush" not in fault
