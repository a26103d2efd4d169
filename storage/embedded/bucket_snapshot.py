"""The in-memory snapshot of a bucket, and the cache that follows the changes of the file.

A `BucketSnapshot` is one state of a bucket; only its caches of computed results change. `SnapshotCache` has the latest
state of each bucket and builds the next state from it. It finds new rows by their ids, which only grow, and deleted
rows by their absence.
"""

import json
import sqlite3
import threading
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar, cast

import numpy as np
from cachetools import LRUCache

from storage.embedded.columns import Column, DictionarySet, Mask, build_columns, join_column_parts, join_columns
from storage.embedded.packed_strings import PackedStrings
from storage.embedded.string_dictionary import Codes, Ints, StringDictionary
from storage.search.codec import schema_from_json
from storage.search.documents import FieldValues
from storage.search.evaluation.value_validation import select_fitting_values
from storage.search.ids import BucketId, FieldName, Generation, Subject
from storage.search.schema import Schema
from storage.search.scope import Scope

T = TypeVar("T")
_BATCH_ROWS, _BATCH_CHARACTERS = 4_000, 4_000_000  # that are parsed at once, approximately
PASSAGES_KEY, VECTORS_KEY = "passages", "vectors"  # keys of `derived_cache`


class OutdatedSnapshot(Exception):
    """The transaction sees an earlier state than the snapshot in memory. Retry with a new transaction."""


class LruCache(Generic[T]):
    """The most recently used results by key. Safe to share between threads; two threads may compute the same result."""

    def __init__(self, max_entries: int) -> None:
        self._results: LRUCache[Hashable, T] = LRUCache(max_entries)
        self._lock = threading.Lock()

    def get_or_compute(self, key: Hashable, compute: Callable[[], T]) -> T:
        with self._lock:
            if key in self._results:
                return self._results[key]
        result = compute()
        with self._lock:
            self._results[key] = result
        return result

    def cached_values(self, *keys: Hashable) -> Mapping[str, T]:
        """Return the cached results for those keys that have one."""
        with self._lock:
            return {str(key): self._results[key] for key in keys if key in self._results}


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketHeader:
    """A row of the table `bucket`."""

    id: int
    name: BucketId
    schema: Schema
    schema_json: str  # the schema as stored in the row
    revision: int  # increases when stored values must be validated again
    analyser: str
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """The state of the file that a transaction sees."""

    generation: Generation
    headers: Mapping[BucketId, BucketHeader]


@dataclass(frozen=True, kw_only=True)
class PassageTable:
    """The passages of a bucket by id, ascending. May include passages of deleted documents."""

    ids: Ints
    document_positions: Ints
    ordinals: Ints  # the passage's number in its document, from 0
    lengths: "np.ndarray[tuple[int], np.dtype[np.int32]]"  # in code points


@dataclass(frozen=True, kw_only=True)
class PassageVectors:
    """The vectors of passages: `matrix[i]` is of the passage `ids[i]`.

    L2-normalised; float16, or float32 if there are few.
    """

    ids: Ints
    matrix: "np.ndarray[tuple[int, int], np.dtype[np.float16 | np.float32]]"


@dataclass(frozen=True, kw_only=True)
class BucketSnapshot:
    """One state of a bucket. A deleted document keeps its position, and is False in `live_mask`."""

    header: BucketHeader
    ids: Ints  # of the documents, ascending, by position
    live_mask: Mask
    doc_ids: PackedStrings
    restricted_mask: Mask  # documents with a reader list
    reader_positions: Ints
    reader_codes: Codes
    subjects: StringDictionary
    columns: Mapping[FieldName, Column]
    mask_cache: LruCache[Mask]
    derived_cache: LruCache[object]  # computed once per state: passages, vectors, ranks
    inherited_tables: Mapping[str, object]  # passages and vectors of the previous state, to be extended

    @property
    def schema(self) -> Schema:
        return self.header.schema

    def visible_mask(self, scope: Scope) -> Mask:
        """Returns the live documents that the scope can see by their readers. Does not check the scope's buckets."""
        if scope.ignores_readers or not self.restricted_mask.any():
            return self.live_mask
        return self.mask_cache.get_or_compute(scope.subjects, lambda: self._compute_visible_mask(scope.subjects))

    def _compute_visible_mask(self, subjects: frozenset[Subject]) -> Mask:
        subject_codes = [code for code, subject in enumerate(self.subjects.strings[:]) if subject in subjects]
        readable_mask = ~self.restricted_mask
        readable_mask[self.reader_positions[np.isin(self.reader_codes, subject_codes)]] = True
        return self.live_mask & readable_mask

    def positions_of(self, ids: Ints) -> Ints:
        """Returns the positions of documents by their ids. All ids must be in the snapshot."""
        return np.searchsorted(self.ids, ids)

    def doc_id_ranks(self) -> Ints:
        """Returns for each position the rank of its document id, by code point."""
        return cast(Ints, self.derived_cache.get_or_compute("doc ranks", self._compute_doc_id_ranks))

    def _compute_doc_id_ranks(self) -> Ints:
        return self.doc_ids.rank_strings().astype(np.int64)


class SnapshotCache:
    """The latest state of each bucket. Safe to share between threads."""

    def __init__(self, dictionaries: DictionarySet | None = None) -> None:
        self._snapshots = dict[int, BucketSnapshot]()
        self._dictionaries = dictionaries or DictionarySet()
        self._state: IndexState | None = None
        self._lock = threading.Lock()

    def copy_for(self, connection: sqlite3.Connection) -> "SnapshotCache":
        """Return a cache for the state that this transaction sees. It shares what both states have in common."""
        copied = SnapshotCache(self._dictionaries)
        generations = {header.id: header.generation for header in copied.read_state(connection).headers.values()}
        with self._lock:
            copied._snapshots = {
                bucket: snapshot
                for bucket, snapshot in self._snapshots.items()
                if snapshot.header.generation <= generations.get(bucket, -1)
            }
        return copied

    @property
    def latest_state(self) -> IndexState | None:
        """The state that the latest transaction of this process has seen."""
        return self._state

    def read_state(self, connection: sqlite3.Connection) -> IndexState:
        """Read the state that this transaction sees."""
        epoch, generation_number = connection.execute("SELECT epoch, generation FROM state").fetchone()
        generation, latest_state = Generation(f"{epoch}-{generation_number}"), self._state
        if latest_state is not None and latest_state.generation == generation:
            return latest_state
        self._state = IndexState(generation=generation, headers=_read_headers(connection, latest_state))
        return self._state

    def snapshot_for(self, connection: sqlite3.Connection, header: BucketHeader) -> BucketSnapshot:
        """Return the bucket's snapshot for this transaction. Raises `OutdatedSnapshot`."""
        with self._lock:
            snapshot = self._snapshots.get(header.id)
            if snapshot is not None and snapshot.header.generation > header.generation:
                raise OutdatedSnapshot
            if snapshot is None or snapshot.header.generation < header.generation:
                can_extend = snapshot is not None and _can_extend(snapshot, header)
                snapshot = _next_snapshot(connection, header, snapshot if can_extend else None, self._dictionaries)
                self._snapshots[header.id] = snapshot
            return snapshot


def _read_headers(connection: sqlite3.Connection, latest_state: IndexState | None) -> Mapping[BucketId, BucketHeader]:
    known_schemas = (
        {} if latest_state is None else {header.schema_json: header.schema for header in latest_state.headers.values()}
    )
    rows = connection.execute(
        "SELECT id, name, schema, revision, analyser, generation FROM bucket ORDER BY name"
    ).fetchall()
    return {
        name: BucketHeader(
            id=bucket_number,
            name=name,
            schema=known_schemas.get(schema_json) or schema_from_json(json.loads(schema_json)),
            schema_json=schema_json,
            revision=revision,
            analyser=analyser,
            generation=generation,
        )
        for bucket_number, name, schema_json, revision, analyser, generation in rows
    }


def _can_extend(snapshot: BucketSnapshot, header: BucketHeader) -> bool:
    is_mostly_deleted = 2 * int(snapshot.live_mask.sum()) < len(snapshot.live_mask)
    return snapshot.header.revision == header.revision and not is_mostly_deleted


def _next_snapshot(
    connection: sqlite3.Connection, header: BucketHeader, previous: BucketSnapshot | None, dictionaries: DictionarySet
) -> BucketSnapshot:
    newest_id = int(previous.ids[-1]) if previous is not None and len(previous.ids) else 0
    added = _load_snapshot(connection, header, newest_id, dictionaries)
    if previous is None:
        return added
    present_rows = connection.execute(
        "SELECT id FROM document WHERE bucket = ? AND id <= ? ORDER BY id", (header.id, newest_id)
    )
    previous_count = len(previous.ids)
    still_live_mask = np.isin(previous.ids, read_integers(present_rows, column_count=1)[:, 0], assume_unique=True)
    return BucketSnapshot(
        header=header,
        ids=np.concatenate((previous.ids, added.ids)),
        live_mask=np.concatenate((still_live_mask, added.live_mask)),
        doc_ids=previous.doc_ids.join_strings(added.doc_ids),
        restricted_mask=np.concatenate((previous.restricted_mask, added.restricted_mask)),
        reader_positions=np.concatenate((previous.reader_positions, added.reader_positions + previous_count)),
        reader_codes=np.concatenate((previous.reader_codes, added.reader_codes)),
        subjects=previous.subjects,
        columns={
            name: join_columns(column, added.columns[name], previous_count) for name, column in previous.columns.items()
        },
        mask_cache=LruCache(_mask_cache_size(previous_count + len(added.ids))),
        derived_cache=LruCache(64),
        inherited_tables={
            **previous.inherited_tables,
            **previous.derived_cache.cached_values(PASSAGES_KEY, VECTORS_KEY),
        },
    )


def _mask_cache_size(document_count: int) -> int:
    """Returns the number of masks that fit in about 32 MB."""
    return max(16, min(512, 32_000_000 // (document_count or 1)))


def _load_snapshot(
    connection: sqlite3.Connection, header: BucketHeader, newest_id: int, dictionaries: DictionarySet
) -> BucketSnapshot:
    subjects = dictionaries.dictionary_for(".readers")  # no field's name begins with a dot
    ids, reader_counts, reader_codes, doc_ids = array("q"), array("q"), list[Codes](), PackedStrings()
    parts, sizes = [build_columns(header.schema.fields, (), dictionaries)], [0]
    for rows in _read_row_batches(connection, header, newest_id):
        ids.extend(row[0] for row in rows)
        doc_ids.add_strings(row[1] for row in rows)
        readers = [cast(list[str], json.loads(row[3])) if row[3] != "[]" else [] for row in rows]
        reader_counts.extend(map(len, readers))
        reader_codes.append(subjects.encode_strings(name for names in readers for name in names))
        values = [stored_values_of(row[4], row[2], header) for row in rows]
        parts.append(build_columns(header.schema.fields, values, dictionaries))
        sizes.append(len(rows))
    reader_count_array = np.array(reader_counts, dtype=np.int64)
    return BucketSnapshot(
        header=header,
        ids=np.array(ids, dtype=np.int64),
        live_mask=np.ones(len(ids), dtype=np.bool_),
        doc_ids=doc_ids,
        restricted_mask=reader_count_array > 0,
        reader_positions=np.repeat(np.arange(len(ids)), reader_count_array),
        reader_codes=np.concatenate(reader_codes or [np.zeros(0, dtype=np.int32)]),
        subjects=subjects,
        columns=join_column_parts(parts, sizes),
        mask_cache=LruCache(_mask_cache_size(len(ids))),
        derived_cache=LruCache(64),
        inherited_tables={},
    )


_DocumentRow: TypeAlias = tuple[int, str, int, str, str]


def _read_row_batches(
    connection: sqlite3.Connection, header: BucketHeader, newest_id: int
) -> Iterator[list[_DocumentRow]]:
    """Yield id, document id, revision, readers and values of later documents; all at once would take much memory."""
    rows, character_count = list[_DocumentRow](), 0
    for row in connection.execute(
        "SELECT id, doc_id, revision, readers, vals FROM document WHERE bucket = ? AND id > ? ORDER BY id",
        (header.id, newest_id),
    ):
        rows.append(row)
        character_count += len(row[3]) + len(row[4])
        if len(rows) >= _BATCH_ROWS or character_count >= _BATCH_CHARACTERS:
            yield rows
            rows, character_count = [], 0
    if rows:
        yield rows


def read_integers(rows: Iterable[Sequence[int]], *, column_count: int) -> Ints:
    """Return rows of integers as an array, `(n, column_count)`, without a list of all rows."""
    numbers = np.fromiter((number for row in rows for number in row), dtype=np.int64)
    return numbers.reshape(-1, column_count)


def stored_values_of(values_json: str, revision: int, header: BucketHeader) -> FieldValues:
    """Returns the stored values that fit the bucket's schema. Lists and rows may be Python lists."""
    values = cast(dict[str, object], json.loads(values_json))
    if revision != header.revision:
        return select_fitting_values(values, header.schema)
    return cast(FieldValues, values)
