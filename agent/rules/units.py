"""Numbers with units as people write them, brought to the unit a field is stored in. Conversion is pint's."""

from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from storage.search.numbers import nearest_double
from storage.search.text import fold

if TYPE_CHECKING:
    from pint import UnitRegistry

# What people write that pint reads otherwise or not at all; tried besides the word itself.
_ALSO = {
    "c": ("degC",), "°c": ("degC",), "celsius": ("degC",), "centigrade": ("degC",), "degrees": ("degC", "degree"),
    "deg": ("degC", "degree"), "degree": ("degC", "degree"), "°": ("degC", "degree"), "°f": ("degF",),
    "f": ("degF", "farad"), "fahrenheit": ("degF",), "k": ("kelvin",), "%": ("percent",), "pct": ("percent",),
    "percent": ("percent",), "in": ("inch",), '"': ("inch",), "″": ("inch",), "ohms": ("ohm",), "ω": ("ohm",),
    "kω": ("kiloohm",), "volts": ("volt",), "amps": ("ampere",), "amp": ("ampere",), "watts": ("watt",),
    "kilos": ("kilogram",), "kilo": ("kilogram",), "lbs": ("pound",), "µa": ("microampere",), "ma": ("milliampere",),
    "mw": ("milliwatt",), "kw": ("kilowatt",), "kwh": ("kilowatt_hour",), "kv": ("kilovolt",), "mv": ("millivolt",),
    "hrs": ("hour",), "mins": ("minute",), "secs": ("second",), "mm": ("millimeter",), "cm": ("centimeter",),
    "sqm": ("meter**2",), "m2": ("meter**2",), "m²": ("meter**2",), "ah": ("ampere_hour",), "wh": ("watt_hour",),
    "litres": ("liter",), "litre": ("liter",),
}  # fmt: skip


@lru_cache(maxsize=1)
def _registry() -> "UnitRegistry":
    from pint import UnitRegistry  # takes 0.2 s: only when a field has a unit

    return UnitRegistry(non_int_type=Decimal, cache_folder=None, on_redefinition="ignore")


@lru_cache(maxsize=4096)
def converted(number: Decimal, written: str, unit: str) -> float | None:
    """`number` of the unit `written` in the field's `unit`; None where the one does not measure what the other does."""
    if fold(written) == fold(unit):
        return nearest_double(number)
    for name in _names(written):
        for target in _names(unit):
            result = _by_pint(number, name, target)
            if result is not None:
                return result
    return None


def is_unit(word: str) -> bool:
    """Whether `word` is a unit of measure as people write them."""
    return any(_known(name) for name in _names(word))


def _names(written: str) -> tuple[str, ...]:
    word = written.strip().replace("³", "**3").replace("²", "**2")
    plain = word[:-1] if len(word) > 3 and word.endswith("s") else word
    lowered = word.casefold()
    return tuple(dict.fromkeys((word, *_ALSO.get(lowered, ()), plain, lowered, plain.casefold(), word.upper())))


@lru_cache(maxsize=4096)
def _known(name: str) -> bool:
    return bool(name) and name.replace("_", "").isalpha() and name in _registry()


@lru_cache(maxsize=8192)
def _by_pint(number: Decimal, source: str, target: str) -> float | None:
    from pint.errors import PintError

    registry = _registry()
    try:
        quantity = registry.Quantity(number, source).to(target)
    except (PintError, AttributeError, ValueError, TypeError, KeyError, ArithmeticError):
        return None
    magnitude = quantity.magnitude
    exact = magnitude if isinstance(magnitude, Decimal) else Decimal(str(magnitude))
    return nearest_double(+exact.quantize(Decimal("1e-12")).normalize())
