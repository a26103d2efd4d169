"""The unit that a field's name gives for its numbers: `vceo_v`, `Width (mm)`, `notice_days`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from storage.quantities.units import UNITS_BY_SPELLING, parse_unit

# Units by lower-case name suffix. The last three exist in names alone, or mean something else after a number.
_UNIT_BY_SUFFIX = {
    name.lower(): unit for name, unit in UNITS_BY_SPELLING.items() if name.isalnum() and name not in ("MW", "Mohm")
} | {
    "c": "degC",
    "f": "degF",
    "kmh": "km/hour",
}
# Name patterns required before an ambiguous suffix: `a`, `k`, `na` and `min` often mean something else.
_ELECTRIC_STEM = (
    r"volt|current|amp|power|watt|dissip|consum|output|supply|load|drain|gate|collect|charg|\b[uvip][a-z]{0,4}$"
)
_TEMPERATURE_STEM = r"temp|point|boil|melt|flash|freez|\b[bmf]p$|heat|cold|ambient|junction|\bt(?:[acj]|min|max)?$"
_EXTENT_STEM = (
    r"length|width|height|depth|thick|diam|dist|size|radius|altitude|elevation|range|diagonal|long|wide|high|"
    r"draught|draft|beam|reach|span|clearance|headroom|girth|\b[lwhd]$"
)
_TIME_STEM = r"time|dura|delay|latenc|timeout|period|interval|life|age|uptime|runtime|length|work|train|response|wait"
_WEIGHT_STEM = r"weight|mass|fat|prot|sugar|salt|carb|fib|dose|load|content|amount|portion|serving"
_REQUIRED_STEM_BY_SUFFIX = {
    **dict.fromkeys(("v", "a", "w", "ma", "na", "pa", "ua", "mw", "wh", "ah", "j"), re.compile(_ELECTRIC_STEM)),
    **dict.fromkeys(("c", "f", "k", "deg"), re.compile(_TEMPERATURE_STEM)),
    **dict.fromkeys(
        ("m", "in", "ft", "um", "mm2", "mi", "mile", "miles"), re.compile(_EXTENT_STEM + "|_off|drop|lift")
    ),
    **dict.fromkeys(("h", "s", "min", "mins", "sec", "second", "minute", "hour"), re.compile(_TIME_STEM)),
    "ha": re.compile(r"area|land|plot|surface|field|forest|size|acreage|ground"),
    **dict.fromkeys(
        ("g", "mg", "l"), re.compile(_WEIGHT_STEM + "|vol|capac|tank|engine|displac|content|cargo|\\bnet$")
    ),
}
# Ambiguous suffixes that confirm each other
_ELECTRIC_SUFFIXES = (
    "v",
    "a",
    "w",
    "ma",
    "mw",
    "mv",
    "kv",
    "kw",
    "mohm",
    "ohm",
    "nf",
    "pf",
    "uf",
    "mhz",
)
# `birth_year` is a year; `warranty_years` is a number of years.
_CALENDAR_SUFFIXES = frozenset({"year", "month", "week", "day"})
_POWER_WORDS = frozenset({"sq", "square", "cu", "cubic"})
_TIME_PREFIXES = frozenset({"seconds", "minutes", "hours", "days", "weeks", "months", "years"})
_BRACKETED_UNIT = re.compile(
    r"\s*(?:[(\[]\s*(?:in\s+)?([^()\[\]]{1,8}?)\s*[)\]]|,\s*([^\s,]{1,8})|\s/\s*([^\s/]{1,8}))\s*$"
)
_CAMEL_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class FieldLabel:
    """What a field's name says: the words for people, and the unit (empty: none) that its numbers are in."""

    text: str
    unit: str


def label_of_name(name: str, sibling_names: Iterable[str] = ()) -> FieldLabel:
    """`vceo_v` → Vceo in V, `Width (mm)` → Width in mm, `notice_days` → Notice days in day.

    A suffix that means other things too counts where the rest of the name is such a quantity, or another name in
    `sibling_names` has the like: `id_a` beside `vds_v`.
    """
    bracketed = _BRACKETED_UNIT.search(name)
    if bracketed and (unit := parse_unit(next(filter(None, bracketed.groups()), ""))):
        return FieldLabel(_title_of_words(name[: bracketed.start()]) or name, unit)
    parts, suffix, stem = _split_suffix(name)
    if len(parts) > 2 and parts[-2].lower() in _POWER_WORDS and (unit := parse_unit(" ".join(parts[-2:]).lower())):
        return _label_with_power(parts, unit)
    unit = _UNIT_BY_SUFFIX.get(suffix, "") if stem and _suffix_fits(suffix, stem, name, sibling_names) else ""
    if not unit and len(parts) > 1 and parts[0].lower() in _TIME_PREFIXES:
        unit = _UNIT_BY_SUFFIX[parts[0].lower()]  # `hours_spent`
    is_symbol = bool(unit) and suffix in _UNIT_BY_SUFFIX and suffix not in _WORD_SUFFIXES
    return FieldLabel(_title_of_words(" ".join(parts[:-1] if is_symbol else parts)) or name, unit)


def _label_with_power(parts: Sequence[str], unit: str) -> FieldLabel:
    """`area_sq_km` is in km²; `people_per_sq_km` has no unit of its own."""
    before = parts[-3].lower()
    if before == "per":
        return FieldLabel(_title_of_words(" ".join(parts)), "")
    return FieldLabel(_title_of_words(" ".join(parts[: -3 if before == "in" and len(parts) > 3 else -2])), unit)


def _split_suffix(name: str) -> tuple[list[str], str, str]:
    """The parts of a name, the last in small letters, the others joined in small letters.

    A unit is one part: "Power kW" does not end in W.
    """
    words = [word for word in re.split(r"[_\s-]+", name) if word]
    units = words[-1:] if len(words) > 1 and words[-1] in UNITS_BY_SPELLING else []
    rest = "_".join(words[: len(words) - len(units)])
    parts = [part for part in _CAMEL_BOUNDARY.sub("_", rest).split("_") if part] + units
    return parts, (parts[-1].lower() if parts else ""), " ".join(parts[:-1]).lower()


def _suffix_fits(suffix: str, stem: str, name: str, sibling_names: Iterable[str]) -> bool:
    if suffix in _CALENDAR_SUFFIXES:
        return False
    needs = _REQUIRED_STEM_BY_SUFFIX.get(suffix)
    if needs is None or needs.search(stem):
        return True
    others = [other for other in sibling_names if other != name]
    if suffix in _ELECTRIC_SUFFIXES:
        return any(map(_is_electric_name, others))
    return any(_ends_in_unit(other, suffix, needs) for other in others)


def _ends_in_unit(name: str, suffix: str, needs: re.Pattern[str]) -> bool:
    """Whether the name ends in the suffix, and there it is a unit: "sail m" beside "length m" is in metres."""
    _, own_suffix, stem = _split_suffix(name)
    return own_suffix == suffix and needs.search(stem) is not None


@lru_cache(maxsize=10_000)
def _is_electric_name(name: str) -> bool:
    _, suffix, stem = _split_suffix(name)
    return (
        suffix in _ELECTRIC_SUFFIXES
        and bool(stem)
        and (suffix not in _REQUIRED_STEM_BY_SUFFIX or bool(_REQUIRED_STEM_BY_SUFFIX[suffix].search(stem)))
    )


_WORD_SUFFIXES = frozenset(
    name
    for name in _UNIT_BY_SUFFIX
    if len(name) > 3 and name not in ("mohm", "kohm", "degc", "degf", "sqft", "sqkm", "sqmi")
)


def _title_of_words(words: str) -> str:
    spaced = " ".join(re.split(r"[_\s]+", _CAMEL_BOUNDARY.sub(" ", words))).strip()
    return spaced[:1].upper() + spaced[1:]
