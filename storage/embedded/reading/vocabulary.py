"""The vocabulary of a bucket: the values of its visible documents, by field."""

import sqlite3
from collections import Counter
from collections.abc import Iterator

import numpy as np

from storage.embedded.bucket_snapshot import BucketSnapshot
from storage.embedded.columns import (
    Column,
    FlagColumn,
    ListColumn,
    Mask,
    NumberColumn,
    RowsColumn,
    StringColumn,
    iso_day_of,
)
from storage.embedded.reading.facets import StringTally, strings_of
from storage.embedded.string_dictionary import Ints
from storage.search.evaluation.title_tally import MAX_TITLED_DOCUMENTS, count_titles
from storage.search.ids import FieldName
from storage.search.index import FieldVocabulary, ValueCount
from storage.search.schema import FieldType, SchemaField


def field_vocabularies_of(bucket: BucketSnapshot, visible: Mask, limit: int) -> Iterator[FieldVocabulary]:
    """Yield the vocabularies of the fields in order of the schema; the columns of a rows field follow it."""
    for field in bucket.schema.fields:
        column = bucket.columns[field.name]
        document_count = int((column.present_mask & visible).sum())
        if not document_count:
            continue
        yield _column_vocabulary(bucket, field, field.name, column, visible, np.arange(len(visible)), limit)
        if isinstance(column, RowsColumn):
            row_mask = visible[column.owners]
            for row_field in field.columns:
                row_column = column.columns[row_field.name]
                if (row_column.present_mask & row_mask).any():
                    name = FieldName(f"{field.name}.{row_field.name}")
                    yield _column_vocabulary(bucket, row_field, name, row_column, row_mask, column.owners, limit)


def _column_vocabulary(
    bucket: BucketSnapshot, field: SchemaField, name: FieldName, column: Column, mask: Mask, owners: Ints, limit: int
) -> FieldVocabulary:
    """Returns the vocabulary of one column. `owners`: for each position of the column, its document."""
    document_count = len(np.unique(owners[column.present_mask & mask]))
    match column:
        case StringColumn() | ListColumn():
            positions, codes = strings_of(column, mask)
            tally = StringTally(owners=owners[positions], codes=codes, dictionary=column.dictionary)
            values, _ = tally.top_values(limit)
            return FieldVocabulary(bucket=bucket.header.name, field=name, document_count=document_count, values=values)
        case NumberColumn(values=values):
            low, high = float(np.nanmin(values[mask])), float(np.nanmax(values[mask]))
            is_day = field.type is FieldType.DATE
            return FieldVocabulary(
                bucket=bucket.header.name,
                field=name,
                document_count=document_count,
                low=iso_day_of(low) if is_day else low,
                high=iso_day_of(high) if is_day else high,
            )
        case FlagColumn() | RowsColumn():
            return FieldVocabulary(bucket=bucket.header.name, field=name, document_count=document_count)


def visible_titles_of(connection: sqlite3.Connection, bucket: BucketSnapshot, visible: Mask) -> tuple[ValueCount, ...]:
    """Returns the titles of the visible documents; none if there are more than `MAX_TITLED_DOCUMENTS`."""
    if int(visible.sum()) > MAX_TITLED_DOCUMENTS:
        return ()
    visible_ids = set(bucket.ids[visible].tolist())
    rows = connection.execute("SELECT id, title FROM document WHERE bucket = ?", (bucket.header.id,))
    return count_titles(Counter(title for document_number, title in rows if document_number in visible_ids))
