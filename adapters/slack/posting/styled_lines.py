"""Converts Markdown to lines of styled spans for Slack, without control characters."""

from dataclasses import dataclass

from bot.surface.markdown import (
    BulletList,
    CitationMarker,
    MarkdownLine,
    MarkdownRun,
    ParagraphBlock,
    parse_blocks,
    strip_control_characters,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StyledSpan:
    """A run of text in one style. `url` makes it a link."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StyledLine:
    spans: tuple[StyledSpan, ...]
    is_bullet: bool = False


def styled_lines_of(markdown: str) -> list[StyledLine]:
    """Returns the lines in order, with an empty line between blocks."""
    lines: list[StyledLine] = []
    for block in parse_blocks(strip_control_characters(markdown)):
        lines += [StyledLine(spans=())] if lines else []
        match block:
            case ParagraphBlock(lines=block_lines):
                lines += [StyledLine(spans=_styled_spans(line)) for line in block_lines]
            case BulletList(items=block_lines):
                lines += [StyledLine(spans=_styled_spans(line), is_bullet=True) for line in block_lines]
    return [line for line in lines if line.spans or not line.is_bullet]


def _styled_spans(line: MarkdownLine) -> tuple[StyledSpan, ...]:
    return tuple(span for piece in line if (span := _styled_span(piece)).text)


def _styled_span(piece: MarkdownRun | CitationMarker) -> StyledSpan:
    match piece:
        case CitationMarker(marker=marker):
            return StyledSpan(text=f"[{marker}]")
        case MarkdownRun(text=text, bold=bold, italic=italic, code=code):
            return StyledSpan(text=text, bold=bold, italic=italic, code=code)
