"""`parley doctor --slack`: asks Slack about the tokens, and says what to click for each fault."""

import ipaddress
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from adapters.slack.api import SlackApi
from adapters.slack.connection import ConnectionSettings, check
from adapters.slack.directory import AuthTest
from adapters.slack.errors import SlackFailed, SlackRefused
from adapters.slack.install import INSTALL, REDIRECT, Allowed
from adapters.slack.receiving import PATH
from adapters.slack.scopes import OPTIONAL, REQUIRED
from adapters.slack.socket import Opened, advice_for
from bot.checkup import Finding
from bot.errors import InvalidSettings
from bot.installations import Installation, Installations

_APP_PAGE: Final = "https://api.slack.com/apps"
_COPY_TOKEN: Final = f"open your app at {_APP_PAGE}, Install App, and copy the Bot User OAuth Token (it begins xoxb-)"
_ADD_SCOPES: Final = "add them under OAuth & Permissions, Bot Token Scopes, then click Reinstall to Workspace"


async def checkup(settings: ConnectionSettings, installations: Installations) -> list[Finding]:
    """Fulfils `bot.checkup.Checkup`."""
    if settings.slack_bot_token is None and settings.slack_client_id is None:
        fault = f"nothing is set: make an app from manifest.yaml at {_APP_PAGE}, and set SLACK_BOT_TOKEN"
        return [Finding(what="app", fault=fault)]
    try:
        check(settings)
    except InvalidSettings as exc:
        return [Finding(what=exc.setting, fault=str(exc).removesuffix("."))]
    try:
        findings = await _tokens(settings, installations)
        if settings.slack_app_token is not None:
            findings.append(await _socket(settings.slack_api_url, settings.slack_app_token))
    except SlackFailed as exc:
        where = urlsplit(settings.slack_api_url).netloc
        fault = f"{where} cannot be reached ({exc}); check the network, and HTTPS_PROXY where there is a proxy"
        return [Finding(what="network", fault=fault)]
    return [*findings, *_addresses(settings)]


async def _tokens(settings: ConnectionSettings, installations: Installations) -> list[Finding]:
    """Raises `SlackFailed` where Slack does not answer."""
    base = settings.slack_api_url
    if settings.slack_bot_token is not None:
        return await _token("SLACK_BOT_TOKEN", settings.slack_bot_token, base, _COPY_TOKEN, settings.accounts)
    allowed, there = Allowed(settings.accounts), await installations.all()
    if not there:
        found = f"nowhere yet: open {settings.link_base}{INSTALL} in a browser, as somebody who may install apps"
        return [Finding(what="installed", found=found)]
    again = f"open {settings.link_base}{INSTALL} and install it there again"
    return [finding for one in there for finding in await _installed(one, allowed, base, again)]


async def _installed(one: Installation, allowed: Allowed, base: str, again: str) -> list[Finding]:
    if not allowed.serve(one):
        fault = "is installed, but PARLEY_ACCOUNTS does not name it: add it there, or remove the app in Slack"
        return [Finding(what=one.account, fault=f"{one.account} {fault}")]
    return await _token(one.account, one.tokens.access, base, again)


async def _token(what: str, token: SecretStr, base: str, again: str, accounts: Iterable[str] = ()) -> list[Finding]:
    """Whose it is, and what it may do. Raises `SlackFailed` where Slack does not answer."""
    api = SlackApi(token=token.get_secret_value(), base_url=base)
    await api.start()
    try:
        ours, scopes = await api.identity(AuthTest)
    except SlackRefused as exc:
        return [Finding(what=what, fault=f"{what} is refused by Slack ({exc.error}): {again}")]
    finally:
        await api.close()
    if ours.bot_id is None:
        return [Finding(what=what, fault=f"{what} is a person's token, not the bot's: {again}")]
    named = {f"slack:{one}" for one in (ours.team_id, ours.enterprise_id) if one}
    if accounts and named.isdisjoint(accounts):
        fault = f"PARLEY_ACCOUNTS does not name slack:{ours.team_id}, which {what} is for: add it there"
        return [Finding(what=what, fault=fault)]
    return [Finding(what=what, found=f"bot user {ours.user_id} in {ours.team_id}"), _scopes(what, scopes)]


def _scopes(what: str, granted: frozenset[str]) -> Finding:
    missing, optional = sorted(REQUIRED - granted), sorted(OPTIONAL - granted)
    if missing:
        return Finding(what="scopes", fault=f"{what} lacks the scopes {', '.join(missing)}: {_ADD_SCOPES}")
    without = f", without the optional {', '.join(optional)}" if optional else ""
    return Finding(what="scopes", found=f"all {len(REQUIRED)} that are needed{without}")


async def _socket(base: str, app_token: SecretStr) -> Finding:
    """Raises `SlackFailed` where Slack does not answer."""
    what = "SLACK_APP_TOKEN"
    api = SlackApi(token=app_token.get_secret_value(), base_url=base)
    await api.start()
    try:
        await api.call(Opened, "apps.connections.open")
    except SlackRefused as exc:
        return Finding(what=what, fault=f"{what} is refused by Slack ({exc.error}): {advice_for(exc)}")
    finally:
        await api.close()
    return Finding(what=what, found="Socket Mode; Slack need not reach this machine")


def _addresses(settings: ConnectionSettings) -> list[Finding]:
    """Where Slack must come to this machine. Whether it gets here, only Slack can tell: the app's page does."""
    paths = [PATH] if settings.slack_app_token is None else []
    paths += [REDIRECT] if settings.slack_client_id is not None else []
    if not paths:
        return []
    base, what = settings.link_base, "PARLEY_PUBLIC_URL"
    if not _is_public(base):
        fault = (
            f"{what} is {base}, which Slack cannot reach: set it to the https address that leads here, "
            "or set SLACK_APP_TOKEN to use Socket Mode"
        )
        return [Finding(what=what, fault=fault)]
    shown = {PATH: "Request URL of Event Subscriptions, Interactivity and commands", REDIRECT: "a Redirect URL"}
    return [Finding(what="app's page", found=f"{base}{path} must be the {shown[path]}") for path in paths]


def _is_public(base: str) -> bool:
    address = urlsplit(base)
    host = address.hostname or ""
    try:
        return address.scheme == "https" and ipaddress.ip_address(host).is_global
    except ValueError:
        return address.scheme == "https" and "." in host and not host.endswith((".local", ".internal", ".localhost"))
