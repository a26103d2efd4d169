"""Adaptive Cards 1.5: tables, choices, buttons for a turn, steps and further choices.

Data appears in text runs, titles and choices, which Teams shows without Markdown. A card has at most six actions, as
Teams shows no more, and stays below 28 KB (https://adaptivecards.io/explorer,
https://learn.microsoft.com/microsoftteams/platform/task-modules-and-cards/cards/cards-reference).
"""

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from adapters.teams.payloads.json_values import Json, JsonObject
from bot.ids import ClarificationId, TurnId
from bot.surface.markdown import strip_control_characters
from bot.surface.replies import ChoiceButton, ChoicesPart, TablePart
from bot.turns.turn_actions import SearchStep, TurnSteps

ADAPTIVE_CARD: Final = "application/vnd.microsoft.card.adaptive"
MAX_CARD_BYTES: Final = 27_000  # of a card as JSON in UTF-8; Teams takes 28 KB
MAX_ACTIONS: Final = 6  # of a card
MAX_TITLE_CHARACTERS: Final = 75  # of a button or a choice
MAX_MENU_CHOICES: Final = 60  # in a menu beside buttons
MAX_LISTED_CHOICES: Final = 150  # in a card of further choices
MAX_TABLE_ROWS, MAX_TABLE_COLUMNS, MAX_CELL_CHARACTERS = 100, 12, 200
MAX_CAPTION_CHARACTERS: Final = 200
MAX_FALLBACK_CHARACTERS: Final = 2_000
MAX_ALTERNATIVE_CHARACTERS: Final = 1_000  # of a picture
CHOICE_INPUT: Final = "choice"  # the id of a menu of choices

_EXPORT_KIND: Final = "export"  # a kind of choice that has a count but does not narrow the search
_MAX_SHOWN_ACTIONS: Final = 3  # of the choices that do not narrow the search, beside a menu
_FALLBACK_SHARE: Final = 3  # a table's own fallback text takes at most a third of the card
_MAX_STEPS, _MAX_STEP_CHARACTERS, _MAX_REASONING_LINES = 40, 300, 50
_LIVE_MENTION: Final = re.compile(r"<(?=/?at\b)", re.IGNORECASE)
_DATE_MACRO: Final = re.compile(r"\{(?=\{)")
_INVISIBLE_SPACE: Final = "\u200b"


def attach_card(card: JsonObject) -> JsonObject:
    return {"contentType": ADAPTIVE_CARD, "content": card}


def json_bytes_of(value: Json) -> int:
    """The size in UTF-8 as it is sent."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", errors="replace"))


def json_units_of(value: Json) -> int:
    """The size in UTF-16 units: half of the bytes that Teams counts."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-16-le", errors="replace")) // 2


def show_on_one_line(text: str) -> str:
    """Raw text without line breaks, for a place that shows no Markdown. No mention or macro in it is live."""
    line = " ".join(strip_control_characters(text).split())
    return _DATE_MACRO.sub("{" + _INVISIBLE_SPACE, _LIVE_MENTION.sub("<" + _INVISIBLE_SPACE, line))


def shorten_to_line(text: str, characters: int) -> str:
    """The same, shortened. Of a very long text only the beginning is looked at."""
    return _cut_line(show_on_one_line(text[: characters * 4 + 100]), characters)


def _cut_line(line: str, characters: int) -> str:
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"


# Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCard:
    """`card` is None where not even one row fits. `is_cut`: something of the table is not shown."""

    card: JsonObject | None
    is_cut: bool


def table_card_for(table: TablePart, max_bytes: int) -> TableCard:
    """The caption, as many rows as fit, and a line that counts what is left out."""
    columns = table.columns[:MAX_TABLE_COLUMNS]
    rows = [_padded_row(row, len(columns)) for row in table.rows[:MAX_TABLE_ROWS]]
    is_cut = len(rows) < len(table.rows) or len(columns) < len(table.columns) or _has_long_texts(table)
    shown = _count_fitting_rows(table, columns, rows, min(max_bytes, MAX_CARD_BYTES)) if columns else 0
    if not shown:
        return TableCard(card=None, is_cut=is_cut or bool(rows))
    return TableCard(card=_table_card(table, columns, rows[:shown]), is_cut=is_cut or shown < len(rows))


def left_out_text(table: TablePart, shown_rows: int) -> str:
    """Such as "12 more rows and 1 more column not shown."; empty where all is shown."""
    counts = (
        (len(table.rows) - shown_rows, "row"),
        (len(table.columns) - min(len(table.columns), MAX_TABLE_COLUMNS), "column"),
    )
    missing = [f"{count:,} more {noun}{'' if count == 1 else 's'}" for count, noun in counts if count > 0]
    return f"{' and '.join(missing)} not shown." if missing else ""


def _has_long_texts(table: TablePart) -> bool:
    return len(table.caption) > MAX_CAPTION_CHARACTERS or any(
        len(cell) > MAX_CELL_CHARACTERS for cell in _cells_of(table)
    )


def _cells_of(table: TablePart) -> Sequence[str]:
    return [cell for row in (table.columns, *table.rows) for cell in row]


def _count_fitting_rows(table: TablePart, columns: Sequence[str], rows: Sequence[Sequence[str]], max_bytes: int) -> int:
    """How many rows fit, by bisection: a card of fewer rows is smaller."""
    low, high, room = 0, 0, max_bytes
    while high < len(rows) and room > 0:
        room -= json_bytes_of(_table_row(rows[high]))
        high += 1
    while low < high:
        middle = (low + high + 1) // 2
        if json_bytes_of(_table_card(table, columns, rows[:middle])) <= max_bytes:
            low = middle
        else:
            high = middle - 1
    return low


def _table_card(table: TablePart, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> JsonObject:
    header = _padded_row(columns, len(columns))
    caption = shorten_to_line(table.caption, MAX_CAPTION_CHARACTERS)
    lines = [" | ".join(row) for row in (header, *rows)]
    fallback_lines = _lines_within(lines, MAX_CARD_BYTES // _FALLBACK_SHARE // 2)
    element: JsonObject = {
        "type": "Table",
        "showGridLines": True,
        "columns": [{"width": _column_width([row[index] for row in (header, *rows)])} for index in range(len(columns))],
        "rows": [_table_row(header, is_header=True), *(_table_row(row) for row in rows)],
        "fallback": {"type": "Container", "items": [text_block(line) for line in fallback_lines]},
    }
    left_out = left_out_text(table, len(rows))
    body = [
        *([text_block(caption, weight="bolder")] if caption else []),
        element,
        *([text_block(left_out, is_subtle=True)] if left_out else []),
    ]
    fallback = "\n".join(_lines_within([caption, *lines, left_out], MAX_FALLBACK_CHARACTERS))
    return {**adaptive_card(body, fallback=fallback), "msteams": {"width": "Full"}}


def _table_row(cells: Sequence[str], *, is_header: bool = False) -> JsonObject:
    weight = "bolder" if is_header else ""
    return {
        "type": "TableRow",
        "cells": [{"type": "TableCell", "items": [text_block(cell, weight=weight)]} for cell in cells],
    }


def _padded_row(row: Sequence[str], width: int) -> list[str]:
    """Exactly `width` cells, none of them empty."""
    cells = [shorten_to_line(cell, MAX_CELL_CHARACTERS) or "–" for cell in row[:width]]
    return cells + ["–"] * (width - len(cells))


def _column_width(cells: Sequence[str]) -> int:
    """A relative width, by the longest cell. No column is much narrower than others, because that breaks words."""
    longest = max((len(cell) for cell in cells), default=0)
    return 7 if longest <= 4 else min(max(longest + 2, 14), 18)


def _lines_within(lines: Sequence[str], characters: int) -> list[str]:
    fitting: list[str] = []
    for line in lines:
        characters -= len(line.encode("utf-8", errors="replace")) + 1
        if characters < 0:
            return [*fitting, "…"]
        fitting.append(line)
    return fitting


# Pictures


def picture_card_for(description: str, file: bytes) -> JsonObject | None:
    """The image within the card, as Teams takes a data URI as an address of an image
    (https://learn.microsoft.com/microsoftteams/platform/task-modules-and-cards/cards/cards-reference). None for a file
    that is too large for a card.
    """
    text = shorten_to_line(description, MAX_ALTERNATIVE_CHARACTERS)
    image: JsonObject = {
        "type": "Image",
        "url": f"data:image/png;base64,{b64encode(file).decode()}",
        "altText": text,
        "size": "stretch",
    }
    card = {**adaptive_card([image], fallback=text), "msteams": {"width": "Full"}}
    return card if json_bytes_of(card) <= MAX_CARD_BYTES else None


# Choices


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceLayout:
    """Where the choices of a clarification stand: as buttons, in a menu, behind an opener, and the actions below."""

    buttons: Sequence[ChoiceButton]
    menu: Sequence[ChoiceButton]
    hidden: Sequence[ChoiceButton]
    actions: Sequence[ChoiceButton]


def layout_choices(choices: ChoicesPart) -> ChoiceLayout:
    """At most six actions: buttons, the menu's own, the opener's and those of the choices that do not narrow."""
    offered = choices.buttons
    if len(offered) <= MAX_ACTIONS:
        return ChoiceLayout(buttons=offered, menu=(), hidden=(), actions=())
    actions = [button for button in offered if button.count is None or button.kind == _EXPORT_KIND]
    actions = actions[:_MAX_SHOWN_ACTIONS]
    filters = [button for button in offered if button not in actions]
    slots = MAX_ACTIONS - len(actions) - 1
    slots -= len(filters) > slots + MAX_MENU_CHOICES
    return ChoiceLayout(
        buttons=filters[:slots],
        menu=filters[slots : slots + MAX_MENU_CHOICES],
        hidden=filters[slots + MAX_MENU_CHOICES :],
        actions=actions,
    )


def choices_card_for(choices: ChoicesPart) -> JsonObject | None:
    """None where there is nothing to choose."""
    layout = layout_choices(choices)
    numbers = {button.id: number for number, button in enumerate(choices.buttons, 1)}
    fallback = "\n".join(
        _lines_within(
            [f"{number}. {button_text_for(button, number)}" for number, button in enumerate(choices.buttons, 1)],
            MAX_FALLBACK_CHARACTERS,
        )
    )
    if not layout.menu:
        actions = [_choice_action(button, numbers[button.id]) for button in layout.buttons]
        return adaptive_card([], actions=actions, fallback=fallback) if actions else None
    body: list[JsonObject] = [
        _action_set([_choice_action(button, numbers[button.id]) for button in layout.buttons]),
        _choice_menu([(button, numbers[button.id]) for button in layout.menu]),
        _action_set([_pick_action(), *_opener_actions(layout.hidden, choices.clarification)]),
    ]
    if layout.actions:
        body.append(_action_set([_choice_action(button, numbers[button.id]) for button in layout.actions]))
    return adaptive_card(body, fallback=fallback)


def are_labels_cut(choices: ChoicesPart) -> bool:
    return any(len(button.label) > _max_label_characters(button) for button in choices.buttons)


def more_choices_card_for(hidden: Sequence[ChoiceButton], clarification: ClarificationId) -> JsonObject:
    """A menu of the choices that the first card could not hold."""
    listed = hidden[:MAX_LISTED_CHOICES]
    while json_bytes_of(_more_choices_card(listed, len(hidden), clarification)) > MAX_CARD_BYTES:
        listed = listed[: len(listed) * 3 // 4]
    return _more_choices_card(listed, len(hidden), clarification)


def _more_choices_card(listed: Sequence[ChoiceButton], count: int, clarification: ClarificationId) -> JsonObject:
    heading = f"{count:,} more {'choice' if count == 1 else 'choices'}"
    note = f"The first {len(listed):,}; the others can be typed in the conversation." if len(listed) < count else ""
    body: list[JsonObject] = [
        text_block(heading, weight="bolder"),
        *([text_block(note, is_subtle=True)] if note else []),
        _choice_menu([(button, number) for number, button in enumerate(listed, 1)]),
    ]
    return adaptive_card(body, actions=[_pick_action(clarification)], fallback=heading)


def button_text_for(button: ChoiceButton, number: int) -> str:
    """The label with its count. Only the label is shortened; an empty label becomes the number."""
    count = "" if button.count is None else f" · {button.count_text}"
    return (shorten_to_line(button.label, _max_label_characters(button)) or str(number)) + count


def _max_label_characters(button: ChoiceButton) -> int:
    return MAX_TITLE_CHARACTERS - (0 if button.count is None else len(f" · {button.count_text}"))


def _choice_action(button: ChoiceButton, number: int) -> JsonObject:
    """`associatedInputs`: the menu of the same card need not be filled in for a button."""
    return {
        "type": "Action.Submit",
        "title": button_text_for(button, number),
        "associatedInputs": "none",
        "data": {"parley": "choice", "id": button.id},
    }


def _choice_menu(choices: Sequence[tuple[ChoiceButton, int]]) -> JsonObject:
    return {
        "type": "Input.ChoiceSet",
        "id": CHOICE_INPUT,
        "label": "Choose one",
        "placeholder": f"{len(choices):,} more",
        "style": "compact",
        "isRequired": True,
        "errorMessage": "Choose one of them first.",
        "choices": [{"title": button_text_for(button, number), "value": button.id} for button, number in choices],
    }


def _pick_action(clarification: ClarificationId | None = None) -> JsonObject:
    """`clarification`: on a card of further choices, whose message is not known by then."""
    data: JsonObject = {"parley": "pick", **({"clarification": clarification} if clarification else {})}
    return {"type": "Action.Submit", "title": "Choose", "data": data}


def _opener_actions(hidden: Sequence[ChoiceButton], clarification: ClarificationId) -> list[JsonObject]:
    if not hidden:
        return []
    title = f"{len(hidden):,} more {'choice' if len(hidden) == 1 else 'choices'}"
    data: JsonObject = {"parley": "more", "clarification": clarification}
    return [{"type": "Action.Submit", "title": title, "associatedInputs": "none", "data": data}]


# Buttons for a turn, and steps


def turn_action(title: str, kind: str, turn: TurnId) -> JsonObject:
    """A button about the turn. `kind`: `stop`, `steps`, `save` or `full`."""
    return {"type": "Action.Submit", "title": title, "data": {"parley": kind, "turn": turn}}


def open_url_action(title: str, url: str) -> JsonObject:
    return {"type": "Action.OpenUrl", "title": shorten_to_line(title, MAX_TITLE_CHARACTERS), "url": url}


def steps_card_for(steps: TurnSteps) -> JsonObject:
    """How an answer was found: a summary, what the stages and a language model did, and the searches."""
    summary = steps.summary
    lines = [*steps.stage_lines, *steps.reasoning_lines][:_MAX_REASONING_LINES]
    blocks = [text_block(shorten_to_line(summary, _MAX_STEP_CHARACTERS), weight="bolder")]
    blocks += [text_block(shorten_to_line(line, _MAX_STEP_CHARACTERS)) for line in lines if line.strip()]
    blocks += [_step_block(number, step) for number, step in enumerate(steps.steps[:_MAX_STEPS], 1)]
    if not steps.steps:
        blocks.append(text_block("Nothing was searched for this.", is_subtle=True))
    while json_bytes_of(adaptive_card(blocks, fallback=summary)) > MAX_CARD_BYTES:
        blocks = [*blocks[: len(blocks) * 3 // 4], text_block("…")]
    return adaptive_card(blocks, fallback=shorten_to_line(summary, _MAX_STEP_CHARACTERS))


def _step_block(number: int, step: SearchStep) -> JsonObject:
    criteria = shorten_to_line(step.criteria, _MAX_STEP_CHARACTERS)
    found = f"{' ' if criteria else ''}— {step.result_text}"
    runs = [
        {"type": "TextRun", "text": f"{number}. {shorten_to_line(step.label, 100)} ", "weight": "bolder"},
        {"type": "TextRun", "text": f"{criteria}{found}"},
    ]
    return {"type": "RichTextBlock", "inlines": runs}


# Elements


def adaptive_card(
    body: Sequence[JsonObject], *, actions: Sequence[JsonObject] = (), fallback: str = ""
) -> dict[str, Json]:
    return {
        "type": "AdaptiveCard",
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "version": "1.5",
        "body": body,
        **({"actions": actions} if actions else {}),
        **({"fallbackText": fallback} if fallback else {}),
    }


def text_block(text: str, *, weight: str = "", is_subtle: bool = False) -> JsonObject:
    """Text that is shown without Markdown. It is on one line and not empty."""
    run: dict[str, Json] = {"type": "TextRun", "text": text}
    run |= {"weight": weight} if weight else {}
    run |= {"isSubtle": True} if is_subtle else {}
    return {"type": "RichTextBlock", "inlines": [run]}


def _action_set(actions: Sequence[JsonObject]) -> JsonObject:
    return {"type": "ActionSet", "actions": actions}
