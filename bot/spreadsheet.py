"""Records as lines of CSV that a spreadsheet opens without running anything.

A text that begins like a formula, also behind blanks and quotes, gets an apostrophe in front; titles of columns are
such texts, too. Every cell is quoted and quotes are doubled, as OWASP says ("CSV Injection",
owasp.org/www-community/attacks/CSV_Injection: `=`, `+`, `-`, `@`, tab, carriage return, line feed, and the full-width
forms of the first four). Values that are typed as numbers are written as numbers: -12.5 stays -12.5. Cells hold no NUL.
"""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any as Json

from storage.search.documents import Value
from storage.search.ids import BucketId, FieldName
from storage.search.index import Record
from storage.search.numbers import plain
from storage.search.schema import Field, FieldType, Schema

BOM = "\ufeff"  # Excel takes a CSV without it for the machine's own code page
# Where quoting is read otherwise, what is behind a quote begins the cell.
_IN_FRONT = re.compile("^[\\s\"'`\u2018\u2019\u201c\u201d]*")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A title, and the field it shows in each bucket that has it."""

    title: str
    fields: Mapping[BucketId, FieldName]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The columns of a file: document id, title, the bucket if there are several, the fields, the source."""

    columns: tuple[Column, ...]
    several: bool

    def header(self) -> str:
        fields = [neutral(column.title) for column in self.columns]
        return BOM + _line(["doc_id", "title", *(["bucket"] if self.several else []), *fields, "source"])

    def lines(self, records: Sequence[Record]) -> str:
        return "".join(map(self._record, records))

    def _record(self, record: Record) -> str:
        bucket = [neutral(record.bucket)] if self.several else []
        cells = [cell(record.values.get(column.fields.get(record.bucket, _NONE))) for column in self.columns]
        return _line([neutral(record.doc_id), neutral(record.title), *bucket, *cells, neutral(record.source)])


_NONE = FieldName("")


def sheet_for(schemas: Mapping[BucketId, Schema]) -> Sheet:
    """Fields of several buckets share a column where label, type and unit are the same; titles are told apart."""
    columns: dict[tuple[str, FieldType, str], dict[BucketId, FieldName]] = {}
    for bucket, schema in sorted(schemas.items()):
        for field in schema.fields:
            taken = columns.setdefault((field.label, field.type, _unit(field)), {})
            if bucket in taken:  # two fields of one bucket that people call the same
                taken = columns.setdefault((f"{field.label} ({field.name})", field.type, _unit(field)), {})
            taken[bucket] = field.name
    titles = _apart([f"{label} ({unit})" if unit else label for label, _, unit in columns])
    parts = zip(titles, columns.values(), strict=True)
    return Sheet(columns=tuple(Column(title=title, fields=f) for title, f in parts), several=len(schemas) > 1)


def cell(value: Value | None) -> str:
    """A value as a cell: numbers plain, lists with `; `, rows as JSON, texts neutralised."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (float, int)):
        return str(plain(value))
    if isinstance(value, str):
        return neutral(value)
    members = [member for member in value if isinstance(member, str)]
    if members or not value:
        return neutral("; ".join(members))
    return json.dumps([_row(row) for row in value if not isinstance(row, str)], ensure_ascii=False)


def neutral(text: str) -> str:
    """`text` so that no spreadsheet takes it for a formula, blanks and quotes in front or not."""
    clean = text.replace("\x00", "")
    is_formula = clean.startswith(_FORMULA) or _IN_FRONT.sub("", clean, count=1).startswith(_FORMULA)
    return f"'{clean}" if is_formula else clean


def _row(row: Mapping[FieldName, Json]) -> dict[str, Json]:
    return {name: plain(one) if isinstance(one, float) else one for name, one in row.items()}


def _unit(field: Field) -> str:
    return field.unit or field.currency


def _apart(titles: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    told: list[str] = []
    for title in titles:
        seen[title] = seen.get(title, 0) + 1
        told.append(title if seen[title] == 1 else f"{title} {seen[title]}")
    return told


def _line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(cells)
    return line.getvalue()
