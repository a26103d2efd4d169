"""Writes records as CSV lines in which a spreadsheet finds no formulas to run.

A text that begins like a formula, also after blanks and quotes, gets a leading apostrophe; this includes column titles.
Every cell is quoted and quotes are doubled, as OWASP recommends ("CSV Injection",
owasp.org/www-community/attacks/CSV_Injection: `=`, `+`, `-`, `@`, tab, carriage return, line feed, and the full-width
forms of the first four). Values of a numeric type are written as numbers: -12.5 stays -12.5. Cells have no NUL.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any as Json

from storage.search.documents import FieldValue
from storage.search.ids import BucketId, FieldName
from storage.search.index import DocumentRecord
from storage.search.numbers import to_json_number
from storage.search.schema import FieldType, Schema, SchemaField

BYTE_ORDER_MARK = "\ufeff"  # without it, Excel decodes a CSV with the machine's code page
# A program that reads quoting differently may start the cell after a quote.
_LEADING_PATTERN = re.compile("^[\\s\"'`\u2018\u2019\u201c\u201d]*")
_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetColumn:
    """A column: its title, and the field that it shows for each bucket."""

    title: str
    fields: Mapping[BucketId, FieldName]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSheet:
    """The columns of a file: document id, title, the bucket if there are several, the fields, the source."""

    columns: tuple[SheetColumn, ...]
    has_many_buckets: bool

    def header_line(self) -> str:
        fields = [neutralise_formula(column.title) for column in self.columns]
        return BYTE_ORDER_MARK + _csv_lines(
            [["doc_id", "title", *(["bucket"] if self.has_many_buckets else []), *fields, "source"]]
        )

    def record_lines(self, records: Sequence[DocumentRecord]) -> str:
        return _csv_lines(map(self._cells_of, records))

    def _cells_of(self, record: DocumentRecord) -> list[str]:
        bucket = [neutralise_formula(record.bucket)] if self.has_many_buckets else []
        cells = [cell_text(record.values.get(column.fields.get(record.bucket, _NO_FIELD))) for column in self.columns]
        return [
            neutralise_formula(record.doc_id),
            neutralise_formula(record.title),
            *bucket,
            *cells,
            neutralise_formula(record.source),
        ]


_NO_FIELD = FieldName("")


def sheet_for_schemas(schemas: Mapping[BucketId, Schema]) -> ExportSheet:
    """The sheet for these buckets. Fields with the same label, type and unit share a column; titles are distinct."""
    columns: dict[tuple[str, FieldType, str], dict[BucketId, FieldName]] = {}
    for bucket, schema in sorted(schemas.items()):
        for field in schema.fields:
            field_by_bucket = columns.setdefault((field.label, field.type, _unit_of(field)), {})
            if bucket in field_by_bucket:  # two fields of one bucket have the same label
                field_by_bucket = columns.setdefault((f"{field.label} ({field.name})", field.type, _unit_of(field)), {})
            field_by_bucket[bucket] = field.name
    titles = _distinct_titles([f"{label} ({unit})" if unit else label for label, _, unit in columns])
    titled_columns = zip(titles, columns.values(), strict=True)
    return ExportSheet(
        columns=tuple(SheetColumn(title=title, fields=fields) for title, fields in titled_columns),
        has_many_buckets=len(schemas) > 1,
    )


def cell_text(value: FieldValue | None) -> str:
    """A value as a cell: numbers plain, lists with `; `, rows as JSON, texts neutralised."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (float, int)):
        return str(to_json_number(value))
    if isinstance(value, str):
        return neutralise_formula(value)
    members = [member for member in value if isinstance(member, str)]
    if members or not value:
        return neutralise_formula("; ".join(members))
    return json.dumps([_plain_row(row) for row in value if not isinstance(row, str)], ensure_ascii=False)


def neutralise_formula(text: str) -> str:
    """`text` with a leading apostrophe if a spreadsheet could read it as a formula; without NUL characters."""
    text_without_nul = text.replace("\x00", "")
    if text_without_nul[:1].isalnum():  # most texts
        return text_without_nul
    is_formula = text_without_nul.startswith(_FORMULA_PREFIXES) or _LEADING_PATTERN.sub(
        "", text_without_nul, count=1
    ).startswith(_FORMULA_PREFIXES)
    return f"'{text_without_nul}" if is_formula else text_without_nul


def _plain_row(row: Mapping[FieldName, Json]) -> dict[str, Json]:
    return {name: to_json_number(value) if isinstance(value, float) else value for name, value in row.items()}


def _unit_of(field: SchemaField) -> str:
    return field.unit or field.currency


def _distinct_titles(titles: Sequence[str]) -> list[str]:
    count_by_title: dict[str, int] = {}
    distinct_titles: list[str] = []
    for title in titles:
        count_by_title[title] = count_by_title.get(title, 0) + 1
        distinct_titles.append(title if count_by_title[title] == 1 else f"{title} {count_by_title[title]}")
    return distinct_titles


def _csv_lines(rows: Iterable[Sequence[str]]) -> str:
    lines = io.StringIO()
    csv.writer(lines, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(rows)
    return lines.getvalue()
