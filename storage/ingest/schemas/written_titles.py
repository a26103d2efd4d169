"""Titles of fields as people read them: a column header with common office abbreviations written out."""

from typing import Final

from storage.search.schema import FieldType, SchemaField

# Abbreviations that mean one thing in a header, whatever its values are.
_WRITTEN_OUT: Final = {
    "acct": "account",
    "addr": "address",
    "amt": "amount",
    "avg": "average",
    "cust": "customer",
    "dept": "department",
    "desc": "description",
    "descr": "description",
    "dist": "distance",
    "emp": "employee",
    "govt": "government",
    "lang": "language",
    "lvl": "level",
    "maint": "maintenance",
    "manuf": "manufacturer",
    "mfr": "manufacturer",
    "mgr": "manager",
    "num": "number",
    "pct": "percent",
    "pmt": "payment",
    "prio": "priority",
    "prot": "protein",
    "qty": "quantity",
    "tel": "telephone",
    "wt": "weight",
}
_WORDS: Final = (FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST)
# Abbreviations that mean this only where the values are of such a type: "cat" and "cal" are words of their own.
_WRITTEN_OUT_BY_TYPE: Final = {
    "cal": ("calibration", (FieldType.DATE,)),
    "cat": ("category", _WORDS),
    "dt": ("date", (FieldType.DATE,)),
    "loc": ("location", _WORDS),
    "temp": ("temperature", (FieldType.NUMBER,)),
}
_LAST_WORDS: Final = {"no": "number", "nr": "number"}  # "invoice no": elsewhere a word of its own
_TIME_UNITS: Final = frozenset("minutes hours days weeks months years".split())


def write_out_title(field: SchemaField) -> str:
    """Returns the field's title with its abbreviations written out: "Room category" for "Room cat".

    A unit behind a plural appears in brackets: "Terms (days)". Words in capitals stay as they are.
    """
    words = field.title.split()
    written = [
        _write_out(word, field.type, is_last=position == len(words) - 1 > 0) for position, word in enumerate(words)
    ]
    if field.unit and len(written) == 2 and written[1].casefold() in _TIME_UNITS and _is_plural(written[0]):
        written[1] = f"({written[1]})"
    title = " ".join(written)
    return title[:1].upper() + title[1:] if title != " ".join(words) else field.title


def _write_out(word: str, field_type: FieldType, *, is_last: bool) -> str:
    key = word.rstrip(".").casefold()
    if word.isupper():
        return word
    if is_last and key in _LAST_WORDS:
        return _LAST_WORDS[key]
    meaning, types = _WRITTEN_OUT_BY_TYPE.get(key, ("", ()))
    if field_type in types:
        return meaning
    return _WRITTEN_OUT.get(key, word)


def _is_plural(word: str) -> bool:
    folded = word.casefold()
    return folded.endswith("s") and not folded.endswith(("ss", "us", "is")) and folded not in _TIME_UNITS
