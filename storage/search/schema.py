"""The schema of a bucket: its typed fields, and the words people use for them and for their values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType

from storage.search.conditions import RESERVED
from storage.search.errors import InvalidSchema
from storage.search.ids import BucketId, FieldName

_NAME = re.compile(r"[^\s.\x00-\x1f](?:[^.\x00-\x1f]{0,98}[^\s.\x00-\x1f])?")


class FieldType(StrEnum):
    NUMBER = "number"
    MONEY = "money"
    DATE = "date"
    CATEGORY = "category"
    LIST = "list"
    ROWS = "rows"
    FLAG = "flag"
    TEXT = "text"


class Bare(StrEnum):
    """What a bare value ("1 W") asks of a number field."""

    EXACTLY = "exactly"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One typed field. Its name has no dot: `items.qty` is the column of a rows field."""

    name: FieldName
    type: FieldType
    title: str = ""  # for people; the name with blanks where empty
    description: str = ""
    synonyms: tuple[str, ...] = ()
    unit: str = ""  # of a number, as pint reads it (V, W, degC, day); values are stored in it
    currency: str = ""  # ISO 4217 of a money field whose amounts are all of one currency
    currency_field: FieldName | None = None  # the category field that holds each amount's currency
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])  # value -> synonyms
    facet: bool = False
    bare: Bare = Bare.EXACTLY
    shared: bool = False  # a facet on it may span the buckets that declare it so
    columns: tuple["Field", ...] = ()  # of a rows field; themselves number, money, date, category, flag or text

    @property
    def label(self) -> str:
        """What people call it."""
        return self.title or self.name.replace("_", " ")

    @property
    def absent_means_none(self) -> bool:
        """Whether a document without a value is known to have none, and so is never unknown."""
        return self.type in (FieldType.LIST, FieldType.ROWS, FieldType.FLAG)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaOrder:
    """The order a set is shown in when the question asks for none. Documents without the value come last."""

    field: FieldName
    descending: bool = True


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The fields of a bucket and how people speak of it. Raises `InvalidSchema` when it cannot be."""

    bucket: BucketId
    fields: tuple[Field, ...] = ()
    title: str = ""
    description: str = ""
    synonyms: tuple[str, ...] = ()  # nouns for its documents: "receipt", "invoice"
    language: str = "en"  # of the analyser's stemmer; empty for none
    order: SchemaOrder | None = None  # None: the first date field, newest first
    of_rows: bool = False  # the columns of a rows field seen as a schema of their own

    def __post_init__(self) -> None:
        seen = set[str]()
        for one in self.fields:
            _check(one, self)
            if one.name in seen:
                raise InvalidSchema("it stands twice", one.name)
            seen.add(one.name)
        if self.order is not None and self.order.field not in seen:
            raise InvalidSchema("the order names a field that is not there", self.order.field)
        if self.order is not None and self.by_name[self.order.field].type in (FieldType.LIST, FieldType.ROWS):
            raise InvalidSchema("a field of several values gives no order", self.order.field)

    @cached_property
    def by_name(self) -> Mapping[FieldName, Field]:
        return MappingProxyType({one.name: one for one in self.fields})

    @cached_property
    def natural_order(self) -> SchemaOrder | None:
        """`order`, else the first date field, newest first, else None: by document id."""
        if self.order is not None:
            return self.order
        dates = [one.name for one in self.fields if one.type is FieldType.DATE]
        return SchemaOrder(field=dates[0]) if dates else None

    @property
    def label(self) -> str:
        return self.title or self.bucket.replace("_", " ")


def _check(one: Field, schema: Schema) -> None:
    if not _NAME.fullmatch(one.name):
        raise InvalidSchema("a name has 1 to 100 characters, no dot, no line break, no blank at either end", one.name)
    if one.name in RESERVED and not schema.of_rows:
        raise InvalidSchema("the name is reserved", one.name)
    if one.columns and one.type is not FieldType.ROWS:
        raise InvalidSchema("only a rows field has columns", one.name)
    if one.unit and one.type is not FieldType.NUMBER:
        raise InvalidSchema("only a number has a unit", one.name)
    if (one.currency or one.currency_field) and one.type is not FieldType.MONEY:
        raise InvalidSchema("only a money field has a currency", one.name)
    if one.currency_field is not None:
        target = next((other for other in schema.fields if other.name == one.currency_field), None)
        if target is None or target.type is not FieldType.CATEGORY:
            raise InvalidSchema(f"its currency field {one.currency_field!r} is no category of this schema", one.name)
    if schema.of_rows and one.type in (FieldType.ROWS, FieldType.LIST):
        raise InvalidSchema("a column is neither a list nor rows", one.name)
    if one.columns:
        Schema(bucket=schema.bucket, fields=one.columns, of_rows=True)
