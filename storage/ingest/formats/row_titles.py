"""Says what a row of a table is called: a name that it has, else its number, else its day and first words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from storage.ingest.formats.cells import CellValue, text_of_cell
from storage.ingest.schemas.names import singular_of, words_in_name

_TITLE_COLUMNS = ("title", "name", "subject", "heading", "label")
_WORDS_OF_OWN_NAMES = ("full", "display", "common")  # of a column such as "full_name"
# Columns that together hold the name of a person.
_FIRST_NAME_COLUMNS = (
    *("first name", "firstname", "first_name", "forename", "given name", "given_name", "vorname", "prénom", "nombre"),
    "first",
)
_LAST_NAME_COLUMNS = (
    *("surname", "last name", "lastname", "last_name", "family name", "family_name", "nachname", "nom", "apellidos"),
    *("apellido", "last"),
)
_WORDS_OF_NUMBERS = frozenset("id no nr num number code ref reference key pk nummer numéro número".split())
_MAX_TITLE_CHARACTERS = 300
_MAX_CACHED_NAMES = 4_000  # of columns
_ONLY_NUMBERS = re.compile(r"[\d.,:/\s-]+")
_DAY = re.compile(r"\d{4}-\d\d?-\d\d?(?:[T ]\d\d:\d\d.*)?|\d\d?[./-](?:\d\d?|[A-Za-z]{3})[./-]\d{2,4}")
_LOWER_CASE_WORD = re.compile(r"[a-zß-öø-ÿ]{3}")
_MIN_ROWS = 4  # below it, little can be said about what repeats
_MIN_OWN_SHARE = 0.9  # of different values, in a column that names rows although they have a number
_MAX_KIND_SHARE = 0.5  # of different values, in a column of kinds, places or states


@dataclass(frozen=True, slots=True, kw_only=True)
class RowNaming:
    """Which columns name the rows of a table whose first words repeat: their number, or their first words and day.

    `noun` stands before a number that has no letters; without one, the table's own noun does.
    """

    columns: tuple[str, ...]
    noun: str = ""

    def name_row(self, row: Mapping[str, CellValue], table_name: str) -> str:
        """Returns the name; nothing if the row has none of the columns."""
        words = ", ".join(text_of_cell(row[column]) for column in self.columns if column in row)
        if not _ONLY_NUMBERS.fullmatch(words):
            return words
        table_words = [word for word in words_in_name(table_name) if not word.isdigit()]
        noun = self.noun or (singular_of(table_words[-1]) if table_words else "")
        return f"{noun[:1].upper()}{noun[1:]} {words}".strip()


def choose_row_naming(rows: Sequence[Mapping[str, CellValue]], columns: Sequence[str]) -> RowNaming | None:
    """Returns how rows are named whose names or first words would repeat too often; None to name each by itself.

    `rows` are the first ones of the table.
    """
    by_folded = {column.casefold() for column in columns}
    if len(rows) < _MIN_ROWS or by_folded & {*_TITLE_COLUMNS} or any(_name_of_person(row) for row in rows):
        return None
    words = [_first_words_of(row) for row in rows]
    if not any(words):
        return None
    share = len(set(words)) / len(rows)
    number = _find_number_column(rows, columns)
    if number is not None and share < _MIN_OWN_SHARE:
        noun_words = [word for word in words_in_name(number) if word not in _WORDS_OF_NUMBERS]
        return RowNaming(columns=(number,), noun=" ".join(noun_words))
    if share > _MAX_KIND_SHARE:
        return None
    kind = next(column for column in columns if any(_has_words(row.get(column)) for row in rows))
    day = next((column for column in columns if all(_is_day(row.get(column)) for row in rows)), None)
    if day is None or len({(row.get(kind), row.get(day)) for row in rows}) < _MIN_OWN_SHARE * len(rows):
        return None
    return RowNaming(columns=(kind, day))


def title_of_row(row: Mapping[str, CellValue], key: str, table_name: str, naming: RowNaming | None = None) -> str:
    """Returns what a row is called: a title or name that it has, else its first words, else its table and key.

    A person is called by the first and the last name, where these are two columns.
    """
    name_by_folded = _names_by_folded(row)
    for title_column in _TITLE_COLUMNS:
        if title_column in name_by_folded:
            return text_of_cell(row[name_by_folded[title_column]])[:_MAX_TITLE_CHARACTERS]
    if person := _name_of_person(row):
        return person[:_MAX_TITLE_CHARACTERS]
    for name, cell in row.items():
        if _names_row(name, table_name) and _is_name(cell):
            return text_of_cell(cell)[:_MAX_TITLE_CHARACTERS]
    title = (naming.name_row(row, table_name) if naming is not None else "") or _first_words_of(row)
    return title[:_MAX_TITLE_CHARACTERS] or f"{table_name} {key}"


def _first_words_of(row: Mapping[str, CellValue]) -> str:
    return next((text_of_cell(cell) for cell in row.values() if _has_words(cell)), "")


def _has_words(cell: CellValue) -> bool:
    return isinstance(cell, str) and not _ONLY_NUMBERS.fullmatch(cell)


def _is_day(cell: CellValue) -> bool:
    return isinstance(cell, str) and _DAY.fullmatch(cell) is not None


def _find_number_column(rows: Sequence[Mapping[str, CellValue]], columns: Iterable[str]) -> str | None:
    """Returns the first column that has a different number or code in each row, and is named so or comes first."""
    for position, column in enumerate(columns):
        words, codes = words_in_name(column), {text_of_cell(row.get(column)) for row in rows}
        is_named_so = column.rstrip().endswith("#") or (bool(words) and words[-1] in _WORDS_OF_NUMBERS)
        is_number = is_named_so or (position == 0 and all(map(str.isdigit, codes)))
        if is_number and "" not in codes and len(codes) == len(rows):
            return column
    return None


def _names_by_folded(row: Mapping[str, CellValue]) -> dict[str, str]:
    return {name.casefold(): name for name in reversed(list(row))}


def _name_of_person(row: Mapping[str, CellValue]) -> str:
    """Returns the first and the last name, if the row has a column for each; else nothing."""
    name_by_folded = _names_by_folded(row)
    parts = [
        next((text_of_cell(row[name_by_folded[name]]) for name in names if name in name_by_folded), "")
        for names in (_FIRST_NAME_COLUMNS, _LAST_NAME_COLUMNS)
    ]
    return " ".join(parts) if all(parts) else ""


@lru_cache(maxsize=_MAX_CACHED_NAMES)
def _names_row(column_name: str, table_name: str) -> bool:
    """Whether a column holds what its row is called: "full_name", "town" or "town_name" in the table `towns`."""
    words, own_words = words_in_name(column_name), words_in_name(table_name)
    own_noun = singular_of(own_words[-1]) if own_words else ""
    if not words or (words[-1] != "name" and len(words) > 1):
        return False
    return words[0] in _WORDS_OF_OWN_NAMES or words[0] == own_noun


def _is_name(cell: CellValue) -> bool:
    """Whether the cell is words, as "Bearing 6205-2RS", not a code such as "NK 3185"."""
    return isinstance(cell, str) and (not any(map(str.isdigit, cell)) or _LOWER_CASE_WORD.search(cell) is not None)
