"""Reads the links that Teams gives for channels, chats and teams, and the ids within them."""

import re
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from adapters.teams.addresses import channel_subject_of, team_subject_of
from bot.ids import Subject

_HOSTS: Final = ("teams.microsoft.com", "teams.cloud.microsoft", "teams.microsoft.us")
_CHANNEL_ID: Final = re.compile(r"19:[^\s/;:]{1,280}@(?:thread\.(?:tacv2|skype|v2)|unq\.gbl\.spaces)")
_KINDS: Final = ("channel", "team", "chat")


def read_channel_link(text: str, tenant: str) -> Subject | None:
    """The channel, group chat or team of a link (“Get link to channel”), or of an id such as `19:…@thread.tacv2`.

    None where the text is neither, or the link is of another tenant.
    """
    if _CHANNEL_ID.fullmatch(text):
        return channel_subject_of(tenant, text)
    try:
        link = urlsplit(text)
    except ValueError:
        return None
    parts = link.path.split("/")  # "", "l", "channel", "19%3A…", "General"
    if link.scheme != "https" or link.hostname not in _HOSTS or len(parts) < 4 or parts[1] != "l":
        return None
    tenants = parse_qs(link.query).get("tenantId", [tenant])
    linked_id = unquote(parts[3])
    if tenants != [tenant] or parts[2] not in _KINDS or not _CHANNEL_ID.fullmatch(linked_id):
        return None
    return team_subject_of(tenant, linked_id) if parts[2] == "team" else channel_subject_of(tenant, linked_id)
