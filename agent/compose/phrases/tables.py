"""Shows documents as rows of a table."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from agent.compose.phrases.values import format_money, format_value
from agent.compose.phrases.words import format_quotation, singular_of
from agent.forms.figures import currency_of_value
from agent.limits import SHOWN_DOCUMENTS
from agent.outcome import ResultTable
from agent.translation.message_catalogues import translate_message
from storage.search.analyser import fold_text
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    RowCondition,
    conjuncts_of,
    fields_of,
)
from storage.search.documents import FieldValues
from storage.search.ids import BucketId, FieldName
from storage.search.index import DocumentRecord
from storage.search.plan import Search
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder

_MAX_COLUMNS = 4
_MAX_CELL_CHARACTERS = 300  # code points of a cell of a row that is shown as a whole
_MAX_FOLDED_TEXTS = 4096
_WORD = re.compile(r"\w+")


def table_of_records(
    records: Sequence[DocumentRecord],
    search: Search,
    schemas: Mapping[BucketId, Schema],
    caption: str,
    order: SchemaOrder | None = None,
    question: str = "",
) -> ResultTable:
    """Returns the first documents as a table.

    The columns are the title, then the fields that the question names, that its conditions are on and that it sorts by,
    then facets and other informative fields.
    """
    shown = records[:SHOWN_DOCUMENTS]
    schema = schemas[shown[0].bucket]
    same = all(record.bucket == schema.bucket for record in shown)
    fields = _choose_columns(search, schema, shown, order, question) if same else []
    columns = (translate_message("Document"), *(field.label[:1].upper() + field.label[1:] for field in fields))
    rows = tuple((record.title, *(_format_cell(record.values, field, schema) for field in fields)) for record in shown)
    return ResultTable(caption=caption, columns=columns, rows=rows)


def list_cells(lines: Sequence[str]) -> tuple[str, ...]:
    """Returns an item of Markdown for each cell of one row, the last with the marker of the row's citation."""
    *cells, last = (f"- {format_quotation(line, _MAX_CELL_CHARACTERS)}" for line in lines)
    return (*cells, f"{last} [1]")


def _choose_columns(
    search: Search, schema: Schema, records: Sequence[DocumentRecord], order: SchemaOrder | None, question: str
) -> list[SchemaField]:
    clause = search.clause_for(schema.bucket)
    conditions = conjuncts_of(clause.condition) if clause else ()
    constrained = [
        name for condition in conditions if not isinstance(condition, RowCondition) for name in fields_of(condition)
    ]
    asked = [*list_named_fields(question, schema), *constrained, *([order.field] if order is not None else [])]
    default_order = [schema.natural_order.field] if schema.natural_order else []
    others = [*default_order, *_list_informative_fields(schema)]
    names = [name for name in dict.fromkeys([*asked, *others]) if name in schema.by_name]
    unsaying = {field.currency_field for field in schema.fields if field.currency_field}
    unsaying |= {name for name in others if name not in asked and _is_identifier(schema.by_name[name], records)}
    unsaying |= {name for name in constrained if _is_decided(name, conditions, records)}
    fields = [schema.by_name[name] for name in names if name not in unsaying]
    return [field for field in fields if _tells_something(field, records)][:_MAX_COLUMNS]


def list_named_fields(question: str, schema: Schema) -> list[FieldName]:
    """Returns the fields whose name or synonym is in the question, in the order of the question."""
    words = _fold_words(question)
    places = {
        field.name: min(
            filter(None, (_place_of(name, words) for name in (field.label, *field.plain_synonyms))), default=0
        )
        for field in schema.fields
    }
    return sorted((name for name, place in places.items() if place), key=lambda name: places[name])


@lru_cache(maxsize=_MAX_FOLDED_TEXTS)
def _fold_words(text: str) -> tuple[str, ...]:
    """Remembered, since every list looks for the names of all fields."""
    return tuple(singular_of(word) for word in _WORD.findall(fold_text(text)))


def _place_of(name: str, words: Sequence[str]) -> int:
    """Returns the position of the name among the words, from 1; 0 if it is not there."""
    own = _fold_words(name)
    if not own or own[0] not in words:
        return 0
    starts = range(len(words) - len(own) + 1)
    return next((start + 1 for start in starts if words[start : start + len(own)] == own), 0)


def _list_informative_fields(schema: Schema) -> list[FieldName]:
    facets = [field for field in schema.fields if field.facet]
    kinds = (FieldType.CATEGORY, FieldType.MONEY, FieldType.NUMBER)
    return [field.name for field in (*facets, *(field for field in schema.fields if field.type in kinds))]


def _is_identifier(field: SchemaField, records: Sequence[DocumentRecord]) -> bool:
    """Whether the values are codes of which each document has its own: "SR-0017"."""
    values = [value for record in records if isinstance(value := record.values.get(field.name), str)]
    is_own = field.type is not FieldType.DATE and len(values) > 1 and len(set(values)) == len(values)
    return is_own and all(" " not in value and any(c.isdigit() for c in value) for value in values)


def _is_decided(name: FieldName, conditions: Sequence[Condition], records: Sequence[DocumentRecord]) -> bool:
    """Whether the conditions leave one value, so that a column would add nothing."""
    if any(_is_constant_condition(condition) and name in fields_of(condition) for condition in conditions):
        return True
    values = [record.values.get(name) for record in records]  # rows cannot be members of a set
    return len(values) > 1 and isinstance(values[0], str) and all(value == values[0] for value in values)


def _tells_something(field: SchemaField, records: Sequence[DocumentRecord]) -> bool:
    """Whether a cell would say more than the title."""
    is_filled = field.type is not FieldType.ROWS and any(field.name in record.values for record in records)
    return is_filled and any(record.values.get(field.name) != record.title for record in records)


def _is_constant_condition(condition: Condition) -> bool:
    """Whether every document of the set has the same value, so that a column would add nothing."""
    return isinstance(condition, ComparisonCondition) and condition.op is ComparisonOperator.EQ


def _format_cell(values: FieldValues, field: SchemaField, schema: Schema) -> str:
    value = values.get(field.name)
    if value is None:
        return ""
    if field.type is FieldType.MONEY and isinstance(value, float):
        return format_money(value, currency_of_value(values, field))
    return format_value(value, field)
