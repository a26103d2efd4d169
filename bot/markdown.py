"""Reads the small Markdown of replies (`bot.replies`), for renderers: text that is no markup stays as it is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A piece of a line in one style. `text` is what a reader sees, escapes undone."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation marker: `[1]` is `Marker("1")`."""

    marker: str


Line: TypeAlias = tuple[Run | Marker, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines as they were broken."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Bullets:
    items: tuple[Line, ...]


Block: TypeAlias = Paragraph | Bullets

# An opening delimiter stands before a non-blank, a closing one after; `_` within a word is a letter like any other.
_TOKEN = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|`(?P<code>[^`\n]+)`"
    r"|(?P<bold>\*\*)"
    r"|(?P<italic>(?<![^\W_])_|_(?![^\W_]))"
    r"|\[(?P<marker>[0-9A-Za-z]{1,8})\](?!\()"
)


def blocks(markdown: str) -> tuple[Block, ...]:
    """The blocks in order; blank lines part them and are not kept."""
    found: list[Block] = []
    for lines, bulleted in _grouped(markdown):
        read = tuple(line_of(line) for line in lines)
        found.append(Bullets(read) if bulleted else Paragraph(read))
    return tuple(found)


def line_of(text: str) -> Line:
    """One line's pieces. A delimiter without its partner is text."""
    tokens = list(_tokens(text))
    paired = _paired(tokens)
    pieces: list[Run | Marker] = []
    bold = italic = False
    for position, (kind, value) in enumerate(tokens):
        if kind == "marker":
            pieces.append(Marker(value))
        elif position in paired:
            bold, italic = (not bold, italic) if kind == "bold" else (bold, not italic)
        else:
            _append(pieces, Run(text=value, bold=bold, italic=italic, code=kind == "code"))
    return tuple(pieces)


def plain(markdown: str) -> str:
    """Without any markup; markers as `[1]`. For places that show text alone."""
    lines: list[str] = []
    for block in blocks(markdown):
        match block:
            case Paragraph(lines=read):
                lines += ["".join(map(_shown, line)) for line in read]
            case Bullets(items=read):
                lines += ["- " + "".join(map(_shown, line)) for line in read]
    return "\n".join(lines)


def _shown(piece: Run | Marker) -> str:
    return piece.text if isinstance(piece, Run) else f"[{piece.marker}]"


def _grouped(markdown: str) -> Iterator[tuple[list[str], bool]]:
    group: list[str] = []
    bulleted = False
    for raw in [*markdown.split("\n"), ""]:
        line = raw.strip()
        is_bullet = line.startswith("- ")
        if group and (not line or is_bullet is not bulleted):
            yield group, bulleted
            group = []
        if line:
            bulleted = is_bullet
            group.append(line[2:].strip() if is_bullet else line)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    end = 0
    for match in _TOKEN.finditer(text):
        if match.start() > end:
            yield "text", text[end : match.start()]
        kind = match.lastgroup or "text"
        yield ("text" if kind == "escaped" else kind), match[kind]
        end = match.end()
    if end < len(text):
        yield "text", text[end:]


def _paired(tokens: list[tuple[str, str]]) -> set[int]:
    """Positions of the delimiters that have a partner with something between."""
    paired = set[int]()
    for kind in ("bold", "italic"):
        positions = [position for position, (one, _) in enumerate(tokens) if one == kind]
        for opening, closing in zip(positions[::2], positions[1::2], strict=False):
            if closing > opening + 1:
                paired |= {opening, closing}
    return paired


def _append(pieces: list[Run | Marker], run: Run) -> None:
    last = pieces[-1] if pieces else None
    if isinstance(last, Run) and (last.bold, last.italic, last.code) == (run.bold, run.italic, run.code):
        pieces[-1] = Run(text=last.text + run.text, bold=run.bold, italic=run.italic, code=run.code)
    else:
        pieces.append(run)
