"""Adds synonyms to a schema: another word for a value, or for a field. What it would find is counted before."""

from dataclasses import dataclass, replace
from typing import Final

from bot.access.audience_scope import AccessResolver
from bot.admin.usage.unknown_words import IndexWords, search_for_word
from bot.errors import SynonymRefused
from bot.surface.inbound import OperatorAudience
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonCondition, ComparisonOperator, MissingCondition, NotCondition
from storage.search.ids import BucketId, FieldName
from storage.search.index import CountRequest, SearchIndex
from storage.search.plan import Clause, Search
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope

MAX_SYNONYM_CHARS: Final = 100
_MAX_NAMED_VALUES: Final = 8
_VALUE_TYPES: Final = (FieldType.CATEGORY, FieldType.LIST, FieldType.FLAG)


@dataclass(frozen=True, slots=True, kw_only=True)
class SynonymPreview:
    """What the word would find. `document_count`: the documents with the value, or with a value in the field.
    `mention_count`: documents of the bucket that have the word in their text. `schema` has the synonym.
    """

    bucket: BucketId
    field: FieldName
    value: str | None  # as the documents write it; None: the word names the field
    word: str
    document_count: int
    mention_count: int
    schema: Schema


class SchemaSynonyms:
    """The caller checks who asks."""

    def __init__(self, index: SearchIndex, access: AccessResolver) -> None:
        self._index, self._access = index, access

    async def preview_synonym(
        self, bucket: str, field: str, word: str, value: str | None, *, scope: Scope | None = None
    ) -> SynonymPreview:
        """Counts what the synonym would find; changes nothing. Without a scope, all documents count. Raises
        `SynonymRefused`, and what the index raises.
        """
        scoped_index = self._index.within_scope(scope or await self._access.scope_for_audience(OperatorAudience()))
        words = await IndexWords.load(scoped_index)
        schema = words.schemas.get(BucketId(bucket))
        if schema is None:
            raise SynonymRefused(f"there is no bucket {bucket!r}")
        schema_field = _require_field(schema, field)
        synonym = _require_word(word)
        if value is None:
            condition = NotCondition(MissingCondition(field=schema_field.name))
            new_field, known_value = _with_field_synonym(words, schema, schema_field, synonym), None
        else:
            known_value = _require_value(words, schema, schema_field, value)
            new_field = _with_value_synonym(words, schema, schema_field, synonym, known_value)
            operator = ComparisonOperator.HAS if schema_field.type is FieldType.LIST else ComparisonOperator.EQ
            is_flag = schema_field.type is FieldType.FLAG
            condition = ComparisonCondition(
                field=schema_field.name, op=operator, value=known_value == "true" if is_flag else known_value
            )
        found = CountRequest(Search(clauses=(Clause(bucket=schema.bucket, condition=condition),)))
        mentioned = CountRequest(search_for_word(synonym, [schema.bucket]))
        answers = await scoped_index.answer_requests(found, mentioned)
        fields = tuple(new_field if other.name == new_field.name else other for other in schema.fields)
        return SynonymPreview(
            bucket=schema.bucket,
            field=schema_field.name,
            value=known_value,
            word=synonym,
            document_count=answers[found],
            mention_count=answers[mentioned],
            schema=replace(schema, fields=fields),
        )

    async def add_synonym(self, preview: SynonymPreview) -> None:
        """Changes the schema; the next question uses it. Raises what the index raises."""
        await self._index.set_schema(preview.schema)


def _require_field(schema: Schema, name: str) -> SchemaField:
    field = schema.by_name.get(FieldName(name))
    if field is None:
        raise SynonymRefused(f"{schema.bucket} has no field {name!r}; it has {', '.join(schema.by_name)}")
    return field


def _require_word(word: str) -> str:
    text = " ".join(word.split())
    if not text or len(text) > MAX_SYNONYM_CHARS or not fold_text(text).strip():
        raise SynonymRefused(f"a synonym has 1 to {MAX_SYNONYM_CHARS} characters, with letters or digits")
    return text


def _require_value(words: IndexWords, schema: Schema, field: SchemaField, text: str) -> str:
    """The value as the documents write it."""
    if field.type not in _VALUE_TYPES:
        raise SynonymRefused(
            f"{field.name} is a {field.type.value}; only categories, lists and flags have words for values"
        )
    if field.type is FieldType.FLAG:
        if text.casefold() not in ("true", "false"):
            raise SynonymRefused(f"{field.name} is a flag: its values are true and false")
        return text.casefold()
    value = words.find_value(schema.bucket, field.name, text)
    if value is None:
        vocabulary = words.vocabulary.field_of(schema.bucket, field.name)
        known = [str(known.value) for known in (vocabulary.values if vocabulary is not None else ())]
        named = ", ".join(known[:_MAX_NAMED_VALUES]) + (", …" if len(known) > _MAX_NAMED_VALUES else "")
        raise SynonymRefused(f"no document has {text!r} in {field.name}; there are {named or 'no values yet'}")
    return str(value.value)


def _with_value_synonym(words: IndexWords, schema: Schema, field: SchemaField, synonym: str, value: str) -> SchemaField:
    """The field with the synonym. Refuses a word that, in any inflection, is a value already or means one."""
    stems = words.stems_of(schema.bucket, synonym)
    vocabulary = words.vocabulary.field_of(schema.bucket, field.name)
    for known in vocabulary.values if vocabulary is not None else ():
        if words.stems_of(schema.bucket, str(known.value)) == stems:
            raise SynonymRefused(f"{synonym!r} is the value {str(known.value)!r} of {field.name}")
    for known_value, synonyms in field.values.items():
        if any(words.stems_of(schema.bucket, other) == stems for other in synonyms):
            raise SynonymRefused(f"{synonym!r} means {known_value!r} in {field.name} already")
    return replace(field, values={**field.values, value: (*field.values.get(value, ()), synonym)})


def _with_field_synonym(words: IndexWords, schema: Schema, field: SchemaField, synonym: str) -> SchemaField:
    """The field with the synonym. Refuses a word that names a field already."""
    stems = words.stems_of(schema.bucket, synonym)
    for other in schema.fields:
        if any(words.stems_of(schema.bucket, name) == stems for name in (other.label, *other.plain_synonyms)):
            raise SynonymRefused(f"{synonym!r} names {other.name} already")
    return replace(field, synonyms=(*field.synonyms, synonym))
