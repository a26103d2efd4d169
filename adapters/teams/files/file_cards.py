"""The messages about a file in a personal chat: the offer, what takes its place, and the card of the finished file.

Names of files and sentences are raw text. They leave as text cards or as fields that Teams shows unchanged.
"""

import re
from typing import Final

from adapters.teams.payloads.file_consent import OfferContext, UploadInfo
from adapters.teams.payloads.json_values import JsonObject

_CONSENT_TYPE: Final = "application/vnd.microsoft.teams.card.file.consent"
_FILE_TYPE: Final = "application/vnd.microsoft.teams.card.file.info"
_CARD_TYPE: Final = "application/vnd.microsoft.card.adaptive"
_PLAIN_FORMAT: Final = "plain"
_CARD_MARKUP: Final = re.compile(r"[\\`*_\[\]#<>~|]")


def consent_activity_for(*, offer_id: str, name: str, size: int, description: str) -> JsonObject:
    """Asks whether to put the file into the person's OneDrive. `size` in bytes."""
    context = OfferContext(file=offer_id).model_dump()
    content: JsonObject = {
        "description": description,
        "sizeInBytes": size,
        "acceptContext": context,
        "declineContext": context,
    }
    return {"type": "message", "attachments": [{"contentType": _CONSENT_TYPE, "name": name, "content": content}]}


def file_activity_for(name: str, upload: UploadInfo) -> JsonObject:
    """Shows the finished file, which opens in Teams."""
    content: JsonObject = {"uniqueId": upload.unique_id, "fileType": upload.file_type}
    attachment: JsonObject = {
        "contentType": _FILE_TYPE,
        "name": upload.name or name,
        "contentUrl": upload.content_url,
        "content": content,
    }
    return {"type": "message", "attachments": [attachment]}


def text_activity_for(text: str) -> JsonObject:
    """A sentence without markup."""
    return {"type": "message", "text": text, "textFormat": _PLAIN_FORMAT, "attachments": []}


def link_activity_for(text: str, name: str, url: str) -> JsonObject:
    """A sentence, and a button that opens the link."""
    body: list[JsonObject] = [{"type": "TextBlock", "text": _escape_card_text(text), "wrap": True}]
    actions: list[JsonObject] = [{"type": "Action.OpenUrl", "title": name, "url": url}]
    card: JsonObject = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.5",
        "fallbackText": text,
        "body": body,
        "actions": actions,
    }
    return {
        "type": "message",
        "attachments": [{"contentType": _CARD_TYPE, "content": card}],
    }


def _escape_card_text(text: str) -> str:
    """Cards read Markdown in text blocks."""
    return _CARD_MARKUP.sub(r"\\\g<0>", text)
