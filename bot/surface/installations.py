"""Installations of an app in several workspaces. Their tokens are sealed in the database, and opened only here."""

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pydantic import SecretStr

from bot.surface.secret_sealing import SecretSeal
from storage.sql.database import SqlDatabase
from storage.sql.stores.installations import InstallationStore, NewStoredInstallation, StoredInstallation

INSTALL_TIMEOUT: Final = timedelta(minutes=10)  # from the first click to the return from the product's page
MAX_PENDING_INSTALLS: Final = 1_000  # started and not completed
REFRESH_LEASE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessTokens:
    """Tokens that expire have `refresh` and `expires_at`."""

    access: SecretStr
    refresh: SecretStr | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAppInstallation:
    """An installation in one workspace, or in a whole organisation; then it has no team."""

    product: str
    team: str | None
    enterprise: str | None
    name: str  # as the product writes it: data
    bot_user: str
    scopes: Sequence[str]
    tokens: AccessTokens
    installed_by: str  # a person, `slack:T1:U1`

    @property
    def account(self) -> str:
        """The account in the form of `PARLEY_ACCOUNTS`."""
        return f"{self.product}:{self.team or self.enterprise}"

    @property
    def is_org_wide(self) -> bool:
        return self.team is None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppInstallation(NewAppInstallation):
    installed_at: datetime
    stored: StoredInstallation

    @property
    def revision(self) -> int:
        """Changes when the tokens change."""
        return self.stored.revision


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingInstall:
    """An installation that a browser has started. `state` goes to the product's page and back; `browser_token` stays in
    the browser.
    """

    state: str
    browser_token: str


class AppInstallations:
    """The installations of one product. Raises `SqlError` where the database does not answer."""

    def __init__(self, product: str, database: SqlDatabase, keys: Sequence[bytes]) -> None:
        self._product, self._store, self._seal = product, InstallationStore(database), SecretSeal(keys)

    async def find_installation(self, *, team: str | None, enterprise: str | None) -> AppInstallation | None:
        """The workspace's installation, else its organisation's. None also where the tokens were sealed with a lost
        key.
        """
        stored = await self._store.find_installation(self._product, team=team, enterprise=enterprise)
        return None if stored is None else self._unseal_installation(stored)

    async def list_installations(self) -> list[AppInstallation]:
        """The usable installations, by account."""
        opened = [self._unseal_installation(stored) for stored in await self._store.list_installations()]
        return [
            installation
            for installation in opened
            if installation is not None and installation.product == self._product
        ]

    async def save_installation(self, new: NewAppInstallation) -> None:
        """Replaces the account's installation, if there is one."""
        await self._store.put_installation(
            NewStoredInstallation(
                account=new.account,
                team=new.team,
                enterprise=new.enterprise,
                name=new.name,
                bot_user=new.bot_user,
                scopes=new.scopes,
                tokens=self._seal_tokens(new.tokens),
                expires_at=new.tokens.expires_at,
                installed_by=new.installed_by,
            )
        )

    async def drop_installation(self, installation: AppInstallation, *, until: datetime) -> bool:
        """Removes an installation that the product reports as removed. False where the app was installed again after
        `until`.
        """
        return await self._store.remove_installation(installation.account, by=self._product, installed_until=until)

    async def note_team(self, installation: AppInstallation, team: str) -> None:
        """Records a workspace of the installation's organisation, because later events may name the workspace alone."""
        await self._store.note_team(installation.account, f"{self._product}:{team}")

    async def lease_refresh(self, installation: AppInstallation) -> bool:
        """Whether this process may replace the tokens now, for `REFRESH_LEASE`. A refresh token works only once."""
        return await self._store.lease_token_refresh(installation.stored, REFRESH_LEASE)

    async def replace_tokens(self, installation: AppInstallation, tokens: AccessTokens) -> bool:
        """Ends the lease. False where another process has replaced the tokens since."""
        sealed = self._seal_tokens(tokens)
        return await self._store.replace_leased_tokens(installation.stored, tokens=sealed, expires_at=tokens.expires_at)

    # Installing

    async def begin_install(self) -> PendingInstall | None:
        """None while `MAX_PENDING_INSTALLS` installations are pending."""
        pending = PendingInstall(state=secrets.token_urlsafe(32), browser_token=secrets.token_urlsafe(32))
        is_stored = await self._store.begin_pending_installation(
            _hash_secret(pending.state),
            _hash_secret(pending.browser_token),
            INSTALL_TIMEOUT,
            max_pending=MAX_PENDING_INSTALLS,
        )
        return pending if is_stored else None

    async def complete_install(self, pending: PendingInstall) -> bool:
        """Whether this browser started the installation within `INSTALL_TIMEOUT`, and returns for the first time."""
        expected_hash = await self._store.end_pending_installation(_hash_secret(pending.state))
        return expected_hash is not None and secrets.compare_digest(expected_hash, _hash_secret(pending.browser_token))

    def _seal_tokens(self, tokens: AccessTokens) -> str:
        refresh = tokens.refresh.get_secret_value() if tokens.refresh else None
        return self._seal.seal_secret(json.dumps([tokens.access.get_secret_value(), refresh]))

    def _unseal_installation(self, stored: StoredInstallation) -> AppInstallation | None:
        tokens_json = self._seal.open_secret(stored.tokens)
        if tokens_json is None:
            return None
        access, refresh = json.loads(tokens_json)
        return AppInstallation(
            product=stored.account.partition(":")[0],
            team=stored.team,
            enterprise=stored.enterprise,
            name=stored.name,
            bot_user=stored.bot_user,
            scopes=stored.scopes,
            tokens=AccessTokens(
                access=SecretStr(access),
                refresh=SecretStr(refresh) if refresh else None,
                expires_at=stored.expires_at,
            ),
            installed_by=stored.installed_by,
            installed_at=stored.installed_at,
            stored=stored,
        )


def _hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
