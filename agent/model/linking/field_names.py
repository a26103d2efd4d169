"""Finds the field of a bucket that a model named."""

from dataclasses import dataclass

from agent.model.linking.linked_parts import LinkingNotes, list_names
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.tools.document_fields import match_field
from storage.search.conditions import DOC_ID_FIELD, RESERVED_FIELDS
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedField:
    """A field, or a column of `rows_field`. `field` is None for a reserved field."""

    name: FieldName  # of the field or column itself
    field: SchemaField | None
    rows_field: FieldName | None = None

    @property
    def path(self) -> str:
        """The name as a model writes it."""
        return self.name if self.rows_field is None else f"{self.rows_field}.{self.name}"


def find_field(name: str, lexicon: BucketLexicon, notes: LinkingNotes) -> NamedField | None:
    """Returns the field by its name, else by its label or a synonym; None with a problem noted if there is none."""
    wanted = name.strip()
    if wanted in RESERVED_FIELDS and wanted not in lexicon.schema.by_name:
        return NamedField(name=FieldName(wanted), field=None)
    rows_name, dot, column_name = wanted.partition(".")
    if dot:
        rows = match_field(rows_name, lexicon.schema.fields)
        if rows is not None and rows.type is FieldType.ROWS:
            column = match_field(column_name, rows.columns)
            if column is not None:
                return NamedField(name=column.name, field=column, rows_field=rows.name)
    else:
        field = match_field(wanted, lexicon.schema.fields)
        if field is not None:
            return NamedField(name=field.name, field=field)
        columns = [
            NamedField(name=column.name, field=column, rows_field=rows.name)
            for rows in lexicon.schema.fields
            for column in rows.columns
            if match_field(wanted, (column,)) is not None
        ]
        if len(columns) == 1:
            return columns[0]
    notes.report_problem(
        f"{lexicon.bucket} has no field {wanted!r}; its fields are {list_names(list_paths(lexicon), 40)}"
    )
    return None


def list_paths(lexicon: BucketLexicon) -> list[str]:
    """Returns the fields of the bucket as a model may write them."""
    paths = [
        path
        for field in lexicon.schema.fields
        for path in (field.name, *(f"{field.name}.{column.name}" for column in field.columns))
    ]
    return [*paths, "title", "text", DOC_ID_FIELD]
