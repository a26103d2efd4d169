"""A schema from what was seen of the metadata: what field each key's values make."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from decimal import Decimal

from storage.ingest.names import titled, words_in, words_of
from storage.ingest.profile import LONGEST, Profile
from storage.ingest.synonyms import flag_synonyms, value_synonyms, with_synonyms, written_out
from storage.ingest.units import converted, label_of
from storage.search.ids import BucketId, FieldName
from storage.search.schema import Field, FieldType, Schema

_MOST = 0.95  # of the values must be of a kind
_MEASURED = 0.9  # of them must be numbers, amounts or days; the rest is kept as text and reported
_FEW = 50  # distinct values that make a facet whatever the number of documents
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
    "id no nr zip zipcode plz postcode postal phone fax tel mobile sku ean isbn issn ssn iban "
    "imei vin uuid barcode code ref serial".split()
)


_ALSO_WORDS = frozenset({"cad", "try", "all"})  # codes that a name may end in for other reasons
_FIXED = frozenset(
    "usd eur gbp jpy chf cad aud nzd cny inr sek nok dkk pln czk huf brl mxn zar sgd hkd krw try".split()
)


def inferred(bucket: BucketId, profiles: Mapping[FieldName, Profile], language: str = "en") -> Schema:
    """The schema that the profiles suggest, its fields in the order the keys were met."""
    schema = Schema(bucket=bucket, fields=tuple(_fields(profiles)), title=titled(bucket), language=language)
    kinds = [profiles[one.name] for one in schema.fields if one.name in profiles and one.type in _NAMED_VALUES]

    def has_value(word: str) -> bool:
        return any(hash(word.casefold()) in profile.distinct for profile in kinds)

    return _with_value_synonyms(with_synonyms(schema, has_value), profiles, has_value)


def _with_value_synonyms(
    schema: Schema, profiles: Mapping[FieldName, Profile], has_value: Callable[[str], bool]
) -> Schema:
    """Fields that sort documents into kinds, and flags, with what else people call those."""
    names = [*schema.synonyms, *(word for one in schema.fields for word in (one.name, one.label, *one.synonyms))]

    def of(one: Field) -> Field:
        profile = profiles.get(one.name)
        if one.type is FieldType.FLAG:
            return replace(one, values=flag_synonyms(one.name, has_value))
        if profile is None or one.type not in _NAMED_VALUES or len(profile.distinct) > _FEW:
            return one
        return replace(one, values=value_synonyms(profile.samples, names))

    return replace(schema, fields=tuple(map(of, schema.fields)))


_NAMED_VALUES = (FieldType.CATEGORY, FieldType.LIST)


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
    one = _field(name, profile, beside)
    if one.type is FieldType.MONEY and not one.currency:
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
        codes = {code for name in currencies for code in beside[name].currencies}
        return [replace(one, columns=_columns(profile.columns, codes))]
    return [one]


def _free(name: str, taken: Mapping[FieldName, Profile]) -> FieldName:
    names = (name, *(f"{name}_{copy}" for copy in range(2, len(taken) + 3)))
    return next(FieldName(one) for one in names if one not in taken)


def _columns(profiles: Mapping[FieldName, Profile], codes: Set[str]) -> tuple[Field, ...]:
    """Prices in rows are money when the documents say their currency; a column cannot refer to it, but if it is the
    same in all of them, it is the column's.
    """
    fields = [_flat(one) for one in _fields(profiles)]
    return tuple(
        replace(one, type=FieldType.MONEY, currency=next(iter(codes)) if len(codes) == 1 else "")
        if codes and one.type is FieldType.NUMBER and not one.unit and _sounds_like_money(one.name)
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
    likely = named or [one for one in numbers if profiles[one.name].fractions and not words_of(one.name) & _COUNTED]
    companions = {one.name: _companion(one.name, profiles, currencies) for one in likely}
    return [
        replace(one, type=FieldType.MONEY, currency_field=companion)
        for one in likely
        if (companion := companions[one.name]) is not None
    ]


def _sounds_like_money(name: str) -> bool:
    words = words_of(" ".join(written_out(name)))
    return bool(words & _MONEY or any(map(_MONEY_END.search, words))) and not words & _COUNTED


def _only_names(name: str) -> bool:
    """Whether a number of this name is a name itself: nobody adds up postcodes."""
    *before, last = words_in(name) or [""]
    return last in _NAMING or (last == "number" and bool(before) and before[-1] != "atomic")


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


def _field(name: FieldName, profile: Profile, beside: Mapping[FieldName, Profile]) -> Field:
    kind, label = _type_of(name, profile), label_of(name, beside)
    is_number = kind is FieldType.NUMBER
    if is_number and (code := _code_in(name)):
        words = " ".join(words_in(name)[:-1])
        return Field(
            name=name, type=FieldType.MONEY, title=titled(words), currency=code, facet=_is_facet(kind, profile)
        )
    written = profile.units.most_common(1) if is_number else []
    return Field(
        name=name,
        type=kind,
        title=label.words if is_number and label.unit else titled(name),
        unit=(written[0][0] if written else label.unit) if is_number else "",
        facet=_is_facet(kind, profile),
    )


def _code_in(name: str) -> str:
    """The currency that the name of an amount ends in, `salary_eur`; empty for none."""
    *words, last = words_in(name) or [""]
    named = last in _FIXED and bool(words) and (last not in _ALSO_WORDS or _sounds_like_money(" ".join(words)))
    return last.upper() if named else ""


def _type_of(name: FieldName, profile: Profile) -> FieldType:
    shapes, readings = profile.shapes, profile.readings
    said = profile.values - readings["nothing"]

    def are(count: int, most: float = _MOST) -> bool:
        return said > 0 and count >= most * said

    if are(shapes["rows"]):
        return FieldType.ROWS
    if shapes["list"] and not shapes["rows"]:
        return FieldType.LIST
    if shapes["bool"] + readings["flag"] == said and shapes["bool"] + readings["yes"]:  # never yes: the code of Norway
        return FieldType.FLAG
    numbers = shapes["number"] + readings["number"]
    money = shapes["money"] + readings["money"]
    if are(money + numbers, _MEASURED) and money > numbers:
        return FieldType.MONEY
    quantities = readings["quantity"]
    if are(numbers + quantities, _MEASURED) and not _only_names(name) and _is_one_dimension(profile):
        return FieldType.NUMBER
    if are(readings["day"] + (readings["ambiguous day"] if profile.style.day_first is not None else 0), _MEASURED):
        return FieldType.DATE
    if profile.between is not None:
        return FieldType.LIST
    is_long = profile.longest > LONGEST or profile.long > (1 - _MOST) * max(shapes["string"], 1)
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
