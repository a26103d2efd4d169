"""Builds the workspaces and the way that deliveries arrive from the settings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pydantic import SecretStr
from structlog.typing import FilteringBoundLogger

from adapters.slack.events.messages import SURFACE
from adapters.slack.posting.api import SlackApi
from adapters.slack.settings import SlackSettings
from adapters.slack.workspaces.installed_workspaces import InstalledWorkspaces
from adapters.slack.workspaces.oauth import AllowedAccounts, OAuthClient, OAuthRoutes
from adapters.slack.workspaces.workspace_registry import SingleWorkspace, WorkspaceRegistry, build_workspace
from bot.errors import InvalidSettings
from bot.settings_section import SectionT
from bot.surface.installations import AppInstallations


class ConnectionSettings(Protocol):
    """The bot's settings that the connection to Slack reads, and its section for Slack."""

    @property
    def accounts(self) -> Sequence[str]: ...

    @property
    def link_base(self) -> str: ...

    def section(self, section_type: type[SectionT]) -> SectionT: ...


class ConnectionBot(Protocol):
    """The parts of the bot that the connection to Slack needs."""

    @property
    def settings(self) -> ConnectionSettings: ...

    @property
    def clock(self) -> Callable[[], datetime]: ...

    @property
    def log(self) -> FilteringBoundLogger: ...

    def installations_for(self, product: str) -> AppInstallations: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackConnection:
    """The connection to Slack. Deliveries come over HTTP with `signing_secret`, or over a socket with `app_api`."""

    workspaces: WorkspaceRegistry
    signing_secret: str | None = None
    app_api: SlackApi | None = None
    oauth_routes: OAuthRoutes | None = None


def slack_connection_for(bot: ConnectionBot) -> SlackConnection | None:
    """Build the connection; None where Slack is not set up.

    Slack is set up by a bot token for one workspace or by a client id for several. Deliveries come over sockets with an
    app-level token, else over signed HTTP. Raises `InvalidSettings`.
    """
    slack = bot.settings.section(SlackSettings)
    if not slack.is_configured:
        return None
    check_connection_settings(slack, bot.settings.accounts)
    oauth_routes = None
    if slack.client_id is None:
        workspaces: WorkspaceRegistry = _build_single_workspace(bot, slack)
    else:
        workspaces, oauth_routes = _build_installed_workspaces(bot, slack, slack.client_id)
    app_token, signing_secret = _secret_text_of(slack.app_token), _secret_text_of(slack.signing_secret)
    return SlackConnection(
        workspaces=workspaces,
        signing_secret=None if app_token else signing_secret,
        app_api=SlackApi(token=app_token, base_url=slack.api_url) if app_token else None,
        oauth_routes=oauth_routes,
    )


def check_connection_settings(slack: SlackSettings, accounts: Sequence[str]) -> None:
    """Raises `InvalidSettings` where the settings are incomplete or contradict each other."""
    client_setting = "SLACK_BOT_TOKEN" if slack.client_id is None else "SLACK_CLIENT_ID"
    copy_advice = "copy it from your Slack app's page, Basic Information"
    if slack.signing_secret is None and slack.app_token is None:
        raise InvalidSettings("SLACK_SIGNING_SECRET", f"is not set, but {client_setting} is", copy_advice)
    if slack.client_id is None:
        return
    if slack.client_secret is None:
        raise InvalidSettings("SLACK_CLIENT_SECRET", "is not set, but SLACK_CLIENT_ID is", copy_advice)
    if slack.bot_token is not None:
        advice = "several workspaces have tokens of their own; remove SLACK_BOT_TOKEN, or SLACK_CLIENT_ID for just one"
        raise InvalidSettings("SLACK_BOT_TOKEN", "is set beside SLACK_CLIENT_ID", advice)
    if not any(account.startswith(f"{SURFACE}:") for account in accounts):
        # Otherwise anyone who finds the address could install the app in a foreign workspace and count as everyone.
        advice = "name the workspaces that may install the app: slack:T0123,slack:T0456, or slack:E0123 of a Grid"
        raise InvalidSettings("PARLEY_ACCOUNTS", "names no Slack workspace, but SLACK_CLIENT_ID is set", advice)


def _build_single_workspace(bot: ConnectionBot, slack: SlackSettings) -> SingleWorkspace:
    api = SlackApi(token=_secret_text_of(slack.bot_token), base_url=slack.api_url)
    return SingleWorkspace(build_workspace(api, bot.clock, bot.log, file_mb=slack.file_mb), bot.settings.accounts)


def _build_installed_workspaces(
    bot: ConnectionBot, slack: SlackSettings, client_id: str
) -> tuple[InstalledWorkspaces, OAuthRoutes]:
    secret, base = _secret_text_of(slack.client_secret) or "", slack.api_url
    oauth = OAuthClient(client_id=client_id, client_secret=secret, base_url=base, clock=bot.clock)
    installations, allowed = bot.installations_for(SURFACE), AllowedAccounts(bot.settings.accounts)
    workspaces = InstalledWorkspaces(
        installations=installations,
        oauth=oauth,
        allowed_accounts=allowed,
        base_url=base,
        file_mb=slack.file_mb,
        clock=bot.clock,
        log=bot.log,
    )
    return workspaces, OAuthRoutes(
        oauth=oauth,
        installations=installations,
        allowed_accounts=allowed,
        link_base=bot.settings.link_base,
        clock=bot.clock,
        log=bot.log,
    )


def _secret_text_of(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
