"""Recognises references: fields whose values name documents of a bucket, by what the documents hold."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from storage.search.analyser import fold_text
from storage.search.conditions import TITLE_FIELD
from storage.search.ids import BucketId, FieldName
from storage.search.index import DocumentRecord, FieldVocabulary, IndexVocabulary, RecordPageRequest, SearchIndex
from storage.search.plan import unfiltered_search_of
from storage.search.schema import REFERENCE_TYPES, FieldType, Schema, SchemaField
from storage.search.scope import Scope

# Two values that agree may be chance, and a few values always name what is not there (yet), or misspell it.
MIN_SHARED_VALUES = 2
MIN_SHARED_PART = 0.75  # of the different values of the field
# Names repeat now and then, and a document may lack its name; what repeats more often describes and does not name.
MIN_DISTINCT_PART = 0.9  # different values a document that has one, of a field that identifies documents
MIN_FILLED_PART = 0.9  # documents that have one
MIN_KEY_DOCUMENTS = 3
_MAX_KEY_CHARACTERS = 100  # of the average value: longer ones are sentences
_MAX_VALUES = 50_000  # of a field, and titles of a bucket, that are compared
_MAX_KEYS = 100  # fields of a bucket that others can refer to, the first ones
_PAGE_SIZE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentKey:
    """A field of a bucket, or its title, whose values identify documents."""

    bucket: BucketId
    field: FieldName
    folds: frozenset[str]
    own_words: frozenset[str]  # of the names of bucket and field
    position: int

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers, which agree with other numbers by chance."""
        return 2 * sum(fold.isdecimal() for fold in self.folds) > len(self.folds)


async def link_references(index: SearchIndex) -> Sequence[Schema]:
    """Sets the schemas of the buckets whose fields refer to documents of any bucket, and returns those that changed.

    A field that has a reference, or `none` for it, keeps that. Raises what the index raises.
    """
    states = await index.load_bucket_states()
    schemas = {bucket: state.schema for bucket, state in states.items()}
    if not schemas:
        return ()
    scope = Scope(tenant=index.tenant, buckets=frozenset(schemas), ignores_readers=True)
    vocabulary = await index.within_scope(scope).load_vocabulary(_MAX_VALUES)
    titles = {bucket: await _load_titles(index, scope, bucket) for bucket in schemas}
    changed = list[Schema]()
    for schema in find_references(schemas, vocabulary, titles):
        linked = await _drop_own_names(index, scope, schema, schemas[schema.bucket])
        if linked != schemas[schema.bucket]:
            await index.set_schema(linked)
            changed.append(linked)
    return changed


async def _drop_own_names(index: SearchIndex, scope: Scope, schema: Schema, before: Schema) -> Schema:
    """Returns the schema without new references to its own bucket where a document mostly names itself."""
    own = [
        field
        for field in schema.fields
        if field.reference is not None and field.reference.bucket == schema.bucket and field not in before.fields
    ]
    if not own:
        return schema
    request = RecordPageRequest(unfiltered_search_of(schema.bucket), limit=_PAGE_SIZE, order_by_id=True)
    records = (await index.within_scope(scope).answer_requests(request))[request].records
    dropped = {field.name for field in own if _mostly_names_itself(field, records)}
    fields = (before.by_name[field.name] if field.name in dropped else field for field in schema.fields)
    return replace(schema, fields=tuple(fields))


def _mostly_names_itself(field: SchemaField, records: Sequence[DocumentRecord]) -> bool:
    key = TITLE_FIELD if field.reference is None else field.reference.field
    pairs = [
        (record.values[field.name], record.title if key == TITLE_FIELD else record.values.get(key))
        for record in records
        if field.name in record.values
    ]
    same_count = sum(fold_text(str(value)) == fold_text(str(own_name)) for value, own_name in pairs)
    return 2 * same_count > len(pairs)


async def _load_titles(index: SearchIndex, scope: Scope, bucket: BucketId) -> Sequence[str]:
    scoped, titles, cursor = index.within_scope(scope), list[str](), None
    while len(titles) < _MAX_VALUES:
        request = RecordPageRequest(
            unfiltered_search_of(bucket), cursor=cursor, limit=_PAGE_SIZE, fields=frozenset(), order_by_id=True
        )
        page = (await scoped.answer_requests(request))[request]
        titles += [record.title for record in page.records]
        cursor = page.cursor
        if cursor is None:
            break
    return titles


def find_references(
    schemas: Mapping[BucketId, Schema], vocabulary: IndexVocabulary, titles: Mapping[BucketId, Sequence[str]]
) -> tuple[Schema, ...]:
    """Returns the schemas in which a field gets a reference, with it. `titles` are those of the buckets' documents."""
    keys = [
        key
        for schema in schemas.values()
        for key in islice(_find_keys(schema, vocabulary, titles[schema.bucket]), _MAX_KEYS)
    ]
    changed = list[Schema]()
    for schema in schemas.values():
        fields = tuple(_with_reference(field, schema, vocabulary, keys) for field in schema.fields)
        if fields != schema.fields:
            changed.append(replace(schema, fields=fields))
    return tuple(changed)


def _find_keys(schema: Schema, vocabulary: IndexVocabulary, titles: Sequence[str]) -> Iterator[DocumentKey]:
    document_count = vocabulary.document_count_of(schema.bucket)
    if document_count < MIN_KEY_DOCUMENTS:
        return
    bucket_words = _words_of(schema.bucket, schema.title, *schema.synonyms)
    seen_folds = set[frozenset[str]]()
    for position, field in enumerate(schema.fields):
        entry = vocabulary.field_of(schema.bucket, field.name)
        if entry is None or field.type not in (FieldType.CATEGORY, FieldType.TEXT):
            continue
        folds = _folds_of(entry)
        if _identifies_documents(folds, entry.document_count, document_count):
            seen_folds.add(folds)
            yield DocumentKey(
                bucket=schema.bucket,
                field=field.name,
                folds=folds,
                own_words=bucket_words | _words_of(field.name),
                position=position,
            )
    title_folds = frozenset(fold_text(title) for title in titles if title.strip())
    if title_folds not in seen_folds and _identifies_documents(title_folds, len(titles), document_count):
        yield DocumentKey(
            bucket=schema.bucket,
            field=TITLE_FIELD,
            folds=title_folds,
            own_words=bucket_words,
            position=len(schema.fields),
        )


def _identifies_documents(folds: frozenset[str], filled_count: int, document_count: int) -> bool:
    return (
        filled_count >= MIN_FILLED_PART * document_count
        and len(folds) >= MIN_DISTINCT_PART * filled_count
        and sum(map(len, folds)) <= _MAX_KEY_CHARACTERS * len(folds)
    )


def _with_reference(
    field: SchemaField, schema: Schema, vocabulary: IndexVocabulary, keys: Sequence[DocumentKey]
) -> SchemaField:
    entry = vocabulary.field_of(schema.bucket, field.name)
    if field.references or entry is None or field.type not in REFERENCE_TYPES:
        return field
    folds = _folds_of(entry)
    own_key = any((key.bucket, key.field) == (schema.bucket, field.name) for key in keys)
    candidates = [
        key
        for key in keys
        if not (key.bucket == schema.bucket and (own_key or key.field == field.name))
        and _refers_to(folds, key)
        and (not key.is_numeric or key.own_words & _words_of(field.name, field.title))
    ]
    if not candidates:
        return field
    best = max(candidates, key=lambda key: (len(folds & key.folds), -key.position, -len(key.folds)))
    return replace(field, references=f"{best.bucket}.{best.field}")


def _refers_to(folds: frozenset[str], key: DocumentKey) -> bool:
    shared_count = len(folds & key.folds)
    return shared_count >= MIN_SHARED_VALUES and shared_count >= MIN_SHARED_PART * len(folds)


def _folds_of(entry: FieldVocabulary) -> frozenset[str]:
    return frozenset(fold_text(counted.value) for counted in entry.values)


def _words_of(*names: str) -> frozenset[str]:
    words = (word for name in names for word in _split_name(name))
    return frozenset(words)


def _split_name(name: str) -> Iterable[str]:
    """Yields the words of a name, each also without a plural ending."""
    for word in fold_text(name).replace("_", " ").replace("-", " ").split():
        yield word
        yield word.removesuffix("s")
