"""The way back from a rewritten question to the words that the person wrote."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True, kw_only=True)
class RewrittenPart:
    """Words of the rewritten text, and the place in the original that they stand for.

    The places ascend with the parts. A word that changes its place stands for the empty place where it is now;
    `written` is the word in the original.
    """

    text: str
    start: int
    end: int
    written: str
    is_glued: bool = False  # no blank before it
    is_content: bool = False  # a noun, verb or adjective


@dataclass(frozen=True)
class RewrittenText:
    """A question in the words that the rules read, with the way back to the original."""

    original: str
    parts: tuple[RewrittenPart, ...]

    @cached_property
    def text(self) -> str:
        return "".join(text for text, _ in self._placed_parts)

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of `text[start:end]`. A later place never begins or ends before an earlier one."""
        covered = [part for part, first, last in self._spans if first < end and start < last]
        if not covered:
            after = next((part.start for part, first, _ in self._spans if first >= end), len(self.original))
            return after, after
        return covered[0].start, max(covered[0].start, covered[-1].end)

    def written_words(self, phrase: str) -> str:
        """The words of the original for a phrase of the rewritten text; the phrase itself if it is not in the text."""
        match = re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", self.text, re.IGNORECASE)
        if match is None or not phrase.strip():
            return phrase
        covered = [part for part, first, last in self._spans if first < match.end() and match.start() < last]
        written = " ".join(dict.fromkeys(part.written for part in covered if part.written))
        return written or phrase

    def write_content_words(self, text: str) -> str:
        """The text with the nouns, verbs and adjectives as the person wrote them."""
        for part in self.parts:
            if part.is_content and part.text and part.text != part.written:
                text = re.sub(rf"(?<!\w){re.escape(part.text)}(?!\w)", lambda _, part=part: part.written.lower(), text)
        return text

    @cached_property
    def _placed_parts(self) -> Sequence[tuple[str, RewrittenPart]]:
        placed: list[tuple[str, RewrittenPart]] = []
        for part in self.parts:
            if part.text:
                blank = "" if part.is_glued or not placed else " "
                placed.append((blank + part.text, part))
        return placed

    @cached_property
    def _spans(self) -> Sequence[tuple[RewrittenPart, int, int]]:
        spans: list[tuple[RewrittenPart, int, int]] = []
        offset = 0
        for text, part in self._placed_parts:
            offset += len(text)
            spans.append((part, offset - len(part.text), offset))
        return spans
