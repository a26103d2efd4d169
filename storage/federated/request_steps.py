"""The steps of a request to two indexes, and a search divided into its two halves.

A request to both indexes is a generator: it yields the requests to each index and receives their answers. All requests
of one `answer_requests` call advance together, with one round trip per step.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from storage.search.analyser import Analyser
from storage.search.errors import InvalidCondition, NotInScope, UnknownField
from storage.search.ids import BucketId, FieldName
from storage.search.index import IndexAnswers, IndexRequest
from storage.search.plan import Search
from storage.search.schema import Schema, SchemaField

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRequests:
    """The requests of one step to each index."""

    main: tuple[IndexRequest[object], ...] = ()
    secondary: tuple[IndexRequest[object], ...] = ()
    needs_schemas: bool = False


@dataclass(frozen=True, kw_only=True)
class StepAnswers:
    """The answers of both indexes to one step.

    Both indexes have been asked before, so that `analyser_for` knows all buckets.
    """

    main: IndexAnswers
    secondary: IndexAnswers
    schemas: Mapping[BucketId, Schema]  # empty unless `needs_schemas`
    analyser_for: Callable[[BucketId], Analyser]

    def fields_named(self, search: Search, name: FieldName) -> list[SchemaField]:
        """Returns the field in each bucket of the search.

        Raises `NotInScope`, `UnknownField`, and `InvalidCondition` if the types differ.
        """
        fields = [self._find_field(bucket, name) for bucket in search.buckets]
        if len({field.type for field in fields}) > 1:
            raise InvalidCondition(f"the field {name!r} is not of one type in these buckets")
        return fields

    def _find_field(self, bucket: BucketId, name: FieldName) -> SchemaField:
        if bucket not in self.schemas:
            raise NotInScope(bucket)
        if name not in self.schemas[bucket].by_name:
            raise UnknownField(name, bucket)
        return self.schemas[bucket].by_name[name]


RequestSteps: TypeAlias = Generator[StepRequests, StepAnswers, T]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHalves:
    """A search over buckets of both indexes, and its part for each index. Each part has at least one clause."""

    whole: Search
    main: Search
    secondary: Search


def ask_both(main: IndexRequest[T], secondary: IndexRequest[T]) -> RequestSteps[tuple[T, T]]:
    """Ask each index one request, in one step."""
    answers = yield StepRequests(main=(main,), secondary=(secondary,))
    return answers.main[main], answers.secondary[secondary]
