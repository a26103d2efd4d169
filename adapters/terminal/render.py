"""A Reply for a terminal: what rich prints for each part. Nothing in a reply can move the cursor or set a colour."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import assert_never

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text as Styled

from bot.markdown import Line, Marker, Paragraph, blocks
from bot.replies import Button, Choices, Chosen, File, Handles, Notice, Part, Progress, Source, Table, Text, Whole

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_NUMBER = re.compile(r"[-–+]?\d[\d,. ]*(?: ?(?:%|[A-Z]{3}))?")  # no date


def shown(text: str) -> str:
    """`text` on one line without control characters: escape sequences and direction overrides lose their power."""
    kept = ("" if c in _BIDI or unicodedata.category(c) == "Cc" else c for c in " ".join(text.split()))
    return "".join(kept)


def renderables_for(part: Part) -> list[RenderableType]:
    """What to print, top to bottom."""
    match part:
        case Text(markdown=markdown, sources=sources):
            return [*_prose(markdown), *map(_source, sources)]
        case Table(caption=caption, columns=columns, rows=rows):
            return [_grid(columns, rows), Styled(shown(caption), style="dim")]
        case Choices(buttons=buttons):
            return [_numbered(buttons), Styled("Type a number or the words, or ask something else.", style="dim")]
        case Chosen():
            return [Styled(f"✓ {chosen_line(part)}", style="dim")]
        case File(title=title, rows=rows, path=path):
            counted = f"{shown(title)} · {rows:,} {'row' if rows == 1 else 'rows'}"
            return [Styled(counted, style="bold"), Styled(shown(path), style="cyan")]
        case Whole(said=said):
            return [one for part in said.parts for one in renderables_for(part)]
        case Progress(text=text):
            return [Styled(f"{shown(text)} …", style="dim italic")]
        case Notice(text=text):
            return [Styled(shown(text), style="yellow")]
        case Handles():
            return []
        case _:
            assert_never(part)


def chosen_line(chosen: Chosen) -> str:
    return f"{shown(chosen.label)} ({shown(chosen.by)})" if chosen.by else shown(chosen.label)


def _prose(markdown: str) -> Iterator[RenderableType]:
    for block in blocks(markdown):
        if isinstance(block, Paragraph):
            yield Styled("\n").join(map(_styled, block.lines))
        else:
            for item in block.items:
                yield Padding(Styled("• ").append_text(_styled(item)), (0, 0, 0, 2))


def _styled(line: Line) -> Styled:
    text = Styled()
    for piece in line:
        if isinstance(piece, Marker):
            text.append(f"[{piece.marker}]", style="cyan")
        else:
            styles = [name for name in ("bold", "italic") if getattr(piece, name)] + ["cyan"] * piece.code
            text.append(_kept(piece.text), style=" ".join(styles))
    return text


def _kept(text: str) -> str:
    """As `shown`, with the blanks at both ends that part it from its neighbours."""
    if not text.strip():
        return " " if text else ""
    return " " * text[0].isspace() + shown(text) + " " * text[-1].isspace()


def _source(source: Source) -> RenderableType:
    page = "" if source.page is None else f" (page {source.page})"
    line = Styled(f"[{shown(source.marker)}] ", style="cyan").append(f"{shown(source.title)}{page}", style="default")
    if source.url:
        line.append(f"  {shown(source.url)}", style="dim")
    return Padding(line, (0, 0, 0, 2))


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for position, title in enumerate(columns):
        numeric = bool(rows) and all(_is_number(row[position]) for row in rows)
        grid.add_column(Styled(shown(title)), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Styled(shown(cell)) for cell in row))
    return grid


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell.strip()) is not None


def _numbered(buttons: Sequence[Button]) -> RenderableType:
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(justify="right", style="cyan")
    grid.add_column(overflow="fold")
    grid.add_column(justify="right", style="bold")
    for number, button in enumerate(buttons, start=1):
        count = "" if button.count is None else f"{button.count:,}"
        grid.add_row(str(number), Styled(shown(button.label)), count)
    return Padding(grid, (0, 0, 0, 1))
