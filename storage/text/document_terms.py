"""The analysed terms of a document, as both engines index them. No part of a text is analysed twice."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from storage.search.analyser import Analyser, IndexTerms
from storage.search.documents import Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedDocument:
    """Terms joined by blanks."""

    title: str
    text: str
    words: str  # distinct words, not stemmed
    outline: str
    passages: tuple[str, ...]


def analyse_document(
    title: str, text: str, passages: Sequence[Passage], analyser: Analyser, outline: str
) -> AnalysedDocument:
    title_terms, (text_terms, passage_terms, words) = (
        analyser.index_terms_of(title),
        _analyse_pieces(text, passages, analyser),
    )
    return AnalysedDocument(
        title=title_terms.joined_terms,
        text=text_terms,
        words=" ".join(sorted(title_terms.words | words)),
        outline=text_terms if outline == text else analyser.index_terms_of(outline).joined_terms,
        passages=passage_terms,
    )


def _analyse_pieces(
    text: str, passages: Sequence[Passage], analyser: Analyser
) -> tuple[str, tuple[str, ...], set[str]]:
    """Return the terms of the text, the terms of each passage, and the words of the text.

    The terms of a passage begin with those of its context, of which nothing else is made. Analyses no part of the text
    twice, except passages whose start or end is inside a term.
    """
    edges = {
        edge for passage in passages for edge in (passage.start, passage.end) if not analyser.is_inside_term(text, edge)
    }
    boundaries = sorted(edges | {0, len(text)})
    pieces = [analyser.index_terms_of(text[start:end]) for start, end in pairwise(boundaries)]
    boundary_indexes = {boundary: index for index, boundary in enumerate(boundaries)}

    def passage_terms_of(passage: Passage) -> str:
        return " ".join(filter(None, (_analyse_context(passage, analyser), own_terms_of(passage))))

    def own_terms_of(passage: Passage) -> str:
        first_piece, end_piece = boundary_indexes.get(passage.start), boundary_indexes.get(passage.end)
        if first_piece is None or end_piece is None:
            return analyser.index_terms_of(text[passage.start : passage.end]).joined_terms
        return _join_terms(pieces[first_piece:end_piece])

    return (
        _join_terms(pieces),
        tuple(map(passage_terms_of, passages)),
        set[str]().union(*(piece.words for piece in pieces)),
    )


def _analyse_context(passage: Passage, analyser: Analyser) -> str:
    return analyser.index_terms_of(passage.context).joined_terms if passage.context else ""


def _join_terms(pieces: Sequence[IndexTerms]) -> str:
    return " ".join([piece.joined_terms for piece in pieces if piece.joined_terms])
