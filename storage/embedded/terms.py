"""Analysed terms in and out of a bucket's FTS5 tables.

The tables hold no content of their own, so what is deleted must be told with the terms that were put: the same
analyser on the same text. A bucket remembers its analyser's version, and its tables are made anew when that changes.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from storage.search.documents import Passage
from storage.search.text import Analyser, Term


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysed:
    """A document as the FTS5 tables see it: terms joined by blanks."""

    title: str
    text: str
    words: str  # each once, unstemmed
    passages: tuple[str, ...]


def analysed(title: str, text: str, passages: Sequence[Passage], analyser: Analyser) -> Analysed:
    terms = analyser.terms(text)
    words = {term.text for term in analyser.words(text)} | {term.text for term in analyser.words(title)}
    return Analysed(
        title=_joined(analyser.terms(title)),
        text=_joined(terms),
        words=" ".join(sorted(words)),
        passages=tuple(_joined(_within(passage, terms, text, analyser)) for passage in passages),
    )


def _within(passage: Passage, terms: Sequence[Term], text: str, analyser: Analyser) -> Sequence[Term]:
    return analyser.terms(text[passage.start : passage.end]) if len(text) != passage.end - passage.start else terms


def _joined(terms: Sequence[Term]) -> str:
    return " ".join([term.text for term in terms])


def add_document(connection: sqlite3.Connection, bucket: int, document: int, terms: Analysed) -> None:
    connection.execute(
        f"INSERT INTO terms_{bucket:d}(rowid, title, text) VALUES(?, ?, ?)",
        (document, terms.title, terms.text),
    )
    connection.execute(
        f"INSERT INTO words_{bucket:d}(rowid, word) VALUES(?, ?)",
        (document, terms.words),
    )


def add_passage(connection: sqlite3.Connection, bucket: int, passage: int, title: str, text: str) -> None:
    connection.execute(
        f"INSERT INTO passages_{bucket:d}(rowid, title, text) VALUES(?, ?, ?)",
        (passage, title, text),
    )


def remove_document(
    connection: sqlite3.Connection, bucket: int, document: int, passages: Sequence[int], terms: Analysed
) -> None:
    """With its passages. `terms` are those that were put."""
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
