"""The checkup behind `parley doctor --surface teams`: asks Microsoft for a token and for the signing keys, and advises
what to enter where.
"""

import re
from collections.abc import MutableMapping
from typing import Any, Final, NoReturn, Protocol
from urllib.parse import urlsplit

import structlog
from structlog.typing import FilteringBoundLogger

from adapters.teams.connector.access_token import AccessTokenCache, token_request_for
from adapters.teams.errors import TeamsSignInFailed
from adapters.teams.package.manifest import public_hosts_of
from adapters.teams.receiving.connector_keys import ConnectorKeys
from adapters.teams.receiving.errors import KeysUnavailable
from adapters.teams.receiving.http_endpoint import MESSAGES_PATH
from adapters.teams.settings import AppType, TeamsSettings
from bot.settings_section import SectionT
from bot.surface.checkup import CheckupFinding
from bot.surface.installations import AppInstallations

_PORTAL: Final = "https://portal.azure.com"
_GUID_PATTERN: Final = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_NOBODYS_KEY: Final = "-"  # no key has this id


class CheckupSettings(Protocol):
    """The settings that the checkup reads."""

    @property
    def link_base(self) -> str: ...

    def section(self, section_type: type[SectionT]) -> SectionT: ...


async def checkup(settings: CheckupSettings, installations: AppInstallations) -> list[CheckupFinding]:
    """Fulfils `bot.surface.checkup.SurfaceCheckup`. Teams keeps no installations of its own."""
    teams = settings.section(TeamsSettings)
    problems = [*teams.find_problems(), *_find_malformed_ids(teams)]
    if problems:
        return [CheckupFinding(what="settings", fault=problem) for problem in problems]
    if not teams.is_configured:
        fault = f"nothing is set: create an Azure Bot at {_PORTAL} (docs/teams.md), and set MICROSOFT_APP_ID"
        return [CheckupFinding(what="app", fault=fault)]
    return [
        await _check_token(teams),
        await _check_signing_keys(teams),
        _check_public_address(settings.link_base),
        *_describe_tenants(teams),
    ]


def _find_malformed_ids(teams: TeamsSettings) -> list[str]:
    values = {"MICROSOFT_APP_ID": [teams.app_id], "MICROSOFT_APP_TENANT_ID": [teams.app_tenant]} | {
        "PARLEY_TEAMS_ALLOWED_TENANTS": list(teams.allowed_tenants)
    }
    return [
        f"{setting} has {value!r}, which is not an id: copy the id, which has the form of a GUID, from {_PORTAL}"
        for setting, texts in values.items()
        for value in texts
        if value is not None and _GUID_PATTERN.fullmatch(value) is None
    ]


async def _check_token(teams: TeamsSettings) -> CheckupFinding:
    """Asks for a token as the app does. The token itself is not kept."""
    if not teams.has_secure_token_url:
        fault = "PARLEY_TEAMS_TOKEN_URL is not https: remove it, because Microsoft's address is the default"
        return CheckupFinding(what="token", fault=fault)
    request = token_request_for(teams)
    tokens = AccessTokenCache(request)
    await tokens.start()
    try:
        await tokens.get_token()
    except TeamsSignInFailed as exc:
        host = urlsplit(request.url).netloc
        return CheckupFinding(what="token", fault=f"{host} does not give a token: {exc}")
    finally:
        await tokens.close()
    return CheckupFinding(what="token", found=f"Microsoft gives the app {teams.app_id} a token ({teams.app_type})")


async def _check_signing_keys(teams: TeamsSettings) -> CheckupFinding:
    host = urlsplit(teams.openid_url).netloc
    keys = ConnectorKeys(teams.openid_url, _silent_log())
    try:
        await keys.start()
        await keys.find_key(_NOBODYS_KEY)
    except KeysUnavailable:
        fault = (
            f"{host} gives no signing keys, so no message can be let in: check that this machine reaches it, and "
            "PARLEY_TEAMS_OPENID_URL"
        )
        return CheckupFinding(what="signing keys", fault=fault)
    finally:
        await keys.close()
    return CheckupFinding(what="signing keys", found=f"{host} gives the keys with which Microsoft signs messages")


def _check_public_address(link_base: str) -> CheckupFinding:
    """Only Microsoft can tell whether it reaches the address; *Test in Web Chat* of the bot shows it."""
    if not public_hosts_of(link_base):
        fault = (
            f"PARLEY_PUBLIC_URL is {link_base}, which Microsoft cannot reach: set it to the https address that "
            "leads here"
        )
        return CheckupFinding(what="PARLEY_PUBLIC_URL", fault=fault)
    endpoint = f"{link_base}{MESSAGES_PATH} must be the Messaging endpoint on the page Configuration of the Azure Bot"
    return CheckupFinding(what="messaging endpoint", found=endpoint)


def _describe_tenants(teams: TeamsSettings) -> list[CheckupFinding]:
    tenants = ", ".join(sorted(teams.accepted_tenants))
    findings = [CheckupFinding(what="tenants", found=f"messages are accepted from {tenants}")]
    if teams.app_type is AppType.MULTI_TENANT:
        advice = "Microsoft registers no new bots of this type since 2025-07-31; existing ones go on working"
        findings.append(CheckupFinding(what="MICROSOFT_APP_TYPE", found=advice))
    return findings


def _silent_log() -> FilteringBoundLogger:
    return structlog.wrap_logger(None, processors=[_drop_line], wrapper_class=structlog.make_filtering_bound_logger(0))


def _drop_line(_: object, method: str, line: MutableMapping[str, Any]) -> NoReturn:
    raise structlog.DropEvent
