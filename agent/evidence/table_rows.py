"""Rows of a table in a text: the cells of a line, and the number in the column that a noun names."""

import csv
import re
from collections.abc import Sequence

from storage.search.analyser import fold_text

_MIN_CELLS = 2
_MIN_STEM, _MAX_ENDING = 3, 2  # code points of a noun that its forms share, and that may differ at its end
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER_CELL = re.compile(r"\W*\d[\d.,–-]*\W*")


def split_cells(line: str) -> tuple[str, ...]:
    """`"Ferry","12"`, `| Ferry | 12 |`: returns the cells of a line; empty for a line that is not a row of a table."""
    text = line.strip()
    if text.startswith("|"):
        cells = [cell.strip() for cell in text.strip("|").split("|")]
    elif text.startswith('"') and '","' in text:
        cells = [cell for line in csv.reader([text], escapechar="\\") for cell in line]
    else:
        return ()
    return tuple(cells) if len(cells) >= _MIN_CELLS else ()


def holds_counted_cell(row: str, text: str, counted_noun: str, question: str) -> bool:
    """Whether `row`, a line of `text`, has a number in the column whose name, in the first row, holds the noun."""
    cells = split_cells(row)
    column = _find_column(text, len(cells), counted_noun, question) if cells else None
    return column is not None and _NUMBER_CELL.fullmatch(cells[column]) is not None


def _find_column(text: str, cell_count: int, noun: str, question: str) -> int | None:
    """Returns the column that the noun names; of several, the one with clearly most words of the question.

    None if the text has no such table, or if several columns are as likely.
    """
    rows = (split_cells(line) for line in text.splitlines())
    names = next((cells for cells in rows if len(cells) == cell_count), ())
    stem = fold_text(noun)[: max(_MIN_STEM, len(noun) - _MAX_ENDING)]
    asked = {*_WORD.findall(fold_text(question))}
    shares = {
        index: len(asked & {*_WORD.findall(fold_text(name))})
        for index, name in enumerate(names)
        if _has_word_from(stem, name)
    }
    best = max(shares.values(), default=0)
    columns = [index for index, share in shares.items() if share == best]
    return columns[0] if len(columns) == 1 else None


def _has_word_from(stem: str, name: str) -> bool:
    words: Sequence[str] = _WORD.findall(fold_text(name))
    return any(word.startswith(stem) and len(word) <= len(stem) + 2 * _MAX_ENDING for word in words)
