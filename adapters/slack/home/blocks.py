"""Pieces of views, within Slack's limits whatever the data is: a Home tab or a modal takes 100 blocks and 250 kB.

Data goes into plain and rich text, which Slack shows as it is. Where a person or a channel is to be shown by name, the
text is mrkdwn, with nothing in it but our own entities and escaped words.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final

from adapters.slack.lines import cleaned
from adapters.slack.render import Block, Json, escaped
from bot.administration import local_group
from bot.ids import EVERYONE, Subject

BUTTON, OPTION, TITLE, HEADER, LINE = 75, 75, 24, 150, 300  # UTF-16 units
_SUBJECT: Final = re.compile(r"(?P<kind>user|channel|group):slack:(?P<home>[^:]+):(?P<id>[A-Z][A-Z0-9]+)")
_ENTITIES: Final = {"user": "<@{}>", "channel": "<#{}>", "group": "<!subteam^{}>"}
_LIVE_ENTITY: Final = re.compile("<(?=[!@#])")


def key(text: str) -> str:
    """What a button carries instead of an id, which may be of any length and is nobody else's business."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()[:32]


def fitting(text: str, most: int) -> str:
    """Data on one line, at most so many UTF-16 units; a dash where nothing is left of it."""
    line = _LIVE_ENTITY.sub("<\u200b", " ".join(cleaned(text).split())) or "–"
    units = line.encode("utf-16-le")
    if len(units) // 2 <= most:
        return line
    return units[: (most - 1) * 2].decode("utf-16-le", errors="ignore").rstrip() + "…"


def plain(text: str, most: int = LINE) -> Json:
    return {"type": "plain_text", "text": fitting(text, most), "emoji": False}


def header(text: str) -> Block:
    return {"type": "header", "text": plain(text, HEADER)}


def divider() -> Block:
    return {"type": "divider"}


def lines(*texts: str, button: Json = None) -> Block:
    """A section of plain lines, one below the other, with a button beside them."""
    shown = "\n".join(fitting(one, LINE) for one in texts if one) or fitting("", LINE)
    return _section({"type": "plain_text", "text": shown, "emoji": False}, button)


def marked(mrkdwn: str, button: Json = None) -> Block:
    """A section of mrkdwn that is safe already."""
    return _section({"type": "mrkdwn", "text": mrkdwn}, button)


def _section(text: Json, button: Json) -> Block:
    section: Block = {"type": "section", "text": text}
    if button is not None:
        section["accessory"] = button
    return section


def note(text: str) -> Block:
    return {"type": "context", "elements": [plain(text)]}


def bullets(items: Sequence[Sequence[Json]]) -> Block:
    """Rich text: each item its own inline elements. At least one."""
    sections: list[Json] = [{"type": "rich_text_section", "elements": list(item)} for item in items]
    return {"type": "rich_text", "elements": [{"type": "rich_text_list", "style": "bullet", "elements": sections}]}


def words(text: str, most: int = LINE, *, bold: bool = False) -> Json:
    """An inline element of rich text."""
    element: Block = {"type": "text", "text": fitting(text, most)}
    if bold:
        element["style"] = {"bold": True}
    return element


def raw(text: str) -> Json:
    """An inline element with words of our own."""
    return {"type": "text", "text": text}


def link(url: str, text: str) -> Json:
    return {"type": "link", "url": url, "text": text}


def button(text: str, action: str, value: str, *, confirm: str = "", style: str = "") -> Json:
    """`confirm`: the question that is asked before."""
    asked: Block = {
        "title": plain("Are you sure?"),
        "text": plain(confirm, LINE),
        "confirm": plain(text, 30),
        "deny": plain("Cancel", 30),
    }
    element: Block = {"type": "button", "text": plain(text, BUTTON), "action_id": action, "value": value}
    if confirm:
        element["confirm"] = asked
    if style:
        element["style"] = style
    return element


def actions(buttons: Sequence[Json]) -> Block:
    return {"type": "actions", "elements": list(buttons)}


def pager(action: str, first: int, page: int, count: int, value: str = "{}") -> list[Block]:
    """Which part of a list is shown, and the ways to the others. Nothing where all of it is."""
    if count <= page and first == 0:
        return []
    buttons = [
        button(text, f"{action}:{way}", value.format(at))
        for text, way, at in (("Previous", "back", max(first - page, 0)), ("Next", "next", first + page))
        if (way == "back" and first > 0) or (way == "next" and first + page < count)
    ]
    shown = note(f"{first + 1:,} to {min(first + page, count):,} of {count:,}")
    return [shown, actions(buttons)] if buttons else [shown]


def field(block: str, label: str, element: Json, *, hint: str = "", optional: bool = True) -> Block:
    """An input of a modal."""
    asked: Block = {"type": "input", "block_id": block, "label": plain(label), "element": element, "optional": optional}
    return asked | ({"hint": plain(hint)} if hint else {})


def option(text: str, value: str) -> Json:
    return {"text": plain(text, OPTION), "value": value}


def modal(
    callback: str, title: str, blocks: Iterable[Block], *, submit: str = "", metadata: str = ""
) -> Mapping[str, Json]:
    view: Block = {
        "type": "modal",
        "callback_id": callback,
        "title": plain(title, TITLE),
        "close": plain("Close", TITLE),
        "private_metadata": metadata,
        "blocks": list(blocks),
    }
    return view | ({"submit": plain(submit, TITLE)} if submit else {})


def shown(subject: Subject, homes: frozenset[str]) -> str:
    """A subject as mrkdwn: by the name that Slack gives it where it is of this installation, else by its id."""
    named = _SUBJECT.fullmatch(subject)
    if named is not None and named["home"] in homes:
        return _ENTITIES[named["kind"]].format(named["id"])
    if subject == EVERYONE:
        return "Everyone in the organisation, guests not included"
    group = local_group(subject)
    return f"Group {escaped(fitting(group, 100), 300)}" if group is not None else escaped(fitting(subject, 200), 600)


def moment(at: datetime, zone: tzinfo) -> str:
    """With the zone's name, since not every client says in which one it shows the rest."""
    return f"{at.astimezone(zone):%d %b %Y, %H:%M %Z}"


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
