"""Conditions, values and numbers as people read them. All of it raw text, not escaped."""

from collections.abc import Sequence
from datetime import date
from typing import assert_never

from storage.search.conditions import (
    DOC_ID,
    TEXT,
    TITLE,
    All,
    Any,
    Compare,
    Condition,
    InRow,
    Missing,
    Not,
    Op,
)
from storage.search.documents import Value
from storage.search.ids import FieldName
from storage.search.numbers import minor_digits, plain
from storage.search.schema import Field, FieldType, Schema

_SIGNS = {Op.EQ: "=", Op.HAS: "has", Op.CONTAINS: "contains", Op.GT: ">", Op.GTE: "≥", Op.LT: "<", Op.LTE: "≤"}
_SHORT_UNITS = {"degC": "°C", "degF": "°F", "percent": "%"}
_COUNTED_UNITS = frozenset(
    "day hour week month year hectare acre mile minute second".split()
)  # words: "1 day", "2 days"


def condition_words(condition: Condition, schema: Schema) -> str:
    """ "vendor = Acme", "date in 2031", "no flash point"."""
    match condition:
        case Compare(field=name) if name in (TEXT, TITLE):
            return f"mentions “{condition.value}”"
        case Compare(field=name) if name == DOC_ID:
            return "one document" if condition.op is Op.EQ else "these documents"
        case Compare():
            return _compare_words(condition, schema)
        case Missing(field=name):
            return f"no {_label(name, schema)}"
        case InRow(row=row, condition=inner):
            columns = schema.by_name[row].columns if row in schema.by_name else ()
            inside = condition_words(inner, Schema(bucket=schema.bucket, fields=columns, of_rows=True))
            return f"{_label(row, schema)} with {inside}"
        case All(members):
            return " and ".join(condition_words(member, schema) for member in members) or "everything"
        case Any(members):
            return " or ".join(condition_words(member, schema) for member in members) or "nothing"
        case Not(Compare(field=name, op=op)) if name == DOC_ID:
            return "not that document" if op is Op.EQ else "not those documents"
        case Not(Missing(field=name)):
            return f"{_label(name, schema)} is known"
        case Not(Compare(field=name, op=Op.EQ | Op.HAS, value=value)) if not isinstance(value, tuple):
            return f"{_label(name, schema)} is not {value_words(value, schema.by_name.get(name))}"
        case Not(inner):
            return f"not ({condition_words(inner, schema)})"
        case _:
            assert_never(condition)


def _compare_words(condition: Compare, schema: Schema) -> str:
    field = schema.by_name.get(condition.field)
    label, value = _label(condition.field, schema), condition.value
    if isinstance(value, bool):
        return label if value else f"not {label}"
    if isinstance(value, tuple):
        if condition.op is Op.IN:
            shown = [value_words(one, field) for one in value]
            some = ", ".join(shown[:3]) + (f" or {len(shown) - 3} more" if len(shown) > 3 else "")
            return f"{label} is {some}" if len(shown) < 2 else f"{label} is one of {some}"
        low, high = value
        if isinstance(low, str) and isinstance(high, str):
            return f"{label} in {period_words(low, high)}"
        return f"{label} from {value_words(low, field)} to {value_words(high, field)}"
    return f"{label} {_SIGNS[condition.op]} {value_words(value, field)}"


def _label(name: FieldName, schema: Schema) -> str:
    field = schema.by_name.get(name)
    if field is None:
        return name
    return field.label.lower() if field.label.istitle() else lowered(field.label)


def lowered(label: str) -> str:
    """ "Notice period" within a sentence; "CAS number" as it is."""
    return label[:1].lower() + label[1:] if label[1:].islower() else label


def value_words(value: Value, field: Field | None) -> str:
    """A value with its unit; lists joined; rows counted."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        plain_items = [one for one in value if isinstance(one, str)]
        return ", ".join(plain_items) if len(plain_items) == len(value) else f"{len(value)} rows"
    if isinstance(value, str):
        return value
    unit = field.unit if field is not None else ""
    if field is not None and field.type is FieldType.MONEY:
        return money_words(value, field.currency or None)
    number = number_words(value) if unit else str(plain(value))  # a bare whole number may be a year
    return f"{number} {unit_words(unit, value)}".strip()


def unit_words(unit: str, value: float) -> str:
    """A unit as people write it behind that many: "m²", "days"."""
    if unit in _COUNTED_UNITS:
        return unit if value == 1 else f"{unit}s"
    return _SHORT_UNITS.get(unit, unit.replace("**2", "²").replace("**3", "³"))


def number_words(value: float) -> str:
    """With thousands separated."""
    whole = plain(value)
    return f"{whole:,}" if isinstance(whole, int) else f"{value:,.12g}"


def money_words(value: float, currency: str | None) -> str:
    """With the currency's minor digits: `USD 1,042.50`."""
    digits = minor_digits(currency)
    amount = f"{value:,.{digits}f}"
    return f"{currency} {amount}" if currency else amount


def count_words(count: int, noun: str = "document") -> str:
    """ "1 document", "1,042 documents"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {plural(noun)}"


def listed(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def plural(noun: str) -> str:
    """A regular English plural; what already looks like one stays."""
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    if noun.endswith(("ss", "x", "ch", "sh")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else noun + "s"


def period_words(first: str, last: str) -> str:
    """Two ISO days as a period: a year, quarter or month where they are just that."""
    a, b = date.fromisoformat(first), date.fromisoformat(last)
    if first[5:] == "01-01" and last[5:] == "12-31":
        return first[:4] if a.year == b.year else f"{a.year} to {b.year}"
    if a.day == 1 and (b.toordinal() + 1 == _month_after(b)):
        if (a.year, a.month) == (b.year, b.month):
            return a.strftime("%B %Y")
        if a.year == b.year and a.month % 3 == 1 and b.month == a.month + 2:
            return f"Q{(a.month + 2) // 3} {a.year}"
    return first if first == last else f"{first} to {last}"


def _month_after(day: date) -> int:
    year, month = (day.year + 1, 1) if day.month == 12 else (day.year, day.month + 1)
    return date(year, month, 1).toordinal() if year <= 9999 else 0
