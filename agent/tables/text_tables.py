"""Tables in a text, with the place of every row: quoted CSV, cells between bars, and cells between tabs.

The first row names the columns. A table ends where a line has another number of cells.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

_MIN_COLUMNS, _MIN_ROWS = 2, 2  # of a table; its rows without the names of the columns
_MAX_ROWS = 2_000  # of one table; further rows are not read
_CSV_CELL = re.compile(r'"((?:[^"\\]|\\.|"")*)"(,|\r?\n|\Z)', re.DOTALL)
_ESCAPED = re.compile(r'\\(.)|"(")', re.DOTALL)
_RULE = re.compile(r"[\s|:+=-]+")  # the line below the names of a Markdown table
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_BAR_CELL = re.compile(r"(?:[^|\\]|\\.)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """The cells of a row, as they are read. `start` and `end` are the row's offsets in the text of its document."""

    number: int  # from 1, without the row of names
    cells: tuple[str, ...]
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table: the names of its columns, and its rows. Every row has a cell for every column."""

    names: tuple[str, ...]
    rows: tuple[TextRow, ...]
    start: int  # of the row of names


def find_tables(text: str) -> Iterator[TextTable]:
    """Yields the tables of the text, in order."""
    start, lines = 0, list[TextRow]()
    for line in _split_rows(text):
        if lines and len(line.cells) != len(lines[0].cells):
            yield from _build_table(lines)
            lines = []
        if len(line.cells) >= _MIN_COLUMNS:
            lines.append(line)
            start = line.end
    if start:
        yield from _build_table(lines)


def looks_like_table(text: str) -> bool:
    """Whether a passage has rows of a table: a cheap check before its document is read."""
    rows = 0
    for row in _split_rows(text):
        rows = rows + 1 if len(row.cells) >= _MIN_COLUMNS else 0
        if rows >= _MIN_ROWS:
            return True
    return False


def _build_table(lines: Sequence[TextRow]) -> Iterator[TextTable]:
    if len(lines) <= _MIN_ROWS:
        return
    names, *rows = lines
    yield TextTable(
        names=tuple(" ".join(name.split()) for name in names.cells),
        rows=tuple(replace(row, number=number) for number, row in enumerate(rows[:_MAX_ROWS], 1)),
        start=names.start,
    )


def _split_rows(text: str) -> Iterator[TextRow]:
    """Yields the lines of the text in order; a line that is not a row of a table has no cells."""
    start = 0
    while start < len(text):
        row = _read_csv_row(text, start) or _read_line(text, start)
        if row is not None:
            yield row
            start = row.end
        start = text.find("\n", start) + 1 or len(text)


def _read_csv_row(text: str, start: int) -> TextRow | None:
    """Reads cells in quotation marks, which may hold line breaks."""
    cells, position = list[str](), start
    while (match := _CSV_CELL.match(text, position)) is not None:
        cells.append(_ESCAPED.sub(lambda escaped: escaped[1] or escaped[2], match[1]).strip())
        position = match.end()
        if match[2] != ",":
            end = match.end() - len(match[2])
            return _row_at(text, start, end, cells) if len(cells) >= _MIN_COLUMNS else None
    return None


def _read_line(text: str, start: int) -> TextRow | None:
    """Reads the cells between bars or tabs of a line; None for the line below the names."""
    match = _LINE.match(text, start)
    line = match[0].rstrip("\r\n") if match is not None else ""
    stripped = line.strip()
    if "|" in stripped and _RULE.fullmatch(stripped) and "-" in stripped:
        return None
    return _row_at(text, start, start + len(line), _split_cells(stripped))


def _row_at(text: str, start: int, end: int, cells: Sequence[str]) -> TextRow:
    return TextRow(number=0, cells=tuple(cells), start=start, end=end, text=text[start:end])


def _split_cells(line: str) -> Sequence[str]:
    if "\t" in line:
        return [cell.strip() for cell in line.split("\t")]
    if "|" not in line:
        return ()
    body = line[1:] if line.startswith("|") else line
    body = body[:-1] if body.endswith("|") and not body.endswith("\\|") else body
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", body)]
