"""What merging two indexes is made of: a search in its two halves, and the steps by which both indexes are asked.

A request that concerns both is a generator: it yields what it asks of each and is sent what both said. All requests of
one round trip take their steps side by side.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from storage.search.errors import InvalidCondition, NotInScope, UnknownField
from storage.search.ids import BucketId, FieldName
from storage.search.index import Answers, Request
from storage.search.plan import Search
from storage.search.schema import Field, Schema
from storage.search.text import Analyser

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one step asks of each index."""

    main: tuple[Request[object], ...] = ()
    beside: tuple[Request[object], ...] = ()
    schemas: bool = False  # whether the answer depends on them


@dataclass(frozen=True, kw_only=True)
class Said:
    """What both said to one step. Both have been asked, so that the analysers of all buckets are known."""

    main: Answers
    beside: Answers
    schemas: Mapping[BucketId, Schema]  # empty unless asked for
    analyser: Callable[[BucketId], Analyser]

    def fields(self, search: Search, name: FieldName) -> list[Field]:
        """The field in each bucket, of one type. Raises `NotInScope`, `UnknownField` and `InvalidCondition`."""
        fields = [self._field(bucket, name) for bucket in search.buckets]
        if len({one.type for one in fields}) > 1:
            raise InvalidCondition(f"the field {name!r} is not of one type in these buckets")
        return fields

    def _field(self, bucket: BucketId, name: FieldName) -> Field:
        if bucket not in self.schemas:
            raise NotInScope(bucket)
        if name not in self.schemas[bucket].by_name:
            raise UnknownField(name, bucket)
        return self.schemas[bucket].by_name[name]


Steps: TypeAlias = Generator[Asked, Said, T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """A search over buckets of both indexes. Each half has at least one clause."""

    whole: Search
    main: Search
    beside: Search


def of_both(main: Request[T], beside: Request[T]) -> Steps[tuple[T, T]]:
    """One request of each."""
    said = yield Asked(main=(main,), beside=(beside,))
    return said.main[main], said.beside[beside]
