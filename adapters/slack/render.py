"""A Reply as one Slack message: blocks within Slack's limits, and the text that stands in for them.

Words go into `rich_text`, `raw_text` and `plain_text` objects, which Slack shows as they are: nothing in them can turn
into a mention, a link or a format. Only the stand-in text is mrkdwn, and all of it is escaped.

A message has room for 45 blocks and 11,000 characters (Slack takes 50, and answers `msg_blocks_too_long` near 13,200).
Buttons and short parts are placed first, tables and text share what is left; what does not fit is shortened and says
so.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from adapters.slack.lines import Line, Span, cleaned, lines_of
from adapters.slack.quoting import quotes_of
from bot.ids import ClarificationId, TurnId
from bot.replies import (
    Button,
    Choices,
    Chosen,
    File,
    Handle,
    Handles,
    Notice,
    Part,
    Progress,
    Reply,
    Source,
    Table,
    Text,
    Whole,
)

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | dict[str, Json] | None"
Block: TypeAlias = dict[str, Json]

CHARACTERS, BLOCKS = 11_000, 45  # of one message
FALLBACK_CHARACTERS = 3_900  # of `text`, which Slack advises to keep to 4,000
FALLBACK_ROWS = 20
TABLE_ROWS, TABLE_COLUMNS, TABLE_CHARACTERS, CELL_CHARACTERS = 201, 20, 8_000, 300  # rows with the header
TABLE_PAGE, TABLE_CAPTION = 10, 200  # rows shown at once
BUTTON_CHARACTERS, BUTTONS = 75, 25  # as many as one row of buttons takes
BLOCK_CHARACTERS = 3_000  # of one rich_text block, as of a section
NOTE_CHARACTERS = 80  # of the line that says that something was shortened
SHORT_CHARACTERS = 1_000  # of progress, of a file's title
TITLE_CHARACTERS = 200  # of a source
URL_CHARACTERS = 3_000
ACTION_PREFIX = "clarify:"  # of every button's action_id; its number from 1 follows
MORE = "more"  # of the button behind which the other choices are; its value names their clarification
STOP, RATE, STEPS, WHOLE = (
    "stop",
    "rate",
    "steps",
    "whole",
)  # action ids of what is done about the turn, which its value names

_EXPORT = "export"  # the kind of choice that has a count and yet narrows nothing
_LIVE_ENTITY = re.compile("<(?=[!@#])")
_LIVE_NAMES = re.compile(r"@(?=here|channel|everyone)", re.IGNORECASE)
_HALF_ENTITY = re.compile(r"&[a-z]{0,4}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What `chat.postMessage` and `chat.update` take."""

    text: str
    blocks: tuple[Block, ...]


@dataclass(slots=True)
class _Room:
    """What is left in the message."""

    characters: int = CHARACTERS
    blocks: int = BLOCKS - 1  # one is kept for the way to the whole
    buttons: int = 0  # placed so far
    tables: int = 1
    is_short: bool = False  # something was left out

    def spend(self, blocks: Sequence[Block]) -> None:
        self.blocks -= len(blocks)
        self.characters -= sum(weight(block) for block in blocks)


def message_for(reply: Reply, linked: frozenset[str] = frozenset(), *, grids: bool = True) -> Message:
    """`linked`: paths of files that could not be uploaded and are shown as links. Without `grids` tables are text."""
    room = _Room(tables=int(grids))
    placed: dict[int, Sequence[Block]] = {}
    parts = _told(reply.parts, linked)
    for position in sorted(range(len(parts)), key=lambda at: (_urgency(parts[at]), at)):
        part = parts[position]
        blocks = _handles(part, reply.turn) if isinstance(part, Handles) else _blocks_for(part, room, linked)
        room.spend(blocks)
        placed[position] = blocks
    blocks = [block for position in sorted(placed) for block in placed[position]]
    if room.is_short:
        blocks.append({"type": "actions", "elements": [_handle("Show all", WHOLE, reply.turn)]})
    return Message(text=_fallback(parts), blocks=tuple(blocks))


def _told(parts: Sequence[Part], linked: frozenset[str]) -> Sequence[Part]:
    """Without files that words speak of already: Slack shows them below by their names."""
    if not any(isinstance(part, Text) for part in parts):
        return parts
    return [part for part in parts if not isinstance(part, File) or part.path in linked]


def whole_text(reply: Reply) -> str:
    """All that the reply says, as plain text."""
    said = "\n\n".join(text for part in reply.parts if (text := "\n".join(_all_words(part)).strip()))
    return f"{cleaned(said)}\n"


def settled(reply: Reply, chosen: Chosen) -> Reply:
    """The reply with what was chosen in place of its buttons."""
    return replace(reply, parts=tuple(chosen if isinstance(part, Choices) else part for part in reply.parts))


def weight(value: Json) -> int:
    """Characters of text in a block, as Slack's limit for the whole message counts them (UTF-16 units)."""
    match value:
        case dict():
            shown = (value.get("text"), value.get("caption"))
            text = sum(len(own.encode("utf-16-le")) // 2 for own in shown if isinstance(own, str))
            return text + sum(weight(member) for member in value.values() if not isinstance(member, str))
        case list() | tuple():
            return sum(weight(member) for member in value)
        case _:
            return 0


Said: TypeAlias = Text | Table | Choices | Chosen | File | Whole | Progress | Notice


def _urgency(part: Part) -> int:
    match part:
        case Choices() | Handles():
            return 0
        case Chosen() | File() | Whole() | Notice() | Progress():
            return 1
        case Table() | Text():
            return 2
        case _:
            assert_never(part)


def _blocks_for(part: Said, room: _Room, linked: frozenset[str]) -> list[Block]:
    match part:
        case Text():
            return _text(part, room)
        case Table():
            return _table(part, room)
        case Choices():
            return _actions(part, room)
        case Chosen(label=label, by=by):
            return _prose([_chosen_line(label, by)], room)
        case File():
            return _prose([_file_line(part, linked=part.path in linked)], room)
        case Whole(name=name):
            return _prose([_whole_line(name)], room)
        case Progress(text=text):
            return _prose([_line(Span(text=_short(text), italic=True))], room)
        case Notice(text=text):
            return _prose([_line(Span(text=_on_one_line(text)))], room)
        case _:
            assert_never(part)


# Words


def _text(part: Text, room: _Room) -> list[Block]:
    """The words, what they rest on, and, where there is room, what the sources that no link opens say."""
    said = _prose([*lines_of(part.markdown), *_source_lines(part.sources)], room)
    room.is_short = room.is_short or any(len(_on_one_line(one.title)) > TITLE_CHARACTERS for one in part.sources)
    unlinked = [source for source in part.sources if _web_address(source.url) is None]
    elements: list[Json] = [
        {"type": "rich_text_quote", "elements": _inline(line.spans)} for line in quotes_of(part.markdown, unlinked)
    ]
    quotes: Block = {"type": "rich_text", "elements": elements}
    is_room = sum(map(weight, said)) + weight(quotes) <= room.characters - NOTE_CHARACTERS and len(said) < room.blocks
    return [*said, quotes] if elements and is_room else said


def _prose(lines: Sequence[Line], room: _Room) -> list[Block]:
    """The lines as rich text, as far as there is room; a shortened text says so."""
    if room.characters < NOTE_CHARACTERS or room.blocks < 1:
        room.is_short = room.is_short or any(line.spans for line in lines)
        return []
    shown, cut = _within(_broken(lines), min(room.characters, room.blocks * BLOCK_CHARACTERS // 2) - 200)
    if cut:
        room.is_short = True
        shown = [*shown, _line(Span(text="Shortened: the whole is longer than a Slack message may be.", italic=True))]
    blocks = [_rich_text(chunk) for chunk in _chunks(shown)]
    room.is_short = room.is_short or len(blocks) > room.blocks
    return blocks[: room.blocks]


def _broken(lines: Iterable[Line]) -> list[Line]:
    """The same lines, none longer than a block may be."""
    return [piece for line in lines for piece in ([line] if _size(line) <= BLOCK_CHARACTERS else _pieces(line))]


def _pieces(line: Line) -> list[Line]:
    """Half-blocks of one long line: a span may take two UTF-16 units a character."""
    step = BLOCK_CHARACTERS // 2
    return [
        Line(spans=(replace(span, text=span.text[start : start + step]),), bullet=line.bullet)
        for span in line.spans
        for start in range(0, len(span.text), step)
    ]


def _within(lines: Iterable[Line], characters: int) -> tuple[list[Line], bool]:
    """As many lines as fit, and whether some did not."""
    shown: list[Line] = []
    for line in lines:
        characters -= _size(line) + 1
        if characters < 0:
            return [*shown, *_beginning(line, characters + _size(line))], True
        shown.append(line)
    return shown, False


def _beginning(line: Line, characters: int) -> list[Line]:
    """The start of a line that does not fit, where that is worth showing."""
    first = line.spans[0] if line.spans else Span(text="")
    text = first.text[: max(characters, 0) // 2].rstrip()
    return [replace(line, spans=(replace(first, text=text + "…"),))] if len(text) >= 40 and first.url is None else []


def _chunks(lines: Iterable[Line]) -> list[list[Line]]:
    """Lines in groups, each within one block, none empty."""
    chunks: list[list[Line]] = []
    left = 0
    for line in lines:
        left -= _size(line) + 1
        if not chunks or left < 0:
            chunks.append([])
            left = BLOCK_CHARACTERS - _size(line)
        chunks[-1].append(line)
    return [chunk for chunk in chunks if any(line.spans for line in chunk)]


def _size(line: Line) -> int:
    return sum(len(span.text.encode("utf-16-le")) // 2 for span in line.spans)


def _rich_text(lines: Sequence[Line]) -> Block:
    elements: list[Json] = []
    start = 0
    for at in range(1, len(lines) + 1):
        if at == len(lines) or lines[at].bullet != lines[start].bullet:
            group = lines[start:at]
            elements += [_list(group)] if group[0].bullet else _section(group)
            start = at
    return {"type": "rich_text", "elements": elements}


def _list(lines: Sequence[Line]) -> Json:
    items: list[Json] = [{"type": "rich_text_section", "elements": _inline(line.spans)} for line in lines if line.spans]
    return {"type": "rich_text_list", "style": "bullet", "elements": items}


def _section(lines: Sequence[Line]) -> list[Json]:
    """One section, its lines under one another. None where there is nothing but empty lines."""
    spans = [span for line in lines for span in (*line.spans, Span(text="\n"))]
    while spans and not spans[-1].text.strip():
        spans.pop()
    first = next((at for at, span in enumerate(spans) if span.text.strip()), 0)
    return [{"type": "rich_text_section", "elements": _inline(spans[first:])}] if spans else []


def _inline(spans: Iterable[Span]) -> list[Json]:
    """Elements, neighbours of one style as one."""
    runs: list[Span] = []
    for span in spans:
        if runs and span.url is None and runs[-1] == replace(span, text=runs[-1].text):
            runs[-1] = replace(span, text=runs[-1].text + span.text)
        elif span.text:
            runs.append(span)
    return [_element(run) for run in runs]


def _element(span: Span) -> Block:
    element: Block = {"type": "text", "text": span.text}
    if span.url is not None:
        element = {"type": "link", "url": span.url, "text": span.text}
    style: Block = {name: True for name in ("bold", "italic", "code") if getattr(span, name)}
    return {**element, "style": style} if style else element


def _line(*spans: Span) -> Line:
    return Line(spans=tuple(span for span in spans if span.text))


def _on_one_line(text: str) -> str:
    """Raw text, all of it."""
    return " ".join(cleaned(text).split())


def _short(text: str, characters: int = SHORT_CHARACTERS) -> str:
    """Raw text on one line."""
    line = _on_one_line(text)
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"


def _source_lines(sources: Sequence[Source], characters: int = TITLE_CHARACTERS) -> list[Line]:
    """`characters`: of a title."""
    lines = [
        _line(
            Span(text=f"[{_short(source.marker, 20)}] "),
            Span(text=_named(source, characters), url=_web_address(source.url, source.page)),
        )
        for source in sources
    ]
    return [Line(spans=()), *lines] if lines else []


def _named(source: Source, characters: int) -> str:
    page = "" if source.page is None else f", page {source.page}"
    return (_short(source.title, characters) or "Untitled") + page


def _web_address(url: str | None, page: int | None = None) -> str | None:
    """The address if a click on it can only open a web page; of a PDF at its page."""
    fits = url is not None and len(url) <= URL_CHARACTERS - 20 and re.fullmatch(r"https?://[!-~]+", url)
    if url is None or not fits:
        return None
    return f"{url}#page={page}" if page is not None and url.casefold().endswith(".pdf") else url


def _chosen_line(label: str, by: str) -> Line:
    if not by:
        return _line(Span(text=_short(label), italic=True))
    return _line(
        Span(text="✓ "),
        Span(text=_short(label), bold=True),
        Span(text=f" — chosen by {_short(by, 100)}"),
    )


def _file_line(file: File, *, linked: bool) -> Line:
    title = Span(text=_short(file.title) or _short(file.name) or "File", bold=True)
    rows = f" · {file.rows:,} {'row' if file.rows == 1 else 'rows'}"
    address = _web_address(file.url) if linked else None
    if address is None:
        return _line(title, Span(text=rows))
    until = f"{file.expires:%H:%M} UTC"
    return _line(title, Span(text=f"{rows} · "), Span(text="Download", url=address), Span(text=f" until {until}"))


# Buttons


def _whole_line(name: str) -> Line:
    return _line(Span(text="All of it is in this file: "), Span(text=_short(name), bold=True))


def parted(choices: Choices) -> tuple[Sequence[Button], Sequence[Button], Sequence[Button]]:
    """The choices that a message shows, those that it has no room for, and the ways out, which it shows after them."""
    buttons = choices.buttons
    if len(buttons) <= BUTTONS:
        return buttons, (), ()
    ways = [one for one in buttons if one.count is None or one.kind == _EXPORT][: BUTTONS // 2]
    others = [one for one in buttons if one not in ways]
    room = BUTTONS - 1 - len(ways)
    return others[:room], others[room:], ways


def _actions(choices: Choices, room: _Room) -> list[Block]:
    """The numbers of `action_id` go on through the whole message."""
    shown, rest, ways = parted(choices)
    room.is_short = room.is_short or any(len(_label(one)) > _label_room(one) for one in choices.buttons)
    elements: list[Json] = []
    for button in (*shown, *ways):
        room.buttons += 1
        elements.append(_button(button, room.buttons))
    if rest:
        elements.insert(len(shown), _more(len(rest), choices.clarification))
    return [{"type": "actions", "block_id": f"choices:{room.buttons}", "elements": elements}] if elements else []


def _more(count: int, clarification: ClarificationId) -> Block:
    text: Json = {
        "type": "plain_text",
        "text": f"{count:,} more {'choice' if count == 1 else 'choices'}",
        "emoji": False,
    }
    return {"type": "button", "action_id": MORE, "text": text, "value": clarification}


def _button(button: Button, number: int) -> Block:
    return {
        "type": "button",
        "action_id": f"{ACTION_PREFIX}{number}",
        "text": {"type": "plain_text", "text": button_text(button, number), "emoji": False},
        "value": button.id,
    }


def button_text(button: Button, number: int) -> str:
    """The label shortened before its count is; its number where nothing is left of it."""
    return (_short(_label(button), _label_room(button)) or str(number)) + _count(button)


def _label(button: Button) -> str:
    return _inert(_on_one_line(button.label))


def _label_room(button: Button) -> int:
    return (BUTTON_CHARACTERS - len(_count(button))) // _widest(button.label)


def _count(button: Button) -> str:
    return "" if button.count is None else f" · {button.count:,}"


def _inert(text: str) -> str:
    """`<!channel>` with a blank of no width: not every client is sure to show plain text as it is."""
    return _LIVE_ENTITY.sub("<\u200b", text)


def _widest(text: str) -> int:
    """UTF-16 units of the widest character."""
    return 2 if any(ord(character) > 0xFFFF for character in text) else 1


# What is done about the turn


def _handles(part: Handles, turn: TurnId) -> list[Block]:
    """Thumbs stand last, where Slack has them."""
    shown = {handle: handle in part.handles for handle in Handle}
    buttons: list[Json] = [
        _handle(text, action, turn)
        for handle, text, action in ((Handle.STOP, "Stop", STOP), (Handle.STEPS, "Show steps", STEPS))
        if shown[handle]
    ]
    row: list[Block] = [{"type": "actions", "elements": buttons}] if buttons else []
    return [*row, _thumbs(turn)] if shown[Handle.RATE] else row


def _handle(text: str, action: str, turn: TurnId) -> Block:
    shown: Json = {"type": "plain_text", "text": text, "emoji": False}
    return {"type": "button", "action_id": action, "text": shown, "value": turn}


def _thumbs(turn: TurnId) -> Block:
    def thumb(text: str, word: str, label: str) -> Json:
        shown: Json = {"type": "plain_text", "text": text, "emoji": False}
        return {"text": shown, "value": f"{word}:{turn}", "accessibility_label": label}

    buttons: Json = {
        "type": "feedback_buttons",
        "action_id": RATE,
        "positive_button": thumb("Good answer", "good", "This is a good answer"),
        "negative_button": thumb("Bad answer", "bad", "This is not a good answer"),
    }
    return {"type": "context_actions", "elements": [buttons]}


# Tables


def _table(table: Table, room: _Room) -> list[Block]:
    """Caption, table, and a line for what it leaves out. A second table of a message is set as text."""
    columns = table.columns[:TABLE_COLUMNS]
    budget = min(TABLE_CHARACTERS, room.characters - 400)
    rows = _rows_within([_row(row, len(columns)) for row in (table.columns, *table.rows)][:TABLE_ROWS], budget)
    caption = _line(Span(text=_short(table.caption, TABLE_CAPTION), bold=True))
    left_out = _left_out(
        (len(table.rows) - max(len(rows) - 1, 0), "row"), (len(table.columns) - len(columns), "column")
    )
    room.is_short = room.is_short or bool(left_out.spans) or _is_cut(table)
    if not columns or len(rows) < 2 or room.blocks < 3:
        return _prose([line for line in (caption, left_out) if line.spans], room)
    if not room.tables:
        return [*_paragraph(caption), _as_text(rows), *_paragraph(left_out)]
    room.tables = 0
    return [_grid(table.caption, rows), *_paragraph(left_out)]


def _is_cut(table: Table) -> bool:
    """Words of the caption or of a cell are left out."""
    cells = (cell for row in (table.columns, *table.rows) for cell in row)
    return len(_on_one_line(table.caption)) > TABLE_CAPTION or any(
        len(cell) > CELL_CHARACTERS and len(_on_one_line(cell)) > CELL_CHARACTERS for cell in cells
    )


def _row(row: Sequence[str], width: int) -> list[str]:
    """As many cells as the table has columns, none empty: Slack refuses an empty cell."""
    cells = [_inert(_short(cell, CELL_CHARACTERS)) or "–" for cell in row[:width]]
    return cells + ["–"] * (width - len(cells))


def _rows_within(rows: Sequence[list[str]], characters: int) -> list[list[str]]:
    for at, row in enumerate(rows):
        characters -= sum(len(cell.encode("utf-16-le")) // 2 + 3 for cell in row)
        if characters < 0:
            return list(rows[:at])
    return list(rows)


def _grid(caption: str, rows: Sequence[Sequence[str]]) -> Block:
    """What sorts and pages. slack_sdk knows no such block yet (https://docs.slack.dev/reference/block-kit/blocks)."""
    return {
        "type": "data_table",
        "caption": _LIVE_NAMES.sub("@\u200b", _inert(_short(caption, TABLE_CAPTION))) or "Table",
        "page_size": TABLE_PAGE,
        "rows": [[{"type": "raw_text", "text": cell} for cell in row] for row in rows],
    }


def _as_text(rows: Sequence[Sequence[str]]) -> Block:
    text = "\n".join(" | ".join(row) for row in rows)
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_preformatted", "elements": [{"type": "text", "text": text}]}],
    }


def _paragraph(line: Line) -> list[Block]:
    return [_rich_text([line])] if line.spans else []


def _left_out(*counts: tuple[int, str]) -> Line:
    missing = [f"{count:,} more {noun}{'' if count == 1 else 's'}" for count, noun in counts if count > 0]
    return _line(Span(text=f"{' and '.join(missing)} not shown." if missing else "", italic=True))


# The text that stands in for the blocks


def _fallback(parts: Sequence[Part]) -> str:
    """What notifications and screen readers say, and clients that draw no blocks. Never empty, nothing in it live."""
    words = "\n".join(text for part in parts if (text := "\n".join(_words(part)).strip()))
    return escaped(words, FALLBACK_CHARACTERS) or "…"


def escaped(text: str, characters: int) -> str:
    """`text` as mrkdwn that shows it and does nothing, in at most so many characters."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = _LIVE_NAMES.sub("@\u200b", safe)
    if len(safe) <= characters:
        return safe
    return _HALF_ENTITY.sub("", safe[: characters - 1]).rstrip() + "…"


def _words(part: Part) -> list[str]:
    match part:
        case Text(markdown=markdown, sources=sources):
            return [_plain(line) for line in (*lines_of(markdown), *_source_lines(sources))]
        case Table(caption=caption, columns=columns, rows=rows):
            spoken = (columns, *rows[:FALLBACK_ROWS]) if columns else ()
            return [_short(caption), *(" | ".join(_row(row, len(columns))) for row in spoken)]
        case Choices(buttons=buttons):
            return [f"{at}. {button_text(button, at)}" for at, button in enumerate(buttons, 1)]
        case Chosen(label=label, by=by):
            return [_plain(_chosen_line(label, by))]
        case File():
            return [_plain(_file_line(part, linked=False))]
        case Whole(name=name):
            return [_plain(_whole_line(name))]
        case Progress(text=text) | Notice(text=text):
            return [_short(text)]
        case Handles():
            return []
        case _:
            assert_never(part)


def _all_words(part: Part) -> list[str]:
    """Where there is room for everything."""
    match part:
        case Text(markdown=markdown, sources=sources):
            longest = max((len(source.title) for source in sources), default=0)
            quoted = [f"[{one.marker}] “{_on_one_line(one.quote)}”" for one in sources if _web_address(one.url) is None]
            return [*map(_plain, (*lines_of(markdown), *_source_lines(sources, longest))), *quoted]
        case Table(caption=caption, columns=columns, rows=rows):
            return [caption, *(" | ".join(" ".join(cell.split()) for cell in row) for row in (columns, *rows))]
        case Choices(buttons=buttons):
            return [f"{at}. {_label(button)}{_count(button)}" for at, button in enumerate(buttons, 1)]
        case Notice(text=text):
            return [_on_one_line(text)]
        case _:
            return _words(part)


def _plain(line: Line) -> str:
    return ("• " if line.bullet else "") + "".join(span.text for span in line.spans)
