"""Analysed terms in and out of a bucket's FTS5 tables.

The tables hold no content of their own, so what is deleted must be told with the terms that were put: the same
analyser on the same text. A bucket remembers its analyser's version, and its tables are made anew when that changes.
"""

import sqlite3
from bisect import bisect_left
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
    starts = [term.start for term in terms]
    return Analysed(
        title=_joined(analyser.terms(title)),
        text=_joined(terms),
        words=" ".join(sorted(words)),
        passages=tuple(_joined(_within(passage, terms, starts, text, analyser)) for passage in passages),
    )


def _within(
    passage: Passage, terms: Sequence[Term], starts: Sequence[int], text: str, analyser: Analyser
) -> Sequence[Term]:
    """The terms of a passage: those of the text that lie in it, unless a cut goes through one."""
    first, last = bisect_left(starts, passage.start), bisect_left(starts, passage.end)
    cut_before = first > 0 and terms[first - 1].end > passage.start
    cut_after = last > 0 and terms[last - 1].end > passage.end
    if cut_before or cut_after:
        return analyser.terms(text[passage.start : passage.end])
    return terms[first:last]


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
