"""What a long document is about, in a few lines: its headings, and the sentences that say most of it."""

from collections.abc import Iterator

from storage.search.documents import SPEAKS_FOR_ITSELF
from storage.search.sentences import heading_words, is_heading, reads_as_sentence, sentence_spans, telling

_READ = 60_000  # code points whose sentences are weighed: what a document is about, it says early
_SENTENCES = 8
_LONGEST_SENTENCE = 400
_HEADINGS = 1_600  # code points of headings
_MARKS = ("#", "!", ":")  # that Markdown's headings, pictures and boxes begin with


def summary_of(text: str) -> str:
    """Empty for a text that is short enough to speak for itself."""
    if len(text) <= SPEAKS_FOR_ITSELF:
        return ""
    headings = "; ".join(_fitting(dict.fromkeys(_headings(text))))
    sentences = list(_sentences(text[:_READ]))
    said = [" ".join(sentences[at].split()) for at in telling(sentences, _SENTENCES)]
    return "\n".join(filter(None, [headings, *said])) or text[:SPEAKS_FOR_ITSELF]


def _sentences(text: str) -> Iterator[str]:
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if len(sentence) <= _LONGEST_SENTENCE and reads_as_sentence(sentence) and not sentence.startswith(_MARKS):
            yield sentence


def _headings(text: str) -> Iterator[str]:
    for start, end in sentence_spans(text):
        if is_heading(sentence := text[start:end], text, start, end):
            yield heading_words(sentence)


def _fitting(headings: dict[str, None]) -> Iterator[str]:
    """The first of them, as many as there is room for."""
    room = _HEADINGS
    for one in headings:
        room -= len(one)
        if room < 0:
            return
        yield one
