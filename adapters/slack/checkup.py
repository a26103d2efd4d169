"""The checkup behind `parley doctor --surface slack`: verifies the tokens with Slack and advises what to click."""

import ipaddress
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from adapters.slack.errors import SlackError, SlackRefusal
from adapters.slack.events.http_endpoint import EVENTS_PATH
from adapters.slack.events.socket_mode import token_advice_for
from adapters.slack.payloads.responses import BotIdentity, SocketUrlResponse
from adapters.slack.posting.api import SlackApi
from adapters.slack.settings import SlackSettings
from adapters.slack.workspaces.connection import ConnectionSettings, check_connection_settings
from adapters.slack.workspaces.oauth import INSTALL_PATH, REDIRECT_PATH, AllowedAccounts
from adapters.slack.workspaces.scopes import OPTIONAL_SCOPES, REQUIRED_SCOPES
from bot.errors import InvalidSettings
from bot.surface.checkup import CheckupFinding
from bot.surface.installations import AppInstallation, AppInstallations

_APP_PAGE: Final = "https://api.slack.com/apps"
_COPY_TOKEN: Final = f"open your app at {_APP_PAGE}, Install App, and copy the Bot User OAuth Token (it begins xoxb-)"
_ADD_SCOPES: Final = "add them under OAuth & Permissions, Bot Token Scopes, then click Reinstall to Workspace"


async def checkup(settings: ConnectionSettings, installations: AppInstallations) -> list[CheckupFinding]:
    """Fulfils `bot.surface.checkup.SurfaceCheckup`."""
    slack = settings.section(SlackSettings)
    if not slack.is_configured:
        fault = f"nothing is set: make an app from manifest.yaml at {_APP_PAGE}, and set SLACK_BOT_TOKEN"
        return [CheckupFinding(what="app", fault=fault)]
    try:
        check_connection_settings(slack, settings.accounts)
    except InvalidSettings as exc:
        return [CheckupFinding(what=exc.setting, fault=str(exc).removesuffix("."))]
    try:
        findings = await _check_bot_tokens(settings, installations)
        if slack.app_token is not None:
            findings.append(await _check_socket_mode(slack.api_url, slack.app_token))
    except SlackError as exc:
        host = urlsplit(slack.api_url).netloc
        fault = f"{host} cannot be reached ({exc}); check the network, and HTTPS_PROXY where there is a proxy"
        return [CheckupFinding(what="network", fault=fault)]
    return [*findings, *_check_public_addresses(settings)]


async def _check_bot_tokens(settings: ConnectionSettings, installations: AppInstallations) -> list[CheckupFinding]:
    """Check the tokens of the settings or of all installations. Raises `SlackError` where Slack does not answer."""
    slack = settings.section(SlackSettings)
    base = slack.api_url
    if slack.bot_token is not None:
        return await _check_bot_token("SLACK_BOT_TOKEN", slack.bot_token, base, _COPY_TOKEN, settings.accounts)
    allowed, installed = AllowedAccounts(settings.accounts), await installations.list_installations()
    if not installed:
        advice = f"nowhere yet: open {settings.link_base}{INSTALL_PATH} in a browser, as somebody who may install apps"
        return [CheckupFinding(what="installed", found=advice)]
    reinstall_advice = f"open {settings.link_base}{INSTALL_PATH} and install it there again"
    return [
        finding
        for installation in installed
        for finding in await _check_installation(installation, allowed, base, reinstall_advice)
    ]


async def _check_installation(
    installation: AppInstallation, allowed_accounts: AllowedAccounts, api_url: str, advice: str
) -> list[CheckupFinding]:
    if not allowed_accounts.is_allowed(installation):
        fault = "is installed, but PARLEY_ACCOUNTS does not name it: add it there, or remove the app in Slack"
        return [CheckupFinding(what=installation.account, fault=f"{installation.account} {fault}")]
    return await _check_bot_token(installation.account, installation.tokens.access, api_url, advice)


async def _check_bot_token(
    token_name: str, token: SecretStr, api_url: str, advice: str, accounts: Iterable[str] = ()
) -> list[CheckupFinding]:
    """Check the identity and the scopes of a token. Raises `SlackError` where Slack does not answer."""
    api = SlackApi(token=token.get_secret_value(), base_url=api_url)
    await api.start()
    try:
        identity, scopes = await api.fetch_token_identity(BotIdentity)
    except SlackRefusal as exc:
        return [CheckupFinding(what=token_name, fault=f"{token_name} is refused by Slack ({exc.error}): {advice}")]
    finally:
        await api.close()
    if identity.bot_id is None:
        return [CheckupFinding(what=token_name, fault=f"{token_name} is a person's token, not the bot's: {advice}")]
    token_accounts = {f"slack:{account_id}" for account_id in (identity.team_id, identity.enterprise_id) if account_id}
    if accounts and token_accounts.isdisjoint(accounts):
        fault = f"PARLEY_ACCOUNTS does not name slack:{identity.team_id}, which {token_name} is for: add it there"
        return [CheckupFinding(what=token_name, fault=fault)]
    return [
        CheckupFinding(what=token_name, found=f"bot user {identity.user_id} in {identity.team_id}"),
        _check_token_scopes(token_name, scopes),
    ]


def _check_token_scopes(token_name: str, granted: frozenset[str]) -> CheckupFinding:
    missing, optional = sorted(REQUIRED_SCOPES - granted), sorted(OPTIONAL_SCOPES - granted)
    if missing:
        return CheckupFinding(what="scopes", fault=f"{token_name} lacks the scopes {', '.join(missing)}: {_ADD_SCOPES}")
    without_optional = f", without the optional {', '.join(optional)}" if optional else ""
    return CheckupFinding(what="scopes", found=f"all {len(REQUIRED_SCOPES)} that are needed{without_optional}")


async def _check_socket_mode(api_url: str, app_token: SecretStr) -> CheckupFinding:
    """Check that Slack opens a socket. Raises `SlackError` where Slack does not answer."""
    setting_name = "SLACK_APP_TOKEN"
    api = SlackApi(token=app_token.get_secret_value(), base_url=api_url)
    await api.start()
    try:
        await api.call_method(SocketUrlResponse, "apps.connections.open")
    except SlackRefusal as exc:
        return CheckupFinding(
            what=setting_name, fault=f"{setting_name} is refused by Slack ({exc.error}): {token_advice_for(exc)}"
        )
    finally:
        await api.close()
    return CheckupFinding(what=setting_name, found="Socket Mode; Slack need not reach this machine")


def _check_public_addresses(settings: ConnectionSettings) -> list[CheckupFinding]:
    """List the addresses that Slack must be able to reach.

    Only Slack can tell whether it reaches them; the app's page shows it.
    """
    slack = settings.section(SlackSettings)
    paths = [EVENTS_PATH] if slack.app_token is None else []
    paths += [REDIRECT_PATH] if slack.client_id is not None else []
    if not paths:
        return []
    base, setting_name = settings.link_base, "PARLEY_PUBLIC_URL"
    if not _is_public_address(base):
        fault = (
            f"{setting_name} is {base}, which Slack cannot reach: set it to the https address that leads here, "
            "or set SLACK_APP_TOKEN to use Socket Mode"
        )
        return [CheckupFinding(what=setting_name, fault=fault)]
    page_fields = {
        EVENTS_PATH: "Request URL of Event Subscriptions, Interactivity and commands",
        REDIRECT_PATH: "a Redirect URL",
    }
    return [CheckupFinding(what="app's page", found=f"{base}{path} must be the {page_fields[path]}") for path in paths]


def _is_public_address(url: str) -> bool:
    address = urlsplit(url)
    host = address.hostname or ""
    try:
        return address.scheme == "https" and ipaddress.ip_address(host).is_global
    except ValueError:
        return address.scheme == "https" and "." in host and not host.endswith((".local", ".internal", ".localhost"))
