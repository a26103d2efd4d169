"""A line of evidence for each inferred field: the number of documents that have it, its range, and example values.

Keyed by the field name, and by `rows.column` for a column.
"""

from collections.abc import Iterable, Mapping, Sequence

from storage.ingest.schemas.profile import ValueProfile
from storage.search.ids import FieldName
from storage.search.index import FieldVocabulary
from storage.search.numbers import to_json_number
from storage.search.schema import FieldType, Schema, SchemaField

_MEASURED_TYPES = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)
_NAMED_TYPES = (FieldType.CATEGORY, FieldType.LIST, FieldType.TEXT)
_MAX_EXAMPLES = 4
_MAX_EXAMPLE_CHARACTERS = 40


def evidence_from_profiles(
    schema: Schema, profiles: Mapping[FieldName, ValueProfile], documents: int
) -> dict[str, str]:
    """Returns the evidence from the metadata profiles; `documents` is the number of documents that were profiled."""
    lines = dict[str, str]()
    for field in schema.fields:
        if (profile := profiles.get(field.name)) is None:
            continue
        lines[field.name] = _evidence_line(field, profile, _document_share(profile.value_count, documents))
        for column in field.columns:
            if (column_profile := profile.columns.get(column.name)) is not None:
                lines[f"{field.name}.{column.name}"] = _evidence_line(
                    column, column_profile, f"{column_profile.value_count:,} rows"
                )
    return lines


def evidence_from_vocabulary(vocabulary: Iterable[FieldVocabulary], documents: int) -> dict[str, str]:
    """Returns the evidence from the stored values of a bucket that has `documents` documents."""
    return {
        str(field.field): "; ".join(
            filter(
                None,
                [
                    _document_share(field.document_count, documents),
                    _range_text(field.low, field.high),
                    _example_text([value.value for value in field.values], len(field.values)),
                ],
            )
        )
        for field in vocabulary
    }


def _evidence_line(field: SchemaField, profile: ValueProfile, count_text: str) -> str:
    range_ = _range_text(profile.low, profile.high) if field.type in _MEASURED_TYPES else ""
    names = [text for text, _ in profile.samples.most_common(_MAX_EXAMPLES)] if field.type in _NAMED_TYPES else []
    return "; ".join(filter(None, [count_text, range_, _example_text(names, len(profile.distinct))]))


def _document_share(count: int, documents: int) -> str:
    return f"{count:,} of {documents:,} documents"


def _range_text(low: float | str | None, high: float | str | None) -> str:
    return "" if low is None or high is None else f"{_bound_text(low)} to {_bound_text(high)}"


def _bound_text(value: float | str) -> str:
    return value if isinstance(value, str) else str(to_json_number(value))


def _example_text(values: Sequence[str], distinct: int) -> str:
    shown = [f'"{value}"' for value in values if len(value) <= _MAX_EXAMPLE_CHARACTERS][:_MAX_EXAMPLES]
    return f"{distinct:,} different, e.g. {', '.join(shown)}" if shown else ""
