"""Blocks for views, within Slack's limits for any data: a Home tab or a modal takes 100 blocks and 250 kB.

Data goes into plain and rich text, which Slack shows verbatim. To show a person or a channel by name, the text is
mrkdwn that contains only Parley's own entities and escaped text.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from adapters.slack.posting.render import Block, Json, escape_as_mrkdwn
from bot.admin.administration import local_group_of
from bot.admin.sentences import name_subject
from bot.ids import Subject
from bot.surface.markdown import strip_control_characters

MAX_BUTTON_UNITS, MAX_OPTION_UNITS, MAX_TITLE_UNITS, MAX_HEADER_UNITS, MAX_LINE_UNITS = (
    75,
    75,
    24,
    150,
    300,
)  # UTF-16 units
_SUBJECT_PATTERN: Final = re.compile(r"(?P<kind>user|channel|group):slack:(?P<home>[^:]+):(?P<id>[A-Z][A-Z0-9]+)")
_ENTITY_TEMPLATES: Final = {"user": "<@{}>", "channel": "<#{}>", "group": "<!subteam^{}>"}
_LIVE_ENTITY: Final = re.compile("<(?=[!@#])")


def fit_on_one_line(text: str, max_units: int) -> str:
    """Returns data on one line of at most `max_units` UTF-16 units; a dash if it is empty."""
    line = _LIVE_ENTITY.sub("<\u200b", " ".join(strip_control_characters(text).split())) or "–"
    units = line.encode("utf-16-le")
    if len(units) // 2 <= max_units:
        return line
    return units[: (max_units - 1) * 2].decode("utf-16-le", errors="ignore").rstrip() + "…"


def plain_text_object(text: str, max_units: int = MAX_LINE_UNITS) -> Json:
    return {"type": "plain_text", "text": fit_on_one_line(text, max_units), "emoji": False}


def header_block(text: str) -> Block:
    return {"type": "header", "text": plain_text_object(text, MAX_HEADER_UNITS)}


def divider_block() -> Block:
    return {"type": "divider"}


def plain_lines_block(*texts: str, accessory: Json = None) -> Block:
    """Returns a section of plain lines, with an optional button."""
    joined = "\n".join(fit_on_one_line(text, MAX_LINE_UNITS) for text in texts if text) or fit_on_one_line(
        "", MAX_LINE_UNITS
    )
    return _section_block({"type": "plain_text", "text": joined, "emoji": False}, accessory)


def mrkdwn_section_block(mrkdwn: str, accessory: Json = None) -> Block:
    """Returns a section of mrkdwn that is already escaped."""
    return _section_block({"type": "mrkdwn", "text": mrkdwn}, accessory)


def _section_block(text: Json, accessory: Json) -> Block:
    section: Block = {"type": "section", "text": text}
    if accessory is not None:
        section["accessory"] = accessory
    return section


def context_note_block(text: str) -> Block:
    return {"type": "context", "elements": [plain_text_object(text)]}


def mrkdwn_note_block(mrkdwn: str) -> Block:
    """Returns a small line of mrkdwn that is already escaped."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": mrkdwn}]}


def bullet_list_block(items: Sequence[Sequence[Json]]) -> Block:
    """Returns a bullet list of items, each a list of inline elements. Needs at least one item."""
    sections: list[Json] = [{"type": "rich_text_section", "elements": list(item)} for item in items]
    return {"type": "rich_text", "elements": [{"type": "rich_text_list", "style": "bullet", "elements": sections}]}


def rich_text_element(text: str, max_units: int = MAX_LINE_UNITS, *, bold: bool = False) -> Json:
    """Returns an inline element of rich text."""
    element: Block = {"type": "text", "text": fit_on_one_line(text, max_units)}
    if bold:
        element["style"] = {"bold": True}
    return element


def trusted_text_element(text: str) -> Json:
    """Returns an inline element with a fixed text of Parley's, unchanged."""
    return {"type": "text", "text": text}


def link_element(url: str, text: str) -> Json:
    return {"type": "link", "url": url, "text": text}


def button_element(text: str, action_id: str, value: str, *, confirm: str = "", style: str = "") -> Json:
    """Returns a button. `confirm`: the text of a confirmation dialog."""
    confirmation: Block = {
        "title": plain_text_object("Are you sure?"),
        "text": plain_text_object(confirm, MAX_LINE_UNITS),
        "confirm": plain_text_object(text, 30),
        "deny": plain_text_object("Cancel", 30),
    }
    element: Block = {
        "type": "button",
        "text": plain_text_object(text, MAX_BUTTON_UNITS),
        "action_id": action_id,
        "value": value,
    }
    if confirm:
        element["confirm"] = confirmation
    if style:
        element["style"] = style
    return element


def actions_block(buttons: Sequence[Json]) -> Block:
    return {"type": "actions", "elements": list(buttons)}


def pager_blocks(action_prefix: str, first: int, page_size: int, count: int, value_template: str = "{}") -> list[Block]:
    """Returns the range of a list that is shown, and buttons to the other pages; nothing for a single page."""
    if count <= page_size and first == 0:
        return []
    buttons = [
        button_element(text, f"{action_prefix}:{direction}", value_template.format(target))
        for text, direction, target in (
            ("Previous", "back", max(first - page_size, 0)),
            ("Next", "next", first + page_size),
        )
        if (direction == "back" and first > 0) or (direction == "next" and first + page_size < count)
    ]
    range_note = context_note_block(f"{first + 1:,} to {min(first + page_size, count):,} of {count:,}")
    return [range_note, actions_block(buttons)] if buttons else [range_note]


def input_block(block_id: str, label: str, element: Json, *, hint: str = "", optional: bool = True) -> Block:
    """Returns an input block of a modal."""
    block: Block = {
        "type": "input",
        "block_id": block_id,
        "label": plain_text_object(label),
        "element": element,
        "optional": optional,
    }
    return block | ({"hint": plain_text_object(hint)} if hint else {})


def option_object(text: str, value: str) -> Block:
    return {"text": plain_text_object(text, MAX_OPTION_UNITS), "value": value}


def modal_view(
    callback_id: str, title: str, blocks: Iterable[Block], *, submit: str = "", metadata: str = ""
) -> Mapping[str, Json]:
    view: Block = {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain_text_object(title, MAX_TITLE_UNITS),
        "close": plain_text_object("Close", MAX_TITLE_UNITS),
        "private_metadata": metadata,
        "blocks": list(blocks),
    }
    return view | ({"submit": plain_text_object(submit, MAX_TITLE_UNITS)} if submit else {})


def subject_as_mrkdwn(subject: Subject, account_ids: frozenset[str]) -> str:
    """Returns a subject as mrkdwn: by its name in Slack if it belongs to this installation, else by its id."""
    match = _SUBJECT_PATTERN.fullmatch(subject)
    if match is not None and match["home"] in account_ids:
        return _ENTITY_TEMPLATES[match["kind"]].format(match["id"])
    if local_group_of(subject) is not None:
        return escape_as_mrkdwn(fit_on_one_line(name_subject(subject), 106), 306)
    return escape_as_mrkdwn(fit_on_one_line(name_subject(subject), 200), 600)
