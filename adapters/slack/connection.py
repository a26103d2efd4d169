"""Which workspaces there are and how their deliveries come in, by the settings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pydantic import SecretStr
from structlog.typing import FilteringBoundLogger

from adapters.slack.api import SlackApi
from adapters.slack.inbound import SURFACE
from adapters.slack.install import Allowed, Installing, OAuth
from adapters.slack.installations import ManyWorkspaces
from adapters.slack.workspaces import OneWorkspace, Workspaces, workspace_with
from bot.errors import InvalidSettings
from bot.installations import Installations


class ConnectionSettings(Protocol):
    """What is read here of the bot's settings."""

    @property
    def slack_bot_token(self) -> SecretStr | None: ...

    @property
    def slack_signing_secret(self) -> SecretStr | None: ...

    @property
    def slack_app_token(self) -> SecretStr | None: ...

    @property
    def slack_client_id(self) -> str | None: ...

    @property
    def slack_client_secret(self) -> SecretStr | None: ...

    @property
    def slack_api_url(self) -> str: ...

    @property
    def slack_file_mb(self) -> int: ...

    @property
    def accounts(self) -> Sequence[str]: ...

    @property
    def link_base(self) -> str: ...


class ConnectionBot(Protocol):
    """What is needed here of the bot."""

    @property
    def settings(self) -> ConnectionSettings: ...

    @property
    def clock(self) -> Callable[[], datetime]: ...

    @property
    def log(self) -> FilteringBoundLogger: ...

    def installations(self, product: str) -> Installations: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """With the signing secret there is a route for deliveries; with the app's own token, in `app_api`, a socket."""

    workspaces: Workspaces
    signing_secret: str | None = None
    app_api: SlackApi | None = None
    installing: Installing | None = None


def connection(bot: ConnectionBot) -> Connection | None:
    """None where Slack is not set up: neither a bot token, for one workspace, nor a client id, for several.

    Deliveries come over sockets where there is an app token, else signed over HTTP. Raises `InvalidSettings`.
    """
    settings = bot.settings
    if settings.slack_client_id is None and settings.slack_bot_token is None:
        return None
    check(settings)
    installing = None
    if settings.slack_client_id is None:
        workspaces: Workspaces = _one(bot)
    else:
        workspaces, installing = _several(bot, settings.slack_client_id)
    app_token, secret = _text(settings.slack_app_token), _text(settings.slack_signing_secret)
    return Connection(
        workspaces=workspaces,
        signing_secret=None if app_token else secret,
        app_api=SlackApi(token=app_token, base_url=settings.slack_api_url) if app_token else None,
        installing=installing,
    )


def check(settings: ConnectionSettings) -> None:
    """Raises `InvalidSettings` where some that belong together are not."""
    named = "SLACK_BOT_TOKEN" if settings.slack_client_id is None else "SLACK_CLIENT_ID"
    page = "copy it from your Slack app's page, Basic Information"
    if settings.slack_signing_secret is None and settings.slack_app_token is None:
        raise InvalidSettings("SLACK_SIGNING_SECRET", f"is not set, but {named} is", page)
    if settings.slack_client_id is None:
        return
    if settings.slack_client_secret is None:
        raise InvalidSettings("SLACK_CLIENT_SECRET", "is not set, but SLACK_CLIENT_ID is", page)
    if settings.slack_bot_token is not None:
        advice = "several workspaces have tokens of their own; remove SLACK_BOT_TOKEN, or SLACK_CLIENT_ID for just one"
        raise InvalidSettings("SLACK_BOT_TOKEN", "is set beside SLACK_CLIENT_ID", advice)
    if not any(account.startswith(f"{SURFACE}:") for account in settings.accounts):
        # Whoever finds the address could install the app elsewhere otherwise, and be one of everyone.
        advice = "name the workspaces that may install the app: slack:T0123,slack:T0456, or slack:E0123 of a Grid"
        raise InvalidSettings("PARLEY_ACCOUNTS", "names no Slack workspace, but SLACK_CLIENT_ID is set", advice)


def _one(bot: ConnectionBot) -> OneWorkspace:
    api = SlackApi(token=_text(bot.settings.slack_bot_token), base_url=bot.settings.slack_api_url)
    return OneWorkspace(
        workspace_with(api, bot.clock, bot.log, file_mb=bot.settings.slack_file_mb), bot.settings.accounts
    )


def _several(bot: ConnectionBot, client_id: str) -> tuple[ManyWorkspaces, Installing]:
    settings, installations = bot.settings, bot.installations(SURFACE)
    secret, base = _text(settings.slack_client_secret) or "", settings.slack_api_url
    oauth = OAuth(client_id=client_id, client_secret=secret, base_url=base, clock=bot.clock)
    allowed = Allowed(settings.accounts)
    workspaces = ManyWorkspaces(
        installations=installations,
        oauth=oauth,
        allowed=allowed,
        base_url=base,
        file_mb=settings.slack_file_mb,
        clock=bot.clock,
        log=bot.log,
    )
    return workspaces, Installing(
        oauth=oauth,
        installations=installations,
        allowed=allowed,
        link_base=settings.link_base,
        clock=bot.clock,
        log=bot.log,
    )


def _text(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
