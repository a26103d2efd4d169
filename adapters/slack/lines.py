"""Text on its way to Slack: lines of styled spans, cleaned of what no chat can show."""

import re
from dataclasses import dataclass

from bot.markdown import Bullets, Marker, Paragraph, Run, blocks
from bot.markdown import Line as Pieces

# Control characters, and those that turn the direction of what follows: both would spoil the text around the data.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A run of text in one style. `url` makes it a link."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    spans: tuple[Span, ...]
    bullet: bool = False


def cleaned(text: str) -> str:
    """`text` without control characters, direction overrides and halves of characters."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def lines_of(markdown: str) -> list[Line]:
    """The lines in order, an empty one between blocks."""
    lines: list[Line] = []
    for block in blocks(cleaned(markdown)):
        lines += [Line(spans=())] if lines else []
        match block:
            case Paragraph(lines=read):
                lines += [Line(spans=_spans(line)) for line in read]
            case Bullets(items=read):
                lines += [Line(spans=_spans(line), bullet=True) for line in read]
    return [line for line in lines if line.spans or not line.bullet]


def _spans(pieces: Pieces) -> tuple[Span, ...]:
    return tuple(span for piece in pieces if (span := _span(piece)).text)


def _span(piece: Run | Marker) -> Span:
    match piece:
        case Marker(marker=marker):
            return Span(text=f"[{marker}]")
        case Run(text=text, bold=bold, italic=italic, code=code):
            return Span(text=text, bold=bold, italic=italic, code=code)
