"""The sentences and labelled lines of a passage, each with the heading above it and the words around it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from agent.english.function_words import PRONOUNS_OF_PERSONS, STOP_WORDS, YES_NO_VERBS
from agent.evidence.calendar_words import weekdays_in
from agent.outcome import FoundPassage
from agent.retrieval.quotations import DocumentQuote, split_sentences
from storage.search.analyser import fold_text
from storage.text.key_sentences import heading_text_of, is_heading

WORD = re.compile(r"[^\W_]+")
_LABEL = re.compile(r"^\W*(?:[^\W_][^:|.\n]{0,40}?)(?::|\.\.+|\|)\s*")  # "Caretaker: ", "State..... ", "| Adult |"
_TABLE_RULE = re.compile(r"^\W*-{3,}[\s|:-]*$")  # the line under the names of a table's columns
_BLANK_LINE = re.compile(r"\n\s*\n")
_SECTION_NUMBER = re.compile(r"(?P<marks>#*)\s*\d{1,3}(?:\.\d{1,3})*[.)]")  # "5." and "## 5.", which end no sentence
_FINITE_WORDS = YES_NO_VERBS | PRONOUNS_OF_PERSONS  # no topic is named with one of them
# "Water hygiene. The year with the laboratory ends in May.": words before a paragraph that say what it is about.
_RUN_IN_HEADING = re.compile(r"[^\W\d_a-z][\w'’-]*(?:[ ][\w'’-]+){0,3}\.")
_NUMBERED_LINE = re.compile(r"\n#*\s*\d{1,3}(?:\.\d{1,3})*[.)]\s")


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
    run_in, opening, last_block = "", "", -1
    for quote, is_numbered in _join_section_numbers(split_sentences(text, start, passage.hit.page), text, start):
        first, last = quote.start - start, quote.end - start
        opens_section = is_numbered or (
            not quote.is_code and is_heading(quote.text, text, first, last) and not _LABEL.match(quote.text)
        )
        if opens_section:
            heading, column_names = heading_text_of(quote.text), ""
        elif _TABLE_RULE.match(quote.text):
            column_names, previous = previous, quote.text
            continue
        elif "|" not in quote.text:
            column_names = ""
        previous = quote.text
        block = len(_BLANK_LINE.findall(text, 0, first))
        if block != last_block:
            run_in, last_block = "", block
            opening = quote.text if _is_run_in_heading(quote.text, text[last:]) else ""
        else:
            run_in, opening = run_in or opening, ""
        yield TextLine(
            passage=passage,
            quote=quote,
            heading=f"{heading} {run_in} {column_names}".strip(),
            block=block,
            words=words_of(quote.text) | weekdays_in(quote.text),
            is_heading=opens_section,
        )


def _is_run_in_heading(sentence: str, following: str) -> bool:
    """Whether a short first sentence of a paragraph, of which more follows, only names its topic."""
    if _RUN_IN_HEADING.fullmatch(sentence) is None or not re.match(r"[ ]+\S", following):
        return False
    words = [fold_text(word) for word in WORD.findall(sentence)]
    return words[0] not in STOP_WORDS and not any(word in _FINITE_WORDS or word.endswith("ed") for word in words)


def _join_section_numbers(
    quotes: Sequence[DocumentQuote], text: str, offset: int
) -> Iterator[tuple[DocumentQuote, bool]]:
    """Yields the quotes, and whether it is a number joined with its heading: sentences are split behind "5." too.

    `text` begins at `offset` of the document.
    """
    number: DocumentQuote | None = None
    for quote in quotes:
        if number is not None and _is_numbered_heading(number, quote, text, offset):
            yield replace(number, end=quote.end, text=text[number.start - offset : quote.end - offset]), True
            number = None
            continue
        if number is not None:
            yield number, False
        number = quote if _SECTION_NUMBER.fullmatch(quote.text) else None
        if number is None:
            yield quote, False
    if number is not None:
        yield number, False


def _is_numbered_heading(number: DocumentQuote, title: DocumentQuote, text: str, offset: int) -> bool:
    """Whether a number and the title behind it are a line of their own, and no item of a list.

    Behind an item comes the next one, or an empty line if another item is before it; behind a heading its section.
    """
    start, end = number.start - offset, title.end - offset
    if "\n" in text[start:end]:
        return False
    if number.text.startswith("#"):
        return True
    is_title = is_heading(title.text, title.text, 0, len(title.text)) and not _LABEL.match(title.text)
    is_apart = start == 0 or _BLANK_LINE.search(text, max(start - 2, 0), start) is not None
    follows = text[end : end + 1] == "\n" and (is_apart or not _BLANK_LINE.match(text, end))
    return is_title and follows and _NUMBERED_LINE.match(text, end) is None
