"""Where a chat product's app is installed, with its tokens as the caller has sealed them, and who is just installing.

Tokens that expire are replaced under a lease, since a refresh token is good once: whoever lost it changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, or_, select, update
from sqlalchemy.engine import Row

from storage.sql.audit import record
from storage.sql.database import Database
from storage.sql.tables import installation_states, installation_teams, installations


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInstallation:
    """Of one workspace, or of a whole organisation: then it has no team. `tokens` are sealed."""

    account: str  # `slack:T1`; `slack:E1` of a whole organisation
    team: str | None
    enterprise: str | None
    name: str
    bot_user: str
    scopes: Sequence[str]
    tokens: str
    expires_at: datetime | None  # of the tokens
    installed_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation(NewInstallation):
    revision: int  # grows with every change of the tokens
    installed_at: datetime


class Installations:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, new: NewInstallation) -> None:
        """In place of the one that was there. Its audit entry says nothing of tokens."""
        await self._database.write(lambda connection: self._put(connection, new))

    def _put(self, connection: Connection, new: NewInstallation) -> None:
        values = {name: getattr(new, name) for name in NewInstallation.__dataclass_fields__} | {
            "scopes": list(new.scopes),
            "revision": 1,
            "leased_until": None,
            "installed_at": self._database.now(),
        }
        putting = self._database.insert(installations).values(values)
        kept = {name: putting.excluded[name] for name in values if name not in ("account", "revision")}
        changed = {**kept, "revision": installations.c.revision + 1}
        connection.execute(putting.on_conflict_do_update(index_elements=["account"], set_=changed))
        told = {"name": new.name, "scopes": list(new.scopes)}
        record(self._database, connection, "installation.add", new.account, by=new.installed_by, after=told)

    async def all(self) -> list[Installation]:
        """By account."""
        asked = select(installations).order_by(installations.c.account)
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        return [_installation(row) for row in rows]

    async def find(self, product: str, *, team: str | None, enterprise: str | None) -> Installation | None:
        """The workspace's own, else its organisation's, else any of the organisation's workspaces where the team does
        not say."""
        if team is None and enterprise is None:
            return None
        accounts = [f"{product}:{one}" for one in (team, enterprise) if one is not None]
        of_team = select(installation_teams.c.account).where(installation_teams.c.team == f"{product}:{team}")
        meant: list[ColumnElement[bool]] = [installations.c.account.in_(accounts), installations.c.account.in_(of_team)]
        if team is None:
            meant.append(
                and_(installations.c.enterprise == enterprise, installations.c.account.startswith(f"{product}:"))
            )
        asked = select(installations).where(or_(*meant)).order_by(installations.c.account)
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        nearest = sorted(
            rows, key=lambda row: accounts.index(row.account) if row.account in accounts else len(accounts)
        )
        return _installation(nearest[0]) if nearest else None

    async def note_team(self, account: str, team: str) -> None:
        """A workspace of the organisation that the account is installed in; `team` as an account."""
        noting = self._database.insert(installation_teams).values(team=team, account=account)
        there = select(installations.c.account).where(installations.c.account == account)

        def note(connection: Connection) -> None:
            if connection.execute(there).first() is not None:
                changed = {"account": noting.excluded["account"]}
                connection.execute(noting.on_conflict_do_update(index_elements=["team"], set_=changed))

        await self._database.write(note)

    async def drop(self, account: str, *, by: str, until: datetime) -> bool:
        """False, and nothing is changed, where it is not installed, or was again after `until`."""
        return await self._database.write(lambda connection: self._drop(connection, account, by, until))

    def _drop(self, connection: Connection, account: str, by: str, until: datetime) -> bool:
        is_it = and_(installations.c.account == account, installations.c.installed_at <= until)
        old = connection.execute(select(installations).where(is_it)).one_or_none()
        if old is None:
            return False
        connection.execute(delete(installations).where(is_it))
        told = {"name": old.name, "scopes": old.scopes}
        record(self._database, connection, "installation.remove", account, by=by, before=told)
        return True

    # Tokens

    async def lease(self, known: Installation, length: timedelta) -> bool:
        """Whether its tokens may be replaced from here now: nobody else is at it, and they are still the ones known."""
        now = self._database.now()
        free = or_(installations.c.leased_until.is_(None), installations.c.leased_until <= now)
        leasing = update(installations).where(_is(known), free).values(leased_until=now + length)
        return await self._database.write(lambda connection: connection.execute(leasing).rowcount == 1)

    async def replace(self, known: Installation, *, tokens: str, expires_at: datetime | None) -> bool:
        """Ends the lease. False where others have replaced them since."""
        fresh = {"tokens": tokens, "expires_at": expires_at, "revision": known.revision + 1, "leased_until": None}
        replacing = update(installations).where(_is(known)).values(fresh)
        return await self._database.write(lambda connection: connection.execute(replacing).rowcount == 1)

    # Who is just installing

    async def begin(self, state: str, browser: str, lasts: timedelta, *, most: int) -> bool:
        """Both as hashes. Those whose time is over are forgotten; False, and not kept, where there are `most`."""
        now = self._database.now()
        values = {"state": state, "browser": browser, "expires_at": now + lasts}

        def begin(connection: Connection) -> bool:
            connection.execute(delete(installation_states).where(installation_states.c.expires_at <= now))
            if connection.execute(select(func.count()).select_from(installation_states)).scalar_one() >= most:
                return False
            connection.execute(insert(installation_states).values(values))
            return True

        return await self._database.write(begin)

    async def end(self, state: str) -> str | None:
        """The browser that began, once; None where nobody did, or too long ago."""
        taking = (
            delete(installation_states)
            .where(installation_states.c.state == state, installation_states.c.expires_at > self._database.now())
            .returning(installation_states.c.browser)
        )
        return await self._database.write(lambda connection: connection.execute(taking).scalar_one_or_none())


def _is(known: Installation) -> ColumnElement[bool]:
    """Meets no row once the tokens are others."""
    return and_(installations.c.account == known.account, installations.c.revision == known.revision)


_NAMES: Final = tuple(Installation.__dataclass_fields__)


def _installation(row: Row[Any]) -> Installation:
    values: dict[str, Any] = {name: getattr(row, name) for name in _NAMES}
    values["scopes"] = tuple(row.scopes)
    return Installation(**values)
