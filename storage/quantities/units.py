"""Units of measurement: how people write them, pint's names for them, and conversion (pint's, nothing else of it)."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache
from tokenize import TokenError
from typing import Protocol, cast

from storage.quantities.numbers import NUMBER_PATTERN, NumberSpan, parse_number
from storage.search.analyser import fold_text
from storage.search.numbers import nearest_double

# pint's name and other spellings of each unit; spellings that NFKC unifies (µ, Ω, ², ℃) stand once.
_UNITS = """
V volt volts · mV · kV · A amp amps · mA · uA μA · nA · pA · W watt watts · mW · kW · MW · Wh · kWh · Ah · mAh
ohm ohms Ω · mohm mΩ · kohm kΩ · Mohm MΩ · uF μF · nF · pF · Hz · kHz · MHz · GHz · J · kJ · Pa · kPa · MPa · bar · psi
mm · cm · m metre metres meter meters · km · um μm · nm · inch inches in " ″ · ft feet · mile miles mi
m**2 m2 sqm · cm**2 cm2 · km**2 km2 sqkm · ft**2 ft2 sqft · mile**2 mi2 sqmi
hectare hectares ha · acre acres · m**3 m3 cbm · cm**3 cm3
g grams · kg kilograms kilos kilo · mg · lb lbs pounds · oz ounces · l L litre litres liter liters · ml mL
ms · s sec secs second seconds · min mins minute minutes · hour hours h hr hrs · day days · week weeks wk wks
month months mth mths · year years yr yrs · decade decades
degC °C celsius Celsius centigrade · degF °F fahrenheit Fahrenheit · K kelvin Kelvin · deg °
percent % pct · rpm · kB · MB · GB · TB · mph · km/hour km/h · m/s · g/mol · g/cm**3 g/cm3 · kg/m**3 kg/m3
"""
_ENTRIES = [entry.split() for line in _UNITS.strip().splitlines() for entry in line.split(" · ")]
UNITS_BY_SPELLING: Mapping[str, str] = {
    unicodedata.normalize("NFKC", spelling): names[0] for names in _ENTRIES for spelling in names
}
# What else a word may mean in any case, likeliest first; `convert_unit` takes the first that fits the other unit.
_NAMES_BY_FOLDED_SPELLING = {
    "c": ("degC",), "°c": ("degC",), "celsius": ("degC",), "centigrade": ("degC",), "degrees": ("degC", "degree"),
    "deg": ("degC", "degree"), "degree": ("degC", "degree"), "°": ("degC", "degree"), "°f": ("degF",),
    "f": ("degF", "farad"), "fahrenheit": ("degF",), "k": ("kelvin",), "ω": ("ohm",), "kω": ("kiloohm",),
    "µa": ("microampere",), "ma": ("milliampere",), "mw": ("milliwatt",), "kw": ("kilowatt",),
    "kwh": ("kilowatt_hour",), "kv": ("kilovolt",), "mv": ("millivolt",), "mm": ("millimeter",), "cm": ("centimeter",),
    "ah": ("ampere_hour",), "wh": ("watt_hour",),
}  # fmt: skip
_QUANTUM = Decimal("1e-12")
_LONG_NUMBERS = Context(prec=400)  # digits of the largest double with 12 decimals
_DEGREE_PREFIX = re.compile(r"^(?:degrees?|deg\.?)\s+", re.IGNORECASE)
_POWER_PREFIX = re.compile(r"^(square|sq|cubic|cu)\.?\s+(\w+)$", re.IGNORECASE)
_NUMBER_WITH_UNIT = re.compile(
    rf"({NUMBER_PATTERN})\s*((?:(?:square|cubic|sq\.?|cu\.?|degrees?|deg\.?)\s+)?[^\d\s.,][^\s]{{0,9}})"
)
_NUMBER_BEFORE_UNIT = re.compile(
    r"([-+−±]?)\s?(\d[\d.,]{0,18}(?<=\d)|\d)\s?(°\s?[CFK]|[^\W\d_%°]{1,10}(?:[23](?!\w))?(?:/[a-zA-Z³^0-9]{1,4})?|%|°)?"
)
_IDENTIFIER_START = re.compile(r"[^\W\d_](?:[-/._]|\d[.])?\Z")  # right before a number: `TO-220`, `RT/82`, `KX4`
_IDENTIFIER = re.compile(r"\d+[^\W\d_]{1,4}\d")  # `2N3055`


@dataclass(frozen=True, slots=True)
class MeasuredQuantity:
    """A number and its unit, by pint's name."""

    number: Decimal
    unit: str


def parse_quantity(text: str, *, decimal_comma: bool | None = None) -> MeasuredQuantity | None:
    """`45 V`, `12.5kg`, `30 days`, `12 square metres`; None without a known unit.

    `decimal_comma`: as for `parse_number`.
    """
    match = _NUMBER_WITH_UNIT.fullmatch(text.strip().replace("−", "-"))
    unit = parse_unit(match[2]) if match else None
    number = parse_number(match[1], decimal_comma=decimal_comma) if match and unit else None
    return MeasuredQuantity(number, unit) if unit and number is not None else None


def find_quantities(text: str, start: int, end: int, *, decimal_comma: bool | None = None) -> Iterator[NumberSpan]:
    """Numbers in `text[start:end]` as tables and data sheets write them, each with the unit after it, if any.

    Numbers of identifiers (`TO-220`, `RT/82`) are left out. `decimal_comma`: as for `parse_number`.
    """
    for match in _NUMBER_BEFORE_UNIT.finditer(text, start, end):
        if _IDENTIFIER_START.search(text, max(0, match.start(2) - 4), match.start(2)):
            continue
        number = parse_number(match[2], decimal_comma=decimal_comma)
        if number is None:
            continue
        unit = _unit_after_number(match[3]) if match[3] else None
        if unit is None and _IDENTIFIER.match(text, match.start(2)):
            continue
        stop = match.end(3) if unit else match.end(2)
        yield NumberSpan(-number if match[1] in ("-", "−") else number, match.start(), stop, unit or "")


def parse_unit(text: str) -> str | None:
    """Returns the name that pint has for a unit such as `km/h` or `square metres`; None for any other text."""
    written = unicodedata.normalize("NFKC", text)
    if unit := UNITS_BY_SPELLING.get(written):
        return unit
    if power := _POWER_PREFIX.match(written):
        base = UNITS_BY_SPELLING.get(power[2].lower())
        squared = f"{base}**{_exponent_of(power[1])}"
        return squared if squared in UNITS_BY_SPELLING else None
    bare = _DEGREE_PREFIX.sub("", written)
    return UNITS_BY_SPELLING.get(f"deg{bare}", UNITS_BY_SPELLING.get(bare)) if bare != written else None


@lru_cache(maxsize=2048)
def _unit_after_number(text: str) -> str | None:
    written = text.replace(" ", "").rstrip(".")
    return parse_unit(written) or parse_unit(written.replace("Ohm", "ohm")) or _unit_of_current(written)


def _unit_of_current(text: str) -> str | None:
    """`VDC`, `Vac`: the unit before the kind of current."""
    return parse_unit(text[:-2]) if text[-2:].upper() in ("DC", "AC") and len(text) > 2 else None


def _exponent_of(prefix: str) -> int:
    return 2 if prefix.lower().startswith("sq") else 3


# -- conversion


def convert_exactly(number: Decimal, unit: str, target: str) -> Decimal | None:
    """`number` in another unit, exact as far as decimals go; None where the dimensions differ. Both by pint's names."""
    if unit == target:
        return number
    try:
        return _unit_registry().Quantity(number, unit).to(target).magnitude
    except _pint_errors():
        return None


@lru_cache(maxsize=8192)
def convert_to_double(number: Decimal, unit: str, target: str) -> float | None:
    """`number` in another unit, rounded to 12 decimals; None where the dimensions differ or no double is near."""
    converted = convert_exactly(number, unit, target)
    if converted is None:
        return None
    try:
        return nearest_double(converted if unit == target else converted.quantize(_QUANTUM, context=_LONG_NUMBERS))
    except (ValueError, OverflowError, InvalidOperation):
        return None


@lru_cache(maxsize=4096)
def convert_unit(number: Decimal, unit: str, target: str) -> float | None:
    """`number` in another unit, both as people write them (`degrees`, `KW`, `sq ft`): the first meaning that fits.

    None where no meaning of the one measures what a meaning of the other does, or where no double is near.
    """
    if fold_text(unit) == fold_text(target):
        return convert_to_double(number, target, target)
    for name in _names_of(unit):
        for target_name in _names_of(target):
            result = convert_to_double(number, name, target_name)
            if result is not None:
                return result
    return None


def _names_of(unit_text: str) -> tuple[str, ...]:
    """What pint may call the unit, likeliest first."""
    base = _POWER_PREFIX.sub(lambda match: f"{match[2].lower()}**{_exponent_of(match[1])}", unit_text.strip())
    word = _DEGREE_PREFIX.sub("", base).replace("³", "**3").replace("²", "**2")
    known = [name for spelling in (unit_text.strip(), word, word.casefold()) if (name := parse_unit(spelling))]
    plain = word[:-1] if len(word) > 3 and word.endswith("s") else word
    lowered = word.casefold()
    also = _NAMES_BY_FOLDED_SPELLING.get(lowered, ())
    return tuple(dict.fromkeys((word, *also, *known, plain, lowered, plain.casefold(), word.upper())))


class _DecimalQuantity(Protocol):
    magnitude: Decimal

    def to(self, unit: str) -> "_DecimalQuantity": ...


class _DecimalRegistry(Protocol):
    Quantity: Callable[[Decimal, str], _DecimalQuantity]


@lru_cache(maxsize=1)
def _unit_registry() -> _DecimalRegistry:
    import pint  # here: it takes 0.3 s, its registry up to a second, and most sources hold plain numbers

    registry = cast(Callable[..., _DecimalRegistry], pint.UnitRegistry)  # its annotations know of float alone
    return registry(non_int_type=Decimal, autoconvert_offset_to_baseunit=True)


@lru_cache(maxsize=1)
def _pint_errors() -> tuple[type[Exception], ...]:
    """What pint raises for two units that differ in dimension, and for text that is not a unit."""
    from pint.errors import PintError

    return (PintError, AssertionError, AttributeError, ValueError, TypeError, KeyError, ArithmeticError, SyntaxError,
            TokenError)  # fmt: skip
