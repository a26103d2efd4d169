"""The workspaces that installed the app by OAuth. Replaces their tokens in time and forgets removed installations."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from weakref import WeakValueDictionary

from pydantic import ValidationError
from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError, SlackRefusal, SlackUnreachable
from adapters.slack.events.peer_processes import APP_REMOVED, PeerProcesses
from adapters.slack.payloads.events import UninstallDelivery
from adapters.slack.payloads.responses import BotIdentity
from adapters.slack.posting.api import SlackApi
from adapters.slack.workspaces.oauth import AllowedAccounts, OAuthClient
from adapters.slack.workspaces.workspace_registry import (
    InstallationKey,
    SlackWorkspace,
    WorkspaceRegistry,
    address_fields_of,
    build_workspace,
    installation_key_of,
)
from bot.surface.installations import AppInstallation, AppInstallations

LOOKUP_TTL: Final = timedelta(seconds=60)  # after this, changes by another replica are noticed
REPLACE_BEFORE_EXPIRY: Final = timedelta(hours=2)
MIN_TOKEN_LIFETIME: Final = timedelta(minutes=2)  # a token closer to its expiry is not used
CLOSE_TIMEOUT_S: Final = 10.0  # long enough to finish a refresh; an interrupted one loses the token


@dataclass(slots=True, kw_only=True)
class _OpenWorkspace:
    installation: AppInstallation
    workspace: SlackWorkspace


class InstalledWorkspaces:
    """Fulfils `WorkspaceRegistry` with the allowed workspaces that installed the app."""

    def __init__(
        self,
        *,
        installations: AppInstallations,
        oauth: OAuthClient,
        allowed_accounts: AllowedAccounts,
        base_url: str,
        file_mb: int,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._file_mb = file_mb
        self._installations, self._oauth, self._allowed_accounts = installations, oauth, allowed_accounts
        self._base_url, self._clock, self._log = base_url, clock, log
        self._open_by_account: dict[str, _OpenWorkspace] = {}
        self._lookup_cache: dict[InstallationKey, tuple[datetime, str]] = {}  # time of the lookup, and the account
        self._lookup_locks: WeakValueDictionary[InstallationKey, asyncio.Lock] = WeakValueDictionary()
        self._open_lock = asyncio.Lock()
        self._replacement_tasks: dict[str, asyncio.Task[None]] = {}  # by account

    async def start(self) -> None:
        await self._oauth.start()

    async def close(self) -> None:
        if self._replacement_tasks:
            _, unfinished = await asyncio.wait(self._replacement_tasks.values(), timeout=CLOSE_TIMEOUT_S)
            for task in unfinished:
                task.cancel()
            if unfinished:
                await asyncio.wait(unfinished)
        for opened in self._open_by_account.values():
            await opened.workspace.api.close()
        self._open_by_account.clear()
        self._lookup_cache.clear()
        await self._oauth.close()

    async def workspace_for(self, installation_key: InstallationKey) -> SlackWorkspace | None:
        """Returns the workspace. Raises `SlackError` while its token has expired and is being replaced."""
        async with self._lookup_locks.setdefault(installation_key, asyncio.Lock()):
            looked_up_at, account = self._lookup_cache.get(installation_key, (None, ""))
            if (
                looked_up_at is not None
                and looked_up_at + LOOKUP_TTL > self._clock()
                and account in self._open_by_account
            ):
                return self._open_by_account[account].workspace
            return await self._look_up_workspace(installation_key)

    async def _look_up_workspace(self, installation_key: InstallationKey) -> SlackWorkspace | None:
        installation = await self._installations.find_installation(
            team=installation_key.team_id, enterprise=installation_key.enterprise_id
        )
        if installation is None or not self._allowed_accounts.is_allowed(installation):
            await self._forget_installation(installation_key)
            return None
        installation = await self._with_valid_tokens(installation)
        if (
            installation.is_org_wide
            and installation_key.team_id is not None
            and installation_key.enterprise_id is not None
        ):
            await self._installations.note_team(installation, installation_key.team_id)
        workspace = await self._open_or_reuse_workspace(installation)
        self._lookup_cache[installation_key] = (self._clock(), installation.account)
        return workspace

    async def _open_or_reuse_workspace(self, installation: AppInstallation) -> SlackWorkspace:
        """Returns the open workspace, with new tokens if they changed, so that pending messages keep their order."""
        async with self._open_lock:
            opened = self._open_by_account.get(installation.account)
            if opened is not None and opened.installation.installed_at == installation.installed_at:
                opened.workspace.api.replace_access_token(installation.tokens.access.get_secret_value())
                opened.installation = installation
                return opened.workspace
            if opened is not None:
                await opened.workspace.api.close()
            api = SlackApi(token=installation.tokens.access.get_secret_value(), base_url=self._base_url)
            await api.start()
            workspace = build_workspace(
                api, self._clock, self._log, _bot_identity_of(installation), file_mb=self._file_mb
            )
            self._open_by_account[installation.account] = _OpenWorkspace(installation=installation, workspace=workspace)
            return workspace

    # Leaving

    async def _forget_installation(self, installation_key: InstallationKey) -> None:
        _, account = self._lookup_cache.pop(installation_key, (None, ""))
        if account:
            await self._close_account_workspace(account)

    async def _close_account_workspace(self, account: str) -> None:
        self._lookup_cache = {key: cached for key, cached in self._lookup_cache.items() if cached[1] != account}
        opened = self._open_by_account.pop(account, None)
        if opened is not None:
            await opened.workspace.api.close()

    async def remove_installation(self, installation_key: InstallationKey, removed_at: datetime) -> None:
        """Remove the installation. The removal of one workspace does not remove an organisation-wide installation."""
        installation = await self._installations.find_installation(
            team=installation_key.team_id, enterprise=installation_key.enterprise_id
        )
        if installation is None:
            await self._forget_installation(installation_key)  # another process has dropped it
            return
        if installation.is_org_wide and installation_key.team_id is not None:
            return
        if await self._installations.drop_installation(installation, until=removed_at):
            await self._close_account_workspace(installation.account)

    # Tokens

    async def _with_valid_tokens(self, installation: AppInstallation) -> AppInstallation:
        """Returns the installation with valid tokens.

        Tokens that expire soon are replaced in the background; expired tokens are replaced first. Raises
        `SlackUnreachable` while another replica replaces them.
        """
        expires = installation.tokens.expires_at
        if expires is None or installation.tokens.refresh is None or self._clock() < expires - REPLACE_BEFORE_EXPIRY:
            return installation
        if self._clock() < expires - MIN_TOKEN_LIFETIME:
            self._replace_in_background(installation)
            return installation
        await self._replace_expiring_tokens(installation)
        replaced = await self._installations.find_installation(
            team=installation.team, enterprise=installation.enterprise
        )
        if replaced is None or replaced.revision == installation.revision:
            raise SlackUnreachable("the token has expired and is being replaced")
        return replaced

    def _replace_in_background(self, installation: AppInstallation) -> None:
        if installation.account not in self._replacement_tasks:
            task = asyncio.create_task(self._replace_expiring_tokens(installation))
            self._replacement_tasks[installation.account] = task
            task.add_done_callback(lambda ended: self._finish_token_replacement(installation.account, ended))

    def _finish_token_replacement(self, account: str, task: asyncio.Task[None]) -> None:
        del self._replacement_tasks[account]
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("slack token not stored", account=account, error=type(error).__name__)

    async def _replace_expiring_tokens(self, installation: AppInstallation) -> None:
        """Replace the tokens, in one replica only. If Slack does not answer, the lease delays the next attempt."""
        if installation.tokens.refresh is None or not await self._installations.lease_refresh(installation):
            return
        try:
            tokens = await self._oauth.exchange_refresh_token(installation.tokens.refresh)
        except SlackRefusal as exc:
            advice = "install the app there again"
            self._log.error("slack token not replaced", account=installation.account, reason=exc.error, advice=advice)
            return
        except SlackError as exc:
            self._log.warning("slack token not replaced yet", account=installation.account, reason=str(exc))
            return
        await self._installations.replace_tokens(installation, tokens)
        self._lookup_cache = {
            key: cached for key, cached in self._lookup_cache.items() if cached[1] != installation.account
        }
        self._log.info("slack token replaced", account=installation.account)


def _bot_identity_of(installation: AppInstallation) -> BotIdentity:
    """Returns the identity as `auth.test` would. An organisation-wide installation has the organisation as its team."""
    return BotIdentity(
        team_id=installation.team or installation.enterprise or "",
        user_id=installation.bot_user,
        enterprise_id=installation.enterprise,
        is_enterprise_install=installation.is_org_wide,
    )


class UninstallListener:
    """Handles removals of the app and revoked tokens. Fulfils `adapters.slack.events.dispatch.DeliveryListener`."""

    events = ("app_uninstalled", "tokens_revoked")

    def __init__(self, workspaces: WorkspaceRegistry, peers: PeerProcesses, log: FilteringBoundLogger) -> None:
        self._workspaces, self._peers, self._log = workspaces, peers, log

    def register_bolt_handlers(self, app: Any) -> None:
        for event in self.events:
            app.event(event)(self._on_app_removed)

    async def _on_app_removed(self, body: dict[str, Any]) -> None:
        """Remove the installation. Only revoked bot tokens count, because Parley has no others."""
        try:
            delivery = UninstallDelivery.model_validate(body)
        except ValidationError:
            return
        if delivery.event.type == "tokens_revoked" and not delivery.event.tokens.bot:
            return
        # Event times are whole seconds: an installation within the same second is the removed one.
        removed_at = datetime.fromtimestamp(delivery.event_time, UTC) + timedelta(seconds=1)
        installation_key = installation_key_of(body)
        await self._workspaces.remove_installation(installation_key, removed_at)
        await self._peers.notify_peer_processes(
            {**address_fields_of(installation_key), "type": APP_REMOVED, "at": removed_at.isoformat()}
        )
        consequence = "replies still due there end undelivered"
        self._log.warning(
            "slack app removed",
            team=installation_key.team_id,
            enterprise=installation_key.enterprise_id,
            consequence=consequence,
        )
