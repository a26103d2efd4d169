"""A schema from metadata: what is seen of each key's values, then what field they make.

Everything is looked at before anything is decided: a profile grows with the number of keys, not of documents.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache

from storage.ingest.literals import (
    Money,
    Style,
    currency_codes,
    day_first_in,
    day_in,
    decimal_comma_in,
    flag_in,
    is_nothing,
    money_in,
    number_in,
    quantity_in,
)
from storage.ingest.units import converted, label_of
from storage.ingest.values import Raw, RawScalar
from storage.search.ids import BucketId, FieldName
from storage.search.schema import Field, FieldType, Schema

_MOST = 0.95  # of the values must fit a type; the rest is kept as text and reported
_DISTINCT = 10_000  # values told apart
_FEW = 50  # distinct values that make a facet whatever the number of documents
_LONG = 80  # characters: values beyond are text rather than categories
_LONGEST = 200
_EITHER = (Style(), Style(decimal_comma=True), Style(day_first=True), Style(day_first=False))
_MONEY = frozenset(
    "total price amount cost fee salary wage revenue turnover tax vat balance payment paid due discount budget spend "
    "charge rent income profit gross net deposit premium sum value expense "
    "betrag preis summe montant prix importe precio".split()
)
_MONEY_END = re.compile(r"(price|total|amount|cost|betrag|preis|summe)s?$")
_COUNTED = frozenset(
    "qty quantity count number year month day week hour page rate percent score rank age weight size length".split()
)
_NAMING = frozenset(
    "id no nr zip zipcode plz postcode postal phone fax tel sku ean isbn ssn iban code ref serial".split()
)


@dataclass(slots=True)
class Profile:
    """What has been seen of one key (or one column of a rows field)."""

    values: int = 0
    shapes: Counter[str] = field(default_factory=Counter[str])  # bool, number, string, money, list, rows
    readings: Counter[str] = field(default_factory=Counter[str])  # of strings, see `_readings_of`
    units: Counter[str] = field(default_factory=Counter[str])
    comma: Counter[bool] = field(default_factory=Counter[bool])
    day_first: Counter[bool] = field(default_factory=Counter[bool])
    currencies: Counter[str] = field(default_factory=Counter[str])
    fractions: int = 0
    characters: int = 0
    long: int = 0
    longest: int = 0
    distinct: set[int] = field(default_factory=set[int])
    columns: dict[FieldName, "Profile"] = field(default_factory=dict[FieldName, "Profile"])

    def see(self, raw: Raw) -> None:
        """Take one document's value into account."""
        if not isinstance(raw, tuple):
            self._see_scalar(raw)
            return
        self.values += 1
        if isinstance(raw[0], str):
            self.shapes["list"] += 1
            for member in raw:
                self._tell_apart(str(member).casefold())
            return
        self.shapes["rows"] += 1
        for row in raw:
            if not isinstance(row, str):
                see_all(row, self.columns)

    def _see_scalar(self, raw: RawScalar) -> None:
        self.values += 1
        self._tell_apart(raw.casefold() if isinstance(raw, str) else raw)
        match raw:
            case bool():
                self.shapes["bool"] += 1
            case int() | float():
                self.shapes["number"] += 1
                self.fractions += raw != int(raw)
            case Money(currency=currency):
                self.shapes["money"] += 1
                self.currencies[currency] += 1
            case str():
                self._see_string(raw)

    def _see_string(self, text: str) -> None:
        self.shapes["string"] += 1
        self.characters += len(text)
        self.long += len(text) > _LONG
        self.longest = max(self.longest, len(text) if "\n" not in text else _LONGEST + 1)
        seen = _seen_in(text)
        self.readings.update(seen.readings)
        self.units.update(filter(None, [seen.unit]))
        self.currencies.update(filter(None, [seen.currency]))
        self.comma.update([seen.comma] if seen.comma is not None else [])
        self.day_first.update([seen.day_first] if seen.day_first is not None else [])

    def _tell_apart(self, value: object) -> None:
        if len(self.distinct) < _DISTINCT:
            self.distinct.add(hash(value))

    @property
    def style(self) -> Style:
        """How its strings are written, as far as they agree."""
        return Style(decimal_comma=_agreed(self.comma), day_first=_agreed(self.day_first))


def see_all(values: Mapping[FieldName, Raw], profiles: dict[FieldName, Profile]) -> None:
    """Take the values of one document (or row) into account, each under its name."""
    for name, raw in values.items():
        profile = profiles.get(name)
        if profile is None:
            profile = profiles[name] = Profile()
        profile.see(raw)


def _agreed(seen: Counter[bool]) -> bool | None:
    if not seen:
        return None
    best, count = seen.most_common(1)[0]
    return best if count >= _MOST * seen.total() else None


@dataclass(frozen=True, slots=True)
class _Seen:
    readings: tuple[str, ...] = ()
    unit: str | None = None
    currency: str | None = None
    comma: bool | None = None
    day_first: bool | None = None


@lru_cache(maxsize=10_000)
def _seen_in(text: str) -> _Seen:
    if is_nothing(text):
        return _Seen(("nothing",))
    if len(text) > 60:
        return _Seen()
    if (flag := flag_in(text)) is not None:
        return _Seen(("flag", "yes") if flag else ("flag",))
    if any(day_in(text, style) for style in _EITHER):
        return _Seen(("day",) if day_in(text) else ("ambiguous day",), day_first=day_first_in(text))
    if any(number_in(text, style) is not None for style in _EITHER[:2]):
        padded = re.fullmatch(r"0\d+|\+?\d{16,}", text) is not None
        return _Seen(("identifier",) if padded else ("number",), comma=decimal_comma_in(text))
    for style in _EITHER[:2]:
        if money := money_in(text, style):
            return _Seen(("money",), currency=money.currency, comma=decimal_comma_in(text))
        if quantity := quantity_in(text, style):
            return _Seen(("quantity",), unit=quantity.unit, comma=decimal_comma_in(text))
    if len(text) == 3 and text.upper() in currency_codes():
        return _Seen(("currency",), currency=text.upper())
    return _Seen()


# -- from profiles to a schema


def inferred(bucket: BucketId, profiles: Mapping[FieldName, Profile]) -> Schema:
    """The schema that the profiles suggest, its fields in the order the keys were met."""
    return Schema(bucket=bucket, fields=tuple(_fields(profiles)), title=_titled(bucket), synonyms=nouns_for(bucket))


def _fields(profiles: Mapping[FieldName, Profile]) -> list[Field]:
    currencies = [name for name, profile in profiles.items() if _is_currency(profile)]
    fields: dict[FieldName, Field] = {}
    for name, profile in profiles.items():
        for one in _fields_of(name, profile, profiles, currencies):
            fields.setdefault(one.name, one)
    for one in _with_currency(fields, profiles, currencies):
        fields[one.name] = one
    return list(fields.values())


def _flat(one: Field) -> Field:
    """As a column: neither a facet nor of several values."""
    return replace(one, facet=False, type=FieldType.TEXT if one.type in (FieldType.LIST, FieldType.ROWS) else one.type)


def _is_currency(profile: Profile) -> bool:
    strings = profile.values - profile.readings["nothing"]
    return (
        profile.shapes["string"] == profile.values and strings > 0 and profile.readings["currency"] >= _MOST * strings
    )


def _fields_of(
    name: FieldName, profile: Profile, beside: Mapping[FieldName, Profile], currencies: Sequence[FieldName]
) -> list[Field]:
    one = _field(name, profile)
    if one.type is FieldType.MONEY:
        companion = _companion(name, beside, currencies) or _free(f"{name[:80]}_currency", beside)
        money = replace(one, currency_field=companion)
        added = Field(
            name=companion,
            type=FieldType.CATEGORY,
            title=f"{one.label} currency",
            facet=len(profile.currencies) > 1,
        )
        return [money] if companion in beside else [money, added]
    if one.type is FieldType.ROWS:
        return [replace(one, columns=_columns(profile.columns, bool(currencies)))]
    return [one]


def _free(name: str, taken: Mapping[FieldName, Profile]) -> FieldName:
    names = (name, *(f"{name}_{copy}" for copy in range(2, len(taken) + 3)))
    return next(FieldName(one) for one in names if one not in taken)


def _columns(profiles: Mapping[FieldName, Profile], has_currency: bool) -> tuple[Field, ...]:
    """Prices in rows are money when the document says its currency, which a column cannot refer to."""
    fields = [_flat(one) for one in _fields(profiles)]
    return tuple(
        replace(one, type=FieldType.MONEY)
        if has_currency and one.type is FieldType.NUMBER and not one.unit and _sounds_like_money(one.name)
        else one
        for one in fields
    )


def _with_currency(
    fields: Mapping[FieldName, Field], profiles: Mapping[FieldName, Profile], currencies: Sequence[FieldName]
) -> list[Field]:
    """The number fields that a currency field beside them makes money."""
    if not currencies:
        return []
    numbers = [one for one in fields.values() if one.type is FieldType.NUMBER and not one.unit]
    named = [one for one in numbers if _sounds_like_money(one.name) or f"{one.name}_currency" in currencies]
    likely = named or [one for one in numbers if profiles[one.name].fractions and not _words_of(one.name) & _COUNTED]
    companions = {one.name: _companion(one.name, profiles, currencies) for one in likely}
    return [
        replace(one, type=FieldType.MONEY, currency_field=companion)
        for one in likely
        if (companion := companions[one.name]) is not None
    ]


def _sounds_like_money(name: str) -> bool:
    words = _words_of(name)
    return bool(words & _MONEY or any(map(_MONEY_END.search, words))) and not words & _COUNTED


def _only_names(name: str) -> bool:
    """Whether a number of this name is a name itself: nobody adds up postcodes."""
    return not _NAMING.isdisjoint(_words_in(name)[-1:])


def _words_in(name: str) -> list[str]:
    words = re.split(r"[\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower())
    return [word for word in words if word]


def _words_of(name: str) -> frozenset[str]:
    """In the singular as well."""
    return frozenset(one for word in _words_in(name) for one in (word, word.removesuffix("s")))


def _companion(
    name: FieldName, beside: Mapping[FieldName, Profile], currencies: Sequence[FieldName]
) -> FieldName | None:
    """The field that holds the currency of `name`: its own, else the one there is."""
    own = FieldName(f"{name}_currency")
    if own in currencies:
        return own
    if own in beside:
        return None
    general = [one for one in currencies if not (one.endswith("_currency") and one.removesuffix("_currency") in beside)]
    return general[0] if general else None


def _field(name: FieldName, profile: Profile) -> Field:
    kind, label = _type_of(name, profile), label_of(name)
    is_number = kind is FieldType.NUMBER
    written = profile.units.most_common(1) if is_number else []
    return Field(
        name=name,
        type=kind,
        title=label.words if is_number and label.unit else _titled(name),
        unit=(written[0][0] if written else label.unit) if is_number else "",
        facet=_is_facet(kind, profile),
    )


def _titled(name: str) -> str:
    words = " ".join(re.split(r"[_\s]+", name)).strip()
    return words[:1].upper() + words[1:]


def _type_of(name: FieldName, profile: Profile) -> FieldType:
    shapes, readings = profile.shapes, profile.readings
    said = profile.values - readings["nothing"]

    def are(count: int) -> bool:
        return said > 0 and count >= _MOST * said

    if are(shapes["rows"]):
        return FieldType.ROWS
    if shapes["list"] and not shapes["rows"]:
        return FieldType.LIST
    if shapes["bool"] + readings["flag"] == said and shapes["bool"] + readings["yes"]:  # never yes: the code of Norway
        return FieldType.FLAG
    numbers = shapes["number"] + readings["number"]
    money = shapes["money"] + readings["money"]
    if are(money + numbers) and money > numbers:
        return FieldType.MONEY
    if are(numbers + readings["quantity"]) and not _only_names(name) and _is_one_dimension(profile):
        return FieldType.NUMBER
    if are(readings["day"] + (readings["ambiguous day"] if profile.style.day_first is not None else 0)):
        return FieldType.DATE
    is_long = profile.longest > _LONGEST or profile.long > (1 - _MOST) * max(shapes["string"], 1)
    return FieldType.TEXT if is_long else FieldType.CATEGORY


def _is_one_dimension(profile: Profile) -> bool:
    units = list(profile.units)
    return all(converted(Decimal(1), unit, units[0]) is not None for unit in units[1:])


def _is_facet(kind: FieldType, profile: Profile) -> bool:
    distinct, values = len(profile.distinct), profile.values
    match kind:
        case FieldType.CATEGORY | FieldType.LIST:
            return 2 <= distinct <= max(_FEW, values // 2) and (distinct < values or kind is FieldType.LIST)
        case FieldType.NUMBER | FieldType.MONEY | FieldType.DATE | FieldType.FLAG:
            return distinct >= 2
        case FieldType.ROWS | FieldType.TEXT:
            return False


def nouns_for(bucket: str) -> tuple[str, ...]:
    """Singular and plural of what a bucket is called, and of its last word: what people call its documents."""
    words = [word.lower() for word in re.split(r"[\W_]+", bucket) if word]
    if not words or not words[-1].isalpha():
        return ()
    one, many = _numbers_of(words[-1])
    whole = [" ".join([*words[:-1], last]) for last in (one, many)] if len(words) > 1 else []
    return tuple(dict.fromkeys([*whole, one, many]))


def _numbers_of(noun: str) -> tuple[str, str]:
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y", noun
    if re.search(r"(ss|x|z|ch|sh)es$", noun):
        return noun[:-2], noun
    if noun.endswith("s") and not re.search(r"(ss|us|is)$", noun):
        return noun[:-1], noun
    if re.search(r"[^aeiou]y$", noun):
        return noun, noun[:-1] + "ies"
    return noun, noun + ("es" if re.search(r"(s|x|z|ch|sh)$", noun) else "s")


# -- with what is there


def merged(existing: Schema, found: Schema) -> Schema:
    """`existing` with the fields that it lacks; what it has stays as it is."""
    new = [one for one in found.fields if one.name not in existing.by_name]
    kinds = {one.name: one.type for one in (*new, *existing.fields)}

    def fitting(one: Field) -> Field:
        if one.currency_field is None or kinds.get(one.currency_field) is FieldType.CATEGORY:
            return one
        return replace(one, type=FieldType.NUMBER, currency_field=None)  # the name stands for something else here

    kept = tuple(_with_columns(one, found.by_name.get(one.name)) for one in existing.fields)
    return replace(existing, fields=(*kept, *map(fitting, new)))


def _with_columns(rows: Field, found: Field | None) -> Field:
    """A rows field with the columns that it lacks."""
    if found is None or rows.type is not FieldType.ROWS or found.type is not FieldType.ROWS:
        return rows
    inner = merged(_as_schema(rows), _as_schema(found))
    return replace(rows, columns=inner.fields)


def _as_schema(rows: Field) -> Schema:
    return Schema(bucket=BucketId("rows"), fields=rows.columns, of_rows=True)


def styles_of(profiles: Mapping[FieldName, Profile]) -> dict[FieldName, Style]:
    """How the strings of each key, and of each column (`items.qty`), are written."""
    styles = {name: profile.style for name, profile in profiles.items()}
    for name, profile in profiles.items():
        styles |= {FieldName(f"{name}.{column}"): style for column, style in styles_of(profile.columns).items()}
    return styles
