"""Recognises references: fields whose values name documents of a bucket, by what the documents hold."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from itertools import islice

import numpy as np

from storage.ingest.schemas.names import word_forms_of
from storage.ingest.schemas.value_sets import MAX_ALL_VALUES, MAX_VALUES, BucketValues, ValueSet, limit_all_values
from storage.search.analyser import fold_text
from storage.search.conditions import TITLE_FIELD
from storage.search.errors import UnknownBucket
from storage.search.ids import BucketId, FieldName
from storage.search.index import DocumentRecord, SearchIndex
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.noun_classes import PERSON_NOUNS

# Two values that agree may be chance, and a few values always name what is not there (yet), or misspell it.
MIN_SHARED_VALUES = 2
MIN_SHARED_PART = 0.75  # of the different values of the field
# Names repeat now and then, and a document may lack its name; what repeats more often describes and does not name.
MIN_DISTINCT_PART = 0.9  # different values a document that has one, of a field that identifies documents
MIN_FILLED_PART = 0.9  # documents that have one
MIN_KEY_DOCUMENTS = 3
_WORDS_FOR_EMPLOYEES = frozenset(
    "employee employees staff personnel colleagues workers volunteer volunteers people crew team".split()
)
_ROLE_WORDS = frozenset("by report reports reporting lead pl rep line boss responsible requester requested".split())
# "volunteer_id" refers to volunteers, and not to whatever else has an "id" between 1 and 90.
_WORDS_FOR_IDENTIFIERS = frozenset("id ids no number numbers nr num code ref reference key name names".split())
_MAX_KEY_CHARACTERS = 100  # of the average value: longer ones are sentences
_MAX_KEYS = 100  # fields of a bucket that others can refer to, the first ones
_MAX_NAMED_FIELDS = 10  # of a bucket, in a remark
_MAX_OWN_NAMES = 10_000  # records of a bucket that are compared with what they themselves are called


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentKey:
    """A field of a bucket, or its title, whose values identify documents."""

    bucket: BucketId
    field: FieldName
    values: ValueSet
    own_words: frozenset[str]  # of the names of bucket and field
    position: int

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers, which agree with other numbers by chance."""
        return 2 * self.values.decimal_count > self.values.value_count


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceLinks:
    """The schemas that changed, and the fields that were not compared because they have too many values."""

    schemas: Sequence[Schema] = ()
    uncompared_fields: Mapping[BucketId, Sequence[FieldName]] = dataclass_field(
        default_factory=dict[BucketId, Sequence[FieldName]]
    )


async def link_references(index: SearchIndex) -> ReferenceLinks:
    """Sets the schemas of the buckets whose fields refer to documents of any bucket.

    A field that has a reference, or `none` for it, keeps that. Raises what the index raises.
    """
    schemas = {bucket: size.schema for bucket, size in (await index.load_bucket_sizes()).items()}
    values = dict[BucketId, BucketValues]()
    for bucket, schema in schemas.items():
        values[bucket] = await _read_values(index, schema)
        limit_all_values(values)
    changed = list[Schema]()
    for schema in await asyncio.to_thread(find_references, schemas, values):
        linked = await _drop_own_names(index, schema, schemas[schema.bucket])
        if linked != schemas[schema.bucket]:
            await index.set_schema(linked)
            changed.append(linked)
    uncompared = {bucket: names for bucket in schemas if (names := values[bucket].uncompared_fields)}
    return ReferenceLinks(schemas=changed, uncompared_fields=uncompared)


async def _read_values(index: SearchIndex, schema: Schema) -> BucketValues:
    """Reads the values of a bucket; those of one that was dropped meanwhile are none."""
    values = BucketValues.for_schema(schema)
    with suppress(UnknownBucket):
        async for records in index.scan_records(schema.bucket):
            await asyncio.to_thread(values.add_records, records)
    return values


async def _drop_own_names(index: SearchIndex, schema: Schema, before: Schema) -> Schema:
    """Returns the schema without new references to its own bucket where a document mostly names itself."""
    own = [
        field
        for field in schema.fields
        if field.reference is not None and field.reference.bucket == schema.bucket and field not in before.fields
    ]
    if not own:
        return schema
    tallies = {field.name: _OwnNameTally(field) for field in own}
    record_count = 0
    async with aclosing(index.scan_records(schema.bucket)) as batches:
        async for records in batches:
            for tally in tallies.values():
                tally.add_records(records)
            if (record_count := record_count + len(records)) >= _MAX_OWN_NAMES:
                break
    fields = (
        before.by_name[field.name] if field.name in tallies and tallies[field.name].is_of_own_names else field
        for field in schema.fields
    )
    return replace(schema, fields=tuple(fields))


class _OwnNameTally:
    """Counts how often the value of a field is what its document itself is called."""

    def __init__(self, field: SchemaField) -> None:
        self._name = field.name
        self._key = TITLE_FIELD if field.reference is None else field.reference.field
        self._value_count = self._same_count = 0

    def add_records(self, records: Sequence[DocumentRecord]) -> None:
        for record in records:
            if self._name in record.values:
                own_name = record.title if self._key == TITLE_FIELD else record.values.get(self._key)
                self._value_count += 1
                self._same_count += fold_text(str(record.values[self._name])) == fold_text(str(own_name))

    @property
    def is_of_own_names(self) -> bool:
        return 2 * self._same_count > self._value_count


def uncompared_fields_remark(bucket: BucketId, fields: Sequence[FieldName]) -> str:
    """Says which fields of a bucket have too many values to be compared."""
    names = ", ".join(repr(name) for name in fields[:_MAX_NAMED_FIELDS])
    more = f" and {len(fields) - _MAX_NAMED_FIELDS:,} more" if len(fields) > _MAX_NAMED_FIELDS else ""
    return (
        f"{bucket}: {names}{more} {'has' if len(fields) == 1 else 'have'} too many different values "
        f"(over {MAX_VALUES:,}, or {MAX_ALL_VALUES:,} of all buckets) to be compared with what documents are called: "
        "write references: BUCKET.FIELD into the schema where they name documents"
    )


def find_references(schemas: Mapping[BucketId, Schema], values: Mapping[BucketId, BucketValues]) -> tuple[Schema, ...]:
    """Returns the schemas in which a field gets a reference, with it. `values` are those of the buckets' documents."""
    keys = [key for schema in schemas.values() for key in islice(_find_keys(schema, values[schema.bucket]), _MAX_KEYS)]
    changed = list[Schema]()
    for schema in schemas.values():
        fields = tuple(_with_reference(field, schema, values[schema.bucket], keys) for field in schema.fields)
        if fields != schema.fields:
            changed.append(replace(schema, fields=fields))
    return tuple(changed)


def _find_keys(schema: Schema, bucket_values: BucketValues) -> Iterator[DocumentKey]:
    if bucket_values.document_count < MIN_KEY_DOCUMENTS:
        return
    bucket_words = _words_of(schema.bucket, schema.title, *schema.synonyms)
    key_sets = list[ValueSet]()
    for position, field in enumerate(schema.fields):
        if field.type not in (FieldType.CATEGORY, FieldType.TEXT):
            continue
        values = bucket_values.sets[field.name]
        if _identifies_documents(values, bucket_values.document_count):
            key_sets.append(values)
            yield DocumentKey(
                bucket=schema.bucket,
                field=field.name,
                values=values,
                own_words=bucket_words | _words_of(field.name),
                position=position,
            )
    titles = bucket_values.sets[TITLE_FIELD]
    is_a_field = any(np.array_equal(titles.hashes, values.hashes) for values in key_sets)
    if not is_a_field and _identifies_documents(titles, bucket_values.document_count):
        yield DocumentKey(
            bucket=schema.bucket,
            field=TITLE_FIELD,
            values=titles,
            own_words=bucket_words,
            position=len(schema.fields),
        )


def _identifies_documents(values: ValueSet, document_count: int) -> bool:
    return (
        values.is_complete
        and values.filled_count >= MIN_FILLED_PART * document_count
        and len(values.hashes) >= MIN_DISTINCT_PART * values.filled_count
        and values.character_count <= _MAX_KEY_CHARACTERS * values.value_count
    )


def _with_reference(
    field: SchemaField, schema: Schema, bucket_values: BucketValues, keys: Sequence[DocumentKey]
) -> SchemaField:
    values = bucket_values.sets.get(field.name)
    if field.references or values is None or not values.filled_count or not values.is_complete:
        return field
    own_key = any((key.bucket, key.field) == (schema.bucket, field.name) for key in keys)
    own_words = _words_of(field.name, field.title) - _WORDS_FOR_IDENTIFIERS
    candidates = [
        (is_named, shared_count, -key.position, -len(key.values.hashes), key)
        for key in keys
        if not (key.bucket == schema.bucket and (own_key or key.field == field.name))
        and ((is_named := bool(key.own_words & own_words) or _names_person(field, key)) or not key.is_numeric)
        and _refers_to(values, shared_count := values.count_shared(key.values))
    ]
    if not candidates:
        return field
    best = max(candidates, key=lambda candidate: candidate[:4])[4]
    return replace(field, references=f"{best.bucket}.{best.field}")


def _names_person(field: SchemaField, key: DocumentKey) -> bool:
    """ "ReportsTo", "OrderedBy", "MechanicNo": whether the name is of somebody, and the documents are employees."""
    words = word_forms_of(field.name)
    return not key.own_words.isdisjoint(_WORDS_FOR_EMPLOYEES) and not words.isdisjoint(PERSON_NOUNS | _ROLE_WORDS)


def _refers_to(values: ValueSet, shared_count: int) -> bool:
    return shared_count >= MIN_SHARED_VALUES and shared_count >= MIN_SHARED_PART * len(values.hashes)


def _words_of(*names: str) -> frozenset[str]:
    words = (word for name in names for word in _split_name(name))
    return frozenset(words)


def _split_name(name: str) -> Iterable[str]:
    """Yields the words of a name, each also without a plural ending."""
    for word in fold_text(name).replace("_", " ").replace("-", " ").split():
        yield word
        yield word.removesuffix("s")
