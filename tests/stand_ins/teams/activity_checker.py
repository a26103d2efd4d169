"""Checks of the activities that the app sends: their size, parts, mentions, citations and attachments."""

import json
import re
from collections.abc import Sequence
from typing import Any, Final, cast

from tests.stand_ins.teams.card_checker import check_card
from tests.stand_ins.teams.json_parts import object_of, objects_of
from tests.stand_ins.teams.refusals import (
    ConnectorRefused,
    JsonMapping,
    compact_json,
    filled_text_in,
    is_whole_number,
    mapping_in,
    refuse_call_unless,
    sequence_in,
    utf16_bytes,
    utf16_units,
)
from tests.stand_ins.teams.tenancy import ADAPTIVE_CARD, CONSENT_CARD, FILE_CARD

MESSAGE_BYTES: Final = 100 * 1024  # of the whole activity, in UTF-16
CARD_BYTES: Final = 28 * 1024  # of a card as compact JSON, in UTF-8
CITATIONS, CITATION_NAME, CITATION_ABSTRACT, KEYWORDS, KEYWORD = 20, 80, 160, 3, 28
SCHEMA_MESSAGE: Final = "https://schema.org/Message"
_AT: Final = re.compile(r"<at\b[^>]*>.*?</at>|</?at\b", re.IGNORECASE | re.DOTALL)
_APPEARANCE: Final = {
    "@type", "name", "url", "abstract", "text", "keywords", "encodingFormat", "image", "usageInfo",
}  # fmt: skip
_ICONS: Final = frozenset(
    "Microsoft Word,Microsoft Excel,Microsoft PowerPoint,Microsoft OneNote,Microsoft SharePoint,Microsoft Visio,"
    "Microsoft Loop,Microsoft Whiteboard,Source Code,Sketch,Adobe Illustrator,Adobe Photoshop,Adobe InDesign,"
    "Adobe Flash,Image,GIF,Video,Sound,ZIP,Text,PDF".split(",")
)


def check_shape(activity: JsonMapping) -> None:
    """Refuses an activity whose parts are not of their types; what follows relies on them."""
    refuse_call_unless(activity.get("type") in {"message", "typing"}, f"type {activity.get('type')!r}")
    text = activity.get("text")
    refuse_call_unless(text is None or isinstance(text, str), "text is no text")
    for name in ("attachments", "entities"):
        for part in sequence_in(activity.get(name) or [], name):
            mapping_in(part, name)
    mapping_in(activity.get("channelData") or {}, "channelData")
    check_size(activity)


def check_activity(activity: JsonMapping, *, is_personal: bool, supports_files: bool) -> None:
    """Refuses an activity that Teams would refuse, or that its clients would not show. Its shape is checked."""
    text = activity.get("text") or ""
    attachments = objects_of(activity, "attachments")
    if activity["type"] == "message":
        refuse_call_unless(bool(text.strip()) or bool(attachments), "a message without text and attachments")
    refuse_call_unless(activity.get("textFormat", "markdown") in {"markdown", "plain", "xml"}, "textFormat")
    refuse_call_unless(activity.get("attachmentLayout", "list") in {"list", "carousel"}, "attachmentLayout")
    entities = objects_of(activity, "entities")
    check_entities(entities, text)
    check_mentions(text, entities)
    for attachment in attachments:
        _check_attachment(attachment, is_personal, supports_files, len(attachments))
    _check_channel_data(object_of(activity, "channelData"))


def check_size(activity: JsonMapping) -> None:
    size = utf16_bytes(compact_json(activity))
    if size > MESSAGE_BYTES:
        raise ConnectorRefused(413, "MessageSizeTooBig", f"Message size too large: {size} bytes in UTF-16")


def check_entities(entities: Sequence[JsonMapping], text: str) -> None:
    roots = [entity for entity in entities if entity.get("type") == SCHEMA_MESSAGE]
    refuse_call_unless(len(roots) <= 1, "Multiple root message entities found under entities array")
    for entity in entities:
        kind = filled_text_in(entity, "type", "entity")
        refuse_call_unless(bool(entity.keys() - {"type"}), f"Error parsing message entity from entities array: {kind}")
        if kind == SCHEMA_MESSAGE:
            _check_root(entity, text)
        elif kind == "mention":
            mentioned = mapping_in(entity.get("mentioned"), "mentioned")
            filled_text_in(mentioned, "id", "mentioned")
            refuse_call_unless(filled_text_in(entity, "text", "mention") in text, "the mention is not in the text")


def check_mentions(text: str, entities: Sequence[JsonMapping]) -> None:
    """Refuses `<at>` of data: each must belong to a mention entity of the same text."""
    known = {entity.get("text") for entity in entities if entity.get("type") == "mention"}
    unknown = [found[0] for found in _AT.finditer(text) if found[0] not in known]
    refuse_call_unless(not unknown, f"a mention without its entity: {unknown[:1]}")


def _check_root(entity: JsonMapping, text: str) -> None:
    unknown = entity.keys() - {"type", "@type", "@context", "@id", "additionalType", "citation", "usageInfo"}
    refuse_call_unless(not unknown, f"Error parsing message entity from entities array: unknown {sorted(unknown)}")
    is_typed = entity.get("@type") == "Message" and entity.get("@context") == "https://schema.org"
    refuse_call_unless(is_typed, "Error parsing message entity from entities array: @type, @context")
    labels = sequence_in(entity.get("additionalType", []), "additionalType")
    refuse_call_unless(list(labels) in ([], ["AIGeneratedContent"]), "additionalType")
    claims = [mapping_in(claim, "citation") for claim in sequence_in(entity.get("citation") or [], "citation")]
    refuse_call_unless(len(claims) <= CITATIONS, f"Bot message with more than {CITATIONS} citations")
    positions = [claim.get("position") for claim in claims]
    refuse_call_unless(len(set(positions)) == len(positions), "two citations of one position")
    for claim in claims:
        _check_claim(claim, text)


def _check_claim(claim: JsonMapping, text: str) -> None:
    position = claim.get("position")
    where = f"Error while parsing citation entity with ID: {position}"
    refuse_call_unless(claim.keys() <= {"@type", "position", "appearance"}, f"{where}: unknown property")
    refuse_call_unless(claim.get("@type") == "Claim", f"{where}: @type")
    refuse_call_unless(is_whole_number(position) and cast(int, position) >= 1, f"{where}: position")
    refuse_call_unless(f"[{position}]" in text, f"{where}: not in the text")
    appearance = mapping_in(claim.get("appearance"), where)
    refuse_call_unless(bool(appearance), "The appearance object is empty")
    unknown = appearance.keys() - _APPEARANCE
    refuse_call_unless(not unknown, f"{where}: unknown {sorted(unknown)}")
    refuse_call_unless(appearance.get("@type") == "DigitalDocument", f"{where}: @type of the appearance")
    filled_text_in(appearance, "name", where, longest=CITATION_NAME)
    if "abstract" in appearance:
        filled_text_in(appearance, "abstract", where, longest=CITATION_ABSTRACT)
    if "url" in appearance:
        _check_url(appearance["url"], where)
    _check_keywords(appearance, where)
    _check_window(appearance, where)


def _check_keywords(appearance: JsonMapping, where: str) -> None:
    keywords = sequence_in(appearance.get("keywords", []), where)
    refuse_call_unless(len(keywords) <= KEYWORDS, f"{where}: over {KEYWORDS} keywords")
    sound = all(isinstance(word, str) and 0 < utf16_units(word) <= KEYWORD for word in keywords)
    refuse_call_unless(sound, f"{where}: keyword over {KEYWORD}")


def _check_window(appearance: JsonMapping, where: str) -> None:
    """Check the icon, and the card of the window behind a citation."""
    if "image" in appearance:
        image = mapping_in(appearance["image"], where)
        is_known = image.get("@type") == "ImageObject" and image.get("name") in _ICONS
        refuse_call_unless(is_known and set(image) == {"@type", "name"}, f"{where}: image")
    refuse_call_unless(("text" in appearance) == ("encodingFormat" in appearance), f"{where}: text, encodingFormat")
    if "text" in appearance:
        refuse_call_unless(appearance["encodingFormat"] == ADAPTIVE_CARD, f"{where}: encodingFormat")
        try:
            card = json.loads(filled_text_in(appearance, "text", where))
        except ValueError:
            raise ConnectorRefused(400, "BadSyntax", f"{where}: text is no JSON") from None
        check_card(card)


def _check_attachment(attachment: JsonMapping, is_personal: bool, supports_files: bool, count: int) -> None:
    kind = filled_text_in(attachment, "contentType", "attachment")
    unknown = attachment.keys() - {"contentType", "contentUrl", "content", "name", "thumbnailUrl"}
    refuse_call_unless(not unknown, f"attachment: unknown {sorted(unknown)}")
    if kind == ADAPTIVE_CARD:
        card = mapping_in(attachment.get("content"), "card")
        size = len(compact_json(card).encode("utf-8", errors="surrogatepass"))
        refuse_call_unless(size <= CARD_BYTES, f"card of {size} bytes", status=413, code="MessageSizeTooBig")
        check_card(card)
    elif kind == CONSENT_CARD:
        refuse_call_unless(is_personal and supports_files and count == 1, "file consent: alone, in a personal chat")
        _check_consent(attachment)
    elif kind == FILE_CARD:
        filled_text_in(attachment, "name", "file card")
        _check_url(attachment.get("contentUrl"), "file card")
        filled_text_in(mapping_in(attachment.get("content"), "file card"), "uniqueId", "file card")
    else:
        refuse_call_unless(kind in {"image/png", "image/jpeg", "image/gif"}, f"attachment of the type {kind}")
        _check_url(attachment.get("contentUrl"), "image")


def _check_consent(attachment: JsonMapping) -> None:
    filled_text_in(attachment, "name", "file consent")
    content = mapping_in(attachment.get("content"), "file consent")
    unknown = content.keys() - {"description", "sizeInBytes", "acceptContext", "declineContext"}
    refuse_call_unless(not unknown, f"file consent: unknown {sorted(unknown)}")
    size = content.get("sizeInBytes")
    refuse_call_unless(is_whole_number(size) and cast(int, size) > 0, "file consent: sizeInBytes")
    for name in ("acceptContext", "declineContext"):
        mapping_in(content.get(name, {}), f"file consent: {name}")
    refuse_call_unless(isinstance(content.get("description", ""), str), "file consent: description")


def _check_channel_data(channel_data: JsonMapping) -> None:
    loop = channel_data.get("feedbackLoop")
    if loop is not None:
        refuse_call_unless(mapping_in(loop, "feedbackLoop").get("type") in {"default", "custom"}, "feedbackLoop")
        refuse_call_unless("feedbackLoopEnabled" not in channel_data, "feedbackLoop and feedbackLoopEnabled")


def _check_url(value: Any, where: str) -> None:
    is_url = isinstance(value, str) and re.match(r"https?://[^\s/]+", value) is not None
    refuse_call_unless(is_url, f"{where}: no URL")


def attachments_of(activity: JsonMapping, kind: str) -> list[dict[str, Any]]:
    return [part for part in objects_of(activity, "attachments") if part["contentType"] == kind]
