"""Units as people write them after numbers and in the names of fields, and what pint calls them."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Protocol, cast

# pint's name and how else people write it after a number or in brackets, compatibility forms (µ, Ω, ², ℃) aside
_UNITS = """
V volt volts · mV · kV · A amp amps · mA · uA μA · nA · pA · W watt watts · mW · kW · MW · Wh · kWh · Ah · mAh
ohm ohms Ω · mohm mΩ · kohm kΩ · Mohm MΩ · uF μF · nF · pF · Hz · kHz · MHz · GHz · J · kJ · Pa · kPa · MPa · bar · psi
mm · cm · m metre metres meter meters · km · um μm · nm · inch inches in " · ft feet · mile miles
m**2 m2 sqm · cm**2 cm2 · km**2 km2 sqkm · ft**2 ft2 sqft · hectare hectares ha · acre acres · m**3 m3 cbm · cm**3 cm3
g grams · kg kilograms · mg · lb lbs pounds · oz ounces · l L litre litres liter liters · ml mL
ms · s sec secs second seconds · min mins minute minutes · hour hours h hr hrs · day days · week weeks · month months
year years · degC °C · degF °F · K · deg ° · percent % pct · rpm · kB · MB · GB · TB
mph · km/hour km/h · m/s · g/mol · g/cm**3 g/cm3 · kg/m**3 kg/m3
"""
_ENTRIES = [entry.split() for line in _UNITS.strip().splitlines() for entry in line.split(" · ")]
_WRITTEN = {spelling: names[0] for names in _ENTRIES for spelling in names}
# As the last part of a field's name, in small letters; after these, what differs or would be taken for something else
_SUFFIX = {name.lower(): unit for name, unit in _WRITTEN.items() if name.isalnum() and name not in ("MW", "Mohm")} | {
    "c": "degC",
    "celsius": "degC",
    "f": "degF",
    "fahrenheit": "degF",
    "kelvin": "K",
    "kmh": "km/hour",
}
# What must stand before a suffix that can mean something else: a column `a`, thousands, North America, a lowest price
_ELECTRIC = r"volt|current|amp|power|watt|dissip|consum|output|supply|load|drain|gate|collect|charg|\b[uvip][a-z]{0,4}$"
_TEMPERATURE = r"temp|point|boil|melt|flash|freez|\b[bmf]p$|heat|cold|ambient|junction|\bt(?:[acj]|min|max)?$"
_EXTENT = (
    r"length|width|height|depth|thick|diam|dist|size|radius|altitude|elevation|range|diagonal|long|wide|high|\b[lwhd]$"
)
_TIME = r"time|dura|delay|latenc|timeout|period|interval|life|age|uptime|runtime|length|work|train|response|wait"
_WEIGHT = r"weight|mass|fat|protein|sugar|salt|carb|fib|dose|load|content|amount|portion|serving"
_NEEDS = {
    **dict.fromkeys(("v", "a", "w", "ma", "na", "pa", "ua", "mw", "wh", "ah", "j"), re.compile(_ELECTRIC)),
    **dict.fromkeys(("c", "f", "k", "deg"), re.compile(_TEMPERATURE)),
    **dict.fromkeys(("m", "in", "ft", "um", "mm2", "mile", "miles"), re.compile(_EXTENT + "|_off|drop|lift")),
    **dict.fromkeys(("h", "s", "min", "mins", "sec", "second", "minute", "hour"), re.compile(_TIME)),
    "ha": re.compile(r"area|land|plot|surface|field|forest|size|acreage|ground"),
    **dict.fromkeys(("g", "mg", "l"), re.compile(_WEIGHT + "|vol|capac|tank|engine|displac|content|cargo|\\bnet$")),
}
_ALLIED = ("v", "a", "w", "ma", "mw", "mv", "kv", "kw", "mohm", "ohm", "nf", "pf", "uf", "mhz")  # beside one another
_CALENDAR = frozenset({"year", "month", "week", "day"})  # `birth_year` is one, `warranty_years` are so many
_COUNTED = frozenset({"seconds", "minutes", "hours", "days", "weeks", "months", "years"})
_BRACKETED = re.compile(r"\s*(?:[(\[]\s*(?:in\s+)?([^()\[\]]{1,8}?)\s*[)\]]|,\s*([^\s,]{1,8})|\s/\s*([^\s/]{1,8}))\s*$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Label:
    """What a field's name says: the words for people, and the unit (empty: none) that its numbers are in."""

    words: str
    unit: str


def written_unit(text: str) -> str | None:
    """pint's name of a unit as written after a number, or None."""
    return _WRITTEN.get(unicodedata.normalize("NFKC", text))


def label_of(name: str, beside: Iterable[str] = ()) -> Label:
    """`vceo_v` → Vceo in V, `Width (mm)` → Width in mm, `notice_days` → Notice days in day.

    A suffix that means other things too counts where the rest of the name is such a quantity, or another name in
    `beside` has the like: `id_a` beside `vds_v`.
    """
    bracketed = _BRACKETED.search(name)
    if bracketed and (unit := written_unit(next(filter(None, bracketed.groups()), ""))):
        return Label(_titled(name[: bracketed.start()]) or name, unit)
    parts, suffix, stem = _parted(name)
    unit = _SUFFIX.get(suffix, "") if stem and _suits(suffix, stem, name, beside) else ""
    if not unit and len(parts) > 1 and parts[0].lower() in _COUNTED:
        unit = _SUFFIX[parts[0].lower()]  # `hours_spent`
    is_symbol = bool(unit) and suffix in _SUFFIX and suffix not in _WORDS
    return Label(_titled(" ".join(parts[:-1] if is_symbol else parts)) or name, unit)


def _parted(name: str) -> tuple[list[str], str, str]:
    """The parts of a name, the last in small letters, the others joined in small letters."""
    parts = [part for part in re.split(r"[_\s-]+", _CAMEL.sub("_", name)) if part]
    return parts, (parts[-1].lower() if parts else ""), " ".join(parts[:-1]).lower()


def _suits(suffix: str, stem: str, name: str, beside: Iterable[str]) -> bool:
    if suffix in _CALENDAR:
        return False
    needs = _NEEDS.get(suffix)
    if needs is None or needs.search(stem):
        return True
    return suffix in _ALLIED and any(_is_electric(other) for other in beside if other != name)


def _is_electric(name: str) -> bool:
    _, suffix, stem = _parted(name)
    return suffix in _ALLIED and bool(stem) and (suffix not in _NEEDS or bool(_NEEDS[suffix].search(stem)))


_WORDS = frozenset(
    name for name in _SUFFIX if len(name) > 3 and name not in ("mohm", "kohm", "degc", "degf", "sqft", "sqkm")
)


def _titled(words: str) -> str:
    spaced = " ".join(re.split(r"[_\s]+", _CAMEL.sub(" ", words))).strip()
    return spaced[:1].upper() + spaced[1:]


def converted(number: Decimal, unit: str, target: str) -> Decimal | None:
    """`number` in another unit, exactly as far as decimals go; None where the dimensions differ."""
    if unit == target:
        return number
    import pint  # here: 0.3 s, and most sources hold plain numbers

    registry = _registry()
    try:
        return registry.Quantity(number, unit).to(target).magnitude
    except (pint.DimensionalityError, pint.UndefinedUnitError, AttributeError, ValueError):
        return None


class _Quantity(Protocol):
    magnitude: Decimal

    def to(self, unit: str) -> "_Quantity": ...


class _Registry(Protocol):
    Quantity: Callable[[Decimal, str], _Quantity]


@lru_cache(maxsize=1)
def _registry() -> _Registry:
    import pint

    registry = cast(Callable[..., _Registry], pint.UnitRegistry)  # its annotations know of float alone
    return registry(non_int_type=Decimal, autoconvert_offset_to_baseunit=True)
