"""The sentences that summarize a document best, each with its heading."""

from collections.abc import Collection
from dataclasses import dataclass

from agent.retrieval.quotations import DocumentQuote, split_sentences
from storage.search.documents import Document
from storage.text.key_sentences import heading_text_of, is_heading, reads_as_sentence, select_key_sentences

_MAX_READ_CHARACTERS = 200_000  # code points that are read of one document


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySentence:
    """A sentence of a document, and the heading above it; empty if there is none."""

    quote: DocumentQuote
    heading: str


def key_sentences_of(document: Document, limit: int, preferred_words: Collection[str] = ()) -> list[KeySentence]:
    """Returns at most `limit` sentences, in text order. Sentences with `preferred_words` (folded) are chosen first."""
    sentences = _sentences_with_headings(document)
    return [
        sentences[index]
        for index in select_key_sentences([sentence.quote.text for sentence in sentences], limit, preferred_words)
    ]


def _sentences_with_headings(document: Document) -> list[KeySentence]:
    """Returns the complete sentences, each with the heading above it. Headings and table rows are left out."""
    sentences: list[KeySentence] = []
    heading = ""
    for passage in document.passages:
        if passage.start > _MAX_READ_CHARACTERS:
            break
        pieces = split_sentences(document.text[passage.start : passage.end], passage.start, passage.page)
        for index, quote in enumerate(pieces):
            is_last = index + 1 == len(pieces)  # of the passage: no text follows that it could be the heading of
            if quote.is_code:
                continue
            if quote.text.startswith("#") or (
                not is_last and is_heading(quote.text, document.text, quote.start, quote.end)
            ):
                heading = heading_text_of(quote.text)
            elif reads_as_sentence(quote.text):
                sentences.append(KeySentence(quote=quote, heading=heading))
    return list({sentence.quote.start: sentence for sentence in sentences}.values())  # passages may overlap
