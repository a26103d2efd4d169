"""The names of the demo's buckets and fields: the generator's original names, or alternative names.

A path is a bucket (`receipts`), a field (`receipts.total`) or a column (`receipts.items.qty`) in the original names.
An alternative naming changes only names, titles and synonyms. Values, texts and the answers to questions stay the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from storage.search.ids import BucketId, FieldName
from storage.search.schema import Schema, SchemaField, SchemaOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLabels:
    """The name, title and synonyms of a bucket or field. A bucket's synonyms begin with its plural and singular."""

    name: str
    title: str
    synonyms: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CorpusNaming:
    """Alternative labels by path. A path without labels keeps the original names."""

    labels_by_path: Mapping[str, SchemaLabels] = field(default_factory=dict[str, SchemaLabels])

    def name_of(self, path: str) -> str:
        """The name for the last part of `path`."""
        labels = self.labels_by_path.get(path)
        return path.rpartition(".")[2] if labels is None else labels.name

    def rename_schema(self, schema: Schema) -> Schema:
        """The generator's schema with the names of this naming."""
        path = str(schema.bucket)
        renamed = replace(
            schema,
            bucket=BucketId(self.name_of(path)),
            fields=tuple(self._rename_field(field, path) for field in schema.fields),
            order=schema.order
            and SchemaOrder(field=self._field_name_of(path, schema.order.field), descending=schema.order.descending),
        )
        labels = self.labels_by_path.get(path)
        return renamed if labels is None else replace(renamed, title=labels.title, synonyms=labels.synonyms)

    def _rename_field(self, schema_field: SchemaField, parent_path: str) -> SchemaField:
        path = f"{parent_path}.{schema_field.name}"
        renamed = replace(
            schema_field,
            name=FieldName(self.name_of(path)),
            currency_field=schema_field.currency_field
            and self._field_name_of(parent_path, schema_field.currency_field),
            columns=tuple(self._rename_field(column, path) for column in schema_field.columns),
        )
        labels = self.labels_by_path.get(path)
        return (
            renamed
            if labels is None
            else replace(renamed, title=labels.title, description="", synonyms=labels.synonyms)
        )

    def _field_name_of(self, bucket: str, name: FieldName) -> FieldName:
        return FieldName(self.name_of(f"{bucket}.{name}"))


ORIGINAL_NAMING = CorpusNaming()
