"""How the strings of a metadata field are written, and the strings that stand for yes, no, zero or no value."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NotationStyle:
    """How a field's strings are written. None: its values do not show it."""

    decimal_comma: bool | None = None
    day_first: bool | None = None
    comma_separates_lists: bool = False  # of lists in strings: `red, blue` is two members


_EMPTY_MARKS = frozenset({"", "-", "--", "–", "—", "n/a", "n.a.", "null", "nan", "?"})  # no words
_MISSING_VALUES = frozenset({*_EMPTY_MARKS, "na", "none", "nil", "unknown", "tbd"})
_FLAG_BY_WORD: Mapping[str, bool] = {
    **dict.fromkeys(("yes", "true", "y", "ja", "oui", "si", "sí", "wahr", "vrai", "✓"), True),
    **dict.fromkeys(("no", "false", "n", "nein", "non", "falsch", "faux"), False),
}


# In place of an amount
_FREE_WORDS = frozenset(
    "free|free of charge|no charge|without charge|at no charge|no fee|no cost|at no cost|free of cost|gratis|kostenlos"
    "|kostenfrei|gebührenfrei|umsonst|gratuit|gratuite|sans frais|gratuito|gratuita|sin coste|sin cargo".split("|")
)
# In place of the day on which something ends
_OPEN_END_WORDS = frozenset(
    (
        "open|open end|open ended|open-ended|unlimited|not limited|indefinite|indefinitely|until further notice"
        "|permanent|not yet|no end|no end date|no fixed end|not fixed|ongoing"
        "|unbefristet|unbegrenzt|bis auf weiteres|offen|noch nicht"
        "|indéterminé|illimité|à durée indéterminée|jusqu'à nouvel ordre|pas encore"
        "|indefinido|ilimitado|sin fin|hasta nuevo aviso|todavía no"
    ).split("|")
)


def is_free_of_charge(text: str) -> bool:
    """Whether the string says of a price that there is none: an amount of zero."""
    return text.strip(" .").casefold() in _FREE_WORDS


def is_open_end(text: str) -> bool:
    """Whether the string says of a day that there is none: a contract that is open-ended has no last day."""
    return text.strip(" .").casefold() in _OPEN_END_WORDS


def is_missing_value(text: str) -> bool:
    """Whether the string stands for no value in a field of numbers, days or flags."""
    return text.strip().casefold() in _MISSING_VALUES


def is_empty_mark(text: str) -> bool:
    """Whether the string stands for no value in any field: a dash, `n/a`, but no word that could be a category."""
    return text.strip().casefold() in _EMPTY_MARKS


def parse_flag(text: str) -> bool | None:
    """Whether the whole string means yes or no, in any of the project's languages; None for any other string."""
    return _FLAG_BY_WORD.get(text.strip().casefold())


def parse_flag_with_remark(text: str) -> bool | None:
    """What a yes or no says that a remark follows: "Y late", "no - chased", "Yes (copy)"; None for any other string."""
    first, _, remark = text.strip().replace("(", " (").partition(" ")
    return _FLAG_BY_WORD.get(first.rstrip(",;:.-–").casefold()) if remark else None
