"""The workspaces where the app is installed, each with its API client, directory and outbox."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from pydantic import ValidationError
from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackRefusal
from adapters.slack.payloads.events import InstallationFields
from adapters.slack.payloads.objects import id_of_reference
from adapters.slack.payloads.responses import BotIdentity
from adapters.slack.posting.api import SlackApi
from adapters.slack.posting.streams import StreamPace
from adapters.slack.posting.workspace_outbox import MAX_FILE_MB, WorkspaceOutbox
from adapters.slack.workspaces.workspace_directory import WorkspaceDirectory
from bot.errors import InvalidSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationKey:
    """Slack's ids of an installation. On an Enterprise Grid the team may be missing."""

    team_id: str | None = None
    enterprise_id: str | None = None


NO_INSTALLATION: Final = InstallationKey()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackWorkspace:
    """One installation: a workspace, or all of an Enterprise Grid."""

    api: SlackApi
    directory: WorkspaceDirectory
    outbox: WorkspaceOutbox


def build_workspace(
    api: SlackApi,
    clock: Callable[[], datetime],
    log: FilteringBoundLogger,
    identity: BotIdentity | None = None,
    *,
    file_mb: int = MAX_FILE_MB,
    pace: StreamPace | None = None,
) -> SlackWorkspace:
    """Build the workspace of the installation that the token of `api` belongs to. `identity`: if known already."""
    outbox = WorkspaceOutbox(api, log, file_mb=file_mb, pace=pace)
    return SlackWorkspace(api=api, directory=WorkspaceDirectory(api, clock, log, identity), outbox=outbox)


class WorkspaceRegistry(Protocol):
    """The installations. Call `start` and `close` once each, in the event loop of the calls."""

    async def start(self) -> None:
        """Raises `InvalidSettings` for tokens that Slack refuses; retries later when Slack is down."""
        ...

    async def close(self) -> None: ...

    async def workspace_for(self, installation_key: InstallationKey) -> SlackWorkspace | None:
        """Returns the workspace; None where the app is not installed.

        Raises `SlackError` when the bot's own identity cannot be loaded.
        """
        ...

    async def remove_installation(self, installation_key: InstallationKey, removed_at: datetime) -> None:
        """Remove an installation, unless the app was installed again after `removed_at`.

        Replies that are still due there are not delivered.
        """
        ...


class SingleWorkspace:
    """Fulfils `WorkspaceRegistry` with one token, to which all deliveries belong.

    `accounts`: the allowed accounts; if empty, every account is allowed.
    """

    def __init__(self, workspace: SlackWorkspace, accounts: Sequence[str] = ()) -> None:
        self._workspace, self._accounts = workspace, frozenset(accounts)

    async def start(self) -> None:
        await self._workspace.api.start()
        try:
            identity = await self._workspace.directory.load_bot_identity()
        except SlackRefusal as exc:
            await self._workspace.api.close()
            advice = "copy the bot token from your Slack app's page, Install App"
            raise InvalidSettings("SLACK_BOT_TOKEN", f"is refused by Slack ({exc.error})", advice) from exc
        if not self._is_allowed_account(identity):
            await self._workspace.api.close()
            problem = f"does not name slack:{identity.team_id}, which SLACK_BOT_TOKEN is for"
            raise InvalidSettings("PARLEY_ACCOUNTS", problem, "add it there, or use the token of another workspace")

    async def close(self) -> None:
        await self._workspace.api.close()

    async def workspace_for(self, installation_key: InstallationKey) -> SlackWorkspace | None:
        return (
            self._workspace if self._is_allowed_account(await self._workspace.directory.load_bot_identity()) else None
        )

    async def remove_installation(self, installation_key: InstallationKey, removed_at: datetime) -> None:
        """Do nothing: the token comes from the settings, and Slack refuses it from now on."""

    def _is_allowed_account(self, identity: BotIdentity) -> bool:
        identity_accounts = {
            f"slack:{account_id}" for account_id in (identity.team_id, identity.enterprise_id) if account_id
        }
        return not self._accounts or not identity_accounts.isdisjoint(self._accounts)


def installation_key_of(body: Mapping[str, Any]) -> InstallationKey:
    """Returns the installation that a delivery is for; `NO_INSTALLATION` where it names none.

    In a channel shared between organisations, `team_id` may be the other organisation's; the authorization is always
    that of this app.
    """
    try:
        fields = InstallationFields.model_validate(body)
    except ValidationError:
        return NO_INSTALLATION
    if fields.authorizations:
        authorization = fields.authorizations[0]
        return InstallationKey(team_id=authorization.team_id, enterprise_id=authorization.enterprise_id)
    return InstallationKey(
        team_id=id_of_reference(fields.team) or fields.team_id,
        enterprise_id=id_of_reference(fields.enterprise) or fields.enterprise_id,
    )


def home_team_of(installation_key: InstallationKey, identity: BotIdentity) -> str:
    """Returns the team id used in the ids of conversations and channels; constant for one installation."""
    return (installation_key.team_id or identity.team_id) if identity.is_enterprise_install else identity.team_id


def installation_key_in(address: Mapping[str, str]) -> InstallationKey:
    """Returns the installation that an address names."""
    return InstallationKey(team_id=address.get("team"), enterprise_id=address.get("enterprise"))


def address_fields_of(installation_key: InstallationKey) -> dict[str, str]:
    """Returns the fields of an address that name the installation."""
    ids = {"team": installation_key.team_id, "enterprise": installation_key.enterprise_id}
    return {key: value for key, value in ids.items() if value}
