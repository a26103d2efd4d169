"""Makes of a rendered reply the messages that Teams keeps as they are sent.

Teams splits an activity that has a text and a card, or two cards, into several messages and answers 202 without an id:
no part of it could be updated (https://github.com/microsoft/BotFramework-Services/issues/98). So what is sent has
either a text or one card. A reply with cards is one card, which begins with the text. Two kinds of replies are a text
with a card below: those with citations and no card but buttons, as Teams shows citations only in a text, and those
that are too large for one card.
"""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from adapters.teams.payloads.json_values import Json, JsonObject
from adapters.teams.posting.cards import MAX_CARD_BYTES, adaptive_card, attach_card, json_bytes_of
from adapters.teams.posting.markdown import escape_for_teams, format_link

_CARD_FIELDS: Final = ("attachments", "attachmentLayout", "summary")
_SEPARATE_ACTIONS: Final = "none"  # of `associatedInputs`: the card's menu need not be filled in for such a button


def sent_messages_for(activity: JsonObject, *, is_split: bool = False) -> Sequence[JsonObject]:
    """The messages in the order in which they are shown; the first stands for the reply.

    `is_split`: the first is to be a text, as it is the end of a stream or has cards below it already.
    """
    cards = _cards_of(activity)
    if not cards:
        return [activity]
    merged_card = _merge_cards([_text_elements_of(activity), *map(_elements_of, cards)], cards)
    if not is_split and not _has_cited_buttons(activity, cards) and json_bytes_of(merged_card) <= MAX_CARD_BYTES:
        return [_card_message(activity, merged_card)]
    text = {name: value for name, value in activity.items() if name not in _CARD_FIELDS}
    card_below = _merge_cards([_elements_of(card) for card in cards], cards)
    cards_below = [card_below] if json_bytes_of(card_below) <= MAX_CARD_BYTES else cards
    texts = [text] if activity.get("text") else []
    return [*texts, *({"type": "message", "attachments": [attach_card(card)]} for card in cards_below)]


def _card_message(activity: JsonObject, card: JsonObject) -> JsonObject:
    """The message keeps the label and the rating buttons, and loses the citations, which the card lists."""
    fields = {name: value for name, value in activity.items() if name not in ("text", "textFormat", "attachmentLayout")}
    entities = [
        {name: value for name, value in entity.items() if name != "citation"}
        for entity in _objects_in(activity.get("entities"))
    ]
    return {**fields, **({"entities": entities} if entities else {}), "attachments": [attach_card(card)]}


def _merge_cards(elements: Sequence[Sequence[JsonObject]], cards: Sequence[JsonObject]) -> JsonObject:
    """`elements` in order. The buttons of cards that have nothing else appear at the end."""
    actions = [
        {**action, "associatedInputs": _SEPARATE_ACTIONS} if action["type"] == "Action.Submit" else action
        for card in cards
        if _has_only_buttons(card)
        for action in _objects_in(card.get("actions"))
    ]
    fallback = "\n".join(str(card["fallbackText"]) for card in cards if card.get("fallbackText"))
    merged_card = adaptive_card([part for group in elements for part in group], actions=actions, fallback=fallback)
    is_wide = any("msteams" in card for card in cards)
    return {**merged_card, **({"msteams": {"width": "Full"}} if is_wide else {})}


def _elements_of(card: JsonObject) -> list[JsonObject]:
    if _has_only_buttons(card):
        return []
    actions = _objects_in(card.get("actions"))
    return [*_objects_in(card.get("body")), *([{"type": "ActionSet", "actions": actions}] if actions else [])]


def _has_only_buttons(card: JsonObject) -> bool:
    """Whether they are about the turn: choices come with a text in place of the card."""
    return not _objects_in(card.get("body")) and "fallbackText" not in card


def _text_elements_of(activity: JsonObject) -> list[JsonObject]:
    """A block for each paragraph, and one for the sources."""
    paragraphs = str(activity.get("text", "")).split("\n\n")
    sources = [_source_line_of(claim) for claim in _claims_of(activity)]
    return [
        {"type": "TextBlock", "text": text, "wrap": True}
        for text in (*paragraphs, "\n\n".join(sources))
        if text.strip()
    ]


def _source_line_of(claim: JsonObject) -> str:
    appearance = cast(Mapping[str, Json], claim["appearance"])
    name, url = str(appearance["name"]), appearance.get("url")
    return f"[{claim['position']}] {format_link(name, str(url)) if url else escape_for_teams(name)}"


def _has_cited_buttons(activity: JsonObject, cards: Sequence[JsonObject]) -> bool:
    return bool(_claims_of(activity)) and all(map(_has_only_buttons, cards))


def _claims_of(activity: JsonObject) -> list[JsonObject]:
    return [claim for entity in _objects_in(activity.get("entities")) for claim in _objects_in(entity.get("citation"))]


def _cards_of(activity: JsonObject) -> list[JsonObject]:
    return [cast(JsonObject, part["content"]) for part in _objects_in(activity.get("attachments"))]


def _objects_in(value: Json) -> list[JsonObject]:
    return [part for part in value if isinstance(part, Mapping)] if isinstance(value, Sequence) else []
