"""Renders a Reply as one Teams message: text in Teams's Markdown, Adaptive Cards below, and entities.

A message holds 78 KB as JSON in UTF-16 (Teams takes 100 KB and advises 80 KB), a card 27 KB. Choices and short parts
are placed first; then text and tables share the remaining space. A text that does not fit is shortened, a note says so,
and a button hands over all of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, assert_never

from adapters.teams.payloads.json_values import Json, JsonObject
from adapters.teams.posting.cards import (
    MAX_ACTIONS,
    MAX_CARD_BYTES,
    adaptive_card,
    are_labels_cut,
    attach_card,
    choices_card_for,
    json_units_of,
    left_out_text,
    open_url_action,
    picture_card_for,
    shorten_to_line,
    show_on_one_line,
    table_card_for,
    turn_action,
)
from adapters.teams.posting.citations import is_title_cut, label_entity_for, select_claims, source_line_of
from adapters.teams.posting.markdown import (
    escape_for_teams,
    escape_line,
    format_bold,
    format_italic,
    safe_web_address,
    shorten_plain,
    teams_lines_of,
)
from bot.surface.markdown import strip_control_characters, strip_markup
from bot.surface.replies import (
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

MAX_MESSAGE_UNITS: Final = 39_000  # of the JSON in UTF-16: 78 KB
MAX_TEXT_UNITS: Final = 20_000  # of the text, so that people can still read it
MAX_INFORMATIVE_CHARACTERS: Final = 1_000
MAX_CHUNK_UNITS: Final = 30_000  # of one message of a full text
_ENVELOPE_UNITS: Final = 2_500  # fields of the activity, notes, the buttons for the turn
_TABLE_RESERVE_UNITS: Final = 9_000  # kept free of text where there is a table
_NOTE_UNITS: Final = 120
_MAX_SHORT_CHARACTERS, _MAX_SUMMARY_CHARACTERS, _MAX_NAME_CHARACTERS = 1_000, 200, 100
_SHORTENED_NOTE: Final = "Shortened: the whole is longer than a Teams message may be."
_EMPTY_TEXT: Final = "…"

ContentPart: TypeAlias = (
    TextPart | TablePart | PicturePart | ChoicesPart | ChosenPart | FilePart | FullTextPart | ProgressPart | NoticePart
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePlace:
    """What the place of a message allows. `is_personal`: files can be handed over with the person's consent.

    `linked_paths`: paths of files that are shown as links there nevertheless. A picture that is not drawn is left out.
    """

    is_personal: bool
    linked_paths: frozenset[str] = frozenset()
    drawn_pictures: Mapping[PicturePart, bytes] = field(default_factory=dict[PicturePart, bytes])  # PNG files

    def links_file(self, file: FilePart) -> bool:
        return not self.is_personal or file.path in self.linked_paths


@dataclass(slots=True)
class _MessageDraft:
    """The message so far, and the space that is left, in UTF-16 units."""

    units: int
    is_shortened: bool = False
    lines: dict[int, Sequence[str]] = field(default_factory=dict[int, Sequence[str]])  # by the part's position
    cards: dict[int, JsonObject] = field(default_factory=dict[int, JsonObject])
    actions: list[JsonObject] = field(default_factory=list[JsonObject])

    def add_lines(self, position: int, lines: Sequence[str]) -> None:
        self.lines[position] = lines
        self.units -= sum(map(_line_units, lines))

    def add_card(self, position: int, card: JsonObject) -> None:
        self.cards[position] = card
        self.units -= json_units_of(attach_card(card)) + 2


def teams_message_for(reply: Reply, place: MessagePlace) -> JsonObject:
    """The message as an activity. Its text is never empty."""
    parts = _parts_to_show(reply.parts, place)
    claims = select_claims(_sources_in(parts))
    draft = _MessageDraft(
        units=MAX_MESSAGE_UNITS - _ENVELOPE_UNITS - json_units_of(label_entity_for(claims, _markers_of(claims)))
    )
    for position in sorted(range(len(parts)), key=lambda index: (_placement_order(parts[index]), index)):
        _place_part(parts, position, draft, place, reply, claims)
    if draft.is_shortened:
        draft.actions.append(turn_action("Show all", "full", reply.turn))
    return _activity_for(reply, parts, draft, claims)


def is_progress(reply: Reply) -> bool:
    return any(isinstance(part, ProgressPart) for part in reply.parts)


def progress_text_of(reply: Reply) -> str:
    """The activity in plain words, for the line above a stream."""
    text = " ".join(part.text for part in reply.parts if isinstance(part, ProgressPart))
    return shorten_to_line(text, MAX_INFORMATIVE_CHARACTERS // 2) or _EMPTY_TEXT


def written_text_of(reply: Reply) -> str:
    """The part of an answer that is written while its turn runs; empty before its first sentence."""
    lines = [
        line for part in reply.parts if isinstance(part, TextPart) for line in ("", *teams_lines_of(part.markdown))
    ]
    text = "\n".join(lines).strip()
    return text if len(text) <= MAX_TEXT_UNITS // 4 else ""


def with_choices_settled(reply: Reply, chosen: ChosenPart) -> Reply:
    """The reply with the chosen label in place of its buttons."""
    return replace(reply, parts=tuple(chosen if isinstance(part, ChoicesPart) else part for part in reply.parts))


def _activity_for(
    reply: Reply, parts: Sequence[ReplyPart], draft: _MessageDraft, claims: Sequence[ShownCitation]
) -> JsonObject:
    text = _join_paragraphs([draft.lines[position] for position in sorted(draft.lines)]) or _EMPTY_TEXT
    cards = [draft.cards[position] for position in sorted(draft.cards)]
    cards += [
        adaptive_card([], actions=draft.actions[start : start + MAX_ACTIONS])
        for start in range(0, len(draft.actions), MAX_ACTIONS)
    ]
    activity: dict[str, Json] = {"type": "message", "textFormat": "markdown", "text": text}
    if cards:
        activity |= {
            "attachmentLayout": "list",
            "attachments": [attach_card(card) for card in cards],
            "summary": _summary_of(parts),
        }
    if _is_made_by_ai(reply):
        activity["entities"] = [label_entity_for(claims, text)]
    if any(isinstance(part, TurnActionsPart) and TurnAction.RATE in part.handles for part in parts):
        activity["channelData"] = {"feedbackLoop": {"type": "default"}}
    return activity


def _is_made_by_ai(reply: Reply) -> bool:
    """Whether the message shows an answer, or a question back; not while the turn runs, and not for a notice."""
    return not is_progress(reply) and any(isinstance(part, TextPart | TablePart) for part in reply.parts)


def _parts_to_show(parts: Sequence[ReplyPart], place: MessagePlace) -> Sequence[ReplyPart]:
    """The parts without the files that a card of their own names below, where there is text."""
    if not any(isinstance(part, TextPart) for part in parts):
        return parts
    return [part for part in parts if not isinstance(part, FilePart) or place.links_file(part)]


def _placement_order(part: ReplyPart) -> int:
    match part:
        case ChoicesPart() | TurnActionsPart():
            return 0
        case ChosenPart() | FilePart() | FullTextPart() | NoticePart() | ProgressPart():
            return 1
        case TextPart():
            return 2
        case TablePart():
            return 3
        case PicturePart():
            return 4
        case _:
            assert_never(part)


def _place_part(
    parts: Sequence[ReplyPart],
    position: int,
    draft: _MessageDraft,
    place: MessagePlace,
    reply: Reply,
    claims: Sequence[ShownCitation],
) -> None:
    part = parts[position]
    match part:
        case TextPart():
            reserve = _TABLE_RESERVE_UNITS if any(isinstance(other, TablePart) for other in parts) else 0
            _place_text(part, position, draft, claims, draft.units - reserve)
        case TablePart():
            _place_table(part, position, draft)
        case PicturePart():
            _place_picture(part, position, draft, place)
        case ChoicesPart():
            _place_choices(part, position, draft)
        case ChosenPart(label=label, by=by):
            _place_prose([_chosen_line(label, by)], position, draft)
        case FilePart():
            _place_file(part, position, draft, is_linked=place.links_file(part))
        case FullTextPart(name=name):
            _place_prose([_full_text_line(name, place)], position, draft)
        case ProgressPart(text=text):
            _place_prose([format_italic(shorten_plain(text, _MAX_SHORT_CHARACTERS))], position, draft)
        case NoticePart(text=text):
            _place_prose([escape_line(text)], position, draft)
        case TurnActionsPart(handles=handles):
            draft.actions += _turn_actions(handles, reply)
        case _:
            assert_never(part)


# Text


def _place_text(
    part: TextPart, position: int, draft: _MessageDraft, claims: Sequence[ShownCitation], units: int
) -> None:
    """The text with a line for each source that is not behind a marker."""
    lines = teams_lines_of(part.markdown)
    text = "\n".join(lines)
    listed = [source for source in part.sources if source not in claims or f"[{source.marker}]" not in text]
    source_lines = [source_line_of(document) for document in list_cited_documents(listed)]
    if source_lines:
        lines = [*lines, *([""] if lines else []), *(f"{line}  " for line in source_lines[:-1]), source_lines[-1]]
    draft.is_shortened = draft.is_shortened or any(map(is_title_cut, part.sources))
    _place_prose(lines, position, draft, units)


def _place_prose(lines: Sequence[str], position: int, draft: _MessageDraft, units: int | None = None) -> None:
    """The lines that fit; a note follows where they are shortened."""
    room = min(draft.units if units is None else units, MAX_TEXT_UNITS - _text_units(draft)) - _NOTE_UNITS
    fitting, is_cut = _lines_within(lines, max(room, 0))
    if is_cut:
        draft.is_shortened = True
        is_noted = any(_SHORTENED_NOTE in line for placed in draft.lines.values() for line in placed)
        fitting += [] if is_noted else ["", format_italic(_SHORTENED_NOTE)]
    draft.add_lines(position, fitting)


def _text_units(draft: _MessageDraft) -> int:
    return sum(_line_units(line) for lines in draft.lines.values() for line in lines)


def _line_units(line: str) -> int:
    """The size in the JSON, with the line break."""
    return json_units_of(line) + 2


def _lines_within(lines: Sequence[str], units: int) -> tuple[list[str], bool]:
    """The lines that fit, and whether some do not. Of a long line without markup its beginning is kept."""
    fitting: list[str] = []
    for line in lines:
        left = units - _line_units(line)
        if left < 0:
            beginning = line[: max(units // 2 - 10, 0)]
            is_plain = len(beginning) >= 200 and not any(sign in line for sign in "\\*_`[]&")
            return [*fitting, *([beginning.rstrip() + "…"] if is_plain else [])], True
        units = left
        fitting.append(line)
    return fitting, False


def _join_paragraphs(groups: Sequence[Sequence[str]]) -> str:
    return "\n\n".join(text for group in groups if (text := "\n".join(group).strip()))


def _chosen_line(label: str, by: str) -> str:
    if not by:
        return format_italic(shorten_plain(label, _MAX_SHORT_CHARACTERS))
    name = escape_for_teams(shorten_plain(by, _MAX_NAME_CHARACTERS))
    return f"✓ {format_bold(shorten_plain(label, _MAX_SHORT_CHARACTERS))} — chosen by {name}"


def _full_text_line(name: str, place: MessagePlace) -> str:
    if not place.is_personal:
        return "All of it follows."
    return f"All of it is in this file: {format_bold(shorten_plain(name, _MAX_SHORT_CHARACTERS))}"


def _place_file(file: FilePart, position: int, draft: _MessageDraft, *, is_linked: bool) -> None:
    title = shorten_plain(file.title, _MAX_SHORT_CHARACTERS) or shorten_plain(file.name, _MAX_SHORT_CHARACTERS)
    line = f"{format_bold(title or 'File')} · {file.row_count_text}"
    address = safe_web_address(file.url) if is_linked else None
    if address is not None:
        line += f" · download until {file.expires:%H:%M} UTC"
        draft.actions.append(
            open_url_action(f"Download {shorten_plain(file.name, _MAX_NAME_CHARACTERS)}".strip(), address)
        )
        draft.units -= json_units_of(address)
    _place_prose([line], position, draft)


# Cards


def _place_choices(choices: ChoicesPart, position: int, draft: _MessageDraft) -> None:
    card = choices_card_for(choices)
    if card is not None:
        draft.add_card(position, card)
    draft.is_shortened = draft.is_shortened or are_labels_cut(choices)


def _place_table(table: TablePart, position: int, draft: _MessageDraft) -> None:
    rendered = table_card_for(table, min(draft.units - _NOTE_UNITS, MAX_CARD_BYTES))
    draft.is_shortened = draft.is_shortened or rendered.is_cut
    if rendered.card is not None:
        draft.add_card(position, rendered.card)
        return
    lines = [format_bold(shorten_plain(table.caption, _MAX_SHORT_CHARACTERS)), format_italic(left_out_text(table, 0))]
    _place_prose([line for line in lines if line], position, draft)


def _place_picture(picture: PicturePart, position: int, draft: _MessageDraft, place: MessagePlace) -> None:
    file = place.drawn_pictures.get(picture)
    card = picture_card_for(picture.description, file) if file is not None else None
    if card is not None and json_units_of(attach_card(card)) + _NOTE_UNITS <= draft.units:
        draft.add_card(position, card)


def _turn_actions(handles: Sequence[TurnAction], reply: Reply) -> list[JsonObject]:
    titles = {
        TurnAction.STOP: ("Stop", "stop"),
        TurnAction.STEPS: ("Show steps", "steps"),
        TurnAction.SAVE: ("Save this search", "save"),
    }
    return [turn_action(*titles[handle], reply.turn) for handle in titles if handle in handles]


def _sources_in(parts: Sequence[ReplyPart]) -> list[ShownCitation]:
    return [source for part in parts if isinstance(part, TextPart) for source in part.sources]


def _markers_of(sources: Sequence[ShownCitation]) -> str:
    return " ".join(f"[{source.marker}]" for source in sources)


# The whole as plain text


def full_text_of(reply: Reply) -> str:
    """The whole reply as plain text."""
    texts = (strip_control_characters("\n".join(_full_text_lines(part))).strip() for part in reply.parts)
    return "\n\n".join(text for text in texts if text) + "\n"


def full_text_messages_for(text: str) -> list[JsonObject]:
    """The text as messages of their own, where no file can be handed over."""
    messages: list[list[str]] = []
    room = 0
    for line in [piece for whole_line in text.split("\n") for piece in _split_long_line(whole_line)]:
        shown = escape_line(line)
        if _line_units(shown) + 2 > room:
            messages.append([])
            room = MAX_CHUNK_UNITS
        room -= _line_units(shown) + 2
        messages[-1].append(f"{shown}  " if shown else "")
    shown_texts = [text for message in messages if (text := "\n".join(message).strip())]
    return [{"type": "message", "textFormat": "markdown", "text": shown_text} for shown_text in shown_texts]


def _split_long_line(line: str) -> list[str]:
    """Pieces that fit into a message, between words where that is possible."""
    step = MAX_CHUNK_UNITS // 8  # an escaped character may take several units
    pieces: list[str] = []
    while len(line) > step:
        end = line.rfind(" ", step // 2, step)
        end = step if end < 0 else end
        pieces.append(line[:end])
        line = line[end:].lstrip()
    return [*pieces, line]


def _summary_of(parts: Sequence[ReplyPart]) -> str:
    """The text of a notification."""
    text = " ".join(line for part in parts for line in _short_lines(part))
    return shorten_plain(text, _MAX_SUMMARY_CHARACTERS) or _EMPTY_TEXT


def _short_lines(part: ReplyPart) -> list[str]:
    match part:
        case TextPart(markdown=markdown):
            return [strip_markup(markdown[:_MAX_SHORT_CHARACTERS])]
        case TablePart(caption=caption):
            return [caption[:_MAX_SHORT_CHARACTERS]]
        case ChoicesPart() | TurnActionsPart() | PicturePart():  # the table says the same as the picture
            return []
        case ChosenPart(label=label, by=by):
            return [f"✓ {label} — chosen by {by}" if by else label]
        case FilePart(title=title, name=name):
            return [f"{title or name} · {part.row_count_text}"]
        case FullTextPart(name=name):
            return [name]
        case ProgressPart(text=text) | NoticePart(text=text):
            return [text[:_MAX_SHORT_CHARACTERS]]
        case _:
            assert_never(part)


def _full_text_lines(part: ReplyPart) -> list[str]:
    match part:
        case TextPart(markdown=markdown, sources=sources):
            return [
                strip_markup(strip_control_characters(markdown)),
                "",
                *map(_full_source_lines, list_cited_documents(sources)),
            ]
        case TablePart(caption=caption, columns=columns, rows=rows):
            return [caption, *(" | ".join(" ".join(cell.split()) for cell in row) for row in (columns, *rows))]
        case ChoicesPart(buttons=buttons):
            return [
                f"{number}. {show_on_one_line(button.label)}{'' if button.count is None else f' · {button.count_text}'}"
                for number, button in enumerate(buttons, 1)
            ]
        case NoticePart(text=text):
            return [" ".join(text.split())]
        case _:
            return _short_lines(part)


def _full_source_lines(document: CitedDocument) -> str:
    """The document with its places, and its quotations if nothing links to it."""
    places = f", {document.place_text}" if document.place_text else ""
    markers = " ".join(f"[{marker}]" for marker in document.markers)
    is_linked = safe_web_address(document.first.url) is not None
    quotations = () if is_linked else dict.fromkeys(" ".join(source.quote.split()) for source in document.citations)
    quoted = "".join(f"\n    “{quotation}”" for quotation in quotations if quotation)
    return f"{markers} {' '.join(document.first.title.split()) or 'Untitled'}{places}{quoted}"
