"""Summarizes a long document in a few lines: its headings and its key sentences."""

from collections.abc import Iterator

from storage.ingest.work_budget import check_work
from storage.search.documents import MAX_UNSUMMARISED_CHARS
from storage.text.key_sentences import (
    find_sentence_spans,
    heading_text_of,
    is_heading,
    reads_as_sentence,
    select_key_sentences,
)

_MAX_READ_CHARACTERS = 60_000  # only sentences of this beginning are candidates: a document states its topic early
_SUMMARY_SENTENCES = 8
_LONGEST_SENTENCE = 400
_MAX_HEADING_CHARACTERS = 1_600  # for all headings together
_MARKDOWN_PREFIXES = ("#", "!", ":")  # the beginnings of headings, pictures and boxes in Markdown


def summary_of(text: str) -> str:
    """Returns the summary of a text; empty for a text that is too short to need one."""
    if len(text) <= MAX_UNSUMMARISED_CHARS:
        return ""
    headings = "; ".join(_headings_that_fit(dict.fromkeys(_headings_in_text(text))))
    sentences = list(_prose_sentences(text[:_MAX_READ_CHARACTERS]))
    key_sentences = [" ".join(sentences[i].split()) for i in select_key_sentences(sentences, _SUMMARY_SENTENCES)]
    return "\n".join(filter(None, [headings, *key_sentences])) or text[:MAX_UNSUMMARISED_CHARS]


def _prose_sentences(text: str) -> Iterator[str]:
    for start, end, is_code in find_sentence_spans(text):
        sentence = text[start:end]
        if (
            not is_code
            and len(sentence) <= _LONGEST_SENTENCE
            and reads_as_sentence(sentence)
            and not sentence.startswith(_MARKDOWN_PREFIXES)
        ):
            yield sentence


def _headings_in_text(text: str) -> Iterator[str]:
    for start, end, is_code in find_sentence_spans(text):
        check_work()
        if not is_code and is_heading(sentence := text[start:end], text, start, end):
            yield heading_text_of(sentence)


def _headings_that_fit(headings: dict[str, None]) -> Iterator[str]:
    """Yields the first headings, up to `_MAX_HEADING_CHARACTERS`."""
    remaining_characters = _MAX_HEADING_CHARACTERS
    for heading in headings:
        remaining_characters -= len(heading)
        if remaining_characters < 0:
            return
        yield heading
