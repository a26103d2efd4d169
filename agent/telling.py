"""The sentences that say most of a document, each with the heading it stands under."""

from collections.abc import Collection
from dataclasses import dataclass

from agent.compose import Quote, split_sentences
from storage.search.documents import Document
from storage.search.sentences import heading_words, is_heading, reads_as_sentence, telling

_LONGEST_TEXT = 200_000  # code points of one document that are read


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """A sentence of a document, and the heading it stands under; empty for none."""

    quote: Quote
    heading: str


def telling_sentences(document: Document, most: int, asked: Collection[str] = ()) -> list[Telling]:
    """At most `most` sentences in the order of the text; those that hold words of `asked` (folded) first of all."""
    found = _sentences(document)
    return [found[at] for at in telling([one.quote.text for one in found], most, asked)]


def _sentences(document: Document) -> list[Telling]:
    """The sentences that read as such, each with the heading before it. Headings and rows of tables are none."""
    found: list[Telling] = []
    heading = ""
    for passage in document.passages:
        if passage.start > _LONGEST_TEXT:
            break
        pieces = split_sentences(document.text[passage.start : passage.end], passage.start, passage.page)
        for at, quote in enumerate(pieces):
            is_last = at + 1 == len(pieces)  # of the passage: nothing stands under it
            if quote.text.startswith("#") or (
                not is_last and is_heading(quote.text, document.text, quote.start, quote.end)
            ):
                heading = heading_words(quote.text)
            elif reads_as_sentence(quote.text):
                found.append(Telling(quote=quote, heading=heading))
    return list({one.quote.start: one for one in found}.values())  # passages may overlap
