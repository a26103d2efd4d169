"""The parts of the cards of the administration. Data appears in text runs and menus, which show it verbatim.

Each text has its share of the card in bytes, so that no data makes a card larger than Teams takes.
"""

import json
from collections.abc import Mapping, Sequence

from adapters.teams.administration.submissions import ADMIN_KIND, TICKED_VALUE
from adapters.teams.payloads.json_values import Json, JsonObject
from adapters.teams.posting.cards import adaptive_card, attach_card, show_on_one_line

MAX_NAME_BYTES, MAX_LINE_BYTES, MAX_NOTE_BYTES, MAX_OPTION_BYTES = 160, 240, 400, 100  # in JSON, in UTF-8


def fit_in_bytes(text: str, max_bytes: int) -> str:
    """Returns data on one line whose JSON has at most `max_bytes` bytes; a dash if it is empty."""
    line = show_on_one_line(text) or "–"
    if _json_bytes_of(line) <= max_bytes:
        return line
    shown, rest = "", max_bytes - _json_bytes_of("…")
    for character in line[:max_bytes]:
        rest -= _json_bytes_of(character)
        if rest < 0:
            break
        shown += character
    return shown.rstrip() + "…"


def _json_bytes_of(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", errors="replace")) - 2


def heading_part(text: str) -> JsonObject:
    """A heading with a fixed text."""
    return {"type": "TextBlock", "text": text, "weight": "bolder", "size": "medium", "wrap": True}


def fixed_line(text: str) -> JsonObject:
    """A paragraph with a fixed text, which may hold Markdown of Parley's own."""
    return {"type": "TextBlock", "text": text, "wrap": True}


def data_line(*texts: str, title: str = "", max_bytes: int = MAX_LINE_BYTES, notes: Sequence[str] = ()) -> JsonObject:
    """A line of data, each text shortened on its own; a title is bold and first. `notes`: sentences at its end."""
    runs: list[JsonObject] = []
    if title:
        runs.append({"type": "TextRun", "text": fit_in_bytes(title, max_bytes), "weight": "bolder"})
    for text, most in (*((text, max_bytes) for text in texts), *((note, MAX_NOTE_BYTES) for note in notes)):
        separator = " · " if runs else ""
        runs.append({"type": "TextRun", "text": separator + fit_in_bytes(text, most)})
    return {"type": "RichTextBlock", "inlines": runs}


def notice_part(sentence: str, *, is_error: bool = False) -> JsonObject:
    color = "attention" if is_error else "good"
    run: JsonObject = {"type": "TextRun", "text": fit_in_bytes(sentence, 1_200), "color": color, "weight": "bolder"}
    return {"type": "RichTextBlock", "inlines": [run]}


def admin_action(title: str, action: str, *, sends_inputs: bool = False, **data: Json) -> JsonObject:
    """A button. Without `sends_inputs` the inputs of the card do not matter for it."""
    inputs: JsonObject = {} if sends_inputs else {"associatedInputs": "none"}
    return {
        "type": "Action.Submit",
        "title": title,
        "data": {"parley": ADMIN_KIND, "action": action, **data},
        **inputs,
    }


def page_link_action() -> JsonObject:
    """The button that asks for a link to the admin page."""
    return admin_action("Open in the browser", "browser")


def report_action() -> JsonObject:
    """The button that shows the report of usage."""
    return admin_action("Report", "report")


def action_row(*actions: JsonObject) -> JsonObject:
    return {"type": "ActionSet", "actions": actions}


def page_note(first: int, page_size: int, count: int) -> list[JsonObject]:
    """The range of a list that is shown; nothing for a single page."""
    if count <= page_size and first == 0:
        return []
    return [fixed_line(f"{first + 1:,} to {min(first + page_size, count):,} of {count:,}")]


def page_actions(action: str, first: int, page_size: int, count: int, *, bucket: str = "") -> list[JsonObject]:
    """Buttons to the other pages; nothing for a single page."""
    targets = [
        ("Previous", max(first - page_size, 0), first > 0),
        ("Next", first + page_size, first + page_size < count),
    ]
    return [admin_action(title, action, first=target, bucket=bucket) for title, target, exists in targets if exists]


def first_on_page(first: int, page_size: int, count: int) -> int:
    """The start of the page, on a list that may have become shorter."""
    return first - first % page_size if first < count else 0


def text_input(name: str, label: str, *, value: str = "", placeholder: str = "") -> JsonObject:
    return {
        "type": "Input.Text",
        "id": name,
        "label": label,
        "maxLength": 1_000,
        **({"placeholder": placeholder} if placeholder else {}),
        **({"value": fit_in_bytes(value, 1_000)} if value else {}),
    }


def tick_input(name: str, text: str, *, is_ticked: bool = False) -> JsonObject:
    """A box to tick, with a fixed text. Submits `TICKED_VALUE`."""
    ticked: JsonObject = {"value": TICKED_VALUE} if is_ticked else {}
    choice: JsonObject = {"title": text, "value": TICKED_VALUE}
    return {
        "type": "Input.ChoiceSet",
        "id": name,
        "style": "expanded",
        "isMultiSelect": True,
        "choices": [choice],
        **ticked,
    }


def menu_input(name: str, label: str, choices: Sequence[tuple[str, str]], *, placeholder: str) -> JsonObject:
    """A menu of data. `choices`: title and opaque key; at least one."""
    return {
        "type": "Input.ChoiceSet",
        "id": name,
        "label": label,
        "style": "compact",
        "placeholder": placeholder,
        "choices": [{"title": fit_in_bytes(title, MAX_OPTION_BYTES), "value": key} for title, key in choices],
    }


def card_activity(
    body: Sequence[JsonObject], *, summary: str, actions: Sequence[JsonObject] = ()
) -> Mapping[str, Json]:
    """A message with the card alone. `summary`: a fixed text, for notifications and clients without cards."""
    card = adaptive_card(body, actions=actions, fallback=summary)
    return {"type": "message", "summary": summary, "attachments": [attach_card(card)]}
