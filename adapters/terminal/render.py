"""Renders a Reply for a terminal with rich. Nothing in a reply's text can move the cursor or set a colour."""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import assert_never

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot.surface.markdown import CitationMarker, MarkdownLine, ParagraphBlock, parse_blocks
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
    ReplyPart,
    TablePart,
    TextPart,
    TurnActionsPart,
    list_cited_documents,
)

_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable_text_of(text: str) -> str:
    """Returns the text on one line, without control characters such as escape sequences and direction overrides."""
    characters = (
        "" if character in _BIDI_CONTROLS or unicodedata.category(character) == "Cc" else character
        for character in " ".join(text.split())
    )
    return "".join(characters)


def renderables_for(part: ReplyPart) -> list[RenderableType]:
    """Returns what to print for a part, from top to bottom."""
    match part:
        case TextPart(markdown=markdown, sources=sources):
            return [*_prose_renderables(markdown), *map(_source_line, list_cited_documents(sources))]
        case TablePart(caption=caption):
            return [_table_grid(part), Text(printable_text_of(caption), style="dim")]
        case ChoicesPart(buttons=buttons):
            return [
                _numbered_buttons(buttons),
                Text("Type a number or the words, or ask something else.", style="dim"),
            ]
        case ChosenPart():
            return [Text(f"✓ {chosen_line(part)}", style="dim")]
        case FilePart(title=title, path=path):
            heading = f"{printable_text_of(title)} · {part.row_count_text}"
            return [Text(heading, style="bold"), Text(printable_text_of(path), style="cyan")]
        case FullTextPart(reply=full_reply):
            return [renderable for part in full_reply.parts for renderable in renderables_for(part)]
        case ProgressPart(text=text):
            return [Text(f"{printable_text_of(text)} …", style="dim italic")]
        case NoticePart(text=text):
            return [Text(printable_text_of(text), style="yellow")]
        case TurnActionsPart() | PicturePart():  # the table below the picture says the same
            return []
        case _:
            assert_never(part)


def chosen_line(chosen: ChosenPart) -> str:
    return (
        f"{printable_text_of(chosen.label)} ({printable_text_of(chosen.by)})"
        if chosen.by
        else printable_text_of(chosen.label)
    )


def _prose_renderables(markdown: str) -> Iterator[RenderableType]:
    for block in parse_blocks(markdown):
        if isinstance(block, ParagraphBlock):
            yield Text("\n").join(map(_styled_line, block.lines))
        else:
            for item in block.items:
                yield Padding(Text("• ").append_text(_styled_line(item)), (0, 0, 0, 2))


def _styled_line(line: MarkdownLine) -> Text:
    text = Text()
    for piece in line:
        if isinstance(piece, CitationMarker):
            text.append(f"[{piece.marker}]", style="cyan")
        else:
            styles = [name for name in ("bold", "italic") if getattr(piece, name)] + ["cyan"] * piece.code
            text.append(_printable_run(piece.text), style=" ".join(styles))
    return text


def _printable_run(text: str) -> str:
    """Returns the text as `printable_text_of` does, but keeps a blank at each end, to separate neighbouring runs."""
    if not text.strip():
        return " " if text else ""
    return " " * text[0].isspace() + printable_text_of(text) + " " * text[-1].isspace()


def _source_line(document: CitedDocument) -> RenderableType:
    source = document.first
    places = f" ({document.place_text})" if document.place_text else ""
    markers = "".join(f"[{printable_text_of(marker)}] " for marker in document.markers)
    line = Text(markers, style="cyan").append(f"{printable_text_of(source.title)}{places}", style="default")
    if source.url:
        line.append(f"  {printable_text_of(source.url)}", style="dim")
    return Padding(line, (0, 0, 0, 2))


def _table_grid(table: TablePart) -> RenderableType:
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for position, title in enumerate(table.columns):
        justify = "right" if table.is_numeric(position) else "left"
        grid.add_column(Text(printable_text_of(title)), justify=justify, overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(printable_text_of(cell)) for cell in row))
    return grid


def _numbered_buttons(buttons: Sequence[ChoiceButton]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", style="cyan")
    grid.add_column(overflow="fold")
    grid.add_column(justify="right", style="bold")
    for number, button in enumerate(buttons, start=1):
        count = button.count_text
        grid.add_row(str(number), Text(printable_text_of(button.label)), count)
    return Padding(grid, (0, 0, 0, 1))
