"""How values appear in English text: numbers with and without separators, days in words."""

from storage.quantities.days import ENGLISH_MONTHS
from storage.search.numbers import to_json_number
from storage.search.schema import FieldType, SchemaField


def written_forms_of(value: float | str | bool | tuple[object, ...], field: SchemaField) -> list[str]:
    """How a value may appear in a text: numbers with and without separators, days in words."""
    if isinstance(value, bool):
        return [field.label]
    if isinstance(value, tuple):
        return [member for member in value if isinstance(member, str)]
    if not isinstance(value, str):
        exact = str(to_json_number(value))
        forms = [f"{value:,.2f}", f"{value:.2f}", exact, _separate_thousands(value)]
        if field.unit.isalpha() and len(field.unit) <= 3:
            forms += [f"{value * 1e3:.12g} m{field.unit}", f"{value * 1e6:.12g} µ{field.unit}"]
            forms += [f"{value / 1e3:.12g} k{field.unit}"]
        return list(dict.fromkeys(forms))
    if field.type is FieldType.DATE:
        return _written_forms_of_day(value)
    return [value]


def _written_forms_of_day(day: str) -> list[str]:
    year, month, number = day[:4], int(day[5:7]), int(day[8:10])
    name = ENGLISH_MONTHS[month - 1]
    return [
        day, f"{number} {name} {year}", f"{name} {number}, {year}", f"{number:02d}/{month:02d}/{year}",
        f"{number:02d}.{month:02d}.{year}", f"{month:02d}/{number:02d}/{year}", f"{number} {name[:3]} {year}",
        f"{number}/{month}/{year}", f"{number}{_ordinal_suffix_of(number)} day of {name}, {year}",
        f"{number}{_ordinal_suffix_of(number)} day of {name} {year}",
        f"{name} {number}{_ordinal_suffix_of(number)}, {year}",
        f"{number}{_ordinal_suffix_of(number)} {name} {year}",
        f"{number}{_ordinal_suffix_of(number)} of {name}, {year}",
        f"{name[:3]}. {number}, {year}", f"{name[:3]} {number}, {year}", f"{month}/{number}/{year}",
    ]  # fmt: skip


def _ordinal_suffix_of(number: int) -> str:
    return "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _separate_thousands(value: float) -> str:
    whole = to_json_number(value)
    return f"{whole:,}" if isinstance(whole, int) else f"{value:,.12g}"
