"""Flattens metadata to named raw values, and converts raw values to the types of a schema's fields."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import TypeAlias, assert_never, cast

from storage.ingest.schemas.literals import (
    NotationStyle,
    is_empty_mark,
    is_free_of_charge,
    is_missing_value,
    is_open_end,
    parse_flag,
    parse_flag_with_remark,
)
from storage.quantities.days import parse_date
from storage.quantities.durations import parse_hours_and_minutes
from storage.quantities.money import MoneyAmount, currency_code_of, parse_money
from storage.quantities.numbers import parse_number, parse_rating
from storage.quantities.units import convert_exactly, parse_quantity
from storage.search.conditions import RESERVED_FIELDS, Scalar
from storage.search.documents import FieldValue, RowValues
from storage.search.ids import FieldName
from storage.search.numbers import nearest_double, to_json_number
from storage.search.schema import FieldType, SchemaField

StyleByField: TypeAlias = Mapping[FieldName, NotationStyle]
RawScalar: TypeAlias = str | int | float | bool | MoneyAmount
RawRow: TypeAlias = Mapping[FieldName, RawScalar]
RawList: TypeAlias = tuple[str, ...]
RawRows: TypeAlias = tuple[RawRow, ...]
RawValue: TypeAlias = RawScalar | RawList | RawRows
_DEFAULT_STYLE = NotationStyle()
_INVALID_IN_NAMES = re.compile(r"[.\x00-\x1f]+")
_LIST_SEPARATOR, _LIST_SEPARATOR_OR_COMMA = re.compile(r"[;|]"), re.compile(r"[;|]|,\s")
_MAX_NAME_CHARACTERS = 100
_MAX_NUMBER = 1e308  # an index stores only smaller numbers


# -- flattening


@dataclass(frozen=True, slots=True)
class FlatMetadata:
    """Metadata under valid field names, without missing values (null, empty, blank)."""

    values: Mapping[FieldName, RawValue]
    renamed_keys: Mapping[str, FieldName]  # keys that are not valid field names


def flatten_metadata(metadata: Mapping[str, object]) -> FlatMetadata:
    """Flattens metadata. A key within an object becomes `outer_inner`; an amount with its currency stays one value.

    Lists become strings or rows.
    """
    values, renamed, copies = dict[FieldName, RawValue](), dict[str, FieldName](), Counter[FieldName]()
    for path, raw in _metadata_leaves(metadata):
        value = _raw_value_of(raw)
        if value is None:
            continue
        name = _unused_name(field_name_for("_".join(path)), values, copies)
        if name != ".".join(path):
            renamed[".".join(path)] = name
        values[name] = value
    return FlatMetadata(values, renamed)


@lru_cache(maxsize=10_000)
def field_name_for(key: str) -> FieldName:
    """Returns `key`, or the most similar valid field name: no dot, no control character, no reserved name."""
    name = _INVALID_IN_NAMES.sub("_", key).strip().strip("_" if "." in key else "")[:_MAX_NAME_CHARACTERS].strip()
    name = name or "unnamed"
    return FieldName(f"metadata_{name}" if name in RESERVED_FIELDS else name)


def _metadata_leaves(
    metadata: Mapping[str, object], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in metadata.items():
        if isinstance(value, dict) and _money_of_object(cast(dict[str, object], value)) is None:
            yield from _metadata_leaves(cast(dict[str, object], value), (*path, key))
        else:
            yield (*path, key), value


def _unused_name(name: FieldName, used_names: Mapping[FieldName, object], copies: Counter[FieldName]) -> FieldName:
    """Returns the name, with a number if it is used already. `copies` has the last number of each name."""
    free, stem = name, FieldName(name[: _MAX_NAME_CHARACTERS - 4])
    while free in used_names:
        copies[stem] += 1
        free = FieldName(f"{stem}_{copies[stem] + 1}")
    return free


def _raw_value_of(value: object) -> RawValue | None:
    """Returns the raw value; None for a missing value."""
    if not isinstance(value, list):
        return _raw_scalar_of(value)
    members = cast(list[object], value)
    if members and all(isinstance(member, dict) or member is None for member in members):
        rows = (_raw_row_of(cast(dict[str, object], member)) for member in members if member)
        return tuple(row for row in rows if row) or None
    return tuple(text for member in members if (text := _text_of_value(member))) or None


def _raw_row_of(row: Mapping[str, object]) -> RawRow:
    cells, copies = dict[FieldName, RawScalar](), Counter[FieldName]()
    for path, value in _metadata_leaves(row):
        cell = _text_of_value(cast(list[object], value)) if isinstance(value, list) else _raw_scalar_of(value)
        if cell is not None and cell != "":
            cells[_unused_name(_column_name_for("_".join(path)), cells, copies)] = cell
    return cells


def _column_name_for(key: str) -> FieldName:
    name = field_name_for(key)
    return FieldName(key) if key in RESERVED_FIELDS else name  # columns may have these names


def _raw_scalar_of(value: object) -> RawScalar | None:
    match value:
        case bool() | int():
            return value
        case float():
            return value if value == value and abs(value) != float("inf") else None
        case str():
            return value.strip() or None
        case dict():
            return _money_of_object(cast(dict[str, object], value))
        case _:
            return None


def _money_of_object(value: Mapping[str, object]) -> MoneyAmount | None:
    """Returns the amount of an object such as `{"amount": 12.5, "currency": "EUR"}`; None for other objects."""
    if set(value) != {"amount", "currency"} and set(value) != {"value", "currency"}:
        return None
    amount, currency = value.get("amount", value.get("value")), value["currency"]
    if isinstance(amount, bool) or not isinstance(amount, (int, float, str)) or not isinstance(currency, str):
        return None
    number, code = parse_number(str(amount)), currency_code_of(currency)
    return MoneyAmount(number, code) if number is not None and code else None


def _text_of_value(value: object) -> str:
    """Returns a value as one string: a scalar as people write it, an object as JSON; empty for a missing value."""
    match value:
        case None:
            return ""
        case str():
            return value.strip()
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _text_of_number(value)
        case MoneyAmount(amount=amount, currency=currency):
            return f"{amount} {currency}"
        case list():
            members = cast(list[object], value)
            return "; ".join(text for member in members if (text := _text_of_value(member)))
        case _:
            return json.dumps(value, ensure_ascii=False, sort_keys=True, default=_text_of_value)


def _text_of_number(number: float) -> str:
    if number != number or number in (float("inf"), float("-inf")):
        return ""
    return str(number if isinstance(number, int) else to_json_number(number))


def render_raw_value(raw: RawValue) -> str:
    """Returns the value as a line of text."""
    if isinstance(raw, tuple):
        return "; ".join(
            member if isinstance(member, str) else ", ".join(map(_text_of_value, member.values())) for member in raw
        )
    return _text_of_value(raw)


# -- typing


@dataclass(frozen=True, slots=True, kw_only=True)
class MisfitValue:
    """A value that does not fit its field. `field` may be a column, such as `items.qty`."""

    field: FieldName
    label: str
    raw: RawValue


@dataclass(slots=True)
class TypedMetadata:
    """Values converted to the types of the schema, values that do not fit, and keys that the schema does not have."""

    values: dict[FieldName, FieldValue] = field(default_factory=dict[FieldName, FieldValue])
    misfits: list[MisfitValue] = field(default_factory=list[MisfitValue])
    unknown_keys: list[FieldName] = field(default_factory=list[FieldName])


def type_values(
    raw: Mapping[FieldName, RawValue], fields: Mapping[FieldName, SchemaField], styles: StyleByField
) -> TypedMetadata:
    """Converts raw values to the types of their fields.

    `styles` has the notation of the strings of each field, and of each column under `items.qty`.
    """
    return _type_values_under(raw, fields, styles, "")


def _type_values_under(
    raw: Mapping[FieldName, RawValue], fields: Mapping[FieldName, SchemaField], styles: StyleByField, prefix: str
) -> TypedMetadata:
    result = TypedMetadata()
    for name, value in raw.items():
        field = fields.get(name)
        if field is None:
            result.unknown_keys.append(FieldName(prefix + name))
        elif field.type is FieldType.ROWS:
            _add_rows(field, value, styles, result)
        elif field.type is FieldType.LIST:
            style = styles.get(FieldName(prefix + name), _DEFAULT_STYLE)
            if members := _list_members(value, style):
                result.values[name] = members
        elif not _is_missing_value(field, value):
            _add_scalar(field, value, styles.get(FieldName(prefix + name), _DEFAULT_STYLE), raw, result, prefix)
    return result


def _add_scalar(
    field: SchemaField,
    raw: RawValue,
    style: NotationStyle,
    raw_values: Mapping[FieldName, RawValue],
    result: TypedMetadata,
    prefix: str,
) -> None:
    value = _typed_scalar(field, raw, style)
    if isinstance(value, MoneyAmount):
        value = _amount_in_field_currency(field, value, raw_values, result)
    if value is None:
        result.misfits.append(MisfitValue(field=FieldName(prefix + field.name), label=field.label, raw=raw))
    else:
        result.values[field.name] = value


def _amount_in_field_currency(
    field: SchemaField, money: MoneyAmount, raw_values: Mapping[FieldName, RawValue], result: TypedMetadata
) -> float | None:
    """Returns the amount, and stores its currency in the currency field.

    Returns None if the schema or the document has another currency.
    """
    if field.currency_field is None:
        return _finite_double(money.amount) if field.currency == money.currency else None
    raw_currency = raw_values.get(field.currency_field)
    if raw_currency is not None and currency_code_of(_text_of_value(raw_currency)) != money.currency:
        return None
    result.values.setdefault(
        field.currency_field, money.currency if raw_currency is None else _text_of_value(raw_currency)
    )
    return _finite_double(money.amount)


def _add_rows(rows: SchemaField, raw: RawValue, styles: StyleByField, result: TypedMetadata) -> None:
    if not isinstance(raw, tuple) or any(isinstance(row, str) for row in raw):
        result.misfits.append(MisfitValue(field=rows.name, label=rows.label, raw=raw))
        return
    columns = {column.name: column for column in rows.columns}
    typed_rows = [_type_values_under(row, columns, styles, f"{rows.name}.") for row in cast(RawRows, raw)]
    if non_empty := tuple(cast(RowValues, row.values) for row in typed_rows if row.values):
        result.values[rows.name] = non_empty
    for row in typed_rows:
        result.misfits += row.misfits
        result.unknown_keys += [name for name in row.unknown_keys if name not in result.unknown_keys]


def _list_members(raw: RawValue, style: NotationStyle) -> tuple[str, ...]:
    """Returns the members, each once. A string in place of a list is split at its separators."""
    members: Sequence[object] = raw if isinstance(raw, tuple) else (raw,)
    if isinstance(raw, str):
        members = (_LIST_SEPARATOR_OR_COMMA if style.comma_separates_lists else _LIST_SEPARATOR).split(raw)
    return tuple(
        dict.fromkeys(text for member in members if (text := _text_of_value(member)) and not is_empty_mark(text))
    )


def _is_missing_value(field: SchemaField, raw: RawValue) -> bool:
    """Whether a string such as "n/a" means a missing value.

    Among numbers, days and flags "none" does so too; a word may be the value of a category.
    """
    if not isinstance(raw, str):
        return False
    if field.type is FieldType.DATE and is_open_end(raw):
        return True
    measured = field.type in (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE, FieldType.FLAG)
    return is_missing_value(raw) if measured else is_empty_mark(raw)


def _typed_scalar(field: SchemaField, raw: RawValue, style: NotationStyle) -> Scalar | MoneyAmount | None:
    """Returns the value in the type of the field; None if it does not fit."""
    if isinstance(raw, tuple):
        return raw[0] if field.type in _TEXTUAL_TYPES and len(raw) == 1 and isinstance(raw[0], str) else None
    match field.type:
        case FieldType.NUMBER:
            return _typed_number(raw, field.unit, style)
        case FieldType.MONEY:
            return _money_or_amount(raw, style)
        case FieldType.DATE:
            day = parse_date(raw, day_first=style.day_first) if isinstance(raw, str) else None
            return day.isoformat() if day else None
        case FieldType.FLAG:
            return _typed_flag(raw)
        case FieldType.CATEGORY | FieldType.TEXT:
            return _text_of_value(raw)
        case FieldType.LIST | FieldType.ROWS:
            return None  # not scalar types; the caller handles them
        case _:
            assert_never(field.type)


_TEXTUAL_TYPES = (FieldType.CATEGORY, FieldType.TEXT)


def _typed_number(raw: RawScalar, unit: str, style: NotationStyle) -> float | None:
    """Returns the number in `unit`; a number without a unit counts as being in `unit`."""
    if isinstance(raw, (bool, MoneyAmount)):
        return None
    if isinstance(raw, (int, float)):
        return _finite_double(Decimal(repr(raw)))
    number = parse_number(raw, decimal_comma=style.decimal_comma)
    if number is None and unit and (quantity := parse_quantity(raw, decimal_comma=style.decimal_comma)):
        number = convert_exactly(quantity.number, quantity.unit, unit)
    if number is None and unit and (minutes := parse_hours_and_minutes(raw)) is not None:
        number = convert_exactly(Decimal(minutes), "min", unit)
    if number is None and not unit and (rating := parse_rating(raw)):
        number = rating[0]
    return None if number is None else _finite_double(number)


def _money_or_amount(raw: RawScalar, style: NotationStyle) -> MoneyAmount | float | None:
    if isinstance(raw, MoneyAmount):
        return raw
    if isinstance(raw, str) and (money := parse_money(raw, decimal_comma=style.decimal_comma)):
        return money
    return 0.0 if isinstance(raw, str) and is_free_of_charge(raw) else _typed_number(raw, "", style)


def _typed_flag(raw: RawScalar) -> bool | None:
    if isinstance(raw, str):
        flag = {"1": True, "0": False}.get(raw.strip(), parse_flag(raw))
        return parse_flag_with_remark(raw) if flag is None else flag
    return bool(raw) if not isinstance(raw, MoneyAmount) and raw in (0, 1) else None


def _finite_double(number: Decimal) -> float | None:
    try:
        result = nearest_double(number)
    except (ValueError, OverflowError):
        return None
    return result if abs(result) < _MAX_NUMBER else None
