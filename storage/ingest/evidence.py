"""What speaks for an inferred field, in a line each: how many documents have it, from where to where, for example what.

Keyed by field, and `rows.column` for a column.
"""

from collections.abc import Iterable, Mapping, Sequence

from storage.ingest.profile import Profile
from storage.search.ids import FieldName
from storage.search.index import FieldVocabulary
from storage.search.numbers import plain
from storage.search.schema import Field, FieldType, Schema

_MEASURED = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)
_NAMED = (FieldType.CATEGORY, FieldType.LIST, FieldType.TEXT)
_SHOWN = 4  # values
_LONGEST = 40  # characters of one


def seen_in(schema: Schema, profiles: Mapping[FieldName, Profile], documents: int) -> dict[str, str]:
    """What the metadata of so many documents showed of the schema's fields."""
    lines = dict[str, str]()
    for one in schema.fields:
        if (profile := profiles.get(one.name)) is None:
            continue
        lines[one.name] = _line(one, profile, _of(profile.values, documents))
        for column in one.columns:
            if (inner := profile.columns.get(column.name)) is not None:
                lines[f"{one.name}.{column.name}"] = _line(column, inner, f"{inner.values:,} rows")
    return lines


def held_by(vocabulary: Iterable[FieldVocabulary], documents: int) -> dict[str, str]:
    """What a bucket of so many documents holds."""
    return {
        str(one.field): "; ".join(
            filter(
                None,
                [
                    _of(one.documents, documents),
                    _range(one.low, one.high),
                    _examples([value.value for value in one.values], len(one.values)),
                ],
            )
        )
        for one in vocabulary
    }


def _line(one: Field, profile: Profile, where: str) -> str:
    range_ = _range(profile.low, profile.high) if one.type in _MEASURED else ""
    names = [text for text, _ in profile.samples.most_common(_SHOWN)] if one.type in _NAMED else []
    return "; ".join(filter(None, [where, range_, _examples(names, len(profile.distinct))]))


def _of(count: int, documents: int) -> str:
    return f"{count:,} of {documents:,} documents"


def _range(low: float | str | None, high: float | str | None) -> str:
    return "" if low is None or high is None else f"{_written(low)} to {_written(high)}"


def _written(value: float | str) -> str:
    return value if isinstance(value, str) else str(plain(value))


def _examples(values: Sequence[str], distinct: int) -> str:
    shown = [f'"{value}"' for value in values if len(value) <= _LONGEST][:_SHOWN]
    return f"{distinct:,} different, e.g. {', '.join(shown)}" if shown else ""
