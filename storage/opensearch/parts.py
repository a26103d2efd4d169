"""The parts of a search: each of its buckets, with the query of its documents."""

from collections.abc import Sequence
from dataclasses import dataclass

from storage.opensearch import compile as compiled
from storage.opensearch.connection import Object
from storage.opensearch.layout import Coded, Layout
from storage.search.errors import InvalidCondition, UnknownField
from storage.search.ids import FieldName
from storage.search.plan import Clause
from storage.search.scope import Scope


@dataclass(frozen=True, kw_only=True)
class Part:
    """The visible documents of a clause's set."""

    layout: Layout
    clause: Clause
    scope: Scope
    query: Object

    @property
    def index(self) -> str:
        return self.layout.index

    @property
    def passages(self) -> Object:
        """The query of the passages of these documents."""
        return compiled.passages(self.clause, self.layout, self.scope)

    def field(self, name: FieldName) -> Coded:
        """Raises `UnknownField`."""
        if name not in self.layout.fields:
            raise UnknownField(name, self.layout.bucket)
        return self.layout.fields[name]


def part_of(clause: Clause, layout: Layout, scope: Scope) -> Part:
    """Raises `UnknownField` and `InvalidCondition`."""
    query = compiled.documents(clause, layout, scope)
    return Part(layout=layout, clause=clause, scope=scope, query=query)


def fields_in(parts: Sequence[Part], name: FieldName) -> list[Coded]:
    """The field in each bucket, of one type. Raises `UnknownField` and `InvalidCondition`."""
    fields = [part.field(name) for part in parts]
    if len({one.field.type for one in fields}) > 1:
        raise InvalidCondition(f"the field {name!r} is not of one type in these buckets")
    return fields
