"""Converts Markdown to lines of styled spans for Slack, without control characters."""

import re
from dataclasses import dataclass

from bot.surface.markdown import BulletList, CitationMarker, MarkdownLine, MarkdownRun, ParagraphBlock, parse_blocks

# Control characters and direction overrides: both could corrupt the display of the text around them.
_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


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


def strip_control_characters(text: str) -> str:
    """Remove control characters and direction overrides, and replace lone surrogates."""
    return _LONE_SURROGATE.sub("\ufffd", _CONTROL_CHARACTERS.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


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
