"""Where an app is installed in several workspaces: its tokens sealed in the database, and open only here."""

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pydantic import SecretStr

from bot.sealing import Seal
from storage.sql.database import Database
from storage.sql.installations import Installation as Stored
from storage.sql.installations import Installations as Store
from storage.sql.installations import NewInstallation as NewStored

MAY_TAKE: Final = timedelta(minutes=10)  # from the first click to the return from the product's page
AT_ONCE: Final = 1_000  # that have begun
LEASE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """`refresh` and `expires_at` of those that are replaced from time to time."""

    access: SecretStr
    refresh: SecretStr | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInstallation:
    """In one workspace, or in a whole organisation: then it has no team."""

    product: str
    team: str | None
    enterprise: str | None
    name: str  # as the product has it: data
    bot_user: str
    scopes: Sequence[str]
    tokens: Tokens
    installed_by: str  # a person, `slack:T1:U1`

    @property
    def account(self) -> str:
        """As `PARLEY_ACCOUNTS` names it."""
        return f"{self.product}:{self.team or self.enterprise}"

    @property
    def is_org_wide(self) -> bool:
        return self.team is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation(NewInstallation):
    installed_at: datetime
    stored: Stored

    @property
    def revision(self) -> int:
        """Another one means other tokens."""
        return self.stored.revision


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """An installation that a browser has begun: the one goes to the product's page and back, the other stays there."""

    state: str
    browser: str


class Installations:
    """Of one product. Raises `SqlError` where the database does not answer."""

    def __init__(self, product: str, database: Database, keys: Sequence[bytes]) -> None:
        self._product, self._store, self._seal = product, Store(database), Seal(keys)

    async def find(self, *, team: str | None, enterprise: str | None) -> Installation | None:
        """The workspace's, else its organisation's. None as well where the tokens were sealed with a lost key."""
        stored = await self._store.find(self._product, team=team, enterprise=enterprise)
        return None if stored is None else self._opened(stored)

    async def all(self) -> list[Installation]:
        """Those that can be used, by account."""
        opened = [self._opened(stored) for stored in await self._store.all()]
        return [one for one in opened if one is not None and one.product == self._product]

    async def put(self, new: NewInstallation) -> None:
        """In place of the one that was there."""
        await self._store.put(
            NewStored(
                account=new.account,
                team=new.team,
                enterprise=new.enterprise,
                name=new.name,
                bot_user=new.bot_user,
                scopes=new.scopes,
                tokens=self._sealed(new.tokens),
                expires_at=new.tokens.expires_at,
                installed_by=new.installed_by,
            )
        )

    async def drop(self, installation: Installation, *, until: datetime) -> bool:
        """At the product's word. False where it was installed anew after that."""
        return await self._store.drop(installation.account, by=self._product, until=until)

    async def note_team(self, installation: Installation, team: str) -> None:
        """A workspace of the organisation that it is for: later it may be named without that."""
        await self._store.note_team(installation.account, f"{self._product}:{team}")

    async def lease(self, installation: Installation) -> bool:
        """Whether its tokens may be replaced here now, for `LEASE`: a refresh token is good once."""
        return await self._store.lease(installation.stored, LEASE)

    async def replace(self, installation: Installation, tokens: Tokens) -> bool:
        """Ends the lease. False where others have replaced them since."""
        sealed = self._sealed(tokens)
        return await self._store.replace(installation.stored, tokens=sealed, expires_at=tokens.expires_at)

    # Installing

    async def begin(self) -> Begun | None:
        """None where as many as are kept have begun, and not ended yet."""
        begun = Begun(state=secrets.token_urlsafe(32), browser=secrets.token_urlsafe(32))
        is_kept = await self._store.begin(_hashed(begun.state), _hashed(begun.browser), MAY_TAKE, most=AT_ONCE)
        return begun if is_kept else None

    async def end(self, begun: Begun) -> bool:
        """Whether this browser has begun it, within `MAY_TAKE`, and comes back for the first time."""
        browser = await self._store.end(_hashed(begun.state))
        return browser is not None and secrets.compare_digest(browser, _hashed(begun.browser))

    def _sealed(self, tokens: Tokens) -> str:
        refresh = tokens.refresh.get_secret_value() if tokens.refresh else None
        return self._seal.sealed(json.dumps([tokens.access.get_secret_value(), refresh]))

    def _opened(self, stored: Stored) -> Installation | None:
        opened = self._seal.opened(stored.tokens)
        if opened is None:
            return None
        access, refresh = json.loads(opened)
        return Installation(
            product=stored.account.partition(":")[0],
            team=stored.team,
            enterprise=stored.enterprise,
            name=stored.name,
            bot_user=stored.bot_user,
            scopes=stored.scopes,
            tokens=Tokens(
                access=SecretStr(access),
                refresh=SecretStr(refresh) if refresh else None,
                expires_at=stored.expires_at,
            ),
            installed_by=stored.installed_by,
            installed_at=stored.installed_at,
            stored=stored,
        )


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
