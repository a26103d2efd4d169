"""Invented values as documents of a language write them, each with the value that a reader takes from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import TypeAlias

GoldValue: TypeAlias = str | float | tuple[str, ...]

_MONTHS: Mapping[str, tuple[str, ...]] = {
    "en": tuple("January February March April May June July August September October November December".split()),
    "de": tuple("Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()),
    "fr": tuple("janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()),
    "es": tuple("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()),
}
_NUMBER_WORDS: Mapping[str, tuple[str, ...]] = {
    "en": tuple("one two three four five six seven eight nine ten eleven twelve".split()),
    "de": ("ein", *"zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()),
    "fr": tuple("un deux trois quatre cinq six sept huit neuf dix onze douze".split()),
    "es": ("un", *"dos tres cuatro cinco seis siete ocho nueve diez once doce".split()),
}
_UNIT_WORDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "en": {"day": ("day", "days"), "week": ("week", "weeks"), "month": ("month", "months"), "year": ("year", "years")},
    "de": {
        "day": ("Tag", "Tage"),
        "week": ("Woche", "Wochen"),
        "month": ("Monat", "Monate"),
        "year": ("Jahr", "Jahre"),
    },
    "fr": {"day": ("jour", "jours"), "week": ("semaine", "semaines"), "month": ("mois", "mois"), "year": ("an", "ans")},
    "es": {"day": ("día", "días"), "week": ("semana", "semanas"), "month": ("mes", "meses"), "year": ("año", "años")},
}
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_GIVEN = "Mara Tomas Ines Jonas Priya Kofi Lena Hugo Selma Otis Nadia Emil".split()
_FAMILY = "Osei Falk Berger Lindqvist Moreau Castell Ibarra Novak Haddad Winter Sandoval Keane".split()
_FIRMS = "Halden Orlo Tessera Brackwater Lumo Quarry Norvik Castellane Vireo Ostrava".split()
_FORMS: Mapping[str, tuple[str, ...]] = {
    "en": ("Ltd.", "Inc.", "& Co. Ltd.", "Group", "Ltd"),
    "de": ("GmbH", "AG", "GmbH & Co. KG", "e. K."),
    "fr": ("S.A.", "SARL", "S.A.S."),
    "es": ("S.A.", "S.L.", "S. L. U."),
}
_STREETS: Mapping[str, tuple[str, ...]] = {
    "en": ("Quay Road", "St. Anne's Lane", "Mill Street"),
    "de": ("Hafenstr.", "Lindenallee"),
    "fr": ("rue des Lilas", "av. Foch"),
    "es": ("calle Mayor", "av. del Puerto"),
}
_TOWNS = "Harbury Ostwick Linden Carvel Montrel Sandoz".split()


@dataclass(frozen=True, slots=True)
class DocumentStyle:
    """How one document writes dates and numbers."""

    language: str
    decimal_comma: bool
    date_form: int  # 0: in digits, 1: with the month's name, 2: ISO
    group_mark: str
    currency: str
    sign_after: bool

    @classmethod
    def choose(cls, rng: Random, language: str) -> "DocumentStyle":
        comma = language != "en"
        marks = ("", ".", " ") if comma else ("", ",")
        currency = rng.choice(("EUR", "EUR", "CHF")) if comma else rng.choice(("EUR", "GBP", "USD"))
        return cls(language, comma, rng.randrange(3), rng.choice(marks), currency, comma or rng.random() < 0.3)

    def write_number(self, number: float, places: int) -> str:
        whole, _, decimals = f"{number:,.{places}f}".partition(".")
        grouped = whole.replace(",", self.group_mark)
        return f"{grouped}{',' if self.decimal_comma else '.'}{decimals}" if decimals else grouped


ValueMaker: TypeAlias = Callable[[Random, DocumentStyle], tuple[GoldValue, str]]


def make_person(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
    given, family = rng.choice(_GIVEN), rng.choice(_FAMILY)
    name = rng.choice(
        (f"{given} {family}", f"{given[0]}. {family}", f"Dr. {given} {family}", f"{given} {family[0]}. Ruiz")
    )
    return name, name


def make_people(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
    names = tuple(f"{rng.choice(_GIVEN)} {family}" for family in rng.sample(_FAMILY, rng.randint(2, 4)))
    return names, ", ".join(names)


def make_firm(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
    name = f"{rng.choice(_FIRMS)} {rng.choice(_FORMS[style.language])}"
    return name, name


def make_address(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
    street, number, town = rng.choice(_STREETS[style.language]), rng.randint(1, 98), rng.choice(_TOWNS)
    address = f"{street} {number}, {town}" if style.language in ("de", "es") else f"{number} {street}, {town}"
    return address, address


def make_place(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
    town = rng.choice(_TOWNS)
    return town, town


def make_model(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
    model = rng.choice(
        (
            f"KX-{rng.randint(1, 9)}.{rng.randint(0, 9)}",
            f"Vireo {rng.randint(100, 900)} S",
            f"RT/{rng.randint(10, 99)}A",
        )
    )
    return model, model


def make_package(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
    package = rng.choice(("TO-220", "TO-92", "SOT-23", "DIP-8", "QFN-32"))
    return package, package


def make_code(prefix: str) -> ValueMaker:
    def make(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
        code = f"{prefix}-{rng.randint(1, 9999):04}"
        return code, code

    return make


def choose_word(*words: str) -> ValueMaker:
    def make(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
        word = rng.choice(words)
        return word, word

    return make


def make_day(first_year: int = 2024, years: int = 3) -> ValueMaker:
    def make(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
        day = date(first_year, 1, 1) + timedelta(days=rng.randrange(365 * years))
        return day.isoformat(), write_day(day, style)

    return make


def write_day(day: date, style: DocumentStyle) -> str:
    month = _MONTHS[style.language][day.month - 1]
    if style.date_form == 2:
        return day.isoformat()
    if style.date_form == 0:
        return f"{day:%d.%m.%Y}" if style.language == "de" else f"{day:%d/%m/%Y}"
    match style.language:
        case "de":
            return f"{day.day}. {month} {day.year}"
        case "es":
            return f"{day.day} de {month} de {day.year}"
        case _:
            return f"{day.day} {month} {day.year}"


def make_money(low: float, high: float, places: int = 2) -> ValueMaker:
    def make(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
        amount = round(rng.uniform(low, high), places)
        digits = style.write_number(amount, places)
        return amount, f"{digits} {style.currency}" if style.sign_after else f"{style.currency} {digits}"

    return make


def make_quantity(unit: str, low: float, high: float, places: int = 0) -> ValueMaker:
    def make(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
        number = round(rng.uniform(low, high), places)
        return number, f"{style.write_number(number, places)} {unit}".strip()

    return make


def make_duration(*choices: tuple[str, int, int], gold_unit: str = "day") -> ValueMaker:
    """Durations such as `("month", 1, 6)`, in digits or words; the gold value is in days, or months."""

    def make(rng: Random, style: DocumentStyle) -> tuple[GoldValue, str]:
        unit, low, high = rng.choice(choices)
        count = rng.randint(low, high)
        words = _UNIT_WORDS[style.language][unit]
        is_spelled = count <= 12 and rng.random() < 0.5
        written = _NUMBER_WORDS[style.language][count - 1] if is_spelled else str(count)
        if is_spelled and count == 1 and words[0] in ("Woche", "semaine", "semana"):
            written = {"de": "eine", "fr": "une", "es": "una"}[style.language]
        value = count * _DAYS[unit] if gold_unit == "day" else count * (12 if unit == "year" else 1)
        return float(value), f"{written} {words[count != 1]}"

    return make
