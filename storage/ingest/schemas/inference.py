"""Infers a schema from the profiles of the metadata: a typed field for each key."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from decimal import Decimal
from functools import cache

from storage.ingest.limits import MAX_COLUMNS
from storage.ingest.schemas.foreign_names import write_name
from storage.ingest.schemas.names import title_from_name, word_forms_of, words_in_name
from storage.ingest.schemas.profile import MAX_CATEGORY_CHARACTERS, ValueProfile
from storage.ingest.schemas.synonyms import add_synonyms, expand_abbreviations, synonyms_by_value, synonyms_for_flag
from storage.ingest.schemas.units import label_of_name
from storage.ingest.schemas.written_titles import write_out_title
from storage.quantities.money import BARE_SIGN_PATTERN, currency_of_sign
from storage.quantities.units import convert_exactly
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.noun_classes import PERSON_NOUNS

_KIND_SHARE = 0.95  # the share of the values that must be of one type
_MIN_PRICED_SHARE = 0.25  # of amounts for each value that says "free"
_MEASURED_SHARE = 0.9  # the share that must be numbers, amounts or days; the other values become text and are reported
_FEW_DISTINCT = 50  # a field with at most so many distinct values is a facet for any number of documents
_MONEY_WORDS = frozenset(
    "total price amount cost fee salary wage revenue turnover tax vat balance payment paid due discount budget spend "
    "charge rent income profit gross net deposit premium sum value expense "
    "betrag preis summe montant prix importe precio".split()
)
_MONEY_END = re.compile(r"(price|total|amount|cost|betrag|preis|summe)s?$")
_COUNT_WORDS = frozenset(
    "qty quantity count number year month day week hour page rate percent score rank age weight size length".split()
)
_IDENTIFIER_WORDS = frozenset(
    "id no nr zip zipcode plz postcode postal phone fax tel mobile sku ean isbn issn ssn iban "
    "imei vin uuid barcode code ref reference serial".split()
)


# Under such a name numbers are of somebody: "Mechanic: 1031". Of guests and visitors they are counts.
_NUMBERED_PERSONS = PERSON_NOUNS - frozenset(
    """guest member passenger patient person pupil resident speaker student visitor volunteer winner employee
    staff""".split()
)
_NAMES_OF_SUPERIORS = (["reports", "to"], ["report", "to"], ["reporting", "to"])
_SIGN_AT_END = re.compile(rf"[\s_]*[(\[]?\s*(?:in\s+)?(?P<sign>{BARE_SIGN_PATTERN})\s*[)\]]?\s*$")
_SIGN_IN_BRACKETS = re.compile(
    rf"[(\[]\s*(?:in\s+)?(?P<sign>{BARE_SIGN_PATTERN})\s*[,;]\s*(?P<rest>[^()\[\]]{{1,40}})[)\]]\s*$"
)  # "Fee (£, no VAT)"
_SIGN_AT_START = re.compile(rf"^\s*(?P<sign>{BARE_SIGN_PATTERN})\s*(?P<rest>(?:per\b|each\b|/)\s*.*|(?<=\s)[^\d\s].*)$")
_UNIT_OF_PRICE = re.compile(r"^(?:(?P<slash>/)\s*|(?:per|each)\b)")
_QUESTION_WORDS = frozenset("is has was had can are does did".split())
_CURRENCY_NOUNS = {"euro": "eur", "euros": "eur", "franken": "chf"}  # "Betrag in Euro"
_CODES_THAT_ARE_WORDS = frozenset({"cad", "try", "all"})  # currency codes that are also ordinary words in names
_SUFFIX_CURRENCIES = frozenset(
    "usd eur gbp jpy chf cad aud nzd cny inr sek nok dkk pln czk huf brl mxn zar sgd hkd krw try".split()
)


def infer_schema(
    bucket: BucketId,
    profiles: Mapping[FieldName, ValueProfile],
    language: str = "en",
    table_names: Sequence[str] = (),
) -> Schema:
    """Returns the schema that the profiles suggest, with its fields in the order in which the keys first occurred.

    `table_names`: of the only file whose rows are the documents, without its suffix, and of their sheet.
    """
    schema = Schema(
        bucket=bucket,
        fields=tuple(
            replace(field, title=write_name(field.title, language)) if field.title else field
            for field in _infer_fields(profiles)
        ),
        title=write_name(title_from_name(bucket), language),
        language=language,
    )
    named_value_profiles = [
        profiles[field.name] for field in schema.fields if field.name in profiles and field.type in _NAMED_VALUE_TYPES
    ]

    @cache
    def has_value(word: str) -> bool:
        value_hash = hash(word.casefold())
        return any(value_hash in profile.distinct for profile in named_value_profiles)

    schema = _add_value_synonyms(add_synonyms(schema, has_value, table_names), profiles, has_value)
    if language != "en":
        return schema
    return replace(schema, fields=tuple(replace(field, title=write_out_title(field)) for field in schema.fields))


def _add_value_synonyms(
    schema: Schema, profiles: Mapping[FieldName, ValueProfile], has_value: Callable[[str], bool]
) -> Schema:
    """Adds synonyms to the values of flags, and of category and list fields with few distinct values."""
    names = [
        *schema.synonyms,
        *(word for field in schema.fields for word in (field.name, field.label)),
        # the words of a date may also name a state: "finished in May", "finished orders"
        *(word for field in schema.fields if field.type is not FieldType.DATE for word in field.plain_synonyms),
    ]

    def add_synonyms_to(field: SchemaField) -> SchemaField:
        profile = profiles.get(field.name)
        if field.type is FieldType.FLAG:
            return replace(field, values=synonyms_for_flag(field.name, has_value))
        if profile is None or field.type not in _NAMED_VALUE_TYPES or len(profile.distinct) > _FEW_DISTINCT:
            return field
        return replace(field, values=synonyms_by_value(profile.samples, names))

    return replace(schema, fields=tuple(map(add_synonyms_to, schema.fields)))


_NAMED_VALUE_TYPES = (FieldType.CATEGORY, FieldType.LIST)


def _infer_fields(profiles: Mapping[FieldName, ValueProfile]) -> list[SchemaField]:
    currencies = [name for name, profile in profiles.items() if _is_currency_key(profile)]
    fields: dict[FieldName, SchemaField] = {}
    for name, profile in profiles.items():
        for field in _fields_for_key(name, profile, profiles, currencies):
            fields.setdefault(field.name, field)
    for money_field in _number_fields_as_money(fields, profiles, currencies):
        fields[money_field.name] = money_field
    return list(fields.values())


def _as_column_field(field: SchemaField) -> SchemaField:
    """Returns the field as a column, which is not a facet and has a single value."""
    return replace(
        field, facet=False, type=FieldType.TEXT if field.type in (FieldType.LIST, FieldType.ROWS) else field.type
    )


def _is_currency_key(profile: ValueProfile) -> bool:
    strings = profile.value_count - profile.readings["nothing"]
    return (
        profile.shapes["string"] == profile.value_count
        and strings > 0
        and profile.readings["currency"] >= _KIND_SHARE * strings
    )


def _fields_for_key(
    name: FieldName, profile: ValueProfile, profiles: Mapping[FieldName, ValueProfile], currencies: Sequence[FieldName]
) -> list[SchemaField]:
    field = _infer_field(name, profile, profiles)
    if field.type is FieldType.MONEY and not field.currency and (code := _only_currency_of(name, profile, currencies)):
        return [replace(field, currency=code)]
    if field.type is FieldType.MONEY and not field.currency:
        companion = _currency_field_for(name, profiles, currencies) or _unused_name(f"{name[:80]}_currency", profiles)
        money = replace(field, currency_field=companion)
        added = SchemaField(
            name=companion,
            type=FieldType.CATEGORY,
            title=f"{field.label} currency",
            facet=len(profile.currencies) > 1,
        )
        return [money] if companion in profiles else [money, added]
    if field.type is FieldType.ROWS:
        codes = {code for name in currencies for code in profiles[name].currencies}
        return [replace(field, columns=_infer_columns(profile.columns, codes))]
    return [field]


def _only_currency_of(name: FieldName, profile: ValueProfile, currencies: Sequence[FieldName]) -> str:
    """Returns the currency of a column in which some amounts have it and the others have none; empty for any other.

    Who writes "£95.00" in one row and "95" in the next means the same.
    """
    is_mixed = bool(profile.shapes["number"] + profile.readings["number"])
    return next(iter(profile.currencies)) if is_mixed and len(profile.currencies) == 1 and not currencies else ""


def _unused_name(name: str, profiles: Mapping[FieldName, ValueProfile]) -> FieldName:
    candidates = (name, *(f"{name}_{copy}" for copy in range(2, len(profiles) + 3)))
    return next(FieldName(candidate) for candidate in candidates if candidate not in profiles)


def _infer_columns(profiles: Mapping[FieldName, ValueProfile], currency_codes: Set[str]) -> tuple[SchemaField, ...]:
    """Returns the columns of a rows field.

    Prices in rows are money if the documents have a currency field. A column cannot refer to that field, but if all
    documents have the same currency, the column gets it.
    """
    fields = [_as_column_field(field) for field in _infer_fields(profiles)]
    return tuple(
        replace(column, type=FieldType.MONEY, currency=next(iter(currency_codes)) if len(currency_codes) == 1 else "")
        if currency_codes and column.type is FieldType.NUMBER and not column.unit and _sounds_like_money(column.name)
        else column
        for column in fields
    )


def _number_fields_as_money(
    fields: Mapping[FieldName, SchemaField], profiles: Mapping[FieldName, ValueProfile], currencies: Sequence[FieldName]
) -> list[SchemaField]:
    """Returns the number fields that are money because there is a currency field, converted to money fields."""
    if not currencies:
        return []
    numbers = [field for field in fields.values() if field.type is FieldType.NUMBER and not field.unit]
    named = [field for field in numbers if _sounds_like_money(field.name) or f"{field.name}_currency" in currencies]
    likely = named or [
        field
        for field in numbers
        if profiles[field.name].fraction_count and not word_forms_of(field.name) & _COUNT_WORDS
    ]
    companions = {field.name: _currency_field_for(field.name, profiles, currencies) for field in likely}
    return [
        replace(field, type=FieldType.MONEY, currency_field=companion)
        for field in likely
        if (companion := companions[field.name]) is not None
    ]


def _sounds_like_money(name: str) -> bool:
    words = word_forms_of(" ".join(expand_abbreviations(name)))
    return bool(words & _MONEY_WORDS or any(map(_MONEY_END.search, words))) and not words & _COUNT_WORDS


def _names_an_identifier(name: str) -> bool:
    """Whether numbers under this name are identifiers, such as postcodes and numbers of employees, rather than
    quantities.
    """
    *first_words, last = words_in_name(name) or [""]
    if last in _NUMBERED_PERSONS or [*first_words[-1:], last] in _NAMES_OF_SUPERIORS or (first_words and last == "by"):
        return True
    return last in _IDENTIFIER_WORDS or (last == "number" and bool(first_words) and first_words[-1] != "atomic")


def _currency_field_for(
    name: FieldName, profiles: Mapping[FieldName, ValueProfile], currencies: Sequence[FieldName]
) -> FieldName | None:
    """Returns the field with the currency of `name`: `NAME_currency`, else the first that belongs to no other field."""
    companion = FieldName(f"{name}_currency")
    if companion in currencies:
        return companion
    if companion in profiles:
        return None
    general = [
        currency
        for currency in currencies
        if not (currency.endswith("_currency") and currency.removesuffix("_currency") in profiles)
    ]
    return general[0] if general else None


def _infer_field(name: FieldName, profile: ValueProfile, profiles: Mapping[FieldName, ValueProfile]) -> SchemaField:
    kind, label = _infer_type(name, profile), label_of_name(name, profiles)
    is_number = kind is FieldType.NUMBER
    if is_number and (code := currency_suffix_of(name)):
        return SchemaField(
            name=name,
            type=FieldType.MONEY,
            title=title_from_name(_name_without_currency(name)),
            currency=code,
            facet=_is_useful_facet(kind, profile),
        )
    units = profile.units.most_common(1) if is_number else []
    return SchemaField(
        name=name,
        type=kind,
        title=label.text if is_number and label.unit else title_from_name(name),
        unit=(units[0][0] if units else label.unit) if is_number else "",
        facet=_is_useful_facet(kind, profile),
    )


def _name_without_currency(name: str) -> str:
    if _SIGN_AT_END.search(name):
        return " ".join(_SIGN_AT_END.sub("", name).split())
    if _SIGN_IN_BRACKETS.search(name):
        return " ".join(_SIGN_IN_BRACKETS.sub(lambda match: f"({match['rest'].strip()})", name).split())
    if (sign := _SIGN_AT_START.search(name)) is not None:
        return _name_of_price(sign["rest"])
    return _words_before_code(name)


def _name_of_price(rest: str) -> str:
    """ "£ *per unit*", "€ */kg*": returns "price per unit", "price per kg"; other words as they are."""
    unit = _UNIT_OF_PRICE.search(rest)
    if unit is None:
        return " ".join(rest.split())
    return " ".join(f"price {f'per {rest[unit.end() :]}' if unit['slash'] else rest}".split())


def _words_before_code(name: str) -> str:
    """Returns the words of `salary_eur` and `cost in GBP` before the currency."""
    words = words_in_name(name)[:-1]
    return " ".join(words[:-1] if len(words) > 1 and words[-1] in ("in", "en") else words)


def currency_suffix_of(name: str) -> str:
    """Returns the currency at the end of a name, as in `salary_eur`, `Fee (€)`, `Fee (€, no VAT)`; else nothing."""
    if sign := _SIGN_AT_END.search(name) or _SIGN_IN_BRACKETS.search(name) or _SIGN_AT_START.search(name):
        return currency_of_sign(sign["sign"]) or ""
    *words, last = words_in_name(name) or [""]
    last = _CURRENCY_NOUNS.get(last, last)
    is_currency = (
        last in _SUFFIX_CURRENCIES
        and bool(words)
        and (last not in _CODES_THAT_ARE_WORDS or _sounds_like_money(" ".join(words)))
    )
    return last.upper() if is_currency else ""


def _infer_type(name: FieldName, profile: ValueProfile) -> FieldType:
    shapes, readings = profile.shapes, profile.readings
    value_count = profile.value_count - readings["nothing"]

    def reaches_share(count: int, share: float = _KIND_SHARE) -> bool:
        return value_count > 0 and count >= share * value_count

    if reaches_share(shapes["rows"]):
        return FieldType.ROWS
    if shapes["list"] and not shapes["rows"]:
        return FieldType.LIST
    if _is_question(name) and _are_zeros_and_ones(profile):
        return FieldType.FLAG
    if (
        shapes["bool"] + readings["flag"] == value_count and shapes["bool"] + readings["yes"]
    ):  # `no` alone may be the code of Norway
        return FieldType.FLAG
    flags = readings["flag"] + readings["flag with remark"]
    if flags == value_count and readings["yes"] and reaches_share(readings["flag"], _MEASURED_SHARE):
        return FieldType.FLAG  # "Y", "N" and now and then "Y late"
    numbers = shapes["number"] + readings["number"] + _ratings_of_one_scale(profile)
    money = shapes["money"] + readings["money"]
    free = readings["free"] if money + numbers >= _MIN_PRICED_SHARE * readings["free"] else 0
    if reaches_share(money + numbers + free, _MEASURED_SHARE) and (
        money > numbers or (money and not reaches_share(numbers, _MEASURED_SHARE))
    ):
        return FieldType.MONEY
    quantities = readings["quantity"]
    if (
        reaches_share(numbers + quantities, _MEASURED_SHARE)
        and not _names_an_identifier(name)
        and _has_one_dimension(profile)
    ):
        return FieldType.NUMBER
    days = readings["day"] + (readings["ambiguous day"] if profile.notation_style.day_first is not None else 0)
    if days and reaches_share(days + readings["open end"], _MEASURED_SHARE):
        return FieldType.DATE
    if profile.list_delimiter is not None:
        return FieldType.LIST
    is_long = profile.longest_value > MAX_CATEGORY_CHARACTERS or profile.long_count > (1 - _KIND_SHARE) * max(
        shapes["string"], 1
    )
    return FieldType.TEXT if is_long else FieldType.CATEGORY


def _ratings_of_one_scale(profile: ValueProfile) -> int:
    """Returns the number of ratings such as `4/5`; 0 where they have different scales."""
    scales = [reading for reading in profile.readings if reading.startswith("rating of ")]
    return profile.readings[scales[0]] if len(scales) == 1 else 0


def _is_question(name: FieldName) -> bool:
    """Whether the name asks for yes or no: `has_pet`, `isActive`."""
    words = words_in_name(name)
    return len(words) > 1 and words[0] in _QUESTION_WORDS


def _are_zeros_and_ones(profile: ValueProfile) -> bool:
    numbers = profile.shapes["number"] + profile.readings["number"]
    return (
        numbers > 0
        and numbers == profile.value_count
        and (profile.low, profile.high) == (0, 1)
        and len(profile.distinct) == 2
    )


def _has_one_dimension(profile: ValueProfile) -> bool:
    units = list(profile.units)
    return all(convert_exactly(Decimal(1), unit, units[0]) is not None for unit in units[1:])


def _is_useful_facet(kind: FieldType, profile: ValueProfile) -> bool:
    distinct, values = len(profile.distinct), profile.value_count
    match kind:
        case FieldType.CATEGORY | FieldType.LIST:
            return 2 <= distinct <= max(_FEW_DISTINCT, values // 2) and (distinct < values or kind is FieldType.LIST)
        case FieldType.NUMBER | FieldType.MONEY | FieldType.DATE | FieldType.FLAG:
            return distinct >= 2
        case FieldType.ROWS | FieldType.TEXT:
            return False


# -- merging with an existing schema


def merge_schemas(existing: Schema, inferred_schema: Schema) -> Schema:
    """Returns `existing` with the inferred fields and columns that it lacks; its own fields stay as they are."""
    new_fields = [field for field in inferred_schema.fields if field.name not in existing.by_name]
    new_fields = new_fields[: max(0, MAX_COLUMNS - len(existing.fields))]
    type_by_name = {field.name: field.type for field in (*new_fields, *existing.fields)}

    def fit_currency_field(field: SchemaField) -> SchemaField:
        if field.currency_field is None or type_by_name.get(field.currency_field) is FieldType.CATEGORY:
            return field
        return replace(field, type=FieldType.NUMBER, currency_field=None)  # the existing field is not a currency

    merged = tuple(_merge_columns(field, inferred_schema.by_name.get(field.name)) for field in existing.fields)
    return replace(existing, fields=(*merged, *map(fit_currency_field, new_fields)))


def _merge_columns(rows: SchemaField, inferred_rows: SchemaField | None) -> SchemaField:
    """Returns a rows field with the inferred columns that it lacks."""
    if inferred_rows is None or rows.type is not FieldType.ROWS or inferred_rows.type is not FieldType.ROWS:
        return rows
    merged = merge_schemas(_schema_of_rows(rows), _schema_of_rows(inferred_rows))
    return replace(rows, columns=merged.fields)


def _schema_of_rows(rows: SchemaField) -> Schema:
    return Schema(bucket=BucketId("rows"), fields=rows.columns, is_row_schema=True)
