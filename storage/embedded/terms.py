"""Analysed terms in and out of a bucket's FTS5 tables.

The tables hold no content of their own, so what is deleted must be told with the terms that were put: the same
analyser on the same text. A bucket remembers its analyser's version, and its tables are made anew when that changes.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from storage.search.documents import Passage
from storage.search.text import Analyser, Unplaced


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysed:
    """A document as the FTS5 tables see it: terms joined by blanks."""

    title: str
    text: str
    words: str  # each once, unstemmed
    outline: str
    passages: tuple[str, ...]


def analysed(title: str, text: str, passages: Sequence[Passage], analyser: Analyser, outline: str) -> Analysed:
    heading, (body, within, words) = analyser.unplaced(title), _in_pieces(text, passages, analyser)
    return Analysed(
        title=heading.terms,
        text=body,
        words=" ".join(sorted(heading.words | words)),
        outline=body if outline == text else analyser.unplaced(outline).terms,
        passages=within,
    )


def _in_pieces(text: str, passages: Sequence[Passage], analyser: Analyser) -> tuple[str, tuple[str, ...], set[str]]:
    """The terms of the text and of each passage, and the words, no part of the text analysed twice.

    The terms of a passage are those of the text that lie in it, unless a cut goes through one.
    """
    edges = {edge for one in passages for edge in (one.start, one.end) if not analyser.is_split(text, edge)}
    cuts = sorted(edges | {0, len(text)})
    pieces = [analyser.unplaced(text[start:end]) for start, end in pairwise(cuts)]
    at = {cut: number for number, cut in enumerate(cuts)}

    def terms_of(passage: Passage) -> str:
        first, last = at.get(passage.start), at.get(passage.end)
        if first is None or last is None:
            return analyser.unplaced(text[passage.start : passage.end]).terms
        return _joined(pieces[first:last])

    return _joined(pieces), tuple(map(terms_of, passages)), set[str]().union(*(one.words for one in pieces))


def _joined(pieces: Sequence[Unplaced]) -> str:
    return " ".join([one.terms for one in pieces if one.terms])


def add_document(connection: sqlite3.Connection, bucket: int, document: int, terms: Analysed) -> None:
    connection.execute(
        f"INSERT INTO terms_{bucket:d}(rowid, title, text) VALUES(?, ?, ?)",
        (document, terms.title, terms.text),
    )
    connection.execute(
        f"INSERT INTO words_{bucket:d}(rowid, word) VALUES(?, ?)",
        (document, terms.words),
    )


def add_outline(connection: sqlite3.Connection, bucket: int, document: int, title: str, outline: str) -> None:
    """`title` and `outline` as terms."""
    connection.execute(
        f"INSERT INTO outlines_{bucket:d}(rowid, title, text) VALUES(?, ?, ?)",
        (document, title, outline),
    )


def remove_outline(connection: sqlite3.Connection, bucket: int, document: int, terms: Analysed) -> None:
    connection.execute(
        f"INSERT INTO outlines_{bucket:d}(outlines_{bucket:d}, rowid, title, text) VALUES('delete', ?, ?, ?)",
        (document, terms.title, terms.outline),
    )


def add_passages(connection: sqlite3.Connection, bucket: int, passages: Sequence[int], terms: Analysed) -> None:
    connection.executemany(
        f"INSERT INTO passages_{bucket:d}(rowid, title, text) VALUES(?, ?, ?)",
        [(number, terms.title, text) for number, text in zip(passages, terms.passages, strict=True)],
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
