"""The entity that marks a message as made by AI, with its citations.

https://learn.microsoft.com/microsoftteams/platform/bots/how-to/bot-messages-ai-generated-content
"""

from collections.abc import Sequence
from typing import Final

from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.posting.cards import shorten_to_line
from adapters.teams.posting.markdown import escape_for_teams, format_link, safe_web_address
from bot.surface.replies import CitedDocument, ShownCitation

MAX_CLAIMS: Final = 20
MAX_NAME_UNITS, MAX_ABSTRACT_UNITS = 80, 160  # in UTF-16
_MAX_TITLE_CHARACTERS: Final = 200  # of a source in a line of its own
_MAX_MARKER_CHARACTERS: Final = 20


def label_entity_for(sources: Sequence[ShownCitation], text: str) -> JsonObject:
    """`sources` as `select_claims` has chosen; a source whose marker the text does not have is left out."""
    claims = [_claim_for(source) for source in sources if f"[{source.marker}]" in text]
    return {
        "type": "https://schema.org/Message",
        "@type": "Message",
        "@context": "https://schema.org",
        "@id": "",
        "additionalType": ["AIGeneratedContent"],
        **({"citation": claims} if claims else {}),
    }


def select_claims(sources: Sequence[ShownCitation]) -> list[ShownCitation]:
    """The sources that Teams can show behind their markers: the first of each number, at most twenty."""
    by_number: dict[str, ShownCitation] = {}
    for source in sources:
        if _is_number(source.marker):
            by_number.setdefault(source.marker, source)
    return list(by_number.values())[:MAX_CLAIMS]


def source_line_of(document: CitedDocument) -> str:
    """A line of Teams's Markdown, for a document with citations that are not behind a marker of the text."""
    source = document.first
    title, address = _full_title(document, _MAX_TITLE_CHARACTERS), safe_web_address(source.url, source.page)
    markers = " ".join(map(_show_marker, document.markers))
    return f"{markers} {escape_for_teams(title) if address is None else format_link(title, address)}"


def _show_marker(marker: str) -> str:
    if _is_number(marker):
        return f"[{marker}]"
    return escape_for_teams(f"[{shorten_to_line(marker, _MAX_MARKER_CHARACTERS)}]")


def is_title_cut(source: ShownCitation) -> bool:
    return len(source.title.encode("utf-16-le", errors="replace")) // 2 > MAX_NAME_UNITS - len(_page_suffix(source))


def _is_number(marker: str) -> bool:
    return marker.isascii() and marker.isdigit() and marker == str(int(marker)) and marker != "0" and len(marker) <= 4


def _claim_for(source: ShownCitation) -> JsonObject:
    suffix = _page_suffix(source)
    name = _shorten_to_units(shorten_to_line(source.title, 400) or "Untitled", MAX_NAME_UNITS - len(suffix)) + suffix
    address = safe_web_address(source.url, source.page)
    return {
        "@type": "Claim",
        "position": int(source.marker),
        "appearance": {
            "@type": "DigitalDocument",
            "name": name,
            "abstract": _shorten_to_units(shorten_to_line(source.quote, 800), MAX_ABSTRACT_UNITS) or name,
            **({"url": address} if address is not None else {}),
        },
    }


def _full_title(document: CitedDocument, characters: int) -> str:
    places = f", {document.place_text}" if document.place_text else ""
    return (shorten_to_line(document.first.title, characters) or "Untitled") + places


def _page_suffix(source: ShownCitation) -> str:
    return "" if source.page is None else f", page {source.page}"


def _shorten_to_units(text: str, units: int) -> str:
    if len(text.encode("utf-16-le")) // 2 <= units:
        return text
    shortened = text.encode("utf-16-le")[: (units - 1) * 2].decode("utf-16-le", errors="ignore")
    return shortened.rstrip() + "…"
