"""Reads messages of Parley's in Teams as a person reads them: without the signs of Markdown, with cards and sources."""

import html
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tests.scenarios.surfaces.office import ShownChoice
from tests.stand_ins.teams.json_parts import object_of, objects_in, objects_of, texts_in, type_of
from tests.stand_ins.teams.tenancy import CONSENT_CARD, FILE_CARD, TenantMessage

COUNTED_LABEL: Final = re.compile(r"(?P<label>.*) · (?P<count>[\d,]+)", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_LINK: Final = re.compile(r"(?<!\\)\[(?P<text>(?:\\.|[^\]\\])*)\]\((?P<address>[^()\s]+)\)")
_DELIMITERS: Final = re.compile(r"\*\*|[_`]")
_KEPT_FIRST: Final = 0xE000  # characters of private use stand for escaped signs meanwhile


def group_messages(messages: Iterable[TenantMessage]) -> list[list[TenantMessage]]:
    """Messages in order, each followed by the cards that stand below it in its conversation."""
    groups: list[list[TenantMessage]] = []
    latest: dict[str, list[TenantMessage]] = {}  # by conversation with its thread
    for message in messages:
        if is_card_below(message) and message.address in latest:
            latest[message.address].append(message)
        else:
            latest[message.address] = [message]
            groups.append(latest[message.address])
    return groups


def is_card_below(message: TenantMessage) -> bool:
    """Whether the message is a card alone, without what a message of its own has: a text, a summary or a label."""
    has_card = bool(message.cards) and not is_about_file(message)
    return has_card and not (message.text or message.activity.get("summary") or message.entities)


def shown_text_of(message: TenantMessage) -> str:
    """The text, the texts of cards and buttons, and the sources behind the markers."""
    card_lines = [line for card in message.cards for part in objects_in(card) for line in _lines_of(part)]
    return "\n".join(filter(None, [plain_text_of(message.text), *card_lines, *map(_source_text_of, message.citations)]))


def plain_text_of(markdown: str) -> str:
    """Teams' Markdown as it is shown, without characters that have no width."""
    with_links = _LINK.sub(lambda found: found["text"], markdown)
    kept = _ESCAPED.sub(lambda found: chr(_KEPT_FIRST + ord(found[1])), with_links)
    shown = html.unescape(_DELIMITERS.sub("", kept))
    signs = {_KEPT_FIRST + code: chr(code) for code in range(0x21, 0x7F)}
    return re.sub(r"[ ]+\n", "\n", shown.translate(signs).replace("\u200b", ""))


def links_of(message: TenantMessage) -> list[str]:
    """Targets of the text's links, of the sources and of buttons."""
    in_text = [found["address"] for found in _LINK.finditer(message.text)]
    of_sources = [str(object_of(claim, "appearance").get("url", "")) for claim in message.citations]
    return [*in_text, *filter(None, of_sources), *open_url_addresses_of(message).values()]


def open_url_addresses_of(message: TenantMessage) -> dict[str, str]:
    """Addresses of buttons that open a page, by title."""
    return {action["title"]: action["url"] for action in message.card_actions() if action["type"] == "Action.OpenUrl"}


def choices_of(message: TenantMessage) -> list[ShownChoice]:
    """The choices of a clarification: buttons, then those of its menu. The handle names the
    message, and the data that a click submits."""
    buttons = [
        _choice_of(message, action.get("title", ""), object_of(action, "data"))
        for action in message.card_actions()
        if object_of(action, "data").get("parley") == "choice"
    ]
    menus = [part for card in message.cards for part in objects_in(card) if type_of(part) == "Input.ChoiceSet"]
    listed = [
        _choice_of(message, choice["title"], {"parley": "pick", menu["id"]: choice["value"]})
        for menu in menus
        for choice in objects_of(menu, "choices")
    ]
    return [*buttons, *listed]


def tables_of(message: TenantMessage) -> list[tuple[tuple[str, ...], ...]]:
    tables = [part for card in message.cards for part in objects_in(card) if type_of(part) == "Table"]
    return [
        tuple(tuple("".join(texts_in(cell)) for cell in objects_of(row, "cells")) for row in objects_of(table, "rows"))
        for table in tables
    ]


def is_about_file(message: TenantMessage) -> bool:
    """Whether the message offers a file or shows one that was handed over."""
    return any(part["contentType"] in {CONSENT_CARD, FILE_CARD} for part in message.attachments)


def offers_file(message: TenantMessage) -> bool:
    return any(part["contentType"] == CONSENT_CARD for part in message.attachments)


def _lines_of(part: Mapping[str, Any]) -> list[str]:
    """What a person reads of a part of a card, without its own parts. Of these, text blocks alone have Markdown."""
    shown = [part[name] for name in ("text", "label", "title") if isinstance(part.get(name), str)]
    return list(map(plain_text_of, shown)) if type_of(part) == "TextBlock" else shown


def _choice_of(message: TenantMessage, title: str, submission: Mapping[str, Any]) -> ShownChoice:
    match = COUNTED_LABEL.fullmatch(title)
    label, count = (match["label"], int(match["count"].replace(",", ""))) if match else (title, None)
    return ShownChoice(
        label=label.replace("\u200b", ""), count=count, handle=json.dumps({"message": message.id, "data": submission})
    )


def _source_text_of(claim: Mapping[str, Any]) -> str:
    appearance = object_of(claim, "appearance")
    return f"[{claim['position']}] {appearance['name']}\n{appearance['abstract']}"
