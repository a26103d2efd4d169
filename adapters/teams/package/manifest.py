"""The manifest of the app, made from the settings
(https://learn.microsoft.com/microsoft-365/extensibility/schema/root?view=m365-app-1.25).
"""

import ipaddress
import re
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final
from urllib.parse import urlsplit

from adapters.teams.package.icons import ACCENT_COLOUR
from adapters.teams.payloads.json_values import Json, JsonObject
from adapters.teams.settings import TeamsSettings
from bot.errors import InvalidSettings
from bot.public_network import is_public_address

MANIFEST_VERSION: Final = "1.25"
COLOUR_FILE, OUTLINE_FILE = "color.png", "outline.png"
_SCHEMA_URL: Final = (
    f"https://developer.microsoft.com/json-schemas/teams/v{MANIFEST_VERSION}/MicrosoftTeams.schema.json"
)
_APP_NAME: Final = "Parley"
_ID_PATTERN: Final = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_VERSION_PATTERN: Final = re.compile(r"\d+\.\d+\.\d+")
_PLACEHOLDER_URL: Final = "https://example.com"
_SHORT_DESCRIPTION: Final = "Answers questions about your documents, and asks back with counted buttons"
_FULL_DESCRIPTION: Final = (
    "Ask about your organisation's documents where you already talk. When a question finds too much, nothing, or more "
    "than one thing, Parley asks back with buttons that say how many documents each leads to. Answers cite their "
    "sources with the page. Long lists leave as files.\n\n"
    "In a personal chat, just ask; you can attach files to a question. In a group chat or a channel, mention the app. "
    "You see only what your administrators have granted to you, or to everyone in the channel.\n\n"
    "Commands in the personal chat: help, buckets, grants."
)
_COMMAND_DESCRIPTIONS: Final = {
    "help": "What you can ask here, and how",
    "buckets": "The documents that you may ask about",
    "saved searches": "The questions that ask themselves for you, with buttons to stop them",
    "grants": "For admins: who may ask about which documents",
    "usage report": "For admins: what people asked in 30 days, found and did not find, and what it cost",
}
_ASK_EXAMPLE: Final[JsonObject] = {
    "title": "What can you answer?",
    "description": "Shows the kinds of documents that can be asked about here, with their numbers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AppManifest:
    """`placeholders`: the settings that have none, so that the manifest has a stand-in for them."""

    content: JsonObject
    placeholders: tuple[str, ...]


def build_manifest(teams: TeamsSettings, link_base: str) -> AppManifest:
    """Raises `InvalidSettings` without the id of an app."""
    app_id = _check_app_id(teams.app_id)
    developer, placeholders = _describe_developer(teams, link_base)
    content: JsonObject = {
        "$schema": _SCHEMA_URL,
        "manifestVersion": MANIFEST_VERSION,
        "version": _manifest_release(),
        "id": app_id,
        "developer": developer,
        "name": {"short": _APP_NAME, "full": f"{_APP_NAME}: questions to your documents"},
        "description": {"short": _SHORT_DESCRIPTION, "full": _FULL_DESCRIPTION},
        "icons": {"color": COLOUR_FILE, "outline": OUTLINE_FILE},
        "accentColor": ACCENT_COLOUR,
        "bots": [_describe_bot(app_id)],
        "validDomains": list(public_hosts_of(link_base)),
        "defaultInstallScope": "personal",
        "defaultGroupCapability": {"team": "bot", "groupchat": "bot"},
    }
    return AppManifest(content=content, placeholders=placeholders)


def public_hosts_of(url: str) -> tuple[str, ...]:
    """The host of an https address that the internet can reach; none for any other address."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        is_public = "." in host and not host.endswith((".local", ".internal", ".localhost"))
    else:
        is_public = is_public_address(host)
    return (host,) if parts.scheme == "https" and is_public else ()


def _check_app_id(app_id: str | None) -> str:
    """Raises `InvalidSettings`."""
    advice = "copy the Microsoft App ID from the configuration of your bot at https://portal.azure.com"
    if app_id is None:
        raise InvalidSettings("MICROSOFT_APP_ID", "is not set", advice)
    if _ID_PATTERN.fullmatch(app_id) is None:
        raise InvalidSettings("MICROSOFT_APP_ID", "is not the id of an app, which has the form of a GUID", advice)
    return app_id.lower()


def _describe_bot(app_id: str) -> JsonObject:
    commands: list[Json] = [
        {"title": title, "description": description} for title, description in _COMMAND_DESCRIPTIONS.items()
    ]
    return {
        "botId": app_id,
        "scopes": ["personal", "team", "groupChat"],
        "supportsFiles": True,
        "isNotificationOnly": False,
        "commandLists": [
            {"scopes": ["personal"], "commands": [_ASK_EXAMPLE, *commands]},
            {"scopes": ["team", "groupChat"], "commands": [_ASK_EXAMPLE]},
        ],
    }


def _describe_developer(teams: TeamsSettings, link_base: str) -> tuple[JsonObject, tuple[str, ...]]:
    """The fields, and the settings in whose place stand-ins are."""
    has_public_base = bool(public_hosts_of(link_base))
    default_url = link_base if has_public_base else _PLACEHOLDER_URL
    fields = {
        "name": ("PARLEY_TEAMS_DEVELOPER_NAME", teams.developer_name, _APP_NAME),
        "websiteUrl": ("PARLEY_TEAMS_WEBSITE_URL", teams.website_url, default_url),
        "privacyUrl": ("PARLEY_TEAMS_PRIVACY_URL", teams.privacy_url, default_url),
        "termsOfUseUrl": ("PARLEY_TEAMS_TERMS_URL", teams.terms_url, default_url),
    }
    developer = {field: value or default for field, (_, value, default) in fields.items()}
    return developer, tuple(setting for setting, value, _ in fields.values() if not value)


def _manifest_release() -> str:
    """The release as three numbers. Teams wants another one for each change."""
    release = _VERSION_PATTERN.match(version("parley"))
    return release[0] if release else "0.1.0"
