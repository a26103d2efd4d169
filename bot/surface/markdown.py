"""A parser of the small Markdown of replies (`bot.surface.replies`), for renderers. Text that is not markup stays as it
is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownRun:
    """A piece of a line in one style. `text` is what a reader sees, without escapes."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False


@dataclass(frozen=True, slots=True)
class CitationMarker:
    """A citation marker: `[1]` is `CitationMarker("1")`."""

    marker: str


MarkdownLine: TypeAlias = tuple[MarkdownRun | CitationMarker, ...]


@dataclass(frozen=True, slots=True)
class ParagraphBlock:
    """The lines of a paragraph, with its line breaks."""

    lines: tuple[MarkdownLine, ...]


@dataclass(frozen=True, slots=True)
class BulletList:
    items: tuple[MarkdownLine, ...]


MarkdownBlock: TypeAlias = ParagraphBlock | BulletList

# An opening delimiter appears before a non-blank, a closing one after; `_` within a word is a letter like any other.
_TOKEN_PATTERN = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|`(?P<code>[^`\n]+)`"
    r"|(?P<bold>\*\*)"
    r"|(?P<italic>(?<![^\W_])_|_(?![^\W_]))"
    r"|\[(?P<marker>[0-9A-Za-z]{1,8})\](?!\()"
)

# Control characters and direction overrides: both could corrupt the display of the text around them.
_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def parse_blocks(markdown: str) -> tuple[MarkdownBlock, ...]:
    """The blocks in order. Blank lines separate blocks and are dropped."""
    blocks: list[MarkdownBlock] = []
    for lines, bulleted in _group_lines(markdown):
        parsed = tuple(parse_line(line) for line in lines)
        blocks.append(BulletList(parsed) if bulleted else ParagraphBlock(parsed))
    return tuple(blocks)


def parse_line(text: str) -> MarkdownLine:
    """The pieces of one line. A delimiter without its partner is text."""
    tokens = list(_tokenize_line(text))
    paired = _match_delimiters(tokens)
    pieces: list[MarkdownRun | CitationMarker] = []
    bold = italic = False
    for position, (kind, value) in enumerate(tokens):
        if kind == "marker":
            pieces.append(CitationMarker(value))
        elif position in paired:
            bold, italic = (not bold, italic) if kind == "bold" else (bold, not italic)
        else:
            _append_run(pieces, MarkdownRun(text=value, bold=bold, italic=italic, code=kind == "code"))
    return tuple(pieces)


def strip_markup(markdown: str) -> str:
    """The text without any markup; markers as `[1]`. For places that show plain text only."""
    lines: list[str] = []
    for block in parse_blocks(markdown):
        match block:
            case ParagraphBlock(lines=parsed):
                lines += ["".join(map(_visible_text, line)) for line in parsed]
            case BulletList(items=parsed):
                lines += ["- " + "".join(map(_visible_text, line)) for line in parsed]
    return "\n".join(lines)


def strip_control_characters(text: str) -> str:
    """Remove control characters and direction overrides, and replace lone surrogates."""
    return _LONE_SURROGATE.sub("\ufffd", _CONTROL_CHARACTERS.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def _visible_text(piece: MarkdownRun | CitationMarker) -> str:
    return piece.text if isinstance(piece, MarkdownRun) else f"[{piece.marker}]"


def _group_lines(markdown: str) -> Iterator[tuple[list[str], bool]]:
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


def _tokenize_line(text: str) -> Iterator[tuple[str, str]]:
    end = 0
    for match in _TOKEN_PATTERN.finditer(text):
        if match.start() > end:
            yield "text", text[end : match.start()]
        kind = match.lastgroup or "text"
        yield ("text" if kind == "escaped" else kind), match[kind]
        end = match.end()
    if end < len(text):
        yield "text", text[end:]


def _match_delimiters(tokens: list[tuple[str, str]]) -> set[int]:
    """The positions of the delimiters that have a partner and something in between."""
    paired = set[int]()
    for kind in ("bold", "italic"):
        positions = [position for position, (token_kind, _) in enumerate(tokens) if token_kind == kind]
        for opening, closing in zip(positions[::2], positions[1::2], strict=False):
            if closing > opening + 1:
                paired |= {opening, closing}
    return paired


def _append_run(pieces: list[MarkdownRun | CitationMarker], run: MarkdownRun) -> None:
    last = pieces[-1] if pieces else None
    if isinstance(last, MarkdownRun) and (last.bold, last.italic, last.code) == (run.bold, run.italic, run.code):
        pieces[-1] = replace(run, text=last.text + run.text)
    else:
        pieces.append(run)
