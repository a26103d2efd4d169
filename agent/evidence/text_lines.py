"""The sentences and labelled lines of a passage, each with the heading above it and the words around it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from agent.evidence.calendar_words import weekdays_in
from agent.outcome import FoundPassage
from agent.retrieval.quotations import DocumentQuote, split_sentences
from storage.search.analyser import fold_text
from storage.text.key_sentences import heading_text_of, is_heading

WORD = re.compile(r"[^\W_]+")
_LABEL = re.compile(r"^\W*(?:[^\W_][^:|.\n]{0,40}?)(?::|\.\.+|\|)\s*")  # "Caretaker: ", "State..... ", "| Adult |"
_TABLE_RULE = re.compile(r"^\W*-{3,}[\s|:-]*$")  # the line under the names of a table's columns
_BLANK_LINE = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """A sentence, a line of a list or a row of a table."""

    passage: FoundPassage
    quote: DocumentQuote
    heading: str  # the heading above it, and the names of its table's columns; empty if there are none
    block: int  # number of the block of text without an empty line that holds it
    words: frozenset[str]  # folded, and the weekdays that it means
    is_heading: bool

    @property
    def is_row(self) -> bool:
        """Whether it is a labelled line or a row of a table."""
        return _LABEL.match(self.quote.text) is not None

    @property
    def value_words(self) -> frozenset[str]:
        """Its words without those of its label."""
        return words_of(self.value_text)

    @property
    def value_text(self) -> str:
        """Its text without its label."""
        label = _LABEL.match(self.quote.text)
        return self.quote.text[label.end() :] if label else self.quote.text


@lru_cache(maxsize=256)
def words_of(text: str) -> frozenset[str]:
    """Returns the folded words. The question and the headings are read with each line of the texts."""
    return frozenset(WORD.findall(fold_text(text)))


def split_lines(passage: FoundPassage) -> list[TextLine]:
    """Returns the lines of the passage in order, headings included."""
    return list(_iterate_lines(passage))


def _iterate_lines(passage: FoundPassage) -> Iterator[TextLine]:
    text, start = passage.hit.text, passage.hit.start
    heading, column_names, previous = "", "", ""
    for quote in split_sentences(text, start, passage.hit.page):
        first, last = quote.start - start, quote.end - start
        opens_section = is_heading(quote.text, text, first, last) and not _LABEL.match(quote.text)
        if opens_section:
            heading, column_names = heading_text_of(quote.text), ""
        elif _TABLE_RULE.match(quote.text):
            column_names, previous = previous, quote.text
            continue
        elif "|" not in quote.text:
            column_names = ""
        previous = quote.text
        yield TextLine(
            passage=passage,
            quote=quote,
            heading=f"{heading} {column_names}".strip(),
            block=len(_BLANK_LINE.findall(text, 0, first)),
            words=words_of(quote.text) | weekdays_in(quote.text),
            is_heading=opens_section,
        )
