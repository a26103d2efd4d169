"""Insertion of analysed terms into a bucket's FTS5 tables, and deletion.

The tables are contentless, so a deletion must give the same terms as the insertion: those of the same analyser for the
same text. The table `bucket` has the version of the analyser; when it changes, the term tables are rebuilt.
"""

import sqlite3
from collections.abc import Sequence

from storage.text.document_terms import AnalysedDocument


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
