"""Bring a database up to date, within the caller's transaction and under the caller's lock."""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from storage.sql.errors import DatabaseTooNew
from storage.sql.migrations import HEAD


def upgrade(connection: Connection, where: str, *, check_only: bool = False) -> bool:
    """Whether it is up to date now; only looks if `check_only`. Raises `DatabaseTooNew`."""
    found = _revision(connection)
    if found is not None and found > HEAD:
        raise DatabaseTooNew(where, found, HEAD)
    if found != HEAD and not check_only:
        _run(connection)
        return True
    return found == HEAD


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _run(connection: Connection) -> None:
    # Slow to import, and needed only where there is something to do.
    from alembic.command import upgrade as run
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    run(config, "head")
