"""The schema of a bucket: its typed fields, and the words that people use for the fields and their values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType

from storage.search.conditions import RESERVED_FIELDS
from storage.search.errors import InvalidSchema
from storage.search.ids import BucketId, FieldName

# Stands between the words of a synonym that asks for a field: in "who … repair", anything may follow "who".
QUESTION_GAP = "…"
VALUE_PLACEHOLDER = "{value}"  # in the sentence pattern of a field
_SENTENCE_PATTERN = re.compile(r"[^\W\d_][^{}.\x00-\x1f]* \{value\}(?: [^{}.\x00-\x1f]+)?")
_MAX_SENTENCE_PATTERN_CHARACTERS = 80
_FIELD_NAME_PATTERN = re.compile(r"[^\s.\x00-\x1f](?:[^.\x00-\x1f]{0,98}[^\s.\x00-\x1f])?")


class FieldType(StrEnum):
    NUMBER = "number"
    MONEY = "money"
    DATE = "date"
    CATEGORY = "category"
    LIST = "list"
    ROWS = "rows"
    FLAG = "flag"
    TEXT = "text"


REFERENCE_TYPES = frozenset({FieldType.CATEGORY, FieldType.LIST, FieldType.TEXT})


class BareValueMatch(StrEnum):
    """The comparison that a bare value in a question ("1 W") means for a number field."""

    EXACTLY = "exactly"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"


class FieldOrigin(StrEnum):
    """What gives a field its values, if neither the metadata nor a passage of the text does."""

    KIND = "kind"  # what the document is: an invoice, a policy
    FOLDER = "folder"  # the folders in the path of its file
    SHEET = "sheet"  # the sheet of the workbook in which its row stands


_TYPES_BY_ORIGIN: Mapping[FieldOrigin, tuple[FieldType, ...]] = {
    FieldOrigin.KIND: (FieldType.CATEGORY,),
    FieldOrigin.FOLDER: (FieldType.CATEGORY, FieldType.LIST),
    FieldOrigin.SHEET: (FieldType.CATEGORY,),
}

NO_REFERENCE = "none"  # in place of a reference, for a field that must not get one


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldReference:
    """A field that identifies documents, which values elsewhere refer to. The bucket need not exist."""

    bucket: BucketId
    field: FieldName


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaField:
    """One typed field. Its name has no dot: `items.qty` means the column `qty` of the rows field `items`."""

    name: FieldName
    type: FieldType
    title: str = ""  # the label for people; empty: the name, with blanks for underscores
    description: str = ""
    synonyms: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()  # under which texts give the value; then other words are not read as its label
    kinds: tuple[str, ...] = ()  # of the documents whose texts give the field a value; empty: all
    origin: FieldOrigin | None = None
    unit: str = ""  # of a number field, as pint reads it (V, W, degC, day); values are stored in this unit
    currency: str = ""  # ISO 4217, if all amounts of a money field are in one currency
    currency_field: FieldName | None = None  # the category field with each amount's currency
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])  # value -> synonyms
    facet: bool = False
    bare: BareValueMatch = BareValueMatch.EXACTLY
    month_first: bool = False  # of a date field: how texts write a day of digits that could be read in two ways
    shared: bool = False  # a facet on the field may span all buckets in which it is shared
    says: str = ""  # how a sentence says a value, in the bucket's language: "starts in {value}"; empty: inferred
    references: str = ""  # `bucket.field` whose values these are, `NO_REFERENCE`, or empty: not known
    columns: tuple["SchemaField", ...] = ()  # of a rows field; each is number, money, date, category, flag or text

    @property
    def label(self) -> str:
        """The name that people use."""
        return self.title or self.name.replace("_", " ")

    @property
    def plain_synonyms(self) -> tuple[str, ...]:
        """The synonyms that name the field, without the question phrases."""
        return tuple(synonym for synonym in self.synonyms if QUESTION_GAP not in synonym)

    @property
    def question_phrases(self) -> tuple[str, ...]:
        """The synonyms that ask for the field by a verb or adjective: "who … repair", "how … reach"."""
        return tuple(synonym for synonym in self.synonyms if QUESTION_GAP in synonym)

    @property
    def reference(self) -> FieldReference | None:
        """The field of a bucket, perhaps its `title` or `doc_id`, whose values this field has."""
        bucket, _, field_name = self.references.rpartition(".")
        return FieldReference(bucket=BucketId(bucket), field=FieldName(field_name)) if bucket else None

    @property
    def absent_means_none(self) -> bool:
        """Whether an absent value means an empty list, no rows or false, so that comparisons are never unknown."""
        return self.type in (FieldType.LIST, FieldType.ROWS, FieldType.FLAG)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaOrder:
    """The order in which a set is shown unless the question asks for another. Documents without the value come last."""

    field: FieldName
    descending: bool = True


def have_different_currencies(field: SchemaField, other: SchemaField) -> bool:
    """Whether all amounts of the one field are in one currency, and all of the other in another."""
    return bool(field.currency and other.currency) and field.currency != other.currency


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The fields of a bucket and the words that people use for it. Raises `InvalidSchema` if it contradicts itself."""

    bucket: BucketId
    fields: tuple[SchemaField, ...] = ()
    title: str = ""
    description: str = ""
    synonyms: tuple[str, ...] = ()  # nouns for its documents: "receipt", "invoice"
    item: str = ""  # what replies call one of its documents: "employee" in staff; empty: what its names say
    language: str = "en"  # ISO 639-1, of the analyser's stemmer; empty: no stemming
    order: SchemaOrder | None = None  # None: the first date field, newest first
    is_row_schema: bool = False  # the fields are the columns of a rows field

    def __post_init__(self) -> None:
        names = set[str]()
        for schema_field in self.fields:
            _check_field(schema_field, self)
            if schema_field.name in names:
                raise InvalidSchema("it stands twice", schema_field.name)
            names.add(schema_field.name)
        _check_kinds(self)
        if self.order is not None and self.order.field not in names:
            raise InvalidSchema("the order names a field that is not there", self.order.field)
        if self.order is not None and self.by_name[self.order.field].type in (FieldType.LIST, FieldType.ROWS):
            raise InvalidSchema("a field of several values gives no order", self.order.field)

    @cached_property
    def by_name(self) -> Mapping[FieldName, SchemaField]:
        return MappingProxyType({schema_field.name: schema_field for schema_field in self.fields})

    @cached_property
    def references(self) -> Mapping[FieldName, FieldReference]:
        """What each field refers to whose values identify documents, in the order of the fields."""
        pairs = ((schema_field.name, schema_field.reference) for schema_field in self.fields)
        return MappingProxyType({name: reference for name, reference in pairs if reference is not None})

    @cached_property
    def natural_order(self) -> SchemaOrder | None:
        """`order`, else the first date field, newest first, else None, which means by document id."""
        if self.order is not None:
            return self.order
        date_fields = [schema_field.name for schema_field in self.fields if schema_field.type is FieldType.DATE]
        return SchemaOrder(field=date_fields[0]) if date_fields else None

    @cached_property
    def kind_field(self) -> SchemaField | None:
        """The field that says what each document is; None where the bucket knows no kinds."""
        return next((field for field in self.fields if field.origin is FieldOrigin.KIND), None)

    @property
    def label(self) -> str:
        return self.title or self.bucket.replace("_", " ")


def _check_kinds(schema: Schema) -> None:
    """Raises `InvalidSchema` if two fields have one origin, or if a field names an unknown kind."""
    origins = set[FieldOrigin]()
    for own in schema.fields:
        if own.origin in origins:
            raise InvalidSchema(f"another field has the origin {own.origin} already", own.name)
        origins.update([own.origin] if own.origin else [])
    kind_field = schema.kind_field
    known = () if kind_field is None else tuple(kind_field.values)
    for own in schema.fields:
        if own.kinds and kind_field is None:
            raise InvalidSchema("it names kinds, but no field of this schema has `origin: kind`", own.name)
        if unknown := next((kind for kind in own.kinds if kind not in known), None):
            kinds = ", ".join(known) or "none yet"
            raise InvalidSchema(f"its kind {unknown!r} is not a value of the kind field; there are {kinds}", own.name)


def _check_origin(field: SchemaField, schema: Schema) -> None:
    if schema.is_row_schema and (field.kinds or field.origin):
        raise InvalidSchema("a column has neither kinds nor an origin: its rows field may have kinds", field.name)
    if field.origin is None:
        return
    types = _TYPES_BY_ORIGIN[field.origin]
    if field.type not in types:
        raise InvalidSchema(f"a field of the origin {field.origin} is a {' or a '.join(types)}", field.name)
    if field.kinds or field.labels:
        raise InvalidSchema("a field with an origin has neither kinds nor labels", field.name)


def _check_field(field: SchemaField, schema: Schema) -> None:
    if not _FIELD_NAME_PATTERN.fullmatch(field.name):
        raise InvalidSchema("a name has 1 to 100 characters, no dot, no line break, no blank at either end", field.name)
    if field.name in RESERVED_FIELDS and not schema.is_row_schema:
        raise InvalidSchema("the name is reserved", field.name)
    _check_origin(field, schema)
    if field.columns and field.type is not FieldType.ROWS:
        raise InvalidSchema("only a rows field has columns", field.name)
    if field.unit and field.type is not FieldType.NUMBER:
        raise InvalidSchema("only a number has a unit", field.name)
    if (field.currency or field.currency_field) and field.type is not FieldType.MONEY:
        raise InvalidSchema("only a money field has a currency", field.name)
    if field.currency_field is not None:
        target = next(
            (schema_field for schema_field in schema.fields if schema_field.name == field.currency_field), None
        )
        if target is None or target.type is not FieldType.CATEGORY:
            raise InvalidSchema(
                f"its currency field {field.currency_field!r} is not a category of this schema", field.name
            )
    if schema.is_row_schema and field.type in (FieldType.ROWS, FieldType.LIST):
        raise InvalidSchema("a column is neither a list nor rows", field.name)
    if field.says:
        _check_sentence_pattern(field)
    if field.references not in ("", NO_REFERENCE):
        if field.type not in REFERENCE_TYPES or schema.is_row_schema:
            raise InvalidSchema("only a category, a list or a text refers to documents", field.name)
        if field.reference is None or not field.reference.field:
            raise InvalidSchema("a reference is written BUCKET.FIELD", field.name)
    if field.columns:
        Schema(bucket=schema.bucket, fields=field.columns, is_row_schema=True)


def _check_sentence_pattern(field: SchemaField) -> None:
    if field.type in (FieldType.ROWS, FieldType.FLAG):
        raise InvalidSchema("a flag and rows have no `says`: no single value can be said", field.name)
    if field.says.count(VALUE_PLACEHOLDER) != 1:
        raise InvalidSchema(f"`says` has {VALUE_PLACEHOLDER} once, as in “starts in {VALUE_PLACEHOLDER}”", field.name)
    is_short = len(field.says) <= _MAX_SENTENCE_PATTERN_CHARACTERS
    if not is_short or not field.says[0].islower() or not _SENTENCE_PATTERN.fullmatch(field.says):
        raise InvalidSchema(
            "`says` is the end of a sentence about a document: it begins in lower case with a verb or a preposition,"
            f" has no full stop and no other braces, and at most {_MAX_SENTENCE_PATTERN_CHARACTERS} characters",
            field.name,
        )
