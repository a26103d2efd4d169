"""Metadata as it comes, flattened to named raw values, and raw values typed as a schema's fields."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import TypeAlias, assert_never, cast

from storage.ingest.literals import (
    Money,
    Style,
    currency_of,
    day_in,
    flag_in,
    is_nothing,
    money_in,
    number_in,
    quantity_in,
)
from storage.ingest.units import converted
from storage.search.conditions import RESERVED, Scalar
from storage.search.documents import Row, Value
from storage.search.ids import FieldName
from storage.search.numbers import nearest_double, plain
from storage.search.schema import Field, FieldType

Styles: TypeAlias = Mapping[FieldName, Style]
RawScalar: TypeAlias = str | int | float | bool | Money
RawRow: TypeAlias = Mapping[FieldName, RawScalar]
RawList: TypeAlias = tuple[str, ...]
RawRows: TypeAlias = tuple[RawRow, ...]
Raw: TypeAlias = RawScalar | RawList | RawRows
_PLAIN = Style()
_UNFIT_IN_NAMES = re.compile(r"[.\x00-\x1f]+")
_PARTS, _PARTS_AND_COMMAS = re.compile(r"[;|]"), re.compile(r"[;|]|,\s")
_LONGEST_NAME = 100
_LARGEST = 1e308  # of the numbers that an index takes


# -- flattening


@dataclass(frozen=True, slots=True)
class Flat:
    """Metadata under names that fields can have. Nothing absent (null, empty, blank) is in it."""

    values: Mapping[FieldName, Raw]
    renamed: Mapping[str, FieldName]  # keys that could not stay as they were


def flattened(metadata: Mapping[str, object]) -> Flat:
    """Objects within it become `outer_inner`, except amounts with their currency; lists become strings or rows."""
    values, renamed = dict[FieldName, Raw](), dict[str, FieldName]()
    for path, raw in _leaves(metadata):
        value = _raw(raw)
        if value is None:
            continue
        name = _free(field_name("_".join(path)), values)
        if name != ".".join(path):
            renamed[".".join(path)] = name
        values[name] = value
    return Flat(values, renamed)


@lru_cache(maxsize=10_000)
def field_name(key: str) -> FieldName:
    """`key`, or the nearest name that a field can have: no dot, no control character, not `text`, `title`, `doc_id`."""
    name = _UNFIT_IN_NAMES.sub("_", key).strip().strip("_" if "." in key else "")[:_LONGEST_NAME].strip()
    name = name or "unnamed"
    return FieldName(f"metadata_{name}" if name in RESERVED else name)


def _leaves(metadata: Mapping[str, object], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in metadata.items():
        if isinstance(value, dict) and _money(cast(dict[str, object], value)) is None:
            yield from _leaves(cast(dict[str, object], value), (*path, key))
        else:
            yield (*path, key), value


def _free(name: FieldName, taken: Mapping[FieldName, object]) -> FieldName:
    copy, free = 1, name
    while free in taken:
        copy += 1
        free = FieldName(f"{name[: _LONGEST_NAME - 4]}_{copy}")
    return free


def _raw(value: object) -> Raw | None:
    """None for what is no value."""
    if not isinstance(value, list):
        return _raw_scalar(value)
    members = cast(list[object], value)
    if members and all(isinstance(one, dict) or one is None for one in members):
        rows = (_raw_row(cast(dict[str, object], one)) for one in members if one)
        return tuple(row for row in rows if row) or None
    return tuple(text for one in members if (text := _text_of(one))) or None


def _raw_row(row: Mapping[str, object]) -> RawRow:
    cells = dict[FieldName, RawScalar]()
    for path, value in _leaves(row):
        cell = _text_of(cast(list[object], value)) if isinstance(value, list) else _raw_scalar(value)
        if cell is not None and cell != "":
            cells[_free(_column_name("_".join(path)), cells)] = cell
    return cells


def _column_name(key: str) -> FieldName:
    name = field_name(key)
    return FieldName(key) if key in RESERVED else name  # columns may have these names


def _raw_scalar(value: object) -> RawScalar | None:
    match value:
        case bool() | int():
            return value
        case float():
            return value if value == value and abs(value) != float("inf") else None
        case str():
            return value.strip() or None
        case dict():
            return _money(cast(dict[str, object], value))
        case _:
            return None


def _money(value: Mapping[str, object]) -> Money | None:
    """`{"amount": 12.5, "currency": "EUR"}`; None for another object."""
    if set(value) != {"amount", "currency"} and set(value) != {"value", "currency"}:
        return None
    amount, currency = value.get("amount", value.get("value")), value["currency"]
    if isinstance(amount, bool) or not isinstance(amount, (int, float, str)) or not isinstance(currency, str):
        return None
    number, code = number_in(str(amount)), currency_of(currency)
    return Money(number, code) if number is not None and code else None


def _text_of(value: object) -> str:
    """As one string: of a scalar as people write it, of anything else as JSON; empty for no value."""
    match value:
        case None:
            return ""
        case str():
            return value.strip()
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _number_text(value)
        case Money(amount=amount, currency=currency):
            return f"{amount} {currency}"
        case list():
            members = cast(list[object], value)
            return "; ".join(text for one in members if (text := _text_of(one)))
        case _:
            return json.dumps(value, ensure_ascii=False, sort_keys=True, default=_text_of)


def _number_text(number: float) -> str:
    if number != number or number in (float("inf"), float("-inf")):
        return ""
    return str(number if isinstance(number, int) else plain(number))


def rendered(raw: Raw) -> str:
    """The value as a line of text shows it."""
    if isinstance(raw, tuple):
        return "; ".join(one if isinstance(one, str) else ", ".join(map(_text_of, one.values())) for one in raw)
    return _text_of(raw)


# -- typing


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A value that does not fit its field. `field` may be a column, `items.qty`."""

    field: FieldName
    label: str
    raw: Raw


@dataclass(slots=True)
class Typed:
    """Values as the schema wants them; what does not fit; the keys that the schema does not have."""

    values: dict[FieldName, Value] = field(default_factory=dict[FieldName, Value])
    misfits: list[Misfit] = field(default_factory=list[Misfit])
    unknown: list[FieldName] = field(default_factory=list[FieldName])


def typed(raw: Mapping[FieldName, Raw], fields: Mapping[FieldName, Field], styles: Styles) -> Typed:
    """`styles`: how the strings of a field (of a column, `items.qty`) are written."""
    return _typed(raw, fields, styles, "")


def _typed(raw: Mapping[FieldName, Raw], fields: Mapping[FieldName, Field], styles: Styles, prefix: str) -> Typed:
    result = Typed()
    for name, value in raw.items():
        one = fields.get(name)
        if one is None:
            result.unknown.append(FieldName(prefix + name))
        elif one.type is FieldType.ROWS:
            _put_rows(one, value, styles, result)
        elif one.type is FieldType.LIST:
            style = styles.get(FieldName(prefix + name), _PLAIN)
            if members := _members(value, style):
                result.values[name] = members
        elif not _says_nothing(one, value):
            _put_scalar(one, value, styles.get(FieldName(prefix + name), _PLAIN), raw, result, prefix)
    return result


def _put_scalar(
    one: Field, raw: Raw, style: Style, beside: Mapping[FieldName, Raw], result: Typed, prefix: str
) -> None:
    value = _scalar(one, raw, style)
    if isinstance(value, Money):
        value = _amount(one, value, beside, result)
    if value is None:
        result.misfits.append(Misfit(field=FieldName(prefix + one.name), label=one.label, raw=raw))
    else:
        result.values[one.name] = value


def _amount(one: Field, money: Money, beside: Mapping[FieldName, Raw], result: Typed) -> float | None:
    """The amount, its currency stored beside it. None where the schema, or the document, says another currency."""
    if one.currency_field is None:
        return _double(money.amount) if one.currency == money.currency else None
    said = beside.get(one.currency_field)
    if said is not None and currency_of(_text_of(said)) != money.currency:
        return None
    result.values.setdefault(one.currency_field, money.currency if said is None else _text_of(said))
    return _double(money.amount)


def _put_rows(rows: Field, raw: Raw, styles: Styles, result: Typed) -> None:
    if not isinstance(raw, tuple) or any(isinstance(row, str) for row in raw):
        result.misfits.append(Misfit(field=rows.name, label=rows.label, raw=raw))
        return
    columns = {one.name: one for one in rows.columns}
    inner = [_typed(row, columns, styles, f"{rows.name}.") for row in cast(RawRows, raw)]
    if kept := tuple(cast(Row, row.values) for row in inner if row.values):
        result.values[rows.name] = kept
    for row in inner:
        result.misfits += row.misfits
        result.unknown += [name for name in row.unknown if name not in result.unknown]


def _members(raw: Raw, style: Style) -> tuple[str, ...]:
    """Each once. A string in place of a list is parted at its marks."""
    members: Sequence[object] = raw if isinstance(raw, tuple) else (raw,)
    if isinstance(raw, str):
        members = (_PARTS_AND_COMMAS if style.comma_between else _PARTS).split(raw)
    return tuple(dict.fromkeys(text for member in members if (text := _text_of(member))))


def _says_nothing(one: Field, raw: Raw) -> bool:
    """Whether a string stands for no value, in a field where it can mean nothing else."""
    measured = one.type in (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE, FieldType.FLAG)
    return measured and isinstance(raw, str) and is_nothing(raw)


def _scalar(one: Field, raw: Raw, style: Style) -> Scalar | Money | None:
    """None for what does not fit."""
    if isinstance(raw, tuple):
        return raw[0] if one.type in _TEXTUAL and len(raw) == 1 and isinstance(raw[0], str) else None
    match one.type:
        case FieldType.NUMBER:
            return _number(raw, one.unit, style)
        case FieldType.MONEY:
            return _money_or_amount(raw, style)
        case FieldType.DATE:
            return day_in(raw, style) if isinstance(raw, str) else None
        case FieldType.FLAG:
            return _flag(raw)
        case FieldType.CATEGORY | FieldType.TEXT:
            return _text_of(raw)
        case FieldType.LIST | FieldType.ROWS:
            return None  # no scalars, seen to before
        case _:
            assert_never(one.type)


_TEXTUAL = (FieldType.CATEGORY, FieldType.TEXT)


def _number(raw: RawScalar, unit: str, style: Style) -> float | None:
    """In `unit`; a bare number is in it already."""
    if isinstance(raw, (bool, Money)):
        return None
    if isinstance(raw, (int, float)):
        return _double(Decimal(repr(raw)))
    number = number_in(raw, style)
    if number is None and unit and (quantity := quantity_in(raw, style)):
        number = converted(quantity.number, quantity.unit, unit)
    return None if number is None else _double(number)


def _money_or_amount(raw: RawScalar, style: Style) -> Money | float | None:
    if isinstance(raw, Money):
        return raw
    if isinstance(raw, str) and (money := money_in(raw, style)):
        return money
    return _number(raw, "", style)


def _flag(raw: RawScalar) -> bool | None:
    if isinstance(raw, str):
        return flag_in(raw)
    return bool(raw) if not isinstance(raw, Money) and raw in (0, 1) else None


def _double(number: Decimal) -> float | None:
    try:
        result = nearest_double(number)
    except (ValueError, OverflowError):
        return None
    return result if abs(result) < _LARGEST else None
