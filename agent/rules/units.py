"""Numbers with units as people write them, brought to the unit a field is stored in. Conversion is pint's."""

import re
from decimal import Decimal
from functools import lru_cache
from typing import Protocol, cast

from storage.search.numbers import nearest_double
from storage.search.text import fold

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
    "sqm": ("meter**2",), "m2": ("meter**2",), "m²": ("meter**2",), "sqft": ("foot**2",), "ft2": ("foot**2",),
    "sqkm": ("kilometer**2",), "km2": ("kilometer**2",), "cm2": ("centimeter**2",), "m3": ("meter**3",),
    "cm3": ("centimeter**3",), "cbm": ("meter**3",), "ah": ("ampere_hour",), "wh": ("watt_hour",),
    "litres": ("liter",), "litre": ("liter",),
}  # fmt: skip


_DEGREES = re.compile(r"^(?:degrees?|deg\.?)\s+", re.IGNORECASE)
_POWERS = re.compile(r"^(square|sq|cubic|cu)\.?\s+(\w+)$", re.IGNORECASE)


def _power(match: re.Match[str]) -> str:
    return f"{match[2].lower()}**{2 if match[1].lower().startswith('sq') else 3}"


class _Quantity(Protocol):
    @property
    def magnitude(self) -> object: ...

    def to(self, unit: str) -> "_Quantity": ...


class _Registry(Protocol):
    def Quantity(self, number: Decimal, unit: str) -> _Quantity: ...  # noqa: N802 - the library's name


@lru_cache(maxsize=1)
def _registry() -> _Registry:
    from pint import UnitRegistry  # takes a second: only when a unit is not written as the field has it

    return cast(_Registry, UnitRegistry(non_int_type=cast(type[float], Decimal), on_redefinition="ignore"))


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


def _names(written: str) -> tuple[str, ...]:
    word = _DEGREES.sub("", _POWERS.sub(_power, written.strip())).replace("³", "**3").replace("²", "**2")
    plain = word[:-1] if len(word) > 3 and word.endswith("s") else word
    lowered = word.casefold()
    return tuple(dict.fromkeys((word, *_ALSO.get(lowered, ()), plain, lowered, plain.casefold(), word.upper())))


@lru_cache(maxsize=8192)
def _by_pint(number: Decimal, source: str, target: str) -> float | None:
    from pint.errors import PintError

    registry = _registry()
    try:
        quantity = registry.Quantity(number, source).to(target)
    except (PintError, AssertionError, AttributeError, ValueError, TypeError, KeyError, ArithmeticError):
        return None
    magnitude = quantity.magnitude
    exact = magnitude if isinstance(magnitude, Decimal) else Decimal(str(magnitude))
    return nearest_double(+exact.quantize(Decimal("1e-12")).normalize())
