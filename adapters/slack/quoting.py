"""What a source says where no link opens it: its words below the answer, with the sentence in question marked."""

import re
from collections.abc import Sequence
from typing import Final

from adapters.slack.lines import Line, Span, cleaned, lines_of
from bot.replies import Source

QUOTES: Final = 5
_CHARACTERS: Final = 300  # of one quote
_VALUE = re.compile(r"\d(?:[\d.,:/-]*\d)?")
_BETWEEN = re.compile(r"(?<=[.!?])\s+(?=\S)")
_MARKER = re.compile(r"\[\w{1,8}\]")


def quotes_of(markdown: str, sources: Sequence[Source]) -> list[Line]:
    """A line a source. None for what the answer quotes word by word already."""
    said = [_words(line) for line in lines_of(markdown)]
    everything = " ".join(" ".join(said).split())
    quoted = [(one, " ".join(cleaned(one.quote).split())) for one in sources]
    missing = [(one, quote) for one, quote in quoted if quote and quote.casefold() not in everything.casefold()]
    return [_line(one.marker, quote, said) for one, quote in missing[:QUOTES]]


def _line(marker: str, quote: str, said: Sequence[str]) -> Line:
    before, sentence, after = _marked(
        quote, {value for line in said if f"[{marker}]" in line for value in _values(line)}
    )
    room = max(_CHARACTERS - len(sentence), 0)
    begins = before if len(before) <= room else "…" + before[len(before) - room :] if room else "… "
    room = max(room - len(begins), 0)
    ends = after if len(after) <= room else after[:room].rstrip() + "…"
    sentence = sentence if len(sentence) <= _CHARACTERS else sentence[: _CHARACTERS - 1].rstrip() + "…"
    spans = (Span(text=f"[{cleaned(marker)[:20]}] “{begins}"), Span(text=sentence, bold=True), Span(text=f"{ends}”"))
    return Line(spans=tuple(span for span in spans if span.text))


def _marked(quote: str, values: set[str]) -> tuple[str, str, str]:
    """The quote around the sentence that has most of the values; where none has any, nothing is marked."""
    starts = [0, *(gap.end() for gap in _BETWEEN.finditer(quote))]
    ends = [*starts[1:], len(quote)]
    found = [len(values.intersection(_values(quote[start:end]))) for start, end in zip(starts, ends, strict=True)]
    best = max(range(len(found)), key=lambda at: (found[at], -at))
    if not found[best]:
        return quote, "", ""
    return quote[: starts[best]], quote[starts[best] : ends[best]], quote[ends[best] :]


def _values(text: str) -> set[str]:
    return set(_VALUE.findall(_MARKER.sub(" ", text)))


def _words(line: Line) -> str:
    return "".join(span.text for span in line.spans)
