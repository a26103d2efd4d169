"""Renders a Reply as one Slack message: blocks within Slack's limits, and a fallback text.

Texts go into `rich_text`, `raw_text` and `plain_text` objects, which Slack shows verbatim: nothing in them can turn
into a mention, a link or a format. Only the fallback text is mrkdwn, and all of it is escaped.

A message holds 45 blocks and 11,000 characters (Slack takes 50 blocks, and answers `msg_blocks_too_long` near 13,200
characters). Buttons and short parts are placed first; tables and text share the remaining space. A text that does not
fit is shortened, and a note says so.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from adapters.slack.posting.source_quotes import quote_lines_of
from adapters.slack.posting.styled_lines import StyledLine, StyledSpan, styled_lines_of
from bot.ids import ClarificationId, TurnId
from bot.surface.markdown import strip_control_characters
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    ChosenPart,
    CitedDocument,
    FilePart,
    FullTextPart,
    NoticePart,
    PicturePart,
    ProgressPart,
    Reply,
    ReplyPart,
    ShownCitation,
    TablePart,
    TextPart,
    TurnAction,
    TurnActionsPart,
    list_cited_documents,
)

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | dict[str, Json] | None"
Block: TypeAlias = dict[str, Json]

MAX_MESSAGE_CHARACTERS, MAX_MESSAGE_BLOCKS = 11_000, 45  # of one message
MAX_FALLBACK_CHARACTERS = 3_900  # of `text`, which Slack advises to keep to 4,000
MAX_FALLBACK_ROWS = 20
# The rows include the header.
MAX_TABLE_ROWS, MAX_TABLE_COLUMNS, MAX_TABLE_CHARACTERS, MAX_CELL_CHARACTERS = 201, 20, 8_000, 300
TABLE_PAGE_ROWS, MAX_CAPTION_CHARACTERS = 10, 200  # rows on one page of a table
MAX_BUTTON_CHARACTERS, MAX_BUTTONS = 75, 25  # the most buttons that one row takes
MAX_BLOCK_CHARACTERS = 3_000  # of one rich_text block; the same limit as for a section
NOTE_CHARACTERS = 80  # reserved for the note that the text was shortened
MAX_SHORT_CHARACTERS = 1_000  # of a progress text or a file's title
MAX_TITLE_CHARACTERS = 200  # of a source
MAX_URL_CHARACTERS = 3_000
ACTION_PREFIX = "clarify:"  # of every choice button's action_id; the button's number from 1 follows
MORE_ACTION = "more"  # action id of the button for the remaining choices; its value is the clarification's id
# Action ids of the turn actions; the button's value is the turn's id.
STOP_ACTION, RATE_ACTION, STEPS_ACTION, FULL_TEXT_ACTION = "stop", "rate", "steps", "whole"
SAVE_ACTION = "save"

_EXPORT_KIND = "export"  # a kind of choice that has a count but does not narrow the search
_LIVE_ENTITY = re.compile("<(?=[!@#])")
_LIVE_MENTION = re.compile(r"@(?=here|channel|everyone)", re.IGNORECASE)
_TRUNCATED_ENTITY = re.compile(r"&[a-z]{0,4}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedMessage:
    """The text and blocks for `chat.postMessage` and `chat.update`."""

    text: str
    blocks: tuple[Block, ...]


@dataclass(slots=True)
class _RemainingSpace:
    """The space that is left in the message."""

    characters: int = MAX_MESSAGE_CHARACTERS
    blocks: int = MAX_MESSAGE_BLOCKS - 1  # one block is reserved for the "Show all" button
    buttons_placed: int = 0
    tables_left: int = 1
    is_shortened: bool = False  # some content was left out

    def spend_blocks(self, blocks: Sequence[Block]) -> None:
        self.blocks -= len(blocks)
        self.characters -= sum(text_units_of(block) for block in blocks)


def slack_message_for(
    reply: Reply, linked_paths: frozenset[str] = frozenset(), *, allow_data_tables: bool = True
) -> RenderedMessage:
    """Render the reply as one message.

    `linked_paths`: paths of files that could not be uploaded and are shown as links. Without `allow_data_tables`,
    tables are rendered as text.
    """
    space = _RemainingSpace(tables_left=int(allow_data_tables))
    placed: dict[int, Sequence[Block]] = {}
    parts = _parts_to_show(reply.parts, linked_paths)
    for position in sorted(range(len(parts)), key=lambda index: (_placement_order(parts[index]), index)):
        part = parts[position]
        blocks = (
            _turn_action_blocks(part, reply.turn)
            if isinstance(part, TurnActionsPart)
            else _part_blocks_for(part, space, linked_paths)
        )
        space.spend_blocks(blocks)
        placed[position] = blocks
    blocks = [block for position in sorted(placed) for block in placed[position]]
    if space.is_shortened:
        blocks.append({"type": "actions", "elements": [_turn_action_button("Show all", FULL_TEXT_ACTION, reply.turn)]})
    return RenderedMessage(text=_fallback_text(parts), blocks=tuple(blocks))


def _parts_to_show(parts: Sequence[ReplyPart], linked_paths: frozenset[str]) -> Sequence[ReplyPart]:
    """Returns the parts without the pictures, which Slack shows below, and without the uploaded files when there is
    text: Slack shows those by name.
    """
    parts = [part for part in parts if not isinstance(part, PicturePart)]
    if not any(isinstance(part, TextPart) for part in parts):
        return parts
    return [part for part in parts if not isinstance(part, FilePart) or part.path in linked_paths]


def full_text_of(reply: Reply) -> str:
    """Returns the whole reply as plain text."""
    full_text = "\n\n".join(
        part_text for part in reply.parts if (part_text := "\n".join(_full_text_lines(part)).strip())
    )
    return f"{strip_control_characters(full_text)}\n"


def with_choices_settled(reply: Reply, chosen: ChosenPart) -> Reply:
    """Returns the reply with the chosen label in place of its buttons."""
    return replace(reply, parts=tuple(chosen if isinstance(part, ChoicesPart) else part for part in reply.parts))


def text_units_of(value: Json) -> int:
    """Count the text of a block in UTF-16 units, as Slack's limit for the whole message does."""
    match value:
        case dict():
            texts = (value.get("text"), value.get("caption"))
            text = sum(len(shown_text.encode("utf-16-le")) // 2 for shown_text in texts if isinstance(shown_text, str))
            return text + sum(text_units_of(member) for member in value.values() if not isinstance(member, str))
        case list() | tuple():
            return sum(text_units_of(member) for member in value)
        case _:
            return 0


ContentPart: TypeAlias = (
    TextPart | TablePart | PicturePart | ChoicesPart | ChosenPart | FilePart | FullTextPart | ProgressPart | NoticePart
)


def _placement_order(part: ReplyPart) -> int:
    match part:
        case ChoicesPart() | TurnActionsPart():
            return 0
        case ChosenPart() | FilePart() | FullTextPart() | NoticePart() | ProgressPart():
            return 1
        case TablePart() | TextPart():
            return 2
        case PicturePart():
            return 3
        case _:
            assert_never(part)


def _part_blocks_for(part: ContentPart, space: _RemainingSpace, linked_paths: frozenset[str]) -> list[Block]:
    match part:
        case TextPart():
            return _text_blocks(part, space)
        case TablePart():
            return _table_blocks(part, space)
        case PicturePart():
            return []  # Slack shows it below, as a file
        case ChoicesPart():
            return _choice_blocks(part, space)
        case ChosenPart(label=label, by=by):
            return _prose_blocks([_chosen_line(label, by)], space)
        case FilePart():
            return _prose_blocks([_file_line(part, is_linked=part.path in linked_paths)], space)
        case FullTextPart(name=name):
            return _prose_blocks([_full_text_line(name)], space)
        case ProgressPart(text=text):
            return _prose_blocks([_styled_line(StyledSpan(text=_shorten_to_line(text), italic=True))], space)
        case NoticePart(text=text):
            return _prose_blocks([_styled_line(StyledSpan(text=_on_one_line(text)))], space)
        case _:
            assert_never(part)


# Text


def _text_blocks(part: TextPart, space: _RemainingSpace) -> list[Block]:
    """Returns the text with its sources and, if there is room, quotes of the sources that have no link."""
    prose_blocks = _prose_blocks([*styled_lines_of(part.markdown), *_source_lines(part.sources)], space)
    space.is_shortened = space.is_shortened or any(
        len(_on_one_line(source.title)) > MAX_TITLE_CHARACTERS for source in part.sources
    )
    unlinked = [source for source in part.sources if _safe_web_address(source.url) is None]
    elements: list[Json] = [
        {"type": "rich_text_quote", "elements": _inline_elements(line.spans)}
        for line in quote_lines_of(part.markdown, unlinked)
    ]
    quotes: Block = {"type": "rich_text", "elements": elements}
    has_room = (
        sum(map(text_units_of, prose_blocks)) + text_units_of(quotes) <= space.characters - NOTE_CHARACTERS
        and len(prose_blocks) < space.blocks
    )
    return [*prose_blocks, quotes] if elements and has_room else prose_blocks


def _prose_blocks(lines: Sequence[StyledLine], space: _RemainingSpace) -> list[Block]:
    """Returns the lines that fit as rich text; a note follows where they are shortened."""
    if space.characters < NOTE_CHARACTERS or space.blocks < 1:
        space.is_shortened = space.is_shortened or any(line.spans for line in lines)
        return []
    shown_lines, is_cut = _lines_within_limit(
        _break_long_lines(lines), min(space.characters, space.blocks * MAX_BLOCK_CHARACTERS // 2) - 200
    )
    if is_cut:
        space.is_shortened = True
        shown_lines = [
            *shown_lines,
            _styled_line(StyledSpan(text="Shortened: the whole is longer than a Slack message may be.", italic=True)),
        ]
    blocks = [_rich_text_block(group) for group in _group_lines_by_block(shown_lines)]
    space.is_shortened = space.is_shortened or len(blocks) > space.blocks
    return blocks[: space.blocks]


def _break_long_lines(lines: Iterable[StyledLine]) -> list[StyledLine]:
    """Split the lines that are longer than a block."""
    return [
        piece
        for line in lines
        for piece in ([line] if _line_units(line) <= MAX_BLOCK_CHARACTERS else _split_long_line(line))
    ]


def _split_long_line(line: StyledLine) -> list[StyledLine]:
    """Split a line into half-block pieces, since a character may take two UTF-16 units."""
    step = MAX_BLOCK_CHARACTERS // 2
    return [
        StyledLine(spans=(replace(span, text=span.text[start : start + step]),), is_bullet=line.is_bullet)
        for span in line.spans
        for start in range(0, len(span.text), step)
    ]


def _lines_within_limit(lines: Iterable[StyledLine], characters: int) -> tuple[list[StyledLine], bool]:
    """Returns the lines that fit, and whether some did not."""
    fitting_lines: list[StyledLine] = []
    for line in lines:
        characters -= _line_units(line) + 1
        if characters < 0:
            return [*fitting_lines, *_line_beginning(line, characters + _line_units(line))], True
        fitting_lines.append(line)
    return fitting_lines, False


def _line_beginning(line: StyledLine, characters: int) -> list[StyledLine]:
    """Returns the start of a line that does not fit, if it is long enough to be useful."""
    first = line.spans[0] if line.spans else StyledSpan(text="")
    text = first.text[: max(characters, 0) // 2].rstrip()
    return [replace(line, spans=(replace(first, text=text + "…"),))] if len(text) >= 40 and first.url is None else []


def _group_lines_by_block(lines: Iterable[StyledLine]) -> list[list[StyledLine]]:
    """Group the lines so that each group fits in one block; drop empty groups."""
    groups: list[list[StyledLine]] = []
    units_left = 0
    for line in lines:
        units_left -= _line_units(line) + 1
        if not groups or units_left < 0:
            groups.append([])
            units_left = MAX_BLOCK_CHARACTERS - _line_units(line)
        groups[-1].append(line)
    return [group for group in groups if any(line.spans for line in group)]


def _line_units(line: StyledLine) -> int:
    return sum(len(span.text.encode("utf-16-le")) // 2 for span in line.spans)


def _rich_text_block(lines: Sequence[StyledLine]) -> Block:
    elements: list[Json] = []
    start = 0
    for index in range(1, len(lines) + 1):
        if index == len(lines) or lines[index].is_bullet != lines[start].is_bullet:
            group = lines[start:index]
            elements += [_bullet_list_element(group)] if group[0].is_bullet else _section_elements(group)
            start = index
    return {"type": "rich_text", "elements": elements}


def _bullet_list_element(lines: Sequence[StyledLine]) -> Json:
    items: list[Json] = [
        {"type": "rich_text_section", "elements": _inline_elements(line.spans)} for line in lines if line.spans
    ]
    return {"type": "rich_text_list", "style": "bullet", "elements": items}


def _section_elements(lines: Sequence[StyledLine]) -> list[Json]:
    """Returns one section with a line break between the lines; an empty list if all lines are empty."""
    spans = [span for line in lines for span in (*line.spans, StyledSpan(text="\n"))]
    while spans and not spans[-1].text.strip():
        spans.pop()
    first_index = next((index for index, span in enumerate(spans) if span.text.strip()), 0)
    return [{"type": "rich_text_section", "elements": _inline_elements(spans[first_index:])}] if spans else []


def _inline_elements(spans: Iterable[StyledSpan]) -> list[Json]:
    """Merge neighbouring spans of the same style into one element."""
    runs: list[StyledSpan] = []
    for span in spans:
        if runs and span.url is None and runs[-1] == replace(span, text=runs[-1].text):
            runs[-1] = replace(span, text=runs[-1].text + span.text)
        elif span.text:
            runs.append(span)
    return [_inline_element(run) for run in runs]


def _inline_element(span: StyledSpan) -> Block:
    element: Block = {"type": "text", "text": span.text}
    if span.url is not None:
        element = {"type": "link", "url": span.url, "text": span.text}
    style: Block = {name: True for name in ("bold", "italic", "code") if getattr(span, name)}
    return {**element, "style": style} if style else element


def _styled_line(*spans: StyledSpan) -> StyledLine:
    return StyledLine(spans=tuple(span for span in spans if span.text))


def _on_one_line(text: str) -> str:
    """Returns the text on one line, unescaped and not shortened."""
    return " ".join(strip_control_characters(text).split())


def _shorten_to_line(text: str, characters: int = MAX_SHORT_CHARACTERS) -> str:
    """Returns the text on one line, unescaped and shortened to `characters`."""
    line = _on_one_line(text)
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"


def _source_lines(sources: Sequence[ShownCitation], characters: int = MAX_TITLE_CHARACTERS) -> list[StyledLine]:
    """Returns a blank line and a line for each cited document. `characters` limits each title."""
    lines = [
        _styled_line(
            StyledSpan(text="".join(f"[{_shorten_to_line(marker, 20)}] " for marker in document.markers)),
            StyledSpan(
                text=_source_title(document, characters),
                url=_safe_web_address(document.first.url, document.first.page),
            ),
        )
        for document in list_cited_documents(sources)
    ]
    return [StyledLine(spans=()), *lines] if lines else []


def _source_title(document: CitedDocument, characters: int) -> str:
    places = f", {document.place_text}" if document.place_text else ""
    return (_shorten_to_line(document.first.title, characters) or "Untitled") + places


def _safe_web_address(url: str | None, page: int | None = None) -> str | None:
    """Returns the address if a click on it can only open a web page; for a PDF, with its page."""
    fits = url is not None and len(url) <= MAX_URL_CHARACTERS - 20 and re.fullmatch(r"https?://[!-~]+", url)
    if url is None or not fits:
        return None
    return f"{url}#page={page}" if page is not None and url.casefold().endswith(".pdf") else url


def _chosen_line(label: str, by: str) -> StyledLine:
    if not by:
        return _styled_line(StyledSpan(text=_shorten_to_line(label), italic=True))
    return _styled_line(
        StyledSpan(text="✓ "),
        StyledSpan(text=_shorten_to_line(label), bold=True),
        StyledSpan(text=f" — chosen by {_shorten_to_line(by, 100)}"),
    )


def _file_line(file: FilePart, *, is_linked: bool) -> StyledLine:
    title = StyledSpan(text=_shorten_to_line(file.title) or _shorten_to_line(file.name) or "File", bold=True)
    rows = f" · {file.row_count_text}"
    address = _safe_web_address(file.url) if is_linked else None
    if address is None:
        return _styled_line(title, StyledSpan(text=rows))
    until = f"{file.expires:%H:%M} UTC"
    return _styled_line(
        title,
        StyledSpan(text=f"{rows} · "),
        StyledSpan(text="Download", url=address),
        StyledSpan(text=f" until {until}"),
    )


# Buttons


def _full_text_line(name: str) -> StyledLine:
    return _styled_line(
        StyledSpan(text="All of it is in this file: "), StyledSpan(text=_shorten_to_line(name), bold=True)
    )


def split_choices_to_fit(
    choices: ChoicesPart,
) -> tuple[Sequence[ChoiceButton], Sequence[ChoiceButton], Sequence[ChoiceButton]]:
    """Returns the choices that fit in a message, those that do not, and the actions shown after the choices."""
    buttons = choices.buttons
    if len(buttons) <= MAX_BUTTONS:
        return buttons, (), ()
    actions = [button for button in buttons if button.count is None or button.kind == _EXPORT_KIND][: MAX_BUTTONS // 2]
    filters = [button for button in buttons if button not in actions]
    max_shown = MAX_BUTTONS - 1 - len(actions)
    return filters[:max_shown], filters[max_shown:], actions


def _choice_blocks(choices: ChoicesPart, space: _RemainingSpace) -> list[Block]:
    """Returns the row of buttons. The numbers in `action_id` continue through the whole message."""
    shown_buttons, hidden_buttons, actions = split_choices_to_fit(choices)
    space.is_shortened = space.is_shortened or any(
        len(_button_label(button)) > _max_label_characters(button) for button in choices.buttons
    )
    elements: list[Json] = []
    for button in (*shown_buttons, *actions):
        space.buttons_placed += 1
        elements.append(_choice_button(button, space.buttons_placed))
    if hidden_buttons:
        elements.insert(len(shown_buttons), _more_choices_button(len(hidden_buttons), choices.clarification))
    return (
        [{"type": "actions", "block_id": f"choices:{space.buttons_placed}", "elements": elements}] if elements else []
    )


def _more_choices_button(count: int, clarification: ClarificationId) -> Block:
    text: Json = {
        "type": "plain_text",
        "text": f"{count:,} more {'choice' if count == 1 else 'choices'}",
        "emoji": False,
    }
    return {"type": "button", "action_id": MORE_ACTION, "text": text, "value": clarification}


def _choice_button(button: ChoiceButton, number: int) -> Block:
    return {
        "type": "button",
        "action_id": f"{ACTION_PREFIX}{number}",
        "text": {"type": "plain_text", "text": button_text_for(button, number), "emoji": False},
        "value": button.id,
    }


def button_text_for(button: ChoiceButton, number: int) -> str:
    """Returns the label with its count. Only the label is shortened; an empty label becomes the number."""
    return (_shorten_to_line(_button_label(button), _max_label_characters(button)) or str(number)) + _count_suffix(
        button
    )


def _button_label(button: ChoiceButton) -> str:
    return _inert_text(_on_one_line(button.label))


def _max_label_characters(button: ChoiceButton) -> int:
    return (MAX_BUTTON_CHARACTERS - len(_count_suffix(button))) // _widest_character(button.label)


def _count_suffix(button: ChoiceButton) -> str:
    return "" if button.count is None else f" · {button.count_text}"


def _inert_text(text: str) -> str:
    """Put a zero-width space into entities such as `<!channel>`: some clients may not show plain text verbatim."""
    return _LIVE_ENTITY.sub("<\u200b", text)


def _widest_character(text: str) -> int:
    """Returns the UTF-16 units of the widest character: 1 or 2."""
    return 2 if any(ord(character) > 0xFFFF for character in text) else 1


# Turn actions


def _turn_action_blocks(part: TurnActionsPart, turn: TurnId) -> list[Block]:
    """Returns the turn's buttons. The feedback buttons come last, as in Slack's own apps."""
    is_shown = {handle: handle in part.handles for handle in TurnAction}
    buttons: list[Json] = [
        _turn_action_button(text, action, turn)
        for handle, text, action in (
            (TurnAction.STOP, "Stop", STOP_ACTION),
            (TurnAction.STEPS, "Show steps", STEPS_ACTION),
            (TurnAction.SAVE, "Save this search", SAVE_ACTION),
        )
        if is_shown[handle]
    ]
    action_row: list[Block] = [{"type": "actions", "elements": buttons}] if buttons else []
    return [*action_row, _feedback_block(turn)] if is_shown[TurnAction.RATE] else action_row


def _turn_action_button(text: str, action_id: str, turn: TurnId) -> Block:
    label: Json = {"type": "plain_text", "text": text, "emoji": False}
    return {"type": "button", "action_id": action_id, "text": label, "value": turn}


def _feedback_block(turn: TurnId) -> Block:
    def feedback_button(text: str, verdict: str, accessibility_label: str) -> Json:
        label: Json = {"type": "plain_text", "text": text, "emoji": False}
        return {"text": label, "value": f"{verdict}:{turn}", "accessibility_label": accessibility_label}

    buttons: Json = {
        "type": "feedback_buttons",
        "action_id": RATE_ACTION,
        "positive_button": feedback_button("Good answer", "good", "This is a good answer"),
        "negative_button": feedback_button("Bad answer", "bad", "This is not a good answer"),
    }
    return {"type": "context_actions", "elements": [buttons]}


# Tables


def _table_blocks(table: TablePart, space: _RemainingSpace) -> list[Block]:
    """Returns the caption, the table, and a line that counts omitted rows and columns.

    Slack takes one data table a message; further tables are rendered as text.
    """
    columns = table.columns[:MAX_TABLE_COLUMNS]
    budget = min(MAX_TABLE_CHARACTERS, space.characters - 400)
    rows = _rows_within_limit(
        [_padded_table_row(row, len(columns)) for row in (table.columns, *table.rows)][:MAX_TABLE_ROWS], budget
    )
    caption = _styled_line(StyledSpan(text=_shorten_to_line(table.caption, MAX_CAPTION_CHARACTERS), bold=True))
    left_out = _left_out_line(
        (len(table.rows) - max(len(rows) - 1, 0), "row"), (len(table.columns) - len(columns), "column")
    )
    space.is_shortened = space.is_shortened or bool(left_out.spans) or _is_table_cut(table)
    if not columns or len(rows) < 2 or space.blocks < 3:
        return _prose_blocks([line for line in (caption, left_out) if line.spans], space)
    if not space.tables_left:
        return [*_single_line_blocks(caption), _text_table_block(rows), *_single_line_blocks(left_out)]
    space.tables_left = 0
    return [_data_table_block(table.caption, rows), *_single_line_blocks(left_out)]


def _is_table_cut(table: TablePart) -> bool:
    """Whether the caption or a cell is too long to be shown in full."""
    cells = (cell for row in (table.columns, *table.rows) for cell in row)
    return len(_on_one_line(table.caption)) > MAX_CAPTION_CHARACTERS or any(
        len(cell) > MAX_CELL_CHARACTERS and len(_on_one_line(cell)) > MAX_CELL_CHARACTERS for cell in cells
    )


def _padded_table_row(row: Sequence[str], width: int) -> list[str]:
    """Returns exactly `width` cells, none of them empty: Slack refuses an empty cell."""
    cells = [_inert_text(_shorten_to_line(cell, MAX_CELL_CHARACTERS)) or "–" for cell in row[:width]]
    return cells + ["–"] * (width - len(cells))


def _rows_within_limit(rows: Sequence[list[str]], characters: int) -> list[list[str]]:
    for index, row in enumerate(rows):
        characters -= sum(len(cell.encode("utf-16-le")) // 2 + 3 for cell in row)
        if characters < 0:
            return list(rows[:index])
    return list(rows)


def _data_table_block(caption: str, rows: Sequence[Sequence[str]]) -> Block:
    """Returns a sortable, paged table block.

    slack_sdk does not have this block yet (https://docs.slack.dev/reference/block-kit/blocks).
    """
    return {
        "type": "data_table",
        "caption": _LIVE_MENTION.sub("@\u200b", _inert_text(_shorten_to_line(caption, MAX_CAPTION_CHARACTERS)))
        or "Table",
        "page_size": TABLE_PAGE_ROWS,
        "rows": [[{"type": "raw_text", "text": cell} for cell in row] for row in rows],
    }


def _text_table_block(rows: Sequence[Sequence[str]]) -> Block:
    text = "\n".join(" | ".join(row) for row in rows)
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_preformatted", "elements": [{"type": "text", "text": text}]}],
    }


def _single_line_blocks(line: StyledLine) -> list[Block]:
    return [_rich_text_block([line])] if line.spans else []


def _left_out_line(*counts: tuple[int, str]) -> StyledLine:
    missing = [f"{count:,} more {noun}{'' if count == 1 else 's'}" for count, noun in counts if count > 0]
    return _styled_line(StyledSpan(text=f"{' and '.join(missing)} not shown." if missing else "", italic=True))


# The fallback text


def _fallback_text(parts: Sequence[ReplyPart]) -> str:
    """Returns the text for notifications, screen readers and clients that draw no blocks.

    The text is never empty and contains no live mentions or links.
    """
    fallback = "\n".join(part_text for part in parts if (part_text := "\n".join(_fallback_lines(part)).strip()))
    return escape_as_mrkdwn(fallback, MAX_FALLBACK_CHARACTERS) or "…"


def escape_as_mrkdwn(text: str, characters: int) -> str:
    """Returns `text` as inert mrkdwn of at most `characters` characters."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = _LIVE_MENTION.sub("@\u200b", safe)
    if len(safe) <= characters:
        return safe
    return _TRUNCATED_ENTITY.sub("", safe[: characters - 1]).rstrip() + "…"


def _fallback_lines(part: ReplyPart) -> list[str]:
    match part:
        case TextPart(markdown=markdown, sources=sources):
            return [_plain_line_text(line) for line in (*styled_lines_of(markdown), *_source_lines(sources))]
        case TablePart(caption=caption, columns=columns, rows=rows):
            table_rows = (columns, *rows[:MAX_FALLBACK_ROWS]) if columns else ()
            return [
                _shorten_to_line(caption),
                *(" | ".join(_padded_table_row(row, len(columns))) for row in table_rows),
            ]
        case ChoicesPart(buttons=buttons):
            return [f"{number}. {button_text_for(button, number)}" for number, button in enumerate(buttons, 1)]
        case ChosenPart(label=label, by=by):
            return [_plain_line_text(_chosen_line(label, by))]
        case FilePart():
            return [_plain_line_text(_file_line(part, is_linked=False))]
        case FullTextPart(name=name):
            return [_plain_line_text(_full_text_line(name))]
        case ProgressPart(text=text) | NoticePart(text=text):
            return [_shorten_to_line(text)]
        case TurnActionsPart() | PicturePart():
            return []
        case _:
            assert_never(part)


def _full_text_lines(part: ReplyPart) -> list[str]:
    """Returns the lines of a part without shortening them."""
    match part:
        case TextPart(markdown=markdown, sources=sources):
            longest = max((len(source.title) for source in sources), default=0)
            quote_lines = [
                f"[{source.marker}] “{_on_one_line(source.quote)}”"
                for source in sources
                if _safe_web_address(source.url) is None
            ]
            return [
                *map(_plain_line_text, (*styled_lines_of(markdown), *_source_lines(sources, longest))),
                *quote_lines,
            ]
        case TablePart(caption=caption, columns=columns, rows=rows):
            return [caption, *(" | ".join(" ".join(cell.split()) for cell in row) for row in (columns, *rows))]
        case ChoicesPart(buttons=buttons):
            return [
                f"{number}. {_button_label(button)}{_count_suffix(button)}" for number, button in enumerate(buttons, 1)
            ]
        case NoticePart(text=text):
            return [_on_one_line(text)]
        case _:
            return _fallback_lines(part)


def _plain_line_text(line: StyledLine) -> str:
    return ("• " if line.is_bullet else "") + "".join(span.text for span in line.spans)
