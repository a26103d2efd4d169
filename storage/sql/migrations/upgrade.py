"""Upgrades the schema of a database, within the caller's transaction and under the caller's lock."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from storage.sql.errors import DatabaseTooNew
from storage.sql.migrations import HEAD

if TYPE_CHECKING:
    from alembic.config import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRevision:
    number: str
    title: str  # its first docstring line


def upgrade_schema(connection: Connection, location: str, *, check_only: bool = False) -> bool:
    """Upgrade the schema, unless `check_only`; returns whether it is up to date now. Raises `DatabaseTooNew`."""
    current_revision = read_current_revision(connection)
    if current_revision is not None and current_revision > HEAD:
        raise DatabaseTooNew(location, current_revision, HEAD)
    if current_revision != HEAD and not check_only:
        run_migrations(connection)
        return True
    return current_revision == HEAD


def read_current_revision(connection: Connection) -> str | None:
    """Returns the revision of the schema; None for a database without Parley's tables."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def list_pending_revisions(current_revision: str | None) -> list[PendingRevision]:
    """Returns what an upgrade from `current_revision` would run, in order."""
    from alembic.script import ScriptDirectory

    revisions = ScriptDirectory.from_config(_create_alembic_config()).walk_revisions()
    return [
        PendingRevision(number=script.revision, title=script.doc)
        for script in reversed(list(revisions))
        if current_revision is None or script.revision > current_revision
    ]


def run_migrations(connection: Connection, until: str = "head") -> None:
    """Runs the revisions up to and including `until` that have not run yet."""
    from alembic.command import upgrade as run

    config = _create_alembic_config()
    config.attributes["connection"] = connection
    run(config, until)


def _create_alembic_config() -> "Config":
    # Slow to import, and needed only if there is a revision to run.
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config
