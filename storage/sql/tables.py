"""What tables are declared with: the base class, the column types, and the conversion between rows and values.

Each store declares its tables. A column that a store returns is declared once, in the frozen dataclass that the store
returns; the table's class inherits it and adds the columns that stay inside this folder. Text written by people
(labels, questions, titles) is stored as JSON, because PostgreSQL's text type cannot hold every character of a chat
message. JSON is stored as text and never queried.
"""

from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeAlias, TypeVar

from sqlalchemy import JSON, BigInteger, Column, DateTime, Dialect, Integer, MetaData, Table, TypeDecorator, text
from sqlalchemy.engine import Row
from sqlalchemy.types import TypeEngine
from sqlmodel import Field, SQLModel

from storage.sql.database import JsonMapping

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

V = TypeVar("V", bound="DataclassInstance")

_POSITION: Final = BigInteger().with_variant(Integer(), "sqlite")  # SQLite numbers only INTEGER keys automatically
_JSON_TEXT: Final = JSON(none_as_null=True)


class UtcTime(TypeDecorator[datetime]):
    """Aware times, in UTC in Python and in the database; SQLite stores them as text of fixed width, so they compare."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone")
        utc_value = value.astimezone(UTC)
        return utc_value.replace(tzinfo=None) if dialect.name == "sqlite" else utc_value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


KeyText: TypeAlias = Annotated[str, Field(primary_key=True)]
UniqueText: TypeAlias = Annotated[str, Field(unique=True)]
RowNumber: TypeAlias = Annotated[int, Field(primary_key=True, sa_type=_POSITION)]
UtcColumn: TypeAlias = Annotated[datetime, Field(sa_type=UtcTime)]
OptionalUtcColumn: TypeAlias = Annotated[datetime | None, Field(sa_type=UtcTime)]
JsonColumn: TypeAlias = Annotated[JsonMapping, Field(sa_type=_JSON_TEXT)]
OptionalJsonColumn: TypeAlias = Annotated[JsonMapping | None, Field(sa_type=_JSON_TEXT)]
JsonListColumn: TypeAlias = Annotated[Sequence[str], Field(sa_type=_JSON_TEXT)]
OptionalJsonListColumn: TypeAlias = Annotated[Sequence[str] | None, Field(sa_type=_JSON_TEXT)]
PeopleText: TypeAlias = Annotated[str, Field(sa_type=_JSON_TEXT)]
OptionalPeopleText: TypeAlias = Annotated[str | None, Field(sa_type=_JSON_TEXT)]


class TableRow(SQLModel, frozen=True):
    """Base of the tables, with their own metadata and naming convention."""

    __table__: ClassVar[Table]  # of each subclass
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


def restored_type_of(reflected: TypeEngine[Any]) -> TypeEngine[Any]:
    """Returns the type with which the tables here declare a column that the database describes as `reflected`."""
    match reflected:
        case DateTime():
            return UtcTime()
        case JSON():
            return _JSON_TEXT
        case _:
            return reflected


def partial_index(condition: str) -> dict[str, Any]:
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


def columns_of(value_type: "type[DataclassInstance]", table: Table) -> list[Column[Any]]:
    """Returns the columns from which `value_from_row` makes a value."""
    return [table.c[field.name] for field in fields(value_type)]


def value_from_row(value_type: type[V], row: Row[Any]) -> V:
    """Returns the value whose fields are columns of the row."""
    return value_type(**{field.name: getattr(row, field.name) for field in fields(value_type)})


def column_values_of(value: "DataclassInstance") -> dict[str, Any]:
    """Returns the fields of a value, by column."""
    return {field.name: getattr(value, field.name) for field in fields(value)}
