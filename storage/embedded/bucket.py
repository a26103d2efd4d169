"""What a process keeps in memory of a bucket, and how it follows the file.

A `Bucket` is one state of a bucket and is never changed, apart from what it remembers of its own evaluation. `Memory`
holds the latest state of each bucket and makes the next from it: new rows by their ids, which only grow; gone rows by
their absence.
"""

import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import numpy as np

from storage.embedded.columns import Column, Dictionaries, Mask, columns_of, joined
from storage.embedded.dictionary import Codes, Dictionary, Ints
from storage.search.codec import schema_from_json
from storage.search.documents import Values
from storage.search.fit import still_fitting
from storage.search.ids import BucketId, DocId, FieldName, Generation, Subject
from storage.search.schema import Schema
from storage.search.scope import Scope

T = TypeVar("T")
PASSAGES, VECTORS = "passages", "vectors"  # names among what is derived


class Outdated(Exception):
    """The transaction is of an earlier state than the one in memory; begin it again."""


class Remembered(Generic[T]):
    """The latest few results by key. Safe to share between threads; the same may be computed twice."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._results = OrderedDict[Hashable, T]()
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]
        result = compute()
        with self._lock:
            self._results[key] = result
            while len(self._results) > self._most:
                self._results.popitem(last=False)
        return result

    def known(self, *keys: Hashable) -> Mapping[str, T]:
        """Those of the keys that have a result."""
        with self._lock:
            return {str(key): self._results[key] for key in keys if key in self._results}


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The row of table `bucket`."""

    id: int
    name: BucketId
    schema: Schema
    written: str  # the schema as it stands in the row
    revision: int  # rises when values must be read anew
    analyser: str
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Which state of the file a transaction sees."""

    generation: Generation
    headers: Mapping[BucketId, Header]


@dataclass(frozen=True, kw_only=True)
class Passages:
    """Passages of a bucket by id, ascending; those of documents that are gone may be among them."""

    ids: Ints
    owners: Ints  # positions of their documents
    ordinals: Ints  # which passage of its document
    lengths: "np.ndarray[tuple[int], np.dtype[np.int32]]"  # in code points


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """`matrix[i]` belongs to the passage `ids[i]`: L2-normalised, float16, or float32 where there are few."""

    ids: Ints
    matrix: "np.ndarray[tuple[int, int], np.dtype[np.float16 | np.float32]]"


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """One state of a bucket. Positions of documents that are gone stay, and are not `live`."""

    header: Header
    ids: Ints  # of the documents, ascending, by position
    live: Mask
    doc_ids: Sequence[DocId]
    restricted: Mask  # names readers
    reader_owners: Ints
    reader_codes: Codes
    subjects: Dictionary
    columns: Mapping[FieldName, Column]
    masks: Remembered[Mask]
    derived: Remembered[object]  # what is computed at most once a state: passages, vectors, ranks
    inherited: Mapping[str, object]  # passages and vectors of the state before, to be gone on from

    @property
    def schema(self) -> Schema:
        return self.header.schema

    def visible(self, scope: Scope) -> Mask:
        """Live documents whose readers let the scope see them. That the bucket is in scope is the caller's to know."""
        if scope.all_readers or not self.restricted.any():
            return self.live
        return self.masks.get(scope.subjects, lambda: self._visible(scope.subjects))

    def _visible(self, subjects: frozenset[Subject]) -> Mask:
        wanted = [at for at, one in enumerate(self.subjects.raw[:]) if one in subjects]
        readable = ~self.restricted
        readable[self.reader_owners[np.isin(self.reader_codes, wanted)]] = True
        return self.live & readable

    def at(self, ids: Ints) -> Ints:
        """Positions of documents by their ids, all of which are live."""
        return np.searchsorted(self.ids, ids)

    def doc_ranks(self) -> Ints:
        """The order of the document ids by code point, by position."""
        return cast(Ints, self.derived.get("doc ranks", self._doc_ranks))

    def _doc_ranks(self) -> Ints:
        ranks = np.empty(len(self.doc_ids), dtype=np.int64)
        ranks[sorted(range(len(self.doc_ids)), key=self.doc_ids.__getitem__)] = np.arange(len(self.doc_ids))
        return ranks

    def by_doc_id(self) -> Mapping[DocId, int]:
        """Positions of the live documents."""
        found = self.derived.get("by id", lambda: {self.doc_ids[at]: at for at in np.flatnonzero(self.live).tolist()})
        return cast(Mapping[DocId, int], found)


class Memory:
    """The latest state of each bucket. Safe to share between threads."""

    def __init__(self) -> None:
        self._buckets = dict[int, Bucket]()
        self._dictionaries = Dictionaries()
        self._state: State | None = None
        self._lock = threading.Lock()

    @property
    def latest(self) -> State | None:
        """The state last seen by any transaction."""
        return self._state

    def state(self, connection: sqlite3.Connection) -> State:
        """Which state this transaction sees."""
        epoch, number = connection.execute("SELECT epoch, generation FROM state").fetchone()
        generation, latest = Generation(f"{epoch}-{number}"), self._state
        if latest is not None and latest.generation == generation:
            return latest
        self._state = State(generation=generation, headers=_headers(connection, latest))
        return self._state

    def bucket(self, connection: sqlite3.Connection, header: Header) -> Bucket:
        """The bucket as this transaction sees it. Raises `Outdated`."""
        with self._lock:
            known = self._buckets.get(header.id)
            if known is not None and known.header.generation > header.generation:
                raise Outdated
            if known is None or known.header.generation < header.generation:
                usable = known is not None and _continues(known, header)
                known = _followed(connection, header, known if usable else None, self._dictionaries)
                self._buckets[header.id] = known
            return known

    def forget(self, kept: set[int]) -> None:
        """All buckets but those."""
        with self._lock:
            for gone in self._buckets.keys() - kept:
                del self._buckets[gone]


def _headers(connection: sqlite3.Connection, latest: State | None) -> Mapping[BucketId, Header]:
    known = {} if latest is None else {h.written: h.schema for h in latest.headers.values()}
    rows = connection.execute(
        "SELECT id, name, schema, revision, analyser, generation FROM bucket ORDER BY name"
    ).fetchall()
    return {
        name: Header(
            id=number,
            name=name,
            schema=known.get(schema) or schema_from_json(json.loads(schema)),
            written=schema,
            revision=revision,
            analyser=analyser,
            generation=generation,
        )
        for number, name, schema, revision, analyser, generation in rows
    }


def _continues(known: Bucket, header: Header) -> bool:
    mostly_gone = 2 * int(known.live.sum()) < len(known.live)
    return known.header.revision == header.revision and not mostly_gone


def _followed(
    connection: sqlite3.Connection, header: Header, earlier: Bucket | None, dictionaries: Dictionaries
) -> Bucket:
    newest = int(earlier.ids[-1]) if earlier is not None and len(earlier.ids) else 0
    added = _loaded(connection, header, newest, dictionaries)
    if earlier is None:
        return added
    present = connection.execute(
        "SELECT id FROM document WHERE bucket = ? AND id <= ? ORDER BY id", (header.id, newest)
    ).fetchall()
    size = len(earlier.ids)
    still = np.isin(earlier.ids, np.array([row[0] for row in present], dtype=np.int64), assume_unique=True)
    return Bucket(
        header=header,
        ids=np.concatenate((earlier.ids, added.ids)),
        live=np.concatenate((still, added.live)),
        doc_ids=[*earlier.doc_ids, *added.doc_ids],
        restricted=np.concatenate((earlier.restricted, added.restricted)),
        reader_owners=np.concatenate((earlier.reader_owners, added.reader_owners + size)),
        reader_codes=np.concatenate((earlier.reader_codes, added.reader_codes)),
        subjects=earlier.subjects,
        columns={name: joined(column, added.columns[name], size) for name, column in earlier.columns.items()},
        masks=Remembered(_masks_kept(size + len(added.ids))),
        derived=Remembered(64),
        inherited={**earlier.inherited, **earlier.derived.known(PASSAGES, VECTORS)},
    )


def _masks_kept(size: int) -> int:
    """As many as fit some 32 MB."""
    return max(16, min(512, 32_000_000 // (size or 1)))


def _loaded(connection: sqlite3.Connection, header: Header, newest: int, dictionaries: Dictionaries) -> Bucket:
    rows = connection.execute(
        "SELECT id, doc_id, revision, readers, vals FROM document WHERE bucket = ? AND id > ? ORDER BY id",
        (header.id, newest),
    ).fetchall()
    readers = [cast(list[str], json.loads(row[3])) if row[3] != "[]" else [] for row in rows]
    values = [values_of(row[4], row[2], header) for row in rows]
    subjects = dictionaries.of(".readers")  # no field's name begins with a dot
    return Bucket(
        header=header,
        ids=np.array([row[0] for row in rows], dtype=np.int64),
        live=np.ones(len(rows), dtype=np.bool_),
        doc_ids=[row[1] for row in rows],
        restricted=np.array([bool(one) for one in readers], dtype=np.bool_),
        reader_owners=np.repeat(np.arange(len(rows)), np.array([len(one) for one in readers], dtype=np.int64)),
        reader_codes=subjects.codes([subject for one in readers for subject in one]),
        subjects=subjects,
        columns=columns_of(header.schema.fields, values, dictionaries),
        masks=Remembered(_masks_kept(len(rows))),
        derived=Remembered(64),
        inherited={},
    )


def values_of(written: str, revision: int, header: Header) -> Values:
    """Values as they were put, read under the bucket's schema. Lists may be JSON's."""
    raw = cast(dict[str, object], json.loads(written))
    if revision != header.revision:
        return still_fitting(raw, header.schema)
    return cast(Values, raw)
