"""Upgrades the schema of a database, within the caller's transaction and under the caller's lock."""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from storage.sql.errors import DatabaseTooNew
from storage.sql.migrations import HEAD


def upgrade_schema(connection: Connection, location: str, *, check_only: bool = False) -> bool:
    """Upgrade the schema, unless `check_only`; returns whether it is up to date now. Raises `DatabaseTooNew`."""
    current_revision = _read_current_revision(connection)
    if current_revision is not None and current_revision > HEAD:
        raise DatabaseTooNew(location, current_revision, HEAD)
    if current_revision != HEAD and not check_only:
        _run_alembic_migrations(connection)
        return True
    return current_revision == HEAD


def _read_current_revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _run_alembic_migrations(connection: Connection) -> None:
    # Slow to import, and needed only if there is a revision to run.
    from alembic.command import upgrade as run
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    run(config, "head")
