"""What a word may stand for: the buckets that an admin may see, their fields, and the values of a field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.access.audience_scope import AccessResolver
from bot.admin.admin_page.bucket_status import scope_for_admin
from bot.admin.administration import AdminOperations
from bot.errors import NotAdmin
from bot.ids import BucketId, PersonId
from storage.search.ids import FieldName
from storage.search.index import IndexVocabulary, SearchIndex
from storage.search.schema import FieldType, Schema

_FLAG_VALUES: Final = ("true", "false")
_NAMED_TYPES: Final = (FieldType.CATEGORY, FieldType.LIST, FieldType.FLAG)  # whose values have words


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetField:
    name: str
    label: str
    kind: str


@dataclass(frozen=True, slots=True)
class SynonymTargets:
    """What there is to choose from, as far as the admin may see it."""

    schemas: Mapping[BucketId, Schema]
    vocabulary: IndexVocabulary

    @property
    def bucket_labels(self) -> Mapping[str, str]:
        return {bucket: schema.label for bucket, schema in self.schemas.items()}

    def list_fields(self, bucket: str) -> Sequence[TargetField]:
        schema = self.schemas.get(BucketId(bucket))
        fields = () if schema is None else schema.fields
        return [TargetField(name=field.name, label=field.label, kind=field.type.value) for field in fields]

    def list_values(self, bucket: str, field: str) -> Sequence[str]:
        """The values of the field that may have synonyms, the most frequent first."""
        schema = self.schemas.get(BucketId(bucket))
        schema_field = None if schema is None else schema.by_name.get(FieldName(field))
        if schema_field is None or schema_field.type not in _NAMED_TYPES:
            return ()
        if schema_field.type is FieldType.FLAG:
            return _FLAG_VALUES
        vocabulary = self.vocabulary.field_of(BucketId(bucket), FieldName(field))
        values = () if vocabulary is None else vocabulary.values
        return [str(value.value) for value in sorted(values, key=lambda value: (-value.count, str(value.value)))]


async def load_synonym_targets(
    administration: AdminOperations, access: AccessResolver, index: SearchIndex, by: PersonId
) -> SynonymTargets:
    """Raises `NotAdmin`, and what the index raises."""
    if not await administration.is_admin(by):
        raise NotAdmin()
    scoped_index = index.within_scope(await scope_for_admin(access, by))
    vocabulary = await scoped_index.load_vocabulary()
    return SynonymTargets(schemas=vocabulary.schemas, vocabulary=vocabulary)
