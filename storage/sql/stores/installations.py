"""Installations of a chat product's app, with tokens sealed by the caller, and pending installations.

Expiring tokens are replaced under a lease, because a refresh token works only once. A process that lost the lease
changes nothing.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Index, and_, delete, func, insert, or_, select, update
from sqlalchemy.engine import Row
from sqlmodel import Field

from storage.sql import tables
from storage.sql.database import SqlDatabase
from storage.sql.stores.audit import write_audit_entry


@dataclass(frozen=True, kw_only=True)
class NewStoredInstallation:
    """An installation in one workspace, or in a whole organisation and then without a team. `tokens` are sealed."""

    account: tables.KeyText  # `slack:T1`, or `slack:E1` for a whole organisation
    team: str | None
    enterprise: str | None
    name: tables.PeopleText
    bot_user: str
    scopes: tables.JsonListColumn
    tokens: str
    expires_at: tables.OptionalUtcColumn  # of the tokens
    installed_by: str


@dataclass(frozen=True, kw_only=True)
class StoredInstallation(NewStoredInstallation):
    revision: int  # grows with every change of the tokens
    installed_at: tables.UtcColumn


class InstallationRow(tables.TableRow, StoredInstallation, frozen=True, table=True):
    __tablename__ = "installations"  # pyright: ignore[reportAssignmentType]

    __table_args__ = (Index("ix_installations_enterprise", "enterprise"),)

    leased_until: tables.OptionalUtcColumn  # by the process that replaces the tokens


class InstallationTeamRow(tables.TableRow, frozen=True, table=True):
    """Workspaces of an organisation in which the app is installed for the whole organisation."""

    __tablename__ = "installation_teams"  # pyright: ignore[reportAssignmentType]

    team: tables.KeyText
    account: str = Field(foreign_key="installations.account", ondelete="CASCADE", index=True)


class InstallationStateRow(tables.TableRow, frozen=True, table=True):
    """Pending installations; the state and the browser are stored as hashes."""

    __tablename__ = "installation_states"  # pyright: ignore[reportAssignmentType]

    state: tables.KeyText
    browser: str
    expires_at: tables.UtcColumn


installations: Final = InstallationRow.__table__
installation_teams: Final = InstallationTeamRow.__table__
installation_states: Final = InstallationStateRow.__table__


class InstallationStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def put_installation(self, new: NewStoredInstallation) -> None:
        """Store an installation in place of an earlier one. The audit entry contains no tokens."""
        await self._database.run_write(lambda connection: self._put_installation(connection, new))

    def _put_installation(self, connection: Connection, new: NewStoredInstallation) -> None:
        values = tables.column_values_of(new) | {
            "scopes": list(new.scopes),
            "revision": 1,
            "leased_until": None,
            "installed_at": self._database.utc_now(),
        }
        insert_statement = self._database.insert_into(installations).values(values)
        replaced_columns = {
            name: insert_statement.excluded[name] for name in values if name not in ("account", "revision")
        }
        updated_columns = {**replaced_columns, "revision": installations.c.revision + 1}
        connection.execute(insert_statement.on_conflict_do_update(index_elements=["account"], set_=updated_columns))
        audit_values = {"name": new.name, "scopes": list(new.scopes)}
        write_audit_entry(
            self._database, connection, "installation.add", new.account, by=new.installed_by, after=audit_values
        )

    async def list_installations(self) -> list[StoredInstallation]:
        """Returns all installations, in order of account."""
        query = select(installations).order_by(installations.c.account)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return [_installation_from_row(row) for row in rows]

    async def find_installation(
        self, product: str, *, team: str | None, enterprise: str | None
    ) -> StoredInstallation | None:
        """Returns the workspace's installation, else its organisation's.

        Without a team, returns the organisation's installation, else that of any of its workspaces.
        """
        if team is None and enterprise is None:
            return None
        accounts = [f"{product}:{account_id}" for account_id in (team, enterprise) if account_id is not None]
        team_accounts = select(installation_teams.c.account).where(installation_teams.c.team == f"{product}:{team}")
        conditions: list[ColumnElement[bool]] = [
            installations.c.account.in_(accounts),
            installations.c.account.in_(team_accounts),
        ]
        if team is None:
            conditions.append(
                and_(installations.c.enterprise == enterprise, installations.c.account.startswith(f"{product}:"))
            )
        query = select(installations).where(or_(*conditions)).order_by(installations.c.account)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        rows_by_precedence = sorted(
            rows, key=lambda row: accounts.index(row.account) if row.account in accounts else len(accounts)
        )
        return _installation_from_row(rows_by_precedence[0]) if rows_by_precedence else None

    async def note_team(self, account: str, team: str) -> None:
        """Record a workspace of the organisation in which the account is installed; `team` looks like an account."""
        insert_statement = self._database.insert_into(installation_teams).values(team=team, account=account)
        query = select(installations.c.account).where(installations.c.account == account)

        def upsert_known_team(connection: Connection) -> None:
            if connection.execute(query).first() is not None:
                updated_columns = {"account": insert_statement.excluded["account"]}
                connection.execute(
                    insert_statement.on_conflict_do_update(index_elements=["team"], set_=updated_columns)
                )

        await self._database.run_write(upsert_known_team)

    async def remove_installation(self, account: str, *, by: str, installed_until: datetime) -> bool:
        """Remove an installation; False if there is none, or if it was stored again after `installed_until`."""
        return await self._database.run_write(
            lambda connection: self._remove_installation(connection, account, by, installed_until)
        )

    def _remove_installation(self, connection: Connection, account: str, by: str, installed_until: datetime) -> bool:
        is_removable = and_(installations.c.account == account, installations.c.installed_at <= installed_until)
        old = connection.execute(select(installations).where(is_removable)).one_or_none()
        if old is None:
            return False
        connection.execute(delete(installations).where(is_removable))
        audit_values = {"name": old.name, "scopes": old.scopes}
        write_audit_entry(self._database, connection, "installation.remove", account, by=by, before=audit_values)
        return True

    # Tokens

    async def lease_token_refresh(self, known: StoredInstallation, duration: timedelta) -> bool:
        """Take the lease to replace tokens; False if another process has it, or if the tokens were replaced since."""
        now = self._database.utc_now()
        is_free = or_(installations.c.leased_until.is_(None), installations.c.leased_until <= now)
        statement = update(installations).where(_has_known_revision(known), is_free).values(leased_until=now + duration)
        return await self._database.run_write(lambda connection: connection.execute(statement).rowcount == 1)

    async def replace_leased_tokens(
        self, known: StoredInstallation, *, tokens: str, expires_at: datetime | None
    ) -> bool:
        """Store the new tokens and end the lease; False if another process has replaced the tokens since."""
        new_values = {"tokens": tokens, "expires_at": expires_at, "revision": known.revision + 1, "leased_until": None}
        statement = update(installations).where(_has_known_revision(known)).values(new_values)
        return await self._database.run_write(lambda connection: connection.execute(statement).rowcount == 1)

    # Pending installations

    async def begin_pending_installation(
        self, state: str, browser: str, lifetime: timedelta, *, max_pending: int
    ) -> bool:
        """Record a pending installation; `state` and `browser` are hashes. Deletes expired ones first.

        False, with nothing recorded, if `max_pending` are pending already.
        """
        now = self._database.utc_now()
        values = {"state": state, "browser": browser, "expires_at": now + lifetime}

        def insert_pending_state(connection: Connection) -> bool:
            connection.execute(delete(installation_states).where(installation_states.c.expires_at <= now))
            if connection.execute(select(func.count()).select_from(installation_states)).scalar_one() >= max_pending:
                return False
            connection.execute(insert(installation_states).values(values))
            return True

        return await self._database.run_write(insert_pending_state)

    async def end_pending_installation(self, state: str) -> str | None:
        """Delete a pending installation and return its browser; None if there is none or if it has expired."""
        statement = (
            delete(installation_states)
            .where(installation_states.c.state == state, installation_states.c.expires_at > self._database.utc_now())
            .returning(installation_states.c.browser)
        )
        return await self._database.run_write(lambda connection: connection.execute(statement).scalar_one_or_none())


def _has_known_revision(known: StoredInstallation) -> ColumnElement[bool]:
    """Matches no row once the tokens were replaced."""
    return and_(installations.c.account == known.account, installations.c.revision == known.revision)


def _installation_from_row(row: Row[Any]) -> StoredInstallation:
    return replace(tables.value_from_row(StoredInstallation, row), scopes=tuple(row.scopes))
