"""The dictionary of what is visible in a bucket."""

from collections.abc import Iterator

import numpy as np

from storage.embedded.bucket import Bucket
from storage.embedded.columns import Column, Flags, Lists, Mask, Numbers, Rows, Strings, iso_day
from storage.embedded.dictionary import Ints
from storage.embedded.facets import Tally, strings_of
from storage.search.ids import FieldName
from storage.search.index import FieldVocabulary
from storage.search.schema import Field, FieldType


def vocabulary_of(bucket: Bucket, visible: Mask, limit: int) -> Iterator[FieldVocabulary]:
    """In order of the schema; the columns of a rows field follow it."""
    for one in bucket.schema.fields:
        column = bucket.columns[one.name]
        documents = int((column.present & visible).sum())
        if not documents:
            continue
        yield _of_column(bucket, one, one.name, column, visible, np.arange(len(visible)), limit)
        if isinstance(column, Rows):
            inside = visible[column.owners]
            for inner in one.columns:
                within = column.columns[inner.name]
                if (within.present & inside).any():
                    name = FieldName(f"{one.name}.{inner.name}")
                    yield _of_column(bucket, inner, name, within, inside, column.owners, limit)


def _of_column(
    bucket: Bucket, one: Field, name: FieldName, column: Column, mask: Mask, owners: Ints, limit: int
) -> FieldVocabulary:
    """`owners`: the document of each position of the column."""
    documents = len(np.unique(owners[column.present & mask]))
    match column:
        case Strings() | Lists():
            at, codes = strings_of(column, mask)
            counted = Tally(owners=owners[at], codes=codes, dictionary=column.dictionary).counted(limit)[0]
            return FieldVocabulary(bucket=bucket.header.name, field=name, documents=documents, values=counted)
        case Numbers(values=values):
            low, high = float(np.nanmin(values[mask])), float(np.nanmax(values[mask]))
            is_day = one.type is FieldType.DATE
            return FieldVocabulary(
                bucket=bucket.header.name,
                field=name,
                documents=documents,
                low=iso_day(low) if is_day else low,
                high=iso_day(high) if is_day else high,
            )
        case Flags() | Rows():
            return FieldVocabulary(bucket=bucket.header.name, field=name, documents=documents)
