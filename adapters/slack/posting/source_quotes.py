"""Quotes below an answer for sources that have no link, with the relevant sentence in bold."""

import re
from collections.abc import Sequence
from typing import Final

from adapters.slack.posting.styled_lines import StyledLine, StyledSpan, styled_lines_of
from bot.surface.markdown import strip_control_characters
from bot.surface.replies import ShownCitation

MAX_QUOTES: Final = 5
_MAX_QUOTE_CHARACTERS: Final = 300  # of one quote
_VALUE = re.compile(r"\d(?:[\d.,:/-]*\d)?")
_SENTENCE_BREAK = re.compile(r"(?<=[.!?])\s+(?=\S)")
_MARKER = re.compile(r"\[\w{1,8}\]")


def quote_lines_of(markdown: str, sources: Sequence[ShownCitation]) -> list[StyledLine]:
    """Returns one line per source; skips quotes that the answer contains verbatim."""
    answer_lines = [_plain_line_text(line) for line in styled_lines_of(markdown)]
    answer_text = " ".join(" ".join(answer_lines).split())
    quoted = [(source, " ".join(strip_control_characters(source.quote).split())) for source in sources]
    missing = [(source, quote) for source, quote in quoted if quote and quote.casefold() not in answer_text.casefold()]
    return [_quote_line(source.marker, quote, answer_lines) for source, quote in missing[:MAX_QUOTES]]


def _quote_line(marker: str, quote: str, answer_lines: Sequence[str]) -> StyledLine:
    text_before, sentence, text_after = _split_at_sentence(
        quote, {value for line in answer_lines if f"[{marker}]" in line for value in _values_in(line)}
    )
    room = max(_MAX_QUOTE_CHARACTERS - len(sentence), 0)
    beginning = (
        text_before if len(text_before) <= room else "…" + text_before[len(text_before) - room :] if room else "… "
    )
    room = max(room - len(beginning), 0)
    ending = text_after if len(text_after) <= room else text_after[:room].rstrip() + "…"
    sentence = (
        sentence if len(sentence) <= _MAX_QUOTE_CHARACTERS else sentence[: _MAX_QUOTE_CHARACTERS - 1].rstrip() + "…"
    )
    spans = (
        StyledSpan(text=f"[{strip_control_characters(marker)[:20]}] “{beginning}"),
        StyledSpan(text=sentence, bold=True),
        StyledSpan(text=f"{ending}”"),
    )
    return StyledLine(spans=tuple(span for span in spans if span.text))


def _split_at_sentence(quote: str, values: set[str]) -> tuple[str, str, str]:
    """Split the quote around the sentence with most of the values.

    The sentence and the text after it are empty when no sentence has any of the values.
    """
    starts = [0, *(gap.end() for gap in _SENTENCE_BREAK.finditer(quote))]
    ends = [*starts[1:], len(quote)]
    value_counts = [
        len(values.intersection(_values_in(quote[start:end]))) for start, end in zip(starts, ends, strict=True)
    ]
    best_index = max(range(len(value_counts)), key=lambda index: (value_counts[index], -index))
    if not value_counts[best_index]:
        return quote, "", ""
    return quote[: starts[best_index]], quote[starts[best_index] : ends[best_index]], quote[ends[best_index] :]


def _values_in(text: str) -> set[str]:
    return set(_VALUE.findall(_MARKER.sub(" ", text)))


def _plain_line_text(line: StyledLine) -> str:
    return "".join(span.text for span in line.spans)
