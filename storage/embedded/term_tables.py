"""Insertion of analysed terms into a bucket's FTS5 tables, and deletion.

The tables are contentless, so a deletion must give the same terms as the insertion: those of the same analyser for the
same text. The table `bucket` has the version of the analyser; when it changes, the term tables are rebuilt.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from storage.search.analyser import Analyser, IndexTerms
from storage.search.documents import Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedDocument:
    """A document as the FTS5 tables index it: terms joined by blanks."""

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


def add_document(connection: sqlite3.Connection, bucket: int, document: int, terms: AnalysedDocument) -> None:
    connection.execute(
        f"INSERT INTO terms_{bucket:d}(rowid, title, text) VALUES(?, ?, ?)",
        (document, terms.title, terms.text),
    )
    connection.execute(
        f"INSERT INTO words_{bucket:d}(rowid, word) VALUES(?, ?)",
        (document, terms.words),
    )


def add_outline(connection: sqlite3.Connection, bucket: int, document: int, title: str, outline: str) -> None:
    """Insert the outline of a document. `title` and `outline` are terms joined by blanks."""
    connection.execute(
        f"INSERT INTO outlines_{bucket:d}(rowid, title, text) VALUES(?, ?, ?)",
        (document, title, outline),
    )


def remove_outline(connection: sqlite3.Connection, bucket: int, document: int, terms: AnalysedDocument) -> None:
    connection.execute(
        f"INSERT INTO outlines_{bucket:d}(outlines_{bucket:d}, rowid, title, text) VALUES('delete', ?, ?, ?)",
        (document, terms.title, terms.outline),
    )


def add_passages(connection: sqlite3.Connection, bucket: int, passages: Sequence[int], terms: AnalysedDocument) -> None:
    connection.executemany(
        f"INSERT INTO passages_{bucket:d}(rowid, title, text) VALUES(?, ?, ?)",
        [(number, terms.title, text) for number, text in zip(passages, terms.passages, strict=True)],
    )


def remove_document(
    connection: sqlite3.Connection, bucket: int, document: int, passages: Sequence[int], terms: AnalysedDocument
) -> None:
    """Delete a document with its passages. `terms` must be those that were inserted."""
    connection.execute(
        f"INSERT INTO terms_{bucket:d}(terms_{bucket:d}, rowid, title, text) VALUES('delete', ?, ?, ?)",
        (document, terms.title, terms.text),
    )
    connection.execute(
        f"INSERT INTO words_{bucket:d}(words_{bucket:d}, rowid, word) VALUES('delete', ?, ?)",
        (document, terms.words),
    )
    connection.executemany(
        f"INSERT INTO passages_{bucket:d}(passages_{bucket:d}, rowid, title, text) VALUES('delete', ?, ?, ?)",
        [(passage, terms.title, text) for passage, text in zip(passages, terms.passages, strict=True)],
    )
