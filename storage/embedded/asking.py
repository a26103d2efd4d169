"""The answers to requests within one read transaction and one scope."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from storage.embedded.aggregates import aggregate
from storage.embedded.bucket import Bucket, Memory, Remembered, State
from storage.embedded.columns import Mask
from storage.embedded.compile import Reading
from storage.embedded.facets import facet, nearest
from storage.embedded.outlines import outlines
from storage.embedded.ranking import best, by_meaning, by_terms, hits
from storage.embedded.records import Order, fetched, order_of, page_of
from storage.embedded.spelling import spellings
from storage.embedded.vocabulary import vocabulary_of
from storage.search.errors import NotInScope
from storage.search.ids import BucketId
from storage.search.index import (
    Aggregate,
    Count,
    Facet,
    Fetch,
    Nearest,
    NearPassages,
    Outlines,
    Passages,
    Records,
    Request,
    Spellings,
    Vocabulary,
)
from storage.search.plan import Clause, Search
from storage.search.scope import Scope
from storage.search.text import Analyser

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Everything that is read goes through `_reading`, which knows the scope."""

    connection: sqlite3.Connection
    state: State
    memory: Memory
    scope: Scope
    analysers: Callable[[str], Analyser]
    orders: Remembered[Order]
    embedder: str = ""
    vectors: "Mapping[str, NDArray[np.float32]]" = field(default_factory=dict[str, "NDArray[np.float32]"])
    _readings: dict[BucketId, Reading] = field(default_factory=dict[BucketId, Reading], init=False)
    _documents: dict[int, tuple[str, str, str]] = field(default_factory=dict[int, tuple[str, str, str]], init=False)
    _members: dict[Clause, Mask] = field(default_factory=dict[Clause, Mask], init=False)

    def answer(self, request: Request[object]) -> object:
        """Raises `NotInScope`, `UnknownField`, `InvalidCondition`."""
        match request:
            case Count(search=search):
                return sum(int(mask.sum()) for _, mask in self._part(search))
            case Facet(search=search):
                return facet(self._part(search), request)
            case Aggregate(search=search):
                return aggregate(self._part(search), request)
            case Nearest(search=search):
                return nearest(self._part(search), request.field, request.value)
            case Passages(search=search):
                return hits(best(by_terms(self._parts(search), request.text), request.limit), self._documents)
            case NearPassages(search=search):
                return self._near(request)
            case Outlines(search=search):
                return outlines(self._parts(search), request)
            case Spellings():
                buckets = [self._reading(bucket) for bucket in sorted(request.buckets)]
                return spellings([(one, one.bucket.visible(self.scope)) for one in buckets], request)
            case Records(search=search):
                return page_of(self.connection, self._order(request), request)
            case Fetch(doc_ids=doc_ids):
                return fetched(self.connection, self.state.headers, self.scope, doc_ids)
            case _:
                raise TypeError(f"{type(request).__name__} is no request of this index")

    def vocabulary(self, limit: int) -> Vocabulary:
        seen = [self._reading(name).bucket for name in sorted(self.scope.buckets & self.state.headers.keys())]
        visible = {bucket.header.name: bucket.visible(self.scope) for bucket in seen}
        return Vocabulary(
            generation=self.state.generation,
            fields=tuple(one for bucket in seen for one in vocabulary_of(bucket, visible[bucket.header.name], limit)),
            documents={name: int(mask.sum()) for name, mask in visible.items()},
        )

    def _reading(self, name: BucketId) -> Reading:
        """The one way to a bucket. One that does not exist is not in scope either."""
        if name not in self.scope.buckets or name not in self.state.headers:
            raise NotInScope(name)
        if name not in self._readings:
            header = self.state.headers[name]
            self._readings[name] = Reading(
                connection=self.connection,
                bucket=self.memory.bucket(self.connection, header),
                analyser=self.analysers(header.schema.language),
            )
        return self._readings[name]

    def _parts(self, search: Search) -> list[tuple[Reading, Mask]]:
        """Each bucket of the search with the members of its clause, all visible."""
        return [(self._reading(clause.bucket), self._mask(clause)) for clause in search.clauses]

    def _part(self, search: Search) -> list[tuple[Bucket, Mask]]:
        return [(reading.bucket, mask) for reading, mask in self._parts(search)]

    def _mask(self, clause: Clause) -> Mask:
        if clause not in self._members:
            reading = self._reading(clause.bucket)
            self._members[clause] = reading.members(clause, reading.bucket.visible(self.scope))
        return self._members[clause]

    def _near(self, request: NearPassages) -> object:
        wanted = self.vectors.get(request.text)
        parts = self._parts(request.search)  # checks the search, with or without vectors
        if wanted is None or not wanted.any():
            return ()
        return hits(best([by_meaning(*one, self.embedder, wanted) for one in parts], request.limit), self._documents)

    def _order(self, request: Records) -> Order:
        """Remembered, so that the pages of a set cost what is on them."""
        key = (self.state.generation, self.scope, request.search.clauses, request.order, request.by_id)
        return self.orders.get(key, lambda: order_of(self._part(request.search), request.order, by_id=request.by_id))
